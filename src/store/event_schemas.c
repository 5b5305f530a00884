// Event classes with their schemas, read through the database's own instance: instances of user
// queries may not open files of their own choice.
#include "store/event_schemas.h"

#include "base/os.h"
#include "store/database.h"

struct EventSchemas {
    Database *database;
    Mutex lock;
    atomic_bool loaded;
    Arena arena;
    VEC(EventSchema) classes; // class_id - 1
};

EventSchemas *event_schemas_open(Database *database) {
    EventSchemas *schemas = mem_zero(1, sizeof *schemas);
    schemas->database = database;
    mutex_init(&schemas->lock);
    return schemas;
}

void event_schemas_close(EventSchemas *schemas) {
    if (!schemas) return;
    vec_free(&schemas->classes);
    arena_done(&schemas->arena);
    mutex_done(&schemas->lock);
    mem_free(schemas);
}

static Str blob_of(duckdb_vector vector, idx_t row) {
    uint64_t *valid = duckdb_vector_get_validity(vector);
    if (valid && !duckdb_validity_row_is_valid(valid, row)) return (Str){0};
    duckdb_string_t *values = duckdb_vector_get_data(vector);
    return (Str){duckdb_string_t_data(&values[row]), duckdb_string_t_length(values[row])};
}

static void take_chunk(EventSchemas *schemas, duckdb_data_chunk chunk) {
    enum { CLASSES_MAX = 1 << 24 };
    const uint32_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
    duckdb_vector bytes = duckdb_data_chunk_get_vector(chunk, 1);
    duckdb_vector why = duckdb_data_chunk_get_vector(chunk, 2);
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk); row++) {
        if (!ids[row] || ids[row] > CLASSES_MAX) continue;
        while (schemas->classes.count < ids[row]) *vec_push(&schemas->classes) = (EventSchema){0};
        Str text = blob_of(bytes, row);
        EventSchema *out = &schemas->classes.items[ids[row] - 1];
        if (text.n) out->schema = schema_parse(str_copy(&schemas->arena, text), &schemas->arena);
        out->why = str_copy(&schemas->arena, blob_of(why, row));
    }
}

static Status load(EventSchemas *schemas, Err *err) {
    const Manifest *manifest = &schemas->database->manifest;
    AUTO(arena_done) Arena scratch = {0};
    AUTO(buf_done) Buf sql = {0};
    const char *separator = "";
    buf_add_c(&sql, "SELECT class_id, schema, decoded_by FROM read_parquet([");
    for (size_t i = 0; i < manifest->part_count; i++) {
        if (manifest->parts[i].table != T_EVENT_CLASS) continue;
        buf_add_c(&sql, separator);
        sql_add_text(&sql, path_join(&scratch, manifest->root, manifest->parts[i].path));
        separator = ", ";
    }
    buf_add_c(&sql, "], hive_partitioning=false)");
    if (!*separator) return OK; // a trace without events
    duckdb_connection connection = NULL;
    TRY(duck_connect(schemas->database->duck, &connection, err));
    duckdb_result result = {0};
    Status status = OK;
    if (duckdb_query(connection, sql.p, &result) != DuckDBSuccess)
        status = duck_error(err, duckdb_result_error(&result));
    for (duckdb_data_chunk chunk; status == OK && (chunk = duckdb_fetch_chunk(result)) != NULL;) {
        take_chunk(schemas, chunk);
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    return status;
}

Status event_schemas_need(EventSchemas *schemas, Err *err) {
    if (atomic_load_explicit(&schemas->loaded, memory_order_acquire)) return OK;
    mutex_lock(&schemas->lock);
    Status status = OK;
    if (!atomic_load(&schemas->loaded)) status = load(schemas, err);
    if (status == OK) atomic_store_explicit(&schemas->loaded, true, memory_order_release);
    mutex_unlock(&schemas->lock);
    return status;
}

EventSchema event_schema_of(const EventSchemas *schemas, uint32_t class_id) {
    if (!class_id || class_id > schemas->classes.count)
        return (EventSchema){NULL, STR("no such class")};
    return schemas->classes.items[class_id - 1];
}
