// TRACE_EVENT_INFO to a layout. Structures name their members by position and may name any, so the
// list is rewritten with the members behind each structure; depth and total are limited.
#include "decode/event_info.h"

enum {
    HEADER_BYTES = 112,
    PROPERTY_BYTES = 24,
    PROPERTIES_AT = 112,
    FLAG_STRUCT = 1,
    FLAG_LENGTH_FIELD = 2,
    FLAG_COUNT_FIELD = 4,
    FLAG_FIXED_LENGTH = 0x10,
    FLAG_FIXED_COUNT = 0x20,
};

typedef struct Property {
    uint32_t flags, name;
    uint16_t in, out; // or first member, number of members
    uint32_t map;
    uint16_t count, length;
} Property;

typedef struct Expansion {
    Str bytes;
    Guid provider;
    FindMap find_map;
    void *context;
    Arena *arena;
    FieldsLayout *layout;
    uint32_t property_count;
    uint32_t *positions; // of each property in the layout, when it was written last; + 1
} Expansion;

static Str text_at(Str bytes, uint32_t offset, Arena *arena) {
    if (!offset || offset >= bytes.n) return (Str){0};
    Rd r = rd_from_str(str_slice(bytes, offset, bytes.n));
    return str_trim(rd_wstr(&r, arena));
}

uint8_t type_from_tdh(uint16_t in) {
    switch (in) {
    case 300: return IN_CWSTR;
    case 301: return IN_CASTR;
    case 302: return IN_RWSTR;
    case 303: return IN_RASTR;
    case 304: return IN_REST_W;
    case 305: return IN_REST_A;
    case 306: return IN_WCHAR;
    case 307: return IN_ACHAR;
    case 308: return IN_SIZE;
    case 309: return IN_HEXDUMP;
    case 310: return IN_WBEM_SID;
    default: return in <= IN_CBIN && in != IN_STRUCT ? (uint8_t)in : IN_OPAQUE;
    }
}

bool event_info_read(Str bytes, Arena *arena, EventInfo *out) {
    Rd r = rd_from_str(bytes);
    *out = (EventInfo){0};
    out->provider = rd_guid(&r);
    out->event_guid = rd_guid(&r);
    out->id = rd_u16(&r);
    out->version = rd_u8(&r);
    rd_skip(&r, 2); // channel, level
    out->opcode = rd_u8(&r);
    rd_skip(&r, 2 + 8); // task, keyword
    out->source = rd_u32(&r);
    uint32_t provider_name = rd_u32(&r);
    rd_skip(&r, 12);
    uint32_t task_name = rd_u32(&r), opcode_name = rd_u32(&r);
    rd_skip(&r, 16);
    uint32_t event_name = rd_u32(&r);
    if (bytes.n < HEADER_BYTES || !rd_ok(&r)) return false;
    out->provider_name = text_at(bytes, provider_name, arena);
    out->task_name = text_at(bytes, task_name, arena);
    out->opcode_name = text_at(bytes, opcode_name, arena);
    if (out->source == 0) out->event_name = text_at(bytes, event_name, arena);
    return true;
}

static bool property_at(const Expansion *x, uint32_t index, Property *out) {
    if (index >= x->property_count) return false;
    Rd r = rd_from_str(x->bytes);
    rd_seek(&r, PROPERTIES_AT + (size_t)index * PROPERTY_BYTES);
    out->flags = rd_u32(&r);
    out->name = rd_u32(&r);
    out->in = rd_u16(&r);
    out->out = rd_u16(&r);
    out->map = rd_u32(&r);
    out->count = rd_u16(&r);
    out->length = rd_u16(&r);
    return rd_ok(&r);
}

static uint16_t layout_map(Expansion *x, Str name) {
    FieldsLayout *layout = x->layout;
    for (size_t i = 0; i < layout->maps.count; i++)
        if (str_eq(layout->maps.items[i].name, name)) return (uint16_t)(i + 1);
    Str bytes = x->find_map ? x->find_map(x->context, &x->provider, name) : (Str){0};
    FieldsMap map = {0};
    if (!bytes.p || !event_map_read(bytes, x->arena, &map)) return 0;
    map.name = name;
    *vec_push(&layout->maps) = map;
    return (uint16_t)layout->maps.count;
}

// Where the value of property `index` stands in the layout. References go backwards only.
static bool position_of(const Expansion *x, uint32_t index, uint32_t *position) {
    if (index >= x->property_count || !x->positions[index]) return false;
    *position = x->positions[index] - 1;
    return true;
}

static bool set_shape(Expansion *x, const Property *p, FieldsDef *def) {
    if (p->flags & FLAG_COUNT_FIELD) {
        def->count_kind = COUNT_FIELD;
        if (!position_of(x, p->count, &def->count)) return false;
    } else if (p->count > 1 || p->flags & FLAG_FIXED_COUNT) {
        def->count_kind = COUNT_FIXED;
        def->count = p->count;
    }
    bool sized = def->type == IN_WSTR || def->type == IN_ASTR || def->type == IN_BIN;
    if (!sized) return true;
    if (p->flags & FLAG_LENGTH_FIELD) {
        def->length_kind = LENGTH_FIELD;
        return position_of(x, p->length, &def->length);
    }
    if (p->length) {
        def->length_kind = LENGTH_FIXED;
        def->length = p->length;
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion) depth is limited
static bool expand(Expansion *x, uint32_t index, unsigned depth) {
    Property p;
    FieldsLayout *layout = x->layout;
    if (!property_at(x, index, &p) || layout->fields.count >= LIMIT_SCHEMA_FIELDS) return false;
    size_t at = layout->fields.count;
    FieldsDef def = {.name = text_at(x->bytes, p.name, x->arena)};
    if (p.flags & FLAG_STRUCT) {
        if (depth + 1 >= LIMIT_SCHEMA_DEPTH || p.in <= index) return false;
        def.type = IN_STRUCT;
        def.members = p.out;
    } else {
        def.type = type_from_tdh(p.in);
        def.out = (uint8_t)(p.out <= OUT_DATETIME_UTC ? p.out : OUT_DEFAULT);
        if (p.map) def.map = layout_map(x, text_at(x->bytes, p.map, x->arena));
    }
    if (!set_shape(x, &p, &def)) return false;
    *vec_push(&layout->fields) = def;
    x->positions[index] = (uint32_t)at + 1;
    if (!(p.flags & FLAG_STRUCT)) return true;
    for (uint32_t i = 0; i < p.out; i++) {
        if (expand(x, (uint32_t)p.in + i, depth + 1)) continue;
        layout->fields.count = at; // half a structure would shift what follows
        return false;
    }
    return true;
}

bool event_info_layout(Str bytes, FindMap find_map, void *context, Arena *arena,
                       FieldsLayout *layout) {
    Rd r = rd_from_str(bytes);
    Expansion x = {.bytes = bytes,
                   .find_map = find_map,
                   .context = context,
                   .arena = arena,
                   .layout = layout,
                   .provider = rd_guid(&r)};
    rd_seek(&r, 100);
    x.property_count = rd_u32(&r);
    uint32_t top = rd_u32(&r);
    if (bytes.n < HEADER_BYTES || x.property_count > (bytes.n - HEADER_BYTES) / PROPERTY_BYTES ||
        top > x.property_count)
        return false;
    x.positions = ARENA_ARRAY(arena, uint32_t, x.property_count);
    bool whole = true;
    for (uint32_t i = 0; whole && i < top; i++) whole = expand(&x, i, 0);
    layout_name(layout, arena);
    return whole;
}

Str event_map_name(Str bytes, Arena *arena) {
    Rd r = rd_from_str(bytes);
    return text_at(bytes, rd_u32(&r), arena);
}

bool event_map_read(Str bytes, Arena *arena, FieldsMap *map) {
    enum { FLAG_BITS = 2, FLAG_WMI_BITS = 0x10, ENTRY_BYTES = 8 };
    Rd r = rd_from_str(bytes);
    rd_skip(&r, 4);
    uint32_t flags = rd_u32(&r), count = rd_u32(&r);
    rd_skip(&r, 4);
    if (!rd_ok(&r) || count > rd_left(&r) / ENTRY_BYTES || count > LIMIT_MAP_ENTRIES) return false;
    map->bits = flags & (FLAG_BITS | FLAG_WMI_BITS);
    map->entries = ARENA_ARRAY(arena, FieldsMapEntry, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t text = rd_u32(&r);
        map->entries[map->count].value = rd_u32(&r);
        map->entries[map->count].text = text_at(bytes, text, arena);
        if (map->entries[map->count].text.n) map->count++;
    }
    return true;
}
