// XPRESS (plain LZ77) and LZNT1 compressors (docs/formats/etl.md 1.8). Matches come from a hash
// table with one candidate each: enough for records that repeat, and fast.
#include "support/etl_build_compress.h"

#include <string.h>

enum {
    HASH_BITS = 13,
    HASH_SIZE = 1 << HASH_BITS,
    MATCH_MIN = 3,
    XPRESS_DISTANCE_MAX = 8192,
    XPRESS_MATCH_MAX = 65535 + 3, // longer ones would need the 32-bit length
    LZNT1_CHUNK = 4096,
};

static uint32_t load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static uint32_t hash3(const uint8_t *p) {
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
    return (v * 0x9E3779B1u) >> (32 - HASH_BITS);
}

static size_t match_length(const uint8_t *a, const uint8_t *b, size_t max) {
    size_t n = 0;
    while (n + 8 <= max) {
        uint64_t x, y;
        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        if (x != y) return n + (size_t)__builtin_ctzll(x ^ y) / 8;
        n += 8;
    }
    while (n < max && a[n] == b[n]) n++;
    return n;
}

// Output of the XPRESS coder: a word of 32 flags stands before the 32 tokens it describes, and two
// long matches share one byte for their 4-bit lengths.
typedef struct Xpress {
    uint8_t *out;
    size_t at;
    size_t flags_at;
    uint32_t flags;
    unsigned flag_count;
    size_t nibble_at; // 0: none open (offset 0 always holds flags)
} Xpress;

static void xpress_flag(Xpress *x, uint32_t flag) {
    x->flags = x->flags << 1 | flag;
    if (++x->flag_count < 32) return;
    memcpy(x->out + x->flags_at, &x->flags, 4);
    x->flags_at = x->at;
    x->at += 4;
    x->flag_count = 0;
}

static void xpress_long_length(Xpress *x, size_t length) {
    size_t rest = length - 10;
    uint8_t nibble = (uint8_t)(rest < 15 ? rest : 15);
    if (x->nibble_at) {
        x->out[x->nibble_at] = (uint8_t)(x->out[x->nibble_at] | nibble << 4);
        x->nibble_at = 0;
    } else {
        x->nibble_at = x->at;
        x->out[x->at++] = nibble;
    }
    if (rest < 15) return;
    rest -= 15;
    x->out[x->at++] = (uint8_t)(rest < 255 ? rest : 255);
    if (rest < 255) return;
    uint16_t whole = (uint16_t)(length - 3);
    memcpy(x->out + x->at, &whole, 2);
    x->at += 2;
}

static void xpress_match(Xpress *x, size_t length, size_t distance) {
    size_t code = length - MATCH_MIN < 7 ? length - MATCH_MIN : 7;
    uint16_t token = (uint16_t)((distance - 1) << 3 | code);
    memcpy(x->out + x->at, &token, 2);
    x->at += 2;
    if (code == 7) xpress_long_length(x, length);
    xpress_flag(x, 1);
}

// The open flag word ends with ones, as Windows writes it; no token belongs to them.
static void xpress_end(Xpress *x) {
    unsigned left = 32 - x->flag_count;
    uint32_t flags = left == 32 ? 0xFFFFFFFFu : x->flags << left | ((1u << left) - 1);
    memcpy(x->out + x->flags_at, &flags, 4);
}

// Room for `bytes` more behind buf->n, which the caller then fills and accounts for.
static uint8_t *buf_tail(Buf *buf, size_t bytes) {
    if (buf->n + bytes + 1 > buf->capacity) {
        buf->capacity = buf->n + bytes + 1;
        buf->p = mem_grow(buf->p, buf->capacity);
    }
    return (uint8_t *)buf->p + buf->n;
}

static void buf_tail_done(Buf *buf, size_t bytes) {
    buf->n += bytes;
    buf->p[buf->n] = 0;
}

void etl_compress_xpress(Str in, Buf *out) {
    const uint8_t *data = (const uint8_t *)in.p;
    uint32_t heads[HASH_SIZE]; // position + 1
    memset(heads, 0, sizeof heads);
    // Worst case: every byte a literal, one flag bit each.
    Xpress x = {.out = buf_tail(out, in.n + in.n / 8 + 16), .at = 4};
    size_t at = 0;
    while (at + 4 <= in.n) {
        uint32_t *head = &heads[hash3(data + at)];
        size_t candidate = *head;
        *head = (uint32_t)(at + 1);
        if (candidate && at - (candidate - 1) <= XPRESS_DISTANCE_MAX &&
            ((load32(data + candidate - 1) ^ load32(data + at)) & 0xFFFFFF) == 0) {
            size_t max = in.n - at < XPRESS_MATCH_MAX ? in.n - at : XPRESS_MATCH_MAX;
            size_t length = match_length(data + candidate - 1, data + at, max);
            xpress_match(&x, length, at - (candidate - 1));
            at += length;
            continue;
        }
        x.out[x.at++] = data[at++];
        xpress_flag(&x, 0);
    }
    while (at < in.n) {
        x.out[x.at++] = data[at++];
        xpress_flag(&x, 0);
    }
    xpress_end(&x);
    buf_tail_done(out, x.at);
}

// Bits of a token that hold the length, by the bytes already produced from the chunk.
static unsigned lznt1_length_bits(size_t produced) {
    unsigned bits = 12;
    for (size_t q = produced - 1; q >= 16; q >>= 1) bits--;
    return bits;
}

// Compresses one chunk to `out` and returns its size; 0 when it would not fit in `room`.
static size_t lznt1_chunk(const uint8_t *data, size_t size, uint8_t *out, size_t room) {
    uint16_t heads[HASH_SIZE];
    memset(heads, 0, sizeof heads);
    size_t used = 0, flags_at = 0;
    unsigned tokens = 8;
    for (size_t at = 0; at < size;) {
        if (room - used < 3) return 0;
        if (tokens == 8) {
            flags_at = used;
            out[used++] = 0;
            tokens = 0;
        }
        size_t length = 0, distance = 0;
        if (at + MATCH_MIN <= size) {
            uint16_t *head = &heads[hash3(data + at)];
            if (*head) {
                size_t max = ((size_t)1 << lznt1_length_bits(at)) + 2;
                distance = at - (size_t)(*head - 1);
                length = match_length(data + at - distance, data + at,
                                      max < size - at ? max : size - at);
            }
            *head = (uint16_t)(at + 1);
        }
        if (length >= MATCH_MIN) {
            unsigned bits = lznt1_length_bits(at);
            uint16_t token = (uint16_t)((distance - 1) << bits | (length - MATCH_MIN));
            memcpy(out + used, &token, 2);
            used += 2;
            out[flags_at] = (uint8_t)(out[flags_at] | 1u << tokens);
            at += length;
        } else {
            out[used++] = data[at++];
        }
        tokens++;
    }
    return used;
}

void etl_compress_lznt1(Str in, Buf *out) {
    for (size_t at = 0; at < in.n; at += LZNT1_CHUNK) {
        const uint8_t *data = (const uint8_t *)in.p + at;
        size_t size = in.n - at < LZNT1_CHUNK ? in.n - at : LZNT1_CHUNK;
        uint8_t *tail = buf_tail(out, LZNT1_CHUNK + 2);
        size_t packed = lznt1_chunk(data, size, tail + 2, size);
        if (packed == 0) memcpy(tail + 2, data, size);
        size_t stored = packed ? packed : size;
        // Bits 12-14 are the signature 3 that Windows writes.
        uint16_t header = (uint16_t)((packed ? 0x8000 : 0) | 0x3000 | (stored - 1));
        memcpy(tail, &header, 2);
        buf_tail_done(out, stored + 2);
    }
}
