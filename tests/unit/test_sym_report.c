// The text and JSON of `pdb`, on the sample file and on an image.
#include "support/pdb_build.h"
#include "sym/pdb_report.h"

#include "base/os.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct World {
    Arena arena;
    Str folder, pdb, image, text;
} World;

static int world_open(void **state) {
    World *w = mem_zero(1, sizeof *w);
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf pdb = {0}, image = {0};
    static const char *const EXPORTS[] = {"alpha", "beta"};
    ImageSpec spec = {.time_date_stamp = 0x12345678,
                      .image_size = 0x5000,
                      .machine = 0x8664,
                      .guid = &SAMPLE_GUID,
                      .age = SAMPLE_AGE,
                      .pdb_path = "d:\\out\\app.pdb",
                      .exports = EXPORTS,
                      .export_count = COUNT_OF(EXPORTS)};
    pdb_build_msf(b, (MsfSpec){0}, &pdb);
    image_build(&spec, &image);
    w->folder = str_format(&w->arena, "%s/test_sym_report.%d", ETW_BINARY_DIR, os_process_id());
    w->pdb = path_join(&w->arena, w->folder, STR("app.pdb"));
    w->image = path_join(&w->arena, w->folder, STR("app.dll"));
    w->text = path_join(&w->arena, w->folder, STR("page.pdb"));
    assert_int_equal(os_make_folders(w->folder, NULL), OK);
    assert_int_equal(file_write_atomic(w->pdb, buf_str(&pdb), NULL), OK);
    assert_int_equal(file_write_atomic(w->image, buf_str(&image), NULL), OK);
    assert_int_equal(file_write_atomic(w->text, STR("<html>"), NULL), OK);
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

static void test_text(void **state) {
    World *w = *state;
    const struct {
        Str path;
        PdbReportOptions options;
        const char *want;
    } cases[] = {
        {w->pdb,
         {.part = PDB_REPORT_FUNCTIONS},
         "00001005        5 jump table entry ILT+0x5(app::main)\n"
         "00001100       40 procedure        app::main\n"
         "00001140       20 static procedure helper\n"
         "00001200       10 procedure        same (+1 folded)\n"
         "00001220        6 thunk            imported\n"
         "00001300       30 public function  app::Widget::run\n"
         "00001380       20 public label     label\n"                                                      },
        {w->pdb,
         {.part = PDB_REPORT_FUNCTIONS, .max_rows = 2},
         "00001005        5 jump table entry ILT+0x5(app::main)\n"
         "00001100       40 procedure        app::main\n"
         "... 2 of 7 rows\n"                                                                               },
        {w->pdb,
         {.part = PDB_REPORT_LINES},
         "00001100      8 c:\\src\\a.cpp:10\n"
         "00001108     10 c:\\src\\a.cpp:12\n"
         "00001118     28 c:\\src\\a.cpp:13\n"                                                             },
        {w->pdb,
         {.part = PDB_REPORT_ADDRESS, .address = 0x110C},
         "app::clamp [c:\\src\\clamp.h:200] (inlined)\n"
         "app::Widget::grow [c:\\src\\a.cpp:101] (inlined)\n"
         "app::main+0xc [c:\\src\\a.cpp:12] (procedure)\n"                                                 },
        {w->pdb,
         {.part = PDB_REPORT_ADDRESS, .address = 0x1300, .full_names = true},
         "public: int __cdecl app::Widget::run(int)+0x0 (public function)\n"                               },
        {w->pdb,   {.part = PDB_REPORT_ADDRESS, .address = 0x9000},           "no function covers 0x9000\n"},
        {w->image,
         {.part = PDB_REPORT_FUNCTIONS},
         "00001000        c export           *alpha\n00001010        1 export           *beta\n"           },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO(buf_done) Buf out = {0};
        assert_int_equal(pdb_report(cases[i].path, &cases[i].options, &out, NULL), OK);
        assert_string_equal(out.p, cases[i].want);
    }
}

static void test_summary(void **state) {
    World *w = *state;
    static const char *const LINES[] = {
        "GUID:        44332211-6655-8877-99aa-bbccddeeff01\n",
        "Age:         3\n",
        "File age:    5\n",
        "Store path:  app.pdb/443322116655887799AABBCCDDEEFF013/app.pdb\n",
        "Symbols:     private symbols with lines\n",
        "Procedures:  5\n",
        "Source index: 12\n",
    };
    PdbReportOptions options = {0};
    AUTO(buf_done) Buf out = {0};
    assert_int_equal(pdb_report(w->pdb, &options, &out, NULL), OK);
    for (size_t i = 0; i < COUNT_OF(LINES); i++)
        if (str_find(buf_str(&out), str_from_c(LINES[i])) == SIZE_MAX)
            fail_msg("no line %s in:\n%s", LINES[i], out.p);
}

static void test_json_is_whole(void **state) {
    World *w = *state;
    for (int part = PDB_REPORT_SUMMARY; part <= PDB_REPORT_ADDRESS; part++) {
        AUTO(buf_done) Buf out = {0};
        PdbReportOptions options = {.part = (PdbReportPart)part, .address = 0x110C, .json = true};
        assert_int_equal(pdb_report(w->pdb, &options, &out, NULL), OK);
        json_t *json = json_loadb(out.p, out.n, 0, NULL);
        assert_non_null(json);
        assert_true(json_is_object(json) && json_object_get(json, "file"));
        size_t rows =
            json_array_size(json_object_get(json, part == PDB_REPORT_FUNCTIONS ? "functions"
                                                  : part == PDB_REPORT_LINES   ? "lines"
                                                                               : "frames"));
        static const size_t WANT[] = {0, 7, 3, 3};
        assert_int_equal(rows, WANT[part]);
        json_decref(json);
    }
}

static void test_refusals(void **state) {
    World *w = *state;
    PdbReportOptions options = {0};
    AUTO(buf_done) Buf out = {0};
    Err err = {0};
    assert_int_equal(pdb_report(w->text, &options, &out, &err), ERR_INPUT);
    assert_true(str_find(str_from_c(err.text), STR("text, not a symbol file")) != SIZE_MAX);
    Str none = path_join(&w->arena, w->folder, STR("none.pdb"));
    assert_int_equal(pdb_report(none, &options, &out, &err), ERR_NOT_FOUND);
    options.part = PDB_REPORT_LINES;
    assert_int_equal(pdb_report(w->image, &options, &out, &err), ERR_NOT_FOUND);
    assert_int_equal(out.n, 0);
}

static void expect_in(Str text, const char *wanted) {
    if (str_find(text, str_from_c(wanted)) == SIZE_MAX)
        fail_msg("no \"%s\" in:\n" STR_FMT, wanted, STR_ARG(text));
}

static void test_image_summary(void **state) {
    World *w = *state;
    PdbReportOptions options = {.part = PDB_REPORT_ADDRESS, .address = 0x1004};
    AUTO(buf_done) Buf out = {0}, at = {0};
    assert_int_equal(pdb_report(w->image, &options, &at, NULL), OK);
    assert_string_equal(at.p, "*alpha+0x4 (export)\n");
    options.part = PDB_REPORT_SUMMARY;
    assert_int_equal(pdb_report(w->image, &options, &out, NULL), OK);
    expect_in(buf_str(&out), "Container:   image: exports and unwind ranges only\n");
    expect_in(buf_str(&out), "Store path:  app.dll/123456785000/app.dll\n");
    expect_in(buf_str(&out), "PDB store:   app.pdb/443322116655887799AABBCCDDEEFF013/app.pdb\n");
    expect_in(buf_str(&out), "Exports:     2\n");
}

// What such a PDB lacks must not look like a module without functions.
static void test_fastlink(void **state) {
    World *w = *state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf pdb = {0}, out = {0};
    pdb_build_flags(b, 0, 0x8664, 0x494E494D);
    pdb_build_msf(b, (MsfSpec){0}, &pdb);
    Str path = path_join(&w->arena, w->folder, STR("fast.pdb"));
    assert_int_equal(file_write_atomic(path, buf_str(&pdb), NULL), OK);
    assert_int_equal(pdb_report(path, &(PdbReportOptions){0}, &out, NULL), OK);
    expect_in(buf_str(&out), "/DEBUG:FASTLINK");
    expect_in(buf_str(&out), "mspdbcmf.exe");
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_open, world_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_text),     WORLD_TEST(test_summary),       WORLD_TEST(test_json_is_whole),
        WORLD_TEST(test_refusals), WORLD_TEST(test_image_summary), WORLD_TEST(test_fastlink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
