// resolve_symbols: looks for missing files in caches and folders, then asks servers, and names the
// addresses of the modules that got one.
#include "tools/handle_symbols.h"
#include "tools/handlers.h"

#include <stdio.h>

enum { RESOLVE_SECONDS = 600, WAIT_NS = 50 * 1000 * 1000, REPORT_NS = 1000 * 1000 * 1000 };

typedef struct Job {
    Symbols *symbols;
    SymbolFetch *fetches;
    size_t count;
    Arena *arena; // the thread's own while it runs
    Str extra;
    Progress progress;
    Mutex mutex;
    Condition condition;
    bool done; // guarded by mutex
    Status status;
    Err err;
} Job;

static void job_run(void *context) {
    Job *job = context;
    SymbolFetchOptions options = {.extra = job->extra, .progress = &job->progress};
    job->status =
        symbols_fetch(job->symbols, &options, job->fetches, job->count, job->arena, &job->err);
    mutex_lock(&job->mutex);
    job->done = true;
    condition_signal_all(&job->condition);
    mutex_unlock(&job->mutex);
}

static void report(const CallContext *context, Job *job, double seconds) {
    char text[96];
    if (!context || !context->report) return;
    double mb = (double)atomic_load(&job->progress.done) / 1048576;
    (void)snprintf(text, sizeof text, "symbols of %zu modules, %.1f MB received", job->count, mb);
    context->report(context->report_context, seconds, RESOLVE_SECONDS, text);
}

// *late: the time was over; what is left was not asked for.
static void watch_job(const CallContext *context, Job *job, bool *late, bool *cancelled) {
    uint64_t start = os_now_ns(), reported = start;
    mutex_lock(&job->mutex);
    while (!job->done) {
        (void)condition_wait_for(&job->condition, &job->mutex, WAIT_NS);
        uint64_t now = os_now_ns();
        *cancelled = context && context->progress && atomic_load(&context->progress->cancelled);
        *late = now - start > UINT64_C(1000000000) * RESOLVE_SECONDS;
        if (*late || *cancelled) atomic_store(&job->progress.cancelled, true);
        if (now - reported < REPORT_NS || job->done) continue;
        reported = now;
        mutex_unlock(&job->mutex);
        report(context, job, (double)(now - start) / 1e9);
        mutex_lock(&job->mutex);
    }
    mutex_unlock(&job->mutex);
}

static Status run_job(ToolCall *call, Job *job, bool *late, Err *err) {
    bool cancelled = false;
    Thread *thread = NULL;
    mutex_init(&job->mutex);
    condition_init(&job->condition);
    Status status = thread_start(job_run, job, &thread, err);
    if (status == OK) {
        watch_job(call->context, job, late, &cancelled);
        thread_join(thread);
        status = job->status;
        if (status != OK && err) *err = job->err;
    }
    condition_done(&job->condition);
    mutex_done(&job->mutex);
    if (cancelled) return err_set(err, ERR_CANCELLED, "the call was cancelled");
    return *late && status == ERR_CANCELLED ? OK : status;
}

// ---------------------------------------------------------------- which modules

static bool is_wanted(Str list, const ModuleWeight *module) {
    if (!module->has_symbols) return false;
    Str rest = list, name = {0};
    bool any = false;
    while (str_next(&rest, ',', &name)) {
        name = str_trim(name);
        if (!name.n) continue;
        any = true;
        if (module_is_named(module->module, name)) return true;
    }
    return !any && module->symbols.source != SYMBOL_SOURCE_PDB &&
           module->addresses[FROM_NOWHERE] + module->addresses[FROM_EXPORT] > 0;
}

// Names of the list that no module of the trace has.
static void note_unknown(ToolCall *call, Str list, const ModuleWeights *weights) {
    Str rest = list, name = {0};
    while (str_next(&rest, ',', &name)) {
        bool known = false;
        name = str_trim(name);
        for (size_t i = 0; i < weights->count && !known; i++)
            known = module_is_named(weights->items[i].module, name);
        if (name.n && !known)
            doc_note(call->doc,
                     str_format(call->arena, "No module with code addresses is called " STR_FMT ".",
                                STR_ARG(name)));
    }
}

// ---------------------------------------------------------------- the reply

static Str result_text(const ModuleWeight *module, const SymbolFetch *fetch, bool late,
                       Arena *arena) {
    if (module->symbols.source == SYMBOL_SOURCE_PDB) return STR("already cached");
    bool known = module->symbols.has_pdb_id || module->symbols.has_image_id;
    if (!known) return STR("no identity in trace");
    if (!fetch->asked) return late ? STR("not reached in time") : STR("skipped: no symbol path");
    const SymbolResult *result = &fetch->result;
    Str name = str_from_c(symbol_outcome_name(result->outcome));
    bool explained = result->outcome == SYMBOL_NETWORK_ERROR || result->outcome == SYMBOL_DAMAGED;
    if (!explained || !result->detail.n) return name;
    return str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(result->detail));
}

static void put_row(ToolCall *call, DocSection *table, const ModuleWeight *module,
                    const SymbolFetch *fetch, bool late) {
    Arena *arena = call->arena;
    const SymbolResult *result = &fetch->result;
    const SymbolId *id = fetch->asked ? &fetch->id : &module->symbols.pdb;
    bool cached = module->symbols.source == SYMBOL_SOURCE_PDB;
    bool known = fetch->asked || module->symbols.has_pdb_id;
    Cell *cells = doc_row(call->doc, table);
    cells[0] = cell_text(module->module);
    cells[1] = known ? cell_text(id->name) : (Cell){.type = CELL_NULL};
    cells[2] = known ? cell_text(symbol_key(id, arena)) : (Cell){.type = CELL_NULL};
    cells[3] = cell_text(result_text(module, fetch, late, arena));
    Str from = cached ? module->symbols.path : result->url.n ? result->url : result->path;
    cells[4] = cell_text(from);
    cells[5] =
        result->size_bytes ? cell_i64((int64_t)result->size_bytes) : (Cell){.type = CELL_NULL};
    cells[6] =
        fetch->asked ? cell_f64((double)result->elapsed_ns / 1e9) : (Cell){.type = CELL_NULL};
}

static DocSection *result_table(ToolCall *call) {
    static const char *const COLUMNS[][2] = {
        {"Module",    "text"     },
        {"PDB",       "text"     },
        {"GUID+Age",  "text"     },
        {"Result",    "text(160)"},
        {"Source",    "text(160)"},
        {"Size (MB)", "mb"       },
        {"Seconds",   "number"   },
    };
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    table->empty = STR("Nothing to fetch: every module of weight has its symbols.");
    return table;
}

static void note_servers(ToolCall *call, Str extra) {
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    SymbolPathOptions options = {.no_download = true};
    if (symbols_path_open(call->symbols, extra, &options, &path, NULL) != OK) return;
    if (!symbol_path_has_server(path))
        doc_note(call->doc, STR("The symbol path names no server, so nothing was fetched. "
                                "load_trace(symbol_path=\"" SYMBOLS_OF_WINDOWS "\") sets one."));
    else if (symbols_no_download(call->symbols))
        doc_note(call->doc, STR("Downloads are switched off (ETW_MCP_NO_AUTO_DOWNLOAD=1): servers "
                                "were not asked."));
}

static Status put_weights(ToolCall *call, const ModuleWeights *before, Err *err) {
    AUTO(session_close) Session *session = NULL;
    ModuleWeights after = {0};
    // Fetching may have outlived the time of the call's own session.
    TRY(session_open(call->database, &session, err));
    TRY(module_weights_read(call, session, (Str){0}, &after, err));
    doc_scope(call->doc, STR("Before"), weights_text(before, call->arena));
    doc_scope(call->doc, STR("After"), weights_text(&after, call->arena));
    return OK;
}

typedef struct Picked {
    const ModuleWeight **modules;
    SymbolFetch *fetches;
    size_t count;
} Picked;

static Picked pick(ToolCall *call, Str list, const ModuleWeights *weights) {
    Picked picked = {ARENA_ARRAY(call->arena, const ModuleWeight *, weights->count),
                     ARENA_ARRAY(call->arena, SymbolFetch, weights->count), 0};
    for (size_t i = 0; i < weights->count; i++) {
        if (!is_wanted(list, &weights->items[i])) continue;
        picked.fetches[picked.count].image_id = weights->items[i].symbols.image_id;
        picked.modules[picked.count++] = &weights->items[i];
    }
    return picked;
}

Status handle_resolve_symbols(ToolCall *call, Err *err) {
    Window window = {0};
    ModuleWeights before = {0};
    bool late = false;
    Str extra = extra_paths(call), list = values_text(call->values, "modules");
    run_scope(call->tool, call->values, call->trace, &window, call->doc);
    TRY(module_weights_read(call, call->trace->session, extra, &before, err));
    Picked picked = pick(call, list, &before);
    Job job = {.symbols = call->symbols,
               .fetches = picked.fetches,
               .count = picked.count,
               .arena = call->arena,
               .extra = extra};
    bool has_path = extra.n || symbols_path_text(call->symbols, call->arena).n;
    if (picked.count && has_path) TRY(run_job(call, &job, &late, err));
    stack_cache_drop(call->trace->stacks);
    DocSection *table = result_table(call);
    for (size_t i = 0; i < picked.count; i++)
        put_row(call, table, picked.modules[i], &picked.fetches[i], late);
    TRY(put_weights(call, &before, err));
    note_unknown(call, list, &before);
    note_servers(call, extra);
    if (late) doc_note(call->doc, STR("Ten minutes were over: call again for what is left."));
    doc_next(call->doc, str_format(call->arena, "check_symbols(trace_id=\"" STR_FMT "\")",
                                   STR_ARG(call->trace->trace_id)));
    return OK;
}
