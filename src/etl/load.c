// One buffer into memory: read, inflate, ready to be walked (docs/formats/etl.md, "Compressed
// buffers").
#include "base/limits.h"
#include "etl/decompress.h"
#include "etl/etl_internal.h"

typedef struct Bytes {
    uint8_t *p;
    size_t capacity;
} Bytes;

struct EtlScratch {
    Bytes raw;
    Bytes inflated;
};

EtlScratch *etl_scratch_open(void) {
    return mem_zero(1, sizeof(EtlScratch));
}

void etl_scratch_close(EtlScratch *scratch) {
    if (!scratch) return;
    mem_free(scratch->raw.p);
    mem_free(scratch->inflated.p);
    mem_free(scratch);
}

// Old contents are not kept.
static uint8_t *bytes_room(Bytes *bytes, size_t size) {
    if (size <= bytes->capacity) return bytes->p;
    mem_free(bytes->p);
    bytes->p = mem_alloc(size);
    bytes->capacity = size;
    return bytes->p;
}

size_t etl_inflate(EtlCompression compression, Str in, uint8_t *out, size_t out_size, bool *ok) {
    Rd r = rd_from_str(in);
    const uint8_t *bytes = rd_take(&r, in.n);
    if (compression == ETL_LZNT1) return lznt1_decompress(bytes, in.n, out, out_size, ok);
    if (compression == ETL_XPRESS_HUFFMAN)
        return xpress_huffman_decompress(bytes, in.n, out, out_size, ok);
    return xpress_decompress(bytes, in.n, out, out_size, ok);
}

static void inflate(const EtlFile *etl, const EtlBuffer *buffer, EtlScratch *scratch,
                    EtlCursor *cursor, size_t got) {
    size_t head = BUFFER_HEADER_BYTES;
    uint8_t *out = bytes_room(&scratch->inflated, buffer->valid_bytes);
    memcpy(out, scratch->raw.p, head);
    bool ok;
    Str in = {(const char *)scratch->raw.p + head, got - head};
    size_t made = etl_inflate(etl->compression, in, out + head, buffer->valid_bytes - head, &ok);
    cursor->bytes = out;
    cursor->size = head + made;
    cursor->incomplete = !ok;
    if (!ok && !buffer->cut)
        etl_issue(cursor->issues, ETL_ISSUE_BAD_COMPRESSION, buffer->offset,
                  buffer->valid_bytes - cursor->size);
}

Status etl_load_buffer(EtlFile *etl, const EtlBuffer *buffer, EtlScratch *scratch,
                       EtlIssues *issues, EtlCursor *cursor, Err *err) {
    size_t size = buffer->size_bytes;
    if (!buffer->compressed && buffer->valid_bytes < size) size = buffer->valid_bytes;
    uint8_t *raw = bytes_room(&scratch->raw, size);
    size_t got;
    TRY(file_read_at(etl->file, buffer->offset, raw, size, &got, err));
    if (got < size) etl_issue(issues, ETL_ISSUE_TRUNCATED_FILE, buffer->offset, size - got);
    *cursor = (EtlCursor){
        .buffer = buffer,
        .bytes = raw,
        .size = got,
        .at = BUFFER_HEADER_BYTES,
        .last_ticks = buffer->first_ticks,
        .pointer_size = etl->header.header_pointer_size,
        .incomplete = buffer->cut || got < buffer->valid_bytes,
        .issues = issues,
    };
    if (buffer->first_ticks == INT64_MAX) cursor->last_ticks = INT64_MIN;
    if (buffer->compressed && got > BUFFER_HEADER_BYTES) inflate(etl, buffer, scratch, cursor, got);
    return OK;
}

Status etl_load(EtlFile *file, size_t index, EtlScratch *scratch, EtlIssues *issues,
                EtlCursor *cursor, Err *err) {
    if (index >= file->buffers.count)
        return err_set(err, ERR_ARG, "buffer %zu of %zu does not exist", index,
                       file->buffers.count);
    return etl_load_buffer(file, &file->buffers.items[index], scratch, issues, cursor, err);
}
