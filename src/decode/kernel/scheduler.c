// Tables of scheduler events.
#include "decode/tables.h"

static const ColumnDef CONTEXT_SWITCH_COLUMNS[] = {
    {"ts_ns",            COL_I64, "Nanoseconds since the trace began"                           },
    {"seq",              COL_U64, "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",              COL_U16, "Processor index of the buffer the event came from"           },
    {"new_utid",         COL_U32, "Thread switched in (thread.utid)"                            },
    {"old_utid",         COL_U32, "Thread switched out"                                         },
    {"new_tid",          COL_U32, "Its thread id; 0 is idle"                                    },
    {"old_tid",          COL_U32, "Its thread id; 0 is idle"                                    },
    {"new_priority",     COL_I32, "Priority of the new thread"                                  },
    {"old_priority",     COL_I32, "Priority of the old thread"                                  },
    {"old_state",        COL_U8,  "State the old thread goes to; 5 is waiting"                  },
    {"old_wait_reason",  COL_U8,  "KWAIT_REASON of the old thread"                              },
    {"old_wait_mode",    COL_U8,  "0 kernel, 1 user"                                            },
    {"previous_c_state", COL_U8,  "C-state left, when the old thread is idle"                   },
    {"new_wait_ticks",   COL_U32, "Clock ticks the new thread waited"                           },
    {"ideal_cpu",        COL_U8,  "Ideal processor of the old thread"                           },
    {"stack_id",         COL_U32, "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_CONTEXT_SWITCH = {"context_switch",
                                       "One context switch: old thread out, new thread in",
                                       CONTEXT_SWITCH_COLUMNS, COUNT_OF(CONTEXT_SWITCH_COLUMNS)};

static const ColumnDef READY_THREAD_COLUMNS[] = {
    {"ts_ns",            COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",              COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",              COL_U16,  "Processor index of the buffer the event came from"           },
    {"utid",             COL_U32,  "Thread made ready (thread.utid)"                             },
    {"tid",              COL_U32,  "Its thread id"                                               },
    {"waker_utid",       COL_U32,  "Thread that readied it; NULL in a DPC or when unknown"       },
    {"adjust_reason",    COL_U8,   "0 none, 1 unwait, 2 boost"                                   },
    {"adjust_increment", COL_I32,  "Priority boost"                                              },
    {"flags",            COL_U8,
     "1 in a DPC, 2 kernel stack not resident, 4 process swapped out, 8 direct switch"           },
    {"in_dpc",           COL_BOOL, "Readied by a DPC"                                            },
    {"stack_id",         COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_READY_THREAD = {"ready_thread", "One thread made ready to run",
                                     READY_THREAD_COLUMNS, COUNT_OF(READY_THREAD_COLUMNS)};
