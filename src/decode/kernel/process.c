// Tables of process events.
#include "decode/tables.h"

static const ColumnDef PROCESS_COUNTER_COLUMNS[] = {
    {"ts_ns",                    COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",                      COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",                      COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",                     COL_U32,  "Process"                                                     },
    {"kind",                     COL_TEXT, "end or rundown"                                              },
    {"pid",                      COL_U32,  "Process id"                                                  },
    {"page_faults",              COL_U32,  "Page faults"                                                 },
    {"handles",                  COL_U32,  "Open handles"                                                },
    {"peak_virtual_bytes",       COL_U64,  "Peak virtual size"                                           },
    {"peak_working_set_bytes",   COL_U64,  "Peak working set"                                            },
    {"peak_pagefile_bytes",      COL_U64,  "Peak page file use"                                          },
    {"peak_paged_pool_bytes",    COL_U64,  "Peak paged pool quota"                                       },
    {"peak_nonpaged_pool_bytes", COL_U64,  "Peak non-paged pool quota"                                   },
    {"virtual_bytes",            COL_U64,  "Virtual size"                                                },
    {"working_set_bytes",        COL_U64,  "Working set"                                                 },
    {"pagefile_bytes",           COL_U64,  "Page file use"                                               },
    {"paged_pool_bytes",         COL_U64,  "Paged pool quota"                                            },
    {"nonpaged_pool_bytes",      COL_U64,  "Non-paged pool quota"                                        },
    {"private_bytes",            COL_U64,  "Private pages, in bytes"                                     },
};

const TableDef TABLE_PROCESS_COUNTER = {"process_counter",
                                        "Memory counters of a process at its end or at rundown",
                                        PROCESS_COUNTER_COLUMNS, COUNT_OF(PROCESS_COUNTER_COLUMNS)};
