// Class descriptions: kernel layouts by hook, TraceLogging from the event's own metadata.
#include "decode/describe.h"

struct Describer {
    const World *world;
};

Describer *describer_open(const World *world) {
    Describer *describer = mem_zero(1, sizeof *describer);
    describer->world = world;
    return describer;
}

void describer_close(Describer *describer) {
    mem_free(describer);
}

static void describe_kernel(const EventClass *class, uint16_t hook, Arena *arena,
                            ClassDescription *out) {
    bool exact = false;
    const EventSpec *spec = spec_find(hook, class->key.version, &exact);
    const char *name = spec ? spec->name : spec_hook_name(hook);
    out->provider_name = str_from_c(spec_group_name(hook));
    if (name)
        out->event_name = str_from_c(name);
    else
        out->event_name =
            str_format(arena, STR_FMT "/%02X", STR_ARG(out->provider_name), hook & 0xFF);
    size_t slash = str_rfind_char(out->event_name, '/');
    out->task_name = out->provider_name;
    out->opcode_name = str_slice(out->event_name, slash + 1, out->event_name.n);
    if (!spec || !spec->field_count)
        out->decoded_by = STR("none: no published layout");
    else
        out->decoded_by = exact ? STR("kernel") : STR("kernel nearest version");
    if (spec && spec->table != T_EVENT_DATA)
        out->table_name = str_from_c(table_def(spec->table)->name);
}

static void describe_tracelogging(const EventClass *class, ClassDescription *out) {
    Rd traits = rd_from_str(class->traits);
    rd_skip(&traits, 2);
    Str provider = rd_astr_raw(&traits);
    if (provider.n && str_is_utf8(provider)) out->provider_name = provider;
    Rd schema = rd_from_str(class->schema);
    rd_skip(&schema, 2);
    while (rd_left(&schema) && rd_u8(&schema) & 0x80) {
    }
    Str name = rd_astr_raw(&schema);
    if (str_is_utf8(name)) out->event_name = name;
    out->schema = class->schema;
    out->decoded_by = STR("tracelogging");
}

void describe_class(Describer *describer, const EventClass *class, Arena *arena,
                    ClassDescription *out) {
    (void)describer;
    *out = (ClassDescription){0};
    uint16_t hook = class->key.hook;
    bool classic = class->key.kind == ETL_CLASSIC &&
                   spec_class_hook(&class->key.provider, class->key.opcode, &hook);
    if (class->key.kind == ETL_SYSTEM || classic)
        describe_kernel(class, hook, arena, out);
    else if (class->key.tracelogging)
        describe_tracelogging(class, out);
    else
        out->decoded_by = STR("none: no schema");
}
