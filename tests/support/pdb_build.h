// Small PDBs, MSFZ files, cabinets and images for tests, written from the format description.
#ifndef SUPPORT_PDB_BUILD_H
#define SUPPORT_PDB_BUILD_H

#include "base/rd.h"

typedef struct PdbBuild PdbBuild;

typedef struct LineSpec {
    uint32_t offset, line;
} LineSpec;

typedef struct CodeRange {
    uint16_t segment;
    uint32_t offset, size;
} CodeRange;

PdbBuild *pdb_build_new(void);
void pdb_build_free(PdbBuild *b);
AUTO_DEFINE(PdbBuild *, pdb_build_free)

void pdb_build_identity(PdbBuild *b, const Guid *guid, uint32_t info_age, uint32_t dbi_age);
void pdb_build_flags(PdbBuild *b, uint16_t dbi_flags, uint16_t machine, uint32_t feature);
void pdb_build_section(PdbBuild *b, uint32_t rva, uint32_t size, uint32_t characteristics);
void pdb_build_public(PdbBuild *b, uint32_t flags, uint16_t segment, uint32_t offset,
                      const char *name);
// Modules are numbered from 0.
uint32_t pdb_build_module(PdbBuild *b, const char *name);
// Opens a procedure; inline sites go into it until pdb_build_end.
void pdb_build_procedure(PdbBuild *b, uint32_t module, uint16_t kind, CodeRange range,
                         const char *name);
void pdb_build_end(PdbBuild *b, uint32_t module);
void pdb_build_thunk(PdbBuild *b, uint32_t module, uint16_t segment, uint32_t offset,
                     uint16_t length, const char *name);
void pdb_build_trampoline(PdbBuild *b, uint32_t module, uint16_t segment, uint32_t offset,
                          uint32_t target);
void pdb_build_inline(PdbBuild *b, uint32_t module, uint32_t inlinee, const uint8_t *annotations,
                      size_t size);
void pdb_build_inline_end(PdbBuild *b, uint32_t module);
// Id of a new function id record in a scope (may be NULL); class scopes go through the type stream.
uint32_t pdb_build_function_id(PdbBuild *b, const char *scope, bool scope_is_class,
                               const char *name);
void pdb_build_inlinee(PdbBuild *b, uint32_t module, uint32_t inlinee, uint32_t file,
                       uint32_t line);
// Offset in the module's checksum list, for lines and inlinees.
uint32_t pdb_build_file(PdbBuild *b, uint32_t module, const char *path);
void pdb_build_lines(PdbBuild *b, uint32_t module, uint32_t file, CodeRange range,
                     const LineSpec *rows, size_t count);
void pdb_build_contribution(PdbBuild *b, uint16_t segment, uint32_t offset, uint32_t size,
                            uint16_t module);
void pdb_build_omap(PdbBuild *b, uint32_t from, uint32_t to);
// Hostile: every module record names the first module's stream.
void pdb_build_share_stream(PdbBuild *b);
void pdb_build_named(PdbBuild *b, const char *name, const char *content);

typedef struct MsfSpec {
    uint32_t page_size; // 0: 4096
    bool shuffled;      // pages in reverse
} MsfSpec;
void pdb_build_msf(PdbBuild *b, MsfSpec spec, Buf *out);

typedef struct MsfzSpec {
    uint32_t kind;       // 0 none, 1 zstd, 2 deflate
    uint32_t chunk_size; // 0: 65536
    bool span;           // fragments may run over chunk ends
    bool packed_directory;
} MsfzSpec;
void pdb_build_msfz(PdbBuild *b, MsfzSpec spec, Buf *out);

// A cabinet with one file. LZX: of its kinds of blocks only the one that holds bytes as they are.
typedef enum CabinetKind { CABINET_STORED = 0, CABINET_MSZIP = 1, CABINET_LZX = 3 } CabinetKind;
void cabinet_build(Str content, CabinetKind kind, Buf *out);

typedef struct ImageSpec {
    uint32_t time_date_stamp, image_size;
    uint16_t machine;
    const Guid *guid; // NULL: no debug directory
    uint32_t age;
    const char *pdb_path;
    const Guid *perfmap; // signature of a ReadyToRun perf map of version 1; NULL: none
    const char *perfmap_path;
    const char *const *exports; // sorted; function i lies at 0x1000 + 16 * i
    uint32_t export_count;
} ImageSpec;
// One executable section at 0x1000, data behind it; x64 unwind entries for every other export.
void image_build(const ImageSpec *spec, Buf *out);

// The file that most tests use: two functions, statics, folded ones, publics, lines, inlining.
PdbBuild *pdb_build_sample(void);
extern const Guid SAMPLE_GUID;
enum { SAMPLE_AGE = 3, SAMPLE_INFO_AGE = 5 };

#endif
