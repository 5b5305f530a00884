// SQL from outside: what may run runs, everything else is refused or stopped in time, and nothing
// outside the database's own files is read or written.
#include "store/fn_like.h"
#include "support/store_fill.h"

#include <string.h>

typedef struct User {
    StoreCase c;
    Database *database;
    unsigned seconds_max; // of a query; the most there is, unless the limit itself is tested
} User;

static void user_open(User *user) {
    static const TableId TABLES[] = {T_SAMPLE, T_PROCESS, T_THREAD};
    case_open(&user->c);
    case_write(&user->c, TABLES, COUNT_OF(TABLES), 1000);
    user->database = NULL;
    user->seconds_max = LIMIT_SQL_SECONDS;
    assert_int_equal(database_open(user->c.folder, NULL, &user->database, NULL), OK);
}

static void user_close(User *user) {
    database_close(user->database);
    case_close(&user->c);
}

static Status user_run(User *user, const char *sql, size_t max_rows, ResultSet *set, Err *err) {
    *err = (Err){0};
    return database_user_query(user->database, str_from_c(sql), max_rows, user->seconds_max, NULL,
                               &user->c.arena, set, err);
}

// Every file of the test's folder with its size, to see that nothing changed.
// NOLINTNEXTLINE(misc-no-recursion)
static void add_files(Buf *out, Str folder, Arena *arena) {
    NameList names;
    assert_int_equal(os_list_folder(folder, arena, &names, NULL), OK);
    for (size_t i = 0; i < names.count; i++) {
        FileInfo info;
        Str path = path_join(arena, folder, names.items[i]);
        assert_int_equal(os_stat(path, &info, NULL), OK);
        buf_addf(out, STR_FMT " %llu\n", STR_ARG(path), (unsigned long long)info.size_bytes);
        if (info.is_folder) add_files(out, path, arena);
    }
}

static void answers(void **state) {
    (void)state;
    static const struct {
        const char *sql;
        size_t rows;
    } CASES[] = {
        {"SELECT 1",                                                                                1   },
        {"SELECT 1;",                                                                               1   },
        {"-- why\nSELECT count(*) FROM sample",                                                     1   },
        {"FROM sample LIMIT 7",                                                                     7   },
        {"VALUES (1), (2)",                                                                         2   },
        {"WITH a AS (SELECT * FROM process) SELECT count(*) FROM a, thread",                        1   },
        {"DESCRIBE sample",                                                                         14  },
        {"SUMMARIZE process",                                                                       0   },
        {"SHOW TABLES",                                                                             0   },
        {"SELECT * FROM information_schema.tables WHERE table_name = 'config'",                     1   },
        {"EXPLAIN SELECT * FROM sample",                                                            0   },
        {"EXPLAIN ANALYZE SELECT * FROM sample",                                                    0   },
        {"explain (SELECT 1)",                                                                      0   },
        {"EXPLAIN (FORMAT json) SELECT 1",                                                          0   },
        {"SELECT query FROM (SELECT 1 AS query)",                                                   1   },
        {"SELECT * FROM range(100000)",                                                             1000},
        {"SELECT * FROM config",                                                                    0   },
        {"SELECT 'it''s; not two -- statements'",                                                   1   },
        {"PRAGMA version",                                                                          1   },
        {"SELECT repeat('ab', 3), [x + 1 FOR x IN range(5)], lpad('7', 3, '0')",                    1   },
        {"SELECT repeat(name, 2), range(2, 4), range(0, 9, 3) FROM process LIMIT 1",                1   },
        {"SELECT printf('%05.1f %s', 1.25, 'x'), format('{:>8} {}', 'a', 2)",                       1   },
        {"SELECT unnest(generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2020-01-03', INTERVAL 1 "
         "DAY))",                                                                          3   },
        {"SELECT levenshtein('kitten', 'sitting'), name.repeat(2), rpad(name, 3, '.') FROM process "
         "LIMIT 1",                                                                        1   },
        {"FROM range(3) AS range",                                                                  3   },
        {"SELECT 1 WHERE NOT (repeat('a', 5000) LIKE repeat('%a', 30) || 'b')",                     1   },
        {"SELECT 1 WHERE repeat('a', 20000) NOT LIKE '%a_%a%_b' AND 'A_b' ILIKE 'a!_B' ESCAPE '!'",
         1                                                                                              },
        {"SELECT 1 WHERE 'abc' GLOB 'a*[b-c]*' AND NULL LIKE 'x' IS NULL",                          1   },
    };
    User user;
    user_open(&user);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        ResultSet set;
        Err err;
        if (user_run(&user, CASES[i].sql, 1000, &set, &err) != OK)
            fail_msg("%s: %s", CASES[i].sql, err.text);
        if (CASES[i].rows && set.row_count != CASES[i].rows)
            fail_msg("%s: %zu rows", CASES[i].sql, set.row_count);
        assert_int_equal(set.more, strstr(CASES[i].sql, "range(100000)") != NULL);
    }
    user_close(&user);
}

// Every text against every pattern of a few characters, as the engine matches them itself.
static void like_is_the_engines(void **state) {
    (void)state;
    static const char *const LETTERS[] = {"", "a", "b", "%", "_", "\xC3\xA4", "!"};
    AUTO(buf_done) Buf sql = {0};
    duckdb_database duck = NULL;
    duckdb_connection connection = NULL;
    duckdb_result result;
    assert_int_equal(duckdb_open(NULL, &duck), DuckDBSuccess);
    assert_int_equal(duckdb_connect(duck, &connection), DuckDBSuccess);
    assert_int_equal(like_functions_register(connection, NULL), OK);
    buf_add_c(&sql, "CREATE TABLE word AS WITH l(c) AS (VALUES (''), ('a')");
    for (size_t i = 2; i < COUNT_OF(LETTERS); i++) buf_addf(&sql, ", ('%s')", LETTERS[i]);
    buf_add_c(&sql, ") SELECT DISTINCT a.c || b.c || c.c || d.c AS w FROM l a, l b, l c, l d");
    assert_int_equal(duckdb_query(connection, sql.p, NULL), DuckDBSuccess);
    assert_int_equal(
        duckdb_query(connection,
                     "SELECT count(*), count(*) FILTER (etw_like(t.w, p.w) <> (t.w LIKE p.w)), "
                     "count(*) FILTER (t.w LIKE p.w), count(*) FILTER (p.w NOT LIKE '%!' AND "
                     "etw_like_escape(t.w, CASE WHEN p.w LIKE '%!' THEN '' ELSE p.w END, '!') <> "
                     "like_escape(t.w, CASE WHEN p.w LIKE '%!' THEN '' ELSE p.w END, '!')) "
                     "FROM word t, word p",
                     &result),
        DuckDBSuccess);
    assert_true(duckdb_value_int64(&result, 0, 0) > 1000000);
    assert_int_equal(duckdb_value_int64(&result, 1, 0), 0);
    assert_true(duckdb_value_int64(&result, 2, 0) > 10000);
    assert_int_equal(duckdb_value_int64(&result, 3, 0), 0);
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    duckdb_close(&duck);
}

// %F is a part file of the database, %D its folder.
static const char *const REFUSED[] = {
    "COPY sample TO '%D/x.csv'",
    "COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false)",
    "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE /* x */ COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false)",
    "/* x */ EXPLAIN /* y */ ANALYZE COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE (COPY (SELECT 1) TO '%F' (FORMAT csv, USE_TMP_FILE false))",
    "COPY (SELECT 1) TO '/tmp/etw-store-escape.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/etw-store-escape.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '%D/other.parquet'",
    "SELECT * FROM read_parquet('%D/other.parquet')",
    "SELECT * FROM read_parquet('%D/../.etw-export-demo/../other.parquet')",
    "SELECT * FROM parquet_metadata('%D/other.parquet')",
    "SELECT * FROM read_text('%D/wpr-mcp-cache-manifest.json')",
    "SELECT * FROM read_text('%D/../demo.etl')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('http://localhost:9/x.parquet')",
    "SELECT * FROM read_duckdb('%D/x.db')",
    "ATTACH '%D/x.db' AS x",
    "ATTACH ':memory:' AS x",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit='100GB'",
    "SET enable_external_access=true",
    "RESET enable_external_access",
    "SET VARIABLE x = 1",
    "PRAGMA memory_limit='100GB'",
    "PRAGMA enable_profiling",
    "CREATE TABLE x (a INTEGER)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE VIEW x AS SELECT 1",
    "CREATE MACRO x() AS 1",
    "CREATE SECRET x (TYPE http)",
    "DROP VIEW sample",
    "INSERT INTO sample SELECT * FROM sample",
    "DELETE FROM sample",
    "UPDATE sample SET cpu = 1",
    "ALTER VIEW sample RENAME TO x",
    "EXPORT DATABASE '%D/x'",
    "IMPORT DATABASE '%D/x'",
    "BEGIN",
    "COMMIT",
    "CHECKPOINT",
    "VACUUM",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "CALL pragma_version()",
    "CALL enable_logging()",
    "USE memory",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '%D/x.csv'",
    "SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='%D/logs')",
    "SELECT * FROM \"enable_logging\" ()",
    "SELECT * FROM system.main.enable_logging /* x */ ()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query\xC2\xA0('SELECT 1')",
    "SELECT * FROM U&\"qu\\0065ry\"('SELECT 1')",
    "SELECT * FROM query_table('sample')",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM etw_chunks(1::UBIGINT)",
    "SELECT repeat('x', 1000000000)",
    "SELECT name.repeat(1000000000) FROM process",
    "SELECT json_structure('[[1]]')",
    "SELECT json_merge_patch('{}', '{}')",
    "SELECT repeat(repeat('x', 10000), 10000)",
    "SELECT REPEAT('x', 1000000000) FROM process",
    "SELECT \"repeat\"('x', 1000000000)",
    "SELECT system.main.repeat('x', 1000000000)",
    "SELECT system.main./* x */ repeat('x', 1000000000)",
    "SELECT system /* x */ . main.repeat('x', 1000000000)",
    "SELECT main.lpad('x', 2000000000, 'y')",
    "SELECT pg_catalog.\"lpad\"('x', 2000000000, 'y')",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT rpad('x', 2147483647, 'y')",
    "SELECT bitstring('1', 2000000000)",
    "SELECT [x FOR x IN range(1000000000)]",
    "SELECT range(0, 1000000000)",
    "SELECT generate_series(0, -1000000000, -1)",
    "SELECT printf('%1000000000d', 1)",
    "SELECT printf('%' || repeat('9', 9) || 'd', 1)",
    "SELECT printf('%*d', 1000000000, 1)",
    "SELECT format('{:1000000000d}', 1)",
    "SELECT format('{:{}}', 1, 1000000000)",
    "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))",
    "SELECT damerau_levenshtein(repeat('a', 200000), repeat('b', 200000))",
    "SELECT repeat('a', 500) GLOB repeat('*a', 30) || 'b'",
    "SELECT system.main.\"~~\"('a', 'b')",
    "SELECT system.main.\"!~~*\"('a', 'b')",
    "SELECT 'a' OPERATOR(system.main.~~) 'b'",
    "SELECT system.main.like_escape('a', 'b', 'c')",
    "SELECT 'a' LIKE 'a!' ESCAPE '!'",
    "SELECT repeat('a', 4000000) LIKE '%' || repeat('a', 2000000) || 'b'",
    "SELECT $x",
    "SELECT ?",
    "",
    "   ",
    "-- nothing",
    "SELEC 1",
    "SELECT * FROM",
    "SELECT '\xff'",
};

static Str with_paths(User *user, const char *sql, Str part) {
    AUTO(buf_done) Buf out = {0};
    for (const char *p = sql; *p; p++) {
        bool file = p[0] == '%' && p[1] == 'F', folder = p[0] == '%' && p[1] == 'D';
        if (file || folder) {
            buf_add(&out, file ? part : user->c.folder);
            p++;
        } else {
            buf_add_char(&out, *p);
        }
    }
    return str_copy(&user->c.arena, buf_str(&out));
}

static void refuses(void **state) {
    (void)state;
    User user;
    user_open(&user);
    AUTO(buf_done) Buf before = {0};
    AUTO(buf_done) Buf after = {0};
    AUTO(arena_done) Arena arena = {0};
    const json_t *datasets = json_object_get(database_manifest(user.database), "datasets");
    const json_t *files = json_object_get(json_array_get(datasets, T_SAMPLE), "files");
    const char *name = json_string_value(json_object_get(json_array_get(files, 0), "path"));
    Str part = path_join(&arena, user.c.folder, str_from_c(name));
    Str bytes;
    assert_int_equal(file_read_all(part, 1 << 24, &arena, &bytes, NULL), OK);
    assert_int_equal(
        file_write_atomic(path_join(&arena, user.c.folder, STR("other.parquet")), bytes, NULL), OK);
    add_files(&before, user.c.base, &arena);
    for (size_t i = 0; i < COUNT_OF(REFUSED); i++) {
        ResultSet set;
        Err err;
        Str sql = with_paths(&user, REFUSED[i], part);
        Status status = user_run(&user, sql.p, 1000, &set, &err);
        if (status == OK) fail_msg("accepted: %s", sql.p);
        assert_true(err.text[0] != 0);
        assert_int_equal(set.row_count, 0);
    }
    add_files(&after, user.c.base, &arena);
    assert_string_equal(before.p, after.p);
    FileInfo info;
    assert_int_equal(os_stat(STR("/tmp/etw-store-escape.csv"), &info, NULL), OK);
    assert_false(info.exists);
    ResultSet set;
    Err err;
    assert_int_equal(user_run(&user, "SELECT count(*) FROM sample", 1, &set, &err), OK);
    assert_int_equal(set.cells[0].i64, 1000);
    user_close(&user);
}

// Queries without end stop at the limit of 1 s; those beyond memory fail.
static void stops(void **state) {
    (void)state;
    static const struct {
        const char *sql;
        Status status;
    } CASES[] = {
        {"WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT sum(i) FROM r",
         ERR_LIMIT                                                                                           },
        {"SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c",               ERR_LIMIT},
        {"SELECT max(x.ts_ns + y.ts_ns * z.ts_ns % 7) FROM sample x, sample y, sample z, sample w",
         ERR_LIMIT                                                                                           },
        {"SELECT list(i) FROM range(1000000000000) t(i)",                                           ERR_LIMIT},
        {"SELECT count(*) FROM (SELECT DISTINCT a.range * 1000003 + b.range FROM range(100000) a, "
         "range(100000) b)",                                                               ERR_LIMIT},
    };
    User user;
    user_open(&user);
    user.seconds_max = 1;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        ResultSet set;
        Err err;
        uint64_t start = os_now_ns();
        Status status = user_run(&user, CASES[i].sql, 10, &set, &err);
        double seconds = (double)(os_now_ns() - start) / 1e9;
        print_message("%.1f s: %s\n", seconds, err.text);
        assert_int_equal(status, CASES[i].status);
        assert_true(seconds < 20); // generous: machines are busy
    }
    user_close(&user);
}

// Nesting that would overrun the stack is refused or answered, never fatal.
static void survives_depth(void **state) {
    (void)state;
    static const struct {
        const char *prefix, *open, *middle, *close;
    } CASES[] = {
        {"SELECT ",             "(",                            "1",          ")"         },
        {"",                    "(",                            "SELECT 1",   ")"         },
        {"SELECT ",             "NOT ",                         "true",       ""          },
        {"SELECT ",             "- ",                           "1",          ""          },
        {"SELECT ",             "[",                            "1",          "]"         },
        {"SELECT ",             "1 + ",                         "1",          ""          },
        {"",                    "SELECT 1 UNION ALL ",          "SELECT 1",   ""          },
        {"",                    "VALUES (1) EXCEPT ",           "VALUES (1)", ""          },
        {"",                    "SELECT * FROM (",              "SELECT 1",   ")"         },
        {"SELECT ",             "CASE WHEN true THEN ",         "1",          " END"      },
        {"",                    "WITH a AS (",                  "SELECT 1",   ") SELECT 1"},
        {"FROM range(1)",       " JOIN range(1) USING (range)", "",           ""          },
        {"FROM range(1)",       ", range(1)",                   "",           ""          },
        {"",                    "EXPLAIN ",                     "SELECT 1",   ""          },
        {"SELECT ",             "a.",                           "a",          ""          },
        {"SELECT ",             "x -> ",                        "x",          ""          },
        {"SELECT 1",            "::INT",                        "",           ""          },
        {"SELECT 1",            "[1]",                          "",           ""          },
        {"SELECT 1 WHERE true", " AND 1 IN (SELECT 1)",         "",           ""          },
        {"SELECT 1",            "/*",                           "",           ""          },
    };
    User user;
    user_open(&user);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf sql = {0};
        size_t unit = strlen(CASES[i].open) + strlen(CASES[i].close);
        size_t count = (LIMIT_USER_SQL_BYTES - 100) / unit;
        buf_add_c(&sql, CASES[i].prefix);
        for (size_t n = 0; n < count; n++) buf_add_c(&sql, CASES[i].open);
        buf_add_c(&sql, CASES[i].middle);
        for (size_t n = 0; n < count; n++) buf_add_c(&sql, CASES[i].close);
        ResultSet set;
        Err err;
        uint64_t start = os_now_ns();
        if (user_run(&user, sql.p, 10, &set, &err) != OK) assert_true(err.text[0] != 0);
        assert_true((double)(os_now_ns() - start) / 1e9 < 20);
    }
    user_close(&user);
}

static void cancels(void **state) {
    (void)state;
    User user;
    user_open(&user);
    Progress progress = {0};
    atomic_store(&progress.cancelled, true);
    ResultSet set;
    Err err = {0};
    Status status = database_user_query(
        user.database, STR("SELECT count(*) FROM range(1000000) a, range(1000000) b"), 1, 60,
        &progress, &user.c.arena, &set, &err);
    assert_int_equal(status, ERR_CANCELLED);
    user_close(&user);
}

static void explains_errors(void **state) {
    (void)state;
    static const struct {
        const char *sql, *wanted[3];
    } CASES[] = {
        {"SELECT * FROM sampel",            {"Nearest table: sample", "Tables and views:", "thread"}},
        {"SELECT * FROM processes",         {"process", "Tables and views:", "thread"}              },
        {"SELECT wieght_ns FROM sample",    {"weight_ns", "sample: ts_ns, seq", "stack_id"}         },
        {"SELECT s.nothing FROM sample s",  {"nothing", "sample: ts_ns, seq", "stack_id"}           },
        {"SELECT FROM WHERE",               {"Parser Error", "", ""}                                },
        {"SELECT nosuch(1)",                {"nosuch", "", ""}                                      },
        {"SELECT 'a' LIKE 'a!' ESCAPE '!'", {"must not end with its ESCAPE", "", ""}                },
    };
    User user;
    user_open(&user);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        ResultSet set;
        Err err;
        assert_int_equal(user_run(&user, CASES[i].sql, 10, &set, &err), ERR_ARG);
        assert_null(strstr(err.text, "pending query result"));
        for (size_t w = 0; w < 3; w++)
            if (!strstr(err.text, CASES[i].wanted[w]))
                fail_msg("%s lacks %s:\n%s", CASES[i].sql, CASES[i].wanted[w], err.text);
    }
    user_close(&user);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(refuses),
        cmocka_unit_test(like_is_the_engines),
        cmocka_unit_test(stops),
        cmocka_unit_test(survives_depth),
        cmocka_unit_test(cancels),
        cmocka_unit_test(explains_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
