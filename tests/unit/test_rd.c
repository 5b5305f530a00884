// The byte reader: values, text, sub-readers, and that nothing after the end is ever readable.
#include "base/rd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_str(Str got, const char *wanted) {
    assert_int_equal(got.n, strlen(wanted));
    if (got.n) assert_memory_equal(got.p, wanted, got.n);
}

static void test_scalars(void **state) {
    (void)state;
    static const uint8_t BYTES[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                    0xFF, 0xFE, 0xFF, 0xFD, 0xFF, 0xFF, 0xFF, 0x12,
                                    0x34, 0x12, 0x34, 0x56, 0x78, 0,    0,    0xC0,
                                    0x3F, 9,    0,    0,    0,    1,    0,    0};
    Rd r = rd_from(BYTES, sizeof BYTES);
    assert_int_equal(rd_u8(&r), 0x01);
    assert_int_equal(rd_u16(&r), 0x0302);
    assert_int_equal(rd_u32(&r), 0x07060504);
    assert_int_equal(rd_u8(&r), 8);
    assert_int_equal(rd_i8(&r), -1);
    assert_int_equal(rd_i16(&r), -2);
    assert_int_equal(rd_i32(&r), -3);
    assert_int_equal(rd_be16(&r), 0x1234);
    assert_int_equal(rd_be32(&r), 0x12345678);
    assert_true(rd_f32(&r) == 1.5f);
    assert_int_equal(rd_at(&r), 25);
    Rd again = r;
    assert_int_equal(rd_ptr(&again, 4), 9);
    again = rd_from(BYTES + 24, 8);
    assert_true(rd_ptr(&again, 8) == UINT64_C(0x000001000000093F));
    assert_true(rd_ok(&again));
    assert_int_equal(rd_left(&again), 0);
}

// Each reader over too few bytes: zero, failed, nothing left, and failed for good.
static void test_short(void **state) {
    (void)state;
    static const uint8_t ONES[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    for (size_t size = 0; size < 16; size++) {
        Rd r = rd_from(ONES, size);
        Guid guid = rd_guid(&r);
        assert_false(rd_ok(&r));
        assert_true(guid_is_zero(&guid));
        assert_int_equal(rd_left(&r), 0);
        assert_int_equal(rd_u8(&r), 0);
        rd_seek(&r, 0);
        assert_int_equal(rd_left(&r), 0);
        assert_false(rd_ok(&r));
        r = rd_from(ONES, size < 8 ? size : 7);
        assert_true(rd_u64(&r) == 0 && !rd_ok(&r));
        r = rd_from(ONES, size);
        rd_seek(&r, size + 1);
        assert_false(rd_ok(&r));
        r = rd_from(ONES, size);
        rd_seek(&r, size);
        assert_true(rd_ok(&r));
        rd_skip(&r, SIZE_MAX);
        assert_false(rd_ok(&r));
    }
    Rd none = rd_from(NULL, 0);
    assert_int_equal(rd_u32(&none), 0);
    assert_false(rd_ok(&none));
}

static void test_sub_cannot_read_its_parent(void **state) {
    (void)state;
    static const uint8_t BYTES[] = {1, 2, 3, 4, 5, 6};
    Rd r = rd_from(BYTES, sizeof BYTES);
    rd_skip(&r, 1);
    Rd sub = rd_sub(&r, 3);
    assert_int_equal(rd_u8(&r), 5);
    assert_int_equal(rd_u16(&sub), 0x0302);
    assert_int_equal(rd_u16(&sub), 0);
    assert_false(rd_ok(&sub));
    assert_true(rd_ok(&r));
    Rd huge = rd_sub(&r, SIZE_MAX);
    assert_int_equal(rd_left(&huge), 0);
    assert_false(rd_ok(&r));
    assert_int_equal(rd_bytes(&r, 1).n, 0);
}

static void test_text(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool wide;
        const char *text;
        size_t left;
    } CASES[] = {
        {"abc\0d",               5, false, "abc",              1},
        {"abc",                  3, false, "abc",              0},
        {"\0x",                  2, false, "",                 1},
        {"caf\xE9",              4, false, "caf\xC3\xA9",      0}, // not UTF-8: Latin-1
        {"a\0b\0\0\0c\0",        8, true,  "ab",               2},
        {"a\0b\0",               4, true,  "ab",               0},
        {"a\0b",                 3, true,  "a",                0}, // half a unit at the end
        {"\xE9\0\0\0",           4, true,  "\xC3\xA9",         0},
        {"\x3D\xD8\x00\xDE\0\0", 6, true,  "\xF0\x9F\x98\x80", 0},
        {"\x3D\xD8x\0\0\0",      6, true,  "\xEF\xBF\xBDx",    0}, // unpaired surrogate
        {"\x00\xDE\0\0",         4, true,  "\xEF\xBF\xBD",     0},
        {"\xAC\x20\0\0",         4, true,  "\xE2\x82\xAC",     0},
        {"",                     0, true,  "",                 0},
    };
    AUTO(arena_done) Arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Rd r = rd_from(CASES[i].bytes, CASES[i].size);
        assert_str(CASES[i].wide ? rd_wstr(&r, &arena) : rd_astr(&r, &arena), CASES[i].text);
        assert_int_equal(rd_left(&r), CASES[i].left);
        assert_true(rd_ok(&r));
    }
    Rd fixed = rd_from("a\0\0\0z\0q\0", 8);
    assert_str(rd_wchars(&fixed, 3, &arena), "a");
    assert_int_equal(rd_left(&fixed), 2);
    assert_int_equal(rd_wchars(&fixed, SIZE_MAX / 2 + 2, &arena).n, 0); // the product wraps
    assert_false(rd_ok(&fixed));
}

static void test_guid(void **state) {
    (void)state;
    static const char TEXT[] = "68fdd900-4a3e-11d1-84f4-0000f80464e3";
    static const uint8_t BYTES[16] = {0x00, 0xD9, 0xFD, 0x68, 0x3E, 0x4A, 0xD1, 0x11,
                                      0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3};
    Rd r = rd_from(BYTES, sizeof BYTES);
    Guid guid = rd_guid(&r);
    char text[GUID_TEXT_SIZE];
    guid_to_text(&guid, text);
    assert_string_equal(text, TEXT);
    static const char *const GOOD[] = {TEXT, "{68FDD900-4A3E-11D1-84F4-0000F80464E3}"};
    for (size_t i = 0; i < COUNT_OF(GOOD); i++) {
        Guid parsed = {{0}};
        assert_true(guid_from_text(str_from_c(GOOD[i]), &parsed));
        assert_true(guid_eq(&parsed, &guid));
        assert_true(guid_hash(&parsed) == guid_hash(&guid));
    }
    static const char *const BAD[] = {"",
                                      "{}",
                                      "68fdd900",
                                      "68fdd900-4a3e-11d1-84f4-0000f80464e",
                                      "68fdd900-4a3e-11d1-84f4-0000f80464e33",
                                      "68fdd9004a3e-11d1-84f4-0000f80464e3-",
                                      "g8fdd900-4a3e-11d1-84f4-0000f80464e3",
                                      "{68fdd900-4a3e-11d1-84f4-0000f80464e3"};
    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        Guid parsed;
        assert_false(guid_from_text(str_from_c(BAD[i]), &parsed));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_sub_cannot_read_its_parent),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
