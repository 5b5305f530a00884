// Shared libraries that are loaded only when they are needed: what starts with the program costs
// every start.
#ifndef BASE_OS_LIBRARY_H
#define BASE_OS_LIBRARY_H

#include "base/status.h"

typedef struct Library Library;

// By the system's own search, or by path. It stays loaded until the process ends: libraries that
// start threads or register exit handlers do not survive being unloaded.
Status library_open(const char *name, Library **out, Err *err) MUST_USE;
// Copies the address of a function into *function, which is a pointer to a function.
bool library_function(Library *library, const char *name, void *function, size_t size);

#endif
