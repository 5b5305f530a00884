// load_trace, get_load_status, list_loaded_traces, unload_trace.
#include "tools/handlers.h"

static Str joined_list(const Value *value, Arena *arena) {
    Buf out = {0};
    for (size_t i = 0; i < value->count; i++)
        buf_addf(&out, "%s" STR_FMT, i ? ";" : "", STR_ARG(value->list[i]));
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

// An explicit mode other than auto wins over the environment.
static Str wanted_mode(const ToolCall *call) {
    Str mode = values_text(call->values, "mode");
    Str setting = call->engine->settings.mode;
    return str_eq(mode, STR("auto")) && setting.n ? setting : mode;
}

static void reply_status(ToolCall *call, Trace *trace) {
    mutex_lock(&call->engine->mutex);
    call->doc->json = load_status_json(call->engine, trace, call->arena);
    mutex_unlock(&call->engine->mutex);
}

static const char *loaded_how(const Trace *trace, bool already) {
    if (already) return " (already loaded)";
    return trace->from_cache ? " (from the cache)" : "";
}

static Status reply_summary(ToolCall *call, Trace *trace, bool already, Err *err) {
    AUTO(trace_let_go) TraceHold hold = {0};
    TRY(trace_hold(call->engine, str_from_c(trace->identity.trace_id), call->context, call->arena,
                   &hold, err));
    RunTrace run = {.session = hold.session,
                    .facts = &hold.data->facts,
                    .stacks = hold.data->stacks,
                    .trace_id = str_from_c(trace->identity.trace_id),
                    .file_name = path_name(trace->identity.path)};
    call->database = hold.data->database;
    call->doc->headline =
        str_format(call->arena, "**Trace loaded:** " STR_FMT "%s",
                   STR_ARG(format_clean(run.file_name, call->arena)), loaded_how(trace, already));
    return summary_fill(call, &run, trace, err);
}

Status handle_load_trace(ToolCall *call, Err *err) {
    const Value *wait = values_get(call->values, "wait_seconds");
    Str mode = wanted_mode(call);
    LoadRequest request = {
        .path = values_text(call->values, "etl_path"),
        .force = values_get(call->values, "force")->boolean,
        .mode = mode,
        .symbol_path = values_text(call->values, "symbol_path"),
        .extra_symbol_paths =
            joined_list(values_get(call->values, "extra_symbol_paths"), call->arena),
        .timeout_seconds = values_get(call->values, "timeout_seconds")->i64,
    };
    Trace *trace = NULL;
    bool already = false;
    TRY(load_start(call->engine, &request, call->arena, &trace, &already, err));
    double seconds = wait->present ? wait->f64 : call->engine->settings.load_wait_seconds;
    if (!values_get(call->values, "async_load")->boolean) seconds = -1;
    TRY(load_wait(call->engine, trace, seconds, call->context, err));
    mutex_lock(&call->engine->mutex);
    TraceState state = trace->state;
    Str error = str_copy(call->arena, str_from_c(trace->error));
    const char *kind = trace->failure_kind ? trace->failure_kind : "internal";
    mutex_unlock(&call->engine->mutex);
    if (state == TRACE_FAILED)
        return err_set(err, ERR_INPUT, "the trace could not be loaded (%s): " STR_FMT, kind,
                       STR_ARG(error));
    if (state != TRACE_READY) {
        reply_status(call, trace);
        return OK;
    }
    if (str_eq(mode, STR("xperf")))
        doc_note(call->doc, STR("mode xperf: no external program is needed; the built-in decoder "
                                "read the file."));
    return reply_summary(call, trace, already, err);
}

// ---------------------------------------------------------------- get_load_status

static void put(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value);
}

static void reply_not_found(ToolCall *call, Str trace_id, const char *message) {
    json_t *json = status_json_empty();
    put(json, "status", json_string("not_found"));
    if (trace_id.n) {
        put(json, "trace_id", format_json_text(trace_id, call->arena));
        put(json, "job_id", format_json_text(trace_id, call->arena));
    }
    put(json, "pct", json_integer(0));
    put(json, "message", json_string(message));
    call->doc->json = json;
}

static void put_marker(json_t *json, const Marker *marker, Arena *arena) {
    put(json, "pid", json_integer(marker->pid));
    put(json, "host", format_json_text(marker->host, arena));
    put(json, "started_at", format_json_text(marker->started_at, arena));
    put(json, "heartbeat_ts", format_json_text(marker->heartbeat_ts, arena));
    if (marker->phase.n) put(json, "current_phase", format_json_text(marker->phase, arena));
}

static void put_failure(json_t *json, Str error, Str kind, const char *message, Arena *arena) {
    put(json, "status", json_string("failed"));
    put(json, "error", format_json_text(error, arena));
    put(json, "failure_kind", format_json_text(kind, arena));
    put(json, "message", json_string(message));
}

// What the folder's files say about a trace this process does not have.
static Status status_from_disk(ToolCall *call, const TraceIdentity *identity, Err *err) {
    Arena *arena = call->arena;
    bool fallback = false;
    Str folder = store_folder(identity, arena, &fallback), why = {0};
    StoreState state = STORE_NONE;
    Marker failed = {0}, extracting = {0};
    TRY(marker_read(call->engine, folder, "extracting.json", arena, &extracting, err));
    TRY(marker_read(call->engine, folder, "failed.json", arena, &failed, err));
    TRY(store_check(folder, identity, arena, &state, &why, err));
    Str id = str_copy(arena, str_from_c(identity->trace_id));
    reply_not_found(call, id, "This trace was never loaded: call load_trace.");
    json_t *json = call->doc->json;
    put(json, "etl_path", format_json_text(identity->path, arena));
    put(json, "size_bytes", json_integer((json_int_t)identity->size_bytes));
    put(json, "cache_dir", format_json_text(folder, arena));
    if (extracting.exists && extracting.fresh) {
        put(json, "status", json_string("extracting"));
        put(json, "reused", json_true());
        put(json, "pct", json_real(extracting.pct));
        put(json, "message",
            json_string("Another process extracts this trace; poll again in 5 s, "
                        "then call load_trace."));
        put_marker(json, &extracting, arena);
    } else if (extracting.exists) {
        put_marker(json, &extracting, arena);
        put_failure(json, STR("the process that extracted this trace is gone"), STR("stale-marker"),
                    "load_trace removes what it left and starts anew.", arena);
    } else if (failed.exists) {
        put_failure(json, failed.error, failed.failure_kind,
                    "The last load failed; load_trace tries again.", arena);
    } else if (state == STORE_VALID) {
        put(json, "status", json_string("ready"));
        put(json, "pct", json_integer(100));
        put(json, "message", json_string("The cache is ready: call load_trace to register it."));
    }
    return OK;
}

static Status same_trace(Str a, Str b, const char *what, Err *err) {
    if (!a.n || !b.n || str_eq(a, b)) return OK;
    return err_set(err, ERR_ARG,
                   "%s name different traces (" STR_FMT " and " STR_FMT "); give one of them", what,
                   STR_ARG(a), STR_ARG(b));
}

// The id asked for, from whichever argument was given, and the identity when a file is known.
static Status wanted_identity(ToolCall *call, Str *id, TraceIdentity *identity, Err *err) {
    Str path = values_text(call->values, "etl_path");
    Str trace_id = values_text(call->values, "trace_id"),
        job_id = values_text(call->values, "job_id");
    TRY(same_trace(trace_id, job_id, "trace_id and job_id", err));
    *id = trace_id.n ? trace_id : job_id;
    if (path.n) {
        TRY(trace_identity(path, call->arena, identity, err));
        TRY(path_check_allowed(call->engine, identity->path, err));
        Str own = str_copy(call->arena, str_from_c(identity->trace_id));
        TRY(same_trace(*id, own, "etl_path and the id", err));
        *id = own;
    } else if (id->n && index_get(*id, call->arena, &path)) {
        if (trace_identity(path, call->arena, identity, NULL) != OK ||
            !str_eq(str_from_c(identity->trace_id), *id))
            *identity = (TraceIdentity){0};
    }
    return OK;
}

Status handle_get_load_status(ToolCall *call, Err *err) {
    Engine *engine = call->engine;
    Str id = {0};
    TraceIdentity identity = {0};
    TRY(wanted_identity(call, &id, &identity, err));
    if (!id.n) {
        reply_not_found(call, id, "Give one of etl_path, trace_id or job_id.");
        return OK;
    }
    mutex_lock(&engine->mutex);
    Trace *trace = registry_find(engine, id);
    bool known = trace && trace->state != TRACE_UNLOADED;
    mutex_unlock(&engine->mutex);
    if (known) {
        const Value *wait = values_get(call->values, "wait_seconds");
        TRY(load_wait(engine, trace, wait->present ? wait->f64 : 0, call->context, err));
        reply_status(call, trace);
        return OK;
    }
    if (identity.path.n) return status_from_disk(call, &identity, err);
    reply_not_found(call, id, "No load of this id is known: call load_trace with the path.");
    return OK;
}

// ---------------------------------------------------------------- list_loaded_traces

// Bytes the database instance holds; 0 when it does not say.
static uint64_t memory_of(Session *session, Arena *arena) {
    ResultSet result = {0};
    Str sql = STR("SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory()");
    if (session_query(session, sql, NULL, 0, 1, arena, &result, NULL) != OK) return 0;
    return result.row_count && result.cells[0].type == CELL_I64 ? result.cells[0].u64 : 0;
}

typedef struct Known { // a copy of what a row shows
    Str id, name, path, phase;
    TraceState state;
    double pct, eta, used_ago_s;
    uint64_t tables;
    int64_t cpu_count, duration_ns;
} Known;

static size_t copy_registry(ToolCall *call, Known **out) {
    Engine *engine = call->engine;
    Arena *arena = call->arena;
    mutex_lock(&engine->mutex);
    Known *known = ARENA_ARRAY(arena, Known, engine->traces.count + 1);
    for (size_t i = 0; i < engine->traces.count; i++) {
        const Trace *trace = engine->traces.items[i];
        known[i] = (Known){.id = str_copy(arena, str_from_c(trace->identity.trace_id)),
                           .path = str_copy(arena, trace->identity.path),
                           .phase = str_copy(arena, str_from_c(trace->phase)),
                           .state = trace->state,
                           .pct = load_percent(trace),
                           .eta = load_eta_seconds(engine, trace),
                           .used_ago_s = (double)(os_now_ns() - trace->used_at_ns) / 1e9};
        known[i].name = path_name(known[i].path);
        if (!trace->data) continue;
        known[i].tables = trace->data->facts.tables;
        known[i].cpu_count = trace->data->facts.cpu_count;
        known[i].duration_ns = trace->data->facts.duration_ns;
    }
    size_t count = engine->traces.count;
    mutex_unlock(&engine->mutex);
    *out = known;
    return count;
}

static void loaded_row(ToolCall *call, DocSection *table, const Known *known) {
    TraceHold hold = {0};
    Cell memory = {0};
    if (trace_hold(call->engine, known->id, NULL, call->arena, &hold, NULL) == OK) {
        memory = cell_i64((int64_t)memory_of(hold.session, call->arena));
        trace_let_go(&hold);
    }
    Cell *cells = doc_row(call->doc, table);
    cells[0] = cell_text(known->id);
    cells[1] = cell_text(known->name);
    cells[2] = cell_text(known->path);
    cells[3] = cell_i64((int64_t)known->tables);
    cells[4] = cell_i64(known->cpu_count);
    cells[5] = cell_i64(known->duration_ns);
    cells[6] = memory;
    cells[7] = cell_f64(known->used_ago_s);
}

static void loaded_table(ToolCall *call, const Known *known, size_t count) {
    static const char *const COLUMNS[][2] = {
        {"Trace ID",          "text"     },
        {"Name",              "path"     },
        {"Path",              "text(200)"},
        {"Datasets",          "count"    },
        {"CPUs",              "count"    },
        {"Duration (s)",      "s"        },
        {"Memory (MB)",       "mb"       },
        {"Last used (s ago)", "number(0)"},
    };
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    table->empty = STR("No trace is loaded; load_trace loads one.");
    for (size_t i = 0; i < count; i++)
        if (known[i].state == TRACE_READY) loaded_row(call, table, &known[i]);
}

static const char *state_text(TraceState state) {
    return state == TRACE_LOADING ? "extracting" : "failed";
}

static void jobs_table(ToolCall *call, const Known *known, size_t count) {
    static const char *const COLUMNS[][2] = {
        {"Trace ID", "text"     },
        {"Name",     "path"     },
        {"Status",   "text"     },
        {"Pct",      "number(1)"},
        {"Dataset",  "text"     },
        {"ETA (s)",  "number(0)"},
    };
    size_t jobs = 0;
    for (size_t i = 0; i < count; i++)
        jobs += known[i].state == TRACE_LOADING || known[i].state == TRACE_FAILED;
    if (!jobs) return;
    DocSection *table =
        doc_table(call->doc, STR("jobs"), str_format(call->arena, "**Load Jobs** (%zu)", jobs));
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    for (size_t i = 0; i < count; i++) {
        if (known[i].state != TRACE_LOADING && known[i].state != TRACE_FAILED) continue;
        Cell *cells = doc_row(call->doc, table);
        cells[0] = cell_text(known[i].id);
        cells[1] = cell_text(known[i].name);
        cells[2] = cell_text(str_from_c(state_text(known[i].state)));
        cells[3] = cell_f64(known[i].pct);
        cells[4] = cell_text(known[i].phase);
        if (known[i].eta >= 0) cells[5] = cell_f64(known[i].eta);
    }
}

Status handle_list_loaded_traces(ToolCall *call, Err *err) {
    (void)err;
    Known *known = NULL;
    size_t count = copy_registry(call, &known), ready = 0;
    for (size_t i = 0; i < count; i++) ready += known[i].state == TRACE_READY;
    call->doc->headline = str_format(call->arena, "**Loaded Traces** (%zu)", ready);
    loaded_table(call, known, count);
    jobs_table(call, known, count);
    return OK;
}

// ---------------------------------------------------------------- unload_trace

static uint64_t memory_by_id(ToolCall *call, Str id) {
    TraceHold hold = {0};
    mutex_lock(&call->engine->mutex);
    const Trace *trace = registry_find(call->engine, id);
    bool ready = trace && trace->state == TRACE_READY;
    mutex_unlock(&call->engine->mutex);
    if (!ready || trace_hold(call->engine, id, NULL, call->arena, &hold, NULL) != OK) return 0;
    uint64_t bytes = memory_of(hold.session, call->arena);
    trace_let_go(&hold);
    return bytes;
}

Status handle_unload_trace(ToolCall *call, Err *err) {
    Engine *engine = call->engine;
    Str id = values_text(call->values, "trace_id");
    uint64_t bytes = memory_by_id(call, id);
    mutex_lock(&engine->mutex);
    Trace *trace = registry_find(engine, id);
    TraceState state = trace ? trace->state : TRACE_UNLOADED;
    if (state == TRACE_LOADING) load_cancel(trace);
    if (state == TRACE_READY) {
        trace_data_retire(trace->data);
        trace->data = NULL;
        trace->state = TRACE_UNLOADED;
    }
    if (state == TRACE_FAILED) trace->state = TRACE_UNLOADED;
    condition_signal_all(&engine->changed);
    mutex_unlock(&engine->mutex);
    if (state == TRACE_UNLOADED)
        return err_set(err, ERR_ARG, "no trace with the id \"" STR_FMT "\" is loaded. " STR_FMT,
                       STR_ARG(format_shorten(format_clean(id, call->arena), 80, call->arena)),
                       STR_ARG(registry_list_text(engine, call->arena)));
    Str name = format_clean(path_name(trace->identity.path), call->arena);
    call->doc->headline =
        state == TRACE_LOADING
            ? str_format(call->arena, "Stopped loading " STR_FMT " (" STR_FMT ").", STR_ARG(name),
                         STR_ARG(id))
            : str_format(call->arena,
                         "Unloaded " STR_FMT " (" STR_FMT "), %.1f MB freed; its cache stays.",
                         STR_ARG(name), STR_ARG(id), (double)bytes / 1048576);
    return OK;
}
