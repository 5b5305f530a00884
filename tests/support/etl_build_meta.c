// Fields from text to payloads and to the three descriptions of them
// (docs/formats/etl.md 5.1, 5.3).
#include "support/etl_build_meta.h"

enum { TYPE_STRUCT = 24 };

static const struct {
    const char *name;
    uint16_t code;
    uint8_t bytes; // of integers; 0 for everything else
} TYPES[] = {
    {"wstr",       1,           0},
    {"astr",       2,           0},
    {"i8",         3,           1},
    {"u8",         4,           1},
    {"i16",        5,           2},
    {"u16",        6,           2},
    {"i32",        7,           4},
    {"u32",        8,           4},
    {"i64",        9,           8},
    {"u64",        10,          8},
    {"f32",        11,          0},
    {"f64",        12,          0},
    {"bool",       13,          4},
    {"bin",        14,          0},
    {"guid",       15,          0},
    {"ptr",        16,          0},
    {"filetime",   17,          8},
    {"systemtime", 18,          0},
    {"sid",        19,          0},
    {"hex32",      20,          4},
    {"hex64",      21,          8},
    {"cwstr",      22,          0},
    {"castr",      23,          0},
    {"struct",     TYPE_STRUCT, 0},
    {"cbin",       25,          0},
};

// Cuts up to `separator`; takes everything when there is none.
static Str cut(Str *rest, char separator) {
    Str part = {0};
    (void)str_next(rest, separator, &part);
    return part;
}

static uint16_t number16(Str text, bool *good) {
    uint64_t value = 0;
    *good = str_to_u64(text, &value) && value <= 65535;
    return *good ? (uint16_t)value : 0;
}

static Status parse_option(Str option, MetaField *field, Err *err) {
    Str value = option;
    Str key = cut(&value, '=');
    bool good = true;
    if (str_eq(key, STR("out"))) {
        field->has_out = true;
        field->out_type = number16(value, &good);
    } else if (str_eq(key, STR("map"))) {
        field->map = value;
    } else if (str_eq(key, STR("tags"))) {
        field->tags = number16(value, &good);
    } else if (str_eq(key, STR("fields"))) {
        field->members = number16(value, &good);
    } else if (str_eq(key, STR("count"))) {
        field->is_array = true;
        field->count = number16(value, &good);
        if (!good) field->count_field = value;
        good = true;
    } else if (str_eq(key, STR("len"))) {
        field->length = number16(value, &good);
        if (!good) field->length_field = value;
        good = true;
    } else {
        good = false;
    }
    return good ? OK : err_set(err, ERR_ARG, "field option '" STR_FMT "'", STR_ARG(option));
}

static Status parse_type(Str text, MetaField *field, Err *err) {
    Str options = text;
    Str type = cut(&options, '/');
    size_t bracket = str_find(type, STR("["));
    if (bracket != SIZE_MAX) {
        Str count = str_slice(type, bracket + 1, type.n - 1);
        bool good = true;
        field->is_array = true;
        field->variable = count.n == 0;
        if (count.n) field->count = number16(count, &good);
        if (!good) return err_set(err, ERR_ARG, "array count '" STR_FMT "'", STR_ARG(count));
        type = str_slice(type, 0, bracket);
    }
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (str_eq(type, str_from_c(TYPES[i].name))) field->type = TYPES[i].code;
    if (!field->type) return err_set(err, ERR_ARG, "field type '" STR_FMT "'", STR_ARG(type));
    Str option;
    while (str_next(&options, '/', &option)) TRY(parse_option(option, field, err));
    return OK;
}

Status meta_field_parse(Str text, MetaField *out, Err *err) {
    *out = (MetaField){0};
    out->value = text;
    out->name = cut(&out->value, ':');
    Str type = cut(&out->value, ':');
    return parse_type(type, out, err);
}

static void put_counted(Pay *pay, Str bytes) {
    pay_u16(pay, (uint16_t)bytes.n);
    pay_bytes(pay, bytes);
}

static bool put_integer(Pay *pay, unsigned bytes, Str text) {
    int64_t value = 0;
    uint64_t magnitude = 0;
    if (text.n && str_to_u64(text, &magnitude)) {
        value = (int64_t)magnitude;
    } else if (bytes == 4 && str_find(text, STR(".")) != SIZE_MAX) {
        return pay_ip(pay, text);
    } else if (text.n && !str_to_i64(text, &value)) {
        return false;
    }
    pay_bytes(pay, (Str){(const char *)&value, bytes});
    return true;
}

static bool put_special(Pay *pay, unsigned pointer_size, const MetaField *field, Str text,
                        bool tracelogging) {
    AUTO(buf_done) Buf bytes = {0};
    double number = 0;
    uint64_t address = 0;
    Guid guid = {{0}};
    bool hex = field->type == 14 || field->type == 25 || field->type == 18;
    if (hex && !pay_hex(&bytes, text)) return false;
    switch (field->type) {
    case 1:
        pay_utf16(pay, text);
        if (!field->length && !field->length_field.n) pay_u16(pay, 0);
        return true;
    case 2:
        pay_bytes(pay, text);
        if (!field->length && !field->length_field.n) pay_u8(pay, 0);
        return true;
    case 11:
    case 12:
        if (text.n && !str_to_f64(text, &number)) return false;
        if (field->type == 11) pay_f32(pay, (float)number);
        if (field->type == 12) pay_f64(pay, number);
        return true;
    case 15:
        if (text.n && !guid_from_text(text, &guid)) return false;
        pay_guid(pay, guid);
        return true;
    case 16:
        if (text.n && !str_to_u64(text, &address)) return false;
        pay_ptr(pay, pointer_size, address);
        return true;
    case 19: return pay_sid(pay, text);
    case 18: pay_bytes(pay, buf_str(&bytes)); return bytes.n == 16;
    case 22:
        pay_u16(pay, (uint16_t)pay_utf16_bytes(text));
        pay_utf16(pay, text);
        return true;
    case 23: put_counted(pay, text); return true;
    case 14:
        if (!tracelogging) {
            pay_bytes(pay, buf_str(&bytes));
            return true;
        }
        put_counted(pay, buf_str(&bytes));
        return true;
    case 25: put_counted(pay, buf_str(&bytes)); return true;
    default: return false;
    }
}

static bool put_one(Pay *pay, unsigned pointer_size, const MetaField *field, Str text,
                    bool tracelogging) {
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (TYPES[i].code == field->type && TYPES[i].bytes)
            return put_integer(pay, TYPES[i].bytes, text);
    return put_special(pay, pointer_size, field, text, tracelogging);
}

static size_t list_length(Str values) {
    size_t count = values.n > 0;
    for (size_t i = 0; i < values.n; i++) count += values.p[i] == ',';
    return count;
}

Status meta_put_values(Pay *pay, unsigned pointer_size, const MetaField *fields, size_t count,
                       bool tracelogging, Err *err) {
    for (size_t i = 0; i < count; i++) {
        const MetaField *f = &fields[i];
        if (f->variable) pay_u16(pay, (uint16_t)list_length(f->value));
        if (f->type == TYPE_STRUCT) continue; // its members carry the values
        Str rest = f->value, part = f->value;
        bool good = true;
        if (f->is_array) {
            while (good && str_next(&rest, ',', &part))
                good = put_one(pay, pointer_size, f, part, tracelogging);
        } else {
            good = put_one(pay, pointer_size, f, part, tracelogging);
        }
        if (!good)
            return err_set(err, ERR_ARG, "value '" STR_FMT "' of field " STR_FMT, STR_ARG(part),
                           STR_ARG(f->name));
    }
    return OK;
}

// Fields in the order of TRACE_EVENT_INFO: the top level first, then the members of each struct.
typedef struct Layout {
    const MetaField *fields[META_FIELDS_MAX];
    size_t source[META_FIELDS_MAX]; // index in the event's list, where members follow their struct
    uint16_t first_member[META_FIELDS_MAX];
    size_t count, top_level;
} Layout;

// Number of list entries that field `i` takes with all its members.
static size_t span(const MetaEvent *event, size_t i) {
    size_t end = i + 1;
    for (size_t m = 0; m < event->fields[i].members && end < event->field_count; m++)
        end += span(event, end);
    return end - i;
}

static void layout_add(Layout *layout, const MetaEvent *event, size_t source) {
    layout->fields[layout->count] = &event->fields[source];
    layout->source[layout->count++] = source;
}

static Layout layout_of(const MetaEvent *event) {
    Layout layout = {.count = 0};
    size_t count = event->field_count < META_FIELDS_MAX ? event->field_count : META_FIELDS_MAX;
    for (size_t i = 0; i < count; i += span(event, i)) layout_add(&layout, event, i);
    layout.top_level = layout.count;
    for (size_t i = 0; i < layout.count; i++) {
        layout.first_member[i] = (uint16_t)layout.count;
        size_t member = layout.source[i] + 1;
        for (size_t m = 0; m < layout.fields[i]->members && member < count; m++) {
            layout_add(&layout, event, member);
            member += span(event, member);
        }
    }
    return layout;
}

static uint16_t field_index(const Layout *layout, Str name) {
    for (size_t i = 0; i < layout->count; i++)
        if (str_eq(layout->fields[i]->name, name)) return (uint16_t)i;
    return 0;
}

// Puts the offset of a text at `at` and the text at the end; absent texts have offset 0.
static void put_text_at(Pay *pay, size_t at, Str text) {
    if (text.n == 0) return;
    pay_set_u32(pay, at, (uint32_t)pay->n);
    pay_wstr(pay, text);
}

static void put_property(Pay *pay, const Layout *layout, size_t index) {
    enum { STRUCT = 1, LENGTH_REF = 2, COUNT_REF = 4, FIXED_LENGTH = 0x10, FIXED_COUNT = 0x20 };
    const MetaField *f = layout->fields[index];
    bool structure = f->type == TYPE_STRUCT;
    uint32_t flags = (structure ? STRUCT : 0u) | (f->length_field.n ? LENGTH_REF : 0u) |
                     (f->count_field.n ? COUNT_REF : 0u) | (f->length ? FIXED_LENGTH : 0u) |
                     (f->is_array && f->count ? FIXED_COUNT : 0u);
    pay_u32(pay, flags);
    pay_u32(pay, 0); // name, set later
    pay_u16(pay, structure ? layout->first_member[index] : f->type);
    pay_u16(pay, structure ? f->members : f->out_type);
    pay_u32(pay, 0); // map name, set later
    uint16_t constant = f->count ? f->count : 1;
    pay_u16(pay, f->count_field.n ? field_index(layout, f->count_field) : constant);
    pay_u16(pay, f->length_field.n ? field_index(layout, f->length_field) : f->length);
    pay_u32(pay, f->tags);
}

void meta_put_event_info(Pay *pay, const MetaEvent *e) {
    AUTO(buf_done) Buf blob = {0};
    Layout layout = layout_of(e);
    pay_guid(&blob, e->provider);
    pay_guid(&blob, e->event_guid);
    pay_u16(&blob, e->id);
    pay_u8(&blob, e->version);
    pay_u8(&blob, e->channel);
    pay_u8(&blob, e->level);
    pay_u8(&blob, e->opcode);
    pay_u16(&blob, e->task);
    pay_u64(&blob, e->keyword);
    pay_zeros(&blob, 100 - 48); // decoding source 0 and text offsets, set below
    pay_u32(&blob, (uint32_t)layout.count);
    pay_u32(&blob, (uint32_t)layout.top_level);
    pay_u32(&blob, 1);
    for (size_t i = 0; i < layout.count; i++) put_property(&blob, &layout, i);
    put_text_at(&blob, 52, e->provider_name);
    put_text_at(&blob, 56, e->level_name);
    put_text_at(&blob, 60, e->channel_name);
    put_text_at(&blob, 64, e->keyword_names);
    if (e->keyword_names.n) pay_u16(&blob, 0); // the list ends with an empty text
    put_text_at(&blob, 68, e->task_name);
    put_text_at(&blob, 72, e->opcode_name);
    put_text_at(&blob, 76, e->message);
    put_text_at(&blob, 92, e->event_name);
    for (size_t i = 0; i < layout.count; i++) {
        put_text_at(&blob, 112 + 24 * i + 4, layout.fields[i]->name);
        put_text_at(&blob, 112 + 24 * i + 12, layout.fields[i]->map);
    }
    pay_bytes(pay, buf_str(&blob));
}

Status meta_put_map_info(Pay *pay, const MetaMap *map, Err *err) {
    AUTO(buf_done) Buf blob = {0};
    pay_u32(&blob, 0);
    pay_u32(&blob, map->bits ? 2 : 1);
    pay_u32(&blob, (uint32_t)map->count);
    pay_u32(&blob, 0);
    for (size_t i = 0; i < map->count; i++) {
        Str text = map->entries[i];
        uint64_t value = 0;
        if (!str_to_u64(cut(&text, ':'), &value) || value > UINT32_MAX)
            return err_set(err, ERR_ARG, "map entry '" STR_FMT "'", STR_ARG(map->entries[i]));
        pay_u32(&blob, 0);
        pay_u32(&blob, (uint32_t)value);
    }
    put_text_at(&blob, 0, map->name);
    for (size_t i = 0; i < map->count; i++) {
        Str text = map->entries[i];
        (void)cut(&text, ':');
        put_text_at(&blob, 16 + 8 * i, text);
    }
    pay_guid(pay, map->provider);
    pay_bytes(pay, buf_str(&blob));
    return OK;
}

// 28 bits, 7 at a time from the top; a set bit 7 says that more follows.
static void put_tags(Pay *pay, uint32_t tags) {
    for (unsigned shift = 21;; shift -= 7) {
        bool more = (tags & ((1u << shift) - 1)) != 0;
        pay_u8(pay, (uint8_t)((tags >> shift & 0x7F) | (more ? 0x80 : 0)));
        if (!more) return;
    }
}

void meta_put_schema(Pay *pay, Str event_name, uint32_t tags, const MetaField *fields,
                     size_t count) {
    enum { CONSTANT = 0x20, VARIABLE = 0x40, OUT_FOLLOWS = 0x80 };
    size_t from = pay->n;
    pay_u16(pay, 0);
    put_tags(pay, tags);
    pay_astr(pay, event_name);
    for (size_t i = 0; i < count; i++) {
        const MetaField *f = &fields[i];
        bool structure = f->type == TYPE_STRUCT;
        bool out = structure || f->has_out || f->tags;
        unsigned mode = f->variable ? VARIABLE : f->is_array ? CONSTANT : 0;
        pay_astr(pay, f->name);
        pay_u8(pay, (uint8_t)(f->type | mode | (out ? OUT_FOLLOWS : 0)));
        unsigned out_byte = structure ? f->members : f->out_type;
        if (out) pay_u8(pay, (uint8_t)(out_byte | (f->tags ? 0x80 : 0)));
        if (f->tags) put_tags(pay, f->tags);
        if (mode == CONSTANT) pay_u16(pay, f->count);
    }
    pay_set_u16(pay, from, (uint16_t)(pay->n - from));
}

void meta_put_traits(Pay *pay, Str provider_name, const Guid *group) {
    size_t from = pay->n;
    pay_u16(pay, 0);
    pay_astr(pay, provider_name);
    if (group) {
        pay_u16(pay, 3 + 16);
        pay_u8(pay, 1);
        pay_guid(pay, *group);
    }
    pay_set_u16(pay, from, (uint16_t)(pay->n - from));
}
