// Worker threads for requests. They start on demand, since most servers that clients keep around
// answer a handshake and then wait for hours.
#include "mcp/pool.h"

void pool_init(Pool *pool, unsigned limit) {
    *pool = (Pool){.limit = limit < POOL_THREADS_MAX ? limit : POOL_THREADS_MAX};
    mutex_init(&pool->lock);
    condition_init(&pool->wake);
}

static Job *take(Pool *pool) {
    mutex_lock(&pool->lock);
    pool->idle++;
    while (!pool->first && !pool->closing) condition_wait(&pool->wake, &pool->lock);
    pool->idle--;
    Job *job = pool->first;
    if (job) {
        pool->first = job->next;
        if (!pool->first) pool->last = NULL;
        pool->waiting_jobs--;
    }
    mutex_unlock(&pool->lock);
    return job;
}

static void work(void *context) {
    Pool *pool = context;
    for (Job *job = take(pool); job; job = take(pool)) job->run(job);
}

Status pool_add(Pool *pool, Job *job, Err *err) {
    if (pool->limit == 0) {
        job->run(job);
        return OK;
    }
    job->next = NULL;
    Status status = OK;
    mutex_lock(&pool->lock);
    if (pool->idle <= pool->waiting_jobs && pool->thread_count < pool->limit) {
        status = thread_start(work, pool, &pool->threads[pool->thread_count], err);
        if (status == OK) pool->thread_count++;
        if (pool->thread_count) status = OK; // the others will get to it
    }
    if (status == OK) {
        if (pool->last)
            pool->last->next = job;
        else
            pool->first = job;
        pool->last = job;
        pool->waiting_jobs++;
        condition_signal_all(&pool->wake);
    }
    mutex_unlock(&pool->lock);
    return status;
}

void pool_done(Pool *pool) {
    mutex_lock(&pool->lock);
    pool->closing = true;
    condition_signal_all(&pool->wake);
    mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++) thread_join(pool->threads[i]);
    condition_done(&pool->wake);
    mutex_done(&pool->lock);
}
