// Containers for tests: MSF, MSFZ, cabinet, and a small image.
#define ZLIB_CONST
#include "support/pdb_build_internal.h"

#include <zlib.h>
#include <zstd.h>

static void free_streams(Buf *streams) {
    for (size_t i = 0; i < BUILD_STREAMS; i++) buf_done(&streams[i]);
}

typedef struct Pages {
    Buf file;
    uint32_t page_size, next;
} Pages;

static uint32_t new_page(Pages *p) {
    // Pages 1 and 2 of each group belong to the free page maps.
    while (p->next % p->page_size == 1 || p->next % p->page_size == 2) p->next++;
    uint32_t page = p->next++;
    size_t wanted = (size_t)(page + 1) * p->page_size;
    while (p->file.n < wanted) pb_zeros(&p->file, p->page_size);
    return page;
}

// Stores bytes and lists their pages, in reverse file order when shuffled.
static void store(Pages *p, Str bytes, bool shuffled, Buf *list) {
    size_t count = (bytes.n + p->page_size - 1) / p->page_size;
    uint32_t *pages = mem_alloc((count + 1) * sizeof *pages);
    for (size_t i = 0; i < count; i++) pages[shuffled ? count - 1 - i : i] = new_page(p);
    for (size_t i = 0; i < count; i++) {
        Str part = str_slice(bytes, i * p->page_size, (i + 1) * p->page_size);
        memcpy(p->file.p + (size_t)pages[i] * p->page_size, part.p, part.n);
        pb_u32(list, pages[i]);
    }
    mem_free(pages);
}

void pdb_build_msf(PdbBuild *b, MsfSpec spec, Buf *out) {
    Buf streams[BUILD_STREAMS] = {0};
    size_t count = build_streams(b, streams);
    Pages p = {.page_size = spec.page_size ? spec.page_size : 4096, .next = 3};
    AUTO(buf_done) Buf directory = {0}, lists = {0}, directory_pages = {0}, map_pages = {0};
    pb_zeros(&p.file, (size_t)p.page_size * 3);
    pb_u32(&directory, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pb_u32(&directory, i == 0 ? UINT32_MAX : (uint32_t)streams[i].n);
        store(&p, buf_str(&streams[i]), spec.shuffled, &lists);
    }
    buf_add(&directory, buf_str(&lists));
    store(&p, buf_str(&directory), spec.shuffled, &directory_pages);
    store(&p, buf_str(&directory_pages), false, &map_pages);
    Buf head = {0};
    buf_add(&head, STR("Microsoft C/C++ MSF 7.00\r\n\032DS"));
    pb_zeros(&head, 3);
    pb_u32(&head, p.page_size);
    pb_u32(&head, 2);
    pb_u32(&head, (uint32_t)(p.file.n / p.page_size));
    pb_u32(&head, (uint32_t)directory.n);
    pb_u32(&head, 0);
    buf_add(&head, buf_str(&map_pages));
    memcpy(p.file.p, head.p, head.n);
    buf_add(out, buf_str(&p.file));
    buf_done(&head);
    buf_done(&p.file);
    free_streams(streams);
}

static void deflate_raw(Str bytes, Buf *out) {
    z_stream z = {0};
    if (deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return;
    uLong room = deflateBound(&z, (uLong)bytes.n);
    uint8_t *to = mem_alloc(room);
    z.next_in = (const Bytef *)bytes.p;
    z.avail_in = (uInt)bytes.n;
    z.next_out = to;
    z.avail_out = (uInt)room;
    (void)deflate(&z, Z_FINISH);
    buf_add(out, (Str){(const char *)to, room - z.avail_out});
    (void)deflateEnd(&z);
    mem_free(to);
}

static void compress_by(uint32_t kind, Str bytes, Buf *out) {
    if (kind == 2) {
        deflate_raw(bytes, out);
    } else if (kind == 1) {
        size_t room = ZSTD_compressBound(bytes.n);
        char *to = mem_alloc(room);
        buf_add(out, (Str){to, ZSTD_compress(to, room, bytes.p, bytes.n, 3)});
        mem_free(to);
    } else {
        buf_add(out, bytes);
    }
}

typedef struct MsfzWriter {
    MsfzSpec spec;
    Buf file, all, directory, table;
} MsfzWriter;

// Stream 1 lies raw in the file, as in files of the usual writer.
static void add_raw(MsfzWriter *w, Str bytes) {
    pb_align(&w->file, 16);
    pb_u32(&w->directory, (uint32_t)bytes.n);
    pb_u64(&w->directory, w->file.n);
    pb_u32(&w->directory, 0);
    buf_add(&w->file, bytes);
}

static void add_packed(MsfzWriter *w, Str bytes) {
    for (size_t at = 0; at < bytes.n;) {
        size_t offset = w->all.n % w->spec.chunk_size, n = bytes.n - at;
        if (!w->spec.span && n > w->spec.chunk_size - offset) n = w->spec.chunk_size - offset;
        uint64_t chunk = w->all.n / w->spec.chunk_size;
        pb_u32(&w->directory, (uint32_t)n);
        pb_u64(&w->directory, UINT64_C(1) << 63 | chunk << 32 | offset);
        buf_add(&w->all, str_slice(bytes, at, at + n));
        at += n;
    }
    pb_u32(&w->directory, 0);
}

static uint32_t add_chunks(MsfzWriter *w) {
    uint32_t count = 0;
    Str all = buf_str(&w->all);
    for (size_t at = 0; at < all.n; at += w->spec.chunk_size, count++) {
        AUTO(buf_done) Buf packed = {0};
        Str part = str_slice(all, at, at + w->spec.chunk_size);
        compress_by(w->spec.kind, part, &packed);
        pb_u64(&w->table, w->file.n);
        pb_u32(&w->table, w->spec.kind);
        pb_u32(&w->table, (uint32_t)packed.n);
        pb_u32(&w->table, (uint32_t)part.n);
        buf_add(&w->file, buf_str(&packed));
    }
    return count;
}

void pdb_build_msfz(PdbBuild *b, MsfzSpec spec, Buf *out) {
    Buf streams[BUILD_STREAMS] = {0};
    size_t count = build_streams(b, streams);
    MsfzWriter w = {.spec = spec};
    if (w.spec.chunk_size == 0) w.spec.chunk_size = 65536;
    pb_zeros(&w.file, 80);
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            pb_u32(&w.directory, UINT32_MAX);
        else if (i == 1)
            add_raw(&w, buf_str(&streams[i]));
        else
            add_packed(&w, buf_str(&streams[i]));
    }
    uint32_t chunks = add_chunks(&w);
    AUTO(buf_done) Buf packed = {0}, head = {0};
    uint32_t directory_kind = spec.packed_directory ? 1 : 0;
    compress_by(directory_kind, buf_str(&w.directory), &packed);
    pb_align(&w.file, 16);
    buf_add(&head, STR("Microsoft MSFZ Container\r\n\032ALD"));
    pb_zeros(&head, 2);
    pb_u64(&head, 0);
    pb_u64(&head, w.file.n);
    pb_u64(&head, w.file.n + packed.n);
    pb_u32(&head, (uint32_t)count);
    pb_u32(&head, directory_kind);
    pb_u32(&head, (uint32_t)packed.n);
    pb_u32(&head, (uint32_t)w.directory.n);
    pb_u32(&head, chunks);
    pb_u32(&head, (uint32_t)w.table.n);
    memcpy(w.file.p, head.p, head.n);
    buf_add(&w.file, buf_str(&packed));
    buf_add(&w.file, buf_str(&w.table));
    buf_add(out, buf_str(&w.file));
    buf_done(&w.file);
    buf_done(&w.all);
    buf_done(&w.directory);
    buf_done(&w.table);
    free_streams(streams);
}

enum { CABINET_BLOCK = 32768, LZX_WINDOW_BITS = 16 };

// LZX reads bits from 16-bit words, highest bit first. A block of kind 3 is a byte count, the three
// last match distances and the bytes as they are. The first word of the stream has a bit in front
// that says whether call targets were translated; here they were not.
static void lzx_block(Str part, bool first, Buf *out) {
    uint32_t bits = first ? 28 : 27, head = 3U << 24 | (uint32_t)part.n;
    head <<= 32 - bits;
    pb_u16(out, (uint16_t)(head >> 16));
    pb_u16(out, (uint16_t)head);
    for (unsigned i = 0; i < 3; i++) pb_u32(out, 1);
    buf_add(out, part);
    if (part.n % 2) pb_zeros(out, 1); // the next block begins at a word
}

static void cabinet_block(Str part, CabinetKind kind, bool first, Buf *out) {
    if (kind == CABINET_STORED) buf_add(out, part);
    if (kind == CABINET_LZX) lzx_block(part, first, out);
    if (kind != CABINET_MSZIP) return;
    buf_add(out, STR("CK"));
    deflate_raw(part, out);
}

void cabinet_build(Str content, CabinetKind kind, Buf *out) {
    AUTO(buf_done) Buf data = {0};
    uint16_t blocks = 0;
    for (size_t at = 0; at < content.n; at += CABINET_BLOCK, blocks++) {
        Str part = str_slice(content, at, at + CABINET_BLOCK);
        AUTO(buf_done) Buf packed = {0};
        cabinet_block(part, kind, at == 0, &packed);
        pb_u32(&data, 0); // no checksum
        pb_u16(&data, (uint16_t)packed.n);
        pb_u16(&data, (uint16_t)part.n);
        buf_add(&data, buf_str(&packed));
    }
    static const char NAME[] = "..\\evil.pdb"; // must be ignored
    uint32_t files_at = 36 + 8, data_at = files_at + 16 + sizeof NAME;
    buf_add(out, STR("MSCF"));
    pb_u32(out, 0);
    pb_u32(out, (uint32_t)(data_at + data.n));
    pb_u32(out, 0);
    pb_u32(out, files_at);
    pb_u32(out, 0);
    pb_u16(out, 0x0103);
    pb_u16(out, 1);
    pb_u16(out, 1);
    pb_zeros(out, 6);
    pb_u32(out, data_at);
    pb_u16(out, blocks);
    pb_u16(out, (uint16_t)(kind == CABINET_LZX ? kind | LZX_WINDOW_BITS << 8 : kind));
    pb_u32(out, (uint32_t)content.n);
    pb_u32(out, 0);
    pb_zeros(out, 8);
    buf_add(out, (Str){NAME, sizeof NAME});
    buf_add(out, buf_str(&data));
}

enum {
    IMAGE_CODE = 0x1000,
    IMAGE_CODE_AT = 0x400,
    IMAGE_DATA = 0x2000,
    IMAGE_DATA_AT = 0x800,
    IMAGE_DATA_BYTES = 0x2000,
};

static void pb_image_section(Buf *b, uint32_t rva, uint32_t size, uint32_t at, uint32_t flags) {
    pb_zeros(b, 8);
    pb_u32(b, size);
    pb_u32(b, rva);
    pb_u32(b, size);
    pb_u32(b, at);
    pb_zeros(b, 12);
    pb_u32(b, flags);
}

typedef struct ImageData {
    Buf bytes;
    uint32_t exports_at, exports_size, debug_at, debug_size, unwind_at, unwind_size;
} ImageData;

static uint32_t data_rva(const ImageData *d) {
    return IMAGE_DATA + (uint32_t)d->bytes.n;
}

static void pb_exports(const ImageSpec *spec, ImageData *d) {
    uint32_t n = spec->export_count, names_rva[64] = {0};
    for (uint32_t i = 0; i < n; i++) {
        names_rva[i] = data_rva(d);
        pb_text(&d->bytes, spec->exports[i]);
    }
    pb_align(&d->bytes, 4);
    d->exports_at = data_rva(d);
    pb_zeros(&d->bytes, 16);
    pb_u32(&d->bytes, 1);
    pb_u32(&d->bytes, n);
    pb_u32(&d->bytes, n);
    pb_u32(&d->bytes, d->exports_at + 40);
    pb_u32(&d->bytes, d->exports_at + 40 + n * 4);
    pb_u32(&d->bytes, d->exports_at + 40 + n * 8);
    for (uint32_t i = 0; i < n; i++) pb_u32(&d->bytes, IMAGE_CODE + 16 * i);
    for (uint32_t i = 0; i < n; i++) pb_u32(&d->bytes, names_rva[i]);
    for (uint32_t i = 0; i < n; i++) pb_u16(&d->bytes, (uint16_t)i);
    pb_align(&d->bytes, 4);
    d->exports_size = data_rva(d) - d->exports_at;
}

// "RSDS" and "R2RM" records have one form: 16 bytes, a number, a path.
static uint32_t pb_debug_record(ImageData *d, Str magic, const Guid *guid, uint32_t number,
                                const char *path) {
    uint32_t at = (uint32_t)d->bytes.n;
    buf_add(&d->bytes, magic);
    buf_add(&d->bytes, (Str){(const char *)guid->bytes, 16});
    pb_u32(&d->bytes, number);
    pb_text(&d->bytes, path);
    pb_align(&d->bytes, 4);
    return at;
}

static void pb_debug_entry(ImageData *d, uint32_t type, uint32_t record_at, uint32_t record_size) {
    pb_zeros(&d->bytes, 12);
    pb_u32(&d->bytes, type);
    pb_u32(&d->bytes, record_size);
    pb_u32(&d->bytes, IMAGE_DATA + record_at);
    pb_u32(&d->bytes, IMAGE_DATA_AT + record_at);
}

static void pb_debug(const ImageSpec *spec, ImageData *d) {
    uint32_t pdb_at = 0, map_at = 0, end = 0;
    if (spec->guid) pdb_at = pb_debug_record(d, STR("RSDS"), spec->guid, spec->age, spec->pdb_path);
    map_at = (uint32_t)d->bytes.n;
    if (spec->perfmap)
        map_at = pb_debug_record(d, STR("R2RM"), spec->perfmap, 1, spec->perfmap_path);
    end = (uint32_t)d->bytes.n;
    d->debug_at = data_rva(d);
    if (spec->guid) pb_debug_entry(d, 2, pdb_at, map_at - pdb_at);
    if (spec->perfmap) pb_debug_entry(d, 21, map_at, end - map_at);
    d->debug_size = data_rva(d) - d->debug_at;
}

static void pb_unwind(const ImageSpec *spec, ImageData *d) {
    uint32_t info = data_rva(d);
    pb_u32(&d->bytes, 1);
    d->unwind_at = data_rva(d);
    for (uint32_t i = 0; i < spec->export_count; i += 2) {
        pb_u32(&d->bytes, IMAGE_CODE + 16 * i);
        pb_u32(&d->bytes, IMAGE_CODE + 16 * i + 12);
        pb_u32(&d->bytes, info);
    }
    d->unwind_size = data_rva(d) - d->unwind_at;
}

static void pb_directories(const ImageData *d, Buf *out) {
    for (unsigned i = 0; i < 16; i++) {
        bool exports = i == 0, unwind = i == 3, debug = i == 6;
        pb_u32(out, exports ? d->exports_at : unwind ? d->unwind_at : debug ? d->debug_at : 0);
        pb_u32(out, exports  ? d->exports_size
                    : unwind ? d->unwind_size
                    : debug  ? d->debug_size
                             : 0);
    }
}

void image_build(const ImageSpec *spec, Buf *out) {
    ImageData d = {0};
    if (spec->export_count) pb_exports(spec, &d);
    if (spec->guid || spec->perfmap) pb_debug(spec, &d);
    if (spec->export_count && spec->machine == 0x8664) pb_unwind(spec, &d);
    buf_add(out, STR("MZ"));
    pb_zeros(out, 0x3A);
    pb_u32(out, 0x40);
    buf_add(out, (Str){"PE\0\0", 4});
    pb_u16(out, spec->machine);
    pb_u16(out, 2);
    pb_u32(out, spec->time_date_stamp);
    pb_zeros(out, 8);
    pb_u16(out, 112 + 128);
    pb_u16(out, 0x2022);
    pb_u16(out, 0x20B);
    pb_zeros(out, 54);
    pb_u32(out, spec->image_size);
    pb_u32(out, 0x400);
    pb_u32(out, 0x1234);
    pb_zeros(out, 40);
    pb_u32(out, 16);
    pb_directories(&d, out);
    pb_image_section(out, IMAGE_CODE, 0x400, IMAGE_CODE_AT, 0x60000020);
    pb_image_section(out, IMAGE_DATA, IMAGE_DATA_BYTES, IMAGE_DATA_AT, 0x40000040);
    pb_align(out, IMAGE_CODE_AT);
    pb_zeros(out, IMAGE_DATA_AT - out->n);
    buf_add(out, buf_str(&d.bytes));
    pb_zeros(out, IMAGE_DATA_AT + IMAGE_DATA_BYTES - out->n);
    buf_done(&d.bytes);
}
