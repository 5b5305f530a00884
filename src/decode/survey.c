// The first pass. Each worker surveys whole buffers into memory of its own; the results are merged
// in a fixed order, so that they do not depend on which thread did what.
#include "decode/survey.h"

#include "decode/entities.h"

#include <stdlib.h>

enum { MENTION_CACHE = 4096 };

typedef struct Worker {
    EtlScratch *scratch;
    Survey part; // `buffers` is the shared array
    Mention cache[MENTION_CACHE];
    uint64_t seq;
    BufferFacts *facts;
    bool names_only;
} Worker;

typedef struct Job {
    EtlFile *file;
    Worker *workers;
    Progress *progress;
} Job;

// Classes that mergers inject (docs/formats/etl.md) and that the world or the field decoders read,
// then manifest providers whose events the survey looks into.
enum KnownGuid {
    GUID_IMAGE_ID,
    GUID_SYSTEM_CONFIG,
    GUID_EVENT_METADATA,
    GUID_LOST_EVENT,
    KEPT_CLASS_COUNT,
    GUID_CLR_RUNTIME = KEPT_CLASS_COUNT,
    GUID_CLR_RUNDOWN,
    GUID_EVENT_TRACING,
    KNOWN_GUIDS
};
static const char *const GUID_TEXTS[KNOWN_GUIDS] = {
    [GUID_IMAGE_ID] = "b3e675d7-2554-4f18-830b-2762732560de",
    [GUID_SYSTEM_CONFIG] = "9b79ee91-b5fd-41c0-a243-4248e266e9d0",
    [GUID_EVENT_METADATA] = "bbccf6c1-6cd1-48c4-80ff-839482e37671",
    [GUID_LOST_EVENT] = "6a399ae0-4bc6-4de9-870b-3657f8947e7e",
    [GUID_CLR_RUNTIME] = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
    [GUID_CLR_RUNDOWN] = "a669021c-c450-4609-a035-5af59af4df18",
    [GUID_EVENT_TRACING] = "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2",
};
static Guid known_guids[KNOWN_GUIDS];

__attribute__((constructor)) static void known_guids_fill(void) {
    for (size_t i = 0; i < KNOWN_GUIDS; i++)
        INVARIANT(guid_from_text(str_from_c(GUID_TEXTS[i]), &known_guids[i]));
}

bool address_is_kernel(uint64_t address, unsigned kernel_pointer_size) {
    return kernel_pointer_size == 4 ? address >= 0x80000000u : address >> 47 != 0;
}

static void keep(Worker *worker, const EtlEvent *e) {
    char *copy = arena_bytes(&worker->part.arena, e->payload.n);
    if (e->payload.n) memcpy(copy, e->payload.p, e->payload.n);
    *vec_push(&worker->part.kept) = (Kept){
        .ticks = e->ticks,
        .seq = worker->seq,
        .kind = e->kind,
        .tid = e->tid,
        .pid = e->pid,
        .cpu = e->cpu,
        .hook = e->hook,
        .id = e->id,
        .version = e->version,
        .opcode = e->opcode,
        .pointer_size = e->pointer_size,
        .provider = e->provider,
        .payload = {copy, e->payload.n}
    };
}

static void mention(Worker *worker, uint32_t tid, uint32_t pid, int64_t ticks) {
    if (tid == ETL_NO_ID) return;
    Mention *seen = &worker->cache[(tid >> 2 ^ tid << 7) % MENTION_CACHE];
    // A bare thread id adds nothing to one whose process is known.
    if (seen->tid == tid && (seen->pid == pid || pid == ETL_NO_ID) && seen->ticks != INT64_MAX)
        return;
    *seen = (Mention){ticks, tid, pid};
    *vec_push(&worker->part.mentions) = *seen;
}

static void push_ref(Survey *part, StackRef ref) {
    RefBlock *last = part->refs.count ? part->refs.items[part->refs.count - 1] : NULL;
    if (!last || last->count == REF_BLOCK) {
        last = mem_alloc(sizeof *last);
        last->count = 0;
        *vec_push(&part->refs) = last;
    }
    last->refs[last->count++] = ref;
}

void survey_refs_free(Survey *survey) {
    for (size_t i = 0; i < survey->refs.count; i++) mem_free(survey->refs.items[i]);
    vec_free(&survey->refs);
}

static void survey_stack_event(Worker *worker, const EtlEvent *e) {
    Survey *part = &worker->part;
    Rd r = rd_from_str(e->payload);
    bool definition = e->hook >= HOOK_STACK_KEY_CREATE && e->hook <= HOOK_STACK_KEY_RUNDOWN;
    if (definition) {
        uint64_t key = rd_ptr(&r, e->pointer_size);
        if (!rd_ok(&r)) return;
        uint32_t raw = raw_stack_add_bytes(&part->raw, rd_bytes(&r, rd_left(&r)), e->pointer_size);
        *vec_push(&part->definitions) = (StackDefinition){key, e->ticks, worker->seq, raw};
        return;
    }
    bool by_key = e->hook == HOOK_STACK_KERNEL_REF || e->hook == HOOK_STACK_USER_REF;
    if (e->hook != HOOK_STACK && !by_key) return;
    StackRef ref = {.ticks = rd_i64(&r)};
    ref.pid = rd_u32(&r);
    ref.tid = rd_u32(&r);
    ref.cpu = e->cpu;
    ref.buffer = event_buffer(worker->seq);
    ref.by_key = by_key;
    if (by_key) {
        ref.key = rd_ptr(&r, e->pointer_size);
        ref.user = e->hook == HOOK_STACK_USER_REF;
    } else {
        Rd first = r;
        ref.user = !address_is_kernel(rd_ptr(&first, e->pointer_size), e->pointer_size);
        ref.key = raw_stack_add_bytes(&part->raw, rd_bytes(&r, rd_left(&r)), e->pointer_size);
    }
    if (rd_ok(&r)) push_ref(part, ref);
}

static void survey_inline_stack(Worker *worker, const EtlEvent *e) {
    Survey *part = &worker->part;
    InlineStack found = {.seq = worker->seq,
                         .ticks = e->ticks,
                         .match_id = e->ext.has_match_id ? e->ext.match_id : 0,
                         .tid = e->tid,
                         .pid = e->pid};
    if (e->ext.has_stack_key) {
        found.by_key = true;
        found.key = e->ext.stack_key;
    } else {
        found.raw = raw_stack_add_bytes(&part->raw, e->ext.stack, e->ext.stack_pointer_size);
        if (!found.raw) return;
    }
    *vec_push(&part->inline_stacks) = found;
}

static void survey_switch(Worker *worker, const EtlEvent *e) {
    Rd r = rd_from_str(e->payload);
    uint32_t in = rd_u32(&r), out = rd_u32(&r);
    if (!rd_ok(&r)) return;
    if (worker->facts->last_running == ETL_NO_ID) worker->facts->first_running = out;
    worker->facts->last_running = in;
    mention(worker, in, ETL_NO_ID, e->ticks);
    mention(worker, out, ETL_NO_ID, e->ticks);
}

static void survey_kernel(Worker *worker, const EtlEvent *e) {
    if (e->pointer_size == 8) worker->part.kernel_pointer_size = 8;
    if (e->hook >> 8 == HOOK_STACK >> 8) {
        survey_stack_event(worker, e);
        return;
    }
    if (e->hook == HOOK_CSWITCH) {
        survey_switch(worker, e);
        return;
    }
    if (e->hook == HOOK_SAMPLE || e->hook == HOOK_READY_THREAD) {
        Rd r = rd_from_str(e->payload);
        if (e->hook == HOOK_SAMPLE) rd_skip(&r, e->pointer_size);
        uint32_t tid = rd_u32(&r);
        if (rd_ok(&r)) mention(worker, tid, ETL_NO_ID, e->ticks);
        return;
    }
    bool exact = false;
    const EventSpec *spec = spec_find(e->hook, e->version, &exact);
    if (spec && spec->flags & SPEC_NOTE) notes_add(&worker->part.notes, e, spec, worker->seq);
    bool session = e->hook == HOOK_MASKS || e->hook == HOOK_MASKS_END || e->hook >> 8 == 0x0B;
    if (session || (spec && spec->flags & SPEC_KEEP)) keep(worker, e);
}

// Programs and old systems log kernel events with the headers of classic providers.
static void survey_kernel_class(Worker *worker, const EtlEvent *e) {
    enum { GROUPS_END = 0x2000 };
    EtlEvent kernel = *e;
    if (!spec_class_hook(&e->provider, e->opcode, &kernel.hook) || kernel.hook >= GROUPS_END)
        return;
    kernel.kind = ETL_SYSTEM;
    survey_kernel(worker, &kernel);
}

// Managed methods (ranges of code) and EventSource manifests.
static bool is_kept_manifest(const EtlEvent *e) {
    if (e->id == 0xFFFE) return true;
    bool clr = guid_eq(&e->provider, &known_guids[GUID_CLR_RUNTIME]) ||
               guid_eq(&e->provider, &known_guids[GUID_CLR_RUNDOWN]);
    return clr && ((e->id >= 136 && e->id <= 159) || e->id == 187);
}

static void survey_manifest(Worker *worker, const EtlEvent *e) {
    if (e->ext.stack.p || e->ext.has_stack_key) survey_inline_stack(worker, e);
    if (is_kept_manifest(e)) keep(worker, e);
    if (e->id == 18 && guid_eq(&e->provider, &known_guids[GUID_EVENT_TRACING])) {
        Rd r = rd_from_str(e->payload);
        uint64_t match_id = rd_u64(&r);
        uint32_t raw =
            raw_stack_add_bytes(&worker->part.raw, rd_bytes(&r, rd_left(&r)), e->pointer_size);
        if (rd_ok(&r) && raw) *vec_push(&worker->part.user_parts) = (UserPart){match_id, raw};
    }
}

// What names and fields need, and no more: classes, processes, schemas that the trace carries.
static void survey_names(Worker *worker, const EtlEvent *e) {
    enum { GROUP_PROCESS = 0x03 };
    if (e->kind == ETL_MANIFEST && e->id == 0xFFFE) keep(worker, e);
    if (e->kind == ETL_CLASSIC && guid_eq(&e->provider, &known_guids[GUID_EVENT_METADATA]))
        keep(worker, e);
    if (e->kind == ETL_SYSTEM && e->hook >> 8 == GROUP_PROCESS) survey_kernel(worker, e);
}

static void survey_event(Worker *worker, const EtlEvent *e) {
    uint32_t index = class_add(&worker->part.classes, e); // may move the items
    EventClass *class = &worker->part.classes.items.items[index];
    class->events++;
    class->bytes += e->whole.n;
    if (e->ticks < class->first_ticks) {
        class->first_ticks = e->ticks;
        class->first_seq = worker->seq;
    }
    if (e->ticks > class->last_ticks) class->last_ticks = e->ticks;
    if (worker->names_only) {
        survey_names(worker, e);
        return;
    }
    if (e->kind != ETL_PERFINFO) mention(worker, e->tid, e->pid, e->ticks);
    if (e->kind == ETL_SYSTEM || e->kind == ETL_PERFINFO) {
        survey_kernel(worker, e);
    } else if (e->kind == ETL_MANIFEST) {
        survey_manifest(worker, e);
    } else if (e->kind == ETL_CLASSIC) {
        for (size_t i = 0; i < KEPT_CLASS_COUNT; i++)
            if (guid_eq(&e->provider, &known_guids[i])) keep(worker, e);
        survey_kernel_class(worker, e);
    }
}

static Status survey_buffer(void *context, unsigned index, size_t item, Err *err) {
    Job *job = context;
    Worker *worker = &job->workers[index];
    BufferFacts *facts = &worker->part.buffers[item];
    *facts = (BufferFacts){.last_running = ETL_NO_ID,
                           .first_running = ETL_NO_ID,
                           .first_ticks = INT64_MAX,
                           .last_ticks = INT64_MIN};
    worker->facts = facts;
    EtlCursor cursor;
    TRY(etl_load(job->file, item, worker->scratch, &worker->part.issues, &cursor, err));
    EtlEvent event;
    while (etl_next(&cursor, &event)) {
        worker->seq = event_seq(item, event.index);
        if (event.ticks < facts->first_ticks) facts->first_ticks = event.ticks;
        if (event.ticks > facts->last_ticks) facts->last_ticks = event.ticks;
        facts->events++;
        survey_event(worker, &event);
    }
    if (job->progress)
        atomic_fetch_add(&job->progress->done, etl_buffer(job->file, item)->size_bytes);
    return OK;
}

#define COMPARE_FIELDS(name, Type, A, B)                                                           \
    static int name(const void *a, const void *b) {                                                \
        const Type *x = a, *y = b;                                                                 \
        if (x->A != y->A) return x->A < y->A ? -1 : 1;                                             \
        return (x->B > y->B) - (x->B < y->B);                                                      \
    }
COMPARE_FIELDS(compare_kept, Kept, ticks, seq)
COMPARE_FIELDS(compare_definitions, StackDefinition, seq, key)
COMPARE_FIELDS(compare_inline, InlineStack, seq, ticks)
COMPARE_FIELDS(compare_user_parts, UserPart, match_id, raw)

static int compare_mentions(const void *a, const void *b) {
    const Mention *x = a, *y = b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

#define APPEND(into, from)                                                                         \
    do {                                                                                           \
        vec_reserve(into, (into)->count + (from)->count);                                          \
        if ((from)->count)                                                                         \
            memcpy((into)->items + (into)->count, (from)->items,                                   \
                   (from)->count * sizeof *(from)->items);                                         \
        (into)->count += (from)->count;                                                            \
        vec_free(from);                                                                            \
    } while (0)

// Moves a worker's results into `out`, raw stack numbers translated.
static void merge_worker(Survey *out, Survey *part) {
    uint32_t *map = mem_zero(part->raw.items.count + 1, sizeof *map);
    raw_stacks_merge(&out->raw, &part->raw, map);
    for (size_t b = 0; b < part->refs.count; b++) {
        RefBlock *block = part->refs.items[b];
        for (uint32_t i = 0; i < block->count; i++)
            if (!block->refs[i].by_key) block->refs[i].key = map[block->refs[i].key];
    }
    for (size_t i = 0; i < part->definitions.count; i++)
        part->definitions.items[i].raw = map[part->definitions.items[i].raw];
    for (size_t i = 0; i < part->inline_stacks.count; i++)
        part->inline_stacks.items[i].raw = map[part->inline_stacks.items[i].raw];
    for (size_t i = 0; i < part->user_parts.count; i++)
        part->user_parts.items[i].raw = map[part->user_parts.items[i].raw];
    mem_free(map);
    raw_stacks_done(&part->raw);
    for (size_t i = 0; i < part->classes.items.count; i++)
        class_merge(&out->classes, &part->classes.items.items[i]);
    class_table_done(&part->classes);
    out->arenas[out->arena_count++] = part->arena;
    APPEND(&out->kept, &part->kept);
    APPEND(&out->refs, &part->refs);
    APPEND(&out->definitions, &part->definitions);
    APPEND(&out->inline_stacks, &part->inline_stacks);
    APPEND(&out->user_parts, &part->user_parts);
    APPEND(&out->mentions, &part->mentions);
    etl_issues_add(&out->issues, &part->issues);
    if (part->kernel_pointer_size == 8) out->kernel_pointer_size = 8;
}

static void sort_all(Survey *out) {
    vec_sort(&out->kept, compare_kept);
    vec_sort(&out->definitions, compare_definitions);
    vec_sort(&out->inline_stacks, compare_inline);
    vec_sort(&out->user_parts, compare_user_parts);
    vec_sort(&out->mentions, compare_mentions);
    class_sort(&out->classes);
    // One mention per (tid, pid): the first.
    size_t n = 0;
    for (size_t i = 0; i < out->mentions.count; i++) {
        const Mention *m = &out->mentions.items[i];
        const Mention *last = n ? &out->mentions.items[n - 1] : NULL;
        if (last && last->tid == m->tid && last->pid == m->pid) continue;
        out->mentions.items[n++] = *m;
    }
    out->mentions.count = n;
}

static Status run(EtlFile *file, unsigned workers, bool names_only, Progress *progress, Survey *out,
                  Err *err) {
    size_t count = etl_buffer_count(file);
    *out = (Survey){.buffers = mem_zero(count, sizeof(BufferFacts)),
                    .arenas = mem_zero(workers, sizeof(Arena)),
                    .kernel_pointer_size = 4};
    Job job = {file, mem_zero(workers, sizeof(Worker)), progress};
    for (unsigned i = 0; i < workers; i++) {
        Worker *worker = &job.workers[i];
        worker->scratch = etl_scratch_open();
        worker->part.buffers = out->buffers;
        worker->names_only = names_only;
        for (size_t k = 0; k < MENTION_CACHE; k++) worker->cache[k].ticks = INT64_MAX;
    }
    Status status = parallel_for(workers, count, survey_buffer, &job, progress, err);
    Notes *notes = mem_zero(workers, sizeof(Notes));
    for (unsigned i = 0; i < workers; i++) notes[i] = job.workers[i].part.notes;
    out->index = note_index_open(notes, workers);
    mem_free(notes);
    for (unsigned i = 0; i < workers; i++) {
        etl_scratch_close(job.workers[i].scratch);
        merge_worker(out, &job.workers[i].part);
    }
    mem_free(job.workers);
    if (status != OK) return status;
    etl_issues_add(&out->issues, etl_file_issues(file));
    sort_all(out);
    for (size_t i = 0; i < count; i++) out->events += out->buffers[i].events;
    return OK;
}

Status survey_run(EtlFile *file, unsigned workers, Progress *progress, Survey *out, Err *err) {
    return run(file, workers, false, progress, out, err);
}

Status survey_run_names(EtlFile *file, unsigned workers, Progress *progress, Survey *out,
                        Err *err) {
    return run(file, workers, true, progress, out, err);
}

void survey_done(Survey *survey) {
    class_table_done(&survey->classes);
    raw_stacks_done(&survey->raw);
    vec_free(&survey->kept);
    survey_refs_free(survey);
    vec_free(&survey->definitions);
    vec_free(&survey->inline_stacks);
    vec_free(&survey->user_parts);
    vec_free(&survey->mentions);
    note_index_close(survey->index);
    mem_free(survey->buffers);
    for (size_t i = 0; i < survey->arena_count; i++) arena_done(&survey->arenas[i]);
    mem_free(survey->arenas);
    *survey = (Survey){0};
}
