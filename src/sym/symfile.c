// One image's symbol file: opening by content, proof of identity, the table from disk where it is
// still the right one, and the PDB itself only when lines are wanted.
#include "sym/sym.h"

#include <inttypes.h>

struct SymFile {
    Str path;
    Arena arena;
    SymTab *table;
    bool from_disk;
    Pe *pe;
    bool is_perfmap;
    PerfMapInfo perfmap;
    Mutex mutex; // guards what is opened later
    Pdb *pdb;
    PdbLines *lines;
};

Str symfile_default_table_folder(Arena *arena) {
    return path_join(arena, os_cache_folder(arena), STR("symtab"));
}

// The same rule as for the PDB itself, on what the table remembers of it.
static bool table_matches(const SymTab *table, const SymbolId *id) {
    const SymTabInfo *info = symtab_info(table);
    return guid_eq(&info->guid, &id->guid) && info->info_age >= id->age &&
           (info->dbi_age == 0 || info->dbi_age == id->age);
}

static Str table_path(const SymFile *file, const SymFileOptions *options, const Guid *guid,
                      uint32_t age, Arena *arena) {
    SymbolId id = {.guid = *guid, .age = age};
    Str name = path_name(file->path), key = symbol_key(&id, arena);
    if (!symbol_name_is_safe(name)) name = STR("pdb");
    Str folder = path_join(arena, options->table_folder, name);
    return path_join(arena, folder, str_format(arena, STR_FMT ".symtab", STR_ARG(key)));
}

static bool load_table(SymFile *file, Str path, const SymTabStamp *stamp) {
    file->from_disk = symtab_load(path, stamp, &file->table, NULL) == OK;
    return file->from_disk;
}

// Only a saving of time: a table that cannot be written is made again next time.
static void save_table(const SymFile *file, Str path, const SymTabStamp *stamp) {
    if (os_make_folders(path_folder(path), NULL) != OK) return;
    if (symtab_save(file->table, path, stamp, NULL) != OK) return;
}

static Status open_pdb(SymFile *file, const SymFileOptions *options, const SymTabStamp *stamp,
                       Err *err) {
    AUTO(arena_done) Arena arena = {0};
    const SymbolId *id = options->id;
    bool kept = options->table_folder.n != 0;
    if (kept && id && !options->rebuild) {
        Str path = table_path(file, options, &id->guid, id->age, &arena);
        if (load_table(file, path, stamp) && table_matches(file->table, id)) return OK;
        symtab_close(file->table);
        file->table = NULL;
        file->from_disk = false;
    }
    TRY(pdb_open(file->path, &file->pdb, err));
    const PdbInfo *info = pdb_info(file->pdb);
    Err why = {0};
    if (id && !pdb_matches(file->pdb, &id->guid, id->age, &why))
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": %s", STR_ARG(file->path), why.text);
    uint32_t age = id ? id->age : info->has_dbi && info->dbi_age ? info->dbi_age : info->info_age;
    Str path = kept ? table_path(file, options, &info->guid, age, &arena) : (Str){0};
    if (kept && !id && !options->rebuild && load_table(file, path, stamp)) return OK;
    TRY(symtab_from_pdb(file->pdb, &file->table, err));
    if (kept) save_table(file, path, stamp);
    return OK;
}

static Status open_image(SymFile *file, const SymbolId *id, Err *err) {
    const PeIdentity *have = pe_identity(file->pe);
    bool same = true;
    if (id && id->is_image)
        same = have->time_date_stamp == id->time_date_stamp && have->image_size == id->image_size;
    else if (id)
        same = have->has_pdb && guid_eq(&have->pdb_guid, &id->guid) && have->pdb_age == id->age;
    if (!same)
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": the image is another build",
                       STR_ARG(file->path));
    return symtab_from_pe(file->pe, &file->table, err);
}

static Status open_perfmap(SymFile *file, Source *source, const SymbolId *id, Err *err) {
    file->is_perfmap = true;
    TRY(symtab_from_perfmap(source, &file->perfmap, &file->table, err));
    const PerfMapInfo *have = &file->perfmap;
    if (!id || (id->is_perfmap && guid_eq(&have->signature, &id->guid) && have->version == id->age))
        return OK;
    return err_set(err, ERR_NOT_FOUND, STR_FMT ": the perf map is of another build",
                   STR_ARG(file->path));
}

static Status open_by_kind(SymFile *file, const SymFileOptions *options, Err *err) {
    AUTO(source_close) Source *source = NULL;
    TRY(source_open(file->path, &source, err));
    FileKind kind = source_kind(source);
    if (kind == FILE_KIND_PERFMAP) return open_perfmap(file, source, options->id, err);
    // A cabinet says what is in it only when it is open: its name tells which to try first.
    char before_last = file->path.n > 2 ? file->path.p[file->path.n - 2] : 0;
    bool packed_image = kind == FILE_KIND_CABINET && before_last != 'd' && before_last != 'D';
    if (kind == FILE_KIND_PE || packed_image) {
        TRY(pe_open(file->path, &file->pe, err));
        return open_image(file, options->id, err);
    }
    FileInfo info;
    TRY(os_stat(file->path, &info, err));
    SymTabStamp stamp = {info.size_bytes, info.mtime_ns};
    return open_pdb(file, options, &stamp, err);
}

static SymFile *symfile_new(Str path) {
    SymFile *file = mem_zero(1, sizeof *file);
    mutex_init(&file->mutex);
    file->path = str_copy(&file->arena, path);
    return file;
}

Status symfile_open(Str path, const SymFileOptions *options, SymFile **out, Err *err) {
    static const SymFileOptions USUAL = {0};
    AUTO(symfile_close) SymFile *file = symfile_new(path);
    TRY(open_by_kind(file, options ? options : &USUAL, err));
    *out = file;
    file = NULL;
    return OK;
}

Status symfile_open_bytes(Str bytes, Str name, SymFile **out, Err *err) {
    AUTO(symfile_close) SymFile *file = symfile_new(name);
    if (file_kind_from_head(bytes) == FILE_KIND_PERFMAP) {
        AUTO(source_close) Source *source = source_from_bytes(bytes, name);
        TRY(open_perfmap(file, source, NULL, err));
    } else if (file_kind_from_head(bytes) == FILE_KIND_PE) {
        TRY(pe_open_bytes(bytes, name, &file->pe, err));
        TRY(symtab_from_pe(file->pe, &file->table, err));
    } else {
        TRY(pdb_open_bytes(bytes, name, &file->pdb, err));
        TRY(symtab_from_pdb(file->pdb, &file->table, err));
    }
    *out = file;
    file = NULL;
    return OK;
}

void symfile_close(SymFile *file) {
    if (!file) return;
    pdb_lines_close(file->lines);
    pdb_close(file->pdb);
    pe_close(file->pe);
    symtab_close(file->table);
    mutex_done(&file->mutex);
    arena_done(&file->arena);
    mem_free(file);
}

Str symfile_path(const SymFile *file) {
    return file->path;
}

const SymTab *symfile_table(const SymFile *file) {
    return file->table;
}

bool symfile_from_disk_table(const SymFile *file) {
    return file->from_disk;
}

const PeIdentity *symfile_image(const SymFile *file) {
    return file->pe ? pe_identity(file->pe) : NULL;
}

const PerfMapInfo *symfile_perfmap(const SymFile *file) {
    return file->is_perfmap ? &file->perfmap : NULL;
}

// Under the mutex. The file may have changed since its table was made: proved again.
static Status need_pdb(SymFile *file, Err *err) {
    if (file->pe)
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": an image, not a PDB", STR_ARG(file->path));
    if (file->is_perfmap)
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": a perf map, not a PDB: it has no lines",
                       STR_ARG(file->path));
    if (file->pdb) return OK;
    AUTO(pdb_close) Pdb *pdb = NULL;
    TRY(pdb_open(file->path, &pdb, err));
    if (!guid_eq(&pdb_info(pdb)->guid, &symtab_info(file->table)->guid))
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": the file was replaced by another build",
                       STR_ARG(file->path));
    file->pdb = pdb;
    pdb = NULL;
    return OK;
}

Status symfile_pdb(SymFile *file, Pdb **out, Err *err) {
    mutex_lock(&file->mutex);
    Status status = need_pdb(file, err);
    *out = file->pdb;
    mutex_unlock(&file->mutex);
    return status;
}

Status symfile_lines(SymFile *file, PdbLines **out, Err *err) {
    mutex_lock(&file->mutex);
    Status status = need_pdb(file, err);
    if (status == OK && !file->lines) status = pdb_lines_open(file->pdb, &file->lines, err);
    *out = file->lines;
    mutex_unlock(&file->mutex);
    return status;
}

Status symfile_at(SymFile *file, uint32_t rva, bool with_lines, Arena *arena, SymAddress *out,
                  Err *err) {
    uint32_t source = rva;
    *out = (SymAddress){.index = symtab_at(file->table, rva, &source)};
    out->frames.count = 1;
    out->found = out->index != SYM_NONE;
    if (!out->found) return OK;
    symtab_function(file->table, out->index, arena, &out->function);
    out->offset = source - out->function.rva;
    if (!with_lines || file->pe || !symtab_info(file->table)->has_lines) return OK;
    PdbLines *lines = NULL;
    TRY(symfile_lines(file, &lines, err));
    if (out->function.module >= pdb_module_count(file->pdb)) return OK;
    return pdb_lines_at(lines, out->function.module, source, arena, &out->frames, err);
}

Str symfile_module_name(SymFile *file, uint32_t module) {
    mutex_lock(&file->mutex);
    const Pdb *pdb = file->pdb;
    mutex_unlock(&file->mutex);
    return pdb && module < pdb_module_count(pdb) ? pdb_module(pdb, module)->name : (Str){0};
}
