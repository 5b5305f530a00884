// Stacks: kernel and user parts joined over the whole trace, keys resolved, distinct stacks
// interned as a tree whose nodes are (caller, frame). Rules: docs/formats/etl.md, stacks.
#include "base/search.h"
#include "base/sort.h"
#include "decode/world_internal.h"

#include <stdlib.h>

// ---------------------------------------------------------------- keys

static int compare_definitions(const void *a, const void *b) {
    const StackDefinition *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

// A key is defined after its uses (when the cache drops it, or at the end) and is used again: the
// first definition at or after the reference is the one. 0: none.
static uint32_t stack_of_key(const Survey *survey, uint64_t key, int64_t ticks) {
    const StackDefinition *d = survey->definitions.items;
    size_t at;
    FIND_FIRST(at, survey->definitions.count,
               d[at].key < key || (d[at].key == key && d[at].ticks < ticks));
    return at < survey->definitions.count && d[at].key == key ? d[at].raw : 0;
}

static void resolve_keys(World *world) {
    Survey *survey = &world->survey;
    vec_sort(&survey->definitions, compare_definitions);
    for (size_t b = 0; b < survey->refs.count; b++) {
        RefBlock *block = survey->refs.items[b];
        for (uint32_t i = 0; i < block->count; i++) {
            StackRef *ref = &block->refs[i];
            if (!ref->by_key) continue;
            uint32_t raw = stack_of_key(survey, ref->key, ref->ticks);
            world->key_references++;
            world->unresolved_keys += raw == 0;
            ref->key = raw;
        }
    }
    for (size_t i = 0; i < survey->inline_stacks.count; i++) {
        InlineStack *found = &survey->inline_stacks.items[i];
        if (!found->by_key) continue;
        found->raw = stack_of_key(survey, found->key, found->ticks);
        world->key_references++;
        world->unresolved_keys += found->raw == 0;
    }
}

// ---------------------------------------------------------------- interning

typedef struct Joined { // one event's stack before interning
    int64_t ticks;
    uint32_t kernel, user; // raw stacks; 0: none
    uint32_t tid, pid;
} Joined;

typedef struct NodeTable {
    uint32_t *slots; // stack_id; 0 free
    size_t capacity;
} NodeTable;

static uint64_t node_hash(uint32_t parent, uint64_t frame) {
    return u64_hash(frame ^ (uint64_t)parent * 0x9E3779B97F4A7C15u);
}

static void node_table_grow(World *world, NodeTable *table) {
    size_t capacity = table->capacity ? table->capacity * 2 : 4096;
    mem_free(table->slots);
    table->slots = mem_zero(capacity, sizeof *table->slots);
    table->capacity = capacity;
    for (size_t i = 0; i < world->nodes.count; i++) {
        const StackNode *node = &world->nodes.items[i];
        size_t at = node_hash(node->parent, node->frame) & (capacity - 1);
        while (table->slots[at]) at = (at + 1) & (capacity - 1);
        table->slots[at] = (uint32_t)i + 1;
    }
}

static uint32_t node_of(World *world, NodeTable *table, uint32_t parent, uint64_t frame) {
    if ((world->nodes.count + 1) * 3 > table->capacity * 2) node_table_grow(world, table);
    size_t at = node_hash(parent, frame) & (table->capacity - 1);
    for (; table->slots[at]; at = (at + 1) & (table->capacity - 1)) {
        const StackNode *node = &world->nodes.items[table->slots[at] - 1];
        if (node->parent == parent && node->frame == frame) return table->slots[at];
    }
    uint32_t depth = parent ? world->nodes.items[parent - 1].depth + 1 : 1;
    *vec_push(&world->nodes) = (StackNode){parent, depth, frame};
    table->slots[at] = (uint32_t)world->nodes.count;
    return table->slots[at];
}

// Walks a raw stack from its outermost frame. The innermost frame of the whole stack is where the
// thread was; all others are return addresses.
static uint32_t add_part(World *world, NodeTable *table, uint32_t parent, uint32_t raw,
                         const Joined *joined, bool innermost) {
    if (!raw) return parent;
    const RawStack *stack = raw_stack(&world->survey.raw, raw);
    uint32_t upid = 0;
    if (joined->pid != ETL_NO_ID) upid = world_process(world, joined->pid, joined->ticks);
    if (!upid)
        upid = world_process_of_thread(world, world_thread(world, joined->tid, joined->ticks));
    for (uint32_t i = stack->count; i-- > 0;) {
        uint64_t frame = world_frame(world, upid, stack->frames[i], joined->ticks);
        if (!frame) continue; // a zero address ends some recorded stacks
        bool is_return = (i > 0 || !innermost) && !(frame & FRAME_RAW);
        parent = node_of(world, table, parent, is_return ? frame | FRAME_RETURN : frame);
    }
    return parent;
}

typedef struct Interner {
    NodeTable nodes;
    Map known; // hash of (kernel, user, process, epochs) to stack_id
} Interner;

static uint32_t intern(World *world, Interner *interner, const Joined *joined) {
    uint32_t upid = joined->pid != ETL_NO_ID ? world_process(world, joined->pid, joined->ticks) : 0;
    if (!upid)
        upid = world_process_of_thread(world, world_thread(world, joined->tid, joined->ticks));
    uint32_t epoch = upid ? process_epoch(&world->processes.items[upid - 1], joined->ticks) : 0;
    uint32_t kernel_epoch = process_epoch(&world->kernel, joined->ticks);
    uint32_t key[5] = {joined->kernel, joined->user, upid, epoch, kernel_epoch};
    bool added = false;
    uint64_t *id = map_put(&interner->known, bytes_hash(key, sizeof key, 0), 0, &added);
    if (!added) return (uint32_t)*id;
    uint32_t leaf = add_part(world, &interner->nodes, 0, joined->user, joined, !joined->kernel);
    leaf = add_part(world, &interner->nodes, leaf, joined->kernel, joined, true);
    *id = leaf;
    return leaf;
}

// ---------------------------------------------------------------- joining parts

typedef struct SameTime {
    StackRef ref;
    uint32_t place;
} SameTime;

// Records of one time: by thread, kernel parts first, then as they stand in the file.
static int compare_places(const void *a, const void *b) {
    const SameTime *x = a, *y = b;
    if (x->ref.tid != y->ref.tid) return x->ref.tid < y->ref.tid ? -1 : 1;
    if (x->ref.user != y->ref.user) return x->ref.user ? 1 : -1;
    if (x->ref.buffer != y->ref.buffer) return x->ref.buffer < y->ref.buffer ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

// Parts of one event share its time and thread. Each kernel part is one event's; the user part,
// logged when the thread returned to user mode, continues all of them. User parts alone are events
// that happened in user mode.
static void join_group(World *world, Interner *interner, const SameTime *same, size_t count) {
    size_t kernels = 0;
    while (kernels < count && !same[kernels].ref.user) kernels++;
    uint32_t user = kernels < count ? (uint32_t)same[kernels].ref.key : 0;
    for (size_t i = 0; i < (kernels ? kernels : count); i++) {
        const StackRef *ref = &same[i].ref;
        bool alone = kernels == 0;
        Joined joined = {.ticks = ref->ticks,
                         .kernel = alone ? 0 : (uint32_t)ref->key,
                         .user = alone ? (uint32_t)ref->key : user,
                         .tid = ref->tid,
                         .pid = ref->pid};
        uint32_t stack_id = intern(world, interner, &joined);
        if (!stack_id) continue; // nothing but undefined keys, which are counted
        *vec_push(&world->stacks) = (StackEntry){.ticks = ref->ticks,
                                                 .stack_id = stack_id,
                                                 .tid = ref->tid,
                                                 .cpu = ref->cpu,
                                                 .has_kernel_part = joined.kernel != 0};
    }
}

// One stretch of time: its records in order, those of one time and thread joined.
static void join_stretch(World *world, Interner *interner, SortKey *order, size_t count) {
    sort_keys(order, count);
    VEC(SameTime) same = {0};
    for (size_t i = 0, to = 0; i < count; i = to) {
        same.count = 0;
        for (to = i; to < count && order[to].key == order[i].key; to++)
            *vec_push(&same) =
                (SameTime){*survey_ref(&world->survey, order[to].index), order[to].index};
        if (same.count > 1) vec_sort(&same, compare_places);
        for (size_t k = 0, end = 0; k < same.count; k = end) {
            end = k + 1;
            while (end < same.count && same.items[end].ref.tid == same.items[k].ref.tid) end++;
            join_group(world, interner, same.items + k, end - k);
        }
    }
    vec_free(&same);
}

static uint64_t time_key(const StackRef *ref) {
    return sort_key_signed(ref->ticks);
}

// Stretches of equal length, so that sorting stays within the processor's cache.
typedef struct Stretches {
    uint64_t first, width; // time keys
    size_t refs;
    size_t *ends; // per stretch, its end in `places`
    size_t count;
    uint32_t *places; // of the references, by stretch
} Stretches;

static size_t stretch_of(const Stretches *stretches, const StackRef *ref) {
    return (size_t)((time_key(ref) - stretches->first) / stretches->width);
}

static void stretches_measure(const Survey *survey, Stretches *out) {
    enum { STRETCH_REFS = 1024 };
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t b = 0; b < survey->refs.count; b++) {
        const RefBlock *block = survey->refs.items[b];
        out->refs += block->count;
        for (uint32_t i = 0; i < block->count; i++) {
            uint64_t key = time_key(&block->refs[i]);
            if (key < first) first = key;
            if (key > last) last = key;
        }
    }
    out->first = first;
    // Two at the least: a damaged record's time may be any, and the width of one would overflow.
    out->width = out->refs ? (last - first) / (out->refs / STRETCH_REFS + 2) + 1 : 1;
    out->count = out->refs ? (size_t)((last - first) / out->width) + 1 : 0;
}

static Stretches stretches_open(const Survey *survey) {
    Stretches out = {0};
    stretches_measure(survey, &out);
    out.ends = mem_zero(out.count + 1, sizeof *out.ends);
    out.places = mem_alloc(arena_array_bytes(out.refs, sizeof *out.places));
    size_t *starts = out.ends + 1; // counts, then starts, at last ends
    for (size_t b = 0; b < survey->refs.count; b++)
        for (uint32_t i = 0; i < survey->refs.items[b]->count; i++)
            starts[stretch_of(&out, &survey->refs.items[b]->refs[i])]++;
    for (size_t s = 1; s < out.count; s++) out.ends[s] += out.ends[s - 1];
    for (size_t b = 0; b < survey->refs.count; b++)
        for (uint32_t i = 0; i < survey->refs.items[b]->count; i++)
            out.places[out.ends[stretch_of(&out, &survey->refs.items[b]->refs[i])]++] =
                (uint32_t)(b << REF_BLOCK_BITS) + i;
    return out;
}

static void join_refs(World *world, Interner *interner) {
    Stretches stretches = stretches_open(&world->survey);
    vec_reserve(&world->stacks, stretches.refs);
    VEC(SortKey) order = {0};
    size_t at = 0;
    for (size_t s = 0; s < stretches.count; s++) {
        order.count = 0;
        for (; at < stretches.ends[s]; at++) {
            uint32_t place = stretches.places[at];
            *vec_push(&order) = (SortKey){time_key(survey_ref(&world->survey, place)), place};
        }
        if (order.count) join_stretch(world, interner, order.items, order.count);
    }
    vec_free(&order);
    mem_free(stretches.ends);
    mem_free(stretches.places);
}

static uint32_t user_part(const Survey *survey, uint64_t match_id) {
    size_t count = survey->user_parts.count, at;
    FIND_FIRST(at, count, survey->user_parts.items[at].match_id < match_id);
    bool found = at < count && survey->user_parts.items[at].match_id == match_id;
    return found ? survey->user_parts.items[at].raw : 0;
}

static void intern_inline(World *world, Interner *interner) {
    Survey *survey = &world->survey;
    for (size_t i = 0; i < survey->inline_stacks.count; i++) {
        const InlineStack *found = &survey->inline_stacks.items[i];
        if (!found->raw) continue;
        Joined joined = {.ticks = found->ticks,
                         .kernel = found->raw,
                         .user = found->match_id ? user_part(survey, found->match_id) : 0,
                         .tid = found->tid,
                         .pid = found->pid};
        uint32_t id = intern(world, interner, &joined);
        *vec_push(&world->inline_stacks) = (InlineEntry){found->seq, id};
    }
}

void world_build_stacks(World *world) {
    resolve_keys(world);
    Interner interner = {0};
    join_refs(world, &interner);
    world->claimed = mem_zero(world->stacks.count, 1);
    intern_inline(world, &interner);
    mem_free(interner.nodes.slots);
    map_done(&interner.known);
    raw_stacks_done(&world->survey.raw);
    survey_refs_free(&world->survey);
    vec_free(&world->survey.definitions);
    vec_free(&world->survey.inline_stacks);
    vec_free(&world->survey.user_parts);
}
