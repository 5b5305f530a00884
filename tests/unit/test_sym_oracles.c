// Real PDBs against independent readers: llvm-pdbutil for symbols, symbol dumps made with DIA for
// functions and lines. Skipped where the files or the programs are absent.
#include "support/shared_data.h"
#include "sym/lines.h"
#include "sym/symtab_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const FILES[] = {
    "CrashWithException.pdb",
    "ShowSSEConfig.pdb",
    "basic32-min.pdb",
    "crash_with_srcsrv.pdb",
    "softokn3.pdb",
    "dump_syms_regtest64.pdb",
    "gen/x86_64/test.pdb",
    "gen/arm64ec/test.pdb",
    "omap/omap_reorder_bbs.pdb",
    "omap/omap_stretched_filled.pdb",
};

typedef VEC(Str) Lines;

static int compare_str(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static void sort(Lines *lines) {
    if (lines->count) qsort(lines->items, lines->count, sizeof(Str), compare_str);
}

// The text between the backquotes of a record's first line.
static Str quoted(Str line) {
    size_t from = str_find(line, STR("`")), to = str_rfind_char(line, '`');
    return from == SIZE_MAX ? (Str){0} : str_slice(line, from + 1, to);
}

static Str word_behind(Str line, Str mark) {
    size_t at = str_find(line, mark);
    if (at == SIZE_MAX) return (Str){0};
    Str rest = str_slice(line, at + mark.n, line.n), word = {0};
    (void)str_next(&rest, ',', &word);
    return str_trim(word);
}

// Records come in two lines: kind and name, then the address. Result: "kind name segment:offset
// [size]".
static void oracle_symbols(Str text, bool publics, Arena *arena, Lines *out) {
    Str name = {0}, kind = {0};
    for (Str line; str_next(&text, '\n', &line);) {
        bool is_public = str_find(line, STR("| S_PUB32 ")) != SIZE_MAX;
        bool is_proc = str_find(line, STR("| S_GPROC32 ")) != SIZE_MAX ||
                       str_find(line, STR("| S_LPROC32 ")) != SIZE_MAX;
        if (publics ? is_public : is_proc) {
            name = quoted(line);
            kind = str_find(line, STR("S_LPROC32")) != SIZE_MAX ? STR("L") : STR("G");
            continue;
        }
        Str address = word_behind(line, STR("addr = "));
        if (name.p == NULL || address.n == 0) {
            if (str_find(line, STR(" | S_")) != SIZE_MAX) name = (Str){0};
            continue;
        }
        Str size = word_behind(line, STR("code size = ")), segment = {0};
        uint64_t s = 0, o = 0;
        (void)str_next(&address, ':', &segment);
        while (segment.n > 1 && segment.p[0] == '0') segment = str_slice(segment, 1, segment.n);
        while (address.n > 1 && address.p[0] == '0') address = str_slice(address, 1, address.n);
        assert_true(str_to_u64(segment, &s) && str_to_u64(address, &o));
        *vec_push(out) = str_format(arena, STR_FMT " " STR_FMT " %llu:%llu " STR_FMT,
                                    STR_ARG(publics ? STR("P") : kind), STR_ARG(name),
                                    (unsigned long long)s, (unsigned long long)o, STR_ARG(size));
        name = (Str){0};
    }
    sort(out);
}

static void add_own(Lines *out, const PdbSymbol *symbol, Arena *arena) {
    if (symbol->kind <= SYMBOL_STATIC)
        *vec_push(out) =
            str_format(arena, "%s " STR_FMT " %u:%u %u", symbol->kind == SYMBOL_STATIC ? "L" : "G",
                       STR_ARG(symbol->name), symbol->segment, symbol->offset, symbol->length);
    else if (symbol->kind >= SYMBOL_PUBLIC_FUNCTION)
        *vec_push(out) = str_format(arena, "P " STR_FMT " %u:%u ", STR_ARG(symbol->name),
                                    symbol->segment, symbol->offset);
}

static void own_symbols(Pdb *pdb, bool publics, Arena *arena, Lines *out) {
    AUTO(pdb_symbols_done) PdbSymbols it = {0};
    PdbSymbol symbol;
    if (publics) {
        assert_int_equal(pdb_publics(pdb, &it, NULL), OK);
        while (pdb_symbols_next(&it, &symbol)) add_own(out, &symbol, arena);
        assert_false(it.damaged);
    }
    for (size_t m = 0; !publics && m < pdb_module_count(pdb); m++) {
        if (pdb_module(pdb, m)->stream == STREAM_NONE) continue;
        assert_int_equal(pdb_module_symbols(pdb, m, &it, NULL), OK);
        while (pdb_symbols_next(&it, &symbol)) add_own(out, &symbol, arena);
        assert_false(it.damaged);
    }
    sort(out);
}

static void compare_lists(const char *file, const Lines *want, const Lines *have) {
    for (size_t i = 0; i < want->count && i < have->count; i++)
        if (!str_eq(want->items[i], have->items[i]))
            fail_msg("%s: want " STR_FMT ", have " STR_FMT, file, STR_ARG(want->items[i]),
                     STR_ARG(have->items[i]));
    assert_int_equal(want->count, have->count);
}

static void compare_file(Str folder, const char *file, bool publics) {
    AUTO(arena_done) Arena arena = {0};
    Str path = path_join(&arena, folder, str_from_c(file));
    Str command = str_format(&arena, "llvm-pdbutil dump %s " STR_FMT " 2>/dev/null",
                             publics ? "-publics" : "-symbols", STR_ARG(path));
    Lines want = {0}, have = {0};
    oracle_symbols(command_output(command.p, &arena), publics, &arena, &want);
    AUTO(pdb_close) Pdb *pdb = NULL;
    Err err = {0};
    if (pdb_open(path, &pdb, &err) != OK) fail_msg("%s", err.text);
    own_symbols(pdb, publics, &arena, &have);
    printf("%s: %zu %s\n", file, have.count, publics ? "publics" : "procedures");
    assert_true(want.count > 0);
    compare_lists(file, &want, &have);
    vec_free(&want);
    vec_free(&have);
}

static void compare_all(bool publics) {
    AUTO(arena_done) Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "pdbs", &arena);
    if (folder.n == 0 || !has_program("llvm-pdbutil")) skip();
    for (size_t i = 0; i < COUNT_OF(FILES); i++) compare_file(folder, FILES[i], publics);
}

static void test_publics_equal_llvm_pdbutil(void **state) {
    (void)state;
    compare_all(true);
}

static void test_procedures_equal_llvm_pdbutil(void **state) {
    (void)state;
    compare_all(false);
}

// What a PDB says, for files that must be equal.
static void describe(Str path, Buf *out) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(pdb_close) Pdb *pdb = NULL;
    Err err = {0};
    if (pdb_open(path, &pdb, &err) != OK) fail_msg("%s", err.text);
    AUTO(symtab_close) SymTab *table = NULL;
    assert_int_equal(symtab_from_pdb(pdb, &table, NULL), OK);
    AUTO(pdb_lines_close) PdbLines *lines = NULL;
    assert_int_equal(pdb_lines_open(pdb, &lines, NULL), OK);
    char guid[GUID_TEXT_SIZE];
    guid_to_text(&pdb_info(pdb)->guid, guid);
    buf_addf(out, "%s %u\n", guid, pdb_info(pdb)->dbi_age);
    for (uint32_t i = 0; i < symtab_count(table); i++) {
        SymFunction f;
        SourceFrames frames;
        symtab_function(table, i, &arena, &f);
        buf_addf(out, "%x-%x %s " STR_FMT, f.rva, f.end, symbol_kind_name(f.kind), STR_ARG(f.name));
        if (f.module < pdb_module_count(pdb)) {
            assert_int_equal(pdb_lines_at(lines, f.module, f.rva, &arena, &frames, NULL), OK);
            for (size_t k = 0; k < frames.count; k++)
                buf_addf(out, " " STR_FMT "@" STR_FMT ":%u", STR_ARG(frames.items[k].function),
                         STR_ARG(frames.items[k].file), frames.items[k].line);
        }
        buf_add_char(out, '\n');
    }
}

static void test_compressed_files_equal_their_source(void **state) {
    (void)state;
    static const char *const PAIRS[][2] = {
        {"msfz/ShowSSEConfig.deflate.msrs.pdz",         "ShowSSEConfig.pdb"        },
        {"msfz/ShowSSEConfig.py-span.pdz",              "ShowSSEConfig.pdb"        },
        {"msfz/ShowSSEConfig.zstd-dirz-small.msrs.pdz", "ShowSSEConfig.pdb"        },
        {"msfz/ShowSSEConfig.zstd.msrs.pdz",            "ShowSSEConfig.pdb"        },
        {"msfz/omap_reorder_bbs.zstd.msrs.pdz",         "omap/omap_reorder_bbs.pdb"},
        {"ShowSSEConfig.pd_",                           "ShowSSEConfig.pdb"        },
    };
    AUTO(arena_done) Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "pdbs", &arena);
    if (folder.n == 0) skip();
    for (size_t i = 0; i < COUNT_OF(PAIRS); i++) {
        AUTO(buf_done) Buf a = {0}, b = {0};
        describe(path_join(&arena, folder, str_from_c(PAIRS[i][0])), &a);
        describe(path_join(&arena, folder, str_from_c(PAIRS[i][1])), &b);
        assert_true(a.n > 1000);
        assert_true(str_eq(buf_str(&a), buf_str(&b)));
    }
}

typedef struct Dump {
    Pdb *pdb;
    SymTab *table;
    PdbLines *lines;
    Arena arena;
    Str files[16384];
    size_t functions, sizes_equal, bytes, bytes_named, rows, rows_equal, row_bytes, row_bytes_equal;
    Str name; // of the open FUNC record
    bool reordered;
} Dump;

static uint32_t hex_word(Str *rest) {
    uint32_t v = 0;
    Str word = {0};
    (void)str_next(rest, ' ', &word);
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return v;
}

static uint64_t decimal_word(Str *rest) {
    uint64_t v = 0;
    Str word = {0};
    (void)str_next(rest, ' ', &word);
    assert_true(str_to_u64(str_trim(word), &v));
    return v;
}

// Whether some symbol at the function's start has a name that the dump's line holds: the dump adds
// parameters, and of folded functions it may have chosen another one.
static bool is_same_name(Dump *d, uint32_t function, Str want) {
    Str have = symtab_name(d->table, function, &d->arena);
    // The dump's writer takes a leading underscore off C names.
    if (str_starts(have, STR("_"))) have = str_slice(have, 1, have.n);
    if (str_find(want, have) != SIZE_MAX) return true;
    AUTO(pdb_symbols_done) PdbSymbols it = {0};
    PdbSymbol symbol;
    uint32_t rva;
    for (size_t m = 0; m < pdb_module_count(d->pdb); m++) {
        if (pdb_module_symbols(d->pdb, m, &it, NULL) != OK) continue;
        while (pdb_symbols_next(&it, &symbol))
            if (pdb_rva(d->pdb, symbol.segment, symbol.offset, &rva) &&
                rva == d->table->start[function] && str_find(want, symbol.name) != SIZE_MAX)
                return true;
    }
    return false;
}

static void check_function(Dump *d, Str rest) {
    if (str_starts(rest, STR("m "))) rest = str_slice(rest, 2, rest.n);
    uint32_t rva = hex_word(&rest), size = hex_word(&rest);
    (void)hex_word(&rest);
    d->name = str_trim(rest);
    d->functions++;
    uint32_t last = SYM_NONE;
    bool same = false;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t f = symtab_at(d->table, rva + i, NULL);
        if (i == 0 && f != SYM_NONE && !d->reordered)
            d->sizes_equal += d->table->end[f] - d->table->start[f] == size;
        if (f != last && f != SYM_NONE) same = is_same_name(d, f, d->name);
        if (f != last && f != SYM_NONE && !same)
            printf("%x: want " STR_FMT ", have " STR_FMT "\n", rva + i, STR_ARG(d->name),
                   STR_ARG(symtab_raw_name(d->table, f)));
        last = f;
        d->bytes++;
        // Code that was injected belongs to nobody here; the dump gives it to the function before.
        d->bytes_named += f == SYM_NONE ? d->reordered : same;
    }
}

static void check_row(Dump *d, Str rest) {
    uint32_t rva = hex_word(&rest), size = hex_word(&rest);
    uint64_t line = decimal_word(&rest), file = decimal_word(&rest);
    bool all = true;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t source = 0, f = symtab_at(d->table, rva + i, &source);
        SourceFrames frames = {.count = 0};
        // Injected code; or the last row of an assembler module, which covers the padding too.
        if (f == SYM_NONE && (d->reordered || i > 0)) continue;
        if (f == SYM_NONE) fail_msg("no function at %x", rva + i);
        assert_int_equal(
            pdb_lines_at(d->lines, d->table->module[f], source, &d->arena, &frames, NULL), OK);
        const SourceFrame *frame = &frames.items[frames.count - 1];
        bool same = frame->line == line && str_eq_nocase(frame->file, d->files[file]);
        if (!same && all)
            printf("%x: want " STR_FMT ":%u, have " STR_FMT ":%u\n", rva + i,
                   STR_ARG(d->files[file]), (unsigned)line, STR_ARG(frame->file), frame->line);
        d->row_bytes++;
        d->row_bytes_equal += same;
        all = all && same;
        arena_clear(&d->arena);
    }
    d->rows++;
    d->rows_equal += all;
}

static void check_dump_line(Dump *d, Str line) {
    Str rest = line, word = {0};
    (void)str_next(&rest, ' ', &word);
    if (str_eq(word, STR("FILE"))) {
        uint64_t n = decimal_word(&rest);
        assert_true(n < COUNT_OF(d->files));
        d->files[n] = rest;
    } else if (str_eq(word, STR("FUNC"))) {
        check_function(d, rest);
    } else if (word.n && word.p[0] >= '0' && (word.p[0] <= '9' || word.p[0] >= 'a')) {
        check_row(d, line);
    }
}

static void test_functions_and_lines_equal_dumps(void **state) {
    (void)state;
    static const struct {
        const char *pdb, *dump;
        bool reordered;
    } CASES[] = {
        {"dump_syms_regtest64.pdb",        "dump_syms_regtest64.sym",        false},
        {"omap/omap_reorder_bbs.pdb",      "omap/omap_reorder_bbs.sym",      true },
        {"omap/omap_stretched_filled.pdb", "omap/omap_stretched_filled.sym", true },
    };
    AUTO(arena_done) Arena arena = {0};
    Str folder = shared_folder(ETW_SOURCE_DIR, "pdbs", &arena);
    if (folder.n == 0) skip();
    static Dump d;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Str text;
        d = (Dump){.reordered = CASES[i].reordered};
        Str dump = path_join(&arena, folder, str_from_c(CASES[i].dump));
        assert_int_equal(file_read_all(dump, 64 << 20, &arena, &text, NULL), OK);
        assert_int_equal(
            pdb_open(path_join(&arena, folder, str_from_c(CASES[i].pdb)), &d.pdb, NULL), OK);
        assert_int_equal(symtab_from_pdb(d.pdb, &d.table, NULL), OK);
        assert_int_equal(pdb_lines_open(d.pdb, &d.lines, NULL), OK);
        for (Str line; str_next(&text, '\n', &line);) check_dump_line(&d, str_trim(line));
        printf("%s: %zu functions, %zu sizes equal, %zu of %zu bytes named alike, "
               "%zu of %zu line rows, %zu of %zu bytes\n",
               CASES[i].dump, d.functions, d.sizes_equal, d.bytes_named, d.bytes, d.rows_equal,
               d.rows, d.row_bytes_equal, d.row_bytes);
        assert_int_equal(d.bytes_named, d.bytes);
        assert_int_equal(d.rows_equal, d.rows);
        if (!d.reordered) assert_int_equal(d.sizes_equal, d.functions);
        pdb_lines_close(d.lines);
        symtab_close(d.table);
        pdb_close(d.pdb);
        arena_done(&d.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_publics_equal_llvm_pdbutil),
        cmocka_unit_test(test_procedures_equal_llvm_pdbutil),
        cmocka_unit_test(test_compressed_files_equal_their_source),
        cmocka_unit_test(test_functions_and_lines_equal_dumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
