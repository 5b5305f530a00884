// Who a trace is, and where its database goes.
#include "base/os.h"
#include "store/manifest.h"

#include <openssl/evp.h>

static Status sha256_hex(Str text, Arena *arena, Str *out, Err *err) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (EVP_Digest(text.p, text.n, digest, &n, EVP_sha256(), NULL) != 1)
        return err_set(err, ERR_INTERNAL, "SHA-256 is not available");
    char *hex = arena_bytes(arena, (size_t)n * 2);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    *out = (Str){hex, (size_t)n * 2};
    return OK;
}

Status trace_identity(Str path, Arena *arena, TraceIdentity *out, Err *err) {
    FileInfo info;
    Str hex;
    *out = (TraceIdentity){0};
    TRY(os_real_path(path, arena, &out->path, err));
    TRY(os_stat(out->path, &info, err));
    if (!info.is_file) return err_set(err, ERR_INPUT, STR_FMT " is not a file", STR_ARG(out->path));
    out->size_bytes = info.size_bytes;
    out->mtime_ns = info.mtime_ns;
    Str text = str_format(arena, STR_FMT "|%llu|%lld", STR_ARG(out->path),
                          (unsigned long long)info.size_bytes, (long long)info.mtime_ns);
    TRY(sha256_hex(text, arena, &hex, err));
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

Status store_folder(const TraceIdentity *identity, Arena *arena, Str *folder, bool *fallback,
                    Err *err) {
    enum { STEM_BYTES = 100 };
    Str hex, stem = path_stem(identity->path);
    *fallback = false;
    *folder = path_join(arena, path_folder(identity->path),
                        str_format(arena, ".etw-export-" STR_FMT, STR_ARG(stem)));
    if (folder_usable(*folder, identity, arena)) return OK;
    // By name, size and time, so that a moved trace finds its database again.
    Str text = str_format(arena, STR_FMT "|%llu|%lld", STR_ARG(path_name(identity->path)),
                          (unsigned long long)identity->size_bytes, (long long)identity->mtime_ns);
    TRY(sha256_hex(text, arena, &hex, err));
    Str name = str_format(arena, "traces/" STR_FMT "-" STR_FMT,
                          STR_ARG(str_slice(stem, 0, STEM_BYTES)), STR_ARG(str_slice(hex, 0, 12)));
    *folder = path_join(arena, os_cache_folder(arena), name);
    *fallback = true;
    return OK;
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
