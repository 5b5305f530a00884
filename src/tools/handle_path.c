// get_critical_path: finds the thread, walks its critical path, and hands the segments to the
// tool's own SQL as temporary tables; evidence for each segment is joined there.
#include "tools/critical_path.h"
#include "tools/handlers.h"

enum TurnColumn {
    TC_UTID,
    TC_START,
    TC_END,
    TC_OFF_END,
    TC_READY,
    TC_WAKER,
    TC_RAN,
    TC_OFF,
    TC_REASON,
    TC_IN_DPC,
    TC_READY_CPU,
    TC_READY_STACK,
    TC_WAIT_STACK,
    TC_CPU,
    TC_NEXT_CPU,
    TC_PRIORITY,
    TC_COUNT,
};

static const char TURNS_SQL[] =
    "SELECT utid::BIGINT, start_ns, end_ns, off_end_ns, ready_ns, waker_utid::BIGINT, "
    "ran::INTEGER, CASE off_kind WHEN 'waiting' THEN 1 WHEN 'ready' THEN 2 WHEN 'unknown' THEN 3 "
    "ELSE 0 END, reason::INTEGER, ready_in_dpc::INTEGER, ready_cpu::INTEGER, "
    "ready_stack_id::BIGINT, wait_stack_id::BIGINT, cpu::INTEGER, next_cpu::INTEGER, priority "
    "FROM thread_turn WHERE start_ns < $end_ns "
    "AND greatest(end_ns, coalesce(off_end_ns, end_ns)) >= $start_ns "
    "ORDER BY utid, start_ns, end_ns, cpu";

// The life that was seen longest in the window, of those that the text names.
static const char THREAD_SQL[] =
    "SELECT n.utid::BIGINT, coalesce(n.process, 'unknown') || ' (' || "
    "coalesce(n.pid::VARCHAR, '?') || ') tid ' || n.tid || coalesce(' ' || n.thread_name, ''), "
    "count(*) OVER ()::BIGINT FROM thread_turn AS t JOIN thread_name AS n ON n.utid = t.utid "
    "WHERE t.start_ns < $end_ns AND greatest(t.end_ns, coalesce(t.off_end_ns, t.end_ns)) >= "
    "$start_ns AND (n.tid::VARCHAR = $thread OR (NOT regexp_full_match($thread, '[0-9]+') AND "
    "(contains(lower(n.process), lower($thread)) OR "
    "contains(lower(coalesce(n.thread_name, '')), lower($thread))))) "
    "GROUP BY n.utid, n.process, n.pid, n.tid, n.thread_name "
    "ORDER BY sum(greatest(0, least(t.end_ns, $end_ns) - greatest(t.start_ns, $start_ns))) DESC, "
    "n.utid";

typedef struct PathCall {
    ToolCall *call;
    Window window;
    PathGoal goal;
    Integers rows; // of thread_turn
    CriticalPath path;
} PathCall;

static Status find_thread(PathCall *path, bool *found, Err *err) {
    ToolCall *call = path->call;
    Arg args[] = {
        {.name = "start_ns",                .type = ARG_I64,            .i64 = path->window.start_ns},
        {                .name = "end_ns",                  .type = ARG_I64, .i64 = path->window.end_ns                            },
        { .name = "thread", .type = ARG_TEXT,                  .text = values_text(call->values,                             "thread")},
    };
    ResultSet result;
    TRY(session_query(call->trace->session, str_from_c(THREAD_SQL), args, COUNT_OF(args), 1,
                      call->arena, &result, err));
    *found = result.row_count > 0;
    if (!*found) return OK;
    path->goal.utid = result.cells[0].i64;
    if (result.cells[2].i64 > 1)
        doc_note(call->doc,
                 str_format(call->arena,
                            "%lld threads match; the one that ran longest in the window is "
                            "followed: " STR_FMT ".",
                            (long long)result.cells[2].i64, STR_ARG(result.cells[1].text)));
    return OK;
}

static Status read_turns(PathCall *path, Turn **out, Err *err) {
    ToolCall *call = path->call;
    Arg args[] = {
        {.name = "start_ns", .type = ARG_I64, .i64 = path->window.start_ns},
        {.name = "end_ns",   .type = ARG_I64, .i64 = path->window.end_ns  },
    };
    TRY(session_integers(call->trace->session, str_from_c(TURNS_SQL), args, COUNT_OF(args),
                         TURN_NONE, call->arena, &path->rows, err));
    INVARIANT(path->rows.column_count == TC_COUNT);
    int64_t *const *columns = path->rows.columns;
    Turn *turns = ARENA_ARRAY(call->arena, Turn, path->rows.row_count + 1);
    for (size_t i = 0; i < path->rows.row_count; i++)
        turns[i] = (Turn){.utid = columns[TC_UTID][i],
                          .start_ns = columns[TC_START][i],
                          .end_ns = columns[TC_END][i],
                          .off_end_ns = columns[TC_OFF_END][i],
                          .ready_ns = columns[TC_READY][i],
                          .waker_utid = columns[TC_WAKER][i],
                          .ran = columns[TC_RAN][i] == 1,
                          .off = (TurnOff)columns[TC_OFF][i]};
    *out = turns;
    return OK;
}

// ---------------------------------------------------------------- temporary tables

enum { COLUMNS_MAX = 20 };
typedef struct ListTable { // whole numbers, column by column
    const char *name;
    Arg args[COLUMNS_MAX];
    int64_t *columns[COLUMNS_MAX];
    size_t column_count, row_count;
} ListTable;

static int64_t *list_column(ListTable *table, const char *name, Arena *arena) {
    INVARIANT(table->column_count < COLUMNS_MAX);
    int64_t *values = ARENA_ARRAY(arena, int64_t, table->row_count + 1);
    table->args[table->column_count] = (Arg){
        .name = name, .type = ARG_I64_LIST, .i64_list = values, .list_count = table->row_count};
    table->columns[table->column_count++] = values;
    return values;
}

static Status list_table_make(const ListTable *table, Session *session, Arena *arena, Err *err) {
    AUTO(buf_done) Buf sql = {0};
    buf_addf(&sql, "CREATE OR REPLACE TEMP TABLE %s AS SELECT ", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        buf_addf(&sql, "%snullif(%s, -1) AS %s", i ? ", " : "", table->args[i].name,
                 table->args[i].name);
    buf_add_c(&sql, " FROM (SELECT ");
    for (size_t i = 0; i < table->column_count; i++)
        buf_addf(&sql, "%sunnest($%s::BIGINT[]) AS %s", i ? ", " : "", table->args[i].name,
                 table->args[i].name);
    buf_add_c(&sql, ")");
    ResultSet nothing;
    return session_query(session, buf_str(&sql), table->args, table->column_count, 1, arena,
                         &nothing, err);
}

static const struct {
    const char *name;
    enum TurnColumn from;
} TURN_FIELDS[] = {
    {"reason",         TC_REASON     },
    {"in_dpc",         TC_IN_DPC     },
    {"ready_cpu",      TC_READY_CPU  },
    {"ready_ns",       TC_READY      },
    {"waker_utid",     TC_WAKER      },
    {"ready_stack_id", TC_READY_STACK},
    {"wait_stack_id",  TC_WAIT_STACK },
    {"cpu",            TC_CPU        },
    {"next_cpu",       TC_NEXT_CPU   },
    {"priority",       TC_PRIORITY   },
};

static void put_turn_fields(ListTable *table, const PathCall *path, const size_t *turns) {
    for (size_t f = 0; f < COUNT_OF(TURN_FIELDS); f++) {
        int64_t *values = list_column(table, TURN_FIELDS[f].name, path->call->arena);
        for (size_t i = 0; i < table->row_count; i++)
            values[i] = turns[i] == SIZE_MAX ? TURN_NONE
                                             : path->rows.columns[TURN_FIELDS[f].from][turns[i]];
    }
}

static Status make_segments(const PathCall *path, Err *err) {
    Arena *arena = path->call->arena;
    size_t count = path->path.segments.count;
    ListTable table = {.name = "path_segment", .row_count = count};
    int64_t *number = list_column(&table, "number", arena);
    int64_t *depth = list_column(&table, "depth", arena);
    int64_t *utid = list_column(&table, "utid", arena);
    int64_t *state = list_column(&table, "state", arena);
    int64_t *start = list_column(&table, "start_ns", arena);
    int64_t *end = list_column(&table, "end_ns", arena);
    size_t *turns = ARENA_ARRAY(arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const PathSegment *segment = &path->path.segments.items[count - 1 - i]; // earliest first
        number[i] = (int64_t)i;
        depth[i] = segment->depth;
        utid[i] = segment->utid;
        state[i] = segment->state;
        start[i] = segment->start_ns;
        end[i] = segment->end_ns;
        turns[i] = segment->turn;
    }
    put_turn_fields(&table, path, turns);
    return list_table_make(&table, path->call->trace->session, arena, err);
}

static Status make_waits(const PathCall *path, Err *err) {
    Arena *arena = path->call->arena;
    size_t count = path->path.waits.count;
    ListTable table = {.name = "path_wait", .row_count = count};
    int64_t *depth = list_column(&table, "depth", arena);
    int64_t *utid = list_column(&table, "utid", arena);
    int64_t *start = list_column(&table, "start_ns", arena);
    int64_t *end = list_column(&table, "end_ns", arena);
    size_t *turns = ARENA_ARRAY(arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const PathWait *wait = &path->path.waits.items[count - 1 - i];
        depth[i] = wait->depth;
        start[i] = wait->start_ns;
        end[i] = wait->end_ns;
        turns[i] = wait->turn;
        utid[i] = path->rows.columns[TC_UTID][wait->turn];
    }
    put_turn_fields(&table, path, turns);
    return list_table_make(&table, path->call->trace->session, arena, err);
}

// The stack that most samples of each running segment have.
static Status make_samples(const PathCall *path, Err *err) {
    ResultSet nothing;
    return session_query(
        path->call->trace->session,
        STR("CREATE OR REPLACE TEMP TABLE path_sample AS "
            "SELECT number, arg_max(stack_id, (samples, -stack_id)) AS stack_id, "
            "sum(samples)::BIGINT AS samples FROM ("
            "SELECT p.number, s.stack_id::BIGINT AS stack_id, count(*) AS samples "
            "FROM path_segment AS p JOIN sample AS s ON s.utid = p.utid "
            "AND s.ts_ns >= p.start_ns AND s.ts_ns < p.end_ns "
            "WHERE p.state = 0 AND s.stack_id IS NOT NULL GROUP BY ALL) GROUP BY number"),
        NULL, 0, 1, path->call->arena, &nothing, err);
}

static Status make_tables(const PathCall *path, Err *err) {
    TRY(make_segments(path, err));
    TRY(make_waits(path, err));
    return make_samples(path, err);
}

static void drop_tables(const PathCall *path) {
    static const char *const NAMES[] = {"path_segment", "path_wait", "path_sample"};
    ResultSet nothing;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        (void)session_query(path->call->trace->session,
                            str_format(path->call->arena, "DROP TABLE IF EXISTS temp.%s", NAMES[i]),
                            NULL, 0, 1, path->call->arena, &nothing, NULL);
}

static Status walk_path(PathCall *path, Err *err) {
    ToolCall *call = path->call;
    bool found = false;
    TRY(find_thread(path, &found, err));
    if (!found) return OK; // the tables stay empty and the tool says so
    Turn *turns = NULL;
    TRY(read_turns(path, &turns, err));
    path->goal.start_ns = path->window.start_ns;
    path->goal.end_ns = path->window.end_ns > call->trace->facts->duration_ns
                            ? call->trace->facts->duration_ns
                            : path->window.end_ns;
    if (path->goal.start_ns >= path->goal.end_ns) return OK;
    critical_path_walk(turns, path->rows.row_count, &path->goal, &path->path);
    if (path->path.cut)
        doc_note(call->doc, STR("The path has too many segments: its beginning is not followed. "
                                "Take a shorter interval."));
    return OK;
}

Status handle_get_critical_path(ToolCall *call, Err *err) {
    PathCall path = {.call = call};
    TRY(run_window(call->values, call->trace->facts, call->doc, &path.window, err));
    Status status = walk_path(&path, err);
    if (status == OK) status = make_tables(&path, err);
    if (status == OK) status = run_tool(call->tool, call->values, call->trace, call->doc, err);
    drop_tables(&path);
    critical_path_done(&path.path);
    return status;
}
