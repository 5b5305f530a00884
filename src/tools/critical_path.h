// The critical path of a thread: what the end of an interval waited for, followed back from waker
// to waker. The segments touch one another and cover the interval exactly.
#ifndef TOOLS_CRITICAL_PATH_H
#define TOOLS_CRITICAL_PATH_H

#include "base/arena.h"

enum { TURN_NONE = -1 }; // a time or number that is not known

typedef enum TurnOff { OFF_NONE, OFF_WAITING, OFF_READY, OFF_UNKNOWN } TurnOff;

// One row of thread_turn. Rows are in order of (utid, start_ns).
typedef struct Turn {
    int64_t utid, start_ns, end_ns; // on the CPU
    int64_t off_end_ns, ready_ns;
    int64_t waker_utid;
    bool ran;
    TurnOff off;
} Turn;

typedef enum PathState { PATH_RUNNING, PATH_READY, PATH_WAITING, PATH_UNKNOWN } PathState;

typedef struct PathSegment {
    int64_t utid, start_ns, end_ns;
    PathState state;
    uint32_t depth;
    size_t turn; // index of the turn it is part of; SIZE_MAX: none
} PathSegment;

typedef struct PathWait { // a wait that was followed to its waker
    int64_t start_ns, end_ns;
    uint32_t depth; // of the thread that waited
    size_t turn;
} PathWait;

typedef struct CriticalPath {
    VEC(PathSegment) segments; // latest first
    VEC(PathWait) waits;
    bool cut; // too long: the earliest segment stands for all that is before it
} CriticalPath;

typedef struct PathGoal {
    int64_t utid, start_ns, end_ns; // start_ns < end_ns
} PathGoal;

void critical_path_walk(const Turn *turns, size_t count, const PathGoal *goal, CriticalPath *out);
void critical_path_done(CriticalPath *path);

#endif
