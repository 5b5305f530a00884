// The grammar of _NT_SYMBOL_PATH: elements between ';', parts between '*'. What cannot be used on
// this machine stays listed with the reason. docs/formats/pdb.md, "Finding files".
#include "sym/symbol_internal.h"

#define MICROSOFT_SERVER "https://msdl.microsoft.com/download/symbols"

Str symbol_path_from_environment(Arena *arena) {
    Str first = os_env("_NT_ALT_SYMBOL_PATH"), second = os_env("_NT_SYMBOL_PATH");
    if (first.n == 0 || second.n == 0) return str_copy(arena, first.n ? first : second);
    return str_format(arena, STR_FMT ";" STR_FMT, STR_ARG(first), STR_ARG(second));
}

Str symbol_path_for_windows(Arena *arena) {
    Str store = path_join(arena, os_cache_folder(arena), STR("symbols"));
    return str_format(arena, "srv*" STR_FMT "*" MICROSOFT_SERVER, STR_ARG(store));
}

const char *symbol_place_kind_name(SymbolPlaceKind kind) {
    switch (kind) {
    case SYMBOL_PLACE_FOLDER: return "folder";
    case SYMBOL_PLACE_STORE: return "store";
    case SYMBOL_PLACE_CACHE: return "cache";
    case SYMBOL_PLACE_SERVER: return "server";
    }
    return "unknown";
}

static bool is_url(Str text) {
    return str_find_nocase(text, STR("http://")) == 0 ||
           str_find_nocase(text, STR("https://")) == 0;
}

// A path of another system: making a folder literally named "C:\symbols" would help nobody.
static const char *foreign_path(Str text) {
#ifndef _WIN32
    if (text.n >= 2 && text.p[1] == ':') return "a Windows drive, not reachable on this machine";
    if (str_starts(text, STR("\\\\"))) return "a Windows share, not reachable on this machine";
#endif
    if (str_find(text, STR("://")) != SIZE_MAX) return "only http and https servers are supported";
    return NULL;
}

static void add_place(SymbolPath *path, SymbolPlaceKind kind, Str location, unsigned element) {
    SymbolPlace *place = vec_push(&path->places);
    bool is_default = location.n == 0;
    if (is_default) location = path->default_store;
    while (location.n > 1 && location.p[location.n - 1] == '/')
        location = str_slice(location, 0, location.n - 1);
    *place =
        (SymbolPlace){.kind = kind, .element = element, .usable = true, .is_default = is_default};
    const char *foreign = kind == SYMBOL_PLACE_SERVER ? NULL : foreign_path(location);
    if (foreign) {
        place->usable = false;
        place->note = str_from_c(foreign);
    }
    bool expand = !foreign && location.n > 1 && location.p[0] == '~' && location.p[1] == '/';
    place->location =
        expand ? path_join(&path->arena, os_env("HOME"), str_slice(location, 2, location.n))
               : str_copy(&path->arena, location);
}

static bool has_usable_store(const SymbolPath *path, unsigned element) {
    for (size_t i = 0; i < path->places.count; i++) {
        const SymbolPlace *p = &path->places.items[i];
        if (!p->usable) continue;
        if (p->kind == SYMBOL_PLACE_CACHE ||
            (p->element == element && p->kind == SYMBOL_PLACE_STORE))
            return true;
    }
    return false;
}

// Stores and servers of one srv* element. A server needs a store that can be written.
static void add_chain(SymbolPath *path, Str parts, unsigned element, bool nothing_follows) {
    if (nothing_follows) add_place(path, SYMBOL_PLACE_STORE, (Str){0}, element);
    while (!nothing_follows) {
        size_t star = str_find(parts, STR("*"));
        Str part = str_trim(str_slice(parts, 0, star));
        if (is_url(part)) {
            if (!has_usable_store(path, element))
                add_place(path, SYMBOL_PLACE_STORE, (Str){0}, element);
            add_place(path, SYMBOL_PLACE_SERVER, part, element);
        } else {
            add_place(path, SYMBOL_PLACE_STORE, part, element);
        }
        if (star == SIZE_MAX) return;
        parts = str_slice(parts, star + 1, parts.n);
    }
}

static bool take_keyword(Str *text, const char *keyword, bool *bare) {
    Str word = str_from_c(keyword);
    if (!str_eq_nocase(str_slice(*text, 0, word.n), word)) return false;
    if (text->n > word.n && text->p[word.n] != '*') return false;
    *bare = text->n <= word.n + 1; // nothing behind the star
    *text = str_slice(*text, word.n + 1, text->n);
    return true;
}

static void add_element(SymbolPath *path, Str text, unsigned element) {
    bool bare;
    if (take_keyword(&text, "symsrv", &bare)) {
        size_t star = str_find(text, STR("*")); // the part before it names a DLL
        Str rest = star == SIZE_MAX ? (Str){0} : str_slice(text, star + 1, text.n);
        add_chain(path, rest, element, rest.n == 0);
    } else if (take_keyword(&text, "srv", &bare)) {
        add_chain(path, text, element, bare);
    } else if (take_keyword(&text, "cache", &bare)) {
        add_place(path, SYMBOL_PLACE_CACHE, str_trim(str_slice(text, 0, str_find(text, STR("*")))),
                  element);
    } else if (is_url(text)) {
        add_chain(path, text, element, false); // bare URL: as "srv*URL"
    } else {
        add_place(path, SYMBOL_PLACE_FOLDER, text, element);
    }
}

Status symbol_path_open(Str text, const SymbolPathOptions *options, SymbolPath **out, Err *err) {
    static const SymbolPathOptions USUAL = {0};
    if (!options) options = &USUAL;
    if (text.n > LIMIT_SYMBOL_PATH_BYTES)
        return err_set(err, ERR_LIMIT, "the symbol path has %zu bytes, more than %d", text.n,
                       LIMIT_SYMBOL_PATH_BYTES);
    SymbolPath *path = mem_zero(1, sizeof *path);
    mutex_init(&path->mutex);
    condition_init(&path->changed);
    path->options = *options;
    path->options.missing_file = str_copy(&path->arena, options->missing_file);
    path->default_store =
        options->default_store.n
            ? str_copy(&path->arena, options->default_store)
            : path_join(&path->arena, os_cache_folder(&path->arena), STR("symbols"));
    Status status = http_open(&path->options, &path->http, err);
    unsigned element = 0;
    for (Str part; status == OK && str_next(&text, ';', &part);) {
        part = str_trim(part);
        if (part.n >= 2 && part.p[0] == '"' && part.p[part.n - 1] == '"')
            part = str_slice(part, 1, part.n - 1);
        if (part.n == 0) continue;
        if (element == LIMIT_SYMBOL_PATH_ELEMENTS)
            status = err_set(err, ERR_LIMIT, "the symbol path has more than %d elements", element);
        else
            add_element(path, part, element++);
    }
    if (status != OK) {
        symbol_path_close(path);
        return status;
    }
    missing_load(path);
    *out = path;
    return OK;
}

void symbol_path_close(SymbolPath *path) {
    if (!path) return;
    missing_save(path);
    http_close(path->http);
    vec_free(&path->places);
    vec_free(&path->in_flight);
    strmap_done(&path->missing);
    arena_done(&path->missing_keys);
    condition_done(&path->changed);
    mutex_done(&path->mutex);
    arena_done(&path->arena);
    mem_free(path);
}

size_t symbol_path_count(const SymbolPath *path) {
    return path->places.count;
}

const SymbolPlace *symbol_path_place(const SymbolPath *path, size_t index) {
    return &path->places.items[index];
}

bool symbol_path_has_server(const SymbolPath *path) {
    for (size_t i = 0; i < path->places.count; i++)
        if (path->places.items[i].kind == SYMBOL_PLACE_SERVER) return true;
    return false;
}

static void describe_content(const SymbolPlace *place, const NameList *names, Buf *out) {
    size_t folders = 0;
    if (place->kind == SYMBOL_PLACE_FOLDER) {
        buf_addf(out, "%zu entries", names->count);
        return;
    }
    for (size_t i = 0; i < names->count; i++)
        folders += str_find(names->items[i], STR(".")) != SIZE_MAX;
    buf_addf(out, "%zu symbol folders%s", folders,
             os_folder_writable(place->location) ? "" : ", read-only");
}

static void describe_folder(const SymbolPlace *place, Buf *out) {
    AUTO(arena_done) Arena arena = {0};
    FileInfo info = {0};
    NameList names = {0};
    Err err = {0};
    Status status = os_stat(place->location, &info, &err);
    if (status == OK && !info.exists) {
        buf_add_c(out, place->kind == SYMBOL_PLACE_FOLDER ? "does not exist"
                                                          : "empty: made when first needed");
        return;
    }
    if (status == OK) status = os_list_folder(place->location, &arena, &names, &err);
    if (status == OK)
        describe_content(place, &names, out);
    else
        buf_add_c(out, err.text);
}

void symbol_path_describe(const SymbolPath *path, Buf *out) {
    for (size_t i = 0; i < path->places.count; i++) {
        const SymbolPlace *place = &path->places.items[i];
        buf_addf(out, "%s " STR_FMT ": ", symbol_place_kind_name(place->kind),
                 STR_ARG(place->location));
        if (!place->usable)
            buf_add(out, place->note);
        else if (place->kind == SYMBOL_PLACE_SERVER)
            buf_add_c(out, path->options.no_download ? "not asked: downloads are switched off"
                                                     : "asked for what is not found locally");
        else
            describe_folder(place, out);
        buf_add_c(out, place->is_default ? " (default)\n" : "\n");
    }
}
