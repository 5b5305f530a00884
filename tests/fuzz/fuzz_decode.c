// A whole trace file through decoding: survey, world, rows. Whatever the bytes, rows come out in
// the tables' own terms (ids within their tables) and nothing else happens.
#include "fuzz.h"

#include "decode/decode.h"

#include <stdio.h>

static const char *file_path(void) {
    static char path[256];
    if (path[0]) return path;
    Str folder = os_env("TMPDIR");
    if (folder.n == 0 || folder.n > 200) folder = STR("/tmp");
    snprintf(path, sizeof path, STR_FMT "/fuzz_decode_%d", STR_ARG(folder), os_process_id());
    return path;
}

typedef struct Counts { // sink that checks ids
    RowSink sink;
    Mutex lock;
    uint64_t rows[TABLE_COUNT];
    uint64_t highest_stack;
} Counts;

static unsigned column_of(TableId table, const char *name) {
    const TableDef *def = table_def(table);
    for (unsigned i = 0; i < def->column_count; i++)
        if (strcmp(def->columns[i].name, name) == 0) return i;
    return UINT32_MAX;
}

static Status check_chunk(RowSink *sink, Chunk *chunk, Err *err) {
    (void)err;
    Counts *counts = (Counts *)(void *)sink;
    unsigned stack = column_of(chunk->table, "stack_id");
    mutex_lock(&counts->lock);
    counts->rows[chunk->table] += chunk->rows;
    for (uint32_t r = 0; stack != UINT32_MAX && r < chunk->rows; r++) {
        if (chunk_is_null(chunk, stack, r)) continue;
        uint32_t id = ((const uint32_t *)chunk->columns[stack].values)[r];
        if (id > counts->highest_stack) counts->highest_stack = id;
    }
    mutex_unlock(&counts->lock);
    chunk_free(chunk);
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FILE *stream = fopen(file_path(), "wb");
    INVARIANT(stream);
    INVARIANT(fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
    Err err = {0};
    AUTO(etl_close) EtlFile *file = NULL;
    if (etl_open(str_from_c(file_path()), &file, &err) != OK) return 0;
    Counts counts = {.sink = {check_chunk}};
    mutex_init(&counts.lock);
    DecodeSummary summary;
    DecodeOptions options = {.workers = 2};
    INVARIANT(decode_trace(file, STR("x.etl"), &options, &counts.sink, NULL, &summary, &err) == OK);
    for (unsigned t = 0; t < TABLE_COUNT; t++) INVARIANT(counts.rows[t] == summary.rows[t]);
    INVARIANT(counts.highest_stack <= summary.rows[T_STACK]);
    INVARIANT(summary.rows[T_TRACE] == 1);
    mutex_done(&counts.lock);
    return 0;
}
