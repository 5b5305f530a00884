// Interning of event classes.
#include "decode/class.h"

#include <stdlib.h>

static bool is_kernel(const EtlEvent *event) {
    return event->kind == ETL_SYSTEM || event->kind == ETL_PERFINFO;
}

static void key_of(const EtlEvent *event, ClassKey *key) {
    memset(key, 0, sizeof *key);
    key->kind = (uint8_t)event->kind;
    key->version = event->version;
    key->opcode = event->opcode;
    key->pointer_size = event->pointer_size;
    if (is_kernel(event)) {
        // SYSTEM or PERFINFO is the kernel's choice and says nothing about the event.
        key->kind = ETL_SYSTEM;
        key->hook = event->hook;
        return;
    }
    key->provider = event->provider;
    key->level = event->level;
    key->id = event->id;
    if (event->kind != ETL_MANIFEST) return;
    key->task = event->task;
    key->channel = event->channel;
    key->keyword = event->keyword;
    if (!event->ext.tracelogging.p) return;
    key->tracelogging = 1;
    key->schema_hash =
        bytes_hash(event->ext.tracelogging.p, event->ext.tracelogging.n, event->ext.traits.n);
}

static void class_grow(ClassTable *table) {
    size_t capacity = table->capacity ? table->capacity * 2 : 256;
    mem_free(table->slots);
    table->slots = mem_zero(capacity, sizeof *table->slots);
    table->capacity = capacity;
    for (size_t i = 0; i < table->items.count; i++) {
        size_t at = table->items.items[i].hash & (capacity - 1);
        while (table->slots[at]) at = (at + 1) & (capacity - 1);
        table->slots[at] = (uint32_t)i + 1;
    }
}

// Slot of the key: holds index + 1, or 0 where it would go.
static size_t class_slot(const ClassTable *table, const ClassKey *key, uint64_t hash) {
    size_t at = hash & (table->capacity - 1);
    for (; table->slots[at]; at = (at + 1) & (table->capacity - 1)) {
        const EventClass *seen = &table->items.items[table->slots[at] - 1];
        if (seen->hash == hash && memcmp(&seen->key, key, sizeof *key) == 0) break;
    }
    return at;
}

static uint32_t class_intern(ClassTable *table, const ClassKey *key, Str schema, Str traits) {
    if ((table->items.count + 1) * 3 > table->capacity * 2) class_grow(table);
    uint64_t hash = bytes_hash(key, sizeof *key, 0);
    size_t at = class_slot(table, key, hash);
    if (table->slots[at]) return table->slots[at] - 1;
    EventClass *added = vec_push(&table->items);
    *added = (EventClass){.key = *key,
                          .hash = hash,
                          .first_ticks = INT64_MAX,
                          .last_ticks = INT64_MIN,
                          .first_seq = UINT64_MAX};
    if (schema.p) added->schema = str_copy(&table->arena, schema);
    if (traits.p) added->traits = str_copy(&table->arena, traits);
    table->slots[at] = (uint32_t)table->items.count;
    return table->slots[at] - 1;
}

// The hook's class in the cache, when it is still the right one.
static bool cached(const ClassTable *table, const uint32_t *by_hook, const EtlEvent *event,
                   uint32_t *index) {
    uint32_t known = event->hook < 0x2000 ? by_hook[event->hook] : 0;
    if (!known) return false;
    const ClassKey *key = &table->items.items[known - 1].key;
    *index = known - 1;
    return key->hook == event->hook && key->version == event->version &&
           key->pointer_size == event->pointer_size && key->opcode == event->opcode;
}

uint32_t class_add(ClassTable *table, const EtlEvent *event) {
    uint32_t index = 0;
    bool kernel = is_kernel(event);
    if (kernel && cached(table, table->by_hook, event, &index)) return index;
    ClassKey key;
    key_of(event, &key);
    Str schema = key.tracelogging ? event->ext.tracelogging : (Str){0};
    Str traits = event->kind == ETL_MANIFEST ? event->ext.traits : (Str){0};
    index = class_intern(table, &key, schema, traits);
    if (kernel && event->hook < 0x2000) table->by_hook[event->hook] = index + 1;
    return index;
}

void class_merge(ClassTable *table, const EventClass *from) {
    uint32_t index = class_intern(table, &from->key, from->schema, from->traits);
    EventClass *into = &table->items.items[index];
    into->events += from->events;
    into->bytes += from->bytes;
    if (from->last_ticks > into->last_ticks) into->last_ticks = from->last_ticks;
    if (from->first_ticks > into->first_ticks) return;
    if (from->first_ticks < into->first_ticks || from->first_seq < into->first_seq)
        into->first_seq = from->first_seq;
    into->first_ticks = from->first_ticks;
}

static int compare_classes(const void *a, const void *b) {
    const EventClass *x = a, *y = b;
    if (x->first_ticks != y->first_ticks) return x->first_ticks < y->first_ticks ? -1 : 1;
    if (x->first_seq != y->first_seq) return x->first_seq < y->first_seq ? -1 : 1;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

void class_sort(ClassTable *table) {
    if (!table->items.count) return;
    vec_sort(&table->items, compare_classes);
    memset(table->by_hook, 0, sizeof table->by_hook);
    table->capacity /= 2; // class_grow doubles it back and fills it anew
    class_grow(table);
}

bool class_find(const ClassTable *table, ClassCache *cache, const EtlEvent *event,
                uint32_t *index) {
    bool kernel = is_kernel(event);
    if (kernel && cached(table, cache->by_hook, event, index)) return true;
    ClassKey key;
    key_of(event, &key);
    size_t at = class_slot(table, &key, bytes_hash(&key, sizeof key, 0));
    if (!table->slots[at]) return false;
    *index = table->slots[at] - 1;
    if (kernel && event->hook < 0x2000) cache->by_hook[event->hook] = *index + 1;
    return true;
}

void class_table_done(ClassTable *table) {
    vec_free(&table->items);
    mem_free(table->slots);
    arena_done(&table->arena);
    *table = (ClassTable){0};
}
