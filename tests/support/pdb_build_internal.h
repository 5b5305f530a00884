// Shared by pdb_build.c and pdb_pack.c.
#ifndef SUPPORT_PDB_BUILD_INTERNAL_H
#define SUPPORT_PDB_BUILD_INTERNAL_H

#include "support/pdb_build.h"

enum {
    BUILD_MODULES = 16,
    BUILD_NAMED = 8,
    BUILD_STREAM_PUBLICS = 5,
    BUILD_STREAM_RECORDS = 6,
    BUILD_STREAM_SECTIONS = 7,
    BUILD_STREAM_OMAP = 8,
    BUILD_STREAM_NAMES = 9,
    BUILD_STREAM_FIRST_MODULE = 10,
    BUILD_STREAMS = BUILD_STREAM_FIRST_MODULE + BUILD_MODULES + BUILD_NAMED,
};

typedef struct ModuleBuild {
    const char *name;
    Buf symbols, lines, checksums, inlinees;
    size_t open_at; // record of the open procedure
} ModuleBuild;

typedef struct NamedBuild {
    const char *name;
    Buf content;
} NamedBuild;

struct PdbBuild {
    Guid guid;
    uint32_t info_age, dbi_age, feature;
    uint16_t dbi_flags, machine;
    Buf publics, address_map, sections, contributions, omap, strings, ipi, tpi;
    uint32_t ipi_count, tpi_count;
    ModuleBuild modules[BUILD_MODULES];
    uint32_t module_count;
    NamedBuild named[BUILD_NAMED];
    uint32_t named_count;
    bool share_stream;
};

void pb_u8(Buf *b, uint8_t v);
void pb_u16(Buf *b, uint16_t v);
void pb_u32(Buf *b, uint32_t v);
void pb_u64(Buf *b, uint64_t v);
void pb_text(Buf *b, const char *text); // with its zero
void pb_zeros(Buf *b, size_t n);
void pb_align(Buf *b, size_t to);
void pb_set_u32(Buf *b, size_t at, uint32_t v);

// Fills streams[0..count), count <= BUILD_STREAMS; the caller frees them.
size_t build_streams(const PdbBuild *b, Buf *streams);

#endif
