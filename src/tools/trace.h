// One trace known to the engine: its identity, its load, its open database.
#ifndef TOOLS_TRACE_H
#define TOOLS_TRACE_H

#include "store/store.h"

// What every tool wants to know, read once when the database is opened.
typedef struct TraceFacts {
    int64_t duration_ns;
    uint64_t events, events_lost, buffers_lost;
    int64_t cpu_count;
    uint64_t tables, rows; // of the database: tables with rows, and their rows
    Str loss_note;         // empty: nothing was lost and nothing damaged
} TraceFacts;

Status trace_facts_read(Database *database, Arena *arena, TraceFacts *out, Err *err);

#endif
