// The protocol layer: the input is what a client sends, cut into reads of a length taken from its
// first byte. Every line that comes back must be one JSON object without a raw newline.
#include "fuzz.h"

#include "base/limits.h"
#include "mcp/lines.h"
#include "mcp/server.h"

#include <jansson.h>

#include <string.h>

static void check_line(void *context, Str line) {
    (void)context;
    INVARIANT(line.n <= LIMIT_LINE_OUT_BYTES && (line.n == 0 || !memchr(line.p, '\n', line.n)));
    json_t *root = json_loadb(line.p, line.n, JSON_ALLOW_NUL, NULL);
    // Ids beyond 64 bits and lone surrogates are echoed as they came; jansson knows neither.
    if (!root) INVARIANT(str_is_utf8(line));
    INVARIANT(!root || json_is_object(root));
    json_decref(root);
}

static void on_line(void *context, Str line) {
    mcp_server_line(context, line);
}

static void on_too_long(void *context, size_t max_bytes) {
    mcp_server_line_too_long(context, max_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    Engine *engine = NULL;
    INVARIANT(engine_open(NULL, &engine, NULL) == OK);
    McpServerOptions options = {.same_thread = true, .send = check_line, .progress_interval_ns = 1};
    McpServer *server = mcp_server_open(engine, &options);
    Lines lines = {.line = on_line, .too_long = on_too_long, .context = server, .max_bytes = 4096};
    size_t piece = (size_t)data[0] + 1;
    Str input = {(const char *)data + 1, size - 1};
    for (size_t at = 0; at < input.n; at += piece)
        lines_add(&lines, str_slice(input, at, at + piece));
    lines_end(&lines);
    lines_done(&lines);
    INVARIANT(mcp_server_finish(server, 0, 0));
    mcp_server_close(server);
    engine_close(engine);
    return 0;
}
