// mcp-fixture: the protocol layer over the fake engine, as a real process on real pipes.
//   mcp-fixture [--structured] [--workers N] [--fast-progress]
#include "mcp/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    EngineOptions engine_options = {0};
    McpOptions options = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--structured") == 0) engine_options.structured = true;
        if (strcmp(argv[i], "--fast-progress") == 0) options.progress_interval_ns = 1;
        if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc)
            options.workers = (unsigned)strtoul(argv[i + 1], NULL, 10);
    }
    Err err = {0};
    AUTO(engine_close) Engine *engine = NULL;
    Status status = engine_open(&engine_options, &engine, &err);
    if (status == OK) status = mcp_serve(engine, &options, &err);
    if (status != OK) (void)fprintf(stderr, "error mcp: %s\n", err.text);
    return status == OK ? 0 : 1;
}
