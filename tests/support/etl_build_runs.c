// `run` lines: what a scheduler would log. Each says that a thread runs on a CPU for some time;
// from all of them come the context switches (old thread = new thread of the switch before), the
// samples taken meanwhile with a stack picked from the line's choices, and the events that made it
// ready.
#include "support/etl_build_script_priv.h"

#include <stdlib.h>

enum {
    STATE_READY = 1,
    STATE_RUNNING = 2,
    STATE_WAITING = 5,
    REASON_USER_REQUEST = 6,
    REASON_PREEMPTED = 32
};

static Status run_names(EtlScript *s, Args *args, Run *run, Err *err) {
    uint64_t state = STATE_WAITING, reason = REASON_USER_REQUEST, priority = 8, ready_cpu = 0;
    // The names of a switch's fields are those of the kernel table.
    const BuildRecord *record = etl_build_record(STR("cswitch"), 2, 0);
    for (size_t i = 0; i < record->count; i++) {
        const BuildField *f = &record->fields[i];
        if (!f->key || !f->names) continue;
        bool is_state = str_eq(str_from_c(f->key), STR("old_state"));
        bool is_reason = str_eq(str_from_c(f->key), STR("old_reason"));
        Arg *arg = is_state    ? args_find(args, "state")
                   : is_reason ? args_find(args, "reason")
                               : NULL;
        if (arg) TRY(script_named(s, arg->value, f->names, is_state ? &state : &reason, err));
    }
    TRY(args_number(s, args, "priority", 8, &priority, err));
    TRY(args_number(s, args, "ready", 0, &ready_cpu, err));
    run->state = (uint8_t)state;
    run->reason = (uint8_t)reason;
    run->priority = (uint8_t)priority;
    run->ready_cpu = (uint16_t)ready_cpu;
    return OK;
}

Status script_run_verb(EtlScript *s, Args *args, Err *err) {
    uint64_t cpu = 0, tid = 0;
    int64_t length = 0, before = 0;
    TRY(args_number(s, args, "cpu", 0, &cpu, err));
    TRY(args_number(s, args, "tid", 0, &tid, err));
    TRY(args_span(args, "for", 1000000, &length, err));
    TRY(args_span(args, "ready_before", 20000, &before, err));
    if (cpu > 2047 || length <= 0) return err_set(err, ERR_ARG, "run: cpu or duration");
    Run run = {.start_ns = args->time_ns,
               .end_ns = args->time_ns + length,
               .cpu = (uint16_t)cpu,
               .tid = (uint32_t)tid,
               .stacks = args_text(args, "stack"),
               .wait_stack = args_text(args, "wait_stack"),
               .has_ready = args_find(args, "ready") != NULL,
               .ready_stack = args_text(args, "ready_stack"),
               .order = s->runs.count};
    TRY(run_names(s, args, &run, err));
    run.ready_ns = run.start_ns - before;
    *vec_push(&s->runs) = run;
    if (run.end_ns > s->last_ns) s->last_ns = run.end_ns;
    return OK;
}

static int by_cpu_and_time(const void *a, const void *b) {
    const Run *x = a, *y = b;
    if (x->cpu != y->cpu) return x->cpu < y->cpu ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

typedef struct Cpu { // of the one being played
    uint16_t index;
    Run run; // the current one, while `busy`
    bool busy;
    Run preempted; // goes on when the current one ends, while it has time left
    int64_t since_ns;
    Map last_out; // tid -> time it stopped running
} Cpu;

static EtlAt at(const EtlScript *s, const Cpu *cpu, int64_t ns) {
    return (EtlAt){.ticks = etl_build_ticks(s->build, ns), .cpu = cpu->index};
}

static Status put_sample(EtlScript *s, EtlKernel *kernel, const Cpu *cpu, int64_t ns, Err *err) {
    uint32_t tid = cpu->busy ? cpu->run.tid : 0;
    Str stack = cpu->busy ? script_pick(s, cpu->run.stacks) : (Str){0};
    uint64_t *frames = NULL;
    size_t count = 0;
    TRY(script_frames(s, stack, &frames, &count, err));
    EtlAt when = at(s, cpu, ns);
    uint64_t idle_ip = etl_build_pointer_size(s->build) == 8 ? 0xFFFFF80000401000u : 0x82401000u;
    etl_kernel_sample(kernel, when, count ? frames[0] : idle_ip, tid, 0);
    EtlBuildEvent event = {.cpu = when.cpu, .ticks = when.ticks};
    return script_put_stack(s, &event, tid, stack, err);
}

// Samples of [since, until) on the current thread; each CPU's timer ticks at its own phase.
static Status put_samples(EtlScript *s, EtlKernel *kernel, const Cpu *cpu, int64_t until_ns,
                          Err *err) {
    if (!cpu->busy && !s->idle_samples) return OK;
    int64_t phase = 13000 * (cpu->index + 1) % s->interval_ns;
    int64_t first = (cpu->since_ns - phase + s->interval_ns - 1) / s->interval_ns;
    for (int64_t ns = first * s->interval_ns + phase; ns < until_ns; ns += s->interval_ns)
        if (ns >= cpu->since_ns && ns > 0) TRY(put_sample(s, kernel, cpu, ns, err));
    return OK;
}

// To the thread of `next`, or to idle when NULL.
static Status put_switch(EtlScript *s, EtlKernel *kernel, Cpu *cpu, const Run *next, int64_t ns,
                         Err *err) {
    const Run *old = cpu->busy ? &cpu->run : NULL;
    bool cut = old && ns < old->end_ns; // by another thread, before it wanted to stop
    uint32_t new_tid = next ? next->tid : 0, old_tid = old ? old->tid : 0;
    uint64_t *out = map_get(&cpu->last_out, new_tid);
    uint64_t resolution_ns = etl_build_options(s->build)->timer_resolution_100ns * 100u;
    uint64_t waited_ns = out && next ? (uint64_t)ns - *out : 0;
    EtlSwitch change = {.new_tid = new_tid,
                        .old_tid = old_tid,
                        .new_priority = next ? next->priority : 0,
                        .old_priority = old ? old->priority : 0,
                        .old_reason = cut   ? REASON_PREEMPTED
                                      : old ? old->reason
                                            : 0,
                        .old_state = cut   ? STATE_READY
                                     : old ? old->state
                                           : STATE_RUNNING,
                        .new_wait_clock_ticks = (uint32_t)(waited_ns / resolution_ns)};
    EtlAt when = at(s, cpu, ns);
    etl_kernel_switch(kernel, when, &change);
    *map_put(&cpu->last_out, old_tid, 0, NULL) = (uint64_t)ns;
    if (cut) cpu->preempted = *old;
    if (cut) cpu->preempted.end_ns -= ns; // what is left
    cpu->busy = next != NULL;
    if (next) cpu->run = *next;
    cpu->since_ns = ns;
    if (!next || !next->wait_stack.n) return OK;
    EtlBuildEvent event = {.cpu = when.cpu, .ticks = when.ticks};
    return script_put_stack(s, &event, new_tid, next->wait_stack, err);
}

static Status put_ready(EtlScript *s, EtlKernel *kernel, const Run *run, uint32_t by, Err *err) {
    EtlAt when = {.ticks = etl_build_ticks(s->build, run->ready_ns), .cpu = run->ready_cpu};
    etl_kernel_ready(kernel, when, run->tid);
    if (!run->ready_stack.n) return OK;
    EtlBuildEvent event = {.cpu = when.cpu, .ticks = when.ticks};
    return script_put_stack(s, &event, by, run->ready_stack, err);
}

// The thread that runs on a CPU at a time; 0 when idle. Runs are sorted by CPU and time.
static uint32_t running_at(const EtlScript *s, uint16_t cpu, int64_t ns) {
    uint32_t tid = 0;
    for (size_t i = 0; i < s->runs.count; i++) {
        const Run *run = &s->runs.items[i];
        if (run->cpu == cpu && run->start_ns <= ns && ns < run->end_ns) tid = run->tid;
        if (run->cpu > cpu || (run->cpu == cpu && run->start_ns > ns)) break;
    }
    return tid;
}

// The current run ends: the one it interrupted goes on, else the CPU is idle.
static Status end_run(EtlScript *s, EtlKernel *kernel, Cpu *cpu, Err *err) {
    int64_t end = cpu->run.end_ns;
    Run rest = cpu->preempted;
    cpu->preempted.end_ns = 0;
    rest.end_ns += end;
    rest.wait_stack = (Str){0};
    TRY(put_samples(s, kernel, cpu, end, err));
    return put_switch(s, kernel, cpu, rest.end_ns > end ? &rest : NULL, end, err);
}

static Status play_until(EtlScript *s, EtlKernel *kernel, Cpu *cpu, int64_t ns, Err *err) {
    while (cpu->busy && cpu->run.end_ns < ns) TRY(end_run(s, kernel, cpu, err));
    return put_samples(s, kernel, cpu, ns, err);
}

static Status play_run(EtlScript *s, EtlKernel *kernel, Cpu *cpu, const Run *run, Err *err) {
    TRY(play_until(s, kernel, cpu, run->start_ns, err));
    cpu->since_ns = run->start_ns;               // samples up to here are written
    if (cpu->busy && cpu->run.tid == run->tid) { // it is still running: no switch, only longer
        if (run->end_ns > cpu->run.end_ns) cpu->run.end_ns = run->end_ns;
        return OK;
    }
    if (run->has_ready)
        TRY(put_ready(s, kernel, run, running_at(s, run->ready_cpu, run->ready_ns), err));
    return put_switch(s, kernel, cpu, run, run->start_ns, err);
}

static Status play_cpu(EtlScript *s, EtlKernel *kernel, const Run *runs, size_t count, Err *err) {
    Cpu cpu = {.index = runs[0].cpu};
    Status status = OK;
    for (size_t i = 0; i < count && status == OK; i++)
        status = play_run(s, kernel, &cpu, &runs[i], err);
    while (status == OK && cpu.busy) status = end_run(s, kernel, &cpu, err);
    if (cpu.since_ns > s->last_ns) s->last_ns = cpu.since_ns;
    if (status == OK) status = put_samples(s, kernel, &cpu, s->last_ns, err);
    map_done(&cpu.last_out);
    return status;
}

Status script_play_runs(EtlScript *s, Err *err) {
    if (s->runs.count == 0) return OK;
    EtlKernel kernel = etl_kernel_init(s->build);
    qsort(s->runs.items, s->runs.count, sizeof *s->runs.items, by_cpu_and_time);
    for (size_t i = 0; i < s->runs.count;) {
        size_t end = i;
        while (end < s->runs.count && s->runs.items[end].cpu == s->runs.items[i].cpu) end++;
        TRY(play_cpu(s, &kernel, s->runs.items + i, end - i, err));
        i = end;
    }
    s->runs.count = 0;
    return OK;
}
