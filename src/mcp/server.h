// The protocol behind a transport: lines in, lines out. stdio.c puts pipes around it, tests and the
// fuzzer put memory around it.
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "tools/engine.h"

typedef struct McpServer McpServer;

typedef struct McpServerOptions {
    unsigned workers; // tool calls at once; 0: MCP_WORKERS
    bool same_thread; // answer inside mcp_server_line: for tests that need a fixed order
    uint64_t progress_interval_ns; // 0: one second
    // Lines to be sent, without "\n", one at a time, from any thread.
    void (*send)(void *context, Str line);
    void *context;
    bool (*interrupted)(void); // asked while the reader waits for room; may be NULL
} McpServerOptions;

// Calls that wait for a load hold a worker, so there are more of them than processors.
enum { MCP_WORKERS = 16 };

McpServer *mcp_server_open(Engine *engine, const McpServerOptions *options);

// One line of input, without "\n". It never runs a tool and never waits for one, except that it
// waits while too many requests are queued. To be called from one thread.
void mcp_server_line(McpServer *server, Str line);
// A line above `max_bytes` was skipped.
void mcp_server_line_too_long(McpServer *server, size_t max_bytes);

// No more input: waits up to `grace_ns` for the requests under way, cancels the rest and waits
// `cancel_ns` for them to stop, then ends the subscriptions. False when some call did not return;
// the server must then be left alone until the process ends.
bool mcp_server_finish(McpServer *server, uint64_t grace_ns, uint64_t cancel_ns);
// Cancels everything and sends nothing more.
void mcp_server_mute(McpServer *server);
// After a mcp_server_finish that returned true.
void mcp_server_close(McpServer *server);

#endif
