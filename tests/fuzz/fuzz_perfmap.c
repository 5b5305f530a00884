// ReadyToRun perf maps: the header, the methods, and the table of them.
#include "fuzz.h"

#include "sym/sym.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(symtab_close) SymTab *table = NULL;
    Str bytes = {(const char *)data, size};
    AUTO(source_close) Source *source = source_from_bytes(bytes, STR("fuzz"));
    PerfMapInfo info, again;
    if (symtab_from_perfmap(source, &info, &table, NULL) != OK) return 0;
    INVARIANT(perfmap_read_info(source, &again, NULL) != OK ||
              guid_eq(&info.signature, &again.signature));
    AUTO(arena_done) Arena arena = {0};
    for (uint32_t i = 0; i < symtab_count(table) && i < 64; i++) {
        SymFunction f;
        symtab_function(table, i, &arena, &f);
        INVARIANT(f.end > f.rva);
        if (info.machine != MACHINE_ARM32) // whose lowest bit is no part of an address
            INVARIANT(symtab_at(table, f.rva, NULL) == i);
    }
    return 0;
}
