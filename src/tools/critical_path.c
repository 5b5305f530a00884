// Walks a critical path. From the end of the interval backwards: while the thread ran or was ready,
// the time is its own; a wait that another thread ended is that thread's time, down to where the
// wait began, and so on; then the walk comes back to the one that waited.
#include "tools/critical_path.h"

#include "base/search.h"

enum { DEPTH_MAX = 64, SEGMENTS_MAX = 200000 };

typedef struct Walk {
    const Turn *turns;
    size_t count;
    CriticalPath *path;
    int64_t at_ns; // everything from here on is covered
    struct {
        int64_t utid, low_ns;
    } stack[DEPTH_MAX];
    uint32_t depth; // of the thread that is followed
} Walk;

// Number of turns whose (utid, start_ns) is before the given one.
static size_t turns_before(const Walk *walk, int64_t utid, int64_t start_ns) {
    const Turn *turns = walk->turns;
    size_t at;
    FIND_FIRST(at, walk->count,
               turns[at].utid < utid || (turns[at].utid == utid && turns[at].start_ns < start_ns));
    return at;
}

// The last turn of a thread that began before `at_ns`; SIZE_MAX: none.
static size_t turn_before(const Walk *walk, int64_t utid, int64_t at_ns) {
    size_t index = turns_before(walk, utid, at_ns);
    return index && walk->turns[index - 1].utid == utid ? index - 1 : SIZE_MAX;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// The time from `start_ns`, but not from below the thread's lower bound, up to now.
static void put_segment(Walk *walk, PathState state, int64_t start_ns, size_t turn) {
    int64_t low_ns = walk->stack[walk->depth].low_ns;
    PathSegment segment = {.utid = walk->stack[walk->depth].utid,
                           .start_ns = later(start_ns, low_ns),
                           .end_ns = walk->at_ns,
                           .state = state,
                           .depth = walk->depth,
                           .turn = turn};
    if (segment.start_ns < segment.end_ns) *vec_push(&walk->path->segments) = segment;
    walk->at_ns = segment.start_ns;
}

// Did the thread that is said to have woken another run at that time?
static bool waker_ran(const Walk *walk, int64_t waker, int64_t at_ns) {
    if (waker == TURN_NONE) return false;
    size_t index = turn_before(walk, waker, at_ns + 1);
    return index != SIZE_MAX && walk->turns[index].ran && walk->turns[index].end_ns >= at_ns;
}

static void walk_wait(Walk *walk, const Turn *turn, size_t index) {
    int64_t woken_ns = turn->ready_ns;
    if (woken_ns != TURN_NONE && walk->at_ns > woken_ns) {
        put_segment(walk, PATH_READY, later(woken_ns, turn->end_ns), index);
        return;
    }
    int64_t low_ns = later(turn->end_ns, walk->stack[walk->depth].low_ns);
    bool follow = woken_ns == walk->at_ns && turn->waker_utid != turn->utid &&
                  walk->depth + 1 < DEPTH_MAX && waker_ran(walk, turn->waker_utid, woken_ns);
    if (!follow) {
        put_segment(walk, PATH_WAITING, turn->end_ns, index);
        return;
    }
    *vec_push(&walk->path->waits) = (PathWait){low_ns, walk->at_ns, walk->depth, index};
    walk->depth++;
    walk->stack[walk->depth].utid = turn->waker_utid;
    walk->stack[walk->depth].low_ns = low_ns;
}

static void walk_step(Walk *walk) {
    size_t index = turn_before(walk, walk->stack[walk->depth].utid, walk->at_ns);
    if (index == SIZE_MAX) { // before the thread's first event
        put_segment(walk, PATH_UNKNOWN, walk->stack[walk->depth].low_ns, SIZE_MAX);
        return;
    }
    const Turn *turn = &walk->turns[index];
    if (walk->at_ns <= turn->end_ns) {
        put_segment(walk, turn->ran ? PATH_RUNNING : PATH_UNKNOWN, turn->start_ns, index);
        return;
    }
    int64_t known_ns = turn->off == OFF_NONE ? turn->end_ns : turn->off_end_ns;
    if (walk->at_ns > known_ns)
        put_segment(walk, PATH_UNKNOWN, later(known_ns, turn->end_ns), index);
    else if (turn->off == OFF_WAITING)
        walk_wait(walk, turn, index);
    else
        put_segment(walk, turn->off == OFF_READY ? PATH_READY : PATH_UNKNOWN, turn->end_ns, index);
}

void critical_path_walk(const Turn *turns, size_t count, const PathGoal *goal, CriticalPath *out) {
    *out = (CriticalPath){0};
    Walk walk = {.turns = turns, .count = count, .path = out, .at_ns = goal->end_ns};
    walk.stack[0].utid = goal->utid;
    walk.stack[0].low_ns = goal->start_ns;
    while (walk.at_ns > goal->start_ns) {
        if (walk.depth && walk.at_ns <= walk.stack[walk.depth].low_ns) {
            walk.depth--; // back to the one that waited
        } else if (out->segments.count == SEGMENTS_MAX) {
            out->cut = true;
            walk.depth = 0;
            put_segment(&walk, PATH_UNKNOWN, goal->start_ns, SIZE_MAX);
        } else {
            walk_step(&walk);
        }
    }
}

void critical_path_done(CriticalPath *path) {
    vec_free(&path->segments);
    vec_free(&path->waits);
}
