// Reads manifests with expat. Elements are taken by their local names wherever they stand, which
// covers what EventSource writes as well as what the message compiler takes.
#include "decode/manifest.h"

#include "base/map.h"

#include <expat.h>
#include <inttypes.h>

typedef struct ManField {
    FieldsDef def;
    Str map, count, length;
} ManField;

typedef struct ManTemplate {
    size_t first, count; // fields
} ManTemplate;

typedef struct ManEvent {
    uint32_t provider; // index
    uint16_t id;
    uint8_t version;
    Str task, opcode, template_id, symbol;
} ManEvent;

typedef struct ManMap {
    bool bits;
    size_t first, count; // entries
} ManMap;

typedef struct ManProvider {
    Guid guid;
    Str name;
} ManProvider;

struct ManifestDoc {
    Arena arena;
    VEC(ManProvider) providers;
    VEC(ManEvent) events;
    VEC(ManTemplate) templates;
    VEC(ManField) fields;
    VEC(ManMap) maps;
    VEC(FieldsMapEntry) entries;
    Map by_event;                          // provider, id, version -> event
    StrMap by_template, by_map, by_string; // names with the provider's number in front
    VEC(Str) strings;
};

typedef struct Loader {
    ManifestDoc *doc;
    XML_Parser parser;
    unsigned depth, elements;
    unsigned foreign; // depth below a UserData element, whose content is not ours
    bool in_template, in_map;
    size_t structs[LIMIT_SCHEMA_DEPTH]; // open structures: field indices
    unsigned struct_count;
    const char *refused;
} Loader;

// ---------------------------------------------------------------- loading

static Str local_name(const char *name) {
    Str s = str_from_c(name);
    size_t colon = str_rfind_char(s, ':');
    return colon == SIZE_MAX ? s : str_slice(s, colon + 1, s.n);
}

static Str attribute(const char **attributes, const char *name) {
    for (size_t i = 0; attributes[i]; i += 2)
        if (strcmp(attributes[i], name) == 0) return str_from_c(attributes[i + 1]);
    return (Str){0};
}

static Str attribute_copy(Loader *loader, const char **attributes, const char *name) {
    Str value = attribute(attributes, name);
    return value.p ? str_copy(&loader->doc->arena, value) : value;
}

static uint32_t provider_now(const ManifestDoc *doc) {
    return (uint32_t)doc->providers.count;
}

static Str scoped(Arena *arena, uint32_t provider, Str name) {
    return str_format(arena, "%u/" STR_FMT, provider, STR_ARG(name));
}

// The first of a name counts.
static void name_add(Loader *loader, StrMap *map, Str name, size_t index) {
    bool added = false;
    Str key = scoped(&loader->doc->arena, provider_now(loader->doc), name);
    StrMapSlot *slot = strmap_put(map, key, index, &added);
    if (added) slot->key = key;
}

static void on_provider(Loader *loader, const char **attributes) {
    ManProvider provider = {.name = attribute_copy(loader, attributes, "name")};
    if (!guid_from_text(attribute(attributes, "guid"), &provider.guid)) return;
    *vec_push(&loader->doc->providers) = provider;
}

static void on_event(Loader *loader, const char **attributes) {
    ManifestDoc *doc = loader->doc;
    uint64_t id = 0, version = 0;
    if (!str_to_u64(attribute(attributes, "value"), &id) || id > UINT16_MAX) return;
    (void)str_to_u64(attribute(attributes, "version"), &version);
    if (version > UINT8_MAX) return;
    *vec_push(&doc->events) = (ManEvent){
        .provider = provider_now(doc),
        .id = (uint16_t)id,
        .version = (uint8_t)version,
        .task = attribute_copy(loader, attributes, "task"),
        .opcode = attribute_copy(loader, attributes, "opcode"),
        .template_id = attribute_copy(loader, attributes, "template"),
        .symbol = attribute_copy(loader, attributes, "symbol"),
    };
    uint64_t key = (uint64_t)provider_now(doc) << 32 | id << 8 | version;
    (void)map_put(&doc->by_event, key, doc->events.count - 1, NULL);
}

static void on_template(Loader *loader, const char **attributes) {
    ManifestDoc *doc = loader->doc;
    loader->in_template = true;
    loader->struct_count = 0;
    *vec_push(&doc->templates) = (ManTemplate){.first = doc->fields.count};
    name_add(loader, &doc->by_template, attribute(attributes, "tid"), doc->templates.count - 1);
}

static void on_field(Loader *loader, const char **attributes, bool is_struct) {
    ManifestDoc *doc = loader->doc;
    if (!loader->in_template) return;
    ManTemplate *current = &doc->templates.items[doc->templates.count - 1];
    if (current->count >= LIMIT_SCHEMA_FIELDS) return;
    ManField field = {.map = attribute_copy(loader, attributes, "map"),
                      .count = attribute_copy(loader, attributes, "count"),
                      .length = attribute_copy(loader, attributes, "length")};
    field.def.name = attribute_copy(loader, attributes, "name");
    field.def.type =
        is_struct ? (uint8_t)IN_STRUCT : type_from_name(attribute(attributes, "inType"));
    field.def.out = out_from_name(attribute(attributes, "outType"));
    if (field.def.type == IN_U16 && field.def.out == OUT_STRING) field.def.type = IN_WCHAR;
    if (loader->struct_count)
        doc->fields.items[loader->structs[loader->struct_count - 1]].def.members++;
    *vec_push(&doc->fields) = field;
    current->count++;
    if (!is_struct) return;
    if (loader->struct_count == LIMIT_SCHEMA_DEPTH) {
        loader->refused = "structures are nested too deep";
        return;
    }
    loader->structs[loader->struct_count++] = doc->fields.count - 1;
}

static void on_map(Loader *loader, const char **attributes, bool bits) {
    ManifestDoc *doc = loader->doc;
    loader->in_map = true;
    *vec_push(&doc->maps) = (ManMap){.bits = bits, .first = doc->entries.count};
    name_add(loader, &doc->by_map, attribute(attributes, "name"), doc->maps.count - 1);
}

static void on_map_entry(Loader *loader, const char **attributes) {
    ManifestDoc *doc = loader->doc;
    uint64_t value = 0;
    if (!loader->in_map || !str_to_u64(attribute(attributes, "value"), &value)) return;
    ManMap *map = &doc->maps.items[doc->maps.count - 1];
    if (map->count >= LIMIT_MAP_ENTRIES) return;
    Str text = attribute_copy(loader, attributes, "message");
    *vec_push(&doc->entries) = (FieldsMapEntry){value, text};
    map->count++;
}

static void on_string(Loader *loader, const char **attributes) {
    ManifestDoc *doc = loader->doc;
    Str id = attribute_copy(loader, attributes, "id");
    bool added = false;
    if (!id.p) return;
    StrMapSlot *slot = strmap_put(&doc->by_string, id, doc->strings.count, &added);
    if (!added) return; // another language
    slot->key = id;
    *vec_push(&doc->strings) = attribute_copy(loader, attributes, "value");
}

static void on_start(void *context, const char *name, const char **attributes) {
    Loader *loader = context;
    Str element = local_name(name);
    if (++loader->depth > LIMIT_XML_DEPTH) loader->refused = "elements are nested too deep";
    if (++loader->elements > LIMIT_XML_ELEMENTS) loader->refused = "too many elements";
    if (loader->foreign) {
        loader->foreign++;
    } else if (str_eq(element, STR("UserData"))) {
        loader->foreign = 1;
    } else if (str_eq(element, STR("data"))) {
        on_field(loader, attributes, false);
    } else if (str_eq(element, STR("event"))) {
        on_event(loader, attributes);
    } else if (str_eq(element, STR("string"))) {
        on_string(loader, attributes);
    } else if (str_eq(element, STR("map"))) {
        on_map_entry(loader, attributes);
    } else if (str_eq(element, STR("template"))) {
        on_template(loader, attributes);
    } else if (str_eq(element, STR("struct"))) {
        on_field(loader, attributes, true);
    } else if (str_eq(element, STR("valueMap"))) {
        on_map(loader, attributes, false);
    } else if (str_eq(element, STR("bitMap"))) {
        on_map(loader, attributes, true);
    } else if (str_eq(element, STR("provider"))) {
        on_provider(loader, attributes);
    }
    if (loader->refused) (void)XML_StopParser(loader->parser, XML_FALSE);
}

static void on_end(void *context, const char *name) {
    Loader *loader = context;
    Str element = local_name(name);
    loader->depth--;
    if (loader->foreign) {
        loader->foreign--;
        return;
    }
    if (str_eq(element, STR("struct")) && loader->struct_count) loader->struct_count--;
    if (str_eq(element, STR("template"))) loader->in_template = false;
    if (str_eq(element, STR("valueMap")) || str_eq(element, STR("bitMap"))) loader->in_map = false;
}

// NOLINTNEXTLINE(readability-function-size): the signature is expat's
static void on_entity(void *context, const XML_Char *name, int is_parameter, const XML_Char *value,
                      int length, const XML_Char *base, const XML_Char *system_id,
                      const XML_Char *public_id, const XML_Char *notation) {
    Loader *loader = context;
    (void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system_id;
    (void)public_id, (void)notation;
    loader->refused = "entities are not accepted";
    (void)XML_StopParser(loader->parser, XML_FALSE);
}

ManifestDoc *manifest_parse(Str text, Err *err) {
    Loader loader = {.doc = mem_zero(1, sizeof *loader.doc)};
    const char *reason = NULL;
    uint64_t line = 0;
    if (text.n > LIMIT_MANIFEST_BYTES) reason = "it is too large";
    loader.parser = reason ? NULL : XML_ParserCreate(NULL);
    if (loader.parser) {
        XML_SetUserData(loader.parser, &loader);
        XML_SetElementHandler(loader.parser, on_start, on_end);
        XML_SetEntityDeclHandler(loader.parser, on_entity);
        if (XML_Parse(loader.parser, text.n ? text.p : "", (int)text.n, 1) != XML_STATUS_OK)
            reason =
                loader.refused ? loader.refused : XML_ErrorString(XML_GetErrorCode(loader.parser));
        line = XML_GetCurrentLineNumber(loader.parser);
        XML_ParserFree(loader.parser);
    }
    ManifestDoc *doc = loader.doc;
    bool useful = !loader.refused && doc->providers.count && doc->events.count;
    if (reason)
        (void)err_set(err, ERR_INPUT, "%s: line %" PRIu64 ": %s",
                      useful ? "used up to its error" : "no manifest", line, reason);
    else if (!useful)
        (void)err_set(err, ERR_INPUT, "no manifest: it has no events");
    if (useful) return doc;
    manifest_close(doc);
    return NULL;
}

void manifest_close(ManifestDoc *doc) {
    if (!doc) return;
    vec_free(&doc->providers);
    vec_free(&doc->events);
    vec_free(&doc->templates);
    vec_free(&doc->fields);
    vec_free(&doc->maps);
    vec_free(&doc->entries);
    vec_free(&doc->strings);
    map_done(&doc->by_event);
    strmap_done(&doc->by_template);
    strmap_done(&doc->by_map);
    strmap_done(&doc->by_string);
    arena_done(&doc->arena);
    mem_free(doc);
}

// ---------------------------------------------------------------- finding

// "$(string.x)" by the string table.
static Str message_text(const ManifestDoc *doc, Str text) {
    Str prefix = STR("$(string.");
    if (!str_starts(text, prefix) || !str_ends(text, STR(")"))) return text;
    Str id = str_slice(text, prefix.n, text.n - 1);
    const uint64_t *index = strmap_get(&doc->by_string, id);
    return str_trim(index ? doc->strings.items[*index] : id);
}

static uint16_t layout_map(const ManifestDoc *doc, uint32_t provider, Str name, Arena *arena,
                           FieldsLayout *layout) {
    if (!name.n) return 0;
    for (size_t i = 0; i < layout->maps.count; i++)
        if (str_eq(layout->maps.items[i].name, name)) return (uint16_t)(i + 1);
    const uint64_t *index = strmap_get(&doc->by_map, scoped(arena, provider, name));
    if (!index) return 0;
    const ManMap *from = &doc->maps.items[*index];
    FieldsMap map = {.name = name, .bits = from->bits, .count = from->count};
    map.entries = ARENA_ARRAY(arena, FieldsMapEntry, from->count);
    for (size_t i = 0; i < from->count; i++) {
        const FieldsMapEntry *entry = &doc->entries.items[from->first + i];
        map.entries[i] = (FieldsMapEntry){entry->value, message_text(doc, entry->text)};
    }
    *vec_push(&layout->maps) = map;
    return (uint16_t)layout->maps.count;
}

// A number, or the name of an earlier field. False: not given, or no such field.
static bool amount(const FieldsLayout *layout, Str text, uint32_t *value, bool *is_field) {
    uint64_t number = 0;
    if (!text.n) return false;
    *is_field = !str_to_u64(text, &number);
    if (!*is_field) {
        *value = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
        return true;
    }
    for (size_t i = layout->fields.count; i-- > 0;) {
        if (!str_eq(layout->fields.items[i].name, text)) continue;
        *value = (uint32_t)i;
        return true;
    }
    return false;
}

static void template_layout(const ManifestDoc *doc, const ManEvent *event, Arena *arena,
                            FieldsLayout *layout) {
    const uint64_t *index =
        strmap_get(&doc->by_template, scoped(arena, event->provider, event->template_id));
    if (!index) return;
    const ManTemplate *from = &doc->templates.items[*index];
    for (size_t i = 0; i < from->count; i++) {
        const ManField *field = &doc->fields.items[from->first + i];
        FieldsDef def = field->def;
        bool is_field = false;
        def.map = layout_map(doc, event->provider, field->map, arena, layout);
        if (amount(layout, field->count, &def.count, &is_field))
            def.count_kind = is_field ? COUNT_FIELD : COUNT_FIXED;
        if (amount(layout, field->length, &def.length, &is_field))
            def.length_kind = is_field ? LENGTH_FIELD : LENGTH_FIXED;
        *vec_push(&layout->fields) = def;
    }
    layout_name(layout, arena);
}

static Str without_prefix(Str name) {
    Str prefix = STR("win:");
    return str_starts(name, prefix) ? str_slice(name, prefix.n, name.n) : name;
}

static uint32_t provider_number(const ManifestDoc *doc, const Guid *provider) {
    for (size_t i = 0; i < doc->providers.count; i++)
        if (guid_eq(&doc->providers.items[i].guid, provider)) return (uint32_t)i + 1;
    return 0;
}

bool manifest_has_provider(const ManifestDoc *doc, const Guid *provider, Str *name) {
    uint32_t number = provider_number(doc, provider);
    if (number) *name = doc->providers.items[number - 1].name;
    return number != 0;
}

// The event of the version, else of the nearest one below, else of one above.
static const ManEvent *event_for(const ManifestDoc *doc, uint32_t provider, const SourceKey *key) {
    for (int version = key->version; version >= 0; version--) {
        uint64_t at = (uint64_t)provider << 32 | (uint64_t)key->id << 8 | (uint64_t)version;
        const uint64_t *index = map_get(&doc->by_event, at);
        if (index) return &doc->events.items[*index];
    }
    return NULL;
}

bool manifest_find(const ManifestDoc *doc, const SourceKey *key, Arena *arena,
                   SourceAnswer *answer) {
    uint32_t provider = provider_number(doc, &key->provider);
    const ManEvent *event = provider ? event_for(doc, provider, key) : NULL;
    if (!event) return false;
    answer->provider_name = doc->providers.items[provider - 1].name;
    answer->exact = event->version == key->version;
    answer->task_name = event->task;
    answer->opcode_name = without_prefix(event->opcode);
    answer->event_name =
        event->task.n ? source_event_name(event->task, answer->opcode_name, arena) : event->symbol;
    FieldsLayout *layout = vec_push(&answer->layouts);
    *layout = (FieldsLayout){0};
    template_layout(doc, event, arena, layout);
    return true;
}
