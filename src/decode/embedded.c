// Finds embedded metadata by the identity of the event it describes.
#include "decode/embedded.h"

enum { KEY_BYTES = 16 + 1 + 2 + 1, OPCODE_INFO = 32, OPCODE_MAP = 33 };

static Guid metadata_class(void) {
    Guid guid;
    INVARIANT(guid_from_text(STR("bbccf6c1-6cd1-48c4-80ff-839482e37671"), &guid));
    return guid;
}

static Str identity(bool classic, const Guid *provider, uint16_t id, uint8_t version, char *key) {
    memcpy(key, provider->bytes, 16);
    key[16] = classic;
    key[17] = (char)(uint8_t)id;
    key[18] = (char)(uint8_t)(id >> 8);
    key[19] = (char)version;
    return (Str){key, KEY_BYTES};
}

static void map_add(StrMap *map, Arena *arena, Str key, size_t index) {
    bool added = false;
    StrMapSlot *slot = strmap_put(map, key, index + 1, &added);
    if (added) slot->key = str_copy(arena, key);
}

static void add_info(Embedded *embedded, size_t index) {
    EventInfo info;
    char key[KEY_BYTES];
    if (!event_info_read(embedded->info_list.items[index].payload, &embedded->arena, &info)) return;
    bool classic = info.source == 1;
    const Guid *guid = classic ? &info.event_guid : &info.provider;
    uint16_t id = classic ? info.opcode : info.id;
    map_add(&embedded->infos, &embedded->arena, identity(classic, guid, id, info.version, key),
            index);
    if (!info.provider_name.n) return;
    *vec_push(&embedded->texts) = info.provider_name;
    map_add(&embedded->names, &embedded->arena, (Str){(const char *)info.provider.bytes, 16},
            embedded->texts.count - 1);
}

static Str map_bytes(const Kept *kept) {
    return str_slice(kept->payload, 16, kept->payload.n);
}

static void add_map(Embedded *embedded, size_t index) {
    const Kept *kept = &embedded->map_list.items[index];
    if (kept->payload.n < 16) return;
    Str name = event_map_name(map_bytes(kept), &embedded->arena);
    char *bytes = arena_bytes(&embedded->arena, 16 + name.n);
    memcpy(bytes, kept->payload.p, 16);
    if (name.n) memcpy(bytes + 16, name.p, name.n);
    map_add(&embedded->maps, &embedded->arena, (Str){bytes, 16 + name.n}, index);
}

void embedded_open(Embedded *embedded, const World *world) {
    Guid guid = metadata_class();
    *embedded = (Embedded){.info_list = world_kept_class(world, &guid, OPCODE_INFO),
                           .map_list = world_kept_class(world, &guid, OPCODE_MAP)};
    for (size_t i = 0; i < embedded->info_list.count; i++) add_info(embedded, i);
    for (size_t i = 0; i < embedded->map_list.count; i++) add_map(embedded, i);
}

void embedded_done(Embedded *embedded) {
    strmap_done(&embedded->infos);
    strmap_done(&embedded->maps);
    strmap_done(&embedded->names);
    vec_free(&embedded->texts);
    arena_done(&embedded->arena);
}

Str embedded_info(const Embedded *embedded, bool classic, const Guid *provider, uint16_t id,
                  uint8_t version) {
    char key[KEY_BYTES];
    const uint64_t *index =
        strmap_get(&embedded->infos, identity(classic, provider, id, version, key));
    return index ? embedded->info_list.items[*index - 1].payload : (Str){0};
}

Str embedded_map(void *context, const Guid *provider, Str name) {
    const Embedded *embedded = context;
    AUTO(buf_done) Buf key = {0};
    buf_add(&key, (Str){(const char *)provider->bytes, 16});
    buf_add(&key, name);
    const uint64_t *index = strmap_get(&embedded->maps, buf_str(&key));
    return index ? map_bytes(&embedded->map_list.items[*index - 1]) : (Str){0};
}

Str embedded_provider_name(const Embedded *embedded, const Guid *provider) {
    const uint64_t *index = strmap_get(&embedded->names, (Str){(const char *)provider->bytes, 16});
    return index ? embedded->texts.items[*index - 1] : (Str){0};
}
