// Distinct call stacks as recorded (addresses, innermost first), interned by content.
#ifndef DECODE_RAW_STACK_H
#define DECODE_RAW_STACK_H

#include "base/rd.h"

typedef struct RawStack {
    const uint64_t *frames;
    uint32_t count;
    uint64_t hash;
} RawStack;

// Zero-initialised is empty. Ids are 1-based; 0 is the empty stack.
typedef struct RawStacks {
    VEC(RawStack) items;
    uint32_t *slots; // open addressing: id, 0 free
    size_t capacity;
    Arena arena;
} RawStacks;

// Frames from event bytes (`pointer_size` each; a cut last one is ignored); at most
// LIMIT_STACK_FRAMES are kept.
uint32_t raw_stack_add_bytes(RawStacks *stacks, Str bytes, unsigned pointer_size);
uint32_t raw_stack_add(RawStacks *stacks, const uint64_t *frames, uint32_t count);
static inline const RawStack *raw_stack(const RawStacks *stacks, uint32_t id) {
    return &stacks->items.items[id - 1];
}
void raw_stacks_done(RawStacks *stacks);

#endif
