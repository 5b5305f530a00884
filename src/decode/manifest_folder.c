// Loads every .man file of a folder when the first event asks. Files that are no manifests are left
// out: one bad file must not cost the others. What was wrong is kept for the events that then have
// no description.
#include "decode/manifest_folder.h"

#include "base/os.h"

struct ManifestFolder {
    Arena arena;
    Str path;
    bool loaded;
    VEC(ManifestDoc *) docs;
    SourceTrouble trouble;
};

ManifestFolder *manifest_folder_open(Str path) {
    ManifestFolder *folder = mem_zero(1, sizeof *folder);
    folder->path = str_copy(&folder->arena, path);
    return folder;
}

void manifest_folder_close(ManifestFolder *folder) {
    if (!folder) return;
    for (size_t i = 0; i < folder->docs.count; i++) manifest_close(folder->docs.items[i]);
    vec_free(&folder->docs);
    arena_done(&folder->arena);
    mem_free(folder);
}

static void complain(ManifestFolder *folder, Str file, const Err *err) {
    source_complain(&folder->trouble, "ETW_MCP_MANIFESTS", file, err, &folder->arena);
}

static void read_file(ManifestFolder *folder, Str name, Arena *scratch) {
    Err err = {0};
    Str text, path = path_join(scratch, folder->path, name);
    if (file_read_all(path, LIMIT_MANIFEST_BYTES, scratch, &text, &err) == OK) {
        ManifestDoc *doc = manifest_parse(text, &err);
        if (doc) *vec_push(&folder->docs) = doc;
    }
    if (err.text[0]) complain(folder, name, &err);
}

static void load(ManifestFolder *folder) {
    AUTO(arena_done) Arena scratch = {0};
    NameList names;
    Err err = {0};
    if (folder->loaded) return;
    folder->loaded = true;
    if (!folder->path.n) return;
    if (os_list_folder(folder->path, &scratch, &names, &err) != OK) {
        complain(folder, (Str){0}, &err);
        return;
    }
    size_t files = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (!str_ends_nocase(names.items[i], STR(".man"))) continue;
        if (files++ == LIMIT_MANIFEST_FILES) {
            (void)err_set(&err, ERR_LIMIT, "only the first %d files are read",
                          (int)LIMIT_MANIFEST_FILES);
            complain(folder, (Str){0}, &err);
            return;
        }
        read_file(folder, names.items[i], &scratch);
    }
}

Str manifest_folder_trouble(ManifestFolder *folder) {
    load(folder);
    return source_trouble_text(&folder->trouble, &folder->arena);
}

bool manifest_folder_find(ManifestFolder *folder, const SourceKey *key, Arena *arena,
                          SourceAnswer *answer) {
    load(folder);
    for (size_t i = 0; i < folder->docs.count; i++)
        if (manifest_find(folder->docs.items[i], key, arena, answer)) return true;
    return false;
}

Str manifest_folder_provider_name(ManifestFolder *folder, const Guid *provider) {
    Str name = {0};
    load(folder);
    for (size_t i = 0; i < folder->docs.count; i++)
        if (manifest_has_provider(folder->docs.items[i], provider, &name)) return name;
    return name;
}
