// Event classes: one per distinct (kind, provider, id or hook, version, opcode, level, ...). The
// survey counts them, the second pass looks their number up for every event.
#ifndef DECODE_CLASS_H
#define DECODE_CLASS_H

#include "etl/etl.h"

typedef struct ClassKey { // no padding: compared and hashed as bytes
    Guid provider;
    uint64_t keyword;
    uint64_t schema_hash; // of the TraceLogging metadata; 0 for others
    uint16_t id, task, hook;
    uint8_t kind; // EtlKind
    uint8_t version, opcode, level, channel;
    uint8_t pointer_size;
    uint8_t tracelogging;
    uint8_t zero[3];
} ClassKey;

typedef struct EventClass {
    ClassKey key;
    uint64_t hash;
    uint64_t events, bytes;
    int64_t first_ticks, last_ticks;
    uint64_t first_seq;
    Str schema; // TraceLogging metadata, owned by the table
    Str traits;
} EventClass;

typedef struct ClassTable {
    VEC(EventClass) items;
    uint32_t *slots; // index + 1; 0 free
    size_t capacity;
    Arena arena;
    uint32_t by_hook[0x2000]; // last class of a kernel hook: index + 1
} ClassTable;

// Index of the event's class, added when new.
uint32_t class_add(ClassTable *table, const EtlEvent *event);
// Adds the counts of `from` (a copy of its schema is made when new).
void class_merge(ClassTable *table, const EventClass *from);
// Orders classes by first event, so that numbers do not depend on threads.
void class_sort(ClassTable *table);
// Class of an event that class_add has seen; read-only, thread-safe with own cache.
typedef struct ClassCache {
    uint32_t by_hook[0x2000];
} ClassCache;
// False when there is none: the file was read twice and changed in between.
bool class_find(const ClassTable *table, ClassCache *cache, const EtlEvent *event, uint32_t *index);
void class_table_done(ClassTable *table);

#endif
