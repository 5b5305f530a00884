// The table's copy on disk, so that a large PDB is read once: a header, then each array as it lies
// in memory, all under one checksum. Our own file: read in one go per array, written atomically.
#include "sym/source.h"
#include "sym/symtab_internal.h"

#include <string.h>

// Counts every change of the layout or of the rules that choose names.
enum { STORE_VERSION = 1, HEADER_BYTES = 128, STORE_PARTS = 9 };
#define STORE_MAGIC "ETWSYMT1"

enum {
    INFO_STRIPPED = 1,
    INFO_MANAGED = 2,
    INFO_FASTLINK = 4,
    INFO_LINES = 8,
    INFO_OMAP = 16,
    INFO_DAMAGED = 32,
    INFO_IMAGE = 64,
};

typedef struct Part {
    void *bytes;
    size_t size;
} Part;

// The arrays in file order.
static void list_parts(const SymTab *t, Part parts[STORE_PARTS]) {
    size_t n = t->count;
    const Part all[STORE_PARTS] = {
        {t->start,     n * sizeof *t->start                     },
        {t->end,       n * sizeof *t->end                       },
        {t->module,    n * sizeof *t->module                    },
        {t->name_at,   (n + 1) * sizeof *t->name_at             },
        {t->to_source, t->to_source_count * sizeof *t->to_source},
        {t->folded,    n * sizeof *t->folded                    },
        {t->kind,      n                                        },
        {t->flags,     n                                        },
        {t->names,     t->names_size                            },
    };
    memcpy(parts, all, sizeof all);
}

static uint64_t checksum(const SymTab *t) {
    Part parts[STORE_PARTS];
    uint64_t hash = STORE_VERSION;
    list_parts(t, parts);
    for (size_t i = 0; i < STORE_PARTS; i++)
        if (parts[i].size) hash = bytes_hash(parts[i].bytes, parts[i].size, hash);
    return hash;
}

static void put(Buf *out, const void *bytes, size_t size) {
    buf_add(out, (Str){bytes, size});
}

static void put_u32(Buf *out, uint32_t v) {
    put(out, &v, sizeof v);
}

static void put_u64(Buf *out, uint64_t v) {
    put(out, &v, sizeof v);
}

static uint32_t info_bits(const SymTabInfo *info) {
    return (uint32_t)((info->stripped ? INFO_STRIPPED : 0) | (info->managed ? INFO_MANAGED : 0) |
                      (info->fastlink ? INFO_FASTLINK : 0) | (info->has_lines ? INFO_LINES : 0) |
                      (info->has_omap ? INFO_OMAP : 0) | (info->damaged ? INFO_DAMAGED : 0) |
                      (info->from_image ? INFO_IMAGE : 0));
}

Status symtab_save(const SymTab *t, Str path, const SymTabStamp *stamp, Err *err) {
    Part parts[STORE_PARTS];
    list_parts(t, parts);
    size_t total = HEADER_BYTES;
    for (size_t i = 0; i < STORE_PARTS; i++) total += parts[i].size;
    AUTO(buf_done) Buf out = {.p = mem_alloc(total + 1), .capacity = total + 1};
    buf_add(&out, STR(STORE_MAGIC));
    put_u32(&out, STORE_VERSION);
    put_u32(&out, info_bits(&t->info));
    put(&out, t->info.guid.bytes, sizeof t->info.guid.bytes);
    put_u32(&out, t->info.info_age);
    put_u32(&out, t->info.dbi_age);
    put_u64(&out, stamp->size_bytes);
    put_u64(&out, (uint64_t)stamp->mtime_ns);
    put_u32(&out, t->info.machine);
    put_u32(&out, t->info.publics);
    put_u32(&out, t->info.procedures);
    put_u32(&out, t->info.sections);
    put_u32(&out, t->count);
    put_u32(&out, t->names_size);
    put_u64(&out, t->to_source_count);
    put_u64(&out, checksum(t));
    while (out.n < HEADER_BYTES) buf_add_char(&out, 0);
    for (size_t i = 0; i < STORE_PARTS; i++) put(&out, parts[i].bytes, parts[i].size);
    return file_write_atomic(path, buf_str(&out), err);
}

typedef struct Header {
    SymTabInfo info;
    SymTabStamp stamp;
    uint32_t count, names_size;
    uint64_t to_source_count, checksum;
} Header;

static bool read_header(Rd *r, Header *h) {
    Str magic = rd_bytes(r, sizeof STORE_MAGIC - 1);
    uint32_t version = rd_u32(r), bits = rd_u32(r);
    SymTabInfo *info = &h->info;
    info->guid = rd_guid(r);
    info->info_age = rd_u32(r);
    info->dbi_age = rd_u32(r);
    h->stamp.size_bytes = rd_u64(r);
    h->stamp.mtime_ns = rd_i64(r);
    info->machine = (uint16_t)rd_u32(r);
    info->publics = rd_u32(r);
    info->procedures = rd_u32(r);
    info->sections = rd_u32(r);
    h->count = rd_u32(r);
    h->names_size = rd_u32(r);
    h->to_source_count = rd_u64(r);
    h->checksum = rd_u64(r);
    info->stripped = (bits & INFO_STRIPPED) != 0;
    info->managed = (bits & INFO_MANAGED) != 0;
    info->fastlink = (bits & INFO_FASTLINK) != 0;
    info->has_lines = (bits & INFO_LINES) != 0;
    info->has_omap = (bits & INFO_OMAP) != 0;
    info->damaged = (bits & INFO_DAMAGED) != 0;
    info->from_image = (bits & INFO_IMAGE) != 0;
    return rd_ok(r) && str_eq(magic, STR(STORE_MAGIC)) && version == STORE_VERSION &&
           h->count <= LIMIT_SYMBOLS && h->to_source_count <= LIMIT_OMAP_ENTRIES;
}

// Every name ends with a zero and lies inside the names.
static bool names_hold(const SymTab *t) {
    if (t->name_at[0] != 0 || t->name_at[t->count] != t->names_size) return false;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->name_at[i + 1] <= t->name_at[i] || t->name_at[i + 1] > t->names_size) return false;
        if (t->kind[i] >= SYMBOL_KINDS) return false;
    }
    return true;
}

static uint64_t parts_size(const Header *h) {
    return (uint64_t)h->count * (4 * sizeof(uint32_t) + sizeof(uint16_t) + 2) + sizeof(uint32_t) +
           h->to_source_count * sizeof(OmapEntry) + h->names_size;
}

Status symtab_load(Str path, const SymTabStamp *stamp, SymTab **out, Err *err) {
    AUTO(source_close) Source *source = NULL;
    TRY(source_open(path, &source, err));
    uint8_t head[HEADER_BYTES];
    Header h = {0};
    Rd r = rd_from(head, sizeof head);
    if (source_read(source, 0, head, sizeof head, NULL) != OK || !read_header(&r, &h) ||
        h.stamp.size_bytes != stamp->size_bytes || h.stamp.mtime_ns != stamp->mtime_ns ||
        source_size(source) != HEADER_BYTES + parts_size(&h))
        return err_set(err, ERR_NOT_FOUND, STR_FMT " belongs to another file or version",
                       STR_ARG(path));
    AUTO(symtab_close) SymTab *t = symtab_new(h.count, h.names_size);
    t->info = h.info;
    t->to_source_count = (size_t)h.to_source_count;
    if (h.to_source_count) t->to_source = mem_alloc(t->to_source_count * sizeof *t->to_source);
    Part parts[STORE_PARTS];
    list_parts(t, parts);
    uint64_t at = HEADER_BYTES;
    for (size_t i = 0; i < STORE_PARTS; i++) {
        TRY(source_read(source, at, parts[i].bytes, parts[i].size, err));
        at += parts[i].size;
    }
    if (checksum(t) != h.checksum || !names_hold(t))
        return err_set(err, ERR_NOT_FOUND, STR_FMT " is damaged", STR_ARG(path));
    *out = t;
    t = NULL;
    return OK;
}
