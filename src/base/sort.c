// LSD radix sort, 11 bits a pass.
#include "base/sort.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_pass(const SortKey *from, SortKey *to, size_t count, unsigned shift) {
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) starts[from[i].key >> shift & (DIGITS - 1)]++;
    size_t at = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t n = starts[d];
        starts[d] = at;
        at += n;
    }
    for (size_t i = 0; i < count; i++) to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void sort_keys(SortKey *keys, size_t count) {
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differ |= keys[i].key ^ keys[0].key;
        sorted = sorted && keys[i - 1].key <= keys[i].key;
    }
    if (sorted) return;
    SortKey *other = mem_alloc(arena_array_bytes(count, sizeof *other));
    SortKey *from = keys, *to = other;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGITS - 1))) continue;
        sort_pass(from, to, count, shift);
        SortKey *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, count * sizeof *keys);
    mem_free(other);
}
