// Context switches and ready-thread events (group 05).
#include "decode/entities.h"
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef CONTEXT_SWITCH_COLUMNS[] = {
    EVENT_COLUMNS,
    {"new_utid",         COL_U32, "Thread switched in (thread.utid)"          },
    {"old_utid",         COL_U32, "Thread switched out"                       },
    {"new_tid",          COL_U32, "Its thread id; 0 is idle"                  },
    {"old_tid",          COL_U32, "Its thread id; 0 is idle"                  },
    {"new_priority",     COL_I32, "Priority of the new thread"                },
    {"old_priority",     COL_I32, "Priority of the old thread"                },
    {"old_state",        COL_U8,  "State the old thread goes to; 5 is waiting"},
    {"old_wait_reason",  COL_U8,  "KWAIT_REASON of the old thread"            },
    {"old_wait_mode",    COL_U8,  "0 kernel, 1 user"                          },
    {"previous_c_state", COL_U8,  "C-state left, when the old thread is idle" },
    {"new_wait_ticks",   COL_U32, "Clock ticks the new thread waited"         },
    {"ideal_cpu",        COL_U8,  "Ideal processor of the old thread"         },
    STACK_COLUMN,
};

const TableDef TABLE_CONTEXT_SWITCH = {"context_switch",
                                       "One context switch: old thread out, new thread in",
                                       CONTEXT_SWITCH_COLUMNS, COUNT_OF(CONTEXT_SWITCH_COLUMNS)};

static const ColumnDef READY_THREAD_COLUMNS[] = {
    EVENT_COLUMNS,
    {"utid",             COL_U32,  "Thread made ready (thread.utid)"                      },
    {"tid",              COL_U32,  "Its thread id"                                        },
    {"waker_utid",       COL_U32,  "Thread that readied it; NULL in a DPC or when unknown"},
    {"adjust_reason",    COL_U8,   "0 none, 1 unwait, 2 boost"                            },
    {"adjust_increment", COL_I32,  "Priority boost"                                       },
    {"flags",            COL_U8,
      "1 in a DPC, 2 kernel stack not resident, 4 process swapped out, 8 direct switch"    },
    {"in_dpc",           COL_BOOL, "Readied by a DPC"                                     },
    STACK_COLUMN,
};

const TableDef TABLE_READY_THREAD = {"ready_thread", "One thread made ready to run",
                                     READY_THREAD_COLUMNS, COUNT_OF(READY_THREAD_COLUMNS)};

#define SWITCH_HEAD                                                                                \
    {"NewThreadId", F_U32, 0, 0}, {"OldThreadId", F_U32, 0, 0}, {"NewThreadPriority", F_I8, 0, 0}, \
    {                                                                                              \
        "OldThreadPriority", F_I8, 0, 0                                                            \
    }
static const Field SWITCH_V1[] = {
    SWITCH_HEAD,
    {"NewThreadQuantum",            F_I8, 0, 0},
    {"OldThreadQuantum",            F_I8, 0, 0},
    {"OldThreadWaitReason",         F_I8, 0, 0},
    {"OldThreadWaitMode",           F_I8, 0, 0},
    {"OldThreadState",              F_I8, 0, 0},
    {"OldThreadWaitIdealProcessor", F_I8, 0, 0},
};
#define SWITCH_REST(mode)                                                                          \
    {"PreviousCState", F_U8, 0, 0}, {"SpareByte", F_I8, 0, 0},                                     \
        {"OldThreadWaitReason", F_I8, 0, 0}, {mode, F_U8, 0, 0}, {"OldThreadState", F_I8, 0, 0},   \
        {"OldThreadWaitIdealProcessor", F_I8, 0, 0}, {"NewThreadWaitTime", F_U32, 0, 0}, {         \
        "OldThreadRemainingQuantum", F_U32, 0, 0                                                   \
    }
static const Field SWITCH_V2[] = {SWITCH_HEAD, SWITCH_REST("OldThreadWaitMode")};
static const Field SWITCH_V3[] = {SWITCH_HEAD, SWITCH_REST("ThreadFlags")};
// Windows 11 24H2 appends a u32 of unpublished meaning.
static const Field SWITCH_V5[] = {
    SWITCH_HEAD, SWITCH_REST("ThreadFlags"), {"Reserved", F_U32, 0, 0}
};

// The head of every version; hot, so it is read by hand instead of by the fields above.
static void emit_switch(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    (void)spec;
    Rd r = rd_from_str(event->payload);
    uint32_t new_tid = rd_u32(&r), old_tid = rd_u32(&r);
    int8_t new_priority = rd_i8(&r), old_priority = rd_i8(&r);
    uint8_t c_state = rd_u8(&r);
    rd_skip(&r, 1);
    uint8_t reason = rd_u8(&r), mode = rd_u8(&r), state = rd_u8(&r), ideal = rd_u8(&r);
    if (!rd_ok(&r)) {
        decoder->short_payloads++;
        return;
    }
    bool has_wait = event->version >= 2 && rd_left(&r) >= 4;
    uint32_t wait = has_wait ? rd_u32(&r) : 0;
    Row row = decoder_row(decoder, T_CONTEXT_SWITCH, event);
    put_id(&row, world_thread(decoder->world, new_tid, event->ticks));
    put_id(&row, world_thread(decoder->world, old_tid, event->ticks));
    put_u32(&row, new_tid);
    put_u32(&row, old_tid);
    put_i32(&row, new_priority);
    put_i32(&row, old_priority);
    put_u8(&row, state);
    put_u8(&row, reason);
    // From version 3 on only bit 0 is the mode; the rest is quality of service.
    put_u8(&row, event->version >= 3 ? mode & 1 : mode);
    put_u8_if(&row, event->version >= 2 && old_tid == 0, c_state);
    put_u32_if(&row, has_wait, wait);
    put_u8(&row, ideal);
    put_id(&row, decoder_stack(decoder, event, new_tid));
    row_end(&row);
}

static const Field READY[] = {
    {"TThreadId",       F_U32, 0, 0},
    {"AdjustReason",    F_I8,  0, 0},
    {"AdjustIncrement", F_I8,  0, 0},
    {"Flag",            F_U8,  0, 0},
    {"Reserved",        F_I8,  0, 0},
};

static void emit_ready(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    enum { IN_DPC = 1 };
    (void)spec;
    Rd r = rd_from_str(event->payload);
    uint32_t tid = rd_u32(&r);
    uint8_t reason = rd_u8(&r);
    int8_t increment = rd_i8(&r);
    uint8_t flags = rd_u8(&r);
    if (!rd_ok(&r)) {
        decoder->short_payloads++;
        return;
    }
    bool in_dpc = flags & IN_DPC;
    uint32_t waker = decoder_thread(decoder, event, ETL_NO_ID);
    Row row = decoder_row(decoder, T_READY_THREAD, event);
    put_id(&row, world_thread(decoder->world, tid, event->ticks));
    put_u32(&row, tid);
    put_id(&row, in_dpc ? 0 : waker);
    put_u8(&row, reason);
    put_i32(&row, increment);
    put_u8(&row, flags);
    put_bool(&row, in_dpc);
    put_id(&row,
           decoder_stack(decoder, event, waker ? world_tid(decoder->world, waker) : ETL_NO_ID));
    row_end(&row);
}

#define SWITCH(version, last, fields)                                                              \
    {                                                                                              \
        HOOK_CSWITCH, version, last, "Thread/CSwitch", fields, COUNT_OF(fields), 0,                \
            T_CONTEXT_SWITCH, emit_switch                                                          \
    }
static const EventSpec SCHEDULER_SPECS[] = {
    SWITCH(1, 1, SWITCH_V1),
    SWITCH(2, 2, SWITCH_V2),
    SWITCH(3, 4, SWITCH_V3),
    SWITCH(5, 5, SWITCH_V5),
    {HOOK_READY_THREAD, 2, 2, "Thread/ReadyThread", READY, COUNT_OF(READY), 0, T_READY_THREAD,
                       emit_ready},
};
const SpecFamily FAMILY_SCHEDULER = {SCHEDULER_SPECS, COUNT_OF(SCHEDULER_SPECS), NULL};
