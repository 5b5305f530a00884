// `etw-mcp pdb` as it is typed: every option, both formats, and what is refused with which exit
// code.
#include "support/pdb_build.h"

#include "base/os.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { EXIT_FINE = 0, EXIT_USAGE = 2, EXIT_FILE = 3 };

typedef struct World {
    Arena arena;
    Str folder;
} World;

static void write_file(World *w, const char *name, Str bytes) {
    Str path = path_join(&w->arena, w->folder, str_from_c(name));
    assert_int_equal(file_write_atomic(path, bytes, NULL), OK);
}

// The beginning of a portable PDB: signature, version, one stream "#Pdb" with its id.
static void build_portable(Buf *out) {
    static const char BYTES[] = "BSJB\1\0\1\0\0\0\0\0\14\0\0\0PDB v1.0\0\0\0\0\0\0\1\0"
                                "\54\0\0\0\40\0\0\0#Pdb\0\0\0\0"
                                "0123456789abcdef\1\2\3\4\0\0\0\0\0\0\0\0\0\0\0\0";
    buf_add(out, (Str){BYTES, sizeof BYTES - 1});
}

static int world_open(void **state) {
    World *w = mem_zero(1, sizeof *w);
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf pdb = {0}, image = {0}, portable = {0};
    static const char *const EXPORTS[] = {"alpha"};
    ImageSpec spec = {
        .machine = 0x8664, .image_size = 0x5000, .exports = EXPORTS, .export_count = 1};
    w->folder = str_format(&w->arena, "%s/test_cli_pdb.%d", ETW_BINARY_DIR, os_process_id());
    assert_int_equal(os_make_folders(w->folder, NULL), OK);
    pdb_build_msf(b, (MsfSpec){0}, &pdb);
    image_build(&spec, &image);
    build_portable(&portable);
    write_file(w, "app.pdb", buf_str(&pdb));
    write_file(w, "app.dll", buf_str(&image));
    write_file(w, "il.pdb", buf_str(&portable));
    write_file(w, "page.pdb", STR("<html>Sign in</html>"));
    write_file(w, "cut.pdb", str_slice(buf_str(&pdb), 0, pdb.n / 2));
    *state = w;
    return 0;
}

static int world_close(void **state) {
    World *w = *state;
    assert_int_equal(os_remove_tree(w->folder, NULL), OK);
    arena_done(&w->arena);
    mem_free(w);
    return 0;
}

// Both streams together; *code is the exit status.
static void run(World *w, const char *arguments, Buf *out, int *code) {
    Str command = str_format(&w->arena, "cd '" STR_FMT "' && '%s/etw-mcp' pdb %s 2>&1",
                             STR_ARG(w->folder), ETW_BINARY_DIR, arguments);
    FILE *pipe = popen(command.p, "r"); // NOLINT(cert-env33-c): the shell joins the streams
    assert_non_null(pipe);
    char bytes[4096];
    buf_clear(out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;) buf_add(out, (Str){bytes, n});
    int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_calls(void **state) {
    World *w = *state;
    static const struct {
        const char *arguments, *wanted;
        int code;
    } CASES[] = {
        {"app.pdb",                       "GUID:        44332211-",                    EXIT_FINE },
        {"app.pdb --functions",           "procedure        app::main\n",              EXIT_FINE },
        {"--functions app.pdb",           "procedure        app::main\n",              EXIT_FINE },
        {"app.pdb --lines",               "00001100      8 c:\\src\\a.cpp:10\n",       EXIT_FINE },
        {"app.pdb --address 0x110C",      "app::main+0xc [c:\\src\\a.cpp:12]",         EXIT_FINE },
        {"app.pdb --address=4364",        "app::main+0xc [c:\\src\\a.cpp:12]",         EXIT_FINE },
        {"app.pdb --address 0xFFFFFFFF",  "no function covers 0xffffffff",             EXIT_FINE },
        {"app.dll",                       "image: exports and unwind ranges only",     EXIT_FINE },
        {"app.dll --functions",           "export           *alpha\n",                 EXIT_FINE },
        {"app.dll --address 0x1000",      "*alpha+0x0 (export)",                       EXIT_FINE },
        {"app.dll --lines",               "an image, not a PDB",                       EXIT_FILE },
        {"il.pdb",                        "portable PDB: managed code only",           EXIT_FINE },
        {"il.pdb --functions",            "holds no native addresses",                 EXIT_FILE },
        {"page.pdb",                      "text, not a symbol file",                   EXIT_FILE },
        {"cut.pdb --functions",           "outside the file",                          EXIT_FILE },
        {"none.pdb",                      "No such file",                              EXIT_FILE },
        {".",                             "is a folder",                               EXIT_FILE },
        {"",                              "pdb wants a file",                          EXIT_USAGE},
        {"app.pdb app.dll",               "takes one file",                            EXIT_USAGE},
        {"app.pdb --functions --lines",   "one of --functions, --lines and --address", EXIT_USAGE},
        {"app.pdb --wrong",               "\"--wrong\" is no option",                  EXIT_USAGE},
        {"app.pdb --address",             "value is missing",                          EXIT_USAGE},
        {"app.pdb --address main",        "wants an RVA like 0x1234, not \"main\"",    EXIT_USAGE},
        {"app.pdb --address 0x100000000", "wants an RVA",                              EXIT_USAGE},
        {"app.pdb --address -1",          "wants an RVA",                              EXIT_USAGE},
    };
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        int code = 0;
        run(w, CASES[i].arguments, &out, &code);
        if (code != CASES[i].code ||
            str_find(buf_str(&out), str_from_c(CASES[i].wanted)) == SIZE_MAX)
            fail_msg("pdb %s: exit %d, want %d and \"%s\":\n" STR_FMT, CASES[i].arguments, code,
                     CASES[i].code, CASES[i].wanted, STR_ARG(buf_str(&out)));
    }
}

static void test_json(void **state) {
    World *w = *state;
    static const struct {
        const char *arguments, *key;
    } CASES[] = {
        {"app.pdb --json",                  "guid"      },
        {"--json app.pdb",                  "store_path"},
        {"app.pdb --json --functions",      "functions" },
        {"app.pdb --lines --json",          "lines"     },
        {"app.pdb --address 0x110C --json", "frames"    },
        {"app.pdb --address 0 --json",      "frames"    },
        {"app.dll --json",                  "exports"   },
        {"app.dll --json --functions",      "functions" },
        {"il.pdb --json",                   "guid"      },
    };
    AUTO(buf_done) Buf out = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        int code = 0;
        run(w, CASES[i].arguments, &out, &code);
        json_t *json = json_loadb(out.p, out.n, 0, NULL);
        if (code != EXIT_FINE || !json_object_get(json, CASES[i].key))
            fail_msg("pdb %s: exit %d, no \"%s\" in:\n" STR_FMT, CASES[i].arguments, code,
                     CASES[i].key, STR_ARG(buf_str(&out)));
        json_decref(json);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {CASE(test_calls), CASE(test_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
