// Columns that every event without a layout of its own starts with, captured frames included.
#ifndef DECODE_EVENT_ROWS_H
#define DECODE_EVENT_ROWS_H

#include "decode/decoder.h"
#include "decode/tables.h"

// clang-format off
#define PLAIN_EVENT_COLUMNS                                                                        \
    EVENT_COLUMNS, WHO_COLUMNS,                                                                    \
    {"class_id",            COL_U32,  "Kind (event_class.class_id)"},                              \
    {"pid",                 COL_U32,  "Process id in the header"},                                 \
    {"tid",                 COL_U32,  "Thread id in the header"},                                  \
    {"activity_id",         COL_GUID, "Activity"},                                                 \
    {"related_activity_id", COL_GUID, "Related activity"},                                         \
    STACK_COLUMN,                                                                                  \
    {"payload",             COL_BLOB, "Payload as recorded"}
// clang-format on

typedef struct EventRow {
    uint32_t class_id, stack_id;
} EventRow;

// Begins a row of a table that starts with PLAIN_EVENT_COLUMNS and puts these.
Row event_row_begin(Decoder *decoder, TableId table, const EtlEvent *event, EventRow of);

#endif
