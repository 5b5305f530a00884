// Slices, numbers in text, buffers with a maximum.
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static Str s(const char *text) {
    return str_from_c(text);
}

static void assert_str(Str got, const char *wanted) {
    assert_int_equal(got.n, strlen(wanted));
    if (got.n) assert_memory_equal(got.p, wanted, got.n);
}

static void test_compare_and_find(void **state) {
    (void)state;
    assert_true(str_eq(s(NULL), STR("")));
    assert_false(str_eq(STR("a"), STR("ab")));
    assert_true(str_eq_nocase(STR("TcpIp.SYS"), STR("tcpip.sys")));
    assert_false(str_eq_nocase(STR("[a"), STR("{a"))); // 0x20 apart, yet no letters
    assert_true(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0);
    assert_true(str_cmp(STR("\xC3"), STR("z")) > 0); // bytes are unsigned
    assert_int_equal(str_cmp_nocase(STR("ABC"), STR("abc")), 0);
    assert_true(str_starts(STR("abc"), STR("")) && !str_starts(STR("a"), STR("ab")));
    assert_true(str_ends_nocase(STR("X.ETL"), STR(".etl")) && !str_ends(STR("X.ETL"), STR(".etl")));
    static const struct {
        const char *text, *needle;
        size_t at;
    } CASES[] = {
        {"",       "",     0       },
        {"abc",    "",     0       },
        {"abc",    "c",    2       },
        {"abc",    "abcd", SIZE_MAX},
        {"aab",    "ab",   1       },
        {"ababac", "abac", 2       },
        {"abc",    "B",    SIZE_MAX},
        {"",       "a",    SIZE_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_true(str_find(s(CASES[i].text), s(CASES[i].needle)) == CASES[i].at);
    assert_int_equal(str_find_nocase(STR("ntoskrnl.exe"), STR("KRNL")), 4);
    assert_int_equal(str_rfind_char(STR("a/b/c"), '/'), 3);
    assert_true(str_rfind_char(STR("abc"), '/') == SIZE_MAX);
}

static void test_cut(void **state) {
    (void)state;
    assert_str(str_slice(STR("abcdef"), 2, 4), "cd");
    assert_str(str_slice(STR("abc"), 2, 99), "c");
    assert_str(str_slice(STR("abc"), 9, 12), "");
    assert_str(str_slice(STR("abc"), 2, 1), "");
    assert_str(str_trim(STR(" \t\r\n a b \n")), "a b");
    assert_str(str_trim(STR(" \n ")), "");
    static const char *const PARTS[] = {"a", "", "b"};
    Str rest = STR("a;;b"), part;
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) {
        assert_true(str_next(&rest, ';', &part));
        assert_str(part, PARTS[i]);
    }
    assert_false(str_next(&rest, ';', &part));
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_i64, is_u64;
        uint64_t value;
    } CASES[] = {
        {"0",                       true,  true,  0                },
        {"007",                     true,  true,  7                },
        {"-1",                      true,  false, UINT64_MAX       },
        {"9223372036854775807",     true,  true,  INT64_MAX        },
        {"9223372036854775808",     false, true,  UINT64_C(1) << 63},
        {"-9223372036854775808",    true,  false, UINT64_C(1) << 63},
        {"-9223372036854775809",    false, false, 0                },
        {"18446744073709551615",    false, true,  UINT64_MAX       },
        {"18446744073709551616",    false, false, 0                },
        {"99999999999999999999999", false, false, 0                },
        {"0x10",                    true,  true,  16               },
        {"0xFFFFFFFFFFFFFFFF",      false, true,  UINT64_MAX       },
        {"0x",                      false, false, 0                },
        {"",                        false, false, 0                },
        {"-",                       false, false, 0                },
        {" 1",                      false, false, 0                },
        {"1 ",                      false, false, 0                },
        {"1.0",                     false, false, 0                },
        {"12a",                     false, false, 0                },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        int64_t i64 = 0;
        uint64_t u64 = 0;
        assert_int_equal(str_to_i64(s(CASES[i].text), &i64), CASES[i].is_i64);
        assert_int_equal(str_to_u64(s(CASES[i].text), &u64), CASES[i].is_u64);
        if (CASES[i].is_i64) assert_true((uint64_t)i64 == CASES[i].value);
        if (CASES[i].is_u64) assert_true(u64 == CASES[i].value);
    }
    double f = 0;
    assert_true(str_to_f64(STR("-2.5e3"), &f) && f > -2500.01 && f < -2499.99);
    static const char *const BAD[] = {"", "x", "1x", "nan", "inf", "-inf", "1e999", "1 2"};
    for (size_t i = 0; i < COUNT_OF(BAD); i++) assert_false(str_to_f64(s(BAD[i]), &f));
}

static void test_distance(void **state) {
    (void)state;
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 9), 3);
    assert_int_equal(str_distance(STR("TOP_N"), STR("top_n"), 9), 0);
    assert_int_equal(str_distance(STR(""), STR("abc"), 9), 3);
    assert_true(str_distance(STR("abcdefgh"), STR("zyxwvuts"), 3) >= 3);
}

static void test_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } CASES[] = {
        {"plain",            true },
        {"\xC3\xA9",         true },
        {"\xF0\x9F\x98\x80", true },
        {"\xC3",             false},
        {"\x80",             false},
        {"\xC0\xAF",         false}, // overlong
        {"\xED\xA0\x80",     false},
        {"\xF4\x90\x80\x80", false},
        {"\xE2\x82",         false},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_int_equal(str_is_utf8(s(CASES[i].text)), CASES[i].valid);
}

static void test_buf(void **state) {
    (void)state;
    AUTO(buf_done) Buf buf = {0};
    for (int i = 0; i < 1000; i++) buf_addf(&buf, "%d,", i);
    assert_int_equal(buf.n, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(buf.p[buf.n], 0);
    buf_clear(&buf);
    assert_int_equal(buf_str(&buf).n, 0);
    AUTO(buf_done) Buf small = {.max = 10};
    buf_add_c(&small, "12345");
    assert_false(small.cut);
    buf_add_c(&small, "67890");
    assert_false(small.cut);
    buf_addf(&small, "%s", "x");
    assert_true(small.cut);
    assert_str(buf_str(&small), "1234567890");
    AUTO(arena_done) Arena arena = {0};
    assert_str(str_format(&arena, "%s-%d", "a", 5), "a-5");
    assert_str(str_lower(&arena, STR("A\xC3\x89Z")), "a\xC3\x89z");
    assert_string_equal(str_to_c(&arena, (Str){"abc", 2}), "ab");
}

static void test_quoted(void **state) {
    (void)state;
    static const struct {
        const char *text, *json, *sql, *csv;
    } CASES[] = {
        {"",             "\"\"",                      "''",             ""                  },
        {"plain",        "\"plain\"",                 "'plain'",        "plain"             },
        {"it's",         "\"it's\"",                  "'it''s'",        "it's"              },
        {"''",           "\"''\"",                    "''''''",         "''"                },
        {"a \"b\" \\",   "\"a \\\"b\\\" \\\\\"",      "'a \"b\" \\'",   "\"a \"\"b\"\" \\\""},
        {"a,b",          "\"a,b\"",                   "'a,b'",          "\"a,b\""           },
        {"a\r\nb",       "\"a\\u000d\\u000ab\"",      "'a\r\nb'",       "\"a\r\nb\""        },
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "'\x01\x1f\x7f'", "\x01\x1f\x7f"      },
        {"\xC3\xA9",     "\"\xC3\xA9\"",              "'\xC3\xA9'",     "\xC3\xA9"          },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf json = {0};
        AUTO(buf_done) Buf sql = {0};
        AUTO(buf_done) Buf csv = {0};
        buf_add_json(&json, s(CASES[i].text));
        buf_add_quoted(&sql, s(CASES[i].text), '\'');
        buf_add_csv(&csv, s(CASES[i].text));
        assert_str(buf_str(&json), CASES[i].json);
        assert_str(buf_str(&sql), CASES[i].sql);
        assert_str(buf_str(&csv), CASES[i].csv);
    }
    AUTO(buf_done) Buf small = {.max = 6};
    buf_add_json(&small, STR("\0longer"));
    assert_true(small.cut);
    assert_string_equal(small.p, "\"");
    buf_clear(&small);
    buf_add_json(&small, STR("longer")); // what there is room for, not nothing
    assert_true(small.cut);
    assert_str(buf_str(&small), "\"longe");
}

static void test_hex_write(void **state) {
    (void)state;
    char out[6];
    assert_true(str_eq(hex_write(out, "\x00\x9F\xFA", 3), STR("009ffa")));
    assert_int_equal(hex_write(out, "", 0).n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex_write), cmocka_unit_test(test_compare_and_find),
        cmocka_unit_test(test_cut),       cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_distance),  cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_buf),       cmocka_unit_test(test_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
