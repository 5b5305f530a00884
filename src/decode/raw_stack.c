// Interning of recorded stacks: one hash table by content.
#include "decode/raw_stack.h"

#include "base/limits.h"

static void grow(RawStacks *stacks) {
    size_t capacity = stacks->capacity ? stacks->capacity * 2 : 1024;
    uint32_t *slots = mem_zero(capacity, sizeof *slots);
    for (size_t i = 0; i < stacks->items.count; i++) {
        size_t at = stacks->items.items[i].hash & (capacity - 1);
        while (slots[at]) at = (at + 1) & (capacity - 1);
        slots[at] = (uint32_t)i + 1;
    }
    mem_free(stacks->slots);
    stacks->slots = slots;
    stacks->capacity = capacity;
}

uint32_t raw_stack_add(RawStacks *stacks, const uint64_t *frames, uint32_t count) {
    if (count == 0) return 0;
    if ((stacks->items.count + 1) * 3 > stacks->capacity * 2) grow(stacks);
    size_t bytes = count * sizeof *frames;
    uint64_t hash = bytes_hash(frames, bytes, 0);
    size_t at = hash & (stacks->capacity - 1);
    for (; stacks->slots[at]; at = (at + 1) & (stacks->capacity - 1)) {
        const RawStack *seen = raw_stack(stacks, stacks->slots[at]);
        if (seen->hash == hash && seen->count == count && !memcmp(seen->frames, frames, bytes))
            return stacks->slots[at];
    }
    uint64_t *copy = arena_alloc(&stacks->arena, bytes);
    memcpy(copy, frames, bytes);
    *vec_push(&stacks->items) = (RawStack){copy, count, hash};
    stacks->slots[at] = (uint32_t)stacks->items.count;
    return stacks->slots[at];
}

uint32_t raw_stack_add_bytes(RawStacks *stacks, Str bytes, unsigned pointer_size) {
    uint64_t frames[LIMIT_STACK_FRAMES];
    uint32_t count = 0;
    Rd r = rd_from_str(bytes);
    while (rd_left(&r) >= pointer_size && count < LIMIT_STACK_FRAMES)
        frames[count++] = rd_ptr(&r, pointer_size);
    return raw_stack_add(stacks, frames, count);
}

void raw_stacks_done(RawStacks *stacks) {
    vec_free(&stacks->items);
    mem_free(stacks->slots);
    arena_done(&stacks->arena);
    *stacks = (RawStacks){0};
}
