// Lock and wait events (group 05): spinlocks, executive resources, push locks, queues, waits.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef LOCK_EVENT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",        COL_TEXT, "spinlock, resource, pushlock, queue or wait_single"            },
    {"lock",        COL_U64,  "Address of the lock or the object waited for"                  },
    {"caller",      COL_U64,  "Caller's address (spinlock)"                                   },
    {"frame_id",    COL_U64,  "Frame of the caller"                                           },
    {"acquire_ns",  COL_I64,  "When it was acquired"                                          },
    {"release_ns",  COL_I64,  "When it was released"                                          },
    {"wait_cycles", COL_U32,  "CPU cycles spent waiting"                                      },
    {"spin_count",  COL_U32,  "Spins"                                                         },
    {"irql",        COL_U8,   "IRQL"                                                          },
    {"action",      COL_U32,  "Action code (resource, pushlock, queue); object type of a wait"},
    {"flags",       COL_U32,  "Acquire mode and context"                                      },
    {"depth",       COL_U32,  "Recursion depth"                                               },
    {"hold_ticks",  COL_U64,  "Hold time as recorded (resource)"                              },
    {"wait_ticks",  COL_U64,  "Wait time as recorded (resource)"                              },
    STACK_COLUMN,
};

const TableDef TABLE_LOCK_EVENT = {"lock_event", "One spinlock, resource or pushlock event",
                                   LOCK_EVENT_COLUMNS, COUNT_OF(LOCK_EVENT_COLUMNS)};

enum LockSlot {
    L_LOCK = 1,
    L_CALLER,
    L_ACQUIRE,
    L_RELEASE,
    L_CYCLES,
    L_SPINS,
    L_THREAD,
    L_IRQL,
    L_DEPTH,
    L_FLAG,
    L_HOLD,
    L_WAIT,
    L_ACTION,
};

static const Field SPINLOCK[] = {
    {"SpinLockAddress",  F_PTR,   L_LOCK,    0},
    {"CallerAddress",    F_PTR,   L_CALLER,  0},
    {"AcquireTime",      F_TIME,  L_ACQUIRE, 0},
    {"ReleaseTime",      F_TIME,  L_RELEASE, 0},
    {"WaitTimeInCycles", F_U32,   L_CYCLES,  0},
    {"SpinCount",        F_U32,   L_SPINS,   0},
    {"ThreadId",         F_U32,   L_THREAD,  0},
    {"InterruptCount",   F_U32,   0,         0},
    {"Irql",             F_U8,    L_IRQL,    0},
    {"AcquireDepth",     F_U8,    L_DEPTH,   0},
    {"Flag",             F_U8,    L_FLAG,    0},
    {"Reserved",         F_BYTES, 0,         5},
};
static const Field RESOURCE[] = {
    {"AcquireTime",       F_TIME,  L_ACQUIRE, 0},
    {"HoldTime",          F_U64,   L_HOLD,    0},
    {"WaitTime",          F_U64,   L_WAIT,    0},
    {"MaxRecursionDepth", F_U32,   L_DEPTH,   0},
    {"ThreadId",          F_U32,   L_THREAD,  0},
    {"Resource",          F_PTR,   L_LOCK,    0},
    {"Action",            F_HEX32, L_ACTION,  0},
    {"ContentionDelta",   F_U32,   0,         0},
};
#define LOCK_OF_THREAD(lock)                                                                       \
    {lock, F_PTR, L_LOCK, 0}, {"ThreadId", F_U32, L_THREAD, 0}, {                                  \
        "Action", F_U8, L_ACTION, 0                                                                \
    }
static const Field QUEUE[] = {LOCK_OF_THREAD("Queue")};
static const Field PUSHLOCK[] = {LOCK_OF_THREAD("PushLock")};
static const Field WAIT_SINGLE[] = {
    {"ThreadId",   F_U32,   L_THREAD, 0},
    {NULL,         F_ALIGN, 0,        0},
    {"Object",     F_PTR,   L_LOCK,   0},
    {"ObjectType", F_U8,    L_ACTION, 0},
};
// How the objects behind are laid out is not published.
static const Field WAIT_MULTIPLE[] = {
    {"ThreadId",    F_U32,   0, 0         },
    {"WaitType",    F_U8,    0, 0         },
    {"ObjectCount", F_U8,    0, 0         },
    {"Objects",     F_BYTES, 0, FIELD_REST},
};
static const Field DELAY[] = {
    {"ThreadId", F_U32,   0, 0},
    {NULL,       F_ALIGN, 0, 8},
    {"Delta",    F_U64,   0, 0},
};

enum LockHook {
    HOOK_SPINLOCK = 0x0529,
    HOOK_QUEUE = 0x052A,
    HOOK_RESOURCE = 0x052B,
    HOOK_PUSHLOCK = 0x052C,
    HOOK_WAIT_SINGLE = 0x052D,
};

static void put_u32_slot(Row *row, const Values *v, unsigned slot) {
    put_u32_if(row, value_has(v, slot), (uint32_t)v->at[slot].u);
}

static void put_time_slot(Row *row, Decoder *decoder, const Values *v, unsigned slot) {
    bool known = value_has(v, slot) && v->at[slot].u != 0;
    put_i64_if(row, known, known ? decoder_ns(decoder, (int64_t)v->at[slot].u) : 0);
}

static void emit_lock(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, L_LOCK)) {
        decoder->short_payloads++;
        return;
    }
    uint32_t tid = value_has(&v, L_THREAD) ? (uint32_t)v.at[L_THREAD].u : ETL_NO_ID;
    uint32_t utid = decoder_thread(decoder, event, tid);
    bool has_caller = value_has(&v, L_CALLER);
    uint64_t caller = has_caller ? v.at[L_CALLER].u : 0;
    Row row = decoder_row(decoder, T_LOCK_EVENT, event);
    put_who(&row, decoder, utid);
    put_text(&row, spec->hook == HOOK_SPINLOCK   ? STR("spinlock")
                   : spec->hook == HOOK_RESOURCE ? STR("resource")
                   : spec->hook == HOOK_PUSHLOCK ? STR("pushlock")
                   : spec->hook == HOOK_QUEUE    ? STR("queue")
                                                 : STR("wait_single"));
    put_u64(&row, v.at[L_LOCK].u);
    put_u64_if(&row, has_caller, caller);
    put_frame(&row, decoder_frame(decoder, 0, caller, event->ticks));
    put_time_slot(&row, decoder, &v, L_ACQUIRE);
    put_time_slot(&row, decoder, &v, L_RELEASE);
    put_u32_slot(&row, &v, L_CYCLES);
    put_u32_slot(&row, &v, L_SPINS);
    put_u8_if(&row, value_has(&v, L_IRQL), (uint8_t)v.at[L_IRQL].u);
    put_u32_slot(&row, &v, L_ACTION);
    put_u32_slot(&row, &v, L_FLAG);
    put_u32_slot(&row, &v, L_DEPTH);
    put_u64_if(&row, value_has(&v, L_HOLD), v.at[L_HOLD].u);
    put_u64_if(&row, value_has(&v, L_WAIT), v.at[L_WAIT].u);
    put_id(&row, decoder_stack(decoder, event, event->tid == ETL_NO_ID ? tid : event->tid));
    row_end(&row);
}

#define LOCK(hook, low, high, name, fields)                                                        \
    SPEC_ROWS(hook, low, high, name, fields, 0, T_LOCK_EVENT, emit_lock)
static const EventSpec LOCK_SPECS[] = {
    LOCK(HOOK_SPINLOCK, 2, 2, "Thread/SpinLock", SPINLOCK),
    LOCK(HOOK_QUEUE, 0, 255, "Thread/Queue", QUEUE),
    LOCK(HOOK_RESOURCE, 0, 255, "Thread/Resource", RESOURCE),
    LOCK(HOOK_PUSHLOCK, 0, 255, "Thread/PushLock", PUSHLOCK),
    LOCK(HOOK_WAIT_SINGLE, 0, 255, "Thread/WaitSingle", WAIT_SINGLE),
    SPEC_RAW(0x052E, 0, 255, "Thread/WaitMultiple", WAIT_MULTIPLE),
    SPEC_RAW(0x052F, 0, 255, "Thread/DelayExecution", DELAY),
};
const SpecFamily FAMILY_LOCK = {LOCK_SPECS, COUNT_OF(LOCK_SPECS), NULL};
