// Memory events (group 02): hard faults with their file, soft faults, virtual allocations, heap
// ranges, memory lists and working sets.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef HARD_FAULT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"start_ns",    COL_I64,  "When the fault began"    },
    {"duration_ns", COL_I64,  "ts_ns - start_ns"        },
    {"address",     COL_U64,  "Faulting virtual address"},
    {"offset",      COL_U64,  "Byte offset in the file" },
    {"bytes",       COL_U32,  "Bytes read"              },
    {"file_key",    COL_U64,  "Joins file_name.file_key"},
    {"file",        COL_TEXT, "File name, when known"   },
    STACK_COLUMN,
};

const TableDef TABLE_HARD_FAULT = {"hard_fault", "One hard page fault, at its completion",
                                   HARD_FAULT_COLUMNS, COUNT_OF(HARD_FAULT_COLUMNS)};

static const ColumnDef PAGE_FAULT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",            COL_TEXT,
      "transition, demand_zero, copy_on_write, guard_page, hard or access_violation"},
    {"address",         COL_U64,  "Virtual address"                                },
    {"program_counter", COL_U64,  "Instruction"                                    },
    {"frame_id",        COL_U64,  "Frame of the instruction"                       },
    STACK_COLUMN,
};

const TableDef TABLE_PAGE_FAULT = {"page_fault", "One soft page fault or access violation",
                                   PAGE_FAULT_COLUMNS, COUNT_OF(PAGE_FAULT_COLUMNS)};

static const ColumnDef VIRTUAL_ALLOC_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",         COL_TEXT, "alloc, free, rundown_start or rundown_end"                     },
    {"base",         COL_U64,  "Base address"                                                  },
    {"bytes",        COL_U64,  "Size of the region"                                            },
    {"flags",        COL_U32,  "0x1000 commit, 0x2000 reserve, 0x4000 decommit, 0x8000 release"},
    {"commit_bytes", COL_U64,  "Committed bytes (rundown)"                                     },
    STACK_COLUMN,
};

const TableDef TABLE_VIRTUAL_ALLOC = {"virtual_alloc", "One virtual memory allocation or release",
                                      VIRTUAL_ALLOC_COLUMNS, COUNT_OF(VIRTUAL_ALLOC_COLUMNS)};

enum HardFaultSlot { H_START = 1, H_OFFSET, H_ADDRESS, H_FILE, H_THREAD, H_BYTES };
static const Field HARD_FAULT[] = {
    {"InitialTime",    F_TIME, H_START,   0},
    {"ReadOffset",     F_U64,  H_OFFSET,  0},
    {"VirtualAddress", F_PTR,  H_ADDRESS, 0},
    {"FileObject",     F_PTR,  H_FILE,    0},
    {"TThreadId",      F_U32,  H_THREAD,  0},
    {"ByteCount",      F_U32,  H_BYTES,   0},
};

static void emit_hard_fault(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < COUNT_OF(HARD_FAULT)) {
        decoder->short_payloads++;
        return;
    }
    uint32_t tid = (uint32_t)v.at[H_THREAD].u;
    int64_t start_ns = decoder_ns(decoder, (int64_t)v.at[H_START].u);
    uint64_t file_key = v.at[H_FILE].u;
    Row row = decoder_row(decoder, T_HARD_FAULT, event);
    put_who(&row, decoder, decoder_thread(decoder, event, tid));
    put_i64(&row, start_ns);
    put_i64(&row, decoder->ts_ns - start_ns);
    put_u64(&row, v.at[H_ADDRESS].u);
    put_u64(&row, v.at[H_OFFSET].u);
    put_u32(&row, (uint32_t)v.at[H_BYTES].u);
    put_u64_if(&row, file_key != 0, file_key);
    put_text(&row, file_key ? world_file(decoder->world, file_key, event->ticks) : (Str){0});
    put_id(&row, decoder_stack(decoder, event, event->tid == ETL_NO_ID ? tid : event->tid));
    row_end(&row);
}

enum FaultSlot { PF_ADDRESS = 1, PF_COUNTER };
static const Field FAULT[] = {
    {"VirtualAddress", F_PTR, PF_ADDRESS, 0},
    {"ProgramCounter", F_PTR, PF_COUNTER, 0},
};

static void emit_fault(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    static const char *const KINDS[] = {"transition", "demand_zero", "copy_on_write",
                                        "guard_page", "hard",        "access_violation"};
    enum { FIRST = 0x020A };
    Values v;
    if (spec_read(spec, event, &v) < COUNT_OF(FAULT)) {
        decoder->short_payloads++;
        return;
    }
    uint32_t utid = decoder_thread(decoder, event, ETL_NO_ID);
    uint64_t counter = v.at[PF_COUNTER].u;
    Row row = decoder_row(decoder, T_PAGE_FAULT, event);
    put_who(&row, decoder, utid);
    put_text(&row, str_from_c(KINDS[spec->hook - FIRST]));
    put_u64(&row, v.at[PF_ADDRESS].u);
    put_u64(&row, counter);
    put_frame(&row, decoder_frame(decoder, utid, counter, event->ticks));
    put_id(&row, decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

enum AllocSlot { VA_BASE = 1, VA_BYTES, VA_PID, VA_FLAGS, VA_COMMIT };
#define ALLOC_FIELDS                                                                               \
    {"BaseAddress", F_PTR, VA_BASE, 0}, {"RegionSize", F_SIZE, VA_BYTES, 0},                       \
        {"ProcessId", F_U32, VA_PID, 0}, {                                                         \
        "Flags", F_HEX32, VA_FLAGS, 0                                                              \
    }
static const Field ALLOC[] = {ALLOC_FIELDS};
static const Field ALLOC_RUNDOWN[] = {
    ALLOC_FIELDS,
    {"CommitSizeInBytes", F_SIZE, VA_COMMIT, 0},
};

enum { HOOK_ALLOC = 0x0262, HOOK_FREE = 0x0263, HOOK_ALLOC_DCSTART = 0x0280 };

static void emit_alloc(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < COUNT_OF(ALLOC)) {
        decoder->short_payloads++;
        return;
    }
    // A rundown names no thread; the process is the owner of the memory, whoever asked for it.
    bool live = spec->hook == HOOK_ALLOC || spec->hook == HOOK_FREE;
    Row row = decoder_row(decoder, T_VIRTUAL_ALLOC, event);
    put_id(&row, world_process(decoder->world, (uint32_t)v.at[VA_PID].u, event->ticks));
    put_id(&row, live ? decoder_thread(decoder, event, ETL_NO_ID) : 0);
    put_text(&row, spec->hook == HOOK_ALLOC           ? STR("alloc")
                   : spec->hook == HOOK_FREE          ? STR("free")
                   : spec->hook == HOOK_ALLOC_DCSTART ? STR("rundown_start")
                                                      : STR("rundown_end"));
    put_u64(&row, v.at[VA_BASE].u);
    put_u64(&row, v.at[VA_BYTES].u);
    put_u32(&row, (uint32_t)v.at[VA_FLAGS].u);
    put_u64_if(&row, value_has(&v, VA_COMMIT), v.at[VA_COMMIT].u);
    put_id(&row, live ? decoder_stack(decoder, event, event->tid) : 0);
    row_end(&row);
}

#define HEAP_RANGES                                                                                \
    {"HeapHandle", F_PTR, 0, 0}, {"HRFlags", F_HEX32, 0, 0}, {"HRPid", F_U32, 0, 0}, {             \
        "HRRangeCount", F_U32, 0, 0                                                                \
    }
static const Field HEAP_RANGES_V2[] = {HEAP_RANGES};
static const Field HEAP_RANGES_V3[] = {
    HEAP_RANGES,
    {"Reserved", F_U32, 0, 0},
};
static const Field HEAP_RANGES_V4[] = {
    HEAP_RANGES,
    {"HRHeapTag", F_U64, 0, 0},
};
static const Field HEAP_RANGE_CREATE[] = {
    {"HeapHandle",     F_PTR,   0, 0},
    {"FirstRangeSize", F_SIZE,  0, 0},
    {"HRCreateFlags",  F_HEX32, 0, 0},
};
static const Field HEAP_RANGE[] = {
    {"HeapHandle", F_PTR,  0, 0},
    {"HRAddress",  F_PTR,  0, 0},
    {"HRSize",     F_SIZE, 0, 0},
};
static const Field HEAP_HANDLE[] = {
    {"HeapHandle", F_PTR, 0, 0},
};
static const Field PAGEFILE_BACKED[] = {
    {"FileObject", F_PTR,   0, 0},
    {"DeviceChar", F_HEX32, 0, 0},
    {"FileChar",   F_U16,   0, 0},
    {"LoadFlags",  F_U16,   0, 0},
};
static const Field ROTATE[] = {
    {"BaseAddress", F_PTR,  0, 0},
    {"SizeInBytes", F_SIZE, 0, 0},
};
static const Field RESET_INFO[] = {
    {"BaseAddress", F_PTR,   0, 0},
    {"SizeInBytes", F_SIZE,  0, 0},
    {"Flags",       F_HEX32, 0, 0},
};
static const Field SECTION[] = {
    {"RangeBase",         F_PTR, 0, 0},
    {"RangeEnd",          F_PTR, 0, 0},
    {"CreatingProcessId", F_U32, 0, 0},
};
static const Field SECTION_OBJECT[] = {
    {"SectionObject", F_PTR, 0, 0},
    {"RangeBase",     F_PTR, 0, 0},
};
static const Field SESSION[] = {
    {"UniqueSessionId", F_PTR, 0, 0},
    {"SessionId",       F_U32, 0, 0},
};
static const Field MEMORY_INFO[] = {
    {"ZeroPages",             F_SIZE, 0, 0},
    {"FreePages",             F_SIZE, 0, 0},
    {"ModifiedPages",         F_SIZE, 0, 0},
    {"ModifiedNoWritePages",  F_SIZE, 0, 0},
    {"BadPages",              F_SIZE, 0, 0},
    {"StandbyByPriority",     F_SIZE, 0, 8},
    {"RepurposedByPriority",  F_SIZE, 0, 8},
    {"ModifiedPageFilePages", F_SIZE, 0, 0},
};
static const Field CONTIGUOUS[] = {
    {"ThreadId",      F_U64, 0, 0},
    {"NumberOfBytes", F_U64, 0, 0},
};
static const Field KERNEL_USE[] = {
    {"UsageType",      F_U32,   0, 0},
    {NULL,             F_ALIGN, 0, 0},
    {"VirtualAddress", F_PTR,   0, 0},
    {"PageCount",      F_SIZE,  0, 0},
};
static const Field WORKING_SETS[] = {
    {"Count",   F_U32,   0, 0         }, // then Count entries of a u32 id and eight pointer-sized counts
    {"Entries", F_BYTES, 0, FIELD_REST},
};

#define SOFT_FAULT(hook, name) SPEC_ROWS(hook, 2, 2, name, FAULT, 0, T_PAGE_FAULT, emit_fault)

static const EventSpec MEMORY_SPECS[] = {
    SOFT_FAULT(0x020A, "PageFault/TransitionFault"),
    SOFT_FAULT(0x020B, "PageFault/DemandZeroFault"),
    SOFT_FAULT(0x020C, "PageFault/CopyOnWrite"),
    SOFT_FAULT(0x020D, "PageFault/GuardPageFault"),
    SOFT_FAULT(0x020E, "PageFault/HardPageFault"),
    SOFT_FAULT(0x020F, "PageFault/AccessViolation"),
    SPEC_ROWS(0x0220, 2, 2, "PageFault/HardFault", HARD_FAULT, 0, T_HARD_FAULT, emit_hard_fault),
    SPEC_ROWS(HOOK_ALLOC, 2, 2, "PageFault/VirtualAlloc", ALLOC, 0, T_VIRTUAL_ALLOC, emit_alloc),
    SPEC_ROWS(HOOK_FREE, 2, 2, "PageFault/VirtualFree", ALLOC, 0, T_VIRTUAL_ALLOC, emit_alloc),
    SPEC_ROWS(HOOK_ALLOC_DCSTART, 2, 2, "PageFault/VirtualAllocDCStart", ALLOC_RUNDOWN,
              SPEC_NO_STACK, T_VIRTUAL_ALLOC, emit_alloc),
    SPEC_ROWS(0x0281, 2, 2, "PageFault/VirtualAllocDCEnd", ALLOC_RUNDOWN, SPEC_NO_STACK,
              T_VIRTUAL_ALLOC, emit_alloc),
    SPEC_NAME(0x0221, "PageFault/RemovePageByColor"),
    SPEC_NAME(0x0222, "PageFault/RemovePageFromList"),
    SPEC_NAME(0x0223, "PageFault/PageInMemory"),
    SPEC_NAME(0x0224, "PageFault/InsertInFreeList"),
    SPEC_NAME(0x0225, "PageFault/InsertInModifiedList"),
    SPEC_NAME(0x0226, "PageFault/InsertInList"),
    SPEC_NAME(0x0228, "PageFault/InsertAtFront"),
    SPEC_NAME(0x0229, "PageFault/UnlinkFromStandby"),
    SPEC_NAME(0x022A, "PageFault/UnlinkFreeOrZero"),
    SPEC_NAME(0x022B, "PageFault/WorkingSetManager"),
    SPEC_NAME(0x022C, "PageFault/TrimProcess"),
    SPEC_NAME(0x022E, "PageFault/ZeroShareCount"),
    SPEC_NAME(0x023C, "PageFault/WorkingSetInfoProcess"),
    SPEC_NAME(0x0245, "PageFault/FaultAddressWithIp"),
    SPEC_NAME(0x0246, "PageFault/TrimSession"),
    SPEC_NAME(0x0247, "PageFault/MemorySnapLite"),
    SPEC_RAW(0x0248, 0, 255, "PageFault/MappedSectionRundown", SECTION),
    SPEC_RAW(0x0249, 0, 255, "PageFault/MappedSectionCreate", SECTION),
    SPEC_NAME(0x024A, "PageFault/WorkingSetInfoSession"),
    SPEC_RAW(0x024B, 0, 255, "PageFault/SessionCreate", SESSION),
    SPEC_RAW(0x024C, 0, 255, "PageFault/SessionDCEnd", SESSION),
    SPEC_RAW(0x024D, 0, 255, "PageFault/SessionDCStart", SESSION),
    SPEC_RAW(0x024E, 0, 255, "PageFault/SessionDelete", SESSION),
    SPEC_RAW(0x024F, 0, 255, "PageFault/MappedSectionDelete", SECTION),
    SPEC_RAW(0x0264, 2, 2, "PageFault/HeapRangeRundown", HEAP_RANGES_V2),
    SPEC_RAW(0x0264, 3, 3, "PageFault/HeapRangeRundown", HEAP_RANGES_V3),
    SPEC_RAW(0x0264, 4, 4, "PageFault/HeapRangeRundown", HEAP_RANGES_V4),
    SPEC_RAW(0x0265, 2, 2, "PageFault/HeapRangeCreate", HEAP_RANGE_CREATE),
    SPEC_RAW(0x0266, 2, 2, "PageFault/HeapRangeReserve", HEAP_RANGE),
    SPEC_RAW(0x0267, 2, 2, "PageFault/HeapRangeRelease", HEAP_RANGE),
    SPEC_RAW(0x0268, 2, 2, "PageFault/HeapRangeDestroy", HEAP_HANDLE),
    SPEC_RAW(0x0269, 2, 2, "PageFault/ImageLoadBacked", PAGEFILE_BACKED),
    SPEC_RAW(0x0270, 0, 255, "PageFault/MemoryInfo", MEMORY_INFO),
    SPEC_RAW(0x0271, 0, 255, "PageFault/ContiguousMemoryGenerate", CONTIGUOUS),
    SPEC_NAME(0x0272, "PageFault/FileStoreFault"),
    SPEC_NAME(0x0273, "PageFault/InMemoryStoreFault"),
    SPEC_NAME(0x0274, "PageFault/CompressedPage"),
    SPEC_NAME(0x0275, "PageFault/PageInMemoryActive"),
    SPEC_NAME(0x0276, "PageFault/PageAccess"),
    SPEC_NAME(0x0277, "PageFault/PageRelease"),
    SPEC_NAME(0x0278, "PageFault/PageRangeAccess"),
    SPEC_NAME(0x0279, "PageFault/PageRangeRelease"),
    SPEC_NAME(0x027A, "PageFault/PageCombine"),
    SPEC_RAW(0x027B, 0, 255, "PageFault/KernelMemoryUsage", KERNEL_USE),
    SPEC_NAME(0x027C, "PageFault/MemoryManagerStats"),
    SPEC_RAW(0x027D, 0, 255, "PageFault/MemoryInfoProcessWorkingSets", WORKING_SETS),
    SPEC_RAW(0x027E, 0, 255, "PageFault/MemoryInfoSessionWorkingSets", WORKING_SETS),
    SPEC_RAW(0x027F, 2, 2, "PageFault/VirtualRotate", ROTATE),
    SPEC_NAME(0x0282, "PageFault/PageAccessEx"),
    SPEC_NAME(0x0283, "PageFault/RemoveFromWorkingSet"),
    SPEC_NAME(0x0284, "PageFault/WorkingSetShareableRundown"),
    SPEC_NAME(0x0285, "PageFault/InMemoryActiveRundown"),
    SPEC_RAW(0x0286, 2, 2, "PageFault/MemoryResetInfo", RESET_INFO),
    SPEC_RAW(0x0287, 0, 255, "PageFault/MappedSectionObjectCreate", SECTION_OBJECT),
    SPEC_RAW(0x0288, 0, 255, "PageFault/MappedSectionObjectDelete", SECTION_OBJECT),
};
const SpecFamily FAMILY_MEMORY = {MEMORY_SPECS, COUNT_OF(MEMORY_SPECS), NULL};
