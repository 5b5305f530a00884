// Distinct call stacks as recorded (addresses, innermost first), interned by content.
#ifndef DECODE_RAW_STACK_H
#define DECODE_RAW_STACK_H

#include "base/rd.h"

typedef struct RawStack {
    const uint64_t *frames;
    uint32_t count;
} RawStack;

typedef struct RawSlot { // identity of the frames: 128 bits of hash, so they need no comparing
    uint64_t hash, check;
    uint32_t id; // 0: free
} RawSlot;

// Zero-initialised is empty. Ids are 1-based; 0 is the empty stack.
typedef struct RawStacks {
    VEC(RawStack) items;
    RawSlot *slots; // open addressing
    size_t capacity;
    Arena arena;
} RawStacks;

// Frames from event bytes (`pointer_size` each; a cut last one is ignored); at most
// LIMIT_STACK_FRAMES are kept.
uint32_t raw_stack_add_bytes(RawStacks *stacks, Str bytes, unsigned pointer_size);
uint32_t raw_stack_add(RawStacks *stacks, const uint64_t *frames, uint32_t count);
// Moves the stacks of `from` into `to`: map[id] is the new id; `map` holds from->items.count + 1
// entries.
void raw_stacks_merge(RawStacks *to, RawStacks *from, uint32_t *map);
static inline const RawStack *raw_stack(const RawStacks *stacks, uint32_t id) {
    return &stacks->items.items[id - 1];
}
void raw_stacks_done(RawStacks *stacks);

#endif
