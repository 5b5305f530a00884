// XPRESS (plain LZ77) and LZNT1, the byte-oriented formats of compressed buffers
// (docs/formats/etl.md, "Compressed buffers").
//
// XPRESS is where loading a compressed trace spends its time. While far from both ends, literals
// and matches are copied in fixed wide steps that may write past the token (never past `out`) and
// are overwritten by the next one; near the ends every byte is checked.
#include "etl/decompress.h"

#include "etl/bytes.h"

enum {
    TOKEN_IN_MAX = 64,  // flag word, 32 literals, one longest match, and the wide read's excess
    TOKEN_OUT_MAX = 64, // 32 literals and the excess of a wide match copy
    WIDE = 16,
};

typedef struct Xpress {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_start, *out_end;
    const uint8_t *nibble; // byte whose high nibble is the next long length, or NULL
    uint32_t flags;        // unused ones from bit 31 down
    unsigned flag_count;
} Xpress;

static inline size_t in_left(const Xpress *x) {
    return (size_t)(x->in_end - x->in);
}
static inline size_t out_left(const Xpress *x) {
    return (size_t)(x->out_end - x->out);
}

// The forms behind a full nibble: byte, u16, u32. False when the input ends or the value is wrong.
static bool xpress_long_length(Xpress *x, size_t *length) {
    if (in_left(x) < 1) return false;
    uint32_t value = *x->in++;
    if (value == 255) {
        if (in_left(x) < 2) return false;
        value = le16(x->in);
        x->in += 2;
        if (value == 0) {
            if (in_left(x) < 4) return false;
            value = le32(x->in);
            x->in += 4;
        }
        if (value < 22) return false;
        value -= 22;
    }
    *length = (size_t)value + 15 + 7 + 3;
    return true;
}

// Length of the match whose token is `token`; reads what follows it.
static inline bool xpress_length(Xpress *x, unsigned token, size_t *length) {
    *length = (token & 7) + 3;
    if (*length < 10) return true;
    unsigned nibble;
    if (x->nibble) {
        nibble = *x->nibble >> 4;
        x->nibble = NULL;
    } else {
        if (in_left(x) < 1) return false;
        x->nibble = x->in;
        nibble = *x->in++ & 15u;
    }
    *length = (size_t)nibble + 7 + 3;
    return nibble < 15 || xpress_long_length(x, length);
}

static inline void copy_wide(uint8_t *out, const uint8_t *from) { // the two may overlap
    uint8_t step[WIDE];
    memcpy(step, from, WIDE);
    memcpy(out, step, WIDE);
}

// Copies at least `length` bytes in wide steps; the room behind them has been checked.
static inline void copy_match_wide(uint8_t *out, size_t distance, size_t length) {
    const uint8_t *from = out - distance;
    uint8_t *end = out + length;
    if (distance >= WIDE) {
        do {
            copy_wide(out, from);
            out += WIDE;
            from += WIDE;
        } while (out < end);
        return;
    }
    if (distance == 1) {
        memset(out, *from, length);
        return;
    }
    // A short period: written once by bytes, it repeats at the largest multiple of itself that fits
    // a wide step, so that each step reads only finished bytes.
    size_t period = distance * (WIDE / distance);
    for (size_t i = 0; i < WIDE; i++) out[i] = from[i];
    for (uint8_t *at = out + period; at < end; at += period) copy_wide(at, at - period);
}

static inline void copy_match_exact(Xpress *x, size_t distance, size_t length) {
    for (; length > 0; length--, x->out++) *x->out = *(x->out - distance);
}

// One match token, its flag already consumed. `wide` is the compile-time choice of the caller.
static inline bool xpress_match(Xpress *x, bool wide) {
    if (!wide && in_left(x) < 2) return false;
    unsigned token = le16(x->in);
    x->in += 2;
    size_t length;
    size_t distance = (token >> 3) + 1u;
    if (!xpress_length(x, token, &length)) return false;
    if (distance > (size_t)(x->out - x->out_start)) return false;
    if (wide && length + TOKEN_OUT_MAX <= out_left(x)) {
        copy_match_wide(x->out, distance, length);
        x->out += length;
        return true;
    }
    bool fits = length <= out_left(x);
    copy_match_exact(x, distance, fits ? length : out_left(x));
    return fits;
}

static bool xpress_fast(Xpress *state) {
    Xpress x = *state; // in registers
    bool good = true;
    while (good && in_left(&x) >= TOKEN_IN_MAX && out_left(&x) >= TOKEN_OUT_MAX) {
        if (x.flag_count == 0) {
            x.flags = le32(x.in);
            x.in += 4;
            x.flag_count = 32;
        }
        unsigned run = x.flags ? (unsigned)__builtin_clz(x.flags) : 32;
        if (run >= x.flag_count) { // literals only up to the next flag word
            memcpy(x.out, x.in, 32);
            x.out += x.flag_count;
            x.in += x.flag_count;
            x.flag_count = 0;
            continue;
        }
        if (run > 0) {
            memcpy(x.out, x.in, 32);
            x.out += run;
            x.in += run;
        }
        x.flags = x.flags << run << 1;
        x.flag_count -= run + 1;
        good = xpress_match(&x, true);
    }
    *state = x;
    return good;
}

static bool xpress_careful(Xpress *x) {
    while (out_left(x) > 0) {
        if (x->flag_count == 0) {
            if (in_left(x) < 4) return false;
            x->flags = le32(x->in);
            x->in += 4;
            x->flag_count = 32;
        }
        bool match = x->flags >> 31;
        x->flags <<= 1;
        x->flag_count--;
        if (match) {
            if (!xpress_match(x, false)) return false;
            continue;
        }
        if (in_left(x) < 1) return false;
        *x->out++ = *x->in++;
    }
    return true;
}

size_t xpress_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                         bool *ok) {
    *ok = out_size == 0;
    if (in_size == 0 || out_size == 0) return 0;
    Xpress x = {.in = in, .in_end = in + in_size, .out = out, .out_start = out};
    x.out_end = out + out_size;
    *ok = xpress_fast(&x) && xpress_careful(&x);
    return (size_t)(x.out - out);
}

// One compressed LZNT1 chunk. Returns the bytes produced; *good is false when the chunk is damaged.
static size_t lznt1_chunk(const uint8_t *in, const uint8_t *in_end, uint8_t *out, size_t room,
                          bool *good) {
    size_t made = 0;
    *good = false;
    while (in < in_end && made < room) {
        unsigned flags = *in++;
        for (int i = 0; i < 8 && in < in_end && made < room; i++, flags >>= 1) {
            if (!(flags & 1)) {
                out[made++] = *in++;
                continue;
            }
            if (in_end - in < 2 || made == 0) return made;
            unsigned token = le16(in);
            in += 2;
            unsigned bits = 12;
            for (size_t q = made - 1; q >= 16; q >>= 1) bits--;
            size_t length = (token & ((1u << bits) - 1)) + 3u;
            size_t distance = (token >> bits) + 1u;
            if (distance > made) return made;
            bool fits = length <= room - made;
            if (!fits) length = room - made;
            for (; length > 0; length--, made++) out[made] = out[made - distance];
            if (!fits) return made;
        }
    }
    *good = true;
    return made;
}

enum { LZNT1_CHUNK = 4096 };

size_t lznt1_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                        bool *ok) {
    size_t at = 0;
    size_t made = 0;
    *ok = false;
    while (made < out_size && in_size - at >= 2) {
        unsigned head = le16(in + at);
        if (head == 0) break;
        at += 2;
        size_t claimed = (head & 0xFFF) + 1u;
        size_t there = in_size - at < claimed ? in_size - at : claimed;
        size_t room = out_size - made < LZNT1_CHUNK ? out_size - made : LZNT1_CHUNK;
        bool good = there == claimed;
        if (head & 0x8000) {
            bool sound;
            made += lznt1_chunk(in + at, in + at + there, out + made, room, &sound);
            good = good && sound;
        } else {
            size_t n = there < room ? there : room;
            memcpy(out + made, in + at, n);
            made += n;
            good = good && n == claimed;
        }
        if (!good) return made;
        at += there;
    }
    *ok = made == out_size;
    return made;
}
