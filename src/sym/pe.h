// Windows images (PE): what identifies them, and what they say about their own functions.
#ifndef SYM_PE_H
#define SYM_PE_H

#include "base/rd.h"
#include "sym/source.h"

typedef struct Pe Pe;

typedef struct PeIdentity {
    uint32_t time_date_stamp; // a hash in reproducible builds: no date
    uint32_t image_size;
    uint32_t checksum;
    uint16_t machine;
    bool managed;      // has a CLR header
    bool has_pdb;      // the fields below are set
    bool portable_pdb; // the PDB holds managed code only
    Guid pdb_guid;
    uint32_t pdb_age;
    Str pdb_path;           // as recorded by the linker: text of a stranger
    bool has_perfmap;       // precompiled managed code with a perf map; the fields below are set
    Guid perfmap_signature; // bytes, no fields
    uint32_t perfmap_version;
    Str perfmap_path;
} PeIdentity;

enum {
    MACHINE_X86 = 0x14C,
    MACHINE_ARM32 = 0x1C4,
    MACHINE_X64 = 0x8664,
    MACHINE_ARM64EC = 0xA641,
    MACHINE_ARM64X = 0xA64E,
    MACHINE_ARM64 = 0xAA64,
};
const char *machine_name(uint16_t machine);

typedef struct PeExport {
    uint32_t rva;
    Str name; // empty when exported by ordinal only
    uint32_t ordinal;
} PeExport;

// One function by the unwind table: parts of one function are joined where the table says so.
typedef struct PeUnwindRange {
    uint32_t start, end;
} PeUnwindRange;

Status pe_open(Str path, Pe **out, Err *err) MUST_USE; // an image, or a cabinet with one
Status pe_open_bytes(Str bytes, Str name, Pe **out, Err *err) MUST_USE;
void pe_close(Pe *pe);
AUTO_DEFINE(Pe *, pe_close)

const PeIdentity *pe_identity(const Pe *pe);
Str pe_name(const Pe *pe);
bool pe_is_executable(const Pe *pe, uint32_t rva); // address in an executable section
// Exports of code, by address; forwarders and data are left out. Valid while the Pe is open.
Status pe_exports(Pe *pe, const PeExport **out, size_t *count, Err *err) MUST_USE;
Status pe_unwind_ranges(Pe *pe, const PeUnwindRange **out, size_t *count, Err *err) MUST_USE;

#endif
