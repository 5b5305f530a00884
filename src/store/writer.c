// Writes chunks as Parquet. Chunks of a table gather until they make a part file of a few row
// groups; the thread that completes one writes it with COPY while the others go on decoding, so
// nothing piles up when the disk is slower than the decoder. The engine's start (some 15 ms) runs
// beside the first decoding.
#include "base/os.h"
#include "store/chunks.h"
#include "store/manifest.h"

#include <stdlib.h>

enum {
    PART_ROWS = 3 * ROW_GROUP_ROWS,
    PART_TEXT_BYTES = 16 * 1024 * 1024,
    ROW_GROUP_TEXT_BYTES = 2 * 1024 * 1024,
    PENDING_BYTES_MIN = 48 * 1024 * 1024,
    PENDING_BYTES_MAX = 384 * 1024 * 1024,
    CONNECTIONS_MAX = 64,
};

typedef VEC(Chunk *) ChunkVec;

// What has arrived for a table and is not written.
typedef struct Pending {
    ChunkVec chunks;
    uint64_t rows;
    uint64_t text_bytes;
    uint64_t bytes; // all of it, text included
    unsigned part_count;
} Pending;

struct StoreWriter {
    RowSink sink;
    Arena arena;
    TraceIdentity identity;
    Str root, generation;
    int64_t created_wall_ns;
    uint64_t pending_bytes_max;
    bool committed;

    Thread *starter; // opens the engine
    Mutex start_lock;
    bool started;
    Status start_status;
    Err start_err;
    duckdb_database database;

    Mutex lock;    // guards all below, and the arena
    Status status; // first failure; everything after it is dropped
    Err err;
    Pending pending[TABLE_COUNT];
    uint64_t pending_bytes;
    ChunkVec spare[TABLE_COUNT]; // written, kept for their memory
    VEC(PartFile) parts;
    duckdb_connection idle[CONNECTIONS_MAX];
    size_t idle_count;
};

// ---------------------------------------------------------------- engine

static Status engine_start(StoreWriter *writer, Err *err) {
    DuckOptions options = {.threads = 1};
    duckdb_connection connection = NULL;
    TRY(duck_open(&options, &writer->database, err));
    TRY(duck_connect(writer->database, &connection, err));
    Status status = chunks_register(connection, err);
    // Row groups in the order they are ready: twice as fast, and each query orders what it shows.
    if (status == OK)
        status = duck_run(connection, "SET GLOBAL preserve_insertion_order=false", err);
    writer->idle[writer->idle_count++] = connection;
    return status;
}

static void engine_start_run(void *context) {
    StoreWriter *writer = context;
    writer->start_status = engine_start(writer, &writer->start_err);
}

static Status engine_ready(StoreWriter *writer, Err *err) {
    mutex_lock(&writer->start_lock);
    if (!writer->started) {
        if (writer->starter)
            thread_join(writer->starter);
        else
            engine_start_run(writer);
        writer->starter = NULL;
        writer->started = true;
    }
    mutex_unlock(&writer->start_lock);
    if (writer->start_status != OK && err) *err = writer->start_err;
    return writer->start_status;
}

static Status connection_borrow(StoreWriter *writer, duckdb_connection *out, Err *err) {
    TRY(engine_ready(writer, err));
    *out = NULL;
    mutex_lock(&writer->lock);
    if (writer->idle_count) *out = writer->idle[--writer->idle_count];
    mutex_unlock(&writer->lock);
    return *out ? OK : duck_connect(writer->database, out, err);
}

static void connection_return(StoreWriter *writer, duckdb_connection connection) {
    mutex_lock(&writer->lock);
    bool kept = writer->idle_count < CONNECTIONS_MAX;
    if (kept) writer->idle[writer->idle_count++] = connection;
    mutex_unlock(&writer->lock);
    if (!kept) duckdb_disconnect(&connection);
}

// ---------------------------------------------------------------- parts

static void batch_free(Batch *batch) {
    for (size_t i = 0; i < batch->count; i++) chunk_free(batch->chunks[i]);
    mem_free(batch->chunks);
    *batch = (Batch){0};
}

enum { SPARE_MAX = 10 }; // of one table

// Keeps the memory of full-size chunks for the decoder, which would ask for as much again at once.
static void batch_recycle(StoreWriter *writer, Batch *batch) {
    mutex_lock(&writer->lock);
    for (size_t i = 0; i < batch->count; i++) {
        Chunk *chunk = batch->chunks[i];
        ChunkVec *spare = &writer->spare[chunk->table];
        if (spare->count >= SPARE_MAX || chunk->capacity != ROW_GROUP_ROWS) continue;
        chunk_reset(chunk);
        *vec_push(spare) = chunk;
        batch->chunks[i] = NULL;
    }
    mutex_unlock(&writer->lock);
    batch_free(batch);
}

static Chunk *writer_spare(RowSink *sink, TableId table) {
    StoreWriter *writer = (StoreWriter *)sink; // its first member
    Chunk *found = NULL;
    mutex_lock(&writer->lock);
    ChunkVec *spare = &writer->spare[table];
    if (spare->count) found = spare->items[--spare->count];
    mutex_unlock(&writer->lock);
    return found;
}

static void spare_free(StoreWriter *writer) {
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        for (size_t i = 0; i < writer->spare[t].count; i++) chunk_free(writer->spare[t].items[i]);
        vec_free(&writer->spare[t]);
    }
}

// The engine repeats the path and hides the reason behind it.
static Status copy_error(const char *message, Str path, Err *err) {
    Str text = str_from_c(message ? message : "no reason given");
    if (str_find_nocase(text, STR("no space left")) != SIZE_MAX)
        return err_set(err, ERR_IO, "the disk is full (no space left): cannot write " STR_FMT,
                       STR_ARG(path));
    return err_set(err, ERR_IO, "cannot write " STR_FMT ": " STR_FMT, STR_ARG(path), STR_ARG(text));
}

static Status copy_run(duckdb_connection connection, const Batch *batch, Str path, Err *err) {
    uint64_t text_bytes = 0;
    for (size_t i = 0; i < batch->count; i++) text_bytes += batch->chunks[i]->text.used_bytes;
    AUTO(buf_done) Buf sql = {0};
    buf_addf(&sql, "COPY (FROM etw_chunks(%llu::UBIGINT)) TO ",
             (unsigned long long)(uintptr_t)batch);
    sql_add_text(&sql, path);
    buf_addf(&sql,
             " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION v2, "
             "ROW_GROUP_SIZE %d, USE_TMP_FILE false",
             ROW_GROUP_ROWS);
    // The engine holds a row group in memory three times over while it encodes it.
    if (text_bytes > ROW_GROUP_TEXT_BYTES)
        buf_addf(&sql, ", ROW_GROUP_SIZE_BYTES %d", ROW_GROUP_TEXT_BYTES);
    buf_add(&sql, STR(")"));
    duckdb_result result;
    duckdb_state state = duckdb_query(connection, sql.p, &result);
    Status status = OK;
    if (state != DuckDBSuccess) status = copy_error(duckdb_result_error(&result), path, err);
    duckdb_destroy_result(&result);
    return status;
}

// Name and index of the next part file of a table; the writer is locked.
static PartFile part_next(StoreWriter *writer, const Batch *batch) {
    unsigned n = writer->pending[batch->table].part_count++;
    Str path = str_format(&writer->arena, STR_FMT "/%s-%u.parquet", STR_ARG(writer->generation),
                          table_def(batch->table)->name, n);
    return (PartFile){.table = batch->table, .path = path, .rows = batch->rows};
}

static Status part_write(StoreWriter *writer, const Batch *batch, Err *err) {
    AUTO(arena_done) Arena scratch = {0};
    duckdb_connection connection = NULL;
    TRY(connection_borrow(writer, &connection, err));
    mutex_lock(&writer->lock);
    PartFile part = part_next(writer, batch);
    mutex_unlock(&writer->lock);
    Str path = path_join(&scratch, writer->root, part.path);
    Status status = copy_run(connection, batch, path, err);
    connection_return(writer, connection);
    if (status != OK) return status;
    FileInfo info;
    TRY(os_stat(path, &info, err));
    part.size_bytes = info.size_bytes;
    mutex_lock(&writer->lock);
    *vec_push(&writer->parts) = part;
    mutex_unlock(&writer->lock);
    return OK;
}

// Writes and frees a batch; the first failure stays with the writer.
static Status batch_write(StoreWriter *writer, Batch *batch, Err *err) {
    Err own = {0};
    Status status = part_write(writer, batch, &own);
    batch_recycle(writer, batch);
    if (status == OK) return OK;
    mutex_lock(&writer->lock);
    if (writer->status == OK) {
        writer->status = status;
        writer->err = own;
    }
    mutex_unlock(&writer->lock);
    if (err) *err = own;
    return status;
}

// ---------------------------------------------------------------- gathering

static uint64_t row_bytes(TableId table) {
    const TableDef *def = table_def(table);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < def->column_count; i++) bytes += column_width(def->columns[i].type);
    return bytes;
}

static Batch pending_take(StoreWriter *writer, TableId table) {
    Pending *pending = &writer->pending[table];
    Batch batch = {.table = table,
                   .chunks = pending->chunks.items,
                   .count = pending->chunks.count,
                   .rows = pending->rows};
    writer->pending_bytes -= pending->bytes;
    *pending = (Pending){.part_count = pending->part_count};
    return batch;
}

static TableId pending_largest(const StoreWriter *writer) {
    unsigned largest = 0;
    for (unsigned i = 1; i < TABLE_COUNT; i++)
        if (writer->pending[i].bytes > writer->pending[largest].bytes) largest = i;
    return (TableId)largest;
}

// Adds a chunk; gives the batch that is now due, if any. The writer is locked.
static Batch pending_add(StoreWriter *writer, Chunk *chunk) {
    Pending *pending = &writer->pending[chunk->table];
    uint64_t bytes = row_bytes(chunk->table) * chunk->rows + chunk->text.used_bytes;
    *vec_push(&pending->chunks) = chunk;
    pending->rows += chunk->rows;
    pending->text_bytes += chunk->text.used_bytes;
    pending->bytes += bytes;
    writer->pending_bytes += bytes;
    if (pending->rows >= PART_ROWS || pending->text_bytes >= PART_TEXT_BYTES)
        return pending_take(writer, chunk->table);
    if (writer->pending_bytes > writer->pending_bytes_max)
        return pending_take(writer, pending_largest(writer));
    return (Batch){0};
}

static Status writer_push(RowSink *sink, Chunk *chunk, Err *err) {
    StoreWriter *writer = (StoreWriter *)sink; // its first member
    if (!chunk) return OK;
    mutex_lock(&writer->lock);
    Status status = writer->status;
    if (status != OK && err) *err = writer->err;
    Batch due = {0};
    bool taken = status == OK && chunk->rows > 0;
    if (taken) due = pending_add(writer, chunk);
    mutex_unlock(&writer->lock);
    if (!taken) chunk_free(chunk);
    return due.count ? batch_write(writer, &due, err) : status;
}

// ---------------------------------------------------------------- public

Status store_writer_open(Str folder, const TraceIdentity *identity, StoreWriter **out, Err *err) {
    StoreWriter *writer = mem_zero(1, sizeof *writer);
    writer->sink.push = writer_push;
    writer->sink.spare = writer_spare;
    mutex_init(&writer->lock);
    mutex_init(&writer->start_lock);
    AUTO(store_writer_close) StoreWriter *owned = writer;
    writer->identity = *identity;
    writer->identity.path = str_copy(&writer->arena, identity->path);
    writer->created_wall_ns = os_wall_ns();
    uint64_t bytes = identity->size_bytes / 4;
    if (bytes < PENDING_BYTES_MIN) bytes = PENDING_BYTES_MIN;
    writer->pending_bytes_max = bytes < PENDING_BYTES_MAX ? bytes : PENDING_BYTES_MAX;
    TRY(os_make_folders(folder, err));
    TRY(manifest_root(folder, &writer->arena, &writer->root, err));
    TRY(os_make_folders(writer->root, err));
    TRY(generation_create(writer->root, &writer->arena, &writer->generation, err));
    // A thread that cannot be started is no error: the first part opens the engine then.
    if (thread_start(engine_start_run, writer, &writer->starter, NULL) != OK)
        writer->starter = NULL;
    owned = NULL;
    *out = writer;
    return OK;
}

RowSink *store_writer_sink(StoreWriter *writer) {
    return &writer->sink;
}

static int batch_compare(const void *a, const void *b) {
    uint64_t x = ((const Batch *)a)->rows, y = ((const Batch *)b)->rows;
    return x < y ? 1 : x > y ? -1 : 0;
}

typedef struct Rest {
    StoreWriter *writer;
    Batch batches[TABLE_COUNT];
} Rest;

static Status rest_write(void *context, unsigned worker, size_t item, Err *err) {
    (void)worker;
    Rest *rest = context;
    return batch_write(rest->writer, &rest->batches[item], err);
}

// Writes what is pending, large tables first, a table for each thread.
static Status writer_drain(StoreWriter *writer, Err *err) {
    Rest rest = {.writer = writer};
    size_t count = 0;
    mutex_lock(&writer->lock);
    Status status = writer->status;
    if (status != OK && err) *err = writer->err;
    for (unsigned t = 0; t < TABLE_COUNT && status == OK; t++)
        if (writer->pending[t].rows) rest.batches[count++] = pending_take(writer, (TableId)t);
    mutex_unlock(&writer->lock);
    if (status != OK) return status;
    qsort(rest.batches, count, sizeof rest.batches[0], batch_compare);
    status = parallel_for(os_cpu_count(), count, rest_write, &rest, NULL, err);
    for (size_t i = 0; i < count; i++) batch_free(&rest.batches[i]);
    return status;
}

static int part_compare(const void *a, const void *b) {
    const PartFile *x = a, *y = b;
    if (x->table != y->table) return x->table < y->table ? -1 : 1;
    return str_cmp(x->path, y->path);
}

// Another program's manifest may have appeared since the writer was opened.
static Status writer_move_aside(StoreWriter *writer, Err *err) {
    Str root;
    TRY(manifest_root(writer->root, &writer->arena, &root, err));
    if (str_eq(root, writer->root)) return OK;
    TRY(os_make_folders(root, err));
    TRY(os_rename(path_join(&writer->arena, writer->root, writer->generation),
                  path_join(&writer->arena, root, writer->generation), err));
    writer->root = root;
    return OK;
}

Status store_commit(StoreWriter *writer, Str mode, const json_t *info, Err *err) {
    spare_free(writer);
    TRY(writer_drain(writer, err));
    TRY(writer_move_aside(writer, err));
    vec_sort(&writer->parts, part_compare);
    ManifestFacts facts = {.identity = &writer->identity,
                           .mode = mode,
                           .info = info,
                           .created_wall_ns = writer->created_wall_ns,
                           .generation = writer->generation,
                           .parts = writer->parts.items,
                           .part_count = writer->parts.count};
    TRY(manifest_write(writer->root, &facts, err));
    writer->committed = true;
    generation_release(writer->root, writer->generation);
    generation_sweep(writer->root);
    return OK;
}

void store_writer_close(StoreWriter *writer) {
    if (!writer) return;
    if (writer->starter) (void)engine_ready(writer, NULL);
    for (size_t i = 0; i < writer->idle_count; i++) duckdb_disconnect(&writer->idle[i]);
    duckdb_close(&writer->database);
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        Batch batch = pending_take(writer, (TableId)t);
        batch_free(&batch);
    }
    if (!writer->committed && writer->generation.n)
        (void)os_remove_tree(path_join(&writer->arena, writer->root, writer->generation), NULL);
    vec_free(&writer->parts);
    spare_free(writer);
    mutex_done(&writer->lock);
    mutex_done(&writer->start_lock);
    arena_done(&writer->arena);
    mem_free(writer);
}
