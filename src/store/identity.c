// Who a trace is, and where its database goes.
#include "base/hash.h"
#include "base/os.h"
#include "store/manifest.h"

static Str sha256_hex(Str text, Arena *arena) {
    uint8_t digest[SHA256_BYTES];
    sha256(text, digest);
    return hex_write(arena_bytes(arena, 2 * sizeof digest), digest, sizeof digest);
}

Status trace_identity(Str path, Arena *arena, TraceIdentity *out, Err *err) {
    FileInfo info;
    *out = (TraceIdentity){0};
    TRY(os_real_path(path, arena, &out->path, err));
    TRY(os_stat(out->path, &info, err));
    if (!info.is_file) return err_set(err, ERR_INPUT, STR_FMT " is not a file", STR_ARG(out->path));
    out->size_bytes = info.size_bytes;
    out->mtime_ns = info.mtime_ns;
    Str text = str_format(arena, STR_FMT "|%llu|%lld", STR_ARG(out->path),
                          (unsigned long long)info.size_bytes, (long long)info.mtime_ns);
    Str hex = sha256_hex(text, arena);
    memcpy(out->trace_id, "trace_", 6);
    memcpy(out->trace_id + 6, hex.p, 12);
    return OK;
}

static bool folder_usable(Str folder, const TraceIdentity *identity, Arena *arena) {
    FileInfo info;
    if (path_name(folder).n > 255 || os_stat(folder, &info, NULL) != OK) return false;
    if (!info.exists) return os_folder_writable(path_folder(folder));
    if (info.is_folder && os_folder_writable(folder)) return true;
    // Decoded by somebody who could write there.
    StoreState state = STORE_NONE;
    Str why;
    return store_check(folder, identity, arena, &state, &why, NULL) == OK && state == STORE_VALID;
}

Str store_folder(const TraceIdentity *identity, Arena *arena, bool *fallback) {
    enum { STEM_BYTES = 100 };
    Str stem = path_stem(identity->path);
    *fallback = false;
    Str folder = path_join(arena, path_folder(identity->path),
                           str_format(arena, ".etw-export-" STR_FMT, STR_ARG(stem)));
    if (folder_usable(folder, identity, arena)) return folder;
    // By name, size and time, so that a moved trace finds its database again.
    Str text = str_format(arena, STR_FMT "|%llu|%lld", STR_ARG(path_name(identity->path)),
                          (unsigned long long)identity->size_bytes, (long long)identity->mtime_ns);
    Str hex = sha256_hex(text, arena);
    Str name = str_format(arena, "traces/" STR_FMT "-" STR_FMT,
                          STR_ARG(str_slice(stem, 0, STEM_BYTES)), STR_ARG(str_slice(hex, 0, 12)));
    *fallback = true;
    return path_join(arena, os_cache_folder(arena), name);
}

Status store_check(Str folder, const TraceIdentity *identity, Arena *arena, StoreState *state,
                   Str *why, Err *err) {
    Manifest manifest;
    Verdict verdict;
    Str root;
    TRY(manifest_root(folder, arena, &root, err));
    TRY(manifest_load(root, identity, arena, &manifest, &verdict, err));
    *state = verdict.state;
    *why = verdict.why;
    manifest_done(&manifest);
    return OK;
}
