// Rows of a decoded trace as text, for tests.
#ifndef TESTS_UNIT_DECODE_ROWS_H
#define TESTS_UNIT_DECODE_ROWS_H

#include "decode/decode.h"
#include "support/etl_build_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

// A sink that keeps every chunk.
typedef struct Collected {
    RowSink sink;
    pthread_mutex_t lock;
    VEC(Chunk *) chunks;
} Collected;

static inline Status collect(RowSink *sink, Chunk *chunk, Err *err) {
    (void)err;
    Collected *all = (Collected *)(void *)sink;
    pthread_mutex_lock(&all->lock);
    *vec_push(&all->chunks) = chunk;
    pthread_mutex_unlock(&all->lock);
    return OK;
}

static inline void add_cell(Buf *out, const Chunk *chunk, unsigned c, uint32_t row) {
    if (chunk_is_null(chunk, c, row)) {
        buf_add_c(out, "-");
        return;
    }
    const void *values = chunk->columns[c].values;
    switch (table_def(chunk->table)->columns[c].type) {
    case COL_BOOL:
    case COL_U8: buf_addf(out, "%u", ((const uint8_t *)values)[row]); break;
    case COL_U16: buf_addf(out, "%u", ((const uint16_t *)values)[row]); break;
    case COL_I32: buf_addf(out, "%d", ((const int32_t *)values)[row]); break;
    case COL_U32: buf_addf(out, "%u", ((const uint32_t *)values)[row]); break;
    case COL_I64: buf_addf(out, "%lld", (long long)((const int64_t *)values)[row]); break;
    case COL_U64: buf_addf(out, "%llx", (unsigned long long)((const uint64_t *)values)[row]); break;
    case COL_F64: buf_addf(out, "%g", ((const double *)values)[row]); break;
    case COL_TEXT: buf_add(out, ((const Str *)values)[row]); break;
    case COL_BLOB: buf_addf(out, "[%zu]", ((const Str *)values)[row].n); break;
    case COL_GUID: buf_add_c(out, "guid"); break;
    }
}

static inline int compare_lines(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static inline Collected decode_file(const char *path, unsigned workers, DecodeSummary *summary) {
    Collected all = {.sink = {.push = collect}, .lock = PTHREAD_MUTEX_INITIALIZER};
    Err err = {0};
    AUTO(etl_close) EtlFile *file = NULL;
    if (etl_open(str_from_c(path), &file, &err) != OK) fail_msg("%s", err.text);
    DecodeOptions options = {.workers = workers};
    Status status = decode_trace(file, STR("t.etl"), &options, &all.sink, NULL, summary, &err);
    if (status != OK) fail_msg("%s", err.text);
    return all;
}

static inline void collected_done(Collected *all) {
    for (size_t i = 0; i < all->chunks.count; i++) chunk_free(all->chunks.items[i]);
    vec_free(&all->chunks);
}

// Rows of "table: column column ..." as lines in byte order, columns separated by blanks.
static inline void rows_text(const Collected *all, const char *what, Buf *out) {
    Arena arena = {0};
    Str spec = str_from_c(what), table_name, rest;
    assert_true(str_next(&spec, ':', &table_name));
    rest = str_trim(spec);
    TableId table;
    assert_true(table_id_from_name(table_name, &table));
    const TableDef *def = table_def(table);
    VEC(Str) lines = {0};
    for (size_t i = 0; i < all->chunks.count; i++) {
        const Chunk *chunk = all->chunks.items[i];
        for (uint32_t r = 0; chunk->table == table && r < chunk->rows; r++) {
            Buf line = {0};
            Str columns = rest, name;
            while (str_next(&columns, ' ', &name)) {
                unsigned c = 0;
                while (c < def->column_count && !str_eq(str_from_c(def->columns[c].name), name))
                    c++;
                assert_true(c < def->column_count);
                if (line.n) buf_add_char(&line, ' ');
                add_cell(&line, chunk, c, r);
            }
            *vec_push(&lines) = str_copy(&arena, buf_str(&line));
            buf_done(&line);
        }
    }
    if (lines.count) qsort(lines.items, lines.count, sizeof(Str), compare_lines);
    for (size_t i = 0; i < lines.count; i++) {
        buf_add(out, lines.items[i]);
        buf_add_char(out, '\n');
    }
    vec_free(&lines);
    arena_done(&arena);
}

#endif
