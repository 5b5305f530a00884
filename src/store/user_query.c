// SQL from outside. Each query gets an engine of its own (some 20 ms), because a plain SELECT can
// change an instance: `FROM enable_logging(...)` does, also with the configuration locked. That
// engine reads the database's files by their exact paths and no other file, loads nothing, and is
// thrown away. What may run is decided by the kind of the one statement, as the engine parses it.
#include "base/os.h"
#include "store/database.h"
#include "store/fn_packet.h"
#include "store/fn_sched.h"
#include "store/result.h"
#include "store/user_bounds.h"

enum {
    NESTING_MAX = 100,
    SELECTS_MAX = 200,
    WATCH_NS = 10 * 1000 * 1000,
    RESULT_BYTES_MAX = 64 * 1024 * 1024,
    USER_SQL_MEMORY_BYTES_MIN = 64 * 1024 * 1024,
};

typedef struct UserQuery {
    Str sql;
    size_t max_rows;
    unsigned seconds_max;
    Progress *progress;
    const UserCopy *copy; // NULL: the rows are the answer
    uint64_t *rows;       // of the copy
} UserQuery;

// ---------------------------------------------------------------- the watch

// Interrupts a connection when time is up or the caller cancels, again and again until the query
// ends: one interrupt between two phases of a query is lost.
typedef struct Watch {
    duckdb_connection connection;
    Progress *progress;
    uint64_t deadline_ns;
    atomic_bool stopped;
    bool timed_out;
    bool done;
    Mutex lock;
    Condition condition;
    Thread *thread;
} Watch;

static void watch_run(void *context) {
    Watch *watch = context;
    mutex_lock(&watch->lock);
    while (!watch->done) {
        bool cancelled = watch->progress && atomic_load(&watch->progress->cancelled);
        bool late = os_now_ns() >= watch->deadline_ns;
        if (cancelled || late) {
            watch->timed_out = watch->timed_out || (late && !cancelled);
            atomic_store(&watch->stopped, true);
            duckdb_interrupt(watch->connection);
        }
        (void)condition_wait_for(&watch->condition, &watch->lock, WATCH_NS);
    }
    mutex_unlock(&watch->lock);
}

static Status watch_start(Watch *watch, Err *err) {
    mutex_init(&watch->lock);
    condition_init(&watch->condition);
    return thread_start(watch_run, watch, &watch->thread, err);
}

static void watch_end(Watch *watch) {
    mutex_lock(&watch->lock);
    watch->done = true;
    condition_signal_all(&watch->condition);
    mutex_unlock(&watch->lock);
    thread_join(watch->thread);
    condition_done(&watch->condition);
    mutex_done(&watch->lock);
}

// ---------------------------------------------------------------- the statement

// Functions that change the engine, run text as SQL or take addresses. The engine cannot be told to
// leave them out; text run as SQL would escape this list.
static const char *const FORBIDDEN[] = {
    "arrow_scan",
    "arrow_scan_dumb",
    "seq_scan",
    "json_execute_serialized_sql",
    "enable_logging",
    "disable_logging",
    "enable_profiling",
    "disable_profiling",
    "checkpoint",
    "force_checkpoint",
    "query",
    "query_table",
    "enable_peg_parser",
    "disable_peg_parser",
    "truncate_duckdb_logs",
    // These recurse for each level of a document, until the stack is used up.
    "json_structure",
    "json_group_structure",
    "json_merge_patch",
    "json_contains",
};

static bool is_forbidden(Str word) {
    for (size_t i = 0; i < COUNT_OF(FORBIDDEN); i++)
        if (str_eq_nocase(word, str_from_c(FORBIDDEN[i]))) return true;
    return false;
}

// A name counts where it is called: `query` may also be a column. Blanks and the closing quote may
// stand before the parenthesis; a comment, or a blank that only the engine knows as one, is as good
// as a parenthesis.
static bool is_call(Str rest) {
    if (rest.n && rest.p[0] == '"') rest = str_slice(rest, 1, rest.n);
    rest = str_trim(rest);
    if (!rest.n) return false;
    unsigned char c = (unsigned char)rest.p[0];
    return c == '(' || c < ' ' || c > '~' || sql_comment(rest);
}

// The name of a schema or catalogue before a point; blanks, its closing quote and a comment may
// stand between them.
static bool is_schema(Str word, Str rest) {
    static const char *const NAMES[] = {"main", "system", "pg_catalog", "memory", "temp"};
    bool named = false;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        named = named || str_eq_nocase(word, str_from_c(NAMES[i]));
    if (!named) return false;
    if (rest.n && rest.p[0] == '"') rest = str_slice(rest, 1, rest.n);
    rest = str_trim(rest);
    if (!rest.n) return false;
    unsigned char c = (unsigned char)rest.p[0];
    return c == '.' || c < ' ' || c > '~' || sql_comment(rest);
}

static Status check_words(Str sql, Err *err) {
    Str rest = sql, word;
    if (str_find_nocase(sql, STR("u&\"")) != SIZE_MAX)
        return err_set(err, ERR_ARG, "names with Unicode escapes (U&\"...\") are not accepted");
    if (str_find(sql, STR("~~\"")) != SIZE_MAX || str_find(sql, STR("~~~\"")) != SIZE_MAX ||
        str_find(sql, STR("~~*\"")) != SIZE_MAX ||
        str_find_nocase(sql, STR("operator(")) != SIZE_MAX)
        return err_set(err, ERR_ARG, "write LIKE, ILIKE or GLOB, not the functions behind them");
    bool qualified = false;
    while (sql_word_next(&rest, &word)) {
        if (is_forbidden(word) && is_call(rest))
            return err_set(err, ERR_ARG, "the function " STR_FMT " is not available here",
                           STR_ARG(word));
        if (qualified && user_bounds_has(word) && is_call(rest))
            return err_set(err, ERR_ARG, "write " STR_FMT "(...) without the schema's name",
                           STR_ARG(word));
        qualified = qualified || is_schema(word, rest);
    }
    return OK;
}

// The engine's parser and binder recurse for each level, and take minutes for a comment within
// thousands of comments; an interrupt does not reach them.
static Status check_nesting(Str sql, Err *err) {
    unsigned depth = 0, comments = 0, selects = 0;
    for (size_t i = 0; i < sql.n; i++) {
        char c = sql.p[i];
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && depth > 0) depth--;
        if (c == '/' && i + 1 < sql.n && sql.p[i + 1] == '*') comments++;
        if (depth > NESTING_MAX || comments > NESTING_MAX)
            return err_set(err, ERR_LIMIT, "the statement has more than %d levels or comments",
                           NESTING_MAX);
    }
    Str rest = sql, word;
    while (sql_word_next(&rest, &word)) selects += str_eq_nocase(word, STR("select"));
    return selects <= SELECTS_MAX
               ? OK
               : err_set(err, ERR_LIMIT, "the statement has more than %d SELECTs", SELECTS_MAX);
}

// What EXPLAIN [ANALYZE] [(options)] explains; empty when the text does not begin so.
static Str explained(Str sql) {
    Str rest = str_trim(sql), word;
    for (size_t n = sql_comment(rest); n; n = sql_comment(rest))
        rest = str_trim(str_slice(rest, n, rest.n));
    Str start = rest;
    if (!sql_word_next(&rest, &word) || word.p != start.p || !str_eq_nocase(word, STR("explain")))
        return (Str){0};
    Str after = rest;
    if (sql_word_next(&after, &word) && str_eq_nocase(word, STR("analyze")) &&
        !str_trim(str_slice(rest, 0, (size_t)(word.p - rest.p))).n)
        rest = after;
    rest = str_trim(rest);
    if (!rest.n || rest.p[0] != '(') return rest;
    size_t close = str_find(rest, STR(")"));
    if (close == SIZE_MAX) return rest;
    Str behind = str_trim(str_slice(rest, close + 1, rest.n));
    return behind.n ? behind : rest;
}

static Status check_kind(duckdb_connection connection, duckdb_prepared_statement statement, Str sql,
                         Err *err) {
    duckdb_statement_type type = duckdb_prepared_statement_type(statement);
    if (duckdb_nparams(statement) > 0)
        return err_set(err, ERR_ARG, "parameters ($name, ?) have no values here: write the values");
    if (type == DUCKDB_STATEMENT_TYPE_SELECT) return OK;
    if (type != DUCKDB_STATEMENT_TYPE_EXPLAIN)
        return err_set(
            err, ERR_ARG,
            "only SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN of a "
            "SELECT may run here");
    // EXPLAIN ANALYZE executes what it explains, COPY included.
    AUTO(arena_done) Arena scratch = {0};
    duckdb_prepared_statement inner = NULL;
    bool select =
        duckdb_prepare(connection, str_to_c(&scratch, explained(sql)), &inner) == DuckDBSuccess &&
        duckdb_prepared_statement_type(inner) == DUCKDB_STATEMENT_TYPE_SELECT;
    duckdb_destroy_prepare(&inner);
    return select ? OK : err_set(err, ERR_ARG, "EXPLAIN works for SELECT statements only");
}

static Status prepare_one(duckdb_connection connection, Str sql,
                          duckdb_prepared_statement *statement, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    duckdb_extracted_statements parts = NULL;
    Status status = OK;
    idx_t count = duckdb_extract_statements(connection, str_to_c(&scratch, sql), &parts);
    if (count == 0) {
        const char *message = duckdb_extract_statements_error(parts);
        status = message && *message ? duck_error(err, message)
                                     : err_set(err, ERR_ARG, "there is no statement");
    } else if (count > 1) {
        status = err_set(err, ERR_ARG,
                         "one statement at a time, please (PIVOT counts as several: use "
                         "CASE or FILTER)");
    } else if (duckdb_prepare_extracted_statement(connection, parts, 0, statement) !=
               DuckDBSuccess) {
        status = duck_error(err, duckdb_prepare_error(*statement));
    }
    duckdb_destroy_extracted(&parts);
    return status == OK ? check_kind(connection, *statement, sql, err) : status;
}

// ---------------------------------------------------------------- the engine

typedef struct Sandbox {
    duckdb_database duck;
    duckdb_connection connection;
    Views views;
    Arena arena;
    Str copy_path; // may be written; empty: nothing may
} Sandbox;

static void sandbox_close(Sandbox *sandbox) {
    duckdb_disconnect(&sandbox->connection);
    duckdb_close(&sandbox->duck);
    views_done(&sandbox->views);
    arena_done(&sandbox->arena);
}

static Status sandbox_lock(const Database *database, Sandbox *sandbox, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    AUTO(buf_done) Buf sql = {0};
    const Manifest *manifest = &database->manifest;
    buf_add_c(&sql, "SET allowed_paths=[");
    for (size_t i = 0; i < manifest->part_count; i++) {
        if (i) buf_add_c(&sql, ", ");
        sql_add_text(&sql, path_join(&scratch, manifest->root, manifest->parts[i].path));
    }
    if (sandbox->copy_path.n) {
        if (manifest->part_count) buf_add_c(&sql, ", ");
        sql_add_text(&sql, sandbox->copy_path);
    }
    buf_add_c(&sql, "]; SET enable_external_access=false; SET lock_configuration=true");
    return duck_run(sandbox->connection, sql.p, err);
}

// The engine's join for two inequalities (libduckdb 1.5.6) leaves columns of unmatched rows in a
// state that crashes an aggregate or DISTINCT above an outer one. Then it joins another way, which
// is slower; inner joins, which are sound, keep theirs.
static Status join_soundly(duckdb_connection connection, Str sql, Err *err) {
    static const char *const OUTER[] = {"left", "right", "full"};
    Str rest = sql, word;
    while (sql_word_next(&rest, &word))
        for (size_t i = 0; i < COUNT_OF(OUTER); i++)
            if (str_eq_nocase(word, str_from_c(OUTER[i])))
                return duck_run(connection, "SET merge_join_threshold=9223372036854775807", err);
    return OK;
}

// Statements about the catalogue must see all of it.
static bool asks_catalogue(Str sql) {
    static const char *const WORDS[] = {"show",          "information_schema", "duckdb_views",
                                        "duckdb_tables", "duckdb_columns",     "sqlite_master",
                                        "pragma",        "pg_catalog",         "pg_class"};
    Str rest = sql, word;
    while (sql_word_next(&rest, &word))
        for (size_t i = 0; i < COUNT_OF(WORDS); i++)
            if (str_eq_nocase(word, str_from_c(WORDS[i]))) return true;
    return false;
}

static Status sandbox_open(const Database *database, Str sql, Sandbox *sandbox, Err *err) {
    const DatabaseOptions *options = &database->options;
    uint64_t memory = os_memory_bytes() / 8;
    if (memory > LIMIT_USER_SQL_MEMORY_BYTES) memory = LIMIT_USER_SQL_MEMORY_BYTES;
    if (options->memory_bytes && memory > options->memory_bytes) memory = options->memory_bytes;
    if (memory < USER_SQL_MEMORY_BYTES_MIN) memory = USER_SQL_MEMORY_BYTES_MIN;
    DuckOptions duck = {.threads = options->threads, .memory_bytes = memory};
    TRY(duck_open(&duck, &sandbox->duck, err));
    TRY(duck_connect(sandbox->duck, &sandbox->connection, err));
    TRY(event_functions_register(sandbox->connection, database->schemas, err));
    TRY(packet_functions_register(sandbox->connection, err));
    TRY(sched_functions_register(sandbox->connection, sandbox->duck, err));
    if (options->extend) TRY(options->extend(sandbox->connection, options->extend_context, err));
    TRY(views_load(&sandbox->views, &database->manifest, options->sql_folder, &sandbox->arena,
                   err));
    TRY(user_bounds_create(sandbox->connection, sql, err));
    TRY(join_soundly(sandbox->connection, sql, err));
    TRY(sandbox_lock(database, sandbox, err));
    if (asks_catalogue(sql)) return views_create_all(&sandbox->views, sandbox->connection, err);
    return OK;
}

// ---------------------------------------------------------------- errors

static void add_tables(Buf *line, const Views *views) {
    buf_add_c(line, "\nTables and views:");
    for (size_t i = 0; i < views->items.count; i++)
        buf_addf(line, " " STR_FMT, STR_ARG(views->items.items[i].name));
}

// The name in the message that does not exist: what stands behind "named" or "name", or in quotes.
static Str missing_name(Str message) {
    static const char *const BEFORE[] = {"with name ", "column \"", "column named \"", "named \""};
    for (size_t i = 0; i < COUNT_OF(BEFORE); i++) {
        Str before = str_from_c(BEFORE[i]), word;
        size_t at = str_find(message, before);
        if (at == SIZE_MAX) continue;
        Str rest = str_slice(message, at + before.n, message.n);
        if (sql_word_next(&rest, &word)) return word;
    }
    return (Str){0};
}

static void add_nearest(Buf *line, const Views *views, Str name) {
    enum { DISTANCE_MAX = 4 };
    size_t best = DISTANCE_MAX;
    Str nearest = {0};
    for (size_t i = 0; i < views->items.count && name.n; i++) {
        size_t distance = str_distance(name, views->items.items[i].name, DISTANCE_MAX);
        if (distance >= best) continue;
        best = distance;
        nearest = views->items.items[i].name;
    }
    if (nearest.n) buf_addf(line, "\nNearest table: " STR_FMT, STR_ARG(nearest));
}

// Columns of every table that the statement names.
static void add_columns(Buf *line, Sandbox *sandbox, Str sql) {
    for (size_t i = 0; i < sandbox->views.items.count; i++) {
        const View *view = &sandbox->views.items.items[i];
        if (view->state != VIEW_CREATED || !sql_names(sql, view->name)) continue;
        AUTO(buf_done) Buf query = {0};
        duckdb_result result = {0};
        buf_add_c(&query, "SELECT string_agg(column_name, ', ') FROM (DESCRIBE ");
        sql_add_name(&query, view->name);
        buf_add_c(&query, ")");
        if (duckdb_query(sandbox->connection, query.p, &result) == DuckDBSuccess) {
            char *columns = duckdb_value_varchar(&result, 0, 0);
            if (columns) buf_addf(line, "\n" STR_FMT ": %s", STR_ARG(view->name), columns);
            duckdb_free(columns);
        }
        duckdb_destroy_result(&result);
    }
}

// Completes the engine's message by what the writer of the statement needs next.
static void error_explain(Sandbox *sandbox, Str sql, Err *err) {
    enum { MESSAGE_BYTES = 600 };
    if (err->status != ERR_ARG) return;
    AUTO(buf_done) Buf line = {0};
    Str message = str_from_c(err->text);
    bool column = str_find(message, STR("Binder Error")) != SIZE_MAX &&
                  str_find_nocase(message, STR("column")) != SIZE_MAX;
    bool table = str_find(message, STR("Table with name")) != SIZE_MAX;
    buf_add(&line, str_slice(message, 0, MESSAGE_BYTES));
    if (table) {
        add_nearest(&line, &sandbox->views, missing_name(message));
        add_tables(&line, &sandbox->views);
    } else if (column) {
        add_columns(&line, sandbox, sql);
    }
    (void)err_set(err, ERR_ARG, "%s", line.p);
}

// ---------------------------------------------------------------- copies

// The statement was parsed on its own before, so its brackets and quotes close within it; the line
// break ends a comment at its end.
static Status copy_run(Sandbox *sandbox, const UserQuery *query, Err *err) {
    static const char *const FORMATS[] = {
        [COPY_CSV] = "FORMAT csv, HEADER true",
        [COPY_JSON] = "FORMAT json, ARRAY true",
        [COPY_PARQUET] = "FORMAT parquet, COMPRESSION zstd",
    };
    AUTO(buf_done) Buf sql = {0};
    duckdb_result result = {0};
    buf_add_c(&sql, "COPY (");
    buf_add(&sql, query->sql);
    buf_add_c(&sql, "\n) TO ");
    sql_add_text(&sql, query->copy->path);
    buf_addf(&sql, " (%s, USE_TMP_FILE false)", FORMATS[query->copy->format]);
    Status status = OK;
    if (duckdb_query(sandbox->connection, sql.p, &result) == DuckDBSuccess)
        *query->rows = (uint64_t)duckdb_value_int64(&result, 0, 0);
    else
        status = duck_error(err, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    return status;
}

// ---------------------------------------------------------------- public

static Status query_run(Sandbox *sandbox, const UserQuery *query, Watch *watch, Arena *arena,
                        ResultSet *out, Err *err) {
    duckdb_prepared_statement statement = NULL;
    RunLimits limits = {
        .max_rows = query->max_rows, .bytes_max = RESULT_BYTES_MAX, .stopped = &watch->stopped};
    Status status = views_need(&sandbox->views, sandbox->connection, query->sql, err);
    if (status == OK) status = prepare_one(sandbox->connection, query->sql, &statement, err);
    if (status == OK && !query->copy)
        status = result_collect(sandbox->connection, statement, &limits, arena, out, err);
    if (status == OK && query->copy &&
        duckdb_prepared_statement_type(statement) != DUCKDB_STATEMENT_TYPE_SELECT)
        status = err_set(err, ERR_ARG, "only a SELECT can be copied to a file");
    duckdb_destroy_prepare(&statement);
    if (status == OK && query->copy) status = copy_run(sandbox, query, err);
    return status;
}

static Status query_watched(Sandbox *sandbox, const UserQuery *query, Arena *arena, ResultSet *out,
                            Err *err) {
    unsigned seconds = query->seconds_max ? query->seconds_max : LIMIT_SQL_SECONDS_DEFAULT;
    if (seconds > LIMIT_SQL_SECONDS) seconds = LIMIT_SQL_SECONDS;
    Watch watch = {.connection = sandbox->connection,
                   .progress = query->progress,
                   .deadline_ns = os_now_ns() + (uint64_t)seconds * 1000000000u};
    TRY(watch_start(&watch, err));
    Status status = query_run(sandbox, query, &watch, arena, out, err);
    watch_end(&watch);
    if (!atomic_load(&watch.stopped)) return status;
    *out = (ResultSet){0};
    if (!watch.timed_out) return err_set(err, ERR_CANCELLED, "the query was cancelled");
    return err_set(err, ERR_LIMIT,
                   "the query took longer than %u s and was stopped: narrow the time range "
                   "(ts_ns), aggregate earlier, or join on fewer rows",
                   seconds);
}

static Status user_run(Database *database, const UserQuery *query, Arena *arena, ResultSet *out,
                       Err *err) {
    Err own = {0};
    Sandbox sandbox = {.copy_path = query->copy ? query->copy->path : (Str){0}};
    Str sql = query->sql;
    *out = (ResultSet){0};
    if (sql.n > LIMIT_USER_SQL_BYTES)
        return err_set(err, ERR_LIMIT, "the statement is longer than %d bytes",
                       LIMIT_USER_SQL_BYTES);
    if (!str_is_utf8(sql) || (sql.n && memchr(sql.p, 0, sql.n)))
        return err_set(err, ERR_ARG, "the statement is not UTF-8 text");
    TRY(check_nesting(sql, err));
    TRY(check_words(sql, err));
    Status status = sandbox_open(database, sql, &sandbox, &own);
    if (status == OK) status = query_watched(&sandbox, query, arena, out, &own);
    if (status == ERR_ARG) error_explain(&sandbox, sql, &own);
    sandbox_close(&sandbox);
    if (status != OK && err) *err = own;
    return status;
}

// NOLINTNEXTLINE(readability-function-size): as session_query
Status database_user_query(Database *database, Str sql, size_t max_rows, unsigned seconds_max,
                           Progress *progress, Arena *arena, ResultSet *out, Err *err) {
    UserQuery query = {
        .sql = sql, .max_rows = max_rows, .seconds_max = seconds_max, .progress = progress};
    return user_run(database, &query, arena, out, err);
}

Status database_user_copy(Database *database, const UserCopy *copy, Progress *progress,
                          uint64_t *rows, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    ResultSet none = {0};
    Str sql = str_trim(copy->sql);
    while (str_ends(sql, STR(";"))) sql = str_trim(str_slice(sql, 0, sql.n - 1));
    *rows = 0;
    UserQuery query = {.sql = sql,
                       .seconds_max = copy->seconds_max,
                       .progress = progress,
                       .copy = copy,
                       .rows = rows};
    return user_run(database, &query, &arena, &none, err);
}
