// One connection: classifies each message by era, hands requests to threads, and keeps the promises
// about what is sent when. Nothing is remembered between requests but the version of a legacy
// handshake; both eras may be in use at once on one pipe.
//
// Threads: the caller's reads lines; `control` is one thread for answers that need no work, so that
// a ping is answered while every worker is busy; `work` runs tools. A request belongs to the thread
// that runs it; the list of requests and their states are under `lock`.
#include "mcp/server.h"

#include "base/limits.h"
#include "base/os.h"
#include "mcp/methods.h"
#include "mcp/pool.h"

#include <math.h>
#include <string.h>

typedef enum RequestState {
    REQUEST_ACTIVE,    // queued or running
    REQUEST_LISTENING, // an acknowledged subscription: no thread has it
    REQUEST_CANCELLED, // nothing more may be sent for it
} RequestState;

typedef struct Request {
    Job job; // first: the pools hand back its address
    McpServer *server;
    struct Request *previous, *next; // under server->lock, as is state
    RequestState state;
    Arena arena;
    RpcMessage message;
    const Method *method; // NULL: call.code says what is wrong
    Call call;
    size_t weight; // bytes it keeps in memory, roughly
    Progress progress;
    Mutex report_lock; // keeps progress messages in order
    bool reported;
    double reported_value;
    uint64_t reported_ns;
} Request;

struct McpServer {
    Engine *engine;
    McpServerOptions options;
    Str legacy_version; // of the last initialize; empty: none. Reader only.
    Buf tools;          // control thread only
    Pool control, work;
    Mutex send_lock;
    Mutex lock; // everything below
    Condition changed;
    Request *first;
    size_t pending, pending_weight; // requests that some thread still has
    size_t listening;
    bool muted;
};

McpServer *mcp_server_open(Engine *engine, const McpServerOptions *options) {
    McpServer *server = mem_zero(1, sizeof *server);
    server->engine = engine;
    server->options = *options;
    if (!server->options.workers) server->options.workers = MCP_WORKERS;
    if (!server->options.progress_interval_ns) server->options.progress_interval_ns = 1000000000;
    pool_init(&server->control, options->same_thread ? 0 : 1);
    pool_init(&server->work, options->same_thread ? 0 : server->options.workers);
    mutex_init(&server->send_lock);
    mutex_init(&server->lock);
    condition_init(&server->changed);
    return server;
}

static void send_line(McpServer *server, const Buf *line) {
    mutex_lock(&server->send_lock);
    server->options.send(server->options.context, buf_str(line));
    mutex_unlock(&server->send_lock);
}

// ---- Life of a request

static void request_free(Request *request) {
    json_decref(request->message.root);
    json_decref(request->call.data);
    buf_done(&request->call.members);
    mutex_done(&request->report_lock);
    arena_done(&request->arena);
    mem_free(request);
}

static void link_request(McpServer *server, Request *request) {
    mutex_lock(&server->lock);
    request->next = server->first;
    if (server->first) server->first->previous = request;
    server->first = request;
    server->pending++;
    server->pending_weight += request->weight;
    mutex_unlock(&server->lock);
}

static void unlink_request(McpServer *server, Request *request) {
    if (request->next) request->next->previous = request->previous;
    if (request->previous)
        request->previous->next = request->next;
    else
        server->first = request->next;
}

static bool is_active(McpServer *server, const Request *request) {
    mutex_lock(&server->lock);
    bool active = request->state == REQUEST_ACTIVE && !server->muted;
    mutex_unlock(&server->lock);
    return active;
}

// The request's thread is through with it.
static void release(McpServer *server, Request *request) {
    size_t weight = request->weight;
    request_free(request);
    mutex_lock(&server->lock);
    server->pending--;
    server->pending_weight -= weight;
    condition_signal_all(&server->changed);
    mutex_unlock(&server->lock);
}

static void finish(McpServer *server, Request *request, const Buf *line) {
    mutex_lock(&server->lock);
    bool wanted = request->state == REQUEST_ACTIVE && !server->muted;
    unlink_request(server, request);
    mutex_unlock(&server->lock);
    if (wanted) send_line(server, line);
    release(server, request);
}

// ---- Progress

static void add_number(Buf *out, const char *name, double value) {
    buf_addf(out, ",\"%s\":%.15g", name, value);
}

static void send_progress(Request *request, double done, double total, const char *message) {
    Buf line = {0};
    buf_add_c(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                     "\"progressToken\":");
    buf_add(&line, request->message.progress_token);
    add_number(&line, "progress", done);
    if (isfinite(total) && total > 0) add_number(&line, "total", total);
    if (message && *message) {
        buf_add_c(&line, ",\"message\":");
        json_add_text(&line, str_from_c(message));
    }
    buf_add_c(&line, "}}");
    send_line(request->server, &line);
    buf_done(&line);
}

// Called by the engine during engine_call, so never after the answer.
static void on_report(void *context, double done, double total, const char *message) {
    Request *request = context;
    if (!request->message.progress_token.n || !isfinite(done)) return;
    mutex_lock(&request->report_lock);
    uint64_t now = os_now_ns();
    bool due = !request->reported ||
               (done > request->reported_value &&
                now - request->reported_ns >= request->server->options.progress_interval_ns);
    if (due && is_active(request->server, request)) {
        request->reported = true;
        request->reported_value = done;
        request->reported_ns = now;
        send_progress(request, done, total, message);
    }
    mutex_unlock(&request->report_lock);
}

// ---- Running a request

static void acknowledge(McpServer *server, Request *request) {
    Buf line = {0};
    buf_add_c(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                     "\"params\":{\"_meta\":{\"" MCP_META "subscriptionId\":");
    buf_add(&line, request->message.id);
    buf_add_c(&line, "},\"notifications\":{}}}");
    if (is_active(server, request)) send_line(server, &line);
    buf_done(&line);
    mutex_lock(&server->lock);
    bool stays = request->state == REQUEST_ACTIVE;
    if (stays) {
        request->state = REQUEST_LISTENING;
        server->pending--;
        server->pending_weight -= request->weight;
        server->listening++;
    } else {
        unlink_request(server, request);
    }
    condition_signal_all(&server->changed);
    mutex_unlock(&server->lock);
    if (!stays) release(server, request);
}

static void run(Job *job) {
    Request *request = (Request *)job;
    McpServer *server = request->server;
    Call *call = &request->call;
    if (request->method && is_active(server, request)) request->method->run(call);
    if (request->method && request->method->subscribes && !call->code) {
        acknowledge(server, request);
        return;
    }
    Buf line = {0};
    if (is_active(server, request)) {
        if (request->method)
            call_compose(call, request->method, &line);
        else
            rpc_error(&line, request->message.id, call->code, call->text, call->data);
    }
    finish(server, request, &line);
    buf_done(&line);
}

// Back-pressure instead of refusal: input waits in the pipe while too much is queued here.
static void wait_for_room(McpServer *server) {
    enum { POLL_NS = 50000000 };
    mutex_lock(&server->lock);
    while (
        (server->pending >= LIMIT_QUEUE_REQUESTS || server->pending_weight >= LIMIT_QUEUE_BYTES) &&
        !(server->options.interrupted && server->options.interrupted()))
        (void)condition_wait_for(&server->changed, &server->lock, POLL_NS);
    mutex_unlock(&server->lock);
}

static void submit(McpServer *server, Request *request) {
    request->job.run = run;
    wait_for_room(server);
    link_request(server, request);
    bool works = request->method && request->method->works;
    Err err = {0};
    Status status = pool_add(works ? &server->work : &server->control, &request->job, &err);
    if (status == OK) return;
    // No thread to be had: say so from here rather than leave the client waiting.
    call_fail(&request->call, RPC_INTERNAL_ERROR, NULL, "%s", err.text);
    request->method = NULL;
    run(&request->job);
}

// ---- Classification: which era's rules, which method

// Always false, so that classification can end with it.
static bool reject(Request *request, RpcCode code, json_t *data, Str text) {
    request->method = NULL;
    call_fail(&request->call, code, data, STR_FMT, STR_ARG(text));
    return false;
}

static bool reject_method(Request *request) {
    Str name = rpc_quote(&request->arena, request->message.method, 100);
    const char *more = "";
    if (request->call.modern && str_eq(name, STR("initialize")))
        more = ". Supported here: " MCP_VERSION_MODERN "; for 2025-11-25, 2025-06-18, 2025-03-26, "
               "2024-11-05 send initialize without " MCP_META " keys in _meta";
    return reject(
        request, RPC_METHOD_NOT_FOUND, NULL,
        str_format(&request->arena, "Method not found: " STR_FMT "%s", STR_ARG(name), more));
}

static bool classify_modern(Request *request, const json_t *meta, const json_t *claim) {
    if (!json_is_string(claim))
        return reject(request, RPC_INVALID_PARAMS, NULL,
                      STR("_meta " MCP_META "protocolVersion must be a string"));
    if (!str_eq(json_str(claim), STR(MCP_VERSION_MODERN))) {
        Str shown = rpc_quote(&request->arena, json_str(claim), 200);
        json_t *data = json_pack("{s:[s],s:o}", "supported", MCP_VERSION_MODERN, "requested",
                                 json_text(shown));
        return reject(
            request, RPC_UNSUPPORTED_VERSION, data,
            str_format(&request->arena, "Unsupported protocol version: " STR_FMT, STR_ARG(shown)));
    }
    if (!json_is_object(json_object_get(meta, MCP_META "clientCapabilities")))
        return reject(request, RPC_INVALID_PARAMS,
                      json_pack("{s:[s]}", "missing", MCP_META "clientCapabilities"),
                      STR("_meta lacks the object " MCP_META "clientCapabilities"));
    bool known = request->method && (request->method->eras & ERA_MODERN);
    return known || reject_method(request);
}

static bool classify_legacy(McpServer *server, Request *request) {
    const Method *method = request->method;
    bool opens = method && method->opens;
    bool discovers = str_eq(request->message.method, STR("server/discover"));
    if (discovers || (!opens && !server->legacy_version.n)) {
        Str name = rpc_quote(&request->arena, request->message.method, 100);
        json_t *data = json_pack("{s:[s,s]}", "missing", MCP_META "protocolVersion",
                                 MCP_META "clientCapabilities");
        return reject(request, RPC_INVALID_PARAMS, data,
                      str_format(&request->arena,
                                 STR_FMT ": send initialize first, or put " MCP_META
                                         "protocolVersion (" MCP_VERSION_MODERN ") and " MCP_META
                                         "clientCapabilities into params._meta",
                                 STR_ARG(name)));
    }
    if (!method || !(method->eras & ERA_LEGACY)) return reject_method(request);
    if (!str_eq(request->message.method, STR("initialize"))) return true;
    const json_t *version = json_object_get(request->message.params, "protocolVersion");
    if (!json_is_string(version))
        return reject(request, RPC_INVALID_PARAMS, NULL,
                      STR("params.protocolVersion must be a string"));
    server->legacy_version = mcp_legacy_version(json_str(version));
    request->call.version = server->legacy_version;
    return true;
}

static void classify(McpServer *server, Request *request) {
    const json_t *meta = json_object_get(request->message.params, "_meta");
    const json_t *claim = json_object_get(meta, MCP_META "protocolVersion");
    request->method = method_named(request->message.method);
    request->call.modern = claim != NULL;
    bool accepted =
        claim ? classify_modern(request, meta, claim) : classify_legacy(server, request);
    if (!accepted || !request->method->subscribes) return;
    mutex_lock(&server->lock);
    bool full = server->listening >= LIMIT_SUBSCRIPTIONS;
    mutex_unlock(&server->lock);
    if (full)
        (void)reject(request, RPC_INTERNAL_ERROR, NULL, STR("Too many subscriptions are open"));
}

// ---- Input

static Request *request_new(McpServer *server) {
    Request *request = mem_zero(1, sizeof *request);
    request->server = server;
    mutex_init(&request->report_lock);
    return request;
}

static void prepare_call(McpServer *server, Request *request) {
    request->call = (Call){
        .engine = server->engine,
        .id = request->message.id,
        .params = request->message.params,
        .tools = &server->tools,
        .arena = &request->arena,
        .context = {
                    .progress = &request->progress, .report = on_report, .report_context = request}
    };
}

static void cancel(McpServer *server, Str key) {
    if (!key.n) return;
    Request *ended = NULL;
    mutex_lock(&server->lock);
    for (Request *request = server->first; request; request = request->next) {
        if (request->state == REQUEST_CANCELLED || !str_eq(request->message.id_key, key)) continue;
        if (request->state == REQUEST_LISTENING) {
            unlink_request(server, request);
            server->listening--;
            ended = request;
        }
        request->state = REQUEST_CANCELLED;
        atomic_store(&request->progress.cancelled, true);
        break;
    }
    mutex_unlock(&server->lock);
    if (ended) request_free(ended);
}

void mcp_server_line(McpServer *server, Str line) {
    if (!str_trim(line).n) return;
    Request *request = request_new(server);
    rpc_parse(line, &request->arena, &request->message);
    // A parsed value takes many times the bytes of its text.
    enum { VALUE_BYTES = 96 };
    request->weight = sizeof *request + line.n + request->message.values * VALUE_BYTES;
    prepare_call(server, request);
    switch (request->message.kind) {
    case RPC_REQUEST:
        classify(server, request);
        submit(server, request);
        return;
    case RPC_BAD:
        (void)reject(request, request->message.code, NULL, str_from_c(request->message.complaint));
        submit(server, request);
        return;
    case RPC_NOTIFICATION:
        if (str_eq(request->message.method, STR("notifications/cancelled")))
            cancel(server, request->message.cancelled_key);
        break;
    case RPC_RESPONSE: break; // we ask nothing
    }
    request_free(request);
}

void mcp_server_line_too_long(McpServer *server, size_t max_bytes) {
    Request *request = request_new(server);
    prepare_call(server, request);
    request->weight = sizeof *request;
    (void)reject(request, RPC_INVALID_REQUEST, NULL,
                 str_format(&request->arena, "Line longer than %zu bytes", max_bytes));
    submit(server, request);
}

// ---- The end

static bool wait_until_idle(McpServer *server, uint64_t wait_ns) {
    uint64_t end = os_now_ns() + wait_ns;
    for (uint64_t now = os_now_ns(); server->pending && now < end; now = os_now_ns())
        (void)condition_wait_for(&server->changed, &server->lock, end - now);
    return server->pending == 0;
}

static void cancel_active(McpServer *server) {
    for (Request *request = server->first; request; request = request->next) {
        if (request->state != REQUEST_ACTIVE) continue;
        request->state = REQUEST_CANCELLED;
        atomic_store(&request->progress.cancelled, true);
    }
}

static void end_subscriptions(McpServer *server) {
    for (;;) {
        mutex_lock(&server->lock);
        Request *request = server->first;
        while (request && request->state != REQUEST_LISTENING) request = request->next;
        if (request) {
            unlink_request(server, request);
            server->listening--;
        }
        bool muted = server->muted;
        mutex_unlock(&server->lock);
        if (!request) return;
        Buf line = {0};
        buf_add_c(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
        buf_add(&line, request->message.id);
        buf_add_c(&line, ",\"result\":{\"resultType\":\"complete\",\"_meta\":{\"" MCP_META
                         "subscriptionId\":");
        buf_add(&line, request->message.id);
        buf_add_c(&line, "}}}");
        if (!muted) send_line(server, &line);
        buf_done(&line);
        request_free(request);
    }
}

bool mcp_server_finish(McpServer *server, uint64_t grace_ns, uint64_t cancel_ns) {
    mutex_lock(&server->lock);
    bool idle = wait_until_idle(server, grace_ns);
    if (!idle) {
        cancel_active(server);
        idle = wait_until_idle(server, cancel_ns);
    }
    mutex_unlock(&server->lock);
    end_subscriptions(server);
    return idle;
}

void mcp_server_mute(McpServer *server) {
    mutex_lock(&server->lock);
    server->muted = true;
    cancel_active(server);
    mutex_unlock(&server->lock);
}

void mcp_server_close(McpServer *server) {
    if (!server) return;
    pool_done(&server->control);
    pool_done(&server->work);
    buf_done(&server->tools);
    condition_done(&server->changed);
    mutex_done(&server->lock);
    mutex_done(&server->send_lock);
    mem_free(server);
}
