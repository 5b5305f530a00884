// MSF 7.00 ("Big MSF"), the usual container of a PDB: an array of pages, and a directory that says
// which pages form which stream. docs/formats/pdb.md, "MSF".
#include "sym/container_internal.h"

enum {
    SUPERBLOCK_BYTES = 52,
    SUPERBLOCK_PAGE_SIZE = 32, // field offset
    PAGE_BYTES_MIN = 512,
    PAGE_BYTES_MAX = 65536,
};
#define STREAM_SIZE_NIL UINT32_MAX

static uint64_t pages_for(uint64_t bytes, uint32_t page_size) {
    return (bytes + page_size - 1) / page_size;
}

// Nearly every stream is one run of consecutive pages, so runs are read at once.
static Status read_pages(Container *c, const uint32_t *pages, uint64_t offset, uint8_t *bytes,
                         size_t size, Err *err) {
    uint64_t index = offset / c->page_size, skip = offset % c->page_size;
    while (size) {
        uint64_t first = pages[index], have = c->page_size - skip;
        if (first >= c->page_count)
            return container_damaged(c, err, "page %" PRIu64 " lies outside the file's %" PRIu64,
                                     first, c->page_count);
        for (index++; have < size && pages[index] == pages[index - 1] + 1; index++)
            have += c->page_size;
        size_t n = have < size ? (size_t)have : size;
        TRY(source_read(c->source, first * c->page_size + skip, bytes, n, err));
        bytes += n;
        size -= n;
        skip = 0;
    }
    return OK;
}

Status msf_read(Container *c, const Stream *stream, uint64_t offset, uint8_t *bytes, size_t size,
                Err *err) {
    return read_pages(c, c->pages + stream->first, offset, bytes, size, err);
}

// The superblock's own list names the pages that hold the list of the directory's pages.
static Status read_directory(Container *c, uint32_t directory_bytes, uint8_t *directory, Err *err) {
    uint64_t page_count = pages_for(directory_bytes, c->page_size);
    uint64_t map_count = pages_for(page_count * 4, c->page_size);
    if (SUPERBLOCK_BYTES + map_count * 4 > c->page_size)
        return container_damaged(c, err, "a directory of %" PRIu32 " bytes is too large",
                                 directory_bytes);
    uint32_t *map = ARENA_ARRAY(&c->arena, uint32_t, map_count);
    uint32_t *pages = ARENA_ARRAY(&c->arena, uint32_t, page_count);
    TRY(source_read(c->source, SUPERBLOCK_BYTES, map, map_count * 4, err));
    TRY(read_pages(c, map, 0, (uint8_t *)pages, page_count * 4, err));
    return read_pages(c, pages, 0, directory, directory_bytes, err);
}

static Status read_streams(Container *c, Rd *r, Err *err) {
    uint32_t count = rd_u32(r);
    if (count > LIMIT_PDB_STREAMS || count > rd_left(r) / 4)
        return container_damaged(c, err, "the directory cannot hold %" PRIu32 " streams", count);
    c->stream_count = count;
    c->streams = ARENA_ARRAY(&c->arena, Stream, count);
    uint64_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = rd_u32(r);
        if (size == STREAM_SIZE_NIL) size = 0;
        c->streams[i] = (Stream){size, first, pages_for(size, c->page_size)};
        first += c->streams[i].parts;
        // Pages may be shared by streams, but no stream is longer than the file.
        if (c->streams[i].parts > c->page_count)
            return container_damaged(c, err, "stream %" PRIu32 " claims %" PRIu32 " bytes", i,
                                     size);
    }
    if (first > rd_left(r) / 4)
        return container_damaged(c, err, "the directory lacks the pages of its %" PRIu32 " streams",
                                 count);
    c->pages = ARENA_ARRAY(&c->arena, uint32_t, first);
    for (uint64_t i = 0; i < first; i++) c->pages[i] = rd_u32(r);
    return OK;
}

Status msf_open(Container *c, Err *err) {
    uint8_t head[SUPERBLOCK_BYTES];
    if (source_size(c->source) < sizeof head)
        return container_damaged(c, err, "the file ends inside the MSF header");
    TRY(source_read(c->source, 0, head, sizeof head, err));
    Rd r = rd_from(head, sizeof head);
    rd_seek(&r, SUPERBLOCK_PAGE_SIZE);
    c->page_size = rd_u32(&r);
    if (c->page_size < PAGE_BYTES_MIN || c->page_size > PAGE_BYTES_MAX ||
        (c->page_size & (c->page_size - 1)) != 0)
        return container_damaged(c, err, "a page size of %" PRIu32 " bytes is not legal",
                                 c->page_size);
    rd_skip(&r, 4); // active free page map: only writers need it
    uint64_t claimed = rd_u32(&r), real = source_size(c->source) / c->page_size;
    c->page_count = claimed < real ? claimed : real;
    uint32_t directory_bytes = rd_u32(&r);
    if (directory_bytes < 4 || directory_bytes > LIMIT_PDB_DIRECTORY_BYTES ||
        pages_for(directory_bytes, c->page_size) > c->page_count)
        return container_damaged(c, err, "a directory of %" PRIu32 " bytes is not possible",
                                 directory_bytes);
    AUTO(buf_done) Buf directory = {.p = mem_alloc(directory_bytes), .capacity = directory_bytes};
    TRY(read_directory(c, directory_bytes, (uint8_t *)directory.p, err));
    Rd streams = rd_from(directory.p, directory_bytes);
    return read_streams(c, &streams, err);
}
