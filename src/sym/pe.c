// Windows images: headers, the debug directory that names the PDB, exports and unwind ranges.
// docs/formats/pdb.md, "Images".
#include "sym/pe.h"

#include "base/limits.h"
#include "sym/cabinet.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    DOS_LFANEW = 0x3C,
    COFF_BYTES = 24,
    SECTION_BYTES = 40,
    MAGIC_PE32 = 0x10B,
    MAGIC_PE32_PLUS = 0x20B,
    DIRECTORY_EXPORTS = 0,
    DIRECTORY_EXCEPTIONS = 3,
    DIRECTORY_DEBUG = 6,
    DIRECTORY_CLR = 14,
    DIRECTORIES = 16,
    DEBUG_ENTRY_BYTES = 28,
    DEBUG_ENTRIES_MAX = 64,
    DEBUG_CODEVIEW = 2,
    DEBUG_PERFMAP = 21,
    MINOR_PORTABLE = 0x504D, // "PM" in the debug entry: the PDB is a portable one
    MAJOR_PORTABLE_MIN = 0x100,
    CODEVIEW_BYTES_MAX = 4096,
    CHARACTERISTIC_EXECUTE = 0x20000000,
    EXPORTS_MAX = 65536, // ordinals have 16 bits
    EXPORT_NAMES_BYTES_MAX = 32 << 20,
    OPTIONAL_BYTES_MAX = 4096,
};

typedef struct PeSection {
    uint32_t rva, size, raw_size, raw_at, characteristics;
} PeSection;

typedef struct Directory {
    uint32_t rva, size;
} Directory;

struct Pe {
    Source *source;
    Arena arena;
    PeIdentity identity;
    Directory directories[DIRECTORIES];
    PeSection sections[LIMIT_PE_SECTIONS];
    size_t section_count;
    PeExport *exports;
    size_t export_count;
    PeUnwindRange *unwind;
    size_t unwind_count;
};

const char *machine_name(uint16_t machine) {
    switch (machine) {
    case MACHINE_X86: return "x86";
    case MACHINE_ARM32: return "ARM";
    case MACHINE_X64: return "x64";
    case MACHINE_ARM64: return "ARM64";
    case MACHINE_ARM64EC: return "ARM64EC";
    case MACHINE_ARM64X: return "ARM64X";
    default: return "unknown";
    }
}

static Status pe_damaged(const Pe *pe, const char *what, Err *err) {
    return err_set(err, ERR_INPUT, STR_FMT ": damaged image: %s", STR_ARG(pe_name(pe)), what);
}

// Address to file offset, and how many bytes of the file follow there in the same section.
static bool file_range(const Pe *pe, uint32_t rva, uint64_t *at, uint64_t *left) {
    for (size_t i = 0; i < pe->section_count; i++) {
        const PeSection *s = &pe->sections[i];
        if (rva < s->rva || rva - s->rva >= s->raw_size) continue;
        *at = (uint64_t)s->raw_at + (rva - s->rva);
        uint64_t size = source_size(pe->source);
        if (*at >= size) return false;
        *left = s->raw_size - (rva - s->rva);
        if (*left > size - *at) *left = size - *at;
        return true;
    }
    return false;
}

// Up to `max` bytes at an address, read into `buf`.
static bool load_at(const Pe *pe, uint32_t rva, uint64_t max, Buf *buf) {
    uint64_t at, left;
    buf_clear(buf);
    if (!file_range(pe, rva, &at, &left)) return false;
    size_t n = (size_t)(left < max ? left : max);
    if (n + 1 > buf->capacity) {
        buf_done(buf);
        *buf = (Buf){.p = mem_alloc(n + 1), .capacity = n + 1};
    }
    if (source_read(pe->source, at, buf->p, n, NULL) != OK) return false;
    buf->n = n;
    return true;
}

static Status read_optional_header(Pe *pe, Rd *r, Err *err) {
    uint16_t magic = rd_u16(r);
    if (magic != MAGIC_PE32 && magic != MAGIC_PE32_PLUS)
        return pe_damaged(pe, "the optional header is of no known kind", err);
    rd_skip(r, 54);
    pe->identity.image_size = rd_u32(r);
    rd_skip(r, 4);
    pe->identity.checksum = rd_u32(r);
    rd_skip(r, magic == MAGIC_PE32 ? 24 : 40);
    uint32_t count = rd_u32(r);
    if (!rd_ok(r)) return pe_damaged(pe, "the optional header is cut short", err);
    for (uint32_t i = 0; i < count && i < DIRECTORIES && rd_left(r) >= 8; i++)
        pe->directories[i] = (Directory){rd_u32(r), rd_u32(r)};
    pe->identity.managed = pe->directories[DIRECTORY_CLR].size != 0;
    return OK;
}

static void read_sections(Pe *pe, uint64_t at, size_t count) {
    if (count > LIMIT_PE_SECTIONS) count = LIMIT_PE_SECTIONS;
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[SECTION_BYTES];
        if (source_read(pe->source, at + i * SECTION_BYTES, bytes, sizeof bytes, NULL) != OK)
            return;
        Rd r = rd_from(bytes, sizeof bytes);
        PeSection *s = &pe->sections[pe->section_count++];
        rd_skip(&r, 8);
        s->size = rd_u32(&r);
        s->rva = rd_u32(&r);
        s->raw_size = rd_u32(&r);
        s->raw_at = rd_u32(&r);
        rd_skip(&r, 12);
        s->characteristics = rd_u32(&r);
    }
}

static Status read_headers(Pe *pe, Err *err) {
    uint8_t dos[DOS_LFANEW + 4], coff[COFF_BYTES];
    if (source_size(pe->source) < sizeof dos) return pe_damaged(pe, "it is too short", err);
    TRY(source_read(pe->source, 0, dos, sizeof dos, err));
    Rd r = rd_from(dos, sizeof dos);
    rd_seek(&r, DOS_LFANEW);
    uint64_t at = rd_u32(&r);
    TRY(source_read(pe->source, at, coff, sizeof coff, err));
    r = rd_from(coff, sizeof coff);
    if (!str_eq(rd_bytes(&r, 4), (Str){"PE\0\0", 4}))
        return pe_damaged(pe, "the PE signature is missing", err);
    pe->identity.machine = rd_u16(&r);
    size_t section_count = rd_u16(&r);
    pe->identity.time_date_stamp = rd_u32(&r);
    rd_skip(&r, 8);
    uint16_t optional_size = rd_u16(&r);
    AUTO(buf_done) Buf optional = {.p = mem_alloc(optional_size + 1u)};
    if (optional_size > OPTIONAL_BYTES_MAX)
        return pe_damaged(pe, "the optional header is too large", err);
    TRY(source_read(pe->source, at + COFF_BYTES, optional.p, optional_size, err));
    r = rd_from(optional.p, optional_size);
    TRY(read_optional_header(pe, &r, err));
    read_sections(pe, at + COFF_BYTES + optional_size, section_count);
    return OK;
}

typedef struct CodeView {
    bool good, portable, native_image;
    Guid guid;
    uint32_t age;
    Str path;
} CodeView;

static CodeView read_codeview(Pe *pe, uint32_t at, uint32_t size) {
    CodeView out = {0};
    uint8_t bytes[CODEVIEW_BYTES_MAX];
    size_t n = size < sizeof bytes ? size : sizeof bytes;
    if (source_read(pe->source, at, bytes, n, NULL) != OK) return out;
    Rd r = rd_from(bytes, n);
    if (!str_eq(rd_bytes(&r, 4), STR("RSDS"))) return out;
    out.guid = rd_guid(&r);
    out.age = rd_u32(&r);
    Str path = rd_astr_raw(&r);
    out.good = rd_ok(&r);
    out.path = str_from_8bit(&pe->arena, (const uint8_t *)path.p, path.n);
    out.native_image = str_ends_nocase(out.path, STR(".ni.pdb"));
    return out;
}

// Precompiled managed code may name the map of its methods.
static void read_perfmap(Pe *pe, uint32_t at, uint32_t size) {
    uint8_t bytes[CODEVIEW_BYTES_MAX];
    size_t n = size < sizeof bytes ? size : sizeof bytes;
    if (pe->identity.has_perfmap || source_read(pe->source, at, bytes, n, NULL) != OK) return;
    Rd r = rd_from(bytes, n);
    if (!str_eq(rd_bytes(&r, 4), STR("R2RM"))) return;
    pe->identity.perfmap_signature = rd_guid(&r);
    pe->identity.perfmap_version = rd_u32(&r);
    Str path = rd_astr_raw(&r);
    pe->identity.has_perfmap = rd_ok(&r) && path.n;
    pe->identity.perfmap_path = str_from_8bit(&pe->arena, (const uint8_t *)path.p, path.n);
}

// Native images of managed code name two PDBs; the one for the native code counts.
static bool is_preferred(const CodeView *a, const CodeView *b) {
    if (a->native_image != b->native_image) return a->native_image;
    return !a->portable && b->portable;
}

static void read_debug_directory(Pe *pe) {
    Directory d = pe->directories[DIRECTORY_DEBUG];
    AUTO(buf_done) Buf bytes = {0};
    if (d.size == 0 || !load_at(pe, d.rva, d.size, &bytes)) return;
    Rd r = rd_from(bytes.p, bytes.n);
    CodeView best = {0};
    for (size_t i = 0; i < DEBUG_ENTRIES_MAX && rd_left(&r) >= DEBUG_ENTRY_BYTES; i++) {
        rd_skip(&r, 8);
        uint16_t major = rd_u16(&r), minor = rd_u16(&r);
        uint32_t type = rd_u32(&r), size = rd_u32(&r);
        rd_skip(&r, 4);
        uint32_t at = rd_u32(&r);
        if (type == DEBUG_PERFMAP) read_perfmap(pe, at, size);
        if (type != DEBUG_CODEVIEW) continue;
        CodeView view = read_codeview(pe, at, size);
        view.portable = major >= MAJOR_PORTABLE_MIN && minor == MINOR_PORTABLE;
        if (view.good && (!best.good || is_preferred(&view, &best))) best = view;
    }
    if (!best.good) return;
    pe->identity.has_pdb = true;
    pe->identity.portable_pdb = best.portable && !best.native_image;
    pe->identity.pdb_guid = best.guid;
    pe->identity.pdb_age = best.age;
    pe->identity.pdb_path = best.path;
}

static Status unpack(Pe *pe, Err *err) {
    FileKind kind = source_kind(pe->source);
    if (kind == FILE_KIND_CABINET) {
        AUTO(buf_done) Buf bytes = {.max = LIMIT_CABINET_BYTES};
        TRY(cabinet_expand(pe->source, &bytes, err));
        Source *inner = source_from_buf(&bytes, pe_name(pe));
        source_close(pe->source);
        pe->source = inner;
        kind = source_kind(inner);
    }
    if (kind == FILE_KIND_PE) return OK;
    return err_set(err, ERR_INPUT, STR_FMT ": not an image: the file is %s", STR_ARG(pe_name(pe)),
                   file_kind_name(kind));
}

static Status open_source(Source *source, Pe **out, Err *err) {
    AUTO(pe_close) Pe *pe = mem_zero(1, sizeof *pe);
    pe->source = source;
    TRY(unpack(pe, err));
    TRY(read_headers(pe, err));
    read_debug_directory(pe);
    *out = pe;
    pe = NULL;
    return OK;
}

Status pe_open(Str path, Pe **out, Err *err) {
    Source *source = NULL;
    TRY(source_open(path, &source, err));
    return open_source(source, out, err);
}

Status pe_open_bytes(Str bytes, Str name, Pe **out, Err *err) {
    return open_source(source_from_bytes(bytes, name), out, err);
}

void pe_close(Pe *pe) {
    if (!pe) return;
    source_close(pe->source);
    arena_done(&pe->arena);
    mem_free(pe);
}

const PeIdentity *pe_identity(const Pe *pe) {
    return &pe->identity;
}

Str pe_name(const Pe *pe) {
    return source_name(pe->source);
}

bool pe_is_executable(const Pe *pe, uint32_t rva) {
    for (size_t i = 0; i < pe->section_count; i++) {
        const PeSection *s = &pe->sections[i];
        uint32_t size = s->size > s->raw_size ? s->size : s->raw_size;
        if (rva >= s->rva && rva - s->rva < size)
            return (s->characteristics & CHARACTERISTIC_EXECUTE) != 0;
    }
    return false;
}

static int compare_exports(const void *a, const void *b) {
    const PeExport *x = a, *y = b;
    if (x->rva != y->rva) return x->rva < y->rva ? -1 : 1;
    int order = str_cmp(x->name, y->name);
    if (order) return order;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

// Names of exported functions by their index in the address table.
static void name_exports(Pe *pe, Rd tables[2], uint32_t name_count, Str *names, uint32_t count) {
    AUTO(buf_done) Buf text = {0};
    for (uint32_t i = 0; i < name_count; i++) {
        uint32_t rva = rd_u32(&tables[0]);
        uint16_t index = rd_u16(&tables[1]);
        if (!rd_ok(&tables[0]) || !rd_ok(&tables[1])) return;
        if (pe->arena.used_bytes > EXPORT_NAMES_BYTES_MAX) return;
        if (index >= count || names[index].n) continue;
        if (!load_at(pe, rva, CODEVIEW_BYTES_MAX, &text)) continue;
        Rd r = rd_from(text.p, text.n);
        Str raw = rd_astr_raw(&r);
        names[index] = str_from_8bit(&pe->arena, (const uint8_t *)raw.p, raw.n);
    }
}

static void fill_exports(Pe *pe, Rd functions, const Str *names, uint32_t count, uint32_t base) {
    Directory d = pe->directories[DIRECTORY_EXPORTS];
    pe->exports = ARENA_ARRAY(&pe->arena, PeExport, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rva = rd_u32(&functions);
        bool forwarder = rva >= d.rva && rva - d.rva < d.size;
        if (rva == 0 || forwarder || !pe_is_executable(pe, rva)) continue;
        pe->exports[pe->export_count++] = (PeExport){rva, names[i], base + i};
    }
    if (pe->export_count)
        qsort(pe->exports, pe->export_count, sizeof *pe->exports, compare_exports);
}

static Status read_exports(Pe *pe, Err *err) {
    Directory d = pe->directories[DIRECTORY_EXPORTS];
    AUTO(buf_done) Buf head = {0}, functions = {0}, names = {0}, ordinals = {0};
    if (d.size == 0) return OK;
    if (!load_at(pe, d.rva, 40, &head) || head.n < 40)
        return pe_damaged(pe, "the export directory lies outside the file", err);
    Rd r = rd_from(head.p, head.n);
    rd_skip(&r, 16);
    uint32_t base = rd_u32(&r), count = rd_u32(&r), name_count = rd_u32(&r);
    uint32_t functions_at = rd_u32(&r), names_at = rd_u32(&r), ordinals_at = rd_u32(&r);
    if (count > EXPORTS_MAX || name_count > EXPORTS_MAX)
        return pe_damaged(pe, "the export table is too large", err);
    if (!load_at(pe, functions_at, (uint64_t)count * 4, &functions) || functions.n / 4 < count)
        return pe_damaged(pe, "the export table is cut short", err);
    (void)load_at(pe, names_at, (uint64_t)name_count * 4, &names);
    (void)load_at(pe, ordinals_at, (uint64_t)name_count * 2, &ordinals);
    Str *by_index = ARENA_ARRAY(&pe->arena, Str, count);
    Rd tables[2] = {rd_from(names.p, names.n), rd_from(ordinals.p, ordinals.n)};
    name_exports(pe, tables, name_count, by_index, count);
    fill_exports(pe, rd_from(functions.p, functions.n), by_index, count, base);
    return OK;
}

Status pe_exports(Pe *pe, const PeExport **out, size_t *count, Err *err) {
    if (!pe->exports) TRY(read_exports(pe, err));
    *out = pe->exports;
    *count = pe->export_count;
    return OK;
}

static int compare_ranges(const void *a, const void *b) {
    const PeUnwindRange *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

// Flag 4 of the unwind data: the entry continues another function, named behind the codes.
static bool is_chained(const Pe *pe, uint32_t unwind_rva, Buf *scratch) {
    if (unwind_rva & 1) return true; // points at another entry
    if (!load_at(pe, unwind_rva, 4, scratch) || scratch->n < 4) return false;
    Rd r = rd_from(scratch->p, scratch->n);
    return ((rd_u8(&r) >> 3) & 4) != 0;
}

static void read_x64_ranges(Pe *pe, Rd r) {
    AUTO(buf_done) Buf scratch = {0};
    while (rd_left(&r) >= 12) {
        uint32_t start = rd_u32(&r), end = rd_u32(&r), unwind = rd_u32(&r);
        if (start == 0 || end <= start) continue;
        PeUnwindRange *last = pe->unwind_count ? &pe->unwind[pe->unwind_count - 1] : NULL;
        if (is_chained(pe, unwind, &scratch)) {
            // Joined when it follows its function; a part that was moved away stays unnamed.
            if (last && last->end == start) last->end = end;
            continue;
        }
        pe->unwind[pe->unwind_count++] = (PeUnwindRange){start, end};
    }
}

static void read_arm64_ranges(Pe *pe, Rd r) {
    AUTO(buf_done) Buf scratch = {0};
    while (rd_left(&r) >= 8) {
        uint32_t start = rd_u32(&r), word = rd_u32(&r), size = 0;
        if (word & 3) {
            size = ((word >> 2) & 0x7FF) * 4;
        } else if (load_at(pe, word, 4, &scratch) && scratch.n == 4) {
            Rd x = rd_from(scratch.p, scratch.n);
            size = (rd_u32(&x) & 0x3FFFF) * 4;
        }
        if (start && size && start <= UINT32_MAX - size)
            pe->unwind[pe->unwind_count++] = (PeUnwindRange){start, start + size};
    }
}

Status pe_unwind_ranges(Pe *pe, const PeUnwindRange **out, size_t *count, Err *err) {
    Directory d = pe->directories[DIRECTORY_EXCEPTIONS];
    bool arm64 = pe->identity.machine == MACHINE_ARM64;
    bool known = arm64 || pe->identity.machine == MACHINE_X64;
    if (!pe->unwind && d.size && known) {
        AUTO(buf_done) Buf bytes = {0};
        if (!load_at(pe, d.rva, d.size, &bytes))
            return pe_damaged(pe, "the unwind table lies outside the file", err);
        pe->unwind = ARENA_ARRAY(&pe->arena, PeUnwindRange, bytes.n / 8 + 1);
        if (arm64)
            read_arm64_ranges(pe, rd_from(bytes.p, bytes.n));
        else
            read_x64_ranges(pe, rd_from(bytes.p, bytes.n));
        if (pe->unwind_count)
            qsort(pe->unwind, pe->unwind_count, sizeof *pe->unwind, compare_ranges);
    }
    *out = pe->unwind;
    *count = pe->unwind_count;
    return OK;
}
