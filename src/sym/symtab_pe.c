// Second best: a table from an image's exports and unwind ranges. An export names code only where
// the unwind table says that a function begins there; elsewhere a range has no name.
#include "base/search.h"
#include "sym/symtab_internal.h"

// Without unwind data (x86) an export reaches to the next one, and no farther than this.
enum { EXPORT_BYTES_MAX = 65536 };

static uint32_t range_starting_at(const PeUnwindRange *ranges, size_t count, uint32_t rva) {
    size_t at;
    FIND_FIRST(at, count, ranges[at].start < rva);
    return at < count && ranges[at].start == rva ? ranges[at].end - rva : 0;
}

static void add(SymBuild *build, RawSymbol raw, Str name) {
    raw.name_at = (uint32_t)build->names.n;
    raw.name_size = (uint32_t)name.n;
    raw.module = MODULE_UNKNOWN;
    buf_add(&build->names, name);
    *vec_push(&build->raw) = raw;
}

// Leaf functions have no unwind entry: such an export covers its first byte only, so that an
// address equal to the export is named and the code behind it is not.
static uint32_t export_length(const PeExport *exports, size_t count, size_t i,
                              const PeUnwindRange *ranges, size_t range_count) {
    if (range_count) {
        uint32_t length = range_starting_at(ranges, range_count, exports[i].rva);
        return length ? length : 1;
    }
    uint32_t length = EXPORT_BYTES_MAX;
    for (size_t next = i + 1; next < count; next++) {
        if (exports[next].rva == exports[i].rva) continue;
        uint32_t gap = exports[next].rva - exports[i].rva;
        return gap < length ? gap : length;
    }
    return length;
}

Status symtab_from_pe(Pe *pe, SymTab **out, Err *err) {
    const PeExport *exports;
    const PeUnwindRange *ranges;
    size_t export_count, range_count;
    TRY(pe_exports(pe, &exports, &export_count, err));
    TRY(pe_unwind_ranges(pe, &ranges, &range_count, err));
    const PeIdentity *identity = pe_identity(pe);
    SymBuild build = {.machine = identity->machine};
    for (size_t i = 0; i < range_count; i++)
        add(&build,
            (RawSymbol){.start = ranges[i].start,
                        .length = ranges[i].end - ranges[i].start,
                        .kind = SYMBOL_UNWIND_RANGE},
            (Str){0});
    for (size_t i = 0; i < export_count; i++) {
        if (exports[i].name.n == 0) continue;
        add(&build,
            (RawSymbol){.start = exports[i].rva,
                        .length = export_length(exports, export_count, i, ranges, range_count),
                        .kind = SYMBOL_EXPORT},
            exports[i].name);
    }
    Status status = symbuild_finish(&build, out, err);
    symbuild_done(&build);
    if (status != OK) return status;
    (*out)->info = (SymTabInfo){.guid = identity->pdb_guid,
                                .dbi_age = identity->pdb_age,
                                .machine = identity->machine,
                                .managed = identity->managed,
                                .from_image = true,
                                .publics = (uint32_t)export_count};
    return OK;
}
