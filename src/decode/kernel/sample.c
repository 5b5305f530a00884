// CPU samples, their interval, performance-counter samples (group 0F).
#include "decode/entities.h"
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef SAMPLE_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"address",   COL_U64,  "Instruction pointer"                                              },
    {"frame_id",  COL_U64,  "Frame of the address (frame.frame_id)"                            },
    STACK_COLUMN,
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
    EVENT_COLUMNS,
    {"kind",         COL_TEXT, "start, set or end"                                      },
    {"source",       COL_U32,  "Profile source; 0 is the timer"                         },
    {"source_name",  COL_TEXT, "Name of the source"                                     },
    {"interval",     COL_U32,  "100 ns units for the timer, events per sample otherwise"},
    {"old_interval", COL_U32,  "Interval before"                                        },
};

const TableDef TABLE_SAMPLE_INTERVAL = {"sample_interval",
                                        "One statement of a profile source's interval",
                                        SAMPLE_INTERVAL_COLUMNS, COUNT_OF(SAMPLE_INTERVAL_COLUMNS)};

static const ColumnDef PMC_SAMPLE_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"address",     COL_U64,  "Instruction pointer" },
    {"frame_id",    COL_U64,  "Frame of the address"},
    STACK_COLUMN,
    {"source",      COL_U16,  "Profile source"      },
    {"source_name", COL_TEXT, "Name of the source"  },
};

const TableDef TABLE_PMC_SAMPLE = {"pmc_sample", "One performance-counter sample (PmcInterrupt)",
                                   PMC_SAMPLE_COLUMNS, COUNT_OF(PMC_SAMPLE_COLUMNS)};

enum SampleSlot { S_IP = 1, S_TID, S_COUNT, S_FLAGS, S_RANK, S_SOURCE };

#define SAMPLE_HEAD                                                                                \
    {"InstructionPointer", F_PTR, S_IP, 0}, {                                                      \
        "ThreadId", F_U32, S_TID, 0                                                                \
    }
static const Field SAMPLE_V1[] = {
    SAMPLE_HEAD, {"Count", F_U16, S_COUNT, 0}
};
// The upper half of what old headers call Reserved holds flags and priority: never read Count as
// u32.
static const Field SAMPLE_V2[] = {
    SAMPLE_HEAD,
    {"Count", F_U16, S_COUNT, 0},
    {"Flags", F_U8,  S_FLAGS, 0},
    {"Rank",  F_U8,  S_RANK,  0},
};
static const Field PMC_SAMPLE[] = {
    SAMPLE_HEAD,
    {"ProfileSource", F_U16, S_SOURCE, 0},
    {"Reserved",      F_U16, 0,        0},
};
static const Field SAMPLE_CACHE[] = {
    {"Entries", F_U32,   0, 0         },
    {"Samples", F_HEX32, 0, FIELD_REST},
};

typedef struct Sample {
    uint64_t address;
    uint32_t tid;
    uint16_t ticks;
    uint8_t flags;
} Sample;

static void sample_row(Decoder *decoder, const EtlEvent *event, const Sample *sample) {
    enum { IN_DPC = 1, IN_ISR = 2 };
    bool assumed = false;
    int64_t interval_ns = world_sample_interval_ns(decoder->world, event->ticks, &assumed);
    uint32_t utid = decoder_thread(decoder, event, sample->tid);
    uint16_t ticks = sample->ticks ? sample->ticks : 1;
    bool busy = sample->flags & (IN_DPC | IN_ISR);
    Row row = decoder_row(decoder, T_SAMPLE, event);
    put_who(&row, decoder, utid);
    put_u64(&row, sample->address);
    put_frame(&row, decoder_frame(decoder, utid, sample->address, event->ticks));
    put_id(&row, decoder_stack(decoder, event, sample->tid));
    put_i64(&row, interval_ns * ticks);
    put_u16(&row, ticks);
    put_bool(&row, sample->flags & IN_DPC);
    put_bool(&row, sample->flags & IN_ISR);
    put_bool(&row, sample->tid == 0 && !busy);
    put_u8(&row, sample->flags >> 3);
    row_end(&row);
}

static Sample read_sample(Rd *r, unsigned pointer_size) {
    Sample sample = {.address = rd_ptr(r, pointer_size)};
    sample.tid = rd_u32(r);
    sample.ticks = rd_u16(r);
    if (rd_left(r)) sample.flags = rd_u8(r);
    if (rd_left(r)) rd_skip(r, 1);
    return sample;
}

static void emit_sample(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    (void)spec;
    Rd r = rd_from_str(event->payload);
    Sample sample = read_sample(&r, event->pointer_size);
    if (rd_ok(&r))
        sample_row(decoder, event, &sample);
    else
        decoder->short_payloads++;
}

// A batch of samples in one event; it has one time, so the samples share it.
static void emit_sample_cache(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    (void)spec;
    Rd r = rd_from_str(event->payload);
    uint32_t entries = rd_u32(&r);
    size_t size = event->pointer_size == 8 ? 16 : 12;
    // On 64-bit systems the entries are 8-byte aligned behind the count.
    if (event->pointer_size == 8 && rd_left(&r) % size == 4) rd_skip(&r, 4);
    for (uint32_t i = 0; i < entries && rd_left(&r) >= size; i++) {
        Rd entry = rd_sub(&r, size);
        Sample sample = read_sample(&entry, event->pointer_size);
        sample_row(decoder, event, &sample);
    }
}

static void emit_pmc_sample(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < 3) {
        decoder->short_payloads++;
        return;
    }
    uint32_t tid = (uint32_t)v.at[S_TID].u;
    uint32_t utid = decoder_thread(decoder, event, tid);
    Row row = decoder_row(decoder, T_PMC_SAMPLE, event);
    put_who(&row, decoder, utid);
    put_u64(&row, v.at[S_IP].u);
    put_frame(&row, decoder_frame(decoder, utid, v.at[S_IP].u, event->ticks));
    put_id(&row, decoder_stack(decoder, event, tid));
    put_u16(&row, (uint16_t)v.at[S_SOURCE].u);
    put_text(&row, profile_source_name((uint32_t)v.at[S_SOURCE].u));
    row_end(&row);
}

Str profile_source_name(uint32_t source) {
    static const char *const NAMES[] = {
        "Time",
        "AlignmentFixup",
        "TotalIssues",
        "PipelineDry",
        "LoadInstructions",
        "PipelineFrozen",
        "BranchInstructions",
        "TotalNonissues",
        "DcacheMisses",
        "IcacheMisses",
        "CacheMisses",
        "BranchMispredictions",
        "StoreInstructions",
        "FpInstructions",
        "IntegerInstructions",
        "2Issue",
        "3Issue",
        "4Issue",
        "SpecialInstructions",
        "TotalCycles",
        "IcacheIssues",
        "DcacheAccesses",
        "MemoryBarrierCycles",
        "LoadLinkedIssues",
    };
    return source < COUNT_OF(NAMES) ? str_from_c(NAMES[source]) : (Str){0};
}

enum IntervalSlot { I_SOURCE = 1, I_NEW, I_OLD, I_NAME };
static const Field INTERVAL[] = {
    {"Source",      F_U32,  I_SOURCE, 0             },
    {"NewInterval", F_U32,  I_NEW,    0             },
    {"OldInterval", F_U32,  I_OLD,    0             },
    {"SourceName",  F_WSTR, I_NAME,   FIELD_OPTIONAL}, // from version 3 on
};

static void emit_interval(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < 3) {
        decoder->short_payloads++;
        return;
    }
    uint32_t source = (uint32_t)v.at[I_SOURCE].u;
    Str name = value_text(decoder, &v, I_NAME, F_WSTR);
    Row row = decoder_row(decoder, T_SAMPLE_INTERVAL, event);
    put_text(&row, event->hook == HOOK_INTERVAL_SET     ? STR("set")
                   : event->hook == HOOK_INTERVAL_START ? STR("start")
                                                        : STR("end"));
    put_u32(&row, source);
    put_text(&row, name.n ? name : profile_source_name(source));
    put_u32(&row, (uint32_t)v.at[I_NEW].u);
    put_u32(&row, (uint32_t)v.at[I_OLD].u);
    row_end(&row);
}

static const EventSpec SAMPLE_SPECS[] = {
    {HOOK_SAMPLE,         1, 1, "PerfInfo/Sample",          SAMPLE_V1,    COUNT_OF(SAMPLE_V1),    0,         T_SAMPLE,
     emit_sample                                                                                                                                 },
    {HOOK_SAMPLE,         2, 2, "PerfInfo/Sample",          SAMPLE_V2,    COUNT_OF(SAMPLE_V2),    0,         T_SAMPLE,
     emit_sample                                                                                                                                 },
    {HOOK_SAMPLE_NMI,     2, 2, "PerfInfo/SampleNmi",       SAMPLE_V2,    COUNT_OF(SAMPLE_V2),    0,         T_SAMPLE,
     emit_sample                                                                                                                                 },
    {HOOK_SAMPLE_CACHE,   2, 2, "PerfInfo/SampleCache",     SAMPLE_CACHE, COUNT_OF(SAMPLE_CACHE), 0,
     T_SAMPLE,                                                                                                                  emit_sample_cache},
    {0x0F2F,              2, 2, "PerfInfo/PmcSample",       PMC_SAMPLE,   COUNT_OF(PMC_SAMPLE),   0,         T_PMC_SAMPLE,
     emit_pmc_sample                                                                                                                             },
    {HOOK_INTERVAL_SET,   2, 3, "PerfInfo/SetInterval",     INTERVAL,     COUNT_OF(INTERVAL),     SPEC_KEEP,
     T_SAMPLE_INTERVAL,                                                                                                         emit_interval    },
    {HOOK_INTERVAL_START, 2, 3, "PerfInfo/CollectionStart", INTERVAL,     COUNT_OF(INTERVAL),
     SPEC_KEEP | SPEC_NO_STACK,                                                                              T_SAMPLE_INTERVAL, emit_interval    },
    {HOOK_INTERVAL_END,   2, 3, "PerfInfo/CollectionEnd",   INTERVAL,     COUNT_OF(INTERVAL),
     SPEC_KEEP | SPEC_NO_STACK,                                                                              T_SAMPLE_INTERVAL, emit_interval    },
};
const SpecFamily FAMILY_SAMPLE = {SAMPLE_SPECS, COUNT_OF(SAMPLE_SPECS), NULL};
