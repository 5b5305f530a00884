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
    if (survey->definitions.count)
        qsort(survey->definitions.items, survey->definitions.count, sizeof(StackDefinition),
              compare_definitions);
    for (size_t i = 0; i < survey->refs.count; i++) {
        StackRef *ref = &survey->refs.items[i];
        if (!ref->by_key) continue;
        uint32_t raw = stack_of_key(survey, ref->key, ref->ticks);
        world->key_references++;
        world->unresolved_keys += raw == 0;
        ref->key = raw;
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
    uint64_t seq;
    uint32_t kernel, user; // raw stacks; 0: none
    uint32_t tid, pid;
    uint16_t cpu;
} Joined;

typedef VEC(Joined) JoinedVec;

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

static int compare_ref_groups(const void *a, const void *b) {
    const StackRef *x = a, *y = b;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->user != y->user) return x->user ? 1 : -1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

// Parts of one event share its time and thread. Each kernel part is one event's; the user part,
// logged when the thread returned to user mode, continues all of them. User parts alone are events
// that happened in user mode.
static void join_group(const StackRef *refs, size_t count, JoinedVec *out) {
    size_t kernels = 0;
    while (kernels < count && !refs[kernels].user) kernels++;
    uint32_t user = kernels < count ? (uint32_t)refs[kernels].key : 0;
    for (size_t i = 0; i < (kernels ? kernels : count); i++) {
        const StackRef *ref = &refs[i];
        bool alone = kernels == 0;
        *vec_push(out) = (Joined){.ticks = ref->ticks,
                                  .seq = ref->seq,
                                  .kernel = alone ? 0 : (uint32_t)ref->key,
                                  .user = alone ? (uint32_t)ref->key : user,
                                  .tid = ref->tid,
                                  .pid = ref->pid,
                                  .cpu = ref->cpu};
    }
}

static void join_refs(World *world, JoinedVec *out) {
    Survey *survey = &world->survey;
    size_t count = survey->refs.count;
    const StackRef *refs = survey->refs.items;
    SortKey *order = mem_alloc(arena_array_bytes(count, sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = (SortKey){(uint64_t)refs[i].ticks ^ (uint64_t)1 << 63, (uint32_t)i};
    sort_keys(order, count);
    VEC(StackRef) same = {0}; // records of one time, then by thread
    vec_reserve(out, count);
    for (size_t i = 0; i < count;) {
        same.count = 0;
        size_t to = i;
        for (; to < count && order[to].key == order[i].key; to++)
            *vec_push(&same) = refs[order[to].index];
        if (same.count > 1) qsort(same.items, same.count, sizeof *same.items, compare_ref_groups);
        for (size_t k = 0; k < same.count;) {
            size_t end = k + 1;
            while (end < same.count && same.items[end].tid == same.items[k].tid) end++;
            join_group(same.items + k, end - k, out);
            k = end;
        }
        i = to;
    }
    vec_free(&same);
    mem_free(order);
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
    JoinedVec joined = {0};
    join_refs(world, &joined);
    Interner interner = {0};
    for (size_t i = 0; i < joined.count; i++) {
        const Joined *one = &joined.items[i];
        uint32_t stack_id = intern(world, &interner, one);
        if (!stack_id) continue; // nothing but undefined keys, which are counted
        *vec_push(&world->stacks) = (StackEntry){.ticks = one->ticks,
                                                 .stack_id = stack_id,
                                                 .tid = one->tid,
                                                 .cpu = one->cpu,
                                                 .has_kernel_part = one->kernel != 0};
    }
    world->claimed = mem_zero(joined.count, 1);
    vec_free(&joined);
    intern_inline(world, &interner);
    mem_free(interner.nodes.slots);
    map_done(&interner.known);
    raw_stacks_done(&world->survey.raw);
    vec_free(&world->survey.refs);
    vec_free(&world->survey.definitions);
    vec_free(&world->survey.inline_stacks);
    vec_free(&world->survey.user_parts);
}
