// Times of symbol reading on one PDB: table from the PDB, a million addresses named, table from its
// copy on disk. Best of several rounds; prints one line for each, and the peak memory.
//
//   sym_bench FILE.pdb FOLDER [rounds]     FOLDER receives the table
#include "sym/sym.h"

#include <stdio.h>
#include <stdlib.h>

enum { ADDRESSES = 1000000, ROUNDS = 5 };

static double ms_since(uint64_t start) {
    return (double)(os_now_ns() - start) / 1e6;
}

static void keep_best(double *best, double now) {
    if (*best == 0.0 || now < *best) *best = now;
}

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Addresses inside functions, at random, sorted as a caller has them per module.
static void choose_addresses(const SymTab *table, uint32_t *rvas) {
    size_t count;
    SymRange *ranges = symtab_ranges(table, &count);
    for (size_t i = 0; i < ADDRESSES && count; i++) {
        const SymRange *r = &ranges[u64_hash(i) % count];
        rvas[i] = r->rva + (r->size ? (uint32_t)(u64_hash(i + ADDRESSES) % r->size) : 0);
    }
    qsort(rvas, ADDRESSES, sizeof *rvas, compare_u32);
    mem_free(ranges);
}

// Functions for all addresses, and the name of each function that was hit.
static size_t name_addresses(const SymTab *table, const uint32_t *rvas, uint32_t *functions,
                             Arena *arena) {
    size_t bytes = 0;
    symtab_at_many(table, rvas, ADDRESSES, functions);
    uint32_t last = SYM_NONE;
    Str name = {0};
    for (size_t i = 0; i < ADDRESSES; i++) {
        if (functions[i] == SYM_NONE) continue;
        if (functions[i] != last) name = symtab_name(table, functions[i], arena);
        last = functions[i];
        bytes += name.n;
    }
    return bytes;
}

static Status run(Str pdb, Str folder, int rounds, Err *err) {
    double build = 0, from_disk = 0, name = 0;
    AUTO(arena_done) Arena arena = {0};
    uint32_t *rvas = mem_alloc(ADDRESSES * sizeof *rvas);
    uint32_t *functions = mem_alloc(ADDRESSES * sizeof *functions);
    uint64_t memory = 0;
    uint32_t count = 0;
    size_t bytes = 0;
    for (int i = 0; i < rounds; i++) {
        AUTO(symfile_close) SymFile *file = NULL;
        uint64_t start = os_now_ns();
        TRY(symfile_open(pdb, NULL, &file, err));
        keep_best(&build, ms_since(start));
        if (i == 0) memory = os_peak_memory_bytes();
        const SymTab *table = symfile_table(file);
        count = symtab_count(table);
        if (i == 0) choose_addresses(table, rvas);
        start = os_now_ns();
        bytes = name_addresses(table, rvas, functions, &arena);
        keep_best(&name, ms_since(start));
        arena_clear(&arena);
    }
    SymFileOptions kept = {.table_folder = folder};
    SymFile *first = NULL;
    TRY(symfile_open(pdb, &kept, &first, err));
    SymbolId id = {.name = path_name(pdb),
                   .guid = symtab_info(symfile_table(first))->guid,
                   .age = symtab_info(symfile_table(first))->dbi_age};
    symfile_close(first);
    kept.id = &id;
    bool used = true;
    for (int i = 0; i < rounds; i++) {
        AUTO(symfile_close) SymFile *file = NULL;
        uint64_t start = os_now_ns();
        TRY(symfile_open(pdb, &kept, &file, err));
        keep_best(&from_disk, ms_since(start));
        used = used && symfile_from_disk_table(file);
    }
    printf("functions            %u\n", count);
    printf("table from the PDB   %.1f ms, peak %.1f MB\n", build, (double)memory / 1e6);
    printf("a million addresses  %.1f ms (%zu bytes of names)\n", name, bytes);
    printf("table from disk      %.1f ms%s\n", from_disk, used ? "" : " (NOT USED)");
    mem_free(rvas);
    mem_free(functions);
    return OK;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        (void)fprintf(stderr, "usage: sym_bench FILE.pdb FOLDER [rounds]\n");
        return 64;
    }
    Err err = {0};
    int64_t rounds = ROUNDS;
    if (argc > 3 && !str_to_i64(str_from_c(argv[3]), &rounds)) return 64;
    if (run(str_from_c(argv[1]), str_from_c(argv[2]), (int)rounds, &err) == OK) return 0;
    (void)fprintf(stderr, "sym_bench: %s\n", err.text);
    return 1;
}
