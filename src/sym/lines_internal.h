// The decoded tables of one module, shared by the files that fill and search them.
#ifndef SYM_LINES_INTERNAL_H
#define SYM_LINES_INTERNAL_H

#include "base/map.h"
#include "base/thread.h"
#include "sym/lines.h"
#include "sym/pdb_internal.h"

#define FILE_UNKNOWN UINT32_MAX
#define SITE_NONE UINT32_MAX

// One inlined call: which function, inside which other site, and its rows.
typedef struct InlineSite {
    uint32_t parent;  // index, or SITE_NONE
    uint32_t inlinee; // id in the IPI stream
    uint32_t first_row, row_count;
} InlineSite;

typedef struct InlineProcedure {
    uint32_t start, end;
    uint32_t first_site, site_count; // in nesting order
} InlineProcedure;

typedef struct ModuleTable {
    size_t module;
    uint64_t used_at;
    LineRows rows;                   // by start
    VEC(InlineProcedure) procedures; // with sites only, by start
    VEC(InlineSite) sites;
    LineRows site_rows;
} ModuleTable;

typedef struct IdStream {
    bool loaded;
    Buf bytes;
    uint32_t first, count;
    uint32_t *offsets; // of each record
} IdStream;

struct PdbLines {
    Pdb *pdb;
    Buf names;   // the string table's stream
    Rd strings;  // its text
    Mutex mutex; // guards what follows
    ModuleTable *tables[LIMIT_PDB_CACHED_MODULES];
    uint64_t clock;
    IdStream ipi, tpi;
};

// Subsections of a module's line data that other records refer to.
typedef struct LineContext {
    PdbLines *lines;
    Rd checksums;
    Map inlinees; // id -> file << 32 | line
} LineContext;

// Offset of a file's name in the string table, from its offset in the module's checksum list.
uint32_t file_from_checksum(const LineContext *context, uint32_t offset);
bool is_source_line(uint32_t line);
Status inline_sites_read(LineContext *context, size_t module, ModuleTable *table,
                         Err *err) MUST_USE;
// Name of an inlined function with its scope, "namespace::name"; empty when it cannot be read.
Str inlinee_name(PdbLines *lines, uint32_t id, Arena *arena);

#endif
