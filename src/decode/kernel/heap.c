// Heaps and critical sections (groups 10 and 17), logged from user mode. Kept raw with their
// fields.
#include "decode/kernel/families.h"

static const Field CREATE[] = {
    {"HeapHandle",    F_PTR,   0, 0},
    {"Flags",         F_HEX32, 0, 0},
    {"ReserveSize",   F_SIZE,  0, 0},
    {"CommitSize",    F_SIZE,  0, 0},
    {"AllocatedSize", F_SIZE,  0, 0},
};
static const Field ALLOC[] = {
    {"HeapHandle", F_PTR,  0, 0},
    {"Size",       F_SIZE, 0, 0},
    {"Address",    F_PTR,  0, 0},
    {"Source",     F_U32,  0, 0},
};
static const Field RE_ALLOC[] = {
    {"HeapHandle", F_PTR,  0, 0},
    {"NewAddress", F_PTR,  0, 0},
    {"OldAddress", F_PTR,  0, 0},
    {"NewSize",    F_SIZE, 0, 0},
    {"OldSize",    F_SIZE, 0, 0},
    {"Source",     F_U32,  0, 0},
};
static const Field DESTROY[] = {
    {"HeapHandle", F_PTR, 0, 0},
};
static const Field FREE[] = {
    {"HeapHandle", F_PTR, 0, 0},
    {"Address",    F_PTR, 0, 0},
    {"Source",     F_U32, 0, 0},
};
static const Field EXPAND[] = {
    {"HeapHandle",     F_PTR,  0, 0},
    {"CommittedSize",  F_SIZE, 0, 0},
    {"Address",        F_PTR,  0, 0},
    {"FreeSpace",      F_SIZE, 0, 0},
    {"CommittedSpace", F_SIZE, 0, 0},
    {"ReservedSpace",  F_SIZE, 0, 0},
    {"NoOfUCRs",       F_U32,  0, 0},
    {"AllocatedSpace", F_SIZE, 0, 0},
};
static const Field SNAPSHOT[] = {
    {"HeapHandle",     F_PTR,   0, 0},
    {"FreeSpace",      F_SIZE,  0, 0},
    {"CommittedSpace", F_SIZE,  0, 0},
    {"ReservedSpace",  F_SIZE,  0, 0},
    {"Flags",          F_HEX32, 0, 0},
    {"ProcessId",      F_U32,   0, 0},
    {"LargeUCRSpace",  F_SIZE,  0, 0},
    {"FreeListLength", F_U32,   0, 0},
    {"UCRLength",      F_U32,   0, 0},
    {"AllocatedSpace", F_SIZE,  0, 0},
};
static const Field CONTRACT[] = {
    {"HeapHandle",      F_PTR,  0, 0},
    {"DeCommitSize",    F_SIZE, 0, 0},
    {"DeCommitAddress", F_PTR,  0, 0},
    {"FreeSpace",       F_SIZE, 0, 0},
    {"CommittedSpace",  F_SIZE, 0, 0},
    {"ReservedSpace",   F_SIZE, 0, 0},
    {"NoOfUCRs",        F_U32,  0, 0},
    {"AllocatedSpace",  F_SIZE, 0, 0},
};
static const Field SUB_SEGMENT_ALLOC[] = {
    {"HeapHandle",     F_PTR,  0, 0},
    {"SubSegment",     F_PTR,  0, 0},
    {"SubSegmentSize", F_SIZE, 0, 0},
    {"BlockSize",      F_SIZE, 0, 0},
};
static const Field COMMIT[] = {
    {"HeapHandle", F_PTR,  0, 0},
    {"Block",      F_PTR,  0, 0},
    {"Size",       F_SIZE, 0, 0},
    {"Caller",     F_U32,  0, 0},
};
static const Field SUB_SEGMENT_INIT[] = {
    {"HeapHandle",    F_PTR,  0, 0},
    {"SubSegment",    F_PTR,  0, 0},
    {"BlockSize",     F_SIZE, 0, 0},
    {"BlockCount",    F_SIZE, 0, 0},
    {"AffinityIndex", F_U32,  0, 0},
};
static const Field AFFINITY_ENABLE[] = {
    {"HeapHandle",  F_PTR, 0, 0},
    {"BucketIndex", F_U32, 0, 0},
};
static const Field SUB_SEGMENT_ACTIVATED[] = {
    {"HeapHandle", F_PTR, 0, 0},
    {"SubSegment", F_PTR, 0, 0},
};
static const Field AFFINITY_ASSIGN[] = {
    {"HeapHandle", F_PTR, 0, 0},
    {"SubSegment", F_PTR, 0, 0},
    {"SlotIndex",  F_U32, 0, 0},
};
static const Field REUSE_THRESHOLD_ACTIVATED[] = {
    {"HeapHandle",  F_PTR, 0, 0},
    {"SubSegment",  F_PTR, 0, 0},
    {"BucketIndex", F_U32, 0, 0},
};
static const Field COLLISION[] = {
    {"LockCount",    F_U32, 0, 0},
    {"SpinCount",    F_U32, 0, 0},
    {"OwningThread", F_PTR, 0, 0},
    {"Address",      F_PTR, 0, 0},
};
static const Field INITIALIZE[] = {
    {"SpinCount", F_SIZE, 0, 0},
    {"Address",   F_PTR,  0, 0},
};

static const EventSpec HEAP_SPECS[] = {
    SPEC_RAW(0x1020, 0, 255, "Heap/Create", CREATE),
    SPEC_RAW(0x1021, 0, 255, "Heap/Alloc", ALLOC),
    SPEC_RAW(0x1022, 0, 255, "Heap/ReAlloc", RE_ALLOC),
    SPEC_RAW(0x1023, 0, 255, "Heap/Destroy", DESTROY),
    SPEC_RAW(0x1024, 0, 255, "Heap/Free", FREE),
    SPEC_RAW(0x1025, 0, 255, "Heap/Expand", EXPAND),
    SPEC_RAW(0x1026, 0, 255, "Heap/Snapshot", SNAPSHOT),
    SPEC_RAW(0x1027, 0, 255, "Heap/CreateSnapshot", DESTROY),
    SPEC_RAW(0x1028, 0, 255, "Heap/DestroySnapshot", DESTROY),
    SPEC_RAW(0x1029, 0, 255, "Heap/ExpandSnapshot", EXPAND),
    SPEC_RAW(0x102A, 0, 255, "Heap/Contract", CONTRACT),
    SPEC_RAW(0x102B, 0, 255, "Heap/Lock", DESTROY),
    SPEC_RAW(0x102C, 0, 255, "Heap/Unlock", DESTROY),
    SPEC_RAW(0x102D, 0, 255, "Heap/Validate", DESTROY),
    SPEC_RAW(0x102E, 0, 255, "Heap/Walk", DESTROY),
    SPEC_RAW(0x102F, 0, 255, "Heap/SubSegmentAlloc", SUB_SEGMENT_ALLOC),
    SPEC_RAW(0x1030, 0, 255, "Heap/SubSegmentFree", SUB_SEGMENT_ALLOC),
    SPEC_RAW(0x1031, 0, 255, "Heap/SubSegmentAllocCache", SUB_SEGMENT_ALLOC),
    SPEC_RAW(0x1032, 0, 255, "Heap/SubSegmentFreeCache", SUB_SEGMENT_ALLOC),
    SPEC_RAW(0x1033, 0, 255, "Heap/Commit", COMMIT),
    SPEC_RAW(0x1034, 0, 255, "Heap/Decommit", COMMIT),
    SPEC_RAW(0x1035, 0, 255, "Heap/SubSegmentInit", SUB_SEGMENT_INIT),
    SPEC_RAW(0x1036, 0, 255, "Heap/AffinityEnable", AFFINITY_ENABLE),
    SPEC_RAW(0x1038, 0, 255, "Heap/SubSegmentActivated", SUB_SEGMENT_ACTIVATED),
    SPEC_RAW(0x1039, 0, 255, "Heap/AffinityAssign", AFFINITY_ASSIGN),
    SPEC_RAW(0x103A, 0, 255, "Heap/ReuseThresholdActivated", REUSE_THRESHOLD_ACTIVATED),
    SPEC_NAME(0x1720, "CritSec/Enter"),
    SPEC_NAME(0x1721, "CritSec/Leave"),
    SPEC_RAW(0x1722, 0, 255, "CritSec/Collision", COLLISION),
    SPEC_RAW(0x1723, 0, 255, "CritSec/Initialize", INITIALIZE),
};
const SpecFamily FAMILY_HEAP = {HEAP_SPECS, COUNT_OF(HEAP_SPECS), NULL};
