// The tool contract, walked: every tool of tool_contract.txt that the catalogue has, with its
// parameters, defaults, accepted values, and the columns of one call on the demonstration trace.
#include "base/os.h"
#include "support/etl_build_script.h"
#include "tools/engine.h"
#include "tools/handle_entities.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOOLS_IN_CONTRACT = 65, MISMATCH_BYTES = 8192, ARGS_MAX = 512 };

typedef struct Walk {
    Arena arena;
    Engine *engine;
    Str folder, trace;
    const char *trace_id;
    const ToolInfo *tool; // NULL: not in the catalogue
    Str name;
    Str args;
    json_t *reply; // of the call; NULL: not made
    unsigned tools, params, columns_checked, columns_without_rows;
    Buf problems;
} Walk;

static Str s(const char *text) {
    return str_from_c(text);
}

static void problem(Walk *walk, const char *what, Str value) {
    buf_addf(&walk->problems, STR_FMT ": %s " STR_FMT "\n", STR_ARG(walk->name), what,
             STR_ARG(value));
}

// ---------------------------------------------------------------- parameters

static const json_t *property(const Walk *walk, Str name) {
    char text[ARGS_MAX];
    size_t n = name.n < sizeof text - 1 ? name.n : sizeof text - 1;
    memcpy(text, name.p, n);
    text[n] = 0;
    return json_object_get(json_object_get(walk->tool->input_schema, "properties"), text);
}

static bool is_required(const Walk *walk, Str name) {
    const json_t *required = json_object_get(walk->tool->input_schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++)
        if (str_eq(s(json_string_value(json_array_get(required, i))), name)) return true;
    return false;
}

static bool default_equals(const json_t *value, Str wanted) {
    double number = 0;
    if (!value || json_is_null(value)) return str_eq(wanted, s("null"));
    if (json_is_boolean(value)) return str_eq(wanted, json_is_true(value) ? s("true") : s("false"));
    if (json_is_number(value))
        return str_to_f64(wanted, &number) && fabs(number - json_number_value(value)) < 1e-9;
    return str_eq(s(json_string_value(value)), wanted);
}

static bool accepts(const json_t *values, Str wanted) {
    for (size_t i = 0; i < json_array_size(values); i++)
        if (str_eq(s(json_string_value(json_array_get(values, i))), wanted)) return true;
    return false;
}

static void check_param(Walk *walk, Str line) {
    Str name = {0}, wanted = {0}, choice = {0};
    (void)str_next(&line, ' ', &name);
    (void)str_next(&line, ' ', &wanted);
    const json_t *param = property(walk, name);
    walk->params++;
    if (!param) {
        problem(walk, "has no parameter", name);
        return;
    }
    bool required = str_eq(wanted, s("required"));
    if (required != is_required(walk, name)) problem(walk, "required or not:", name);
    if (!required && !default_equals(json_object_get(param, "default"), wanted))
        problem(walk, "another default of", name);
    const json_t *values = json_object_get(param, "enum");
    while (str_next(&line, '|', &choice))
        if (choice.n && !accepts(values, choice)) problem(walk, "does not accept", choice);
}

// ---------------------------------------------------------------- columns

static Str replaced(Walk *walk, Str text, const char *what, Str by) {
    size_t at = str_find(text, s(what));
    while (at != SIZE_MAX) {
        text = str_format(&walk->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_slice(text, 0, at)),
                          STR_ARG(by), STR_ARG(str_slice(text, at + strlen(what), text.n)));
        at = str_find(text, s(what));
    }
    return text;
}

static void make_call(Walk *walk) {
    Str args = replaced(walk, walk->args, "DIR", walk->folder);
    args = replaced(walk, args, "PATH", walk->trace);
    json_t *arguments = args.n ? json_loadb(args.p, args.n, 0, NULL) : json_object();
    assert_non_null(arguments);
    if (property(walk, s("trace_id")) && is_required(walk, s("trace_id")))
        (void)json_object_set_new(arguments, "trace_id", json_string(walk->trace_id));
    ToolReply reply = {0};
    engine_call(walk->engine, walk->tool, arguments, REPLY_JSON, NULL, &walk->arena, &reply);
    json_decref(arguments);
    if (reply.is_error)
        problem(walk, "fails:", reply.text);
    else
        walk->reply = json_loadb(reply.text.p, reply.text.n, 0, NULL);
}

// The table has at least these columns, first and in this order.
static bool begins_with(const json_t *table, Str wanted) {
    const json_t *columns = json_object_get(table, "columns");
    Str title = {0};
    for (size_t i = 0; str_next(&wanted, ',', &title); i++) {
        const char *column = json_string_value(json_array_get(columns, i));
        if (!column || !str_eq(s(column), str_trim(title))) return false;
    }
    return true;
}

static bool has_rows(const json_t *table) {
    return json_array_size(json_object_get(table, "rows")) > 0;
}

static void check_columns(Walk *walk, Str wanted) {
    if (!walk->reply) return;
    const json_t *sections = json_object_get(walk->reply, "sections");
    bool found = begins_with(walk->reply, wanted), rows = has_rows(walk->reply);
    for (size_t i = 0; i < json_array_size(sections) && !found; i++) {
        found = begins_with(json_array_get(sections, i), wanted);
        rows = rows || has_rows(json_array_get(sections, i));
    }
    walk->columns_checked += found;
    if (!found && rows) problem(walk, "has no table with the columns", wanted);
    if (!found && !rows) walk->columns_without_rows++;
}

// ---------------------------------------------------------------- the walk

static void end_tool(Walk *walk) {
    json_decref(walk->reply);
    walk->reply = NULL;
    walk->args = (Str){0};
}

static void begin_tool(Walk *walk, Str name) {
    end_tool(walk);
    walk->name = name;
    walk->tool = engine_tool_named(walk->engine, name);
    walk->tools++;
    if (walk->tool) return;
    problem(walk, "is not in the catalogue", s(""));
}

static bool take_key(Str *line, const char *key) {
    Str prefix = s(key);
    if (!str_starts(*line, prefix)) return false;
    *line = str_trim(str_slice(*line, prefix.n, line->n));
    return true;
}

static void read_line(Walk *walk, Str line) {
    if (!line.n || line.p[0] == '#') return;
    if (take_key(&line, "tool ")) {
        begin_tool(walk, line);
    } else if (!walk->tool) {
        return;
    } else if (take_key(&line, "args ")) {
        walk->args = line;
    } else if (take_key(&line, "param ")) {
        check_param(walk, line);
    } else if (take_key(&line, "columns ")) {
        if (!walk->reply) make_call(walk);
        check_columns(walk, line);
    } else {
        fail_msg("tool_contract.txt: %.*s", STR_ARG(line));
    }
}

static void open_walk(Walk *walk, Arena *arena) {
    Err err = {0};
    EngineOptions options = {.quiet = true};
    Str script = {0}, source = str_format(arena, "%s/tests/support/demo.trace", ETW_SOURCE_DIR);
    walk->folder =
        path_join(arena, os_cache_folder(arena), str_format(arena, "contract-%d", os_process_id()));
    walk->trace = path_join(arena, walk->folder, s("demo.etl"));
    assert_int_equal(os_make_folders(walk->folder, &err), OK);
    assert_int_equal(file_read_all(source, 1 << 20, arena, &script, &err), OK);
    if (etl_build_script_file(script, walk->trace, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(engine_open(&options, &walk->engine, &err), OK);
    if (engine_load(walk->engine, walk->trace, false, NULL, arena, &walk->trace_id, &err) != OK)
        fail_msg("%s", err.text);
}

static void close_walk(Walk *walk, Arena *arena) {
    end_tool(walk);
    engine_close(walk->engine);
    (void)os_remove_tree(walk->folder, NULL);
    buf_done(&walk->problems);
    arena_done(&walk->arena);
    arena_done(arena);
}

static void test_every_tool_of_the_contract(void **state) {
    (void)state;
    Walk walk = {.problems = {.max = MISMATCH_BYTES}};
    Arena arena = {0};
    Str text = {0}, line = {0};
    Str path = str_format(&arena, "%s/tests/unit/tool_contract.txt", ETW_SOURCE_DIR);
    open_walk(&walk, &arena);
    assert_int_equal(file_read_all(path, 1 << 20, &arena, &text, NULL), OK);
    while (str_next(&text, '\n', &line)) read_line(&walk, str_trim(line));
    print_message("%u tools, %u parameters, %u tables compared, %u without rows\n", walk.tools,
                  walk.params, walk.columns_checked, walk.columns_without_rows);
    if (walk.problems.n) print_message("%s", walk.problems.p);
    bool fine = !walk.problems.n;
    assert_int_equal(walk.tools, TOOLS_IN_CONTRACT);
    assert_true(walk.params > 100 && walk.columns_checked > 12);
    close_walk(&walk, &arena);
    assert_true(fine);
}

// The checks can fail.
static void test_the_walk_sees_mistakes(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "tool nosuch_tool",
        "tool get_entities\nparam colour null",
        "tool get_entities\nparam max_rows 51",
        "tool get_entities\nparam max_rows required",
        "tool get_entities\nparam entity_type module colour",
        "tool get_entities\ncolumns entity_id, path",
        "tool get_entities\nargs {\"entity_type\": 3}\ncolumns entity_id",
    };
    Walk walk = {.problems = {.max = MISMATCH_BYTES}};
    Arena arena = {0};
    open_walk(&walk, &arena);
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Str text = s(WRONG[i]), line = {0};
        buf_clear(&walk.problems);
        while (str_next(&text, '\n', &line)) read_line(&walk, line);
        if (!walk.problems.n) fail_msg("nothing is wrong with: %s", WRONG[i]);
    }
    close_walk(&walk, &arena);
}

// Ids of entities never change: they are compared with those of another implementation of RFC 4122.
static void test_entity_ids(void **state) {
    (void)state;
    static const struct {
        const char *canonical, *uuid;
    } CASES[] = {
        {"machine|hostname=a", "d757fbcd-cdf2-5f64-8b25-3be61d9dd02c"},
        {"",                   "ba06d6a0-941c-55fc-8d46-c540b173071a"},
    };
    AUTO(arena_done) Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        assert_string_equal(entity_uuid(s(CASES[i].canonical), &arena).p, CASES[i].uuid);
    }
}

// Two traces of one machine: the same machine, process and driver have the same ids, and each trace
// has its lines in entities.jsonl once, however often it is loaded.
static size_t count_lines_with(Str text, const char *part) {
    Str line = {0};
    size_t count = 0;
    while (str_next(&text, '\n', &line)) count += str_find(line, s(part)) != SIZE_MAX;
    return count;
}

static Str id_of(Str text, const char *type, const char *trace_id, const char *part) {
    Str line = {0};
    while (str_next(&text, '\n', &line)) {
        if (str_find(line, s(type)) == SIZE_MAX || str_find(line, s(trace_id)) == SIZE_MAX ||
            str_find(line, s(part)) == SIZE_MAX)
            continue;
        size_t at = str_find(line, s("\"entity_id\":\""));
        return str_slice(line, at + 13, at + 13 + 36);
    }
    fail_msg("no %s %s", type, part);
    return (Str){0};
}

static void test_entities_of_two_traces(void **state) {
    (void)state;
    Walk walk = {0};
    Arena arena = {0};
    Err err = {0};
    Str folder = path_join(&arena, os_cache_folder(&arena),
                           str_format(&arena, "evidence-%d", os_process_id()));
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet
    assert_int_equal(setenv("ETW_MCP_EVIDENCE_PATH", folder.p, 1), 0);
    open_walk(&walk, &arena);
    const char *first = walk.trace_id, *second = NULL, *again = NULL;
    Str script = {0}, source = str_format(&arena, "%s/tests/support/demo.trace", ETW_SOURCE_DIR);
    Str other = path_join(&arena, walk.folder, s("other.etl"));
    assert_int_equal(file_read_all(source, 1 << 20, &arena, &script, &err), OK);
    assert_int_equal(etl_build_script_file(script, other, &err), OK);
    assert_int_equal(engine_load(walk.engine, other, false, NULL, &arena, &second, &err), OK);
    assert_int_equal(engine_load(walk.engine, other, true, NULL, &arena, &again, &err), OK);
    Str text = {0}, path = path_join(&arena, folder, s("entities.jsonl"));
    assert_int_equal(file_read_all(path, 16 << 20, &arena, &text, &err), OK);
    assert_int_equal(count_lines_with(text, "\"type\":\"machine\""), 2);
    assert_int_equal(count_lines_with(text, first), count_lines_with(text, second));
    assert_true(count_lines_with(text, first) > 10);
    static const char *const TYPES[][2] = {
        {"machine", "machine"     },
        {"process", "dbengine.exe"},
        {"module",  "dbengine.exe"},
        {"driver",  "storport"    }
    };
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        Str type = str_format(&arena, "\"type\":\"%s\"", TYPES[i][0]);
        assert_true(str_eq(id_of(text, type.p, first, TYPES[i][1]),
                           id_of(text, type.p, second, TYPES[i][1])));
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the engine is closed
    assert_int_equal(unsetenv("ETW_MCP_EVIDENCE_PATH"), 0);
    (void)os_remove_tree(folder, NULL);
    close_walk(&walk, &arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tool_of_the_contract),
        cmocka_unit_test(test_the_walk_sees_mistakes),
        cmocka_unit_test(test_entity_ids),
        cmocka_unit_test(test_entities_of_two_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
