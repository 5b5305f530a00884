// Walks payloads: sizes and counts from the schema, every byte through the checked reader.
#include "decode/fields_internal.h"

size_t type_size(FieldsType type, unsigned pointer_size) {
    static const uint8_t SIZES[IN_TYPES] = {
        [IN_I8] = 1,     [IN_U8] = 1,    [IN_I16] = 2,         [IN_U16] = 2,   [IN_I32] = 4,
        [IN_U32] = 4,    [IN_I64] = 8,   [IN_U64] = 8,         [IN_F32] = 4,   [IN_F64] = 8,
        [IN_BOOL32] = 4, [IN_GUID] = 16, [IN_FILETIME] = 8,    [IN_HEX32] = 4, [IN_HEX64] = 8,
        [IN_WCHAR] = 2,  [IN_ACHAR] = 1, [IN_SYSTEMTIME] = 16, [IN_BE16] = 2,  [IN_TIME] = 8,
    };
    if (type == IN_PTR || type == IN_SIZE) return pointer_size;
    return SIZES[type];
}

bool type_is_integer(FieldsType type) {
    bool number = type >= IN_I8 && type <= IN_U64;
    return number || type == IN_BOOL32 || type == IN_PTR || type == IN_HEX32 || type == IN_HEX64 ||
           type == IN_SIZE || type == IN_BE16 || type == IN_ACHAR || type == IN_WCHAR;
}

bool type_is_signed(const FieldsNode *node) {
    unsigned type = node->def.type, out = node->def.out;
    bool declared = type == IN_I8 || type == IN_I16 || type == IN_I32 || type == IN_I64;
    if (out == OUT_UNSIGNED) return false;
    return declared || (out == OUT_SIGNED && type_is_integer((FieldsType)type));
}

void walk_start(FieldsWalk *walk, const FieldsSchema *schema, const ParsedLayout *layout,
                Str payload, Arena *scratch, Buf *out) {
    walk->schema = schema;
    walk->layout = layout;
    walk->r = rd_from_str(payload);
    walk->scratch = scratch;
    walk->out = out;
    walk->steps = 0;
    walk->cut = false;
    walk->missing = NULL;
    if (layout->slots) memset(walk->slots, 0, layout->slots * sizeof walk->slots[0]);
}

// `n` bytes of text or data, or what is left of them.
static bool take_bytes(FieldsWalk *walk, const FieldsNode *node, uint64_t n, FieldsRaw *raw) {
    if (n > rd_left(&walk->r)) {
        if (!walk->missing) walk->missing = node;
        n = rd_left(&walk->r);
    }
    Str bytes = rd_bytes(&walk->r, (size_t)n);
    *raw = (FieldsRaw){.p = (const uint8_t *)bytes.p, .n = bytes.n};
    return true;
}

static bool take_counted(FieldsWalk *walk, const FieldsNode *node, FieldsRaw *raw) {
    Rd *r = &walk->r;
    FieldsType type = (FieldsType)node->def.type;
    bool big = type == IN_RWSTR || type == IN_RASTR;
    uint64_t n = type == IN_HEXDUMP ? rd_u32(r) : big ? rd_be16(r) : rd_u16(r);
    return rd_ok(r) && take_bytes(walk, node, n, raw);
}

static bool take_sid(FieldsWalk *walk, FieldsRaw *raw) {
    enum { FIXED = 8, AUTHORITIES_MAX = 15 };
    Rd peek = walk->r;
    rd_skip(&peek, 1);
    size_t authorities = rd_u8(&peek);
    if (!rd_ok(&peek) || authorities > AUTHORITIES_MAX) return false;
    Str bytes = rd_bytes(&walk->r, FIXED + 4 * authorities);
    *raw = (FieldsRaw){.p = (const uint8_t *)bytes.p, .n = bytes.n};
    return rd_ok(&walk->r);
}

static bool take_variable(FieldsWalk *walk, const FieldsNode *node, FieldsRaw *raw) {
    Rd *r = &walk->r;
    const FieldsDef *def = &node->def;
    FieldsType type = (FieldsType)def->type;
    bool wide = type == IN_WSTR;
    if ((wide || type == IN_ASTR || type == IN_BIN) && def->length_kind != LENGTH_NONE) {
        uint64_t n = def->length;
        if (def->length_kind == LENGTH_REST) n = rd_left(r) / (wide ? 2 : 1);
        if (def->length_kind == LENGTH_FIELD) n = walk->slots[node->refer_length - 1];
        if (n > rd_left(r)) n = (uint64_t)rd_left(r) + 1; // the product must not wrap
        return take_bytes(walk, node, wide ? n * 2 : n, raw);
    }
    switch ((unsigned)type) {
    case IN_WSTR:
    case IN_ASTR: {
        if (!rd_left(r)) return false;
        Str text = wide ? rd_wstr_raw(r) : rd_astr_raw(r);
        *raw = (FieldsRaw){.p = (const uint8_t *)text.p, .n = text.n};
        return true;
    }
    case IN_CWSTR:
    case IN_CASTR:
    case IN_CBIN:
    case IN_RWSTR:
    case IN_RASTR:
    case IN_HEXDUMP: return take_counted(walk, node, raw);
    case IN_SID: return take_sid(walk, raw);
    case IN_WBEM_SID: {
        Str sid = {0};
        rd_kernel_sid(r, walk->schema->pointer_size, &sid);
        *raw = (FieldsRaw){.p = (const uint8_t *)sid.p, .n = sid.n};
        return rd_ok(r);
    }
    case IN_BIN: return take_bytes(walk, node, def->out == OUT_IPV6 ? 16 : rd_left(r), raw);
    case IN_REST_W:
    case IN_REST_A: return take_bytes(walk, node, rd_left(r), raw);
    default: return type == IN_NULL;
    }
}

static uint64_t sign_extend(uint64_t u, size_t size) {
    unsigned shift = (unsigned)(64 - 8 * size);
    return (uint64_t)((int64_t)(u << shift) >> shift);
}

bool walk_value(FieldsWalk *walk, const FieldsNode *node, FieldsRaw *raw) {
    size_t size = node->size;
    *raw = (FieldsRaw){0};
    if (!size) {
        Rd before = walk->r;
        if (take_variable(walk, node, raw)) return true;
        walk->r = before; // what does not fit is left over
        return false;
    }
    if (size > rd_left(&walk->r)) return false;
    raw->p = rd_take(&walk->r, size);
    raw->n = size;
    if (size <= 8) {
        memcpy(&raw->u, raw->p, size);
        if (node->def.type == IN_BE16 || (node->def.out == OUT_PORT && size == 2))
            raw->u = __builtin_bswap16((uint16_t)raw->u);
        else if (size < 8 && type_is_signed(node))
            raw->u = sign_extend(raw->u, size);
    }
    if (node->slot) walk->slots[node->slot - 1] = raw->u;
    return true;
}

static bool over_limit(FieldsWalk *walk) {
    if (walk->steps++ < LIMIT_EVENT_STEPS && (!walk->out || walk->out->n < LIMIT_EVENT_JSON_BYTES))
        return false;
    walk->cut = true;
    return true;
}

// The members of one structure, as an object. `first_of_all` is the structure's own index.
// NOLINTNEXTLINE(misc-no-recursion) depth is limited by the schema
static bool walk_members(FieldsWalk *walk, const FieldsNode *node, uint32_t index, unsigned depth) {
    const FieldsNode *nodes = walk->layout->nodes;
    bool ok = true, any = false;
    if (walk->out) buf_add_char(walk->out, '{');
    for (uint32_t i = index + 1; ok && i < node->next; i = nodes[i].next) {
        size_t mark = walk->out ? walk->out->n : 0;
        bool shown = walk->out && nodes[i].def.out != OUT_HIDDEN;
        if (shown) buf_add(walk->out, node_key(&nodes[i], !any));
        size_t value_at = walk->out ? walk->out->n : 0;
        ok = walk_field(walk, i, depth + 1);
        if (walk->out && (!shown || walk->out->n == value_at)) walk->out->n = mark;
        if (walk->out && walk->out->n > mark) any = true;
    }
    if (walk->out) buf_add_char(walk->out, '}');
    return ok;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool walk_one(FieldsWalk *walk, const FieldsNode *node, uint32_t index, unsigned depth) {
    if (over_limit(walk)) return false;
    if (node->def.type == IN_STRUCT) return walk_members(walk, node, index, depth);
    FieldsRaw raw;
    if (!walk_value(walk, node, &raw)) {
        if (!walk->missing) walk->missing = node;
        return false;
    }
    if (walk->out) value_json(walk->out, walk->layout, node, &raw, walk->scratch);
    return !walk->missing;
}

static bool element_count(FieldsWalk *walk, const FieldsNode *node, uint64_t *count) {
    switch ((CountKind)node->def.count_kind) {
    case COUNT_ONE: *count = 1; return true;
    case COUNT_FIXED: *count = node->def.count; return true;
    case COUNT_FIELD: *count = walk->slots[node->refer - 1]; return true;
    case COUNT_REST: *count = UINT64_MAX; return true;
    case COUNT_U16:
        if (rd_left(&walk->r) >= 2) {
            *count = rd_u16(&walk->r);
            return true;
        }
        if (!walk->missing) walk->missing = node;
        return false;
    }
    return false;
}

// An array of characters is text.
static bool walk_characters(FieldsWalk *walk, const FieldsNode *node, uint64_t count) {
    FieldsRaw raw;
    if (count > rd_left(&walk->r)) count = (uint64_t)rd_left(&walk->r) + 1;
    bool wide = node->def.type == IN_WCHAR;
    (void)take_bytes(walk, node, wide ? count * 2 : count, &raw);
    FieldsNode text = *node;
    text.def.type = wide ? IN_WSTR : IN_ASTR;
    if (walk->out) value_json(walk->out, walk->layout, &text, &raw, walk->scratch);
    return !walk->missing;
}

// NOLINTNEXTLINE(misc-no-recursion)
bool walk_field(FieldsWalk *walk, uint32_t index, unsigned depth) {
    const FieldsNode *node = &walk->layout->nodes[index];
    uint64_t count = 0;
    if (node->def.type == IN_OPAQUE) {
        walk->missing = node;
        return false;
    }
    if (node->def.count_kind == COUNT_ONE) return walk_one(walk, node, index, depth);
    if (!element_count(walk, node, &count)) return false;
    bool rest = node->def.count_kind == COUNT_REST;
    if (!rest && (node->def.type == IN_WCHAR || node->def.type == IN_ACHAR))
        return walk_characters(walk, node, count);
    bool ok = true;
    if (walk->out) buf_add_char(walk->out, '[');
    for (uint64_t i = 0; ok && i < count && !(rest && !rd_left(&walk->r)); i++) {
        size_t left = rd_left(&walk->r), mark = walk->out ? walk->out->n : 0;
        if (walk->out && i) buf_add_char(walk->out, ',');
        size_t value_at = walk->out ? walk->out->n : 0;
        ok = walk_one(walk, node, index, depth);
        if (walk->out && walk->out->n == value_at) walk->out->n = mark; // nothing was there
        // Elements without bytes would repeat for ever.
        if (ok && rd_left(&walk->r) == left && i + 1 < count) {
            walk->cut = true;
            break;
        }
    }
    if (walk->out) buf_add_char(walk->out, ']');
    return ok;
}

// How far a layout goes: all of it, and the bytes it leaves.
static bool layout_fits(const FieldsSchema *schema, const ParsedLayout *layout, Str payload,
                        size_t *left) {
    enum { STEPS = 1 << 16 }; // there may be many layouts to try
    FieldsWalk walk;
    walk_start(&walk, schema, layout, payload, NULL, NULL);
    walk.steps = LIMIT_EVENT_STEPS - STEPS;
    bool ok = true;
    for (uint32_t i = 0; ok && i < layout->count; i = layout->nodes[i].next)
        ok = walk_field(&walk, i, 0);
    *left = rd_left(&walk.r);
    return ok && !walk.cut;
}

static bool has_pid(const ParsedLayout *layout, uint32_t pid) {
    for (uint32_t i = 0; i < layout->pid_count; i++)
        if (layout->pids[i] == pid) return true;
    return false;
}

const ParsedLayout *layout_choose(const FieldsSchema *schema, Str payload, uint32_t pid) {
    const ParsedLayout *first = &schema->layouts[0], *best = NULL;
    if (schema->layout_count == 1) return first;
    size_t best_left = SIZE_MAX;
    for (uint32_t i = 0; i < schema->layout_count; i++)
        if (has_pid(&schema->layouts[i], pid)) return &schema->layouts[i];
    for (uint32_t i = 0; i < schema->layout_count; i++) {
        size_t left = 0;
        if (!layout_fits(schema, &schema->layouts[i], payload, &left)) continue;
        if (left == 0) return &schema->layouts[i];
        if (left >= best_left || best == first) continue; // the preferred one may leave bytes
        best_left = left;
        best = &schema->layouts[i];
    }
    return best ? best : first;
}
