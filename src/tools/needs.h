// Absence is not zero: what a tool says when its data is not in the trace, and why not.
#ifndef TOOLS_NEEDS_H
#define TOOLS_NEEDS_H

#include "tools/run.h"

// *enough is false when a `needs` line of the tool has no data; the doc then says which data, in
// which of the four ways it is missing, and what records it.
Status needs_check(const Tool *tool, const RunTrace *trace, Doc *doc, bool *enough, Err *err);
// The text for a table that filters or a window emptied.
Status needs_explain_filtered(const Tool *tool, const RunTrace *trace, Arena *arena, Str *out,
                              Err *err);

#endif
