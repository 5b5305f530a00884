// ReadyToRun perf maps: header, methods, names, identity, and what damage costs.
#include "support/pdb_build.h"
#include "sym/pdb_report.h"
#include "sym/sym.h"

#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SIGNATURE "734D59D6DE0E96AA3C77B3E2ED498097"
#define HEADER                                                                                     \
    "FFFFFFFF 00 " SIGNATURE "\nFFFFFFFE 00 1\nFFFFFFFD 00 1\nFFFFFFFC 00 3\nFFFFFFFB 00 1\n"

static Status open_text(const char *text, SymFile **out, Err *err) {
    return symfile_open_bytes(str_from_c(text), STR("lib.ni.r2rmap"), out, err);
}

static Str name_at(const SymFile *file, uint32_t rva, Arena *arena) {
    SymFunction function = {0};
    uint32_t index = symtab_at(symfile_table(file), rva, NULL);
    if (index == SYM_NONE) return (Str){0};
    symtab_function(symfile_table(file), index, arena, &function);
    return function.name;
}

// Lengths have as many digits as they need; a method split in two stands there twice.
static void test_methods(void **state) {
    (void)state;
    static const char TEXT[] = HEADER "00002000 1F0 System.Foo::Bar(int, string)\r\n"
                                      "00001000 20 int System.Foo::.ctor()\r\n"
                                      "00004000 10 System.Foo::Bar(int, string)\r\n";
    AUTO(arena_done) Arena arena = {0};
    AUTO(symfile_close) SymFile *file = NULL;
    assert_int_equal(open_text(TEXT, &file, NULL), OK);
    static const struct {
        uint32_t rva;
        const char *name;
    } CASES[] = {
        {0x0FFF, ""                },
        {0x1000, "System.Foo..ctor"},
        {0x101F, "System.Foo..ctor"},
        {0x1020, ""                },
        {0x21EF, "System.Foo.Bar"  },
        {0x21F0, ""                },
        {0x400F, "System.Foo.Bar"  },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str name = name_at(file, CASES[i].rva, &arena);
        if (!str_eq(name, str_from_c(CASES[i].name)))
            fail_msg("%x: " STR_FMT, CASES[i].rva, STR_ARG(name));
    }
    const PerfMapInfo *info = symfile_perfmap(file);
    assert_int_equal(info->machine, MACHINE_X64);
    assert_int_equal(info->version, 1);
    assert_int_equal(info->signature.bytes[0], 0x73);
    assert_int_equal(info->signature.bytes[15], 0x97);
    assert_false(symtab_info(symfile_table(file))->damaged);
    Pdb *pdb = NULL;
    assert_int_equal(symfile_pdb(file, &pdb, NULL), ERR_NOT_FOUND);
}

static void test_names(void **state) {
    (void)state;
    static const char *const CASES[][2] = {
        {"System.Foo::Bar()",                                   "System.Foo.Bar"                },
        {"int System.Foo::Bar(int)",                            "System.Foo.Bar"                },
        {"System.A`1<int, b.C>[] N.G`2<A, B>::M<X, Y>(N.G, D)", "N.G`2<A, B>.M<X, Y>"           },
        {"bool N.C::System.Collections.IEnumerator.MoveNext()",
         "N.C.System.Collections.IEnumerator.MoveNext"                                          },
        {"[System.Core]System.Linq.E::Any(x)",                  "[System.Core]System.Linq.E.Any"},
        {"a stub without a type",                               "a stub without a type"         },
        {"N.C::Field",                                          "N.C::Field"                    },
        {"operator()",                                          "operator()"                    },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf out = {0};
        perfmap_add_name(str_from_c(CASES[i][0]), &out);
        buf_add_char(&out, 0);
        assert_string_equal(out.p, CASES[i][1]);
    }
}

// A header that is not whole proves no identity; a bad line costs itself.
static void test_damage(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
        unsigned functions;
    } CASES[] = {
        {"FFFFFFFF 00 " SIGNATURE "\n",                    "header is not whole", 0},
        {"FFFFFFFF 00 734D\nFFFFFFFE 00 1\n",              "header is not whole", 0},
        {"FFFFFFFF 00 " SIGNATURE "\nFFFFFFFE 00 one\n",   "header is not whole", 0},
        {"FFFFFFFF 00 " SIGNATURE "\nFFFFFFFE 00 7\n",     "version 7",           0},
        {"00001000 20 System.Foo::Bar()\n",                "not a PDB",           0},
        {HEADER "FFFFFFFA 00 later\n00001000 20 a::b()\n", NULL,                  1},
        {HEADER "00001000 20 a::b()\nnonsense\n",          NULL,                  1},
        {HEADER "00001000 0 a::b()\n",                     NULL,                  0},
        {HEADER "F0000000 FFFFFFFF a::b()\n",              NULL,                  0},
        {HEADER "123456789 20 a::b()\n",                   NULL,                  0},
        {HEADER "00001000 20 \n00002000\n\n\n",            NULL,                  0},
        {HEADER,                                           NULL,                  0},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(symfile_close) SymFile *file = NULL;
        Err err = {0};
        Status status = open_text(CASES[i].text, &file, &err);
        if (CASES[i].says) {
            assert_int_equal(status, ERR_INPUT);
            if (!strstr(err.text, CASES[i].says)) fail_msg("%zu: %s", i, err.text);
            continue;
        }
        assert_int_equal(status, OK);
        assert_int_equal(symtab_count(symfile_table(file)), CASES[i].functions);
        assert_int_equal(symtab_info(symfile_table(file))->damaged,
                         i >= 6 && i + 1 < COUNT_OF(CASES));
    }
}

static SymbolId map_id(Arena *arena) {
    Guid signature = {
        {0x73, 0x4D, 0x59, 0xD6, 0xDE, 0x0E, 0x96, 0xAA, 0x3C, 0x77, 0xB3, 0xE2, 0xED, 0x49, 0x80,
         0x97}
    };
    PeIdentity image = {.has_perfmap = true,
                        .perfmap_signature = signature,
                        .perfmap_version = 1,
                        .perfmap_path = STR("/obj/System.Text.ni.r2rmap")};
    return symbol_perfmap_id(&image, arena);
}

// The key that .NET's own tools make: lower case, the signature's bytes in their order.
static void test_key(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    SymbolId id = map_id(&arena);
    assert_string_equal(symbol_store_path(&id, &arena).p,
                        "system.text.ni.r2rmap/r2rmap-v1-734d59d6de0e96aa3c77b3e2ed498097/"
                        "system.text.ni.r2rmap");
}

static void test_identity_from_an_image(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    SymbolId id = map_id(&arena);
    AUTO(buf_done) Buf bytes = {0};
    ImageSpec spec = {.machine = 0x8664,
                      .image_size = 0x5000,
                      .guid = &SAMPLE_GUID,
                      .age = 1,
                      .pdb_path = "System.Text.pdb",
                      .perfmap = &id.guid,
                      .perfmap_path = "C:\\obj\\System.Text.ni.r2rmap"};
    image_build(&spec, &bytes);
    AUTO(pe_close) Pe *pe = NULL;
    assert_int_equal(pe_open_bytes(buf_str(&bytes), STR("a.dll"), &pe, NULL), OK);
    const PeIdentity *image = pe_identity(pe);
    assert_true(image->has_pdb && image->has_perfmap);
    SymbolId found = symbol_perfmap_id(image, &arena);
    assert_true(str_eq(symbol_store_path(&found, &arena), symbol_store_path(&id, &arena)));
}

static void test_found_and_refused_by_signature(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str folder = str_format(&arena, "%s/test_sym_perfmap.%d", ETW_BINARY_DIR, os_process_id());
    SymbolId id = map_id(&arena);
    Str leaf = path_join(&arena, folder, symbol_store_path(&id, &arena));
    assert_int_equal(os_make_folders(path_folder(leaf), NULL), OK);
    assert_int_equal(file_write_atomic(leaf, STR(HEADER), NULL), OK);
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    assert_int_equal(symbol_path_open(folder, NULL, &path, NULL), OK);
    SymbolResult result;
    assert_int_equal(symbol_find(path, &id, NULL, &arena, &result, NULL), OK);
    assert_int_equal(result.outcome, SYMBOL_CACHED);
    AUTO(symfile_close) SymFile *file = NULL;
    assert_int_equal(symfile_open(leaf, &(SymFileOptions){.id = &id}, &file, NULL), OK);
    AUTO(buf_done) Buf report = {0};
    assert_int_equal(pdb_report(leaf, &(PdbReportOptions){0}, &report, NULL), OK);
    assert_non_null(strstr(report.p, "perf map of precompiled managed code, version 1\n"));
    assert_int_equal(file_write_atomic(leaf,
                                       STR("FFFFFFFF 00 00000000000000000000000000000001\n"
                                           "FFFFFFFE 00 1\n"),
                                       NULL),
                     OK);
    assert_int_equal(symbol_find(path, &id, NULL, &arena, &result, NULL), OK);
    assert_int_equal(result.outcome, SYMBOL_MISMATCH);
    AUTO(symfile_close) SymFile *other = NULL;
    assert_int_equal(symfile_open(leaf, &(SymFileOptions){.id = &id}, &other, NULL), ERR_NOT_FOUND);
    assert_int_equal(os_remove_tree(folder, NULL), OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_identity_from_an_image),
        cmocka_unit_test(test_found_and_refused_by_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
