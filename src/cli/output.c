// What the program prints. Answers go to stdout, everything else to stderr.
#include "cli/cli.h"

#include "base/os.h"
#include "base/os_stdio.h"

#include <math.h>
#include <stdlib.h>

enum { STDOUT = 1, STDERR = 2, BAR_WIDTH = 30 };

void out_text(Str text) {
    (void)os_write_all(STDOUT, text);
    if (text.n && text.p[text.n - 1] != '\n') (void)os_write_all(STDOUT, STR("\n"));
}

void out_error(Str text) {
    (void)os_write_all(STDERR, text);
    if (text.n && text.p[text.n - 1] != '\n') (void)os_write_all(STDERR, STR("\n"));
}

void out_progress(void *context, double done, double total, const char *message) {
    Cli *cli = context;
    if (!os_is_terminal(STDERR) || cli->quiet) return;
    unsigned filled = total > 0 ? (unsigned)lround(done / total * BAR_WIDTH) : 0;
    char bar[BAR_WIDTH + 1];
    for (unsigned i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = 0;
    Buf line = {0};
    buf_addf(&line, "\r[%s] %s\x1b[K", bar, message);
    (void)os_write_all(STDERR, buf_str(&line));
    buf_done(&line);
    cli->bar_shown = true;
}

void out_progress_end(Cli *cli) {
    if (cli->bar_shown) (void)os_write_all(STDERR, STR("\r\x1b[K"));
    cli->bar_shown = false;
}

void out_progress_json(void *context, double done, double total, const char *message) {
    (void)context;
    json_t *line = json_pack("{s:s,s:f,s:s}", "event", "progress", "pct",
                             total > 0 ? round(done / total * 1000) / 10 : 0.0, "phase", message);
    char *text = json_dumps(line, JSON_COMPACT);
    out_text(str_from_c(text));
    free(text);
    json_decref(line);
}
