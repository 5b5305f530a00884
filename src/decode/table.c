// Chunks and rows. Definitions of the tables themselves stand beside the code that fills them.
#include "decode/table.h"

#include "decode/tables.h"

static const TableDef *const TABLES[TABLE_COUNT] = {
#define TABLE(id, def) [id] = &(def),
    TABLE_LIST(TABLE)
#undef TABLE
};

const TableDef *table_def(TableId id) {
    INVARIANT((unsigned)id < TABLE_COUNT && TABLES[id]);
    return TABLES[id];
}

bool table_id_from_name(Str name, TableId *out) {
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        if (!str_eq(str_from_c(TABLES[i]->name), name)) continue;
        *out = (TableId)i;
        return true;
    }
    return false;
}

const char *column_sql_type(ColumnType type) {
    switch (type) {
    case COL_BOOL: return "BOOLEAN";
    case COL_U8: return "UTINYINT";
    case COL_U16: return "USMALLINT";
    case COL_I32: return "INTEGER";
    case COL_U32: return "UINTEGER";
    case COL_I64: return "BIGINT";
    case COL_U64: return "UBIGINT";
    case COL_F64: return "DOUBLE";
    case COL_TEXT: return "VARCHAR";
    case COL_BLOB: return "BLOB";
    case COL_GUID: return "UUID";
    }
    return "VARCHAR";
}

size_t column_width(ColumnType type) {
    switch (type) {
    case COL_BOOL:
    case COL_U8: return 1;
    case COL_U16: return 2;
    case COL_I32:
    case COL_U32: return 4;
    case COL_I64:
    case COL_U64:
    case COL_F64: return 8;
    case COL_TEXT:
    case COL_BLOB: return sizeof(Str);
    case COL_GUID: return sizeof(Guid);
    }
    return 8;
}

// A chunk of long payloads is handed on early, so that memory stays bounded and near; all of them
// stand in one block, which is used again with the chunk.
enum {
    CHUNK_TEXT_SMALL = 32 * 1024,
    CHUNK_TEXT_BYTES = 2 * 1024 * 1024,
    CHUNK_TEXT_BLOCK = CHUNK_TEXT_BYTES + 128 * 1024,
};

Chunk *chunk_new(TableId table, uint32_t capacity) {
    const TableDef *def = table_def(table);
    Chunk *chunk = mem_zero(1, sizeof *chunk);
    *chunk = (Chunk){.table = table,
                     .capacity = capacity,
                     .columns = mem_zero(def->column_count, sizeof(Column))};
    for (unsigned i = 0; i < def->column_count; i++)
        chunk->columns[i].values = mem_alloc(column_width(def->columns[i].type) * capacity);
    return chunk;
}

void chunk_free(Chunk *chunk) {
    if (!chunk) return;
    const TableDef *def = table_def(chunk->table);
    for (unsigned i = 0; i < def->column_count; i++) {
        mem_free(chunk->columns[i].values);
        mem_free(chunk->columns[i].nulls);
    }
    mem_free(chunk->columns);
    arena_done(&chunk->text);
    mem_free(chunk);
}

void chunk_reset(Chunk *chunk) {
    const TableDef *def = table_def(chunk->table);
    chunk->rows = 0;
    arena_clear(&chunk->text);
    for (unsigned i = 0; i < def->column_count; i++) {
        mem_free(chunk->columns[i].nulls);
        chunk->columns[i].nulls = NULL;
    }
}

void rows_init(Rows *rows, RowSink *sink) {
    *rows = (Rows){.sink = sink};
}

// Hands one chunk to the sink; after a failure chunks are dropped and the failure is kept.
static void rows_push(Rows *rows, TableId table) {
    Chunk *chunk = rows->open[table];
    rows->open[table] = NULL;
    if (!chunk) return;
    if (rows->status != OK || chunk->rows == 0) {
        chunk_free(chunk);
        return;
    }
    rows->status = rows->sink->push(rows->sink, chunk, &rows->err);
}

Status rows_flush(Rows *rows, Err *err) {
    for (unsigned i = 0; i < TABLE_COUNT; i++) rows_push(rows, (TableId)i);
    if (rows->status != OK && err) *err = rows->err;
    return rows->status;
}

void rows_done(Rows *rows) {
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        chunk_free(rows->open[i]);
        rows->open[i] = NULL;
    }
}

Row row_begin(Rows *rows, TableId table) {
    Chunk *chunk = rows->open[table];
    if (!chunk) {
        chunk = rows->sink->spare ? rows->sink->spare(rows->sink, table) : NULL;
        if (!chunk) chunk = chunk_new(table, ROW_GROUP_ROWS);
        rows->open[table] = chunk;
    }
    const TableDef *def = table_def(table);
    return (Row){.rows = rows,
                 .chunk = chunk,
                 .def = def->columns,
                 .column = chunk->columns,
                 .index = chunk->rows,
                 .left = def->column_count};
}

void row_end(Row *row) {
    INVARIANT(row->left == 0);
    Chunk *chunk = row->chunk;
    chunk->rows++;
    row->rows->count[chunk->table]++;
    if (chunk->rows == chunk->capacity || chunk->text.used_bytes > CHUNK_TEXT_BYTES)
        rows_push(row->rows, chunk->table);
}

void put_null(Row *row) {
    ColumnType type = row->left ? row->def->type : COL_I64;
    Column *column = row_slot(row, type);
    memset((char *)column->values + column_width(type) * row->index, 0, column_width(type));
    if (!column->nulls) column->nulls = mem_zero((row->chunk->capacity + 63) / 64, 8);
    column->nulls[row->index / 64] |= (uint64_t)1 << (row->index % 64);
}

static void put_slice(Row *row, ColumnType type, Str s) {
    if (!s.p) {
        put_null(row);
        return;
    }
    Column *column = row_slot(row, type);
    Arena *text = &row->chunk->text;
    if (text->used_bytes > CHUNK_TEXT_SMALL && !row->chunk->text_is_reserved) {
        arena_reserve(text, CHUNK_TEXT_BLOCK);
        row->chunk->text_is_reserved = true;
    }
    char *copy = arena_bytes(text, s.n);
    if (s.n) memcpy(copy, s.p, s.n);
    ((Str *)column->values)[row->index] = (Str){copy, s.n};
}

void put_text(Row *row, Str text) {
    put_slice(row, COL_TEXT, text);
}

void put_blob(Row *row, Str bytes) {
    put_slice(row, COL_BLOB, bytes);
}

#define PUT_IF(name, put, Type)                                                                    \
    void name(Row *row, bool present, Type v) {                                                    \
        if (present)                                                                               \
            put(row, v);                                                                           \
        else                                                                                       \
            put_null(row);                                                                         \
    }
PUT_IF(put_u8_if, put_u8, uint8_t)
PUT_IF(put_u32_if, put_u32, uint32_t)
PUT_IF(put_i32_if, put_i32, int32_t)
PUT_IF(put_i64_if, put_i64, int64_t)
PUT_IF(put_u64_if, put_u64, uint64_t)
PUT_IF(put_guid_if, put_guid, Guid)
#undef PUT_IF

void put_id(Row *row, uint32_t id) {
    put_u32_if(row, id != 0, id);
}
