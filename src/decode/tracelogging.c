// TraceLogging metadata to a layout.
#include "decode/tracelogging.h"

enum {
    TYPE_MASK = 0x1F,
    COUNT_MASK = 0x60,
    COUNT_CONSTANT = 0x20,
    COUNT_VARIABLE = 0x40,
    COUNT_CUSTOM = 0x60,
    CHAIN = 0x80,
    OUT_MASK = 0x7F,
    TAG_BYTES_MAX = 4,
};

static void skip_tags(Rd *r) {
    for (int i = 0; i < TAG_BYTES_MAX; i++)
        if (!(rd_u8(r) & CHAIN)) return;
    rd_fail(r);
}

static uint8_t out_from_tracelogging(uint8_t out, uint8_t type) {
    static const uint8_t FROM[] = {
        [0] = OUT_DEFAULT,   [1] = OUT_DEFAULT,     [2] = OUT_STRING,    [3] = OUT_BOOLEAN,
        [4] = OUT_HEX,       [5] = OUT_PID,         [6] = OUT_TID,       [7] = OUT_PORT,
        [8] = OUT_IPV4,      [9] = OUT_IPV6,        [10] = OUT_SOCKADDR, [11] = OUT_XML,
        [12] = OUT_JSON,     [13] = OUT_WIN32ERROR, [14] = OUT_NTSTATUS, [15] = OUT_HRESULT,
        [16] = OUT_DATETIME, [17] = OUT_SIGNED,     [18] = OUT_UNSIGNED,
    };
    bool text = out == 2 && (type == IN_U16 || type == IN_U8 || type == IN_I8);
    if (text) return OUT_STRING;
    if (out < COUNT_OF(FROM)) return FROM[out];
    return out == OUT_DATETIME_PLAIN || out == OUT_UTF8 || out == OUT_CODE_POINTER ||
                   out == OUT_DATETIME_UTC
               ? out
               : OUT_DEFAULT;
}

static void set_type(FieldsDef *def, uint8_t in, uint8_t out) {
    uint8_t type = in & TYPE_MASK;
    def->type = type;
    if (type == IN_STRUCT) {
        def->members = out & OUT_MASK;
        return;
    }
    def->out = out_from_tracelogging(out & OUT_MASK, type);
    if (type == IN_BIN) def->type = IN_CBIN;
    // A character array is declared as numbers shown as text.
    if (def->out == OUT_STRING && type == IN_U16) def->type = IN_WCHAR;
    if (def->out == OUT_STRING && (type == IN_U8 || type == IN_I8)) def->type = IN_ACHAR;
}

static bool read_field(Rd *r, Arena *arena, FieldsDef *def) {
    *def = (FieldsDef){.name = rd_astr(r, arena)};
    uint8_t in = rd_u8(r), out = 0;
    if (in & CHAIN) {
        out = rd_u8(r);
        if (out & CHAIN) skip_tags(r);
    }
    unsigned mode = in & COUNT_MASK;
    uint16_t n = mode == COUNT_CONSTANT || mode == COUNT_CUSTOM ? rd_u16(r) : 0;
    if ((in & TYPE_MASK) > IN_CBIN) return false;
    set_type(def, in, out);
    if (mode == COUNT_CONSTANT) {
        def->count_kind = COUNT_FIXED;
        def->count = n;
    } else if (mode == COUNT_VARIABLE) {
        def->count_kind = COUNT_U16;
    } else if (mode == COUNT_CUSTOM) { // type information that nobody publishes
        rd_skip(r, n);
        *def = (FieldsDef){.name = def->name, .type = IN_CBIN};
    }
    return rd_ok(r);
}

// Members that the list no longer holds are cut off, so that the rest stays readable.
static bool trim_members(FieldsLayout *layout) {
    bool whole = true;
    for (size_t i = layout->fields.count; i-- > 0;) {
        FieldsDef *def = &layout->fields.items[i];
        if (def->type != IN_STRUCT) continue;
        size_t at = i + 1;
        unsigned members = 0;
        // Inner structures are right already: `length` holds where they end.
        for (; members < def->members && at < layout->fields.count; members++) {
            const FieldsDef *member = &layout->fields.items[at];
            at = member->type == IN_STRUCT ? member->length : at + 1;
        }
        if (members < def->members) whole = false;
        def->members = (uint16_t)members;
        def->length = (uint32_t)at;
    }
    for (size_t i = 0; i < layout->fields.count; i++)
        if (layout->fields.items[i].type == IN_STRUCT) layout->fields.items[i].length = 0;
    return whole;
}

bool tracelogging_layout(Str schema, Arena *arena, FieldsLayout *layout, Str *event_name) {
    Rd r = rd_from_str(schema);
    size_t size = rd_u16(&r);
    if (size >= 2 && size < schema.n) {
        r = rd_from_str(str_slice(schema, 0, size));
        rd_skip(&r, 2);
    }
    skip_tags(&r);
    *event_name = rd_astr(&r, arena);
    bool whole = rd_ok(&r);
    while (whole && rd_left(&r)) {
        FieldsDef def;
        whole = layout->fields.count < LIMIT_SCHEMA_FIELDS && read_field(&r, arena, &def);
        if (whole) *vec_push(&layout->fields) = def;
    }
    whole = trim_members(layout) && whole;
    layout_name(layout, arena);
    return whole;
}

Str traits_name(Str traits, Arena *arena) {
    Rd r = rd_from_str(traits);
    rd_skip(&r, 2);
    return rd_left(&r) ? rd_astr(&r, arena) : (Str){0};
}

bool traits_group(Str traits, Guid *group) {
    enum { TRAIT_GROUP = 1, TRAIT_HEADER = 3 };
    Rd r = rd_from_str(traits);
    rd_skip(&r, 2);
    (void)rd_astr_raw(&r);
    while (rd_left(&r)) {
        size_t size = rd_u16(&r);
        uint8_t type = rd_u8(&r);
        if (size < TRAIT_HEADER) return false;
        Rd data = rd_sub(&r, size - TRAIT_HEADER);
        if (type != TRAIT_GROUP) continue;
        *group = rd_guid(&data);
        return rd_ok(&data);
    }
    return false;
}
