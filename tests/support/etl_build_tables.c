// The kernel events that can be written: field lists, then one row for each verb and layout
// (docs/formats/etl.md, section 4, appendices A and B). Newest layouts come first.
#include "support/etl_build_kernel.h"

#define F(key, type)                                                                               \
    { key, type, 0, 0, 0, NULL, NULL }
#define FD(key, type, fallback)                                                                    \
    { key, type, 0, 0, 0, fallback, NULL }
#define FE(key, type, fallback, names)                                                             \
    { key, type, 0, 0, 0, fallback, names }
#define FV(key, type, since, until, fallback)                                                      \
    { key, type, since, until, 0, fallback, NULL }
#define FN(key, type, n)                                                                           \
    { key, type, 0, 0, n, NULL, NULL }

// Names of values

static const BuildName SAMPLE_FLAGS[] = {
    {"dpc", 1},
    {"isr", 2},
    {NULL,  0}
};
static const BuildName READY_FLAGS[] = {
    {"dpc",           1},
    {"kernel_stack",  2},
    {"process_out",   4},
    {"direct_switch", 8},
    {NULL,            0}
};
static const BuildName ADJUST[] = {
    {"none",   0},
    {"unwait", 1},
    {"boost",  2},
    {NULL,     0}
};
static const BuildName WAIT_MODE[] = {
    {"kernel", 0},
    {"user",   1},
    {NULL,     0}
};
static const BuildName STATES[] = {
    {"initialized",    0},
    {"ready",          1},
    {"running",        2},
    {"standby",        3},
    {"terminated",     4},
    {"waiting",        5},
    {"transition",     6},
    {"deferred_ready", 7},
    {"gate_wait",      8},
    {"waiting_inswap", 9},
    {NULL,             0},
};
static const BuildName REASONS[] = {
    {"Executive",         0 },
    {"FreePage",          1 },
    {"PageIn",            2 },
    {"PoolAllocation",    3 },
    {"DelayExecution",    4 },
    {"Suspended",         5 },
    {"UserRequest",       6 },
    {"WrExecutive",       7 },
    {"WrFreePage",        8 },
    {"WrPageIn",          9 },
    {"WrPoolAllocation",  10},
    {"WrDelayExecution",  11},
    {"WrSuspended",       12},
    {"WrUserRequest",     13},
    {"WrEventPair",       14},
    {"WrQueue",           15},
    {"WrLpcReceive",      16},
    {"WrLpcReply",        17},
    {"WrVirtualMemory",   18},
    {"WrPageOut",         19},
    {"WrRendezvous",      20},
    {"WrKeyedEvent",      21},
    {"WrTerminated",      22},
    {"WrProcessInSwap",   23},
    {"WrCpuRateControl",  24},
    {"WrCalloutStack",    25},
    {"WrKernel",          26},
    {"WrResource",        27},
    {"WrPushLock",        28},
    {"WrMutex",           29},
    {"WrQuantumEnd",      30},
    {"WrDispatchInt",     31},
    {"WrPreempted",       32},
    {"WrYieldExecution",  33},
    {"WrFastMutex",       34},
    {"WrGuardedMutex",    35},
    {"WrRundown",         36},
    {"WrAlertByThreadId", 37},
    {"WrDeferredPreempt", 38},
    {"WrPhysicalFault",   39},
    {"WrIoRing",          40},
    {"WrMdlCache",        41},
    {"WrRcu",             42},
    {NULL,                0 },
};
static const BuildName IRP_FLAGS[] = {
    {"nocache",     1       },
    {"paging",      2       },
    {"sync_api",    4       },
    {"sync_paging", 0x40    },
    {"create",      0x80    },
    {"read",        0x100   },
    {"write",       0x200   },
    {"close",       0x400   },
    {"defer",       0x800   },
    {"very_low",    1u << 17},
    {"low",         2u << 17},
    {"normal",      3u << 17},
    {"high",        4u << 17},
    {"critical",    5u << 17},
    {NULL,          0       },
};
static const BuildName VIRTUAL_FLAGS[] = {
    {"commit",      0x1000  },
    {"reserve",     0x2000  },
    {"decommit",    0x4000  },
    {"release",     0x8000  },
    {"large_pages", 1u << 29},
    {NULL,          0       },
};
static const BuildName PROCESS_FLAGS[] = {
    {"package",   1},
    {"wow64",     2},
    {"protected", 4},
    {"packaged",  8},
    {NULL,        0}
};
static const BuildName SOURCES[] = {
    {"time",           0 },
    {"branches",       6 },
    {"cache_misses",   10},
    {"mispredictions", 11},
    {"cycles",         19},
    {NULL,             0 },
};

// Session (group 00)

static const BuildField MASKS[] = {
    FD("mask0", T_U32, "0"), FD("mask1", T_U32, "0"), FD("mask2", T_U32, "0"),
    FD("mask3", T_U32, "0"), FD("mask4", T_U32, "0"), FD("mask5", T_U32, "0"),
    FD("mask6", T_U32, "0"), FD("mask7", T_U32, "0"), FV("kernel", T_U32, 2, 0, "80"),
};
static const BuildField PARTITION[] = {
    F("event_version", T_U16), FN(NULL, T_ZEROS, 2),   F("type", T_U32),
    F("offset", T_U64),        F("partition", T_GUID), F("parent", T_GUID),
};
static const BuildField PROVIDER_RSDS[] = {F("guid", T_GUID), FD("age", T_U32, "1"),
                                           F("pdb", T_ASTR)};
static const BuildField TEXT[] = {F("text", T_ASTR)};

// Process, thread, image (groups 03, 05, 14)

static const BuildField PROCESS[] = {
    FD("key", T_PTR, "0xffffc00000001000"),
    F("pid", T_U32),
    FD("parent", T_U32, "4"),
    FD("session", T_U32, "1"),
    FD("exit", T_U32, "259"),
    FV("directory", T_PTR, 3, 0, "0x1ad000"),
    {"flags", T_U32, 4, 0, 0, NULL, PROCESS_FLAGS},
    F("sid", T_SID),
    F("name", T_ASTR),
    F("cmd", T_WSTR),
    FV("package", T_WSTR, 4, 0, NULL),
    FV("app", T_WSTR, 4, 0, NULL),
    FV("exit_filetime", T_U64, 5, 0, NULL),
};
static const BuildField PROCESS_V1[] = {
    FD("directory", T_PTR, "0x1ad000"),
    F("pid", T_U32),
    FD("parent", T_U32, "4"),
    FD("session", T_U32, "1"),
    FD("exit", T_U32, "259"),
    F("sid", T_SID),
    F("name", T_ASTR),
};
static const BuildField PROCESS_V0[] = {F("pid", T_PTR), FD("parent", T_PTR, "4"), F("sid", T_SID),
                                        F("name", T_ASTR)};
static const BuildField PID_ONLY[] = {F("pid", T_U32)};
static const BuildField COUNTERS[] = {
    F("pid", T_U32),
    F("faults", T_U32),
    F("handles", T_U32),
    FN(NULL, T_ZEROS, 4),
    F("peak_virtual", T_PTR),
    F("peak_working_set", T_PTR),
    F("peak_page_file", T_PTR),
    F("peak_paged_pool", T_PTR),
    F("peak_nonpaged_pool", T_PTR),
    F("virtual", T_PTR),
    F("working_set", T_PTR),
    F("page_file", T_PTR),
    F("paged_pool", T_PTR),
    F("nonpaged_pool", T_PTR),
    F("private", T_PTR),
};
static const BuildField THREAD[] = {
    // the name, last, is written since Windows 10
    F("pid", T_U32),
    F("tid", T_U32),
    FD("stack_base", T_PTR, "0xfffff88000006000"),
    FD("stack_limit", T_PTR, "0xfffff88000001000"),
    FD("user_stack_base", T_PTR, "0x1f0000"),
    FD("user_stack_limit", T_PTR, "0x1e0000"),
    FV("start", T_PTR, 0, 2, NULL),
    FV("affinity", T_PTR, 3, 0, "0xff"),
    F("entry", T_PTR),
    FV("wait_mode", T_U8, 0, 1, NULL),
    FV("teb", T_PTR, 2, 0, "0x7ff7fff0"),
    FV("tag", T_U32, 2, 0, NULL),
    FV("base_priority", T_U8, 3, 0, "8"),
    FV("page_priority", T_U8, 3, 0, "5"),
    FV("io_priority", T_U8, 3, 0, "2"),
    FV("flags", T_U8, 3, 0, NULL),
    F("name", T_WSTR),
};
static const BuildField THREAD_ID[] = {F("pid", T_U32), F("tid", T_U32)};
static const BuildField THREAD_V0[] = {F("tid", T_U32), F("pid", T_U32)};
static const BuildField THREAD_NAME[] = {F("pid", T_U32), F("tid", T_U32), F("name", T_WSTR)};
static const BuildField IMAGE[] = {
    F("base", T_PTR),
    FD("size", T_PTR, "0x10000"),
    F("pid", T_U32),
    F("checksum", T_U32),
    F("timestamp", T_U32),
    FV("signature_level", T_U8, 3, 0, "8"),
    FV("signature_type", T_U8, 3, 0, "1"),
    {NULL, T_ZEROS, 3, 0, 2, NULL, NULL},
    {NULL, T_ZEROS, 0, 2, 4, NULL, NULL},
    F("default_base", T_PTR),
    FN(NULL, T_ZEROS, 16),
    F("name", T_WSTR),
};
static const BuildField IMAGE_V1[] = {F("base", T_PTR), FD("size", T_PTR, "0x10000"),
                                      F("pid", T_U32), F("name", T_WSTR)};
static const BuildField IMAGE_V0[] = {F("base", T_PTR), FD("size", T_U32, "0x10000"),
                                      F("name", T_WSTR)};
static const BuildField BASE_ONLY[] = {F("base", T_PTR)};

// Identities and machine facts that a merger injects (4.16, 4.17)

static const BuildField IMAGE_ID[] = {F("base", T_PTR), FD("size", T_PTR, "0x10000"),
                                      F("pid", T_U32), F("timestamp", T_U32), F("name", T_WSTR)};
static const BuildField IMAGE_PID[] = {F("base", T_PTR), F("pid", T_U32)};
static const BuildField IMAGE_PDB[] = {F("base", T_PTR), F("pid", T_U32), F("guid", T_GUID),
                                       FD("age", T_U32, "1"), F("pdb", T_ASTR)};
static const BuildField IMAGE_VERSION[] = {
    FD("size", T_U32, "0x10000"), F("timestamp", T_U32), F("name", T_WSTR),
    F("description", T_WSTR),     F("version", T_WSTR),  F("binary_version", T_WSTR),
    F("language", T_WSTR),        F("product", T_WSTR),  F("company", T_WSTR),
    F("product_version", T_WSTR), F("file_id", T_WSTR),  F("program_id", T_WSTR),
};
static const BuildField BUILD_INFO[] = {F("install_filetime", T_U64), F("lab", T_WSTR),
                                        F("product", T_WSTR)};
static const BuildField TWO_TEXTS[] = {F("system", T_WSTR), F("windows", T_WSTR)};
static const BuildField VOLUME[] = {F("nt", T_WSTR), F("dos", T_WSTR)};

// Profile and scheduler (groups 0F, 05)

static const BuildField SAMPLE[] = {
    F("ip", T_PTR),
    F("tid", T_U32),
    FD("count", T_U16, "1"),
    {"flags",    T_U8, 2, 0, 0, NULL, SAMPLE_FLAGS},
    {"priority", T_OR, 2, 0, 3, NULL, NULL        },
    FV("rank", T_U8, 2, 0, NULL),
};
static const BuildField PMC_SAMPLE[] = {F("ip", T_PTR), F("tid", T_U32),
                                        FE("source", T_U16, NULL, SOURCES), FN(NULL, T_ZEROS, 2)};
static const BuildField PMC_CONFIG[] = {F(NULL, T_COUNT), F("names", T_WSTRS)};
static const BuildField INTERVAL[] = {
    FE("source", T_U32, "time", SOURCES), FD("interval", T_U32, "10000"),
    FD("old_interval", T_U32, "10000"), FV("name", T_WSTR, 3, 0, "Timer")};
static const BuildField CSWITCH[] = {
    F("new", T_U32),
    F("old", T_U32),
    FD("new_priority", T_U8, "8"),
    FD("old_priority", T_U8, "8"),
    F("c_state", T_U8),
    F("spare", T_U8),
    FE("old_reason", T_U8, "UserRequest", REASONS),
    FE("old_mode", T_U8, NULL, WAIT_MODE),
    {"important", T_OR, 3, 3, 1, NULL, NULL},
    {"old_qos",   T_OR, 4, 0, 1, NULL, NULL},
    {"new_qos",   T_OR, 4, 0, 4, NULL, NULL},
    FE("old_state", T_U8, "waiting", STATES),
    F("ideal", T_U8),
    FV("new_wait", T_U32, 2, 0, NULL),
    FV("old_quantum", T_U32, 2, 0, NULL),
    FV("extra5", T_U32, 5, 0, NULL),
};
static const BuildField READY[] = {F("tid", T_U32), FE("reason", T_U8, "unwait", ADJUST),
                                   F("increment", T_U8), FE("flags", T_U8, NULL, READY_FLAGS),
                                   F("spare", T_U8)};
static const BuildField PRIORITY[] = {F("tid", T_U32), F("old", T_U8), F("new", T_U8),
                                      FN(NULL, T_ZEROS, 2)};
static const BuildField MIGRATE[] = {F("tid", T_U32),     F("from", T_U16),  F("to", T_U16),
                                     F("priority", T_U8), F("adjust", T_U8), F("ideal", T_U16)};
static const BuildField DPC[] = {F("start", T_AT), F("routine", T_PTR)};
static const BuildField ISR[] = {
    F("start", T_AT),
    F("routine", T_PTR),
    FV("return", T_U32, 0, 1, "1"),
    FV("return", T_U8, 2, 0, "1"),
    FV("vector", T_U16, 2, 0, NULL),
    {NULL, T_ZEROS, 2, 0, 1, NULL, NULL},
};
static const BuildField ISR_MSI[] = {F("start", T_AT),        F("routine", T_PTR),
                                     FD("return", T_U8, "1"), F("vector", T_U16),
                                     FN(NULL, T_ZEROS, 1),    F("message", T_U32)};
static const BuildField ADDRESS[] = {F("address", T_PTR)};
static const BuildField STATUS_ONLY[] = {F("status", T_U32)};
static const BuildField SPINLOCK[] = {
    F("lock", T_PTR),        F("caller", T_PTR),     F("acquired", T_AT), F("released", T_AT),
    F("wait_cycles", T_U32), F("spins", T_U32),      F("tid", T_U32),     F("interrupts", T_U32),
    F("irql", T_U8),         FD("depth", T_U8, "1"), F("flags", T_U8),    FN(NULL, T_ZEROS, 5)};
static const BuildField RESOURCE[] = {
    F("acquire", T_U64), F("hold", T_SPAN),    F("wait", T_SPAN),  F("depth", T_U32),
    F("tid", T_U32),     F("resource", T_PTR), F("action", T_U32), F("contention", T_U32)};

// Stacks (group 18)

static const BuildField STACK[] = {F("event", T_AT), F("pid", T_U32), F("tid", T_U32),
                                   F("frames", T_PTRS)};
static const BuildField STACK_KEY[] = {F("event", T_AT), F("pid", T_U32), F("tid", T_U32),
                                       F("key", T_PTR)};
static const BuildField STACK_DEFINE[] = {F("key", T_PTR), F("frames", T_PTRS)};

// Disk, files, memory (groups 01, 04, 02)

static const BuildField DISK[] = {
    F("disk", T_U32),
    FE("flags", T_U32, NULL, IRP_FLAGS),
    F("bytes", T_U32),
    FN(NULL, T_ZEROS, 4),
    F("offset", T_U64),
    F("key", T_PTR),
    FV("irp", T_PTR, 2, 0, NULL),
    FV("response", T_SPAN, 1, 0, NULL),
    FV("tid", T_U32, 3, 0, NULL),
};
static const BuildField DISK_FLUSH[] = {F("disk", T_U32), FE("flags", T_U32, NULL, IRP_FLAGS),
                                        F("response", T_SPAN), F("irp", T_PTR),
                                        FV("tid", T_U32, 3, 0, NULL)};
static const BuildField DISK_INIT[] = {F("irp", T_PTR), FV("tid", T_U32, 3, 0, NULL)};
static const BuildField FILE_NAME[] = {F("key", T_PTR), F("name", T_WSTR)};
static const BuildField FILE_CREATE[] = {
    F("irp", T_PTR),         FV("tid", T_PTR, 0, 2, NULL),
    F("object", T_PTR),      FV("tid", T_U32, 3, 0, NULL),
    F("options", T_U32),     FD("attributes", T_U32, "0x80"),
    FD("share", T_U32, "7"), F("path", T_WSTR),
};
static const BuildField FILE_SIMPLE[] = {F("irp", T_PTR), FV("tid", T_PTR, 0, 2, NULL),
                                         F("object", T_PTR), F("key", T_PTR),
                                         FV("tid", T_U32, 3, 0, NULL)};
static const BuildField FILE_TRANSFER[] = {
    F("offset", T_U64),
    F("irp", T_PTR),
    FV("tid", T_PTR, 0, 2, NULL),
    F("object", T_PTR),
    F("key", T_PTR),
    FV("tid", T_U32, 3, 0, NULL),
    F("bytes", T_U32),
    F("flags", T_U32),
    {NULL, T_ZEROS64, 3, 0, 4, NULL, NULL}, // four bytes more than the tables say
};
static const BuildField FILE_INFO[] = {
    F("irp", T_PTR),  FV("tid", T_PTR, 0, 2, NULL), F("object", T_PTR), F("key", T_PTR),
    F("info", T_PTR), FV("tid", T_U32, 3, 0, NULL), F("class", T_U32)};
static const BuildField FILE_DIRECTORY[] = {F("irp", T_PTR),
                                            FV("tid", T_PTR, 0, 2, NULL),
                                            F("object", T_PTR),
                                            F("key", T_PTR),
                                            FV("tid", T_U32, 3, 0, NULL),
                                            F("length", T_U32),
                                            F("class", T_U32),
                                            F("index", T_U32),
                                            F("name", T_WSTR)};
static const BuildField FILE_PATH[] = {F("irp", T_PTR),  F("object", T_PTR), F("key", T_PTR),
                                       F("info", T_PTR), F("tid", T_U32),    F("class", T_U32),
                                       F("path", T_WSTR)};
static const BuildField FILE_END[] = {F("irp", T_PTR), F("info", T_PTR), F("status", T_U32)};
static const BuildField FILE_MAP[] = {F("base", T_PTR), F("object", T_PTR), F("misc", T_U64),
                                      F("size", T_PTR), F("pid", T_U32)};
static const BuildField HARD_FAULT[] = {F("start", T_AT),    F("offset", T_U64),
                                        F("address", T_PTR), F("key", T_PTR),
                                        F("tid", T_U32),     FD("bytes", T_U32, "4096")};
static const BuildField SOFT_FAULT[] = {F("address", T_PTR), F("ip", T_PTR)};
static const BuildField VIRTUAL[] = {F("base", T_PTR), F("size", T_PTR), F("pid", T_U32),
                                     FE("flags", T_U32, "commit", VIRTUAL_FLAGS)};
static const BuildField VIRTUAL_RUNDOWN[] = {F("base", T_PTR), F("size", T_PTR), F("pid", T_U32),
                                             FE("flags", T_U32, "commit", VIRTUAL_FLAGS),
                                             F("committed", T_PTR)};
static const BuildField POOL[] = {F("type", T_U32), F("tag", T_TAG), F("bytes", T_PTR),
                                  F("entry", T_PTR)};
static const BuildField POOL_SESSION[] = {F("type", T_U32), F("tag", T_TAG), F("bytes", T_PTR),
                                          F("entry", T_PTR), F("session", T_U32)};
static const BuildField HEAP_ALLOC[] = {F("heap", T_PTR), F("bytes", T_PTR), F("address", T_PTR),
                                        F("source", T_U32)};
static const BuildField HEAP_REALLOC[] = {F("heap", T_PTR),        F("address", T_PTR),
                                          F("old_address", T_PTR), F("bytes", T_PTR),
                                          F("old_bytes", T_PTR),   F("source", T_U32)};
static const BuildField HEAP_FREE[] = {F("heap", T_PTR), F("address", T_PTR), F("source", T_U32)};
static const BuildField HEAP_ONLY[] = {F("heap", T_PTR)};

// Network (groups 06, 08). The remote end comes first except where a datagram is received.

static const BuildField TCP_SEND[] = {
    F("pid", T_U32),     F("bytes", T_U32),  F("remote", T_IP),       F("local", T_IP),
    F("remote", T_PORT), F("local", T_PORT), F("start_100ms", T_U32), F("end_100ms", T_U32),
    F("seq", T_U32),     F("conn", T_PTR)};
static const BuildField TCP_PLAIN[] = {F("pid", T_U32),  F("bytes", T_U32),   F("remote", T_IP),
                                       F("local", T_IP), F("remote", T_PORT), F("local", T_PORT),
                                       F("seq", T_U32),  F("conn", T_PTR)};
static const BuildField TCP_CONNECT[] = {F("pid", T_U32),
                                         F("bytes", T_U32),
                                         F("remote", T_IP),
                                         F("local", T_IP),
                                         F("remote", T_PORT),
                                         F("local", T_PORT),
                                         FD("mss", T_U16, "1460"),
                                         FD("sack", T_U16, "1"),
                                         F("timestamps", T_U16),
                                         FD("scaling", T_U16, "1"),
                                         FD("window", T_U32, "65535"),
                                         FD("receive_scale", T_U16, "8"),
                                         FD("send_scale", T_U16, "8"),
                                         F("seq", T_U32),
                                         F("conn", T_PTR)};
static const BuildField NET_FAIL[] = {FD("protocol", T_U16, "6"), F("code", T_U16)};
static const BuildField UDP_RECEIVE[] = {F("pid", T_U32),   F("bytes", T_U32),  F("local", T_IP),
                                         F("remote", T_IP), F("local", T_PORT), F("remote", T_PORT),
                                         F("seq", T_U32),   F("conn", T_PTR)};

// Registry, ALPC, objects (groups 09, 1A, 11)

static const BuildField REGISTRY[] = {F("start", T_AT), F("status", T_U32), F("index", T_U32),
                                      F("key", T_PTR), F("name", T_WSTR)};
static const BuildField ALPC_MESSAGE[] = {F("message", T_U32)};
static const BuildField ALPC_PORT[] = {F("server", T_U32), F("port", T_WSTR)};
static const BuildField HANDLE[] = {F("object", T_PTR), F("handle", T_U32), F("type", T_U16),
                                    F("name", T_WSTR)};
static const BuildField HANDLE_RUNDOWN[] = {F("object", T_PTR), F("pid", T_U32), F("handle", T_U32),
                                            F("type", T_U16), F("name", T_WSTR)};
static const BuildField OBJECT_TYPE[] = {F("type", T_U16), FN(NULL, T_ZEROS, 2), F("name", T_WSTR)};

// Machine (group 0B)

static const BuildField CONFIG_CPU[] = {
    FD("mhz", T_U32, "3000"),
    FD("processors", T_U32, "4"),
    FD("memory_mb", T_U32, "16384"),
    FD("page", T_U32, "4096"),
    FD("granularity", T_U32, "65536"),
    {"computer", T_WCHARS, 0, 0, 256, "TESTPC",    NULL},
    {"domain",   T_WCHARS, 2, 0, 134, "WORKGROUP", NULL},
    {"domain",   T_WCHARS, 0, 1, 132, "WORKGROUP", NULL},
    F("threads_per_core", T_PTR),
    FV("highest_user", T_PTR, 3, 0, "0x7ffffffeffff"),
    FV("architecture", T_U16, 3, 0, "9"),
    FV("level", T_U16, 3, 0, "6"),
    FV("revision", T_U16, 3, 0, "0x9e0a"),
    FV("pae", T_U8, 3, 0, "1"),
    FV("nx", T_U8, 3, 0, "1"),
    FV("memory_mhz", T_U32, 3, 0, "3200"),
};
static const BuildField CONFIG_DISK[] = {
    F("disk", T_U32),
    FD("sector", T_U32, "512"),
    FD("sectors_per_track", T_U32, "63"),
    FD("tracks_per_cylinder", T_U32, "255"),
    FD("cylinders", T_U64, "62260"),
    F("port", T_U32),
    F("path", T_U32),
    F("target", T_U32),
    F("lun", T_U32),
    {"model",  T_WCHARS, 0, 0, 256, "Test NVMe Disk", NULL},
    FD("partitions", T_U32, "3"),
    FD("write_cache", T_U8, "1"),
    FN(NULL, T_ZEROS, 1),
    {"letter", T_WCHARS, 0, 0, 3,   "C:",             NULL},
    FN(NULL, T_ZEROS, 4),
};
static const BuildField CONFIG_LOGICAL[] = {
    FD("start", T_U64, "1048576"),
    FD("size", T_U64, "511000000000"),
    F("disk", T_U32),
    FN(NULL, T_ZEROS, 4),
    FD("type", T_U32, "1"),
    {"letter", T_WCHARS, 0, 0, 4,  "C:",   NULL},
    FN(NULL, T_ZEROS, 4),
    FD("partition", T_U32, "3"),
    FD("sectors_per_cluster", T_U32, "8"),
    FD("sector", T_U32, "512"),
    FN(NULL, T_ZEROS, 4),
    FD("free_clusters", T_U64, "60000000"),
    FD("clusters", T_U64, "124755859"),
    {"fs",     T_WCHARS, 0, 0, 16, "NTFS", NULL},
    FN(NULL, T_ZEROS, 4),
    {NULL,     T_ZEROS,  2, 0, 4,  NULL,   NULL},
};
static const BuildField CONFIG_NIC[] = {F("mac", T_U64),          FD("mac_bytes", T_U32, "6"),
                                        F("ipv4_index", T_U32),   F("ipv6_index", T_U32),
                                        F("description", T_WSTR), F("addresses", T_WSTR),
                                        F("dns", T_WSTR)};
static const BuildField CONFIG_SERVICE[] = {F("pid", T_U32),
                                            FD("state", T_U32, "4"),
                                            F("tag", T_U32),
                                            F("name", T_WSTR),
                                            F("display", T_WSTR),
                                            F("process", T_WSTR),
                                            FV("group", T_WSTR, 3, 0, NULL),
                                            FV("svchost", T_WSTR, 3, 0, NULL)};
static const BuildField CONFIG_VIDEO[] = {F("memory", T_U32),
                                          FD("width", T_U32, "1920"),
                                          FD("height", T_U32, "1080"),
                                          FD("bits", T_U32, "32"),
                                          FD("hertz", T_U32, "60"),
                                          FN("chip", T_WCHARS, 256),
                                          FN("dac", T_WCHARS, 256),
                                          FN("adapter", T_WCHARS, 256),
                                          FN("bios", T_WCHARS, 256),
                                          FN("device", T_WCHARS, 256),
                                          F("state", T_U32)};
static const BuildField CONFIG_POWER[] = {
    F("s1", T_U8),       F("s2", T_U8),   FD("s3", T_U8, "1"), FD("s4", T_U8, "1"),
    FD("s5", T_U8, "1"), F("aoac", T_U8), FN(NULL, T_ZEROS, 2)};
static const BuildField CONFIG_NETWORK[] = {F("partitions", T_U32), F("hash", T_U32),
                                            FD("max_port", T_U32, "65534"),
                                            FD("timed_wait", T_U32, "120")};
static const BuildField CONFIG_IRQ[] = {F("affinity", T_U64), F("group", T_U16),
                                        FN(NULL, T_ZEROS, 2), F("irq", T_U32),
                                        F("length", T_U32),   F("description", T_WSTR)};
static const BuildField CONFIG_PNP[] = {F("class", T_GUID),
                                        FN(NULL, T_ZEROS, 8),
                                        FV("status", T_U32, 5, 0, NULL),
                                        FV("problem", T_U32, 5, 0, NULL),
                                        F("device", T_WSTR),
                                        F("description", T_WSTR),
                                        F("friendly", T_WSTR),
                                        F("pdo", T_WSTR),
                                        F("service", T_WSTR)};
static const BuildField CONFIG_PLATFORM[] = {F("maker", T_WSTR), F("product", T_WSTR),
                                             F("bios_date", T_WSTR), F("bios", T_WSTR)};
static const BuildField CONFIG_GROUPS[] = {F(NULL, T_COUNT), F("masks", T_PTRS)};
static const BuildField CONFIG_NUMBERS[] = {F(NULL, T_COUNT), F("numbers", T_U32S)};
static const BuildField CONFIG_PROCESSOR[] = {
    F("index", T_U32),
    F("features", T_U32),
    FD("mhz", T_U32, "3000"),
    {"name",       T_WCHARS, 0, 0, 64,  "Test CPU @ 3.00GHz", NULL},
    {"identifier", T_WCHARS, 0, 0, 128, "Intel64 Family 6",   NULL},
    {"vendor",     T_WCHARS, 0, 0, 16,  "GenuineIntel",       NULL},
};
static const BuildField CONFIG_VIRTUAL[] = {F("vbs", T_U8), F("hvci", T_U8), F("hypervisor", T_U8),
                                            FN(NULL, T_ZEROS, 1)};
static const BuildField CONFIG_BOOT[] = {F("flags", T_U64), FD("firmware", T_U32, "2"),
                                         FD("secure_boot", T_U8, "1"), FD("capable", T_U8, "1"),
                                         FN(NULL, T_ZEROS, 2)};

enum { NEVER_DEFAULT = 99999 }; // a layout only an explicit version picks

#define SYS ETL_BUILD_SYSTEM
#define PRF ETL_BUILD_PERFINFO
#define FUL ETL_BUILD_FULL
// One row: verb, hook, header, versions, first Windows build, fields, thread of the stack.
#define ROW(verb, hook, header, from, to, os, fields, tid)                                         \
    { verb, hook, header, from, to, os, fields, COUNT_OF(fields), tid, NULL }
#define ROW_SHORT(verb, hook, header, from, to, os, fields, left_out)                              \
    { verb, hook, header, from, to, os, fields, COUNT_OF(fields) - (left_out), NULL, NULL }
#define INJECTED(verb, opcode, version, class_guid, fields)                                        \
    { verb, opcode, FUL, version, version, 0, fields, COUNT_OF(fields), NULL, class_guid }
#define EMPTY(verb, hook, header, version)                                                         \
    { verb, hook, header, version, version, 0, NULL, 0, NULL, NULL }
#define EMPTY_CLASSIC(verb, opcode, class_guid)                                                    \
    { verb, opcode, FUL, 0, 0, 0, NULL, 0, NULL, class_guid }

#define PROCESS_ROWS(verb, hook)                                                                   \
    ROW(verb, hook, SYS, 4, 4, 9200, PROCESS, NULL),                                               \
        ROW(verb, hook, SYS, 2, 3, 6000, PROCESS, NULL),                                           \
        ROW(verb, hook, SYS, 1, 1, 0, PROCESS_V1, NULL),                                           \
        ROW(verb, hook, SYS, 0, 0, 0, PROCESS_V0, NULL)
#define THREAD_ROWS(verb, hook)                                                                    \
    ROW(verb, hook, SYS, 3, 3, 10240, THREAD, NULL),                                               \
        ROW(verb, hook, SYS, 4, 4, NEVER_DEFAULT, THREAD, NULL),                                   \
        ROW_SHORT(verb, hook, SYS, 2, 3, 6000, THREAD, 1),                                         \
        ROW_SHORT(verb, hook, SYS, 1, 1, 0, THREAD, 1),                                            \
        ROW(verb, hook, SYS, 0, 0, 0, THREAD_V0, NULL)
#define IMAGE_ROWS(verb, hook)                                                                     \
    ROW(verb, hook, SYS, 3, 3, 10240, IMAGE, NULL), ROW(verb, hook, SYS, 2, 2, 6000, IMAGE, NULL), \
        ROW(verb, hook, SYS, 1, 1, 0, IMAGE_V1, NULL),                                             \
        ROW(verb, hook, SYS, 0, 0, 0, IMAGE_V0, NULL)
#define DISK_ROWS(verb, hook)                                                                      \
    ROW(verb, hook, SYS, 3, 3, 9200, DISK, NULL), ROW(verb, hook, SYS, 0, 2, 0, DISK, NULL)
#define INIT_ROWS(verb, hook)                                                                      \
    ROW(verb, hook, SYS, 3, 3, 9200, DISK_INIT, "tid"),                                            \
        ROW(verb, hook, SYS, 2, 2, 0, DISK_INIT, NULL)
#define FILE_ROWS(verb, hook, fields)                                                              \
    ROW(verb, hook, SYS, 3, 3, 9200, fields, "tid"), ROW(verb, hook, SYS, 2, 2, 0, fields, "tid")
#define NAME_ROW(verb, hook) ROW(verb, hook, SYS, 0, 3, 0, FILE_NAME, NULL)
#define REGISTRY_ROW(verb, hook) ROW(verb, hook, PRF, 2, 2, 0, REGISTRY, NULL)

#define IMAGE_CLASS "b3e675d7-2554-4f18-830b-2762732560de"
#define SYSTEM_CLASS "9b79ee91-b5fd-41c0-a243-4248e266e9d0"
#define LOST_CLASS "6a399ae0-4bc6-4de9-870b-3657f8947e7e"
#define PERF_CLASS "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"

static const BuildRecord RECORDS[] = {
    ROW("masks start", 0x0005, SYS, 0, 2, 0, MASKS, NULL),
    ROW("masks end", 0x0020, SYS, 0, 2, 0, MASKS, NULL),
    EMPTY("rundown complete", 0x0008, SYS, 2),
    ROW("partition info", 0x0050, SYS, 2, 2, 0, PARTITION, NULL),
    ROW("provider binary", 0x0040, PRF, 2, 2, 0, PROVIDER_RSDS, NULL),
    ROW("build lab", 0x0042, PRF, 2, 2, 0, TEXT, NULL),

    PROCESS_ROWS("process start", 0x0301),
    PROCESS_ROWS("process end", 0x0302),
    PROCESS_ROWS("process rundown", 0x0303),
    PROCESS_ROWS("process rundown-end", 0x0304),
    ROW("process defunct", 0x0327, SYS, 5, 5, 14393, PROCESS, NULL),
    ROW("process defunct", 0x0327, SYS, 2, 4, 6000, PROCESS, NULL),
    ROW("process terminate", 0x030B, SYS, 2, 2, 0, PID_ONLY, NULL),
    ROW("process counters", 0x0320, SYS, 2, 2, 0, COUNTERS, NULL),
    ROW("process counters-rundown", 0x0321, SYS, 2, 2, 0, COUNTERS, NULL),

    THREAD_ROWS("thread start", 0x0501),
    ROW("thread end", 0x0502, SYS, 1, 1, NEVER_DEFAULT, THREAD_ID, NULL),
    THREAD_ROWS("thread end", 0x0502),
    THREAD_ROWS("thread rundown", 0x0503),
    THREAD_ROWS("thread rundown-end", 0x0504),
    ROW("thread name", 0x0548, PRF, 2, 2, 0, THREAD_NAME, NULL),
    ROW("thread priority", 0x0530, PRF, 3, 3, 0, PRIORITY, NULL),
    ROW("thread migrate", 0x053D, PRF, 2, 2, 0, MIGRATE, NULL),

    IMAGE_ROWS("image load", 0x030A),
    IMAGE_ROWS("image unload", 0x1402),
    IMAGE_ROWS("image rundown", 0x1403),
    IMAGE_ROWS("image rundown-end", 0x1404),
    ROW("image kernel-base", 0x1421, PRF, 2, 2, 0, BASE_ONLY, NULL),
    INJECTED("image id", 0, 2, IMAGE_CLASS, IMAGE_ID),
    INJECTED("image nodebug", 32, 2, IMAGE_CLASS, IMAGE_PID),
    INJECTED("image pdb", 36, 2, IMAGE_CLASS, IMAGE_PDB),
    INJECTED("image version", 64, 2, IMAGE_CLASS, IMAGE_VERSION),
    INJECTED("system build", 32, 0, SYSTEM_CLASS, BUILD_INFO),
    INJECTED("system paths", 33, 0, SYSTEM_CLASS, TWO_TEXTS),
    INJECTED("system volume", 35, 0, SYSTEM_CLASS, VOLUME),
    INJECTED("mark", 34, 0, PERF_CLASS, TEXT),
    EMPTY_CLASSIC("lost event", 32, LOST_CLASS),
    EMPTY_CLASSIC("lost buffer", 33, LOST_CLASS),

    ROW("sample", 0x0F2E, PRF, 2, 2, 6000, SAMPLE, "tid"),
    ROW("sample", 0x0F2E, PRF, 1, 1, 0, SAMPLE, "tid"),
    ROW("sample nmi", 0x0F47, PRF, 2, 2, 0, SAMPLE, "tid"),
    ROW("pmc sample", 0x0F2F, PRF, 2, 2, 0, PMC_SAMPLE, "tid"),
    ROW("pmc config", 0x0F30, PRF, 2, 2, 0, PMC_CONFIG, NULL),
    ROW("interval start", 0x0F49, PRF, 3, 3, 10240, INTERVAL, NULL),
    ROW("interval start", 0x0F49, PRF, 2, 2, 0, INTERVAL, NULL),
    ROW("interval end", 0x0F4A, PRF, 3, 3, 10240, INTERVAL, NULL),
    ROW("interval end", 0x0F4A, PRF, 2, 2, 0, INTERVAL, NULL),
    ROW("interval change", 0x0F48, PRF, 2, 2, 0, INTERVAL, NULL),
    ROW("cswitch", 0x0524, PRF, 5, 5, 26200, CSWITCH, "new"),
    ROW("cswitch", 0x0524, PRF, 4, 4, 16299, CSWITCH, "new"),
    ROW("cswitch", 0x0524, PRF, 3, 3, 15063, CSWITCH, "new"),
    ROW("cswitch", 0x0524, PRF, 1, 2, 0, CSWITCH, "new"),
    ROW("ready", 0x0532, PRF, 2, 2, 0, READY, NULL),
    ROW("dpc", 0x0F44, PRF, 1, 2, 0, DPC, NULL),
    ROW("dpc threaded", 0x0F42, PRF, 2, 2, 0, DPC, NULL),
    ROW("dpc timer", 0x0F45, PRF, 1, 2, 0, DPC, NULL),
    ROW("isr", 0x0F43, PRF, 1, 2, 0, ISR, NULL),
    ROW("isr passive", 0x0F5F, PRF, 1, 2, 0, ISR, NULL),
    ROW("isr msi", 0x0F32, PRF, 2, 2, 0, ISR_MSI, NULL),
    ROW("syscall enter", 0x0F33, PRF, 2, 2, 0, ADDRESS, NULL),
    ROW("syscall exit", 0x0F34, PRF, 2, 2, 0, STATUS_ONLY, NULL),
    ROW("spinlock", 0x0529, PRF, 2, 2, 0, SPINLOCK, "tid"),
    ROW("resource", 0x052B, PRF, 2, 2, 0, RESOURCE, "tid"),

    ROW("stack walk", 0x1820, PRF, 2, 2, 0, STACK, NULL),
    ROW("stack create", 0x1822, PRF, 2, 2, 0, STACK_DEFINE, NULL),
    ROW("stack delete", 0x1823, PRF, 2, 2, 0, STACK_DEFINE, NULL),
    ROW("stack rundown", 0x1824, PRF, 2, 2, 0, STACK_DEFINE, NULL),
    ROW("stack kernel", 0x1825, PRF, 2, 2, 0, STACK_KEY, NULL),
    ROW("stack user", 0x1826, PRF, 2, 2, 0, STACK_KEY, NULL),

    DISK_ROWS("disk read", 0x010A),
    DISK_ROWS("disk write", 0x010B),
    ROW("disk flush", 0x010E, SYS, 3, 3, 9200, DISK_FLUSH, NULL),
    ROW("disk flush", 0x010E, SYS, 2, 2, 0, DISK_FLUSH, NULL),
    INIT_ROWS("disk read-init", 0x010C),
    INIT_ROWS("disk write-init", 0x010D),
    INIT_ROWS("disk flush-init", 0x010F),

    NAME_ROW("file name", 0x0400),
    NAME_ROW("file name-create", 0x0420),
    NAME_ROW("file name-delete", 0x0423),
    NAME_ROW("file rundown", 0x0424),
    ROW("file map", 0x0425, SYS, 2, 2, 0, FILE_MAP, NULL),
    ROW("file unmap", 0x0426, SYS, 2, 2, 0, FILE_MAP, NULL),
    FILE_ROWS("file create", 0x0440, FILE_CREATE),
    FILE_ROWS("file cleanup", 0x0441, FILE_SIMPLE),
    FILE_ROWS("file close", 0x0442, FILE_SIMPLE),
    FILE_ROWS("file read", 0x0443, FILE_TRANSFER),
    FILE_ROWS("file write", 0x0444, FILE_TRANSFER),
    FILE_ROWS("file set-info", 0x0445, FILE_INFO),
    FILE_ROWS("file delete", 0x0446, FILE_INFO),
    FILE_ROWS("file rename", 0x0447, FILE_INFO),
    FILE_ROWS("file directory", 0x0448, FILE_DIRECTORY),
    FILE_ROWS("file flush", 0x0449, FILE_SIMPLE),
    FILE_ROWS("file query-info", 0x044A, FILE_INFO),
    FILE_ROWS("file fs-control", 0x044B, FILE_INFO),
    ROW("file end", 0x044C, SYS, 2, 3, 0, FILE_END, NULL),
    FILE_ROWS("file notify", 0x044D, FILE_DIRECTORY),
    ROW("file delete-path", 0x044F, SYS, 3, 3, 0, FILE_PATH, "tid"),
    ROW("file rename-path", 0x0450, SYS, 3, 3, 0, FILE_PATH, "tid"),

    ROW("fault hard", 0x0220, PRF, 2, 2, 0, HARD_FAULT, "tid"),
    ROW("fault transition", 0x020A, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("fault demand-zero", 0x020B, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("fault copy-on-write", 0x020C, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("fault guard-page", 0x020D, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("fault hard-address", 0x020E, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("fault access-violation", 0x020F, PRF, 2, 2, 0, SOFT_FAULT, NULL),
    ROW("virtual alloc", 0x0262, SYS, 2, 2, 0, VIRTUAL, NULL),
    ROW("virtual free", 0x0263, SYS, 2, 2, 0, VIRTUAL, NULL),
    ROW("virtual rundown", 0x0280, SYS, 2, 2, 0, VIRTUAL_RUNDOWN, NULL),
    ROW("virtual rundown-end", 0x0281, SYS, 2, 2, 0, VIRTUAL_RUNDOWN, NULL),
    ROW("pool alloc", 0x0E20, PRF, 2, 2, 0, POOL, NULL),
    ROW("pool free", 0x0E22, PRF, 2, 2, 0, POOL, NULL),
    ROW("pool alloc-session", 0x0E21, PRF, 2, 2, 0, POOL_SESSION, NULL),
    ROW("pool free-session", 0x0E23, PRF, 2, 2, 0, POOL_SESSION, NULL),
    ROW("heap create", 0x1020, SYS, 2, 2, 0, HEAP_ONLY, NULL),
    ROW("heap alloc", 0x1021, SYS, 2, 2, 0, HEAP_ALLOC, NULL),
    ROW("heap realloc", 0x1022, SYS, 2, 2, 0, HEAP_REALLOC, NULL),
    ROW("heap free", 0x1024, SYS, 2, 2, 0, HEAP_FREE, NULL),

    ROW("tcp send", 0x060A, PRF, 2, 2, 0, TCP_SEND, NULL),
    ROW("tcp recv", 0x060B, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("tcp connect", 0x060C, PRF, 2, 2, 0, TCP_CONNECT, NULL),
    ROW("tcp disconnect", 0x060D, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("tcp retransmit", 0x060E, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("tcp accept", 0x060F, PRF, 2, 2, 0, TCP_CONNECT, NULL),
    ROW("tcp reconnect", 0x0610, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("tcp fail", 0x0611, PRF, 2, 2, 0, NET_FAIL, NULL),
    ROW("tcp copy", 0x0612, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("udp send", 0x080A, PRF, 2, 2, 0, TCP_PLAIN, NULL),
    ROW("udp recv", 0x080B, PRF, 2, 2, 0, UDP_RECEIVE, NULL),
    ROW("udp fail", 0x0811, PRF, 2, 2, 0, NET_FAIL, NULL),

    REGISTRY_ROW("registry create", 0x090A),
    REGISTRY_ROW("registry open", 0x090B),
    REGISTRY_ROW("registry delete", 0x090C),
    REGISTRY_ROW("registry query", 0x090D),
    REGISTRY_ROW("registry set-value", 0x090E),
    REGISTRY_ROW("registry delete-value", 0x090F),
    REGISTRY_ROW("registry query-value", 0x0910),
    REGISTRY_ROW("registry enum-key", 0x0911),
    REGISTRY_ROW("registry enum-value", 0x0912),
    REGISTRY_ROW("registry flush", 0x0915),
    REGISTRY_ROW("registry kcb-create", 0x0916),
    REGISTRY_ROW("registry kcb-delete", 0x0917),
    REGISTRY_ROW("registry kcb-rundown", 0x0919),
    REGISTRY_ROW("registry close", 0x091B),

    ROW("alpc send", 0x1A21, PRF, 2, 2, 0, ALPC_MESSAGE, NULL),
    ROW("alpc receive", 0x1A22, PRF, 2, 2, 0, ALPC_MESSAGE, NULL),
    ROW("alpc wait-reply", 0x1A23, PRF, 2, 2, 0, ALPC_MESSAGE, NULL),
    ROW("alpc wait-new", 0x1A24, PRF, 2, 2, 0, ALPC_PORT, NULL),
    ROW("alpc unwait", 0x1A25, PRF, 2, 2, 0, STATUS_ONLY, NULL),
    ROW("handle create", 0x1120, PRF, 2, 2, 0, HANDLE, NULL),
    ROW("handle close", 0x1121, PRF, 2, 2, 0, HANDLE, NULL),
    ROW("handle rundown", 0x1126, PRF, 2, 2, 0, HANDLE_RUNDOWN, NULL),
    ROW("object type", 0x1124, PRF, 2, 2, 0, OBJECT_TYPE, NULL),

    ROW("config cpu", 0x0B0A, SYS, 3, 3, 10240, CONFIG_CPU, NULL),
    ROW("config cpu", 0x0B0A, SYS, 0, 2, 0, CONFIG_CPU, NULL),
    ROW("config disk", 0x0B0B, SYS, 2, 2, 0, CONFIG_DISK, NULL),
    ROW("config logical-disk", 0x0B0C, SYS, 0, 2, 0, CONFIG_LOGICAL, NULL),
    ROW("config nic", 0x0B0D, SYS, 2, 2, 0, CONFIG_NIC, NULL),
    ROW("config video", 0x0B0E, SYS, 2, 2, 0, CONFIG_VIDEO, NULL),
    ROW("config service", 0x0B0F, SYS, 3, 3, 9200, CONFIG_SERVICE, NULL),
    ROW("config service", 0x0B0F, SYS, 2, 2, 0, CONFIG_SERVICE, NULL),
    ROW("config power", 0x0B10, SYS, 2, 2, 0, CONFIG_POWER, NULL),
    ROW("config network", 0x0B11, SYS, 2, 2, 0, CONFIG_NETWORK, NULL),
    ROW("config irq", 0x0B15, SYS, 3, 3, 0, CONFIG_IRQ, NULL),
    ROW("config pnp", 0x0B16, SYS, 4, 5, 0, CONFIG_PNP, NULL),
    ROW("config platform", 0x0B19, SYS, 2, 2, 0, CONFIG_PLATFORM, NULL),
    ROW("config groups", 0x0B1A, SYS, 2, 2, 0, CONFIG_GROUPS, NULL),
    ROW("config numbers", 0x0B1B, SYS, 2, 2, 0, CONFIG_NUMBERS, NULL),
    ROW("config processor", 0x0B23, SYS, 2, 2, 0, CONFIG_PROCESSOR, NULL),
    ROW("config virtualization", 0x0B24, SYS, 2, 2, 0, CONFIG_VIRTUAL, NULL),
    ROW("config boot", 0x0B25, SYS, 2, 2, 0, CONFIG_BOOT, NULL),
};

const BuildRecord *etl_build_records(size_t *count) {
    *count = COUNT_OF(RECORDS);
    return RECORDS;
}
