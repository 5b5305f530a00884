// Rows of the tables that are facts about the whole trace, written after all events.
#ifndef DECODE_ENTITY_ROWS_H
#define DECODE_ENTITY_ROWS_H

#include "base/map.h"
#include "decode/world.h"

// What the second pass counted.
typedef struct EntityFacts {
    uint64_t rows[TABLE_COUNT];
    uint64_t *class_stacks; // per class index
    uint64_t stacks_taken, short_payloads;
    Map frames; // keys: frame ids that rows refer to, those of stack_rows() included
    // Filled by entity_rows():
    int64_t duration_ns;
    uint64_t data_loss_issues;
} EntityFacts;

// The tree of stacks, which rests on nothing but the world; its frames are added to `frames`.
void stack_rows(const World *world, Rows *rows, Map *frames);
void entity_rows(const World *world, EtlFile *file, Str file_name, EntityFacts *facts, Rows *rows);

#endif
