// extracting.json and failed.json: how processes that share a database folder see each other's
// loads. Looking at a marker, removing a stale one and making a new one is one step under a lock
// that the system drops when its holder dies, so that of several processes only one goes on.
#include "tools/engine_internal.h"

#include <stdlib.h>

enum { MARKER_BYTES_MAX = 64 * 1024 };
#define EXTRACTING "extracting.json"
#define FAILED "failed.json"
#define LOCK "extracting.lock"
// A marker is made empty and written at once; one that stays empty lost its maker in between.
static const int64_t EMPTY_MARKER_NS = INT64_C(5) * 1000000000;
static const uint64_t LOCK_WAIT_NS = UINT64_C(2) * 1000000000;

static Str json_str(const json_t *object, const char *key, Arena *arena) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? str_copy(arena, str_from_c(text)) : (Str){0};
}

// A heartbeat is recent by the file's own time, which needs no parsing of clocks, and on the same
// host the process must live.
static bool is_fresh(const Engine *engine, const Marker *marker, int64_t mtime_ns, Arena *arena) {
    int64_t age_ns = os_wall_ns() - mtime_ns;
    if (age_ns > engine->settings.load_stale_seconds * INT64_C(1000000000)) return false;
    if (!marker->host.n) return age_ns < EMPTY_MARKER_NS;
    if (!str_eq(marker->host, os_host_name(arena))) return true;
    return marker->pid <= 0 || marker->pid > INT32_MAX || os_process_alive((int)marker->pid);
}

Status marker_read(const Engine *engine, Str folder, const char *name, Arena *arena, Marker *out,
                   Err *err) {
    *out = (Marker){0};
    Str path = path_join(arena, folder, str_from_c(name));
    FileInfo info = {0};
    TRY(os_stat(path, &info, err));
    if (!info.is_file) return OK;
    Str text = {0};
    if (file_read_all(path, MARKER_BYTES_MAX, arena, &text, NULL) != OK) return OK;
    json_t *json = json_loadb(text.p ? text.p : "", text.n, 0, NULL);
    out->exists = true;
    out->pid = json_integer_value(json_object_get(json, "pid"));
    out->pct = json_number_value(json_object_get(json, "pct"));
    out->host = json_str(json, "host", arena);
    out->phase = json_str(json, "current_phase", arena);
    out->started_at = json_str(json, "started_at", arena);
    out->heartbeat_ts = json_str(json, "heartbeat_ts", arena);
    out->error = json_str(json, "error", arena);
    out->failure_kind = json_str(json, "failure_kind", arena);
    json_decref(json);
    out->fresh = is_fresh(engine, out, info.mtime_ns, arena);
    out->ours = out->pid == os_process_id() && str_eq(out->host, os_host_name(arena));
    return OK;
}

static void put(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value);
}

static json_t *marker_json(const Trace *trace, Arena *arena) {
    json_t *json = json_object();
    put(json, "schema_version", json_integer(1));
    put(json, "pid", json_integer(os_process_id()));
    put(json, "host", format_json_text(os_host_name(arena), arena));
    put(json, "started_at", format_json_text(os_wall_text(arena, trace->started_wall_ns), arena));
    put(json, "heartbeat_ts", format_json_text(os_wall_text(arena, os_wall_ns()), arena));
    put(json, "etl_path", format_json_text(trace->identity.path, arena));
    put(json, "size_bytes", json_integer((json_int_t)trace->identity.size_bytes));
    put(json, "mtime_ns", json_integer(trace->identity.mtime_ns));
    put(json, "trace_id", json_string(trace->identity.trace_id));
    return json;
}

static Status write_json(const Trace *trace, const char *name, json_t *json, Arena *arena,
                         Err *err) {
    Str text = json_dump_text(json, true, arena);
    json_decref(json);
    return file_write_atomic(path_join(arena, trace->folder, str_from_c(name)), text, err);
}

static Status marker_write(const Trace *trace, double pct, double eta_seconds, Arena *arena,
                           Err *err) {
    json_t *json = marker_json(trace, arena);
    put(json, "pct", json_real(pct));
    put(json, "current_phase", json_string(trace->phase));
    put(json, "current_dataset", json_null());
    put(json, "eta_seconds", eta_seconds < 0 ? json_null() : json_real(eta_seconds));
    return write_json(trace, EXTRACTING, json, arena, err);
}

// A marker with our process id that no load of ours wrote is of a process that had the id before.
static bool of_another_load(Engine *engine, const Trace *trace) {
    bool found = false;
    mutex_lock(&engine->mutex);
    for (size_t i = 0; i < engine->traces.count; i++) {
        const Trace *other = engine->traces.items[i];
        found = found || (other != trace && other->state == TRACE_LOADING &&
                          str_eq(other->folder, trace->folder));
    }
    mutex_unlock(&engine->mutex);
    return found;
}

// What a killed holder was writing. Only the holder of the marker writes such files.
static void remove_leftovers(const Trace *trace, Arena *arena) {
    NameList names;
    if (os_list_folder(trace->folder, arena, &names, NULL) != OK) return;
    for (size_t i = 0; i < names.count; i++)
        if (str_starts(names.items[i], STR(EXTRACTING ".")))
            (void)os_remove_file(path_join(arena, trace->folder, names.items[i]), NULL);
}

static Status take_locked(Engine *engine, const Trace *trace, bool *taken, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    Str path = path_join(&arena, trace->folder, STR(EXTRACTING));
    Marker marker = {0};
    TRY(marker_read(engine, trace->folder, EXTRACTING, &arena, &marker, err));
    if (marker.exists && marker.fresh && (!marker.ours || of_another_load(engine, trace)))
        return OK;
    if (marker.exists) {
        TRY(os_remove_file(path, err));
        engine_log(engine, "warning",
                   "A stale marker is removed: event=load.stale trace_id=%s pid=%lld",
                   trace->identity.trace_id, (long long)marker.pid);
    }
    // Exclusive all the same: the lock may be missing, on a drive that knows none.
    Status status = file_create_new(path, err);
    FileInfo info = {0};
    if (status != OK) return os_stat(path, &info, NULL) == OK && info.exists ? OK : status;
    *taken = true;
    remove_leftovers(trace, &arena);
    return marker_write(trace, 0, -1, &arena, err);
}

Status marker_take(Engine *engine, const Trace *trace, bool *taken, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    *taken = false;
    TRY(os_make_folders(trace->folder, err));
    Str path = path_join(&arena, trace->folder, STR(LOCK));
    AUTO(file_lock_close) FileLock *lock = file_lock_open(path, LOCK_WAIT_NS);
    (void)lock; // held to the end of this function
    Status status = take_locked(engine, trace, taken, err);
    if (status == OK || !*taken) return status;
    marker_drop(engine, trace); // made, but not written: a full disk
    *taken = false;
    return status;
}

void marker_beat(Engine *engine, const Trace *trace, double pct, double eta_seconds) {
    AUTO(arena_done) Arena arena = {0};
    Err err = {0};
    Marker marker = {0};
    // Another one took over while this process was held up: the marker is theirs now.
    if (marker_read(engine, trace->folder, EXTRACTING, &arena, &marker, NULL) == OK &&
        marker.exists && marker.host.n && !marker.ours)
        return;
    if (marker_write(trace, pct, eta_seconds, &arena, &err) != OK)
        engine_log(engine, "warning", "The marker cannot be written: trace_id=%s, error=\"%s\"",
                   trace->identity.trace_id, err.text);
}

void marker_drop(const Engine *engine, const Trace *trace) {
    AUTO(arena_done) Arena arena = {0};
    Marker marker = {0};
    if (marker_read(engine, trace->folder, EXTRACTING, &arena, &marker, NULL) != OK) return;
    if (!marker.exists || (marker.fresh && marker.host.n && !marker.ours)) return;
    (void)os_remove_file(path_join(&arena, trace->folder, STR(EXTRACTING)), NULL);
}

void marker_fail(const Trace *trace) {
    AUTO(arena_done) Arena arena = {0};
    json_t *json = marker_json(trace, &arena);
    put(json, "error", format_json_text(str_from_c(trace->error), &arena));
    put(json, "failure_kind", json_string(trace->failure_kind));
    (void)write_json(trace, FAILED, json, &arena, NULL);
}

void marker_clear_failure(const Trace *trace) {
    AUTO(arena_done) Arena arena = {0};
    Str path = path_join(&arena, trace->folder, STR(FAILED));
    FileInfo info = {0};
    if (os_stat(path, &info, NULL) == OK && info.exists) (void)os_remove_file(path, NULL);
}
