// Process events (group 03): lives of processes and their memory counters.
// Layouts: docs/formats/etl.md, Process.
#include "decode/entities.h"
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef PROCESS_COUNTER_COLUMNS[] = {
    EVENT_COLUMNS,
    {"upid",                     COL_U32,  "Process"                  },
    {"kind",                     COL_TEXT, "end or rundown"           },
    {"pid",                      COL_U32,  "Process id"               },
    {"page_faults",              COL_U32,  "Page faults"              },
    {"handles",                  COL_U32,  "Open handles"             },
    {"peak_virtual_bytes",       COL_U64,  "Peak virtual size"        },
    {"peak_working_set_bytes",   COL_U64,  "Peak working set"         },
    {"peak_pagefile_bytes",      COL_U64,  "Peak page file use"       },
    {"peak_paged_pool_bytes",    COL_U64,  "Peak paged pool quota"    },
    {"peak_nonpaged_pool_bytes", COL_U64,  "Peak non-paged pool quota"},
    {"virtual_bytes",            COL_U64,  "Virtual size"             },
    {"working_set_bytes",        COL_U64,  "Working set"              },
    {"pagefile_bytes",           COL_U64,  "Page file use"            },
    {"paged_pool_bytes",         COL_U64,  "Paged pool quota"         },
    {"nonpaged_pool_bytes",      COL_U64,  "Non-paged pool quota"     },
    {"private_bytes",            COL_U64,  "Private pages, in bytes"  },
};

const TableDef TABLE_PROCESS_COUNTER = {"process_counter",
                                        "Memory counters of a process at its end or at rundown",
                                        PROCESS_COUNTER_COLUMNS, COUNT_OF(PROCESS_COUNTER_COLUMNS)};

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
        {"ParentId", F_U32, P_PARENT, 0}, {"SessionId", F_I32, P_SESSION, 0}, {                    \
        "ExitStatus", F_I32, P_EXIT, 0                                                             \
    }
#define PROCESS_V2_TAIL                                                                            \
    {"UserSID", F_SID, P_SID, 0}, {"ImageFileName", F_ASTR, P_IMAGE, 0}, {                         \
        "CommandLine", F_WSTR, P_COMMAND, 0                                                        \
    }
#define PROCESS_V4_FIELDS                                                                          \
    PROCESS_V2_HEAD, {"DirectoryTableBase", F_PTR, P_TABLE_BASE, 0},                               \
        {"Flags", F_HEX32, P_FLAGS, 0}, PROCESS_V2_TAIL,                                           \
        {"PackageFullName", F_WSTR, P_PACKAGE, 0}, {                                               \
        "ApplicationId", F_WSTR, P_APPLICATION, 0                                                  \
    }
static const Field PROCESS_V2[] = {PROCESS_V2_HEAD, PROCESS_V2_TAIL};
static const Field PROCESS_V3[] = {
    PROCESS_V2_HEAD, {"DirectoryTableBase", F_PTR, P_TABLE_BASE, 0},
     PROCESS_V2_TAIL
};
static const Field PROCESS_V4[] = {PROCESS_V4_FIELDS};
static const Field PROCESS_V5[] = {
    PROCESS_V4_FIELDS, {"ExitTime", F_FILETIME, P_EXIT_TIME, 0}
};

enum CounterSlot { PC_PID = 1, PC_FAULTS, PC_HANDLES, PC_FIRST_SIZE };
enum { COUNTER_SIZES = 11 };
static const Field COUNTERS[] = {
    {"ProcessId",                  F_U32,  PC_PID,             0},
    {"PageFaultCount",             F_U32,  PC_FAULTS,          0},
    {"HandleCount",                F_U32,  PC_HANDLES,         0},
    {"Reserved",                   F_U32,  0,                  0},
    {"PeakVirtualSize",            F_SIZE, PC_FIRST_SIZE,      0},
    {"PeakWorkingSetSize",         F_SIZE, PC_FIRST_SIZE + 1,  0},
    {"PeakPagefileUsage",          F_SIZE, PC_FIRST_SIZE + 2,  0},
    {"QuotaPeakPagedPoolUsage",    F_SIZE, PC_FIRST_SIZE + 3,  0},
    {"QuotaPeakNonPagedPoolUsage", F_SIZE, PC_FIRST_SIZE + 4,  0},
    {"VirtualSize",                F_SIZE, PC_FIRST_SIZE + 5,  0},
    {"WorkingSetSize",             F_SIZE, PC_FIRST_SIZE + 6,  0},
    {"PagefileUsage",              F_SIZE, PC_FIRST_SIZE + 7,  0},
    {"QuotaPagedPoolUsage",        F_SIZE, PC_FIRST_SIZE + 8,  0},
    {"QuotaNonPagedPoolUsage",     F_SIZE, PC_FIRST_SIZE + 9,  0},
    {"PrivatePageCount",           F_SIZE, PC_FIRST_SIZE + 10, 0},
};

static void emit_counters(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    (void)spec_read(spec, event, &v);
    uint32_t pid = (uint32_t)v.at[PC_PID].u;
    Row row = decoder_row(decoder, T_PROCESS_COUNTER, event);
    put_id(&row, world_process(decoder->world, pid, event->ticks));
    put_text(&row, event->hook == 0x0320 ? STR("end") : STR("rundown"));
    put_u32(&row, pid);
    put_u32_if(&row, value_has(&v, PC_FAULTS), (uint32_t)v.at[PC_FAULTS].u);
    put_u32_if(&row, value_has(&v, PC_HANDLES), (uint32_t)v.at[PC_HANDLES].u);
    for (unsigned i = PC_FIRST_SIZE; i < PC_FIRST_SIZE + COUNTER_SIZES; i++)
        put_u64_if(&row, value_has(&v, i), v.at[i].u);
    row_end(&row);
}

#define LIFE(hook, name, extra)                                                                     \
    {hook, 0, 0, name, PROCESS_V0, COUNT_OF(PROCESS_V0), SPEC_KEEP | (extra), T_PROCESS, NULL},     \
        {hook, 1, 1, name, PROCESS_V1, COUNT_OF(PROCESS_V1), SPEC_KEEP | (extra), T_PROCESS, NULL}, \
        {hook, 2, 2, name, PROCESS_V2, COUNT_OF(PROCESS_V2), SPEC_KEEP | (extra), T_PROCESS, NULL}, \
        {hook, 3, 3, name, PROCESS_V3, COUNT_OF(PROCESS_V3), SPEC_KEEP | (extra), T_PROCESS, NULL}, \
    {                                                                                               \
        hook, 4, 4, name, PROCESS_V4, COUNT_OF(PROCESS_V4), SPEC_KEEP | (extra), T_PROCESS, NULL    \
    }

static const EventSpec PROCESS_SPECS[] = {
    LIFE(HOOK_PROCESS_START, "Process/Start", 0),
    LIFE(HOOK_PROCESS_END, "Process/End", 0),
    LIFE(HOOK_PROCESS_DCSTART, "Process/DCStart", SPEC_NO_STACK),
    LIFE(HOOK_PROCESS_DCEND, "Process/DCEnd", SPEC_NO_STACK),
    LIFE(HOOK_PROCESS_DEFUNCT, "Process/Defunct", SPEC_NO_STACK),
    {HOOK_PROCESS_DEFUNCT, 5, 5, "Process/Defunct",        PROCESS_V5, COUNT_OF(PROCESS_V5),
                                                              SPEC_KEEP | SPEC_NO_STACK,                                                                             T_PROCESS,         NULL         },
    {0x0320,               2, 2, "Process/PerfCtr",        COUNTERS,   COUNT_OF(COUNTERS),   0,             T_PROCESS_COUNTER,
                                                              emit_counters                                                                                                                          },
    {0x0321,               2, 2, "Process/PerfCtrRundown", COUNTERS,   COUNT_OF(COUNTERS),   SPEC_NO_STACK,
                                                              T_PROCESS_COUNTER,                                                                                                        emit_counters},
};
const SpecFamily FAMILY_PROCESS = {PROCESS_SPECS, COUNT_OF(PROCESS_SPECS), NULL};
