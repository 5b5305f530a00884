// Schemas as bytes: written once per event class, parsed when fields are asked for.
//
// "F", format 1, pointer size, then layouts to the end: u32 size and as many bytes. Integers inside
// are u32 or, where counts are small, u8 and u16; text is a u16 length and its bytes. A kernel
// class has "K" instead and its hook, version and clock.
#include "decode/fields_internal.h"

#include <stdlib.h>

enum { FORMAT = 1 };

// ---------------------------------------------------------------- building

void layout_done(FieldsLayout *layout) {
    vec_free(&layout->fields);
    vec_free(&layout->maps);
    vec_free(&layout->pids);
}

static bool name_taken(const FieldsLayout *layout, size_t from, size_t to, Str name) {
    for (size_t i = from; i < to; i++)
        if (str_eq(layout->fields.items[i].name, name)) return true;
    return false;
}

// Members have names of their own per structure; `from` is where the present one begins.
void layout_name(FieldsLayout *layout, Arena *arena) {
    enum { SUFFIX_MAX = 10000, COMPARED_MAX = 512 };
    size_t from = 0;
    for (size_t i = 0; i < layout->fields.count; i++) {
        FieldsDef *def = &layout->fields.items[i];
        if (def->out == OUT_HIDDEN) continue;
        if (!def->name.n) def->name = str_format(arena, "field%zu", i);
        if (i - from > COMPARED_MAX) from = i - COMPARED_MAX;
        if (def->type != IN_STRUCT && name_taken(layout, from, i, def->name)) {
            Str base = def->name;
            for (unsigned n = 2; n < SUFFIX_MAX && name_taken(layout, from, i, def->name); n++)
                def->name = str_format(arena, STR_FMT "_%u", STR_ARG(base), n);
        }
        if (def->type == IN_STRUCT) from = i + 1;
    }
}

static void add_u8(Buf *out, unsigned v) {
    buf_add_char(out, (char)(uint8_t)v);
}

static void add_u16(Buf *out, unsigned v) {
    uint16_t u = (uint16_t)v;
    buf_add(out, (Str){(const char *)&u, sizeof u});
}

static void add_u32(Buf *out, uint32_t v) {
    buf_add(out, (Str){(const char *)&v, sizeof v});
}

static void add_u64(Buf *out, uint64_t v) {
    buf_add(out, (Str){(const char *)&v, sizeof v});
}

static void add_text(Buf *out, Str s) {
    if (s.n > UINT16_MAX) s.n = UINT16_MAX;
    add_u16(out, (unsigned)s.n);
    buf_add(out, s);
}

void schema_begin(Buf *out, unsigned pointer_size) {
    add_u8(out, 'F');
    add_u8(out, FORMAT);
    add_u8(out, pointer_size);
}

static void add_map(Buf *out, const FieldsMap *map) {
    size_t count = map->count < LIMIT_MAP_ENTRIES ? map->count : LIMIT_MAP_ENTRIES;
    add_text(out, map->name);
    add_u8(out, map->bits);
    add_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        add_u64(out, map->entries[i].value);
        add_text(out, map->entries[i].text);
    }
}

void schema_add(Buf *out, const FieldsLayout *layout) {
    AUTO(buf_done) Buf body = {0};
    add_u32(&body, (uint32_t)layout->pids.count);
    for (size_t i = 0; i < layout->pids.count; i++) add_u32(&body, layout->pids.items[i]);
    add_text(&body, layout->message);
    add_u16(&body, (unsigned)layout->fields.count);
    for (size_t i = 0; i < layout->fields.count; i++) {
        const FieldsDef *def = &layout->fields.items[i];
        add_text(&body, def->name);
        add_u8(&body, def->type);
        add_u8(&body, def->out);
        add_u8(&body, def->count_kind | (unsigned)def->length_kind << 4);
        add_u16(&body, def->map);
        add_u16(&body, def->members);
        add_u32(&body, def->count);
        add_u32(&body, def->length);
    }
    add_u16(&body, (unsigned)layout->maps.count);
    for (size_t i = 0; i < layout->maps.count; i++) add_map(&body, &layout->maps.items[i]);
    add_u32(out, (uint32_t)body.n);
    buf_add(out, buf_str(&body));
}

void schema_put_kernel(Buf *out, unsigned pointer_size, uint16_t hook, uint8_t version,
                       const EtlHeader *header) {
    add_u8(out, 'K');
    add_u8(out, FORMAT);
    add_u8(out, pointer_size);
    add_u16(out, hook);
    add_u8(out, version);
    add_u64(out, header->ticks_per_s);
    add_u64(out, (uint64_t)header->start_ticks);
}

// ---------------------------------------------------------------- parsing

static Str get_text(Rd *r) {
    return rd_bytes(r, rd_u16(r));
}

static int compare_entries(const void *a, const void *b) {
    const FieldsMapEntry *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool parse_map(Rd *r, FieldsMap *map, Arena *arena) {
    enum { ENTRY_BYTES_MIN = 10, BIT_ENTRIES_MAX = 256 };
    map->name = get_text(r);
    map->bits = rd_u8(r) != 0;
    uint32_t count = rd_u32(r);
    if (!rd_ok(r) || count > rd_left(r) / ENTRY_BYTES_MIN) return false;
    map->entries = ARENA_ARRAY(arena, FieldsMapEntry, count);
    map->count = count;
    for (uint32_t i = 0; i < count; i++) {
        map->entries[i].value = rd_u64(r);
        Str text = get_text(r);
        map->entries[i].text = str_from_8bit(arena, (const uint8_t *)text.p, text.n);
    }
    if (count) qsort(map->entries, count, sizeof *map->entries, compare_entries);
    // Every value is held against all entries of a bit map.
    if (map->bits && map->count > BIT_ENTRIES_MAX) map->count = BIT_ENTRIES_MAX;
    return rd_ok(r);
}

// Names are keys: readers of JSON choke on control characters in them.
static Str get_name(Rd *r, Arena *arena) {
    Str raw = get_text(r);
    Str text = str_from_8bit(arena, (const uint8_t *)raw.p, raw.n);
    char *name = arena_bytes(arena, text.n);
    for (size_t i = 0; i < text.n; i++) name[i] = (unsigned char)text.p[i] < ' ' ? '?' : text.p[i];
    return (Str){name, text.n};
}

static bool parse_def(Rd *r, FieldsNode *node, Arena *arena) {
    FieldsDef *def = &node->def;
    def->name = get_name(r, arena);
    def->type = rd_u8(r);
    def->out = rd_u8(r);
    uint8_t kinds = rd_u8(r);
    def->count_kind = kinds & 15;
    def->length_kind = kinds >> 4;
    def->map = rd_u16(r);
    def->members = rd_u16(r);
    def->count = rd_u32(r);
    def->length = rd_u32(r);
    AUTO(buf_done) Buf key = {0};
    buf_add_char(&key, ',');
    buf_add_json(&key, def->name);
    buf_add_char(&key, ':');
    node->key = str_copy(arena, buf_str(&key));
    return rd_ok(r) && def->type < IN_TYPES && def->count_kind <= COUNT_REST &&
           def->length_kind <= LENGTH_REST;
}

// Gives the field that `target` refers to a slot.
static bool refer(ParsedLayout *layout, uint32_t from, uint32_t target, uint32_t *slot) {
    if (target >= from) return false;
    FieldsNode *node = &layout->nodes[target];
    if (!type_is_integer((FieldsType)node->def.type)) return false;
    if (!node->slot) {
        if (layout->slots == FIELDS_SLOTS) return false;
        node->slot = (uint16_t)++layout->slots;
    }
    *slot = node->slot;
    return true;
}

// Where each structure ends: `members` counts direct members. Returns the index behind the field.
// NOLINTNEXTLINE(misc-no-recursion) depth is limited
static uint32_t link_members(ParsedLayout *layout, uint32_t index, unsigned depth) {
    FieldsNode *node = &layout->nodes[index];
    uint32_t next = index + 1;
    if (node->def.type == IN_STRUCT) {
        if (depth >= LIMIT_SCHEMA_DEPTH) return 0;
        for (uint32_t i = 0; i < node->def.members; i++) {
            if (next >= layout->count) return 0;
            layout->nodes[next].is_member = true;
            next = link_members(layout, next, depth + 1);
            if (!next) return 0;
        }
    }
    node->next = next;
    return next;
}

static bool link_fields(ParsedLayout *layout, unsigned pointer_size) {
    uint64_t offset = 0;
    bool fixed = true;
    for (uint32_t i = 0; i < layout->count;) {
        uint32_t next = link_members(layout, i, 0);
        if (!next) return false;
        i = next;
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        FieldsNode *node = &layout->nodes[i];
        const FieldsDef *def = &node->def;
        node->size = (uint8_t)type_size((FieldsType)def->type, pointer_size);
        if (def->map > layout->map_count) return false;
        if (def->count_kind == COUNT_FIELD && !refer(layout, i, def->count, &node->refer))
            return false;
        if (def->length_kind == LENGTH_FIELD && !refer(layout, i, def->length, &node->refer_length))
            return false;
        node->offset = fixed && !node->is_member ? (uint32_t)offset : NO_OFFSET;
        if (!node->size || def->count_kind != COUNT_ONE) fixed = false;
        offset += node->size;
    }
    return true;
}

static bool parse_layout(Rd r, ParsedLayout *layout, unsigned pointer_size, Arena *arena) {
    enum { FIELD_BYTES_MIN = 17, MAP_BYTES_MIN = 7 };
    uint32_t pids = rd_u32(&r);
    if (pids > rd_left(&r) / 4) return false;
    layout->pids = ARENA_ARRAY(arena, uint32_t, pids);
    layout->pid_count = pids;
    for (uint32_t i = 0; i < pids; i++) layout->pids[i] = rd_u32(&r);
    Str message = get_text(&r);
    layout->message = str_from_8bit(arena, (const uint8_t *)message.p, message.n);
    layout->count = rd_u16(&r);
    if (layout->count > LIMIT_SCHEMA_FIELDS || layout->count > rd_left(&r) / FIELD_BYTES_MIN)
        return false;
    layout->nodes = ARENA_ARRAY(arena, FieldsNode, layout->count);
    for (uint32_t i = 0; i < layout->count; i++)
        if (!parse_def(&r, &layout->nodes[i], arena)) return false;
    layout->map_count = rd_u16(&r);
    if (layout->map_count > rd_left(&r) / MAP_BYTES_MIN) return false;
    layout->maps = ARENA_ARRAY(arena, FieldsMap, layout->map_count);
    for (uint32_t i = 0; i < layout->map_count; i++)
        if (!parse_map(&r, &layout->maps[i], arena)) return false;
    return rd_ok(&r) && link_fields(layout, pointer_size);
}

static const FieldsSchema *parse_kernel(Rd *r, FieldsSchema *schema) {
    bool exact = false;
    uint16_t hook = rd_u16(r);
    uint8_t version = rd_u8(r);
    schema->spec = spec_find(hook, version, &exact);
    schema->header.ticks_per_s = rd_u64(r);
    schema->header.start_ticks = rd_i64(r);
    return rd_ok(r) && schema->header.ticks_per_s && schema->spec ? schema : NULL;
}

const FieldsSchema *schema_parse(Str bytes, Arena *arena) {
    Rd r = rd_from_str(bytes);
    uint8_t kind = rd_u8(&r), format = rd_u8(&r);
    FieldsSchema *schema = ARENA_NEW(arena, FieldsSchema);
    schema->pointer_size = rd_u8(&r);
    if (!rd_ok(&r) || format != FORMAT) return NULL;
    if (schema->pointer_size != 4 && schema->pointer_size != 8) return NULL;
    if (kind == 'K') return parse_kernel(&r, schema);
    if (kind != 'F') return NULL;
    Rd counter = r;
    uint32_t count = 0;
    for (; rd_left(&counter) && rd_ok(&counter); count++) rd_skip(&counter, rd_u32(&counter));
    if (!rd_ok(&counter) || !count || count > FIELDS_LAYOUTS) return NULL;
    schema->layouts = ARENA_ARRAY(arena, ParsedLayout, count);
    for (; schema->layout_count < count; schema->layout_count++) {
        Rd body = rd_sub(&r, rd_u32(&r));
        if (!parse_layout(body, &schema->layouts[schema->layout_count], schema->pointer_size,
                          arena))
            return NULL;
    }
    return schema;
}

void fields_list(const FieldsSchema *schema, Buf *out) {
    if (schema->spec) {
        for (unsigned i = 0; i < schema->spec->field_count; i++)
            if (schema->spec->fields[i].name)
                buf_addf(out, "%s%s", i ? ", " : "", schema->spec->fields[i].name);
        return;
    }
    const ParsedLayout *layout = &schema->layouts[0];
    bool any = false;
    for (uint32_t i = 0; i < layout->count; i = layout->nodes[i].next) {
        if (layout->nodes[i].def.out == OUT_HIDDEN) continue;
        buf_addf(out, "%s" STR_FMT, any ? ", " : "", STR_ARG(layout->nodes[i].def.name));
        any = true;
    }
}
