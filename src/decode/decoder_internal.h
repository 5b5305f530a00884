// Inside of the second pass: what a worker carries from event to event.
#ifndef DECODE_DECODER_INTERNAL_H
#define DECODE_DECODER_INTERNAL_H

#include "base/map.h"
#include "decode/world_internal.h"

// Distinct frames that rows of one worker refer to.
enum { FRAMES_RECENT = 4096 };
typedef struct FrameSet {
    Map seen;                       // keys: frame ids
    uint64_t recent[FRAMES_RECENT]; // known to be in `seen`
} FrameSet;

// Positions in the world's stack lists; events of a buffer come in time order, so both only move
// forward.
typedef struct StackCursor {
    size_t at;        // first entry with ticks >= the last event's
    size_t inline_at; // first inline entry with seq >= the last event's
    uint64_t taken;   // stacks given to events
} StackCursor;

void stack_cursor_start(StackCursor *cursor, const World *world, int64_t ticks, uint64_t seq);

#endif
