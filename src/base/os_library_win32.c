// Shared libraries through LoadLibrary. A bare name is looked for beside the program and in the
// system's folder, never in the working folder.
#include "base/os_library.h"

#include <windows.h>

#include <string.h>

Status library_open(const char *name, Library **out, Err *err) {
    bool is_path = strpbrk(name, "/\\") != NULL;
    DWORD flags = is_path ? LOAD_WITH_ALTERED_SEARCH_PATH
                          : LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32;
    *out = (Library *)LoadLibraryExA(name, NULL, flags);
    if (*out) return OK;
    return err_set(err, ERR_NOT_FOUND, "%s: error %lu", name, GetLastError());
}

bool library_function(Library *library, const char *name, void *function, size_t size) {
    FARPROC address = GetProcAddress((HMODULE)library, name);
    if (!address || size != sizeof address) return false;
    memcpy(function, &address, size);
    return true;
}
