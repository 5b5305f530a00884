// PDB reading on files made by tests/support/pdb_build.c: containers, table, lines, inlining.
#include "support/pdb_build.h"
#include "sym/codeview.h"
#include "sym/lines.h"
#include "sym/symtab_internal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static Pdb *open_bytes(const Buf *bytes) {
    Pdb *pdb = NULL;
    Err err = {0};
    if (pdb_open_bytes(buf_str(bytes), STR("sample.pdb"), &pdb, &err) != OK)
        fail_msg("cannot open the sample: %s", err.text);
    return pdb;
}

static SymTab *table_of(Pdb *pdb) {
    SymTab *table = NULL;
    assert_int_equal(symtab_from_pdb(pdb, &table, NULL), OK);
    return table;
}

// Everything a PDB says, as text.
static void describe(Pdb *pdb, Buf *out) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(symtab_close) SymTab *table = table_of(pdb);
    for (uint32_t i = 0; i < symtab_count(table); i++) {
        SymFunction f;
        symtab_function(table, i, &arena, &f);
        buf_addf(out, "%x-%x %s " STR_FMT " +%u\n", f.rva, f.end, symbol_kind_name(f.kind),
                 STR_ARG(f.name), f.folded);
    }
    AUTO(pdb_lines_close) PdbLines *lines = NULL;
    assert_int_equal(pdb_lines_open(pdb, &lines, NULL), OK);
    for (size_t m = 0; m < pdb_module_count(pdb); m++) {
        LineRows rows = {0};
        assert_int_equal(pdb_lines_of_module(lines, m, &rows, NULL), OK);
        for (size_t i = 0; i < rows.count; i++)
            buf_addf(out, "line %x-%x " STR_FMT ":%u\n", rows.items[i].start, rows.items[i].end,
                     STR_ARG(pdb_lines_file(lines, rows.items[i].file)), rows.items[i].line);
        vec_free(&rows);
    }
}

static const char SAMPLE_TEXT[] = "1005-100a jump table entry ILT+0x5(app::main) +0\n"
                                  "1100-1140 procedure app::main +0\n"
                                  "1140-1160 static procedure helper +0\n"
                                  "1200-1210 procedure same +1\n"
                                  "1220-1226 thunk imported +0\n"
                                  "1300-1330 public function app::Widget::run +0\n"
                                  "1380-13a0 public label label +0\n"
                                  "line 1100-1108 c:\\src\\a.cpp:10\n"
                                  "line 1108-1118 c:\\src\\a.cpp:12\n"
                                  "line 1118-1140 c:\\src\\a.cpp:13\n";

static void test_sample_in_every_container(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    static const MsfSpec MSF[] = {
        {512,   false},
        {512,   true },
        {1024,  true },
        {4096,  false},
        {32768, false},
        {65536, true },
    };
    static const MsfzSpec MSFZ[] = {
        {0, 0,   false, false},
        {1, 0,   false, false},
        {2, 0,   false, true },
        {1, 64,  false, true },
        {2, 100, true,  false},
        {0, 50,  true,  false},
    };
    for (size_t i = 0; i < COUNT_OF(MSF) + COUNT_OF(MSFZ); i++) {
        AUTO(buf_done) Buf file = {0}, text = {0};
        if (i < COUNT_OF(MSF))
            pdb_build_msf(b, MSF[i], &file);
        else
            pdb_build_msfz(b, MSFZ[i - COUNT_OF(MSF)], &file);
        AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
        assert_int_equal(pdb_info(pdb)->compressed, i >= COUNT_OF(MSF));
        describe(pdb, &text);
        assert_string_equal(text.p, SAMPLE_TEXT);
    }
}

static void test_cabinet_is_expanded(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    static const CabinetKind KINDS[] = {CABINET_STORED, CABINET_MSZIP, CABINET_LZX};
    AUTO(buf_done) Buf file = {0};
    pdb_build_named(b, "sourcelink", "odd"); // 40 KB and more: several blocks
    pdb_build_msf(b, (MsfSpec){.page_size = 4096}, &file);
    assert_true(file.n > 32768);
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        AUTO(buf_done) Buf cabinet = {0}, text = {0};
        cabinet_build(buf_str(&file), KINDS[i], &cabinet);
        AUTO(pdb_close) Pdb *pdb = open_bytes(&cabinet);
        describe(pdb, &text);
        assert_string_equal(text.p, SAMPLE_TEXT);
    }
}

// More than 128 pages of directory need a second page of directory pages.
static void test_directory_with_two_map_pages(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf big = {0}, file = {0}, text = {0};
    while (big.n < 9u << 20) buf_add(&big, STR("0123456789abcdef0123456789abcdef"));
    pdb_build_named(b, "sourcelink", big.p);
    pdb_build_msf(b, (MsfSpec){.page_size = 512}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(buf_done) Buf index = {0};
    assert_int_equal(pdb_source_index(pdb, &index, NULL), OK);
    assert_int_equal(index.n, big.n + sizeof "SRCSRV: ini\n" - 1);
    describe(pdb, &text);
    assert_string_equal(text.p, SAMPLE_TEXT);
}

static void test_matching_rule(void **state) {
    (void)state;
    Guid other = SAMPLE_GUID;
    other.bytes[15] ^= 1;
    static const struct {
        uint32_t info_age, dbi_age, image_age;
        bool other_guid, matches;
    } CASES[] = {
        {3, 3, 3, false, true },
        {5, 3, 3, false, true }, // source indexing counted the info age up
        {5, 3, 5, false, false}, // another link
        {5, 0, 4, false, true }, // old file without a link age
        {1, 0, 4, false, false},
        {3, 3, 3, true,  false},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
        pdb_build_identity(b, &SAMPLE_GUID, CASES[i].info_age, CASES[i].dbi_age);
        AUTO(buf_done) Buf file = {0};
        pdb_build_msf(b, (MsfSpec){0}, &file);
        AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
        Err why = {0};
        bool matches =
            pdb_matches(pdb, CASES[i].other_guid ? &other : &SAMPLE_GUID, CASES[i].image_age, &why);
        assert_int_equal(matches, CASES[i].matches);
        assert_int_equal(why.text[0] == 0, matches);
    }
}

static void test_lookup(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(symtab_close) SymTab *table = table_of(pdb);
    static const struct {
        uint32_t rva;
        const char *name; // NULL: between functions
    } CASES[] = {
        {0,          NULL                },
        {0x1005,     "ILT+0x5(app::main)"},
        {0x10FF,     NULL                },
        {0x1100,     "app::main"         },
        {0x113F,     "app::main"         },
        {0x1140,     "helper"            },
        {0x1160,     NULL                },
        {0x120F,     "same"              },
        {0x132F,     "app::Widget::run"  },
        {0x1330,     NULL                },
        {0x3010,     NULL                },
        {UINT32_MAX, NULL                },
    };
    AUTO(arena_done) Arena arena = {0};
    uint32_t rvas[COUNT_OF(CASES)], many[COUNT_OF(CASES)];
    for (size_t i = 0; i < COUNT_OF(CASES); i++) rvas[i] = CASES[i].rva;
    symtab_at_many(table, rvas, COUNT_OF(CASES), many);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        uint32_t f = symtab_at(table, CASES[i].rva, NULL);
        assert_int_equal(f, many[i]);
        if (CASES[i].name)
            assert_string_equal(str_to_c(&arena, symtab_name(table, f, &arena)), CASES[i].name);
        else
            assert_int_equal(f, SYM_NONE);
    }
}

// Many lookups equal single ones whatever the order of the addresses.
static void test_lookup_in_any_order(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(symtab_close) SymTab *table = table_of(pdb);
    enum { COUNT = 4096 };
    static uint32_t rvas[COUNT], many[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        rvas[i] = 0xF00 + (i % 3 == 0 ? i : (uint32_t)u64_hash(i) % 0x700);
    symtab_at_many(table, rvas, COUNT, many);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(many[i], symtab_at(table, rvas[i], NULL));
}

static void test_inlined_calls(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(pdb_lines_close) PdbLines *lines = NULL;
    assert_int_equal(pdb_lines_open(pdb, &lines, NULL), OK);
    static const struct {
        uint32_t rva;
        const char *text;
    } CASES[] = {
        {0x1100, "-@c:\\src\\a.cpp:10 "                                     },
        {0x1108, "app::Widget::grow@c:\\src\\a.cpp:101 -@c:\\src\\a.cpp:12 "},
        {0x110C, "app::clamp@c:\\src\\clamp.h:200 app::Widget::grow@c:\\src\\a.cpp:101 "
                 "-@c:\\src\\a.cpp:12 "                     },
        {0x1110, "app::Widget::grow@c:\\src\\a.cpp:101 -@c:\\src\\a.cpp:12 "},
        {0x1118, "-@c:\\src\\a.cpp:13 "                                     },
        {0x1150, "-@:0 "                                                    },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(buf_done) Buf text = {0};
        SourceFrames frames;
        assert_int_equal(pdb_lines_at(lines, 0, CASES[i].rva, &arena, &frames, NULL), OK);
        for (size_t f = 0; f < frames.count; f++)
            buf_addf(&text, STR_FMT "@" STR_FMT ":%u ",
                     STR_ARG(frames.items[f].inlined ? frames.items[f].function : STR("-")),
                     STR_ARG(frames.items[f].file), frames.items[f].line);
        assert_string_equal(text.p, CASES[i].text);
    }
}

static void test_omap_moves_addresses(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    // The first half of app::main moved to 0x5000, the second to 0x6000; injected code between.
    pdb_build_omap(b, 0x5000, 0x1100);
    pdb_build_omap(b, 0x5020, 0);
    pdb_build_omap(b, 0x6000, 0x1120);
    pdb_build_omap(b, 0x6020, 0x80000000);
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(symtab_close) SymTab *table = table_of(pdb);
    static const struct {
        uint32_t rva, source; // 0: no function
    } CASES[] = {
        {0x4FFF, 0     },
        {0x5000, 0x1100},
        {0x501F, 0x111F},
        {0x5020, 0     },
        {0x6001, 0x1121},
        {0x6020, 0     },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        uint32_t source = 0, f = symtab_at(table, CASES[i].rva, &source);
        assert_int_equal(f == SYM_NONE, CASES[i].source == 0);
        if (f != SYM_NONE) assert_int_equal(source, CASES[i].source);
    }
    size_t count;
    SymRange *ranges = symtab_ranges(table, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ranges[0].rva, 0x5000);
    assert_int_equal(ranges[0].size, 0x20);
    assert_int_equal(ranges[1].rva, 0x6000);
    mem_free(ranges);
}

static void test_table_on_disk(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    Str path = str_format(&arena, "%s/test_sym_pdb.%d.symtab", ETW_BINARY_DIR, os_process_id());
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    pdb_build_omap(b, 0x5000, 0x1100);
    AUTO(buf_done) Buf file = {0};
    pdb_build_msf(b, (MsfSpec){0}, &file);
    AUTO(pdb_close) Pdb *pdb = open_bytes(&file);
    AUTO(symtab_close) SymTab *table = table_of(pdb);
    AUTO(symtab_close) SymTab *copy = NULL;
    SymTabStamp stamp = {file.n, 42}, other = {file.n, 43};
    Err err = {0};
    if (symtab_save(table, path, &stamp, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(symtab_load(path, &other, &copy, NULL), ERR_NOT_FOUND);
    assert_int_equal(symtab_load(path, &stamp, &copy, NULL), OK);
    assert_int_equal(symtab_count(copy), symtab_count(table));
    assert_memory_equal(&copy->info, &table->info, sizeof copy->info);
    for (uint32_t i = 0; i < symtab_count(table); i++)
        assert_true(str_eq(symtab_raw_name(copy, i), symtab_raw_name(table, i)));
    assert_int_equal(symtab_at(copy, 0x5000, NULL), symtab_at(table, 0x5000, NULL));
    // Every cut and every changed byte is noticed.
    Str bytes;
    assert_int_equal(file_read_all(path, 1 << 20, &arena, &bytes, NULL), OK);
    for (size_t i = 0; i < bytes.n; i += 7) {
        AUTO(symtab_close) SymTab *damaged = NULL;
        AUTO(buf_done) Buf changed = {0};
        buf_add(&changed, bytes);
        changed.p[i] ^= 0x20;
        bool padding = i >= 96 && i < 128;
        assert_int_equal(file_write_atomic(path, buf_str(&changed), NULL), OK);
        Status status = symtab_load(path, &stamp, &damaged, NULL);
        // Bytes of the header that only inform are not under the checksum.
        if (i >= 128 || i < 12) assert_int_equal(status, ERR_NOT_FOUND);
        (void)padding;
        assert_int_equal(file_write_atomic(path, str_slice(bytes, 0, i), NULL), OK);
        AUTO(symtab_close) SymTab *cut = NULL;
        assert_int_equal(symtab_load(path, &stamp, &cut, NULL), ERR_NOT_FOUND);
    }
    assert_int_equal(os_remove_file(path, NULL), OK);
}

// Cut files and files with a changed byte give an error or a table, never a crash.
static void test_damage(void **state) {
    (void)state;
    AUTO(pdb_build_free) PdbBuild *b = pdb_build_sample();
    AUTO(buf_done) Buf msf = {0}, msfz = {0}, cabinet = {0};
    pdb_build_msf(b, (MsfSpec){.page_size = 512}, &msf);
    pdb_build_msfz(b, (MsfzSpec){.kind = 1, .chunk_size = 256}, &msfz);
    cabinet_build(buf_str(&msf), CABINET_MSZIP, &cabinet);
    const Buf *files[] = {&msf, &msfz, &cabinet};
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        for (size_t i = 0; i < files[f]->n; i += 3) {
            AUTO(buf_done) Buf bytes = {0};
            buf_add(&bytes, i % 2 ? str_slice(buf_str(files[f]), 0, i) : buf_str(files[f]));
            if (i % 2 == 0) bytes.p[i] ^= (char)(1 << i % 7);
            AUTO(pdb_close) Pdb *pdb = NULL;
            Err err = {0};
            Status status = pdb_open_bytes(buf_str(&bytes), STR("damaged"), &pdb, &err);
            if (status != OK) {
                assert_true(err.text[0] != 0);
                continue;
            }
            AUTO(symtab_close) SymTab *table = NULL;
            assert_int_equal(symtab_from_pdb(pdb, &table, &err), OK);
            AUTO(pdb_lines_close) PdbLines *lines = NULL;
            if (pdb_lines_open(pdb, &lines, NULL) != OK) continue;
            AUTO(arena_done) Arena arena = {0};
            SourceFrames frames;
            status = pdb_lines_at(lines, 0, 0x110C, &arena, &frames, &err);
            assert_true(status == OK || err.text[0] != 0);
        }
    }
}

static void test_what_is_not_a_pdb(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        const char *says;
    } CASES[] = {
        {"",                                                "an empty file"              },
        {"<!DOCTYPE html><html>",                           "text, not a symbol file"    },
        {"{\"error\": 1}",                                  "text, not a symbol file"    },
        {"BSJB",                                            "portable PDB"               },
        {"MZ",                                              "a Windows image"            },
        {"PATH:\\\\server\\x.pdb",                          "file.ptr"                   },
        {"MSCF",                                            "damaged cabinet"            },
        {"Microsoft C/C++ program database 2.00\r\n\032JG", "before 2002"                },
        {"Microsoft C/C++ MSF 7.00\r\n\032DS",              "ends inside the MSF header" },
        {"Microsoft MSFZ Container\r\n\032ALD",             "ends inside the MSFZ header"},
        {"\001\002\003",                                    "unknown format"             },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Pdb *pdb = NULL;
        Err err = {0};
        Status status = pdb_open_bytes(str_from_c(CASES[i].bytes), STR("file"), &pdb, &err);
        assert_int_equal(status, ERR_INPUT);
        if (str_find(str_from_c(err.text), str_from_c(CASES[i].says)) == SIZE_MAX)
            fail_msg("case %zu says: %s", i, err.text);
    }
}

static void test_images(void **state) {
    (void)state;
    static const char *const EXPORTS[] = {"?f@ns@@YAXXZ", "alpha", "beta", "gamma"};
    ImageSpec spec = {.time_date_stamp = 0x63E6C7F7,
                      .image_size = 0x8000,
                      .machine = MACHINE_X64,
                      .guid = &SAMPLE_GUID,
                      .age = SAMPLE_AGE,
                      .pdb_path = "d:\\out\\app.pdb",
                      .exports = EXPORTS,
                      .export_count = COUNT_OF(EXPORTS)};
    AUTO(buf_done) Buf file = {0};
    image_build(&spec, &file);
    AUTO(pe_close) Pe *pe = NULL;
    assert_int_equal(pe_open_bytes(buf_str(&file), STR("app.dll"), &pe, NULL), OK);
    const PeIdentity *id = pe_identity(pe);
    assert_int_equal(id->time_date_stamp, 0x63E6C7F7);
    assert_int_equal(id->image_size, 0x8000);
    assert_true(id->has_pdb && guid_eq(&id->pdb_guid, &SAMPLE_GUID));
    assert_int_equal(id->pdb_age, SAMPLE_AGE);
    assert_true(str_eq(id->pdb_path, STR("d:\\out\\app.pdb")));
    AUTO(symtab_close) SymTab *table = NULL;
    assert_int_equal(symtab_from_pe(pe, &table, NULL), OK);
    assert_true(symtab_info(table)->from_image);
    AUTO(arena_done) Arena arena = {0};
    AUTO(buf_done) Buf text = {0};
    for (uint32_t i = 0; i < symtab_count(table); i++) {
        SymFunction f;
        symtab_function(table, i, &arena, &f);
        buf_addf(&text, "%x-%x %s " STR_FMT "\n", f.rva, f.end, symbol_kind_name(f.kind),
                 STR_ARG(f.name));
    }
    // An export without an unwind entry names its first byte only.
    assert_string_equal(text.p, "1000-100c export ns::f\n1010-1011 export alpha\n"
                                "1020-102c export beta\n1030-1031 export gamma\n");
    for (size_t i = 0; i < file.n; i += 5) {
        AUTO(buf_done) Buf cut = {0};
        buf_add(&cut, str_slice(buf_str(&file), 0, i));
        AUTO(pe_close) Pe *damaged = NULL;
        AUTO(symtab_close) SymTab *rest = NULL;
        if (pe_open_bytes(buf_str(&cut), STR("cut.dll"), &damaged, NULL) == OK)
            (void)(symtab_from_pe(damaged, &rest, NULL) == OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_in_every_container),
        cmocka_unit_test(test_cabinet_is_expanded),
        cmocka_unit_test(test_directory_with_two_map_pages),
        cmocka_unit_test(test_matching_rule),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_lookup_in_any_order),
        cmocka_unit_test(test_inlined_calls),
        cmocka_unit_test(test_omap_moves_addresses),
        cmocka_unit_test(test_table_on_disk),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_what_is_not_a_pdb),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
