// The catalogue: the header grammar, every built-in tool, the size of tools/list.
#include "tools/catalog.h"
#include "tools/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOOLS_LIST_BYTES = 60 * 1024, NAME_BYTES = 40, DESCRIPTION_BYTES = 600 };

static Str s(const char *text) {
    return str_from_c(text);
}

static const char WHOLE[] = "-- tool     disk_by_process\n"
                            "-- title    Disk by process\n"
                            "-- group    system\n"
                            "-- about    First line.\n"
                            "--          Second line.\n"
                            "-- param    mode  enum  b  a|b|c  Which.\n"
                            "-- param    top   integer  20 1..500  Rows\n"
                            "--          returned.\n"
                            "-- window\n"
                            "-- rows     50\n"
                            "-- needs    disk_io\n"
                            "-- common\n"
                            "x AS (SELECT 1 AS v)\n"
                            "-- section  main table\n"
                            "-- out      \"Two words\" us when mode=a,b  Meaning.\n"
                            "-- out      Bytes bytes\n"
                            "-- empty    Nothing here.\n"
                            "SELECT v, 2 AS b -- a comment\n"
                            "FROM x;\n"
                            "-- section  more lines optional unless mode=c\n"
                            "-- out      Line text\n"
                            "SELECT 'x';\n";

static void test_reads_a_whole_header(void **state) {
    (void)state;
    Arena arena = {0};
    Tool tool = {0};
    Err err = {0};
    assert_int_equal(tool_parse(s("a.sql"), s(WHOLE), &arena, &tool, &err), OK);
    assert_true(str_eq(tool.about, s("First line. Second line.")));
    assert_int_equal(tool.param_count, 6); // trace_id first
    assert_true(str_eq(tool.params[0].name, s("trace_id")));
    assert_int_equal(tool.params[1].choice_count, 3);
    assert_true(tool.params[2].has_min && tool.params[2].min == 1 && tool.params[2].max == 500);
    assert_true(str_eq(tool.params[2].about, s("Rows returned.")));
    assert_true(tool.has_window);
    assert_true(str_eq(tool.common, s("x AS (SELECT 1 AS v)")));
    assert_int_equal(tool.section_count, 2);
    const Section *main = &tool.sections[0];
    assert_int_equal(main->column_count, 2);
    assert_true(str_eq(main->columns[0].title, s("Two words")));
    assert_int_equal(main->columns[0].format.kind, FORMAT_US);
    assert_int_equal(main->columns[0].when.count, 1);
    assert_true(str_eq(main->cap, s("max_rows")));
    assert_true(str_starts(main->sql, s("SELECT v")) && str_ends(main->sql, s("FROM x")));
    assert_true(tool.sections[1].optional && tool.sections[1].when.items[0].negated);
    arena_done(&arena);
}

static void test_names_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"-- tool a\n-- title A\n-- group x\nSELECT 1",                                      "about"    },
        {"-- tool a\n-- colour red\n",                                                       "colour"   },
        {"-- tool a\n-- param p float 1 x\n",                                                "float"    },
        {"-- tool a\n-- param p\n",                                                          "NAME TYPE"},
        {"-- tool a\n-- section main cube\n",                                                "cube"     },
        {"-- tool a\n-- out X furlong\n",                                                    "furlong"  },
        {"-- tool a\n-- title A\n-- group g\n-- about b\n",                                  "no SQL"   },
        {"-- tool a\n-- title A\n-- group g\n-- about b\nSELECT 1",                          "out lines"},
        {"-- tool a\n-- filters colour\n",                                                   "colour"   },
        {"-- tool a\n-- acts badly\n",                                                       "badly"    },
        {"-- tool a\n-- place x\n",                                                          "place"    },
        {"-- tool a\n-- title A\n-- group g\n-- about b\n-- cap n\n-- out X text\nSELECT 1", "cap"      },
        {"-- tool a\n-- out X text when mode\n",                                             "when"     },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Arena arena = {0};
        Tool tool = {0};
        Err err = {0};
        assert_int_equal(tool_parse(s("t.sql"), s(cases[i].text), &arena, &tool, &err), ERR_INPUT);
        assert_non_null(strstr(err.text, cases[i].wanted));
        assert_non_null(strstr(err.text, "t.sql:"));
        arena_done(&arena);
    }
}

static size_t listed_bytes(const ToolInfo *tool) {
    char *schema = json_dumps(tool->input_schema, JSON_COMPACT);
    size_t bytes = strlen(schema) + strlen(tool->name) + strlen(tool->title) +
                   strlen(tool->description) + 125; // keys and annotations
    free(schema);
    return bytes;
}

static void test_every_built_in_tool(void **state) {
    (void)state;
    EngineOptions options = {.quiet = true};
    Engine *engine = NULL;
    Err err = {0};
    assert_int_equal(engine_open(&options, &engine, &err), OK);
    assert_true(engine_tool_count(engine) >= 8);
    assert_string_equal(engine_tool(engine, 0)->name, "list_traces");
    assert_string_equal(engine_tool(engine, 1)->name, "load_trace");
    size_t bytes = 0;
    Arena arena = {0};
    for (size_t i = 0; i < engine_tool_count(engine); i++) {
        const ToolInfo *tool = engine_tool(engine, i);
        bytes += listed_bytes(tool);
        assert_true(strlen(tool->name) <= NAME_BYTES);
        assert_true(strlen(tool->description) <= DESCRIPTION_BYTES);
        assert_ptr_equal(engine_tool_named(engine, s(tool->name)), tool);
        assert_true(json_is_object(tool->input_schema));
        assert_true(engine_tool_help(engine, tool, &arena).n > 40);
        assert_null(tool->output_schema);
    }
    print_message("tools/list: about %zu bytes for %zu tools\n", bytes, engine_tool_count(engine));
    assert_true(bytes <= TOOLS_LIST_BYTES);
    assert_true(strlen(engine_instructions()) <= 2048);
    arena_done(&arena);
    engine_close(engine);
}

static void test_common_tables(void **state) {
    (void)state;
    static const char TEXT[] =
        "-- tool t\n-- title T\n-- group cpu\n-- about A.\n"
        "-- common\n"
        "a AS (SELECT 1 AS x), -- b, in a comment\n"
        "b AS MATERIALIZED (SELECT x FROM a),\n"
        "c AS (SELECT ', (' AS x)\n"
        "-- section main table\n-- out X text\nSELECT x FROM b;\n"
        "-- section two table\n-- out X text\nWITH d AS (SELECT 1) SELECT x FROM c\n";
    Arena arena = {0};
    Tool tool = {0};
    Err err = {0};
    assert_int_equal(tool_parse(s("t.sql"), s(TEXT), &arena, &tool, &err), OK);
    assert_int_equal(tool.table_count, 3);
    assert_true(tool.tables[1].shared && !tool.tables[0].shared);
    const Section *main = &tool.sections[0], *two = &tool.sections[1];
    Str sql = tool_full_sql(&tool, main->uses, 0, main->sql, &arena);
    assert_true(str_starts(sql, s("WITH a AS (SELECT 1 AS x),\nb AS MATERIALIZED")));
    assert_int_equal(str_find(sql, s("c AS")), SIZE_MAX); // not used, not bound
    sql = tool_full_sql(&tool, main->uses, 2, main->sql, &arena);
    assert_true(str_eq(sql, s("SELECT x FROM b"))); // b exists, and a is not wanted any more
    sql = tool_full_sql(&tool, two->uses, 0, two->sql, &arena);
    assert_true(str_eq(sql, s("WITH c AS (SELECT ', (' AS x),\nd AS (SELECT 1) SELECT x FROM c")));
    arena_done(&arena);
}

static void test_conditions(void **state) {
    (void)state;
    Str rest = s("when a=x,y unless b=* then"), bad = s("when a");
    Whens whens = {0}, none = {0};
    assert_true(whens_take(&rest, &whens));
    assert_int_equal(whens.count, 2);
    assert_true(whens.items[1].negated && str_eq(whens.items[1].param, s("b")));
    assert_true(str_eq(rest, s("then")));
    assert_false(whens_take(&bad, &none));
}

static void test_toolsets(void **state) {
    (void)state;
    EngineOptions options = {.quiet = true, .toolsets = STR("trace"), .structured = true};
    Engine *engine = NULL;
    Err err = {0};
    assert_int_equal(engine_open(&options, &engine, &err), OK);
    for (size_t i = 0; i < engine_tool_count(engine); i++) {
        assert_string_equal(engine_tool(engine, i)->group, "trace");
        assert_non_null(engine_tool(engine, i)->output_schema);
    }
    engine_close(engine);
    options.toolsets = STR("trace,colours");
    assert_int_equal(engine_open(&options, &engine, &err), ERR_ARG);
    assert_non_null(strstr(err.text, "colours"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_a_whole_header), cmocka_unit_test(test_names_what_is_wrong),
        cmocka_unit_test(test_every_built_in_tool),  cmocka_unit_test(test_common_tables),
        cmocka_unit_test(test_conditions),           cmocka_unit_test(test_toolsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
