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

static Status read_functions(StackSet *set, Session *session, Err *err) {
    ResultSet rows;
    AUTO(arena_done) Arena scratch = {0};
    // The order makes function numbers the same every time.
    TRY(session_query(session,
                      STR("SELECT module, function, bool_or(is_export) FROM frame_name "
                          "GROUP BY ALL ORDER BY module, function"),
                      NULL, 0, 0, &scratch, &rows, err));
    set->function_count = (uint32_t)rows.row_count;
    set->functions = ARENA_ARRAY(&set->arena, Function, rows.row_count + 1);
    for (size_t i = 0; i < rows.row_count; i++) {
        const Cell *cells = &rows.cells[i * 3];
        set->functions[i] = (Function){.module = str_copy(&set->arena, cells[0].text),
                                       .name = str_copy(&set->arena, cells[1].text),
                                       .is_export = cells[2].boolean};
    }
    // Entries without any address share this one.
    set->functions[rows.row_count] = (Function){STR("unknown"), STR("unknown"), false};
    return OK;
}

static Status read_frames(StackSet *set, Session *session, Err *err) {
    Integers rows;
    AUTO(arena_done) Arena scratch = {0};
    TRY(session_integers(session,
                         STR("SELECT frame_id, dense_rank() OVER (ORDER BY module, function) - 1 "
                             "FROM frame_name"),
                         NULL, 0, 0, &scratch, &rows, err));
    for (size_t i = 0; i < rows.row_count; i++)
        (void)map_put(&set->function_of_frame, (uint64_t)rows.columns[0][i],
                      (uint64_t)rows.columns[1][i], NULL);
    return OK;
}

static uint32_t function_of(const StackSet *set, uint64_t frame) {
    const uint64_t *known = map_get(&set->function_of_frame, frame);
    return known ? (uint32_t)*known : set->function_count;
}

// Callers stand before their callees in the table: a node's parent has a smaller number.
static Status read_nodes(StackSet *set, Session *session, Err *err) {
    Integers rows;
    AUTO(arena_done) Arena scratch = {0};
    TRY(session_integers(session,
                         STR("SELECT stack_id, coalesce(parent_id, 0), frame_id, depth FROM stack"),
                         NULL, 0, 0, &scratch, &rows, err));
    set->node_count = (uint32_t)rows.row_count;
    set->parent = ARENA_ARRAY(&set->arena, uint32_t, rows.row_count + 1);
    set->function = ARENA_ARRAY(&set->arena, uint32_t, rows.row_count + 1);
    for (size_t i = 0; i < rows.row_count; i++) {
        uint64_t id = (uint64_t)rows.columns[0][i], parent = (uint64_t)rows.columns[1][i];
        if (id == 0 || id > rows.row_count || parent >= id)
            return err_set(err, ERR_INTERNAL,
                           "table stack is not a tree: load the trace anew "
                           "with force");
        set->parent[id] = (uint32_t)parent;
        set->function[id] = function_of(set, (uint64_t)rows.columns[2][i]);
        if (rows.columns[3][i] > set->longest) set->longest = (uint32_t)rows.columns[3][i];
    }
    return OK;
}

static Status slot_build(Session *session, Slot **out, Err *err) {
    Slot *slot = mem_zero(1, sizeof *slot);
    slot->set.longest = 1;
    Status status = read_functions(&slot->set, session, err);
    if (status == OK) status = read_frames(&slot->set, session, err);
    if (status == OK) status = read_nodes(&slot->set, session, err);
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

Status stack_weights(const StackSet *set, Session *session, Str sql, const Arg *args, size_t count,
                     Arena *arena, StackWeights *out, Err *err) {
    Integers rows;
    *out = (StackWeights){0};
    TRY(session_integers(session, sql, args, count, 0, arena, &rows, err));
    INVARIANT(rows.column_count == 4);
    out->items = ARENA_ARRAY(arena, StackWeight, rows.row_count);
    out->count = rows.row_count;
    for (size_t i = 0; i < rows.row_count; i++) {
        uint32_t id = (uint32_t)rows.columns[0][i];
        if (id > set->node_count) id = 0;
        StackWeight *entry = &out->items[i];
        *entry = (StackWeight){.stack_id = id,
                               .function = id ? set->function[id]
                                              : function_of(set, (uint64_t)rows.columns[1][i]),
                               .weight = rows.columns[2][i],
                               .samples = rows.columns[3][i]};
        out->weight += entry->weight;
        out->samples += entry->samples;
        out->bare_weight += id ? 0 : entry->weight;
        out->bare_samples += id ? 0 : entry->samples;
    }
    return OK;
}

uint32_t stack_path(const StackSet *set, const StackWeight *entry, uint32_t *out) {
    if (!entry->stack_id) {
        out[0] = entry->function;
        return 1;
    }
    uint32_t n = 0;
    for (uint32_t id = entry->stack_id; id && n < set->longest; id = set->parent[id])
        out[n++] = set->function[id];
    return n;
}
