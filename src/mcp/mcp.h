// MCP over stdin and stdout: the engine's tools for AI assistants.
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "tools/engine.h"

typedef struct McpOptions {
    unsigned workers; // tool calls that run at once; 0: the default of server.h
    bool quiet;       // no hint when stdin is a terminal
    // Least time between two progress messages of one call; 0: one second.
    uint64_t progress_interval_ns;
} McpOptions;

// Serves descriptors 0 and 1 until end of input or a signal. Call it once per process, from the
// main thread, before anything else is written to stdout; `options` may be NULL. It returns OK when
// every request is answered or cancelled; the caller then closes the engine and exits with status
// 0. From end of input (signal) on the process ends within 1 s whatever happens: a timer is armed.
MUST_USE Status mcp_serve(Engine *engine, const McpOptions *options, Err *err);

#endif
