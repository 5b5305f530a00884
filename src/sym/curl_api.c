// Loading libcurl by the names it has on each system.
#include "sym/curl_api.h"

#include "base/os_library.h"
#include "base/thread.h"

// CURLOPT_PROTOCOLS_STR, by which redirects are kept to http and https, came with 7.85.0. An older
// libcurl would ignore it in silence.
enum { VERSION_MIN = 0x075500 };

static const char *const NAMES[] = {
#if defined(_WIN32)
    "libcurl-x64.dll",
    "libcurl.dll",
    "libcurl-4.dll",
#elif defined(__APPLE__)
    "libcurl.4.dylib",
    "/usr/lib/libcurl.4.dylib",
#else
    "libcurl.so.4", "libcurl-gnutls.so.4", // the same interface; the second is Debian's other build
#endif
};

// curl_global_init is not safe from two threads in every build.
static pthread_mutex_t global_mutex = PTHREAD_MUTEX_INITIALIZER;

static Status open_any(const char *name, Library **out, Err *err) {
    Err why = {0};
    if (name && *name) {
        if (library_open(name, out, &why) == OK) return OK;
    } else {
        Err first = {0};
        for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
            if (library_open(NAMES[i], out, i ? &why : &first) == OK) return OK;
        }
        why = first; // of the usual name
    }
    return err_set(
        err, ERR_NOT_FOUND,
        "libcurl cannot be loaded, so no symbol server can be asked (%s); install it, or "
        "put the symbol files into a folder of the symbol path",
        why.text);
}

Status curl_api_load(const char *name, CurlApi *out, Err *err) {
    Library *library = NULL;
    TRY(open_any(name, &library, err));
#define X(function)                                                                                \
    if (!library_function(library, "curl_" #function, &out->function, sizeof out->function))       \
        return err_set(err, ERR_NOT_FOUND, "libcurl has no curl_" #function);
    CURL_FUNCTIONS(X)
#undef X
    const curl_version_info_data *version = out->version_info(CURLVERSION_NOW);
    if (version->version_num < VERSION_MIN)
        return err_set(err, ERR_NOT_FOUND,
                       "libcurl %s is too old to ask symbol servers: 7.85.0 or newer is needed",
                       version->version);
    (void)pthread_mutex_lock(&global_mutex);
    CURLcode code = out->global_init(CURL_GLOBAL_DEFAULT);
    (void)pthread_mutex_unlock(&global_mutex);
    if (code != CURLE_OK)
        return err_set(err, ERR_NOT_FOUND, "libcurl does not start: %s", out->easy_strerror(code));
    return OK;
}
