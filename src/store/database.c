// An open database: the manifest, one DuckDB instance over its files, and its sessions.
#include "store/database.h"

#include "base/os.h"
#include "store/fn_packet.h"
#include "store/fn_sched.h"
#include "store/result.h"

// Loads the manifest and marks its generation as in use. A writer may replace the generation in
// between; then the new one is taken.
static Status database_hold(Database *database, Str root, Err *err) {
    enum { TRIES = 10 };
    Verdict verdict = {0};
    for (unsigned i = 0; i < TRIES; i++) {
        Manifest first;
        TRY(manifest_load(root, NULL, &database->arena, &first, &verdict, err));
        if (verdict.state != STORE_VALID) continue;
        Status status =
            generation_hold(root, first.generation, &database->arena, &database->marker, err);
        Str generation = str_copy(&database->arena, first.generation);
        manifest_done(&first);
        if (status == ERR_NOT_FOUND) continue;
        TRY(status);
        // Writers replace the manifest before they look for marks, so what it still names is safe.
        TRY(manifest_load(root, NULL, &database->arena, &database->manifest, &verdict, err));
        if (verdict.state == STORE_VALID && str_eq(database->manifest.generation, generation))
            return OK;
        manifest_done(&database->manifest);
        if (database->marker.n) (void)os_remove_file(database->marker, NULL);
        database->marker = (Str){0};
    }
    return err_set(err, verdict.state == STORE_NONE ? ERR_NOT_FOUND : ERR_INPUT, STR_FMT,
                   STR_ARG(verdict.why));
}

static Status database_start(Database *database, Err *err) {
    const DatabaseOptions *options = &database->options;
    DuckOptions duck = {.threads = options->threads, .memory_bytes = options->memory_bytes};
    Manifest *manifest = &database->manifest;
    Arena *arena = &database->arena;
    if (database->marker.n)
        duck.temp_folder = str_format(arena, STR_FMT "/" STR_FMT "/tmp-%d", STR_ARG(manifest->root),
                                      STR_ARG(manifest->generation), os_process_id());
    TRY(duck_open(&duck, &database->duck, err));
    database->schemas = event_schemas_open(database);
    duckdb_connection connection = NULL;
    TRY(duck_connect(database->duck, &connection, err));
    // Files of a generation never change, so their footers are read once.
    Status status = duck_run(connection, "SET GLOBAL parquet_metadata_cache=true", err);
    if (status == OK) status = event_functions_register(connection, database->schemas, err);
    if (status == OK) status = packet_functions_register(connection, err);
    if (status == OK) status = sched_functions_register(connection, database->duck, err);
    if (status == OK && options->extend)
        status = options->extend(connection, options->extend_context, err);
    duckdb_disconnect(&connection);
    return status == OK ? views_load(&database->views, manifest, options->sql_folder, arena, err)
                        : status;
}

Status database_open(Str folder, const DatabaseOptions *options, Database **out, Err *err) {
    Str root, real;
    AUTO(database_close) Database *database = mem_zero(1, sizeof *database);
    mutex_init(&database->lock);
    mutex_init(&database->views_lock);
    if (options) database->options = *options;
    database->options.sql_folder = str_copy(&database->arena, database->options.sql_folder);
    TRY(manifest_root(folder, &database->arena, &root, err));
    if (os_real_path(root, &database->arena, &real, NULL) == OK) root = real;
    TRY(database_hold(database, root, err));
    TRY(database_start(database, err));
    *out = database;
    database = NULL;
    return OK;
}

void database_close(Database *database) {
    if (!database) return;
    for (Session *session = database->idle; session;) {
        Session *next = session->next;
        duckdb_disconnect(&session->connection);
        mem_free(session);
        session = next;
    }
    duckdb_close(&database->duck);
    event_schemas_close(database->schemas);
    views_done(&database->views);
    if (database->marker.n) {
        (void)os_remove_file(database->marker, NULL);
        generation_sweep(database->manifest.root); // perhaps this was the last reader of an old one
    }
    manifest_done(&database->manifest);
    mutex_done(&database->lock);
    mutex_done(&database->views_lock);
    arena_done(&database->arena);
    mem_free(database);
}

uint64_t database_row_count(const Database *database, TableId table) {
    INVARIANT((unsigned)table < TABLE_COUNT);
    return database->manifest.rows[table];
}

const json_t *database_manifest(const Database *database) {
    return database->manifest.json;
}

bool database_is_of(const Database *database, const TraceIdentity *identity) {
    const json_t *recorded = json_object_get(database->manifest.json, "etl_identity");
    return (uint64_t)json_integer_value(json_object_get(recorded, "size")) ==
               identity->size_bytes &&
           json_integer_value(json_object_get(recorded, "mtime_ns")) == identity->mtime_ns;
}

// ---------------------------------------------------------------- sessions

Status session_open(Database *database, Session **out, Err *err) {
    mutex_lock(&database->lock);
    Session *session = database->idle;
    if (session) database->idle = session->next;
    mutex_unlock(&database->lock);
    if (!session) {
        duckdb_connection connection = NULL;
        TRY(duck_connect(database->duck, &connection, err));
        session = mem_zero(1, sizeof *session);
        session->database = database;
        session->connection = connection;
    }
    session->next = NULL;
    atomic_store(&session->interrupted, false);
    *out = session;
    return OK;
}

void session_close(Session *session) {
    if (!session) return;
    Database *database = session->database;
    mutex_lock(&database->lock);
    session->next = database->idle;
    database->idle = session;
    mutex_unlock(&database->lock);
}

void session_interrupt(Session *session) {
    atomic_store(&session->interrupted, true);
    duckdb_interrupt(session->connection);
}

void *session_connection(Session *session) {
    return session->connection;
}

// ---------------------------------------------------------------- queries

static duckdb_value list_value(const Arg *arg) {
    bool text = arg->type == ARG_TEXT_LIST;
    duckdb_logical_type type =
        duckdb_create_logical_type(text ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_BIGINT);
    duckdb_value *values = mem_zero(arg->list_count, sizeof *values);
    for (size_t i = 0; i < arg->list_count; i++)
        values[i] = text ? duckdb_create_varchar_length(
                               arg->text_list[i].n ? arg->text_list[i].p : "", arg->text_list[i].n)
                         : duckdb_create_int64(arg->i64_list[i]);
    duckdb_value list = duckdb_create_list_value(type, values, arg->list_count);
    for (size_t i = 0; i < arg->list_count; i++) duckdb_destroy_value(&values[i]);
    mem_free(values);
    duckdb_destroy_logical_type(&type);
    return list;
}

static duckdb_value arg_value(const Arg *arg) {
    switch (arg->type) {
    case ARG_NULL: return duckdb_create_null_value();
    case ARG_BOOL: return duckdb_create_bool(arg->boolean);
    case ARG_I64: return duckdb_create_int64(arg->i64);
    case ARG_F64: return duckdb_create_double(arg->f64);
    case ARG_TEXT: return duckdb_create_varchar_length(arg->text.n ? arg->text.p : "", arg->text.n);
    case ARG_I64_LIST:
    case ARG_TEXT_LIST: return list_value(arg);
    }
    return duckdb_create_null_value();
}

static const Arg *arg_named(const Arg *args, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(args[i].name, name) == 0) return &args[i];
    return NULL;
}

static Status bind_one(duckdb_prepared_statement statement, idx_t index, const Arg *args,
                       size_t count, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    const char *allocated = duckdb_parameter_name(statement, index);
    Str name = str_copy(&scratch, str_from_c(allocated));
    void *freed = NULL;
    memcpy(&freed, &allocated, sizeof freed); // const in the interface, ours to free all the same
    duckdb_free(freed);
    const Arg *arg = arg_named(args, count, name.p);
    if (!arg)
        return err_set(err, ERR_INTERNAL, "the statement needs a value for $" STR_FMT,
                       STR_ARG(name));
    duckdb_value value = arg_value(arg);
    Status status = OK;
    if (!value || duckdb_bind_value(statement, index, value) != DuckDBSuccess)
        status =
            err_set(err, ERR_ARG, "the value of %s cannot be used (is its text UTF-8?)", arg->name);
    duckdb_destroy_value(&value);
    return status;
}

static Status bind_all(duckdb_prepared_statement statement, const Arg *args, size_t arg_count,
                       Err *err) {
    for (idx_t i = 1; i <= duckdb_nparams(statement); i++)
        TRY(bind_one(statement, i, args, arg_count, err));
    return OK;
}

static Status session_views(Session *session, Str sql, Err *err) {
    Database *database = session->database;
    mutex_lock(&database->views_lock);
    Status status = views_need(&database->views, session->connection, sql, err);
    mutex_unlock(&database->views_lock);
    return status;
}

// A statement with its arguments bound; destroy it also after a failure.
static Status session_prepare(Session *session, Str sql, const Arg *args, size_t arg_count,
                              duckdb_prepared_statement *out, Err *err) {
    if (atomic_load(&session->interrupted))
        return err_set(err, ERR_CANCELLED, "the query was cancelled");
    TRY(session_views(session, sql, err));
    AUTO(arena_done) Arena scratch = {0};
    if (duckdb_prepare(session->connection, str_to_c(&scratch, sql), out) != DuckDBSuccess)
        return duck_error(err, duckdb_prepare_error(*out));
    return bind_all(*out, args, arg_count, err);
}

// The parameters are what every tool passes; a structure would be built at each call.
// NOLINTNEXTLINE(readability-function-size)
Status session_query(Session *session, Str sql, const Arg *args, size_t arg_count, size_t max_rows,
                     Arena *arena, ResultSet *out, Err *err) {
    *out = (ResultSet){0};
    duckdb_prepared_statement statement = NULL;
    Status status = session_prepare(session, sql, args, arg_count, &statement, err);
    RunLimits limits = {.max_rows = max_rows, .stopped = &session->interrupted};
    if (status == OK)
        status = result_collect(session->connection, statement, &limits, arena, out, err);
    duckdb_destroy_prepare(&statement);
    return status;
}

Status session_each(Session *session, Str sql, const Arg *args, size_t arg_count,
                    const RowsVisitor *visitor, Err *err) {
    duckdb_prepared_statement statement = NULL;
    Status status = session_prepare(session, sql, args, arg_count, &statement, err);
    RunLimits limits = {.stopped = &session->interrupted};
    if (status == OK) status = result_each(session->connection, statement, &limits, visitor, err);
    duckdb_destroy_prepare(&statement);
    return status;
}

// NOLINTNEXTLINE(readability-function-size): as above
Status session_integers(Session *session, Str sql, const Arg *args, size_t arg_count,
                        int64_t null_value, Arena *arena, Integers *out, Err *err) {
    *out = (Integers){0};
    duckdb_prepared_statement statement = NULL;
    Status status = session_prepare(session, sql, args, arg_count, &statement, err);
    RunLimits limits = {.stopped = &session->interrupted};
    if (status == OK)
        status =
            result_integers(session->connection, statement, &limits, null_value, arena, out, err);
    duckdb_destroy_prepare(&statement);
    return status;
}
