// pcapng blocks: length, body padded to 32 bits, options, length again; little-endian.
#include "tools/pcapng.h"

enum {
    BLOCK_SECTION = 0x0A0D0D0A,
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 6,
    OPTION_COMMENT = 1,
    OPTION_APPLICATION = 4, // of the section
    OPTION_NAME = 2,        // of an interface
    OPTION_RESOLUTION = 9,  // of an interface
    OPTION_FLAGS = 2,       // of a packet
    OPTION_PACKET_ID = 5,
    OPTION_VERDICT = 7,
};

static void put_le(Buf *block, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) buf_add_char(block, (char)(value >> (8 * i) & 0xFF));
}

static void put_padded(Buf *block, Str bytes) {
    buf_add(block, bytes);
    while (block->n % 4) buf_add_char(block, 0);
}

static void put_option(Buf *block, unsigned code, Str value) {
    enum { VALUE_MAX = 0xFFFF };
    if (!value.n) return;
    value = str_slice(value, 0, VALUE_MAX);
    put_le(block, code, 2);
    put_le(block, value.n, 2);
    put_padded(block, value);
}

// The verdict of a component: type 0 (hardware), then what its maker likes; here the numbers that
// PktMon has for reason and place.
static void put_verdict(Buf *block, const PcapngFrame *frame) {
    enum { SIZE = 9 };
    put_le(block, OPTION_VERDICT, 2);
    put_le(block, SIZE, 2);
    put_le(block, 0, 1);
    put_le(block, frame->drop_reason, 4);
    put_le(block, frame->drop_location, 4);
    while (block->n % 4) buf_add_char(block, 0);
}

static void block_begin(Pcapng *pcapng, uint32_t type) {
    buf_clear(&pcapng->block);
    put_le(&pcapng->block, type, 4);
    put_le(&pcapng->block, 0, 4); // length, known at the end
}

static Status block_end(Pcapng *pcapng, Err *err) {
    Buf *block = &pcapng->block;
    put_le(block, 0, 4); // end of the options
    uint32_t size = (uint32_t)block->n + 4;
    put_le(block, size, 4);
    for (unsigned i = 0; i < 4; i++) block->p[4 + i] = (char)(size >> (8 * i) & 0xFF);
    return file_append(pcapng->writer, buf_str(block), err);
}

Status pcapng_open(Pcapng *out, Str path, Str application, Str comment, Err *err) {
    enum { BYTE_ORDER = 0x1A2B3C4D };
    *out = (Pcapng){0};
    TRY(file_create(path, &out->writer, err));
    block_begin(out, BLOCK_SECTION);
    put_le(&out->block, BYTE_ORDER, 4);
    put_le(&out->block, 1, 2);
    put_le(&out->block, 0, 2);
    put_le(&out->block, UINT64_MAX, 8); // length of the section: not said
    put_option(&out->block, OPTION_COMMENT, comment);
    put_option(&out->block, OPTION_APPLICATION, application);
    return block_end(out, err);
}

Status pcapng_interface(Pcapng *pcapng, Str name, unsigned link_type, unsigned *number, Err *err) {
    enum { NANOSECONDS = 9 };
    static const char RESOLUTION[] = {NANOSECONDS};
    block_begin(pcapng, BLOCK_INTERFACE);
    put_le(&pcapng->block, link_type, 2);
    put_le(&pcapng->block, 0, 2);
    put_le(&pcapng->block, 0, 4); // no limit of the captured length
    put_option(&pcapng->block, OPTION_NAME, name);
    put_option(&pcapng->block, OPTION_RESOLUTION, (Str){RESOLUTION, sizeof RESOLUTION});
    *number = pcapng->interfaces++;
    return block_end(pcapng, err);
}

Status pcapng_frame(Pcapng *pcapng, const PcapngFrame *frame, Err *err) {
    char flags[4] = {(char)(frame->direction & 3), 0, 0, 0};
    Buf *block = &pcapng->block;
    block_begin(pcapng, BLOCK_PACKET);
    put_le(block, frame->interface, 4);
    put_le(block, frame->unix_ns >> 32, 4);
    put_le(block, frame->unix_ns & UINT32_MAX, 4);
    put_le(block, frame->bytes.n, 4);
    put_le(block, frame->original > frame->bytes.n ? frame->original : frame->bytes.n, 4);
    put_padded(block, frame->bytes);
    put_option(block, OPTION_COMMENT, frame->comment);
    if (frame->direction) put_option(block, OPTION_FLAGS, (Str){flags, sizeof flags});
    if (frame->has_id) {
        put_le(block, OPTION_PACKET_ID, 2);
        put_le(block, sizeof frame->id, 2);
        put_le(block, frame->id, sizeof frame->id);
    }
    if (frame->dropped) put_verdict(block, frame);
    return block_end(pcapng, err);
}

Status pcapng_finish(Pcapng *pcapng, Err *err) {
    return file_finish(pcapng->writer, err);
}

void pcapng_done(Pcapng *pcapng) {
    file_writer_close(pcapng->writer);
    buf_done(&pcapng->block);
    *pcapng = (Pcapng){0};
}
