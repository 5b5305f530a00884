// The stack set: read from the tables stack and frame_name in one go each.
#include "tools/stacks.h"

typedef struct Slot { // a set and who uses it
    StackSet set;
    unsigned users;
    bool dropped;
} Slot;

struct StackCache {
    Mutex mutex;
    Slot *current;
};

static void slot_free(Slot *slot) {
    arena_done(&slot->set.arena);
    map_done(&slot->set.function_of_frame);
    map_done(&slot->set.sampled);
    mem_free(slot);
}

StackCache *stack_cache_open(void) {
    StackCache *cache = mem_zero(1, sizeof *cache);
    mutex_init(&cache->mutex);
    return cache;
}

void stack_cache_close(StackCache *cache) {
    if (!cache) return;
    if (cache->current) slot_free(cache->current);
    mutex_done(&cache->mutex);
    mem_free(cache);
}

// One query, in the order that makes function numbers the same every time: equal functions follow
// each other.
static Status read_functions(StackSet *set, Session *session, Err *err) {
    ResultSet rows;
    AUTO(arena_done) Arena scratch = {0};
    TRY(session_query(session,
                      STR("SELECT frame_id::UBIGINT, module, function, is_export FROM frame_name "
                          "ORDER BY module, function, frame_id"),
                      NULL, 0, 0, &scratch, &rows, err));
    set->functions = ARENA_ARRAY(&set->arena, Function, rows.row_count + 1);
    Function *last = NULL;
    for (size_t i = 0; i < rows.row_count; i++) {
        const Cell *cells = &rows.cells[i * 4];
        bool is_export = cells[3].type == CELL_BOOL && cells[3].boolean;
        if (!last || !str_eq(last->name, cells[2].text) || !str_eq(last->module, cells[1].text)) {
            bool same_module = last && str_eq(last->module, cells[1].text);
            Str module = same_module ? last->module : str_copy(&set->arena, cells[1].text);
            last = &set->functions[set->function_count++];
            *last = (Function){module, str_copy(&set->arena, cells[2].text), is_export};
        }
        last->is_export = last->is_export || is_export;
        (void)map_put(&set->function_of_frame, cells[0].u64, set->function_count - 1, NULL);
    }
    // Entries without any address share this one.
    set->functions[set->function_count] = (Function){STR("unknown"), STR("unknown"), false};
    return OK;
}

static uint32_t function_of(const StackSet *set, uint64_t frame) {
    const uint64_t *known = map_get(&set->function_of_frame, frame);
    // More names than functions: they changed in between, and this set is about to be dropped.
    return known && *known < set->function_count ? (uint32_t)*known : set->function_count;
}

// Nodes as they come: callers stand before their callees, so a parent has a smaller number. Equal
// functions below one parent are one node, whatever addresses they were seen at.
typedef struct RawNodes {
    Arena arena;
    uint32_t count;
    uint32_t *parent, *function;
    uint32_t *of_stack; // by stack_id
    uint32_t first_partial;
} RawNodes;

static void raw_nodes_done_auto(RawNodes *raw) {
    arena_done(&raw->arena);
}

static Status raw_parents(StackSet *set, RawNodes *raw, const Integers *rows, size_t room,
                          Err *err) {
    Map known = {0};
    Status status = OK;
    raw->parent = ARENA_ARRAY(&raw->arena, uint32_t, room);
    raw->function = ARENA_ARRAY(&raw->arena, uint32_t, room);
    raw->of_stack = ARENA_ARRAY(&raw->arena, uint32_t, rows->row_count + 1);
    for (size_t i = 0; i < rows->row_count && status == OK; i++) {
        uint64_t id = (uint64_t)rows->columns[0][i], parent = (uint64_t)rows->columns[1][i];
        if (id == 0 || id > rows->row_count || parent >= id) {
            status = err_set(err, ERR_INTERNAL,
                             "table stack is not a tree: load the trace anew with force");
            break;
        }
        uint32_t function = function_of(set, (uint64_t)rows->columns[2][i]);
        uint32_t above = raw->of_stack[parent];
        bool added = false;
        uint64_t *node = map_put(&known, (uint64_t)above << 32 | function, raw->count + 1, &added);
        raw->of_stack[id] = (uint32_t)*node;
        if (added) {
            raw->count++;
            raw->parent[raw->count] = above;
            raw->function[raw->count] = function;
        }
        uint32_t depth = (uint32_t)rows->columns[3][i];
        if (depth > set->longest) set->longest = depth;
    }
    map_done(&known);
    set->stack_count = (uint32_t)rows->row_count;
    raw->first_partial = raw->count + 1;
    return status;
}

static uint64_t sampled_key(uint32_t node, uint32_t function) {
    return (uint64_t)node << 32 | function;
}

// Adds a node below a stack for an address that the stack should have begun with.
static void add_sampled(StackSet *set, RawNodes *raw, uint64_t stack, uint64_t frame) {
    uint32_t function = function_of(set, frame);
    if (!stack || stack > set->stack_count) return;
    uint32_t above = raw->of_stack[stack];
    if (function == raw->function[above]) return;
    bool added = false;
    (void)map_put(&set->sampled, sampled_key(above, function), raw->count + 1, &added);
    if (!added) return;
    raw->count++;
    raw->parent[raw->count] = above;
    raw->function[raw->count] = function;
}

static Status read_nodes(StackSet *set, Session *session, RawNodes *raw, Err *err) {
    Integers rows, more;
    AUTO(arena_done) Arena scratch = {0};
    TRY(session_integers(session,
                         STR("SELECT stack_id, coalesce(parent_id, 0), frame_id, depth FROM stack "
                             "ORDER BY stack_id"),
                         NULL, 0, 0, &scratch, &rows, err));
    TRY(session_integers(session,
                         STR("SELECT DISTINCT s.stack_id, s.frame_id FROM sample AS s "
                             "JOIN stack AS k ON k.stack_id = s.stack_id "
                             "WHERE s.frame_id <> k.frame_id ORDER BY ALL"),
                         NULL, 0, 0, &scratch, &more, err));
    TRY(raw_parents(set, raw, &rows, rows.row_count + more.row_count + 1, err));
    for (size_t i = 0; i < more.row_count; i++)
        add_sampled(set, raw, (uint64_t)more.columns[0][i], (uint64_t)more.columns[1][i]);
    if (raw->count >= raw->first_partial) set->longest++;
    return OK;
}

// Lists of children in the order of their functions: a counting sort of all nodes by function, then
// each is put in front of its parent's list, the last first.
typedef struct Siblings {
    uint32_t *first, *next;
} Siblings;

static Siblings link_siblings(const StackSet *set, const RawNodes *raw, Arena *scratch) {
    size_t functions = (size_t)set->function_count + 2;
    uint32_t *at = ARENA_ARRAY(scratch, uint32_t, functions);
    uint32_t *order = ARENA_ARRAY(scratch, uint32_t, (size_t)raw->count + 1);
    Siblings out = {ARENA_ARRAY(scratch, uint32_t, (size_t)raw->count + 1),
                    ARENA_ARRAY(scratch, uint32_t, (size_t)raw->count + 1)};
    for (uint32_t id = 1; id <= raw->count; id++) at[raw->function[id] + 1]++;
    for (size_t f = 1; f < functions; f++) at[f] += at[f - 1];
    for (uint32_t id = 1; id <= raw->count; id++) order[at[raw->function[id]]++] = id;
    for (uint32_t i = raw->count; i-- > 0;) {
        uint32_t id = order[i];
        out.next[id] = out.first[raw->parent[id]];
        out.first[raw->parent[id]] = id;
    }
    return out;
}

static void set_node(StackSet *set, const RawNodes *raw, uint32_t id, uint32_t *place,
                     uint32_t node) {
    place[id] = node;
    set->parent[node] = place[raw->parent[id]];
    set->function[node] = raw->function[id];
    set->partial[node] = id >= raw->first_partial;
}

// Gives every node its place in preorder; siblings stand in the order of their functions, so the
// order of nodes is that of their paths.
static void order_nodes(StackSet *set, const RawNodes *raw, Arena *scratch) {
    size_t room = (size_t)raw->count + 2;
    uint32_t *place = ARENA_ARRAY(scratch, uint32_t, room);
    Siblings siblings = link_siblings(set, raw, scratch);
    set->node_count = raw->count;
    set->parent = ARENA_ARRAY(&set->arena, uint32_t, room);
    set->function = ARENA_ARRAY(&set->arena, uint32_t, room);
    set->end = ARENA_ARRAY(&set->arena, uint32_t, room);
    set->partial = ARENA_ARRAY(&set->arena, bool, room);
    set->node_of_stack = ARENA_ARRAY(&set->arena, uint32_t, (size_t)set->stack_count + 1);
    uint32_t id = siblings.first[0], node = 0;
    while (id) {
        set_node(set, raw, id, place, ++node);
        if (siblings.first[id]) {
            id = siblings.first[id];
            continue;
        }
        for (; id && !siblings.next[id]; id = raw->parent[id]) set->end[place[id]] = node + 1;
        if (!id) break;
        set->end[place[id]] = node + 1;
        id = siblings.next[id];
    }
    for (uint32_t stack = 1; stack <= set->stack_count; stack++)
        set->node_of_stack[stack] = place[raw->of_stack[stack]];
    for (size_t i = 0; i < set->sampled.capacity; i++) {
        if (!set->sampled.used[i]) continue;
        set->sampled.slots[i].value = place[set->sampled.slots[i].value];
    }
    set->raw_of_node = ARENA_ARRAY(&set->arena, uint32_t, room);
    for (uint32_t k = 1; k <= raw->count; k++) set->raw_of_node[place[k]] = k;
}

// Which nodes are of which function, and which of them are recursive.
static void index_functions(StackSet *set, Arena *scratch) {
    size_t functions = (size_t)set->function_count + 1;
    uint32_t *covered = ARENA_ARRAY(scratch, uint32_t, functions);
    uint32_t *at = ARENA_ARRAY(scratch, uint32_t, functions);
    set->nested = ARENA_ARRAY(&set->arena, bool, (size_t)set->node_count + 2);
    set->first_of = ARENA_ARRAY(&set->arena, uint32_t, functions + 1);
    set->of_function = ARENA_ARRAY(&set->arena, uint32_t, (size_t)set->node_count + 1);
    for (uint32_t node = 1; node <= set->node_count; node++)
        set->first_of[set->function[node] + 1]++;
    for (size_t f = 0; f < functions; f++) {
        set->first_of[f + 1] += set->first_of[f];
        at[f] = set->first_of[f];
    }
    for (uint32_t node = 1; node <= set->node_count; node++) {
        uint32_t f = set->function[node];
        set->of_function[at[f]++] = node;
        set->nested[node] = node < covered[f];
        if (!set->nested[node]) covered[f] = set->end[node];
    }
}

static Status build_tree(StackSet *set, Session *session, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    AUTO(raw_nodes_done) RawNodes raw = {0};
    TRY(read_nodes(set, session, &raw, err));
    order_nodes(set, &raw, &scratch);
    index_functions(set, &scratch);
    return OK;
}

static Status slot_build(Session *session, Slot **out, Err *err) {
    Slot *slot = mem_zero(1, sizeof *slot);
    slot->set.longest = 1;
    Status status = read_functions(&slot->set, session, err);
    if (status == OK) status = build_tree(&slot->set, session, err);
    if (status == OK)
        *out = slot;
    else
        slot_free(slot);
    return status;
}

Status stack_cache_get(StackCache *cache, Session *session, const StackSet **out, Err *err) {
    // Built under the lock: a second caller waits for the first one's set.
    mutex_lock(&cache->mutex);
    Status status = cache->current ? OK : slot_build(session, &cache->current, err);
    if (status == OK) {
        cache->current->users++;
        *out = &cache->current->set;
    }
    mutex_unlock(&cache->mutex);
    return status;
}

void stack_cache_release(StackCache *cache, const StackSet *set) {
    if (!set) return;
    mutex_lock(&cache->mutex);
    Slot *slot = (Slot *)(uintptr_t)set; // the set is the slot's first member
    if (--slot->users == 0 && slot->dropped) slot_free(slot);
    mutex_unlock(&cache->mutex);
}

void stack_cache_drop(StackCache *cache) {
    mutex_lock(&cache->mutex);
    Slot *slot = cache->current;
    cache->current = NULL;
    if (slot && slot->users == 0)
        slot_free(slot);
    else if (slot)
        slot->dropped = true;
    mutex_unlock(&cache->mutex);
}

// The node of a stack whose innermost frame is of `function`, as far as one was sampled.
static uint32_t node_of(const StackSet *set, uint64_t stack, uint32_t function) {
    uint32_t node = set->node_of_stack[stack];
    if (set->function[node] == function) return node;
    const uint64_t *own = map_get(&set->sampled, sampled_key(set->raw_of_node[node], function));
    return own ? (uint32_t)*own : node;
}

Status stack_weights(const StackSet *set, Session *session, const StackQuery *query, Arena *arena,
                     StackWeights *out, Err *err) {
    Integers rows;
    *out = (StackWeights){0};
    TRY(session_integers(session, query->sql, query->args, query->count, 0, arena, &rows, err));
    INVARIANT(rows.column_count >= 4);
    out->items = ARENA_ARRAY(arena, StackWeight, rows.row_count);
    out->count = rows.row_count;
    for (size_t i = 0; i < rows.row_count; i++) {
        uint64_t stack = (uint64_t)rows.columns[0][i], frame = (uint64_t)rows.columns[1][i];
        StackWeight *entry = &out->items[i];
        *entry = (StackWeight){.weight = rows.columns[2][i], .samples = rows.columns[3][i]};
        bool known = stack && stack <= set->stack_count;
        if (!known || frame) entry->function = function_of(set, frame);
        if (known && !frame) entry->function = set->function[set->node_of_stack[stack]];
        if (known) entry->node = node_of(set, stack, entry->function);
        if (known) entry->function = set->function[entry->node];
        if (rows.column_count > 4) out->idle_weight += rows.columns[4][i];
        out->weight += entry->weight;
        out->samples += entry->samples;
        out->bare_weight += known ? 0 : entry->weight;
        out->bare_samples += known ? 0 : entry->samples;
    }
    return OK;
}

uint32_t stack_path(const StackSet *set, const StackWeight *entry, uint32_t *out) {
    if (!entry->node) {
        out[0] = entry->function;
        return 1;
    }
    uint32_t n = 0;
    for (uint32_t node = entry->node; node && n < set->longest; node = set->parent[node])
        out[n++] = set->function[node];
    return n;
}

void stack_tree_build(const StackSet *set, const StackWeights *weights, Arena *arena,
                      StackTree *out) {
    size_t room = (size_t)set->node_count + 2;
    *out = (StackTree){set, ARENA_ARRAY(arena, int64_t, room), ARENA_ARRAY(arena, int64_t, room)};
    for (size_t i = 0; i < weights->count; i++) {
        const StackWeight *entry = &weights->items[i];
        if (!entry->node) continue;
        out->weight_before[entry->node + 1] += entry->weight;
        out->samples_before[entry->node + 1] += entry->samples;
    }
    for (size_t node = 2; node < room; node++) {
        out->weight_before[node] += out->weight_before[node - 1];
        out->samples_before[node] += out->samples_before[node - 1];
    }
}

FunctionWeight *stack_function_weights(const StackTree *tree, Arena *arena) {
    const StackSet *set = tree->set;
    FunctionWeight *out = ARENA_ARRAY(arena, FunctionWeight, (size_t)set->function_count + 1);
    for (uint32_t node = 1; node <= set->node_count; node++) {
        FunctionWeight *of = &out[set->function[node]];
        of->exclusive += stack_tree_own(tree, node);
        if (set->nested[node]) continue;
        of->inclusive += stack_tree_weight(tree, node);
        of->samples += stack_tree_samples(tree, node);
    }
    return out;
}

uint32_t stack_heaviest(const StackTree *tree, uint32_t function) {
    const StackSet *set = tree->set;
    uint32_t best = 0;
    int64_t most = 0;
    for (uint32_t i = set->first_of[function]; i < set->first_of[function + 1]; i++) {
        uint32_t first = set->of_function[i];
        if (set->nested[first] || stack_tree_weight(tree, first) <= most) continue;
        for (uint32_t node = first; node < set->end[first]; node++) {
            int64_t own = stack_tree_own(tree, node);
            if (own <= most) continue;
            most = own;
            best = node;
        }
    }
    return best;
}
