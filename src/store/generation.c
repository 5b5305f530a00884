// Generations: one folder for each load, so that a new database never touches the files of the old
// one. Who still needs a folder says so by a marker file named after host and process. A process
// that died leaves its markers behind; they count for nothing, on its own host at once and on
// others (a shared drive) after a day.
#include "store/manifest.h"

#include "base/os.h"

#include <stdatomic.h>

#define WRITER_PREFIX "writer-"
#define READER_PREFIX "reader-"
static const int64_t LEFTOVER_NS = INT64_C(3600) * 1000000000;
static const int64_t FOREIGN_MARKER_NS = INT64_C(24) * 3600 * 1000000000;

static uint64_t host_hash(Arena *arena) {
    return str_hash(os_host_name(arena)) & UINT32_MAX;
}

// "<host hash>-<pid>-<n>": unique in this process, attributable from others.
static Str who(Arena *arena) {
    static _Atomic unsigned counter;
    return str_format(arena, "%08llx-%d-%u", (unsigned long long)host_hash(arena), os_process_id(),
                      atomic_fetch_add(&counter, 1));
}

static Status marker_write(Str root, Str generation, const char *prefix, Arena *arena, Str *path,
                           Err *err) {
    Str folder = path_join(arena, root, generation);
    Str name = str_format(arena, "%s" STR_FMT, prefix, STR_ARG(who(arena)));
    *path = path_join(arena, folder, name);
    return file_create_new(*path, err);
}

Status generation_create(Str root, Arena *arena, Str *name, Err *err) {
    *name =
        str_format(arena, "g%llx-" STR_FMT, (unsigned long long)os_wall_ns(), STR_ARG(who(arena)));
    TRY(os_make_folders(path_join(arena, root, *name), err));
    Str marker;
    return marker_write(root, *name, WRITER_PREFIX, arena, &marker, err);
}

Status generation_hold(Str root, Str generation, Arena *arena, Str *marker, Err *err) {
    Status status = marker_write(root, generation, READER_PREFIX, arena, marker, err);
    if (status == OK) return OK;
    *marker = (Str){0};
    FileInfo info;
    TRY(os_stat(path_join(arena, root, generation), &info, err));
    if (!info.is_folder) return err_set(err, ERR_NOT_FOUND, "the generation is gone");
    return OK; // a folder that we may only read
}

void generation_release(Str root, Str generation) {
    AUTO(arena_done) Arena arena = {0};
    NameList names;
    Str folder = path_join(&arena, root, generation);
    if (os_list_folder(folder, &arena, &names, NULL) != OK) return;
    for (size_t i = 0; i < names.count; i++)
        if (str_starts(names.items[i], STR(WRITER_PREFIX)))
            (void)os_remove_file(path_join(&arena, folder, names.items[i]), NULL);
}

// Does the process still live that left this file or folder, named "<prefix>-<who>"?
static bool maker_alive(Str path, Str name, Arena *arena) {
    Str rest = name, prefix, host, pid;
    if (!str_next(&rest, '-', &prefix)) return false;
    int64_t process = 0;
    if (!str_next(&rest, '-', &host) || !str_next(&rest, '-', &pid) || !str_to_i64(pid, &process))
        return false;
    Str here = str_format(arena, "%08llx", (unsigned long long)host_hash(arena));
    if (str_eq(host, here))
        return process > 0 && process <= INT32_MAX && os_process_alive((int)process);
    FileInfo info;
    if (os_stat(path, &info, NULL) != OK || !info.exists) return false;
    return os_wall_ns() - info.mtime_ns < FOREIGN_MARKER_NS;
}

static bool folder_in_use(Str root, Str generation, Arena *arena) {
    Str folder = path_join(arena, root, generation);
    NameList names;
    if (os_list_folder(folder, arena, &names, NULL) != OK) return true;
    // An empty one is being made: its writer's marker follows.
    if (names.count == 0) return maker_alive(folder, generation, arena);
    for (size_t i = 0; i < names.count; i++) {
        bool marker = str_starts(names.items[i], STR(WRITER_PREFIX)) ||
                      str_starts(names.items[i], STR(READER_PREFIX));
        if (!marker) continue;
        if (maker_alive(path_join(arena, folder, names.items[i]), names.items[i], arena))
            return true;
    }
    return false;
}

// The generation that the manifest on disk names; false when it cannot be read, and then nothing
// may be removed.
static bool current_generation(Str root, Arena *arena, Str *name) {
    Str text;
    Err err = {0};
    *name = (Str){0};
    Status status = file_read_all(path_join(arena, root, STR(MANIFEST_NAME)), LIMIT_MANIFEST_BYTES,
                                  arena, &text, &err);
    if (status == ERR_NOT_FOUND) return true;
    if (status != OK) return false;
    json_t *json = json_loadb(text.p, text.n, 0, NULL);
    const char *id = json_string_value(json_object_get(json, "generation_id"));
    if (id) *name = str_copy(arena, str_from_c(id));
    json_decref(json);
    return true;
}

// The temporary file of a manifest or failure whose writer was killed.
static bool is_leftover(Str root, Str name, Arena *arena) {
    static const char *const WRITTEN[] = {MANIFEST_NAME ".", "failed.json."};
    FileInfo info;
    bool ours = false;
    for (size_t i = 0; i < COUNT_OF(WRITTEN); i++)
        ours = ours || str_starts(name, str_from_c(WRITTEN[i]));
    if (!ours || !str_ends(name, STR(".tmp"))) return false;
    return os_stat(path_join(arena, root, name), &info, NULL) == OK && info.is_file &&
           os_wall_ns() - info.mtime_ns > LEFTOVER_NS;
}

void generation_sweep(Str root) {
    AUTO(arena_done) Arena arena = {0};
    NameList names;
    if (os_list_folder(root, &arena, &names, NULL) != OK) return;
    for (size_t i = 0; i < names.count; i++)
        if (is_leftover(root, names.items[i], &arena))
            (void)os_remove_file(path_join(&arena, root, names.items[i]), NULL);
    // First who is in use, then what the manifest names: a writer renames its manifest before it
    // drops its marker, so a generation that becomes current in between is seen by one or other.
    bool *unused = ARENA_ARRAY(&arena, bool, names.count);
    for (size_t i = 0; i < names.count; i++) {
        Str name = names.items[i];
        bool ours = name.n > 1 && name.p[0] == 'g' && str_find(name, STR("-")) != SIZE_MAX;
        unused[i] = ours && !folder_in_use(root, name, &arena);
    }
    Str current;
    if (!current_generation(root, &arena, &current)) return;
    for (size_t i = 0; i < names.count; i++)
        if (unused[i] && !str_eq(names.items[i], current))
            (void)os_remove_tree(path_join(&arena, root, names.items[i]), NULL);
}
