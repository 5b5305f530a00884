// Inside of the engine: its state, the registry of traces, loads, handlers.
//
// One mutex guards the registry and every Trace in it; `changed` is signalled whenever a trace
// changes its state. Traces are never freed before the engine, so pointers to them stay valid.
#ifndef TOOLS_ENGINE_INTERNAL_H
#define TOOLS_ENGINE_INTERNAL_H

#include "base/os.h"
#include "tools/engine.h"
#include "tools/run.h"
#include "tools/stack_site.h"
#include "tools/symbols.h"

typedef enum TraceState {
    TRACE_LOADING,
    TRACE_READY,
    TRACE_FAILED,
    TRACE_UNLOADED, // known, but neither loaded nor loading
} TraceState;

// An open database and those who use it; closed by the last of them once it is retired.
typedef struct TraceData {
    Database *database; // NULL while it rests: idle, and memory above the cap
    TraceFacts facts;
    Arena arena; // of the facts
    StackCache *stacks;
    StackNames stack_names; // of SQL
    Symbols *symbols;
    unsigned users;
    bool retired;
} TraceData;

typedef struct Trace {
    TraceIdentity identity; // text in `arena`
    Arena arena;            // lives as long as the engine
    Str folder;
    bool folder_is_fallback;
    TraceState state;
    bool from_cache;
    Str mode, symbol_path, extra_symbol_paths; // the last two empty: environment, none
    TraceData *data;                           // TRACE_READY
    uint64_t used_at_ns;                       // monotonic
    // The load, running or last:
    Thread *thread;
    bool thread_done; // it may be joined
    Progress progress;
    bool force;
    int64_t timeout_seconds;
    int64_t started_wall_ns, heartbeat_wall_ns;
    uint64_t started_ns;
    bool elsewhere; // another process extracts
    double elsewhere_pct;
    char phase[64];
    char error[ERR_TEXT_MAX];
    const char *failure_kind; // NULL: none
} Trace;

typedef struct Settings { // from the environment, read at the first call
    double load_wait_seconds;
    int64_t load_stale_seconds;
    double heartbeat_seconds;
    double extract_mbps;
    int64_t load_timeout_seconds;
    uint64_t memory_bytes;        // cap of a database instance, and of the process for idle traces
    uint64_t worker_memory_bytes; // limit of an extraction in a child process
    Str mode;
    Str symbol_path;
    bool no_download; // symbol servers are not asked
    Str export_folder;
} Settings;

typedef struct Watch Watch;

struct Engine {
    EngineOptions options;
    Arena arena;
    Catalog catalog;
    ToolInfo *infos;
    Mutex mutex;
    Condition changed;
    VEC(Trace *) traces;
    bool closing;
    bool settled; // settings are read
    Settings settings;
    Watch *watch;
};

// settings.c
const Settings *engine_settings(Engine *engine);

// log.c: "level area: Sentence: key=value" on stderr, unless quiet.
void engine_log(const Engine *engine, const char *level, const char *format, ...) PRINTF_LIKE(3, 4);

// ---------------------------------------------------------------- registry.c

// Finds or makes the registry's entry; the engine is locked.
Trace *registry_entry(Engine *engine, const TraceIdentity *identity);
Trace *registry_find(Engine *engine, Str trace_id); // NULL: none; the engine is locked
// "none is loaded ..." or the list of ids; for errors.
Str registry_list_text(Engine *engine, Arena *arena);

// A trace in use by one call.
typedef struct TraceHold {
    Engine *engine;
    Trace *trace;
    TraceData *data;
    Session *session;
} TraceHold;
// Waits for a running load, reopens a database of an earlier process. The failure's text says what
// to do next.
Status trace_hold(Engine *engine, Str trace_id, const CallContext *context, Arena *arena,
                  TraceHold *out, Err *err);
void trace_let_go(TraceHold *hold);
static inline void trace_let_go_auto(TraceHold *hold) {
    trace_let_go(hold);
}
// Opens the database of `data`, which has none.
Status trace_data_wake(Engine *engine, const Trace *trace, TraceData *data, Err *err);
void trace_data_retire(TraceData *data); // the engine is locked; accepts NULL

// Per-user index of ids, so that they work after a restart.
void index_put(const Trace *trace);
bool index_get(Str trace_id, Arena *arena, Str *path);

// ---------------------------------------------------------------- load.c

typedef struct LoadRequest {
    Str path;
    bool force;
    bool cached_only; // open a valid database, extract nothing
    Str mode, symbol_path, extra_symbol_paths;
    int64_t timeout_seconds;
} LoadRequest;

// Checks the path, finds or starts the load; *fresh is false when the trace was loaded before.
Status load_start(Engine *engine, const LoadRequest *request, Arena *arena, Trace **out,
                  bool *already, Err *err);
// Waits until the trace is no longer loading or the time is over (seconds < 0: without limit).
// ERR_CANCELLED when the call was cancelled; the load goes on.
Status load_wait(Engine *engine, Trace *trace, double seconds, const CallContext *context,
                 Err *err);
double load_percent(const Trace *trace);                           // the engine is locked
double load_eta_seconds(const Engine *engine, const Trace *trace); // -1: unknown; locked
void load_cancel(Trace *trace);
Status path_check_allowed(const Engine *engine, Str real_path, Err *err);

// The symbol path of a trace, complete; empty: none is set.
Str trace_symbol_path(const Engine *engine, const Trace *trace, Arena *arena);

// marker.c: extracting.json and failed.json of a database folder.
typedef struct Marker {
    bool exists, fresh;
    bool ours; // written by this process
    int64_t pid;
    double pct;
    Str host, phase, started_at, heartbeat_ts;
    Str error, failure_kind; // failed.json
} Marker;
Status marker_read(const Engine *engine, Str folder, const char *name, Arena *arena, Marker *out,
                   Err *err);
// *taken is false when another process has a fresh one.
Status marker_take(Engine *engine, const Trace *trace, bool *taken, Err *err);
void marker_beat(Engine *engine, const Trace *trace, double pct, double eta_seconds);
void marker_drop(const Engine *engine, const Trace *trace); // unless it is another process's
void marker_fail(const Trace *trace);                       // writes failed.json
void marker_clear_failure(const Trace *trace);

// status_json.c: the status object of the tool contract; a new reference.
json_t *load_status_json(Engine *engine, const Trace *trace, Arena *arena); // locked
json_t *status_json_empty(void);                                            // every key, null

// watch.c: interrupts the queries of cancelled or overdue calls.
Watch *watch_open(void);
void watch_close(Watch *watch);
typedef struct WatchTicket {
    Watch *watch;
    size_t slot;
} WatchTicket;
WatchTicket watch_begin(Watch *watch, Session *session, Progress *progress, uint64_t seconds);
bool watch_end(WatchTicket ticket); // true: the time was over

// ---------------------------------------------------------------- handlers

typedef struct ToolCall {
    Engine *engine;
    const Tool *tool;
    const Values *values;
    const CallContext *context;
    Arena *arena;
    Doc *doc;
    const RunTrace *trace; // NULL: the tool takes no trace
    Trace *entry;          // of the registry, NULL likewise
    Database *database;
    Symbols *symbols; // of the trace, NULL likewise
} ToolCall;
typedef Status (*ToolHandler)(ToolCall *call, Err *err);
ToolHandler handler_find(Str name); // handlers.c; NULL: unknown

// What the ready summary of load_trace and trace_info share; handlers_trace.c.
Status summary_fill(ToolCall *call, const RunTrace *trace, Trace *entry, Err *err);

#endif
