// Standard input and output, console events: Windows.
#include "base/os_stdio.h"

#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <windows.h>

static atomic_bool stop_seen;

Status os_stdout_claim(int *fd, Err *err) {
    // Text mode would turn "\n" into "\r\n" and drop clients that are strict about lines.
    (void)_setmode(0, _O_BINARY);
    *fd = _dup(1);
    if (*fd < 0 || _setmode(*fd, _O_BINARY) < 0)
        return err_set(err, ERR_IO, "cannot set stdout aside");
    if (_dup2(2, 1) != 0) {
        int null = _open("NUL", _O_WRONLY);
        if (null < 0 || _dup2(null, 1) != 0) return err_set(err, ERR_IO, "cannot set stdout aside");
        (void)_close(null);
    }
    // Libraries and children that ask for the handle instead of the descriptor get stderr too.
    (void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
    return OK;
}

bool os_write_all(int fd, Str bytes) {
    while (bytes.n) {
        unsigned size = bytes.n > INT_MAX ? INT_MAX : (unsigned)bytes.n;
        int n = _write(fd, bytes.p, size);
        if (n <= 0) return false;
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    return true;
}

bool os_is_terminal(int fd) {
    return _isatty(fd) != 0;
}

// A read of a pipe cannot be woken, so a stop ends the process here.
static BOOL WINAPI on_console_event(DWORD event) {
    (void)event;
    ExitProcess(0);
}

Status os_signals_watch(Err *err) {
    if (!SetConsoleCtrlHandler(on_console_event, TRUE))
        return err_set(err, ERR_IO, "cannot watch console events");
    return OK;
}

void os_stdin_stop(void) {
    atomic_store(&stop_seen, true);
    ExitProcess(0);
}

bool os_stdin_stopped(void) {
    return atomic_load(&stop_seen);
}

StdinEvent os_stdin_read(void *bytes, size_t size, size_t *got) {
    *got = 0;
    if (atomic_load(&stop_seen)) return STDIN_STOPPED;
    int n = _read(0, bytes, size > INT_MAX ? INT_MAX : (unsigned)size);
    if (n <= 0) return STDIN_END;
    *got = (size_t)n;
    return STDIN_BYTES;
}

static DWORD WINAPI exit_later(LPVOID milliseconds) {
    Sleep((DWORD)(ULONG_PTR)milliseconds);
    ExitProcess(0);
}

void os_exit_after(unsigned milliseconds) {
    HANDLE thread = CreateThread(NULL, 0, exit_later, (LPVOID)(ULONG_PTR)milliseconds, 0, NULL);
    if (!thread) ExitProcess(0);
    (void)CloseHandle(thread);
}
