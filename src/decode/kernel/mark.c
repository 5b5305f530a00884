// Tables of mark events.
#include "decode/tables.h"

static const ColumnDef MARK_COLUMNS[] = {
    {"ts_ns", COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",   COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",   COL_U16,  "Processor index of the buffer the event came from"           },
    {"text",  COL_TEXT, "Text of the mark"                                            },
};

const TableDef TABLE_MARK = {"mark", "One mark that a user put into the trace", MARK_COLUMNS,
                             COUNT_OF(MARK_COLUMNS)};
