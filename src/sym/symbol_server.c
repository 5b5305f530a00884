// What is asked of a symbol server, in which order, and what its answers mean. A plain "no" is
// remembered for a day; a refusal or an outage never is. docs/formats/pdb.md, "Servers".
#include "sym/source.h"
#include "sym/symbol_internal.h"

enum { MISSING_SECONDS = 24 * 3600, MISSING_FILE_BYTES = 8 << 20 };

// Everything but unreserved characters of a path segment is escaped.
static void add_segment(Buf *url, Str segment) {
    for (size_t i = 0; i < segment.n; i++) {
        unsigned char c = (unsigned char)segment.p[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            buf_add_char(url, (char)c);
        else
            buf_addf(url, "%%%02X", c);
    }
}

static Str url_of(Str server, const SymbolId *id, Str key, Arena *arena) {
    AUTO(buf_done) Buf url = {0};
    buf_add(&url, server);
    buf_add_char(&url, '/');
    add_segment(&url, id->name);
    buf_add_char(&url, '/');
    add_segment(&url, key);
    return str_copy(arena, buf_str(&url));
}

static Str url_child(Str leaf, const char *between, Str name, Arena *arena) {
    AUTO(buf_done) Buf url = {0};
    buf_add(&url, leaf);
    buf_add_c(&url, between);
    add_segment(&url, name);
    return str_copy(arena, buf_str(&url));
}

bool missing_is_known(SymbolPath *path, Str leaf_url) {
    if (path->options.retry_missing) return false;
    mutex_lock(&path->mutex);
    const uint64_t *at = strmap_get(&path->missing, leaf_url);
    uint64_t now = (uint64_t)(os_wall_ns() / 1000000000);
    bool known = at && *at <= now && now - *at < MISSING_SECONDS;
    mutex_unlock(&path->mutex);
    return known;
}

static void missing_put(SymbolPath *path, Str leaf_url, uint64_t at) {
    bool added;
    StrMapSlot *slot = strmap_put(&path->missing, leaf_url, at, &added);
    if (added) slot->key = str_copy(&path->missing_keys, leaf_url);
    slot->value = at;
}

void missing_add(SymbolPath *path, Str leaf_url) {
    mutex_lock(&path->mutex);
    missing_put(path, leaf_url, (uint64_t)(os_wall_ns() / 1000000000));
    path->missing_changed = true;
    mutex_unlock(&path->mutex);
}

// Lines of "seconds URL". What is damaged or old is left out.
void missing_load(SymbolPath *path) {
    AUTO(arena_done) Arena arena = {0};
    Str text;
    if (path->options.missing_file.n == 0 || path->options.retry_missing ||
        file_read_all(path->options.missing_file, MISSING_FILE_BYTES, &arena, &text, NULL) != OK)
        return;
    uint64_t now = (uint64_t)(os_wall_ns() / 1000000000);
    for (Str line; str_next(&text, '\n', &line);) {
        Str seconds = {0};
        uint64_t at = 0;
        if (!str_next(&line, ' ', &seconds) || !str_to_u64(seconds, &at) || line.n == 0) continue;
        if (at <= now && now - at < MISSING_SECONDS) missing_put(path, line, at);
    }
}

void missing_save(SymbolPath *path) {
    if (path->options.missing_file.n == 0 || !path->missing_changed) return;
    AUTO(buf_done) Buf text = {.max = MISSING_FILE_BYTES};
    for (size_t i = 0; i < path->missing.capacity; i++) {
        const StrMapSlot *slot = &path->missing.slots[i];
        if (slot->key.p)
            buf_addf(&text, "%" PRIu64 " " STR_FMT "\n", slot->value, STR_ARG(slot->key));
    }
    // Only a saving of requests: when it cannot be kept, servers are asked again.
    if (os_make_folders(path_folder(path->options.missing_file), NULL) == OK &&
        file_write_atomic(path->options.missing_file, buf_str(&text), NULL) == OK)
        path->missing_changed = false;
}

static void note_answer(Search *s, Str url, const HttpAnswer *a) {
    SymbolOutcome outcome = SYMBOL_NETWORK_ERROR;
    if (a->outcome == HTTP_NO) outcome = SYMBOL_NOT_ON_SERVER;
    if (a->outcome == HTTP_STOPPED) outcome = SYMBOL_CANCELLED;
    if (a->outcome == HTTP_TOO_LARGE) outcome = SYMBOL_DAMAGED;
    search_note(s, url, outcome, a->detail, a->status);
}

// A pointer from a server may lead to another file of that server; never to a file of this machine.
static Str pointer_url(Search *s, Str server, Str url, Str file) {
    Str text;
    if (file_read_all(file, LIMIT_FILE_PTR_BYTES, s->arena, &text, NULL) != OK) return (Str){0};
    text = str_trim(text);
    if (str_starts(text, STR("MSG"))) {
        search_note(s, url, SYMBOL_NOT_ON_SERVER, text, 200);
        return (Str){0};
    }
    if (str_starts(text, STR("PATH:"))) text = str_trim(str_slice(text, 5, text.n));
    size_t slashes = str_find(server, STR("://"));
    Str host = str_slice(
        server, 0, slashes + 3 + str_find(str_slice(server, slashes + 3, server.n), STR("/")));
    if (str_find(str_slice(server, slashes + 3, server.n), STR("/")) == SIZE_MAX) host = server;
    bool same =
        text.n > host.n && str_eq_nocase(str_slice(text, 0, host.n), host) && text.p[host.n] == '/';
    bool relative = text.n && str_find(text, STR(":")) == SIZE_MAX && text.p[0] != '/' &&
                    text.p[0] != '\\' && str_find(text, STR("..")) == SIZE_MAX;
    if (same) return text;
    if (relative) {
        AUTO(buf_done) Buf out = {0};
        buf_add(&out, server);
        for (Str part; str_next(&text, '/', &part);) {
            buf_add_char(&out, '/');
            add_segment(&out, part);
        }
        return str_copy(s->arena, buf_str(&out));
    }
    search_note(s, url, SYMBOL_NOT_ON_SERVER,
                str_format(s->arena, "points to " STR_FMT ", outside this server", STR_ARG(text)),
                200);
    return (Str){0};
}

// Where a download is written first: beside its future name when that can be, for the rename.
static Str part_file(Search *s, size_t place) {
    for (size_t i = 0; i <= place; i++) {
        const SymbolPlace *p = &s->path->places.items[i];
        bool store =
            p->usable &&
            (p->kind == SYMBOL_PLACE_CACHE ||
             (p->kind == SYMBOL_PLACE_STORE && p->element == s->path->places.items[place].element));
        if (store && os_make_folders(p->location, NULL) == OK && os_folder_writable(p->location))
            return store_part_path(s->path, p->location, s->id->name, s->arena);
    }
    if (os_make_folders(s->path->default_store, NULL) != OK) return (Str){0};
    return store_part_path(s->path, s->path->default_store, s->id->name, s->arena);
}

static bool finish_download(Search *s, size_t place, Str url, Str part, bool packed) {
    Err why = {0};
    AUTO(source_close) Source *source = NULL;
    if (source_open(part, &source, &why) == OK && source_kind(source) == FILE_KIND_CABINET)
        packed = true;
    SymbolOutcome outcome = symbol_verify(part, s->id, &why);
    Str stored = {0};
    if (outcome == SYMBOL_CACHED) {
        stored = store_install(s, place, part, packed);
        if (stored.n == 0)
            search_note(s, url, SYMBOL_DAMAGED, STR("no store of the path can be written"), 200);
    } else {
        search_note(s, url, outcome, str_from_c(why.text), 200);
    }
    (void)os_remove_file(part, NULL);
    if (stored.n == 0) return false;
    search_note(s, url, SYMBOL_DOWNLOADED, (Str){0}, 200);
    s->result->path = stored;
    s->result->outcome = SYMBOL_DOWNLOADED;
    return true;
}

typedef enum Asked { ASKED_FOUND, ASKED_NO, ASKED_STOP } Asked;

static Asked ask(Search *s, size_t place, Str url, bool pointer) {
    Str part = part_file(s, place), server = s->path->places.items[place].location;
    s->result->url = url;
    if (part.n == 0) {
        search_note(s, url, SYMBOL_DAMAGED, STR("no store of the path can be written"), 0);
        return ASKED_STOP;
    }
    HttpAnswer a = http_get(s->path->http, url, part, pointer, s->progress, s->arena);
    if (a.outcome == HTTP_OK && !pointer)
        return finish_download(s, place, url, part, false) ? ASKED_FOUND : ASKED_STOP;
    // Some servers answer anything with a page: for a pointer that is a "no".
    if (pointer && a.outcome == HTTP_BAD_BODY) a.outcome = HTTP_NO;
    if (a.outcome != HTTP_OK) {
        note_answer(s, url, &a);
        return a.outcome == HTTP_NO ? ASKED_NO : ASKED_STOP;
    }
    Str next = pointer_url(s, server, url, part);
    (void)os_remove_file(part, NULL);
    return next.n ? ask(s, place, next, false) : ASKED_NO;
}

bool server_search(Search *s, size_t place) {
    Str server = s->path->places.items[place].location;
    Str leaf = url_of(server, s->id, s->key, s->arena);
    Str first = url_child(leaf, "/", s->id->name, s->arena);
    s->result->url = first;
    if (s->path->options.no_download) {
        s->saw_skipped = true;
        search_note(s, first, SYMBOL_SKIPPED, STR("downloads are switched off"), 0);
        return false;
    }
    if (missing_is_known(s->path, leaf)) {
        search_note(s, first, SYMBOL_NOT_ON_SERVER, STR("asked less than a day ago"), 404);
        return false;
    }
    const struct {
        Str url;
        bool pointer;
    } order[] = {
        {first,            false    },
        {     url_child(leaf, "/", packed_name(s->id->name, s->arena), s->arena), false},
        {      url_child(leaf,                    "/",    STR("file.ptr"), s->arena), true},
        { url_child(leaf,               "/msfz0/", s->id->name, s->arena), false},
    };
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        if (search_cancelled(s)) return false;
        Asked asked = ask(s, place, order[i].url, order[i].pointer);
        if (asked == ASKED_FOUND) return true;
        if (asked == ASKED_STOP) return false;
    }
    s->result->url = first;
    missing_add(s->path, leaf);
    return false;
}
