// Log lines of the engine. stdout is never ours.
#include "tools/engine_internal.h"

#include <stdarg.h>
#include <stdio.h>

void engine_log(const Engine *engine, const char *level, const char *format, ...) {
    if (engine->options.quiet) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return;
    Buf line = {0};
    buf_addf(&line, "%s tools: %s\n", level, text);
    (void)fwrite(line.p, 1, line.n, stderr); // one write a line: lines of threads do not mix
    (void)fflush(stderr);
    buf_done(&line);
}
