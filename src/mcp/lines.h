// Bytes, read in pieces of any size, to lines.
#ifndef MCP_LINES_H
#define MCP_LINES_H

#include "base/str.h"

// Zero-initialised is ready to use, except for max_bytes and the callbacks.
typedef struct Lines {
    void (*line)(void *context, Str line);             // without "\n"; valid during the call
    void (*too_long)(void *context, size_t max_bytes); // once per line above max_bytes
    void *context;
    size_t max_bytes;
    Buf rest;
    bool started;  // the byte order mark, if any, is behind us
    bool skipping; // inside a line that was too long
} Lines;

void lines_add(Lines *lines, Str bytes);
void lines_end(Lines *lines); // hands out a last line that has no "\n"
void lines_done(Lines *lines);

#endif
