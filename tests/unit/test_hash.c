// SHA-1 and SHA-256 against the examples of FIPS 180-4 and of its validation programme, and every
// length around the end of a block against the digest of all digests.
#include "base/arena.h"
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect_hex(const uint8_t *digest, size_t size, const char *hex) {
    AUTO(buf_done) Buf text = {0};
    for (size_t i = 0; i < size; i++) buf_addf(&text, "%02x", digest[i]);
    buf_add_char(&text, 0);
    assert_string_equal(text.p, hex);
}

static void test_examples(void **state) {
    (void)state;
    static const struct {
        const char *text, *sha1, *sha256;
    } CASES[] = {
        {"",                                                         "da39a3ee5e6b4b0d3255bfef95601890afd80709",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"                                                                                                        },
        {"abc",                                                      "a9993e364706816aba3e25717850c26c9cd0d89d",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"                                                                                                        },
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1",                                                             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        uint8_t short_digest[SHA1_BYTES], digest[SHA256_BYTES];
        sha1(str_from_c(CASES[i].text), short_digest);
        sha256(str_from_c(CASES[i].text), digest);
        expect_hex(short_digest, sizeof short_digest, CASES[i].sha1);
        expect_hex(digest, sizeof digest, CASES[i].sha256);
    }
}

static void test_a_million_letters(void **state) {
    (void)state;
    enum { LETTERS = 1000000 };
    char *text = mem_alloc(LETTERS);
    memset(text, 'a', LETTERS);
    uint8_t short_digest[SHA1_BYTES], digest[SHA256_BYTES];
    sha1((Str){text, LETTERS}, short_digest);
    sha256((Str){text, LETTERS}, digest);
    mem_free(text);
    expect_hex(short_digest, sizeof short_digest, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    expect_hex(digest, sizeof digest,
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Where the length no longer fits into the block of the last bytes.
static void test_every_length(void **state) {
    (void)state;
    enum { LENGTHS = 200 };
    char text[LENGTHS];
    AUTO(buf_done) Buf short_all = {0}, all = {0};
    for (size_t i = 0; i < LENGTHS; i++) {
        uint8_t short_digest[SHA1_BYTES], digest[SHA256_BYTES];
        text[i] = (char)i;
        sha1((Str){text, i}, short_digest);
        sha256((Str){text, i}, digest);
        buf_add(&short_all, (Str){(const char *)short_digest, sizeof short_digest});
        buf_add(&all, (Str){(const char *)digest, sizeof digest});
    }
    uint8_t short_digest[SHA1_BYTES], digest[SHA256_BYTES];
    sha1(buf_str(&short_all), short_digest);
    sha256(buf_str(&all), digest);
    expect_hex(short_digest, sizeof short_digest, "ab05664693b2d32b84dd4616c5284c285cc0684a");
    expect_hex(digest, sizeof digest,
               "ba7b0fcea7d10c06b855b43d2b4dce1e3e842fff6be0acefb0faf4f2dd05bb47");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_a_million_letters),
        cmocka_unit_test(test_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
