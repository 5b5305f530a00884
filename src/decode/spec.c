// The engine over kernel event layouts: look-up by hook and version, reading into slots, JSON.
#include "decode/spec.h"

#include "decode/kernel/families.h"

#include <inttypes.h>
#include <stdio.h>

// 5 bits of group and 8 of type, then the classes without a group.
enum { GROUP_COUNT = 0x26, HOOKS = GROUP_COUNT << 8 };

static const SpecFamily *const FAMILIES[] = {
#define FAMILY(name) &name,
    FAMILY_LIST(FAMILY)
#undef FAMILY
};

const SpecFamily *const *spec_families(size_t *count) {
    *count = COUNT_OF(FAMILIES);
    return FAMILIES;
}

typedef struct Group {
    const char *name;
    const char *guid;
} Group;

static const Group GROUPS[GROUP_COUNT] = {
    [0x00] = {"EventTrace",    "68fdd900-4a3e-11d1-84f4-0000f80464e3"},
    [0x01] = {"DiskIo",        "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"},
    [0x02] = {"PageFault",     "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"},
    [0x03] = {"Process",       "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"},
    [0x04] = {"FileIo",        "90cbdc39-4a3e-11d1-84f4-0000f80464e3"},
    [0x05] = {"Thread",        "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"},
    [0x06] = {"TcpIp",         "9a280ac0-c8e0-11d1-84e2-00c04fb998a2"},
    [0x07] = {"Job",           "3282fc76-feed-498e-8aa7-e70f459d430e"},
    [0x08] = {"UdpIp",         "bf3a50c5-a9c9-4988-a005-2df0b7c80f80"},
    [0x09] = {"Registry",      "ae53722e-c863-11d2-8659-00c04fa321a1"},
    [0x0A] = {"DbgPrint",      "13976d09-a327-438c-950b-7f03192815c7"},
    [0x0B] = {"SystemConfig",  "01853a65-418f-4f36-aefc-dc0f1d2fd235"},
    [0x0C] = {"LastBranch",    "99134383-5248-43fc-834b-529454e75df3"},
    [0x0D] = {"Wnf",           "42695762-ea50-497a-9068-5cbbb35e0b95"},
    [0x0E] = {"Pool",          "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf"},
    [0x0F] = {"PerfInfo",      "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"},
    [0x10] = {"Heap",          "222962ab-6180-4b88-a825-346b75f2a24a"},
    [0x11] = {"Object",        "89497f50-effe-4440-8cf2-ce6b1cdcaca7"},
    [0x12] = {"Power",         "e43445e0-0903-48c3-b878-ff0fccebdd04"},
    [0x13] = {"ModuleBound",   "a9152f00-3f58-4bee-92a1-70c7d079d5dd"},
    [0x14] = {"Image",         "2cb15d1d-5fc1-11d2-abe1-00a0c911f518"},
    [0x15] = {"Dpc",           "b2d14872-7c5b-463d-8419-ee9bf7d23e04"},
    [0x16] = {"CacheManager",  "7687a439-f752-45b8-b741-321aec0f8df9"},
    [0x17] = {"CritSec",       "3ac66736-cc59-4cff-8115-8df50e39816b"},
    [0x18] = {"StackWalk",     "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3"},
    [0x19] = {"Ums",           "9aec974b-5b8e-4118-9b92-3186d8002ce5"},
    [0x1A] = {"Alpc",          "45d8cccd-539f-4b72-a8b7-5c683142609a"},
    [0x1B] = {"SplitIo",       "d837ca92-12b9-44a5-ad6a-3a65b3578aa8"},
    [0x1C] = {"ThreadPool",    "c861d0e2-a2c1-4d36-9f9c-970bab943a12"},
    [0x1D] = {"Hypervisor",    "00000000-0000-0000-0000-000000000000"},
    [0x1E] = {"Hypervisor",    "00000000-0000-0000-0000-000000000000"},
 // Classes of classic events, logged by the tools that merge traces:
    [0x20] = {"SysConfig",     "9b79ee91-b5fd-41c0-a243-4248e266e9d0"},
    [0x21] = {"ImageId",       "b3e675d7-2554-4f18-830b-2762732560de"},
    [0x22] = {"EventMetadata", "bbccf6c1-6cd1-48c4-80ff-839482e37671"},
    [0x23] = {"LostEvents",    "6a399ae0-4bc6-4de9-870b-3657f8947e7e"},
    [0x24] = {"WinSat",        "ed54dff8-c409-4cf6-bf83-05e1e61a09c4"},
    [0x25] = {"Scenario",      "bf6ef1cb-89b5-490a-80ac-b180cfbcff0f"},
};

// Image load is hook 0x030A, in the Process group (2.8).
static unsigned hook_group(uint16_t hook) {
    unsigned group = hook >> 8;
    return hook == 0x030A ? 0x14 : group < GROUP_COUNT ? group : group & 0x1F;
}

const char *spec_group_name(uint16_t hook) {
    const char *name = GROUPS[hook_group(hook)].name;
    return name ? name : "Kernel";
}

// First spec of each hook's run: specs of one hook stand together in their family.
typedef struct HookIndex {
    const EventSpec *first[HOOKS];
    uint8_t count[HOOKS];
    uint8_t family[HOOKS];
    Guid class_guid[GROUP_COUNT]; // zero where there is none
} HookIndex;

static HookIndex hook_index;

// Runs before main, so that look-ups from many threads need no lock: about 300 pointer stores.
__attribute__((constructor)) static void hook_index_fill(void) {
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        const char *text = GROUPS[group].guid;
        Guid *guid = &hook_index.class_guid[group];
        if (text) INVARIANT(guid_from_text(str_from_c(text), guid));
    }
    for (size_t f = 0; f < COUNT_OF(FAMILIES); f++) {
        for (size_t i = 0; i < FAMILIES[f]->count; i++) {
            const EventSpec *spec = &FAMILIES[f]->specs[i];
            INVARIANT(spec->hook < HOOKS);
            if (!hook_index.first[spec->hook]) hook_index.first[spec->hook] = spec;
            hook_index.family[spec->hook] = (uint8_t)f;
            INVARIANT(hook_index.first[spec->hook] + hook_index.count[spec->hook] == spec);
            hook_index.count[spec->hook]++;
        }
    }
}

Guid spec_group_guid(uint16_t hook) {
    return hook_index.class_guid[hook_group(hook)];
}

bool spec_class_hook(const Guid *event_class, uint8_t opcode, uint16_t *hook) {
    if (guid_is_zero(event_class)) return false;
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        if (!guid_eq(&hook_index.class_guid[group], event_class)) continue;
        *hook = (uint16_t)(group << 8 | opcode);
        if (*hook == 0x140A) *hook = 0x030A; // image load
        return true;
    }
    return false;
}

const EventSpec *spec_find(uint16_t hook, uint8_t version, bool *exact) {
    *exact = false;
    if (hook >= HOOKS || !hook_index.first[hook]) return NULL;
    const EventSpec *below = NULL, *above = NULL;
    for (unsigned i = 0; i < hook_index.count[hook]; i++) {
        const EventSpec *spec = &hook_index.first[hook][i];
        if (version >= spec->version_min && version <= spec->version_max) {
            *exact = true;
            return spec;
        }
        if (spec->version_max < version && (!below || spec->version_max > below->version_max))
            below = spec;
        if (spec->version_min > version && (!above || spec->version_min < above->version_min))
            above = spec;
    }
    return below ? below : above;
}

const EventSpec *spec_of_event(const EtlEvent *event, bool *exact) {
    uint16_t hook = event->hook;
    *exact = false;
    if (event->kind == ETL_CLASSIC) {
        if (!spec_class_hook(&event->provider, event->opcode, &hook)) return NULL;
    } else if (event->kind != ETL_SYSTEM && event->kind != ETL_PERFINFO) {
        return NULL;
    }
    return spec_find(hook, event->version, exact);
}

const char *spec_hook_name(uint16_t hook) {
    return hook < HOOKS && hook_index.first[hook] ? hook_index.first[hook]->name : NULL;
}

const SpecFamily *spec_family(uint16_t hook) {
    return hook < HOOKS && hook_index.first[hook] ? FAMILIES[hook_index.family[hook]] : NULL;
}

void rd_kernel_sid(Rd *r, unsigned pointer_size, Str *sid) {
    *sid = (Str){0};
    Rd peek = *r;
    if (rd_u32(&peek) == 0) {
        rd_skip(r, 4);
        return;
    }
    rd_skip(r, pointer_size == 8 ? 16 : 8);
    Rd head = *r;
    rd_skip(&head, 1);
    unsigned authorities = rd_u8(&head);
    if (!rd_ok(&head) || authorities > 15) {
        rd_fail(r);
        return;
    }
    *sid = rd_bytes(r, 8 + 4 * (size_t)authorities);
}

Str sid_to_text(Arena *arena, Str sid) {
    Rd r = rd_from_str(sid);
    unsigned revision = rd_u8(&r), authorities = rd_u8(&r);
    uint64_t authority = 0;
    for (int i = 0; i < 6; i++) authority = authority << 8 | rd_u8(&r);
    if (!rd_ok(&r) || rd_left(&r) < 4 * (size_t)authorities) return (Str){0};
    Buf text = {0};
    buf_addf(&text, "S-%u-%" PRIu64, revision, authority);
    for (unsigned i = 0; i < authorities; i++) buf_addf(&text, "-%" PRIu32, rd_u32(&r));
    Str copy = str_copy(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

// Size of one scalar, or 0 for the types whose size is in the data.
static size_t scalar_size(FieldType type, unsigned pointer_size) {
    switch (type) {
    case F_U8:
    case F_I8: return 1;
    case F_U16:
    case F_I16:
    case F_BE16: return 2;
    case F_U32:
    case F_I32:
    case F_HEX32:
    case F_IP4: return 4;
    case F_U64:
    case F_I64:
    case F_HEX64:
    case F_TIME:
    case F_FILETIME: return 8;
    case F_PTR:
    case F_SIZE: return pointer_size;
    case F_IP6:
    case F_GUID: return 16;
    case F_WSTR:
    case F_ASTR:
    case F_SID:
    case F_WCHARS:
    case F_BYTES:
    case F_ID:
    case F_ALIGN: return 0;
    }
    return 0;
}

static uint64_t scalar_value(FieldType type, const uint8_t *p, size_t size) {
    uint64_t u = 0;
    memcpy(&u, p, size);
    if (type == F_I8) return (uint64_t)(int64_t)(int8_t)u;
    if (type == F_I16) return (uint64_t)(int64_t)(int16_t)u;
    if (type == F_I32) return (uint64_t)(int64_t)(int32_t)u;
    if (type == F_BE16) return __builtin_bswap16((uint16_t)u);
    return u;
}

// One value; false when the payload ends inside it.
static bool read_value(Rd *r, FieldType type, uint16_t count, unsigned pointer_size, Value *out) {
    size_t size = scalar_size(type, pointer_size);
    const uint8_t *p = r->p;
    *out = (Value){0};
    if (size) {
        if (!rd_take(r, size)) return false;
        if (size <= 8) out->u = scalar_value(type, p, size);
        out->s = (Str){(const char *)p, size};
        return true;
    }
    if (type == F_ID && (rd_left(r) == 16 || rd_left(r) == 32)) {
        out->u = 1;
        out->s = rd_bytes(r, 16);
        return true;
    }
    if (type == F_WSTR || type == F_ASTR || type == F_ID) {
        if (rd_left(r) == 0) return false;
        out->s = type == F_ASTR ? rd_astr_raw(r) : rd_wstr_raw(r);
        return true;
    }
    if (type == F_SID) {
        rd_kernel_sid(r, pointer_size, &out->s);
        return rd_ok(r);
    }
    if (type == F_ALIGN) {
        size_t unit = count ? count : pointer_size;
        rd_skip(r, (unit - rd_at(r) % unit) % unit);
        return rd_ok(r);
    }
    size_t bytes = count == FIELD_REST ? rd_left(r) : type == F_WCHARS ? 2 * (size_t)count : count;
    out->s = rd_bytes(r, bytes);
    return rd_ok(r);
}

// Elements of an array field: at most as many as bytes are left.
static size_t array_count(const Field *field, const Values *values, const Rd *r) {
    if (field->count == FIELD_REST) return SIZE_MAX;
    if (!(field->count & FIELD_COUNTED)) return field->count;
    uint64_t n = values->at[field->count & (SPEC_SLOTS - 1)].u;
    return n < rd_left(r) ? (size_t)n : rd_left(r);
}

static bool is_optional(const Field *field) {
    return field->count == FIELD_OPTIONAL;
}

static bool is_array(const Field *field) {
    return field->count > 1 && !is_optional(field) && field->type != F_WCHARS &&
           field->type != F_BYTES && field->type != F_ALIGN;
}

size_t spec_fixed_size(const EventSpec *spec, unsigned pointer_size) {
    size_t bytes = 0;
    for (unsigned i = 0; i < spec->field_count; i++) {
        size_t size = scalar_size(spec->fields[i].type, pointer_size);
        if (!size || spec->fields[i].count > 1) break; // text, an array, or an optional tail
        bytes += size;
    }
    return bytes;
}

unsigned spec_read(const EventSpec *spec, const EtlEvent *event, Values *out) {
    Rd r = rd_from_str(event->payload);
    out->present = 0;
    for (unsigned i = 0; i < spec->field_count; i++) {
        const Field *field = &spec->fields[i];
        Value value = {0};
        if (is_array(field)) {
            const uint8_t *start = r.p;
            size_t n = array_count(field, out, &r);
            Value element;
            while (n-- > 0 && rd_left(&r))
                if (!read_value(&r, field->type, 1, event->pointer_size, &element)) break;
            value.s = (Str){(const char *)start, (size_t)(r.p - start)};
        } else if (!read_value(&r, field->type, field->count, event->pointer_size, &value)) {
            return i;
        }
        if (field->slot) {
            out->at[field->slot] = value;
            out->present |= 1u << field->slot;
        }
    }
    return spec->field_count;
}

static void json_add_hex_bytes(Buf *out, Str bytes) {
    buf_add_c(out, "\"0x");
    for (size_t i = 0; i < bytes.n; i++) buf_addf(out, "%02x", (unsigned char)bytes.p[i]);
    buf_add_char(out, '"');
}

static void json_add_integer(Buf *out, FieldType type, uint64_t u) {
    const uint64_t exact = (uint64_t)1 << 53; // beyond it JSON readers round
    int64_t i = (int64_t)u;
    bool is_signed = type == F_I8 || type == F_I16 || type == F_I32 || type == F_I64;
    if (is_signed && i < 0) {
        bool wide = i < -(int64_t)exact;
        buf_addf(out, wide ? "\"%" PRId64 "\"" : "%" PRId64, i);
        return;
    }
    buf_addf(out, u > exact ? "\"%" PRIu64 "\"" : "%" PRIu64, u);
}

static void json_add_value(Buf *out, FieldType type, const Value *value, const EtlHeader *header,
                           Arena *scratch) {
    const uint8_t *bytes = (const uint8_t *)value->s.p;
    char guid[GUID_TEXT_SIZE], ip[IP_TEXT_SIZE];
    if (type == F_ID) type = value->u ? F_GUID : F_WSTR;
    switch (type) {
    case F_PTR:
    case F_HEX32:
    case F_HEX64: buf_addf(out, "\"0x%" PRIx64 "\"", value->u); return;
    case F_TIME:
        json_add_integer(out, F_I64, (uint64_t)etl_ns_from_ticks(header, (int64_t)value->u));
        return;
    case F_IP4: buf_add_json(out, ip4_to_text(value->s, ip)); return;
    case F_IP6: buf_add_json(out, ip6_to_text(value->s, ip)); return;
    case F_GUID: {
        Rd r = rd_from_str(value->s);
        Guid id = rd_guid(&r);
        guid_to_text(&id, guid);
        buf_addf(out, "\"%s\"", guid);
        return;
    }
    case F_WSTR: buf_add_json(out, str_from_utf16(scratch, bytes, value->s.n)); return;
    case F_ASTR: buf_add_json(out, str_from_8bit(scratch, bytes, value->s.n)); return;
    case F_WCHARS: {
        Rd r = rd_from_str(value->s);
        buf_add_json(out, rd_wstr(&r, scratch));
        return;
    }
    case F_SID: buf_add_json(out, sid_to_text(scratch, value->s)); return;
    case F_BYTES: json_add_hex_bytes(out, value->s); return;
    case F_ID:
    case F_ALIGN: return;
    case F_U8:
    case F_I8:
    case F_U16:
    case F_I16:
    case F_U32:
    case F_I32:
    case F_U64:
    case F_I64:
    case F_SIZE:
    case F_FILETIME:
    case F_BE16: json_add_integer(out, type, value->u); return;
    }
}

// The longest run of two or more zero groups becomes "::", an embedded IPv4 address keeps its form.
Str ip6_to_text(Str bytes, char *out) {
    uint16_t group[8];
    Rd r = rd_from_str(bytes);
    for (int i = 0; i < 8; i++) group[i] = rd_be16(&r);
    int zeros_at = -1, zeros = 1;
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (i + n < 8 && group[i + n] == 0) n++;
        if (n > zeros) {
            zeros_at = i;
            zeros = n;
        }
    }
    bool is_mapped = zeros_at == 0 && zeros == 5 && group[5] == 0xFFFF;
    size_t n = 0;
    for (int i = 0; i < (is_mapped ? 6 : 8); i++) {
        bool skip = i == zeros_at;
        bool colon = i && i != zeros_at + zeros;
        n += (size_t)(skip    ? snprintf(out + n, IP_TEXT_SIZE - n, "::")
                      : colon ? snprintf(out + n, IP_TEXT_SIZE - n, ":%x", group[i])
                              : snprintf(out + n, IP_TEXT_SIZE - n, "%x", group[i]));
        if (skip) i += zeros - 1;
    }
    if (is_mapped)
        n += (size_t)snprintf(out + n, IP_TEXT_SIZE - n, ":%u.%u.%u.%u", group[6] >> 8,
                              group[6] & 0xFF, group[7] >> 8, group[7] & 0xFF);
    return (Str){out, n};
}

Str ip4_to_text(Str bytes, char *out) {
    Rd r = rd_from_str(bytes);
    uint8_t part[4];
    for (int i = 0; i < 4; i++) part[i] = rd_u8(&r);
    int n = snprintf(out, IP_TEXT_SIZE, "%u.%u.%u.%u", part[0], part[1], part[2], part[3]);
    return (Str){out, (size_t)n};
}

typedef struct JsonWriter {
    const SpecPayload *payload;
    Arena *scratch;
    Buf *out;
    Rd r;
    Values values;
} JsonWriter;

static bool json_add_field(JsonWriter *w, const Field *field) {
    unsigned pointer_size = w->payload->pointer_size;
    Value value;
    if (!is_array(field)) {
        if (!read_value(&w->r, field->type, field->count, pointer_size, &value)) return false;
        if (field->slot) w->values.at[field->slot] = value;
        json_add_value(w->out, field->type, &value, w->payload->header, w->scratch);
        return true;
    }
    size_t n = array_count(field, &w->values, &w->r);
    buf_add_char(w->out, '[');
    for (size_t i = 0; i < n && rd_left(&w->r); i++) {
        if (!read_value(&w->r, field->type, 1, pointer_size, &value)) break;
        if (i) buf_add_char(w->out, ',');
        json_add_value(w->out, field->type, &value, w->payload->header, w->scratch);
    }
    buf_add_char(w->out, ']');
    return true;
}

size_t spec_json(const EventSpec *spec, const SpecPayload *payload, Arena *scratch, Buf *out,
                 bool *complete) {
    JsonWriter w = {payload, scratch, out, rd_from_str(payload->bytes), {0}};
    bool any = false;
    *complete = true;
    buf_add_char(out, '{');
    for (unsigned i = 0; i < spec->field_count; i++) {
        const Field *field = &spec->fields[i];
        size_t mark = out->n;
        Rd before = w.r;
        if (field->type != F_ALIGN) {
            if (any) buf_add_char(out, ',');
            buf_add_json(out, str_from_c(field->name));
            buf_add_char(out, ':');
        }
        if (json_add_field(&w, field)) {
            any = any || field->type != F_ALIGN;
            continue;
        }
        out->n = mark; // the name of a field that is not there
        w.r = before;
        *complete = is_optional(field) && rd_left(&before) == 0;
        break;
    }
    buf_add_char(out, '}');
    return rd_at(&w.r);
}
