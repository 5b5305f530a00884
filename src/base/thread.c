// POSIX threads (mingw brings its own), and the parallel loop.
#include "base/thread.h"

#include "base/arena.h"

#include <errno.h>
#include <string.h>
#include <time.h>

struct Thread {
    pthread_t handle;
    void (*run)(void *context);
    void *context;
};

void mutex_init(Mutex *mutex) {
    INVARIANT(pthread_mutex_init(&mutex->handle, NULL) == 0);
}

void mutex_lock(Mutex *mutex) {
    INVARIANT(pthread_mutex_lock(&mutex->handle) == 0);
}

void mutex_unlock(Mutex *mutex) {
    INVARIANT(pthread_mutex_unlock(&mutex->handle) == 0);
}

void mutex_done(Mutex *mutex) {
    (void)pthread_mutex_destroy(&mutex->handle);
}

void thread_rest(uint64_t ns) {
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    (void)nanosleep(&time, NULL);
}

void condition_init(Condition *condition) {
    pthread_condattr_t attributes;
    INVARIANT(pthread_condattr_init(&attributes) == 0);
    INVARIANT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    INVARIANT(pthread_cond_init(&condition->handle, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
}

void condition_wait(Condition *condition, Mutex *mutex) {
    INVARIANT(pthread_cond_wait(&condition->handle, &mutex->handle) == 0);
}

bool condition_wait_for(Condition *condition, Mutex *mutex, uint64_t timeout_ns) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + timeout_ns % 1000000000u;
    until.tv_sec += (time_t)(timeout_ns / 1000000000u + nanoseconds / 1000000000u);
    until.tv_nsec = (long)(nanoseconds % 1000000000u);
    return pthread_cond_timedwait(&condition->handle, &mutex->handle, &until) != ETIMEDOUT;
}

void condition_signal_all(Condition *condition) {
    (void)pthread_cond_broadcast(&condition->handle);
}

void condition_done(Condition *condition) {
    (void)pthread_cond_destroy(&condition->handle);
}

static void *thread_main(void *argument) {
    Thread *thread = argument;
    thread->run(thread->context);
    return NULL;
}

Status thread_start(void (*run)(void *context), void *context, Thread **out, Err *err) {
    Thread *thread = mem_zero(1, sizeof *thread);
    *thread = (Thread){.run = run, .context = context};
    int code = pthread_create(&thread->handle, NULL, thread_main, thread);
    if (code != 0) {
        mem_free(thread);
        return err_set(err, ERR_IO, "cannot start a thread: error %d", code);
    }
    *out = thread;
    return OK;
}

void thread_join(Thread *thread) {
    if (!thread) return;
    (void)pthread_join(thread->handle, NULL);
    mem_free(thread);
}

typedef struct Loop {
    ParallelRun run;
    void *context;
    size_t count;
    Progress *progress;
    _Atomic size_t next;
    atomic_bool stopped;
    Mutex lock; // guards status and err
    Status status;
    Err *err;
} Loop;

typedef struct LoopWorker {
    Loop *loop;
    unsigned index;
    Thread *thread;
} LoopWorker;

static void loop_stop(Loop *loop, Status status, const Err *err) {
    mutex_lock(&loop->lock);
    if (loop->status == OK) {
        loop->status = status;
        if (loop->err) *loop->err = *err;
    }
    mutex_unlock(&loop->lock);
    atomic_store(&loop->stopped, true);
}

static void loop_work(void *argument) {
    LoopWorker *worker = argument;
    Loop *loop = worker->loop;
    while (!atomic_load_explicit(&loop->stopped, memory_order_relaxed)) {
        Err err = {0};
        if (loop->progress && atomic_load(&loop->progress->cancelled)) {
            loop_stop(loop, err_set(&err, ERR_CANCELLED, "cancelled"), &err);
            return;
        }
        size_t item = atomic_fetch_add(&loop->next, 1);
        if (item >= loop->count) return;
        Status status = loop->run(loop->context, worker->index, item, &err);
        if (status != OK) loop_stop(loop, status, &err);
    }
}

Status parallel_for(unsigned workers, size_t count, ParallelRun run, void *context,
                    Progress *progress, Err *err) {
    enum { WORKERS_MAX = 64 };
    LoopWorker slots[WORKERS_MAX];
    if (workers > WORKERS_MAX) workers = WORKERS_MAX;
    if (workers > count) workers = (unsigned)count;
    if (workers == 0) workers = 1;
    Loop loop = {.run = run, .context = context, .count = count, .progress = progress, .err = err};
    mutex_init(&loop.lock);
    for (unsigned i = 0; i < workers; i++) {
        slots[i] = (LoopWorker){.loop = &loop, .index = i};
        // A thread that cannot be started is not an error: the others take its items.
        if (i > 0 && thread_start(loop_work, &slots[i], &slots[i].thread, NULL) != OK)
            slots[i].thread = NULL;
    }
    loop_work(&slots[0]);
    for (unsigned i = 1; i < workers; i++) thread_join(slots[i].thread);
    mutex_done(&loop.lock);
    return loop.status;
}
