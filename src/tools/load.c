// Loads: one job thread per trace and process, which opens a valid database, waits for another
// process that makes one, or makes it. The extraction itself runs in a thread of its own, so that
// the job can beat its marker, keep the time limit and follow a cancellation.
#include "tools/engine_internal.h"

#include "base/os_process.h"
#include "decode/decode.h"
#include "etl/etl.h"
#include "tools/handle_entities.h"

#include <signal.h>
#include <stdio.h>

enum {
    POLL_CHILD_NS = 100 * 1000 * 1000,
    POLL_ELSEWHERE_NS = 500 * 1000 * 1000,
    REPORT_NS = 1000 * 1000 * 1000
};
static const uint64_t NS_PER_SECOND = UINT64_C(1000000000);

typedef struct Job {
    Engine *engine;
    Trace *trace;
    bool cached_only;
} Job;

static void set_phase(Engine *engine, Trace *trace, const char *phase) {
    mutex_lock(&engine->mutex);
    (void)snprintf(trace->phase, sizeof trace->phase, "%s", phase);
    mutex_unlock(&engine->mutex);
}

double load_percent(const Trace *trace) {
    if (trace->state == TRACE_READY) return 100;
    if (trace->state != TRACE_LOADING) return 0;
    if (trace->elsewhere) return trace->elsewhere_pct;
    uint64_t total = atomic_load(&trace->progress.total);
    uint64_t done = atomic_load(&trace->progress.done);
    if (!total) return 0;
    return done >= total ? 99 : (double)done * 99 / (double)total;
}

double load_eta_seconds(const Engine *engine, const Trace *trace) {
    if (trace->state != TRACE_LOADING) return -1;
    double pct = load_percent(trace);
    double elapsed = (double)(os_now_ns() - trace->started_ns) / 1e9;
    if (pct >= 2) return elapsed * (100 - pct) / pct;
    double guess = (double)trace->identity.size_bytes / 1e6 / engine->settings.extract_mbps;
    return guess > elapsed ? guess - elapsed : 0;
}

void load_cancel(Trace *trace) {
    atomic_store(&trace->progress.cancelled, true);
}

static bool cancelled(const Trace *trace) {
    return atomic_load(&trace->progress.cancelled);
}

// ---------------------------------------------------------------- opening a database

// What load_trace was given replaces the environment's path; its folders come behind either.
Str trace_symbol_path(const Engine *engine, const Trace *trace, Arena *arena) {
    Str path = trace->symbol_path.n ? trace->symbol_path : engine->settings.symbol_path;
    if (!trace->extra_symbol_paths.n) return path;
    return str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n ? ";" : "",
                      STR_ARG(trace->extra_symbol_paths));
}

// What tools' SQL finds besides the store's own functions.
static Status add_functions(void *connection, void *context, Err *err) {
    TraceData *data = context;
    TRY(symbols_extend(connection, data->symbols, err));
    return stack_functions_register(connection, &data->stack_names, err);
}

Status trace_data_wake(Engine *engine, const Trace *trace, TraceData *data, Err *err) {
    DatabaseOptions options = {.sql_folder = engine->options.sql_folder,
                               .memory_bytes = engine->settings.memory_bytes,
                               .extend = add_functions,
                               .extend_context = data};
    Database *database = NULL;
    TRY(database_open(trace->folder, &options, &database, err));
    if (!database_is_of(database, &trace->identity)) {
        database_close(database);
        return err_set(err, ERR_INPUT, "the file changed while it was read: load it again");
    }
    data->database = database;
    data->stack_names = (StackNames){data->stacks, database};
    symbols_attach(data->symbols, database);
    return OK;
}

static Status open_database(Engine *engine, Trace *trace, TraceData **out, Err *err) {
    TraceData *data = mem_zero(1, sizeof *data);
    SymbolsOptions symbols = {.path = trace_symbol_path(engine, trace, &data->arena),
                              .no_download = engine->settings.no_download};
    data->stacks = stack_cache_open();
    data->symbols = symbols_open(&symbols);
    Status status = trace_data_wake(engine, trace, data, err);
    if (status == OK) status = trace_facts_read(data->database, &data->arena, &data->facts, err);
    if (status != OK) {
        trace_data_retire(data);
        return status;
    }
    *out = data;
    return OK;
}

// ---------------------------------------------------------------- extraction

typedef struct Extraction {
    Engine *engine;
    Trace *trace;
    Status status;
    Err err;
    const char *failure_kind;
    bool done; // guarded by the engine's mutex
} Extraction;

static bool says_disk_full(Str text) {
    return str_find_nocase(text, STR("no space left")) != SIZE_MAX ||
           str_find_nocase(text, STR("quota exceeded")) != SIZE_MAX;
}

static const char *kind_of(Status status, const char *text) {
    switch (status) {
    case ERR_NOT_FOUND: return "missing-file";
    case ERR_INPUT: return "corrupt";
    case ERR_IO: return says_disk_full(str_from_c(text)) ? "out-of-disk" : "io";
    case ERR_LIMIT:
        return str_starts(str_from_c(text), STR("Out of Memory")) ? "out-of-memory" : "unsupported";
    case ERR_CANCELLED: return "cancelled";
    case OK:
    case ERR_ARG:
    case ERR_INTERNAL: return "internal";
    }
    return "internal";
}

// A kind read from a file, as one of ours.
static const char *failure_kind_named(Str name) {
    static const char *const KINDS[] = {"missing-file", "not-etl",   "corrupt",
                                        "unsupported",  "io",        "out-of-memory",
                                        "out-of-disk",  "cancelled", "stale-marker"};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (str_eq(name, str_from_c(KINDS[i]))) return KINDS[i];
    return "internal";
}

// A file that only grew was read as it was at first, and says so (file_grew). Anything else may
// have given a mixture of two states, which is no trace.
static Status check_unchanged(const Trace *trace, Err *err) {
    const TraceIdentity *before = &trace->identity;
    FileInfo now = {0};
    TRY(os_stat(before->path, &now, err));
    if (!now.is_file)
        return err_set(err, ERR_NOT_FOUND, STR_FMT " vanished while it was read",
                       STR_ARG(before->path));
    bool same = now.size_bytes == before->size_bytes && now.mtime_ns == before->mtime_ns;
    if (same || now.size_bytes > before->size_bytes) return OK;
    return err_set(err, ERR_IO,
                   STR_FMT
                   " changed while it was read (it had %llu bytes, now %llu): load it again "
                   "when nobody writes to it",
                   STR_ARG(before->path), (unsigned long long)before->size_bytes,
                   (unsigned long long)now.size_bytes);
}

static Status extract(Extraction *extraction, Err *err) {
    Trace *trace = extraction->trace;
    AUTO(etl_close) EtlFile *file = NULL;
    AUTO(store_writer_close) StoreWriter *writer = NULL;
    set_phase(extraction->engine, trace, "reading buffers");
    Status status = etl_open(trace->identity.path, &file, err);
    if (status == ERR_INPUT && check_unchanged(trace, NULL) == OK)
        extraction->failure_kind = "not-etl";
    if (status == ERR_INPUT) TRY(check_unchanged(trace, err));
    TRY(status);
    TRY(store_writer_open(trace->folder, &trace->identity, &writer, err));
    set_phase(extraction->engine, trace, "decoding events");
    DecodeOptions options = {0};
    DecodeSummary summary = {0};
    TRY(decode_trace(file, path_name(trace->identity.path), &options, store_writer_sink(writer),
                     &trace->progress, &summary, err));
    if (cancelled(trace)) return err_set(err, ERR_CANCELLED, "the load was cancelled");
    TRY(check_unchanged(trace, err));
    set_phase(extraction->engine, trace, "writing the database");
    json_t *info = json_pack("{s:I,s:I,s:I}", "events", (json_int_t)summary.events, "duration_ns",
                             (json_int_t)summary.duration_ns, "data_loss_issues",
                             (json_int_t)summary.data_loss_issues);
    status = store_commit(writer, trace->mode, info, err);
    json_decref(info);
    return status;
}

static void extract_run(void *context) {
    Extraction *extraction = context;
    Engine *engine = extraction->engine;
    extraction->status = extract(extraction, &extraction->err);
    mutex_lock(&engine->mutex);
    extraction->done = true;
    condition_signal_all(&engine->changed);
    mutex_unlock(&engine->mutex);
}

static bool overdue(const Trace *trace) {
    return trace->timeout_seconds > 0 &&
           os_now_ns() - trace->started_ns > (uint64_t)trace->timeout_seconds * NS_PER_SECOND;
}

// Beats the marker until the extraction is done. The engine is locked, but not while writing.
static bool wait_for_extraction(Extraction *extraction) {
    Engine *engine = extraction->engine;
    Trace *trace = extraction->trace;
    uint64_t period = (uint64_t)(engine->settings.heartbeat_seconds * 1e9);
    uint64_t next = os_now_ns() + period;
    bool late = false;
    while (!extraction->done) {
        uint64_t now = os_now_ns();
        if (now < next) {
            (void)condition_wait_for(&engine->changed, &engine->mutex, next - now);
            continue;
        }
        next = now + period;
        trace->heartbeat_wall_ns = os_wall_ns();
        double pct = load_percent(trace), eta = load_eta_seconds(engine, trace);
        if (!late && overdue(trace)) {
            late = true;
            load_cancel(trace);
        }
        mutex_unlock(&engine->mutex);
        marker_beat(engine, trace, pct, eta);
        mutex_lock(&engine->mutex);
    }
    return late;
}

static Status run_extraction(Engine *engine, Trace *trace, const char **kind, Err *err) {
    Extraction extraction = {.engine = engine, .trace = trace};
    Thread *thread = NULL;
    TRY(thread_start(extract_run, &extraction, &thread, err));
    mutex_lock(&engine->mutex);
    bool late = wait_for_extraction(&extraction);
    mutex_unlock(&engine->mutex);
    thread_join(thread);
    *kind = extraction.failure_kind;
    if (extraction.status == OK) return OK;
    if (late) {
        *kind = "io";
        return err_set(err, ERR_LIMIT, "the load took longer than timeout_seconds (%lld)",
                       (long long)trace->timeout_seconds);
    }
    if (err) *err = extraction.err;
    return extraction.status;
}

// ---------------------------------------------------------------- the job

// `again`: looked at before, the reason is in the log.
static Status check_store(Engine *engine, Trace *trace, bool again, bool *valid, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    StoreState state = STORE_NONE;
    Str why = {0};
    TRY(store_check(trace->folder, &trace->identity, &arena, &state, &why, err));
    *valid = state == STORE_VALID;
    if (state == STORE_INVALID && !again)
        engine_log(engine, "info",
                   "The cache is not used: event=load.cache_miss trace_id=%s, "
                   "why=\"" STR_FMT "\"",
                   trace->identity.trace_id, STR_ARG(why));
    return OK;
}

static void note_elsewhere(Engine *engine, Trace *trace, const Marker *marker) {
    mutex_lock(&engine->mutex);
    trace->elsewhere = true;
    trace->elsewhere_pct = marker->pct > 0 && marker->pct < 99 ? marker->pct : 0;
    trace->heartbeat_wall_ns = os_wall_ns();
    (void)snprintf(trace->phase, sizeof trace->phase, "another process (pid %lld) extracts",
                   (long long)marker->pid);
    mutex_unlock(&engine->mutex);
}

// Takes the marker; while another process holds a fresh one, waits for its database.
static Status wait_for_turn(Engine *engine, Trace *trace, bool *valid, Err *err) {
    *valid = false;
    for (;;) {
        bool taken = false;
        TRY(marker_take(engine, trace, &taken, err));
        bool waited = trace->elsewhere;
        mutex_lock(&engine->mutex);
        if (taken) trace->elsewhere = false;
        mutex_unlock(&engine->mutex);
        // Another one may have finished just now, also between our first look and this one.
        if (taken && (waited || !trace->force)) {
            Status status = check_store(engine, trace, true, valid, err);
            if (status != OK || *valid) marker_drop(engine, trace);
            TRY(status);
        }
        if (taken) return OK;
        AUTO(arena_done) Arena arena = {0};
        Marker marker = {0};
        TRY(marker_read(engine, trace->folder, "extracting.json", &arena, &marker, err));
        note_elsewhere(engine, trace, &marker);
        mutex_lock(&engine->mutex);
        if (!cancelled(trace))
            (void)condition_wait_for(&engine->changed, &engine->mutex, POLL_ELSEWHERE_NS);
        mutex_unlock(&engine->mutex);
        if (cancelled(trace)) return err_set(err, ERR_CANCELLED, "the load was cancelled");
    }
}

// ---------------------------------------------------------------- in a child process

static bool program_can_extract(Str program) {
    Str name = path_name(program);
    return str_starts(name, STR("etw-mcp"));
}

static void follow_child(Engine *engine, Trace *trace) {
    AUTO(arena_done) Arena arena = {0};
    Marker marker = {0};
    if (marker_read(engine, trace->folder, "extracting.json", &arena, &marker, NULL) == OK &&
        marker.exists)
        note_elsewhere(engine, trace, &marker);
}

// The child wrote failed.json, or was ended before it could.
static Status child_failed(Engine *engine, Trace *trace, int code, const char **kind, Err *err) {
    enum { ENDED_BY_SIGNAL = 128 };
    AUTO(arena_done) Arena arena = {0};
    Marker failed = {0};
    if (marker_read(engine, trace->folder, "failed.json", &arena, &failed, NULL) == OK &&
        failed.exists && code < ENDED_BY_SIGNAL) {
        *kind = failure_kind_named(failed.failure_kind);
        return err_set(err, ERR_INPUT, STR_FMT, STR_ARG(failed.error));
    }
    *kind = "internal";
    if (code < ENDED_BY_SIGNAL)
        return err_set(err, ERR_INTERNAL, "the extraction process ended with status %d", code);
    int signal = code - ENDED_BY_SIGNAL;
    bool killed = signal == SIGKILL, gave_up = signal == SIGABRT;
    if (!killed && !gave_up)
        return err_set(err, ERR_INTERNAL,
                       "the extraction process was ended by signal %d; this server is unharmed",
                       signal);
    *kind = "out-of-memory";
    return err_set(
        err, ERR_LIMIT,
        "the extraction process %s (signal %d), most likely for want of memory: its limit "
        "is %llu MB (ETW_MCP_NATIVE_WORKER_MEMORY_MB, 0 for none)",
        killed ? "was killed" : "gave up", signal,
        (unsigned long long)(engine->settings.worker_memory_bytes >> 20));
}

// `etw-mcp extract` does the work, with limits, and keeps the marker; this process only watches.
static Status extract_in_child(Engine *engine, Trace *trace, const char **kind, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(process_close) Process *process = NULL;
    Str args[] = {os_executable_path(&arena), STR("--quiet"), STR("extract"), trace->identity.path,
                  STR("force=true")};
    int code = 0;
    marker_clear_failure(trace);
    TRY(process_start(args, COUNT_OF(args), engine->settings.worker_memory_bytes, &process, err));
    while (!process_wait(process, POLL_CHILD_NS, &code)) {
        follow_child(engine, trace);
        bool late = overdue(trace);
        if (!late && !cancelled(trace)) continue;
        process_close(process);
        process = NULL;
        marker_drop(engine, trace);
        if (!late) return err_set(err, ERR_CANCELLED, "the load was cancelled");
        return err_set(err, ERR_LIMIT, "the load took longer than timeout_seconds (%lld)",
                       (long long)trace->timeout_seconds);
    }
    mutex_lock(&engine->mutex);
    trace->elsewhere = false;
    mutex_unlock(&engine->mutex);
    if (code == 0) return OK;
    marker_drop(engine, trace); // one that was ended left it behind
    return child_failed(engine, trace, code, kind, err);
}

static Status make_database(Engine *engine, Trace *trace, const char **kind, Err *err) {
    bool valid = false;
    TRY(wait_for_turn(engine, trace, &valid, err));
    if (valid) return OK;
    engine_log(engine, "info",
               "Extracting: event=load.dispatch mode=" STR_FMT " trace_id=%s, "
               "bytes=%llu",
               STR_ARG(trace->mode), trace->identity.trace_id,
               (unsigned long long)trace->identity.size_bytes);
    AUTO(arena_done) Arena arena = {0};
    if (str_eq(trace->mode, STR("dotnet")) && program_can_extract(os_executable_path(&arena))) {
        marker_drop(engine, trace); // the child takes it
        return extract_in_child(engine, trace, kind, err);
    }
    Status status = run_extraction(engine, trace, kind, err);
    marker_drop(engine, trace);
    return status;
}

static Status job_load(Job *job, TraceData **data, const char **kind, Err *err) {
    Engine *engine = job->engine;
    Trace *trace = job->trace;
    bool valid = false;
    if (!trace->force) {
        set_phase(engine, trace, "checking the cache");
        TRY(check_store(engine, trace, false, &valid, err));
    }
    // A database that is valid by its manifest and cannot be opened all the same is made anew.
    if (valid && open_database(engine, trace, data, err) == OK) {
        trace->from_cache = true;
        return OK;
    }
    if (job->cached_only) return err_set(err, ERR_NOT_FOUND, "its cache is gone");
    trace->from_cache = false;
    TRY(make_database(engine, trace, kind, err));
    set_phase(engine, trace, "opening the database");
    TRY(open_database(engine, trace, data, err));
    marker_clear_failure(trace);
    return OK;
}

static void publish(Job *job, Status status, TraceData *data, const char *kind, const Err *err) {
    Engine *engine = job->engine;
    Trace *trace = job->trace;
    mutex_lock(&engine->mutex);
    trace->elsewhere = false;
    trace->used_at_ns = os_now_ns();
    trace->force = false;
    trace->failure_kind = NULL;
    if (status == OK && !cancelled(trace)) {
        trace->data = data;
        trace->state = TRACE_READY;
    } else {
        if (status == OK) trace_data_retire(data);
        bool stopped = status == OK || status == ERR_CANCELLED;
        trace->failure_kind = kind ? kind : kind_of(stopped ? ERR_CANCELLED : status, err->text);
        (void)snprintf(trace->error, sizeof trace->error, "%s",
                       stopped ? "the load was cancelled" : err->text);
        trace->state = TRACE_FAILED;
    }
    trace->thread_done = true;
    condition_signal_all(&engine->changed);
    mutex_unlock(&engine->mutex);
}

static void log_outcome(const Engine *engine, const Trace *trace, Status status, const Err *err) {
    double seconds = (double)(os_now_ns() - trace->started_ns) / 1e9;
    if (status != OK) {
        engine_log(engine, "error",
                   "Load failed: event=load.failed mode=" STR_FMT " trace_id=%s, error=\"%s\"",
                   STR_ARG(trace->mode), trace->identity.trace_id, err->text);
        return;
    }
    if (trace->from_cache)
        engine_log(engine, "info",
                   "Opened the cache: event=load.cache_hit mode=" STR_FMT " trace_id=%s",
                   STR_ARG(trace->mode), trace->identity.trace_id);
    engine_log(engine, "info",
               "Loaded: event=load.complete mode=" STR_FMT " trace_id=%s, seconds=%.3f",
               STR_ARG(trace->mode), trace->identity.trace_id, seconds);
}

static void job_run(void *context) {
    Job *job = context;
    Trace *trace = job->trace;
    TraceData *data = NULL;
    const char *kind = NULL;
    Err err = {0};
    Status status = job_load(job, &data, &kind, &err);
    log_outcome(job->engine, trace, status, &err);
    if (status == OK) index_put(trace);
    if (status == OK) entities_export(job->engine, trace, data->database);
    bool keep = status != OK && status != ERR_CANCELLED && !job->cached_only;
    publish(job, status, data, kind, &err);
    if (keep && trace->folder.n) {
        FileInfo info = {0};
        if (os_stat(trace->folder, &info, NULL) == OK && info.is_folder) marker_fail(trace);
    }
    mem_free(job);
}

// ---------------------------------------------------------------- starting

static Str absolute_folder(Str folder, Arena *arena) {
    Str real = {0};
    return os_real_path(folder, arena, &real, NULL) == OK ? real : folder;
}

Status path_check_allowed(const Engine *engine, Str real_path, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    if (!engine->options.allowed_folder_count) return OK;
    for (size_t i = 0; i < engine->options.allowed_folder_count; i++) {
        Str folder = absolute_folder(engine->options.allowed_folders[i], &arena);
        if (str_starts(real_path, folder) &&
            (real_path.n == folder.n || str_ends(folder, STR("/")) || real_path.p[folder.n] == '/'))
            return OK;
    }
    return err_set(err, ERR_ARG,
                   "\"" STR_FMT "\" is outside the folders this server may use "
                   "(--allow-dir)",
                   STR_ARG(real_path));
}

static Status check_path(const Engine *engine, Str path, Arena *arena, TraceIdentity *identity,
                         Err *err) {
    FileInfo info = {0};
    TRY(os_stat(path, &info, err));
    Str folder = path_folder(path);
    if (!info.exists)
        return err_set(err, ERR_NOT_FOUND,
                       "\"" STR_FMT "\" does not exist. list_traces(directory="
                       "\"" STR_FMT "\") shows what is there",
                       STR_ARG(path), STR_ARG(folder));
    if (!info.is_file)
        return err_set(err, ERR_ARG,
                       "\"" STR_FMT "\" is a folder, not a trace. list_traces("
                       "directory=\"" STR_FMT "\") shows the traces in it",
                       STR_ARG(path), STR_ARG(path));
    if (!str_ends_nocase(path, STR(".etl")))
        return err_set(err, ERR_ARG,
                       "\"" STR_FMT "\" is not an .etl file. list_traces(directory="
                       "\"" STR_FMT "\") shows the traces in its folder",
                       STR_ARG(path), STR_ARG(folder));
    TRY(trace_identity(path, arena, identity, err));
    return path_check_allowed(engine, identity->path, err);
}

static Status begin_job(Engine *engine, Trace *trace, const LoadRequest *request, Err *err) {
    thread_join(trace->thread); // of an earlier load; it is done
    trace->thread = NULL;
    trace->thread_done = false;
    trace_data_retire(trace->data);
    trace->data = NULL;
    trace->state = TRACE_LOADING;
    trace->force = request->force;
    trace->mode = str_copy(&trace->arena, request->mode);
    trace->symbol_path = str_copy(&trace->arena, request->symbol_path);
    trace->extra_symbol_paths = str_copy(&trace->arena, request->extra_symbol_paths);
    trace->timeout_seconds = request->timeout_seconds;
    trace->started_ns = os_now_ns();
    trace->started_wall_ns = trace->heartbeat_wall_ns = os_wall_ns();
    trace->error[0] = 0;
    trace->failure_kind = NULL;
    atomic_store(&trace->progress.cancelled, false);
    atomic_store(&trace->progress.done, 0);
    atomic_store(&trace->progress.total, 0);
    Job *job = mem_zero(1, sizeof *job);
    *job = (Job){engine, trace, request->cached_only};
    Status status = thread_start(job_run, job, &trace->thread, err);
    if (status != OK) {
        mem_free(job);
        trace->state = TRACE_FAILED;
        trace->failure_kind = "internal";
    }
    return status;
}

// Where the database lives is settled before the job starts, so that nobody sees it change.
static void settle_folder(Trace *trace) {
    if (trace->folder.n) return;
    trace->folder = store_folder(&trace->identity, &trace->arena, &trace->folder_is_fallback);
}

// A loaded trace that is loaded again along another symbol path keeps its database. `data` is held
// by the caller.
static void change_symbol_path(Engine *engine, const Trace *trace, TraceData *data) {
    AUTO(arena_done) Arena scratch = {0};
    mutex_lock(&engine->mutex);
    Str path = str_copy(&scratch, trace_symbol_path(engine, trace, &scratch));
    mutex_unlock(&engine->mutex);
    symbols_set_path(data->symbols, path); // may wait for a look-up
    stack_cache_drop(data->stacks);
    mutex_lock(&engine->mutex);
    data->users--;
    if (data->retired) trace_data_retire(data);
    mutex_unlock(&engine->mutex);
}

// The engine is locked. The data in use when the path changes, held; NULL: nothing changes.
static TraceData *take_symbol_path(Trace *trace, const LoadRequest *request) {
    if (!request->symbol_path.n && !request->extra_symbol_paths.n) return NULL;
    trace->symbol_path = str_copy(&trace->arena, request->symbol_path);
    trace->extra_symbol_paths = str_copy(&trace->arena, request->extra_symbol_paths);
    trace->data->users++;
    return trace->data;
}

Status load_start(Engine *engine, const LoadRequest *request, Arena *arena, Trace **out,
                  bool *already, Err *err) {
    TraceIdentity identity = {0};
    TRY(check_path(engine, request->path, arena, &identity, err));
    mutex_lock(&engine->mutex);
    Trace *trace = registry_entry(engine, &identity);
    *out = trace;
    *already = trace->state == TRACE_READY && !request->force;
    Status status = OK;
    // A load that is being cancelled still runs: wait for its end, then start anew.
    while (trace->state == TRACE_LOADING && cancelled(trace))
        condition_wait(&engine->changed, &engine->mutex);
    bool start = trace->state != TRACE_LOADING && !*already;
    if (start) settle_folder(trace);
    if (start && status == OK) status = begin_job(engine, trace, request, err);
    TraceData *data = *already ? take_symbol_path(trace, request) : NULL;
    mutex_unlock(&engine->mutex);
    if (data) change_symbol_path(engine, trace, data);
    if (start && status == OK)
        engine_log(engine, "info",
                   "Load asked for: event=load.start mode=" STR_FMT " trace_id=%s, path=\"" STR_FMT
                   "\"",
                   STR_ARG(request->mode), identity.trace_id, STR_ARG(identity.path));
    return status;
}

// ---------------------------------------------------------------- waiting

static void report(const CallContext *context, const Trace *trace, double pct) {
    if (!context || !context->report) return;
    char text[128];
    (void)snprintf(text, sizeof text, "%s, %.0f %%", trace->phase, pct);
    context->report(context->report_context, pct, 100, text);
}

Status load_wait(Engine *engine, Trace *trace, double seconds, const CallContext *context,
                 Err *err) {
    enum { STEP_NS = 50 * 1000 * 1000 };
    uint64_t start = os_now_ns(), reported = start;
    bool unlimited = seconds < 0;
    uint64_t limit = unlimited || seconds > 1e9 ? UINT64_MAX : (uint64_t)(seconds * 1e9);
    Status status = OK;
    mutex_lock(&engine->mutex);
    while (trace->state == TRACE_LOADING) {
        uint64_t now = os_now_ns();
        if (now - start >= limit) break;
        if (context && context->progress && atomic_load(&context->progress->cancelled)) {
            status = err_set(err, ERR_CANCELLED, "the call was cancelled; the load goes on");
            break;
        }
        if (now - reported >= REPORT_NS) {
            reported = now;
            double pct = load_percent(trace);
            mutex_unlock(&engine->mutex);
            report(context, trace, pct);
            mutex_lock(&engine->mutex);
            continue;
        }
        uint64_t left = limit - (now - start);
        (void)condition_wait_for(&engine->changed, &engine->mutex, left < STEP_NS ? left : STEP_NS);
    }
    mutex_unlock(&engine->mutex);
    return status;
}
