// File events (group 04): names of files, operations with their completion, mappings, filters.
// Version 3 moved the thread id behind the objects: the layouts differ in more than length.
#include "decode/entities.h"
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef FILE_NAME_COLUMNS[] = {
    EVENT_COLUMNS,
    {"file_key", COL_U64,  "File key (FCB) or file object"                     },
    {"kind",     COL_TEXT, "name, create, delete or rundown"                   },
    {"name",     COL_TEXT, "Path as recorded"                                  },
    {"path",     COL_TEXT, "Path with a drive letter where the volume is known"},
};

const TableDef TABLE_FILE_NAME = {"file_name", "One name of a file object or file key",
                                  FILE_NAME_COLUMNS, COUNT_OF(FILE_NAME_COLUMNS)};

static const ColumnDef FILE_IO_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",            COL_TEXT,
      "create, cleanup, close, read, write, set_info, delete, rename, dir_enum, flush, query_info, "
     "fs_control, dir_notify, delete_path, rename_path, set_link_path; end: an operation's "
     "completion whose start was not recorded"                                           },
    {"irp",             COL_U64,  "IRP address"                                         },
    {"file_object",     COL_U64,  "Handle-level object"                                 },
    {"file_key",        COL_U64,  "File (FCB)"                                          },
    {"file",            COL_TEXT, "Path, when known"                                    },
    {"offset",          COL_U64,  "Byte offset"                                         },
    {"bytes",           COL_U32,  "Bytes asked for"                                     },
    {"info_class",      COL_U32,  "Information class"                                   },
    {"extra_info",      COL_U64,  "Extra information as recorded"                       },
    {"create_options",  COL_U32,  "Options; the top 8 bits are the disposition"         },
    {"file_attributes", COL_U32,  "Attributes asked for"                                },
    {"share_access",    COL_U32,  "Share access"                                        },
    {"io_flags",        COL_U32,  "IRP flags"                                           },
    {"end_ns",          COL_I64,  "Completion; NULL when not recorded"                  },
    {"status",          COL_U32,  "NTSTATUS of the completion"                          },
    {"information",     COL_U64,  "IoStatus information: bytes moved for read and write"},
    STACK_COLUMN,
};

const TableDef TABLE_FILE_IO = {"file_io", "One file operation, with its completion where recorded",
                                FILE_IO_COLUMNS, COUNT_OF(FILE_IO_COLUMNS)};

enum NameSlot { FN_KEY = 1, FN_NAME };
static const Field NAME[] = {
    {"FileObject", F_PTR,  FN_KEY,  0},
    {"FileName",   F_WSTR, FN_NAME, 0},
};

static void emit_name(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (spec_read(spec, event, &v) < 1) {
        decoder->short_payloads++;
        return;
    }
    Str name = value_text(decoder, &v, FN_NAME, F_WSTR);
    Row row = decoder_row(decoder, T_FILE_NAME, event);
    put_u64(&row, v.at[FN_KEY].u);
    put_text(&row, spec->hook == HOOK_FILE_CREATE_NAME   ? STR("create")
                   : spec->hook == HOOK_FILE_DELETE_NAME ? STR("delete")
                   : spec->hook == HOOK_FILE_RUNDOWN     ? STR("rundown")
                                                         : STR("name"));
    put_text(&row, name);
    put_text(&row, name.p ? world_path(decoder->world, name, &decoder->scratch) : name);
    row_end(&row);
}

enum FileSlot {
    FO_IRP = 1,
    FO_THREAD,
    FO_OBJECT,
    FO_KEY,
    FO_OFFSET,
    FO_SIZE_BYTES,
    FO_FLAGS,
    FO_OPTIONS,
    FO_ATTRIBUTES,
    FO_SHARE,
    FO_EXTRA,
    FO_CLASS,
    FO_STATUS,
    FO_PATH,
    FO_PATTERN,
};

#define V2_OBJECT                                                                                  \
    {"IrpPtr", F_PTR, FO_IRP, 0}, {"TTID", F_SIZE, FO_THREAD, 0}, {                                \
        "FileObject", F_PTR, FO_OBJECT, 0                                                          \
    }
#define V2_FILE                                                                                    \
    V2_OBJECT, {                                                                                   \
        "FileKey", F_PTR, FO_KEY, 0                                                                \
    }
#define V3_OBJECT                                                                                  \
    {"IrpPtr", F_PTR, FO_IRP, 0}, {                                                                \
        "FileObject", F_PTR, FO_OBJECT, 0                                                          \
    }
#define V3_FILE                                                                                    \
    V3_OBJECT, {                                                                                   \
        "FileKey", F_PTR, FO_KEY, 0                                                                \
    }
#define THREAD                                                                                     \
    { "TTID", F_U32, FO_THREAD, 0 }
#define CREATE_REST                                                                                \
    {"CreateOptions", F_HEX32, FO_OPTIONS, 0}, {"FileAttributes", F_HEX32, FO_ATTRIBUTES, 0},      \
        {"ShareAccess", F_HEX32, FO_SHARE, 0}, {                                                   \
        "OpenPath", F_WSTR, FO_PATH, 0                                                             \
    }
#define DIRECTORY_REST                                                                             \
    {"Length", F_U32, FO_SIZE_BYTES, 0}, {"InfoClass", F_U32, FO_CLASS, 0},                        \
        {"FileIndex", F_U32, 0, 0}, {                                                              \
        "FileName", F_WSTR, FO_PATTERN, 0                                                          \
    }

static const Field CREATE_V2[] = {V2_OBJECT, CREATE_REST};
static const Field CREATE_V3[] = {V3_OBJECT, THREAD, CREATE_REST};
static const Field SIMPLE_V2[] = {V2_FILE};
static const Field SIMPLE_V3[] = {V3_FILE, THREAD};
static const Field TRANSFER_V2[] = {
    {"Offset",  F_U64,   FO_OFFSET,     0},
    V2_FILE,
    {"IoSize",  F_U32,   FO_SIZE_BYTES, 0},
    {"IoFlags", F_HEX32, FO_FLAGS,      0},
};
static const Field TRANSFER_V3[] = {
    {"Offset",     F_U64,   FO_OFFSET,     0             },
    V3_FILE,
    THREAD,
    {"IoSize",     F_U32,   FO_SIZE_BYTES, 0             },
    {"IoFlags",    F_HEX32, FO_FLAGS,      0             },
    {"ExtraFlags", F_HEX32, 0,             FIELD_OPTIONAL}, // absent before Windows 8.1
};
static const Field INFO_V2[] = {
    V2_FILE,
    {"ExtraInfo", F_PTR, FO_EXTRA, 0},
    {"InfoClass", F_U32, FO_CLASS, 0},
};
static const Field INFO_V3[] = {
    V3_FILE,
    {"ExtraInfo", F_PTR, FO_EXTRA, 0},
    THREAD,
    {"InfoClass", F_U32, FO_CLASS, 0},
};
static const Field DIRECTORY_V2[] = {V2_FILE, DIRECTORY_REST};
static const Field DIRECTORY_V3[] = {V3_FILE, THREAD, DIRECTORY_REST};
static const Field PATH_V3[] = {
    V3_FILE,
    {"ExtraInfo", F_PTR,  FO_EXTRA, 0},
    THREAD,
    {"InfoClass", F_U32,  FO_CLASS, 0},
    {"FileName",  F_WSTR, FO_PATH,  0},
};
static const Field END[] = {
    {"IrpPtr",    F_PTR,   FO_IRP,    0},
    {"ExtraInfo", F_PTR,   FO_EXTRA,  0},
    {"NtStatus",  F_HEX32, FO_STATUS, 0},
};

enum { HOOK_CREATE = 0x0440, HOOK_END = 0x044C };

static Str file_kind(uint16_t hook) {
    static const char *const KINDS[] = {
        [0x00] = "create",      [0x01] = "cleanup",       [0x02] = "close",
        [0x03] = "read",        [0x04] = "write",         [0x05] = "set_info",
        [0x06] = "delete",      [0x07] = "rename",        [0x08] = "dir_enum",
        [0x09] = "flush",       [0x0A] = "query_info",    [0x0B] = "fs_control",
        [0x0C] = "end",         [0x0D] = "dir_notify",    [0x0F] = "delete_path",
        [0x10] = "rename_path", [0x11] = "set_link_path",
    };
    return str_from_c(KINDS[hook - HOOK_CREATE]);
}

// Starts and ends under their IRP; the object that a create makes under its address. The events
// that add a path to a delete, rename or link stand between its start and its end: no notes.
static void note_file(Notes *notes, const Note *blank, const EtlEvent *event,
                      const EventSpec *spec) {
    Values v;
    Note note = *blank;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, FO_IRP)) return;
    note.key = v.at[FO_IRP].u;
    note.a = value_has(&v, FO_EXTRA) ? v.at[FO_EXTRA].u : 0;
    note.b = value_has(&v, FO_STATUS) ? (uint32_t)v.at[FO_STATUS].u : 0;
    notes_push(notes, NOTE_FILE, &note);
    if (spec->hook != HOOK_CREATE || !value_has(&v, FO_PATH)) return;
    const Value *path = &v.at[FO_PATH];
    note.key = v.at[FO_OBJECT].u;
    note.text = str_from_utf16(&notes->text, (const uint8_t *)path->s.p, path->s.n);
    notes_push(notes, NOTE_FILE_OBJECT, &note);
}

// The completion of an operation: the next note of its IRP, unless that is another operation.
static const Note *find_end(Decoder *decoder, const EtlEvent *event, const Values *v) {
    if (!value_has(v, FO_IRP)) return NULL;
    NoteList list = world_notes(decoder->world, NOTE_FILE, v->at[FO_IRP].u);
    const Note *next = note_after(list, event->ticks, decoder->seq);
    return next && next->hook == HOOK_END ? next : NULL;
}

// Path of an operation: its own, else that of the file key, else that of the file object.
static Str file_path(Decoder *decoder, const EtlEvent *event, const Values *v) {
    if (value_has(v, FO_PATH) && v->at[FO_PATH].s.n)
        return world_path(decoder->world, value_text(decoder, v, FO_PATH, F_WSTR),
                          &decoder->scratch);
    Str path = {0};
    if (value_has(v, FO_KEY)) path = world_file(decoder->world, v->at[FO_KEY].u, event->ticks);
    if (path.p || !value_has(v, FO_OBJECT)) return path;
    path = world_file(decoder->world, v->at[FO_OBJECT].u, event->ticks);
    if (path.p) return path;
    NoteList opened = world_notes(decoder->world, NOTE_FILE_OBJECT, v->at[FO_OBJECT].u);
    const Note *create = note_before(opened, event->ticks, decoder->seq);
    return create ? world_path(decoder->world, create->text, &decoder->scratch) : (Str){0};
}

static void put_u32_slot(Row *row, const Values *v, unsigned slot) {
    put_u32_if(row, value_has(v, slot), (uint32_t)v->at[slot].u);
}

static void put_u64_slot(Row *row, const Values *v, unsigned slot) {
    put_u64_if(row, value_has(v, slot), v->at[slot].u);
}

static void emit_operation(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, FO_IRP)) {
        decoder->short_payloads++;
        return;
    }
    uint32_t tid = value_has(&v, FO_THREAD) ? (uint32_t)v.at[FO_THREAD].u : ETL_NO_ID;
    const Note *end = find_end(decoder, event, &v);
    Row row = decoder_row(decoder, T_FILE_IO, event);
    put_who(&row, decoder, decoder_thread(decoder, event, tid));
    put_text(&row, file_kind(spec->hook));
    put_u64(&row, v.at[FO_IRP].u);
    put_u64_slot(&row, &v, FO_OBJECT);
    put_u64_slot(&row, &v, FO_KEY);
    put_text(&row, file_path(decoder, event, &v));
    put_u64_slot(&row, &v, FO_OFFSET);
    put_u32_slot(&row, &v, FO_SIZE_BYTES);
    put_u32_slot(&row, &v, FO_CLASS);
    put_u64_slot(&row, &v, FO_EXTRA);
    put_u32_slot(&row, &v, FO_OPTIONS);
    put_u32_slot(&row, &v, FO_ATTRIBUTES);
    put_u32_slot(&row, &v, FO_SHARE);
    put_u32_slot(&row, &v, FO_FLAGS);
    put_i64_if(&row, end, end ? decoder_ns(decoder, end->ticks) : 0);
    put_u32_if(&row, end, end ? end->b : 0);
    put_u64_if(&row, end, end ? end->a : 0);
    put_id(&row, decoder_stack(decoder, event, event->tid == ETL_NO_ID ? tid : event->tid));
    row_end(&row);
}

// Completions stand in the row of their operation; only one without an operation has its own.
static void emit_end(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    enum { WITHOUT_VALUES = 11 }; // from file_object to io_flags
    Values v;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, FO_IRP)) {
        decoder->short_payloads++;
        return;
    }
    NoteList list = world_notes(decoder->world, NOTE_FILE, v.at[FO_IRP].u);
    const Note *before = note_before(list, event->ticks, decoder->seq);
    uint32_t stack = decoder_stack(decoder, event, event->tid);
    if (before && before->hook != HOOK_END) return;
    Row row = decoder_row(decoder, T_FILE_IO, event);
    put_who(&row, decoder, decoder_thread(decoder, event, ETL_NO_ID));
    put_text(&row, file_kind(spec->hook));
    put_u64(&row, v.at[FO_IRP].u);
    for (unsigned i = 0; i < WITHOUT_VALUES; i++) put_null(&row);
    put_i64(&row, decoder->ts_ns);
    put_u32_slot(&row, &v, FO_STATUS);
    put_u64_slot(&row, &v, FO_EXTRA);
    put_id(&row, stack);
    row_end(&row);
}

static const Field MAP[] = {
    {"ViewBase",   F_PTR,   0, 0},
    {"FileObject", F_PTR,   0, 0},
    {"MiscInfo",   F_HEX64, 0, 0},
    {"ViewSize",   F_SIZE,  0, 0},
    {"ProcessId",  F_U32,   0, 0},
};
static const Field NAME_SAME[] = {
    {"OldFile", F_PTR, 0, 0},
    {"NewFile", F_PTR, 0, 0},
};
static const Field NAME_NULL[] = {
    {"FileObject", F_PTR, 0, 0},
};
#define FILTER_FIELDS                                                                              \
    {"RoutineAddr", F_PTR, 0, 0}, {"FileObject", F_PTR, 0, 0}, {"FileContext", F_PTR, 0, 0},       \
        {"IrpPtr", F_PTR, 0, 0}, {"CallbackDataPtr", F_PTR, 0, 0}, {                               \
        "MajorFunction", F_U32, 0, 0                                                               \
    }
static const Field FILTER_INIT[] = {FILTER_FIELDS};
static const Field FILTER_COMPLETION[] = {
    {"InitialTime", F_TIME, 0, 0},
    FILTER_FIELDS,
};
static const Field FILTER_FAILURE[] = {
    FILTER_FIELDS,
    {"Status", F_HEX32, 0, 0},
};

#define FILE_NAME(hook, name, flags)                                                               \
    SPEC_ROWS(hook, 0, 3, name, NAME, SPEC_KEEP | (flags), T_FILE_NAME, emit_name)
#define OPERATION(hook, name, v2, v3)                                                              \
    SPEC_ROWS(hook, 2, 2, name, v2, SPEC_NOTE, T_FILE_IO, emit_operation),                         \
        SPEC_ROWS(hook, 3, 3, name, v3, SPEC_NOTE, T_FILE_IO, emit_operation)
#define PATH(hook, name) SPEC_ROWS(hook, 3, 3, name, PATH_V3, 0, T_FILE_IO, emit_operation)

static const EventSpec FILE_SPECS[] = {
    FILE_NAME(HOOK_FILE_NAME, "FileIo/Name", 0),
    FILE_NAME(HOOK_FILE_CREATE_NAME, "FileIo/FileCreate", 0),
    FILE_NAME(HOOK_FILE_DELETE_NAME, "FileIo/FileDelete", 0),
    FILE_NAME(HOOK_FILE_RUNDOWN, "FileIo/FileRundown", SPEC_NO_STACK),
    OPERATION(HOOK_CREATE, "FileIo/Create", CREATE_V2, CREATE_V3),
    OPERATION(0x0441, "FileIo/Cleanup", SIMPLE_V2, SIMPLE_V3),
    OPERATION(0x0442, "FileIo/Close", SIMPLE_V2, SIMPLE_V3),
    OPERATION(0x0443, "FileIo/Read", TRANSFER_V2, TRANSFER_V3),
    OPERATION(0x0444, "FileIo/Write", TRANSFER_V2, TRANSFER_V3),
    OPERATION(0x0445, "FileIo/SetInfo", INFO_V2, INFO_V3),
    OPERATION(0x0446, "FileIo/Delete", INFO_V2, INFO_V3),
    OPERATION(0x0447, "FileIo/Rename", INFO_V2, INFO_V3),
    OPERATION(0x0448, "FileIo/DirEnum", DIRECTORY_V2, DIRECTORY_V3),
    OPERATION(0x0449, "FileIo/Flush", SIMPLE_V2, SIMPLE_V3),
    OPERATION(0x044A, "FileIo/QueryInfo", INFO_V2, INFO_V3),
    OPERATION(0x044B, "FileIo/FSControl", INFO_V2, INFO_V3),
    SPEC_ROWS(HOOK_END, 2, 3, "FileIo/OperationEnd", END, SPEC_NOTE, T_FILE_IO, emit_end),
    OPERATION(0x044D, "FileIo/DirNotify", DIRECTORY_V2, DIRECTORY_V3),
    SPEC_NAME(0x044E, "FileIo/CreateNew"),
    PATH(0x044F, "FileIo/DeletePath"),
    PATH(0x0450, "FileIo/RenamePath"),
    PATH(0x0451, "FileIo/SetLinkPath"),
    SPEC_NAME(0x0452, "FileIo/SetLink"),
    SPEC_RAW(0x0421, 0, 255, "FileIo/NameSame", NAME_SAME),
    SPEC_RAW(0x0422, 0, 255, "FileIo/NameNull", NAME_NULL),
    SPEC_RAW(0x0425, 2, 2, "FileIo/MapFile", MAP),
    SPEC_RAW(0x0426, 2, 2, "FileIo/UnmapFile", MAP),
    SPEC_RAW(0x0427, 2, 2, "FileIo/MapFileDCStart", MAP),
    SPEC_RAW(0x0428, 2, 2, "FileIo/MapFileDCEnd", MAP),
    SPEC_RAW(0x0460, 3, 3, "FileIo/FltPreOpInit", FILTER_INIT),
    SPEC_RAW(0x0461, 3, 3, "FileIo/FltPostOpInit", FILTER_INIT),
    SPEC_RAW(0x0462, 3, 3, "FileIo/FltPreOpCompletion", FILTER_COMPLETION),
    SPEC_RAW(0x0463, 3, 3, "FileIo/FltPostOpCompletion", FILTER_COMPLETION),
    SPEC_RAW(0x0464, 3, 3, "FileIo/FltPreOpFailure", FILTER_FAILURE),
    SPEC_RAW(0x0465, 3, 3, "FileIo/FltPostOpFailure", FILTER_FAILURE),
};
const SpecFamily FAMILY_FILE = {FILE_SPECS, COUNT_OF(FILE_SPECS), note_file};
