// The views of sql/views that users may query, from the comments in front of them.
#ifndef TOOLS_VIEW_LIST_H
#define TOOLS_VIEW_LIST_H

#include "base/str.h"

typedef struct ViewInfo {
    Str name;
    Str about; // the comment in front of it, one line
} ViewInfo;

// Views and computed tables, no macros; in file order.
size_t view_list(Arena *arena, ViewInfo **out);

#endif
