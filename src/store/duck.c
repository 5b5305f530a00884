// Instances of DuckDB and how its errors become ours.
#include "store/duck.h"

#include "base/os.h"
#include "base/thread.h"

enum { MEMORY_BYTES_MIN = 256 * 1024 * 1024 };

static uint64_t memory_default(void) {
    uint64_t quarter = os_memory_bytes() / 4;
    return quarter > MEMORY_BYTES_MIN ? quarter : MEMORY_BYTES_MIN;
}

static bool config_fill(duckdb_config config, const DuckOptions *options) {
    uint64_t memory = options->memory_bytes ? options->memory_bytes : memory_default();
    unsigned threads = options->threads ? options->threads : os_cpu_count();
    AUTO(arena_done) Arena arena = {0};
    const char *settings[][2] = {
        {"threads",              str_format(&arena, "%u", threads).p},
        {"memory_limit",            str_format(&arena,                             "%lluMiB", (unsigned long long)(memory >> 20)).p},
        {"temp_directory",str_to_c(&arena,options->temp_folder)},
        {"autoload_known_extensions",                      "false"                       },
        {"autoinstall_known_extensions", "false"                                            },
        {"allow_community_extensions","false"},
    };
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (duckdb_set_config(config, settings[i][0], settings[i][1]) != DuckDBSuccess)
            return false;
    return true;
}

Status duck_open(const DuckOptions *options, duckdb_database *out, Err *err) {
    duckdb_config config = NULL;
    if (duckdb_create_config(&config) != DuckDBSuccess || !config_fill(config, options)) {
        duckdb_destroy_config(&config);
        return err_set(err, ERR_INTERNAL, "the SQL engine refuses its configuration");
    }
    char *message = NULL;
    duckdb_state state = duckdb_open_ext(":memory:", out, config, &message);
    duckdb_destroy_config(&config);
    Status status = state == DuckDBSuccess ? OK : duck_error(err, message);
    duckdb_free(message);
    return status;
}

Status duck_connect(duckdb_database database, duckdb_connection *out, Err *err) {
    if (duckdb_connect(database, out) == DuckDBSuccess) return OK;
    return err_set(err, ERR_INTERNAL, "the SQL engine refuses a connection");
}

duckdb_state duck_finish(duckdb_pending_result pending, duckdb_result *out) {
    enum { REST_NS = 20000, REST_NS_MAX = 200000 };
    uint64_t rest_ns = REST_NS;
    duckdb_pending_state state = duckdb_pending_execute_task(pending);
    while (!duckdb_pending_execution_is_finished(state) && state != DUCKDB_PENDING_ERROR) {
        if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE) {
            thread_rest(rest_ns);
            if (rest_ns < REST_NS_MAX) rest_ns *= 2;
        } else {
            rest_ns = REST_NS;
        }
        state = duckdb_pending_execute_task(pending);
    }
    return duckdb_execute_pending(pending, out);
}

static Status run_one(duckdb_connection connection, duckdb_extracted_statements statements,
                      idx_t index, Err *err) {
    duckdb_prepared_statement statement = NULL;
    duckdb_pending_result pending = NULL;
    duckdb_result result = {0};
    Status status = OK;
    if (duckdb_prepare_extracted_statement(connection, statements, index, &statement) !=
        DuckDBSuccess)
        status = duck_error(err, duckdb_prepare_error(statement));
    else if (duckdb_pending_prepared(statement, &pending) != DuckDBSuccess)
        status = duck_error(err, pending ? duckdb_pending_error(pending) : NULL);
    else if (duck_finish(pending, &result) != DuckDBSuccess)
        status = duck_error(err, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    duckdb_destroy_pending(&pending);
    duckdb_destroy_prepare(&statement);
    return status;
}

Status duck_run(duckdb_connection connection, const char *sql, Err *err) {
    duckdb_extracted_statements statements = NULL;
    idx_t count = duckdb_extract_statements(connection, sql, &statements);
    Status status = OK;
    if (!count) status = duck_error(err, duckdb_extract_statements_error(statements));
    for (idx_t i = 0; i < count && status == OK; i++)
        status = run_one(connection, statements, i, err);
    duckdb_destroy_extracted(&statements);
    return status;
}

static Status status_of(Str message) {
    static const struct {
        const char *prefix;
        Status status;
    } KINDS[] = {
        {"IO Error",            ERR_IO       },
        {"INTERRUPT Error",     ERR_CANCELLED},
        {"Out of Memory Error", ERR_LIMIT    },
        {"INTERNAL Error",      ERR_INTERNAL },
        {"FATAL Error",         ERR_INTERNAL },
    };
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (str_starts(message, str_from_c(KINDS[i].prefix))) return KINDS[i].status;
    return ERR_ARG;
}

Status duck_error(Err *err, const char *message) {
    Str text = str_trim(str_from_c(message ? message : "the SQL engine gave no reason"));
    // A statement that failed while it was waited for hides its own message behind this one.
    Str wrapper = STR("closed pending query result\nError: ");
    size_t at = str_find(text, wrapper);
    if (at != SIZE_MAX) text = str_slice(text, at + wrapper.n, text.n);
    return err_set(err, status_of(text), STR_FMT, STR_ARG(text));
}

void sql_add_text(Buf *sql, Str text) {
    buf_add_quoted(sql, text, '\'');
}

void sql_add_name(Buf *sql, Str name) {
    buf_add_quoted(sql, name, '"');
}
