// Call stacks of one trace in memory: the tree of nodes and the function of each, so that a tool
// can walk every sample's own stack. Built on first use, shared by all calls, dropped with the
// trace or when symbols change.
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
    Function *functions;
    uint32_t function_count;
    Map function_of_frame; // frame_id to function index, of every frame
    uint32_t longest;      // frames of the deepest stack
} StackSet;

// One per trace; owns at most one StackSet.
typedef struct StackCache StackCache;
StackCache *stack_cache_open(void);
void stack_cache_close(StackCache *cache); // accepts NULL
// The set, built now when it is not there. Valid until stack_cache_release.
Status stack_cache_get(StackCache *cache, Session *session, const StackSet **out, Err *err);
void stack_cache_release(StackCache *cache, const StackSet *set);
// Names have changed: the next get builds anew; sets in use stay valid until released.
void stack_cache_drop(StackCache *cache);

// Weighted stacks: what a query found, one entry per distinct stack.
typedef struct StackWeight {
    uint32_t stack_id; // 0: no stack was recorded
    uint32_t function; // of the innermost frame
    int64_t weight, samples;
} StackWeight;
typedef struct StackWeights {
    StackWeight *items;
    size_t count;
    int64_t weight, samples;           // of all
    int64_t bare_weight, bare_samples; // of entries without a stack
} StackWeights;

// `sql` gives (stack_id, frame_id, weight, samples); NULLs are 0.
Status stack_weights(const StackSet *set, Session *session, Str sql, const Arg *args, size_t count,
                     Arena *arena, StackWeights *out, Err *err);

// The path of a stack, innermost function first; `out` holds set->longest entries. Returns the
// number of frames (1 for an entry without a stack).
uint32_t stack_path(const StackSet *set, const StackWeight *entry, uint32_t *out);

#endif
