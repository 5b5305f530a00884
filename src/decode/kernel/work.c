// Thread work that has no table (groups 05, 19, 1C): priorities, boosts, migrations, queues, work
// items, fair share scheduling, user-mode scheduling, thread pools. Kept raw with their fields.
#include "decode/kernel/families.h"

static const Field SET_PRIORITY[] = {
    {"ThreadId",    F_U32, 0, 0},
    {"OldPriority", F_U8,  0, 0},
    {"NewPriority", F_U8,  0, 0},
    {"Reserved",    F_U16, 0, 0},
};
static const Field SET_AFFINITY[] = {
    {"Affinity", F_PTR, 0, 0},
    {"ThreadId", F_U32, 0, 0},
    {"Group",    F_U16, 0, 0},
    {"Reserved", F_U16, 0, 0},
};
static const Field WORK_ITEM[] = {
    {"TThreadId",     F_U32, 0, 0},
    {"StartTime",     F_U64, 0, 0},
    {"ThreadRoutine", F_PTR, 0, 0},
};
static const Field DFSS_START_NEW_INTERVAL[] = {
    {"CurrentGeneration",      F_U32,   0, 0         },
    {"SessionCount",           F_U32,   0, 0         },
    {"TotalCycleCredit",       F_U64,   0, 0         },
    {"TotalCyclesAccumulated", F_U64,   0, 0         },
    {"Sessions",               F_BYTES, 0, FIELD_REST},
};
static const Field DFSS_PROCESS_IDLE_ONLY_QUEUE[] = {
    {"CurrentGeneration",  F_U32, 0, 0},
    {"SessionSelected",    F_U32, 0, 0},
    {"CycleBaseAllowance", F_U64, 0, 0},
    {"CyclesRemaining",    F_I64, 0, 0},
};
static const Field ANTI_STARVATION_BOOST[] = {
    {"ThreadId",       F_U32, 0, 0},
    {"ProcessorIndex", F_U16, 0, 0},
    {"Priority",       F_U8,  0, 0},
    {"Reserved",       F_U8,  0, 0},
};
static const Field MIGRATION[] = {
    {"ThreadId",               F_U32, 0, 0},
    {"SourceProcessorIndex",   F_U16, 0, 0},
    {"TargetProcessorIndex",   F_U16, 0, 0},
    {"Priority",               F_U8,  0, 0},
    {"IdealProcessorAdjust",   F_U8,  0, 0},
    {"OldIdealProcessorIndex", F_U16, 0, 0},
};
static const Field K_QUEUE_ENQUEUE[] = {
    {"Entry",    F_PTR, 0, 0},
    {"ThreadId", F_U32, 0, 0},
};
static const Field K_QUEUE_DEQUEUE[] = {
    {"ThreadId",   F_U32, 0, 0                },
    {"EntryCount", F_U32, 1, 0                },
    {"Entries",    F_PTR, 0, FIELD_COUNTED | 1},
};
static const Field WORK_ITEM_START[] = {
    {"CallbackRoutine", F_PTR, 0, 0},
};
static const Field AUTO_BOOST_SET_FLOOR[] = {
    {"Lock",                F_PTR, 0, 0},
    {"ThreadId",            F_U32, 0, 0},
    {"NewCpuPriorityFloor", F_U8,  0, 0},
    {"OldCpuPriority",      F_U8,  0, 0},
    {"IoPriorities",        F_U8,  0, 0},
    {"BoostFlags",          F_U8,  0, 0},
};
static const Field AUTO_BOOST_CLEAR_FLOOR[] = {
    {"LockAddress", F_PTR, 0, 0},
    {"ThreadId",    F_U32, 0, 0},
    {"BoostBitmap", F_U32, 0, 0},
};
static const Field AUTO_BOOST_ENTRY_EXHAUSTION[] = {
    {"LockAddress", F_PTR, 0, 0},
    {"ThreadId",    F_U32, 0, 0},
};
static const Field SUB_PROCESS_TAG_CHANGED[] = {
    {"OldTag", F_HEX32, 0, 0},
    {"NewTag", F_HEX32, 0, 0},
};
static const Field DIRECTED_SWITCH_START[] = {
    {"ProcessId",         F_U32,   0, 0},
    {"ScheduledThreadId", F_U32,   0, 0},
    {"PrimaryThreadId",   F_U32,   0, 0},
    {"SwitchFlags",       F_HEX32, 0, 0},
};
static const Field PARK[] = {
    {"ProcessId",         F_U32,   0, 0},
    {"ScheduledThreadId", F_U32,   0, 0},
    {"ParkFlags",         F_HEX32, 0, 0},
};
static const Field DISASSOCIATE[] = {
    {"ProcessId",          F_U32,   0, 0},
    {"ScheduledThreadId",  F_U32,   0, 0},
    {"PrimaryThreadId",    F_U32,   0, 0},
    {"UmsApcControlFlags", F_HEX32, 0, 0},
    {"Status",             F_HEX32, 0, 0},
};
static const Field CONTEXT_SWITCH[] = {
    {"ScheduledThreadId", F_U32, 0, 0},
    {"SwitchCount",       F_U32, 0, 0},
    {"KernelYieldCount",  F_U32, 0, 0},
    {"MixedYieldCount",   F_U32, 0, 0},
    {"YieldCount",        F_U32, 0, 0},
};
static const Field CALLBACK_ENQUEUE[] = {
    {"PoolId",        F_PTR, 0, 0},
    {"TaskId",        F_PTR, 0, 0},
    {"Callback",      F_PTR, 0, 0},
    {"Context",       F_PTR, 0, 0},
    {"SubProcessTag", F_PTR, 0, 0},
};
static const Field CALLBACK_CANCEL[] = {
    {"PoolId",        F_PTR, 0, 0},
    {"TaskId",        F_PTR, 0, 0},
    {"Callback",      F_PTR, 0, 0},
    {"Context",       F_PTR, 0, 0},
    {"SubProcessTag", F_PTR, 0, 0},
    {"CancelCount",   F_U32, 0, 0},
};
static const Field POOL_CREATE[] = {
    {"PoolId", F_PTR, 0, 0},
};
static const Field POOL_MIN_THREADS_SET[] = {
    {"PoolId",    F_PTR, 0, 0},
    {"ThreadNum", F_U32, 0, 0},
};
static const Field WORKER_NUMA_NODE_SWITCH[] = {
    {"PoolId",             F_PTR, 0, 0},
    {"CurrentNode",        F_U32, 0, 0},
    {"NextNode",           F_U32, 0, 0},
    {"CurrentGroup",       F_U16, 0, 0},
    {"NextGroup",          F_U16, 0, 0},
    {"CurrentWorkerCount", F_U32, 0, 0},
    {"NextWorkerCount",    F_U32, 0, 0},
};
static const Field TIMER_SET[] = {
    {"DueTime",      F_I64, 0, 0},
    {"SubQueue",     F_PTR, 0, 0},
    {"Timer",        F_PTR, 0, 0},
    {"Period",       F_U32, 0, 0},
    {"WindowLength", F_U32, 0, 0},
    {"Absolute",     F_U32, 0, 0},
};
static const Field TIMER_CANCELLED[] = {
    {"SubQueue", F_PTR, 0, 0},
    {"Timer",    F_PTR, 0, 0},
};
static const Field TIMER_SET_NT_TIMER[] = {
    {"DueTime",        F_I64, 0, 0},
    {"SubQueue",       F_PTR, 0, 0},
    {"TolerableDelay", F_U32, 0, 0},
};
static const Field TIMER_CANCEL_NT_TIMER[] = {
    {"SubQueue", F_PTR, 0, 0},
};
static const Field TIMER_EXPIRATION[] = {
    {"DueTime",      F_I64, 0, 0},
    {"SubQueue",     F_PTR, 0, 0},
    {"Timer",        F_PTR, 0, 0},
    {"Period",       F_U32, 0, 0},
    {"WindowLength", F_U32, 0, 0},
};

static const EventSpec WORK_SPECS[] = {
    SPEC_RAW(0x0530, 3, 3, "Thread/SetPriority", SET_PRIORITY),
    SPEC_RAW(0x0531, 3, 3, "Thread/SetBasePriority", SET_PRIORITY),
    SPEC_RAW(0x0533, 3, 3, "Thread/SetPagePriority", SET_PRIORITY),
    SPEC_RAW(0x0534, 3, 3, "Thread/SetIoPriority", SET_PRIORITY),
    SPEC_RAW(0x0535, 2, 2, "Thread/SetAffinity", SET_AFFINITY),
    SPEC_RAW(0x0539, 1, 2, "Thread/WorkItem", WORK_ITEM),
    SPEC_RAW(0x053A, 0, 255, "Thread/DfssStartNewInterval", DFSS_START_NEW_INTERVAL),
    SPEC_RAW(0x053B, 0, 255, "Thread/DfssProcessIdleOnlyQueue", DFSS_PROCESS_IDLE_ONLY_QUEUE),
    SPEC_RAW(0x053C, 2, 2, "Thread/AntiStarvationBoost", ANTI_STARVATION_BOOST),
    SPEC_RAW(0x053D, 2, 2, "Thread/Migration", MIGRATION),
    SPEC_RAW(0x053E, 2, 2, "Thread/KQueueEnqueue", K_QUEUE_ENQUEUE),
    SPEC_RAW(0x053F, 2, 2, "Thread/KQueueDequeue", K_QUEUE_DEQUEUE),
    SPEC_RAW(0x0540, 2, 2, "Thread/WorkItemStart", WORK_ITEM_START),
    SPEC_RAW(0x0541, 2, 2, "Thread/WorkItemEnd", WORK_ITEM_START),
    SPEC_RAW(0x0542, 2, 2, "Thread/AutoBoostSetFloor", AUTO_BOOST_SET_FLOOR),
    SPEC_RAW(0x0543, 2, 2, "Thread/AutoBoostClearFloor", AUTO_BOOST_CLEAR_FLOOR),
    SPEC_RAW(0x0544, 2, 2, "Thread/AutoBoostEntryExhaustion", AUTO_BOOST_ENTRY_EXHAUSTION),
    SPEC_RAW(0x0545, 2, 2, "Thread/SubProcessTagChanged", SUB_PROCESS_TAG_CHANGED),
    SPEC_RAW(0x1920, 2, 2, "Ums/DirectedSwitchStart", DIRECTED_SWITCH_START),
    SPEC_RAW(0x1921, 2, 2, "Ums/DirectedSwitchEnd", DIRECTED_SWITCH_START),
    SPEC_RAW(0x1922, 2, 2, "Ums/Park", PARK),
    SPEC_RAW(0x1923, 2, 2, "Ums/Disassociate", DISASSOCIATE),
    SPEC_RAW(0x1924, 2, 2, "Ums/ContextSwitch", CONTEXT_SWITCH),
    SPEC_RAW(0x1C20, 0, 255, "ThreadPool/CallbackEnqueue", CALLBACK_ENQUEUE),
    SPEC_RAW(0x1C21, 0, 255, "ThreadPool/CallbackDequeue", CALLBACK_ENQUEUE),
    SPEC_RAW(0x1C22, 0, 255, "ThreadPool/CallbackStart", CALLBACK_ENQUEUE),
    SPEC_RAW(0x1C23, 0, 255, "ThreadPool/CallbackStop", CALLBACK_ENQUEUE),
    SPEC_RAW(0x1C24, 0, 255, "ThreadPool/CallbackCancel", CALLBACK_CANCEL),
    SPEC_RAW(0x1C25, 0, 255, "ThreadPool/PoolCreate", POOL_CREATE),
    SPEC_RAW(0x1C26, 0, 255, "ThreadPool/PoolClose", POOL_CREATE),
    SPEC_RAW(0x1C27, 0, 255, "ThreadPool/PoolMinThreadsSet", POOL_MIN_THREADS_SET),
    SPEC_RAW(0x1C28, 0, 255, "ThreadPool/PoolMaxThreadsSet", POOL_MIN_THREADS_SET),
    SPEC_RAW(0x1C29, 0, 255, "ThreadPool/WorkerNumaNodeSwitch", WORKER_NUMA_NODE_SWITCH),
    SPEC_RAW(0x1C2A, 0, 255, "ThreadPool/TimerSet", TIMER_SET),
    SPEC_RAW(0x1C2B, 0, 255, "ThreadPool/TimerCancelled", TIMER_CANCELLED),
    SPEC_RAW(0x1C2C, 0, 255, "ThreadPool/TimerSetNtTimer", TIMER_SET_NT_TIMER),
    SPEC_RAW(0x1C2D, 0, 255, "ThreadPool/TimerCancelNtTimer", TIMER_CANCEL_NT_TIMER),
    SPEC_RAW(0x1C2E, 0, 255, "ThreadPool/TimerExpirationBegin", TIMER_CANCEL_NT_TIMER),
    SPEC_RAW(0x1C2F, 0, 255, "ThreadPool/TimerExpirationEnd", TIMER_CANCEL_NT_TIMER),
    SPEC_RAW(0x1C30, 0, 255, "ThreadPool/TimerExpiration", TIMER_EXPIRATION),
};
const SpecFamily FAMILY_WORK = {WORK_SPECS, COUNT_OF(WORK_SPECS), NULL};
