// The registry: every trace this process knows, by id; and the per-user index by which an id of an
// earlier process still works.
#include "base/os.h"
#include "tools/engine_internal.h"

enum { INDEX_BYTES_MAX = 64 * 1024 };

Trace *registry_find(Engine *engine, Str trace_id) {
    for (size_t i = 0; i < engine->traces.count; i++)
        if (str_eq(str_from_c(engine->traces.items[i]->identity.trace_id), trace_id))
            return engine->traces.items[i];
    return NULL;
}

Trace *registry_entry(Engine *engine, const TraceIdentity *identity) {
    Trace *trace = registry_find(engine, str_from_c(identity->trace_id));
    if (trace) return trace;
    trace = mem_zero(1, sizeof *trace);
    trace->state = TRACE_UNLOADED;
    trace->identity = *identity;
    trace->identity.path = str_copy(&trace->arena, identity->path);
    *vec_push(&engine->traces) = trace;
    return trace;
}

Str registry_list_text(Engine *engine, Arena *arena) {
    Buf out = {0};
    mutex_lock(&engine->mutex);
    for (size_t i = 0; i < engine->traces.count; i++) {
        const Trace *trace = engine->traces.items[i];
        if (trace->state != TRACE_READY && trace->state != TRACE_LOADING) continue;
        buf_addf(&out, "%s%s (" STR_FMT ")", out.n ? ", " : "", trace->identity.trace_id,
                 STR_ARG(format_clean(path_name(trace->identity.path), arena)));
    }
    mutex_unlock(&engine->mutex);
    Str text = out.n ? str_format(arena, "Loaded: " STR_FMT ". list_loaded_traces() lists them.",
                                  STR_ARG(buf_str(&out)))
                     : STR("No trace is loaded: call load_trace first.");
    buf_done(&out);
    return text;
}

static void data_free(TraceData *data) {
    database_close(data->database);
    stack_cache_close(data->stacks);
    symbols_close(data->symbols);
    arena_done(&data->arena);
    mem_free(data);
}

void trace_data_retire(TraceData *data) {
    if (!data) return;
    data->retired = true;
    if (!data->users) data_free(data);
}

// ---------------------------------------------------------------- memory

// Drops what was derived from an idle trace, its tables and its tree of stacks: they are built
// again when wanted. Names of functions and facts stay. The engine is locked.
static void data_rest(TraceData *data) {
    symbols_attach(data->symbols, NULL);
    database_close(data->database);
    data->database = NULL;
    stack_cache_drop(data->stacks);
}

// Above the cap the trace that was used longest ago rests, one a call: the memory of the last one
// may not be back yet. The engine is locked.
static void relieve_memory(Engine *engine, const TraceData *current) {
    Trace *oldest = NULL;
    for (size_t i = 0; i < engine->traces.count; i++) {
        Trace *trace = engine->traces.items[i];
        const TraceData *data = trace->state == TRACE_READY ? trace->data : NULL;
        if (!data || data == current || data->users || !data->database) continue;
        if (!oldest || trace->used_at_ns < oldest->used_at_ns) oldest = trace;
    }
    // Asked last: it reads a file of the system.
    if (oldest && os_resident_memory_bytes() > engine->settings.memory_bytes)
        data_rest(oldest->data);
}

// Opens the database of a trace that rests. The engine is locked.
static Status wake(Engine *engine, Trace *trace, Arena *arena, Err *err) {
    Err own = {0};
    Status status = trace_data_wake(engine, trace, trace->data, &own);
    if (status == OK) return OK;
    trace_data_retire(trace->data);
    trace->data = NULL;
    trace->state = TRACE_UNLOADED;
    return err_set(err, status,
                   "the database of %s, which rested to save memory, cannot be opened: %s. Call "
                   "load_trace(etl_path=\"" STR_FMT "\")",
                   trace->identity.trace_id, own.text,
                   STR_ARG(format_clean(trace->identity.path, arena)));
}

// ---------------------------------------------------------------- index

static Str index_path(Str trace_id, Arena *arena) {
    return path_join(arena, path_join(arena, os_cache_folder(arena), STR("traces")), trace_id);
}

void index_put(const Trace *trace) {
    AUTO(arena_done) Arena arena = {0};
    Str path = index_path(str_from_c(trace->identity.trace_id), &arena);
    Str known = {0};
    if (index_get(str_from_c(trace->identity.trace_id), &arena, &known) &&
        str_eq(known, trace->identity.path))
        return;
    if (os_make_folders(path_folder(path), NULL) != OK) return; // ids then end with the process
    (void)file_write_atomic(path, trace->identity.path, NULL);
}

static bool is_trace_id(Str text) {
    if (!str_starts(text, STR("trace_")) || text.n >= TRACE_ID_SIZE) return false;
    for (size_t i = 6; i < text.n; i++) {
        char c = text.p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

bool index_get(Str trace_id, Arena *arena, Str *path) {
    if (!is_trace_id(trace_id)) return false;
    return file_read_all(index_path(trace_id, arena), INDEX_BYTES_MAX, arena, path, NULL) == OK &&
           path->n > 0;
}

// ---------------------------------------------------------------- holding

static Status unknown_id(Engine *engine, Str trace_id, Arena *arena, Err *err) {
    Str shown = format_shorten(format_clean(trace_id, arena), 80, arena);
    return err_set(err, ERR_ARG, "no trace has the id \"" STR_FMT "\". " STR_FMT, STR_ARG(shown),
                   STR_ARG(registry_list_text(engine, arena)));
}

// A path instead of an id is a common slip.
static Status maybe_path(Engine *engine, Str trace_id, Arena *arena, Err *err) {
    if (!str_ends_nocase(trace_id, STR(".etl"))) return unknown_id(engine, trace_id, arena, err);
    return err_set(err, ERR_ARG,
                   "trace_id wants the id that load_trace returns, not a path. Call load_trace("
                   "etl_path=\"" STR_FMT "\") first",
                   STR_ARG(format_clean(trace_id, arena)));
}

// An id of an earlier process: opens its database, if that is still valid.
static Status reopen(Engine *engine, Str trace_id, Arena *arena, Trace **out, Err *err) {
    Str path = {0};
    if (!index_get(trace_id, arena, &path)) return maybe_path(engine, trace_id, arena, err);
    TraceIdentity identity = {0};
    if (trace_identity(path, arena, &identity, NULL) != OK)
        return err_set(err, ERR_NOT_FOUND,
                       "the file of " STR_FMT " is gone: \"" STR_FMT "\". Call load_trace with its "
                       "new path",
                       STR_ARG(trace_id), STR_ARG(format_clean(path, arena)));
    if (!str_eq(str_from_c(identity.trace_id), trace_id))
        return err_set(err, ERR_NOT_FOUND,
                       "the file of " STR_FMT
                       " has changed since. Call load_trace(etl_path=\"" STR_FMT
                       "\"), which gives it a new id",
                       STR_ARG(trace_id), STR_ARG(format_clean(path, arena)));
    const Settings *settings = engine_settings(engine);
    LoadRequest request = {
        .path = path, .cached_only = true, .mode = settings->mode.n ? settings->mode : STR("auto")};
    bool already = false;
    return load_start(engine, &request, arena, out, &already, err);
}

static Status not_ready(Engine *engine, const Trace *trace, Arena *arena, Err *err) {
    const char *id = trace->identity.trace_id;
    Str path = format_clean(trace->identity.path, arena);
    if (trace->state == TRACE_LOADING)
        return err_set(err, ERR_LIMIT,
                       "%s is still loading: %.0f %%, about %.0f s left. Call get_load_status("
                       "trace_id=\"%s\", wait_seconds=10), then this tool again",
                       id, load_percent(trace), load_eta_seconds(engine, trace), id);
    if (trace->state == TRACE_FAILED)
        return err_set(err, ERR_NOT_FOUND,
                       "%s is not loaded: %s. Call load_trace(etl_path=\"" STR_FMT "\")", id,
                       trace->error, STR_ARG(path));
    return err_set(err, ERR_NOT_FOUND, "%s was unloaded. Call load_trace(etl_path=\"" STR_FMT "\")",
                   id, STR_ARG(path));
}

static Status take(Engine *engine, Trace *trace, Arena *arena, TraceHold *out, Err *err) {
    mutex_lock(&engine->mutex);
    Status status = OK;
    bool ready = trace->state == TRACE_READY;
    if (ready && !trace->data->database) status = wake(engine, trace, arena, err);
    if (ready && status == OK) {
        *out = (TraceHold){.engine = engine, .trace = trace, .data = trace->data};
        trace->data->users++;
        trace->used_at_ns = os_now_ns();
    } else if (!ready) {
        status = not_ready(engine, trace, arena, err);
    }
    mutex_unlock(&engine->mutex);
    return status;
}

Status trace_hold(Engine *engine, Str trace_id, const CallContext *context, Arena *arena,
                  TraceHold *out, Err *err) {
    *out = (TraceHold){0};
    mutex_lock(&engine->mutex);
    Trace *trace = registry_find(engine, trace_id);
    bool loading = trace && trace->state == TRACE_LOADING;
    mutex_unlock(&engine->mutex);
    if (!trace) {
        TRY(reopen(engine, trace_id, arena, &trace, err));
        loading = true;
    }
    if (loading)
        TRY(load_wait(engine, trace, engine_settings(engine)->load_wait_seconds, context, err));
    TRY(take(engine, trace, arena, out, err));
    Status status = session_open(out->data->database, &out->session, err);
    if (status != OK) trace_let_go(out);
    return status;
}

void trace_let_go(TraceHold *hold) {
    if (!hold->data) return;
    session_close(hold->session);
    mutex_lock(&hold->engine->mutex);
    TraceData *data = hold->data;
    if (--data->users == 0 && data->retired) data_free(data);
    relieve_memory(hold->engine, data);
    mutex_unlock(&hold->engine->mutex);
    *hold = (TraceHold){0};
}
