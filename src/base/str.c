// Slices, growable text, conversions to UTF-8, hashing.
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

Str str_from_c(const char *text) {
    return (Str){text, text ? strlen(text) : 0};
}

bool str_eq(Str a, Str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_eq_nocase(Str a, Str b) {
    return a.n == b.n && str_cmp_nocase(a, b) == 0;
}

int str_cmp(Str a, Str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

int str_cmp_nocase(Str a, Str b) {
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        unsigned char x = (unsigned char)lower(a.p[i]), y = (unsigned char)lower(b.p[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts(Str s, Str prefix) {
    return s.n >= prefix.n && str_eq((Str){s.p, prefix.n}, prefix);
}

bool str_ends(Str s, Str suffix) {
    return s.n >= suffix.n && str_eq((Str){s.p + (s.n - suffix.n), suffix.n}, suffix);
}

bool str_ends_nocase(Str s, Str suffix) {
    return s.n >= suffix.n && str_eq_nocase((Str){s.p + (s.n - suffix.n), suffix.n}, suffix);
}

size_t str_find(Str s, Str needle) {
    if (needle.n == 0) return 0;
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (memcmp(s.p + i, needle.p, needle.n) == 0) return i;
    return SIZE_MAX;
}

size_t str_find_nocase(Str s, Str needle) {
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (str_eq_nocase((Str){s.p + i, needle.n}, needle)) return i;
    return SIZE_MAX;
}

size_t str_rfind_char(Str s, char c) {
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == c) return i;
    return SIZE_MAX;
}

Str str_slice(Str s, size_t from, size_t to) {
    if (to > s.n) to = s.n;
    if (from >= to) return (Str){0};
    return (Str){s.p + from, to - from};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

Str str_trim(Str s) {
    while (s.n && is_blank(s.p[0])) s = (Str){s.p + 1, s.n - 1};
    while (s.n && is_blank(s.p[s.n - 1])) s.n--;
    return s;
}

bool str_next(Str *rest, char separator, Str *part) {
    if (!rest->p || rest->n == 0) return false;
    const char *end = memchr(rest->p, separator, rest->n);
    if (!end) {
        *part = *rest;
        *rest = (Str){0};
        return true;
    }
    *part = (Str){rest->p, (size_t)(end - rest->p)};
    *rest = (Str){end + 1, rest->n - part->n - 1};
    return true;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool str_to_u64(Str s, uint64_t *out) {
    int base = 10;
    if (s.n > 2 && s.p[0] == '0' && lower(s.p[1]) == 'x') {
        base = 16;
        s = str_slice(s, 2, s.n);
    }
    if (s.n == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        int digit = digit_value(s.p[i]);
        if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool str_to_i64(Str s, int64_t *out) {
    bool negative = s.n && s.p[0] == '-';
    uint64_t magnitude = 0;
    if (!str_to_u64(negative ? str_slice(s, 1, s.n) : s, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool str_to_f64(Str s, double *out) {
    char text[64];
    if (s.n == 0 || s.n >= sizeof text || is_blank(s.p[0])) return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    char *end = NULL;
    *out = strtod(text, &end);
    return end == text + s.n && isfinite(*out);
}

size_t str_distance(Str a, Str b, size_t limit) {
    enum { NAME_MAX_BYTES = 128 };
    size_t row[NAME_MAX_BYTES + 1];
    if (a.n > NAME_MAX_BYTES || b.n > NAME_MAX_BYTES) return limit + 1;
    for (size_t j = 0; j <= b.n; j++) row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t change = diagonal + (lower(a.p[i - 1]) != lower(b.p[j - 1]));
            size_t drop = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < drop ? change : drop;
        }
    }
    return row[b.n] < limit ? row[b.n] : (row[b.n] == limit ? limit : limit + 1);
}

Str str_copy(Arena *arena, Str s) {
    char *p = arena_bytes(arena, s.n + 1);
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return (Str){p, s.n};
}

char *str_to_c(Arena *arena, Str s) {
    char *p = arena_bytes(arena, s.n + 1);
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

Str str_format(Arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t size = n > 0 ? (size_t)n : 0;
    char *p = arena_bytes(arena, size + 1);
    (void)vsnprintf(p, size + 1, format, again);
    va_end(again);
    return (Str){p, size};
}

Str str_lower(Arena *arena, Str s) {
    char *p = arena_bytes(arena, s.n + 1);
    for (size_t i = 0; i < s.n; i++) p[i] = lower(s.p[i]);
    p[s.n] = 0;
    return (Str){p, s.n};
}

// Writes one code point as UTF-8 and returns the bytes used.
static size_t utf8_put(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static uint32_t utf16_unit(const uint8_t *bytes, size_t i) {
    return (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

Str str_from_utf16(Arena *arena, const uint8_t *bytes, size_t size) {
    size_t units = size / 2;
    char *p = arena_bytes(arena, units * 3 + 1); // a surrogate pair needs 4 bytes for 2 units
    size_t n = 0;
    for (size_t i = 0; i < units; i++) {
        uint32_t c = utf16_unit(bytes, i);
        if (c >= 0xD800 && c < 0xE000) {
            uint32_t low = c < 0xDC00 && i + 1 < units ? utf16_unit(bytes, i + 1) : 0;
            bool pair = low >= 0xDC00 && low < 0xE000;
            c = pair ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
            i += pair;
        }
        n += utf8_put(p + n, c);
    }
    p[n] = 0;
    return (Str){p, n};
}

// Length of the valid UTF-8 sequence at `s`, 0 when there is none (overlong, surrogate, cut).
static size_t utf8_length(const unsigned char *s, size_t left) {
    unsigned char c = s[0];
    size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : 4;
    if (c >= 0x80 && (c < 0xC2 || c > 0xF4)) return 0;
    if (n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (c == 0xE0 && s[1] < 0xA0) return 0;
    if (c == 0xED && s[1] > 0x9F) return 0;
    if (c == 0xF0 && s[1] < 0x90) return 0;
    if (c == 0xF4 && s[1] > 0x8F) return 0;
    return n;
}

bool str_is_utf8(Str s) {
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_length(p + i, s.n - i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

Str str_from_8bit(Arena *arena, const uint8_t *bytes, size_t size) {
    Str raw = {(const char *)bytes, size};
    if (str_is_utf8(raw)) return str_copy(arena, raw);
    char *p = arena_bytes(arena, size * 2 + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += utf8_put(p + n, bytes[i]);
    p[n] = 0;
    return (Str){p, n};
}

uint64_t u64_hash(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 U128;
    U128 product = (U128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xC2B2AE3D27D4EB4Fu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t bytes_hash(const void *data, size_t n, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = seed ^ (n * 0xD6E8FEB86659FD93u);
    while (n >= 16) {
        uint64_t a, b;
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = mix(a ^ h, b);
        p += 16;
        n -= 16;
    }
    uint64_t a = 0, b = 0;
    if (n > 8) {
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, n - 8);
    } else if (n) {
        memcpy(&a, p, n);
    }
    return u64_hash(mix(a ^ h, b ^ 0x1F83D9ABFB41BD6Bu));
}

uint64_t str_hash(Str s) {
    return bytes_hash(s.p, s.n, 0);
}

// Room for `more` bytes and a NUL; false when the maximum forbids it.
static bool buf_room(Buf *buf, size_t more) {
    if (buf->cut || (buf->max && (more > buf->max || buf->n > buf->max - more))) {
        buf->cut = true;
        return false;
    }
    size_t wanted = buf->n + more + 1;
    if (wanted > buf->capacity) {
        size_t grown = buf->capacity * 2 > 256 ? buf->capacity * 2 : 256;
        buf->capacity = wanted > grown ? wanted : grown;
        buf->p = mem_grow(buf->p, buf->capacity);
    }
    return true;
}

Str hex_write(char *out, const void *bytes, size_t n) {
    static const char DIGITS[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = DIGITS[from[i] >> 4];
        out[2 * i + 1] = DIGITS[from[i] & 15];
    }
    return (Str){out, 2 * n};
}

void buf_add(Buf *buf, Str s) {
    if (!buf_room(buf, s.n)) return;
    if (s.n) memcpy(buf->p + buf->n, s.p, s.n);
    buf->n += s.n;
    buf->p[buf->n] = 0;
}

void buf_add_c(Buf *buf, const char *text) {
    buf_add(buf, str_from_c(text));
}

void buf_add_char(Buf *buf, char c) {
    buf_add(buf, (Str){&c, 1});
}

void buf_addf(Buf *buf, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0 && buf_room(buf, (size_t)n)) {
        (void)vsnprintf(buf->p + buf->n, (size_t)n + 1, format, again);
        buf->n += (size_t)n;
    }
    va_end(again);
}

// As much of `s` as there is room for: a text that is cut keeps its beginning.
static void add_run(Buf *buf, Str s) {
    size_t room = buf->max ? buf->max - buf->n : s.n;
    buf_add(buf, str_slice(s, 0, room));
    buf->cut = buf->cut || s.n > room;
}

void buf_add_json(Buf *buf, Str text) {
    size_t from = 0; // of what is not added yet
    buf_add_char(buf, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
        add_run(buf, str_slice(text, from, i));
        buf_addf(buf, c == '"' || c == '\\' ? "\\%c" : "\\u%04x", c);
        from = i + 1;
    }
    add_run(buf, str_slice(text, from, text.n));
    buf_add_char(buf, '"');
}

void buf_add_quoted(Buf *buf, Str text, char quote) {
    size_t from = 0;
    buf_add_char(buf, quote);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != quote) continue;
        add_run(buf, str_slice(text, from, i + 1));
        from = i; // once more
    }
    add_run(buf, str_slice(text, from, text.n));
    buf_add_char(buf, quote);
}

void buf_add_csv(Buf *buf, Str text) {
    bool plain = true;
    for (size_t i = 0; i < text.n && plain; i++)
        plain = text.p[i] != '"' && text.p[i] != ',' && text.p[i] != '\n' && text.p[i] != '\r';
    if (plain)
        buf_add(buf, text);
    else
        buf_add_quoted(buf, text, '"');
}

Str buf_str(const Buf *buf) {
    return (Str){buf->p ? buf->p : "", buf->n};
}

void buf_clear(Buf *buf) {
    buf->n = 0;
    buf->cut = false;
    if (buf->p) buf->p[0] = 0;
}

void buf_done(Buf *buf) {
    mem_free(buf->p);
    *buf = (Buf){.max = buf->max};
}
