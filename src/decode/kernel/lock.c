// Tables of lock events.
#include "decode/tables.h"

static const ColumnDef LOCK_EVENT_COLUMNS[] = {
    {"ts_ns",       COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",         COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",         COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",        COL_U32,  "Process (process.upid)"                                      },
    {"utid",        COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",        COL_TEXT, "spinlock, resource, pushlock, wait_single ..."               },
    {"lock",        COL_U64,  "Address of the lock"                                         },
    {"caller",      COL_U64,  "Caller's address (spinlock)"                                 },
    {"frame_id",    COL_U64,  "Frame of the caller"                                         },
    {"acquire_ns",  COL_I64,  "When it was acquired"                                        },
    {"release_ns",  COL_I64,  "When it was released"                                        },
    {"wait_cycles", COL_U32,  "CPU cycles spent waiting"                                    },
    {"spin_count",  COL_U32,  "Spins"                                                       },
    {"irql",        COL_U8,   "IRQL"                                                        },
    {"action",      COL_U32,  "Action code (resource, pushlock)"                            },
    {"flags",       COL_U32,  "Acquire mode and context"                                    },
    {"depth",       COL_U32,  "Recursion depth"                                             },
    {"hold_ticks",  COL_U64,  "Hold time as recorded (resource)"                            },
    {"wait_ticks",  COL_U64,  "Wait time as recorded (resource)"                            },
    {"stack_id",    COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_LOCK_EVENT = {"lock_event", "One spinlock, resource or pushlock event",
                                   LOCK_EVENT_COLUMNS, COUNT_OF(LOCK_EVENT_COLUMNS)};
