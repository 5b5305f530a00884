// Payload bytes: scalars, strings, SIDs and addresses as Windows writes them (docs/formats/etl.md,
// 0 and 4.3).
#include "support/etl_build_pay.h"

// Generated traces go through here byte by byte, so the ordinary case is short.
static inline void add(Pay *pay, const void *bytes, size_t size) {
    if (pay->max || pay->n + size >= pay->capacity) {
        buf_add(pay, (Str){(const char *)bytes, size});
        return;
    }
    memcpy(pay->p + pay->n, bytes, size);
    pay->n += size;
    pay->p[pay->n] = 0;
}

void pay_u8(Pay *pay, uint8_t value) {
    add(pay, &value, 1);
}

void pay_u16(Pay *pay, uint16_t value) {
    add(pay, &value, 2);
}

void pay_u32(Pay *pay, uint32_t value) {
    add(pay, &value, 4);
}

void pay_u64(Pay *pay, uint64_t value) {
    add(pay, &value, 8);
}

void pay_f32(Pay *pay, float value) {
    add(pay, &value, 4);
}

void pay_f64(Pay *pay, double value) {
    add(pay, &value, 8);
}

void pay_be16(Pay *pay, uint16_t value) {
    pay_u16(pay, __builtin_bswap16(value));
}

void pay_be32(Pay *pay, uint32_t value) {
    pay_u32(pay, __builtin_bswap32(value));
}

void pay_ptr(Pay *pay, unsigned pointer_size, uint64_t value) {
    add(pay, &value, pointer_size == 4 ? 4 : 8);
}

void pay_fill(Pay *pay, uint8_t byte, size_t count) {
    char block[256];
    memset(block, byte, sizeof block);
    for (size_t left = count; left;) {
        size_t n = left < sizeof block ? left : sizeof block;
        add(pay, block, n);
        left -= n;
    }
}

void pay_zeros(Pay *pay, size_t count) {
    pay_fill(pay, 0, count);
}

void pay_bytes(Pay *pay, Str bytes) {
    buf_add(pay, bytes);
}

void pay_guid(Pay *pay, Guid guid) {
    add(pay, guid.bytes, sizeof guid.bytes);
}

void pay_astr(Pay *pay, Str text) {
    buf_add(pay, text);
    pay_u8(pay, 0);
}

// One code point of UTF-8; malformed bytes are taken as Latin-1.
static uint32_t next_code_point(Str *text) {
    const unsigned char *p = (const unsigned char *)text->p;
    uint32_t c = p[0];
    size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (n > text->n) n = 1;
    if (n > 1) c &= 0x7Fu >> n;
    for (size_t i = 1; i < n; i++) c = c << 6 | (p[i] & 0x3Fu);
    *text = (Str){text->p + n, text->n - n};
    return c;
}

void pay_utf16(Pay *pay, Str text) {
    while (text.n) {
        uint32_t c = next_code_point(&text);
        if (c >= 0x10000) {
            pay_u16(pay, (uint16_t)(0xD800 | ((c - 0x10000) >> 10 & 0x3FF)));
            c = 0xDC00 | ((c - 0x10000) & 0x3FF);
        }
        pay_u16(pay, (uint16_t)c);
    }
}

size_t pay_utf16_bytes(Str text) {
    size_t units = 0;
    while (text.n) units += next_code_point(&text) >= 0x10000 ? 2 : 1;
    return units * 2;
}

void pay_wstr(Pay *pay, Str text) {
    pay_utf16(pay, text);
    pay_u16(pay, 0);
}

void pay_wchars(Pay *pay, size_t units, Str text) {
    size_t from = pay->n;
    pay_utf16(pay, text);
    size_t room = units ? (units - 1) * 2 : 0;
    if (pay->n - from > room) pay->n = from + room;
    pay_zeros(pay, units * 2 - (pay->n - from));
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool pay_hex(Pay *pay, Str digits) {
    for (size_t i = 0; i < digits.n;) {
        if (digits.p[i] == ' ') {
            i++;
            continue;
        }
        int high = hex_digit(digits.p[i]);
        int low = i + 1 < digits.n ? hex_digit(digits.p[i + 1]) : -1;
        if (high < 0 || low < 0) return false;
        pay_u8(pay, (uint8_t)(high << 4 | low));
        i += 2;
    }
    return true;
}

bool pay_sid(Pay *pay, Str text) {
    enum { SUB_AUTHORITIES_MAX = 15 };
    uint64_t numbers[SUB_AUTHORITIES_MAX + 2] = {0};
    size_t count = 0;
    Str part;
    if (!str_next(&text, '-', &part) || !str_eq_nocase(part, STR("S"))) return false;
    while (str_next(&text, '-', &part)) {
        if (count == COUNT_OF(numbers) || !str_to_u64(part, &numbers[count++])) return false;
    }
    if (count < 2) return false;
    pay_u8(pay, (uint8_t)numbers[0]);
    pay_u8(pay, (uint8_t)(count - 2));
    pay_be16(pay, (uint16_t)(numbers[1] >> 32));
    pay_be32(pay, (uint32_t)numbers[1]);
    for (size_t i = 2; i < count; i++) pay_u32(pay, (uint32_t)numbers[i]);
    return true;
}

bool pay_kernel_sid(Pay *pay, unsigned pointer_size, Str text) {
    if (text.n == 0) {
        pay_u32(pay, 0);
        return true;
    }
    // TOKEN_USER: a pointer to the SID and its attributes; only "not zero" matters to a reader.
    pay_ptr(pay, pointer_size, 0xFFFFA80011223340u);
    pay_ptr(pay, pointer_size, 0);
    return pay_sid(pay, text);
}

static bool put_ip4(Pay *pay, Str text) {
    Str part;
    size_t count = 0;
    while (str_next(&text, '.', &part)) {
        uint64_t byte = 0;
        if (count++ == 4 || !str_to_u64(part, &byte) || byte > 255) return false;
        pay_u8(pay, (uint8_t)byte);
    }
    return count == 4;
}

// Groups of a part of an IPv6 text without "::".
static bool ip6_groups(Str text, uint16_t *groups, size_t *count) {
    Str part;
    while (str_next(&text, ':', &part)) {
        uint32_t value = 0;
        if (part.n == 0 || part.n > 4 || *count == 8) return false;
        for (size_t i = 0; i < part.n; i++) {
            int digit = hex_digit(part.p[i]);
            if (digit < 0) return false;
            value = value << 4 | (uint32_t)digit;
        }
        groups[(*count)++] = (uint16_t)value;
    }
    return true;
}

static bool put_ip6(Pay *pay, Str text) {
    uint16_t front[8] = {0}, back[8] = {0};
    size_t front_count = 0, back_count = 0;
    size_t gap = str_find(text, STR("::"));
    if (!ip6_groups(gap == SIZE_MAX ? text : str_slice(text, 0, gap), front, &front_count))
        return false;
    if (gap != SIZE_MAX && !ip6_groups(str_slice(text, gap + 2, text.n), back, &back_count))
        return false;
    if (gap == SIZE_MAX ? front_count != 8 : front_count + back_count > 7) return false;
    for (size_t i = 0; i < front_count; i++) pay_be16(pay, front[i]);
    pay_zeros(pay, (8 - front_count - back_count) * 2);
    for (size_t i = 0; i < back_count; i++) pay_be16(pay, back[i]);
    return true;
}

bool pay_ip(Pay *pay, Str text) {
    return str_find(text, STR(":")) == SIZE_MAX ? put_ip4(pay, text) : put_ip6(pay, text);
}

void pay_set_u16(Pay *pay, size_t at, uint16_t value) {
    INVARIANT(at + 2 <= pay->n);
    memcpy(pay->p + at, &value, 2);
}

void pay_set_u32(Pay *pay, size_t at, uint32_t value) {
    INVARIANT(at + 4 <= pay->n);
    memcpy(pay->p + at, &value, 4);
}

Guid pay_guid_from_c(const char *text) {
    Guid guid = {{0}};
    bool valid = guid_from_text(str_from_c(text), &guid);
    INVARIANT(valid);
    return guid;
}
