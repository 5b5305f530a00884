// Shared libraries through dlopen.
#include "base/os_library.h"

#include <dlfcn.h>
#include <string.h>

Status library_open(const char *name, Library **out, Err *err) {
    *out = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (*out) return OK;
    const char *why = dlerror(); // NOLINT(concurrency-mt-unsafe): per thread in glibc and Darwin
    return err_set(err, ERR_NOT_FOUND, "%s", why ? why : name);
}

bool library_function(Library *library, const char *name, void *function, size_t size) {
    void *address = dlsym(library, name);
    if (!address || size != sizeof address) return false;
    memcpy(function, &address, size);
    return true;
}
