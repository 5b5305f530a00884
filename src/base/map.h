// Hash maps with open addressing. Values are 64-bit (an index or a pointer); keys are u64, or byte
// strings owned by someone who outlives the map. Not thread-safe while anyone writes.
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

typedef struct MapSlot {
    uint64_t key;
    uint64_t value;
} MapSlot;

// Zero-initialised is an empty map. Any key is allowed (0 and UINT64_MAX as well).
typedef struct Map {
    MapSlot *slots;
    uint8_t *used;
    size_t count;
    size_t capacity; // power of two
} Map;

// Address of the value of `key`, inserted with `initial` when absent (*added says which, may be
// NULL). Valid until the next insertion.
uint64_t *map_put(Map *map, uint64_t key, uint64_t initial, bool *added);
// Address of the value, or NULL.
uint64_t *map_get(const Map *map, uint64_t key);
// Moves the entries of `from` into `to`, whose own values stay; `from` is empty afterwards.
void map_move(Map *to, Map *from);
void map_done(Map *map);

typedef struct StrMapSlot {
    Str key;
    uint64_t hash;
    uint64_t value;
} StrMapSlot;

typedef struct StrMap {
    StrMapSlot *slots; // key.p == NULL: free
    size_t count;
    size_t capacity;
} StrMap;

// As above; the key's bytes are not copied: when *added, replace slot->key by an owned copy.
StrMapSlot *strmap_put(StrMap *map, Str key, uint64_t initial, bool *added);
uint64_t *strmap_get(const StrMap *map, Str key);
void strmap_done(StrMap *map);

#endif
