// What the tools over call stacks share: opening a call (scope, filters, weighted tree,
// denominator), choosing functions and modules, notes.
#ifndef TOOLS_HANDLE_STACKS_H
#define TOOLS_HANDLE_STACKS_H

#include "tools/denominator.h"
#include "tools/engine_internal.h"

typedef enum StackSource {
    STACKS_SAMPLES, // CPU samples with their stacks, weight in ns of CPU
    STACKS_WAITS,   // waits of threads, by the stack at the switch that ended them, weight in ns
} StackSource;

typedef struct StackOptions {
    StackSource source;
    bool needs_stacks; // without any stack the call says so and is over
    bool dpc_only;
    bool leaf_only; // exclusive weights are wanted, no paths: every entry is without a stack
} StackOptions;

typedef struct StackCall {
    ToolCall *call;
    Arena *arena;
    Doc *doc;
    Window window;
    StackOptions options;
    const StackSet *set;
    StackWeights weights;
    StackTree tree;            // of the entries with a stack
    FunctionWeight *functions; // of the tree
    Denominator denominator;
    int64_t idle_ns; // of the idle thread, within weights
} StackCall;

// Headline, scope, filters, weights. *enough is false when there is nothing to go on with; the doc
// says why. The set is held until stack_call_close.
Status stack_call_open(ToolCall *call, const StackOptions *options, StackCall *out, bool *enough,
                       Err *err);
void stack_call_close(StackCall *stacks);
static inline void stack_call_close_auto(StackCall *stacks) {
    stack_call_close(stacks);
}

// Notes that every one of these tools owes: stacks that are missing, an assumed interval, losses.
void stack_call_notes(StackCall *stacks);
// Adds stacks of functions without symbols and of exports, when function `shown` is one.
void stack_call_note_function(StackCall *stacks, uint32_t function);
// A parameter that the tool may not have: NULL then, or when it was not given.
const Value *stack_call_value(const StackCall *stacks, const char *name);
// "module!function", or the function alone when it names its module already.
Str stack_function_label(const StackSet *set, uint32_t function, Arena *arena);
// "**Callers of module!function**", for `what` "Callers of".
Str stack_call_headline(const StackCall *stacks, const char *what, uint32_t function);
// Suggests a call of `tool` about the function; false when its name is unfit for that.
bool stack_call_next(StackCall *stacks, const char *tool, uint32_t function);
// Scope line on the unit of hits.
void stack_call_unit(StackCall *stacks);

// ---------------------------------------------------------------- choosing

// Literal alternatives, lower-case; none: everything. With `strict`, a name with an extension has
// to be equal, others match as part of a name.
typedef struct ModuleMatch {
    const Str *items;
    size_t count;
    bool strict;
} ModuleMatch;
bool module_matches(const ModuleMatch *match, Str module, Arena *arena);
// One flag per function, "unknown" included: module and (part of) name match. Either may be empty.
bool *stack_functions_matching(const StackSet *set, const ModuleMatch *modules, const Str *names,
                               size_t name_count, Arena *arena);

typedef struct FunctionChoice {
    const char *function_param, *module_param; // of the tool
} FunctionChoice;
// The function that a call is about: an exact name wins, else the heaviest of those that contain
// the text; others are listed. *found is false when no stack holds any; the doc then says what is
// near.
Status stack_call_choose(StackCall *stacks, const FunctionChoice *choice, uint32_t *function,
                         bool *found, Err *err);

// ---------------------------------------------------------------- hot tools, also for modules

// Appendix B of the contract.
ModuleMatch modules_default(Arena *arena);
ModuleMatch modules_network(Arena *arena, const Str *more, size_t more_count);

#endif
