// Whole events as JSON, and single fields.
#include "decode/fields_internal.h"

#include <jansson.h>

static void add_report(FieldsWalk *walk, const FieldsReport *report, bool any) {
    Buf *out = walk->out;
    if (walk->missing) {
        buf_add_c(out, any ? ",\"_missing\":" : "\"_missing\":");
        buf_add_json(out, walk->missing->def.name);
        any = true;
    }
    if (report->extra_bytes) {
        buf_addf(out, "%s\"_extra_bytes\":%zu", any ? "," : "", report->extra_bytes);
        any = true;
    }
    if (report->cut) buf_add_c(out, any ? ",\"_cut\":true" : "\"_cut\":true");
}

static void kernel_json(const FieldsSchema *schema, Str payload, Arena *scratch, Buf *out,
                        FieldsReport *report) {
    bool complete = false;
    SpecPayload bytes = {&schema->header, schema->pointer_size, payload};
    size_t used = spec_json(schema->spec, &bytes, scratch, out, &complete);
    report->extra_bytes = payload.n - used;
    report->missing = !complete;
    if (complete && !report->extra_bytes) return;
    out->n--; // the closing brace
    bool any = out->p[out->n - 1] != '{';
    if (!complete) buf_add_c(out, any ? ",\"_missing\":true" : "\"_missing\":true");
    if (complete || report->extra_bytes)
        buf_addf(out, "%s\"_extra_bytes\":%zu", any || !complete ? "," : "", report->extra_bytes);
    buf_add_char(out, '}');
}

void fields_json(const FieldsSchema *schema, Str payload, uint32_t pid, Arena *scratch, Buf *out,
                 FieldsReport *report) {
    *report = (FieldsReport){0};
    if (schema->spec) {
        kernel_json(schema, payload, scratch, out, report);
        return;
    }
    const ParsedLayout *layout = layout_choose(schema, payload, pid);
    FieldsWalk walk;
    walk_start(&walk, schema, layout, payload, scratch, out);
    bool ok = true, any = false;
    buf_add_char(out, '{');
    if (layout->message.n) {
        message_json(out, &walk);
        any = true;
    }
    for (uint32_t i = 0; ok && i < layout->count; i = layout->nodes[i].next) {
        const FieldsNode *node = &layout->nodes[i];
        if (node->def.out == OUT_HIDDEN) {
            walk.out = NULL;
            ok = walk_field(&walk, i, 0);
            walk.out = out;
            continue;
        }
        size_t mark = out->n;
        buf_add(out, node_key(node, !any));
        size_t value_at = out->n;
        ok = walk_field(&walk, i, 0);
        if (out->n == value_at)
            out->n = mark; // not there
        else
            any = true;
    }
    report->extra_bytes = rd_left(&walk.r);
    report->missing = walk.missing != NULL;
    report->cut = walk.cut;
    if (report->missing || report->extra_bytes || report->cut) add_report(&walk, report, any);
    buf_add_char(out, '}');
}

void fields_raw_json(Str payload, Str why, Buf *out) {
    buf_add_c(out, "{\"_raw\":\"0x");
    for (size_t i = 0; i < payload.n; i++) {
        char pair[2];
        buf_add(out, hex_write(pair, &payload.p[i], 1));
    }
    buf_add_c(out, "\",\"_why\":");
    buf_add_json(out, why);
    buf_add_char(out, '}');
}

// ---------------------------------------------------------------- one field

#define NO_FIELD UINT32_MAX

// The field among the siblings from `index` to `end`.
static uint32_t find_sibling(const ParsedLayout *layout, uint32_t index, uint32_t end, Str name) {
    for (; index < end; index = layout->nodes[index].next) {
        const FieldsDef *def = &layout->nodes[index].def;
        if (def->name.n == name.n && memcmp(def->name.p, name.p, name.n) == 0) return index;
    }
    return NO_FIELD;
}

// Walks up to the field, into structures where the name has a dot. Names may hold dots themselves.
static uint32_t walk_to(FieldsWalk *walk, Str name) {
    const ParsedLayout *layout = walk->layout;
    uint32_t from = 0, end = layout->count;
    for (unsigned depth = 0; depth <= LIMIT_SCHEMA_DEPTH; depth++) {
        uint32_t target = find_sibling(layout, from, end, name);
        Str rest = name, first = name;
        if (target == NO_FIELD && str_next(&rest, '.', &first) && rest.n)
            target = find_sibling(layout, from, end, first);
        if (target == NO_FIELD) return NO_FIELD;
        const FieldsNode *node = &layout->nodes[target];
        if (node->offset != NO_OFFSET && node->offset <= rd_left(&walk->r) && !depth &&
            !node->refer && !node->refer_length && node->def.type != IN_STRUCT) {
            rd_skip(&walk->r, node->offset);
        } else {
            for (uint32_t i = from; i < target; i = layout->nodes[i].next)
                if (!walk_field(walk, i, depth)) return NO_FIELD;
        }
        if (str_eq(first, name)) return target;
        if (node->def.type != IN_STRUCT || node->def.count_kind != COUNT_ONE) return NO_FIELD;
        name = rest;
        from = target + 1;
        end = node->next;
    }
    return NO_FIELD;
}

// The JSON value without the quotes of text.
static Str plain_text(Buf *json, Arena *scratch) {
    Str text = buf_str(json);
    if (!text.n || text.p[0] != '"') return str_copy(scratch, text);
    Str inner = str_slice(text, 1, text.n - 1);
    if (inner.n && memchr(inner.p, '\\', inner.n)) {
        json_t *value = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        Str decoded = {json_string_value(value), json_string_length(value)};
        inner = str_copy(scratch, decoded);
        json_decref(value);
        return inner;
    }
    return str_copy(scratch, inner);
}

static FieldsValue kernel_value(const FieldsSchema *schema, Str payload, Str name, bool want_text,
                                Arena *scratch) {
    AUTO(buf_done) Buf text = {0};
    FieldsValue value = {0};
    bool complete = false;
    SpecPayload bytes = {&schema->header, schema->pointer_size, payload};
    (void)spec_json(schema->spec, &bytes, scratch, &text, &complete);
    json_t *object = json_loadb(text.p, text.n, JSON_ALLOW_NUL, NULL);
    const json_t *member = json_object_get(object, str_to_c(scratch, name));
    if (json_is_integer(member)) {
        value.kind = FIELDS_I64;
        value.i64 = json_integer_value(member);
        value.u64 = (uint64_t)value.i64;
        value.f64 = (double)value.i64;
    } else if (json_is_string(member)) {
        Str s = {json_string_value(member), json_string_length(member)};
        value.text = str_copy(scratch, s);
        value.kind = str_to_u64(s, &value.u64) ? FIELDS_U64 : FIELDS_TEXT;
        value.i64 = (int64_t)value.u64;
        value.f64 = (double)value.u64;
    }
    if (member && want_text && !value.text.p) {
        size_t size = json_dumpb(member, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT);
        char *dump = arena_bytes(scratch, size);
        (void)json_dumpb(member, dump, size, JSON_ENCODE_ANY | JSON_COMPACT);
        value.text = (Str){dump, size};
        if (value.kind == FIELDS_NONE) value.kind = FIELDS_TEXT;
    }
    json_decref(object);
    return value;
}

static void set_number(FieldsValue *value, const FieldsNode *node, const FieldsRaw *raw) {
    FieldsType type = (FieldsType)node->def.type;
    if (type == IN_F32) {
        float v = 0;
        memcpy(&v, raw->p, sizeof v);
        value->kind = FIELDS_F64;
        value->f64 = (double)v;
    } else if (type == IN_F64) {
        value->kind = FIELDS_F64;
        memcpy(&value->f64, raw->p, sizeof value->f64);
    } else if (raw->n && raw->n <= 8 && node->size) {
        bool is_signed = type_is_signed(node);
        value->kind = is_signed ? FIELDS_I64 : FIELDS_U64;
        value->u64 = raw->u;
        value->i64 = (int64_t)raw->u;
        value->f64 = is_signed ? (double)value->i64 : (double)value->u64;
    }
}

FieldsValue fields_value(const FieldsSchema *schema, Str payload, uint32_t pid, Str name,
                         bool want_text, Arena *scratch) {
    FieldsValue value = {0};
    if (!name.n) return value;
    if (schema->spec) return kernel_value(schema, payload, name, want_text, scratch);
    FieldsWalk walk;
    walk_start(&walk, schema, layout_choose(schema, payload, pid), payload, scratch, NULL);
    uint32_t index = walk_to(&walk, name);
    if (index == NO_FIELD) return value;
    const FieldsNode *node = &walk.layout->nodes[index];
    bool scalar = node->def.count_kind == COUNT_ONE && node->def.type != IN_STRUCT;
    FieldsRaw raw = {0};
    AUTO(buf_done) Buf json = {0};
    if (scalar) {
        if (!walk_value(&walk, node, &raw)) return value;
        value.kind = FIELDS_TEXT;
        set_number(&value, node, &raw);
        if (want_text) value_json(&json, walk.layout, node, &raw, scratch);
    } else if (want_text) {
        walk.out = &json;
        (void)walk_field(&walk, index, 0);
        value.kind = FIELDS_TEXT;
    }
    if (want_text) value.text = plain_text(&json, scratch);
    return value;
}

static bool place_in(const ParsedLayout *layout, Str name, FieldsPlace *out) {
    uint32_t index = find_sibling(layout, 0, layout->count, name);
    if (index == NO_FIELD) return false;
    const FieldsNode *node = &layout->nodes[index];
    FieldsType type = (FieldsType)node->def.type;
    if (node->offset == NO_OFFSET || node->def.count_kind != COUNT_ONE || !node->size ||
        node->size > 8 || type == IN_STRUCT || type == IN_F32 || type == IN_F64)
        return false;
    bool port = node->def.out == OUT_PORT && node->size == 2;
    *out = (FieldsPlace){.offset = node->offset,
                         .size = node->size,
                         .is_signed = type_is_signed(node),
                         .big_endian = type == IN_BE16 || port};
    return true;
}

bool fields_place(const FieldsSchema *schema, Str name, FieldsPlace *out) {
    if (schema->spec || !name.n || !schema->layout_count) return false;
    if (!place_in(&schema->layouts[0], name, out)) return false;
    for (uint32_t i = 1; i < schema->layout_count; i++) {
        FieldsPlace other;
        if (!place_in(&schema->layouts[i], name, &other)) return false;
        if (other.offset != out->offset || other.size != out->size ||
            other.is_signed != out->is_signed || other.big_endian != out->big_endian)
            return false;
    }
    return true;
}

FieldsValue fields_at(const FieldsPlace *place, Str payload) {
    FieldsValue value = {0};
    Rd r = rd_from_str(payload);
    rd_skip(&r, place->offset);
    const uint8_t *bytes = rd_take(&r, place->size);
    if (!bytes || !place->size) return value;
    memcpy(&value.u64, bytes, place->size);
    unsigned shift = (64u - 8u * place->size) & 63;
    if (place->big_endian)
        value.u64 = __builtin_bswap16((uint16_t)value.u64);
    else if (place->is_signed)
        value.u64 = (uint64_t)((int64_t)(value.u64 << shift) >> shift);
    value.i64 = (int64_t)value.u64;
    value.kind = place->is_signed ? FIELDS_I64 : FIELDS_U64;
    value.f64 = place->is_signed ? (double)value.i64 : (double)value.u64;
    return value;
}
