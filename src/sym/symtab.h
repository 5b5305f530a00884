// The sorted table of functions of one image: from a PDB, from its copy on disk, or from an image's
// own exports. Read-only once made, so threads may share it.
#ifndef SYM_SYMTAB_H
#define SYM_SYMTAB_H

#include "sym/pdb.h"
#include "sym/pe.h"

typedef struct SymTab SymTab;

#define SYM_NONE UINT32_MAX // index of "no function"

typedef struct SymFunction {
    Str name;        // for people: undecorated; empty for an unwind range
    Str raw_name;    // as the file spells it; in the table's memory
    uint32_t rva;    // start, in the layout that symbols use
    uint32_t end;    // behind the last byte; 0: unknown
    uint32_t module; // compiland, UINT32_MAX: unknown
    uint32_t folded; // other functions with the same code at the same address
    SymbolKind kind;
    bool arm64ec;
    bool end_known; // false: `end` is a guess from what comes next, or 0
} SymFunction;

typedef struct SymTabInfo {
    Guid guid;
    uint32_t info_age, dbi_age;
    uint16_t machine;
    bool stripped, managed, fastlink, has_lines, has_omap, damaged;
    bool from_image;              // exports and unwind ranges: second best
    uint32_t publics, procedures; // records met, not entries
    uint32_t sections;
} SymTabInfo;

// Reads every public and procedure of `pdb` once. `progress` may be NULL.
Status symtab_from_pdb(Pdb *pdb, SymTab **out, Err *err) MUST_USE;
Status symtab_from_pe(Pe *pe, SymTab **out, Err *err) MUST_USE;
void symtab_close(SymTab *table);
AUTO_DEFINE(SymTab *, symtab_close)

// The copy on disk. `size_bytes` and `mtime_ns` are those of the PDB the table was made from: a
// copy that does not carry them is ERR_NOT_FOUND, as is one of another version or with damage.
typedef struct SymTabStamp {
    uint64_t size_bytes;
    int64_t mtime_ns;
} SymTabStamp;
Status symtab_save(const SymTab *table, Str path, const SymTabStamp *stamp, Err *err) MUST_USE;
Status symtab_load(Str path, const SymTabStamp *stamp, SymTab **out, Err *err) MUST_USE;

const SymTabInfo *symtab_info(const SymTab *table);
uint32_t symtab_count(const SymTab *table);
// `arena` receives the name where it has to be made.
void symtab_function(const SymTab *table, uint32_t index, Arena *arena, SymFunction *out);
Str symtab_raw_name(const SymTab *table, uint32_t index);
Str symtab_name(const SymTab *table, uint32_t index, Arena *arena);

// Index of the function that covers the address, or SYM_NONE. In a reordered image `rva` is the
// final address; *source_rva (may be NULL) gets the address in the layout of the symbols.
uint32_t symtab_at(const SymTab *table, uint32_t rva, uint32_t *source_rva);
// symtab_at for many: quickest when the addresses ascend.
void symtab_at_many(const SymTab *table, const uint32_t *rvas, size_t count, uint32_t *functions);

// A function's addresses in the image as it runs. In a reordered image one function may have many.
typedef struct SymRange {
    uint32_t rva, size; // size 0: unknown
    uint32_t function;
} SymRange;
// All ranges by address, in mem_alloc memory that the caller frees.
SymRange *symtab_ranges(const SymTab *table, size_t *count);

#endif
