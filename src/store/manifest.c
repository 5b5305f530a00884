// Reading, checking and writing the manifest. Everything in it is foreign: the folder may come from
// anywhere, so paths must stay inside it and sizes must be those of the files.
#include "store/manifest.h"

#include "base/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// ---------------------------------------------------------------- JSON helpers

static Str json_str(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? (Str){json_string_value(value), json_string_length(value)}
                                 : (Str){0};
}

static bool json_u64(const json_t *object, const char *key, uint64_t *out) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static json_t *json_of(Str s) {
    json_t *json = json_stringn(s.p ? s.p : "", s.n);
    return json ? json : json_string("");
}

Str schema_fingerprint(Arena *arena) {
    uint64_t hash = STORE_SCHEMA_VERSION;
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        const TableDef *def = table_def((TableId)t);
        hash = bytes_hash(def->name, strlen(def->name), hash);
        for (unsigned c = 0; c < def->column_count; c++) {
            const char *type = column_sql_type(def->columns[c].type);
            hash = bytes_hash(def->columns[c].name, strlen(def->columns[c].name) + 1, hash);
            hash = bytes_hash(type, strlen(type) + 1, hash);
        }
    }
    return str_format(arena, "%016llx", (unsigned long long)hash);
}

// ---------------------------------------------------------------- reading

// A document under judgement; `why` stays empty while nothing is wrong.
typedef struct Check {
    Arena *arena;
    Str root;
    Str real_root; // free of links
    Str why;
} Check;

PRINTF_LIKE(2, 3) static bool bad(Check *check, const char *format, ...) {
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check->why = str_copy(check->arena, str_from_c(text));
    return false;
}

// NULL: absent (*absent) or not JSON (check->why).
static json_t *document_read(Check *check, bool *absent, Status *status, Err *err) {
    Str text;
    Str path = path_join(check->arena, check->root, STR(MANIFEST_NAME));
    *absent = false;
    *status = file_read_all(path, LIMIT_MANIFEST_BYTES, check->arena, &text, err);
    if (*status == ERR_NOT_FOUND) {
        *absent = true;
        *status = OK;
        return NULL;
    }
    if (*status == ERR_INPUT || *status == ERR_LIMIT) { // a folder, or far too large
        (void)bad(check, "the manifest is not a manifest file");
        *status = OK;
        return NULL;
    }
    if (*status != OK) return NULL;
    json_error_t where;
    json_t *json = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, &where);
    if (!json) (void)bad(check, "the manifest is not JSON (line %d: %s)", where.line, where.text);
    return json;
}

static bool is_foreign(const json_t *json) {
    return json_is_object(json) && !str_eq(json_str(json, "producer"), STR(MANIFEST_PRODUCER));
}

Status manifest_root(Str folder, Arena *arena, Str *root, Err *err) {
    Check check = {.arena = arena, .root = folder};
    bool absent = false;
    Status status = OK;
    json_t *json = document_read(&check, &absent, &status, err);
    bool foreign = is_foreign(json);
    json_decref(json);
    if (status != OK) return status;
    *root = foreign ? path_join(arena, folder, STR("etw-mcp")) : str_copy(arena, folder);
    return OK;
}

static bool check_header(Check *check, const json_t *json) {
    uint64_t version = 0, rows_version = 0;
    if (!json_is_object(json)) return bad(check, "the manifest is not an object");
    if (is_foreign(json)) return bad(check, "the manifest is of another program");
    if (!json_u64(json, "schema_version", &version) || version != MANIFEST_VERSION)
        return bad(check, "the manifest is not of version %d", MANIFEST_VERSION);
    if (!json_is_true(json_object_get(json, "complete")))
        return bad(check, "the database is not complete");
    if (!json_is_true(json_object_get(json, "finalized")))
        return bad(check, "the database is not finalized");
    if (!json_u64(json, "event_schema_version", &rows_version) ||
        rows_version != STORE_SCHEMA_VERSION ||
        !str_eq(json_str(json, "table_schema"), schema_fingerprint(check->arena)))
        return bad(check, "the database was written with other table definitions");
    return true;
}

static bool check_identity(Check *check, const json_t *json, const TraceIdentity *identity) {
    const json_t *recorded = json_object_get(json, "etl_identity");
    const json_t *mtime = json_object_get(recorded, "mtime_ns");
    uint64_t size = 0;
    Str path = json_str(recorded, "path");
    if (!path.n || !json_u64(recorded, "size", &size) || !json_is_integer(mtime))
        return bad(check, "the manifest names no trace");
    if (!identity) return true;
    if (!str_eq(path_name(path), path_name(identity->path)))
        return bad(check, "the database is of a trace named " STR_FMT, STR_ARG(path_name(path)));
    if (size != identity->size_bytes)
        return bad(check, "the trace had %llu bytes and has %llu now", (unsigned long long)size,
                   (unsigned long long)identity->size_bytes);
    if (json_integer_value(mtime) != identity->mtime_ns)
        return bad(check, "the trace was modified after it was decoded");
    return true;
}

// Relative, without drive, backslash, empty or dotted parts.
static bool path_stays_inside(Str path) {
    Str rest = path, part;
    if (!path.n || path.p[0] == '/' || path.p[path.n - 1] == '/') return false;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '\\' || path.p[i] == ':' || (unsigned char)path.p[i] < ' ') return false;
    while (str_next(&rest, '/', &part))
        if (!part.n || str_eq(part, STR(".")) || str_eq(part, STR(".."))) return false;
    return true;
}

// Not proof of a good file, but a cut, empty or zero-filled one (power loss) is found.
static bool ends_as_parquet(Str path, uint64_t size) {
    AUTO(file_close) File *file = NULL;
    char magic[4] = "";
    size_t got = 0;
    if (size < 12 || file_open(path, &file, NULL) != OK) return false;
    if (file_read_at(file, size - 4, magic, sizeof magic, &got, NULL) != OK) return false;
    return got == sizeof magic && memcmp(magic, "PAR1", sizeof magic) == 0;
}

static bool check_part(Check *check, const PartFile *part) {
    FileInfo info;
    Str real;
    Str path = path_join(check->arena, check->root, part->path);
    if (os_stat(path, &info, NULL) != OK || !info.exists)
        return bad(check, "the file " STR_FMT " is missing", STR_ARG(part->path));
    if (!info.is_file) return bad(check, STR_FMT " is not a file", STR_ARG(part->path));
    if (info.size_bytes != part->size_bytes)
        return bad(check, "the file " STR_FMT " has %llu bytes, not %llu", STR_ARG(part->path),
                   (unsigned long long)info.size_bytes, (unsigned long long)part->size_bytes);
    if (os_real_path(path, check->arena, &real, NULL) != OK ||
        !str_eq(real, path_join(check->arena, check->real_root, part->path)))
        return bad(check, "the file " STR_FMT " is a link", STR_ARG(part->path));
    if (!ends_as_parquet(path, info.size_bytes))
        return bad(check, "the file " STR_FMT " is damaged", STR_ARG(part->path));
    return true;
}

static bool read_part(Check *check, const json_t *file, PartFile *part) {
    part->path = json_str(file, "path");
    if (!path_stays_inside(part->path))
        return bad(check, "the manifest names a file outside the database's folder");
    if (!json_u64(file, "size", &part->size_bytes) || !json_u64(file, "row_count", &part->rows))
        return bad(check, "the manifest says too little about " STR_FMT, STR_ARG(part->path));
    return check_part(check, part);
}

static bool read_dataset(Check *check, const json_t *dataset, Manifest *out) {
    TableId table;
    uint64_t rows = 0, sum = 0;
    Str name = json_str(dataset, "name");
    const json_t *files = json_object_get(dataset, "files");
    if (!table_id_from_name(name, &table) || !json_u64(dataset, "row_count", &rows) ||
        !json_is_array(files))
        return bad(check, "the manifest lists an unknown table");
    for (size_t i = 0; i < json_array_size(files); i++) {
        PartFile *part = &out->parts[out->part_count];
        part->table = table;
        if (!read_part(check, json_array_get(files, i), part)) return false;
        sum += part->rows;
        out->part_count++;
    }
    if (sum != rows || out->rows[table])
        return bad(check, "the manifest contradicts itself about " STR_FMT, STR_ARG(name));
    out->rows[table] = rows;
    return true;
}

static bool read_datasets(Check *check, const json_t *json, Manifest *out) {
    const json_t *datasets = json_object_get(json, "datasets");
    size_t files = 0;
    if (!json_is_array(datasets) || json_array_size(datasets) > TABLE_COUNT)
        return bad(check, "the manifest has no list of tables");
    for (size_t i = 0; i < json_array_size(datasets); i++)
        files += json_array_size(json_object_get(json_array_get(datasets, i), "files"));
    out->parts = ARENA_ARRAY(check->arena, PartFile, files);
    for (size_t i = 0; i < json_array_size(datasets); i++)
        if (!read_dataset(check, json_array_get(datasets, i), out)) return false;
    out->generation = json_str(json, "generation_id");
    if (!path_stays_inside(out->generation) || str_find(out->generation, STR("/")) != SIZE_MAX)
        return bad(check, "the manifest names no generation");
    return true;
}

Status manifest_load(Str root, const TraceIdentity *identity, Arena *arena, Manifest *out,
                     Verdict *verdict, Err *err) {
    Check check = {.arena = arena, .root = root};
    bool absent = false;
    Status status = OK;
    *out = (Manifest){.root = root};
    *verdict = (Verdict){.state = STORE_INVALID};
    out->json = document_read(&check, &absent, &status, err);
    bool good = status == OK && !absent && out->json &&
                os_real_path(root, arena, &check.real_root, NULL) == OK &&
                check_header(&check, out->json) && check_identity(&check, out->json, identity) &&
                read_datasets(&check, out->json, out);
    if (good) {
        verdict->state = STORE_VALID;
        return OK;
    }
    if (absent) {
        verdict->state = STORE_NONE;
        (void)bad(&check, "there is no manifest in " STR_FMT, STR_ARG(root));
    }
    manifest_done(out);
    verdict->why = check.why.n ? check.why : STR("the database's folder vanished");
    return status;
}

void manifest_done(Manifest *manifest) {
    json_decref(manifest->json);
    manifest->json = NULL;
}

// ---------------------------------------------------------------- writing

static json_t *dataset_json(const ManifestFacts *facts, TableId table) {
    json_t *files = json_array();
    uint64_t rows = 0;
    for (size_t i = 0; i < facts->part_count; i++) {
        const PartFile *part = &facts->parts[i];
        if (part->table != table) continue;
        rows += part->rows;
        json_t *file = json_object();
        json_object_set_new(file, "path", json_of(part->path));
        json_object_set_new(file, "size", json_integer((json_int_t)part->size_bytes));
        json_object_set_new(file, "row_count", json_integer((json_int_t)part->rows));
        json_array_append_new(files, file);
    }
    json_t *dataset = json_object();
    json_object_set_new(dataset, "name", json_string(table_def(table)->name));
    json_object_set_new(dataset, "row_count", json_integer((json_int_t)rows));
    json_object_set_new(dataset, "files", files);
    return dataset;
}

static json_t *document_make(const ManifestFacts *facts) {
    AUTO(arena_done) Arena arena = {0};
    json_t *etl = json_object();
    json_object_set_new(etl, "path", json_of(facts->identity->path));
    json_object_set_new(etl, "size", json_integer((json_int_t)facts->identity->size_bytes));
    json_object_set_new(etl, "mtime_ns", json_integer(facts->identity->mtime_ns));
    json_t *datasets = json_array();
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        json_array_append_new(datasets, dataset_json(facts, (TableId)t));
    json_t *json = json_object();
    json_object_set_new(json, "schema_version", json_integer(MANIFEST_VERSION));
    json_object_set_new(json, "producer", json_string(MANIFEST_PRODUCER));
    json_object_set_new(json, "tool_version", json_string(ETW_VERSION));
    json_object_set_new(json, "mode", json_of(facts->mode));
    json_object_set_new(json, "etl_identity", etl);
    json_object_set_new(json, "created_at", json_of(os_wall_text(&arena, facts->created_wall_ns)));
    json_object_set_new(json, "finalized_at", json_of(os_wall_text(&arena, os_wall_ns())));
    json_object_set_new(json, "complete", json_true());
    json_object_set_new(json, "finalized", json_true());
    json_object_set_new(json, "event_schema_version", json_integer(STORE_SCHEMA_VERSION));
    json_object_set_new(json, "table_schema", json_of(schema_fingerprint(&arena)));
    json_object_set_new(json, "generation_id", json_of(facts->generation));
    json_object_set_new(json, "dataset_count", json_integer(TABLE_COUNT));
    json_object_set_new(json, "datasets", datasets);
    json_object_set_new(json, "info", facts->info ? json_deep_copy(facts->info) : json_object());
    return json;
}

Status manifest_write(Str root, const ManifestFacts *facts, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    json_t *json = document_make(facts);
    char *text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    if (!text) return err_set(err, ERR_INTERNAL, "the manifest cannot be written as JSON");
    Str path = path_join(&arena, root, STR(MANIFEST_NAME));
    Status status = file_write_atomic(path, str_from_c(text), err);
    free(text); // NOLINT: allocated by jansson
    return status;
}
