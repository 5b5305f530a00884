// Call chains over the weighted stack tree: direct neighbours of a function, and the prefix tree of
// what surrounds it. Weights are exact: a chain's weight is that of the samples whose stack holds
// the whole chain, frame next to frame, however often it does.
#ifndef TOOLS_CHAIN_H
#define TOOLS_CHAIN_H

#include "tools/stacks.h"

// ---------------------------------------------------------------- one step

typedef struct Neighbour {
    uint32_t function;
    bool is_end; // [root] or [self] instead of a function
    int64_t weight, samples;
} Neighbour;
typedef struct Neighbours {
    Neighbour *items; // heaviest first
    size_t count;
    int64_t total; // inclusive weight of the function: the sum of the items
    bool callees;
} Neighbours;

// Every sample counts once: the outermost occurrence says its caller, the innermost its callee.
Neighbours stack_neighbours(const StackTree *tree, uint32_t function, bool callees, Arena *arena);
// Weight of the samples that hold the function more than once.
int64_t stack_recursive_weight(const StackTree *tree, uint32_t function);

// ---------------------------------------------------------------- chains

typedef enum BranchPolicy { BRANCH_DOMINANT, BRANCH_ALL, BRANCH_THRESHOLD } BranchPolicy;

typedef struct ChainOptions {
    bool callees; // towards the leaf
    BranchPolicy policy;
    double threshold_pct; // of the parent, for BRANCH_THRESHOLD
    uint32_t depth_max;
    size_t rows_max;
    const bool *stops; // one per function: shown, but not followed; may be NULL
} ChainOptions;

typedef struct ChainRow {
    uint32_t depth; // 0: the start
    uint32_t function;
    size_t parent;        // index of the row it hangs below; of itself for the start
    int64_t chain_weight; // samples with the chain from the start to here
    int64_t chain_samples;
    int64_t frame_weight; // samples with the chain up to the parent that hold this function
    size_t siblings_left; // edges of the same parent that are not followed
} ChainRow;

typedef struct Chain {
    ChainRow *rows; // a parent before its children, the heaviest child first
    size_t count;
    size_t hidden_edges; // left out by rows_max
    int64_t hidden_weight;
} Chain;

void chain_build(const StackTree *tree, uint32_t function, const ChainOptions *options,
                 Arena *arena, Chain *out);

#endif
