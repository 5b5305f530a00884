// Windows images: headers, debug directory, exports, unwind ranges, and the table of them.
#include "fuzz.h"

#include "sym/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(pe_close) Pe *pe = NULL;
    AUTO(symtab_close) SymTab *table = NULL;
    Str bytes = {(const char *)data, size};
    if (pe_open_bytes(bytes, STR("fuzz"), &pe, NULL) != OK) return 0;
    if (symtab_from_pe(pe, &table, NULL) != OK) return 0;
    for (uint32_t rva = 0; rva < 0x3000; rva += 7) {
        uint32_t f = symtab_at(table, rva, NULL);
        INVARIANT(f == SYM_NONE || f < symtab_count(table));
    }
    return 0;
}
