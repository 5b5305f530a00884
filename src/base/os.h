// The operating system behind one header; os_posix.c implements it. Paths are UTF-8.
#ifndef BASE_OS_H
#define BASE_OS_H

#include "base/str.h"

typedef struct File File; // open file, read by position: safe from several threads

Status file_open(Str path, File **out, Err *err); // regular files only; says what it is otherwise
uint64_t file_size(const File *file);             // when it was opened
uint64_t file_size_now(const File *file);         // as above when the system does not say
// Reads up to `size` bytes; *got is shorter only at the end of the file (also when it shrank).
Status file_read_at(File *file, uint64_t offset, void *bytes, size_t size, size_t *got, Err *err);
void file_close(File *file);
AUTO_DEFINE(File *, file_close)

// Whole file into `arena` (NUL behind it); ERR_LIMIT above max_bytes.
Status file_read_all(Str path, size_t max_bytes, Arena *arena, Str *out, Err *err);
// Atomic: temporary file beside `path`, flushed, then renamed over it.
Status file_write_atomic(Str path, Str bytes, Err *err);
// An empty file that did not exist before, not flushed: markers and locks.
Status file_create_new(Str path, Err *err);

// A lock among processes, on a file that is made when it is missing and stays. The system drops it
// when its holder ends, however that ends. NULL when it cannot be had within the time, or at all: a
// lock guards against races, and without one the caller's second line of defence must do.
typedef struct FileLock FileLock;
FileLock *file_lock_open(Str path, uint64_t timeout_ns);
void file_lock_close(FileLock *lock);
AUTO_DEFINE(FileLock *, file_lock_close)

// A new file, written front to back. Leaves what was written where it is unless the caller removes
// it, so write under a temporary name and os_rename when it is complete.
typedef struct FileWriter FileWriter;
Status file_create(Str path, FileWriter **out, Err *err); // ERR_IO when `path` exists
Status file_append(FileWriter *writer, Str bytes, Err *err);
Status file_finish(FileWriter *writer, Err *err); // flushed to the disk; nothing may follow
void file_writer_close(FileWriter *writer);
AUTO_DEFINE(FileWriter *, file_writer_close)

typedef struct FileInfo {
    bool exists, is_file, is_folder;
    uint64_t size_bytes;
    int64_t mtime_ns; // since 1970-01-01 UTC
} FileInfo;
Status os_stat(Str path, FileInfo *out, Err *err); // a missing file is OK with exists == false
Status os_make_folders(Str path, Err *err);        // with parents
bool os_folder_writable(Str path);
Status os_rename(Str from, Str to, Err *err);
Status os_remove_file(Str path, Err *err);
Status os_remove_tree(Str path, Err *err); // follows no links
// Names (not paths) in a folder, without "." and "..", in byte order.
typedef struct NameList {
    Str *items;
    size_t count;
} NameList;
Status os_list_folder(Str path, Arena *arena, NameList *out, Err *err);
// Absolute and free of links; fails when the file does not exist.
Status os_real_path(Str path, Arena *arena, Str *out, Err *err);
Str os_working_folder(Arena *arena);
Str os_cache_folder(Arena *arena); // per user: $XDG_CACHE_HOME/etw-mcp or ~/.cache/etw-mcp or tmp
Str os_executable_path(Arena *arena);
Str os_env(const char *name); // empty slice when unset
Str path_join(Arena *arena, Str folder, Str name);
Str path_name(Str path);   // behind the last '/' (and '\\')
Str path_folder(Str path); // before it; "." when there is none
Str path_stem(Str path);   // name without its last extension

uint64_t os_now_ns(void);                        // monotonic
int64_t os_wall_ns(void);                        // since 1970-01-01 UTC
Str os_wall_text(Arena *arena, int64_t wall_ns); // "2026-12-01T10:00:00Z"
int os_process_id(void);
bool os_process_alive(int process_id);
Str os_host_name(Arena *arena);
unsigned os_cpu_count(void);
uint64_t os_memory_bytes(void);          // physical
uint64_t os_resident_memory_bytes(void); // of this process now; 0 where the system does not say
uint64_t os_peak_memory_bytes(void);     // of this process
// Keeps freed memory for the next request instead of giving it back at once: a load asks for the
// same large blocks again and again. Call once at the start of the program.
void os_tune_memory(void);
const char *os_error(void); // text of errno, valid until the next call in this thread

#endif
