// What the pdb_*.c files share; nobody else includes it.
#ifndef SYM_PDB_INTERNAL_H
#define SYM_PDB_INTERNAL_H

#include "base/limits.h"
#include "sym/codeview.h"
#include "sym/pdb.h"

#include <inttypes.h>

typedef struct NamedStream {
    Str name;
    uint32_t stream;
} NamedStream;

enum {
    DEBUG_STREAM_OMAP_TO_SOURCE = 3,
    DEBUG_STREAM_OMAP_FROM_SOURCE = 4,
    DEBUG_STREAM_SECTIONS = 5,
    DEBUG_STREAM_ORIGINAL_SECTIONS = 10,
    DEBUG_STREAMS = 11,
};

struct Pdb {
    Container *container;
    PdbInfo info;
    Arena arena; // names and tables below
    NamedStream *named;
    size_t named_count;
    PdbModule *modules;
    size_t module_count;
    PdbSection *sections;
    size_t section_count;
    uint16_t publics_stream, records_stream;
    uint32_t contributions_at, contributions_size; // in the DBI stream
    uint16_t debug_streams[DEBUG_STREAMS];
};

Status pdb_read_info(Pdb *pdb, Err *err) MUST_USE;
Status pdb_read_dbi(Pdb *pdb, Err *err) MUST_USE;
Status pdb_damaged(const Pdb *pdb, Err *err, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
