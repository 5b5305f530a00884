// Symbols: which modules have addresses, where their files are, and what the addresses are called.
// A PDB of the trace's identity comes first; else the exports of an image of the trace's time stamp
// and size, which may also name the PDB where the trace did not.
#include "tools/symbols_internal.h"

#include "base/os.h"

#include <stdlib.h>

const char *symbol_source_name(SymbolSource source) {
    switch (source) {
    case SYMBOL_SOURCE_PDB: return "pdb";
    case SYMBOL_SOURCE_EXPORT: return "export";
    case SYMBOL_SOURCE_NONE: return "unknown";
    }
    return "unknown";
}

// ---------------------------------------------------------------- modules and their addresses

static Str text_of(const Cell *cell) {
    return cell->type == CELL_TEXT ? cell->text : (Str){0};
}

static uint64_t number_of(const Cell *cell) {
    return cell->type == CELL_U64 || cell->type == CELL_I64 ? cell->u64 : 0;
}

static void set_pdb_id(SymbolModule *module, Str name, const Guid *guid, uint32_t age) {
    module->pdb = (SymbolId){.name = name, .guid = *guid, .age = age};
    module->has_pdb_id = symbol_name_is_safe(name) && !guid_is_zero(guid);
}

static void module_fill(Symbols *symbols, SymbolModule *module, const Cell *cells) {
    Arena *arena = &symbols->arena;
    Guid guid = {{0}};
    *module = (SymbolModule){.image_id = (uint32_t)number_of(&cells[0]),
                             .name = str_copy(arena, text_of(&cells[1])),
                             .pdb_found = SYMBOL_NOT_FOUND,
                             .img_found = SYMBOL_NOT_FOUND};
    Str pdb_name = str_copy(arena, path_name(text_of(&cells[4])));
    if (guid_from_text(text_of(&cells[2]), &guid))
        set_pdb_id(module, pdb_name, &guid, (uint32_t)number_of(&cells[3]));
    module->image = (SymbolId){.name = module->name,
                               .is_image = true,
                               .time_date_stamp = (uint32_t)number_of(&cells[5]),
                               .image_size = (uint32_t)number_of(&cells[6])};
    module->has_image_id = module->image.time_date_stamp && module->image.image_size &&
                           symbol_name_is_safe(module->name);
}

static Status read_modules(Symbols *symbols, Session *session, Err *err) {
    static const char SQL[] =
        "SELECT image_id, coalesce(name, ''), pdb_guid::VARCHAR, pdb_age, pdb_name, "
        "time_date_stamp, size_bytes FROM image WHERE image_id IN "
        "(SELECT image_id FROM frame WHERE method_id IS NULL AND rva < 4294967296) "
        "ORDER BY image_id";
    enum { COLUMNS = 7 };
    AUTO(arena_done) Arena scratch = {0};
    ResultSet rows = {0};
    TRY(session_query(session, str_from_c(SQL), NULL, 0, 0, &scratch, &rows, err));
    symbols->modules = ARENA_ARRAY(&symbols->arena, SymbolModule, rows.row_count);
    symbols->names = ARENA_ARRAY(&symbols->arena, ModuleNames, rows.row_count);
    symbols->lines = ARENA_ARRAY(&symbols->arena, FrameLines, rows.row_count);
    symbols->module_count = rows.row_count;
    for (size_t i = 0; i < rows.row_count; i++)
        module_fill(symbols, &symbols->modules[i], &rows.cells[i * COLUMNS]);
    return OK;
}

static Status read_frames(Symbols *symbols, Session *session, Err *err) {
    static const char SQL[] =
        "SELECT image_id, frame_id, rva::BIGINT, "
        "greatest(rva::BIGINT - CASE WHEN is_return THEN 1 ELSE 0 END, 0) AS lookup FROM frame "
        "WHERE image_id IS NOT NULL AND method_id IS NULL AND rva < 4294967296 "
        "ORDER BY image_id, lookup, frame_id";
    AUTO(arena_done) Arena scratch = {0};
    Integers rows = {0};
    TRY(session_integers(session, str_from_c(SQL), NULL, 0, 0, &scratch, &rows, err));
    symbols->frames = ARENA_ARRAY(&symbols->arena, FrameKey, rows.row_count);
    symbols->frame_count = rows.row_count;
    size_t module = 0;
    for (size_t i = 0; i < rows.row_count; i++) {
        uint32_t image_id = (uint32_t)rows.columns[0][i];
        symbols->frames[i] = (FrameKey){.frame_id = (uint64_t)rows.columns[1][i],
                                        .rva = (uint32_t)rows.columns[2][i],
                                        .lookup = (uint32_t)rows.columns[3][i]};
        while (module < symbols->module_count && symbols->modules[module].image_id < image_id)
            module++;
        if (module == symbols->module_count || symbols->modules[module].image_id != image_id)
            continue; // an image that the table of images does not have
        SymbolModule *of = &symbols->modules[module];
        if (!of->frame_count++) of->first_frame = i;
    }
    return OK;
}

Status symbols_list(Symbols *symbols, Err *err) {
    if (symbols->listed) return OK;
    if (!symbols->database)
        return err_set(err, ERR_INTERNAL, "symbols are wanted before their database is there");
    AUTO(session_close) Session *session = NULL;
    TRY(session_open(symbols->database, &session, err));
    TRY(read_modules(symbols, session, err));
    TRY(read_frames(symbols, session, err));
    symbols->listed = true;
    return OK;
}

// ---------------------------------------------------------------- names from a file

static void name_frame(const SymTab *table, const FrameKey *key, uint32_t index, FrameName *out,
                       const SymFunction *function) {
    uint32_t source = key->lookup;
    if (symtab_info(table)->has_omap) (void)symtab_at(table, key->lookup, &source);
    *out = (FrameName){.frame_id = key->frame_id};
    if (index == SYM_NONE || !function->name.n || source < function->rva) return;
    out->function = function->name;
    out->displacement = (uint64_t)(source - function->rva) + (key->rva - key->lookup);
}

// Addresses ascend, so those of one function follow each other and share its name.
static const FrameName *name_frames(Symbols *symbols, const SymbolModule *module,
                                    const SymTab *table, size_t *named) {
    AUTO(arena_done) Arena scratch = {0};
    size_t count = module->frame_count;
    const FrameKey *keys = &symbols->frames[module->first_frame];
    uint32_t *rvas = ARENA_ARRAY(&scratch, uint32_t, count);
    uint32_t *found = ARENA_ARRAY(&scratch, uint32_t, count);
    FrameName *names = ARENA_ARRAY(&symbols->arena, FrameName, count);
    for (size_t i = 0; i < count; i++) rvas[i] = keys[i].lookup;
    symtab_at_many(table, rvas, count, found);
    SymFunction function = {0};
    uint32_t last = SYM_NONE;
    *named = 0;
    for (size_t i = 0; i < count; i++) {
        if (found[i] != SYM_NONE && found[i] != last) {
            last = found[i];
            symtab_function(table, last, &scratch, &function);
            function.name = str_copy(&symbols->arena, function.name);
        }
        name_frame(table, &keys[i], found[i], &names[i], &function);
        *named += names[i].function.n > 0;
    }
    return names;
}

static bool is_native_pdb(Str name) {
    return str_ends_nocase(name, STR(".ni.pdb"));
}

// An image of proved identity knows the PDB that the trace did not tell of, and of precompiled
// managed code the one with the native functions.
static void learn_pdb(Symbols *symbols, SymbolModule *module, const PeIdentity *image) {
    if (!image || !image->has_pdb) return;
    bool better = is_native_pdb(image->pdb_path) && !is_native_pdb(module->pdb.name);
    if (module->has_pdb_id && !better) return;
    Str name = str_copy(&symbols->arena, path_name(image->pdb_path));
    set_pdb_id(module, name, &image->pdb_guid, image->pdb_age);
    module->id_from_image = module->has_pdb_id;
}

// Precompiled managed code: the PDB that the trace names describes the source, the map the code.
static void learn_map(Symbols *symbols, SymbolModule *module, const PeIdentity *image) {
    if (module->has_map_id || !image || !image->has_perfmap) return;
    module->map = symbol_perfmap_id(image, &symbols->arena);
    module->has_map_id = symbol_name_is_safe(module->map.name);
}

Status symbols_use_file(Symbols *symbols, size_t index, Str path, const SymbolId *id, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    AUTO(symfile_close) SymFile *file = NULL;
    SymbolModule *module = &symbols->modules[index];
    uint64_t start = os_now_ns();
    SymFileOptions options = {.id = id, .table_folder = symfile_default_table_folder(&scratch)};
    TRY(symfile_open(path, &options, &file, err));
    if (id->is_image) {
        learn_pdb(symbols, module, symfile_image(file));
        learn_map(symbols, module, symfile_image(file));
    }
    const SymTab *table = symfile_table(file);
    size_t named = 0;
    const FrameName *names = name_frames(symbols, module, table, &named);
    module->elapsed_ns += os_now_ns() - start;
    bool is_export = symtab_info(table)->from_image;
    SymbolSource source = is_export ? SYMBOL_SOURCE_EXPORT : SYMBOL_SOURCE_PDB;
    if (source < module->source) return OK;
    module->source = source;
    module->from_map = id->is_perfmap;
    module->fastlink = symtab_info(table)->fastlink;
    module->path = str_copy(&symbols->arena, path);
    module->named = named;
    symbols->names[index] = (ModuleNames){names, module->frame_count, is_export};
    symbols->lines[index] = (FrameLines){0};
    return OK;
}

// ---------------------------------------------------------------- looking along the path

static bool is_found(const SymbolResult *result) {
    return (result->outcome == SYMBOL_CACHED || result->outcome == SYMBOL_DOWNLOADED) &&
           result->path.n;
}

typedef struct Lookup {
    Symbols *symbols;
    SymbolPath *path;
    size_t module;
    bool changed;
} Lookup;

// Uses what was found. What cannot be used is damaged, and says why.
static SymbolOutcome use_found(Lookup *lookup, const SymbolId *id, Str file, Err *why) {
    if (symbols_use_file(lookup->symbols, lookup->module, file, id, why) != OK)
        return SYMBOL_DAMAGED;
    lookup->changed = true;
    return SYMBOL_CACHED;
}

// `id` is one of the module's own.
static Status look_up_one(Lookup *lookup, const SymbolId *id, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    Symbols *symbols = lookup->symbols;
    SymbolModule *module = &symbols->modules[lookup->module];
    SymbolResult result = {0};
    TRY(symbol_find(lookup->path, id, NULL, &scratch, &result, err));
    SymbolOutcome outcome = result.outcome;
    Str why = result.detail;
    Err own = {0};
    if (is_found(&result)) {
        outcome = use_found(lookup, id, result.path, &own);
        if (outcome == SYMBOL_DAMAGED) why = str_from_c(own.text);
    }
    if (id->is_image) {
        module->img_found = outcome;
        return OK;
    }
    if (id->is_perfmap && outcome != SYMBOL_CACHED) return OK; // the PDB's answer says more
    module->pdb_found = outcome;
    module->why = str_copy(&symbols->arena, why);
    return OK;
}

// What an image names often lies beside it.
static Status look_up_learned(Lookup *lookup, const SymbolId *id, Str image, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    Str file = image.n ? symbol_beside(image, id->name, &scratch) : (Str){0};
    if (file.n && use_found(lookup, id, file, NULL) == SYMBOL_CACHED) return OK;
    return look_up_one(lookup, id, err);
}

static Status look_up_module(Lookup *lookup, Err *err) {
    SymbolModule *module = &lookup->symbols->modules[lookup->module];
    if (!module->frame_count || module->source == SYMBOL_SOURCE_PDB) return OK;
    if (module->has_pdb_id) TRY(look_up_one(lookup, &module->pdb, err));
    if (module->source == SYMBOL_SOURCE_PDB || !module->has_image_id) return OK;
    SymbolId asked = module->has_pdb_id ? module->pdb : (SymbolId){0};
    TRY(look_up_one(lookup, &module->image, err));
    Str image = module->source == SYMBOL_SOURCE_EXPORT ? module->path : (Str){0};
    bool learned =
        !guid_eq(&asked.guid, &module->pdb.guid) || !str_eq(asked.name, module->pdb.name);
    if (module->has_pdb_id && learned) TRY(look_up_learned(lookup, &module->pdb, image, err));
    if (module->source == SYMBOL_SOURCE_PDB || !module->has_map_id) return OK;
    return look_up_learned(lookup, &module->map, image, err);
}

static Str joined_path(const Symbols *symbols, Str extra, Arena *arena) {
    if (!extra.n) return str_copy(arena, symbols->path);
    if (!symbols->path.n) return str_copy(arena, extra);
    return str_format(arena, STR_FMT ";" STR_FMT, STR_ARG(symbols->path), STR_ARG(extra));
}

Status symbols_look_up(Symbols *symbols, Str extra, bool *changed, Err *err) {
    bool wanted = extra.n || (symbols->path.n && !symbols->looked_up);
    if (changed) *changed = false;
    if (!wanted) return OK;
    AUTO(arena_done) Arena scratch = {0};
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    SymbolPathOptions options = {.no_download = true};
    TRY(symbols_list(symbols, err));
    TRY(symbol_path_open(joined_path(symbols, extra, &scratch), &options, &path, err));
    Lookup lookup = {.symbols = symbols, .path = path};
    for (size_t i = 0; i < symbols->module_count; i++) {
        lookup.module = i;
        TRY(look_up_module(&lookup, err));
    }
    symbols->looked_up = true;
    if (changed) *changed = lookup.changed;
    return OK;
}

// ---------------------------------------------------------------- servers

static size_t module_index(const Symbols *symbols, uint32_t image_id) {
    for (size_t i = 0; i < symbols->module_count; i++)
        if (symbols->modules[i].image_id == image_id) return i;
    return SIZE_MAX;
}

// The identity to ask for next; false: there is none.
static bool fetch_id(const SymbolModule *module, bool after_image, SymbolId *id) {
    if (module->source == SYMBOL_SOURCE_PDB) return false;
    bool native_pdb = module->has_pdb_id && is_native_pdb(module->pdb.name);
    if (module->has_pdb_id && (native_pdb || !module->has_map_id)) {
        *id = module->pdb;
        return true;
    }
    if (module->has_map_id) { // the PDB that is left describes the source alone
        *id = module->map;
        return true;
    }
    *id = module->image;
    return module->has_image_id && !after_image;
}

static void use_fetched(Symbols *symbols, size_t index, SymbolFetch *fetch, Arena *arena) {
    Err own = {0};
    SymbolModule *module = &symbols->modules[index];
    const SymbolId *id = fetch->id.is_image     ? &module->image
                         : fetch->id.is_perfmap ? &module->map
                                                : &module->pdb;
    if (is_found(&fetch->result) &&
        symbols_use_file(symbols, index, fetch->result.path, id, &own) != OK) {
        fetch->result.outcome = SYMBOL_DAMAGED;
        fetch->result.detail = str_copy(arena, str_from_c(own.text));
    }
    if (id->is_image) {
        module->img_found = fetch->result.outcome;
    } else {
        module->pdb_found = fetch->result.outcome;
        module->why = str_copy(&symbols->arena, fetch->result.detail);
    }
}

typedef struct FetchRound {
    SymbolPath *path;
    SymbolFetch *fetches;
    size_t count;
    bool after_image;
    Arena *arena;
} FetchRound;

// One request per module; the mutex is free while servers answer.
static Status fetch_round(Symbols *symbols, const FetchRound *round, Progress *progress) {
    AUTO(arena_done) Arena scratch = {0};
    SymbolId *ids = ARENA_ARRAY(&scratch, SymbolId, round->count);
    SymbolResult *results = ARENA_ARRAY(&scratch, SymbolResult, round->count);
    size_t *of = ARENA_ARRAY(&scratch, size_t, round->count), asked = 0;
    mutex_lock(&symbols->mutex);
    for (size_t i = 0; i < round->count; i++) {
        size_t index = module_index(symbols, round->fetches[i].image_id);
        if (index == SIZE_MAX || (round->after_image && !round->fetches[i].id.is_image)) continue;
        if (!fetch_id(&symbols->modules[index], round->after_image, &ids[asked])) continue;
        results[asked].outcome = SYMBOL_CANCELLED;
        of[asked++] = i;
    }
    mutex_unlock(&symbols->mutex);
    Status status = symbol_find_many(round->path, ids, asked, progress, round->arena, results);
    mutex_lock(&symbols->mutex);
    for (size_t i = 0; i < asked; i++) {
        SymbolFetch *fetch = &round->fetches[of[i]];
        fetch->id = ids[i];
        fetch->result = results[i];
        fetch->asked = true;
        use_fetched(symbols, module_index(symbols, fetch->image_id), fetch, round->arena);
    }
    mutex_unlock(&symbols->mutex);
    return status;
}

Status symbols_fetch(Symbols *symbols, const SymbolFetchOptions *options, SymbolFetch *fetches,
                     size_t count, Arena *arena, Err *err) {
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    SymbolPathOptions how = {.no_download = symbols->no_download, .retry_missing = true};
    TRY(symbols_path_open(symbols, options->extra, &how, &path, err));
    FetchRound round = {.path = path, .fetches = fetches, .count = count, .arena = arena};
    TRY(fetch_round(symbols, &round, options->progress));
    round.after_image = true; // images that came may have named a PDB
    return fetch_round(symbols, &round, options->progress);
}

// ---------------------------------------------------------------- public

Symbols *symbols_open(const SymbolsOptions *options) {
    Symbols *symbols = mem_zero(1, sizeof *symbols);
    mutex_init(&symbols->mutex);
    symbols->path = str_copy(&symbols->arena, options->path);
    symbols->no_download = options->no_download;
    return symbols;
}

void symbols_close(Symbols *symbols) {
    if (!symbols) return;
    mutex_done(&symbols->mutex);
    arena_done(&symbols->arena);
    mem_free(symbols);
}

void symbols_attach(Symbols *symbols, Database *database) {
    symbols->database = database;
}

void symbols_set_path(Symbols *symbols, Str path) {
    mutex_lock(&symbols->mutex);
    if (!str_eq(symbols->path, path)) symbols->looked_up = false;
    symbols->path = str_copy(&symbols->arena, path);
    mutex_unlock(&symbols->mutex);
}

Str symbols_path_text(Symbols *symbols, Arena *arena) {
    mutex_lock(&symbols->mutex);
    Str path = str_copy(arena, symbols->path);
    mutex_unlock(&symbols->mutex);
    return path;
}

bool symbols_no_download(const Symbols *symbols) {
    return symbols->no_download;
}

Status symbols_path_open(Symbols *symbols, Str extra, const SymbolPathOptions *options,
                         SymbolPath **out, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    mutex_lock(&symbols->mutex);
    Str text = joined_path(symbols, extra, &scratch);
    mutex_unlock(&symbols->mutex);
    return symbol_path_open(text, options, out, err);
}

Status symbols_need(Symbols *symbols, Str extra, bool *changed, Err *err) {
    mutex_lock(&symbols->mutex);
    Status status = symbols_look_up(symbols, extra, changed, err);
    mutex_unlock(&symbols->mutex);
    return status;
}

static int compare_modules(const void *left, const void *right) {
    const SymbolModule *a = left, *b = right;
    int order = str_cmp_nocase(a->name, b->name);
    if (order) return order;
    return a->image_id < b->image_id ? -1 : a->image_id > b->image_id;
}

size_t symbols_modules(Symbols *symbols, Arena *arena, SymbolModule **out) {
    mutex_lock(&symbols->mutex);
    size_t count = symbols_list(symbols, NULL) == OK ? symbols->module_count : 0;
    *out = ARENA_ARRAY(arena, SymbolModule, count);
    for (size_t i = 0; i < count; i++) (*out)[i] = symbols->modules[i];
    mutex_unlock(&symbols->mutex);
    if (count) qsort(*out, count, sizeof **out, compare_modules);
    return count;
}

Status symbols_lines(Symbols *symbols, uint32_t image_id, FrameLines *out, Err *err) {
    *out = (FrameLines){0};
    mutex_lock(&symbols->mutex);
    Status status = symbols_look_up(symbols, (Str){0}, NULL, err);
    if (status == OK) status = symbols_list(symbols, err);
    size_t index = status == OK ? module_index(symbols, image_id) : SIZE_MAX;
    if (index != SIZE_MAX) {
        status = symbols_read_lines(symbols, index, err);
        *out = symbols->lines[index];
    }
    mutex_unlock(&symbols->mutex);
    return status;
}
