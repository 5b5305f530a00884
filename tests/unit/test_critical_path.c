// The critical path over turns made by hand and by chance: segments touch, cover the interval to
// the nanosecond, and follow the waker that ended each wait.
#include "tools/critical_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TURN(utid_, start, end, off_, off_end, ready, waker)                                       \
    {                                                                                              \
        .utid = (utid_), .start_ns = (start), .end_ns = (end), .off = (off_),                      \
        .off_end_ns = (off_end), .ready_ns = (ready), .waker_utid = (waker), .ran = true           \
    }

static void check_cover(const CriticalPath *path, const PathGoal *goal) {
    int64_t at_ns = goal->end_ns;
    assert_true(path->segments.count > 0);
    for (size_t i = 0; i < path->segments.count; i++) {
        const PathSegment *segment = &path->segments.items[i];
        assert_int_equal(segment->end_ns, at_ns);
        assert_true(segment->start_ns < segment->end_ns);
        at_ns = segment->start_ns;
    }
    assert_int_equal(at_ns, goal->start_ns);
}

static void check_segment(const CriticalPath *path, size_t index, const PathSegment *want) {
    assert_true(index < path->segments.count);
    const PathSegment *got = &path->segments.items[index];
    assert_int_equal(got->utid, want->utid);
    assert_int_equal(got->start_ns, want->start_ns);
    assert_int_equal(got->end_ns, want->end_ns);
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->depth, want->depth);
}

// Thread 1 waits 10..80 for 2, which itself waits 20..60 for the disk (no waker).
static void test_lock_over_disk(void **state) {
    (void)state;
    const Turn turns[] = {
        TURN(1, 0, 10, OFF_WAITING, 85, 80, 2),
        TURN(1, 85, 100, OFF_NONE, TURN_NONE, TURN_NONE, TURN_NONE),
        TURN(2, 5, 20, OFF_WAITING, 65, 60, TURN_NONE),
        TURN(2, 65, 90, OFF_NONE, TURN_NONE, TURN_NONE, TURN_NONE),
    };
    static const PathSegment WANT[] = {
        {1, 85, 100, PATH_RUNNING, 0, 0},
        {1, 80, 85,  PATH_READY,   0, 0},
        {2, 65, 80,  PATH_RUNNING, 1, 0},
        {2, 60, 65,  PATH_READY,   1, 0},
        {2, 20, 60,  PATH_WAITING, 1, 0},
        {2, 10, 20,  PATH_RUNNING, 1, 0},
        {1, 0,  10,  PATH_RUNNING, 0, 0},
    };
    const PathGoal goal = {1, 0, 100};
    CriticalPath path;
    critical_path_walk(turns, COUNT_OF(turns), &goal, &path);
    check_cover(&path, &goal);
    assert_int_equal(path.segments.count, COUNT_OF(WANT));
    for (size_t i = 0; i < COUNT_OF(WANT); i++) check_segment(&path, i, &WANT[i]);
    assert_int_equal(path.waits.count, 1);
    assert_int_equal(path.waits.items[0].start_ns, 10);
    assert_int_equal(path.waits.items[0].end_ns, 80);
    critical_path_done(&path);
}

// An interval that cuts a wait, one from before the first event, one behind the last.
static void test_cut_intervals(void **state) {
    (void)state;
    const Turn turns[] = {TURN(1, 50, 60, OFF_WAITING, 90, 85, 2)};
    static const struct {
        PathGoal goal;
        PathState first; // latest segment
        size_t count;
    } CASES[] = {
        {{1, 65, 75},  PATH_WAITING, 1},
        {{1, 10, 55},  PATH_RUNNING, 2},
        {{1, 80, 120}, PATH_UNKNOWN, 3},
        {{9, 0, 100},  PATH_UNKNOWN, 1},
        {{1, 86, 88},  PATH_READY,   1},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        CriticalPath path;
        critical_path_walk(turns, COUNT_OF(turns), &CASES[i].goal, &path);
        check_cover(&path, &CASES[i].goal);
        assert_int_equal(path.segments.items[0].state, CASES[i].first);
        assert_int_equal(path.segments.count, CASES[i].count);
        critical_path_done(&path);
    }
}

// Threads that claim to have woken each other, or themselves, must not keep the walk going.
static void test_circles(void **state) {
    (void)state;
    const Turn turns[] = {
        TURN(1, 0, 10, OFF_WAITING, 50, 50, 2),
        TURN(1, 50, 60, OFF_NONE, TURN_NONE, TURN_NONE, TURN_NONE),
        TURN(2, 0, 20, OFF_WAITING, 50, 50, 1),
        TURN(2, 50, 50, OFF_WAITING, 60, 50, 2),
    };
    const PathGoal goal = {1, 0, 60};
    CriticalPath path;
    critical_path_walk(turns, COUNT_OF(turns), &goal, &path);
    check_cover(&path, &goal);
    critical_path_done(&path);
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

// Turns that no machine would make: whatever they say, the interval is covered.
static void test_any_turns(void **state) {
    (void)state;
    enum { ROUNDS = 300, THREADS = 6, TURNS = 20 };
    uint64_t seed = 11;
    for (unsigned round = 0; round < ROUNDS; round++) {
        Turn turns[THREADS * TURNS];
        size_t count = 0;
        for (int64_t utid = 1; utid <= THREADS; utid++) {
            int64_t at_ns = 0;
            for (unsigned i = 0; i < TURNS; i++) {
                int64_t start_ns = at_ns, end_ns = start_ns + (int64_t)(next_random(&seed) % 20);
                int64_t off_end_ns = end_ns + (int64_t)(next_random(&seed) % 30);
                bool woken = next_random(&seed) % 4 > 0;
                int64_t ready_ns = end_ns + (int64_t)(next_random(&seed) % 31);
                if (ready_ns > off_end_ns) woken = false;
                turns[count++] = (Turn){.utid = utid,
                                        .start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .off = (TurnOff)(next_random(&seed) % 4),
                                        .off_end_ns = off_end_ns,
                                        .ready_ns = woken ? ready_ns : TURN_NONE,
                                        .waker_utid = (int64_t)(next_random(&seed) % THREADS) + 1,
                                        .ran = next_random(&seed) % 8 > 0};
                at_ns = off_end_ns;
            }
        }
        const PathGoal goal = {(int64_t)(next_random(&seed) % THREADS) + 1, 3, 400};
        CriticalPath path;
        critical_path_walk(turns, count, &goal, &path);
        check_cover(&path, &goal);
        critical_path_done(&path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_over_disk),
        cmocka_unit_test(test_cut_intervals),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_any_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
