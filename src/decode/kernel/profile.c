// The rest of the profiling events (groups 0F and 0C): performance counters, their names and
// values, sampling rates of locks, debuggers, tracing of calls; compact context switches.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef PMC_COUNTER_COLUMNS[] = {
    {"ts_ns",   COL_I64,  "Nanoseconds since the trace began"                            },
    {"seq",     COL_U64,
     "Breaks ties of ts_ns; with it, names the row of the event the value came with"     },
    {"cpu",     COL_U16,  "Processor index of the buffer the event came from"            },
    {"upid",    COL_U32,  "Process of the thread that ran on the CPU"                    },
    {"utid",    COL_U32,  "Thread that ran on the CPU (at a switch: the one that leaves)"},
    {"event",   COL_TEXT, "Name of the event: Thread/CSwitch, PerfInfo/Sample ..."       },
    {"counter", COL_U32,  "Number of the counter in its event, from 0"                   },
    {"name",    COL_TEXT, "Name of the counter, where the trace states it"               },
    {"value",   COL_U64,  "Value of the CPU's counter at that time"                      },
};

const TableDef TABLE_PMC_COUNTER = {"pmc_counter",
                                    "One value of a performance counter, recorded with an event",
                                    PMC_COUNTER_COLUMNS, COUNT_OF(PMC_COUNTER_COLUMNS)};

void decoder_counters(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Rd r = rd_from_str(event->extras);
    uint32_t utid = decoder->running_tid == ETL_NO_ID
                        ? 0
                        : world_thread(decoder->world, decoder->running_tid, event->ticks);
    for (uint32_t i = 0; i < event->counters && rd_left(&r) >= 8; i++) {
        NoteList names = world_notes(decoder->world, NOTE_COUNTER, i);
        const Note *name = note_before(names, event->ticks, decoder->seq);
        if (!name) name = note_after(names, event->ticks, decoder->seq);
        Row row = decoder_row(decoder, T_PMC_COUNTER, event);
        put_who(&row, decoder, utid);
        put_text(&row, spec ? str_from_c(spec->name) : (Str){0});
        put_u32(&row, i);
        put_text(&row, name ? name->text : (Str){0});
        put_u64(&row, rd_u64(&r));
        row_end(&row);
    }
}

enum CountSlot { C_COUNT = 1 };
enum { HOOK_COUNTER_CONFIG = 0x0F30 };
static const Field COUNTER_CONFIG[] = {
    {"CounterCount", F_U32,  C_COUNT, 0                      },
    {"CounterName",  F_WSTR, 0,       FIELD_COUNTED | C_COUNT},
};

// Names of the counters by their number.
static void note_counters(Notes *notes, const Note *blank, const EtlEvent *event,
                          const EventSpec *spec) {
    (void)spec;
    Rd r = rd_from_str(event->payload);
    uint32_t count = rd_u32(&r);
    for (uint32_t i = 0; i < count && rd_left(&r) >= 2; i++) {
        Note note = *blank;
        note.key = i;
        note.text = rd_wstr(&r, &notes->text);
        notes_push(notes, NOTE_COUNTER, &note);
    }
}

static const Field COUNTER_CORRUPTION[] = {
    {"ProcessorNumber", F_U32,   0,       0                      },
    {"CounterCount",    F_U32,   C_COUNT, 0                      },
    {"CounterStatus",   F_HEX32, 0,       FIELD_COUNTED | C_COUNT},
};
static const Field DEBUGGER_ENABLED[] = {
    {"State", F_U8, 0, FIELD_OPTIONAL}, // one byte of unpublished meaning, where there is one
};
#define SPINLOCK_RATES                                                                             \
    {"SpinLockSpinThreshold", F_U32, 0, 0}, {"SpinLockContentionSampleRate", F_U32, 0, 0}, {       \
        "SpinLockAcquireSampleRate", F_U32, 0, 0                                                   \
    }
static const Field SPINLOCK_RATES_V2[] = {SPINLOCK_RATES};
static const Field SPINLOCK_RATES_V3[] = {
    SPINLOCK_RATES,
    {"SpinLockHoldThreshold", F_U32, 0, 0},
};
static const Field RESOURCE_RATES[] = {
    {"ReleaseSamplingRate",       F_U32, 0, 0},
    {"ContentionSamplingRate",    F_U32, 0, 0},
    {"NumberOfExcessiveTimeouts", F_U32, 0, 0},
};
static const Field LAST_BRANCHES[] = {
    {"EventTimeStamp", F_TIME,  0, 0         },
    {"ProcessId",      F_U32,   0, 0         },
    {"ThreadId",       F_U32,   0, 0         },
    {"Filter",         F_HEX32, 0, 0         },
    {"Branches",       F_PTR,   0, FIELD_REST}, // from, to, reserved
};
// How a packet encodes the old thread's state and wait reason is not published, so these switches
// make no rows: what is known is shown.
static const Field COMPACT_SWITCHES[] = {
    {"FirstTimeStamp", F_TIME,  0, 0         },
    {"ThreadIds",      F_U32,   0, 16        },
    {"BasePriorities", F_I8,    0, 16        },
    {"Packets",        F_BYTES, 0, FIELD_REST},
};

static const EventSpec PROFILE_SPECS[] = {
    SPEC_NAME(0x0F20, "PerfInfo/RundownCheckpoint"),
    SPEC_NAME(0x0F26, "PerfInfo/ImageName"),
    SPEC_NAME(0x0F27, "PerfInfo/DelayCcCanIWrite"),
    {HOOK_COUNTER_CONFIG, 0, 255, "PerfInfo/PmcCounterConfig", COUNTER_CONFIG,
                                           COUNT_OF(COUNTER_CONFIG), SPEC_NOTE | SPEC_NO_STACK, T_EVENT_DATA, NULL},
    SPEC_RAW(0x0F31, 0, 255, "PerfInfo/PmcCounterCorruption", COUNTER_CORRUPTION),
    SPEC_NAME(0x0F35, "PerfInfo/Backtrace"),
    SPEC_NAME(0x0F36, "PerfInfo/BacktraceUserStack"),
    SPEC_NAME(0x0F38, "PerfInfo/ExceptionStack"),
    SPEC_NAME(0x0F39, "PerfInfo/BranchTrace"),
    SPEC_RAW(0x0F3A, 0, 255, "PerfInfo/DebuggerEnabled", DEBUGGER_ENABLED),
    SPEC_NAME(0x0F3B, "PerfInfo/DebuggerExit"),
    SPEC_NAME(0x0F40, "PerfInfo/BranchTraceDebug"),
    SPEC_NAME(0x0F41, "PerfInfo/BranchAddressDebug"),
    SPEC_RAW(0x0F4B, 2, 2, "PerfInfo/SpinLockDCStart", SPINLOCK_RATES_V2),
    SPEC_RAW(0x0F4B, 3, 3, "PerfInfo/SpinLockDCStart", SPINLOCK_RATES_V3),
    SPEC_RAW(0x0F4C, 2, 2, "PerfInfo/SpinLockDCEnd", SPINLOCK_RATES_V2),
    SPEC_RAW(0x0F4C, 3, 3, "PerfInfo/SpinLockDCEnd", SPINLOCK_RATES_V3),
    SPEC_RAW(0x0F4D, 0, 255, "PerfInfo/ResourceDCStart", RESOURCE_RATES),
    SPEC_RAW(0x0F4E, 0, 255, "PerfInfo/ResourceDCEnd", RESOURCE_RATES),
    SPEC_NAME(0x0F80, "PerfInfo/FunctionCall"),
    SPEC_NAME(0x0F81, "PerfInfo/FunctionReturn"),
    SPEC_NAME(0x0F82, "PerfInfo/FunctionEnter"),
    SPEC_NAME(0x0F83, "PerfInfo/FunctionExit"),
    SPEC_NAME(0x0F84, "PerfInfo/TailCall"),
    SPEC_NAME(0x0F85, "PerfInfo/Trap"),
    SPEC_NAME(0x0F86, "PerfInfo/SpinLockAcquire"),
    SPEC_NAME(0x0F87, "PerfInfo/SpinLockRelease"),
    SPEC_NAME(0x0F88, "PerfInfo/CapComment"),
    SPEC_NAME(0x0F89, "PerfInfo/CapRundown"),
    SPEC_RAW(0x0C20, 0, 255, "LastBranch/Record", LAST_BRANCHES),
    SPEC_RAW(0x0525, 0, 255, "Thread/CompactCSwitch", COMPACT_SWITCHES),
};
const SpecFamily FAMILY_PROFILE = {PROFILE_SPECS, COUNT_OF(PROFILE_SPECS), note_counters};
