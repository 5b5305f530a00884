// The three decompressors: published vectors, a small compressor of the test's own, and hostile
// streams, which may produce anything but must stay inside their ranges.
#include "base/arena.h"
#include "etl/decompress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef size_t (*Decompress)(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                             bool *ok);

enum { ALPHABET = 26, ABC = 300, ROOM = 200 * 1024 };

static void fill_alphabet(uint8_t *out) {
    for (int i = 0; i < ALPHABET; i++) out[i] = (uint8_t)('a' + i);
}

static void fill_abc(uint8_t *out) {
    for (int i = 0; i < ABC; i++) out[i] = (uint8_t)('a' + i % 3);
}

// Runs on an output of exactly the right size, so that a byte too many is a sanitizer report.
static void expect(Decompress decompress, const uint8_t *in, size_t in_size, const uint8_t *wanted,
                   size_t wanted_size) {
    uint8_t *exact_in = mem_alloc(in_size);
    uint8_t *out = mem_alloc(wanted_size);
    bool ok = false;
    memcpy(exact_in, in, in_size);
    assert_int_equal(decompress(exact_in, in_size, out, wanted_size, &ok), wanted_size);
    assert_true(ok);
    assert_memory_equal(out, wanted, wanted_size);
    // Every shorter output is a prefix, every shorter input gives a prefix and says so.
    for (size_t n = 0; n < wanted_size; n++) {
        size_t made = decompress(exact_in, in_size, out, n, &ok);
        assert_int_equal(made, n);
        assert_memory_equal(out, wanted, made);
    }
    for (size_t n = 0; n < in_size; n++) {
        size_t made = decompress(exact_in, n, out, wanted_size, &ok);
        assert_true(made <= wanted_size);
        assert_true(ok == (made == wanted_size));
        assert_memory_equal(out, wanted, made);
    }
    mem_free(exact_in);
    mem_free(out);
}

static void test_xpress_vectors(void **state) {
    (void)state;
    uint8_t wanted[ABC];
    uint8_t literals[4 + ALPHABET] = {0x3F, 0, 0, 0};
    static const uint8_t matches[] = {0xFF, 0xFF, 0xFF, 0x1F, 0x61, 0x62, 0x63,
                                      0x17, 0x00, 0x0F, 0xFF, 0x26, 0x01};
    fill_alphabet(literals + 4);
    fill_alphabet(wanted);
    expect(xpress_decompress, literals, sizeof literals, wanted, ALPHABET);
    fill_abc(wanted);
    expect(xpress_decompress, matches, sizeof matches, wanted, ABC);
}

static void test_huffman_vectors(void **state) {
    (void)state;
    static const uint8_t table[] = {0x50, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                                    0x55, 0x55, 0x55, 0x55, 0x45, 0x44, 0x04};
    static const uint8_t codes[] = {0xD8, 0x52, 0x3E, 0xD7, 0x94, 0x11, 0x5B, 0xE9, 0x19, 0x5F,
                                    0xF9, 0xD6, 0x7C, 0xDF, 0x8D, 0x04, 0x00, 0x00, 0x00, 0x00};
    static const uint8_t abc[] = {0xA8, 0xDC, 0x00, 0x00, 0xFF, 0x26, 0x01};
    uint8_t wanted[ABC];
    uint8_t in[256 + sizeof codes] = {0};
    memcpy(in + 48, table, sizeof table);
    in[128] = 0x04;
    memcpy(in + 256, codes, sizeof codes);
    fill_alphabet(wanted);
    expect(xpress_huffman_decompress, in, sizeof in, wanted, ALPHABET);

    uint8_t in_abc[256 + sizeof abc] = {[48] = 0x30, [49] = 0x23, [128] = 0x02, [143] = 0x20};
    memcpy(in_abc + 256, abc, sizeof abc);
    fill_abc(wanted);
    expect(xpress_huffman_decompress, in_abc, sizeof in_abc, wanted, ABC);
}

static void test_lznt1_chunks(void **state) {
    (void)state;
    // Two literals and a match of distance 2, length 8; then a stored chunk; then the end mark.
    static const uint8_t in[] = {0x04, 0xB0, 0x04, 'a', 'b', 0x05, 0x10,
                                 0x02, 0x30, 'x',  'y', 'z', 0,    0};
    expect(lznt1_decompress, in, sizeof in,
           (const uint8_t *)"ababababab"
                            "xyz",
           13);
    // An empty chunk's length may not take the header behind it for data.
    bool ok = true;
    uint8_t out[16];
    assert_int_equal(lznt1_decompress(in, 2, out, sizeof out, &ok), 0);
    assert_false(ok);
}

// A greedy XPRESS encoder, only good enough to make every kind of token.
typedef struct Encoder {
    uint8_t *out;
    size_t n;
    size_t flags_at;
    size_t nibble_at; // 0: none open
    unsigned flag_count;
} Encoder;

static void put(Encoder *e, unsigned value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) e->out[e->n++] = (uint8_t)(value >> (8 * i));
}

static void put_flag(Encoder *e, unsigned flag) {
    if (e->flag_count == 0) {
        e->flags_at = e->n;
        put(e, 0, 4);
        e->flag_count = 32;
    }
    e->flag_count--;
    e->out[e->flags_at + e->flag_count / 8] |= (uint8_t)(flag << (e->flag_count % 8));
}

static void put_nibble(Encoder *e, unsigned nibble) {
    if (e->nibble_at) {
        e->out[e->nibble_at] |= (uint8_t)(nibble << 4);
        e->nibble_at = 0;
        return;
    }
    e->nibble_at = e->n;
    put(e, nibble, 1);
}

static void put_match(Encoder *e, size_t distance, size_t length) {
    size_t rest = length - 3;
    put_flag(e, 1);
    put(e, (unsigned)((distance - 1) << 3 | (rest < 7 ? rest : 7)), 2);
    if (rest < 7) return;
    put_nibble(e, rest - 7 < 15 ? (unsigned)(rest - 7) : 15);
    if (rest - 7 < 15) return;
    if (rest - 22 < 255) {
        put(e, (unsigned)(rest - 22), 1);
        return;
    }
    put(e, 255, 1);
    if (rest <= 0xFFFF) {
        put(e, (unsigned)rest, 2);
    } else {
        put(e, 0, 2);
        put(e, (unsigned)rest, 4);
    }
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Literals and matches of all lengths and distances, near and far from both ends.
static size_t make_stream(uint32_t seed, uint8_t *in, uint8_t *plain, size_t *plain_size) {
    Encoder e = {.out = in};
    size_t n = 0;
    size_t wanted = 1 + next_random(&seed) % 3000;
    if (seed % 7 == 0) wanted += 100000;
    while (n < wanted) {
        uint32_t kind = next_random(&seed) % 8;
        if (n == 0 || kind < 4) {
            plain[n] = (uint8_t)next_random(&seed);
            put_flag(&e, 0);
            put(&e, plain[n++], 1);
            continue;
        }
        size_t far = n < 8192 ? n : 8192;
        size_t distance = 1 + next_random(&seed) % (kind < 6 && far > 20 ? 20 : far);
        static const uint32_t SPANS[] = {7, 25, 300, 70000};
        size_t length = 3 + next_random(&seed) % SPANS[next_random(&seed) % (kind == 7 ? 4 : 2)];
        if (length > wanted - n + 3) length = wanted - n + 3;
        put_match(&e, distance, length);
        for (size_t i = 0; i < length; i++, n++) plain[n] = plain[n - distance];
    }
    *plain_size = n;
    return e.n;
}

static void test_xpress_round_trip(void **state) {
    (void)state;
    uint8_t *in = mem_alloc(ROOM);
    uint8_t *plain = mem_alloc(ROOM);
    for (uint32_t seed = 1; seed <= 300; seed++) {
        size_t plain_size;
        memset(in, 0, ROOM);
        size_t in_size = make_stream(seed, in, plain, &plain_size);
        uint8_t *exact_in = mem_alloc(in_size);
        uint8_t *out = mem_alloc(plain_size);
        bool ok = false;
        memcpy(exact_in, in, in_size);
        assert_int_equal(xpress_decompress(exact_in, in_size, out, plain_size, &ok), plain_size);
        assert_true(ok);
        assert_memory_equal(out, plain, plain_size);
        size_t cut = in_size / 2;
        size_t made = xpress_decompress(exact_in, cut, out, plain_size, &ok);
        assert_memory_equal(out, plain, made);
        assert_true(ok == (made == plain_size));
        mem_free(exact_in);
        mem_free(out);
    }
    mem_free(in);
    mem_free(plain);
}

static void test_damaged_streams_stay_inside(void **state) {
    (void)state;
    static const Decompress ALL[] = {xpress_decompress, xpress_huffman_decompress,
                                     lznt1_decompress};
    uint32_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        size_t in_size = next_random(&seed) % 600;
        size_t out_size = next_random(&seed) % 3000;
        uint8_t *in = mem_alloc(in_size);
        uint8_t *out = mem_alloc(out_size);
        bool sparse = round % 2;
        for (size_t i = 0; i < in_size; i++) {
            uint32_t value = next_random(&seed);
            in[i] = (uint8_t)(sparse && value % 4 ? 0x22 : value);
        }
        for (size_t i = 0; i < COUNT_OF(ALL); i++) {
            bool ok = false;
            size_t made = ALL[i](in, in_size, out, out_size, &ok);
            assert_true(made <= out_size);
            assert_true(!ok || made == out_size);
        }
        mem_free(in);
        mem_free(out);
    }
}

static void test_rejected(void **state) {
    (void)state;
    static const struct {
        Decompress decompress;
        uint8_t in[16];
        size_t in_size, made;
    } CASES[] = {
        {xpress_decompress,         {0, 0, 0, 0x40, 'a', 0x08, 0},              7,  1}, // distance 2 of 1 byte
        {xpress_decompress,         {0, 0, 0, 0x80, 0, 0},                      6,  0}, // match without any byte
        {xpress_decompress,         {0, 0, 0, 0x40, 'a', 7, 0, 15, 255, 21, 0}, 11, 1}, // length below 22
        {xpress_decompress,         {0, 0, 0},                                  3,  0},
        {lznt1_decompress,          {0x02, 0xB0, 0x01, 0, 0},                   5,  0}, // match at the chunk's start
        {lznt1_decompress,          {0x03, 0xB0, 0x02, 'a', 0, 0x10},           6,  1}, // distance 2 of 1 byte
        {xpress_huffman_decompress, {1, 2, 3},                                  3,  0},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        uint8_t out[64];
        bool ok = true;
        size_t made = CASES[i].decompress(CASES[i].in, CASES[i].in_size, out, sizeof out, &ok);
        assert_false(ok);
        assert_int_equal(made, CASES[i].made);
    }
    // 512 codes of one bit: more than there are.
    uint8_t table[300];
    uint8_t out[64];
    bool ok = true;
    memset(table, 0x11, sizeof table);
    assert_int_equal(xpress_huffman_decompress(table, sizeof table, out, sizeof out, &ok), 0);
    assert_false(ok);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xpress_vectors),
        cmocka_unit_test(test_huffman_vectors),
        cmocka_unit_test(test_lznt1_chunks),
        cmocka_unit_test(test_xpress_round_trip),
        cmocka_unit_test(test_damaged_streams_stay_inside),
        cmocka_unit_test(test_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
