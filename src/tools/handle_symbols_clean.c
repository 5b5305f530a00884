// clean_stale_symbol_files: folders of a symbol store that belong to another build of a binary.
// Only <root>/<pdb>/<32 hex digits><hex age> is ever a candidate, links are not followed, and what
// a loaded trace was recorded with stays.
#include "tools/handle_symbols.h"
#include "tools/handlers.h"

enum { GUID_DIGITS = 32, KEY_DIGITS_MAX = 40, DEPTH_MAX = 4 };

typedef struct InUse {
    Str key, trace_id;
} InUse;

typedef struct Clean {
    ToolCall *call;
    Arena *arena;
    Str folder; // <root>/<pdb>, free of links
    Str current;
    VEC(InUse) used;
    uint64_t stale_bytes, kept_bytes;
    size_t stale, kept, failed;
} Clean;

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_key(Str name) {
    if (name.n <= GUID_DIGITS || name.n > KEY_DIGITS_MAX) return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_hex(name.p[i])) return false;
    return true;
}

// A folder that is no link to somewhere else.
static bool is_real_folder(Str path, Arena *arena) {
    FileInfo info = {0};
    Str real = {0};
    return os_stat(path, &info, NULL) == OK && info.is_folder &&
           os_real_path(path, arena, &real, NULL) == OK && str_eq(real, path);
}

// Depth is bounded by DEPTH_MAX.
// NOLINTNEXTLINE(misc-no-recursion)
static uint64_t folder_bytes(Str folder, Arena *arena, unsigned depth) {
    NameList names = {0};
    uint64_t bytes = 0;
    if (os_list_folder(folder, arena, &names, NULL) != OK) return 0;
    for (size_t i = 0; i < names.count; i++) {
        FileInfo info = {0};
        Str path = path_join(arena, folder, names.items[i]);
        if (os_stat(path, &info, NULL) != OK) continue;
        if (info.is_file) bytes += info.size_bytes;
        if (info.is_folder && depth < DEPTH_MAX && is_real_folder(path, arena))
            bytes += folder_bytes(path, arena, depth + 1);
    }
    return bytes;
}

// ---------------------------------------------------------------- identities in use

static Status read_used(Clean *clean, Str trace_id, Err *err) {
    static const char SQL[] = "SELECT DISTINCT pdb_guid::VARCHAR, pdb_age FROM image "
                              "WHERE pdb_guid IS NOT NULL AND pdb_age IS NOT NULL ORDER BY ALL";
    AUTO(trace_let_go) TraceHold hold = {0};
    TRY(trace_hold(clean->call->engine, trace_id, clean->call->context, clean->arena, &hold, err));
    ResultSet rows = {0};
    TRY(session_query(hold.session, str_from_c(SQL), NULL, 0, 0, clean->arena, &rows, err));
    for (size_t i = 0; i < rows.row_count; i++) {
        SymbolId id = {.age = (uint32_t)rows.cells[2 * i + 1].u64};
        if (!guid_from_text(rows.cells[2 * i].text, &id.guid)) continue;
        *vec_push(&clean->used) = (InUse){symbol_key(&id, clean->arena), trace_id};
    }
    return OK;
}

// A trace that cannot be asked might need any folder, so that ends the call.
static Status read_all_used(Clean *clean, Err *err) {
    Engine *engine = clean->call->engine;
    VEC(Str) ids = {0};
    mutex_lock(&engine->mutex);
    for (size_t i = 0; i < engine->traces.count; i++) {
        const Trace *trace = engine->traces.items[i];
        if (trace->state == TRACE_READY)
            *vec_push(&ids) = str_copy(clean->arena, str_from_c(trace->identity.trace_id));
    }
    mutex_unlock(&engine->mutex);
    Status status = OK;
    for (size_t i = 0; i < ids.count && status == OK; i++)
        status = read_used(clean, ids.items[i], err);
    vec_free(&ids);
    return status;
}

static const InUse *use_of(const Clean *clean, Str key) {
    for (size_t i = 0; i < clean->used.count; i++)
        if (str_eq_nocase(clean->used.items[i].key, key)) return &clean->used.items[i];
    return NULL;
}

// ---------------------------------------------------------------- the folder

static Status read_current(Clean *clean, Str exe, Str *pdb_name, Err *err) {
    AUTO(pe_close) Pe *pe = NULL;
    Str real = {0};
    TRY(os_real_path(exe, clean->arena, &real, err));
    TRY(path_check_allowed(clean->call->engine, real, err));
    TRY(pe_open(exe, &pe, err));
    const PeIdentity *identity = pe_identity(pe);
    if (!identity->has_pdb)
        return err_set(err, ERR_INPUT,
                       "\"" STR_FMT
                       "\" has no RSDS record, so it does not say which PDB is its own",
                       STR_ARG(exe));
    SymbolId id = {.guid = identity->pdb_guid, .age = identity->pdb_age};
    *pdb_name = str_copy(clean->arena, path_name(identity->pdb_path));
    clean->current = symbol_key(&id, clean->arena);
    if (!symbol_name_is_safe(*pdb_name))
        return err_set(err, ERR_INPUT, "the PDB name in \"" STR_FMT "\" is no plain file name",
                       STR_ARG(exe));
    return OK;
}

static Str default_root(Arena *arena) {
#ifdef _WIN32
    (void)arena;
    return STR("C:\\SymCache");
#else
    return path_join(arena, os_cache_folder(arena), STR("symbols"));
#endif
}

// <root>/<pdb> as the file system spells it.
static Status find_folder(Clean *clean, Str root, Str pdb_name, Err *err) {
    Str real = {0};
    NameList names = {0};
    TRY(os_real_path(root, clean->arena, &real, err));
    TRY(path_check_allowed(clean->call->engine, real, err));
    TRY(os_list_folder(real, clean->arena, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        Str path = path_join(clean->arena, real, names.items[i]);
        if (!str_eq_nocase(names.items[i], pdb_name) || !is_real_folder(path, clean->arena))
            continue;
        clean->folder = path;
        return OK;
    }
    return err_set(err, ERR_NOT_FOUND, "\"" STR_FMT "\" holds no folder " STR_FMT, STR_ARG(real),
                   STR_ARG(pdb_name));
}

static Str remove_folder(Clean *clean, Str path, bool dry_run) {
    Err own = {0};
    if (dry_run) return STR("STALE");
    if (os_remove_tree(path, &own) == OK) return STR("STALE: removed");
    clean->failed++;
    return str_format(clean->arena, "STALE: not removed: %s", own.text);
}

static void judge(Clean *clean, DocSection *table, Str name, bool dry_run) {
    Str path = path_join(clean->arena, clean->folder, name), status = {0};
    const InUse *used = use_of(clean, name);
    uint64_t bytes = 0;
    if (!is_real_folder(path, clean->arena)) {
        status = STR("KEEP (a link or no folder)");
    } else {
        bytes = folder_bytes(path, clean->arena, 0);
        if (str_eq_nocase(name, clean->current))
            status = STR("KEEP (current)");
        else if (used)
            status =
                str_format(clean->arena, "KEEP (in use by " STR_FMT ")", STR_ARG(used->trace_id));
    }
    bool stale = !status.n;
    if (stale) status = remove_folder(clean, path, dry_run);
    *(stale ? &clean->stale : &clean->kept) += 1;
    *(stale ? &clean->stale_bytes : &clean->kept_bytes) += bytes;
    Cell *cells = doc_row(clean->call->doc, table);
    cells[0] = cell_text(path);
    cells[1] = cell_text(status);
    cells[2] = cell_i64((int64_t)bytes);
}

static Status judge_all(Clean *clean, bool dry_run, Err *err) {
    NameList names = {0};
    TRY(os_list_folder(clean->folder, clean->arena, &names, err));
    DocSection *table = doc_table(clean->call->doc, STR("main"), (Str){0});
    doc_column(clean->call->doc, table, "Folder", "path(160)");
    doc_column(clean->call->doc, table, "Status", "text(160)");
    doc_column(clean->call->doc, table, "Size (bytes)", "bytes");
    table->empty = STR("No folder there is named by a GUID and an age.");
    for (size_t i = 0; i < names.count; i++)
        if (is_key(names.items[i])) judge(clean, table, names.items[i], dry_run);
    return OK;
}

static Status clean_run(Clean *clean, Err *err) {
    ToolCall *call = clean->call;
    Str module = values_text(call->values, "module"), exe = values_text(call->values, "exe_path");
    Str root = values_text(call->values, "symcache_root"), pdb_name = {0};
    bool dry_run = values_get(call->values, "dry_run")->boolean;
    if (!module_is_named(path_name(exe), module))
        return err_set(err, ERR_ARG, "exe_path \"" STR_FMT "\" is not a file of module " STR_FMT,
                       STR_ARG(exe), STR_ARG(module));
    TRY(read_current(clean, exe, &pdb_name, err));
    TRY(find_folder(clean, root.n ? root : default_root(call->arena), pdb_name, err));
    TRY(read_all_used(clean, err));
    doc_scope(
        call->doc, STR("Current"),
        str_format(call->arena, STR_FMT " " STR_FMT, STR_ARG(pdb_name), STR_ARG(clean->current)));
    TRY(judge_all(clean, dry_run, err));
    doc_scope(call->doc, STR("Kept"),
              str_format(call->arena, "%zu folders, " STR_FMT " bytes", clean->kept,
                         STR_ARG(format_integer((int64_t)clean->kept_bytes, call->arena))));
    doc_scope(call->doc, dry_run ? STR("Stale") : STR("Stale, removed"),
              str_format(call->arena, "%zu folders, " STR_FMT " bytes",
                         clean->stale - clean->failed,
                         STR_ARG(format_integer((int64_t)clean->stale_bytes, call->arena))));
    if (dry_run && clean->stale)
        doc_note(call->doc,
                 STR("Nothing was removed: dry_run=false removes the stale folders. They "
                     "may belong to traces of other machines that are not loaded now."));
    return OK;
}

Status handle_clean_stale_symbol_files(ToolCall *call, Err *err) {
    Clean clean = {.call = call, .arena = call->arena};
    Status status = clean_run(&clean, err);
    vec_free(&clean.used);
    return status;
}
