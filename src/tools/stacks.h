// Call stacks of one trace in memory: the tree of nodes and the function of each, so that a tool
// can walk every sample's own stack. Built on first use, shared by all calls, dropped with the
// trace or when symbols change.
//
// Nodes are numbered in preorder from 1, so the subtree of a node is the range [node, end) and two
// subtrees are either apart or one inside the other. A sample holds a node's whole path to the root
// exactly when the innermost node of its stack lies in that range. Nodes are of functions, not of
// addresses: stacks of equal functions are one node, and siblings stand in the order of functions.
#ifndef TOOLS_STACKS_H
#define TOOLS_STACKS_H

#include "base/map.h"
#include "base/thread.h"
#include "store/store.h"

typedef struct Function { // (module, function) as the contract labels them
    Str module, name;
    bool is_export;
} Function;

typedef struct StackSet {
    Arena arena;
    uint32_t node_count;
    uint32_t *parent;   // of node 1..node_count; 0 at the root
    uint32_t *function; // index into functions
    uint32_t *end;      // one past the last node of the subtree
    bool *nested;       // a node further out is of the same function: recursion
    bool *partial;      // stands for an address that its stack lacks; see `sampled`
    // Functions are sorted by module and name; function_count itself is "unknown".
    Function *functions;
    uint32_t function_count;
    // Nodes of function f in preorder: of_function[first_of[f]] up to first_of[f + 1].
    uint32_t *first_of, *of_function;
    uint32_t stack_count;
    uint32_t *node_of_stack; // by stack_id
    uint32_t *raw_of_node;   // numbers of nodes in the keys of `sampled`
    Map function_of_frame;   // frame_id to function index, of every frame
    // A sample whose own address is missing from its stack (one part of it was lost) has a node of
    // its own below the stack: the address is where it was. (raw_of_node of the stack, function) to
    // node.
    Map sampled;
    uint32_t longest; // frames of the deepest stack
} StackSet;

// One per trace; owns at most one StackSet.
typedef struct StackCache StackCache;
StackCache *stack_cache_open(void);
void stack_cache_close(StackCache *cache); // accepts NULL
// The set, built now when it is not there. Valid until stack_cache_release.
Status stack_cache_get(StackCache *cache, Session *session, const StackSet **out, Err *err);
void stack_cache_release(StackCache *cache, const StackSet *set); // accepts a NULL set
// Names have changed: the next get builds anew; sets in use stay valid until released.
void stack_cache_drop(StackCache *cache);

// Weighted stacks: what a query found, one entry per distinct stack and innermost address.
typedef struct StackWeight {
    uint32_t node;     // innermost node; 0: no stack was recorded
    uint32_t function; // of the innermost frame
    int64_t weight, samples;
} StackWeight;
typedef struct StackWeights {
    StackWeight *items;
    size_t count;
    int64_t weight, samples;           // of all
    int64_t bare_weight, bare_samples; // of entries without a stack
    int64_t idle_weight;               // sum of a fifth column, when there is one
} StackWeights;

// SQL that gives (stack_id, frame_id, weight, samples) and perhaps a fifth weight; NULLs are 0.
typedef struct StackQuery {
    Str sql;
    const Arg *args;
    size_t count;
} StackQuery;
Status stack_weights(const StackSet *set, Session *session, const StackQuery *query, Arena *arena,
                     StackWeights *out, Err *err);

// The path of an entry, innermost function first; `out` holds set->longest entries. Returns the
// number of frames (1 for an entry without a stack).
uint32_t stack_path(const StackSet *set, const StackWeight *entry, uint32_t *out);

// ---------------------------------------------------------------- the weighted tree

// Sums of weights over ranges of nodes; entries without a stack are not in it.
typedef struct StackTree {
    const StackSet *set;
    int64_t *weight_before, *samples_before; // of all nodes with a smaller number
} StackTree;

void stack_tree_build(const StackSet *set, const StackWeights *weights, Arena *arena,
                      StackTree *out);
// Weight of the samples whose stack passes through the node.
static inline int64_t stack_tree_weight(const StackTree *tree, uint32_t node) {
    return tree->weight_before[tree->set->end[node]] - tree->weight_before[node];
}
static inline int64_t stack_tree_samples(const StackTree *tree, uint32_t node) {
    return tree->samples_before[tree->set->end[node]] - tree->samples_before[node];
}
// Weight of the samples whose innermost node it is.
static inline int64_t stack_tree_own(const StackTree *tree, uint32_t node) {
    return tree->weight_before[node + 1] - tree->weight_before[node];
}

typedef struct FunctionWeight {
    int64_t inclusive, exclusive;
    int64_t samples; // of inclusive
} FunctionWeight;
// One per function, "unknown" included, from the tree: inclusive counts a sample once.
FunctionWeight *stack_function_weights(const StackTree *tree, Arena *arena);

// Innermost node of the heaviest stack that holds the function; the first in order of several, 0:
// none.
uint32_t stack_heaviest(const StackTree *tree, uint32_t function);

#endif
