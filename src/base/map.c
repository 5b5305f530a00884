// Open-addressing hash maps with linear probing, at most two thirds full.
#include "base/map.h"

static size_t grown_capacity(size_t capacity) {
    return capacity ? capacity * 2 : 32;
}

static size_t map_slot(const Map *map, uint64_t key) {
    size_t mask = map->capacity - 1;
    size_t i = (size_t)u64_hash(key) & mask;
    while (map->used[i] && map->slots[i].key != key) i = (i + 1) & mask;
    return i;
}

static void map_grow(Map *map) {
    Map bigger = {.capacity = grown_capacity(map->capacity)};
    bigger.slots = mem_alloc(arena_array_bytes(bigger.capacity, sizeof(MapSlot)));
    bigger.used = mem_zero(bigger.capacity, 1);
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->used[i]) continue;
        size_t to = map_slot(&bigger, map->slots[i].key);
        bigger.slots[to] = map->slots[i];
        bigger.used[to] = 1;
    }
    bigger.count = map->count;
    map_done(map);
    *map = bigger;
}

uint64_t *map_put(Map *map, uint64_t key, uint64_t initial, bool *added) {
    if ((map->count + 1) * 3 > map->capacity * 2) map_grow(map);
    size_t i = map_slot(map, key);
    bool fresh = !map->used[i];
    if (fresh) {
        map->used[i] = 1;
        map->slots[i] = (MapSlot){key, initial};
        map->count++;
    }
    if (added) *added = fresh;
    return &map->slots[i].value;
}

uint64_t *map_get(const Map *map, uint64_t key) {
    if (map->count == 0) return NULL;
    size_t i = map_slot(map, key);
    return map->used[i] ? &map->slots[i].value : NULL;
}

void map_move(Map *to, Map *from) {
    if (!to->count) {
        map_done(to);
        *to = *from;
        *from = (Map){0};
        return;
    }
    for (size_t i = 0; i < from->capacity; i++)
        if (from->used[i]) (void)map_put(to, from->slots[i].key, from->slots[i].value, NULL);
    map_done(from);
}

void map_done(Map *map) {
    mem_free(map->slots);
    mem_free(map->used);
    *map = (Map){0};
}

static StrMapSlot *strmap_slot(const StrMap *map, Str key, uint64_t hash) {
    size_t mask = map->capacity - 1;
    size_t i = (size_t)hash & mask;
    while (map->slots[i].key.p && !(map->slots[i].hash == hash && str_eq(map->slots[i].key, key)))
        i = (i + 1) & mask;
    return &map->slots[i];
}

static void strmap_grow(StrMap *map) {
    StrMap bigger = {.capacity = grown_capacity(map->capacity), .count = map->count};
    bigger.slots = mem_zero(bigger.capacity, sizeof(StrMapSlot));
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key.p)
            *strmap_slot(&bigger, map->slots[i].key, map->slots[i].hash) = map->slots[i];
    mem_free(map->slots);
    *map = bigger;
}

StrMapSlot *strmap_put(StrMap *map, Str key, uint64_t initial, bool *added) {
    if (!key.p) key = STR("");
    if ((map->count + 1) * 3 > map->capacity * 2) strmap_grow(map);
    uint64_t hash = str_hash(key);
    StrMapSlot *slot = strmap_slot(map, key, hash);
    bool fresh = !slot->key.p;
    if (fresh) {
        *slot = (StrMapSlot){key, hash, initial};
        map->count++;
    }
    if (added) *added = fresh;
    return slot;
}

uint64_t *strmap_get(const StrMap *map, Str key) {
    if (map->count == 0) return NULL;
    if (!key.p) key = STR("");
    StrMapSlot *slot = strmap_slot(map, key, str_hash(key));
    return slot->key.p ? &slot->value : NULL;
}

void strmap_done(StrMap *map) {
    mem_free(map->slots);
    *map = (StrMap){0};
}
