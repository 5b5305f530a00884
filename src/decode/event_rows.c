// Tables of event_rows events.
#include "decode/tables.h"

static const ColumnDef EVENT_DATA_COLUMNS[] = {
    {"ts_ns",               COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",                 COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",                 COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",                COL_U32,  "Process (process.upid)"                                      },
    {"utid",                COL_U32,  "Thread (thread.utid)"                                        },
    {"class_id",            COL_U32,  "Kind (event_class.class_id)"                                 },
    {"pid",                 COL_U32,  "Process id in the header"                                    },
    {"tid",                 COL_U32,  "Thread id in the header"                                     },
    {"activity_id",         COL_GUID, "Activity"                                                    },
    {"related_activity_id", COL_GUID, "Related activity"                                            },
    {"stack_id",            COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
    {"payload",             COL_BLOB, "Payload as recorded"                                         },
};

const TableDef TABLE_EVENT_DATA = {"event_data",
                                   "One event without a typed table (use the view `event`)",
                                   EVENT_DATA_COLUMNS, COUNT_OF(EVENT_DATA_COLUMNS)};
