// Thread life events (group 05). Windows 10 appends the thread name while still saying version 3,
// so the name stands in that layout and is simply absent on older systems.
#include "decode/entities.h"
#include "decode/kernel/families.h"

#define THREAD_HEAD                                                                                \
    {"ProcessId", F_U32, TH_PID, 0}, {"TThreadId", F_U32, TH_TID, 0},                              \
        {"StackBase", F_PTR, TH_STACK_BASE, 0}, {"StackLimit", F_PTR, TH_STACK_LIMIT, 0},          \
        {"UserStackBase", F_PTR, TH_USER_BASE, 0}, {                                               \
        "UserStackLimit", F_PTR, TH_USER_LIMIT, 0                                                  \
    }

static const Field THREAD_V0[] = {
  // the order of the ids changed after version 0
    {"TThreadId", F_U32, TH_TID, 0},
    {"ProcessId", F_U32, TH_PID, 0},
};
static const Field THREAD_V1[] = {
    THREAD_HEAD,
    {"StartAddr",      F_PTR, 0,        0},
    {"Win32StartAddr", F_PTR, TH_START, 0},
    {"WaitMode",       F_I8,  0,        0},
};
static const Field THREAD_END_V1[] = {
    {"ProcessId", F_U32, TH_PID, 0},
    {"TThreadId", F_U32, TH_TID, 0},
};
static const Field THREAD_V2[] = {
    THREAD_HEAD,
    {"StartAddr",      F_PTR, 0,        0},
    {"Win32StartAddr", F_PTR, TH_START, 0},
    {"TebBase",        F_PTR, TH_TEB,   0},
    {"SubProcessTag",  F_U32, TH_TAG,   0},
};
static const Field THREAD_V3[] = {
    THREAD_HEAD,
    {"Affinity",       F_PTR,  TH_AFFINITY,      0             },
    {"Win32StartAddr", F_PTR,  TH_START,         0             },
    {"TebBase",        F_PTR,  TH_TEB,           0             },
    {"SubProcessTag",  F_U32,  TH_TAG,           0             },
    {"BasePriority",   F_U8,   TH_BASE_PRIORITY, 0             },
    {"PagePriority",   F_U8,   TH_PAGE_PRIORITY, 0             },
    {"IoPriority",     F_U8,   TH_IO_PRIORITY,   0             },
    {"ThreadFlags",    F_U8,   0,                0             },
    {"ThreadName",     F_WSTR, TH_NAME,          FIELD_OPTIONAL},
};
static const Field THREAD_NAME[] = {
    {"ProcessId",  F_U32,  TH_PID,  0},
    {"ThreadId",   F_U32,  TH_TID,  0},
    {"ThreadName", F_WSTR, TH_NAME, 0},
};

#define KEEP(hook, low, high, name, fields, extra)                                                 \
    { hook, low, high, name, fields, COUNT_OF(fields), SPEC_KEEP | (extra), T_THREAD, NULL }
#define LIFE(hook, name, v1, extra)                                                                \
    KEEP(hook, 0, 0, name, THREAD_V0, extra), KEEP(hook, 1, 1, name, v1, extra),                   \
        KEEP(hook, 2, 2, name, THREAD_V2, extra), KEEP(hook, 3, 4, name, THREAD_V3, extra)

static const EventSpec THREAD_SPECS[] = {
    LIFE(HOOK_THREAD_START, "Thread/Start", THREAD_V1, 0),
    LIFE(HOOK_THREAD_END, "Thread/End", THREAD_END_V1, 0),
    LIFE(HOOK_THREAD_DCSTART, "Thread/DCStart", THREAD_V1, SPEC_NO_STACK),
    LIFE(HOOK_THREAD_DCEND, "Thread/DCEnd", THREAD_V1, SPEC_NO_STACK),
    KEEP(HOOK_THREAD_NAME, 2, 2, "Thread/SetName", THREAD_NAME, 0),
};
const SpecFamily FAMILY_THREAD = {THREAD_SPECS, COUNT_OF(THREAD_SPECS), NULL};
