// File names by key, and NT paths to drive letters.
#include "base/search.h"
#include "decode/entities.h"
#include "decode/world_internal.h"

#include <stdlib.h>

enum ConfigOpcode { CONFIG_PATHS = 33, CONFIG_VOLUME = 35 };

static int compare_volumes(const void *a, const void *b) {
    const VolumeMap *x = a, *y = b;
    if (x->nt.n != y->nt.n) return x->nt.n > y->nt.n ? -1 : 1; // longest prefix first
    return str_cmp(x->nt, y->nt);
}

static void build_volumes(World *world) {
    Guid provider;
    INVARIANT(guid_from_text(STR("9b79ee91-b5fd-41c0-a243-4248e266e9d0"), &provider));
    KeptList list = world_kept_class(world, &provider, CONFIG_VOLUME);
    for (size_t i = 0; i < list.count; i++) {
        Rd r = rd_from_str(list.items[i].payload);
        VolumeMap map = {.nt = rd_wstr(&r, &world->arena)};
        map.dos = rd_wstr(&r, &world->arena);
        if (map.nt.n && map.dos.n) *vec_push(&world->volumes) = map;
    }
    vec_sort(&world->volumes, compare_volumes);
    list = world_kept_class(world, &provider, CONFIG_PATHS);
    if (!list.count) return;
    Rd r = rd_from_str(list.items[0].payload);
    (void)rd_wstr(&r, &world->arena); // the system folder
    world->windows_folder = rd_wstr(&r, &world->arena);
}

static bool starts_nocase(Str s, Str prefix) {
    return s.n >= prefix.n && str_eq_nocase(str_slice(s, 0, prefix.n), prefix);
}

Str world_path(const World *world, Str nt_path, Arena *arena) {
    static const Str DOS_PREFIX = {"\\??\\", 4}, ROOT = {"\\SystemRoot\\", 12};
    if (starts_nocase(nt_path, DOS_PREFIX)) return str_slice(nt_path, DOS_PREFIX.n, nt_path.n);
    if (starts_nocase(nt_path, ROOT) && world->windows_folder.n) {
        Str folder = world->windows_folder;
        if (folder.p[folder.n - 1] == '\\') folder.n--;
        return str_format(arena, STR_FMT "\\" STR_FMT, STR_ARG(folder),
                          STR_ARG(str_slice(nt_path, ROOT.n, nt_path.n)));
    }
    for (size_t i = 0; i < world->volumes.count; i++) {
        const VolumeMap *volume = &world->volumes.items[i];
        if (!starts_nocase(nt_path, volume->nt)) continue;
        return str_format(arena, STR_FMT STR_FMT, STR_ARG(volume->dos),
                          STR_ARG(str_slice(nt_path, volume->nt.n, nt_path.n)));
    }
    return nt_path;
}

static int compare_files(const void *a, const void *b) {
    const FileNameEntry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

void world_build_files(World *world) {
    static const uint16_t HOOKS[] = {HOOK_FILE_NAME, HOOK_FILE_CREATE_NAME, HOOK_FILE_DELETE_NAME,
                                     HOOK_FILE_RUNDOWN};
    build_volumes(world);
    for (size_t h = 0; h < COUNT_OF(HOOKS); h++) {
        KeptList list = world_kept(world, HOOKS[h]);
        for (size_t i = 0; i < list.count; i++) {
            const Kept *kept = &list.items[i];
            Rd r = rd_from_str(kept->payload);
            uint64_t key = rd_ptr(&r, kept->pointer_size);
            if (!rd_ok(&r)) continue;
            Str path = world_path(world, rd_wstr(&r, &world->arena), &world->arena);
            bool before = HOOKS[h] == HOOK_FILE_DELETE_NAME || HOOKS[h] == HOOK_FILE_RUNDOWN;
            *vec_push(&world->files) = (FileNameEntry){key, kept->ticks, kept->seq, before, path};
        }
    }
    vec_sort(&world->files, compare_files);
}

Str world_file(const World *world, uint64_t key, int64_t ticks) {
    const FileNameEntry *files = world->files.items;
    size_t next;
    FIND_FIRST(next, world->files.count,
               files[next].key < key || (files[next].key == key && files[next].ticks <= ticks));
    const FileNameEntry *last = next && files[next - 1].key == key ? &files[next - 1] : NULL;
    // Latest creation before the time; a delete in between ends that name.
    if (last && !last->names_before) return last->path;
    // Else the first rundown, delete or later creation behind it, else whatever was last.
    if (next < world->files.count && files[next].key == key) return files[next].path;
    if (last) return last->path;
    return (Str){0};
}
