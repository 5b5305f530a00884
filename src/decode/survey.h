// First pass: every event header is seen once, in parallel, buffer by buffer. What the world needs
// is copied out; nothing is written.
#ifndef DECODE_SURVEY_H
#define DECODE_SURVEY_H

#include "base/thread.h"
#include "decode/class.h"
#include "decode/raw_stack.h"
#include "decode/world.h"

// A record that carries (part of) a stack of the event at `ticks` on `tid`.
typedef struct StackRef {
    int64_t ticks;
    uint64_t key; // stack key; when !by_key a raw stack id
    uint32_t tid, pid;
    uint32_t buffer; // of the record; records of one buffer stand in its order
    uint16_t cpu;
    bool by_key;
    bool user; // begins with a user address (direct), or is a user-part reference
} StackRef;

// There are about as many as samples, so they stay where they were first written: growing and
// merging move pointers.
enum { REF_BLOCK_BITS = 13, REF_BLOCK = 1 << REF_BLOCK_BITS };
typedef struct RefBlock {
    uint32_t count;
    StackRef refs[REF_BLOCK];
} RefBlock;

typedef struct StackDefinition {
    uint64_t key;
    int64_t ticks;
    uint64_t seq;
    uint32_t raw;
} StackDefinition;

// A stack in the extended items of the event itself.
typedef struct InlineStack {
    uint64_t seq;
    int64_t ticks;
    uint64_t match_id; // not 0: the user part follows in another event
    uint64_t key;
    uint32_t tid, pid;
    uint32_t raw;
    bool by_key;
} InlineStack;

typedef struct UserPart { // of an InlineStack
    uint64_t match_id;
    uint32_t raw;
} UserPart;

// Some event's header or payload mentions this thread; pid may be ETL_NO_ID.
typedef struct Mention {
    int64_t ticks;
    uint32_t tid, pid;
} Mention;

typedef struct BufferFacts {
    uint32_t events;
    uint32_t last_running;           // thread switched in last; ETL_NO_ID without a switch
    uint32_t first_running;          // thread switched out first
    int64_t first_ticks, last_ticks; // INT64_MAX and INT64_MIN when empty
    const int64_t *owner_ticks;      // times of the events that may own a stack, in buffer order
    uint32_t owner_count;
} BufferFacts;

typedef struct Survey {
    EtlIssues issues;
    ClassTable classes;
    RawStacks raw;
    VEC(Kept) kept;
    VEC(RefBlock *) refs;
    VEC(StackDefinition) definitions;
    VEC(InlineStack) inline_stacks;
    VEC(UserPart) user_parts;
    VEC(Mention) mentions;
    Notes notes;          // of one worker
    NoteIndex *index;     // of all of them
    BufferFacts *buffers; // one per etl_buffer
    uint64_t events;
    unsigned kernel_pointer_size; // of kernel events: 4 only when no 8-byte one was seen
    Arena arena;                  // of one worker: bytes of `kept`
    Arena *arenas;                // of all of them
    size_t arena_count;
} Survey;

// seq of an event: order of its buffer in the file's time-sorted list, then in the buffer.
static inline uint64_t event_seq(size_t buffer, uint32_t index) {
    return (uint64_t)buffer << 21 | index;
}

static inline uint32_t event_buffer(uint64_t seq) {
    return (uint32_t)(seq >> 21);
}

// The reference at `place`: its block's number, then its place in the block.
static inline StackRef *survey_ref(const Survey *survey, uint32_t place) {
    return &survey->refs.items[place >> REF_BLOCK_BITS]->refs[place & (REF_BLOCK - 1)];
}
void survey_refs_free(Survey *survey);

bool address_is_kernel(uint64_t address, unsigned kernel_pointer_size);

Status survey_run(EtlFile *file, unsigned workers, Progress *progress, Survey *out, Err *err);
// Only classes, processes and the schemas that the trace carries: memory does not grow with the
// file.
Status survey_run_names(EtlFile *file, unsigned workers, Progress *progress, Survey *out, Err *err);
void survey_done(Survey *survey);

#endif
