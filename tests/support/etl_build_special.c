// Script verbs that are not rows of the kernel table: raw and classic events, manifest events with
// their metadata, EventSource manifests, TraceLogging, WPP, and control of buffers.
#include "support/etl_build_script_priv.h"

#include "support/etl_build_meta.h"

enum { CHUNK_MAX = 65280, ITEMS_MAX = 16 };

typedef struct Fields {
    MetaField items[META_FIELDS_MAX];
    size_t count;
} Fields;

static Status take_fields(Args *args, Fields *fields, Err *err) {
    fields->count = 0;
    for (size_t i = 0; i < args->count; i++) {
        if (!str_eq(args->items[i].key, STR("f"))) continue;
        args->items[i].used = true;
        if (fields->count == META_FIELDS_MAX) return err_set(err, ERR_LIMIT, "too many fields");
        TRY(meta_field_parse(args->items[i].value, &fields->items[fields->count++], err));
    }
    return OK;
}

// payload=HEX, then the values of the fields.
static Status take_payload(Args *args, const EtlBuildEvent *event, const Fields *fields,
                           bool tracelogging, Buf *payload, Err *err) {
    if (!pay_hex(payload, args_text(args, "payload")))
        return err_set(err, ERR_ARG, "payload: hex digits");
    return meta_put_values(payload, event->pointer_size, fields->items, fields->count, tracelogging,
                           err);
}

static Status small_numbers(EtlScript *s, Args *args, EtlBuildEvent *e, Err *err) {
    uint64_t id = 0, task = 0, version = 0, level = 0, opcode = 0, channel = 0, property = 0;
    uint64_t tid = 0, pid = 0;
    TRY(args_number(s, args, "id", e->id, &id, err));
    TRY(args_number(s, args, "task", e->task, &task, err));
    TRY(args_number(s, args, "version", e->version, &version, err));
    TRY(args_number(s, args, "level", e->level, &level, err));
    TRY(args_number(s, args, "opcode", e->opcode, &opcode, err));
    TRY(args_number(s, args, "channel", e->channel, &channel, err));
    TRY(args_number(s, args, "property", 0, &property, err));
    TRY(args_number(s, args, "keyword", e->keyword, &e->keyword, err));
    TRY(args_number(s, args, "tid", e->tid, &tid, err));
    TRY(args_number(s, args, "pid", script_pid(s, (uint32_t)tid), &pid, err));
    e->id = (uint16_t)id;
    e->task = (uint16_t)task;
    e->version = (uint16_t)version;
    e->level = (uint8_t)level;
    e->opcode = (uint8_t)opcode;
    e->channel = (uint8_t)channel;
    e->property = (uint16_t)property;
    e->tid = (uint32_t)tid;
    e->pid = (uint32_t)pid;
    return OK;
}

static Status verb_event(EtlScript *s, Args *args, Err *err) {
    uint64_t hook = 0, version = 0;
    Fields fields;
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_PERFINFO};
    TRY(script_when(s, args, &event, err));
    TRY(args_number(s, args, "hook", 0, &hook, err));
    TRY(args_number(s, args, "version", 2, &version, err));
    TRY(take_fields(args, &fields, err));
    TRY(take_payload(args, &event, &fields, false, &payload, err));
    event.hook = (uint16_t)hook;
    event.version = (uint16_t)version;
    TRY(script_emit(s, args, &event, &payload, err));
    return script_stacks(s, args, &event, event.tid, err);
}

static Status verb_raw(EtlScript *s, Args *args, Err *err) {
    AUTO(buf_done) Buf bytes = {0};
    EtlBuildEvent event = {0};
    TRY(script_when(s, args, &event, err));
    event.header = ETL_BUILD_RAW;
    if (!pay_hex(&bytes, args_text(args, "hex"))) return err_set(err, ERR_ARG, "hex digits");
    return script_emit(s, args, &event, &bytes, err);
}

static Status verb_classic(EtlScript *s, Args *args, Err *err) {
    Fields fields;
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_FULL};
    TRY(script_when(s, args, &event, err));
    TRY(small_numbers(s, args, &event, err));
    TRY(args_guid(args, "guid", &event.guid, err));
    TRY(take_fields(args, &fields, err));
    TRY(take_payload(args, &event, &fields, false, &payload, err));
    TRY(script_emit(s, args, &event, &payload, err));
    return script_stacks(s, args, &event, event.tid, err);
}

typedef struct Items { // extended items and their bytes
    EtlBuildItem list[ITEMS_MAX];
    size_t count;
} Items;

static Status add_item(EtlScript *s, Items *items, uint16_t type, const Buf *bytes, Err *err) {
    if (items->count == ITEMS_MAX) return err_set(err, ERR_LIMIT, "too many extended items");
    items->list[items->count++] = (EtlBuildItem){type, str_copy(&s->arena, buf_str(bytes))};
    return OK;
}

static Status item_numbers(EtlScript *s, Args *args, Items *items, Err *err) {
    static const struct {
        const char *key;
        uint16_t type;
        unsigned bytes;
    } NUMBERS[] = {
        {"session",           3,  4},
        {"pebs_index",        7,  8},
        {"pmc",               8,  8},
        {"event_key",         10, 8},
        {"process_start_key", 13, 8},
        {"qpc_delta",         15, 8}
    };
    for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
        Arg *arg = args_find(args, NUMBERS[i].key);
        uint64_t *list = NULL;
        size_t count = 0;
        if (!arg) continue;
        AUTO(buf_done) Buf bytes = {0};
        TRY(script_frames(s, arg->value, &list, &count, err));
        for (size_t k = 0; k < count; k++) pay_ptr(&bytes, NUMBERS[i].bytes, list[k]);
        TRY(add_item(s, items, NUMBERS[i].type, &bytes, err));
    }
    return OK;
}

static Status item_stack(EtlScript *s, Args *args, Items *items, Err *err) {
    uint64_t match = 0, small = 0, *list = NULL;
    size_t count = 0;
    TRY(args_number(s, args, "match", 0, &match, err));
    TRY(args_number(s, args, "stack32", 0, &small, err));
    for (size_t key = 0; key < 2; key++) {
        Arg *arg = args_find(args, key ? "stack_key" : "stack");
        if (!arg) continue;
        AUTO(buf_done) Buf bytes = {0};
        TRY(script_frames(s, arg->value, &list, &count, err));
        pay_u64(&bytes, match);
        for (size_t i = 0; i < count; i++) pay_ptr(&bytes, small ? 4 : 8, list[i]);
        uint16_t type = (uint16_t)((key ? 17 : 5) + (small ? 0 : 1));
        TRY(add_item(s, items, type, &bytes, err));
    }
    return OK;
}

static Status item_texts(EtlScript *s, Args *args, Items *items, Err *err) {
    AUTO(buf_done) Buf sid = {0}, container = {0};
    Str text = args_text(args, "sid");
    if (text.n && !pay_sid(&sid, text)) return err_set(err, ERR_ARG, "malformed SID");
    if (sid.n) TRY(add_item(s, items, 2, &sid, err));
    pay_bytes(&container, args_text(args, "container"));
    if (container.n) TRY(add_item(s, items, 16, &container, err));
    Guid guid;
    AUTO(buf_done) Buf related = {0};
    if (args_find(args, "related")) {
        TRY(args_guid(args, "related", &guid, err));
        pay_guid(&related, guid);
        TRY(add_item(s, items, 1, &related, err));
    }
    AUTO(buf_done) Buf raw = {0};
    Str rest = args_text(args, "item"), type;
    uint64_t number = 0;
    if (!str_next(&rest, ':', &type)) return OK;
    if (!str_to_u64(type, &number) || !pay_hex(&raw, rest))
        return err_set(err, ERR_ARG, "item=TYPE:HEX");
    return add_item(s, items, (uint16_t)number, &raw, err);
}

static Status take_items(EtlScript *s, Args *args, Items *items, Err *err) {
    TRY(item_texts(s, args, items, err));
    TRY(item_numbers(s, args, items, err));
    return item_stack(s, args, items, err);
}

static Status provider_event(EtlScript *s, Args *args, EtlBuildEvent *event, Err *err) {
    TRY(script_when(s, args, event, err));
    TRY(small_numbers(s, args, event, err));
    TRY(args_guid(args, "provider", &event->guid, err));
    return args_guid(args, "activity", &event->activity, err);
}

static Status item_traits(EtlScript *s, Args *args, Items *items, Err *err) {
    Str name = args_text(args, "traits");
    Guid group;
    bool grouped = args_find(args, "group") != NULL;
    TRY(args_guid(args, "group", &group, err));
    if (!name.n) return OK;
    AUTO(buf_done) Buf bytes = {0};
    meta_put_traits(&bytes, name, grouped ? &group : NULL);
    return add_item(s, items, 12, &bytes, err);
}

static Status verb_manifest(EtlScript *s, Args *args, Err *err) {
    Fields fields;
    Items items = {.count = 0};
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_EVENT, .level = 4};
    TRY(provider_event(s, args, &event, err));
    TRY(take_items(s, args, &items, err));
    TRY(item_traits(s, args, &items, err));
    TRY(take_fields(args, &fields, err));
    TRY(take_payload(args, &event, &fields, false, &payload, err));
    event.items = items.list;
    event.item_count = items.count;
    return script_emit(s, args, &event, &payload, err);
}

static Status verb_tracelogging(EtlScript *s, Args *args, Err *err) {
    Fields fields;
    Items items = {.count = 0};
    uint64_t tags = 0;
    AUTO(buf_done) Buf payload = {0}, schema = {0}, traits = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_EVENT, .level = 5, .channel = 11};
    TRY(provider_event(s, args, &event, err));
    TRY(take_items(s, args, &items, err));
    TRY(take_fields(args, &fields, err));
    TRY(args_number(s, args, "tags", 0, &tags, err));
    Guid group;
    bool grouped = args_find(args, "group") != NULL;
    TRY(args_guid(args, "group", &group, err));
    meta_put_traits(&traits, args_text(args, "name"), grouped ? &group : NULL);
    meta_put_schema(&schema, args_text(args, "event"), (uint32_t)tags, fields.items, fields.count);
    TRY(add_item(s, &items, 12, &traits, err));
    TRY(add_item(s, &items, 11, &schema, err));
    TRY(take_payload(args, &event, &fields, true, &payload, err));
    event.items = items.list;
    event.item_count = items.count;
    return script_emit(s, args, &event, &payload, err);
}

#define METADATA_CLASS "bbccf6c1-6cd1-48c4-80ff-839482e37671"

static Status verb_metadata(EtlScript *s, Args *args, Err *err) {
    Fields fields;
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_FULL};
    TRY(provider_event(s, args, &event, err));
    TRY(take_fields(args, &fields, err));
    MetaEvent meta = {.provider = event.guid,
                      .id = event.id,
                      .version = (uint8_t)event.version,
                      .channel = event.channel,
                      .level = event.level,
                      .opcode = event.opcode,
                      .task = event.task,
                      .keyword = event.keyword,
                      .provider_name = args_text(args, "name"),
                      .level_name = args_text(args, "level_name"),
                      .channel_name = args_text(args, "channel_name"),
                      .keyword_names = args_text(args, "keyword_name"),
                      .task_name = args_text(args, "task_name"),
                      .opcode_name = args_text(args, "opcode_name"),
                      .message = args_text(args, "message"),
                      .event_name = args_text(args, "event"),
                      .fields = fields.items,
                      .field_count = fields.count};
    meta_put_event_info(&payload, &meta);
    EtlBuildEvent record = {.header = ETL_BUILD_FULL,
                            .guid = pay_guid_from_c(METADATA_CLASS),
                            .opcode = 32,
                            .cpu = event.cpu,
                            .pointer_size = event.pointer_size,
                            .ticks = event.ticks,
                            .tid = ETL_BUILD_UNKNOWN,
                            .pid = ETL_BUILD_UNKNOWN};
    return script_emit(s, args, &record, &payload, err);
}

static Status verb_map(EtlScript *s, Args *args, Err *err) {
    Str entries[META_FIELDS_MAX];
    size_t count = 0;
    Guid provider;
    uint64_t bits = 0;
    static const BuildName KINDS[] = {
        {"value", 0},
        {"bits",  1},
        {NULL,    0}
    };
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_FULL};
    TRY(script_when(s, args, &event, err));
    TRY(args_guid(args, "provider", &provider, err));
    Arg *kind = args_find(args, "kind");
    if (kind) TRY(script_named(s, kind->value, KINDS, &bits, err));
    for (size_t i = 0; i < args->count && count < META_FIELDS_MAX; i++) {
        if (!str_eq(args->items[i].key, STR("entry"))) continue;
        args->items[i].used = true;
        entries[count++] = args->items[i].value;
    }
    MetaMap map = {provider, args_text(args, "name"), bits != 0, entries, count};
    TRY(meta_put_map_info(&payload, &map, err));
    event.guid = pay_guid_from_c(METADATA_CLASS);
    event.opcode = 33;
    return script_emit(s, args, &event, &payload, err);
}

// The XML in chunks, each an event (5.2).
static Status verb_eventsource(EtlScript *s, Args *args, Err *err) {
    uint64_t chunk = 0;
    Str xml = args_text(args, "xml");
    EtlBuildEvent event = {.header = ETL_BUILD_EVENT,
                           .id = 0xFFFE,
                           .opcode = 0xFE,
                           .task = 0xFFFE,
                           .keyword = 0x00FFFFFFFFFFFFFFu};
    TRY(provider_event(s, args, &event, err));
    TRY(args_number(s, args, "chunk", CHUNK_MAX, &chunk, err));
    if (chunk == 0 || chunk > CHUNK_MAX || xml.n == 0)
        return err_set(err, ERR_ARG, "eventsource needs xml=, and chunk=1..%d", CHUNK_MAX);
    size_t total = (xml.n + chunk - 1) / chunk;
    for (size_t i = 0; i < total; i++) {
        AUTO(buf_done) Buf payload = {0};
        pay_u8(&payload, 1);
        pay_u8(&payload, 1);
        pay_u8(&payload, 0);
        pay_u8(&payload, 0x5B);
        pay_u16(&payload, (uint16_t)total);
        pay_u16(&payload, (uint16_t)i);
        pay_bytes(&payload, str_slice(xml, i * chunk, (i + 1) * chunk));
        TRY(script_emit(s, args, &event, &payload, err));
    }
    return OK;
}

static Status verb_wpp(EtlScript *s, Args *args, Err *err) {
    Fields fields;
    uint64_t number = 0, flags = 0, sequence = 0, component = 0;
    AUTO(buf_done) Buf payload = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_MESSAGE};
    TRY(script_when(s, args, &event, err));
    TRY(small_numbers(s, args, &event, err));
    TRY(args_guid(args, "guid", &event.guid, err));
    TRY(args_number(s, args, "number", 10, &number, err));
    TRY(args_number(s, args, "flags", event.pointer_size == 8 ? 0xAA : 0x6A, &flags, err));
    TRY(args_number(s, args, "sequence", 0, &sequence, err));
    TRY(args_number(s, args, "component", 0, &component, err));
    TRY(take_fields(args, &fields, err));
    TRY(take_payload(args, &event, &fields, false, &payload, err));
    event.id = (uint16_t)number;
    event.flags = (uint16_t)flags;
    event.sequence = (uint32_t)sequence;
    event.component = (uint32_t)component;
    return script_emit(s, args, &event, &payload, err);
}

static Status verb_control(EtlScript *s, Args *args, Err *err) {
    uint64_t cpu = 0, empty = 0, events = 0, buffers = 0, logger = 0;
    TRY(args_number(s, args, "cpu", 0, &cpu, err));
    TRY(args_number(s, args, "empty", 0, &empty, err));
    TRY(args_number(s, args, "events", 0, &events, err));
    TRY(args_number(s, args, "buffers", 0, &buffers, err));
    TRY(args_number(s, args, "logger", 3, &logger, err));
    if (str_eq(args->verb, STR("flush"))) {
        etl_build_flush(s->build, (uint16_t)cpu, empty != 0);
    } else if (str_eq(args->verb, STR("loss"))) {
        etl_build_mark_loss(s->build, (uint16_t)cpu, events != 0, buffers != 0);
    } else {
        etl_build_next_session(s->build, (uint16_t)logger);
    }
    return OK;
}

static Status verb_settings(EtlScript *s, Args *args, Err *err) {
    uint64_t keyed = 0;
    TRY(args_number(s, args, "keys", s->keyed_stacks, &keyed, err));
    s->keyed_stacks = keyed != 0;
    return args_span(args, "interval", s->interval_ns, &s->interval_ns, err);
}

Status script_special(EtlScript *s, Args *args, bool *known, Err *err) {
    static const struct {
        const char *verb;
        Status (*run)(EtlScript *s, Args *args, Err *err);
    } VERBS[] = {
        {"event",        verb_event       },
        {"raw",          verb_raw         },
        {"classic",      verb_classic     },
        {"manifest",     verb_manifest    },
        {"metadata",     verb_metadata    },
        {"map",          verb_map         },
        {"tracelogging", verb_tracelogging},
        {"eventsource",  verb_eventsource },
        {"wpp",          verb_wpp         },
        {"run",          script_run_verb  },
        {"flush",        verb_control     },
        {"loss",         verb_control     },
        {"session",      verb_control     },
        {"set",          verb_settings    },
    };
    for (size_t i = 0; i < COUNT_OF(VERBS); i++) {
        if (!str_eq(args->verb, str_from_c(VERBS[i].verb))) continue;
        *known = true;
        return VERBS[i].run(s, args, err);
    }
    return OK;
}
