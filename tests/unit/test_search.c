// FIND_FIRST against a scan, for every length up to one that takes four steps.
#include "base/search.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int ITEMS[] = {1, 1, 3, 3, 3, 4, 7, 7, 9};

static void check(size_t count, int key) {
    size_t scan = 0, at = 99;
    while (scan < count && ITEMS[scan] < key) scan++;
    FIND_FIRST(at, count, ITEMS[at] < key);
    assert_int_equal(at, scan);
    while (scan < count && ITEMS[scan] <= key) scan++;
    FIND_FIRST(at, count, ITEMS[at] <= key);
    assert_int_equal(at, scan);
}

static void test_finds_what_a_scan_finds(void **state) {
    (void)state;
    for (size_t count = 0; count <= COUNT_OF(ITEMS); count++)
        for (int key = 0; key <= 10; key++) check(count, key);
}

// Neither the sum of two indexes nor the count may wrap in the index's own type.
static void test_reaches_the_ends_of_the_index(void **state) {
    (void)state;
    uint32_t at;
    FIND_FIRST(at, UINT32_MAX, at < UINT32_MAX - 1);
    assert_int_equal(at, UINT32_MAX - 1);
    FIND_FIRST(at, UINT32_MAX, at < UINT32_MAX);
    assert_int_equal(at, UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_a_scan_finds),
        cmocka_unit_test(test_reaches_the_ends_of_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
