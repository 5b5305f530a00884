// Threads and the parallel loop: each item once, the first failure wins, a cancel ends it, and
// waiting with a limit does end.
#include "base/thread.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 5000, BAD_ITEM = 1234 };

typedef struct Work {
    _Atomic unsigned seen[ITEMS];
    _Atomic unsigned by_worker[128];
    Progress *progress;
    size_t cancel_at; // SIZE_MAX: never
    size_t fail_at;
} Work;

static Status visit(void *context, unsigned worker, size_t item, Err *err) {
    Work *work = context;
    atomic_fetch_add(&work->seen[item], 1);
    atomic_fetch_add(&work->by_worker[worker], 1);
    if (item == work->cancel_at) atomic_store(&work->progress->cancelled, true);
    if (item >= work->fail_at) return err_set(err, ERR_INPUT, "item %zu is bad", item);
    return OK;
}

static Work *work_new(void) {
    Work *work = mem_zero(1, sizeof *work);
    work->cancel_at = work->fail_at = SIZE_MAX;
    return work;
}

static void test_each_item_once(void **state) {
    (void)state;
    static const struct {
        unsigned workers;
        size_t count;
    } CASES[] = {
        {0,    10   },
        {1,    1    },
        {2,    ITEMS},
        {7,    3    },
        {64,   ITEMS},
        {1000, ITEMS},
        {4,    0    }
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Work *work = work_new();
        Err err = {0};
        assert_int_equal(parallel_for(CASES[i].workers, CASES[i].count, visit, work, NULL, &err),
                         OK);
        size_t total = 0;
        for (size_t item = 0; item < ITEMS; item++) {
            assert_int_equal(work->seen[item], item < CASES[i].count ? 1 : 0);
        }
        for (size_t w = 0; w < COUNT_OF(work->by_worker); w++) {
            total += work->by_worker[w];
            if (w >= CASES[i].workers && w > 0) assert_int_equal(work->by_worker[w], 0);
        }
        assert_int_equal(total, CASES[i].count);
        mem_free(work);
    }
}

static void test_failure_stops(void **state) {
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers++) {
        Work *work = work_new();
        work->fail_at = BAD_ITEM;
        Err err = {0};
        assert_int_equal(parallel_for(workers, ITEMS, visit, work, NULL, &err), ERR_INPUT);
        assert_int_equal(err.status, ERR_INPUT);
        assert_non_null(strstr(err.text, "is bad"));
        // Items are handed out in order, so everything before the failure has run.
        for (size_t item = 0; item <= BAD_ITEM; item++) assert_int_equal(work->seen[item], 1);
        assert_int_equal(work->seen[ITEMS - 1], 0);
        mem_free(work);
    }
}

static void test_cancel_stops(void **state) {
    (void)state;
    Progress progress = {0};
    Work *work = work_new();
    work->progress = &progress;
    work->cancel_at = 100;
    Err err = {0};
    assert_int_equal(parallel_for(2, ITEMS, visit, work, &progress, &err), ERR_CANCELLED);
    assert_int_equal(work->seen[ITEMS - 1], 0);
    mem_free(work);
}

typedef struct Meeting {
    Mutex lock;
    Condition changed;
    unsigned arrived;
    bool open;
} Meeting;

static void meet(void *context) {
    Meeting *meeting = context;
    mutex_lock(&meeting->lock);
    meeting->arrived++;
    condition_signal_all(&meeting->changed);
    while (!meeting->open) condition_wait(&meeting->changed, &meeting->lock);
    meeting->arrived += 100;
    mutex_unlock(&meeting->lock);
}

static void test_condition_wakes_all(void **state) {
    (void)state;
    enum { THREADS = 4 };
    Meeting meeting = {0};
    Thread *threads[THREADS];
    Err err = {0};
    mutex_init(&meeting.lock);
    condition_init(&meeting.changed);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(thread_start(meet, &meeting, &threads[i], &err), OK);
    mutex_lock(&meeting.lock);
    while (meeting.arrived < THREADS) condition_wait(&meeting.changed, &meeting.lock);
    meeting.open = true;
    condition_signal_all(&meeting.changed);
    mutex_unlock(&meeting.lock);
    for (int i = 0; i < THREADS; i++) thread_join(threads[i]);
    assert_int_equal(meeting.arrived, THREADS + THREADS * 100);
    condition_done(&meeting.changed);
    mutex_done(&meeting.lock);
}

static void test_wait_ends_without_signal(void **state) {
    (void)state;
    Mutex lock;
    Condition never;
    mutex_init(&lock);
    condition_init(&never);
    mutex_lock(&lock);
    assert_false(condition_wait_for(&never, &lock, 2000000));
    assert_false(condition_wait_for(&never, &lock, 0));
    mutex_unlock(&lock);
    condition_done(&never);
    mutex_done(&lock);
    thread_join(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_item_once),
        cmocka_unit_test(test_failure_stops),
        cmocka_unit_test(test_cancel_stops),
        cmocka_unit_test(test_condition_wakes_all),
        cmocka_unit_test(test_wait_ends_without_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
