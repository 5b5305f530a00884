// The status object of a load (get_load_status, an unfinished load_trace).
#include "tools/engine_internal.h"

#include <math.h>

static const char *const KEYS[] = {
    "trace_id",        "job_id",        "status",      "mode",         "pct",
    "current_dataset", "current_phase", "eta_seconds", "started_at",   "heartbeat_ts",
    "elapsed",         "pid",           "host",        "cache_dir",    "staging_dir",
    "etl_path",        "size_bytes",    "error",       "failure_kind", "message",
};

json_t *status_json_empty(void) {
    json_t *json = json_object();
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        (void)json_object_set_new(json, KEYS[i], json_null());
    return json;
}

static void put(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value);
}

static const char *status_text(TraceState state) {
    switch (state) {
    case TRACE_LOADING: return "extracting";
    case TRACE_READY: return "ready";
    case TRACE_FAILED: return "failed";
    case TRACE_UNLOADED: return "not_found";
    }
    return "not_found";
}

static double tenths(double value) {
    return round(value * 10) / 10;
}

static Str message(const Trace *trace, double eta, Arena *arena) {
    const char *id = trace->identity.trace_id;
    switch (trace->state) {
    case TRACE_LOADING: {
        double poll = eta > 60 ? 20 : eta > 10 ? 10 : 2;
        return str_format(
            arena,
            "Loading, %.0f %%. Call get_load_status(trace_id=\"%s\", wait_seconds=%.0f) "
            "next, or an analysis tool, which waits as well.",
            load_percent(trace), id, poll);
    }
    case TRACE_READY:
        return str_format(arena, "The trace is ready: pass trace_id=\"%s\" to any tool.", id);
    case TRACE_FAILED:
        return STR(
            "The load failed; load_trace with force=true tries again once the cause is gone.");
    case TRACE_UNLOADED: return STR("The trace is not loaded; call load_trace.");
    }
    return (Str){0};
}

static void put_progress(Engine *engine, const Trace *trace, json_t *json, Arena *arena) {
    double eta = load_eta_seconds(engine, trace);
    if (eta >= 0) put(json, "eta_seconds", json_real(tenths(eta)));
    put(json, "current_phase", json_string(trace->phase));
    put(json, "started_at", format_json_text(os_wall_text(arena, trace->started_wall_ns), arena));
    put(json, "heartbeat_ts",
        format_json_text(os_wall_text(arena, trace->heartbeat_wall_ns), arena));
    put(json, "elapsed", json_real(tenths((double)(os_now_ns() - trace->started_ns) / 1e9)));
    put(json, "staging_dir", format_json_text(trace->folder, arena));
    if (trace->elsewhere) put(json, "reused", json_true());
}

json_t *load_status_json(Engine *engine, const Trace *trace, Arena *arena) {
    json_t *json = status_json_empty();
    put(json, "trace_id", json_string(trace->identity.trace_id));
    put(json, "job_id", json_string(trace->identity.trace_id));
    put(json, "status", json_string(status_text(trace->state)));
    put(json, "mode", format_json_text(trace->mode, arena));
    put(json, "etl_path", format_json_text(trace->identity.path, arena));
    put(json, "size_bytes", json_integer((json_int_t)trace->identity.size_bytes));
    put(json, "pct", json_real(tenths(load_percent(trace))));
    put(json, "pid", json_integer(os_process_id()));
    put(json, "host", format_json_text(os_host_name(arena), arena));
    put(json, "cache_dir", format_json_text(trace->folder, arena));
    if (trace->state == TRACE_LOADING) put_progress(engine, trace, json, arena);
    if (trace->state == TRACE_FAILED) {
        put(json, "error", format_json_text(str_from_c(trace->error), arena));
        put(json, "failure_kind", json_string(trace->failure_kind));
    }
    put(json, "message",
        format_json_text(message(trace, load_eta_seconds(engine, trace), arena), arena));
    return json;
}
