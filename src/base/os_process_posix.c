// Child processes by fork and exec.
#include "base/os_process.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

struct Process {
    pid_t pid;
    bool ended;
    int code;
};

enum { EXIT_NOT_STARTED = 127, POLL_NS = 10 * 1000 * 1000 };

static void limit_memory(uint64_t bytes) {
    struct rlimit limit = {.rlim_cur = (rlim_t)bytes, .rlim_max = (rlim_t)bytes};
#ifdef __linux__
    // Private writable memory: what is used, not what is only mapped or reserved.
    (void)setrlimit(RLIMIT_DATA, &limit);
#else
    (void)setrlimit(RLIMIT_AS, &limit);
#endif
}

// Between fork and exec: system calls only, other threads may have held any lock.
static _Noreturn void become(char **argv, uint64_t memory_bytes) {
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0)
        _exit(EXIT_NOT_STARTED);
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (memory_bytes) limit_memory(memory_bytes);
    (void)execv(argv[0], argv);
    _exit(EXIT_NOT_STARTED);
}

Status process_start(const Str *args, size_t count, uint64_t memory_bytes, Process **out,
                     Err *err) {
    AUTO(arena_done) Arena arena = {0};
    char *argv[PROCESS_ARGS_MAX + 1] = {0};
    if (!count || count > PROCESS_ARGS_MAX)
        return err_set(err, ERR_ARG, "a process wants 1 to %d arguments", (int)PROCESS_ARGS_MAX);
    for (size_t i = 0; i < count; i++) argv[i] = str_to_c(&arena, args[i]);
    if (access(argv[0], X_OK) != 0)
        return err_set(err, ERR_IO, "cannot run %s: %s", argv[0], os_error());
    pid_t pid = fork();
    if (pid < 0) return err_set(err, ERR_IO, "cannot start %s: %s", argv[0], os_error());
    if (pid == 0) become(argv, memory_bytes);
    Process *process = mem_zero(1, sizeof *process);
    process->pid = pid;
    *out = process;
    return OK;
}

static bool look(Process *process, int flags) {
    int status = 0;
    pid_t pid;
    do pid = waitpid(process->pid, &status, flags);
    while (pid < 0 && errno == EINTR);
    if (pid == 0) return false;
    process->ended = true;
    if (pid < 0)
        process->code = EXIT_NOT_STARTED;
    else
        process->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

bool process_wait(Process *process, uint64_t timeout_ns, int *code) {
    uint64_t start = os_now_ns();
    while (!process->ended && !look(process, WNOHANG)) {
        if (os_now_ns() - start >= timeout_ns) return false;
        struct timespec pause = {.tv_nsec = POLL_NS};
        (void)nanosleep(&pause, NULL);
    }
    *code = process->code;
    return true;
}

void process_close(Process *process) {
    if (!process) return;
    if (!process->ended) {
        (void)kill(process->pid, SIGKILL);
        (void)look(process, 0);
    }
    mem_free(process);
}
