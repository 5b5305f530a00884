// Files that tools write: the report, tables and queries; where they may be; whole or not at all.
#include "base/os.h"
#include "decode/table.h"
#include "support/etl_build_script.h"
#include "tools/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include <cmocka.h>

typedef struct Fixture {
    Arena arena;
    Engine *engine;
    Str folder, trace;
    const char *trace_id;
} Fixture;

static Str s(const char *text) {
    return str_from_c(text);
}

static const char SCRIPT[] =
    "trace cpus=2 build=19041 masks=0x1270F,2 merged=1\n"
    "process start 2ms pid=100 parent=4 session=1 name=work.exe\n"
    "process start 2ms pid=200 parent=4 session=1 name=other--exe\n"
    "thread start 2ms pid=100 tid=101\n"
    "thread start 2ms pid=200 tid=201\n"
    "image load 2ms pid=100 base=0x7ff600000000 size=0x10000 "
    "name=\\Device\\HarddiskVolume3\\work.exe\n"
    "interval start 1ms source=0 interval=10000 name=Timer\n"
    "repeat 40 every 1ms from 10ms { sample 0 cpu=0 tid=101 ip=work.exe+0x1234 }\n"
    "repeat 20 every 1ms from 10ms { sample 0 cpu=1 tid=201 ip=0x12345 }\n";

static int open_engine(Fixture *fixture, bool only_out) {
    Err err = {0};
    Str allowed[] = {fixture->folder};
    EngineOptions options = {.quiet = true};
    if (only_out) {
        options.allowed_folders = allowed;
        options.allowed_folder_count = 1;
    }
    if (engine_open(&options, &fixture->engine, &err) == OK &&
        engine_load(fixture->engine, fixture->trace, false, NULL, &fixture->arena,
                    &fixture->trace_id, &err) == OK)
        return 0;
    print_message("%s\n", err.text);
    return 1;
}

static int set_up(void **state) {
    Fixture *fixture = mem_zero(1, sizeof *fixture);
    Err err = {0};
    Arena *arena = &fixture->arena;
    Str folder =
        path_join(arena, os_cache_folder(arena), str_format(arena, "export-%d", os_process_id()));
    *state = fixture;
    if (os_make_folders(folder, &err) != OK) return 1;
    if (os_real_path(folder, arena, &fixture->folder, &err) != OK) return 1;
    fixture->trace = path_join(arena, fixture->folder, s("t.etl"));
    if (etl_build_script_file(s(SCRIPT), fixture->trace, &err) != OK) return 1;
    return open_engine(fixture, false);
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    engine_close(fixture->engine);
    (void)os_remove_tree(fixture->folder, NULL);
    arena_done(&fixture->arena);
    mem_free(fixture);
    return 0;
}

static Str in_folder(Fixture *fixture, const char *name) {
    return path_join(&fixture->arena, fixture->folder, s(name));
}

static Str call(Fixture *fixture, const char *name, json_t *arguments, bool *is_error) {
    const ToolInfo *tool = engine_tool_named(fixture->engine, s(name));
    assert_non_null(tool);
    ToolReply reply = {0};
    (void)json_object_set_new(arguments, "trace_id", json_string(fixture->trace_id));
    engine_call(fixture->engine, tool, arguments, REPLY_MARKDOWN, NULL, &fixture->arena, &reply);
    json_decref(arguments);
    *is_error = reply.is_error;
    return reply.text;
}

static Str report(Fixture *fixture, Str path, bool *is_error) {
    return call(fixture, "export_analysis", json_pack("{s:s}", "output_path", path.p), is_error);
}

static Str table(Fixture *fixture, const char *what, Str path, bool *is_error) {
    return call(fixture, "export_table",
                json_pack("{s:s,s:s}", "table_or_sql", what, "path", path.p), is_error);
}

static Str contents(Fixture *fixture, Str path) {
    Err err = {0};
    Str text = {0};
    if (file_read_all(path, 16 << 20, &fixture->arena, &text, &err) != OK) fail_msg("%s", err.text);
    return text;
}

static void assert_has(Str text, const char *part) {
    if (str_find(text, s(part)) == SIZE_MAX) fail_msg("no \"%s\" in: %.*s", part, STR_ARG(text));
}

static size_t count_files(Fixture *fixture, Str folder) {
    NameList names = {0};
    Err err = {0};
    if (os_list_folder(folder, &fixture->arena, &names, &err) != OK) fail_msg("%s", err.text);
    return names.count;
}

// ---------------------------------------------------------------- the report

static void test_report_reads_on_its_own(void **state) {
    Fixture *fixture = *state;
    bool is_error = false;
    Str path = in_folder(fixture, "new/deep/report.md");
    Str text = report(fixture, path, &is_error);
    assert_false(is_error);
    assert_has(text, "Older file: none");
    Str file = contents(fixture, path);
    assert_true(str_starts(file, s("<!-- Generator: etw-mcp ")));
    assert_has(file, "<!-- Trace: ");
    assert_has(file, fixture->trace_id);
    assert_has(file, "code addresses have function names");
    assert_has(file, "\n# Trace Analysis\n");
    assert_has(file, "| work.exe | work.exe+0x1234 |");
    assert_has(file, "## Health");
    Str bytes =
        str_format(&fixture->arena, "Bytes written: %zu,%03zu", file.n / 1000, file.n % 1000);
    assert_has(text, bytes.p);
    assert_int_equal(count_files(fixture, path_folder(path)), 1); // no temporary file
    text = report(fixture, path, &is_error);
    assert_has(text, "Older file: replaced (");
}

static void test_report_honours_filters(void **state) {
    Fixture *fixture = *state;
    bool is_error = false;
    Str path = in_folder(fixture, "filtered.md");
    (void)call(fixture, "export_analysis",
               json_pack("{s:s,s:s,s:f,s:f}", "output_path", path.p, "filter_query", "work.exe",
                         "start_time", 0.01, "end_time", 0.02),
               &is_error);
    assert_false(is_error);
    Str file = contents(fixture, path);
    assert_has(file, "filter_query=\"work.exe\"");
    assert_has(file, "| work.exe | work.exe+0x1234 | 10,000 |");
    assert_true(str_find(file, s("0x12345")) == SIZE_MAX);
}

static void test_report_in_other_forms(void **state) {
    Fixture *fixture = *state;
    bool is_error = false;
    Str json = in_folder(fixture, "report.json"), csv = in_folder(fixture, "report.CSV");
    (void)report(fixture, json, &is_error);
    assert_false(is_error);
    Str text = contents(fixture, json);
    json_t *parsed = json_loadb(text.p, text.n, 0, NULL);
    assert_non_null(parsed);
    const json_t *export = json_object_get(parsed, "export");
    assert_non_null(json_string_value(json_object_get(export, "identity")));
    assert_true(json_array_size(json_object_get(parsed, "rows")) >= 2);
    json_decref(parsed);
    (void)report(fixture, csv, &is_error);
    assert_false(is_error);
    text = contents(fixture, csv);
    assert_true(str_starts(text, s("Module,Function,Weight,")));
    assert_has(text, "work.exe,work.exe+0x1234,40000,");
}

// ---------------------------------------------------------------- tables

static size_t count_lines(Str text) {
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++) lines += text.p[i] == '\n';
    return lines;
}

static void test_tables_in_every_form(void **state) {
    Fixture *fixture = *state;
    bool is_error = false;
    Str path = in_folder(fixture, "sample.csv");
    Str text = table(fixture, "sample", path, &is_error);
    assert_false(is_error);
    assert_has(text, "Rows: 60");
    Str file = contents(fixture, path);
    assert_int_equal(count_lines(file), 61);
    assert_true(str_starts(file, s("ts_ns,seq,cpu,")));
    Str again = in_folder(fixture, "again.csv");
    (void)table(fixture, "SAMPLE", again, &is_error);
    assert_true(str_eq(file, contents(fixture, again))); // the same bytes
    path = in_folder(fixture, "sample.parquet");
    (void)table(fixture, "sample", path, &is_error);
    file = contents(fixture, path);
    assert_true(str_starts(file, s("PAR1")) && str_ends(file, s("PAR1")));
    path = in_folder(fixture, "sample.json");
    (void)table(fixture, "SELECT cpu, count(*) AS n FROM sample GROUP BY cpu ORDER BY cpu; ", path,
                &is_error);
    assert_false(is_error);
    file = contents(fixture, path);
    json_t *parsed = json_loadb(file.p, file.n, 0, NULL);
    assert_int_equal(json_array_size(parsed), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(parsed, 0), "n")), 40);
    json_decref(parsed);
}

static void test_every_table_and_view_is_exported(void **state) {
    Fixture *fixture = *state;
    static const char *const VIEWS[] = {"frame_name", "process_name", "thread_name"};
    bool is_error = false;
    for (unsigned i = 0; i < TABLE_COUNT + COUNT_OF(VIEWS); i++) {
        const char *name = i < TABLE_COUNT ? table_def((TableId)i)->name : VIEWS[i - TABLE_COUNT];
        Str path = in_folder(fixture, str_format(&fixture->arena, "all/%s.csv", name).p);
        Str text = table(fixture, name, path, &is_error);
        if (is_error) fail_msg("%s: %.*s", name, STR_ARG(text));
        assert_true(contents(fixture, path).n > 2);
    }
}

static void test_only_one_select_is_copied(void **state) {
    Fixture *fixture = *state;
    static const char *const WRONG[] = {
        "SELECT 1) TO 'x.csv'; --",
        "SELECT 1; SELECT 2",
        "COPY (SELECT 1) TO 'x.csv'",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH 'x.db'",
        "SET threads = 1",
        "DELETE FROM sample",
        "SELECT 1 /*",
        "SELECT 'a",
        "SELECT * FROM nosuch",
        "nosuch",
        "SELECT $1",
        "FROM query('SELECT 1')",
    };
    Str folder = in_folder(fixture, "wrong");
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        bool is_error = false;
        Str text =
            table(fixture, WRONG[i], path_join(&fixture->arena, folder, s("x.csv")), &is_error);
        if (!is_error) fail_msg("%s: %.*s", WRONG[i], STR_ARG(text));
        assert_int_equal(count_files(fixture, folder), 0); // nothing is left behind
    }
}

// ---------------------------------------------------------------- paths

static void test_paths_are_refused(void **state) {
    Fixture *fixture = *state;
    static const struct {
        const char *name, *wanted;
    } CASES[] = {
        {"t.etl",              "is the trace itself"},
        {".",                  "is a folder"        },
        {"sub/",               "is a folder"        },
        {".etw-export-t/x.md", "own database"       },
        {"none/../../x.md",    "do not exist"       },
        {"x.exe",              "must end in one of" },
        {"x",                  "must end in one of" },
        {".md",                "must end in one of" },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        bool is_error = false;
        Str path =
            str_format(&fixture->arena, STR_FMT "/%s", STR_ARG(fixture->folder), CASES[i].name);
        Str text = report(fixture, path, &is_error);
        assert_true(is_error);
        assert_has(text, CASES[i].wanted);
    }
    bool is_error = false;
    assert_has(report(fixture, s(""), &is_error), "output_path is required");
    assert_true(is_error);
}

#ifndef _WIN32 // links need a privilege there
static void test_the_trace_under_another_name(void **state) {
    Fixture *fixture = *state;
    bool is_error = false;
    Str link_path = in_folder(fixture, "link.md");
    assert_int_equal(symlink(fixture->trace.p, link_path.p), 0);
    assert_has(report(fixture, link_path, &is_error), "is the trace itself");
    assert_true(is_error);
    assert_true(contents(fixture, fixture->trace).n > 1000);
}

static void test_allowed_folders(void **state) {
    Fixture *fixture = *state;
    engine_close(fixture->engine);
    Arena *arena = &fixture->arena;
    Str outside = str_format(arena, STR_FMT "-outside", STR_ARG(fixture->folder));
    assert_int_equal(os_make_folders(outside, NULL), OK);
    assert_int_equal(open_engine(fixture, true), 0);
    bool is_error = false;
    Str text = report(fixture, path_join(arena, outside, s("x.md")), &is_error);
    assert_true(is_error);
    assert_has(text, "--allow-dir");
    Str door = in_folder(fixture, "door");
    assert_int_equal(symlink(outside.p, door.p), 0); // a way out through a link
    text = report(fixture, path_join(arena, door, s("x.md")), &is_error);
    assert_true(is_error);
    assert_has(text, "--allow-dir");
    text = table(fixture, "sample", path_join(arena, door, s("deep/x.csv")), &is_error);
    assert_true(is_error);
    assert_int_equal(count_files(fixture, outside), 0);
    (void)report(fixture, in_folder(fixture, "inside/x.md"), &is_error);
    assert_false(is_error);
    (void)os_remove_tree(outside, NULL);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_report_reads_on_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_report_honours_filters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_report_in_other_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tables_in_every_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_table_and_view_is_exported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_only_one_select_is_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths_are_refused, set_up, tear_down),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(test_the_trace_under_another_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allowed_folders, set_up, tear_down),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
