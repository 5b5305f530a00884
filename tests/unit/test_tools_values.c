// Arguments and formats: what callers may send, what is refused and how, how values are shown.
#include "tools/values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char HEADER[] = "-- tool   t\n"
                             "-- title  T\n"
                             "-- group  cpu\n"
                             "-- about  A.\n"
                             "-- param  word    text     null           W\n"
                             "-- param  number  integer  20 1..500      N\n"
                             "-- param  ratio   number   null 0..       R\n"
                             "-- param  flag    boolean  false          F\n"
                             "-- param  mode    enum     one one|two    M\n"
                             "-- param  cpus    cpuset   null           C\n"
                             "-- param  names   list     null           L\n"
                             "-- param  filter  filter   null           F\n"
                             "-- param  need    text     required       Needed.\n"
                             "-- out X text\n"
                             "SELECT 'x'\n";

typedef struct Fixture {
    Arena arena;
    Tool tool;
    Values values;
    Err err;
} Fixture;

static Status read_values(Fixture *f, const char *json) {
    *f = (Fixture){0};
    assert_int_equal(tool_parse(STR("t.sql"), str_from_c(HEADER), &f->arena, &f->tool, &f->err),
                     OK);
    json_t *arguments = json_loads(json, 0, NULL);
    assert_non_null(arguments);
    Status status = values_read(&f->tool, arguments, &f->arena, &f->values, &f->err);
    json_decref(arguments);
    return status;
}

static void test_accepts(void **state) {
    (void)state;
    static const struct {
        const char *json, *param, *wanted; // text form of the value; "": absent
    } cases[] = {
        {"{}",                                     "number", "20"       },
        {"{\"number\": null}",                     "number", "20"       },
        {"{\"number\": \"7\"}",                    "number", "7"        },
        {"{\"number\": 7.0}",                      "number", "7"        },
        {"{\"number\": \"\"}",                     "number", "20"       },
        {"{\"ratio\": \"0.5\"}",                   "ratio",  "0.5"      },
        {"{\"ratio\": 3}",                         "ratio",  "3"        },
        {"{\"flag\": \"true\"}",                   "flag",   "true"     },
        {"{\"flag\": 0}",                          "flag",   "false"    },
        {"{\"mode\": \"TWO\"}",                    "mode",   "two"      },
        {"{\"word\": \"\"}",                       "word",   ""         },
        {"{\"word\": 5}",                          "word",   "5"        },
        {"{\"names\": \"[\\\"a\\\",\\\"b\\\"]\"}", "names",  "a, b"     },
        {"{\"names\": [\"a\", \"b\"]}",            "names",  "a, b"     },
        {"{\"names\": \"a\"}",                     "names",  "a"        },
        {"{\"names\": []}",                        "names",  ""         },
        {"{\"filter\": \"A.sys | b\"}",            "filter", "A.sys | b"},
        {"{\"filter\": \" | \"}",                  "filter", ""         },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Fixture f;
        char json[256];
        size_t n = strlen(cases[i].json) - 1; // without the closing brace
        (void)snprintf(json, sizeof json, "%.*s%s\"need\": 1, \"trace_id\": \"x\"}", (int)n,
                       cases[i].json, n > 1 ? ", " : "");
        assert_int_equal(read_values(&f, json), OK);
        Str text = values_text(&f.values, cases[i].param);
        assert_string_equal(str_to_c(&f.arena, text), cases[i].wanted);
        arena_done(&f.arena);
    }
}

static void test_refuses(void **state) {
    (void)state;
    static const struct {
        const char *json, *wanted;
    } cases[] = {
        {"{\"number\": 0}",        "number must be from 1 to 500, not 0"},
        {"{\"number\": 501}",      "from 1 to 500"                      },
        {"{\"number\": 1.5}",      "a whole number"                     },
        {"{\"number\": \"x\"}",    "a whole number, not \"x\""          },
        {"{\"number\": [1]}",      "a whole number, not [1]"            },
        {"{\"ratio\": -1}",        "at least 0"                         },
        {"{\"ratio\": \"1e999\"}", "a number"                           },
        {"{\"flag\": \"maybe\"}",  "true or false"                      },
        {"{\"mode\": \"three\"}",  "one of one, two, not \"three\""     },
        {"{\"cpus\": \"3-1\"}",    "\"3-1\""                            },
        {"{\"cpus\": \"0,x\"}",    "\"x\""                              },
        {"{\"cpus\": \"99999\"}",  "\"99999\""                          },
        {"{\"names\": 5}",         "a list of texts"                    },
        {"{\"word\": {}}",         "text, not {}"                       },
        {"{\"wrd\": 1}",           "Did you mean word?"                 },
        {"{\"num\": 1}",           "Did you mean number?"               },
        {"{\"zzzzzz\": 1}",        "t takes trace_id, word, number"     },
        {"{\"need\": null}",       "need is required"                   },
        {"{\"trace_id\": \"\"}",   "trace_id is required"               },
        {"[]",                     "object"                             },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Fixture f;
        char json[256];
        bool bare = strstr(cases[i].json, "need") || strstr(cases[i].json, "trace_id") ||
                    cases[i].json[0] == '[';
        if (strstr(cases[i].json, "\"need\""))
            (void)snprintf(json, sizeof json, "{\"trace_id\": \"x\"}");
        else if (bare)
            (void)snprintf(json, sizeof json, "%s", cases[i].json);
        else
            (void)snprintf(json, sizeof json, "%.*s, \"need\": 1, \"trace_id\": \"x\"}",
                           (int)strlen(cases[i].json) - 1, cases[i].json);
        assert_int_equal(read_values(&f, json), ERR_ARG);
        if (!strstr(f.err.text, cases[i].wanted))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].json, f.err.text, cases[i].wanted);
        arena_done(&f.arena);
    }
}

static void test_cpu_sets(void **state) {
    (void)state;
    Arena arena = {0};
    int64_t *cpus = NULL;
    size_t count = 0;
    assert_int_equal(cpuset_parse(STR(" 4 - 6, 0,5,16"), &arena, &cpus, &count, NULL), OK);
    const int64_t wanted[] = {0, 4, 5, 6, 16};
    assert_int_equal(count, COUNT_OF(wanted));
    for (size_t i = 0; i < count; i++) assert_int_equal(cpus[i], wanted[i]);
    arena_done(&arena);
}

static void test_binds_every_type(void **state) {
    (void)state;
    Fixture f;
    assert_int_equal(read_values(&f, "{\"trace_id\":\"x\",\"need\":\"n\",\"cpus\":\"1-2\","
                                     "\"filter\":\"A|b\",\"flag\":true,\"ratio\":0.25}"),
                     OK);
    Arg args[16];
    assert_int_equal(values_bind(&f.values, &f.arena, args), f.tool.param_count);
    for (size_t i = 0; i < f.tool.param_count; i++) {
        Str name = str_from_c(args[i].name);
        if (str_eq(name, STR("word"))) assert_int_equal(args[i].type, ARG_NULL);
        if (str_eq(name, STR("number"))) assert_int_equal(args[i].i64, 20);
        if (str_eq(name, STR("flag"))) assert_true(args[i].boolean);
        if (str_eq(name, STR("cpus"))) assert_int_equal(args[i].list_count, 2);
        if (str_eq(name, STR("filter"))) {
            assert_int_equal(args[i].list_count, 2);
            assert_true(str_eq(args[i].text_list[0], STR("a"))); // lower case, as the macros want
        }
    }
    arena_done(&f.arena);
}

static void test_formats(void **state) {
    (void)state;
    static const struct {
        const char *format;
        Cell cell;
        const char *shown, *json;
    } cases[] = {
        {"count",     {.type = CELL_I64, .i64 = 1234567},              "1,234,567", "1234567"                 },
        {"count",     {.type = CELL_I64, .i64 = -1234},                "-1,234",    "-1234"                   },
        {"id",        {.type = CELL_U64, .u64 = 123456},               "123456",    "123456"                  },
        {"count",
         {.type = CELL_U64, .u64 = UINT64_MAX},
         "18,446,744,073,709,551,615",                                              "\"18446744073709551615\""},
        {"number",    {.type = CELL_F64, .f64 = 1234.5},               "1,234.50",  "1234.5"                  },
        {"number",    {.type = CELL_F64, .f64 = 1234},                 "1,234",     "1234"                    },
        {"number(0)", {.type = CELL_F64, .f64 = 2.5},                  "3",         "3"                       },
        {"number",    {.type = CELL_F64, .f64 = NAN},                  "",          "null"                    },
        {"number",    {.type = CELL_F64, .f64 = INFINITY},             "",          "null"                    },
        {"pct",       {.type = CELL_F64, .f64 = 12.34},                "12.3%",     "12.3"                    },
        {"pct",       {.type = CELL_F64, .f64 = 1.234},                "1.23%",     "1.23"                    },
        {"pct",       {.type = CELL_F64, .f64 = 0.00123},              "0.0012%",   "0.0012"                  },
        {"pct",       {.type = CELL_F64, .f64 = 0},                    "0%",        "0"                       },
        {"pct",       {.type = CELL_F64, .f64 = 31.25},                "31.3%",     "31.3"                    },
        {"hex",
         {.type = CELL_U64, .u64 = 0xFFFFF80000001000},
         "0xfffff80000001000",                                                      "\"0xfffff80000001000\""  },
        {"us",        {.type = CELL_I64, .i64 = 1234567},              "1,234.57",  "1234.57"                 },
        {"ms",        {.type = CELL_I64, .i64 = 3000000},              "3",         "3"                       },
        {"s",         {.type = CELL_I64, .i64 = 1234567890},           "1.235",     "1.235"                   },
        {"mb",        {.type = CELL_I64, .i64 = 1572864},              "1.50",      "1.5"                     },
        {"kb",        {.type = CELL_I64, .i64 = 2048},                 "2",         "2"                       },
        {"bool",      {.type = CELL_BOOL, .boolean = true},            "yes",       "true"                    },
        {"text",      {.type = CELL_NULL},                             "",          "null"                    },
        {"text",      {.type = CELL_TEXT, .text = {"a\nb\x01", 4}},    "a b\\x01",  "\"a\\nb\\u0001\""        },
        {"text(9)",   {.type = CELL_TEXT, .text = {"0123456789", 10}}, "012...789", "\"0123456789\""          },
        {"text",      {.type = CELL_TEXT, .text = {"\xe9", 1}},        "\xc3\xa9",  "\"\xc3\xa9\""            },
    };
    Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Format format;
        assert_true(format_parse(str_from_c(cases[i].format), &format));
        Str shown = format_cell(format, &cases[i].cell, &arena);
        assert_string_equal(str_to_c(&arena, shown), cases[i].shown);
        json_t *json = format_json(format, &cases[i].cell, &arena);
        char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        assert_string_equal(text, cases[i].json);
        free(text);
        json_decref(json);
    }
    Format format;
    assert_false(format_parse(STR("ms(x)"), &format));
    assert_false(format_parse(STR("lightyears"), &format));
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),  cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_cpu_sets), cmocka_unit_test(test_binds_every_type),
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
