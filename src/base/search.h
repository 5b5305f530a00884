// Binary search in a sorted array.
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

// Sets `at`, an unsigned variable, to the first index below `count` where `before` is false, or to
// `count`. `before` is an expression of `at`, true of the first elements and false of the rest:
//     size_t at;
//     FIND_FIRST(at, list.count, list.items[at].key < key);
#define FIND_FIRST(at, count, before)                                                              \
    do {                                                                                           \
        __typeof__(at) find_from = 0, find_to = (count);                                           \
        while (find_from < find_to) {                                                              \
            (at) = find_from + (find_to - find_from) / 2;                                          \
            if (before)                                                                            \
                find_from = (at) + 1;                                                              \
            else                                                                                   \
                find_to = (at);                                                                    \
        }                                                                                          \
        (at) = find_from;                                                                          \
    } while (0)

#endif
