// Outcome of every fallible function, and the one line that explains a failure.
//
// Functions return a Status and take `Err *err` last. The one who finds a failure writes one line
// into `err` (what, where, which value); callers hand it on unchanged with TRY().
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Status {
    OK = 0,
    ERR_ARG,       // the caller's argument is wrong
    ERR_INPUT,     // foreign bytes are malformed
    ERR_NOT_FOUND, // a file, module, table, tool ... does not exist
    ERR_LIMIT,     // a limit of limits.h was hit
    ERR_IO,        // the operating system refused
    ERR_CANCELLED, // the request was cancelled
    ERR_INTERNAL,  // our own mistake
} Status;

enum { ERR_TEXT_MAX = 1024 };

// Owned by the caller; zero-initialised means "no error". `err` pointers may be NULL.
typedef struct Err {
    Status status;
    char text[ERR_TEXT_MAX];
} Err;

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

// Writes the line (cut at ERR_TEXT_MAX) and returns `status`, so that `return err_set(...)` works.
Status err_set(Err *err, Status status, const char *format, ...) PRINTF_LIKE(3, 4);
#ifdef __clang_analyzer__ // it cannot see into another file that the status comes back unchanged
static inline void err_arguments(const char *format, ...) {
    (void)format;
}
#define err_set(err, status, ...) ((void)(err), err_arguments(__VA_ARGS__), (status))
#endif

// Short lower-case name of a status, for logs and JSON: "input", "not-found" ...
const char *status_name(Status status);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status try_status_ = (call);                                                               \
        if (try_status_ != OK) return try_status_;                                                 \
    } while (0)

// AUTO(file_close) File *file = NULL;  calls file_close(file) when the scope ends.
// Declare the cleanup once beside the close function with AUTO_DEFINE(File *, file_close).
#define AUTO(close) __attribute__((cleanup(close##_auto)))
#define AUTO_DEFINE(type, close)                                                                   \
    static inline void close##_auto(type *p) {                                                     \
        close(*p);                                                                                 \
    }

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// Our own invariants only, never input. Stays on in releases; prints the place and aborts.
#define INVARIANT(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) invariant_failed(#condition, __FILE__, __LINE__);                        \
    } while (0)
_Noreturn void invariant_failed(const char *condition, const char *file, int line);

#endif
