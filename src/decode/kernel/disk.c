// Disk events (group 01): transfers and flushes at their completion, requests at their start,
// driver calls.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef DISK_IO_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",        COL_TEXT, "read, write or flush, with optical_ in front for optical media"},
    {"disk",        COL_U32,  "Disk number"                                                   },
    {"bytes",       COL_U32,  "Bytes moved; NULL for a flush"                                 },
    {"offset",      COL_U64,  "Byte offset on the disk; NULL for a flush"                     },
    {"start_ns",    COL_I64,  "When the request began; ts_ns is its completion"               },
    {"response_ns", COL_I64,  "ts_ns - start_ns, queueing included"                           },
    {"irp",         COL_U64,  "IRP address"                                                   },
    {"irp_flags",   COL_U32,  "IRP flags"                                                     },
    {"io_priority", COL_U8,   "0 not set, 1 very low .. 5 critical"                           },
    {"file_key",    COL_U64,  "Joins file_name.file_key"                                      },
    {"file",        COL_TEXT, "File name, when known"                                         },
    STACK_COLUMN,
};

const TableDef TABLE_DISK_IO = {"disk_io", "One completed disk transfer or flush", DISK_IO_COLUMNS,
                                COUNT_OF(DISK_IO_COLUMNS)};

static const ColumnDef DISK_IO_INIT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind", COL_TEXT, "As in disk_io"                 },
    {"irp",  COL_U64,  "IRP address; joins disk_io.irp"},
    STACK_COLUMN,
};

const TableDef TABLE_DISK_IO_INIT = {"disk_io_init", "One disk request at its start",
                                     DISK_IO_INIT_COLUMNS, COUNT_OF(DISK_IO_INIT_COLUMNS)};

enum DiskSlot {
    D_DISK = 1,
    D_FLAGS,
    D_BYTES,
    D_OFFSET,
    D_FILE,
    D_IRP,
    D_RESPONSE,
    D_THREAD,
};

#define TRANSFER_HEAD(reserved)                                                                    \
    {"DiskNumber", F_U32, D_DISK, 0}, {"IrpFlags", F_HEX32, D_FLAGS, 0},                           \
        {"TransferSize", F_U32, D_BYTES, 0}, {reserved, F_U32, 0, 0},                              \
        {"ByteOffset", F_U64, D_OFFSET, 0}, {                                                      \
        "FileObject", F_PTR, D_FILE, 0                                                             \
    }
static const Field TRANSFER_V0[] = {TRANSFER_HEAD("Reserved")};
static const Field TRANSFER_V1[] = {
    TRANSFER_HEAD("ResponseTime"),
    {"HighResResponseTime", F_U64, D_RESPONSE, 0},
};
static const Field TRANSFER_V2[] = {
    TRANSFER_HEAD("Reserved"),
    {"Irp",                 F_PTR, D_IRP,      0},
    {"HighResResponseTime", F_U64, D_RESPONSE, 0},
};
static const Field TRANSFER_V3[] = {
    TRANSFER_HEAD("Reserved"),
    {"Irp",                 F_PTR, D_IRP,      0},
    {"HighResResponseTime", F_U64, D_RESPONSE, 0},
    {"IssuingThreadId",     F_U32, D_THREAD,   0},
};
#define FLUSH_HEAD                                                                                 \
    {"DiskNumber", F_U32, D_DISK, 0}, {"IrpFlags", F_HEX32, D_FLAGS, 0},                           \
        {"HighResResponseTime", F_U64, D_RESPONSE, 0}, {                                           \
        "Irp", F_PTR, D_IRP, 0                                                                     \
    }
static const Field FLUSH_V2[] = {FLUSH_HEAD};
static const Field FLUSH_V3[] = {
    FLUSH_HEAD,
    {"IssuingThreadId", F_U32, D_THREAD, 0},
};
static const Field INIT_V2[] = {
    {"Irp", F_PTR, D_IRP, 0},
};
static const Field INIT_V3[] = {
    {"Irp",             F_PTR, D_IRP,    0},
    {"IssuingThreadId", F_U32, D_THREAD, 0},
};

typedef struct DiskHook {
    uint16_t done, init;
    const char *kind;
} DiskHook;

static const DiskHook DISK_HOOKS[] = {
    {0x010A, 0x010C, "read"         },
    {0x010B, 0x010D, "write"        },
    {0x010E, 0x010F, "flush"        },
    {0x0137, 0x013A, "optical_read" },
    {0x0138, 0x013B, "optical_write"},
    {0x0139, 0x013C, "optical_flush"},
};

static const DiskHook *disk_hook(uint16_t hook) {
    size_t i = 0;
    while (i < COUNT_OF(DISK_HOOKS) && DISK_HOOKS[i].done != hook && DISK_HOOKS[i].init != hook)
        i++;
    INVARIANT(i < COUNT_OF(DISK_HOOKS));
    return &DISK_HOOKS[i];
}

// The thread that asked: in the payload since version 3, before that the one that logged the start.
static uint32_t issuing_tid(const Values *v, uint32_t start_tid) {
    return value_has(v, D_THREAD) ? (uint32_t)v->at[D_THREAD].u : start_tid;
}

static void note_disk(Notes *notes, const Note *blank, const EtlEvent *event,
                      const EventSpec *spec) {
    Values v;
    Note note = *blank;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, D_IRP)) return;
    note.key = v.at[D_IRP].u;
    note.b = issuing_tid(&v, event->tid);
    notes_push(notes, NOTE_DISK, &note);
}

// The start of the request that ends at this event: the latest one of its kind with its IRP. It is
// logged within microseconds of the moment that the response is counted from; one that is much
// older belongs to an earlier request, and that of this one was lost.
static const Note *find_start(Decoder *decoder, const EtlEvent *event, const EventSpec *spec,
                              const Values *v) {
    enum { SLACK_PER_S = 100 }; // a hundredth of a second
    if (!value_has(v, D_IRP)) return NULL;
    NoteList starts = world_notes(decoder->world, NOTE_DISK, v->at[D_IRP].u);
    const Note *start = note_before(starts, event->ticks, decoder->seq);
    if (!start || start->hook != disk_hook(spec->hook)->init) return NULL;
    uint64_t age = (uint64_t)event->ticks - (uint64_t)start->ticks;
    uint64_t slack = world_header(decoder->world)->ticks_per_s / SLACK_PER_S;
    uint64_t response = value_has(v, D_RESPONSE) ? v->at[D_RESPONSE].u : age;
    return age > response && age - response > slack ? NULL : start;
}

// Stack of the request's start where one was recorded (the completion's is some other thread's).
static uint32_t request_stack(Decoder *decoder, const EtlEvent *event, const Note *start) {
    uint32_t own = decoder_stack(decoder, event, event->tid);
    uint32_t first = start ? decoder_stack_at(decoder, start->ticks, start->cpu, start->tid) : 0;
    return first ? first : own;
}

static void emit_done(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    enum { PRIORITY_SHIFT = 17, PRIORITY_MASK = 7 };
    Values v;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, D_FLAGS)) {
        decoder->short_payloads++;
        return;
    }
    const Note *start = find_start(decoder, event, spec, &v);
    uint32_t tid = issuing_tid(&v, start ? start->b : ETL_NO_ID);
    // Without a start nothing says who asked: the header names the thread that completed it.
    bool timed = value_has(&v, D_RESPONSE) && v.at[D_RESPONSE].u <= INT64_MAX;
    int64_t start_ticks =
        timed ? (int64_t)((uint64_t)event->ticks - v.at[D_RESPONSE].u) : event->ticks;
    int64_t start_ns = decoder_ns(decoder, start_ticks);
    uint32_t flags = (uint32_t)v.at[D_FLAGS].u;
    uint64_t file_key = value_has(&v, D_FILE) ? v.at[D_FILE].u : 0;
    Row row = decoder_row(decoder, T_DISK_IO, event);
    put_who(&row, decoder, tid == ETL_NO_ID ? 0 : world_thread(decoder->world, tid, start_ticks));
    put_text(&row, str_from_c(disk_hook(spec->hook)->kind));
    put_u32(&row, (uint32_t)v.at[D_DISK].u);
    put_u32_if(&row, value_has(&v, D_BYTES), (uint32_t)v.at[D_BYTES].u);
    put_u64_if(&row, value_has(&v, D_OFFSET), v.at[D_OFFSET].u);
    put_i64_if(&row, timed, start_ns);
    put_i64_if(&row, timed, decoder->ts_ns - start_ns);
    put_u64_if(&row, value_has(&v, D_IRP), v.at[D_IRP].u);
    put_u32(&row, flags);
    put_u8(&row, flags >> PRIORITY_SHIFT & PRIORITY_MASK);
    put_u64_if(&row, file_key != 0, file_key);
    put_text(&row, file_key ? world_file(decoder->world, file_key, event->ticks) : (Str){0});
    put_id(&row, request_stack(decoder, event, start));
    row_end(&row);
}

static void emit_init(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < 1) {
        decoder->short_payloads++;
        return;
    }
    Row row = decoder_row(decoder, T_DISK_IO_INIT, event);
    put_who(&row, decoder, decoder_thread(decoder, event, issuing_tid(&v, event->tid)));
    put_text(&row, str_from_c(disk_hook(spec->hook)->kind));
    put_u64(&row, v.at[D_IRP].u);
    put_id(&row, decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

static const Field DRIVER_CALL_V1[] = {
    {"UniqMatchId",   F_U32, 0, 0},
    {"RoutineAddr",   F_PTR, 0, 0},
    {"Irp",           F_PTR, 0, 0},
    {"MajorFunction", F_U32, 0, 0},
    {"MinorFunction", F_U32, 0, 0},
    {"FileObject",    F_PTR, 0, 0},
};
static const Field DRIVER_CALL_V2[] = {
    {"MajorFunction", F_U32, 0, 0},
    {"MinorFunction", F_U32, 0, 0},
    {"RoutineAddr",   F_PTR, 0, 0},
    {"FileObject",    F_PTR, 0, 0},
    {"Irp",           F_PTR, 0, 0},
    {"UniqMatchId",   F_U32, 0, 0},
};
static const Field DRIVER_RETURN_V1[] = {
    {"UniqMatchId", F_U32, 0, 0},
    {"Irp",         F_PTR, 0, 0},
};
static const Field DRIVER_RETURN[] = {
    {"Irp",         F_PTR, 0, 0},
    {"UniqMatchId", F_U32, 0, 0},
};
static const Field DRIVER_COMPLETION[] = {
    {"Routine",     F_PTR, 0, 0},
    {"IrpPtr",      F_PTR, 0, 0},
    {"UniqMatchId", F_U32, 0, 0},
};
static const Field DRIVER_COMPLETE[] = {
    {"RoutineAddr", F_PTR, 0, 0},
    {"Irp",         F_PTR, 0, 0},
    {"UniqMatchId", F_U32, 0, 0},
};
static const Field REDIRECTED[] = {
    {"Irp",     F_PTR, 0, 0},
    {"FileKey", F_PTR, 0, 0},
};
static const Field PREFETCH[] = {
    {"Action", F_I32,   0, 0},
    {"Status", F_HEX32, 0, 0},
    {"Pages",  F_I32,   0, 0},
};

#define TRANSFER(hook, name)                                                                       \
    SPEC_ROWS(hook, 0, 0, name, TRANSFER_V0, 0, T_DISK_IO, emit_done),                             \
        SPEC_ROWS(hook, 1, 1, name, TRANSFER_V1, 0, T_DISK_IO, emit_done),                         \
        SPEC_ROWS(hook, 2, 2, name, TRANSFER_V2, 0, T_DISK_IO, emit_done),                         \
        SPEC_ROWS(hook, 3, 3, name, TRANSFER_V3, 0, T_DISK_IO, emit_done)
#define FLUSH(hook, name)                                                                          \
    SPEC_ROWS(hook, 2, 2, name, FLUSH_V2, 0, T_DISK_IO, emit_done),                                \
        SPEC_ROWS(hook, 3, 3, name, FLUSH_V3, 0, T_DISK_IO, emit_done)
#define INIT(hook, name)                                                                           \
    SPEC_ROWS(hook, 2, 2, name, INIT_V2, SPEC_NOTE, T_DISK_IO_INIT, emit_init),                    \
        SPEC_ROWS(hook, 3, 3, name, INIT_V3, SPEC_NOTE, T_DISK_IO_INIT, emit_init)

static const EventSpec DISK_SPECS[] = {
    TRANSFER(0x010A, "DiskIo/Read"),
    TRANSFER(0x010B, "DiskIo/Write"),
    FLUSH(0x010E, "DiskIo/FlushBuffers"),
    TRANSFER(0x0137, "DiskIo/OpticalRead"),
    TRANSFER(0x0138, "DiskIo/OpticalWrite"),
    FLUSH(0x0139, "DiskIo/OpticalFlush"),
    INIT(0x010C, "DiskIo/ReadInit"),
    INIT(0x010D, "DiskIo/WriteInit"),
    INIT(0x010F, "DiskIo/FlushInit"),
    INIT(0x013A, "DiskIo/OpticalReadInit"),
    INIT(0x013B, "DiskIo/OpticalWriteInit"),
    INIT(0x013C, "DiskIo/OpticalFlushInit"),
    SPEC_RAW(0x0110, 0, 255, "DiskIo/RedirectedInit", REDIRECTED),
    SPEC_NAME(0x0120, "DiskIo/DriverInit"),
    SPEC_NAME(0x0121, "DiskIo/DriverInitComplete"),
    SPEC_RAW(0x0122, 1, 1, "DiskIo/DriverMajorFunctionCall", DRIVER_CALL_V1),
    SPEC_RAW(0x0122, 2, 2, "DiskIo/DriverMajorFunctionCall", DRIVER_CALL_V2),
    SPEC_RAW(0x0123, 1, 1, "DiskIo/DriverMajorFunctionReturn", DRIVER_RETURN_V1),
    SPEC_RAW(0x0123, 2, 2, "DiskIo/DriverMajorFunctionReturn", DRIVER_RETURN),
    SPEC_NAME(0x0124, "DiskIo/DriverCompletionRoutineCall"),
    SPEC_RAW(0x0125, 2, 2, "DiskIo/DriverCompletionRoutine", DRIVER_COMPLETION),
    SPEC_NAME(0x0126, "DiskIo/DriverAddDeviceCall"),
    SPEC_NAME(0x0127, "DiskIo/DriverAddDeviceReturn"),
    SPEC_NAME(0x0128, "DiskIo/DriverStartIoCall"),
    SPEC_NAME(0x0129, "DiskIo/DriverStartIoReturn"),
    SPEC_NAME(0x0130, "DiskIo/PrefetchAction"),
    SPEC_NAME(0x0131, "DiskIo/PrefetchRequest"),
    SPEC_NAME(0x0132, "DiskIo/PrefetchReadList"),
    SPEC_NAME(0x0133, "DiskIo/PrefetchRead"),
    SPEC_RAW(0x0134, 1, 2, "DiskIo/DriverCompleteRequest", DRIVER_COMPLETE),
    SPEC_RAW(0x0135, 1, 2, "DiskIo/DriverCompleteRequestReturn", DRIVER_RETURN),
    SPEC_RAW(0x0136, 0, 255, "DiskIo/BootPrefetchInformation", PREFETCH),
};
const SpecFamily FAMILY_DISK = {DISK_SPECS, COUNT_OF(DISK_SPECS), note_disk};
