// The search for one symbol file over all places of a path, and for many at once.
#include "sym/pdb.h"
#include "sym/symbol_internal.h"

#include <string.h>

static bool search_place(Search *s, size_t i) {
    const SymbolPlace *place = &s->path->places.items[i];
    if (!place->usable) return false;
    if (place->kind == SYMBOL_PLACE_SERVER) return server_search(s, i);
    return place->kind == SYMBOL_PLACE_FOLDER ? folder_search(s, i) : store_search(s, i);
}

// Of several reasons the one that helps most: a file of another build explains more than a server
// that has nothing, an unreachable server more than a folder without the file.
static void conclude(Search *s) {
    SymbolResult *r = s->result;
    if (search_cancelled(s)) {
        r->outcome = SYMBOL_CANCELLED;
    } else if (s->saw_mismatch) {
        r->outcome = SYMBOL_MISMATCH;
        r->detail = s->mismatch_detail;
    } else if (s->saw_damage) {
        r->outcome = SYMBOL_DAMAGED;
        r->detail = s->damage_detail;
    } else if (s->saw_network_error) {
        r->outcome = SYMBOL_NETWORK_ERROR;
        r->detail = s->network_detail;
    } else if (s->saw_skipped) {
        r->outcome = SYMBOL_SKIPPED;
        r->detail = STR("downloads are switched off");
    } else if (s->saw_definite_no) {
        r->outcome = SYMBOL_NOT_ON_SERVER;
    } else {
        r->outcome = SYMBOL_NOT_FOUND;
        r->detail =
            symbol_path_has_server(s->path) ? (Str){0} : STR("the symbol path names no server");
    }
}

// Local places first, whatever their position: a file at hand is never fetched.
static void search(Search *s) {
    bool found = false;
    for (int servers = 0; servers < 2 && !found; servers++)
        for (size_t i = 0; i < s->path->places.count && !found; i++) {
            if (search_cancelled(s)) break;
            bool is_server = s->path->places.items[i].kind == SYMBOL_PLACE_SERVER;
            if (is_server == (servers == 1)) found = search_place(s, i);
        }
    if (!found) conclude(s);
    FileInfo info;
    if (found && os_stat(s->result->path, &info, NULL) == OK)
        s->result->size_bytes = info.size_bytes;
}

static size_t in_flight_index(const SymbolPath *path, Str key) {
    for (size_t i = 0; i < path->in_flight.count; i++)
        if (str_eq(path->in_flight.items[i], key)) return i;
    return SIZE_MAX;
}

// Two searches for one file at the same time: the second waits and then finds what the first got.
static void enter_flight(SymbolPath *path, Str key) {
    mutex_lock(&path->mutex);
    while (in_flight_index(path, key) != SIZE_MAX) condition_wait(&path->changed, &path->mutex);
    *vec_push(&path->in_flight) = key;
    mutex_unlock(&path->mutex);
}

static void leave_flight(SymbolPath *path, Str key) {
    mutex_lock(&path->mutex);
    size_t i = in_flight_index(path, key);
    path->in_flight.items[i] = path->in_flight.items[--path->in_flight.count];
    condition_signal_all(&path->changed);
    mutex_unlock(&path->mutex);
}

Status symbol_find(SymbolPath *path, const SymbolId *id, Progress *progress, Arena *arena,
                   SymbolResult *out, Err *err) {
    uint64_t start = os_now_ns();
    *out = (SymbolResult){.outcome = SYMBOL_CACHED};
    SymbolId wanted = *id;
    wanted.name = str_copy(arena, path_name(id->name));
    if (!symbol_name_is_safe(wanted.name)) {
        out->outcome = SYMBOL_BAD_NAME;
        out->detail = STR("the recorded name is not a plain file name");
        return OK;
    }
    Search s = {.path = path, .id = &wanted, .arena = arena, .progress = progress, .result = out};
    s.key = symbol_key(&wanted, arena);
    Str flight = str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(wanted.name), STR_ARG(s.key));
    enter_flight(path, flight);
    search(&s);
    leave_flight(path, flight);
    out->attempts = ARENA_ARRAY(arena, SymbolAttempt, s.attempts.count);
    if (s.attempts.count)
        memcpy(out->attempts, s.attempts.items, s.attempts.count * sizeof *out->attempts);
    out->attempt_count = s.attempts.count;
    out->elapsed_ns = os_now_ns() - start;
    vec_free(&s.attempts);
    return out->outcome == SYMBOL_CANCELLED ? err_set(err, ERR_CANCELLED, "cancelled") : OK;
}

typedef struct FindMany {
    SymbolPath *path;
    const SymbolId *ids;
    SymbolResult *results;
    Progress *progress;
    Arena *arenas; // one for each worker: arenas have one owner
} FindMany;

static Status find_one(void *context, unsigned worker, size_t item, Err *err) {
    FindMany *many = context;
    return symbol_find(many->path, &many->ids[item], many->progress, &many->arenas[worker],
                       &many->results[item], err);
}

static void move_result(SymbolResult *r, Arena *arena) {
    SymbolAttempt *attempts = ARENA_ARRAY(arena, SymbolAttempt, r->attempt_count);
    for (size_t i = 0; i < r->attempt_count; i++) {
        attempts[i] = r->attempts[i];
        attempts[i].location = str_copy(arena, attempts[i].location);
        attempts[i].detail = str_copy(arena, attempts[i].detail);
    }
    r->attempts = attempts;
    r->path = str_copy(arena, r->path);
    r->url = str_copy(arena, r->url);
    r->detail = str_copy(arena, r->detail);
}

Status symbol_find_many(SymbolPath *path, const SymbolId *ids, size_t count, Progress *progress,
                        Arena *arena, SymbolResult *results) {
    Arena arenas[LIMIT_SYMBOL_TRANSFERS] = {0};
    FindMany many = {path, ids, results, progress, arenas};
    for (size_t i = 0; i < count; i++)
        results[i] = (SymbolResult){.outcome = SYMBOL_CANCELLED, .detail = STR("not tried")};
    unsigned workers = count < LIMIT_SYMBOL_TRANSFERS ? (unsigned)count : LIMIT_SYMBOL_TRANSFERS;
    // Not handed `progress`: it counts bytes here, and each search looks for a cancel itself.
    Status status = count ? parallel_for(workers, count, find_one, &many, NULL, NULL) : OK;
    for (size_t i = 0; i < count; i++) move_result(&results[i], arena);
    for (size_t i = 0; i < COUNT_OF(arenas); i++) arena_done(&arenas[i]);
    missing_save(path);
    return status;
}

static void describe_candidate(Str file, SymbolCandidate *out, Arena *arena) {
    AUTO(pdb_close) Pdb *pdb = NULL;
    Err why = {0};
    out->path = file;
    if (pdb_open(file, &pdb, &why) != OK) {
        out->detail = str_copy(arena, str_from_c(why.text));
        return;
    }
    const PdbInfo *info = pdb_info(pdb);
    out->readable = true;
    out->compressed = info->compressed;
    out->guid = info->guid;
    out->age = info->has_dbi && info->dbi_age ? info->dbi_age : info->info_age;
}

typedef struct Candidates {
    SymbolCandidate *items;
    size_t count, max;
    Arena *arena;
} Candidates;

static void add_candidate(Candidates *c, Str file, Str folder_key) {
    FileInfo info;
    if (c->count == c->max || file.n == 0) return;
    if (os_stat(file, &info, NULL) != OK || !info.is_file) return;
    SymbolCandidate *out = &c->items[c->count++];
    *out = (SymbolCandidate){.folder_key = folder_key};
    describe_candidate(file, out, c->arena);
}

static void add_pointer(Candidates *c, Str file, Str folder_key) {
    Str text;
    if (c->count == c->max || file.n == 0) return;
    if (file_read_all(file, LIMIT_FILE_PTR_BYTES, c->arena, &text, NULL) != OK) return;
    c->items[c->count++] = (SymbolCandidate){.path = file,
                                             .folder_key = folder_key,
                                             .redirect = str_trim(text),
                                             .detail = STR("a pointer")};
}

static void add_leaf(Candidates *c, Str leaf, Str name, Str key) {
    add_candidate(c, store_child(leaf, name, c->arena), key);
    add_candidate(c, store_child(leaf, packed_name(name, c->arena), c->arena), key);
    Str compressed = store_child(leaf, STR("msfz0"), c->arena);
    if (compressed.n) add_candidate(c, store_child(compressed, name, c->arena), key);
    add_pointer(c, store_child(leaf, STR("file.ptr"), c->arena), key);
}

size_t symbol_candidates(SymbolPath *path, Str name, Arena *arena, SymbolCandidate *out,
                         size_t max) {
    Candidates c = {out, 0, max, arena};
    name = path_name(name);
    if (!symbol_name_is_safe(name)) return 0;
    for (size_t i = 0; i < path->places.count; i++) {
        const SymbolPlace *place = &path->places.items[i];
        if (!place->usable || place->kind == SYMBOL_PLACE_SERVER) continue;
        Str entry = store_child(place->location, name, arena);
        add_candidate(&c, entry, (Str){0});
        if (entry.n == 0 && name.n >= 2) { // two-tier store
            Str tier = store_child(place->location, str_slice(name, 0, 2), arena);
            if (tier.n) entry = store_child(tier, name, arena);
        }
        NameList keys;
        if (entry.n == 0 || os_list_folder(entry, arena, &keys, NULL) != OK) continue;
        for (size_t k = 0; k < keys.count; k++)
            add_leaf(&c, path_join(arena, entry, keys.items[k]), name, keys.items[k]);
    }
    return c.count;
}
