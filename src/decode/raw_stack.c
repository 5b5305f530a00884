// Interning of recorded stacks: one hash table by content.
#include "decode/raw_stack.h"

#include "base/limits.h"

static void grow(RawStacks *stacks) {
    size_t capacity = stacks->capacity ? stacks->capacity * 2 : 1024;
    RawSlot *slots = mem_zero(capacity, sizeof *slots);
    for (size_t i = 0; i < stacks->capacity; i++) {
        if (!stacks->slots[i].id) continue;
        size_t at = stacks->slots[i].hash & (capacity - 1);
        while (slots[at].id) at = (at + 1) & (capacity - 1);
        slots[at] = stacks->slots[i];
    }
    mem_free(stacks->slots);
    stacks->slots = slots;
    stacks->capacity = capacity;
}

// The slot of the identity: its own, or the free one where it goes.
static RawSlot *slot_of(RawStacks *stacks, uint64_t hash, uint64_t check) {
    if ((stacks->items.count + 1) * 2 > stacks->capacity) grow(stacks);
    size_t at = hash & (stacks->capacity - 1);
    for (; stacks->slots[at].id; at = (at + 1) & (stacks->capacity - 1))
        if (stacks->slots[at].hash == hash && stacks->slots[at].check == check) break;
    return &stacks->slots[at];
}

static uint32_t slot_fill(RawStacks *stacks, RawSlot *slot, uint64_t hash, uint64_t check,
                          RawStack stack) {
    *vec_push(&stacks->items) = stack;
    *slot = (RawSlot){hash, check, (uint32_t)stacks->items.count};
    return slot->id;
}

uint32_t raw_stack_add(RawStacks *stacks, const uint64_t *frames, uint32_t count) {
    enum { SECOND_SEED = 0x5D1F };
    if (count == 0) return 0;
    size_t bytes = count * sizeof *frames;
    uint64_t hash = bytes_hash(frames, bytes, 0), check = bytes_hash(frames, bytes, SECOND_SEED);
    RawSlot *slot = slot_of(stacks, hash, check);
    if (slot->id) return slot->id;
    uint64_t *copy = arena_copy(&stacks->arena, frames, bytes);
    return slot_fill(stacks, slot, hash, check, (RawStack){copy, count});
}

uint32_t raw_stack_add_bytes(RawStacks *stacks, Str bytes, unsigned pointer_size) {
    uint64_t frames[LIMIT_STACK_FRAMES];
    size_t count = bytes.n / pointer_size;
    if (count > LIMIT_STACK_FRAMES) count = LIMIT_STACK_FRAMES;
    if (pointer_size == 8) {
        if (count) memcpy(frames, bytes.p, count * sizeof *frames);
    } else {
        Rd r = rd_from_str(bytes);
        for (size_t i = 0; i < count; i++) frames[i] = rd_u32(&r);
    }
    return raw_stack_add(stacks, frames, (uint32_t)count);
}

void raw_stacks_merge(RawStacks *to, RawStacks *from, uint32_t *map) {
    map[0] = 0;
    if (!to->items.count) {
        for (size_t id = 1; id <= from->items.count; id++) map[id] = (uint32_t)id;
        raw_stacks_done(to);
        *to = *from;
        *from = (RawStacks){0};
        return;
    }
    // In the order of their numbers, so that the result does not depend on the table.
    uint64_t(*identity)[2] = mem_zero(from->items.count + 1, sizeof *identity);
    for (size_t i = 0; i < from->capacity; i++) {
        const RawSlot *slot = &from->slots[i];
        if (!slot->id) continue;
        identity[slot->id][0] = slot->hash;
        identity[slot->id][1] = slot->check;
    }
    for (size_t id = 1; id <= from->items.count; id++) {
        const RawStack *stack = raw_stack(from, (uint32_t)id);
        RawSlot *slot = slot_of(to, identity[id][0], identity[id][1]);
        map[id] = slot->id;
        if (!slot->id) map[id] = slot_fill(to, slot, identity[id][0], identity[id][1], *stack);
    }
    mem_free(identity);
    arena_adopt(&to->arena, &from->arena); // the frames stay where they are
    raw_stacks_done(from);
}

void raw_stacks_done(RawStacks *stacks) {
    vec_free(&stacks->items);
    mem_free(stacks->slots);
    arena_done(&stacks->arena);
    *stacks = (RawStacks){0};
}
