// A small HTTP/1.1 server, one connection a thread, each closed after its answer.
#include "support/http_mock.h"

#include "base/thread.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOCK_PATHS = 64, MOCK_CLIENTS = 256, HEAD_BYTES = 8192 };

typedef struct MockPath {
    char path[256];
    MockReply reply;
} MockPath;

typedef struct MockClient {
    HttpMock *mock;
    int fd;
    Thread *thread;
} MockClient;

struct HttpMock {
    int fd;
    unsigned port;
    atomic_bool stopping;
    Thread *thread;
    Mutex mutex;
    MockPath paths[MOCK_PATHS];
    size_t path_count;
    MockClient clients[MOCK_CLIENTS];
    size_t client_count;
    unsigned requests, at_once, most_at_once;
    char last[HEAD_BYTES];
};

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, (ms % 1000) * 1000000};
    (void)nanosleep(&t, NULL);
}

static bool send_all(int fd, Str bytes) {
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    return true;
}

static bool read_head(HttpMock *mock, int fd, char *head) {
    size_t n = 0;
    while (n < HEAD_BYTES - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (atomic_load(&mock->stopping)) return false;
        if (poll(&p, 1, 50) <= 0) continue;
        ssize_t got = recv(fd, head + n, HEAD_BYTES - 1 - n, 0);
        if (got <= 0) return false;
        n += (size_t)got;
        head[n] = 0;
        if (strstr(head, "\r\n\r\n")) return true;
    }
    return false;
}

static MockReply find_reply(HttpMock *mock, const char *head) {
    MockReply reply = {.status = 404, .body = STR("no such file")};
    Str line = str_from_c(head), word = {0};
    (void)str_next(&line, ' ', &word);
    (void)str_next(&line, ' ', &word);
    mutex_lock(&mock->mutex);
    mock->requests++;
    memcpy(mock->last, head, strlen(head) + 1);
    for (size_t i = 0; i < mock->path_count; i++)
        if (str_eq(word, str_from_c(mock->paths[i].path))) reply = mock->paths[i].reply;
    mutex_unlock(&mock->mutex);
    return reply;
}

// Before the last byte goes out, since then the client may already come back.
static void count_done(HttpMock *mock) {
    mutex_lock(&mock->mutex);
    mock->at_once--;
    mutex_unlock(&mock->mutex);
}

static void send_body(HttpMock *mock, int fd, const MockReply *reply) {
    Str body = reply->body;
    if (reply->mode != MOCK_SLOW) count_done(mock);
    if (reply->mode == MOCK_WHOLE) {
        (void)send_all(fd, body);
        return;
    }
    if (reply->mode == MOCK_SLOW) {
        size_t step = body.n / 8 + 1;
        for (size_t at = 0; at < body.n; at += step) {
            pause_ms(30);
            if (at + step >= body.n) count_done(mock);
            (void)send_all(fd, str_slice(body, at, at + step));
        }
        return;
    }
    (void)send_all(fd, str_slice(body, 0, body.n / 2));
    char byte;
    while (reply->mode == MOCK_STALL && !atomic_load(&mock->stopping)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 50) > 0 && recv(fd, &byte, 1, 0) <= 0) break;
    }
}

static void serve(void *context) {
    MockClient *client = context;
    HttpMock *mock = client->mock;
    static const size_t LAST = HEAD_BYTES;
    char *head = mem_alloc(LAST);
    if (read_head(mock, client->fd, head)) {
        MockReply reply = find_reply(mock, head);
        mutex_lock(&mock->mutex);
        if (++mock->at_once > mock->most_at_once) mock->most_at_once = mock->at_once;
        mutex_unlock(&mock->mutex);
        AUTO(buf_done) Buf out = {0};
        buf_addf(&out, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n",
                 reply.status, reply.body.n);
        if (reply.location) buf_addf(&out, "Location: %s\r\n", reply.location);
        if (reply.header) buf_addf(&out, "%s\r\n", reply.header);
        buf_add_c(&out, "\r\n");
        (void)send_all(client->fd, buf_str(&out));
        send_body(mock, client->fd, &reply);
    }
    mem_free(head);
    (void)shutdown(client->fd, SHUT_RDWR);
    (void)close(client->fd);
}

static void accept_loop(void *context) {
    HttpMock *mock = context;
    while (!atomic_load(&mock->stopping)) {
        struct pollfd p = {.fd = mock->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0) continue;
        int fd = accept(mock->fd, NULL, NULL);
        if (fd < 0) continue;
        mutex_lock(&mock->mutex);
        MockClient *client =
            mock->client_count < MOCK_CLIENTS ? &mock->clients[mock->client_count++] : NULL;
        mutex_unlock(&mock->mutex);
        if (!client) {
            (void)close(fd);
            continue;
        }
        *client = (MockClient){.mock = mock, .fd = fd};
        INVARIANT(thread_start(serve, client, &client->thread, NULL) == OK);
    }
}

HttpMock *http_mock_start(void) {
    HttpMock *mock = mem_zero(1, sizeof *mock);
    mutex_init(&mock->mutex);
    mock->fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    struct sockaddr *any = (struct sockaddr *)(void *)&address;
    INVARIANT(mock->fd >= 0 && bind(mock->fd, any, size) == 0 && listen(mock->fd, 64) == 0);
    INVARIANT(getsockname(mock->fd, any, &size) == 0);
    mock->port = ntohs(address.sin_port);
    INVARIANT(thread_start(accept_loop, mock, &mock->thread, NULL) == OK);
    return mock;
}

void http_mock_stop(HttpMock *mock) {
    if (!mock) return;
    atomic_store(&mock->stopping, true);
    thread_join(mock->thread);
    for (size_t i = 0; i < mock->client_count; i++) thread_join(mock->clients[i].thread);
    (void)close(mock->fd);
    mutex_done(&mock->mutex);
    mem_free(mock);
}

unsigned http_mock_port(const HttpMock *mock) {
    return mock->port;
}

void http_mock_set(HttpMock *mock, const char *path, MockReply reply) {
    mutex_lock(&mock->mutex);
    INVARIANT(mock->path_count < MOCK_PATHS && strlen(path) < sizeof mock->paths[0].path);
    MockPath *p = &mock->paths[mock->path_count++];
    memcpy(p->path, path, strlen(path) + 1);
    p->reply = reply;
    mutex_unlock(&mock->mutex);
}

void http_mock_clear(HttpMock *mock) {
    mutex_lock(&mock->mutex);
    mock->path_count = 0;
    mutex_unlock(&mock->mutex);
}

unsigned http_mock_requests(HttpMock *mock) {
    mutex_lock(&mock->mutex);
    unsigned n = mock->requests;
    mutex_unlock(&mock->mutex);
    return n;
}

unsigned http_mock_most_at_once(HttpMock *mock) {
    mutex_lock(&mock->mutex);
    unsigned n = mock->most_at_once;
    mutex_unlock(&mock->mutex);
    return n;
}

Str http_mock_last_request(HttpMock *mock, Arena *arena) {
    mutex_lock(&mock->mutex);
    Str s = str_copy(arena, str_from_c(mock->last));
    mutex_unlock(&mock->mutex);
    return s;
}
