// Replies as text: cuts at rows within the byte budget, what is said about them, escaping, forms.
#include "tools/doc.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static DocSection *add_table(Doc *doc, const char *name, size_t rows, const char *text) {
    DocSection *table = doc_table(doc, str_from_c(name), (Str){0});
    doc_column(doc, table, "N", "count");
    doc_column(doc, table, "Text", "text");
    for (size_t i = 0; i < rows; i++) {
        Cell *cells = doc_row(doc, table);
        cells[0] = cell_i64((int64_t)i + 1000);
        cells[1] = cell_text(str_from_c(text));
    }
    return table;
}

static size_t count_of(Str text, const char *needle) {
    size_t count = 0, at;
    while ((at = str_find(text, str_from_c(needle))) != SIZE_MAX) {
        count++;
        text = str_slice(text, at + 1, text.n);
    }
    return count;
}

static void test_whole_reply(void **state) {
    (void)state;
    Arena arena = {0};
    Doc doc = {.arena = &arena, .headline = STR("**T**"), .title = STR("T")};
    doc_scope(&doc, STR("Trace"), STR("a\nb"));
    DocSection *table = add_table(&doc, "main", 1, "x|y\nz");
    table->heading = STR("H");
    doc_note(&doc, STR("once"));
    doc_note(&doc, STR("once"));
    doc_next(&doc, STR("f()"));
    assert_string_equal(doc_markdown(&doc).p, "**T**\nTrace: a b\n\n## H\n\n| N | Text |\n"
                                              "| --- | --- |\n| 1,000 | x\\|y z |\n\nNote: once\n"
                                              "\nNext: f()\n");
    assert_string_equal(doc_csv(&doc).p, "N,Text\r\n1000,\"x|y\nz\"\r\n");
    json_t *json = doc_json(&doc, true);
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text,
                        "{\"columns\":[\"N\",\"Text\"],\"next\":[\"f()\"],\"notes\":[\"once\"],"
                        "\"row_count\":1,\"rows\":[[1000,\"x|y\\nz\"]],"
                        "\"scope\":{\"Trace\":\"a b\"},\"sections\":[],\"title\":\"T\","
                        "\"truncated\":false}");
    free(text);
    json_decref(json);
    doc_done(&doc);
    arena_done(&arena);
}

static void test_cut_by_bytes(void **state) {
    (void)state;
    static const struct {
        size_t rows, budget, limit;
    } cases[] = {
        {10,   0,                 LIMIT_REPLY_BYTES_DEFAULT},
        {1000, 0,                 LIMIT_REPLY_BYTES_DEFAULT},
        {9000, LIMIT_REPLY_BYTES, LIMIT_REPLY_BYTES        },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Arena arena = {0};
        Doc doc = {.arena = &arena, .headline = STR("**T**"), .budget_bytes = cases[i].budget};
        (void)add_table(&doc, "main", cases[i].rows, "0123456789012345678901234567890123456789");
        (void)add_table(&doc, "small", 3, "s");
        Str text = doc_markdown(&doc);
        assert_true(text.n <= cases[i].limit);
        assert_int_equal(count_of(text, "| s |"), 3); // the small table is never the one cut
        bool cut = cases[i].rows > 10;
        assert_int_equal(count_of(text, "Cut: "), cut ? 1 : 0);
        assert_int_equal(count_of(text, " rows shown: the size of a reply"), cut ? 1 : 0);
        if (cut) assert_true(text.n > cases[i].limit * 8 / 10);
        json_t *json = doc_json(&doc, true);
        char *dump = json_dumps(json, JSON_COMPACT);
        assert_true(strlen(dump) <= cases[i].limit);
        assert_int_equal(json_integer_value(json_object_get(json, "row_count")), cases[i].rows);
        assert_int_equal(json_is_true(json_object_get(json, "truncated")), cut);
        free(dump);
        json_decref(json);
        json = doc_json(&doc, false); // a file has room for all
        assert_int_equal(json_array_size(json_object_get(json, "rows")), cases[i].rows);
        json_decref(json);
        doc_done(&doc);
        arena_done(&arena);
    }
}

static void test_cut_by_cap(void **state) {
    (void)state;
    Arena arena = {0};
    Doc doc = {.arena = &arena, .headline = STR("**T**")};
    DocSection *table = add_table(&doc, "main", 5, "x");
    table->total_rows = 1234;
    table->cap = STR("max_rows");
    Str text = doc_markdown(&doc);
    assert_non_null(strstr(text.p, "Cut: 5 of 1,234 rows shown\n"));
    assert_non_null(strstr(text.p, "*5 of 1,234 rows shown: raise max_rows for more.*\n"));
    doc_done(&doc);
    arena_done(&arena);
}

static void test_hard_limit_of_notes(void **state) {
    (void)state;
    Arena arena = {0};
    Doc doc = {.arena = &arena, .headline = STR("**T**")};
    for (int i = 0; i < 400; i++) doc_note(&doc, str_format(&arena, "%d %0100d", i, i));
    Str text = doc_markdown(&doc);
    assert_true(text.n <= LIMIT_REPLY_BYTES);
    assert_true(str_ends(text, STR("limit of bytes.*\n")));
    doc_done(&doc);
    arena_done(&arena);
}

static void test_other_styles(void **state) {
    (void)state;
    Arena arena = {0};
    Doc doc = {.arena = &arena, .headline = STR("**T**")};
    DocSection *bars = doc_table(&doc, STR("bars"), (Str){0});
    bars->style = STYLE_HISTOGRAM;
    doc_column(&doc, bars, "Label", "text");
    doc_column(&doc, bars, "Value", "count");
    for (int i = 1; i <= 2; i++) {
        Cell *cells = doc_row(&doc, bars);
        cells[0] = cell_text(str_format(&arena, "%d", i));
        cells[1] = cell_i64(i * 10);
    }
    DocSection *empty = doc_table(&doc, STR("empty"), STR("E"));
    empty->empty = STR("Nothing.");
    assert_string_equal(doc_markdown(&doc).p,
                        "**T**\n\n```\n             1 ###############                10\n"
                        "             2 ############################## 20\n```\n\n## E\n\n"
                        "*Nothing.*\n");
    doc_done(&doc);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_reply),  cmocka_unit_test(test_cut_by_bytes),
        cmocka_unit_test(test_cut_by_cap),   cmocka_unit_test(test_hard_limit_of_notes),
        cmocka_unit_test(test_other_styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
