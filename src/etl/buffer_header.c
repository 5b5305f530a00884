// WMI_BUFFER_HEADER (docs/formats/etl.md, "Buffer header").
#include "etl/etl_internal.h"

enum {
    FLAGS_KNOWN = 0x7F,
    STATE_MAX = 6,
    CPU_MASK = 0x07FF,
    CPU_MASK_OLD = 0x00FF,
};

bool buffer_header_read(Rd *r, BufferHeader *out) {
    out->size_bytes = rd_u32(r);
    out->saved_bytes = rd_u32(r);
    rd_skip(r, 4); // CurrentOffset may lie behind the buffer's end
    out->reference_count = rd_u32(r);
    rd_skip(r, 8); // flush time: its unit depends on the writer
    out->sequence = rd_i64(r);
    rd_skip(r, 8);
    uint16_t cpu = rd_u16(r);
    out->logger_id = rd_u16(r);
    out->state = rd_u32(r);
    out->filled_bytes = rd_u32(r);
    out->flags = rd_u16(r);
    out->type = rd_u16(r);
    rd_skip(r, 16);
    bool index16 = out->flags & BUFFER_FLAG_CPU_INDEX;
    out->cpu = (uint16_t)(cpu & (index16 ? CPU_MASK : CPU_MASK_OLD));
    return rd_ok(r);
}

uint32_t buffer_valid_bytes(const BufferHeader *header, bool compressed) {
    uint32_t valid = header->filled_bytes;
    uint32_t most = compressed ? (uint32_t)LIMIT_BUFFER_BYTES : header->size_bytes;
    if (valid < BUFFER_HEADER_BYTES || valid > most) valid = header->saved_bytes;
    if (valid < BUFFER_HEADER_BYTES || valid > most) valid = header->filled_bytes;
    if (valid > most) valid = most;
    return valid < BUFFER_HEADER_BYTES ? BUFFER_HEADER_BYTES : valid;
}

unsigned buffer_header_oddities(const BufferHeader *h) {
    unsigned odd = 0;
    uint32_t filled_max =
        h->flags & BUFFER_FLAG_COMPRESSED ? (uint32_t)LIMIT_BUFFER_BYTES : h->size_bytes;
    bool empty = h->filled_bytes < BUFFER_HEADER_BYTES && h->saved_bytes < BUFFER_HEADER_BYTES;
    bool size_odd = h->size_bytes < BUFFER_HEADER_BYTES || h->size_bytes > BUFFER_DISK_BYTES_MAX;
    if (size_odd) filled_max = BUFFER_DISK_BYTES_MAX;
    if (size_odd) odd++;
    if (empty || h->filled_bytes > filled_max) odd++;
    if (h->reference_count != 0) odd++;
    if (h->state > STATE_MAX) odd++;
    if (h->flags & ~FLAGS_KNOWN) odd++;
    if (h->type > BUFFER_TYPE_MAX) odd++;
    return odd;
}
