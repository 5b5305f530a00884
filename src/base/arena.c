// Arena, heap wrappers and growable arrays.
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_MIN = 64 << 10, ARENA_BLOCK_MAX = 16 << 20, ARENA_ALIGN = 16 };

struct ArenaBlock {
    ArenaBlock *next;
    size_t used;
    size_t capacity;
    _Alignas(ARENA_ALIGN) unsigned char bytes[];
};

static _Noreturn void out_of_memory(size_t bytes) {
    (void)fprintf(stderr, "fatal base: Out of memory: bytes=%zu\n", bytes);
    abort();
}

void *mem_alloc(size_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) out_of_memory(bytes);
    return p;
}

void *mem_zero(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p) out_of_memory(count * size);
    return p;
}

void *mem_grow(void *old, size_t bytes) {
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) out_of_memory(bytes);
    return p;
}

void mem_free(void *p) {
    free(p);
}

size_t arena_array_bytes(size_t count, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) out_of_memory(SIZE_MAX);
    return bytes;
}

static void arena_add_block(Arena *arena, size_t capacity) {
    ArenaBlock *block = mem_alloc(sizeof(ArenaBlock) + capacity);
    *block = (ArenaBlock){.next = arena->head, .capacity = capacity};
    arena->head = block;
}

static unsigned char *arena_take(Arena *arena, size_t bytes, size_t align) {
    ArenaBlock *block = arena->head;
    size_t at = block ? (block->used + align - 1) & ~(align - 1) : 0;
    if (!block || bytes > block->capacity - (at < block->capacity ? at : block->capacity)) {
        size_t grown = block ? block->capacity * 2 : ARENA_BLOCK_MIN;
        if (grown > ARENA_BLOCK_MAX) grown = ARENA_BLOCK_MAX;
        arena_add_block(arena, bytes > grown ? bytes : grown);
        block = arena->head;
        at = 0;
    }
    block->used = at + bytes;
    arena->used_bytes += bytes;
    return block->bytes + at;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    return memset(arena_take(arena, bytes, ARENA_ALIGN), 0, bytes);
}

void *arena_room(Arena *arena, size_t bytes) {
    return arena_take(arena, bytes, ARENA_ALIGN);
}

char *arena_bytes(Arena *arena, size_t bytes) {
    return (char *)arena_take(arena, bytes, 1);
}

void *arena_copy(Arena *arena, const void *from, size_t bytes) {
    return memcpy(arena_take(arena, bytes, ARENA_ALIGN), from, bytes);
}

void arena_reserve(Arena *arena, size_t bytes) {
    ArenaBlock *block = arena->head;
    if (!block || block->capacity - block->used < bytes) arena_add_block(arena, bytes);
}

void arena_adopt(Arena *arena, Arena *from) {
    ArenaBlock **end = &arena->head; // the block in use stays first
    while (*end) end = &(*end)->next;
    *end = from->head;
    arena->used_bytes += from->used_bytes;
    *from = (Arena){0};
}

void arena_clear(Arena *arena) {
    ArenaBlock *keep = arena->head;
    if (!keep) return;
    for (ArenaBlock *block = keep->next; block;) {
        ArenaBlock *next = block->next;
        mem_free(block);
        block = next;
    }
    keep->next = NULL;
    keep->used = 0;
    arena->used_bytes = 0;
}

void arena_done(Arena *arena) {
    for (ArenaBlock *block = arena->head; block;) {
        ArenaBlock *next = block->next;
        mem_free(block);
        block = next;
    }
    *arena = (Arena){0};
}

void *vec_reserve_(void *items, size_t *capacity, size_t wanted, size_t size) {
    if (wanted <= *capacity) return items;
    size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    *capacity = wanted > grown ? wanted : grown;
    return mem_grow(items, arena_array_bytes(*capacity, size));
}
