// Interrupts, DPCs, system calls and timers (group 0F). One event is logged per execution, at its
// end, on the CPU that ran it; the time in the payload is the start.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef INTERRUPT_COLUMNS[] = {
    EVENT_COLUMNS,
    {"kind",           COL_TEXT, "dpc, threaded_dpc, timer_dpc, io_timer, isr, isr_msi or passive_isr"},
    {"start_ns",       COL_I64,  "When it began; ts_ns is its end"                                    },
    {"duration_ns",    COL_I64,
      "ts_ns - start_ns, time of nested interrupts included; NULL when absurd"                         },
    {"routine",        COL_U64,  "Address of the routine"                                             },
    {"frame_id",       COL_U64,  "Frame of the routine"                                               },
    {"vector",         COL_U32,  "Interrupt vector (ISR)"                                             },
    {"return_value",   COL_U32,  "1 when the ISR claimed the interrupt"                               },
    {"message_number", COL_U32,  "MSI message"                                                        },
};

const TableDef TABLE_INTERRUPT = {"interrupt", "One DPC or ISR execution", INTERRUPT_COLUMNS,
                                  COUNT_OF(INTERRUPT_COLUMNS)};

enum InterruptSlot { I_START = 1, I_ROUTINE, I_RETURN, I_VECTOR, I_MESSAGE };
#define ROUTINE_FIELDS                                                                             \
    {"InitialTime", F_TIME, I_START, 0}, {                                                         \
        "Routine", F_PTR, I_ROUTINE, 0                                                             \
    }
#define ISR_FIELDS                                                                                 \
    ROUTINE_FIELDS, {"ReturnValue", F_U8, I_RETURN, 0}, {"Vector", F_U16, I_VECTOR, 0}, {          \
        "Reserved", F_U8, 0, 0                                                                     \
    }
static const Field DPC[] = {ROUTINE_FIELDS};
static const Field ISR_V1[] = {
    ROUTINE_FIELDS,
    {"ReturnValue", F_U32, I_RETURN, 0},
};
static const Field ISR_V2[] = {ISR_FIELDS};
static const Field ISR_MSI[] = {
    ISR_FIELDS,
    {"MessageNumber", F_U32, I_MESSAGE, 0},
};

enum InterruptHook {
    HOOK_ISR_MSI = 0x0F32,
    HOOK_THREADED_DPC = 0x0F42,
    HOOK_ISR = 0x0F43,
    HOOK_DPC = 0x0F44,
    HOOK_TIMER_DPC = 0x0F45,
    HOOK_IO_TIMER = 0x0F46,
    HOOK_PASSIVE_ISR = 0x0F5F,
};

static Str interrupt_kind(uint16_t hook) {
    switch (hook) {
    case HOOK_ISR_MSI: return STR("isr_msi");
    case HOOK_THREADED_DPC: return STR("threaded_dpc");
    case HOOK_ISR: return STR("isr");
    case HOOK_DPC: return STR("dpc");
    case HOOK_TIMER_DPC: return STR("timer_dpc");
    case HOOK_IO_TIMER: return STR("io_timer");
    default: return STR("passive_isr");
    }
}

static void emit_interrupt(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    // The system stops itself when a DPC holds a CPU for about this long.
    const int64_t longest_ns = 120 * (int64_t)1000000000;
    Values v;
    if (spec_read(spec, event, &v) < COUNT_OF(DPC)) {
        decoder->short_payloads++;
        return;
    }
    int64_t start_ticks = (int64_t)v.at[I_START].u;
    int64_t start_ns = decoder_ns(decoder, start_ticks);
    bool sane =
        start_ticks > 0 && start_ticks <= event->ticks && decoder->ts_ns - start_ns <= longest_ns;
    Row row = decoder_row(decoder, T_INTERRUPT, event);
    put_text(&row, interrupt_kind(spec->hook));
    put_i64_if(&row, sane, start_ns);
    put_i64_if(&row, sane, decoder->ts_ns - start_ns);
    put_u64(&row, v.at[I_ROUTINE].u);
    put_frame(&row, decoder_frame(decoder, 0, v.at[I_ROUTINE].u, event->ticks));
    put_u32_if(&row, value_has(&v, I_VECTOR), (uint32_t)v.at[I_VECTOR].u);
    put_u32_if(&row, value_has(&v, I_RETURN), (uint32_t)v.at[I_RETURN].u);
    put_u32_if(&row, value_has(&v, I_MESSAGE), (uint32_t)v.at[I_MESSAGE].u);
    row_end(&row);
    // These events have no column for a stack; one that was recorded is theirs all the same.
    (void)decoder_stack(decoder, event, event->tid);
}

static const Field SYSCALL_ENTER[] = {
    {"SysCallAddress", F_PTR, 0, 0},
};
static const Field SYSCALL_EXIT[] = {
    {"SysCallNtStatus", F_HEX32, 0, 0},
};
static const Field CLOCK_INTERRUPT[] = {
    {"InterruptTime", F_U64, 0, 0},
    {"Flags",         F_U16, 0, 0},
};
static const Field EXPIRATION_START[] = {
    {"InterruptTime", F_U64, 0, 0},
};
static const Field EXPIRATION[] = {
    {"ExpectedDueTime", F_U64, 0, 0},
    {"Timer",           F_PTR, 0, 0},
    {"DeferredRoutine", F_PTR, 0, 0},
    {"EncodedDelay",    F_U8,  0, 0},
};
static const Field TIMER_SET[] = {
    {"ExpectedDueTime",      F_U64, 0, 0},
    {"Timer",                F_PTR, 0, 0},
    {"TargetProcessorGroup", F_U16, 0, 0},
    {"TargetProcessorIndex", F_U8,  0, 0},
    {"Flags",                F_U8,  0, 0},
    {"Period",               F_U32, 0, 0},
    {"EncodedDelay",         F_U8,  0, 0},
    {"Reserved",             F_U8,  0, 0},
    {"Reserved2",            F_U16, 0, 0},
};
static const Field TIMER[] = {
    {"Timer", F_PTR, 0, 0},
};
static const Field CLOCK_MODE[] = {
    {"NewState",           F_U8,    0, 0},
    {"PrevState",          F_U8,    0, 0},
    {"Reserved",           F_BYTES, 0, 6},
    {"DeliveredIncrement", F_U64,   0, 0}, // or the time of the next clock update
    {"RequestedIncrement", F_U64,   0, 0},
};
static const Field CLOCK_UPDATE[] = {
    {"InterruptTime", F_U64, 0, 0},
    {"ClockOwner",    F_U32, 0, 0},
};
static const Field CLOCK_CONFIG[] = {
    {"KnownType",                F_U32,   0, 0},
    {"Capabilities",             F_HEX32, 0, 0},
    {"DynamicTickDisableReason", F_U32,   0, 0},
};
static const Field IPI[] = {
    {"RequestType",     F_U32, 0, 0},
    {"TargetProcessor", F_U32, 0, 0},
};
static const Field UNEXPECTED[] = {
    {"Vector", F_U16, 0, 0},
};
static const Field IO_TIMER[] = {
    {"DeviceObject", F_PTR, 0, 0},
    {"TimerRoutine", F_PTR, 0, 0},
};
static const Field ROUTINE[] = {
    {"Routine", F_PTR, 0, 0},
};
static const Field CACHE_FLUSH[] = {
    {"Address",   F_PTR,  0, 0},
    {"Bytes",     F_SIZE, 0, 0},
    {"Clean",     F_U8,   0, 0},
    {"FullFlush", F_U8,   0, 0},
    {"Rectangle", F_U8,   0, 0},
    {"Reserved",  F_U8,   0, 0},
    {"Reserved1", F_U32,  0, 0},
};
static const Field DPC_ENQUEUE[] = {
    {"Key",                  F_PTR,   0, 0},
    {"DpcQueueDepth",        F_I32,   0, 0},
    {"DpcCount",             F_U32,   0, 0},
    {"TargetProcessorIndex", F_U32,   0, 0},
    {"Importance",           F_U8,    0, 0},
    {"Reserved",             F_BYTES, 0, 3},
};
static const Field DPC_EXECUTION[] = {
    {"DpcRoutine", F_PTR, 0, 0},
    {"Key",        F_PTR, 0, 0},
};
static const Field KTIMER2_SET[] = {
    {"DueTime",         F_U64, 0, 0},
    {"MaximumDueTime",  F_U64, 0, 0},
    {"Period",          F_U64, 0, 0},
    {"Timer",           F_PTR, 0, 0},
    {"Callback",        F_PTR, 0, 0},
    {"CallbackContext", F_PTR, 0, 0},
    {"TimerFlags",      F_U8,  0, 0},
};
#define KTIMER2_GONE                                                                               \
    {"Timer", F_PTR, 0, 0}, {"DisableCallback", F_PTR, 0, 0}, {                                    \
        "DisableContext", F_PTR, 0, 0                                                              \
    }
static const Field KTIMER2_DISABLE[] = {
    KTIMER2_GONE,
    {"TimerFlags", F_U8, 0, 0},
};
static const Field KTIMER2_FINALIZE[] = {KTIMER2_GONE};
static const Field SHOULD_YIELD[] = {
    {"YieldReason",      F_U32, 0, 0},
    {"DpcWatchdogCount", F_U32, 0, 0},
    {"DpcTimeCount",     F_U32, 0, 0},
};
static const Field HYPERCALL[] = {
    {"CallCode", F_U32, 0, 0},
    {"IsFast",   F_U8,  0, 0},
    {"IsNested", F_U8,  0, 0},
};

#define INTERRUPT(hook, low, high, name, fields)                                                   \
    SPEC_ROWS(hook, low, high, name, fields, 0, T_INTERRUPT, emit_interrupt)

static const EventSpec INTERRUPT_SPECS[] = {
    INTERRUPT(HOOK_ISR_MSI, 2, 2, "PerfInfo/ISR-MSI", ISR_MSI),
    INTERRUPT(HOOK_THREADED_DPC, 2, 2, "PerfInfo/ThreadedDPC", DPC),
    INTERRUPT(HOOK_ISR, 1, 1, "PerfInfo/ISR", ISR_V1),
    INTERRUPT(HOOK_ISR, 2, 2, "PerfInfo/ISR", ISR_V2),
    INTERRUPT(HOOK_DPC, 1, 2, "PerfInfo/DPC", DPC),
    INTERRUPT(HOOK_TIMER_DPC, 1, 2, "PerfInfo/TimerDPC", DPC),
    INTERRUPT(HOOK_IO_TIMER, 2, 2, "PerfInfo/IoTimer", DPC),
    INTERRUPT(HOOK_PASSIVE_ISR, 1, 1, "PerfInfo/PassiveISR", ISR_V1),
    INTERRUPT(HOOK_PASSIVE_ISR, 2, 2, "PerfInfo/PassiveISR", ISR_V2),
    SPEC_RAW(0x0F33, 2, 2, "PerfInfo/SysClEnter", SYSCALL_ENTER),
    SPEC_RAW(0x0F34, 2, 2, "PerfInfo/SysClExit", SYSCALL_EXIT),
    SPEC_RAW(0x0F4F, 0, 255, "PerfInfo/ClockInterrupt", CLOCK_INTERRUPT),
    SPEC_RAW(0x0F50, 0, 255, "PerfInfo/TimerExpirationStart", EXPIRATION_START),
    SPEC_RAW(0x0F51, 0, 255, "PerfInfo/TimerExpiration", EXPIRATION),
    SPEC_RAW(0x0F52, 0, 255, "PerfInfo/TimerSetPeriodic", TIMER_SET),
    SPEC_RAW(0x0F53, 0, 255, "PerfInfo/TimerSetOneShot", TIMER_SET),
    SPEC_RAW(0x0F54, 0, 255, "PerfInfo/TimerSetThread", TIMER_SET),
    SPEC_RAW(0x0F55, 0, 255, "PerfInfo/TimerCancel", TIMER),
    SPEC_NAME(0x0F56, "PerfInfo/TimeAdjustment"),
    SPEC_RAW(0x0F57, 0, 255, "PerfInfo/ClockModeSwitch", CLOCK_MODE),
    SPEC_RAW(0x0F58, 0, 255, "PerfInfo/ClockTimeUpdate", CLOCK_UPDATE),
    SPEC_NAME(0x0F59, "PerfInfo/ClockDynamicTickVeto"),
    SPEC_RAW(0x0F5A, 0, 255, "PerfInfo/ClockConfiguration", CLOCK_CONFIG),
    SPEC_RAW(0x0F5B, 0, 255, "PerfInfo/IPI", IPI),
    SPEC_RAW(0x0F5C, 2, 2, "PerfInfo/UnexpectedInterrupt", UNEXPECTED),
    SPEC_RAW(0x0F5D, 2, 2, "PerfInfo/IoTimerStart", IO_TIMER),
    SPEC_RAW(0x0F5E, 2, 2, "PerfInfo/IoTimerStop", IO_TIMER),
    SPEC_RAW(0x0F60, 2, 2, "PerfInfo/WdfInterrupt", ROUTINE),
    SPEC_RAW(0x0F61, 2, 2, "PerfInfo/WdfPassiveInterrupt", ROUTINE),
    SPEC_RAW(0x0F62, 2, 2, "PerfInfo/WdfDPC", ROUTINE),
    SPEC_RAW(0x0F63, 0, 255, "PerfInfo/CpuCacheFlush", CACHE_FLUSH),
    SPEC_RAW(0x0F64, 0, 255, "PerfInfo/DPCEnqueue", DPC_ENQUEUE),
    SPEC_RAW(0x0F65, 0, 255, "PerfInfo/DPCExecution", DPC_EXECUTION),
    SPEC_NAME(0x0F66, "PerfInfo/InterruptSteering"),
    SPEC_RAW(0x0F67, 2, 2, "PerfInfo/WdfWorkItem", ROUTINE),
    SPEC_RAW(0x0F68, 2, 2, "PerfInfo/KTimer2Set", KTIMER2_SET),
    SPEC_RAW(0x0F69, 2, 2, "PerfInfo/KTimer2Expiration", KTIMER2_SET),
    SPEC_RAW(0x0F6A, 2, 2, "PerfInfo/KTimer2Cancel", TIMER),
    SPEC_RAW(0x0F6B, 2, 2, "PerfInfo/KTimer2Disable", KTIMER2_DISABLE),
    SPEC_RAW(0x0F6C, 2, 2, "PerfInfo/KTimer2Finalize", KTIMER2_FINALIZE),
    SPEC_RAW(0x0F6D, 0, 255, "PerfInfo/ShouldYieldProcessor", SHOULD_YIELD),
    SPEC_RAW(0x0F72, 2, 2, "PerfInfo/Hypercall", HYPERCALL),
};
const SpecFamily FAMILY_INTERRUPT = {INTERRUPT_SPECS, COUNT_OF(INTERRUPT_SPECS), NULL};
