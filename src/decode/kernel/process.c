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

enum {
    P_KEY = 1,
    P_PID,
    P_PARENT,
    P_SESSION,
    P_EXIT,
    P_TABLE_BASE,
    P_FLAGS,
    P_SID,
    P_IMAGE,
    P_COMMAND,
    P_PACKAGE,
    P_APPLICATION,
    P_EXIT_TIME,
};

static const Field PROCESS_V0[] = {
    {"ProcessId",     F_PTR,  P_PID,    0},
    {"ParentId",      F_PTR,  P_PARENT, 0},
    {"UserSID",       F_SID,  P_SID,    0},
    {"ImageFileName", F_ASTR, P_IMAGE,  0},
};
static const Field PROCESS_V1[] = {
    {"PageDirectoryBase", F_PTR,  P_TABLE_BASE, 0},
    {"ProcessId",         F_U32,  P_PID,        0},
    {"ParentId",          F_U32,  P_PARENT,     0},
    {"SessionId",         F_I32,  P_SESSION,    0},
    {"ExitStatus",        F_I32,  P_EXIT,       0},
    {"UserSID",           F_SID,  P_SID,        0},
    {"ImageFileName",     F_ASTR, P_IMAGE,      0},
};
#define PROCESS_V2_HEAD                                                                            \
    {"UniqueProcessKey", F_PTR, P_KEY, 0}, {"ProcessId", F_U32, P_PID, 0},                         \
        {"ParentId", F_U32, P_PARENT, 0}, {"SessionId", F_I32, P_SESSION, 0},                      \
        {"ExitStatus", F_I32, P_EXIT, 0}
#define PROCESS_V2_TAIL                                                                            \
    {"UserSID", F_SID, P_SID, 0}, {"ImageFileName", F_ASTR, P_IMAGE, 0},                           \
        {"CommandLine", F_WSTR, P_COMMAND, 0}
#define PROCESS_V4_FIELDS                                                                          \
    PROCESS_V2_HEAD, {"DirectoryTableBase", F_PTR, P_TABLE_BASE, 0},                               \
        {"Flags", F_HEX32, P_FLAGS, 0}, PROCESS_V2_TAIL,                                           \
        {"PackageFullName", F_WSTR, P_PACKAGE, 0}, {"ApplicationId", F_WSTR, P_APPLICATION, 0}
static const Field PROCESS_V2[] = {PROCESS_V2_HEAD, PROCESS_V2_TAIL};
static const Field PROCESS_V3[] = {
    PROCESS_V2_HEAD, {"DirectoryTableBase", F_PTR, P_TABLE_BASE, 0}, PROCESS_V2_TAIL};
static const Field PROCESS_V4[] = {PROCESS_V4_FIELDS};
static const Field PROCESS_V5[] = {PROCESS_V4_FIELDS, {"ExitTime", F_FILETIME, P_EXIT_TIME, 0}};
