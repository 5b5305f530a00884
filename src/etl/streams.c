// Order: segments of appended sessions, streams of one processor, buffers by time
// (docs/formats/etl.md, "Order").
#include "base/map.h"
#include "etl/etl_internal.h"

#include <stdlib.h>

enum { SEQUENCE_FALL_MAX = 4096 }; // within one session: more buffers than are ever in flight

typedef struct StreamKey {
    uint64_t offset;
    int64_t sequence;
    int64_t first_ticks;
    uint32_t segment;
    uint32_t index;
    uint16_t logger_id;
    uint16_t cpu;
} StreamKey;

#define COMPARE(a, b)                                                                              \
    do {                                                                                           \
        if ((a) != (b)) return (a) < (b) ? -1 : 1;                                                 \
    } while (0)

static int compare_time(const void *left, const void *right) {
    const EtlBuffer *a = left;
    const EtlBuffer *b = right;
    COMPARE(a->first_ticks, b->first_ticks);
    COMPARE(a->offset, b->offset);
    return 0;
}

static int compare_stream(const StreamKey *a, const StreamKey *b) {
    COMPARE(a->segment, b->segment);
    COMPARE(a->logger_id, b->logger_id);
    COMPARE(a->cpu, b->cpu);
    return 0;
}

static int compare_in_stream(const void *left, const void *right) {
    const StreamKey *a = left;
    const StreamKey *b = right;
    int streams = compare_stream(a, b);
    if (streams != 0) return streams;
    COMPARE(a->sequence, b->sequence);
    COMPARE(a->offset, b->offset);
    return 0;
}

static int compare_offset(const void *left, const void *right) {
    const StreamKey *a = left;
    const StreamKey *b = right;
    COMPARE(a->offset, b->offset);
    return 0;
}

static int compare_sequence(const void *left, const void *right) {
    const StreamKey *a = left;
    const StreamKey *b = right;
    COMPARE(a->segment, b->segment);
    COMPARE(a->sequence, b->sequence);
    COMPARE(a->offset, b->offset);
    return 0;
}

// The first timestamp inside a buffer that does not start with one.
static Status find_late_ticks(EtlFile *etl, EtlBuffer *buffer, EtlScratch *scratch, Err *err) {
    EtlIssues ignored = {0}; // counted when the buffer is loaded for good
    EtlCursor cursor;
    TRY(etl_load_buffer(etl, buffer, scratch, &ignored, &cursor, err));
    EventPeek peek;
    size_t at = cursor.at;
    while (at < cursor.size &&
           event_peek(cursor.bytes + at, cursor.size - at, cursor.size - at, &peek)) {
        buffer->first_ticks = peek.ticks;
        if (peek.has_ticks) return OK;
        at = (at + peek.size + 7) & ~(size_t)7;
    }
    buffer->first_ticks = INT64_MAX;
    return OK;
}

// Buffers of untimed events only take the time of the timed buffer before them in the file.
static Status settle_late(EtlFile *etl, Err *err) {
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    for (size_t i = 0; i < etl->late.count; i++) {
        uint32_t index = etl->late.items[i];
        EtlBuffer *buffer = &etl->buffers.items[index];
        TRY(find_late_ticks(etl, buffer, scratch, err));
        if (buffer->first_ticks != INT64_MAX) continue;
        buffer->first_ticks = index > 0 ? buffer[-1].first_ticks : etl->header.start_ticks;
    }
    return OK;
}

static void settle_start(EtlFile *etl) {
    if (etl->start_known) return;
    int64_t start = INT64_MAX;
    for (size_t i = 0; i < etl->buffers.count; i++)
        if (etl->buffers.items[i].first_ticks < start) start = etl->buffers.items[i].first_ticks;
    etl->header.start_ticks = start == INT64_MAX ? 0 : start;
}

// An appended session has no header buffer of its own: its numbers restart or its id changes.
// Numbers also fall a little within a session, in the order in which processors flush, so only a
// repeated one or a long fall is a restart.
static void mark_segments(EtlFile *etl) {
    bool append = etl->header_good && etl->header.log_file_mode & MODE_APPEND;
    Map used = {0}; // sequence number -> last segment that has it
    int64_t highest = INT64_MIN;
    uint32_t segment = 0;
    for (size_t i = 0; i < etl->buffers.count; i++) {
        EtlBuffer *buffer = &etl->buffers.items[i];
        bool starts = i > 0 && buffer->type == BUFFER_TYPE_HEADER;
        if (append && i > 1) { // the header buffer may carry another id than its session
            uint64_t *last = map_get(&used, (uint64_t)buffer->sequence);
            starts = starts || buffer->logger_id != buffer[-1].logger_id ||
                     (last && *last == segment) ||
                     (buffer->sequence >= 0 && highest >= 0 &&
                      highest - buffer->sequence > SEQUENCE_FALL_MAX);
        }
        if (starts) {
            segment++;
            highest = INT64_MIN;
        }
        if (append) *map_put(&used, (uint64_t)buffer->sequence, segment, NULL) = segment;
        if (buffer->sequence > highest) highest = buffer->sequence;
        buffer->segment = segment;
    }
    map_done(&used);
}

// Steps back in time from buffer to buffer; reported when `issues` is given.
static size_t count_steps_back(const StreamKey *keys, size_t count, EtlIssues *issues) {
    size_t steps = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].first_ticks == INT64_MAX) continue;
        if (keys[i].first_ticks < last) {
            steps++;
            if (issues) etl_issue(issues, ETL_ISSUE_TIME_BACKWARDS, keys[i].offset, 0);
        }
        last = keys[i].first_ticks;
    }
    return steps;
}

// Sequence order, unless file order keeps time better: then a number is damaged or means nothing.
static void order_stream(EtlFile *etl, StreamKey *keys, size_t count) {
    size_t steps = count_steps_back(keys, count, NULL);
    if (steps == 0) return;
    StreamKey *by_offset = mem_zero(count, sizeof *by_offset);
    memcpy(by_offset, keys, count * sizeof *keys);
    qsort(by_offset, count, sizeof *by_offset, compare_offset);
    if (count_steps_back(by_offset, count, NULL) < steps)
        memcpy(keys, by_offset, count * sizeof *keys);
    mem_free(by_offset);
    count_steps_back(keys, count, &etl->issues);
}

static void count_gaps(EtlFile *etl, StreamKey *keys, size_t count) {
    // A circular file has overwritten its oldest buffers; the rest proves nothing either way.
    if (etl->header_good && etl->header.log_file_mode & MODE_CIRCULAR) return;
    qsort(keys, count, sizeof *keys, compare_sequence);
    for (size_t i = 1; i < count; i++) {
        bool follows = keys[i].segment == keys[i - 1].segment && keys[i - 1].sequence >= 0;
        if (follows && (uint64_t)keys[i].sequence - (uint64_t)keys[i - 1].sequence > 1)
            etl_issue(&etl->issues, ETL_ISSUE_SEQUENCE_GAP, keys[i].offset, 0);
    }
}

static void number_streams(EtlFile *etl, StreamKey *keys, size_t count) {
    etl->stream_of = mem_zero(count + 1, sizeof *etl->stream_of);
    etl->position_of = mem_zero(count + 1, sizeof *etl->position_of);
    etl->ordered = mem_zero(count + 1, sizeof *etl->ordered);
    etl->stream_from = mem_zero(count + 1, sizeof *etl->stream_from);
    for (size_t from = 0; from < count;) {
        size_t to = from + 1;
        while (to < count && compare_stream(&keys[from], &keys[to]) == 0) to++;
        order_stream(etl, keys + from, to - from);
        uint32_t stream = (uint32_t)etl->stream_count++;
        etl->stream_from[stream] = (uint32_t)from;
        for (size_t i = from; i < to; i++) {
            etl->ordered[i] = keys[i].index;
            etl->stream_of[keys[i].index] = stream;
            etl->position_of[keys[i].index] = (uint32_t)(i - from);
        }
        from = to;
    }
    etl->stream_from[etl->stream_count] = (uint32_t)count;
}

Status etl_order(EtlFile *etl, Err *err) {
    TRY(settle_late(etl, err));
    vec_free(&etl->late);
    settle_start(etl);
    mark_segments(etl);
    size_t count = etl->buffers.count;
    EtlBuffer *buffers = etl->buffers.items;
    if (count > 0) qsort(buffers, count, sizeof *buffers, compare_time);
    StreamKey *keys = mem_zero(count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        const EtlBuffer *b = &buffers[i];
        keys[i] = (StreamKey){b->offset,   b->sequence,  b->first_ticks, b->segment,
                              (uint32_t)i, b->logger_id, b->cpu};
    }
    qsort(keys, count, sizeof *keys, compare_in_stream);
    number_streams(etl, keys, count);
    count_gaps(etl, keys, count);
    mem_free(keys);
    return OK;
}
