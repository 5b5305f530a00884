// The functions of libcurl that are used here, loaded when a symbol server is first asked: libcurl
// brings some thirty libraries, and most runs of the program ask no server.
#ifndef SYM_CURL_API_H
#define SYM_CURL_API_H

#include "base/status.h"

#include <curl/curl.h>

#define CURL_FUNCTIONS(X)                                                                          \
    X(global_init)                                                                                 \
    X(version_info)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_reset)                                                                                  \
    X(easy_setopt)                                                                                 \
    X(easy_perform)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)

typedef struct CurlApi {
#define X(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(X)
#undef X
} CurlApi;

// `name` is a file name or path; NULL or empty: the names libcurl has on this system. ERR_NOT_FOUND
// says what was tried and what helps.
Status curl_api_load(const char *name, CurlApi *out, Err *err) MUST_USE;

#endif
