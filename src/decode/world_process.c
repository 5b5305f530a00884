// Lives of processes and threads: from start, end and both rundowns, over the whole trace, before
// anything is attributed. Whoever is only mentioned by other events gets an inferred life.
#include "decode/entities.h"
#include "decode/world_internal.h"

#include <stdlib.h>

// What a record says about a life.
typedef enum RecordKind { REC_START, REC_END, REC_RUNDOWN, REC_DEFUNCT } RecordKind;

typedef struct Record {
    uint64_t key; // pid or tid
    int64_t ticks;
    uint64_t seq;
    RecordKind kind;
    const Kept *kept;
    Values values;
} Record;

typedef VEC(Record) RecordVec;

static int compare_records(const void *a, const void *b) {
    const Record *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void collect(const World *world, uint16_t hook, RecordKind kind, unsigned key_slot,
                    RecordVec *out) {
    KeptList list = world_kept(world, hook);
    for (size_t i = 0; i < list.count; i++) {
        const Kept *kept = &list.items[i];
        bool exact = false;
        const EventSpec *spec = spec_find(kept->hook, kept->version, &exact);
        EtlEvent event = kept_event(kept);
        Record record = {.ticks = kept->ticks, .seq = kept->seq, .kind = kind, .kept = kept};
        if (!spec || !spec_read(spec, &event, &record.values)) continue;
        if (!value_has(&record.values, key_slot)) continue;
        record.key = record.values.at[key_slot].u;
        *vec_push(out) = record;
    }
}

static const char *origin_of(RecordKind kind) {
    switch (kind) {
    case REC_START: return "start";
    case REC_END: return "end";
    case REC_RUNDOWN:
    case REC_DEFUNCT: return "rundown";
    }
    return "rundown";
}

// Does the record begin another life than `current`? `same` says whether the identities agree.
static bool begins_new_life(const Life *current, const Record *record, bool same) {
    if (!current || !same) return true;
    bool ended = current->end != INT64_MAX;
    // Two start events of one life happen when two sessions were merged.
    if (record->kind == REC_START) return current->start != record->ticks;
    return ended && record->kind != REC_DEFUNCT;
}

static Life life_from(const Record *record, const Life *previous) {
    Life life = {.key = record->key,
                 .start = record->kind == REC_START ? record->ticks : INT64_MIN,
                 .end = record->kind == REC_END ? record->ticks : INT64_MAX,
                 .seen = record->ticks,
                 .origin = origin_of(record->kind)};
    // A second life of the same number cannot have begun before the first one ended.
    if (previous && previous->key == life.key && life.start == INT64_MIN)
        life.start = previous->end != INT64_MAX ? previous->end : record->ticks;
    return life;
}

// ---------------------------------------------------------------- processes

static Str text8(World *world, const Values *v, unsigned slot) {
    if (!value_has(v, slot)) return (Str){0};
    return str_from_8bit(&world->arena, (const uint8_t *)v->at[slot].s.p, v->at[slot].s.n);
}

static Str text16(World *world, const Values *v, unsigned slot) {
    if (!value_has(v, slot)) return (Str){0};
    return str_from_utf16(&world->arena, (const uint8_t *)v->at[slot].s.p, v->at[slot].s.n);
}

static void fill_text(Str *into, Str text) {
    if (into->n == 0 && text.p) *into = text;
}

static void process_fill(World *world, Process *process, const Record *record) {
    const Values *v = &record->values;
    if (value_has(v, P_PARENT)) process->parent_pid = (uint32_t)v->at[P_PARENT].u;
    if (value_has(v, P_SESSION)) {
        process->has_session = true;
        process->session = (int32_t)v->at[P_SESSION].u;
    }
    // 259 (STILL_ACTIVE) in a start or rundown record says nothing.
    if (record->kind == REC_END && value_has(v, P_EXIT)) {
        process->has_exit = true;
        process->exit_status = (int32_t)v->at[P_EXIT].u;
    }
    if (value_has(v, P_FLAGS)) {
        process->has_flags = true;
        process->flags = (uint32_t)v->at[P_FLAGS].u;
    }
    if (!process->unique_key) process->unique_key = v->at[P_KEY].u * value_has(v, P_KEY);
    if (!process->table_base)
        process->table_base = v->at[P_TABLE_BASE].u * value_has(v, P_TABLE_BASE);
    fill_text(&process->name, text8(world, v, P_IMAGE));
    fill_text(&process->command_line, text16(world, v, P_COMMAND));
    fill_text(&process->package, text16(world, v, P_PACKAGE));
    fill_text(&process->application, text16(world, v, P_APPLICATION));
    if (value_has(v, P_SID)) fill_text(&process->sid, sid_to_text(&world->arena, v->at[P_SID].s));
}

static bool same_process(const Process *process, const Record *record) {
    const Values *v = &record->values;
    if (!process->unique_key || !value_has(v, P_KEY) || !v->at[P_KEY].u) return true;
    return process->unique_key == v->at[P_KEY].u;
}

static void add_process_record(World *world, const Record *record) {
    size_t count = world->processes.count;
    Process *last = count ? &world->processes.items[count - 1] : NULL;
    Process *current = last && last->life.key == record->key ? last : NULL;
    bool same = current && same_process(current, record);
    if (begins_new_life(current ? &current->life : NULL, record, same)) {
        Life life = life_from(record, current ? &current->life : NULL);
        if (current && current->life.end == INT64_MAX) current->life.end = life.start;
        current = vec_push(&world->processes);
        *current = (Process){.life = life, .pid = (uint32_t)record->key, .parent_pid = ETL_NO_ID};
    } else if (record->kind == REC_END) {
        current->life.end = record->ticks;
    }
    process_fill(world, current, record);
}

static int compare_processes(const void *a, const void *b) {
    const Process *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    return (x->life.start > y->life.start) - (x->life.start < y->life.start);
}

// Processes that only other events mention.
static void infer_processes(World *world) {
    Map known = {0};
    for (size_t i = 0; i < world->processes.count; i++)
        (void)map_put(&known, world->processes.items[i].pid, 1, NULL);
    bool idle = false;
    for (size_t i = 0; i < world->survey.mentions.count; i++) {
        const Mention *m = &world->survey.mentions.items[i];
        idle = idle || m->tid == 0;
        bool added = false;
        if (m->pid == ETL_NO_ID) continue;
        (void)map_put(&known, m->pid, 1, &added);
        if (!added) continue;
        Life life = {.key = m->pid,
                     .start = INT64_MIN,
                     .end = INT64_MAX,
                     .seen = m->ticks,
                     .origin = "inferred"};
        *vec_push(&world->processes) =
            (Process){.life = life, .pid = m->pid, .parent_pid = ETL_NO_ID};
    }
    if (idle && !map_get(&known, 0)) {
        Life life = {.start = INT64_MIN, .end = INT64_MAX, .origin = "inferred"};
        *vec_push(&world->processes) = (Process){.life = life, .parent_pid = ETL_NO_ID};
    }
    map_done(&known);
}

void world_build_processes(World *world) {
    RecordVec records = {0};
    collect(world, HOOK_PROCESS_START, REC_START, P_PID, &records);
    collect(world, HOOK_PROCESS_END, REC_END, P_PID, &records);
    collect(world, HOOK_PROCESS_DCSTART, REC_RUNDOWN, P_PID, &records);
    collect(world, HOOK_PROCESS_DCEND, REC_RUNDOWN, P_PID, &records);
    collect(world, HOOK_PROCESS_DEFUNCT, REC_DEFUNCT, P_PID, &records);
    vec_sort(&records, compare_records);
    for (size_t i = 0; i < records.count; i++) add_process_record(world, &records.items[i]);
    vec_free(&records);
    infer_processes(world);
    vec_sort(&world->processes, compare_processes);
    for (size_t i = 0; i < world->processes.count; i++) {
        Process *process = &world->processes.items[i];
        (void)map_put(&world->process_by_pid, process->pid, i, NULL);
        if (process->pid == 0 && process->name.n == 0) process->name = STR("Idle");
        if (process->pid == 4 && process->name.n == 0) process->name = STR("System");
    }
    for (size_t i = 0; i < world->processes.count; i++) {
        Process *process = &world->processes.items[i];
        if (process->parent_pid == ETL_NO_ID || process->pid == 0) continue;
        uint32_t parent = world_process(world, process->parent_pid, process->life.start);
        // Parent ids are reused: a parent that began after its child is somebody else.
        bool older = parent && world->processes.items[parent - 1].life.start <= process->life.start;
        process->parent_upid = older ? parent : 0;
    }
}

// ---------------------------------------------------------------- threads

static void thread_fill(World *world, WorldThread *thread, const Record *record) {
    const Values *v = &record->values;
    if (value_has(v, TH_STACK_BASE) && !thread->has_details) {
        thread->has_details = true;
        thread->stack_base = v->at[TH_STACK_BASE].u;
        thread->stack_limit = v->at[TH_STACK_LIMIT].u * value_has(v, TH_STACK_LIMIT);
        thread->user_base = v->at[TH_USER_BASE].u * value_has(v, TH_USER_BASE);
        thread->user_limit = v->at[TH_USER_LIMIT].u * value_has(v, TH_USER_LIMIT);
        thread->start_address = v->at[TH_START].u * value_has(v, TH_START);
        thread->affinity = v->at[TH_AFFINITY].u * value_has(v, TH_AFFINITY);
        thread->teb = v->at[TH_TEB].u * value_has(v, TH_TEB);
        thread->tag = (uint32_t)(v->at[TH_TAG].u * value_has(v, TH_TAG));
    }
    if (value_has(v, TH_IO_PRIORITY)) {
        thread->has_priorities = true;
        thread->base_priority = (uint8_t)v->at[TH_BASE_PRIORITY].u;
        thread->page_priority = (uint8_t)v->at[TH_PAGE_PRIORITY].u;
        thread->io_priority = (uint8_t)v->at[TH_IO_PRIORITY].u;
    }
    Str name = text16(world, v, TH_NAME);
    if (name.n) thread->name = name; // the latest name is the one people know it by
}

static void add_thread_record(World *world, const Record *record) {
    size_t count = world->threads.count;
    WorldThread *last = count ? &world->threads.items[count - 1] : NULL;
    WorldThread *current = last && last->life.key == record->key ? last : NULL;
    uint32_t pid = (uint32_t)record->values.at[TH_PID].u;
    bool has_pid = value_has(&record->values, TH_PID);
    if (record->key == 0) { // one idle thread a CPU, all with thread id 0: one life
        if (current) return;
    } else if (current && record->kept->hook == HOOK_THREAD_NAME) {
        thread_fill(world, current, record);
        return;
    }
    bool same = current && (!has_pid || current->pid == pid);
    if (begins_new_life(current ? &current->life : NULL, record, same)) {
        Life life = life_from(record, current ? &current->life : NULL);
        if (current && current->life.end == INT64_MAX) current->life.end = life.start;
        if (record->key == 0)
            life = (Life){.start = INT64_MIN, .end = INT64_MAX, .origin = "rundown"};
        current = vec_push(&world->threads);
        *current = (WorldThread){
            .life = life, .tid = (uint32_t)record->key, .pid = has_pid ? pid : ETL_NO_ID};
    } else if (record->kind == REC_END) {
        current->life.end = record->ticks;
    }
    thread_fill(world, current, record);
}

static int compare_threads(const void *a, const void *b) {
    const WorldThread *x = a, *y = b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    return (x->life.start > y->life.start) - (x->life.start < y->life.start);
}

typedef VEC(Mention) MentionVec;

static int compare_mention_times(const void *a, const void *b) {
    const Mention *x = a, *y = b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

// Threads without any record of their own: one life for each process that is named with the id.
static void infer_threads(World *world) {
    Map known = {0};
    for (size_t i = 0; i < world->threads.count; i++)
        (void)map_put(&known, world->threads.items[i].tid, 1, NULL);
    MentionVec lives = {0};
    const Mention *mentions = world->survey.mentions.items;
    size_t count = world->survey.mentions.count;
    for (size_t i = 0; i < count;) {
        size_t to = i;
        while (to < count && mentions[to].tid == mentions[i].tid) to++;
        // Sorted by pid, so a bare mention (ETL_NO_ID) is last: it counts only when it is alone.
        for (size_t k = i; k < to && !map_get(&known, mentions[i].tid); k++)
            if (mentions[k].pid != ETL_NO_ID || k == i) *vec_push(&lives) = mentions[k];
        i = to;
    }
    map_done(&known);
    vec_sort(&lives, compare_mention_times);
    for (size_t i = 0; i < lives.count; i++) {
        const Mention *m = &lives.items[i];
        bool first = i == 0 || lives.items[i - 1].tid != m->tid;
        bool last = i + 1 == lives.count || lives.items[i + 1].tid != m->tid;
        Life life = {.key = m->tid,
                     .start = first ? INT64_MIN : m->ticks,
                     .end = last ? INT64_MAX : lives.items[i + 1].ticks,
                     .seen = m->ticks,
                     .origin = "inferred"};
        uint32_t pid = m->tid == 0 ? 0 : m->pid;
        *vec_push(&world->threads) = (WorldThread){.life = life, .tid = m->tid, .pid = pid};
    }
    vec_free(&lives);
}

void world_build_threads(World *world) {
    RecordVec records = {0};
    collect(world, HOOK_THREAD_START, REC_START, TH_TID, &records);
    collect(world, HOOK_THREAD_END, REC_END, TH_TID, &records);
    collect(world, HOOK_THREAD_DCSTART, REC_RUNDOWN, TH_TID, &records);
    collect(world, HOOK_THREAD_DCEND, REC_RUNDOWN, TH_TID, &records);
    collect(world, HOOK_THREAD_NAME, REC_RUNDOWN, TH_TID, &records);
    vec_sort(&records, compare_records);
    for (size_t i = 0; i < records.count; i++) add_thread_record(world, &records.items[i]);
    vec_free(&records);
    infer_threads(world);
    vec_sort(&world->threads, compare_threads);
    for (size_t i = 0; i < world->threads.count; i++) {
        WorldThread *thread = &world->threads.items[i];
        (void)map_put(&world->thread_by_tid, thread->tid, i, NULL);
        if (thread->pid == ETL_NO_ID) continue;
        int64_t at = thread->life.start == INT64_MIN ? thread->life.seen : thread->life.start;
        thread->upid = world_process(world, thread->pid, at);
    }
}
