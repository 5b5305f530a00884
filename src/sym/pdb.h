// One PDB: identity, sections, modules and the records inside its streams.
//
// Everything is read when asked for; pdb_open reads the info stream and the DBI header and module
// list only. A Pdb may be read from several threads.
#ifndef SYM_PDB_H
#define SYM_PDB_H

#include "sym/container.h"

typedef struct Pdb Pdb;

typedef struct PdbInfo {
    Guid guid;
    uint32_t info_age; // counts rewrites of the info stream too
    uint32_t dbi_age;  // the image's age; 0 in very old files
    bool has_dbi;      // false: a compiler's type PDB without symbols
    bool stripped;     // private symbols were removed
    bool managed;      // IL only: its offsets are no native addresses
    bool fastlink;     // records stay in object files: publics at most
    bool incremental;
    bool compressed;  // MSFZ
    uint16_t machine; // hint only: ARM64EC files say something else than their image
    uint32_t page_size;
} PdbInfo;

typedef struct PdbModule {
    Str name, object;
    uint16_t stream; // STREAM_NONE: no records
    uint32_t symbol_bytes, c11_bytes, c13_bytes;
} PdbModule;

typedef struct PdbSection {
    uint32_t rva, size;
    uint32_t characteristics;
} PdbSection;

enum { SECTION_EXECUTABLE = 0x20000000 };

// One section contribution: the address range that one object file gave.
typedef struct PdbContribution {
    uint32_t rva, size;
    uint32_t module;
} PdbContribution;

typedef struct OmapEntry {
    uint32_t from, to;
} OmapEntry;

Status pdb_open(Str path, Pdb **out, Err *err) MUST_USE; // PDB, MSFZ, or a cabinet with one of them
// As pdb_open, from bytes that outlive the Pdb.
Status pdb_open_bytes(Str bytes, Str name, Pdb **out, Err *err) MUST_USE;
void pdb_close(Pdb *pdb);
AUTO_DEFINE(Pdb *, pdb_close)

const PdbInfo *pdb_info(const Pdb *pdb);
Container *pdb_container(const Pdb *pdb);
Str pdb_name(const Pdb *pdb); // path or name given at open
size_t pdb_module_count(const Pdb *pdb);
const PdbModule *pdb_module(const Pdb *pdb, size_t index);
// Sections of the layout that symbols refer to (the original one when the image was reordered).
size_t pdb_section_count(const Pdb *pdb);
const PdbSection *pdb_section(const Pdb *pdb, size_t index);
// The matching rule: equal GUID and link age. `why` (may be NULL) gets a line when it does not
// hold.
bool pdb_matches(const Pdb *pdb, const Guid *guid, uint32_t age, Err *why);

// Stream number of a named stream ("/names", "srcsrv", "sourcelink"...), or STREAM_NONE.
uint32_t pdb_named_stream(const Pdb *pdb, Str name);
// Content of the source-server or source-link stream, as text for people. Empty when there is none.
Status pdb_source_index(Pdb *pdb, Buf *out, Err *err) MUST_USE;

// False for discarded and absolute symbols and for offsets outside the section.
bool pdb_rva(const Pdb *pdb, uint32_t segment, uint32_t offset, uint32_t *rva);
// Sorted by RVA, in mem_alloc memory that the caller frees.
Status pdb_contributions(Pdb *pdb, PdbContribution **out, size_t *count, Err *err) MUST_USE;
// Both directions of the address map of a reordered image; *count is 0 when there is none.
// `to_source`: final RVA to the RVA that symbols use. The caller frees.
Status pdb_omap(Pdb *pdb, bool to_source, OmapEntry **out, size_t *count, Err *err) MUST_USE;

// Records of one stream. `rd` stays valid while the bytes do.
typedef struct SymRecord {
    uint16_t kind;
    uint32_t offset; // of the record in its stream
    Rd payload;
} SymRecord;
// False at the end; *damaged is set when the end came by a bad length.
bool sym_record_next(Rd *r, SymRecord *out, bool *damaged);

// A public or a procedure-like record, as found.
typedef enum SymbolKind {
    SYMBOL_PROCEDURE, // whole function from a module's records
    SYMBOL_STATIC,    // the same, local to its object file
    SYMBOL_THUNK,
    SYMBOL_SEPARATE_CODE,   // part of a function moved elsewhere
    SYMBOL_TRAMPOLINE,      // entry of the incremental linker's jump table
    SYMBOL_PUBLIC_FUNCTION, // public with the function flag
    SYMBOL_PUBLIC_CODE,
    SYMBOL_PUBLIC_OTHER, // assembler labels, and data
    SYMBOL_EXPORT,       // from an image's export table, not from a PDB
    SYMBOL_UNWIND_RANGE, // from an image's unwind table: a range without a name
} SymbolKind;
enum { SYMBOL_KINDS = SYMBOL_UNWIND_RANGE + 1 };
const char *symbol_kind_name(SymbolKind kind);

typedef struct PdbSymbol {
    SymbolKind kind;
    uint32_t segment, offset;
    uint32_t length;                        // 0: unknown
    uint32_t target_segment, target_offset; // trampolines; parent of separate code
    uint32_t flags;                         // of a public
    Str name;                               // as stored; empty for trampolines
} PdbSymbol;

// Decodes one record when it is of a kind above. `skip_to` (may be NULL) gets the offset of the
// S_END of a procedure, or 0.
bool pdb_symbol_from_record(const SymRecord *record, PdbSymbol *out, uint32_t *skip_to);

// All symbols of the symbol-record stream or of one module, for loops:
//     PdbSymbols it; TRY(pdb_publics(pdb, &it, err)); while (pdb_symbols_next(&it, &symbol)) ...
// Names point into the iterator's buffer; call pdb_symbols_done.
typedef struct PdbSymbols {
    Buf bytes;
    Rd rd;
    uint32_t *offsets; // address map of the publics; NULL: walk all records
    size_t offset_count, next;
    bool publics, damaged;
} PdbSymbols;
Status pdb_publics(Pdb *pdb, PdbSymbols *out, Err *err) MUST_USE;
// `keep`: an earlier iterator whose buffer is used again; zero-initialised at first.
Status pdb_module_symbols(Pdb *pdb, size_t module, PdbSymbols *keep, Err *err) MUST_USE;
bool pdb_symbols_next(PdbSymbols *it, PdbSymbol *out);
void pdb_symbols_done(PdbSymbols *it);
static inline void pdb_symbols_done_auto(PdbSymbols *it) {
    pdb_symbols_done(it);
}

#endif
