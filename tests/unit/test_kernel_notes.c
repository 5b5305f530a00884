// Notes of the survey: lists by key in time order, whoever collected them, however many.
#include "decode/note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void add(Notes *notes, NoteId id, uint64_t key, int64_t ticks, uint64_t seq, uint64_t a) {
    Note note = {.key = key, .ticks = ticks, .seq = seq, .a = a};
    notes_push(notes, id, &note);
}

static void test_before_and_after(void **state) {
    (void)state;
    Notes workers[2] = {0};
    // The second worker's notes are earlier; one key, two notes at one time.
    add(&workers[0], NOTE_DISK, 0x10, 300, 7, 3);
    add(&workers[0], NOTE_DISK, 0x20, 50, 1, 9);
    add(&workers[1], NOTE_DISK, 0x10, 100, 5, 1);
    add(&workers[1], NOTE_DISK, 0x10, 300, 6, 2);
    add(&workers[1], NOTE_FILE, 0x10, 200, 5, 8);
    NoteIndex *index = note_index_open(workers, 2);
    NoteList list = note_index_list(index, NOTE_DISK, 0x10);
    assert_int_equal(list.count, 3);
    assert_null(note_before(list, 100, 5));
    assert_int_equal(note_before(list, 100, 6)->a, 1);
    assert_int_equal(note_before(list, 300, 6)->a, 1);
    assert_int_equal(note_before(list, 300, 7)->a, 2);
    assert_int_equal(note_before(list, INT64_MAX, 0)->a, 3);
    assert_int_equal(note_after(list, INT64_MIN, 0)->a, 1);
    assert_int_equal(note_after(list, 100, 5)->a, 2);
    assert_int_equal(note_after(list, 300, 6)->a, 3);
    assert_null(note_after(list, 300, 7));
    assert_int_equal(note_index_list(index, NOTE_FILE, 0x10).count, 1);
    assert_int_equal(note_index_list(index, NOTE_FILE, 0x20).count, 0);
    assert_int_equal(note_index_list(index, NOTE_KEY_NAME, 0x10).count, 0);
    assert_int_equal(workers[0].of[NOTE_DISK].count, 0); // taken over
    note_index_close(index);
}

static void test_nothing(void **state) {
    (void)state;
    Notes none = {0};
    NoteIndex *index = note_index_open(&none, 1);
    NoteList list = note_index_list(index, NOTE_DISK, 0);
    assert_int_equal(list.count, 0);
    assert_null(note_before(list, 1, 1));
    assert_null(note_after(list, 1, 1));
    assert_int_equal(note_index_list(NULL, NOTE_DISK, 0).count, 0);
    note_index_close(index);
    note_index_close(NULL);
}

// Many keys, and keys with many notes; the last key is the largest number there is.
static void test_many(void **state) {
    (void)state;
    enum { WORKERS = 3, KEYS = 5000, BUSY = 20000 };
    Notes workers[WORKERS] = {0};
    for (uint64_t k = 0; k < KEYS; k++)
        for (uint64_t w = 0; w < WORKERS; w++)
            add(&workers[w], NOTE_FILE, UINT64_MAX - k, (int64_t)(k * 10 + WORKERS - w), w, w);
    for (uint64_t i = 0; i < BUSY; i++)
        add(&workers[i % WORKERS], NOTE_FILE, 42, (int64_t)(i * 7919 % BUSY), i, i);
    NoteIndex *index = note_index_open(workers, WORKERS);
    for (uint64_t k = 0; k < KEYS; k++) {
        NoteList list = note_index_list(index, NOTE_FILE, UINT64_MAX - k);
        assert_int_equal(list.count, WORKERS);
        for (size_t i = 0; i < list.count; i++) {
            assert_true(list.items[i].key == UINT64_MAX - k);
            assert_true(list.items[i].ticks == (int64_t)(k * 10 + 1 + i));
        }
    }
    NoteList busy = note_index_list(index, NOTE_FILE, 42);
    assert_int_equal(busy.count, BUSY);
    for (size_t i = 0; i < busy.count; i++) assert_int_equal(busy.items[i].ticks, i);
    note_index_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_and_after),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
