// Chains: occurrences of the start are nodes of the stack tree; a chain is kept as the list of
// nodes that its samples pass through. Subtrees are ranges that are apart or nested, so the weight
// of a list in preorder is one sweep that skips what lies inside what was counted, and the weight
// of samples that pass through two lists is a merge of the two.
#include "tools/chain.h"

#include <stdlib.h>

// ---------------------------------------------------------------- one step

static int compare_neighbours(const void *left, const void *right) {
    const Neighbour *a = left, *b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    if (a->is_end != b->is_end) return a->is_end ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

typedef struct Sums { // one per function, and one for the end
    int64_t *weight, *samples;
    uint32_t end;
} Sums;

static void add_node(const StackTree *tree, const Sums *sums, uint32_t at, uint32_t node,
                     int64_t sign) {
    sums->weight[at] += sign * stack_tree_weight(tree, node);
    sums->samples[at] += sign * stack_tree_samples(tree, node);
}

static void sum_callers(const StackTree *tree, uint32_t node, const Sums *sums) {
    const StackSet *set = tree->set;
    if (set->nested[node]) return;
    uint32_t parent = set->parent[node];
    add_node(tree, sums, parent ? set->function[parent] : sums->end, node, 1);
}

// What goes through a child, less what goes through a further call of the same function below it:
// there the inner call counts.
static void sum_callees(const StackTree *tree, uint32_t node, const Sums *sums) {
    const StackSet *set = tree->set;
    sums->weight[sums->end] += stack_tree_own(tree, node);
    sums->samples[sums->end] += tree->samples_before[node + 1] - tree->samples_before[node];
    for (uint32_t child = node + 1; child < set->end[node]; child = set->end[child])
        add_node(tree, sums, set->function[child], child, 1);
    if (!set->nested[node]) return;
    uint32_t child = node;
    while (set->function[set->parent[child]] != set->function[node]) child = set->parent[child];
    add_node(tree, sums, set->function[child], node, -1);
}

Neighbours stack_neighbours(const StackTree *tree, uint32_t function, bool callees, Arena *arena) {
    const StackSet *set = tree->set;
    AUTO(arena_done) Arena scratch = {0};
    size_t functions = (size_t)set->function_count + 2;
    Sums sums = {ARENA_ARRAY(&scratch, int64_t, functions),
                 ARENA_ARRAY(&scratch, int64_t, functions), set->function_count + 1};
    for (uint32_t i = set->first_of[function]; i < set->first_of[function + 1]; i++) {
        if (callees)
            sum_callees(tree, set->of_function[i], &sums);
        else
            sum_callers(tree, set->of_function[i], &sums);
    }
    Neighbours out = {.callees = callees};
    for (size_t f = 0; f < functions; f++) out.count += sums.samples[f] > 0;
    out.items = ARENA_ARRAY(arena, Neighbour, out.count);
    size_t at = 0;
    for (uint32_t f = 0; f < functions; f++) {
        if (sums.samples[f] <= 0) continue;
        out.items[at++] = (Neighbour){f, f == sums.end, sums.weight[f], sums.samples[f]};
        out.total += sums.weight[f];
    }
    vec_sort(&out, compare_neighbours);
    return out;
}

int64_t stack_recursive_weight(const StackTree *tree, uint32_t function) {
    const StackSet *set = tree->set;
    int64_t weight = 0;
    uint32_t covered = 0;
    for (uint32_t i = set->first_of[function]; i < set->first_of[function + 1]; i++) {
        uint32_t node = set->of_function[i];
        if (!set->nested[node] || node < covered) continue;
        weight += stack_tree_weight(tree, node);
        covered = set->end[node];
    }
    return weight;
}

// ---------------------------------------------------------------- chains

typedef struct Link { // samples through `owner` hold the chain; it goes on from `cursor`
    uint32_t owner, cursor;
} Link;

typedef struct Edge { // a chain that may become a row
    ChainRow row;
    Link *links; // by owner
    size_t link_count;
} Edge;

typedef struct Step { // one link of one of the functions that an expansion leads to
    uint32_t group;
    Link link;
} Step;

typedef struct Builder {
    const StackTree *tree;
    const ChainOptions *options;
    Arena *arena;
    VEC(Edge) edges;
    VEC(size_t) heap; // of edges, the heaviest on top
    VEC(Step) steps;
    VEC(Edge) groups;
    uint32_t *group_of; // by function: number + 1, valid when group_stamp is current
    uint32_t *group_stamp;
    uint32_t stamp;
    VEC(ChainRow) rows;
} Builder;

static bool heavier(const Builder *builder, size_t left, size_t right) {
    const ChainRow *a = &builder->edges.items[left].row, *b = &builder->edges.items[right].row;
    if (a->chain_weight != b->chain_weight) return a->chain_weight > b->chain_weight;
    return left < right;
}

static void swap_heap(Builder *builder, size_t a, size_t b) {
    size_t other = builder->heap.items[a];
    builder->heap.items[a] = builder->heap.items[b];
    builder->heap.items[b] = other;
}

static void heap_push(Builder *builder, size_t edge) {
    *vec_push(&builder->heap) = edge;
    size_t at = builder->heap.count - 1;
    while (at && heavier(builder, builder->heap.items[at], builder->heap.items[(at - 1) / 2])) {
        swap_heap(builder, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static size_t heap_pop(Builder *builder) {
    size_t top = builder->heap.items[0];
    builder->heap.items[0] = builder->heap.items[--builder->heap.count];
    for (size_t at = 0;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < builder->heap.count &&
                heavier(builder, builder->heap.items[child], builder->heap.items[best]))
                best = child;
        if (best == at) return top;
        swap_heap(builder, at, best);
        at = best;
    }
}

static int compare_links(const void *left, const void *right) {
    const Link *a = left, *b = right;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

static void weigh(const StackTree *tree, Edge *edge) {
    uint32_t covered = 0;
    bool sorted = true;
    for (size_t i = 1; i < edge->link_count && sorted; i++)
        sorted = edge->links[i - 1].owner < edge->links[i].owner;
    if (!sorted) qsort(edge->links, edge->link_count, sizeof *edge->links, compare_links);
    for (size_t i = 0; i < edge->link_count; i++) {
        uint32_t owner = edge->links[i].owner;
        if (owner < covered) continue;
        edge->row.chain_weight += stack_tree_weight(tree, owner);
        edge->row.chain_samples += stack_tree_samples(tree, owner);
        covered = tree->set->end[owner];
    }
}

// Weight of the samples that hold the chain of `links` and, anywhere, `function`.
static int64_t weight_with(const StackTree *tree, const Edge *edge, uint32_t function) {
    const StackSet *set = tree->set;
    int64_t weight = 0;
    size_t i = 0;
    uint32_t k = set->first_of[function], last = set->first_of[function + 1];
    while (i < edge->link_count && k < last) {
        uint32_t a = edge->links[i].owner, b = set->of_function[k];
        bool b_inside = b >= a && b<set->end[a], a_inside = a> b && a < set->end[b];
        if (!b_inside && !a_inside) {
            if (a < b)
                i++;
            else
                k++;
            continue;
        }
        uint32_t inner = b_inside ? b : a, end = set->end[inner];
        weight += stack_tree_weight(tree, inner);
        while (i < edge->link_count && edge->links[i].owner < end &&
               (a_inside || edge->links[i].owner > a))
            i++;
        while (k < last && set->of_function[k] < end && (b_inside || set->of_function[k] > b)) k++;
    }
    return weight;
}

static void add_step(Builder *builder, uint32_t function, uint32_t owner, uint32_t cursor) {
    if (builder->group_stamp[function] != builder->stamp) {
        builder->group_stamp[function] = builder->stamp;
        builder->group_of[function] = (uint32_t)builder->groups.count;
        *vec_push(&builder->groups) = (Edge){.row = {.function = function}};
    }
    uint32_t group = builder->group_of[function];
    builder->groups.items[group].link_count++;
    *vec_push(&builder->steps) = (Step){
        group, {owner, cursor}
    };
}

static void take_steps(Builder *builder, const Edge *from) {
    const StackTree *tree = builder->tree;
    const StackSet *set = tree->set;
    builder->steps.count = builder->groups.count = 0;
    builder->stamp++;
    for (size_t i = 0; i < from->link_count; i++) {
        Link link = from->links[i];
        if (!builder->options->callees) {
            uint32_t parent = set->parent[link.cursor];
            if (parent) add_step(builder, set->function[parent], link.owner, parent);
            continue;
        }
        uint32_t end = set->end[link.cursor];
        for (uint32_t child = link.cursor + 1; child < end; child = set->end[child])
            if (stack_tree_samples(tree, child))
                add_step(builder, set->function[child], child, child);
    }
    for (size_t g = 0; g < builder->groups.count; g++) {
        Edge *group = &builder->groups.items[g];
        group->links = ARENA_ARRAY(builder->arena, Link, group->link_count);
        group->link_count = 0;
    }
    for (size_t i = 0; i < builder->steps.count; i++) {
        Edge *group = &builder->groups.items[builder->steps.items[i].group];
        group->links[group->link_count++] = builder->steps.items[i].link;
    }
}

static int compare_groups(const void *left, const void *right) {
    const ChainRow *a = &((const Edge *)left)->row, *b = &((const Edge *)right)->row;
    if (a->chain_weight != b->chain_weight) return a->chain_weight > b->chain_weight ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static size_t count_followed(const Builder *builder, int64_t parent_weight) {
    const ChainOptions *options = builder->options;
    size_t count = builder->groups.count;
    if (options->policy == BRANCH_ALL) return count;
    if (options->policy == BRANCH_DOMINANT) return count ? 1 : 0;
    size_t followed = 0;
    while (followed < count && 100.0 * (double)builder->groups.items[followed].row.chain_weight >=
                                   options->threshold_pct * (double)parent_weight)
        followed++;
    return followed;
}

static void expand(Builder *builder, size_t edge_index, size_t row_index) {
    const ChainOptions *options = builder->options;
    Edge from = builder->edges.items[edge_index];
    if (from.row.depth >= options->depth_max) return;
    if (options->stops && options->stops[from.row.function]) return;
    take_steps(builder, &from);
    for (size_t g = 0; g < builder->groups.count; g++)
        weigh(builder->tree, &builder->groups.items[g]);
    vec_sort(&builder->groups, compare_groups);
    size_t followed = count_followed(builder, from.row.chain_weight);
    for (size_t g = 0; g < followed; g++) {
        Edge edge = builder->groups.items[g];
        edge.row.depth = from.row.depth + 1;
        edge.row.parent = row_index;
        edge.row.siblings_left = builder->groups.count - followed;
        edge.row.frame_weight = (int64_t)edge_index; // until the row is made: the parent's edge
        *vec_push(&builder->edges) = edge;
        heap_push(builder, builder->edges.count - 1);
    }
}

static void push_start(Builder *builder, uint32_t function) {
    const StackSet *set = builder->tree->set;
    uint32_t first = set->first_of[function], last = set->first_of[function + 1];
    Edge edge = {.row = {.function = function}};
    edge.links = ARENA_ARRAY(builder->arena, Link, last - first);
    for (uint32_t i = first; i < last; i++) {
        uint32_t node = set->of_function[i];
        if (stack_tree_samples(builder->tree, node))
            edge.links[edge.link_count++] = (Link){node, node};
    }
    weigh(builder->tree, &edge);
    edge.row.frame_weight = 0;
    *vec_push(&builder->edges) = edge;
    heap_push(builder, 0);
}

// Best first: what is shown under a cap is the heaviest part of the tree, and holds every parent.
static void pick_rows(Builder *builder, Chain *out) {
    while (builder->heap.count && builder->rows.count < builder->options->rows_max) {
        size_t index = heap_pop(builder);
        ChainRow row = builder->edges.items[index].row;
        row.frame_weight =
            index
                ? weight_with(builder->tree, &builder->edges.items[row.frame_weight], row.function)
                : row.chain_weight;
        *vec_push(&builder->rows) = row;
        expand(builder, index, builder->rows.count - 1);
    }
    out->hidden_edges = builder->heap.count;
    for (size_t i = 0; i < builder->heap.count; i++)
        out->hidden_weight += builder->edges.items[builder->heap.items[i]].row.chain_weight;
}

// Rows were picked by weight, so siblings stand in the right order: children follow their parent.
static void order_rows(const Builder *builder, Arena *arena, Chain *out) {
    AUTO(arena_done) Arena scratch = {0};
    size_t count = builder->rows.count;
    size_t *first = ARENA_ARRAY(&scratch, size_t, count + 1); // child + 1
    size_t *next = ARENA_ARRAY(&scratch, size_t, count + 1);  // sibling + 1
    size_t *place = ARENA_ARRAY(&scratch, size_t, count + 1);
    for (size_t i = count; i-- > 1;) {
        size_t parent = builder->rows.items[i].parent;
        next[i] = first[parent];
        first[parent] = i + 1;
    }
    out->rows = ARENA_ARRAY(arena, ChainRow, count);
    out->count = 0;
    for (size_t i = 0; i < count;) {
        place[i] = out->count;
        ChainRow row = builder->rows.items[i];
        row.parent = place[row.parent];
        out->rows[out->count++] = row;
        if (first[i]) {
            i = first[i] - 1;
            continue;
        }
        while (i && !next[i]) i = builder->rows.items[i].parent;
        if (!i) break;
        i = next[i] - 1;
    }
    INVARIANT(out->count == count);
}

void chain_build(const StackTree *tree, uint32_t function, const ChainOptions *options,
                 Arena *arena, Chain *out) {
    AUTO(arena_done) Arena scratch = {0};
    size_t functions = (size_t)tree->set->function_count + 1;
    Builder builder = {.tree = tree,
                       .options = options,
                       .arena = &scratch,
                       .group_of = ARENA_ARRAY(&scratch, uint32_t, functions),
                       .group_stamp = ARENA_ARRAY(&scratch, uint32_t, functions)};
    *out = (Chain){0};
    push_start(&builder, function);
    pick_rows(&builder, out);
    order_rows(&builder, arena, out);
    vec_free(&builder.edges);
    vec_free(&builder.heap);
    vec_free(&builder.steps);
    vec_free(&builder.groups);
    vec_free(&builder.rows);
}
