// A whole PDB: table, lookups, lines and inlined calls of every module, report.
#include "fuzz.h"

#include "sym/sym.h"

enum { FUNCTIONS_READ = 64, MODULES_READ = 16 };

static uint32_t symtab_start(const SymTab *table, uint32_t index) {
    AUTO(arena_done) Arena arena = {0};
    SymFunction f;
    symtab_function(table, index, &arena, &f);
    return f.rva;
}

static void read_lines(SymFile *file) {
    Pdb *pdb = NULL;
    PdbLines *lines = NULL;
    if (symfile_pdb(file, &pdb, NULL) != OK || symfile_lines(file, &lines, NULL) != OK) return;
    for (size_t i = 0; i < pdb_module_count(pdb) && i < MODULES_READ; i++) {
        LineRows rows = {0};
        if (pdb_lines_of_module(lines, i, &rows, NULL) == OK)
            for (size_t k = 0; k < rows.count; k++) {
                INVARIANT(rows.items[k].start < rows.items[k].end);
                (void)pdb_lines_file(lines, rows.items[k].file);
            }
        vec_free(&rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(symfile_close) SymFile *file = NULL;
    Str bytes = {(const char *)data, size};
    if (symfile_open_bytes(bytes, STR("fuzz"), &file, NULL) != OK) return 0;
    AUTO(arena_done) Arena arena = {0};
    const SymTab *table = symfile_table(file);
    for (uint32_t i = 0; i < symtab_count(table) && i < FUNCTIONS_READ; i++) {
        SymFunction f;
        SymAddress at;
        symtab_function(table, i, &arena, &f);
        (void)(symfile_at(file, f.rva, true, &arena, &at, NULL) == OK);
        INVARIANT(i == 0 || f.rva > symtab_start(table, i - 1));
    }
    size_t count = 0;
    SymRange *ranges = symtab_ranges(table, &count);
    mem_free(ranges);
    read_lines(file);
    return 0;
}
