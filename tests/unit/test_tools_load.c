// The life of a load: cache, markers of other processes, restarts, failures, cancellation.
#include "base/os.h"
#include "support/etl_build_script.h"
#include "tools/engine_internal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char SCRIPT[] =
    "trace cpus=1\nprocess start 1ms pid=7 name=a.exe\nsample 2ms tid=5 ip=1\n";

typedef struct Fixture {
    Arena arena;
    Engine *engine;
    Str folder, path; // of the trace
    ToolReply reply;
} Fixture;

static Engine *new_engine(void) {
    EngineOptions options = {.quiet = true};
    Engine *engine = NULL;
    Err err = {0};
    assert_int_equal(engine_open(&options, &engine, &err), OK);
    return engine;
}

static int set_up(void **state) {
    static unsigned count;
    Fixture *f = mem_zero(1, sizeof *f);
    f->folder = path_join(&f->arena, os_cache_folder(&f->arena),
                          str_format(&f->arena, "load-%d-%u", os_process_id(), ++count));
    f->path = path_join(&f->arena, f->folder, STR("t.etl"));
    assert_int_equal(os_make_folders(f->folder, NULL), OK);
    Err err = {0};
    if (etl_build_script_file(str_from_c(SCRIPT), f->path, &err) != OK) fail_msg("%s", err.text);
    (void)setenv("ETW_MCP_LOAD_HEARTBEAT_SECONDS", "0.05", 1);
    (void)unsetenv("ETW_MCP_LOAD_WAIT");
    f->engine = new_engine();
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    engine_close(f->engine);
    (void)os_remove_tree(f->folder, NULL);
    arena_done(&f->arena);
    mem_free(f);
    return 0;
}

static void restart(Fixture *f) {
    engine_close(f->engine);
    f->engine = new_engine();
}

// Calls a tool with arguments as JSON in which PATH stands for the trace.
static const char *call_with(Fixture *f, const CallContext *context, const char *name,
                             const char *json) {
    Str text = str_from_c(json);
    size_t at = str_find(text, STR("PATH"));
    if (at != SIZE_MAX)
        text = str_format(&f->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_slice(text, 0, at)),
                          STR_ARG(f->path), STR_ARG(str_slice(text, at + 4, text.n)));
    json_t *arguments = json_loadb(text.p, text.n, 0, NULL);
    assert_non_null(arguments);
    const ToolInfo *tool = engine_tool_named(f->engine, str_from_c(name));
    assert_non_null(tool);
    engine_call(f->engine, tool, arguments, REPLY_MARKDOWN, context, &f->arena, &f->reply);
    json_decref(arguments);
    return str_to_c(&f->arena, f->reply.text);
}

static const char *call(Fixture *f, const char *name, const char *json) {
    return call_with(f, NULL, name, json);
}

static const char *load(Fixture *f) {
    return call(f, "load_trace", "{\"etl_path\": \"PATH\"}");
}

static const char *with_id(Fixture *f, const char *name) {
    static char id[32];
    const char *text = load(f), *at = strstr(text, "trace_");
    assert_non_null(at);
    (void)snprintf(id, sizeof id, "%.18s", at);
    return call(f, name, str_format(&f->arena, "{\"trace_id\": \"%s\"}", id).p);
}

static Str id_json(Fixture *f) {
    const char *at = strstr(load(f), "trace_");
    assert_non_null(at);
    return str_format(&f->arena, "{\"trace_id\": \"%.18s\"}", at);
}

static Str cache_file(Fixture *f, const char *name) {
    return path_join(&f->arena, path_join(&f->arena, f->folder, STR(".etw-export-t")),
                     str_from_c(name));
}

static bool exists(Str path) {
    FileInfo info = {0};
    return os_stat(path, &info, NULL) == OK && info.exists;
}

static void write_marker(Fixture *f, int pid, const char *host) {
    Str path = cache_file(f, "extracting.json");
    Str text =
        str_format(&f->arena, "{\"schema_version\": 1, \"pid\": %d, \"host\": \"%s\", \"pct\": 40}",
                   pid, host);
    assert_int_equal(os_make_folders(path_folder(path), NULL), OK);
    assert_int_equal(file_write_atomic(path, text, NULL), OK);
}

static void expect(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("\"%s\" lacks \"%s\"", text, wanted);
}

static void test_cache(void **state) {
    Fixture *f = *state;
    expect(load(f), "**Trace loaded:** t.etl\n");
    expect(load(f), "t.etl (already loaded)\n");
    assert_false(exists(cache_file(f, "extracting.json")));
    restart(f);
    expect(load(f), "t.etl (from the cache)\n");
    expect(call(f, "load_trace", "{\"etl_path\": \"PATH\", \"force\": true}"), "t.etl\n");
    expect(call(f, "list_loaded_traces", "{}"), "**Loaded Traces** (1)");
    expect(with_id(f, "unload_trace"), "Unloaded t.etl");
    expect(call(f, "list_loaded_traces", "{}"), "**Loaded Traces** (0)");
    expect(load(f), "(from the cache)");
}

static void test_id_after_restart(void **state) {
    Fixture *f = *state;
    Str json = id_json(f);
    restart(f);
    expect(call(f, "get_cpu_samples", json.p), "**CPU Samples**");
    assert_false(f->reply.is_error);
    restart(f);
    assert_int_equal(os_remove_tree(path_folder(cache_file(f, "x")), NULL), OK);
    expect(call(f, "get_cpu_samples", json.p), "cache is gone. Call load_trace(etl_path=");
    assert_true(f->reply.is_error);
    assert_int_equal(file_write_atomic(f->path, STR("changed"), NULL), OK);
    restart(f);
    expect(call(f, "get_cpu_samples", json.p), "has changed since");
    assert_int_equal(os_remove_file(f->path, NULL), OK);
    restart(f);
    expect(call(f, "get_cpu_samples", json.p), "is gone");
}

static void test_other_process_extracts(void **state) {
    Fixture *f = *state;
    write_marker(f, 1, "elsewhere"); // on another host only the heartbeat counts
    expect(call(f, "get_load_status", "{\"etl_path\": \"PATH\"}"), "\"status\": \"extracting\"");
    const char *text = call(f, "load_trace", "{\"etl_path\": \"PATH\", \"wait_seconds\": 0.3}");
    expect(text, "\"reused\": true");
    expect(text, "\"pct\": 40");
    assert_int_equal(os_remove_file(cache_file(f, "extracting.json"), NULL), OK);
    expect(load(f), "**Trace loaded:** t.etl"); // the other one failed: this one takes over
}

static void test_stale_marker(void **state) {
    Fixture *f = *state;
    Str host = os_host_name(&f->arena);
    write_marker(f, 0x7ffffff0, str_to_c(&f->arena, host)); // no such process
    const char *status = call(f, "get_load_status", "{\"etl_path\": \"PATH\"}");
    expect(status, "\"failure_kind\": \"stale-marker\"");
    expect(status, "\"status\": \"failed\"");
    expect(load(f), "**Trace loaded:** t.etl");
    restart(f);
    expect(call(f, "get_load_status", "{\"etl_path\": \"PATH\"}"), "\"status\": \"ready\"");
}

// A marker that nobody can still be writing holds up no load.
static void test_orphaned_markers(void **state) {
    Fixture *f = *state;
    // Ours by its number: the process that wrote it is dead, and its id was given out again.
    write_marker(f, os_process_id(), str_to_c(&f->arena, os_host_name(&f->arena)));
    expect(load(f), "**Trace loaded:** t.etl");
    assert_false(exists(cache_file(f, "extracting.json")));
    restart(f);
    // Its maker was killed before it wrote a word.
    Str path = cache_file(f, "extracting.json");
    assert_int_equal(file_write_atomic(path, STR(""), NULL), OK);
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, str_to_c(&f->arena, path), old, 0), 0);
    Str left = cache_file(f, "extracting.json.77.tmp");
    assert_int_equal(file_write_atomic(left, STR("{"), NULL), OK);
    expect(call(f, "load_trace", "{\"etl_path\": \"PATH\", \"force\": true}"),
           "**Trace loaded:** t.etl");
    assert_false(exists(path));
    assert_false(exists(left));
}

// An id is of one state of the file.
static void test_file_grows_between_loads(void **state) {
    Fixture *f = *state;
    Str before = id_json(f);
    Err err = {0};
    Str more = str_format(&f->arena, "%ssample 3ms tid=5 ip=2\n", SCRIPT);
    assert_int_equal(etl_build_script_file(more, f->path, &err), OK);
    const char *old = call(f, "get_cpu_samples", before.p); // still of the file as it was
    expect(old, "| 1 |");
    Str after = id_json(f);
    assert_false(str_eq(before, after));
    expect(call(f, "get_cpu_samples", after.p), "| 2 |");
    restart(f);
    expect(call(f, "get_cpu_samples", before.p), "has changed since");
}

static void test_failure(void **state) {
    Fixture *f = *state;
    assert_int_equal(file_write_atomic(f->path, STR("this is no trace"), NULL), OK);
    expect(load(f), "could not be loaded (not-etl): ");
    assert_true(f->reply.is_error);
    expect(call(f, "list_loaded_traces", "{}"), "**Load Jobs** (1)");
    restart(f);
    const char *status = call(f, "get_load_status", "{\"etl_path\": \"PATH\"}");
    expect(status, "\"failure_kind\": \"not-etl\"");
    Err err = {0};
    assert_int_equal(etl_build_script_file(str_from_c(SCRIPT), f->path, &err), OK);
    expect(load(f), "**Trace loaded:**");
    assert_false(exists(cache_file(f, "failed.json")));
}

static void test_calls_while_loading(void **state) {
    Fixture *f = *state;
    (void)setenv("ETW_MCP_LOAD_WAIT", "0.1", 1);
    restart(f);
    write_marker(f, 1, "elsewhere"); // so that the load does not end
    const char *status = call(f, "load_trace", "{\"etl_path\": \"PATH\", \"wait_seconds\": 0}");
    expect(status, "\"status\": \"extracting\"");
    Str json = str_format(&f->arena, "{\"trace_id\": \"%.18s\"}", strstr(status, "trace_"));
    expect(call(f, "get_cpu_samples", json.p), "is still loading: ");
    assert_true(f->reply.is_error);
    Progress progress = {0};
    atomic_store(&progress.cancelled, true);
    CallContext context = {.progress = &progress};
    (void)call_with(f, &context, "get_cpu_samples", json.p);
    assert_int_equal(f->reply.status, ERR_CANCELLED);
    expect(call(f, "get_load_status", json.p), "\"status\": \"extracting\""); // it goes on
    expect(call(f, "unload_trace", json.p), "Stopped loading t.etl");
    for (int i = 0; i < 100 && strstr(call(f, "get_load_status", json.p), "extracting\""); i++)
        (void)call(f, "get_load_status",
                   str_format(&f->arena, "{\"etl_path\": \"PATH\", \"wait_seconds\": 0.1}").p);
    expect(call(f, "get_load_status", json.p), "\"failure_kind\": \"cancelled\"");
}

static void test_paths(void **state) {
    Fixture *f = *state;
    Str other = path_join(&f->arena, f->folder, STR("inside"));
    assert_int_equal(os_make_folders(other, NULL), OK);
    EngineOptions options = {.quiet = true, .allowed_folders = &other, .allowed_folder_count = 1};
    engine_close(f->engine);
    Err err = {0};
    assert_int_equal(engine_open(&options, &f->engine, &err), OK);
    expect(load(f), "outside the folders this server may use");
    Str json = str_format(&f->arena, "{\"directory\": \"" STR_FMT "\"}", STR_ARG(f->folder));
    expect(call(f, "list_traces", json.p), "outside the folders");
    json = str_format(&f->arena, "{\"directory\": \"" STR_FMT "\"}", STR_ARG(other));
    expect(call(f, "list_traces", json.p), "(0)");
}

static void test_list_and_complete(void **state) {
    Fixture *f = *state;
    Str json = str_format(&f->arena, "{\"directory\": \"" STR_FMT "\", \"pattern\": \"**/*.ETL\"}",
                          STR_ARG(f->folder));
    assert_null(strstr(call(f, "list_traces", json.p), "cached"));
    (void)load(f);
    expect(call(f, "list_traces", json.p), "| trace_");
    restart(f);
    expect(call(f, "list_traces", json.p), "| cached |");
    Str id = str_slice(id_json(f), 14, 32), found[4];
    assert_int_equal(
        engine_complete(f->engine, STR("trace_id"), (Str){0}, STR("trace_"), &f->arena, found, 4),
        1);
    assert_true(str_eq(found[0], id));
    assert_int_equal(engine_complete(f->engine, STR("process"), id, STR("A."), &f->arena, found, 4),
                     1);
    assert_true(str_eq(found[0], STR("a.exe")));
    assert_true(
        engine_complete(f->engine, STR("table"), (Str){0}, STR("proc"), &f->arena, found, 4) >= 1);
}

static bool rests(const Fixture *f, size_t index) {
    return f->engine->traces.items[index]->data->database == NULL;
}

// Above the memory cap the trace not in use gives up what it derived, and answers as before.
static void test_memory_cap(void **state) {
    Fixture *f = *state;
    enum { CAP_MB = 24 }; // less than the program takes with the SQL engine in it
    Str other = path_join(&f->arena, f->folder, STR("other.etl"));
    assert_int_equal(etl_build_script_file(str_from_c(SCRIPT), other, NULL), OK);
    (void)setenv("ETW_MCP_NATIVE_WORKER_MEMORY_MB", "24", 1);
    restart(f);
    Str first = id_json(f);
    (void)unsetenv("ETW_MCP_NATIVE_WORKER_MEMORY_MB");
    Str path = f->path;
    f->path = other;
    Str second = id_json(f);
    f->path = path;
    assert_int_equal(f->engine->traces.count, 2);
    assert_true(os_resident_memory_bytes() > (uint64_t)CAP_MB << 20);
    Str alone = {0};
    for (unsigned round = 0; round < 3; round++) {
        Str answer = str_copy(&f->arena, str_from_c(call(f, "get_hot_stacks", first.p)));
        assert_true(rests(f, 1) && !rests(f, 0));
        if (!round) alone = answer;
        assert_true(str_eq(answer, alone));
        expect(call(f, "get_process_info", second.p), "a.exe");
        assert_true(rests(f, 0) && !rests(f, 1));
    }
    // Its database is gone meanwhile: one sentence, and a load helps.
    assert_int_equal(os_remove_tree(cache_file(f, ""), NULL), OK);
    expect(call(f, "get_process_info", first.p), "Call load_trace(");
    expect(with_id(f, "get_process_info"), "a.exe");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_id_after_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_process_extracts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stale_marker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orphaned_markers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_file_grows_between_loads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calls_while_loading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_cap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_and_complete, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
