// The cache manager and split transfers (groups 16 and 1B). Kept raw with their fields.
#include "decode/kernel/families.h"

static const Field WORK_ITEM_ENQUEUE[] = {
    {"WorkItemKey",   F_PTR, 0, 0},
    {"FileObjectKey", F_PTR, 0, 0},
    {"QueueType",     F_U8,  0, 0},
    {"WorkItemType",  F_U8,  0, 0},
    {"Requeue",       F_U8,  0, 0},
    {"Reserved",      F_U8,  0, 0},
};
static const Field WORK_ITEM_DEQUEUE[] = {
    {"WorkItemKey", F_PTR, 0, 0},
};
static const Field READ_AHEAD[] = {
    {"WorkItemKey",     F_PTR,   0, 0},
    {NULL,              F_ALIGN, 0, 8},
    {"FileOffset",      F_U64,   0, 0},
    {"Size",            F_U32,   0, 0},
    {"PagePriority",    F_U32,   0, 0},
    {"DetectedPattern", F_U32,   0, 0},
    {"Reserved",        F_U32,   0, 0},
};
static const Field LAZY_WRITE_SCAN[] = {
    {"WorkItemKey",              F_PTR,  0, 0},
    {"ReasonForFlush",           F_U32,  0, 0},
    {"PagesToWrite",             F_U32,  0, 0},
    {"TotalDirtyPages",          F_SIZE, 0, 0},
    {"AvailablePages",           F_SIZE, 0, 0},
    {"DirtyPageThreshold",       F_SIZE, 0, 0},
    {"NumberOfMappedVacbs",      F_SIZE, 0, 0},
    {"TopDirtyPageThreshold",    F_SIZE, 0, 0},
    {"BottomDirtyPageThreshold", F_SIZE, 0, 0},
    {"AverageAvailablePages",    F_SIZE, 0, 0},
    {"AverageDirtyPages",        F_SIZE, 0, 0},
    {"ConsecutiveWorklessScans", F_SIZE, 0, 0},
};
static const Field CAN_I_WRITE_FAIL[] = {
    {"FileObjectKey",      F_PTR,  0, 0},
    {"TotalDirtyPages",    F_SIZE, 0, 0},
    {"DirtyPageThreshold", F_SIZE, 0, 0},
    {"BytesToWrite",       F_U32,  0, 0},
};
static const Field FLUSH_CACHE[] = {
    {"WorkItemKey",         F_PTR,   0, 0},
    {"FileObjectKey",       F_PTR,   0, 0},
    {"Offset",              F_U64,   0, 0},
    {"Length",              F_U32,   0, 0},
    {"SharedCacheMapFlags", F_HEX32, 0, 0},
    {"Flags",               F_HEX32, 0, 0},
    {"Reserved",            F_U32,   0, 0},
};
static const Field FLUSH_SECTION[] = {
    {"WorkItemKey",   F_PTR,   0, 0},
    {"FileObjectKey", F_PTR,   0, 0},
    {"Offset",        F_U64,   0, 0},
    {"Length",        F_U32,   0, 0},
    {"MmFlushFlags",  F_HEX32, 0, 0},
};
static const Field SCHEDULE_READ_AHEAD[] = {
    {"WorkItemKey",             F_PTR,   0, 0},
    {"FileObjectKey",           F_PTR,   0, 0},
    {"FileOffset",              F_U64,   0, 0},
    {"Length",                  F_U32,   0, 0},
    {"ReadAheadUnit",           F_U32,   0, 0},
    {"ReadAheadLength",         F_U32,   0, 0},
    {NULL,                      F_ALIGN, 0, 8},
    {"ReadAheadOffset",         F_U64,   0, 0},
    {"ReadAheadBeyondLastByte", F_U64,   0, 0},
    {"ReadPattern",             F_U8,    0, 0},
    {NULL,                      F_ALIGN, 0, 4},
    {"SequentialReadCount",     F_U32,   0, 0},
    {"SharedCacheMapFlags",     F_HEX32, 0, 0},
    {"Bits",                    F_HEX32, 0, 0},
};
static const Field LOGGED_STREAM_INFO[] = {
    {"FileObjectKey",            F_PTR,   0, 0},
    {"ReasonForFlush",           F_U32,   0, 0},
    {"PagesToWrite",             F_U32,   0, 0},
    {"DirtyLoggedPages",         F_SIZE,  0, 0},
    {"DirtyLoggedPageThreshold", F_SIZE,  0, 0},
    {NULL,                       F_ALIGN, 0, 8},
    {"LargestLsn",               F_U64,   0, 0},
};
static const Field EXTRA_WRITE_BEHIND_THREAD[] = {
    {"ThreadAction",         F_U32,  0, 0},
    {"ActiveExtraWBThreads", F_U32,  0, 0},
    {"TotalDirtyPages",      F_SIZE, 0, 0},
    {"DirtyPageThreshold",   F_SIZE, 0, 0},
    {"AvailablePages",       F_SIZE, 0, 0},
};
static const Field VOL_MGR[] = {
    {"ParentIrp", F_PTR, 0, 0},
    {"ChildIrp",  F_PTR, 0, 0},
};

static const EventSpec CACHE_SPECS[] = {
    SPEC_RAW(0x1600, 0, 255, "CacheManager/WorkItemEnqueue", WORK_ITEM_ENQUEUE),
    SPEC_RAW(0x1601, 0, 255, "CacheManager/WorkItemDequeue", WORK_ITEM_DEQUEUE),
    SPEC_RAW(0x1602, 0, 255, "CacheManager/WorkItemComplete", WORK_ITEM_DEQUEUE),
    SPEC_RAW(0x1603, 0, 255, "CacheManager/ReadAhead", READ_AHEAD),
    SPEC_NAME(0x1604, "CacheManager/WriteBehind"),
    SPEC_RAW(0x1605, 0, 255, "CacheManager/LazyWriteScan", LAZY_WRITE_SCAN),
    SPEC_RAW(0x1606, 0, 255, "CacheManager/CanIWriteFail", CAN_I_WRITE_FAIL),
    SPEC_RAW(0x1609, 0, 255, "CacheManager/FlushCache", FLUSH_CACHE),
    SPEC_RAW(0x160A, 0, 255, "CacheManager/FlushSection", FLUSH_SECTION),
    SPEC_RAW(0x160B, 0, 255, "CacheManager/ReadAheadPrefetch", READ_AHEAD),
    SPEC_RAW(0x160C, 0, 255, "CacheManager/ScheduleReadAhead", SCHEDULE_READ_AHEAD),
    SPEC_RAW(0x160D, 0, 255, "CacheManager/LoggedStreamInfo", LOGGED_STREAM_INFO),
    SPEC_RAW(0x160E, 0, 255, "CacheManager/ExtraWriteBehindThread", EXTRA_WRITE_BEHIND_THREAD),
    SPEC_RAW(0x1B20, 2, 2, "SplitIo/VolMgr", VOL_MGR),
};
const SpecFamily FAMILY_CACHE = {CACHE_SPECS, COUNT_OF(CACHE_SPECS), NULL};
