// Hash maps against what was put in, and arenas: alignment, zeroes, reuse.
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 20000 };

// Keys that lie: 0, the largest, neighbours, and multiples of large powers of two.
static uint64_t key_of(uint64_t i) {
    switch (i % 4) {
    case 0: return i / 4;
    case 1: return UINT64_MAX - i / 4;
    case 2: return (i / 4 + 1) << 40;
    default: return (i / 4) * 4096 + (UINT64_C(0xFFFFF800) << 32);
    }
}

static void test_map(void **state) {
    (void)state;
    Map map = {0};
    assert_null(map_get(&map, 0));
    for (uint64_t i = 0; i < COUNT; i++) {
        bool added = false;
        assert_true(*map_put(&map, key_of(i), i, &added) == i);
        assert_true(added);
    }
    assert_int_equal(map.count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        bool added = true;
        uint64_t *value = map_put(&map, key_of(i), 7, &added);
        assert_false(added);
        assert_true(*value == i);
        *value = i * 2;
        assert_true(*map_get(&map, key_of(i)) == i * 2);
    }
    assert_null(map_get(&map, UINT64_C(0x123456789ABCDEF)));
    map_done(&map);
}

static void test_map_move(void **state) {
    (void)state;
    Map all = {0}, first = {0}, second = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        if (i % 3 != 0) *map_put(&first, key_of(i), i, NULL) = i;
        if (i % 3 != 1) *map_put(&second, key_of(i), i, NULL) = i + COUNT;
    }
    map_move(&all, &first);
    assert_int_equal(first.count, 0);
    map_move(&all, &second);
    assert_int_equal(second.count, 0);
    assert_int_equal(all.count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(*map_get(&all, key_of(i)) == (i % 3 == 0 ? i + COUNT : i)); // the first stays
    map_done(&all);
}

static void test_strmap(void **state) {
    (void)state;
    StrMap map = {0};
    AUTO(arena_done) Arena arena = {0};
    assert_null(strmap_get(&map, STR("")));
    for (uint64_t i = 0; i < COUNT; i++) {
        bool added = false;
        StrMapSlot *slot = strmap_put(&map, str_format(&arena, "name%d", (int)i), i, &added);
        assert_true(added && slot->value == i);
    }
    StrMapSlot *empty = strmap_put(&map, STR(""), 99, NULL); // the empty name is a name
    assert_true(empty->value == 99);
    assert_true(*strmap_get(&map, STR("")) == 99);
    assert_true(*strmap_get(&map, STR("name0")) == 0);
    assert_true(*strmap_get(&map, STR("name19999")) == 19999);
    assert_null(strmap_get(&map, STR("name20000")));
    assert_int_equal(map.count, COUNT + 1);
    strmap_done(&map);
}

static void test_arena(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0};
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
        memset(p, 0xAA, size);
        memset(arena_bytes(&arena, 3), 0xAA, 3);
    }
    arena_clear(&arena);
    assert_int_equal(arena.used_bytes, 0);
    uint64_t *again = ARENA_ARRAY(&arena, uint64_t, 5000); // zeroed although its block is reused
    for (size_t i = 0; i < 5000; i++) assert_true(again[i] == 0);
    assert_true(arena.used_bytes >= 5000 * sizeof(uint64_t));
}

static void test_arena_adopt(void **state) {
    (void)state;
    AUTO(arena_done) Arena arena = {0}, from = {0}, none = {0};
    char *block = arena_bytes(&arena, 10);
    memcpy(block, "unfinished", 10);
    const char *text = arena_copy(&from, "kept", 5);
    assert_int_equal((uintptr_t)text % 16, 0);
    arena_adopt(&arena, &from);
    arena_adopt(&arena, &none);
    assert_null(from.head);
    assert_string_equal(text, "kept");
    assert_int_equal(arena.used_bytes, 15);
    // The block in use is still the one that is filled next.
    assert_ptr_equal(arena_bytes(&arena, 1), block + 10);
    // What was reserved is handed out in one piece.
    arena_reserve(&arena, 1 << 20);
    char *first = arena_bytes(&arena, 1 << 19);
    assert_ptr_equal(arena_bytes(&arena, 1 << 19), first + (1 << 19));
}

static int descending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void test_vec(void **state) {
    (void)state;
    VEC(uint64_t) values = {0};
    for (uint64_t i = 0; i < COUNT; i++) *vec_push(&values) = i * i;
    for (uint64_t i = 0; i < COUNT; i++) assert_true(values.items[i] == i * i);
    vec_sort(&values, descending);
    for (uint64_t i = 1; i < COUNT; i++) assert_true(values.items[i] < values.items[i - 1]);
    vec_reserve(&values, COUNT * 4);
    assert_true(values.capacity >= COUNT * 4 && values.count == COUNT);
    vec_free(&values);
    assert_null(values.items);
    vec_sort(&values, descending); // of nothing
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),         cmocka_unit_test(test_map_move),
        cmocka_unit_test(test_strmap),      cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_adopt), cmocka_unit_test(test_vec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
