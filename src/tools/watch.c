// A thread that interrupts queries of calls that were cancelled or run too long. It sleeps while no
// query runs.
#include "tools/engine_internal.h"

enum { POLL_NS = 20 * 1000 * 1000 };

typedef struct WatchSlot {
    Session *session; // NULL: free
    Progress *progress;
    uint64_t deadline_ns;
    bool overdue;
} WatchSlot;

struct Watch {
    Mutex mutex;
    Condition changed;
    Thread *thread; // started by the first query
    bool closing;
    size_t active;
    VEC(WatchSlot) slots;
};

Watch *watch_open(void) {
    Watch *watch = mem_zero(1, sizeof *watch);
    mutex_init(&watch->mutex);
    condition_init(&watch->changed);
    return watch;
}

static void watch_look(Watch *watch) {
    uint64_t now = os_now_ns();
    for (size_t i = 0; i < watch->slots.count; i++) {
        WatchSlot *slot = &watch->slots.items[i];
        if (!slot->session) continue;
        if (now > slot->deadline_ns) slot->overdue = true;
        bool cancelled = slot->progress && atomic_load(&slot->progress->cancelled);
        if (cancelled || slot->overdue) session_interrupt(slot->session);
    }
}

static void watch_run(void *context) {
    Watch *watch = context;
    mutex_lock(&watch->mutex);
    while (!watch->closing) {
        if (!watch->active) {
            condition_wait(&watch->changed, &watch->mutex);
            continue;
        }
        watch_look(watch);
        (void)condition_wait_for(&watch->changed, &watch->mutex, POLL_NS);
    }
    mutex_unlock(&watch->mutex);
}

void watch_close(Watch *watch) {
    if (!watch) return;
    mutex_lock(&watch->mutex);
    watch->closing = true;
    condition_signal_all(&watch->changed);
    mutex_unlock(&watch->mutex);
    thread_join(watch->thread);
    vec_free(&watch->slots);
    condition_done(&watch->changed);
    mutex_done(&watch->mutex);
    mem_free(watch);
}

WatchTicket watch_begin(Watch *watch, Session *session, Progress *progress, uint64_t seconds) {
    mutex_lock(&watch->mutex);
    if (!watch->thread) (void)!thread_start(watch_run, watch, &watch->thread, NULL);
    size_t slot = 0;
    while (slot < watch->slots.count && watch->slots.items[slot].session) slot++;
    if (slot == watch->slots.count) (void)vec_push(&watch->slots);
    watch->slots.items[slot] =
        (WatchSlot){session, progress, os_now_ns() + seconds * UINT64_C(1000000000), false};
    if (watch->active++ == 0) condition_signal_all(&watch->changed);
    mutex_unlock(&watch->mutex);
    return (WatchTicket){watch, slot};
}

bool watch_end(WatchTicket ticket) {
    Watch *watch = ticket.watch;
    mutex_lock(&watch->mutex);
    bool overdue = watch->slots.items[ticket.slot].overdue;
    watch->slots.items[ticket.slot] = (WatchSlot){0};
    watch->active--;
    mutex_unlock(&watch->mutex);
    return overdue;
}
