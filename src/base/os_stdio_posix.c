// Standard input and output, signals: Linux and macOS.
#define _GNU_SOURCE
#include "base/os_stdio.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

// Signal handlers see nothing but globals; a lock-free atomic is theirs and the threads' as well.
static atomic_bool stop_seen;
static int stop_pipe[2] = {-1, -1};

Status os_stdout_claim(int *fd, Err *err) {
    *fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (*fd < 0) return err_set(err, ERR_IO, "cannot set stdout aside: %s", os_error());
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        // Without a stderr the stray output goes nowhere.
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
            return err_set(err, ERR_IO, "cannot set stdout aside: %s", os_error());
        (void)close(null);
    }
    return OK;
}

bool os_write_all(int fd, Str bytes) {
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) { // the client made our end non-blocking
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            (void)poll(&wait, 1, -1);
            continue;
        }
        if (n < 0) return false;
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    return true;
}

bool os_is_terminal(int fd) {
    return isatty(fd) == 1;
}

static void on_stop(int number) {
    (void)number;
    if (atomic_exchange(&stop_seen, true)) _exit(0);
    int saved = errno;
    if (stop_pipe[1] >= 0) {
        ssize_t n = write(stop_pipe[1], "", 1);
        (void)n; // a full pipe wakes the reader as well
    }
    errno = saved;
}

Status os_signals_watch(Err *err) {
    if (pipe(stop_pipe) != 0) return err_set(err, ERR_IO, "cannot make a pipe: %s", os_error());
    for (int i = 0; i < 2; i++) {
        (void)fcntl(stop_pipe[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(stop_pipe[i], F_SETFL, O_NONBLOCK);
    }
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    static const int STOPPING[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < COUNT_OF(STOPPING); i++)
        if (sigaction(STOPPING[i], &action, NULL) != 0)
            return err_set(err, ERR_IO, "cannot watch signals: %s", os_error());
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    return OK;
}

void os_stdin_stop(void) {
    atomic_store(&stop_seen, true);
    if (stop_pipe[1] < 0) return;
    ssize_t n = write(stop_pipe[1], "", 1);
    (void)n;
}

bool os_stdin_stopped(void) {
    return atomic_load(&stop_seen);
}

StdinEvent os_stdin_read(void *bytes, size_t size, size_t *got) {
    *got = 0;
    for (;;) {
        struct pollfd wait[2] = {
            {.fd = STDIN_FILENO, .events = POLLIN},
            {.fd = stop_pipe[0], .events = POLLIN}
        };
        int ready = poll(wait, 2, -1);
        if (atomic_load(&stop_seen)) return STDIN_STOPPED;
        if (ready < 0 && errno == EINTR) continue;
        ssize_t n = read(STDIN_FILENO, bytes, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return STDIN_END;
        *got = (size_t)n;
        return STDIN_BYTES;
    }
}

static void on_alarm(int number) {
    (void)number;
    _exit(0);
}

void os_exit_after(unsigned milliseconds) {
    struct sigaction action = {.sa_handler = on_alarm};
    (void)sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)(milliseconds / 1000);
    timer.it_value.tv_usec = (suseconds_t)(milliseconds % 1000) * 1000;
    if (setitimer(ITIMER_REAL, &timer, NULL) != 0) _exit(0);
}
