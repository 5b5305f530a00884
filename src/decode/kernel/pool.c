// Tables of pool events.
#include "decode/tables.h"

static const ColumnDef POOL_EVENT_COLUMNS[] = {
    {"ts_ns",      COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",        COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",        COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",       COL_U32,  "Process (process.upid)"                                      },
    {"utid",       COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",       COL_TEXT, "alloc or free"                                               },
    {"tag",        COL_TEXT, "Pool tag, four characters"                                   },
    {"pool_type",  COL_U32,  "POOL_TYPE as recorded"                                       },
    {"bytes",      COL_U64,  "Size"                                                        },
    {"address",    COL_U64,  "Address of the block"                                        },
    {"session_id", COL_U32,  "Session (session pool)"                                      },
    {"stack_id",   COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_POOL_EVENT = {"pool_event", "One kernel pool allocation or free",
                                   POOL_EVENT_COLUMNS, COUNT_OF(POOL_EVENT_COLUMNS)};
