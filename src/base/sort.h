// Sorting of large arrays by a 64-bit key: stable LSD radix sort of (key, index) pairs. Passes over
// bytes that all keys share are left out, so keys of one trace (close together in time) cost few.
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/arena.h"

typedef struct SortKey {
    uint64_t key;
    uint32_t index; // whatever the caller wants to find again
} SortKey;

// The key of a signed number: of two the lesser has the lesser key.
static inline uint64_t sort_key_signed(int64_t value) {
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

// Sorts ascending by key; equal keys keep their order.
void sort_keys(SortKey *keys, size_t count);

#endif
