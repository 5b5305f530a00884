// list_traces: trace files of a folder, newest first.
#include "tools/handlers.h"

#include <stdlib.h>

enum { FILES_MAX = 500, VISITED_MAX = 20000, DEPTH_MAX = 12 };

#ifdef _WIN32
#define DEFAULT_FOLDER "C:\\traces"
#else
#define DEFAULT_FOLDER "."
#endif

typedef struct Found {
    Str path;
    FileInfo info;
    Str problem; // why it cannot be read; empty: it can
} Found;

typedef struct Listing {
    Arena *arena;
    Str pattern;    // of the name
    bool recursive; // "**" in the pattern
    VEC(Found) files;
    size_t visited;
} Listing;

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

// "*" and "?" on a name, ASCII case ignored. Goes back to the last star only, so it is linear in
// practice and quadratic at worst.
static bool glob_match(Str pattern, Str name) {
    size_t p = 0, n = 0, star = SIZE_MAX, mark = 0;
    while (n < name.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern.n &&
                   (pattern.p[p] == '?' || lower(pattern.p[p]) == lower(name.p[n]))) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*') p++;
    return p == pattern.n;
}

static void list_folder(Listing *listing, Str folder, unsigned depth) {
    NameList names = {0};
    if (os_list_folder(folder, listing->arena, &names, NULL) != OK) return;
    for (size_t i = 0; i < names.count && listing->visited < VISITED_MAX; i++) {
        listing->visited++;
        Found found = {.path = path_join(listing->arena, folder, names.items[i])};
        Err err = {0};
        bool known = os_stat(found.path, &found.info, &err) == OK && found.info.exists;
        if (known && found.info.is_folder) {
            // Our own databases hold no traces, and following every link could go round in circles.
            bool ours = str_starts(names.items[i], STR(".etw-export-"));
            if (listing->recursive && !ours && depth < DEPTH_MAX)
                list_folder(listing, found.path, depth + 1);
            continue;
        }
        if (!glob_match(listing->pattern, names.items[i])) continue;
        if (!known) found.problem = str_copy(listing->arena, str_from_c(err.text));
        if (!known && !found.problem.n) found.problem = STR("a broken link");
        *vec_push(&listing->files) = found;
    }
}

static int newest_first(const void *a, const void *b) {
    const Found *x = a, *y = b;
    if (x->info.mtime_ns != y->info.mtime_ns) return x->info.mtime_ns > y->info.mtime_ns ? -1 : 1;
    return str_cmp(x->path, y->path);
}

// The id when this process has it loaded, "cached" when its database is valid, else nothing.
static Str loaded_text(Engine *engine, Str path, Arena *arena) {
    TraceIdentity identity = {0};
    if (trace_identity(path, arena, &identity, NULL) != OK) return (Str){0};
    mutex_lock(&engine->mutex);
    const Trace *trace = registry_find(engine, str_from_c(identity.trace_id));
    TraceState state = trace ? trace->state : TRACE_UNLOADED;
    mutex_unlock(&engine->mutex);
    if (state == TRACE_READY) return str_copy(arena, str_from_c(identity.trace_id));
    if (state == TRACE_LOADING) return str_format(arena, "%s (loading)", identity.trace_id);
    bool fallback = false;
    StoreState store = STORE_NONE;
    Str folder = store_folder(&identity, arena, &fallback), why = {0};
    if (store_check(folder, &identity, arena, &store, &why, NULL) != OK) return (Str){0};
    return store == STORE_VALID ? STR("cached") : (Str){0};
}

static Str minute_text(int64_t mtime_ns, Arena *arena) {
    Str text = os_wall_text(arena, mtime_ns); // 2026-12-01T10:00:00Z
    if (text.n < 16) return text;
    return str_format(arena, STR_FMT " " STR_FMT, STR_ARG(str_slice(text, 0, 10)),
                      STR_ARG(str_slice(text, 11, 16)));
}

static void fill_table(ToolCall *call, Listing *listing) {
    Doc *doc = call->doc;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Name", "path");
    doc_column(doc, table, "Size (MB)", "number(1)");
    doc_column(doc, table, "Modified (UTC)", "text");
    doc_column(doc, table, "Path", "text(200)");
    doc_column(doc, table, "Loaded", "text");
    table->empty = str_format(doc->arena, "No file matches \"" STR_FMT "\" in this folder.",
                              STR_ARG(format_clean(listing->pattern, doc->arena)));
    for (size_t i = 0; i < listing->files.count && i < FILES_MAX; i++) {
        const Found *found = &listing->files.items[i];
        Cell *cells = doc_row(doc, table);
        cells[0] = cell_text(path_name(found->path));
        if (!found->problem.n) {
            cells[1] = cell_f64((double)found->info.size_bytes / 1048576);
            cells[2] = cell_text(minute_text(found->info.mtime_ns, doc->arena));
        }
        cells[3] = cell_text(found->path);
        cells[4] = cell_text(found->problem.n ? str_format(doc->arena, "unreadable: " STR_FMT,
                                                           STR_ARG(found->problem))
                                              : loaded_text(call->engine, found->path, doc->arena));
    }
    table->total_rows = listing->files.count;
}

static Status resolve_folder(ToolCall *call, Str *folder, Err *err) {
    Str wanted = values_text(call->values, "directory");
    if (!wanted.n) wanted = STR(DEFAULT_FOLDER);
    FileInfo info = {0};
    TRY(os_stat(wanted, &info, err));
    if (!info.exists)
        return err_set(err, ERR_NOT_FOUND, "the folder \"" STR_FMT "\" does not exist",
                       STR_ARG(wanted));
    if (!info.is_folder)
        return err_set(err, ERR_ARG,
                       "\"" STR_FMT "\" is a file; directory wants its folder: \"" STR_FMT "\"",
                       STR_ARG(wanted), STR_ARG(path_folder(wanted)));
    TRY(os_real_path(wanted, call->arena, folder, err));
    return path_check_allowed(call->engine, *folder, err);
}

Status handle_list_traces(ToolCall *call, Err *err) {
    Str folder = {0};
    TRY(resolve_folder(call, &folder, err));
    Str pattern = values_text(call->values, "pattern");
    Listing listing = {.arena = call->arena};
    listing.recursive = str_find(pattern, STR("**")) != SIZE_MAX;
    listing.pattern = path_name(pattern); // "**/*.etl" matches names by its last part
    list_folder(&listing, folder, 0);
    vec_sort(&listing.files, newest_first);
    call->doc->headline =
        str_format(call->arena, "**Traces in " STR_FMT "** (%zu)",
                   STR_ARG(format_clean(folder, call->arena)), listing.files.count);
    fill_table(call, &listing);
    if (listing.visited >= VISITED_MAX)
        doc_note(call->doc,
                 STR("The folder holds more than 20,000 entries; the rest was not read."));
    if (listing.files.count)
        doc_next(call->doc,
                 str_format(call->arena, "load_trace(etl_path=\"" STR_FMT "\")",
                            STR_ARG(format_clean(listing.files.items[0].path, call->arena))));
    vec_free(&listing.files);
    return OK;
}
