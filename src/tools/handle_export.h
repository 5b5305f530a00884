// Files that tools write: where they may be, and how they come to be whole or not at all.
#ifndef TOOLS_HANDLE_EXPORT_H
#define TOOLS_HANDLE_EXPORT_H

#include "tools/handlers.h"

typedef struct ExportTarget {
    Str path;      // absolute; its folder exists
    Str temp;      // beside it; nobody else has it
    Str extension; // lower case, with the dot
    bool replaces; // an older file of that name
    uint64_t old_bytes;
} ExportTarget;

// Checks `given` (of parameter `param`): no folder, not the trace, not inside its database, within
// the allowed folders, with one of `extensions` (separated by blanks). Creates the folder.
Status export_target(const ToolCall *call, const char *param, const char *extensions,
                     ExportTarget *out, Err *err);
// Renames the written temporary file over the path. *bytes: its size.
Status export_finish(const ExportTarget *target, uint64_t *bytes, Err *err);
void export_abandon(const ExportTarget *target); // removes the temporary file, if it is there
// Lines about the written file: path, bytes, what became of an older one.
void export_scope(Doc *doc, const ExportTarget *target, uint64_t bytes);

#endif
