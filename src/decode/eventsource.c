// Puts the chunks of logged manifests together, per provider and process. Processes may have other
// versions of a library, and so other manifests of one provider: an event whose layouts differ has
// all of them, each with its processes.
#include "decode/eventsource.h"

#include "decode/manifest.h"

#include <stdlib.h>

enum { CHUNK_EVENT = 0xFFFE, CHUNK_HEADER = 8, CHUNK_MAGIC = 0x5B };

typedef struct SourceDoc {
    uint64_t hash;
    Str text;
    ManifestDoc *doc; // NULL: no manifest
    VEC(uint32_t) pids;
} SourceDoc;

typedef struct SourceProvider {
    Guid guid;
    VEC(SourceDoc) docs;
} SourceProvider;

struct EventSources {
    const World *world;
    Arena arena;
    VEC(SourceProvider) providers;
};

// Chunks of one manifest while they come in.
typedef struct Assembly {
    uint32_t pid;
    uint16_t total, have;
    Str *chunks;
    size_t bytes;
    bool done;
} Assembly;

EventSources *eventsources_open(const World *world) {
    EventSources *sources = mem_zero(1, sizeof *sources);
    sources->world = world;
    return sources;
}

void eventsources_close(EventSources *sources) {
    if (!sources) return;
    for (size_t i = 0; i < sources->providers.count; i++) {
        SourceProvider *provider = &sources->providers.items[i];
        for (size_t k = 0; k < provider->docs.count; k++) {
            manifest_close(provider->docs.items[k].doc);
            vec_free(&provider->docs.items[k].pids);
        }
        vec_free(&provider->docs);
    }
    vec_free(&sources->providers);
    arena_done(&sources->arena);
    mem_free(sources);
}

static void take_document(EventSources *sources, SourceProvider *provider, Assembly *assembly) {
    char *bytes = arena_bytes(&sources->arena, assembly->bytes);
    size_t at = 0;
    for (unsigned i = 0; i < assembly->total; i++) {
        memcpy(bytes + at, assembly->chunks[i].p, assembly->chunks[i].n);
        at += assembly->chunks[i].n;
    }
    Str text = {bytes, at};
    uint64_t hash = str_hash(text);
    assembly->done = true;
    for (size_t i = 0; i < provider->docs.count; i++) {
        SourceDoc *doc = &provider->docs.items[i];
        if (doc->hash != hash || !str_eq(doc->text, text)) continue;
        *vec_push(&doc->pids) = assembly->pid;
        return;
    }
    SourceDoc doc = {.hash = hash, .text = text};
    Err err = {0};
    doc.doc = manifest_parse(text, &err);
    *vec_push(&doc.pids) = assembly->pid;
    *vec_push(&provider->docs) = doc;
}

static void take_chunk(EventSources *sources, SourceProvider *provider, Assembly *assembly,
                       const Kept *kept) {
    Rd r = rd_from_str(kept->payload);
    rd_skip(&r, 3); // format, version
    bool magic = rd_u8(&r) == CHUNK_MAGIC;
    uint16_t total = rd_u16(&r), number = rd_u16(&r);
    if (!rd_ok(&r) || !magic || !total || total > LIMIT_MANIFEST_CHUNKS || number >= total) return;
    if (assembly->total != total) { // the first one, or another manifest
        *assembly = (Assembly){.pid = assembly->pid, .total = total};
        assembly->chunks = ARENA_ARRAY(&sources->arena, Str, total);
    }
    if (assembly->done || assembly->chunks[number].p) return; // repeated for every session
    assembly->chunks[number] = rd_bytes(&r, rd_left(&r));
    if (!assembly->chunks[number].p) assembly->chunks[number] = STR("");
    assembly->bytes += assembly->chunks[number].n;
    if (assembly->bytes > LIMIT_MANIFEST_BYTES) assembly->done = true;
    if (++assembly->have == total && !assembly->done) take_document(sources, provider, assembly);
}

static Assembly *assembly_of(Assembly **items, size_t *count, size_t *capacity, uint32_t pid) {
    for (size_t i = *count; i-- > 0;)
        if ((*items)[i].pid == pid) return &(*items)[i];
    if (*count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        *items = mem_grow(*items, *capacity * sizeof **items);
    }
    (*items)[*count] = (Assembly){.pid = pid};
    return &(*items)[(*count)++];
}

static SourceProvider *provider_of(EventSources *sources, const Guid *guid) {
    enum { PROCESSES_MAX = 4096 };
    for (size_t i = 0; i < sources->providers.count; i++)
        if (guid_eq(&sources->providers.items[i].guid, guid)) return &sources->providers.items[i];
    SourceProvider *provider = vec_push(&sources->providers);
    *provider = (SourceProvider){.guid = *guid};
    KeptList list = world_kept_manifest(sources->world, guid, CHUNK_EVENT);
    Assembly *assemblies = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < list.count && count < PROCESSES_MAX; i++) {
        const Kept *kept = &list.items[i];
        if (!guid_eq(&kept->provider, guid) || kept->id != CHUNK_EVENT) continue;
        Assembly *assembly = assembly_of(&assemblies, &count, &capacity, kept->pid);
        take_chunk(sources, provider, assembly, kept);
    }
    mem_free(assemblies);
    return provider;
}

static bool same_layout(const FieldsLayout *a, const FieldsLayout *b) {
    AUTO(buf_done) Buf x = {0}, y = {0};
    FieldsLayout left = *a, right = *b;
    left.pids.count = right.pids.count = 0;
    schema_add(&x, &left);
    schema_add(&y, &right);
    return str_eq(buf_str(&x), buf_str(&y));
}

static void add_pids(FieldsLayout *layout, const SourceDoc *doc) {
    for (size_t i = 0; i < doc->pids.count; i++) *vec_push(&layout->pids) = doc->pids.items[i];
}

// The layout of one more document: one that is there already gets its processes.
static void add_layout(SourceAnswer *answer, size_t mark, const SourceDoc *doc) {
    if (answer->layouts.count == mark) return;
    FieldsLayout *added = &answer->layouts.items[mark];
    for (size_t i = 0; i < mark; i++) {
        FieldsLayout *seen = &answer->layouts.items[i];
        if (!same_layout(seen, added)) continue;
        add_pids(seen, doc);
        layout_done(added);
        answer->layouts.count = mark;
        return;
    }
    add_pids(added, doc);
}

static int compare_layouts(const void *a, const void *b) { // most processes first
    const FieldsLayout *x = a, *y = b;
    return (x->pids.count < y->pids.count) - (x->pids.count > y->pids.count);
}

bool eventsources_find(EventSources *sources, const SourceKey *key, Arena *arena,
                       SourceAnswer *answer) {
    enum { LAYOUTS_MAX = 64 };
    const SourceProvider *provider = provider_of(sources, &key->provider);
    for (size_t i = 0; i < provider->docs.count && answer->layouts.count < LAYOUTS_MAX; i++) {
        const SourceDoc *doc = &provider->docs.items[i];
        size_t mark = answer->layouts.count;
        if (doc->doc && manifest_find(doc->doc, key, arena, answer)) add_layout(answer, mark, doc);
    }
    if (answer->layouts.count == 1) answer->layouts.items[0].pids.count = 0;
    if (answer->layouts.count > 1) vec_sort(&answer->layouts, compare_layouts);
    return answer->layouts.count > 0;
}

Str eventsources_provider_name(EventSources *sources, const Guid *guid) {
    const SourceProvider *provider = provider_of(sources, guid);
    Str name = {0};
    for (size_t i = 0; i < provider->docs.count; i++)
        if (provider->docs.items[i].doc &&
            manifest_has_provider(provider->docs.items[i].doc, guid, &name))
            return name;
    return name;
}

static void add_field(FieldsLayout *layout, Str name, uint8_t type, uint8_t out) {
    *vec_push(&layout->fields) = (FieldsDef){.name = name, .type = type, .out = out};
}

void eventsources_chunk_layout(FieldsLayout *layout) {
    add_field(layout, STR("Format"), IN_U8, OUT_DEFAULT);
    add_field(layout, STR("MajorVersion"), IN_U8, OUT_DEFAULT);
    add_field(layout, STR("MinorVersion"), IN_U8, OUT_DEFAULT);
    add_field(layout, STR("Magic"), IN_U8, OUT_HEX);
    add_field(layout, STR("TotalChunks"), IN_U16, OUT_DEFAULT);
    add_field(layout, STR("ChunkNumber"), IN_U16, OUT_DEFAULT);
    add_field(layout, STR("Text"), IN_REST_A, OUT_UTF8);
}
