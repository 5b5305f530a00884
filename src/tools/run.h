// Runs a SQL tool on one trace: needs, window, filters, sections, notes, next calls into a Doc.
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "tools/doc.h"
#include "tools/stacks.h"
#include "tools/trace.h"
#include "tools/values.h"

typedef struct RunTrace { // what a tool may know of its trace
    Session *session;
    const TraceFacts *facts;
    StackCache *stacks;
    Str trace_id;
    Str file_name;
} RunTrace;

// ERR_ARG for a wrong window; ERR_CANCELLED; ERR_INTERNAL for a mistake in the tool's SQL.
Status run_tool(const Tool *tool, const Values *values, const RunTrace *trace, Doc *doc, Err *err);

// Parts of it, for handlers in C.
typedef struct Window {
    bool given;
    int64_t start_ns, end_ns; // [start, end), clipped to the trace
} Window;
Status run_window(const Values *values, const TraceFacts *facts, Doc *doc, Window *out, Err *err);
// Headline, trace, window and filters in effect.
void run_scope(const Tool *tool, const Values *values, const RunTrace *trace, const Window *window,
               Doc *doc);
// {param}, {trace_id} and, with a first row, {Column title}; *ok is false when one has no value or
// one unfit for prose.
Str run_fill(Str text, const Values *values, const RunTrace *trace, const DocSection *row,
             Arena *arena, bool *ok);

#endif
