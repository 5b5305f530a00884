// Memory. Three kinds, all fatal (with a message) when the system has none left, since every size
// that comes from input is checked against limits.h before it gets here:
//   Arena  bump allocation with one lifetime (trace, request, scratch); nothing is freed singly
//   mem_*  the only wrappers around malloc in the program, for buffers that grow (Vec, Buf, Map)
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/status.h"

#include <stdlib.h>

void *mem_alloc(size_t bytes);             // uninitialised; mem_alloc(0) is a valid pointer
void *mem_zero(size_t count, size_t size); // zeroed; the product is checked
void *mem_grow(void *old, size_t bytes);   // realloc
void mem_free(void *p);                    // accepts NULL

typedef struct ArenaBlock ArenaBlock;

// In place, zero-initialised is ready to use. Not thread-safe: one owner.
typedef struct Arena {
    ArenaBlock *head;
    size_t used_bytes; // handed out since the last clear, for caps and reports
} Arena;

// 16-byte aligned, zeroed.
void *arena_alloc(Arena *arena, size_t bytes);
void *arena_room(Arena *arena, size_t bytes); // aligned like arena_alloc, not zeroed
// 1-byte aligned, uninitialised: for text.
char *arena_bytes(Arena *arena, size_t bytes);
// 16-byte aligned copy.
void *arena_copy(Arena *arena, const void *from, size_t bytes);
// Room for `bytes` in one block, asked for now.
void arena_reserve(Arena *arena, size_t bytes);
// Everything `from` handed out lives on as long as `arena`; `from` is empty afterwards.
void arena_adopt(Arena *arena, Arena *from);
void arena_clear(Arena *arena); // keeps one block for reuse; everything handed out is invalid
void arena_done(Arena *arena);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count)                                                            \
    ((Type *)arena_alloc((arena), arena_array_bytes((count), sizeof(Type))))
size_t arena_array_bytes(size_t count, size_t size); // checked product

static inline void arena_done_auto(Arena *arena) {
    arena_done(arena);
}

// A growable array of one type: VEC(uint64_t) times = {0}; *vec_push(&times) = 5; vec_free(&times)
#define VEC(Type)                                                                                  \
    struct {                                                                                       \
        Type *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }
#define vec_reserve(vec, wanted)                                                                   \
    ((vec)->items = vec_reserve_((vec)->items, &(vec)->capacity, (wanted), sizeof *(vec)->items))
// Address of a new, uninitialised last element.
#define vec_push(vec)                                                                              \
    ((vec)->count == (vec)->capacity ? (void)vec_reserve((vec), (vec)->count + 1) : (void)0,       \
     &(vec)->items[(vec)->count++])
#define vec_free(vec)                                                                              \
    (mem_free((vec)->items), (vec)->items = NULL, (vec)->count = 0, (vec)->capacity = 0)
// Sorts by a comparison as qsort() takes it; an empty array has no items to hand to that.
#define vec_sort(vec, compare)                                                                     \
    ((vec)->count ? qsort((vec)->items, (vec)->count, sizeof *(vec)->items, (compare)) : (void)0)
void *vec_reserve_(void *items, size_t *capacity, size_t wanted, size_t size);

#endif
