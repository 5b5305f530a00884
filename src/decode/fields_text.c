// Values as JSON: numbers stay numbers up to 2^53 (larger ones are decimal text), pointers and what
// is declared hexadecimal are "0x" text, map values are their labels.
#include "base/search.h"
#include "decode/fields_internal.h"

#include <inttypes.h>

static const uint64_t JSON_EXACT = (uint64_t)1 << 53;

static void add_unsigned(Buf *out, uint64_t v) {
    enum { DIGITS = 20 };
    char text[DIGITS];
    size_t at = DIGITS;
    do {
        text[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    buf_add(out, (Str){text + at, DIGITS - at});
}

static void add_integer(Buf *out, uint64_t u, bool is_signed) {
    bool negative = is_signed && (int64_t)u < 0;
    uint64_t size = negative ? 0 - u : u;
    if (size > JSON_EXACT) buf_add_char(out, '"');
    if (negative) buf_add_char(out, '-');
    add_unsigned(out, size);
    if (size > JSON_EXACT) buf_add_char(out, '"');
}

static const char HEX_DIGITS[] = "0123456789abcdef";

// "0x" and digits, in quotes when `quoted`: one addition for what is added most.
static void add_hex_text(Buf *out, uint64_t v, bool quoted) {
    enum { BYTES = 16 + 4 };
    char text[BYTES];
    size_t at = BYTES;
    if (quoted) text[--at] = '"';
    do {
        text[--at] = HEX_DIGITS[v & 15];
        v >>= 4;
    } while (v);
    text[--at] = 'x';
    text[--at] = '0';
    if (quoted) text[--at] = '"';
    buf_add(out, (Str){text + at, BYTES - at});
}

static void add_hex_digits(Buf *out, uint64_t v) {
    add_hex_text(out, v, false);
}

static void add_hex(Buf *out, uint64_t v) {
    add_hex_text(out, v, true);
}

static void add_hex_bytes(Buf *out, const uint8_t *p, size_t n) {
    enum { PIECE = 128 };
    char text[2 * PIECE];
    buf_add_c(out, "\"0x");
    for (size_t i = 0; i < n; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE;
        buf_add(out, hex_write(text, p + i, count));
    }
    buf_add_char(out, '"');
}

// Bytes that stand for themselves in JSON.
static bool is_plain(unsigned c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static void add_utf16(Buf *out, const uint8_t *p, size_t n, Arena *scratch) {
    enum { PIECE = 512 };
    char text[PIECE + 2];
    size_t at = 0, used = 0;
    text[used++] = '"';
    for (; at + 1 < n; at += 2) {
        unsigned c = p[at] | (unsigned)p[at + 1] << 8;
        if (!is_plain(c)) break;
        text[used++] = (char)c;
        if (used < PIECE) continue;
        buf_add(out, (Str){text, used});
        used = 0;
    }
    bool special = at + 1 < n;
    if (!special) text[used++] = '"';
    buf_add(out, (Str){text, used});
    if (!special) return;
    size_t quote = out->n;
    buf_add_json(out, str_from_utf16(scratch, p + at, n - at));
    memmove(out->p + quote, out->p + quote + 1, out->n - quote); // its opening quote
    out->n--;
}

static void add_8bit(Buf *out, const uint8_t *p, size_t n, Arena *scratch) {
    for (size_t i = 0; i < n; i++) {
        if (is_plain(p[i])) continue;
        buf_add_json(out, str_from_8bit(scratch, p, n));
        return;
    }
    buf_add_char(out, '"');
    buf_add(out, (Str){(const char *)p, n});
    buf_add_char(out, '"');
}

// Text of a given length is padded with zeros.
static size_t to_terminator(const uint8_t *p, size_t n, size_t unit) {
    if (unit == 1) {
        const uint8_t *zero = n ? memchr(p, 0, n) : NULL;
        return zero ? (size_t)(zero - p) : n;
    }
    for (size_t i = 0; i + 1 < n; i += 2)
        if (!p[i] && !p[i + 1]) return i;
    return n & ~(size_t)1;
}

typedef struct Date {
    int64_t year;
    unsigned month, day;
} Date;

// Days since 1601-01-01 as a date of the Gregorian calendar (years begin in March here).
static Date date_from_days(int64_t days) {
    enum { DAYS_400_YEARS = 146097, DAYS_TO_MARCH_1600 = 306 };
    int64_t shifted = days + DAYS_TO_MARCH_1600;
    int64_t era = shifted / DAYS_400_YEARS;
    unsigned of_era = (unsigned)(shifted % DAYS_400_YEARS);
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153;
    Date date = {1600 + (int64_t)year + era * 400, month < 10 ? month + 3 : month - 9,
                 of_year - (153 * month + 2) / 5 + 1};
    if (date.month <= 2) date.year++;
    return date;
}

static void add_filetime(Buf *out, uint64_t t) {
    enum { PER_SECOND = 10000000, SECONDS_A_DAY = 86400 };
    if (t > INT64_MAX) { // no time: a duration or garbage
        add_hex(out, t);
        return;
    }
    uint64_t seconds = t / PER_SECOND;
    unsigned of_day = (unsigned)(seconds % SECONDS_A_DAY), rest = (unsigned)(t % PER_SECOND);
    Date date = date_from_days((int64_t)(seconds / SECONDS_A_DAY));
    buf_addf(out, "\"%04" PRId64 "-%02u-%02uT%02u:%02u:%02u.%07uZ\"", date.year, date.month,
             date.day, of_day / 3600, of_day / 60 % 60, of_day % 60, rest);
}

static void add_systemtime(Buf *out, const uint8_t *p, size_t n) {
    Rd r = rd_from(p, n);
    unsigned year = rd_u16(&r), month = rd_u16(&r);
    rd_skip(&r, 2); // day of the week
    unsigned day = rd_u16(&r), hour = rd_u16(&r), minute = rd_u16(&r), second = rd_u16(&r);
    buf_addf(out, "\"%04u-%02u-%02uT%02u:%02u:%02u.%03u\"", year, month, day, hour, minute, second,
             rd_u16(&r));
}

// SOCKADDR, also in the storage of a larger union.
static bool add_sockaddr(Buf *out, const uint8_t *p, size_t n) {
    enum { FAMILY_IP4 = 2, FAMILY_IP6 = 23, IP4_BYTES = 8, IP6_BYTES = 28 };
    char ip[IP_TEXT_SIZE];
    Rd r = rd_from(p, n);
    unsigned family = rd_u16(&r), port = rd_be16(&r);
    if (n == 0) {
        buf_add_c(out, "null");
        return true;
    }
    if (family == FAMILY_IP4 && n >= IP4_BYTES) {
        Str text = ip4_to_text(rd_bytes(&r, 4), ip);
        buf_addf(out, "\"" STR_FMT ":%u\"", STR_ARG(text), port);
        return true;
    }
    if (family != FAMILY_IP6 || n < IP6_BYTES - 4) return false;
    rd_skip(&r, 4); // flow
    Str text = ip6_to_text(rd_bytes(&r, 16), ip);
    uint32_t scope = rd_left(&r) >= 4 ? rd_u32(&r) : 0;
    buf_addf(out, "\"[" STR_FMT, STR_ARG(text));
    if (scope) buf_addf(out, "%%%" PRIu32, scope);
    buf_addf(out, "]:%u\"", port);
    return true;
}

static const FieldsMapEntry *map_entry(const FieldsMap *map, uint64_t value) {
    size_t at;
    FIND_FIRST(at, map->count, map->entries[at].value < value);
    return at < map->count && map->entries[at].value == value ? &map->entries[at] : NULL;
}

// Labels of the set bits, the rest in hexadecimal. A label of several bits wins over theirs.
static void add_bits(Buf *out, const FieldsMap *map, uint64_t value, Arena *scratch) {
    AUTO(buf_done) Buf text = {0};
    uint64_t rest = value;
    const FieldsMapEntry *exact = map_entry(map, value);
    if (exact) {
        buf_add_json(out, exact->text);
        return;
    }
    for (size_t i = map->count; i-- > 0;) {
        uint64_t bits = map->entries[i].value;
        if (!bits || (rest & bits) != bits) continue;
        rest &= ~bits;
        Str before = str_copy(scratch, buf_str(&text));
        buf_clear(&text);
        buf_add(&text, map->entries[i].text);
        if (before.n) buf_addf(&text, "|" STR_FMT, STR_ARG(before));
    }
    if (rest || !text.n) {
        if (text.n) buf_add_char(&text, '|');
        add_hex_digits(&text, rest);
    }
    buf_add_json(out, buf_str(&text));
}

static void add_status(Buf *out, uint32_t code) {
    buf_add_char(out, '"');
    add_hex_digits(out, code);
    Str name = ntstatus_name(code);
    if (name.n) buf_addf(out, " " STR_FMT, STR_ARG(name));
    buf_add_char(out, '"');
}

static void add_guid(Buf *out, const uint8_t *p, size_t n) {
    char text[GUID_TEXT_SIZE + 1];
    Rd r = rd_from(p, n);
    Guid guid = rd_guid(&r);
    guid_to_text(&guid, text + 1);
    text[0] = text[GUID_TEXT_SIZE] = '"';
    buf_add(out, (Str){text, GUID_TEXT_SIZE + 1});
}

// JSON has no infinities and no NaN: they are text.
static void add_float(Buf *out, double v, int digits) {
    bool finite = v - v == 0;
    if (!finite)
        buf_add_c(out, v != v ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else
        buf_addf(out, "%.*g", digits, v);
}

static void add_binary(Buf *out, unsigned shown, const FieldsRaw *raw, Arena *scratch) {
    char ip[IP_TEXT_SIZE];
    Str bytes = {(const char *)raw->p, raw->n};
    if (shown == OUT_SOCKADDR && add_sockaddr(out, raw->p, raw->n)) return;
    if (shown == OUT_IPV6 && raw->n == 16)
        buf_add_json(out, ip6_to_text(bytes, ip));
    else if ((shown == OUT_IPV6 || shown == OUT_IPV4) && raw->n == 4)
        buf_add_json(out, ip4_to_text(bytes, ip));
    else if (shown == OUT_GUID && raw->n == 16)
        add_guid(out, raw->p, raw->n);
    else if (shown == OUT_STRING || shown == OUT_UTF8 || shown == OUT_XML || shown == OUT_JSON)
        add_8bit(out, raw->p, to_terminator(raw->p, raw->n, 1), scratch);
    else
        add_hex_bytes(out, raw->p, raw->n);
}

static bool is_hex(unsigned type, unsigned shown) {
    if (type == IN_HEX32 || type == IN_HEX64 || type == IN_PTR)
        return !(shown >= OUT_I8 && shown <= OUT_U64) && shown != OUT_PID && shown != OUT_TID &&
               shown != OUT_SIGNED && shown != OUT_UNSIGNED;
    return (shown >= OUT_HEX8 && shown <= OUT_HEX64) || shown == OUT_HEX ||
           shown == OUT_CODE_POINTER || shown == OUT_HEXBINARY;
}

static void add_number(Buf *out, const FieldsNode *node, const FieldsRaw *raw, Arena *scratch) {
    unsigned type = node->def.type, shown = node->def.out;
    char ip[IP_TEXT_SIZE];
    if (type == IN_BOOL32 || shown == OUT_BOOLEAN) {
        buf_add_c(out, raw->u ? "true" : "false");
        return;
    }
    if (shown == OUT_IPV4 && raw->n == 4) {
        buf_add_json(out, ip4_to_text((Str){(const char *)raw->p, 4}, ip));
        return;
    }
    if (shown == OUT_CHAR4 && raw->n == 4) {
        add_8bit(out, raw->p, 4, scratch);
        return;
    }
    if ((shown == OUT_NTSTATUS || shown == OUT_HRESULT) && raw->n == 4) {
        add_status(out, (uint32_t)raw->u);
        return;
    }
    bool time = shown == OUT_DATETIME || shown == OUT_DATETIME_PLAIN || shown == OUT_DATETIME_UTC;
    if (time && raw->n == 8) {
        add_filetime(out, raw->u);
        return;
    }
    uint64_t u = raw->u;
    if (is_hex(type, shown)) {
        if (raw->n < 8) u &= ((uint64_t)1 << (8 * raw->n)) - 1; // signed values show their bits
        add_hex(out, u);
        return;
    }
    add_integer(out, u, type_is_signed(node));
}

// True when a map gave the text.
static bool add_mapped(Buf *out, const ParsedLayout *layout, const FieldsNode *node,
                       const FieldsRaw *raw, Arena *scratch) {
    const FieldsMap *map = &layout->maps[node->def.map - 1];
    uint64_t value = raw->n < 8 ? raw->u & (((uint64_t)1 << (8 * raw->n)) - 1) : raw->u;
    if (map->bits) {
        add_bits(out, map, value, scratch);
        return true;
    }
    const FieldsMapEntry *entry = map_entry(map, value);
    if (entry) buf_add_json(out, entry->text);
    return entry != NULL;
}

static void add_text(Buf *out, unsigned type, const FieldsRaw *raw, Arena *scratch) {
    bool wide = type == IN_WSTR || type == IN_CWSTR || type == IN_RWSTR || type == IN_REST_W;
    size_t n = to_terminator(raw->p, raw->n, wide ? 2 : 1);
    if (wide)
        add_utf16(out, raw->p, n, scratch);
    else
        add_8bit(out, raw->p, n, scratch);
}

void value_json(Buf *out, const ParsedLayout *layout, const FieldsNode *node, const FieldsRaw *raw,
                Arena *scratch) {
    unsigned type = node->def.type, shown = node->def.out;
    if (shown == OUT_HIDDEN) return;
    if (node->def.map && raw->n && raw->n <= 8 && add_mapped(out, layout, node, raw, scratch))
        return;
    switch (type) {
    case IN_NULL:
    case IN_STRUCT:
    case IN_OPAQUE: buf_add_c(out, "null"); return;
    case IN_WSTR:
    case IN_ASTR:
    case IN_CWSTR:
    case IN_CASTR:
    case IN_RWSTR:
    case IN_RASTR:
    case IN_REST_W:
    case IN_REST_A: add_text(out, type, raw, scratch); return;
    case IN_WCHAR: add_utf16(out, raw->p, raw->u ? 2 : 0, scratch); return;
    case IN_ACHAR: add_8bit(out, raw->p, raw->u ? 1 : 0, scratch); return;
    case IN_GUID: add_guid(out, raw->p, raw->n); return;
    case IN_SID:
    case IN_WBEM_SID: {
        Str text = sid_to_text(scratch, (Str){(const char *)raw->p, raw->n});
        if (text.p)
            buf_add_json(out, text);
        else
            add_hex_bytes(out, raw->p, raw->n);
        return;
    }
    case IN_BIN:
    case IN_CBIN:
    case IN_HEXDUMP: add_binary(out, shown, raw, scratch); return;
    case IN_FILETIME:
    case IN_TIME: add_filetime(out, raw->u); return;
    case IN_SYSTEMTIME: add_systemtime(out, raw->p, raw->n); return;
    case IN_F32: {
        float v = 0;
        memcpy(&v, raw->p, sizeof v);
        add_float(out, (double)v, 9);
        return;
    }
    case IN_F64: {
        double v = 0;
        memcpy(&v, raw->p, sizeof v);
        add_float(out, v, 17);
        return;
    }
    default: add_number(out, node, raw, scratch); return;
    }
}
