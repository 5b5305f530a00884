// Tables of registry events.
#include "decode/tables.h"

static const ColumnDef REGISTRY_EVENT_COLUMNS[] = {
    {"ts_ns",       COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",         COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",         COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",        COL_U32,  "Process (process.upid)"                                      },
    {"utid",        COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",        COL_TEXT, "create, open, delete, query, set_value ..."                  },
    {"start_ns",    COL_I64,  "When it began"                                               },
    {"duration_ns", COL_I64,  "ts_ns - start_ns"                                            },
    {"status",      COL_U32,  "NTSTATUS"                                                    },
    {"index",       COL_U32,  "Index (enumeration)"                                         },
    {"key_handle",  COL_U64,  "Key control block"                                           },
    {"name",        COL_TEXT, "Name relative to the key"                                    },
    {"path",        COL_TEXT, "Full path, when the key control block is known"              },
    {"stack_id",    COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_REGISTRY_EVENT = {"registry_event", "One registry operation",
                                       REGISTRY_EVENT_COLUMNS, COUNT_OF(REGISTRY_EVENT_COLUMNS)};
