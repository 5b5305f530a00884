// Where an export may be written. The path comes from a client: it is made absolute and free of
// links as far as it exists, the rest may hold no "..", and the result must lie in an allowed
// folder.
#include "tools/handle_export.h"

static Status refuse(Err *err, const char *param, Str path, const char *why) {
    return err_set(err, ERR_ARG, "%s: \"" STR_FMT "\" %s", param, STR_ARG(path), why);
}

// The nearest folder above that exists, without links, and what comes below it.
static Status split_existing(Str path, Arena *arena, Str *real, Str *rest, Err *err) {
    Str folder = path;
    *rest = (Str){0};
    for (;;) {
        FileInfo info = {0};
        Str name = path_name(folder);
        TRY(os_stat(folder, &info, err));
        if (info.exists) return os_real_path(folder, arena, real, err);
        Str parent = path_folder(folder);
        if (str_eq(parent, folder) || !folder.n)
            return err_set(err, ERR_NOT_FOUND, "\"" STR_FMT "\" has no folder that exists",
                           STR_ARG(path));
        if (name.n) *rest = rest->n ? path_join(arena, name, *rest) : name;
        folder = parent;
    }
}

static bool has_dots(Str rest) {
    Str part = {0};
    while (str_next(&rest, '/', &part))
        if (str_eq(part, STR("..")) || str_eq(part, STR("."))) return true;
    return false;
}

// Folder of `path`, absolute: it may not exist yet.
static Status absolute_folder(const char *param, Str path, Arena *arena, Str *out, Err *err) {
    Str rest = {0}, real = {0};
    TRY(split_existing(path_folder(path), arena, &real, &rest, err));
    if (has_dots(rest)) return refuse(err, param, path, "goes through folders that do not exist");
    *out = rest.n ? path_join(arena, real, rest) : real;
    return OK;
}

static Status check_extension(const char *param, Str path, const char *extensions, Arena *arena,
                              Str *out, Err *err) {
    Str name = path_name(path), rest = str_from_c(extensions), wanted = {0};
    size_t dot = str_rfind_char(name, '.');
    *out = dot == SIZE_MAX || !dot ? (Str){0} : str_lower(arena, str_slice(name, dot, name.n));
    while (str_next(&rest, ' ', &wanted))
        if (str_eq(*out, wanted)) return OK;
    return err_set(err, ERR_ARG, "%s must end in one of %s, not \"" STR_FMT "\"", param, extensions,
                   STR_ARG(name));
}

static bool lies_in(Str path, Str folder) {
    return folder.n && str_starts(path, folder) && path.n > folder.n && path.p[folder.n] == '/';
}

static Status check_place(const ToolCall *call, const char *param, Str given, Str path, Err *err) {
    if (call->entry && str_eq(path, call->entry->identity.path))
        return refuse(err, param, given, "is the trace itself");
    Str database = call->entry ? call->entry->folder : (Str){0}, real = {0};
    if (database.n && os_real_path(database, call->arena, &real, NULL) == OK) database = real;
    if (lies_in(path, database))
        return refuse(err, param, given, "lies in the trace's own database");
    return path_check_allowed(call->engine, path, err);
}

Status export_target(const ToolCall *call, const char *param, const char *extensions,
                     ExportTarget *out, Err *err) {
    Arena *arena = call->arena;
    Str given = str_trim(values_text(call->values, param)), folder = {0}, real = {0};
    FileInfo info = {0};
    *out = (ExportTarget){0};
    if (given.n && memchr(given.p, 0, given.n)) return refuse(err, param, given, "is no file name");
    TRY(os_stat(given, &info, err));
    bool folder_name = str_ends(given, STR("/")) || str_ends(given, STR("\\"));
    if (info.is_folder || folder_name || !path_name(given).n)
        return refuse(err, param, given, "is a folder: add a file name");
    if (info.exists && !info.is_file) return refuse(err, param, given, "is no ordinary file");
    if (info.exists && os_real_path(given, arena, &real, NULL) == OK)
        TRY(check_place(call, param, given, real, err));
    TRY(check_extension(param, given, extensions, arena, &out->extension, err));
    TRY(absolute_folder(param, given, arena, &folder, err));
    Str name = path_name(given);
    TRY(check_place(call, param, given, path_join(arena, folder, name), err));
    TRY(os_make_folders(folder, err));
    TRY(os_real_path(folder, arena, &real, err)); // it may have become a link meanwhile
    out->path = path_join(arena, real, name);
    TRY(check_place(call, param, given, out->path, err));
    out->temp = str_format(arena, STR_FMT ".%d-%llu.tmp", STR_ARG(out->path), os_process_id(),
                           (unsigned long long)os_now_ns());
    out->replaces = info.exists;
    out->old_bytes = info.size_bytes;
    return OK;
}

Status export_finish(const ExportTarget *target, uint64_t *bytes, Err *err) {
    FileInfo info = {0};
    TRY(os_stat(target->temp, &info, err));
    *bytes = info.size_bytes;
    return os_rename(target->temp, target->path, err);
}

void export_abandon(const ExportTarget *target) {
    FileInfo info = {0};
    if (target->temp.n && os_stat(target->temp, &info, NULL) == OK && info.exists)
        (void)os_remove_file(target->temp, NULL);
}

void export_scope(Doc *doc, const ExportTarget *target, uint64_t bytes) {
    Arena *arena = doc->arena;
    doc_scope(doc, STR("File"), target->path);
    doc_scope(doc, STR("Bytes written"), format_integer((int64_t)bytes, arena));
    doc_scope(doc, STR("Older file"),
              target->replaces
                  ? str_format(arena, "replaced (" STR_FMT " bytes)",
                               STR_ARG(format_integer((int64_t)target->old_bytes, arena)))
                  : STR("none"));
}
