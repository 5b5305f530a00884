// The stdio transport: descriptor 0 is read here and nowhere else, one line is one message;
// answers go to a private copy of descriptor 1.
#include "base/limits.h"
#include "base/os_stdio.h"
#include "mcp/lines.h"
#include "mcp/mcp.h"
#include "mcp/server.h"

#include <stdio.h>

// From end of input to the end of the process there is one second: for answers, for calls to notice
// that they are cancelled, and for the caller to close the engine.
enum { EXIT_MS = 950, GRACE_MS = 600, CANCEL_MS = 150, STOP_MS = 500 };

typedef struct Stdio {
    McpServer *server;
    int fd;
    bool broken;
    Buf out;
} Stdio;

static void send_out(void *context, Str line) {
    Stdio *stdio = context;
    if (stdio->broken) return;
    buf_clear(&stdio->out);
    buf_add(&stdio->out, line);
    buf_add_char(&stdio->out, '\n');
    if (!os_write_all(stdio->fd, buf_str(&stdio->out))) {
        stdio->broken = true;
        os_stdin_stop(); // nobody reads: there is nothing left to do
    }
    enum { KEPT_BYTES = 256 * 1024 };
    if (stdio->out.capacity > KEPT_BYTES) buf_done(&stdio->out);
}

static void on_line(void *context, Str line) {
    mcp_server_line(((Stdio *)context)->server, line);
}

static void on_too_long(void *context, size_t max_bytes) {
    mcp_server_line_too_long(((Stdio *)context)->server, max_bytes);
}

// True at end of input, false when told to stop.
static bool read_all(Stdio *stdio) {
    enum { READ_BYTES = 64 * 1024 };
    Lines lines = {
        .line = on_line, .too_long = on_too_long, .context = stdio, .max_bytes = LIMIT_LINE_BYTES};
    char *bytes = mem_alloc(READ_BYTES);
    StdinEvent event = STDIN_BYTES;
    while (event == STDIN_BYTES) {
        size_t got = 0;
        event = os_stdin_read(bytes, READ_BYTES, &got);
        if (event == STDIN_BYTES) lines_add(&lines, (Str){bytes, got});
    }
    if (event == STDIN_END) lines_end(&lines);
    lines_done(&lines);
    mem_free(bytes);
    return event == STDIN_END;
}

static void hint(void) {
    (void)fputs(
        "etw-mcp: this is an MCP server; it waits for JSON-RPC messages on standard input.\n"
        "An MCP client starts it by itself. For the command line see: etw-mcp --help\n",
        stderr);
}

Status mcp_serve(Engine *engine, const McpOptions *options, Err *err) {
    static const McpOptions DEFAULTS = {0};
    if (!options) options = &DEFAULTS;
    Stdio stdio = {.fd = -1};
    TRY(os_stdout_claim(&stdio.fd, err));
    TRY(os_signals_watch(err));
    if (!options->quiet && os_is_terminal(0)) hint();
    McpServerOptions settings = {.workers = options->workers,
                                 .progress_interval_ns = options->progress_interval_ns,
                                 .send = send_out,
                                 .context = &stdio,
                                 .interrupted = os_stdin_stopped};
    stdio.server = mcp_server_open(engine, &settings);
    bool at_end = read_all(&stdio);
    os_exit_after(at_end ? EXIT_MS : STOP_MS);
    if (!at_end) mcp_server_mute(stdio.server);
    const uint64_t ms = 1000000;
    // A call that does not come back keeps its memory; the timer above ends it with the process.
    while (!mcp_server_finish(stdio.server, at_end ? GRACE_MS * ms : 0, CANCEL_MS * ms))
        at_end = false;
    mcp_server_close(stdio.server);
    buf_done(&stdio.out);
    return OK;
}
