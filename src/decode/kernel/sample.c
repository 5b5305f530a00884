// Tables of sample events.
#include "decode/tables.h"

static const ColumnDef SAMPLE_COLUMNS[] = {
    {"ts_ns",     COL_I64,  "Nanoseconds since the trace began"                                },
    {"seq",       COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"     },
    {"cpu",       COL_U16,  "Processor index of the buffer the event came from"                },
    {"upid",      COL_U32,  "Process (process.upid)"                                           },
    {"utid",      COL_U32,  "Thread (thread.utid)"                                             },
    {"address",   COL_U64,  "Instruction pointer"                                              },
    {"frame_id",  COL_U64,  "Frame of the address (frame.frame_id)"                            },
    {"stack_id",  COL_U32,  "Stack recorded with the event (stack.stack_id)"                   },
    {"weight_ns", COL_I64,  "CPU time the sample stands for: ticks times the interval in force"},
    {"ticks",     COL_U16,  "Coalesced profile interrupts (1 when recorded as 0)"              },
    {"in_dpc",    COL_BOOL, "Taken while a DPC ran"                                            },
    {"in_isr",    COL_BOOL, "Taken while an ISR ran"                                           },
    {"is_idle",   COL_BOOL, "Idle thread, neither DPC nor ISR"                                 },
    {"priority",  COL_U8,   "Thread priority; 0 before Windows 8"                              },
};

const TableDef TABLE_SAMPLE = {"sample", "One CPU sample (SampledProfile)", SAMPLE_COLUMNS,
                               COUNT_OF(SAMPLE_COLUMNS)};

static const ColumnDef SAMPLE_INTERVAL_COLUMNS[] = {
    {"ts_ns",        COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",          COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",          COL_U16,  "Processor index of the buffer the event came from"           },
    {"kind",         COL_TEXT, "start, set or end"                                           },
    {"source",       COL_U32,  "Profile source; 0 is the timer"                              },
    {"source_name",  COL_TEXT, "Name of the source"                                          },
    {"interval",     COL_U32,  "100 ns units for the timer, events per sample otherwise"     },
    {"old_interval", COL_U32,  "Interval before"                                             },
};

const TableDef TABLE_SAMPLE_INTERVAL = {"sample_interval",
                                        "One statement of a profile source's interval",
                                        SAMPLE_INTERVAL_COLUMNS, COUNT_OF(SAMPLE_INTERVAL_COLUMNS)};

static const ColumnDef PMC_SAMPLE_COLUMNS[] = {
    {"ts_ns",       COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",         COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",         COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",        COL_U32,  "Process (process.upid)"                                      },
    {"utid",        COL_U32,  "Thread (thread.utid)"                                        },
    {"address",     COL_U64,  "Instruction pointer"                                         },
    {"frame_id",    COL_U64,  "Frame of the address"                                        },
    {"stack_id",    COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
    {"source",      COL_U16,  "Profile source"                                              },
    {"source_name", COL_TEXT, "Name of the source"                                          },
};

const TableDef TABLE_PMC_SAMPLE = {"pmc_sample", "One performance-counter sample (PmcInterrupt)",
                                   PMC_SAMPLE_COLUMNS, COUNT_OF(PMC_SAMPLE_COLUMNS)};
