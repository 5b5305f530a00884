// The table's arrays, shared by the files that build, store and search it.
#ifndef SYM_SYMTAB_INTERNAL_H
#define SYM_SYMTAB_INTERNAL_H

#include "base/limits.h"
#include "sym/symtab.h"
#include "sym/undecorate.h"

#include <inttypes.h>

enum {
    ENTRY_END_KNOWN = 1,  // from a record's length
    ENTRY_NAME_FINAL = 2, // already for people
};

// Parallel arrays sorted by start; no two entries start at the same address. Names lie one after
// the other, each with a zero behind it: entry i's name is [name_at[i], name_at[i + 1] - 1).
struct SymTab {
    SymTabInfo info;
    uint32_t count;
    uint32_t *start, *end, *module;
    uint32_t *name_at; // count + 1
    uint16_t *folded;
    uint8_t *kind, *flags;
    char *names;
    uint32_t names_size;
    // Address maps of a reordered image, else empty.
    OmapEntry *to_source;
    size_t to_source_count;
};

SymTab *symtab_new(uint32_t count, uint32_t names_size);
#define MODULE_UNKNOWN UINT32_MAX

// One symbol on its way into the table.
typedef struct RawSymbol {
    uint32_t start, length; // length 0: unknown
    uint32_t name_at, name_size;
    uint32_t module;
    uint32_t target; // RVA, trampolines and separate code
    uint8_t kind, flags;
} RawSymbol;

typedef struct SymBuild {
    VEC(RawSymbol) raw;
    Buf names;
    uint16_t machine;
    PdbContribution *contributions; // sorted; bounds of what has no length
    size_t contribution_count;
    const PdbSection *sections;
    size_t section_count;
} SymBuild;

// Sorts, picks one symbol per address, finds ends and makes the table.
Status symbuild_finish(SymBuild *build, SymTab **out, Err *err) MUST_USE;
void symbuild_done(SymBuild *build);

#endif
