// Standard input and output of a server that speaks a protocol over them, and the signals that end
// it. One instance per process: descriptors 0 to 2 and signal handlers are the process's own.
#ifndef BASE_OS_STDIO_H
#define BASE_OS_STDIO_H

#include "base/str.h"

// Sets stdout aside for the protocol: *fd is a private copy, in binary mode; descriptor 1 becomes
// stderr, so that a stray printf in a library is a log line. Stdin becomes binary as well.
Status os_stdout_claim(int *fd, Err *err);
// Writes everything; false when the reader is gone.
bool os_write_all(int fd, Str bytes);
bool os_is_terminal(int fd); // 0 to 2

// From here on SIGINT, SIGTERM, SIGHUP (Windows: console close) make os_stdin_read report
// STDIN_STOPPED once; a second one ends the process at once with status 0. SIGPIPE is ignored.
Status os_signals_watch(Err *err);
void os_stdin_stop(void);    // the same as a signal, from any thread
bool os_stdin_stopped(void); // a signal or os_stdin_stop has been seen

typedef enum StdinEvent { STDIN_BYTES, STDIN_END, STDIN_STOPPED } StdinEvent;
// Waits for input: up to `size` bytes, *got > 0 with STDIN_BYTES.
StdinEvent os_stdin_read(void *bytes, size_t size, size_t *got);

// Ends the process with status 0 after that time, whatever its threads do.
void os_exit_after(unsigned milliseconds);

#endif
