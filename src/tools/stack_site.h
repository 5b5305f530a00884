// What a stack stands for in SQL: the place in code that matters, the whole path as one line, the
// names in it. Texts are long and stacks are many, so queries group by stack_id and ask for text
// behind that.
#ifndef TOOLS_STACK_SITE_H
#define TOOLS_STACK_SITE_H

#include "tools/stacks.h"

// "lock <- caller": the outermost frame of the system's wait and lock code, and the first frame
// that is not part of it; one frame alone when the stack has no such pair. In `arena`.
Str stack_site(const StackSet *set, uint32_t stack_id, Arena *arena);
// "innermost <- caller <- ...", at most `frames_max` frames, the rest counted.
Str stack_line(const StackSet *set, uint32_t stack_id, uint32_t frames_max, Arena *arena);

// Whose stacks the functions read. Neither is owned; the database comes later than the functions.
typedef struct StackNames {
    StackCache *cache;
    Database *database;
} StackNames;

// Functions of SQL, NULL for a NULL or unknown stack: stack_site(stack_id), stack_line(stack_id),
// stack_modules(stack_id) and stack_functions(stack_id), names one a line. The first call builds
// the set of stacks when it is not there. `connection` is a duckdb_connection.
Status stack_functions_register(void *connection, StackNames *names, Err *err);

#endif
