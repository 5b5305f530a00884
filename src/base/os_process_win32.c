// Child processes in a job, which carries the memory limit and ends them with us.
#include "base/os_process.h"

#include <windows.h>

struct Process {
    HANDLE process, job;
};

// One argument of a command line, quoted so that the C run-time reads it back unchanged.
static void add_quoted(Buf *line, Str text) {
    size_t slashes = 0;
    buf_add_c(line, line->n ? " \"" : "\"");
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        slashes = c == '\\' ? slashes + 1 : 0;
        if (c == '"') buf_add_c(line, "\\");
        buf_add_char(line, c);
        bool before_quote = slashes && (i + 1 == text.n || text.p[i + 1] == '"');
        for (size_t k = 0; before_quote && k < slashes; k++) buf_add_char(line, '\\');
    }
    buf_add_char(line, '"');
}

static HANDLE make_job(uint64_t memory_bytes) {
    HANDLE job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info = {0};
    info.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (memory_bytes) {
        info.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
        info.ProcessMemoryLimit = (SIZE_T)memory_bytes;
    }
    (void)SetInformationJobObject(job, JobObjectExtendedLimitInformation, &info, sizeof info);
    return job;
}

Status process_start(const Str *args, size_t count, uint64_t memory_bytes, Process **out,
                     Err *err) {
    if (!count || count > PROCESS_ARGS_MAX)
        return err_set(err, ERR_ARG, "a process wants 1 to %d arguments", (int)PROCESS_ARGS_MAX);
    Buf line = {0};
    for (size_t i = 0; i < count; i++) add_quoted(&line, args[i]);
    int wide_count = MultiByteToWideChar(CP_UTF8, 0, line.p, -1, NULL, 0);
    wchar_t *wide = mem_zero((size_t)wide_count + 1, sizeof *wide);
    (void)MultiByteToWideChar(CP_UTF8, 0, line.p, -1, wide, wide_count);
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION made = {0};
    DWORD flags = CREATE_SUSPENDED | CREATE_NO_WINDOW;
    bool started =
        CreateProcessW(NULL, wide, NULL, NULL, FALSE, flags, NULL, NULL, &startup, &made);
    mem_free(wide);
    buf_done(&line);
    if (!started)
        return err_set(err, ERR_IO, "cannot start " STR_FMT ": error %lu", STR_ARG(args[0]),
                       GetLastError());
    Process *process = mem_zero(1, sizeof *process);
    *process = (Process){made.hProcess, make_job(memory_bytes)};
    (void)AssignProcessToJobObject(process->job, made.hProcess);
    (void)ResumeThread(made.hThread);
    (void)CloseHandle(made.hThread);
    *out = process;
    return OK;
}

bool process_wait(Process *process, uint64_t timeout_ns, int *code) {
    uint64_t ms = timeout_ns / 1000000;
    DWORD wait = ms >= INFINITE ? INFINITE - 1 : (DWORD)ms, exit_code = 0;
    if (WaitForSingleObject(process->process, wait) != WAIT_OBJECT_0) return false;
    (void)GetExitCodeProcess(process->process, &exit_code);
    *code = (int)exit_code;
    return true;
}

void process_close(Process *process) {
    if (!process) return;
    (void)TerminateProcess(process->process, 1); // one that has ended is not harmed
    (void)CloseHandle(process->process);
    (void)CloseHandle(process->job);
    mem_free(process);
}
