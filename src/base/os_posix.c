// The operating system on Linux and macOS.
#define _GNU_SOURCE
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct File {
    int fd;
    uint64_t size;
    char path[];
};

enum { PATH_BYTES = 4096 };

// Paths arrive as slices; the system wants a terminator.
typedef struct PathBuf {
    char c[PATH_BYTES];
} PathBuf;

static Status path_c(Str path, PathBuf *out, Err *err) {
    if (path.n == 0) return err_set(err, ERR_ARG, "the path is empty");
    if (path.n >= sizeof out->c)
        return err_set(err, ERR_ARG, "the path is longer than %d bytes", PATH_BYTES - 1);
    if (memchr(path.p, 0, path.n)) return err_set(err, ERR_ARG, "the path holds a zero byte");
    memcpy(out->c, path.p, path.n);
    out->c[path.n] = 0;
    return OK;
}

const char *os_error(void) {
    return strerror(errno); // NOLINT(concurrency-mt-unsafe): per thread in glibc and Darwin's libc
}

static Status io_error(Err *err, const char *what, const char *path) {
    Status status = errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO;
    return err_set(err, status, "cannot %s %s: %s", what, path, os_error());
}

static Status file_check(int fd, const char *path, uint64_t *size, Err *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) return io_error(err, "read the state of", path);
    if (S_ISDIR(st.st_mode)) return err_set(err, ERR_INPUT, "%s is a folder, not a file", path);
    if (!S_ISREG(st.st_mode)) return err_set(err, ERR_INPUT, "%s is not a regular file", path);
    *size = (uint64_t)st.st_size;
    return OK;
}

Status file_open(Str path, File **out, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    // O_NONBLOCK: opening a pipe must not wait for its other end; it has no effect on files.
    int fd = open(c.c, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return io_error(err, "open", c.c);
    uint64_t size = 0;
    Status status = file_check(fd, c.c, &size, err);
    if (status != OK) {
        (void)close(fd);
        return status;
    }
    File *file = mem_zero(1, sizeof *file + path.n + 1);
    file->fd = fd;
    file->size = size;
    memcpy(file->path, c.c, path.n + 1);
    *out = file;
    return OK;
}

uint64_t file_size(const File *file) {
    return file->size;
}

uint64_t file_size_now(const File *file) {
    struct stat st;
    return fstat(file->fd, &st) == 0 ? (uint64_t)st.st_size : file->size;
}

Status file_read_at(File *file, uint64_t offset, void *bytes, size_t size, size_t *got, Err *err) {
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(file->fd, (char *)bytes + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return err_set(err, ERR_IO, "cannot read %s at offset %llu: %s", file->path,
                           (unsigned long long)(offset + *got), os_error());
        if (n == 0) return OK;
        *got += (size_t)n;
    }
    return OK;
}

void file_close(File *file) {
    if (!file) return;
    (void)close(file->fd);
    mem_free(file);
}

Status file_read_all(Str path, size_t max_bytes, Arena *arena, Str *out, Err *err) {
    AUTO(file_close) File *file = NULL;
    TRY(file_open(path, &file, err));
    if (file->size > max_bytes)
        return err_set(err, ERR_LIMIT, "%s has %llu bytes, more than the limit of %zu", file->path,
                       (unsigned long long)file->size, max_bytes);
    char *bytes = arena_bytes(arena, (size_t)file->size + 1);
    size_t got = 0;
    TRY(file_read_at(file, 0, bytes, (size_t)file->size, &got, err));
    bytes[got] = 0;
    *out = (Str){bytes, got};
    return OK;
}

static Status write_all(int fd, Str bytes, const char *path, Err *err) {
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error(err, "write", path);
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    if (fsync(fd) != 0) return io_error(err, "flush", path);
    return OK;
}

Status file_write_atomic(Str path, Str bytes, Err *err) {
    PathBuf to, temporary;
    TRY(path_c(path, &to, err));
    int n = snprintf(temporary.c, sizeof temporary.c, "%s.%d.tmp", to.c, (int)getpid());
    if (n < 0 || (size_t)n >= sizeof temporary.c)
        return err_set(err, ERR_ARG, "the path %s is too long", to.c);
    int fd = open(temporary.c, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return io_error(err, "create", temporary.c);
    Status status = write_all(fd, bytes, temporary.c, err);
    if (close(fd) != 0 && status == OK) status = io_error(err, "close", temporary.c);
    if (status == OK && rename(temporary.c, to.c) != 0) status = io_error(err, "rename to", to.c);
    if (status != OK) (void)unlink(temporary.c);
    return status;
}

Status file_create_new(Str path, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    int fd = open(c.c, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return io_error(err, "create", c.c);
    return close(fd) == 0 ? OK : io_error(err, "close", c.c);
}

struct FileLock {
    int fd;
};

FileLock *file_lock_open(Str path, uint64_t timeout_ns) {
    PathBuf c;
    if (path_c(path, &c, NULL) != OK) return NULL;
    int fd = open(c.c, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return NULL;
    uint64_t start = os_now_ns();
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (!busy || os_now_ns() - start >= timeout_ns) {
            (void)close(fd);
            return NULL;
        }
        struct timespec pause = {.tv_nsec = 5000000};
        (void)nanosleep(&pause, NULL);
    }
    FileLock *lock = mem_zero(1, sizeof *lock);
    lock->fd = fd;
    return lock;
}

void file_lock_close(FileLock *lock) {
    if (!lock) return;
    (void)close(lock->fd); // which drops the lock
    mem_free(lock);
}

struct FileWriter {
    int fd;
    char path[];
};

Status file_create(Str path, FileWriter **out, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    int fd = open(c.c, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return io_error(err, "create", c.c);
    FileWriter *writer = mem_zero(1, sizeof *writer + path.n + 1);
    writer->fd = fd;
    memcpy(writer->path, c.c, path.n + 1);
    *out = writer;
    return OK;
}

Status file_append(FileWriter *writer, Str bytes, Err *err) {
    while (bytes.n) {
        ssize_t n = write(writer->fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error(err, "write", writer->path);
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
    return OK;
}

Status file_finish(FileWriter *writer, Err *err) {
    if (fsync(writer->fd) != 0) return io_error(err, "flush", writer->path);
    return OK;
}

void file_writer_close(FileWriter *writer) {
    if (!writer) return;
    (void)close(writer->fd);
    mem_free(writer);
}

static int64_t mtime_ns(const struct stat *st) {
#ifdef __APPLE__
    return (int64_t)st->st_mtimespec.tv_sec * 1000000000 + st->st_mtimespec.tv_nsec;
#else
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
#endif
}

Status os_stat(Str path, FileInfo *out, Err *err) {
    PathBuf c;
    *out = (FileInfo){0};
    TRY(path_c(path, &c, err));
    struct stat st;
    if (stat(c.c, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return OK;
        return io_error(err, "read the state of", c.c);
    }
    *out = (FileInfo){.exists = true,
                      .is_file = S_ISREG(st.st_mode),
                      .is_folder = S_ISDIR(st.st_mode),
                      .size_bytes = (uint64_t)st.st_size,
                      .mtime_ns = mtime_ns(&st)};
    return OK;
}

Status os_make_folders(Str path, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    for (char *p = c.c + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        char saved = *p;
        *p = 0;
        if (mkdir(c.c, 0755) != 0 && errno != EEXIST) return io_error(err, "create folder", c.c);
        *p = saved;
        if (saved == 0) break;
    }
    FileInfo info;
    TRY(os_stat(path, &info, err));
    return info.is_folder ? OK : err_set(err, ERR_IO, "%s exists and is not a folder", c.c);
}

bool os_folder_writable(Str path) {
    PathBuf c;
    return path_c(path, &c, NULL) == OK && access(c.c, W_OK | X_OK) == 0;
}

Status os_rename(Str from, Str to, Err *err) {
    PathBuf a, b;
    TRY(path_c(from, &a, err));
    TRY(path_c(to, &b, err));
    return rename(a.c, b.c) == 0 ? OK : io_error(err, "rename", a.c);
}

Status os_remove_file(Str path, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    return unlink(c.c) == 0 || errno == ENOENT ? OK : io_error(err, "remove", c.c);
}

// Depth is bounded by PATH_BYTES: each level makes the path longer.
// NOLINTNEXTLINE(misc-no-recursion)
static Status remove_tree(Str path, Arena *arena, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    struct stat st;
    if (lstat(c.c, &st) != 0) return errno == ENOENT ? OK : io_error(err, "remove", c.c);
    if (!S_ISDIR(st.st_mode)) return os_remove_file(path, err);
    NameList names = {0};
    TRY(os_list_folder(path, arena, &names, err));
    for (size_t i = 0; i < names.count; i++)
        TRY(remove_tree(path_join(arena, path, names.items[i]), arena, err));
    return rmdir(c.c) == 0 || errno == ENOENT ? OK : io_error(err, "remove", c.c);
}

Status os_remove_tree(Str path, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    return remove_tree(path, &arena, err);
}

static int compare_names(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

Status os_list_folder(Str path, Arena *arena, NameList *out, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    DIR *folder = opendir(c.c);
    if (!folder) return io_error(err, "list folder", c.c);
    VEC(Str) names = {0};
    for (;;) {
        struct dirent *entry = readdir(folder); // NOLINT(concurrency-mt-unsafe): own DIR
        if (!entry) break;
        Str name = str_from_c(entry->d_name);
        if (!str_eq(name, STR(".")) && !str_eq(name, STR("..")))
            *vec_push(&names) = str_copy(arena, name);
    }
    (void)closedir(folder);
    vec_sort(&names, compare_names);
    *out = (NameList){ARENA_ARRAY(arena, Str, names.count), names.count};
    if (names.count) memcpy(out->items, names.items, names.count * sizeof(Str));
    vec_free(&names);
    return OK;
}

Status os_real_path(Str path, Arena *arena, Str *out, Err *err) {
    PathBuf c;
    TRY(path_c(path, &c, err));
    char *real = realpath(c.c, NULL);
    if (!real) return io_error(err, "find", c.c);
    *out = str_copy(arena, str_from_c(real));
    free(real); // NOLINT: allocated by the system
    return OK;
}

Str os_working_folder(Arena *arena) {
    PathBuf c;
    return getcwd(c.c, sizeof c.c) ? str_copy(arena, str_from_c(c.c)) : STR("/");
}

Str os_env(const char *name) {
    return str_from_c(getenv(name)); // NOLINT(concurrency-mt-unsafe): nobody calls setenv
}

Str os_cache_folder(Arena *arena) {
    Str xdg = os_env("XDG_CACHE_HOME");
    if (xdg.n && xdg.p[0] == '/') return path_join(arena, xdg, STR("etw-mcp"));
    Str home = os_env("HOME");
    if (home.n) return path_join(arena, home, STR(".cache/etw-mcp"));
    return str_format(arena, "/tmp/etw-mcp-%u", (unsigned)getuid());
}

Str os_executable_path(Arena *arena) {
    PathBuf c;
    ssize_t n = readlink("/proc/self/exe", c.c, sizeof c.c);
    return n > 0 ? str_copy(arena, (Str){c.c, (size_t)n}) : STR("etw-mcp");
}

Str path_join(Arena *arena, Str folder, Str name) {
    if (folder.n == 0 || (name.n && name.p[0] == '/')) return str_copy(arena, name);
    const char *separator = folder.p[folder.n - 1] == '/' ? "" : "/";
    return str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(folder), separator, STR_ARG(name));
}

static size_t last_separator(Str path) {
    size_t slash = str_rfind_char(path, '/'), back = str_rfind_char(path, '\\');
    if (slash == SIZE_MAX) return back;
    return back == SIZE_MAX || back < slash ? slash : back;
}

Str path_name(Str path) {
    size_t at = last_separator(path);
    return at == SIZE_MAX ? path : str_slice(path, at + 1, path.n);
}

Str path_folder(Str path) {
    size_t at = last_separator(path);
    if (at == SIZE_MAX) return STR(".");
    return at == 0 ? str_slice(path, 0, 1) : str_slice(path, 0, at);
}

Str path_stem(Str path) {
    Str name = path_name(path);
    size_t dot = str_rfind_char(name, '.');
    return dot == SIZE_MAX || dot == 0 ? name : str_slice(name, 0, dot);
}

static uint64_t clock_ns(clockid_t id) {
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t os_wall_ns(void) {
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

Str os_wall_text(Arena *arena, int64_t wall_ns) {
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm utc = {0};
    char text[32] = "";
    if (gmtime_r(&seconds, &utc)) (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return str_copy(arena, str_from_c(text));
}

int os_process_id(void) {
    return (int)getpid();
}

bool os_process_alive(int process_id) {
    return process_id > 0 && (kill((pid_t)process_id, 0) == 0 || errno == EPERM);
}

Str os_host_name(Arena *arena) {
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    return str_copy(arena, str_from_c(name));
}

unsigned os_cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

uint64_t os_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

void os_tune_memory(void) {
#ifdef __GLIBC__
    // Called before there are threads. NOLINTBEGIN(concurrency-mt-unsafe)
    (void)mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_TOP_PAD, 4 * 1024 * 1024);
    // NOLINTEND(concurrency-mt-unsafe)
#endif
}

uint64_t os_resident_memory_bytes(void) {
    uint64_t pages = 0;
#ifdef __linux__
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) (void)close(fd);
    // Size, then resident, in pages.
    char *second = n > 0 ? strchr(text, ' ') : NULL;
    if (second) pages = strtoull(second, NULL, 10);
#endif
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? pages * (uint64_t)page : 0;
}

uint64_t os_peak_memory_bytes(void) {
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}
