// A child process with limits: a worker that may fail without taking us along.
#ifndef BASE_OS_PROCESS_H
#define BASE_OS_PROCESS_H

#include "base/str.h"

typedef struct Process Process;

enum { PROCESS_ARGS_MAX = 16 };

// args[0] is the program's path; no shell is involved. The child reads nothing, and what it prints
// goes nowhere. memory_bytes 0: no limit. It ends when we end, where the system can do that.
Status process_start(const Str *args, size_t count, uint64_t memory_bytes, Process **out, Err *err);
// False when `timeout_ns` passed first. *code: its exit status, or 128 and the signal that ended
// it.
bool process_wait(Process *process, uint64_t timeout_ns, int *code);
void process_close(Process *process); // ends it when it still runs; accepts NULL
AUTO_DEFINE(Process *, process_close)

#endif
