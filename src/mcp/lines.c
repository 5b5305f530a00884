// Line framing of the stdio transport: "\n" ends a message, a byte order mark may open the stream,
// a message may arrive in any number of reads. A line above the limit is reported once and skipped.
#include "mcp/lines.h"

#include <string.h>

static void hand_out(Lines *lines, Str line) {
    if (!lines->started) {
        lines->started = true;
        if (str_starts(line, STR("\xEF\xBB\xBF"))) line = str_slice(line, 3, line.n);
    }
    lines->line(lines->context, line);
}

static void keep(Lines *lines, Str bytes) {
    if (lines->skipping || bytes.n == 0) return;
    if (bytes.n > lines->max_bytes - lines->rest.n) {
        lines->skipping = true;
        buf_done(&lines->rest);
        lines->too_long(lines->context, lines->max_bytes);
        return;
    }
    buf_add(&lines->rest, bytes);
}

static void finish_line(Lines *lines, Str bytes) {
    bool whole = lines->rest.n == 0 && !lines->skipping && bytes.n <= lines->max_bytes;
    if (!whole) keep(lines, bytes);
    if (!lines->skipping) hand_out(lines, whole ? bytes : buf_str(&lines->rest));
    lines->skipping = false;
    // A single huge message must not hold its memory for the rest of the process.
    enum { KEPT_BYTES = 1024 * 1024 };
    if (lines->rest.capacity > KEPT_BYTES) buf_done(&lines->rest);
    buf_clear(&lines->rest);
}

void lines_add(Lines *lines, Str bytes) {
    while (bytes.n) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        if (!end) {
            keep(lines, bytes);
            return;
        }
        size_t n = (size_t)(end - bytes.p);
        finish_line(lines, str_slice(bytes, 0, n));
        bytes = str_slice(bytes, n + 1, bytes.n);
    }
}

void lines_end(Lines *lines) {
    if (lines->rest.n) finish_line(lines, (Str){0});
}

void lines_done(Lines *lines) {
    buf_done(&lines->rest);
}
