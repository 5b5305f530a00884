// A queue of jobs and the threads that run them, started when first needed.
#ifndef MCP_POOL_H
#define MCP_POOL_H

#include "base/thread.h"

typedef struct Job Job;
struct Job {
    Job *next;
    void (*run)(Job *job); // owns the job
};

enum { POOL_THREADS_MAX = 64 };

typedef struct Pool {
    Mutex lock;
    Condition wake;
    Job *first, *last;
    unsigned limit; // threads; 0: jobs run inside pool_add (tests)
    unsigned idle, waiting_jobs, thread_count;
    Thread *threads[POOL_THREADS_MAX];
    bool closing;
} Pool;

void pool_init(Pool *pool, unsigned limit);
// First in, first out. Fails only when not even one thread can be started; the job is then the
// caller's again.
MUST_USE Status pool_add(Pool *pool, Job *job, Err *err);
// Waits until every job has run. No pool_add may follow.
void pool_done(Pool *pool);

#endif
