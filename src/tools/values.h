// Arguments of a call, checked against the tool's parameters: lenient in form (numbers in text,
// lists in text, null for absent), strict in meaning (unknown names and values are refused).
#ifndef TOOLS_VALUES_H
#define TOOLS_VALUES_H

#include "tools/catalog.h"

typedef struct Value {
    bool given;   // by the caller
    bool present; // given, or by default
    bool boolean;
    int64_t i64;
    double f64;
    Str text;      // also the text form of every other type, for display
    int64_t *cpus; // PARAM_CPUSET
    Str *list;     // PARAM_LIST, PARAM_FILTER
    size_t count;
} Value;

typedef struct Values {
    const Tool *tool;
    Value *items; // one per parameter
} Values;

// ERR_ARG with a line that says what is wrong, what is accepted, and what was likely meant.
Status values_read(const Tool *tool, const json_t *arguments, Arena *arena, Values *out, Err *err);
// The value of a parameter the tool has (INVARIANT).
const Value *values_get(const Values *values, const char *name);
Str values_text(const Values *values, const char *name); // empty when absent
bool whens_hold(const Whens *whens, const Values *values);
// One Arg per parameter; room for tool->param_count.
size_t values_bind(const Values *values, Arena *arena, Arg *args);
// "0-7,16" to numbers; ERR_ARG names the bad part.
Status cpuset_parse(Str text, Arena *arena, int64_t **cpus, size_t *count, Err *err);
// The nearest of `names`, or the empty slice when none is near.
Str nearest_name(Str wanted, const Str *names, size_t count);

#endif
