// Tables of memory events.
#include "decode/tables.h"

static const ColumnDef HARD_FAULT_COLUMNS[] = {
    {"ts_ns",       COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",         COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",         COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",        COL_U32,  "Process (process.upid)"                                      },
    {"utid",        COL_U32,  "Thread (thread.utid)"                                        },
    {"start_ns",    COL_I64,  "When the fault began"                                        },
    {"duration_ns", COL_I64,  "ts_ns - start_ns"                                            },
    {"address",     COL_U64,  "Faulting virtual address"                                    },
    {"offset",      COL_U64,  "Byte offset in the file"                                     },
    {"bytes",       COL_U32,  "Bytes read"                                                  },
    {"file_key",    COL_U64,  "Joins file_name.file_key"                                    },
    {"file",        COL_TEXT, "File name, when known"                                       },
    {"stack_id",    COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_HARD_FAULT = {"hard_fault", "One hard page fault, at its completion",
                                   HARD_FAULT_COLUMNS, COUNT_OF(HARD_FAULT_COLUMNS)};

static const ColumnDef PAGE_FAULT_COLUMNS[] = {
    {"ts_ns",           COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",             COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",             COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",            COL_U32,  "Process (process.upid)"                                      },
    {"utid",            COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",            COL_TEXT,
     "transition, demand_zero, copy_on_write, guard_page, hard or access_violation"             },
    {"address",         COL_U64,  "Virtual address"                                             },
    {"program_counter", COL_U64,  "Instruction"                                                 },
    {"frame_id",        COL_U64,  "Frame of the instruction"                                    },
    {"stack_id",        COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_PAGE_FAULT = {"page_fault", "One soft page fault or access violation",
                                   PAGE_FAULT_COLUMNS, COUNT_OF(PAGE_FAULT_COLUMNS)};

static const ColumnDef VIRTUAL_ALLOC_COLUMNS[] = {
    {"ts_ns",        COL_I64,  "Nanoseconds since the trace began"                             },
    {"seq",          COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"  },
    {"cpu",          COL_U16,  "Processor index of the buffer the event came from"             },
    {"upid",         COL_U32,  "Process (process.upid)"                                        },
    {"utid",         COL_U32,  "Thread (thread.utid)"                                          },
    {"kind",         COL_TEXT, "alloc, free, rundown_start or rundown_end"                     },
    {"base",         COL_U64,  "Base address"                                                  },
    {"bytes",        COL_U64,  "Size of the region"                                            },
    {"flags",        COL_U32,  "0x1000 commit, 0x2000 reserve, 0x4000 decommit, 0x8000 release"},
    {"commit_bytes", COL_U64,  "Committed bytes (rundown)"                                     },
    {"stack_id",     COL_U32,  "Stack recorded with the event (stack.stack_id)"                },
};

const TableDef TABLE_VIRTUAL_ALLOC = {"virtual_alloc", "One virtual memory allocation or release",
                                      VIRTUAL_ALLOC_COLUMNS, COUNT_OF(VIRTUAL_ALLOC_COLUMNS)};
