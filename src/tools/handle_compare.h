// Comparing two traces: what is measured per key on each side, and when a difference is more than
// noise.
#ifndef TOOLS_HANDLE_COMPARE_H
#define TOOLS_HANDLE_COMPARE_H

#include "base/map.h"
#include "tools/handlers.h"

enum { SIDES = 2, BASELINE = 0, TEST = 1, SLICES = 32 };

// One key on one side: the sum of what is measured (nanoseconds, bytes, events), of how many
// things, the sum of their squares (the variance of the sum if they came at random), and its time
// slices.
typedef struct Measure {
    double value, count, squares;
    double slices[SLICES];
    bool unsliced; // no slices are known
} Measure;

typedef struct Item {
    Str key[2]; // the second is NULL in modes of one key
    Measure side[SIDES];
    double share[SIDES]; // percent
    double rate[SIDES];  // value per second
    double z;            // by counts alone, signed: positive is more in the test
    double z_steady;     // against the spread of the time slices as well
    int change;          // -1 less, 1 more, 0 none, 2: cannot be told
} Item;

typedef struct Items {
    Item *items; // in an arena
    size_t count;
} Items;

// Shares, rates, z and verdicts of every item. `seconds`: exposure of each side. Utilisation (mode
// per_cpu) has no counts: its spread comes from the slices alone.
void compare_judge(Items *items, const double seconds[SIDES], bool utilisation);
// The same for one pair: all rows together.
void compare_judge_one(Item *item, const double seconds[SIDES], bool utilisation);
// |z| that `rows` independent comparisons of equal things exceed once in a hundred times.
double compare_threshold(size_t rows);
int compare_order(const void *a, const void *b); // by share difference, largest first

// handle_compare_match.c
typedef struct ModuleState { // of one module on one side
    bool exists;
    double named; // share of its weight with function names
    Str build;    // identity of the file; empty: not recorded
} ModuleState;
// Functions of a module that cannot be compared by name (names on one side only, or addresses of
// two builds) become one row. Notes say so.
void compare_fold_modules(Items *items, const StrMap *modules, const ModuleState *states, Doc *doc);
// Functions that are on one side only and have a twin on the other: notes.
void compare_note_moved(const Items *items, Doc *doc);

#endif
