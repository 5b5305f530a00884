// Symbols in the tools: names of samples and stacks, statuses, servers, diagnosis, stale folders.
// Traces, PDBs, images and the server are made here; two cases use real PDBs of ../shared.
#include "support/etl_build_script.h"
#include "support/http_mock.h"
#include "support/pdb_build.h"
#include "support/shared_data.h"
#include "sym/sym.h"
#include "tools/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include <cmocka.h>

#define KEY "443322116655887799AABBCCDDEEFF013"
#define IMAGE_KEY "5F0000004000"

// app.exe has a PDB, lib.dll no PDB identity (an image may prove its own), gone.dll neither.
// 0x1140 ends app::main: as a return address it belongs to the call before it, as a sampled one
// to the function that begins there.
static const char SCRIPT[] =
    "trace cpus=1 build=19041 masks=0x1270F,2 merged=1\n"
    "process start 1ms pid=100 parent=4 session=1 name=app.exe\n"
    "thread start 1ms pid=100 tid=101\n"
    "image load 2ms pid=100 base=0x7ff600000000 size=0x4000 timestamp=0x5f000001 "
    "name=\\Device\\HarddiskVolume3\\app.exe pdb=c:\\build\\app.pdb "
    "guid=44332211-6655-8877-99aa-bbccddeeff01 age=3\n"
    "image load 2ms pid=100 base=0x7ff700000000 size=0x4000 timestamp=0x5f000000 "
    "name=\\Device\\HarddiskVolume3\\lib.dll\n"
    "image load 2ms pid=100 base=0x7ff800000000 size=0x4000 timestamp=0x5f000002 "
    "name=\\Device\\HarddiskVolume3\\gone.dll\n"
    "interval start 1ms source=0 interval=10000 name=Timer\n"
    "repeat 6 every 1ms from 10ms {\n"
    "  sample 0 cpu=0 tid=101 ip=app.exe+0x1110 "
    "stack=app.exe+0x1110,app.exe+0x1140,lib.dll+0x1025\n"
    "}\n"
    "sample 20ms cpu=0 tid=101 ip=app.exe+0x1140 stack=app.exe+0x1140,app.exe+0x1310\n"
    "repeat 2 every 1ms from 21ms {\n"
    "  sample 0 cpu=0 tid=101 ip=lib.dll+0x1002\n"
    "}\n"
    "sample 23ms cpu=0 tid=101 ip=gone.dll+0x1000\n";

typedef struct Fixture {
    Arena arena;
    Engine *engine;
    HttpMock *mock;
    Str folder, trace, store; // of this test alone
    Buf pdb, other, image;
    char id[32];
    ToolReply reply;
} Fixture;

static const char *const EXPORTS[] = {"lib_first", "lib_second", "lib_third"};

static void build_files(Fixture *f) {
    AUTO(pdb_build_free) PdbBuild *good = pdb_build_sample();
    pdb_build_msf(good, (MsfSpec){0}, &f->pdb);
    AUTO(pdb_build_free) PdbBuild *other = pdb_build_sample();
    Guid guid = SAMPLE_GUID;
    guid.bytes[0] ^= 1;
    pdb_build_identity(other, &guid, SAMPLE_AGE, SAMPLE_AGE);
    pdb_build_msf(other, (MsfSpec){0}, &f->other);
    ImageSpec spec = {.time_date_stamp = 0x5F000000,
                      .image_size = 0x4000,
                      .machine = 0x8664,
                      .exports = EXPORTS,
                      .export_count = COUNT_OF(EXPORTS)};
    image_build(&spec, &f->image);
}

static int set_up(void **state) {
    static unsigned count;
    Fixture *f = mem_zero(1, sizeof *f);
    f->folder = str_format(&f->arena, "%s/test_symbols_tools.%d.%u", ETW_BINARY_DIR,
                           os_process_id(), ++count);
    f->trace = path_join(&f->arena, f->folder, STR("t.etl"));
    f->store = path_join(&f->arena, f->folder, STR("store"));
    assert_int_equal(os_make_folders(f->store, NULL), OK);
    Err err = {0};
    if (etl_build_script_file(str_from_c(SCRIPT), f->trace, &err) != OK) fail_msg("%s", err.text);
    build_files(f);
    (void)unsetenv("_NT_SYMBOL_PATH");
    (void)unsetenv("_NT_ALT_SYMBOL_PATH");
    (void)unsetenv("ETW_MCP_NO_AUTO_DOWNLOAD");
    Str cache = path_join(&f->arena, f->folder, STR("cache"));
    (void)setenv("XDG_CACHE_HOME", cache.p, 1);
    EngineOptions options = {.quiet = true};
    if (engine_open(&options, &f->engine, &err) != OK) fail_msg("%s", err.text);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    engine_close(f->engine);
    http_mock_stop(f->mock);
    (void)os_remove_tree(f->folder, NULL);
    buf_done(&f->pdb);
    buf_done(&f->other);
    buf_done(&f->image);
    arena_done(&f->arena);
    mem_free(f);
    return 0;
}

static void put_file(Fixture *f, const char *name, const Buf *bytes) {
    Str path = path_join(&f->arena, f->store, str_from_c(name));
    Err err = {0};
    if (os_make_folders(path_folder(path), &err) != OK) fail_msg("%s", err.text);
    if (file_write_atomic(path, buf_str(bytes), &err) != OK) fail_msg("%s", err.text);
}

static bool has_file(Fixture *f, const char *name) {
    FileInfo info = {0};
    Str path = path_join(&f->arena, f->store, str_from_c(name));
    return os_stat(path, &info, NULL) == OK && info.exists;
}

// A tool with its arguments; the trace's id is added.
static const char *call(Fixture *f, const char *name, json_t *arguments) {
    const ToolInfo *tool = engine_tool_named(f->engine, str_from_c(name));
    assert_non_null(tool);
    assert_non_null(arguments);
    if (json_object_get(json_object_get(tool->input_schema, "properties"), "trace_id"))
        (void)json_object_set_new(arguments, "trace_id", json_string(f->id));
    engine_call(f->engine, tool, arguments, REPLY_MARKDOWN, NULL, &f->arena, &f->reply);
    json_decref(arguments);
    return str_to_c(&f->arena, f->reply.text);
}

static void load(Fixture *f, Str symbol_path) {
    json_t *arguments = json_pack("{s:s}", "etl_path", f->trace.p);
    if (symbol_path.n)
        (void)json_object_set_new(arguments, "symbol_path", json_string(symbol_path.p));
    const char *text = call(f, "load_trace", arguments), *at = strstr(text, "trace_");
    if (f->reply.is_error || !at) fail_msg("%s", text);
    (void)snprintf(f->id, sizeof f->id, "%.18s", at);
}

static const char *sql(Fixture *f, const char *text) {
    return call(f, "query_trace", json_pack("{s:s}", "sql", text));
}

static void expect(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("no \"%s\" in:\n%s", wanted, text);
}

static void expect_no(const char *text, const char *unwanted) {
    if (strstr(text, unwanted)) fail_msg("\"%s\" in:\n%s", unwanted, text);
}

static const char *hot(Fixture *f) {
    return call(f, "get_hot_functions", json_pack("{s:s}", "modules", "all"));
}

// ---------------------------------------------------------------- names

static void test_names_from_store(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    put_file(f, "lib.dll/" IMAGE_KEY "/lib.dll", &f->image);
    load(f, f->store);
    const char *text = hot(f);
    expect(text, "| app.exe | app::main | 6,000 |");
    expect(text, "| app.exe | helper | 1,000 |");
    expect(text, "| lib.dll | *lib_first | 2,000 |");
    expect(text, "| gone.dll | gone.dll+0x1000 | 1,000 |");
    expect(text, "diagnose_symbol_load");
}

static void test_return_addresses(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    load(f, f->store);
    const char *text = sql(f, "SELECT f.is_return, s.function, s.displacement FROM frame AS f JOIN "
                              "symbol AS s USING (frame_id) WHERE f.rva = 4416 ORDER BY 1");
    expect(text, "helper | 0 |");
    expect(text, "app::main | 64 |");
}

static void test_lines_in_sql(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    load(f, f->store);
    expect(
        sql(f, "SELECT file, line FROM symbol WHERE function = 'app::main' AND displacement = 16"),
        "c:\\src\\a.cpp");
    expect(sql(f, "SELECT count(*) AS n FROM frame_line WHERE file IS NOT NULL"), "| ");
}

static void test_no_path_costs_nothing(void **state) {
    Fixture *f = *state;
    load(f, (Str){0});
    expect(hot(f), "| app.exe | app.exe+0x1110 | 6,000 |");
    expect(sql(f, "SELECT count(*) AS n FROM frame_symbol"), "| 0 |");
}

// However many images a trace names: a load looks for no file and asks no server.
static void test_load_looks_for_nothing(void **state) {
    Fixture *f = *state;
    enum { IMAGES = 2000 };
    AUTO(buf_done) Buf script = {0};
    Err err = {0};
    buf_add(&script, str_from_c(SCRIPT));
    for (unsigned i = 0; i < IMAGES; i++)
        buf_addf(&script,
                 "image load 3ms pid=100 base=0x%llx size=0x4000 timestamp=0x%x "
                 "name=\\Device\\HarddiskVolume3\\m%u.dll pdb=m%u.pdb "
                 "guid=44332211-6655-8877-99aa-bbccdd%06x age=1\n",
                 0x7ff900000000ULL + i * 0x10000ULL, 0x5f100000 + i, i, i, i);
    assert_int_equal(os_remove_file(f->trace, NULL), OK);
    if (etl_build_script_file(buf_str(&script), f->trace, &err) != OK) fail_msg("%s", err.text);
    f->mock = http_mock_start();
    load(f, str_format(&f->arena, "srv*" STR_FMT "*http://127.0.0.1:%u", STR_ARG(f->store),
                       http_mock_port(f->mock)));
    expect(sql(f, "SELECT count(*) AS n FROM image"), "| 2003 |");
    expect(hot(f), "app.exe+0x1110");
    assert_int_equal(http_mock_requests(f->mock), 0);
    NameList names = {0};
    assert_int_equal(os_list_folder(f->store, &f->arena, &names, NULL), OK);
    assert_int_equal(names.count, 0);
}

static void test_flat_folder_must_match(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb", &f->other);
    load(f, f->store);
    const char *text = hot(f);
    expect(text, "| app.exe | app.exe+0x1110 | 6,000 |");
    expect_no(text, "app::main");
    assert_true(has_file(f, "app.pdb"));
}

static void test_path_of_a_loaded_trace(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb", &f->pdb);
    load(f, (Str){0});
    expect(hot(f), "app.exe+0x1110");
    load(f, f->store);
    expect(hot(f), "app::main");
}

// Precompiled managed code: the trace names the image; an image that proves to be it names the map.
static const Guid MAP_SIGNATURE = {
    {0x73, 0x4D, 0x59, 0xD6, 0xDE, 0x0E, 0x96, 0xAA, 0x3C, 0x77, 0xB3, 0xE2, 0xED, 0x49, 0x80,
     0x97}
};
#define MAP_KEY "r2rmap-v1-734d59d6de0e96aa3c77b3e2ed498097"
#define MAP_METHODS "00001000 20 int Some.Lib`1<System.String>::Parse(System.String, int)\n"

static void build_map(Fixture *f, const char *signature, Buf *map) {
    buf_clear(map);
    buf_addf(map, "FFFFFFFF 00 %s\nFFFFFFFE 00 1\nFFFFFFFD 00 1\nFFFFFFFC 00 3\nFFFFFFFB 00 1\n%s",
             signature, MAP_METHODS);
    buf_clear(&f->image);
    ImageSpec spec = {.time_date_stamp = 0x5F000000,
                      .image_size = 0x4000,
                      .machine = 0x8664,
                      .perfmap = &MAP_SIGNATURE,
                      .perfmap_path = "C:\\obj\\Lib.ni.r2rmap"};
    image_build(&spec, &f->image);
}

static void load_with_map(Fixture *f, const char *signature) {
    AUTO(buf_done) Buf map = {0};
    build_map(f, signature, &map);
    put_file(f, "lib.dll", &f->image);
    put_file(f, "lib.ni.r2rmap", &map);
    load(f, f->store);
}

static void test_perfmap_beside_its_image(void **state) {
    Fixture *f = *state;
    load_with_map(f, "734D59D6DE0E96AA3C77B3E2ED498097");
    expect(hot(f), "| lib.dll | Some.Lib`1<System.String>.Parse | 2,000 |");
    expect(call(f, "check_symbols", json_object()), "| lib.dll | 1 | 1 |");
    // 0x1025 lies behind the method: no name is better than a wrong one.
    expect(sql(f, "SELECT count(*) AS n FROM symbol WHERE function LIKE 'Some.Lib%'"), "| 1 |");
    expect(
        sql(f,
            "SELECT count(*) AS n FROM frame_line WHERE function_name LIKE 'Some.Lib%' AND file IS "
            "NOT NULL"),
        "| 0 |");
}

static void test_perfmap_of_another_build(void **state) {
    Fixture *f = *state;
    load_with_map(f, "00000000000000000000000000000001");
    expect_no(hot(f), "Some.Lib");
}

static void test_perfmap_from_a_server(void **state) {
    Fixture *f = *state;
    AUTO(buf_done) Buf map = {0};
    build_map(f, "734d59d6de0e96aa3c77b3e2ed498097", &map);
    put_file(f, "lib.dll/" IMAGE_KEY "/lib.dll", &f->image);
    f->mock = http_mock_start();
    http_mock_set(f->mock, "/lib.ni.r2rmap/" MAP_KEY "/lib.ni.r2rmap",
                  (MockReply){.status = 200, .body = buf_str(&map)});
    load(f, str_format(&f->arena, "srv*" STR_FMT "*http://127.0.0.1:%u", STR_ARG(f->store),
                       http_mock_port(f->mock)));
    expect_no(hot(f), "Some.Lib");
    expect(call(f, "resolve_symbols", json_pack("{s:s}", "modules", "lib.dll")), "downloaded");
    expect(hot(f), "| lib.dll | Some.Lib`1<System.String>.Parse | 2,000 |");
    assert_true(has_file(f, "lib.ni.r2rmap/" MAP_KEY "/lib.ni.r2rmap"));
}

// The same for a Windows PDB of precompiled code, beside the image that names it.
static void test_native_pdb_beside_its_image(void **state) {
    Fixture *f = *state;
    buf_clear(&f->image);
    ImageSpec spec = {.time_date_stamp = 0x5F000001,
                      .image_size = 0x4000,
                      .machine = 0x8664,
                      .guid = &SAMPLE_GUID,
                      .age = SAMPLE_AGE,
                      .pdb_path = "app.ni.pdb"};
    image_build(&spec, &f->image);
    put_file(f, "app.exe", &f->image);
    put_file(f, "app.ni.pdb", &f->pdb);
    load(f, f->store);
    expect(hot(f), "| app.exe | app::main | 6,000 |");
}

static void test_fastlink_is_said(void **state) {
    Fixture *f = *state;
    AUTO(pdb_build_free) PdbBuild *fast = pdb_build_sample();
    AUTO(buf_done) Buf bytes = {0};
    pdb_build_flags(fast, 0, 0x8664, 0x494E494D);
    pdb_build_msf(fast, (MsfSpec){0}, &bytes);
    put_file(f, "app.pdb", &bytes);
    load(f, f->store);
    expect(call(f, "check_symbols", json_object()), "app.exe was linked with /DEBUG:FASTLINK");
    expect(call(f, "diagnose_symbol_load", json_pack("{s:s}", "module", "app.exe")),
           "mspdbcmf.exe");
}

// ---------------------------------------------------------------- the tools

static void test_check_statuses(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    put_file(f, "lib.dll/" IMAGE_KEY "/lib.dll", &f->image);
    load(f, f->store);
    const char *text = call(f, "check_symbols", json_object());
    expect(text, "| app.exe | 3 | 4 | 0 | 0 | 0 | 0 | 100.0% | 0% | 7,000 | OK | yes | yes |");
    expect(
        text,
        "| lib.dll | 2 | 0 | 0 | 2 | 0 | 0 | 0% | 100.0% | 2,000 | EXPORT_ONLY | image only | - |");
    expect(text,
           "| gone.dll | 0 | 0 | 0 | 0 | 0 | 1 | 0% | 0% | 1,000 | MISSING | image only | - |");
    expect(text, "pdb 70.0 %, export 20.0 %, pre-resolved 0.0 %, unknown 10.0 %");
    expect(text, "folder");
}

static void test_check_mismatch(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb", &f->other);
    load(f, f->store);
    const char *text = call(f, "check_symbols", json_object());
    expect(text, "| MISMATCHED_PDB | yes | other identity |");
    expect(text, "diagnose_symbol_load(");
    expect_no(text, "app::main");
}

static void test_check_without_path(void **state) {
    Fixture *f = *state;
    load(f, (Str){0});
    const char *text = call(f, "check_symbols", json_object());
    expect(text, "No symbol path is set");
    expect(text, "| MISSING | yes | none |");
}

static void test_check_extra_path_is_kept(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb", &f->pdb);
    load(f, (Str){0});
    expect(hot(f), "app.exe+0x1110");
    expect(call(f, "check_symbols", json_pack("{s:[s]}", "extra_symbol_paths", f->store.p)),
           "| OK | yes | yes |");
    expect(hot(f), "app::main");
}

static Str server_path(Fixture *f) {
    f->mock = http_mock_start();
    return str_format(&f->arena, "srv*" STR_FMT "*http://127.0.0.1:%u/symbols", STR_ARG(f->store),
                      http_mock_port(f->mock));
}

static void test_resolve_from_server(void **state) {
    Fixture *f = *state;
    Str path = server_path(f);
    http_mock_set(f->mock, "/symbols/app.pdb/" KEY "/app.pdb",
                  (MockReply){.status = 200, .body = buf_str(&f->pdb)});
    load(f, path);
    expect(hot(f), "app.exe+0x1110"); // no tool but resolve_symbols asks servers
    expect(call(f, "check_symbols", json_object()), "not local, server not asked");
    assert_int_equal(http_mock_requests(f->mock), 0);
    const char *text = call(f, "resolve_symbols", json_object());
    expect(text, "| app.exe | app.pdb | " KEY " | downloaded |");
    expect(text, "| gone.dll | gone.dll | 5F0000024000 | not on server |");
    expect(text, "Before: pdb 0.0 %");
    expect(text, "After: pdb 70.0 %");
    expect(hot(f), "app::main");
    assert_true(has_file(f, "app.pdb/" KEY "/app.pdb"));
}

static void test_resolve_refuses_another_build(void **state) {
    Fixture *f = *state;
    Str path = server_path(f);
    http_mock_set(f->mock, "/symbols/app.pdb/" KEY "/app.pdb",
                  (MockReply){.status = 200, .body = buf_str(&f->other)});
    load(f, path);
    const char *text =
        call(f, "resolve_symbols", json_pack("{s:s}", "modules", "app, nothere.dll"));
    expect(text, "identity mismatch");
    expect(text, "No module with code addresses is called nothere.dll");
    expect_no(text, "lib.dll");
    expect(hot(f), "app.exe+0x1110");
    assert_false(has_file(f, "app.pdb/" KEY "/app.pdb"));
}

static void test_resolve_without_downloads(void **state) {
    Fixture *f = *state;
    engine_close(f->engine);
    EngineOptions options = {.quiet = true};
    (void)setenv("ETW_MCP_NO_AUTO_DOWNLOAD", "1", 1);
    Err err = {0};
    if (engine_open(&options, &f->engine, &err) != OK) fail_msg("%s", err.text);
    load(f, server_path(f));
    const char *text = call(f, "resolve_symbols", json_object());
    expect(text, "| skipped |");
    expect(text, "ETW_MCP_NO_AUTO_DOWNLOAD");
    assert_int_equal(http_mock_requests(f->mock), 0);
}

static void test_resolve_without_server(void **state) {
    Fixture *f = *state;
    load(f, f->store);
    expect(call(f, "resolve_symbols", json_object()), "names no server");
}

static void test_diagnose(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb", &f->other);
    load(f, f->store);
    const char *text = call(f, "diagnose_symbol_load", json_pack("{s:s}", "module", "app"));
    expect(text, "44332211-6655-8877-99aa-bbccddeeff01");
    expect(text, "44332210-6655-8877-99aa-bbccddeeff01 | 3 | NO: another GUID |");
    expect(text, "MISMATCHED_PDB");
    text = call(f, "diagnose_symbol_load", json_pack("{s:s}", "module", "apq.exe"));
    assert_true(f->reply.is_error);
    expect(text, "app.exe");
}

// An image that names the sample's PDB.
static void put_binary(Fixture *f, const char *name, const Guid *guid) {
    AUTO(buf_done) Buf bytes = {0};
    ImageSpec spec = {.time_date_stamp = 0x5F000001,
                      .image_size = 0x4000,
                      .machine = 0x8664,
                      .guid = guid,
                      .age = SAMPLE_AGE,
                      .pdb_path = "c:\\build\\app.pdb",
                      .exports = EXPORTS,
                      .export_count = COUNT_OF(EXPORTS)};
    image_build(&spec, &bytes);
    put_file(f, name, &bytes);
}

static void test_diagnose_binary(void **state) {
    Fixture *f = *state;
    Guid guid = SAMPLE_GUID;
    guid.bytes[0] ^= 1;
    put_binary(f, "new/app.exe", &guid);
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    load(f, f->store);
    const char *exe = path_join(&f->arena, f->store, STR("new/app.exe")).p;
    const char *text = call(f, "diagnose_symbol_load",
                            json_pack("{s:s,s:s}", "module", "app.exe", "exe_path", exe));
    expect(text, "YES (trace)");
    expect(text, "differs: another GUID");
    exe = path_join(&f->arena, f->store, STR("app.pdb/" KEY "/app.pdb")).p;
    (void)call(f, "diagnose_symbol_load",
               json_pack("{s:s,s:s}", "module", "app.exe", "exe_path", exe));
    assert_true(f->reply.is_error);
}

// The image on the path tells of a PDB that the trace did not: lib.dll by time stamp and size.
static void test_image_names_the_pdb(void **state) {
    Fixture *f = *state;
    AUTO(buf_done) Buf image = {0};
    ImageSpec spec = {.time_date_stamp = 0x5F000000,
                      .image_size = 0x4000,
                      .machine = 0x8664,
                      .guid = &SAMPLE_GUID,
                      .age = SAMPLE_AGE,
                      .pdb_path = "c:\\build\\lib.pdb",
                      .exports = EXPORTS,
                      .export_count = COUNT_OF(EXPORTS)};
    image_build(&spec, &image);
    put_file(f, "lib.dll/" IMAGE_KEY "/lib.dll", &image);
    put_file(f, "lib.pdb/" KEY "/lib.pdb", &f->pdb);
    load(f, f->store);
    expect(call(f, "check_symbols", json_object()), "from the image | yes |");
}

#define OTHER_KEY "443322106655887799AABBCCDDEEFF013"

static json_t *clean_arguments(Fixture *f, bool dry_run) {
    const char *exe = path_join(&f->arena, f->store, STR("app.exe")).p;
    return json_pack("{s:s,s:s,s:b,s:s}", "module", "app", "exe_path", exe, "dry_run", dry_run,
                     "symcache_root", f->store.p);
}

static void test_clean(void **state) {
    Fixture *f = *state;
    Guid guid = SAMPLE_GUID;
    guid.bytes[0] ^= 1;
    put_binary(f, "app.exe", &guid);
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    put_file(f, "app.pdb/" OTHER_KEY "/app.pdb", &f->other);
    put_file(f, "app.pdb/00000000000000000000000000000000A/app.pdb", &f->pdb);
    put_file(f, "app.pdb/notes/app.pdb", &f->pdb);
    const char *text = call(f, "clean_stale_symbol_files", clean_arguments(f, true));
    expect(text, OTHER_KEY " | KEEP (current) |");
    expect(text, "00A | STALE |");
    expect(text, KEY " | STALE |");
    expect_no(text, "notes");
    assert_true(has_file(f, "app.pdb/" KEY "/app.pdb"));
    load(f, f->store);
    text = call(f, "clean_stale_symbol_files", clean_arguments(f, false));
    expect(text, KEY " | KEEP (in use by trace_");
    expect(text, "00A | STALE: removed |");
    assert_true(has_file(f, "app.pdb/" KEY "/app.pdb"));
    assert_true(has_file(f, "app.pdb/" OTHER_KEY "/app.pdb"));
    assert_true(has_file(f, "app.pdb/notes/app.pdb"));
    assert_false(has_file(f, "app.pdb/00000000000000000000000000000000A"));
}

static void test_clean_needs_rsds(void **state) {
    Fixture *f = *state;
    put_file(f, "app.exe", &f->image);
    expect(call(f, "clean_stale_symbol_files", clean_arguments(f, true)), "no RSDS record");
    assert_true(f->reply.is_error);
}

static void test_hot_lines(void **state) {
    Fixture *f = *state;
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    load(f, f->store);
    const char *text = call(f, "get_hot_lines", json_pack("{s:s}", "function", "MAIN"));
    expect(text, "Function: app.exe!app::main (pdb)");
    expect(text, "c:\\src\\");
    expect(text, "100.0%");
    text = call(f, "get_hot_lines", json_pack("{s:s}", "function", "gone.dll"));
    expect(text, "no line");
    expect(text, "diagnose_symbol_load");
    expect(call(f, "get_hot_lines", json_pack("{s:s}", "function", "nosuch")), "No sample lies");
}

#ifndef _WIN32
static void test_clean_follows_no_link(void **state) {
    Fixture *f = *state;
    put_binary(f, "app.exe", &SAMPLE_GUID);
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    put_file(f, "elsewhere/app.pdb", &f->other);
    Str target = path_join(&f->arena, f->store, STR("elsewhere"));
    Str link = path_join(&f->arena, f->store, STR("app.pdb/" OTHER_KEY));
    assert_int_equal(symlink(target.p, link.p), 0);
    const char *text = call(f, "clean_stale_symbol_files", clean_arguments(f, false));
    expect(text, OTHER_KEY " | KEEP (a link or no folder) |");
    expect(text, KEY " | KEEP (current) |");
    assert_true(has_file(f, "elsewhere/app.pdb"));
}
#endif

// ---------------------------------------------------------------- many at once

enum { CALLERS = 6 };
typedef struct Caller {
    Fixture *fixture;
    unsigned number;
    bool named;
} Caller;

static void call_at_once(void *context) {
    static const char *const CALLS[][2] = {
        {"get_hot_functions", "{\"modules\": \"all\"}"                             },
        {"query_trace",       "{\"sql\": \"SELECT DISTINCT function FROM symbol\"}"},
        {"get_hot_lines",     "{\"function\": \"app::main\"}"                      },
    };
    Caller *caller = context;
    AUTO(arena_done) Arena arena = {0};
    const char *const *what = CALLS[caller->number % COUNT_OF(CALLS)];
    json_t *arguments = json_loads(what[1], 0, NULL);
    (void)json_object_set_new(arguments, "trace_id", json_string(caller->fixture->id));
    ToolReply reply = {0};
    Engine *engine = caller->fixture->engine;
    const ToolInfo *tool = engine_tool_named(engine, str_from_c(what[0]));
    engine_call(engine, tool, arguments, REPLY_MARKDOWN, NULL, &arena, &reply);
    json_decref(arguments);
    caller->named = str_find(reply.text, STR("app::main")) != SIZE_MAX;
}

// The first query that wants names finds them while others wait for the same.
static void test_many_at_once(void **state) {
    Fixture *f = *state;
    Thread *threads[CALLERS];
    Caller callers[CALLERS];
    put_file(f, "app.pdb/" KEY "/app.pdb", &f->pdb);
    load(f, f->store);
    for (unsigned i = 0; i < CALLERS; i++) {
        callers[i] = (Caller){.fixture = f, .number = i};
        assert_int_equal(thread_start(call_at_once, &callers[i], &threads[i], NULL), OK);
    }
    for (unsigned i = 0; i < CALLERS; i++) thread_join(threads[i]);
    for (unsigned i = 0; i < CALLERS; i++) assert_true(callers[i].named);
}

// ---------------------------------------------------------------- real files

static void test_real_pdb(void **state) {
    Fixture *f = *state;
    Str pdbs = shared_folder(ETW_SOURCE_DIR, "pdbs", &f->arena);
    if (!pdbs.n) skip();
    AUTO(symfile_close) SymFile *file = NULL;
    Err err = {0};
    Str pdb = path_join(&f->arena, pdbs, STR("dump_syms_regtest64.pdb"));
    if (symfile_open(pdb, NULL, &file, &err) != OK) fail_msg("%s", err.text);
    const SymTab *table = symfile_table(file);
    const SymTabInfo *info = symtab_info(table);
    SymFunction function = {.kind = SYMBOL_EXPORT};
    for (uint32_t i = 0; i < symtab_count(table) && function.kind != SYMBOL_PROCEDURE; i++)
        symtab_function(table, i, &f->arena, &function);
    char guid[GUID_TEXT_SIZE];
    guid_to_text(&info->guid, guid);
    Str script = str_format(
        &f->arena,
        "trace cpus=1 masks=0x1270F,2 merged=1\nprocess start 1ms pid=100 name=r.exe\n"
        "thread start 1ms pid=100 tid=101\n"
        "image load 2ms pid=100 base=0x7ff600000000 size=0x100000 "
        "name=\\Device\\HarddiskVolume3\\r.exe pdb=dump_syms_regtest64.pdb guid=%s age=%u\n"
        "sample 5ms cpu=0 tid=101 ip=r.exe+0x%x\n",
        guid, info->dbi_age, function.rva);
    if (etl_build_script_file(script, f->trace, &err) != OK) fail_msg("%s", err.text);
    load(f, pdbs);
    const char *wanted =
        str_format(&f->arena, "| r.exe | " STR_FMT " | 1,000 | 100.0%%", STR_ARG(function.name)).p;
    expect(hot(f), wanted);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_names_from_store),
        CASE(test_return_addresses),
        CASE(test_lines_in_sql),
        CASE(test_no_path_costs_nothing),
        CASE(test_perfmap_beside_its_image),
        CASE(test_perfmap_of_another_build),
        CASE(test_perfmap_from_a_server),
        CASE(test_native_pdb_beside_its_image),
        CASE(test_fastlink_is_said),
        CASE(test_load_looks_for_nothing),
        CASE(test_flat_folder_must_match),
        CASE(test_path_of_a_loaded_trace),
        CASE(test_check_statuses),
        CASE(test_check_mismatch),
        CASE(test_check_without_path),
        CASE(test_check_extra_path_is_kept),
        CASE(test_resolve_from_server),
        CASE(test_resolve_refuses_another_build),
        CASE(test_resolve_without_downloads),
        CASE(test_resolve_without_server),
        CASE(test_diagnose),
        CASE(test_diagnose_binary),
        CASE(test_image_names_the_pdb),
        CASE(test_clean),
        CASE(test_clean_needs_rsds),
#ifndef _WIN32
        CASE(test_clean_follows_no_link),
#endif
        CASE(test_many_at_once),
        CASE(test_hot_lines),
        CASE(test_real_pdb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
