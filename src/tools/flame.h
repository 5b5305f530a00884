// A flame graph: stacks of one trace, or of two for comparison, merged by the labels of their
// frames, and its three forms.
#ifndef TOOLS_FLAME_H
#define TOOLS_FLAME_H

#include "base/map.h"
#include "tools/stacks.h"

typedef struct FlameNode { // 0 is the root of all
    uint32_t parent, label;
    uint32_t first_child, next_sibling; // 0: none; by weight, then label
    uint32_t depth;
    int64_t self[2], total[2]; // of the trace and of the baseline
} FlameNode;

typedef struct Flame {
    Arena arena;
    VEC(FlameNode) nodes;
    VEC(Str) labels;
    StrMap label_of;
    Map children; // (node, label) to node
    bool compares;
    Str name, baseline_name;
} Flame;

void flame_open(Flame *flame, bool compares); // whether a baseline will be added
void flame_close(Flame *flame);
static inline void flame_close_auto(Flame *flame) {
    flame_close(flame);
}
// Adds stacks as those of the trace (side 0) or the baseline (1). `keep`: only stacks that hold a
// function of these; NULL: all. Entries without a stack are stacks of one frame.
void flame_add(Flame *flame, const StackSet *set, const StackWeights *weights, const bool *keep,
               unsigned side);
// Sums and orders; after the last flame_add.
void flame_finish(Flame *flame);

// Where a form is written: text in memory, at most `max` bytes, or a file.
typedef struct FlameSink {
    Buf text;
    void (*flush)(struct FlameSink *sink); // NULL: everything stays in `text`
    void *context;
} FlameSink;

typedef enum FlameFormat { FLAME_FOLDED, FLAME_SPEEDSCOPE, FLAME_SVG } FlameFormat;

typedef struct FlameCut { // what the limit left out
    size_t stacks;        // or boxes of an image
    int64_t weight;
} FlameCut;

// Writes the graph. max_bytes 0: all of it; else the heaviest part that fits, and the rest as one
// frame "[not shown]", so that weights add up.
void flame_write(const Flame *flame, FlameFormat format, size_t max_bytes, FlameSink *sink,
                 FlameCut *cut);

#endif
