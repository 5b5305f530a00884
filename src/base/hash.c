// SHA-256 and SHA-1 as FIPS 180-4 defines them. Both take 64-byte blocks of big-endian words and
// end the message alike, so only the round functions differ.
#include "base/hash.h"

#include <string.h>

enum { BLOCK_BYTES = 64, BLOCK_WORDS = 16, LENGTH_BYTES = 8, STATE_WORDS_MAX = 8 };

typedef void (*Compress)(uint32_t *state, const uint8_t *block);

static uint32_t left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static uint32_t right(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static void load_block(const uint8_t *block, uint32_t *words) {
    for (size_t i = 0; i < BLOCK_WORDS; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
}

// FIPS 180-4, 6.1.2.
static void compress_sha1(uint32_t *state, const uint8_t *block) {
    enum { ROUNDS = 80 };
    static const uint32_t K[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[ROUNDS];
    load_block(block, w);
    for (size_t i = BLOCK_WORDS; i < ROUNDS; i++)
        w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t part = i / 20;
        uint32_t f = b ^ c ^ d;
        if (part == 0) f = (b & c) | (~b & d);
        if (part == 2) f = (b & c) | (b & d) | (c & d);
        uint32_t next = left(a, 5) + f + e + K[part] + w[i];
        e = d;
        d = c;
        c = left(b, 30);
        b = a;
        a = next;
    }
    uint32_t sum[] = {a, b, c, d, e};
    for (size_t i = 0; i < COUNT_OF(sum); i++) state[i] += sum[i];
}

// FIPS 180-4, 4.2.2.
static const uint32_t K256[] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// FIPS 180-4, 6.2.2. s[0] to s[7] are a to h.
static void compress_sha256(uint32_t *state, const uint8_t *block) {
    uint32_t w[COUNT_OF(K256)], s[STATE_WORDS_MAX];
    load_block(block, w);
    for (size_t i = BLOCK_WORDS; i < COUNT_OF(K256); i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (right(x, 7) ^ right(x, 18) ^ x >> 3) + w[i - 7] +
               (right(y, 17) ^ right(y, 19) ^ y >> 10);
    }
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < COUNT_OF(K256); i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 =
            s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + choice + K256[i] + w[i];
        uint32_t t2 = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (size_t i = 0; i < STATE_WORDS_MAX; i++) state[i] += s[i];
}

// Whole blocks as they are; then the rest, a set bit, zeros, and the length in bits.
static void hash(Str bytes, Compress compress, uint32_t *state, uint8_t *digest,
                 size_t digest_size) {
    uint8_t block[BLOCK_BYTES] = {0};
    const uint8_t *p = (const uint8_t *)bytes.p;
    size_t left_over = bytes.n;
    for (; left_over >= BLOCK_BYTES; left_over -= BLOCK_BYTES, p += BLOCK_BYTES) compress(state, p);
    if (left_over) memcpy(block, p, left_over);
    block[left_over] = 0x80;
    if (left_over >= BLOCK_BYTES - LENGTH_BYTES) {
        compress(state, block);
        memset(block, 0, sizeof block);
    }
    uint64_t bits = (uint64_t)bytes.n * 8;
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        block[BLOCK_BYTES - 1 - i] = (uint8_t)(bits >> (8 * i));
    compress(state, block);
    for (size_t i = 0; i < digest_size; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha1(Str bytes, uint8_t digest[SHA1_BYTES]) {
    uint32_t state[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    hash(bytes, compress_sha1, state, digest, SHA1_BYTES);
}

void sha256(Str bytes, uint8_t digest[SHA256_BYTES]) {
    uint32_t state[] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    hash(bytes, compress_sha256, state, digest, SHA256_BYTES);
}
