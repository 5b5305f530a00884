// Local folders and stores: finding a file whatever the case of its name, proving that it is the
// one, and putting copies where the path says. docs/formats/pdb.md, "Finding files".
#include "sym/cabinet.h"
#include "sym/pdb.h"
#include "sym/pe.h"
#include "sym/perfmap.h"
#include "sym/portable_pdb.h"
#include "sym/symbol_internal.h"

enum { COPY_BYTES = 1 << 20 };

void search_note(Search *s, Str location, SymbolOutcome outcome, Str detail, long http_status) {
    detail = str_copy(s->arena, detail);
    *vec_push(&s->attempts) =
        (SymbolAttempt){str_copy(s->arena, location), outcome, detail, http_status};
    if (outcome == SYMBOL_MISMATCH) {
        s->saw_mismatch = true;
        s->mismatch_detail = detail;
    } else if (outcome == SYMBOL_DAMAGED) {
        s->saw_damage = true;
        s->damage_detail = detail;
    } else if (outcome == SYMBOL_NETWORK_ERROR) {
        s->saw_network_error = true;
        s->network_detail = detail;
    } else if (outcome == SYMBOL_NOT_ON_SERVER) {
        s->saw_definite_no = true;
    }
}

bool search_cancelled(const Search *s) {
    return s->progress && atomic_load(&s->progress->cancelled);
}

static SymbolOutcome verify_pdb(Str file, const SymbolId *id, Err *why) {
    AUTO(pdb_close) Pdb *pdb = NULL;
    if (pdb_open(file, &pdb, why) != OK) return SYMBOL_DAMAGED;
    return pdb_matches(pdb, &id->guid, id->age, why) ? SYMBOL_CACHED : SYMBOL_MISMATCH;
}

static SymbolOutcome verify_portable(Str file, const SymbolId *id, Err *why) {
    Guid guid;
    if (portable_pdb_guid(file, &guid, why) != OK) return SYMBOL_DAMAGED;
    if (guid_eq(&guid, &id->guid)) return SYMBOL_CACHED;
    (void)err_set(why, ERR_NOT_FOUND, "another build: its GUID differs");
    return SYMBOL_MISMATCH;
}

static SymbolOutcome verify_image(Str file, const SymbolId *id, Err *why) {
    AUTO(pe_close) Pe *pe = NULL;
    if (pe_open(file, &pe, why) != OK) return SYMBOL_DAMAGED;
    const PeIdentity *found = pe_identity(pe);
    if (found->time_date_stamp == id->time_date_stamp && found->image_size == id->image_size)
        return SYMBOL_CACHED;
    (void)err_set(why, ERR_NOT_FOUND,
                  "another build: time stamp %08" PRIX32 " and size %" PRIx32 ", not %08" PRIX32
                  " and %" PRIx32,
                  found->time_date_stamp, found->image_size, id->time_date_stamp, id->image_size);
    return SYMBOL_MISMATCH;
}

static SymbolOutcome verify_perfmap(Str file, const SymbolId *id, Err *why) {
    AUTO(source_close) Source *source = NULL;
    PerfMapInfo found;
    if (source_open(file, &source, why) != OK || perfmap_read_info(source, &found, why) != OK)
        return SYMBOL_DAMAGED;
    if (guid_eq(&found.signature, &id->guid) && found.version == id->age) return SYMBOL_CACHED;
    (void)err_set(why, ERR_NOT_FOUND, "another build: its signature differs");
    return SYMBOL_MISMATCH;
}

SymbolOutcome symbol_verify(Str file, const SymbolId *id, Err *why) {
    if (id->is_perfmap) return verify_perfmap(file, id, why);
    if (id->is_image) return verify_image(file, id, why);
    return id->portable ? verify_portable(file, id, why) : verify_pdb(file, id, why);
}

static bool exists(Str path) {
    FileInfo info;
    return os_stat(path, &info, NULL) == OK && info.exists;
}

// The exact name first: listing a large folder is the exception.
Str store_child(Str folder, Str name, Arena *arena) {
    Str path = path_join(arena, folder, name);
    if (exists(path)) return path;
    NameList names;
    if (os_list_folder(folder, arena, &names, NULL) != OK) return (Str){0};
    for (size_t i = 0; i < names.count; i++)
        if (str_eq_nocase(names.items[i], name)) return path_join(arena, folder, names.items[i]);
    return (Str){0};
}

Str symbol_beside(Str file, Str name, Arena *arena) {
    return symbol_name_is_safe(name) ? store_child(path_folder(file), name, arena) : (Str){0};
}

static bool is_two_tier(Str root, Arena *arena) {
    return exists(path_join(arena, root, STR("index2.txt")));
}

// Folders on the way are matched without case where they exist and named as asked where not.
static Str child_or_new(Str folder, Str name, Arena *arena) {
    Str found = store_child(folder, name, arena);
    return found.n ? found : path_join(arena, folder, name);
}

Str store_leaf(Str root, const SymbolId *id, Str key, Arena *arena) {
    if (is_two_tier(root, arena) && id->name.n >= 2)
        root = child_or_new(root, str_slice(id->name, 0, 2), arena);
    return child_or_new(child_or_new(root, id->name, arena), key, arena);
}

Str store_part_path(SymbolPath *path, Str folder, Str name, Arena *arena) {
    mutex_lock(&path->mutex);
    unsigned number = ++path->part_counter;
    mutex_unlock(&path->mutex);
    Str part = str_format(arena, STR_FMT ".%d.%u.%" PRIx64 ".part", STR_ARG(name), os_process_id(),
                          number, os_now_ns());
    return path_join(arena, folder, part);
}

static Status copy_file(Str from, Str to, Err *err) {
    AUTO(file_close) File *in = NULL;
    AUTO(file_writer_close) FileWriter *out = NULL;
    TRY(file_open(from, &in, err));
    TRY(file_create(to, &out, err));
    AUTO(buf_done) Buf block = {.p = mem_alloc(COPY_BYTES), .capacity = COPY_BYTES};
    for (uint64_t at = 0;;) {
        size_t got = 0;
        TRY(file_read_at(in, at, block.p, COPY_BYTES, &got, err));
        if (got == 0) break;
        TRY(file_append(out, (Str){block.p, got}, err));
        at += got;
    }
    return file_finish(out, err);
}

static Status expand_file(Str from, Str to, Err *err) {
    AUTO(source_close) Source *cabinet = NULL;
    TRY(source_open(from, &cabinet, err));
    return cabinet_expand_to_file(cabinet, to, (uint64_t)LIMIT_SYMBOL_FILE_MIB << 20, err);
}

static FileKind kind_of(Str file) {
    AUTO(source_close) Source *source = NULL;
    return source_open(file, &source, NULL) == OK ? source_kind(source) : FILE_KIND_UNKNOWN;
}

// Copies or expands `file` into one store, by way of a part file that is verified before it gets
// its name. Compressed PDBs go to a folder of their own, where tools that cannot read them do not
// look.
static Str install_in(Search *s, Str root, Str file, bool packed) {
    Err err = {0};
    Str leaf = store_leaf(root, s->id, s->key, s->arena);
    if (os_make_folders(leaf, &err) != OK) return (Str){0};
    Str part = store_part_path(s->path, leaf, s->id->name, s->arena), target = {0};
    Status status = packed ? expand_file(file, part, &err) : copy_file(file, part, &err);
    SymbolOutcome outcome = status == OK ? symbol_verify(part, s->id, &err) : SYMBOL_DAMAGED;
    if (outcome != SYMBOL_CACHED) {
        if (packed) search_note(s, file, outcome, str_from_c(err.text), 0);
        (void)os_remove_file(part, NULL);
        return target;
    }
    if (kind_of(part) == FILE_KIND_MSFZ) {
        leaf = path_join(s->arena, leaf, STR("msfz0"));
        status = os_make_folders(leaf, &err);
    }
    target = path_join(s->arena, leaf, s->id->name);
    if (status == OK) status = os_rename(part, target, &err);
    if (status == OK) return target;
    (void)os_remove_file(part, NULL);
    return (Str){0};
}

static bool receives_copies(const SymbolPath *path, size_t from, size_t to) {
    const SymbolPlace *p = &path->places.items[to];
    if (!p->usable) return false;
    if (p->kind == SYMBOL_PLACE_CACHE) return p->element < path->places.items[from].element;
    return p->kind == SYMBOL_PLACE_STORE && p->element == path->places.items[from].element;
}

Str store_install(Search *s, size_t place, Str file, bool packed) {
    Str first = {0};
    for (size_t i = 0; i < place; i++) {
        if (!receives_copies(s->path, place, i)) continue;
        // All get the file as tools read it: what is expanded once is copied further.
        Str here = install_in(s, s->path->places.items[i].location, first.n ? first : file,
                              packed && first.n == 0);
        if (first.n == 0) first = here;
        if (s->saw_mismatch && first.n == 0) return first;
    }
    if (first.n == 0 && !s->saw_damage) first = install_in(s, s->path->default_store, file, packed);
    return first;
}

static bool accept(Search *s, Str file) {
    Err why = {0};
    SymbolOutcome outcome = symbol_verify(file, s->id, &why);
    search_note(s, file, outcome, str_from_c(why.text), 0);
    if (outcome != SYMBOL_CACHED) return false;
    s->result->path = file;
    return true;
}

// A cached file that is damaged would be in the way of a good one for ever.
static void set_aside(Search *s, Str file) {
    if (s->attempts.items[s->attempts.count - 1].outcome != SYMBOL_DAMAGED) return;
    Str bad = str_format(s->arena, STR_FMT ".bad", STR_ARG(file));
    if (os_rename(file, bad, NULL) != OK) return;
}

static bool try_plain(Search *s, Str leaf, size_t place) {
    Str file = store_child(leaf, s->id->name, s->arena);
    if (file.n == 0) {
        Str folder = store_child(leaf, STR("msfz0"), s->arena);
        file = folder.n ? store_child(folder, s->id->name, s->arena) : folder;
    }
    if (file.n == 0) return false;
    if (!accept(s, file)) {
        if (s->path->places.items[place].kind != SYMBOL_PLACE_FOLDER) set_aside(s, file);
        return false;
    }
    Str copy = {0};
    for (size_t i = 0; i < place && copy.n == 0; i++)
        if (receives_copies(s->path, place, i)) copy = store_install(s, place, file, false);
    if (copy.n) s->result->path = copy;
    return true;
}

// A cabinet is expanded beside itself in the leftmost store, else in a store left of it.
static bool try_packed(Search *s, Str leaf, size_t place) {
    Str file = store_child(leaf, packed_name(s->id->name, s->arena), s->arena);
    if (file.n == 0) return false;
    bool leftmost = s->path->places.items[place].kind != SYMBOL_PLACE_FOLDER;
    for (size_t i = 0; i < place; i++)
        if (receives_copies(s->path, place, i)) leftmost = false;
    Str out = {0};
    if (leftmost) out = install_in(s, s->path->places.items[place].location, file, true);
    if (out.n == 0 && !s->saw_damage) out = store_install(s, place, file, true);
    if (out.n == 0) return false;
    search_note(s, file, SYMBOL_CACHED, STR("expanded"), 0);
    s->result->path = out;
    return true;
}

// Text of a pointer file: "PATH:target", a bare target, or "MSG: why not".
static Str pointer_target(Search *s, Str pointer) {
    Str text;
    if (file_read_all(pointer, LIMIT_FILE_PTR_BYTES, s->arena, &text, NULL) != OK) return (Str){0};
    text = str_trim(text);
    if (str_starts(text, STR("MSG"))) {
        search_note(s, pointer, SYMBOL_NOT_FOUND, text, 0);
        return (Str){0};
    }
    if (str_starts(text, STR("PATH:"))) text = str_trim(str_slice(text, 5, text.n));
    char *slashes = str_to_c(s->arena, text);
    for (size_t i = 0; i < text.n; i++)
        if (slashes[i] == '\\') slashes[i] = '/';
    if (text.n >= 2 && (text.p[1] == ':' || str_starts(text, STR("\\\\")))) {
        search_note(s, pointer, SYMBOL_NOT_FOUND,
                    str_format(s->arena, "points to " STR_FMT ", not reachable on this machine",
                               STR_ARG(text)),
                    0);
        return (Str){0};
    }
    return path_join(s->arena, path_folder(pointer), (Str){slashes, text.n});
}

static bool try_pointer(Search *s, Str leaf) {
    Str pointer = store_child(leaf, STR("file.ptr"), s->arena);
    for (int hop = 0; pointer.n && hop < LIMIT_FILE_PTR_HOPS; hop++) {
        Str target = pointer_target(s, pointer);
        if (target.n == 0) return false;
        if (!exists(target)) {
            search_note(s, pointer, SYMBOL_NOT_FOUND,
                        str_format(s->arena, "points to " STR_FMT ", which does not exist",
                                   STR_ARG(target)),
                        0);
            return false;
        }
        if (!str_eq_nocase(path_name(target), STR("file.ptr"))) return accept(s, target);
        pointer = target;
    }
    return false;
}

static bool leaf_search(Search *s, Str leaf, size_t place) {
    if (!exists(leaf)) return false;
    return try_plain(s, leaf, place) || try_packed(s, leaf, place) || try_pointer(s, leaf);
}

bool store_search(Search *s, size_t place) {
    Str root = s->path->places.items[place].location;
    return leaf_search(s, store_leaf(root, s->id, s->key, s->arena), place);
}

// The order in which a debugger looks into a plain folder.
bool folder_search(Search *s, size_t place) {
    Str root = s->path->places.items[place].location, name = s->id->name;
    size_t dot = str_rfind_char(name, '.');
    Str extension = dot == SIZE_MAX ? (Str){0} : str_slice(name, dot + 1, name.n);
    static const char *const EXTENSIONS[] = {"exe", "dll", "sys"};
    Strs folders = {0};
    *vec_push(&folders) = root;
    Str symbols = store_child(root, STR("symbols"), s->arena);
    for (size_t i = 0; i <= COUNT_OF(EXTENSIONS); i++) {
        Str e = i < COUNT_OF(EXTENSIONS) ? str_from_c(EXTENSIONS[i]) : extension;
        if (e.n == 0) continue;
        Str inner = symbols.n ? store_child(symbols, e, s->arena) : symbols;
        if (inner.n) *vec_push(&folders) = inner;
        inner = store_child(root, e, s->arena);
        if (inner.n) *vec_push(&folders) = inner;
    }
    bool found = false;
    for (size_t i = 0; i < folders.count && !found; i++) {
        Str file = store_child(folders.items[i], name, s->arena);
        FileInfo info = {0};
        if (file.n == 0 || os_stat(file, &info, NULL) != OK || !info.is_file) continue;
        found = accept(s, file);
    }
    vec_free(&folders);
    return found || store_search(s, place) || try_packed(s, root, place);
}
