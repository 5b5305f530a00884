// The out-of-line parts of the byte reader, and GUIDs.
#include "base/rd.h"

#include <stdio.h>

Str rd_bytes(Rd *r, size_t n) {
    const uint8_t *p = rd_take(r, n);
    return p ? (Str){(const char *)p, n} : (Str){0};
}

Rd rd_sub(Rd *r, size_t n) {
    const uint8_t *p = rd_take(r, n);
    if (p) return rd_from(p, n);
    Rd empty = rd_from(NULL, 0);
    empty.failed = true;
    return empty;
}

Str rd_wstr_raw(Rd *r) {
    size_t left = rd_left(r) & ~(size_t)1;
    const uint8_t *p = r->p;
    size_t n = 0;
    while (n < left && (p[n] | p[n + 1])) n += 2;
    r->p = n < left ? p + n + 2 : r->end;
    return (Str){(const char *)p, n};
}

Str rd_astr_raw(Rd *r) {
    size_t left = rd_left(r);
    const uint8_t *p = r->p;
    const uint8_t *zero = left ? memchr(p, 0, left) : NULL;
    size_t n = zero ? (size_t)(zero - p) : left;
    r->p = zero ? zero + 1 : r->end;
    return (Str){(const char *)p, n};
}

Str rd_wstr(Rd *r, Arena *arena) {
    Str raw = rd_wstr_raw(r);
    return str_from_utf16(arena, (const uint8_t *)raw.p, raw.n);
}

Str rd_astr(Rd *r, Arena *arena) {
    Str raw = rd_astr_raw(r);
    return str_from_8bit(arena, (const uint8_t *)raw.p, raw.n);
}

Str rd_wchars(Rd *r, size_t units, Arena *arena) {
    if (units > rd_left(r) / 2) {
        rd_fail(r);
        return (Str){0};
    }
    Rd field = rd_sub(r, units * 2);
    return rd_wstr(&field, arena);
}

bool guid_eq(const Guid *a, const Guid *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool guid_is_zero(const Guid *guid) {
    static const Guid ZERO;
    return guid_eq(guid, &ZERO);
}

// Position in the text's byte order of each byte on disk: the first three fields are little-endian.
static const uint8_t GUID_ORDER[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

void guid_to_text(const Guid *guid, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < 16; i++) {
        static const char DIGITS[] = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) out[n++] = '-';
        uint8_t byte = guid->bytes[GUID_ORDER[i]];
        out[n++] = DIGITS[byte >> 4];
        out[n++] = DIGITS[byte & 15];
    }
    out[n] = 0;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool guid_from_text(Str text, Guid *out) {
    if (text.n == 38 && text.p[0] == '{' && text.p[37] == '}') text = str_slice(text, 1, 37);
    if (text.n != 36) return false;
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && text.p[at++] != '-') return false;
        int high = hex_value(text.p[at]), low = hex_value(text.p[at + 1]);
        if (high < 0 || low < 0) return false;
        out->bytes[GUID_ORDER[i]] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return true;
}

uint64_t guid_hash(const Guid *guid) {
    return bytes_hash(guid->bytes, sizeof guid->bytes, 0);
}
