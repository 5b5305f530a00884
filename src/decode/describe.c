// Class descriptions. Sources are asked in this order: kernel layouts, TraceLogging metadata of the
// event itself, metadata embedded in the trace, manifests that EventSource providers logged, the
// user's manifests, built-in tables. Whatever answers is compiled into
// a schema (decode/fields.h) that reads payloads later without it.
#include "decode/describe.h"

#include "base/os.h"
#include "decode/builtin.h"
#include "decode/embedded.h"
#include "decode/eventsource.h"
#include "decode/fields_known.h"
#include "decode/manifest_folder.h"
#include "decode/tmf.h"
#include "decode/tracelogging.h"

struct Describer {
    const World *world;
    Embedded embedded;
    EventSources *sources;
    ManifestFolder *manifests;
    TmfFolder *tmf;
    Builtin *builtin;
};

Describer *describer_open(const World *world) {
    Describer *describer = mem_zero(1, sizeof *describer);
    describer->world = world;
    embedded_open(&describer->embedded, world);
    describer->sources = eventsources_open(world);
    describer->manifests = manifest_folder_open(os_env("ETW_MCP_MANIFESTS"));
    describer->tmf = tmf_folder_open(os_env("ETW_MCP_TMF"));
    describer->builtin = builtin_open();
    return describer;
}

void describer_close(Describer *describer) {
    if (!describer) return;
    embedded_done(&describer->embedded);
    eventsources_close(describer->sources);
    manifest_folder_close(describer->manifests);
    tmf_folder_close(describer->tmf);
    builtin_close(describer->builtin);
    mem_free(describer);
}

static unsigned pointer_size_of(const EventClass *class) {
    return class->key.pointer_size == 4 ? 4 : 8;
}

static Str keep_schema(const EventClass *class, const FieldsLayout *layout, Arena *arena) {
    AUTO(buf_done) Buf bytes = {0};
    schema_begin(&bytes, pointer_size_of(class));
    schema_add(&bytes, layout);
    return str_copy(arena, buf_str(&bytes));
}

static void describe_kernel(const Describer *describer, const EventClass *class, uint16_t hook,
                            Arena *arena, ClassDescription *out) {
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
    if (!spec || !spec->field_count) return;
    AUTO(buf_done) Buf schema = {0};
    schema_put_kernel(&schema, pointer_size_of(class), hook, class->key.version,
                      world_header(describer->world));
    out->schema = str_copy(arena, buf_str(&schema));
}

static void describe_tracelogging(const EventClass *class, Arena *arena, ClassDescription *out) {
    AUTO(layout_done) FieldsLayout layout = {0};
    bool whole = tracelogging_layout(class->schema, arena, &layout, &out->event_name);
    out->schema = keep_schema(class, &layout, arena);
    out->decoded_by = whole ? STR("tracelogging") : STR("tracelogging (damaged metadata)");
}

static bool describe_embedded(Describer *describer, const EventClass *class, Arena *arena,
                              ClassDescription *out) {
    const ClassKey *key = &class->key;
    bool classic = key->kind == ETL_CLASSIC;
    uint16_t id = classic ? key->opcode : key->id;
    Str bytes = embedded_info(&describer->embedded, classic, &key->provider, id, key->version);
    EventInfo info;
    if (!bytes.p || !event_info_read(bytes, arena, &info)) return false;
    AUTO(layout_done) FieldsLayout layout = {0};
    bool whole = event_info_layout(bytes, embedded_map, &describer->embedded, arena, &layout);
    if (!classic) fields_fix_known(&key->provider, key->id, pointer_size_of(class), &layout);
    out->provider_name = info.provider_name;
    out->task_name = info.task_name;
    out->opcode_name = info.opcode_name;
    out->event_name = info.event_name.n
                          ? info.event_name
                          : source_event_name(info.task_name, info.opcode_name, arena);
    out->schema = keep_schema(class, &layout, arena);
    out->decoded_by = whole ? STR("embedded") : STR("embedded (damaged metadata)");
    return true;
}

static void take_answer(const EventClass *class, SourceAnswer *answer, Arena *arena,
                        ClassDescription *out) {
    AUTO(buf_done) Buf bytes = {0};
    schema_begin(&bytes, pointer_size_of(class));
    for (size_t i = 0; i < answer->layouts.count; i++) {
        FieldsLayout *layout = &answer->layouts.items[i];
        fields_fix_known(&class->key.provider, class->key.id, pointer_size_of(class), layout);
        schema_add(&bytes, layout);
    }
    out->schema = str_copy(arena, buf_str(&bytes));
    out->provider_name = answer->provider_name;
    out->task_name = answer->task_name;
    out->opcode_name = answer->opcode_name;
    out->event_name = answer->event_name;
}

static bool describe_manifest(Describer *describer, const EventClass *class, Arena *arena,
                              ClassDescription *out) {
    const ClassKey *key = &class->key;
    AUTO(source_done) SourceAnswer answer = {0};
    SourceKey wanted = {.provider = key->provider,
                        .id = key->id,
                        .task = key->task,
                        .version = key->version,
                        .opcode = key->opcode};
    uint32_t os_build = world_header(describer->world)->os_build;
    if (key->kind != ETL_MANIFEST) return false;
    if (eventsources_find(describer->sources, &wanted, arena, &answer))
        out->decoded_by = answer.exact ? STR("eventsource") : STR("eventsource nearest version");
    else if (manifest_folder_find(describer->manifests, &wanted, arena, &answer))
        out->decoded_by =
            answer.exact ? STR("user manifest") : STR("user manifest nearest version");
    else if (builtin_find(describer->builtin, &wanted, os_build, arena, &answer))
        out->decoded_by = answer.exact ? STR("builtin exact") : STR("builtin nearest");
    else
        return false;
    take_answer(class, &answer, arena, out);
    return true;
}

// The chunks of EventSource manifests are events as well.
static bool describe_chunk(const EventClass *class, Arena *arena, ClassDescription *out) {
    enum { CHUNK_EVENT = 0xFFFE, CHUNK_OPCODE = 0xFE };
    if (class->key.kind != ETL_MANIFEST || class->key.id != CHUNK_EVENT ||
        class->key.opcode != CHUNK_OPCODE)
        return false;
    AUTO(layout_done) FieldsLayout layout = {0};
    eventsources_chunk_layout(&layout);
    out->schema = keep_schema(class, &layout, arena);
    out->event_name = STR("ManifestData");
    out->decoded_by = STR("eventsource");
    return true;
}

// Why an event has no description; a file that could not be read may hold it.
static Str nothing(const char *why, Str trouble, Arena *arena) {
    return trouble.n ? str_format(arena, "%s (" STR_FMT ")", why, STR_ARG(trouble))
                     : str_from_c(why);
}

static void describe_message(Describer *describer, const EventClass *class, Arena *arena,
                             ClassDescription *out) {
    AUTO(source_done) SourceAnswer answer = {0};
    const ClassKey *key = &class->key;
    if (!tmf_folder_find(describer->tmf, &key->provider, key->id, arena, &answer)) {
        out->decoded_by = nothing("none: no TMF file", tmf_folder_trouble(describer->tmf), arena);
        return;
    }
    take_answer(class, &answer, arena, out);
    out->decoded_by = STR("tmf");
}

static void describe_provider(Describer *describer, const EventClass *class, Arena *arena,
                              ClassDescription *out) {
    if (out->provider_name.n) return;
    if (class->traits.n) out->provider_name = traits_name(class->traits, arena);
    if (!out->provider_name.n)
        out->provider_name = embedded_provider_name(&describer->embedded, &class->key.provider);
    if (!out->provider_name.n)
        out->provider_name = eventsources_provider_name(describer->sources, &class->key.provider);
    if (!out->provider_name.n)
        out->provider_name =
            manifest_folder_provider_name(describer->manifests, &class->key.provider);
    if (!out->provider_name.n)
        out->provider_name = builtin_provider_name(describer->builtin, &class->key.provider);
}

static void describe_nothing(Describer *describer, const EventClass *class, Arena *arena,
                             ClassDescription *out) {
    Str trouble = {0};
    if (class->key.kind == ETL_MANIFEST) trouble = manifest_folder_trouble(describer->manifests);
    out->decoded_by = nothing("none: no schema", trouble, arena);
}

void describe_class(Describer *describer, const EventClass *class, Arena *arena,
                    ClassDescription *out) {
    *out = (ClassDescription){0};
    uint16_t hook = class->key.hook;
    bool classic = class->key.kind == ETL_CLASSIC &&
                   spec_class_hook(&class->key.provider, class->key.opcode, &hook);
    if (class->key.kind == ETL_SYSTEM || classic) {
        describe_kernel(describer, class, hook, arena, out);
        return;
    }
    if (class->key.kind == ETL_WPP)
        describe_message(describer, class, arena, out);
    else if (class->key.tracelogging)
        describe_tracelogging(class, arena, out);
    else if (!describe_chunk(class, arena, out) &&
             !describe_embedded(describer, class, arena, out) &&
             !describe_manifest(describer, class, arena, out))
        describe_nothing(describer, class, arena, out);
    describe_provider(describer, class, arena, out);
}
