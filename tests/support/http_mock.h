// A symbol server for tests: loopback only, its own thread, answers by path.
#ifndef SUPPORT_HTTP_MOCK_H
#define SUPPORT_HTTP_MOCK_H

#include "base/str.h"

typedef struct HttpMock HttpMock;

typedef enum MockMode {
    MOCK_WHOLE,
    MOCK_CUT,   // promises all of the body, sends half, closes
    MOCK_STALL, // sends half, then nothing until the client goes
    MOCK_SLOW,  // whole, in pieces with pauses
} MockMode;

typedef struct MockReply {
    int status;
    MockMode mode;
    const char *location; // of a redirect: a full URL, or a path on another name of this server
    const char *header;   // one more header line, or NULL
    Str body;             // borrowed
} MockReply;

HttpMock *http_mock_start(void);
void http_mock_stop(HttpMock *mock);
AUTO_DEFINE(HttpMock *, http_mock_stop)
unsigned http_mock_port(const HttpMock *mock);
// Answer for requests of exactly this path; the latest setting holds. Others get 404.
void http_mock_set(HttpMock *mock, const char *path, MockReply reply);
void http_mock_clear(HttpMock *mock);
unsigned http_mock_requests(HttpMock *mock); // so far
unsigned http_mock_most_at_once(HttpMock *mock);
// Request head of the last request, for checks of headers.
Str http_mock_last_request(HttpMock *mock, Arena *arena);

#endif
