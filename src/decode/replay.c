// A heap of streams by the time of their next event. A buffer is loaded when its first event is due
// (the buffer headers' walk has read its time), and its memory is reused by the next one.
#include "decode/replay.h"

#include "decode/survey.h"

typedef struct Source { // one stream
    uint32_t stream, position;
    size_t buffer; // index of the buffer under way
    EtlScratch *scratch;
    EtlCursor cursor;
    bool loaded;
    EtlEvent event; // the next one, when loaded
    int64_t ticks;  // of the next event
    uint64_t seq;
} Source;

struct Replay {
    EtlFile *file;
    Source *sources;
    Source **heap;
    size_t count;
    EtlIssues issues; // counted elsewhere
    bool pending;     // the top of the heap was handed out
};

static bool is_before(const Source *a, const Source *b) {
    return a->ticks != b->ticks ? a->ticks < b->ticks : a->seq < b->seq;
}

static void sink(Replay *replay, size_t at) {
    Source **heap = replay->heap;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= replay->count) return;
        if (child + 1 < replay->count && is_before(heap[child + 1], heap[child])) child++;
        if (!is_before(heap[child], heap[at])) return;
        Source *moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

// The stream's next buffer that has events; false at its end.
static bool source_next_buffer(Replay *replay, Source *source) {
    source->loaded = false;
    for (;; source->position++) {
        source->buffer = etl_stream_buffer(replay->file, source->stream, source->position);
        if (source->buffer == SIZE_MAX) break;
        const EtlBuffer *buffer = etl_buffer(replay->file, source->buffer);
        if (buffer->first_ticks == INT64_MAX) continue;
        source->ticks = buffer->first_ticks;
        source->seq = event_seq(source->buffer, 0);
        source->position++;
        return true;
    }
    etl_scratch_close(source->scratch);
    source->scratch = NULL;
    return false;
}

Replay *replay_open(EtlFile *file) {
    Replay *replay = mem_zero(1, sizeof *replay);
    size_t streams = etl_stream_count(file);
    replay->file = file;
    replay->sources = mem_zero(streams, sizeof(Source));
    replay->heap = mem_zero(streams, sizeof(Source *));
    for (size_t i = 0; i < streams; i++) {
        Source *source = &replay->sources[i];
        source->stream = (uint32_t)i;
        if (source_next_buffer(replay, source)) replay->heap[replay->count++] = source;
    }
    for (size_t i = replay->count / 2; i-- > 0;) sink(replay, i);
    return replay;
}

void replay_close(Replay *replay) {
    if (!replay) return;
    for (size_t i = 0; i < etl_stream_count(replay->file); i++)
        etl_scratch_close(replay->sources[i].scratch);
    mem_free(replay->sources);
    mem_free(replay->heap);
    mem_free(replay);
}

// Moves the top of the heap to its next event.
static void advance(Replay *replay) {
    Source *top = replay->heap[0];
    if (top->loaded && etl_next(&top->cursor, &top->event)) {
        top->ticks = top->event.ticks;
        top->seq = event_seq(top->buffer, top->event.index);
    } else if (!source_next_buffer(replay, top)) {
        replay->heap[0] = replay->heap[--replay->count];
    }
    if (replay->count) sink(replay, 0);
}

Status replay_next(Replay *replay, EtlEvent *event, uint64_t *seq, bool *end, Err *err) {
    *end = false;
    if (replay->pending) advance(replay);
    replay->pending = false;
    while (replay->count) {
        Source *top = replay->heap[0];
        if (top->loaded) {
            *event = top->event;
            *seq = top->seq;
            replay->pending = true;
            return OK;
        }
        if (!top->scratch) top->scratch = etl_scratch_open();
        TRY(etl_load(replay->file, top->buffer, top->scratch, &replay->issues, &top->cursor, err));
        top->loaded = true;
        advance(replay); // to its first event, which may not be the first of all
    }
    *end = true;
    return OK;
}
