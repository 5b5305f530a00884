// What the files of this folder share: the open file, one buffer header, the first look at an
// event.
#ifndef ETL_ETL_INTERNAL_H
#define ETL_ETL_INTERNAL_H

#include "base/limits.h"
#include "etl/etl.h"

enum {
    BUFFER_HEADER_BYTES = 0x48,
    BUFFER_FLAG_EVENTS_LOST = 0x02,
    BUFFER_FLAG_BUFFERS_LOST = 0x04,
    BUFFER_FLAG_RT_CORRUPT = 0x08,
    BUFFER_FLAG_CPU_INDEX = 0x20,
    BUFFER_FLAG_COMPRESSED = 0x40,
    BUFFER_TYPE_HEADER = 4,
    BUFFER_TYPE_MAX = 7,
    // Bytes read behind a buffer header, and inflated of it, to see its first events.
    PEEK_RAW_BYTES = 512,
    PEEK_EVENT_BYTES = 64,
    MODE_CIRCULAR = 0x00000002,
    MODE_APPEND = 0x00000004,
    MODE_COMPRESSED = 0x04000000,
};
// The largest buffer on disk: a stream that does not compress grows by its flag words.
#define BUFFER_DISK_BYTES_MAX (LIMIT_BUFFER_BYTES + LIMIT_BUFFER_BYTES / 4u)

struct EtlFile {
    File *file;
    Arena arena; // texts of the header
    uint64_t size;
    EtlHeader header;
    bool header_good; // the header event was read
    bool start_known; // header.start_ticks is the header event's timestamp
    EtlCompression compression;
    EtlIssues issues;
    VEC(EtlBuffer) buffers;
    VEC(uint32_t) late;    // buffers whose first events carry no timestamp, until etl_order()
    uint32_t *stream_of;   // per buffer
    uint32_t *position_of; // per buffer
    uint32_t *ordered;     // buffer indexes, stream after stream
    uint32_t *stream_from; // per stream: start in `ordered`; one more at the end
    size_t stream_count;
};

typedef struct BufferHeader {
    uint32_t size_bytes, saved_bytes, reference_count, state, filled_bytes;
    int64_t sequence;
    uint16_t cpu, logger_id, flags, type;
} BufferHeader;

bool buffer_header_read(Rd *r, BufferHeader *out);
// End of the events as the header claims it: after inflation for compressed buffers.
uint32_t buffer_valid_bytes(const BufferHeader *header, bool compressed);
// How many fields hold a value that no writer leaves there; 0 or 1 is taken for a buffer header.
unsigned buffer_header_oddities(const BufferHeader *header);

// The start of an event, of which perhaps only `there` of its bytes are at hand.
typedef struct EventPeek {
    size_t size;
    bool has_ticks;
    int64_t ticks;
} EventPeek;
// False when no event can start here. `left`: bytes up to the end of the buffer's events.
bool event_peek(const uint8_t *bytes, size_t there, size_t left, EventPeek *out);

// Inflates as `compression` says; UB-free for any input.
size_t etl_inflate(EtlCompression compression, Str in, uint8_t *out, size_t out_size, bool *ok);

// header.c: fills etl->header from the first event of the header buffer; defaults and an issue when
// it has none.
void etl_header_read(EtlFile *etl, EtlCursor *cursor, uint64_t offset);
void etl_header_derive(EtlFile *etl, uint64_t offset);

// walk.c: the first buffer, at offset 0 or, when that one is destroyed, the first that another one
// follows; *found is false when there is none and the file is no trace.
Status etl_first_buffer(EtlFile *etl, EtlBuffer *first, bool *found, Err *err);
// Finds all buffers from the first one on; its header event has been read.
Status etl_walk(EtlFile *etl, uint64_t start, Err *err);

// streams.c: late timestamps, segments, order, streams, sequence gaps.
Status etl_order(EtlFile *etl, Err *err);

// load.c: the same as etl_load, for a buffer that is not in the list yet.
Status etl_load_buffer(EtlFile *etl, const EtlBuffer *buffer, EtlScratch *scratch,
                       EtlIssues *issues, EtlCursor *cursor, Err *err);

#endif
