// Registry events (group 09). Names are relative to a key control block (KCB), whose own full name
// other events state: when it is made, when it goes, and for all of them at both ends of a trace.
#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef REGISTRY_EVENT_COLUMNS[] = {
    EVENT_COLUMNS,
    WHO_COLUMNS,
    {"kind",        COL_TEXT,
      "create, open, delete, query, set_value, delete_value, query_value, enumerate_key, "
     "enumerate_value, query_multiple_value, set_information, flush, virtualize, close, "
     "set_security or query_security; kcb_create, kcb_delete, kcb_rundown_start and "
     "kcb_rundown_end state names of keys"                                                },
    {"start_ns",    COL_I64,  "When it began; NULL before version 2"                     },
    {"duration_ns", COL_I64,  "ts_ns - start_ns"                                         },
    {"status",      COL_U32,  "NTSTATUS"                                                 },
    {"index",       COL_U32,  "Index (enumeration)"                                      },
    {"key_handle",  COL_U64,  "Key control block"                                        },
    {"name",        COL_TEXT, "Name relative to the key"                                 },
    {"path",        COL_TEXT,
      "Full path of key and name, when the key control block is known or the name is full"},
    STACK_COLUMN,
};

const TableDef TABLE_REGISTRY_EVENT = {"registry_event", "One registry operation",
                                       REGISTRY_EVENT_COLUMNS, COUNT_OF(REGISTRY_EVENT_COLUMNS)};

enum RegistrySlot { RG_START = 1, RG_STATUS, RG_INDEX, RG_KEY, RG_NAME };
static const Field REGISTRY_V0[] = {
    {"Status",      F_PTR,  RG_STATUS, 0},
    {"KeyHandle",   F_PTR,  RG_KEY,    0},
    {"ElapsedTime", F_I64,  0,         0},
    {"KeyName",     F_WSTR, RG_NAME,   0},
};
static const Field REGISTRY_V1[] = {
    {"Status",      F_PTR,  RG_STATUS, 0},
    {"KeyHandle",   F_PTR,  RG_KEY,    0},
    {"ElapsedTime", F_I64,  0,         0},
    {"Index",       F_U32,  RG_INDEX,  0},
    {"KeyName",     F_WSTR, RG_NAME,   0},
};
static const Field REGISTRY_V2[] = {
    {"InitialTime", F_TIME,  RG_START,  0},
    {"Status",      F_HEX32, RG_STATUS, 0},
    {"Index",       F_U32,   RG_INDEX,  0},
    {"KeyHandle",   F_PTR,   RG_KEY,    0},
    {"KeyName",     F_WSTR,  RG_NAME,   0},
};

enum { HOOK_FIRST = 0x090A, HOOK_KCB_FIRST = 0x0916, HOOK_KCB_LAST = 0x0919 };

static bool is_kcb(const EventSpec *spec) {
    return spec->hook >= HOOK_KCB_FIRST && spec->hook <= HOOK_KCB_LAST;
}

static void note_key_name(Notes *notes, const Note *blank, const EtlEvent *event,
                          const EventSpec *spec) {
    Values v;
    Note note = *blank;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, RG_NAME) || !v.at[RG_NAME].s.n || !v.at[RG_KEY].u) return;
    const Value *name = &v.at[RG_NAME];
    note.key = v.at[RG_KEY].u;
    note.text = str_from_utf16(&notes->text, (const uint8_t *)name->s.p, name->s.n);
    notes_push(notes, NOTE_KEY_NAME, &note);
}

// Name of a KCB: the last one stated before, else the first one after (the rundown at the end).
static Str key_name(Decoder *decoder, const EtlEvent *event, uint64_t key) {
    NoteList list = world_notes(decoder->world, NOTE_KEY_NAME, key);
    const Note *note = note_before(list, event->ticks, decoder->seq);
    if (!note) note = note_after(list, event->ticks, decoder->seq);
    return note ? note->text : (Str){0};
}

static Str full_path(Decoder *decoder, const EtlEvent *event, const EventSpec *spec,
                     const Values *v, Str name) {
    if (is_kcb(spec) || str_starts(name, STR("\\"))) return name.n ? name : (Str){0};
    Str base = value_has(v, RG_KEY) && v->at[RG_KEY].u ? key_name(decoder, event, v->at[RG_KEY].u)
                                                       : (Str){0};
    if (!base.n || !name.n) return base;
    return str_format(&decoder->scratch, STR_FMT "\\" STR_FMT, STR_ARG(base), STR_ARG(name));
}

static void emit_registry(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    static const char *const KINDS[] = {
        "create",
        "open",
        "delete",
        "query",
        "set_value",
        "delete_value",
        "query_value",
        "enumerate_key",
        "enumerate_value",
        "query_multiple_value",
        "set_information",
        "flush",
        "kcb_create",
        "kcb_delete",
        "kcb_rundown_start",
        "kcb_rundown_end",
        "virtualize",
        "close",
        "set_security",
        "query_security",
    };
    Values v;
    (void)spec_read(spec, event, &v);
    if (!value_has(&v, RG_KEY)) {
        decoder->short_payloads++;
        return;
    }
    Str name = value_text(decoder, &v, RG_NAME, F_WSTR);
    // A rundown tells no time of its own, and its thread is the one that ran the trace.
    bool timed = value_has(&v, RG_START) && v.at[RG_START].u != 0 && !is_kcb(spec);
    int64_t start_ns = timed ? decoder_ns(decoder, (int64_t)v.at[RG_START].u) : 0;
    Row row = decoder_row(decoder, T_REGISTRY_EVENT, event);
    put_who(&row, decoder, decoder_thread(decoder, event, ETL_NO_ID));
    put_text(&row, str_from_c(KINDS[spec->hook - HOOK_FIRST]));
    put_i64_if(&row, timed, start_ns);
    put_i64_if(&row, timed, decoder->ts_ns - start_ns);
    put_u32_if(&row, value_has(&v, RG_STATUS), (uint32_t)v.at[RG_STATUS].u);
    put_u32_if(&row, value_has(&v, RG_INDEX), (uint32_t)v.at[RG_INDEX].u);
    put_u64(&row, v.at[RG_KEY].u);
    put_text(&row, name);
    put_text(&row, full_path(decoder, event, spec, &v, name));
    put_id(&row, spec->flags & SPEC_NO_STACK ? 0 : decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

static const Field TRANSACTION[] = {
    {"TxrGUID",       F_GUID,  0, 0},
    {"Status",        F_HEX32, 0, 0},
    {"UowCount",      F_U32,   0, 0},
    {"OperationTime", F_U64,   0, 0},
    {"Hive",          F_WSTR,  0, 0},
};
#define COUNTER(n)                                                                                 \
    { "Counter" #n, F_U64, 0, 0 }
static const Field COUNTERS[] = {
    COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(4),  COUNTER(5),  COUNTER(6),
    COUNTER(7), COUNTER(8), COUNTER(9), COUNTER(10), COUNTER(11),
};
static const Field REGISTRY_CONFIG[] = {
    {"CurrentControlSet", F_U32, 0, 0},
};
static const Field HIVE_INITIALIZE[] = {
    {"Hive",          F_PTR,   0, 0},
    {"OperationType", F_U32,   0, 0},
    {"PoolTag",       F_HEX32, 0, 0},
    {"Size",          F_U32,   0, 0},
    {"FileName",      F_WSTR,  0, 0},
};
static const Field HIVE_DESTROY[] = {
    {"Hive",     F_PTR,  0, 0},
    {"FileName", F_WSTR, 0, 0},
    {"Path",     F_WSTR, 0, 0},
};
static const Field HIVE_LINK[] = {
    {"Hive", F_PTR,  0, 0},
    {"Path", F_WSTR, 0, 0},
};
static const Field HIVE_RUNDOWN[] = {
    {"Size",           F_U64,  0, 0},
    {"Hive",           F_PTR,  0, 0},
    {"LoadedKeyCount", F_U32,  0, 0},
    {"FileName",       F_WSTR, 0, 0},
    {"LinkPath",       F_WSTR, 0, 0},
};
static const Field HIVE_DIRTY[] = {
    {"Hive",        F_PTR,  0, 0},
    {"LinkPath",    F_WSTR, 0, 0},
    {"DirtyReason", F_U32,  0, 0},
};
static const Field NOTIFICATION[] = {
    {"Notification", F_PTR, 0, 0},
    {"KeyHandle",    F_PTR, 0, 0},
    {"Type",         F_U8,  0, 0},
    {"WatchSubtree", F_U8,  0, 0},
    {"Primary",      F_U8,  0, 0},
};

#define REGISTRY_FLAGS(hook, name, flags)                                                          \
    SPEC_ROWS(hook, 0, 0, name, REGISTRY_V0, flags, T_REGISTRY_EVENT, emit_registry),              \
        SPEC_ROWS(hook, 1, 1, name, REGISTRY_V1, flags, T_REGISTRY_EVENT, emit_registry),          \
        SPEC_ROWS(hook, 2, 2, name, REGISTRY_V2, flags, T_REGISTRY_EVENT, emit_registry)
#define REGISTRY(hook, name) REGISTRY_FLAGS(hook, name, 0)

static const EventSpec REGISTRY_SPECS[] = {
    REGISTRY(HOOK_FIRST, "Registry/Create"),
    REGISTRY(0x090B, "Registry/Open"),
    REGISTRY(0x090C, "Registry/Delete"),
    REGISTRY(0x090D, "Registry/Query"),
    REGISTRY(0x090E, "Registry/SetValue"),
    REGISTRY(0x090F, "Registry/DeleteValue"),
    REGISTRY(0x0910, "Registry/QueryValue"),
    REGISTRY(0x0911, "Registry/EnumerateKey"),
    REGISTRY(0x0912, "Registry/EnumerateValueKey"),
    REGISTRY(0x0913, "Registry/QueryMultipleValue"),
    REGISTRY(0x0914, "Registry/SetInformation"),
    REGISTRY(0x0915, "Registry/Flush"),
    REGISTRY_FLAGS(HOOK_KCB_FIRST, "Registry/KCBCreate", SPEC_NOTE),
    REGISTRY_FLAGS(0x0917, "Registry/KCBDelete", SPEC_NOTE),
    REGISTRY_FLAGS(0x0918, "Registry/KCBRundownBegin", SPEC_NOTE | SPEC_NO_STACK),
    REGISTRY_FLAGS(HOOK_KCB_LAST, "Registry/KCBRundownEnd", SPEC_NOTE | SPEC_NO_STACK),
    REGISTRY(0x091A, "Registry/Virtualize"),
    REGISTRY(0x091B, "Registry/Close"),
    REGISTRY(0x091C, "Registry/SetSecurity"),
    REGISTRY(0x091D, "Registry/QuerySecurity"),
    SPEC_RAW(0x091E, 2, 2, "Registry/TxRCommit", TRANSACTION),
    SPEC_RAW(0x091F, 2, 2, "Registry/TxRPrepare", TRANSACTION),
    SPEC_RAW(0x0920, 2, 2, "Registry/TxRRollback", TRANSACTION),
    SPEC_NAME(0x0921, "Registry/MountHive"),
    SPEC_RAW(0x0922, 2, 2, "Registry/Counters", COUNTERS),
    SPEC_RAW(0x0923, 2, 2, "Registry/Config", REGISTRY_CONFIG),
    SPEC_RAW(0x0924, 2, 2, "Registry/HiveInitialize", HIVE_INITIALIZE),
    SPEC_RAW(0x0925, 2, 2, "Registry/HiveDestroy", HIVE_DESTROY),
    SPEC_RAW(0x0926, 2, 2, "Registry/HiveLink", HIVE_LINK),
    SPEC_RAW(0x0927, 2, 2, "Registry/HiveDCEnd", HIVE_RUNDOWN),
    SPEC_RAW(0x0928, 2, 2, "Registry/HiveDirty", HIVE_DIRTY),
    SPEC_RAW(0x0930, 2, 2, "Registry/NotificationRegister", NOTIFICATION),
    SPEC_RAW(0x0931, 0, 255, "Registry/NotificationDeliver", NOTIFICATION),
};
const SpecFamily FAMILY_REGISTRY = {REGISTRY_SPECS, COUNT_OF(REGISTRY_SPECS), note_key_name};
