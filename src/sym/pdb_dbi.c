// The DBI stream of a PDB: modules, section contributions, section headers and the address maps of
// reordered images. docs/formats/pdb.md, "DBI".
#include "sym/pdb_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    DBI_HEADER_BYTES = 64,
    DBI_BYTES_MAX = 512 << 20,
    MODULE_BYTES_MIN = 68,
    MODULE_FIRST_CONTRIBUTION_BYTES = 32, // an unused word, and 28 bytes of contribution
    SECTION_HEADER_BYTES = 40,
    SECTIONS_MAX = 65535,
    CONTRIBUTIONS_V1 = (int)0xF12EBA2D,
    CONTRIBUTIONS_V2 = (int)0xF13151E4,
    FLAG_INCREMENTAL = 1,
    FLAG_STRIPPED = 2,
    MACHINE_MANAGED = 0xC0EE,
    OMAP_ENTRY_BYTES = 8,
};

typedef struct DbiSizes {
    int32_t modules, contributions, section_map, sources, type_server, debug_header, edit;
} DbiSizes;

static DbiSizes read_header(Pdb *pdb, Rd *r) {
    DbiSizes sizes = {0};
    rd_skip(r, 8);
    pdb->info.dbi_age = rd_u32(r);
    rd_skip(r, 4); // global hash stream, toolchain
    pdb->publics_stream = rd_u16(r);
    rd_skip(r, 2);
    pdb->records_stream = rd_u16(r);
    rd_skip(r, 2);
    sizes.modules = rd_i32(r);
    sizes.contributions = rd_i32(r);
    sizes.section_map = rd_i32(r);
    sizes.sources = rd_i32(r);
    sizes.type_server = rd_i32(r);
    rd_skip(r, 4);
    sizes.debug_header = rd_i32(r);
    sizes.edit = rd_i32(r);
    uint16_t flags = rd_u16(r);
    pdb->info.machine = rd_u16(r);
    rd_skip(r, 4);
    pdb->info.incremental = (flags & FLAG_INCREMENTAL) != 0;
    pdb->info.stripped = (flags & FLAG_STRIPPED) != 0;
    pdb->info.managed = pdb->info.machine == MACHINE_MANAGED;
    return sizes;
}

static bool sizes_fit(const DbiSizes *s, size_t left) {
    const int32_t all[] = {s->modules,     s->contributions, s->section_map, s->sources,
                           s->type_server, s->edit,          s->debug_header};
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        if (all[i] < 0) return false;
        sum += (uint64_t)all[i];
    }
    return sum <= left;
}

static bool read_module(Rd *r, PdbModule *out, Arena *arena) {
    rd_skip(r, MODULE_FIRST_CONTRIBUTION_BYTES + 2);
    out->stream = rd_u16(r);
    out->symbol_bytes = rd_u32(r);
    out->c11_bytes = rd_u32(r);
    out->c13_bytes = rd_u32(r);
    rd_skip(r, 16);
    size_t before = rd_left(r);
    Str name = rd_astr_raw(r);
    bool name_ends = before > name.n;
    before = rd_left(r);
    Str object = rd_astr_raw(r);
    if (!rd_ok(r) || !name_ends || before <= object.n) return false;
    out->name = str_from_8bit(arena, (const uint8_t *)name.p, name.n);
    out->object = str_from_8bit(arena, (const uint8_t *)object.p, object.n);
    if (rd_at(r) % 4) rd_skip(r, 4 - rd_at(r) % 4 < rd_left(r) ? 4 - rd_at(r) % 4 : rd_left(r));
    return true;
}

// A record that is cut or has no name ends the list; the modules before it stay.
static void read_modules(Pdb *pdb, Rd r) {
    pdb->modules = ARENA_ARRAY(&pdb->arena, PdbModule, rd_left(&r) / MODULE_BYTES_MIN + 1);
    while (rd_left(&r) >= MODULE_BYTES_MIN &&
           read_module(&r, &pdb->modules[pdb->module_count], &pdb->arena))
        pdb->module_count++;
}

static void read_debug_header(Pdb *pdb, Rd r) {
    for (size_t i = 0; i < DEBUG_STREAMS; i++)
        pdb->debug_streams[i] = rd_left(&r) >= 2 ? rd_u16(&r) : (uint16_t)STREAM_NONE;
}

static Status read_sections(Pdb *pdb, Err *err) {
    uint32_t stream = pdb->debug_streams[DEBUG_STREAM_ORIGINAL_SECTIONS];
    if (container_stream_size(pdb->container, stream) < SECTION_HEADER_BYTES)
        stream = pdb->debug_streams[DEBUG_STREAM_SECTIONS];
    uint64_t size = container_stream_size(pdb->container, stream);
    size_t count = (size_t)(size / SECTION_HEADER_BYTES);
    if (count == 0) return OK;
    if (count > SECTIONS_MAX) return pdb_damaged(pdb, err, "%zu sections are too many", count);
    AUTO(buf_done) Buf bytes = {0};
    TRY(container_load(pdb->container, stream, &bytes, err));
    Rd r = container_rd(&bytes);
    pdb->sections = ARENA_ARRAY(&pdb->arena, PdbSection, count);
    for (size_t i = 0; i < count; i++) {
        Rd header = rd_sub(&r, SECTION_HEADER_BYTES);
        rd_skip(&header, 8);
        pdb->sections[i].size = rd_u32(&header);
        pdb->sections[i].rva = rd_u32(&header);
        rd_skip(&header, 20);
        pdb->sections[i].characteristics = rd_u32(&header);
    }
    pdb->section_count = count;
    return OK;
}

Status pdb_read_dbi(Pdb *pdb, Err *err) {
    for (size_t i = 0; i < DEBUG_STREAMS; i++) pdb->debug_streams[i] = (uint16_t)STREAM_NONE;
    pdb->publics_stream = pdb->records_stream = (uint16_t)STREAM_NONE;
    uint64_t size = container_stream_size(pdb->container, STREAM_DBI);
    if (size == 0) return OK;
    if (size < DBI_HEADER_BYTES || size > DBI_BYTES_MAX)
        return pdb_damaged(pdb, err, "a DBI stream of %" PRIu64 " bytes is not possible", size);
    AUTO(buf_done) Buf bytes = {0};
    TRY(container_load(pdb->container, STREAM_DBI, &bytes, err));
    Rd r = container_rd(&bytes);
    DbiSizes sizes = read_header(pdb, &r);
    if (!sizes_fit(&sizes, rd_left(&r)))
        return pdb_damaged(pdb, err, "the parts of the DBI stream exceed its %zu bytes", bytes.n);
    pdb->info.has_dbi = true;
    read_modules(pdb, rd_sub(&r, (size_t)sizes.modules));
    pdb->contributions_at = (uint32_t)rd_at(&r);
    pdb->contributions_size = (uint32_t)sizes.contributions;
    rd_skip(&r, (size_t)sizes.contributions);
    rd_skip(&r, (size_t)sizes.section_map);
    rd_skip(&r, (size_t)sizes.sources);
    rd_skip(&r, (size_t)sizes.type_server);
    rd_skip(&r, (size_t)sizes.edit); // stored before the debug header, against their size fields
    read_debug_header(pdb, rd_sub(&r, (size_t)sizes.debug_header));
    return read_sections(pdb, err);
}

// Segment 0 marks a discarded function, a segment above the last an absolute symbol. An offset
// behind the section's end is kept while it stays below the next section.
bool pdb_rva(const Pdb *pdb, uint32_t segment, uint32_t offset, uint32_t *rva) {
    if (segment == 0 || segment > pdb->section_count) return false;
    const PdbSection *section = &pdb->sections[segment - 1];
    uint64_t sum = (uint64_t)section->rva + offset;
    if (sum > UINT32_MAX) return false;
    *rva = (uint32_t)sum;
    if (offset < section->size) return true;
    return segment < pdb->section_count && sum < pdb->sections[segment].rva;
}

static int compare_contributions(const void *a, const void *b) {
    const PdbContribution *x = a, *y = b;
    if (x->rva != y->rva) return x->rva < y->rva ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

Status pdb_contributions(Pdb *pdb, PdbContribution **out, size_t *count, Err *err) {
    *out = NULL;
    *count = 0;
    uint32_t size = pdb->contributions_size;
    if (size < 4) return OK;
    AUTO(buf_done) Buf bytes = {.p = mem_alloc(size), .capacity = size};
    TRY(container_read(pdb->container, STREAM_DBI, pdb->contributions_at, bytes.p, size, err));
    Rd r = rd_from(bytes.p, size);
    int32_t version = rd_i32(&r);
    size_t entry_bytes = version == CONTRIBUTIONS_V1 ? 28 : version == CONTRIBUTIONS_V2 ? 32 : 0;
    if (entry_bytes == 0) return OK; // a layout nobody has described: do without bounds
    size_t most = rd_left(&r) / entry_bytes;
    PdbContribution *items = mem_alloc((most + 1) * sizeof *items);
    bool sorted = true;
    for (size_t i = 0; i < most; i++) {
        Rd entry = rd_sub(&r, entry_bytes);
        uint32_t segment = rd_u16(&entry);
        rd_skip(&entry, 2);
        uint32_t offset = rd_u32(&entry), bytes_here = rd_u32(&entry), rva;
        rd_skip(&entry, 4);
        uint32_t module = rd_u16(&entry);
        if ((int32_t)bytes_here <= 0 || !pdb_rva(pdb, segment, offset, &rva)) continue;
        items[*count] = (PdbContribution){rva, bytes_here, module};
        if (*count && compare_contributions(&items[*count - 1], &items[*count]) > 0) sorted = false;
        (*count)++;
    }
    if (!sorted) qsort(items, *count, sizeof *items, compare_contributions);
    *out = items;
    return OK;
}

static int compare_omap(const void *a, const void *b) {
    const OmapEntry *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

Status pdb_omap(Pdb *pdb, bool to_source, OmapEntry **out, size_t *count, Err *err) {
    *out = NULL;
    *count = 0;
    uint32_t stream =
        pdb->debug_streams[to_source ? DEBUG_STREAM_OMAP_TO_SOURCE : DEBUG_STREAM_OMAP_FROM_SOURCE];
    uint64_t entries = container_stream_size(pdb->container, stream) / OMAP_ENTRY_BYTES;
    if (entries == 0) return OK;
    if (entries > LIMIT_OMAP_ENTRIES)
        return err_set(err, ERR_LIMIT, STR_FMT ": an address map of %" PRIu64 " entries",
                       STR_ARG(pdb_name(pdb)), entries);
    AUTO(buf_done) Buf bytes = {0};
    TRY(container_load(pdb->container, stream, &bytes, err));
    Rd r = container_rd(&bytes);
    OmapEntry *items = mem_alloc((size_t)entries * sizeof *items);
    bool sorted = true;
    for (size_t i = 0; i < entries; i++) {
        items[i].from = rd_u32(&r);
        items[i].to = rd_u32(&r);
        if (i && items[i].from < items[i - 1].from) sorted = false;
    }
    if (!sorted) qsort(items, (size_t)entries, sizeof *items, compare_omap);
    *out = items;
    *count = (size_t)entries;
    return OK;
}
