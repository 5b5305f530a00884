// One file from one symbol server, through libcurl (loaded when first needed): limits, redirects,
// retries, and the refusal of anything that is not a symbol file. docs/formats/pdb.md, "Servers".
#include "sym/symbol_internal.h"

#include "sym/curl_api.h"
#include "sym/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CONNECT_SECONDS = 10,
    STALL_SECONDS = 30,
    RETRIES = 2,
    RETRY_WAIT_MS = 500,
    RETRY_AFTER_SECONDS_MAX = 30,
    REDIRECTS_MAX = 8,
    FAILURES_IN_A_ROW = 3,
    CIRCUIT_OPEN_SECONDS = 30,
    HANDLES_KEPT = 8,
    HOSTS_MAX = 64,
    WAIT_STEP_MS = 20,
};

// Many stores let only clients of this name in; ours follows it.
#define USER_AGENT "Microsoft-Symbol-Server/10.0.0.0 etw-mcp"

typedef struct Host {
    Str name; // scheme and host of the URL
    unsigned failures;
    uint64_t closed_until_ns;
} Host;

struct Http {
    Mutex mutex;
    Arena arena;
    const char *libcurl; // NULL: the usual names
    CurlApi api;         // loaded for the first request
    bool loaded, load_failed;
    Err load_err;
    CURL *idle[HANDLES_KEPT];
    size_t idle_count;
    Host hosts[HOSTS_MAX];
    size_t host_count;
    struct curl_slist *headers;
    unsigned connect_seconds, stall_seconds, retry_wait_ms;
};

// One attempt at one URL.
typedef struct Transfer {
    FileWriter *writer;
    Str file;
    char head[FILE_KIND_HEAD_BYTES]; // kept back until the format is known
    size_t head_size;
    bool small, decided, bad_body, too_large, stopped, from_private, looked, redirect_refused;
    uint64_t bytes, reported;
    const CurlApi *api;
    CURL *curl;
    Progress *progress;
    Err err;
} Transfer;

Status http_open(const SymbolPathOptions *options, Http **out, Err *err) {
    (void)err;
    Http *http = mem_zero(1, sizeof *http);
    mutex_init(&http->mutex);
    if (options->libcurl.n) http->libcurl = str_to_c(&http->arena, options->libcurl);
    http->connect_seconds = options->connect_seconds ? options->connect_seconds : CONNECT_SECONDS;
    http->stall_seconds = options->stall_seconds ? options->stall_seconds : STALL_SECONDS;
    http->retry_wait_ms = options->retry_wait_ms ? options->retry_wait_ms : RETRY_WAIT_MS;
    *out = http;
    return OK;
}

void http_close(Http *http) {
    if (!http) return;
    for (size_t i = 0; i < http->idle_count; i++) http->api.easy_cleanup(http->idle[i]);
    if (http->headers) http->api.slist_free_all(http->headers);
    arena_done(&http->arena);
    mutex_done(&http->mutex);
    mem_free(http);
}

static bool is_private_address(const char *ip) {
    static const char *const PREFIXES[] = {"10.", "127.",  "169.254.", "192.168.",
                                           "0.",  "fe80:", "fc",       "fd"};
    Str s = str_from_c(ip);
    if (str_starts(s, STR("::ffff:"))) s = str_slice(s, 7, s.n);
    if (str_eq(s, STR("::1")) || str_eq(s, STR("::"))) return true;
    for (size_t i = 0; i < COUNT_OF(PREFIXES); i++)
        if (str_starts(s, str_from_c(PREFIXES[i]))) return true;
    if (!str_starts(s, STR("172."))) return false;
    Str rest = str_slice(s, 4, s.n), second;
    uint64_t v = 0;
    return str_next(&rest, '.', &second) && str_to_u64(second, &v) && v >= 16 && v <= 31;
}

// A public server must not send us to an address behind the user's firewall.
// NOLINTNEXTLINE(readability-non-const-parameter): libcurl's signature
static int on_connected(void *context, char *remote, char *local, int remote_port, int local_port) {
    Transfer *t = context;
    (void)local;
    (void)remote_port;
    (void)local_port;
    bool is_private = is_private_address(remote);
    if (!t->looked) t->from_private = is_private;
    t->redirect_refused = t->looked && is_private && !t->from_private;
    t->looked = true;
    return t->redirect_refused ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now) {
    Transfer *t = context;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    t->stopped = t->progress && atomic_load(&t->progress->cancelled);
    return t->stopped ? 1 : 0;
}

static bool store_bytes(Transfer *t, Str bytes) {
    if (!t->writer && file_create(t->file, &t->writer, &t->err) != OK) return false;
    return file_append(t->writer, bytes, &t->err) == OK;
}

static bool is_welcome(FileKind kind, bool small) {
    if (small) return kind == FILE_KIND_POINTER || kind == FILE_KIND_TEXT;
    return kind == FILE_KIND_MSF || kind == FILE_KIND_MSFZ || kind == FILE_KIND_CABINET ||
           kind == FILE_KIND_PORTABLE_PDB || kind == FILE_KIND_PE || kind == FILE_KIND_PERFMAP;
}

// Sign-in pages and complaints of proxies come with status 200: the first bytes tell.
static bool decide(Transfer *t) {
    t->decided = true;
    FileKind kind = file_kind_from_head((Str){t->head, t->head_size});
    bool markup = t->head_size && (t->head[0] == '<' || t->head[0] == '{');
    t->bad_body = !is_welcome(kind, t->small) || markup;
    return !t->bad_body && store_bytes(t, (Str){t->head, t->head_size});
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context) {
    Transfer *t = context;
    size_t n = size * count;
    long status = 0;
    (void)t->api->easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) return n; // bodies of errors and redirects are not looked at
    t->bytes += n;
    uint64_t limit = t->small ? LIMIT_FILE_PTR_BYTES : (uint64_t)LIMIT_SYMBOL_FILE_MIB << 20;
    t->too_large = t->bytes > limit;
    if (t->too_large) return 0;
    if (t->progress) atomic_fetch_add(&t->progress->done, n);
    Str rest = {bytes, n};
    if (!t->decided) {
        size_t room = sizeof t->head - t->head_size, taken = n < room ? n : room;
        memcpy(t->head + t->head_size, bytes, taken);
        t->head_size += taken;
        if (t->head_size < sizeof t->head) return n;
        if (!decide(t)) return 0;
        rest = str_slice(rest, taken, n);
    }
    return rest.n == 0 || store_bytes(t, rest) ? n : 0;
}

// Under the mutex. What failed once is not tried again: nobody installs libcurl under a running
// program often enough to make every request search for it.
static Status need_api(Http *http, Err *err) {
    if (!http->loaded && !http->load_failed) {
        http->loaded = curl_api_load(http->libcurl, &http->api, &http->load_err) == OK;
        http->load_failed = !http->loaded;
        if (http->loaded) http->headers = http->api.slist_append(NULL, "Accept: application/msfz0");
    }
    return http->loaded ? OK : err_set(err, http->load_err.status, "%s", http->load_err.text);
}

static CURL *take_handle(Http *http, Err *err) {
    mutex_lock(&http->mutex);
    Status status = need_api(http, err);
    CURL *curl = status == OK && http->idle_count ? http->idle[--http->idle_count] : NULL;
    mutex_unlock(&http->mutex);
    if (status != OK || curl) return curl;
    curl = http->api.easy_init();
    if (!curl) (void)err_set(err, ERR_INTERNAL, "libcurl does not start");
    return curl;
}

// Handles keep their connections, so they are used again.
static void give_back(Http *http, CURL *curl) {
    mutex_lock(&http->mutex);
    bool kept = http->idle_count < HANDLES_KEPT;
    if (kept) http->idle[http->idle_count++] = curl;
    mutex_unlock(&http->mutex);
    if (!kept) http->api.easy_cleanup(curl);
}

static bool is_https(Str url) {
    return str_find_nocase(url, STR("https://")) == 0;
}

static void set_options(const Http *http, CURL *curl, const char *url, Transfer *t) {
    http->api.easy_reset(curl);
    (void)http->api.easy_setopt(curl, CURLOPT_URL, url);
    (void)http->api.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)http->api.easy_setopt(curl, CURLOPT_USERAGENT, USER_AGENT);
    (void)http->api.easy_setopt(curl, CURLOPT_HTTPHEADER, http->headers);
    (void)http->api.easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    (void)http->api.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    // Never from https down to http.
    (void)http->api.easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                                is_https(str_from_c(url)) ? "https" : "http,https");
    (void)http->api.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    (void)http->api.easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    (void)http->api.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)http->connect_seconds);
    (void)http->api.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)http->api.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)http->stall_seconds);
    (void)http->api.easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)http->api.easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)http->api.easy_setopt(curl, CURLOPT_WRITEDATA, t);
    (void)http->api.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)http->api.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)http->api.easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    (void)http->api.easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_connected);
    (void)http->api.easy_setopt(curl, CURLOPT_PREREQDATA, t);
}

static Host *find_host(Http *http, Str url) {
    size_t slashes = str_find(url, STR("://"));
    Str rest = str_slice(url, slashes == SIZE_MAX ? 0 : slashes + 3, url.n);
    Str name = str_slice(rest, 0, str_find(rest, STR("/")));
    for (size_t i = 0; i < http->host_count; i++)
        if (str_eq_nocase(http->hosts[i].name, name)) return &http->hosts[i];
    if (http->host_count == HOSTS_MAX) return &http->hosts[0];
    http->hosts[http->host_count].name = str_copy(&http->arena, name);
    return &http->hosts[http->host_count++];
}

// After some failures in a row a server is left alone for a while; one answer ends that.
static bool is_circuit_open(Http *http, Str url) {
    mutex_lock(&http->mutex);
    bool open = find_host(http, url)->closed_until_ns > os_now_ns();
    mutex_unlock(&http->mutex);
    return open;
}

static void count_outcome(Http *http, Str url, HttpOutcome outcome) {
    mutex_lock(&http->mutex);
    Host *host = find_host(http, url);
    if (outcome == HTTP_OK || outcome == HTTP_NO) {
        *host = (Host){.name = host->name};
    } else if (outcome == HTTP_FAILED || outcome == HTTP_REFUSED) {
        if (++host->failures >= FAILURES_IN_A_ROW) {
            host->closed_until_ns = os_now_ns() + CIRCUIT_OPEN_SECONDS * UINT64_C(1000000000);
            host->failures = 0;
        }
    }
    mutex_unlock(&http->mutex);
}

static HttpOutcome outcome_of_status(long status) {
    if (status == 200) return HTTP_OK;
    if (status == 404 || status == 410) return HTTP_NO;
    return status == 401 || status == 403 || status == 407 ? HTTP_REFUSED : HTTP_FAILED;
}

static HttpAnswer answer_of(Transfer *t, CURLcode code, Arena *arena) {
    HttpAnswer a = {.outcome = HTTP_FAILED, .bytes = t->bytes};
    (void)t->api->easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &a.status);
    if (t->stopped) {
        a.outcome = HTTP_STOPPED;
        a.detail = STR("cancelled");
    } else if (t->bad_body) {
        a.outcome = HTTP_BAD_BODY;
        a.detail = STR("the server sent text instead of a symbol file: a sign-in page?");
    } else if (t->too_large) {
        a.outcome = HTTP_TOO_LARGE;
        a.detail = str_format(arena, "more than %d MB", LIMIT_SYMBOL_FILE_MIB);
    } else if (t->err.status != OK) {
        a.detail = str_format(arena, "%s", t->err.text);
    } else if (t->redirect_refused) {
        a.detail = STR("the server redirects to a private address");
    } else if (code != CURLE_OK) {
        a.detail = str_format(arena, "%s", t->api->easy_strerror(code));
    } else {
        a.outcome = outcome_of_status(a.status);
        if (a.outcome == HTTP_OK && t->bytes == 0) {
            a.outcome = HTTP_BAD_BODY;
            a.detail = STR("the server sent an empty file");
        } else if (a.outcome != HTTP_OK) {
            a.detail = str_format(arena, "HTTP %ld", a.status);
        }
    }
    return a;
}

static HttpAnswer get_once(Http *http, CURL *curl, const char *url, Transfer *t, Arena *arena) {
    set_options(http, curl, url, t);
    CURLcode code = http->api.easy_perform(curl);
    long status = 0;
    (void)http->api.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == 200 && !t->decided && t->bytes) (void)decide(t);
    HttpAnswer answer = answer_of(t, code, arena);
    if (answer.outcome == HTTP_OK && t->writer && file_finish(t->writer, &t->err) != OK) {
        answer.outcome = HTTP_FAILED;
        answer.detail = str_format(arena, "%s", t->err.text);
    }
    file_writer_close(t->writer);
    t->writer = NULL;
    if (answer.outcome != HTTP_OK) (void)os_remove_file(t->file, NULL);
    return answer;
}

static bool is_transient(const HttpAnswer *a, const Transfer *t) {
    if (a->outcome != HTTP_FAILED || t->err.status != OK || t->redirect_refused) return false;
    static const long STATUSES[] = {408, 429, 500, 502, 503, 504};
    if (a->status < 300) return true; // no answer, or one that broke off
    for (size_t i = 0; i < COUNT_OF(STATUSES); i++)
        if (a->status == STATUSES[i]) return true;
    return false;
}

// In short steps, so that a cancel is noticed.
static bool wait_ms(uint64_t ms, const Progress *progress) {
    for (uint64_t done = 0; done < ms; done += WAIT_STEP_MS) {
        if (progress && atomic_load(&progress->cancelled)) return false;
        struct timespec step = {0, WAIT_STEP_MS * INT64_C(1000000)};
        (void)nanosleep(&step, NULL);
    }
    return true;
}

static uint64_t wait_before(const Http *http, CURL *curl, unsigned retry) {
    curl_off_t after_s = 0;
    (void)http->api.easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after_s);
    if (after_s > RETRY_AFTER_SECONDS_MAX) after_s = RETRY_AFTER_SECONDS_MAX;
    uint64_t wait = (uint64_t)http->retry_wait_ms << retry;
    return after_s > 0 && (uint64_t)after_s * 1000 > wait ? (uint64_t)after_s * 1000 : wait;
}

HttpAnswer http_get(Http *http, Str url, Str file, bool small, Progress *progress, Arena *arena) {
    if (is_circuit_open(http, url))
        return (HttpAnswer){.outcome = HTTP_OPEN_CIRCUIT,
                            .detail = STR("not asked: the server failed several times just now")};
    Err err = {0};
    HttpAnswer answer = {.outcome = HTTP_FAILED};
    CURL *curl = take_handle(http, &err);
    if (!curl) {
        answer.detail = str_format(arena, "%s", err.text);
        return answer;
    }
    const char *url_c = str_to_c(arena, url);
    for (unsigned retry = 0; retry <= RETRIES; retry++) {
        Transfer t = {
            .file = file, .small = small, .api = &http->api, .curl = curl, .progress = progress};
        answer = get_once(http, curl, url_c, &t, arena);
        if (!is_transient(&answer, &t) || retry == RETRIES) break;
        if (!wait_ms(wait_before(http, curl, retry), progress)) {
            answer.outcome = HTTP_STOPPED;
            break;
        }
    }
    count_outcome(http, url, answer.outcome);
    give_back(http, curl);
    return answer;
}
