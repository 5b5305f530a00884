// The merged tree and its text forms: folded stacks (one line a stack: frames from the root,
// separated by semicolons, then microseconds; two numbers when two traces are compared: before and
// after) and the file format of speedscope. flame_svg.c draws.
#include "tools/flame.h"
#include "tools/flame_internal.h"

#include <stdlib.h>
#include <string.h>

// Without a baseline labels come once each (per function) and nodes once each (the stack tree has
// none twice), so nothing needs to be looked up but what stands at the root.
static uint32_t label_id(Flame *flame, Str label) {
    if (!flame->compares) {
        *vec_push(&flame->labels) = label; // in the arena
        return (uint32_t)flame->labels.count - 1;
    }
    bool added = false;
    StrMapSlot *slot = strmap_put(&flame->label_of, label, flame->labels.count, &added);
    if (added) {
        *vec_push(&flame->labels) = label; // in the arena
    }
    return (uint32_t)slot->value;
}

static uint32_t add_child(Flame *flame, uint32_t parent, uint32_t label) {
    uint32_t depth = flame->nodes.items[parent].depth + 1;
    *vec_push(&flame->nodes) = (FlameNode){.parent = parent, .label = label, .depth = depth};
    return (uint32_t)flame->nodes.count - 1;
}

static uint32_t child_of(Flame *flame, uint32_t parent, uint32_t label) {
    if (!flame->compares && parent) return add_child(flame, parent, label);
    bool added = false;
    uint64_t key = (uint64_t)parent << 32 | label;
    uint64_t *at = map_put(&flame->children, key, flame->nodes.count, &added);
    return added ? add_child(flame, parent, label) : (uint32_t)*at;
}

void flame_open(Flame *flame, bool compares) {
    *flame = (Flame){.compares = compares};
    *vec_push(&flame->nodes) = (FlameNode){0};
    *vec_push(&flame->labels) = STR("all");
}

void flame_close(Flame *flame) {
    vec_free(&flame->nodes);
    vec_free(&flame->labels);
    strmap_done(&flame->label_of);
    map_done(&flame->children);
    arena_done(&flame->arena);
}

// Labels of folded stacks must not hold what separates them.
static Str frame_label(const Function *function, Arena *arena) {
    Str module = function->module, name = function->name;
    bool plain = str_starts(name, module) || str_starts(name, STR("unknown+0x"));
    size_t start = plain ? 0 : module.n + 1;
    char *out = arena_bytes(arena, start + name.n + 1);
    if (!plain) {
        if (module.n) memcpy(out, module.p, module.n);
        out[module.n] = '!';
    }
    if (name.n) memcpy(out + start, name.p, name.n);
    for (size_t i = 0; i < start + name.n; i++) {
        unsigned char c = (unsigned char)out[i];
        if (c == ';') out[i] = ':';
        if (c < ' ' || c == 127) out[i] = ' ';
    }
    return (Str){out, start + name.n};
}

// Whether the path of each node holds a function that is to be kept.
static bool *kept_nodes(const StackSet *set, const bool *keep, Arena *arena) {
    if (!keep) return NULL;
    bool *kept = ARENA_ARRAY(arena, bool, (size_t)set->node_count + 1);
    for (uint32_t node = 1; node <= set->node_count; node++)
        kept[node] = kept[set->parent[node]] || keep[set->function[node]];
    return kept;
}

static uint32_t function_label(Flame *flame, const StackSet *set, uint32_t function,
                               uint32_t *labels) {
    if (!labels[function]) {
        labels[function] =
            label_id(flame, frame_label(&set->functions[function], &flame->arena)) + 1;
    }
    return labels[function] - 1;
}

void flame_add(Flame *flame, const StackSet *set, const StackWeights *weights, const bool *keep,
               unsigned side) {
    AUTO(arena_done) Arena scratch = {0};
    INVARIANT(!side || flame->compares);
    bool *kept = kept_nodes(set, keep, &scratch);
    size_t functions = (size_t)set->function_count + 1, nodes = (size_t)set->node_count + 1;
    uint32_t *labels = ARENA_ARRAY(&scratch, uint32_t, functions); // id + 1
    uint32_t *place = ARENA_ARRAY(&scratch, uint32_t, nodes);
    int64_t *self = ARENA_ARRAY(&scratch, int64_t, nodes),
            *total = ARENA_ARRAY(&scratch, int64_t, nodes);
    for (size_t i = 0; i < weights->count; i++) {
        const StackWeight *entry = &weights->items[i];
        if (entry->node && kept && !kept[entry->node]) continue;
        if (!entry->node && keep && !keep[entry->function]) continue;
        if (entry->node) {
            self[entry->node] += entry->weight;
            continue;
        }
        uint32_t node = child_of(flame, 0, function_label(flame, set, entry->function, labels));
        flame->nodes.items[node].self[side] += entry->weight;
    }
    for (size_t node = nodes; node-- > 1;) {
        total[node] += self[node];
        total[set->parent[node]] += total[node];
    }
    for (uint32_t node = 1; node < nodes; node++) {
        if (!total[node]) continue;
        uint32_t label = function_label(flame, set, set->function[node], labels);
        place[node] = child_of(flame, place[set->parent[node]], label);
        flame->nodes.items[place[node]].self[side] += self[node];
    }
}

typedef struct Ordered {
    const Flame *flame;
    uint32_t node;
} Ordered;

static int compare_siblings(const void *left, const void *right) {
    const Ordered *a = left, *b = right;
    const FlameNode *x = &a->flame->nodes.items[a->node], *y = &b->flame->nodes.items[b->node];
    int64_t p = x->total[0] + x->total[1], q = y->total[0] + y->total[1];
    if (p != q) return p > q ? -1 : 1;
    return str_cmp(a->flame->labels.items[x->label], b->flame->labels.items[y->label]);
}

static void order_children(Flame *flame, uint32_t parent, Ordered *room) {
    FlameNode *nodes = flame->nodes.items;
    size_t count = 0;
    for (uint32_t child = nodes[parent].first_child; child; child = nodes[child].next_sibling)
        room[count++] = (Ordered){flame, child};
    if (count < 2) return;
    qsort(room, count, sizeof *room, compare_siblings);
    uint32_t next = 0;
    for (size_t i = count; i-- > 0;) {
        nodes[room[i].node].next_sibling = next;
        next = room[i].node;
    }
    nodes[parent].first_child = next;
}

// Children come after their parents, so sums run backwards.
void flame_finish(Flame *flame) {
    AUTO(arena_done) Arena scratch = {0};
    size_t count = flame->nodes.count;
    Ordered *room = ARENA_ARRAY(&scratch, Ordered, count);
    for (size_t i = count; i-- > 0;) {
        FlameNode *node = &flame->nodes.items[i], *parent = &flame->nodes.items[node->parent];
        for (unsigned side = 0; side < 2; side++) {
            node->total[side] += node->self[side];
            if (i) parent->total[side] += node->total[side];
        }
        if (!i) continue;
        node->next_sibling = parent->first_child;
        parent->first_child = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++) order_children(flame, (uint32_t)i, room);
}

uint32_t flame_next(const Flame *flame, uint32_t node) {
    const FlameNode *nodes = flame->nodes.items;
    if (nodes[node].first_child) return nodes[node].first_child;
    while (node && !nodes[node].next_sibling) node = nodes[node].parent;
    return node ? nodes[node].next_sibling : 0;
}

// ---------------------------------------------------------------- stacks by weight

typedef struct Line {
    uint32_t node;
    uint32_t rank; // in the order of the tree
    int64_t weight;
} Line;

static int compare_lines(const void *left, const void *right) {
    const Line *a = left, *b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static Line *lines_of(const Flame *flame, Arena *arena, size_t *count) {
    Line *lines = ARENA_ARRAY(arena, Line, flame->nodes.count);
    *count = 0;
    uint32_t rank = 0;
    for (uint32_t node = flame_next(flame, 0); node; node = flame_next(flame, node)) {
        const FlameNode *at = &flame->nodes.items[node];
        rank++;
        if (at->self[0] || at->self[1])
            lines[(*count)++] = (Line){node, rank, at->self[0] + at->self[1]};
    }
    qsort(lines, *count, sizeof *lines, compare_lines);
    return lines;
}

static void add_us(Buf *out, int64_t ns) {
    int64_t rest = ns % 1000;
    buf_addf(out, "%lld", (long long)(ns / 1000));
    if (rest) buf_addf(out, ".%03lld", (long long)rest);
}

static uint32_t path_of(const Flame *flame, uint32_t node, uint32_t *path) {
    uint32_t depth = flame->nodes.items[node].depth;
    for (uint32_t i = depth; i-- > 0; node = flame->nodes.items[node].parent) path[i] = node;
    return depth;
}

static void add_folded(const Flame *flame, uint32_t node, uint32_t *path, Buf *out) {
    uint32_t depth = path_of(flame, node, path);
    for (uint32_t i = 0; i < depth; i++) {
        if (i) buf_add_char(out, ';');
        buf_add(out, flame->labels.items[flame->nodes.items[path[i]].label]);
    }
}

static void add_numbers(const Flame *flame, const int64_t *weights, Buf *out) {
    buf_add_char(out, ' ');
    if (flame->compares) {
        add_us(out, weights[1]);
        buf_add_char(out, ' ');
    }
    add_us(out, weights[0]);
    buf_add_char(out, '\n');
}

static void flush(FlameSink *sink) {
    if (sink->flush && sink->text.n > (1 << 20)) sink->flush(sink);
}

static uint32_t deepest(const Flame *flame) {
    uint32_t depth = 1;
    for (size_t i = 0; i < flame->nodes.count; i++)
        if (flame->nodes.items[i].depth > depth) depth = flame->nodes.items[i].depth;
    return depth;
}

enum { REST_BYTES = 80, LINE_BYTES_MIN = 6 };

static void write_folded(const Flame *flame, size_t max_bytes, FlameSink *sink, FlameCut *cut) {
    AUTO(arena_done) Arena scratch = {0};
    size_t count = 0;
    Line *lines = lines_of(flame, &scratch, &count);
    uint32_t *path = ARENA_ARRAY(&scratch, uint32_t, deepest(flame) + 1);
    int64_t rest[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const FlameNode *node = &flame->nodes.items[lines[i].node];
        size_t before = sink->text.n;
        if (!cut->stacks) {
            add_folded(flame, lines[i].node, path, &sink->text);
            add_numbers(flame, node->self, &sink->text);
        }
        if (cut->stacks || (max_bytes && sink->text.n + REST_BYTES > max_bytes)) {
            if (!cut->stacks) sink->text.n = before;
            cut->stacks++;
            rest[0] += node->self[0];
            rest[1] += node->self[1];
        }
        flush(sink);
    }
    cut->weight = rest[0] + rest[1];
    if (!cut->stacks) return;
    buf_add_c(&sink->text, "[not shown]");
    add_numbers(flame, rest, &sink->text);
}

// ---------------------------------------------------------------- speedscope

typedef struct ProfileLines { // the heaviest `kept` of all stacks, and numbers of their labels
    const Line *lines;
    size_t count, kept;
    const uint32_t *numbers;
} ProfileLines;

// One profile: its samples are the kept stacks and the rest as one frame.
static void add_profile(const Flame *flame, const ProfileLines *profile, unsigned side,
                        FlameSink *sink) {
    const Line *lines = profile->lines;
    size_t count = profile->count, kept = profile->kept;
    AUTO(arena_done) Arena scratch = {0};
    uint32_t *path = ARENA_ARRAY(&scratch, uint32_t, deepest(flame) + 1);
    Buf *out = &sink->text;
    int64_t rest = 0;
    buf_add_c(out, "{\"type\":\"sampled\",\"name\":");
    buf_add_json(out, side ? flame->baseline_name : flame->name);
    buf_add_c(out, ",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":");
    add_us(out, flame->nodes.items[0].total[side]);
    buf_add_c(out, ",\"samples\":[");
    const char *comma = "";
    for (size_t i = 0; i < count; i++) {
        int64_t self = flame->nodes.items[lines[i].node].self[side];
        if (!self) continue;
        if (i >= kept) {
            rest += self;
            continue;
        }
        uint32_t depth = path_of(flame, lines[i].node, path);
        buf_addf(out, "%s[", comma);
        for (uint32_t k = 0; k < depth; k++)
            buf_addf(out, "%s%u", k ? "," : "",
                     profile->numbers[flame->nodes.items[path[k]].label]);
        buf_add_char(out, ']');
        comma = ",";
        flush(sink);
    }
    if (rest) buf_addf(out, "%s[0]", comma);
    buf_add_c(out, "],\"weights\":[");
    comma = "";
    for (size_t i = 0; i < count && i < kept; i++) {
        int64_t self = flame->nodes.items[lines[i].node].self[side];
        if (!self) continue;
        buf_add_c(out, comma);
        add_us(out, self);
        comma = ",";
        flush(sink);
    }
    if (rest) buf_add_c(out, comma);
    if (rest) add_us(out, rest);
    buf_add_c(out, "]}");
}

// Numbers of the labels that the kept stacks use, from 1; 0 is the rest's own.
static uint32_t *number_labels(const Flame *flame, const Line *lines, size_t kept, Arena *arena) {
    uint32_t *numbers = ARENA_ARRAY(arena, uint32_t, flame->labels.count);
    uint32_t count = 0;
    for (size_t i = 0; i < kept; i++)
        for (uint32_t node = lines[i].node; node; node = flame->nodes.items[node].parent) {
            uint32_t label = flame->nodes.items[node].label;
            if (!numbers[label]) numbers[label] = ++count;
        }
    return numbers;
}

static void add_frames(const Flame *flame, const uint32_t *numbers, FlameSink *sink) {
    AUTO(arena_done) Arena scratch = {0};
    Str *names = ARENA_ARRAY(&scratch, Str, flame->labels.count);
    for (size_t i = 1; i < flame->labels.count; i++)
        if (numbers[i]) names[numbers[i]] = flame->labels.items[i];
    for (size_t i = 1; i < flame->labels.count && names[i].p; i++) {
        buf_add_c(&sink->text, ",{\"name\":");
        buf_add_json(&sink->text, names[i]);
        buf_add_char(&sink->text, '}');
        flush(sink);
    }
}

static void add_speedscope(const Flame *flame, const Line *lines, size_t count, size_t kept,
                           FlameSink *sink) {
    AUTO(arena_done) Arena scratch = {0};
    Buf *out = &sink->text;
    uint32_t *numbers = number_labels(flame, lines, kept, &scratch);
    ProfileLines profile = {lines, count, kept, numbers};
    buf_add_c(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                   "\"exporter\":\"etw-mcp\",\"name\":");
    buf_add_json(out, flame->name);
    buf_add_c(out, ",\"shared\":{\"frames\":[{\"name\":\"[not shown]\"}");
    add_frames(flame, numbers, sink);
    buf_add_c(out, "]},\"profiles\":[");
    add_profile(flame, &profile, 0, sink);
    if (flame->compares) {
        buf_add_char(out, ',');
        add_profile(flame, &profile, 1, sink);
    }
    buf_add_c(out, "]}\n");
}

static void write_speedscope(const Flame *flame, size_t max_bytes, FlameSink *sink, FlameCut *cut) {
    AUTO(arena_done) Arena scratch = {0};
    size_t count = 0, kept = 0;
    Line *lines = lines_of(flame, &scratch, &count);
    kept = max_bytes && count > max_bytes / LINE_BYTES_MIN ? max_bytes / LINE_BYTES_MIN : count;
    for (;; kept = kept * 3 / 4) {
        add_speedscope(flame, lines, count, kept, sink);
        if (!max_bytes || sink->text.n <= max_bytes || !kept) break;
        buf_clear(&sink->text);
    }
    for (size_t i = kept; i < count; i++) {
        cut->stacks++;
        cut->weight += lines[i].weight;
    }
}

void flame_write(const Flame *flame, FlameFormat format, size_t max_bytes, FlameSink *sink,
                 FlameCut *cut) {
    *cut = (FlameCut){0};
    switch (format) {
    case FLAME_FOLDED: write_folded(flame, max_bytes, sink, cut); break;
    case FLAME_SPEEDSCOPE: write_speedscope(flame, max_bytes, sink, cut); break;
    case FLAME_SVG: flame_write_svg(flame, max_bytes, sink, cut); break;
    }
}
