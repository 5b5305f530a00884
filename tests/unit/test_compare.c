// compare_traces: a trace with itself, halves of a steady trace, a planted rise, renamed and moved
// functions, wrong arguments; and the statistics behind it.
#include "support/etl_build_script.h"
#include "tools/engine.h"
#include "tools/handle_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
    Arena arena;
    Engine *engine;
    Str folder;
    unsigned traces;
} Fixture;

static Str s(const char *text) {
    return str_from_c(text);
}

static int set_up(void **state) {
    Fixture *fixture = mem_zero(1, sizeof *fixture);
    EngineOptions options = {.quiet = true};
    Err err = {0};
    if (engine_open(&options, &fixture->engine, &err) != OK) {
        print_message("%s\n", err.text);
        return 1;
    }
    fixture->folder = path_join(&fixture->arena, os_cache_folder(&fixture->arena),
                                str_format(&fixture->arena, "compare-%d", os_process_id()));
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    engine_close(fixture->engine);
    (void)os_remove_tree(fixture->folder, NULL);
    arena_done(&fixture->arena);
    mem_free(fixture);
    return 0;
}

static Str make_trace(Fixture *fixture, const char *script) {
    Err err = {0};
    Str folder = path_join(&fixture->arena, fixture->folder,
                           str_format(&fixture->arena, "%u", ++fixture->traces));
    Str path = path_join(&fixture->arena, folder, s("t.etl"));
    assert_int_equal(os_make_folders(folder, &err), OK);
    if (etl_build_script_file(s(script), path, &err) != OK) fail_msg("%s", err.text);
    return path;
}

static json_t *reply_json(Fixture *fixture, json_t *arguments, bool *is_error, Str *text) {
    const ToolInfo *tool = engine_tool_named(fixture->engine, s("compare_traces"));
    assert_non_null(tool);
    ToolReply reply = {0};
    engine_call(fixture->engine, tool, arguments, REPLY_JSON, NULL, &fixture->arena, &reply);
    json_decref(arguments);
    *is_error = reply.is_error;
    *text = reply.text;
    if (reply.is_error) return NULL;
    json_t *json = json_loadb(reply.text.p, reply.text.n, 0, NULL);
    assert_non_null(json);
    return json;
}

static json_t *compare(Fixture *fixture, json_t *arguments) {
    bool is_error = false;
    Str text = {0};
    json_t *json = reply_json(fixture, arguments, &is_error, &text);
    if (is_error) fail_msg("%.*s", STR_ARG(text));
    return json;
}

static json_t *pair(Str baseline, Str test, const char *mode) {
    return json_pack("{s:s,s:s,s:s,s:s}", "baseline_etl", baseline.p, "test_etl", test.p, "mode",
                     mode, "modules", "all");
}

static size_t row_count(const json_t *json) {
    return json_array_size(json_object_get(json, "rows"));
}

static const json_t *cell(const json_t *json, size_t row, const char *column) {
    const json_t *columns = json_object_get(json, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (strcmp(json_string_value(json_array_get(columns, i)), column) == 0)
            return json_array_get(json_array_get(json_object_get(json, "rows"), row), i);
    fail_msg("no column %s", column);
    return NULL;
}

static const char *text_of(const json_t *json, size_t row, const char *column) {
    const char *text = json_string_value(cell(json, row, column));
    return text ? text : "";
}

static double number_of(const json_t *json, size_t row, const char *column) {
    return json_number_value(cell(json, row, column));
}

static const char *scope_of(const json_t *json, const char *name) {
    const char *text = json_string_value(json_object_get(json_object_get(json, "scope"), name));
    return text ? text : "";
}

static bool has_note(const json_t *json, const char *part) {
    const json_t *notes = json_object_get(json, "notes");
    for (size_t i = 0; i < json_array_size(notes); i++)
        if (strstr(json_string_value(json_array_get(notes, i)), part)) return true;
    return false;
}

// ---------------------------------------------------------------- traces

#define HEAD                                                                                       \
    "trace cpus=4 build=19041 masks=0x1270F,2 merged=1 seed=%d\n"                                  \
    "process rundown 1ms pid=0 name=Idle\n"                                                        \
    "process start 2ms pid=100 parent=4 session=1 name=work.exe\n"                                 \
    "thread start 2ms pid=100 tid=101\n"                                                           \
    "image load 2ms pid=100 base=0x7ff600000000 size=0x10000 name=\\Device\\HarddiskVolume3\\"     \
    "work.exe\n"                                                                                   \
    "interval start 1ms source=0 interval=10000 name=Timer\n"

// Eight functions share the samples at random; `more` further samples fall on the third.
static Str steady_trace(Fixture *fixture, int seed, int more) {
    Str script =
        str_format(&fixture->arena,
                   HEAD "repeat 60000 every 50us from 10ms {\n"
                        "  sample 0 cpu=${i%%4} tid=101 ip=work.exe+${0x1000+rand(8)*0x100}\n"
                        "}\n"
                        "repeat %d every %dus from 10ms { sample 7us cpu=${i%%4} tid=101 "
                        "ip=work.exe+0x1200 }\n",
                   seed, more ? more : 1, more ? 3000000 / more : 1);
    return make_trace(fixture, script.p);
}

static const char *const SAMPLE_MODES[] = {"hot_functions", "modules", "processes", "per_cpu",
                                           "events"};

static void assert_no_change(const json_t *json, const char *mode) {
    if (!strstr(scope_of(json, "Changed beyond noise"), "none"))
        fail_msg("%s: %s", mode, scope_of(json, "Changed beyond noise"));
    for (size_t i = 0; i < row_count(json); i++)
        assert_string_equal(text_of(json, i, "Change"), "none");
}

static void test_a_trace_equals_itself(void **state) {
    Fixture *fixture = *state;
    Str path = steady_trace(fixture, 1, 0);
    for (size_t i = 0; i < COUNT_OF(SAMPLE_MODES); i++) {
        json_t *json = compare(fixture, pair(path, path, SAMPLE_MODES[i]));
        assert_true(row_count(json) > 0);
        assert_no_change(json, SAMPLE_MODES[i]);
        for (size_t row = 0; row < row_count(json); row++) {
            assert_true(fabs(number_of(json, row, "Delta")) < 1e-9);
            assert_true(fabs(number_of(json, row, "z")) < 1e-9);
            assert_string_equal(text_of(json, row, "Significance"), "ns");
            assert_true(fabs(number_of(json, row, "Ratio") - 1) < 1e-9);
        }
        json_decref(json);
    }
}

static void test_halves_of_a_steady_trace(void **state) {
    Fixture *fixture = *state;
    for (int seed = 2; seed < 4; seed++) {
        Str path = steady_trace(fixture, seed, 0);
        for (size_t i = 0; i < 4; i++) {
            json_t *arguments = pair(path, path, SAMPLE_MODES[i]);
            (void)json_object_set_new(arguments, "baseline_end", json_real(1.5));
            (void)json_object_set_new(arguments, "test_start", json_real(1.5));
            json_t *json = compare(fixture, arguments);
            assert_no_change(json, SAMPLE_MODES[i]);
            json_decref(json);
        }
    }
}

static void test_two_steady_traces(void **state) {
    Fixture *fixture = *state;
    Str a = steady_trace(fixture, 11, 0), b = steady_trace(fixture, 12, 0);
    json_t *json = compare(fixture, pair(a, b, "hot_functions"));
    assert_int_equal(row_count(json), 8);
    assert_no_change(json, "hot_functions");
    json_decref(json);
}

// 60,000 samples, 7,500 a function: 375 more are 5 %, near what chance gives; 4 traces' worth is
// not needed, since the verdict may be "none", but the row must be first. 1,125 (15 %) are a
// change.
static void test_a_planted_rise_is_first(void **state) {
    Fixture *fixture = *state;
    Str before = steady_trace(fixture, 21, 0), after = steady_trace(fixture, 21, 375);
    json_t *json = compare(fixture, pair(before, after, "hot_functions"));
    assert_string_equal(text_of(json, 0, "Function"), "work.exe+0x1200");
    double ratio = number_of(json, 0, "Ratio");
    assert_true(ratio > 1.045 && ratio < 1.055);
    assert_true(number_of(json, 0, "Delta") > 0);
    assert_string_equal(text_of(json, 0, "Significance"), "**");
    json_decref(json);
    after = steady_trace(fixture, 22, 1125);
    json = compare(fixture, pair(before, after, "hot_functions"));
    assert_string_equal(text_of(json, 0, "Function"), "work.exe+0x1200");
    assert_string_equal(text_of(json, 0, "Significance"), "**");
    assert_string_equal(text_of(json, 0, "Change"), "more");
    for (size_t i = 1; i < row_count(json); i++)
        assert_string_equal(text_of(json, i, "Change"), "none");
    assert_non_null(strstr(scope_of(json, "Changed beyond noise"), "1 of 8 rows: work.exe+0x1200"));
    json_decref(json);
}

// Five per cent of a function that has many samples are beyond noise.
static void test_five_percent_of_many_samples(void **state) {
    Fixture *fixture = *state;
    static const char SCRIPT[] =
        HEAD "repeat 160000 every 20us from 10ms {\n"
             "  sample 0 cpu=${i%%4} tid=101 ip=work.exe+${0x1000+rand(4)*0x100}\n"
             "}\n"
             "repeat %d every 1600us from 10ms { sample 7us cpu=1 tid=101 ip=work.exe+0x1100 }\n";
    Str a = make_trace(fixture, str_format(&fixture->arena, SCRIPT, 31, 1).p);
    Str b = make_trace(fixture, str_format(&fixture->arena, SCRIPT, 31, 2000).p);
    json_t *json = compare(fixture, pair(a, b, "hot_functions"));
    assert_string_equal(text_of(json, 0, "Function"), "work.exe+0x1100");
    assert_string_equal(text_of(json, 0, "Change"), "more");
    assert_string_equal(text_of(json, 0, "Significance"), "**");
    assert_true(fabs(number_of(json, 0, "Ratio") - 1.05) < 0.005);
    for (size_t i = 1; i < row_count(json); i++)
        assert_string_equal(text_of(json, i, "Change"), "none");
    json_decref(json);
}

// A total that doubles shows although no share changes.
static void test_a_doubled_total_shows(void **state) {
    Fixture *fixture = *state;
    static const char SCRIPT[] = HEAD "repeat %d every %dus from 10ms {\n"
                                      "  sample 0 cpu=${i%%4} tid=101 ip=work.exe+"
                                      "${0x1000+i%%2*0x100}\n}\n";
    Str a = make_trace(fixture, str_format(&fixture->arena, SCRIPT, 1, 4000, 500).p);
    Str b = make_trace(fixture, str_format(&fixture->arena, SCRIPT, 1, 8000, 250).p);
    json_t *json = compare(fixture, pair(a, b, "hot_functions"));
    assert_int_equal(row_count(json), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(fabs(number_of(json, i, "Delta")) < 0.01);
        assert_true(fabs(number_of(json, i, "Ratio") - 2) < 0.01);
        assert_string_equal(text_of(json, i, "Change"), "more");
    }
    assert_non_null(strstr(scope_of(json, "Total"), "ratio 2.00"));
    json_decref(json);
}

// ---------------------------------------------------------------- differences of the machines

static void test_differences_are_stated(void **state) {
    Fixture *fixture = *state;
    Str a = steady_trace(fixture, 1, 0);
    Str b = make_trace(fixture, "trace cpus=8 build=22621 masks=0x1270F,2 merged=1\n"
                                "process start 2ms pid=100 parent=4 session=1 name=work.exe\n"
                                "thread start 2ms pid=100 tid=101\n"
                                "image load 2ms pid=100 base=0x7ff600000000 size=0x20000 "
                                "name=\\Device\\HarddiskVolume3\\work.exe\n"
                                "interval start 1ms source=0 interval=1221 name=Timer\n"
                                "repeat 4000 every 500us from 10ms { sample 0 cpu=${i%8} tid=101 "
                                "ip=work.exe+0x1000 }\n");
    json_t *json = compare(fixture, pair(a, b, "hot_functions"));
    assert_non_null(strstr(scope_of(json, "Logical processors"), "baseline 4, test 8 (differs)"));
    assert_non_null(strstr(scope_of(json, "OS build"), "differs"));
    assert_non_null(strstr(scope_of(json, "Duration"), "differs"));
    assert_non_null(strstr(scope_of(json, "Sampling interval"), "differs"));
    assert_non_null(strstr(scope_of(json, "Clock"), "both"));
    assert_true(has_note(json, "different numbers of processors"));
    // Addresses of two builds are no functions.
    assert_int_equal(row_count(json), 1);
    assert_string_equal(text_of(json, 0, "Function"), "(whole module)");
    assert_true(has_note(json, "another build"));
    assert_true(fabs(number_of(json, 0, "Ratio") - 2 * number_of(json, 0, "Ratio per CPU")) < 0.01);
    json_decref(json);
}

static void test_wrong_arguments(void **state) {
    Fixture *fixture = *state;
    Str path = steady_trace(fixture, 1, 0);
    static const struct {
        const char *baseline, *test, *mode;
        double start, end;
        const char *wanted;
    } CASES[] = {
        {NULL,                 "/nowhere/b.etl", "modules", -1, -1, "test_etl: \"/nowhere/b.etl\" does not exist"},
        {"/nowhere/a.etl",     NULL,             "modules", -1, -1, "baseline_etl: "                             },
        {"trace_000000000000", NULL,             "modules", -1, -1, "baseline_etl: no trace has the id"          },
        {NULL,                 NULL,             "colours", -1, -1, "mode must be one of hot_functions"          },
        {NULL,                 "",               "modules", -1, -1, "test_etl is required"                       },
        {NULL,                 NULL,             "modules", 2,  1,  "baseline_end must be greater"               },
        {NULL,                 NULL,             "modules", 50, 60, "the window holds none"                      },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *arguments = pair(CASES[i].baseline ? s(CASES[i].baseline) : path,
                                 CASES[i].test ? s(CASES[i].test) : path, CASES[i].mode);
        if (CASES[i].start >= 0) {
            (void)json_object_set_new(arguments, "baseline_start", json_real(CASES[i].start));
            (void)json_object_set_new(arguments, "baseline_end", json_real(CASES[i].end));
        }
        bool is_error = false;
        Str text = {0};
        json_decref(reply_json(fixture, arguments, &is_error, &text));
        assert_true(is_error);
        if (str_find(text, s(CASES[i].wanted)) == SIZE_MAX) fail_msg("%.*s", STR_ARG(text));
    }
}

static void test_missing_data_is_said(void **state) {
    Fixture *fixture = *state;
    Str full = steady_trace(fixture, 1, 0);
    Str empty = make_trace(fixture, "trace cpus=1\nmark 1ms text=x\nmark 9ms text=y\n");
    static const char *const MODES_TRIED[] = {"hot_functions", "processes", "per_cpu", "waits",
                                              "dpc",           "disk",      "flows"};
    for (size_t i = 0; i < COUNT_OF(MODES_TRIED); i++) {
        json_t *arguments = pair(full, empty, MODES_TRIED[i]);
        bool is_error = false;
        Str text = {0};
        const ToolInfo *tool = engine_tool_named(fixture->engine, s("compare_traces"));
        ToolReply reply = {0};
        engine_call(fixture->engine, tool, arguments, REPLY_MARKDOWN, NULL, &fixture->arena,
                    &reply);
        json_decref(arguments);
        is_error = reply.is_error;
        text = reply.text;
        assert_false(is_error);
        if (str_find(text, s("*No data: ")) == SIZE_MAX) fail_msg("%.*s", STR_ARG(text));
    }
}

// ---------------------------------------------------------------- statistics

static void test_thresholds(void **state) {
    (void)state;
    assert_true(fabs(compare_threshold(1) - 2.5758) < 0.001);
    assert_true(fabs(compare_threshold(100) - 3.8906) < 0.001);
    assert_true(compare_threshold(0) <= compare_threshold(1));
    assert_true(compare_threshold(100000) < 6);
}

static Measure counted(double count) {
    Measure measure = {.value = count, .count = count, .squares = count};
    for (size_t i = 0; i < SLICES; i++) measure.slices[i] = count / SLICES;
    return measure;
}

static void test_significance_of_counts(void **state) {
    (void)state;
    static const struct {
        double a, b, seconds_a, seconds_b, z;
    } CASES[] = {
        {100, 100, 1, 1, 0           },
        {100, 144, 1, 1, 44 / 15.6205},
        {400, 100, 1, 1, -13.4164    },
        {100, 200, 1, 2, 0           },
        {0,   9,   1, 1, 3           },
        {0,   0,   1, 1, 0           },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Item item = {
            .key = {STR("m"), STR("f")}
        };
        item.side[BASELINE] = counted(CASES[i].a);
        item.side[TEST] = counted(CASES[i].b);
        double seconds[SIDES] = {CASES[i].seconds_a, CASES[i].seconds_b};
        compare_judge_one(&item, seconds, false);
        assert_true(fabs(item.z - CASES[i].z) < 0.001);
    }
}

// The same counts, once even and once in one burst: only the even ones tell a change.
static void test_bursts_are_noise(void **state) {
    (void)state;
    Item pairs[2] = {{.key = {STR("even"), STR("")}}, {.key = {STR("burst"), STR("")}}};
    for (size_t i = 0; i < 2; i++) {
        pairs[i].side[BASELINE] = counted(3200);
        pairs[i].side[TEST] = counted(3900);
    }
    for (int k = 0; k < SIDES; k++) {
        Measure *measure = &pairs[1].side[k];
        memset(measure->slices, 0, sizeof measure->slices);
        measure->slices[3] = measure->value;
    }
    Items items = {pairs, 2};
    double seconds[SIDES] = {1, 1};
    compare_judge(&items, seconds, false);
    assert_int_equal(pairs[0].change, 1);
    assert_int_equal(pairs[1].change, 0);
    assert_true(fabs(pairs[0].z - pairs[1].z) < 1e-9);
}

// ---------------------------------------------------------------- names

static Item one_side(const char *module, const char *function, int side, double share) {
    Item item = {
        .key = {s(module), s(function)}
    };
    item.side[side] = counted(share * 10);
    item.share[side] = share;
    return item;
}

static void test_moved_and_renamed(void **state) {
    (void)state;
    Item rows[] = {
        one_side("a.dll", "Parse", BASELINE, 10),   one_side("b.dll", "Parse", TEST, 12),
        one_side("a.dll", "Hash", BASELINE, 5),     one_side("a.dll", "HashFast", TEST, 4),
        one_side("a.dll", "Alpha", BASELINE, 5),    one_side("a.dll", "Zulu", TEST, 5),
        one_side("a.dll", "Little", BASELINE, 0.1), one_side("b.dll", "Little", TEST, 0.1),
    };
    Items items = {rows, COUNT_OF(rows)};
    AUTO(arena_done) Arena arena = {0};
    Doc doc = {.arena = &arena};
    compare_note_moved(&items, &doc);
    assert_int_equal(doc.notes.count, 2);
    assert_true(str_starts(doc.notes.items[0], s("Moved: a.dll!Parse")));
    assert_true(str_starts(doc.notes.items[1], s("Perhaps renamed: a.dll!Hash")));
    doc_done(&doc);
}

static void test_modules_without_names(void **state) {
    (void)state;
    static const struct {
        double named_a, named_b;
        const char *build_a, *build_b;
        bool folded;
    } CASES[] = {
        {1,   1,   "x", "y", false},
        {1,   0,   "x", "x", true },
        {0,   1,   "x", "y", true },
        {0,   0,   "x", "x", false},
        {0,   0,   "x", "y", true },
        {0,   0,   "",  "y", false},
        {0.9, 0.6, "x", "y", false},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        Doc doc = {.arena = &arena};
        Item rows[] = {one_side("m", "f", BASELINE, 1), one_side("m", "g", TEST, 2),
                       one_side("other", "h", TEST, 3)};
        Items items = {rows, COUNT_OF(rows)};
        StrMap modules = {0};
        (void)strmap_put(&modules, s("m"), 0, NULL);
        ModuleState states[SIDES] = {
            {true, CASES[i].named_a, s(CASES[i].build_a)},
            {true, CASES[i].named_b, s(CASES[i].build_b)}
        };
        compare_fold_modules(&items, &modules, states, &doc);
        assert_int_equal(items.count, CASES[i].folded ? 2 : 3);
        assert_int_equal(doc.notes.count, CASES[i].folded ? 1 : 0);
        strmap_done(&modules);
        doc_done(&doc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_trace_equals_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_halves_of_a_steady_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_steady_traces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_planted_rise_is_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_five_percent_of_many_samples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_doubled_total_shows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_differences_are_stated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_arguments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_data_is_said, set_up, tear_down),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_significance_of_counts),
        cmocka_unit_test(test_bursts_are_noise),
        cmocka_unit_test(test_moved_and_renamed),
        cmocka_unit_test(test_modules_without_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
