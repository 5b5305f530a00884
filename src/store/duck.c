// Instances of DuckDB and how its errors become ours.
#include "store/duck.h"

#include "base/os.h"

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

Status duck_run(duckdb_connection connection, const char *sql, Err *err) {
    duckdb_result result;
    duckdb_state state = duckdb_query(connection, sql, &result);
    Status status = state == DuckDBSuccess ? OK : duck_error(err, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
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
    return err_set(err, status_of(text), STR_FMT, STR_ARG(text));
}

void sql_add_text(Buf *sql, Str text) {
    buf_add_quoted(sql, text, '\'');
}

void sql_add_name(Buf *sql, Str name) {
    buf_add_quoted(sql, name, '"');
}
