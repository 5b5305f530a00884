// The text of string literals (??_C@...): shown for completeness, they are never functions.
#include "sym/undecorate_internal.h"

enum {
    STRING_BYTES_ENCODED = 32, // the name holds the first 32 bytes of a string
    STRING_BYTES_MAX = 4 * STRING_BYTES_ENCODED,
    WIDE_BYTES_WHOLE = 64,
};

static int nibble(int c) {
    return c >= 'A' && c <= 'P' ? c - 'A' : -1;
}

// One byte of the literal: plain, or behind '?' as a digit, a letter or two nibbles.
static int literal_byte(Undecorator *u) {
    static const char PUNCTUATION[] = ",/\\:. \n\t'-";
    int c = rd_u8(&u->r);
    if (c != '?') return c;
    c = rd_u8(&u->r);
    if (c >= '0' && c <= '9') return (unsigned char)PUNCTUATION[c - '0'];
    if (c >= 'a' && c <= 'z') return 0xE1 + (c - 'a');
    if (c >= 'A' && c <= 'Z') return 0xC1 + (c - 'A');
    int high = c == '$' ? nibble(rd_u8(&u->r)) : -1, low = nibble(rd_u8(&u->r));
    if (high < 0 || low < 0) (void)und_fail(u);
    return high < 0 || low < 0 ? 0 : high << 4 | low;
}

static void add_character(Buf *out, uint32_t c) {
    static const char NAMES[] = "\0\a\b\f\n\r\t\v\"'\\";
    static const char LETTERS[] = "0abfnrtv\"'\\";
    for (size_t i = 0; i < sizeof NAMES - 1; i++) {
        if (c != (unsigned char)NAMES[i]) continue;
        buf_add_char(out, '\\');
        buf_add_char(out, LETTERS[i]);
        return;
    }
    if (c > 0x1F && c < 0x7F)
        buf_add_char(out, (char)c);
    else if (c > 0xFFFF)
        buf_addf(out, "\\x%08X", c);
    else if (c > 0xFF)
        buf_addf(out, "\\x%04X", c);
    else
        buf_addf(out, "\\x%02X", c);
}

static unsigned trailing_zeros(const uint8_t *bytes, size_t n) {
    unsigned zeros = 0;
    while (n && bytes[n - 1] == 0) n--, zeros++;
    return zeros;
}

static unsigned all_zeros(const uint8_t *bytes, size_t n) {
    unsigned zeros = 0;
    for (size_t i = 0; i < n; i++) zeros += bytes[i] == 0;
    return zeros;
}

// The name does not say how wide characters of u"" and U"" are; their zeros do.
static unsigned guess_width(const uint8_t *bytes, size_t n, uint64_t whole) {
    if (whole % 2) return 1;
    if (whole < STRING_BYTES_ENCODED) {
        unsigned zeros = trailing_zeros(bytes, n);
        if (zeros >= 4 && whole % 4 == 0) return 4;
        return zeros >= 2 ? 2 : 1;
    }
    unsigned zeros = all_zeros(bytes, n);
    if (zeros >= 2 * n / 3 && whole % 4 == 0) return 4;
    return zeros >= n / 3 ? 2 : 1;
}

static bool narrow_text(Undecorator *u, int64_t whole, Buf *out) {
    uint8_t bytes[STRING_BYTES_MAX];
    size_t n = 0;
    while (!u->failed && !und_take(u, "@")) {
        if (n == sizeof bytes || rd_left(&u->r) == 0) {
            (void)und_fail(u);
            return false;
        }
        bytes[n++] = (uint8_t)literal_byte(u);
    }
    bool cut = whole > (int64_t)n;
    unsigned width = guess_width(bytes, n, (uint64_t)whole);
    buf_add_c(out, width == 1 ? "\"" : width == 2 ? "u\"" : "U\"");
    for (size_t i = 0; i + width <= n; i += width) {
        uint32_t c = 0;
        for (unsigned b = 0; b < width; b++) c |= (uint32_t)bytes[i + b] << 8 * b;
        if (i + (size_t)2 * width <= n || cut)
            add_character(out, c); // the last one is the terminator
    }
    return cut;
}

static bool wide_text(Undecorator *u, int64_t whole, Buf *out) {
    bool cut = whole > WIDE_BYTES_WHOLE;
    buf_add_c(out, "L\"");
    while (!u->failed && !und_take(u, "@")) {
        if (rd_left(&u->r) == 0) (void)und_fail(u);
        int high = literal_byte(u);
        uint32_t c = (uint32_t)(high << 8 | literal_byte(u));
        if (whole != 2 || cut) add_character(out, c);
        whole -= 2;
    }
    return cut;
}

Str und_string_literal(Undecorator *u) {
    int64_t whole = 0;
    if (!und_take(u, "@_")) return und_fail(u);
    int wide = rd_u8(&u->r);
    if ((wide != '0' && wide != '1') || !und_number(u, &whole)) return und_fail(u);
    while (rd_left(&u->r) && rd_u8(&u->r) != '@') {
    } // checksum
    AUTO(buf_done) Buf out = {.max = LIMIT_UNDECORATE_BYTES};
    bool cut = wide == '1' ? wide_text(u, whole, &out) : narrow_text(u, whole, &out);
    rd_skip(&u->r, rd_left(&u->r)); // sometimes another checksum
    buf_add_c(&out, cut ? "\"..." : "\"");
    return str_copy(u->arena, buf_str(&out));
}
