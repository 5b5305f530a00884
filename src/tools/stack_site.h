// What a stack stands for in a table: the place in code that matters, and the whole path as one
// line. SQL tools join it by stack_id.
#ifndef TOOLS_STACK_SITE_H
#define TOOLS_STACK_SITE_H

#include "tools/engine_internal.h"

// "lock <- caller": the outermost frame of the system's wait and lock code, and the first frame
// that is not part of it; one frame alone when the stack has no such pair. In `arena`.
Str stack_site(const StackSet *set, uint32_t stack_id, Arena *arena);
// "innermost <- caller <- ...", at most `frames_max` frames, the rest counted.
Str stack_line(const StackSet *set, uint32_t stack_id, uint32_t frames_max, Arena *arena);

// Makes the temporary table stack_site (stack_id, site, stack, modules, functions) of the session,
// for the stack ids that `ids_sql` gives; $start_ns and $end_ns are bound.
Status stack_site_make(ToolCall *call, const char *ids_sql, Err *err);
void stack_site_drop(ToolCall *call);

#endif
