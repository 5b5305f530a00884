// Threads, locks and the parallel loop.
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Mutex {
    pthread_mutex_t handle;
} Mutex;
typedef struct Condition {
    pthread_cond_t handle;
} Condition;
typedef struct Thread Thread;

void mutex_init(Mutex *mutex);
void mutex_lock(Mutex *mutex);
void mutex_unlock(Mutex *mutex);
void mutex_done(Mutex *mutex);
void thread_rest(uint64_t ns); // sleeps about as long; less when a signal comes

void condition_init(Condition *condition); // monotonic clock
void condition_wait(Condition *condition, Mutex *mutex);
// False when `timeout_ns` passed first.
bool condition_wait_for(Condition *condition, Mutex *mutex, uint64_t timeout_ns);
void condition_signal_all(Condition *condition);
void condition_done(Condition *condition);

Status thread_start(void (*run)(void *context), void *context, Thread **out, Err *err);
void thread_join(Thread *thread); // and frees it; accepts NULL

// Set by whoever cancels, polled by workers; progress is what they have done so far.
typedef struct Progress {
    atomic_bool cancelled;
    _Atomic uint64_t done;
    _Atomic uint64_t total;
    _Atomic(const char *) phase; // static text
} Progress;

// Calls run(context, worker, item) for item 0..count-1 on `workers` threads (the caller is one of
// them), handing out items in ascending order. The first failure or progress->cancelled stops the
// loop; its line is in `err`. `progress` may be NULL.
typedef Status (*ParallelRun)(void *context, unsigned worker, size_t item, Err *err);
Status parallel_for(unsigned workers, size_t count, ParallelRun run, void *context,
                    Progress *progress, Err *err);

#endif
