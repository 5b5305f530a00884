// Status texts, error lines, failed invariants.
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#undef err_set // the analyzer's stand-in
Status err_set(Err *err, Status status, const char *format, ...) {
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

const char *status_name(Status status) {
    switch (status) {
    case OK: return "ok";
    case ERR_ARG: return "argument";
    case ERR_INPUT: return "input";
    case ERR_NOT_FOUND: return "not-found";
    case ERR_LIMIT: return "limit";
    case ERR_IO: return "io";
    case ERR_CANCELLED: return "cancelled";
    case ERR_INTERNAL: return "internal";
    }
    return "unknown";
}

void invariant_failed(const char *condition, const char *file, int line) {
    (void)fprintf(stderr, "fatal base: Invariant broken: %s (%s:%d)\n", condition, file, line);
    abort();
}
