// Sessions: named arguments, cells of every SQL type, row limits, interrupts, threads, derived
// views.
#include "support/store_fill.h"

#include <string.h>
#include <time.h>

static StoreCase the_case;
static Database *the_database;

static int group_open(void **state) {
    static const TableId TABLES[] = {T_SAMPLE, T_PROCESS, T_THREAD};
    (void)state;
    case_open(&the_case);
    case_write(&the_case, TABLES, COUNT_OF(TABLES), 3000);
    return database_open(the_case.folder, NULL, &the_database, NULL) == OK ? 0 : 1;
}

static int group_close(void **state) {
    (void)state;
    database_close(the_database);
    case_close(&the_case);
    return 0;
}

// A cell as one line, so that cases are tables.
static Str cell_line(const Cell *cell) {
    Arena *arena = &the_case.arena;
    switch (cell->type) {
    case CELL_NULL: return STR("null");
    case CELL_BOOL: return cell->boolean ? STR("bool true") : STR("bool false");
    case CELL_I64: return str_format(arena, "i64 %lld", (long long)cell->i64);
    case CELL_U64: return str_format(arena, "u64 %llu", (unsigned long long)cell->u64);
    case CELL_F64: return str_format(arena, "f64 %g", cell->f64);
    case CELL_TEXT: return str_format(arena, "text " STR_FMT, STR_ARG(cell->text));
    }
    return STR("?");
}

static void cells_of_every_type(void **state) {
    (void)state;
    static const struct {
        const char *sql, *type, *line;
    } CASES[] = {
        {"NULL::BIGINT",                                 "BIGINT",        "null"                              },
        {"NULL",                                         "INTEGER",       "null"                              },
        {"true",                                         "BOOLEAN",       "bool true"                         },
        {"(-8)::TINYINT",                                "TINYINT",       "i64 -8"                            },
        {"(-300)::SMALLINT",                             "SMALLINT",      "i64 -300"                          },
        {"-70000",                                       "INTEGER",       "i64 -70000"                        },
        {"(-9223372036854775808)::BIGINT",               "BIGINT",        "i64 -9223372036854775808"          },
        {"255::UTINYINT",                                "UTINYINT",      "i64 255"                           },
        {"65535::USMALLINT",                             "USMALLINT",     "i64 65535"                         },
        {"4294967295::UINTEGER",                         "UINTEGER",      "i64 4294967295"                    },
        {"18446744073709551615::UBIGINT",                "UBIGINT",       "u64 18446744073709551615"          },
        {"1.5::FLOAT",                                   "FLOAT",         "f64 1.5"                           },
        {"1e300",                                        "DOUBLE",        "f64 1e+300"                        },
        {"12::HUGEINT",                                  "HUGEINT",       "i64 12"                            },
        {"(-12)::HUGEINT",                               "HUGEINT",       "i64 -12"                           },
        {"18446744073709551615::HUGEINT",                "HUGEINT",       "u64 18446744073709551615"          },
        {"(-9223372036854775808)::HUGEINT",              "HUGEINT",       "i64 -9223372036854775808"          },
        {"(-9223372036854775809)::HUGEINT",              "HUGEINT",       "f64 -9.22337e+18"                  },
        {"170141183460469231731687303715884105727",      "HUGEINT",       "f64 1.70141e+38"                   },
        {"7::UHUGEINT",                                  "UHUGEINT",      "i64 7"                             },
        {"1.25",                                         "DECIMAL(3,2)",  "f64 1.25"                          },
        {"(-1.25)::DECIMAL(30,3)",                       "DECIMAL(30,3)", "f64 -1.25"                         },
        {"12345.678::DECIMAL(9,3)",                      "DECIMAL(9,3)",  "f64 12345.7"                       },
        {"1.5::DECIMAL(18,1)",                           "DECIMAL(18,1)", "f64 1.5"                           },
        {"''",                                           "VARCHAR",       "text "                             },
        {"'twelve bytes'",                               "VARCHAR",       "text twelve bytes"                 },
        {"'thirteen bytes'",                             "VARCHAR",       "text thirteen bytes"               },
        {"'\\xAB\\x00c'::BLOB",                          "BLOB",          "text ab0063"                       },
        {"'68fdd900-4a3e-11d1-84f4-0000f80464e3'::UUID", "UUID",
         "text 68fdd900-4a3e-11d1-84f4-0000f80464e3"                                                          },
        {"'f8fdd900-4a3e-11d1-f4f4-0000f80464e3'::UUID", "UUID",
         "text f8fdd900-4a3e-11d1-f4f4-0000f80464e3"                                                          },
        {"DATE '2026-12-01'",                            "DATE",          "text 2026-12-01"                   },
        {"TIME '10:20:30.5'",                            "TIME",          "text 10:20:30.500000"              },
        {"TIMESTAMP '2026-12-01 10:20:30'",              "TIMESTAMP",     "text 2026-12-01 10:20:30"          },
        {"TIMESTAMP '2026-12-01 10:20:30.25'",           "TIMESTAMP",     "text 2026-12-01 10:20:30.250000"   },
        {"make_timestamp_ns(-1)",                        "TIMESTAMP_NS",  "text 1969-12-31 23:59:59.999999999"},
        {"'2026-12-01 10:20:30'::TIMESTAMP_S",           "TIMESTAMP_S",   "text 2026-12-01 10:20:30"          },
        {"'2026-12-01 10:20:30.125'::TIMESTAMP_MS",      "TIMESTAMP_MS",
         "text 2026-12-01 10:20:30.125000"                                                                    },
        {"'infinity'::TIMESTAMP",                        "TIMESTAMP",     "text infinity"                     },
        {"INTERVAL 3 DAY",                               "INTERVAL",      "text 0 months 3 days 0 us"         },
        {"['a', 'b\"c', NULL]",                          "VARCHAR[]",     "text [\"a\",\"b\\\"c\",null]"      },
        {"[1, 2]",                                       "INTEGER[]",     "text [1,2]"                        },
        {"[]::INTEGER[]",                                "INTEGER[]",     "text []"                           },
        {"[[1], [2, 3]]",                                "INTEGER[][]",   "text [[1],[2,3]]"                  },
        {"{'a': 1, 'b': ['x']}",                         "STRUCT",        "text {\"a\":1,\"b\":[\"x\"]}"      },
        {"MAP {'k': 1.5}",                               "MAP",           "text [[\"k\",1.5]]"                },
        {"[1, 2]::INTEGER[2]",                           "INTEGER[n]",    "text [1,2]"                        },
        {"'b'::ENUM('a', 'b')",                          "ENUM",          "text b"                            },
        {"NULL::VARCHAR[]",                              "VARCHAR[]",     "null"                              },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str sql = str_format(&the_case.arena, "SELECT %s AS v", CASES[i].sql);
        ResultSet set = case_query(&the_case, the_database, sql.p, NULL, 0);
        assert_int_equal(set.row_count, 1);
        if (!str_eq(set.types[0], str_from_c(CASES[i].type)))
            fail_msg("%s is of type " STR_FMT, CASES[i].sql, STR_ARG(set.types[0]));
        Str line = cell_line(&set.cells[0]);
        if (!str_eq(line, str_from_c(CASES[i].line)))
            fail_msg("%s is " STR_FMT, CASES[i].sql, STR_ARG(line));
    }
}

static void arguments_are_bound_by_name(void **state) {
    (void)state;
    static const int64_t NUMBERS[] = {3, 5, 7};
    const Str texts[] = {STR("a"), STR("b'c"), STR("")};
    const Arg args[] = {
        {.name = "unused",      .type = ARG_TEXT,     .text = STR("x")},
        {.name = "none",                     .type = ARG_NULL                           },
        {.name = "flag",                     .type = ARG_BOOL, .boolean = true},
        {.name = "top",      .type = ARG_I64,                          .i64 = 4},
        {.name = "share", .type = ARG_F64,.f64 = 0.5},
        {.name = "text",       .type = ARG_TEXT,            .text = STR("it's")},
        {.name = "empty",                     .type = ARG_TEXT                           },
        {.name = "numbers",  .type = ARG_I64_LIST,           .i64_list = NUMBERS, .list_count = 3},
        {.name = "texts",.type = ARG_TEXT_LIST,.text_list = texts, .list_count = 3},
        {.name = "nothing",.type = ARG_I64_LIST},
    };
    static const struct {
        const char *sql, *line;
    } CASES[] = {
        {"SELECT $none",                                                                         "null"         },
        {"SELECT $none IS NULL OR false",                                                        "bool true"    },
        {"SELECT $flag",                                                                         "bool true"    },
        {"SELECT count(*) FROM (SELECT * FROM sample LIMIT $top)",                               "i64 4"        },
        {"SELECT $share * 3",                                                                    "f64 1.5"      },
        {"SELECT $text || $text",                                                                "text it'sit's"},
        {"SELECT $empty",                                                                        "text "        },
        {"SELECT count(*) FROM sample WHERE ts_ns IN (SELECT unnest($numbers))",                 "i64 3"        },
        {"SELECT list_contains($texts, 'b''c')",                                                 "bool true"    },
        {"SELECT len($nothing::BIGINT[])",                                                       "i64 0"        },
        {"SELECT count(*) FROM sample WHERE ($none IS NULL OR ts_ns >= $none) AND ts_ns < $top",
         "i64 4"                                                                                                },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        ResultSet set = case_query(&the_case, the_database, CASES[i].sql, args, COUNT_OF(args));
        Str line = cell_line(&set.cells[0]);
        if (!str_eq(line, str_from_c(CASES[i].line)))
            fail_msg("%s is " STR_FMT, CASES[i].sql, STR_ARG(line));
    }
}

static Status query_fails(const char *sql, const Arg *args, size_t count, Err *err) {
    AUTO(session_close) Session *session = NULL;
    ResultSet set;
    *err = (Err){0};
    assert_int_equal(session_open(the_database, &session, NULL), OK);
    return session_query(session, str_from_c(sql), args, count, 0, &the_case.arena, &set, err);
}

static void failures_are_said(void **state) {
    (void)state;
    Err err;
    const Arg bad = {.name = "text", .type = ARG_TEXT, .text = STR("\xff")};
    assert_int_equal(query_fails("SELECT $missing", NULL, 0, &err), ERR_INTERNAL);
    assert_non_null(strstr(err.text, "$missing"));
    assert_int_equal(query_fails("SELECT * FROM nosuch", NULL, 0, &err), ERR_ARG);
    assert_non_null(strstr(err.text, "nosuch"));
    assert_int_equal(query_fails("SELECT 'x'::INTEGER", NULL, 0, &err), ERR_ARG);
    assert_int_equal(query_fails("SELECT error('later') FROM sample", NULL, 0, &err), ERR_ARG);
    // After the first rows have been handed out.
    assert_int_equal(query_fails("SELECT i, CASE WHEN i = 900000 THEN error('later') END "
                                 "FROM range(1000000) t(i)",
                                 NULL, 0, &err),
                     ERR_ARG);
    assert_non_null(strstr(err.text, "later"));
    // The engine may report the interrupt of its other threads instead of the failure.
    for (int i = 0; i < 40; i++) {
        Status status = query_fails("SELECT i, CASE WHEN i = 90000 THEN error('later') END "
                                    "FROM range(1000000) t(i)",
                                    NULL, 0, &err);
        if (status != ERR_ARG || !strstr(err.text, "later"))
            fail_msg("run %d: %d, %s", i, status, err.text);
    }
    assert_int_equal(query_fails("SELECT $text", &bad, 1, &err), ERR_ARG);
    assert_int_equal(query_fails("", NULL, 0, &err), ERR_ARG);
}

static void rows_stop_at_the_limit(void **state) {
    (void)state;
    static const struct {
        size_t max, rows;
        bool more;
    } CASES[] = {
        {1,    1,    true },
        {2048, 2048, true },
        {2049, 2049, true },
        {2999, 2999, true },
        {3000, 3000, false},
        {3001, 3000, false},
        {0,    3000, false}
    };
    AUTO(session_close) Session *session = NULL;
    assert_int_equal(session_open(the_database, &session, NULL), OK);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        ResultSet set;
        assert_int_equal(session_query(session, STR("SELECT ts_ns FROM sample ORDER BY ts_ns"),
                                       NULL, 0, CASES[i].max, &the_case.arena, &set, NULL),
                         OK);
        assert_int_equal(set.row_count, CASES[i].rows);
        assert_int_equal(set.more, CASES[i].more);
        for (size_t r = 0; r < set.row_count; r++) assert_int_equal(set.cells[r].i64, r);
    }
}

static void interrupt_soon(void *session) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
    session_interrupt(session);
}

static void interrupts_end_queries(void **state) {
    (void)state;
    static const char ENDLESS[] = "SELECT count(*) FROM range(1000000) a, range(1000000) b";
    AUTO(session_close) Session *session = NULL;
    ResultSet set;
    Err err = {0};
    Thread *thread = NULL;
    assert_int_equal(session_open(the_database, &session, NULL), OK);
    assert_int_equal(thread_start(interrupt_soon, session, &thread, NULL), OK);
    assert_int_equal(
        session_query(session, str_from_c(ENDLESS), NULL, 0, 0, &the_case.arena, &set, &err),
        ERR_CANCELLED);
    thread_join(thread);
    // Later statements of the session end as well, also one that had not begun.
    assert_int_equal(
        session_query(session, STR("SELECT 1"), NULL, 0, 0, &the_case.arena, &set, &err),
        ERR_CANCELLED);
    session_close(session);
    session = NULL;
    assert_int_equal(case_number(&the_case, the_database, "SELECT 1"), 1);
}

// Half of the workers name tables that no one named before, so views appear under the others.
static Status worker_run(void *context, unsigned worker, size_t item, Err *err) {
    (void)context;
    (void)worker;
    AUTO(arena_done) Arena arena = {0};
    AUTO(session_close) Session *session = NULL;
    ResultSet set;
    TRY(session_open(the_database, &session, err));
    Str other = str_format(&arena, "SELECT count(*) FROM %s",
                           table_def((TableId)(item % TABLE_COUNT))->name);
    TRY(session_query(session, other, NULL, 0, 0, &arena, &set, err));
    TRY(session_query(session, STR("SELECT count(*) FROM sample"), NULL, 0, 0, &arena, &set, err));
    return set.cells[0].i64 == 3000 ? OK : err_set(err, ERR_INTERNAL, "wrong count");
}

static void sessions_run_side_by_side(void **state) {
    (void)state;
    Database *shared = the_database;
    assert_int_equal(database_open(the_case.folder, NULL, &the_database, NULL), OK);
    Err err = {0};
    if (parallel_for(8, 100, worker_run, NULL, NULL, &err) != OK) fail_msg("%s", err.text);
    database_close(the_database);
    the_database = shared;
}

static Status extend(void *connection, void *context, Err *err) {
    (void)err;
    *(unsigned *)context += connection != NULL;
    return OK;
}

static void views_are_created_when_named(void **state) {
    (void)state;
    static const char FILES[2][400] = {
        "-- A comment; with a semicolon\n"
        "CREATE VIEW busy AS SELECT upid, sum(ticks) AS ns FROM sample GROUP BY upid;\n"
        "/* and; another */ CREATE OR REPLACE MACRO twice(x) AS x * 2;\n"
        "create table heavy as select ';' AS a, count(*) AS n from sample;\n",
        "CREATE VIEW busiest AS SELECT twice(max(ns)) AS ns FROM busy;\n"
        "CREATE VIEW \"later\" AS SELECT n FROM heavy",
    };
    Str folder = case_path(&the_case, "sql/views");
    assert_int_equal(os_make_folders(folder, NULL), OK);
    for (size_t i = 0; i < 2; i++) {
        Str name = str_format(&the_case.arena, "%zu.sql", i);
        assert_int_equal(
            file_write_atomic(path_join(&the_case.arena, folder, name), str_from_c(FILES[i]), NULL),
            OK);
    }
    unsigned extended = 0;
    DatabaseOptions options = {
        .sql_folder = case_path(&the_case, "sql"), .extend = extend, .extend_context = &extended};
    AUTO(database_close) Database *database = NULL;
    Err err = {0};
    if (database_open(the_case.folder, &options, &database, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(extended, 1);
    int64_t twice = case_number(&the_case, database, "SELECT ns::BIGINT FROM busiest");
    int64_t once = case_number(&the_case, database, "SELECT max(ns)::BIGINT FROM \"BUSY\"");
    assert_int_equal(twice, once * 2);
    assert_int_equal(case_number(&the_case, database, "SELECT n FROM later"), 3000);
    ResultSet set;
    Status status =
        database_user_query(database, STR("SELECT n, (SELECT count(*) FROM busy) FROM later"), 10,
                            10, NULL, &the_case.arena, &set, &err);
    if (status != OK) fail_msg("%s", err.text);
    assert_int_equal(set.cells[0].i64, 3000);
    assert_int_equal(extended, 2);
}

static void view_files_hold_views_only(void **state) {
    (void)state;
    static const char *const FILES[] = {"DROP VIEW x", "CREATE", "CREATE SCHEMA x", "SELECT 1",
                                        "CREATE VIEW a AS SELECT 1; COPY a TO 'x'"};
    for (size_t i = 0; i < COUNT_OF(FILES); i++) {
        Str folder = case_path(&the_case, "bad/views");
        assert_int_equal(os_make_folders(folder, NULL), OK);
        assert_int_equal(file_write_atomic(path_join(&the_case.arena, folder, STR("a.sql")),
                                           str_from_c(FILES[i]), NULL),
                         OK);
        DatabaseOptions options = {.sql_folder = case_path(&the_case, "bad")};
        Database *database = NULL;
        assert_int_equal(database_open(the_case.folder, &options, &database, NULL), ERR_INPUT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_every_type),
        cmocka_unit_test(arguments_are_bound_by_name),
        cmocka_unit_test(failures_are_said),
        cmocka_unit_test(rows_stop_at_the_limit),
        cmocka_unit_test(interrupts_end_queries),
        cmocka_unit_test(sessions_run_side_by_side),
        cmocka_unit_test(views_are_created_when_named),
        cmocka_unit_test(view_files_hold_views_only),
    };
    return cmocka_run_group_tests(tests, group_open, group_close);
}
