// MSFZ, the compressed container of a PDB: streams are lists of fragments, raw in the file or
// inside chunks that are compressed one by one. docs/formats/pdb.md, "MSFZ".
//
// All decompressed chunks together form one virtual byte array. The format lets a fragment run over
// a chunk's end into the next one, so fragments are kept as offsets in that array.
#define ZLIB_CONST
#include "sym/container_internal.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
    HEADER_BYTES = 80,
    HEADER_FIELDS = 32, // offset of the fields behind the magic
    CHUNK_ENTRY_BYTES = 20,
    FRAGMENT_BYTES_MIN = 4,
    KIND_NONE = 0,
    KIND_ZSTD = 1,
    KIND_DEFLATE = 2,
    RAW_DEFLATE_WINDOW = -15, // zlib's way to say: no header, 32 KiB window
};
#define STREAM_NIL UINT32_MAX
#define LOCATION_COMPRESSED (UINT64_C(1) << 63)
#define LOCATION_OFFSET_MASK ((UINT64_C(1) << 48) - 1)

static bool inflate_raw(const uint8_t *from, size_t from_size, uint8_t *to, size_t size) {
    z_stream z = {0};
    if (inflateInit2(&z, RAW_DEFLATE_WINDOW) != Z_OK) return false;
    z.next_in = from;
    z.avail_in = (uInt)from_size;
    z.next_out = to;
    z.avail_out = (uInt)size;
    int result = inflate(&z, Z_FINISH);
    (void)inflateEnd(&z);
    return result == Z_STREAM_END && z.avail_out == 0;
}

// Exactly `size` bytes must come out: frames do not carry their content size, the table does.
static bool decompress(uint32_t kind, const uint8_t *from, size_t from_size, uint8_t *to,
                       size_t size) {
    if (kind == KIND_ZSTD) return ZSTD_decompress(to, size, from, from_size) == size;
    if (kind == KIND_DEFLATE) return inflate_raw(from, from_size, to, size);
    if (kind != KIND_NONE || from_size != size) return false;
    if (size) memcpy(to, from, size);
    return true;
}

// Reads and decompresses a range of the file into `out`.
static Status load_packed(Container *c, const Chunk *packed, const char *what, Buf *out, Err *err) {
    AUTO(buf_done) Buf raw = {.p = mem_alloc(packed->disk_size), .capacity = packed->disk_size};
    TRY(source_read(c->source, packed->file_offset, raw.p, packed->disk_size, err));
    buf_done(out);
    *out = (Buf){.p = mem_alloc(packed->size), .n = packed->size, .capacity = packed->size};
    if (!decompress(packed->kind, (const uint8_t *)raw.p, packed->disk_size, (uint8_t *)out->p,
                    packed->size)) {
        buf_done(out);
        return container_damaged(
            c, err, "the %s at offset %" PRIu64 " does not decompress to its %" PRIu32 " bytes",
            what, packed->file_offset, packed->size);
    }
    return OK;
}

static bool in_file(const Container *c, uint64_t offset, uint64_t size) {
    uint64_t have = source_size(c->source);
    return offset <= have && size <= have - offset;
}

static Status read_chunk_table(Container *c, uint64_t offset, uint32_t bytes, Err *err) {
    if (bytes / CHUNK_ENTRY_BYTES != c->chunk_count || bytes % CHUNK_ENTRY_BYTES != 0 ||
        !in_file(c, offset, bytes))
        return container_damaged(c, err,
                                 "the table of %" PRIu32 " chunks at offset %" PRIu64
                                 " with %" PRIu32 " bytes is not possible",
                                 c->chunk_count, offset, bytes);
    AUTO(buf_done) Buf table = {.p = mem_alloc(bytes), .capacity = bytes};
    TRY(source_read(c->source, offset, table.p, bytes, err));
    Rd r = rd_from(table.p, bytes);
    c->chunks = ARENA_ARRAY(&c->arena, Chunk, c->chunk_count);
    for (uint32_t i = 0; i < c->chunk_count; i++) {
        Chunk *chunk = &c->chunks[i];
        chunk->start = c->virtual_size;
        chunk->file_offset = rd_u64(&r);
        chunk->kind = rd_u32(&r);
        chunk->disk_size = rd_u32(&r);
        chunk->size = rd_u32(&r);
        if (!in_file(c, chunk->file_offset, chunk->disk_size) || chunk->size == 0 ||
            chunk->size > LIMIT_PDB_CHUNK_BYTES || chunk->kind > KIND_DEFLATE)
            return container_damaged(c, err,
                                     "chunk %" PRIu32 " (kind %" PRIu32 ", offset %" PRIu64
                                     ", %" PRIu32 " bytes for %" PRIu32 ") is not possible",
                                     i, chunk->kind, chunk->file_offset, chunk->disk_size,
                                     chunk->size);
        c->virtual_size += chunk->size;
    }
    return OK;
}

// One fragment's location becomes a file offset or an offset in the virtual array.
static bool place_fragment(const Container *c, uint64_t location, Fragment *out) {
    out->compressed = (location & LOCATION_COMPRESSED) != 0;
    if (!out->compressed) {
        out->where = location & LOCATION_OFFSET_MASK;
        return out->where == location && in_file(c, out->where, out->size);
    }
    uint64_t chunk = (location & ~LOCATION_COMPRESSED) >> 32;
    if (chunk >= c->chunk_count) return false;
    out->where = c->chunks[chunk].start + (uint32_t)location;
    return (uint32_t)location < c->chunks[chunk].size && out->size <= c->virtual_size - out->where;
}

typedef VEC(Fragment) Fragments;

// The fragments of one stream, up to the size 0 that ends the list.
static bool read_fragments(const Container *c, Rd *r, Fragments *all, Stream *stream) {
    *stream = (Stream){.first = all->count};
    uint32_t size = rd_u32(r);
    if (size == STREAM_NIL) return rd_ok(r);
    while (size != 0) {
        if (size == STREAM_NIL) return false;
        Fragment fragment = {.at = stream->size, .size = size};
        uint64_t location = rd_u64(r);
        if (!rd_ok(r) || !place_fragment(c, location, &fragment)) return false;
        *vec_push(all) = fragment;
        stream->size += size;
        stream->parts++;
        size = rd_u32(r);
    }
    return rd_ok(r);
}

static Status read_streams(Container *c, Rd *r, Err *err) {
    if (c->stream_count == 0 || c->stream_count > LIMIT_PDB_STREAMS ||
        c->stream_count > rd_left(r) / FRAGMENT_BYTES_MIN)
        return container_damaged(c, err, "the directory cannot hold %" PRIu32 " streams",
                                 c->stream_count);
    c->streams = ARENA_ARRAY(&c->arena, Stream, c->stream_count);
    Fragments all = {0};
    // Fragments that repeat could make streams of any length out of a small file. Writers never
    // share them, so all streams together hold no more than the file and its chunks.
    uint64_t total = 0, most = 2 * (c->virtual_size + source_size(c->source));
    Status status = OK;
    for (uint32_t i = 0; i < c->stream_count && status == OK; i++) {
        bool good = read_fragments(c, r, &all, &c->streams[i]);
        total += c->streams[i].size;
        if (!good || total > most)
            status =
                container_damaged(c, err, "the fragments of stream %" PRIu32 " are damaged", i);
    }
    if (status == OK && rd_left(r) != 0)
        status = container_damaged(c, err, "%zu bytes follow the stream directory", rd_left(r));
    c->fragments = ARENA_ARRAY(&c->arena, Fragment, all.count);
    if (all.count) memcpy(c->fragments, all.items, all.count * sizeof(Fragment));
    vec_free(&all);
    return status;
}

Status msfz_open(Container *c, Err *err) {
    uint8_t head[HEADER_BYTES];
    c->compressed = true;
    if (source_size(c->source) < sizeof head)
        return container_damaged(c, err, "the file ends inside the MSFZ header");
    TRY(source_read(c->source, 0, head, sizeof head, err));
    Rd r = rd_from(head, sizeof head);
    rd_seek(&r, HEADER_FIELDS);
    uint64_t version = rd_u64(&r);
    if (version != 0)
        return container_damaged(c, err, "MSFZ version %" PRIu64 " is not supported", version);
    Chunk directory = {.file_offset = rd_u64(&r)};
    uint64_t table_offset = rd_u64(&r);
    c->stream_count = rd_u32(&r);
    directory.kind = rd_u32(&r);
    directory.disk_size = rd_u32(&r);
    directory.size = rd_u32(&r);
    c->chunk_count = rd_u32(&r);
    uint32_t table_bytes = rd_u32(&r);
    TRY(read_chunk_table(c, table_offset, table_bytes, err));
    if (!in_file(c, directory.file_offset, directory.disk_size) ||
        directory.size > LIMIT_PDB_DIRECTORY_BYTES)
        return container_damaged(
            c, err, "a stream directory of %" PRIu32 " bytes at offset %" PRIu64 " is not possible",
            directory.size, directory.file_offset);
    AUTO(buf_done) Buf bytes = {0};
    TRY(load_packed(c, &directory, "stream directory", &bytes, err));
    Rd streams = rd_from(bytes.p, bytes.n);
    return read_streams(c, &streams, err);
}

static uint32_t chunk_at(const Container *c, uint64_t where) {
    uint32_t low = 0, high = c->chunk_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (c->chunks[middle].start <= where)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Makes room for a chunk of `size` bytes: the slot longest unused, and others while the cache is
// above its limit.
static CachedChunk *make_room(Container *c, uint32_t size) {
    for (;;) {
        CachedChunk *oldest = &c->cache[0];
        size_t total = 0;
        for (size_t i = 0; i < CACHED_CHUNKS; i++) {
            CachedChunk *slot = &c->cache[i];
            total += slot->bytes.n;
            bool empty = slot->bytes.n == 0, oldest_empty = oldest->bytes.n == 0;
            if (empty ? !oldest_empty : !oldest_empty && slot->used_at < oldest->used_at)
                oldest = slot;
        }
        if (oldest->bytes.n == 0 && (total == 0 || total + size <= LIMIT_PDB_CHUNK_CACHE_BYTES))
            return oldest;
        for (size_t i = 0; oldest->bytes.n == 0 && i < CACHED_CHUNKS; i++)
            if (c->cache[i].bytes.n) oldest = &c->cache[i];
        buf_done(&oldest->bytes);
    }
}

// Under the mutex. The bytes are valid until the next call.
static Status chunk_bytes(Container *c, uint32_t index, Str *out, Err *err) {
    for (size_t i = 0; i < CACHED_CHUNKS; i++) {
        CachedChunk *slot = &c->cache[i];
        if (slot->bytes.n == 0 || slot->index != index) continue;
        slot->used_at = ++c->clock;
        *out = buf_str(&slot->bytes);
        return OK;
    }
    CachedChunk *slot = make_room(c, c->chunks[index].size);
    TRY(load_packed(c, &c->chunks[index], "chunk", &slot->bytes, err));
    slot->index = index;
    slot->used_at = ++c->clock;
    *out = buf_str(&slot->bytes);
    return OK;
}

static Status read_virtual(Container *c, uint64_t where, uint8_t *bytes, size_t size, Err *err) {
    uint32_t index = chunk_at(c, where);
    uint64_t skip = where - c->chunks[index].start;
    for (; size; index++, skip = 0) {
        Str chunk;
        TRY(chunk_bytes(c, index, &chunk, err));
        size_t n = chunk.n - (size_t)skip < size ? chunk.n - (size_t)skip : size;
        memcpy(bytes, chunk.p + skip, n);
        bytes += n;
        size -= n;
    }
    return OK;
}

static const Fragment *fragment_at(const Container *c, const Stream *stream, uint64_t offset) {
    uint64_t low = stream->first, high = stream->first + stream->parts;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (c->fragments[middle].at <= offset)
            low = middle;
        else
            high = middle;
    }
    return &c->fragments[low];
}

Status msfz_read(Container *c, const Stream *stream, uint64_t offset, uint8_t *bytes, size_t size,
                 Err *err) {
    mutex_lock(&c->mutex);
    Status status = OK;
    for (const Fragment *f = fragment_at(c, stream, offset); size && status == OK; f++) {
        uint64_t skip = offset - f->at;
        size_t n = f->size - skip < size ? (size_t)(f->size - skip) : size;
        status = f->compressed ? read_virtual(c, f->where + skip, bytes, n, err)
                               : source_read(c->source, f->where + skip, bytes, n, err);
        bytes += n;
        offset += n;
        size -= n;
    }
    mutex_unlock(&c->mutex);
    return status;
}
