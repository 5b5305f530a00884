// Tables: what decoding produces. A TableDef is declared once, beside the code that fills it; DDL,
// docs/schema.md, describe_tables and the Parquet writer all read it. Rows travel in Chunks: typed
// column arrays of up to ROW_GROUP_ROWS rows, about one stretch of time each. `decode` never sees
// the database: it hands full chunks to a RowSink.
#ifndef DECODE_TABLE_H
#define DECODE_TABLE_H

#include "base/limits.h"
#include "base/rd.h"

typedef enum ColumnType {
    COL_BOOL, // uint8_t
    COL_U8,
    COL_U16,
    COL_I32,
    COL_U32,
    COL_I64,
    COL_U64,
    COL_F64,
    COL_TEXT, // Str, UTF-8
    COL_BLOB, // Str
    COL_GUID, // Guid, as on disk; UUID in SQL
} ColumnType;

typedef struct ColumnDef {
    const char *name;
    ColumnType type;
    const char *about; // one line, with the unit
} ColumnDef;

// Columns that many tables share, with one meaning everywhere.
// clang-format off
#define EVENT_COLUMNS \
    {"ts_ns", COL_I64, "Nanoseconds since the trace began"}, \
    {"seq",   COL_U64, "Breaks ties of ts_ns: order of the event in its CPU's stream"}, \
    {"cpu",   COL_U16, "Processor index of the buffer the event came from"}
#define WHO_COLUMNS \
    {"upid", COL_U32, "Process (process.upid)"}, \
    {"utid", COL_U32, "Thread (thread.utid)"}
#define STACK_COLUMN {"stack_id", COL_U32, "Stack recorded with the event (stack.stack_id)"}
// clang-format on

typedef struct TableDef {
    const char *name;
    const char *about; // one line: what one row is
    const ColumnDef *columns;
    unsigned column_count;
} TableDef;

const char *column_sql_type(ColumnType type); // "BIGINT" ...
size_t column_width(ColumnType type);         // bytes of one value in a chunk

// Every table of a trace database, in the order of the documentation (tables.h maps each to its
// definition). A table without rows exists all the same.
typedef enum TableId {
    T_TRACE,
    T_TRACE_SOURCE,
    T_DECODE_ISSUE,
    T_PROVIDER,
    T_EVENT_CLASS,
    T_PROCESS,
    T_THREAD,
    T_IMAGE,
    T_FRAME,
    T_STACK,
    T_SAMPLE,
    T_SAMPLE_INTERVAL,
    T_PMC_SAMPLE,
    T_PMC_COUNTER,
    T_CONTEXT_SWITCH,
    T_READY_THREAD,
    T_INTERRUPT,
    T_LOCK_EVENT,
    T_DISK_IO,
    T_DISK_IO_INIT,
    T_FILE_IO,
    T_FILE_NAME,
    T_HARD_FAULT,
    T_PAGE_FAULT,
    T_VIRTUAL_ALLOC,
    T_POOL_EVENT,
    T_REGISTRY_EVENT,
    T_TCP_EVENT,
    T_UDP_EVENT,
    T_PROCESS_COUNTER,
    T_MARK,
    T_CPU,
    T_NIC,
    T_DISK,
    T_VOLUME,
    T_SERVICE,
    T_DEVICE,
    T_CONFIG,
    T_METHOD,
    T_EVENT_DATA,
    T_CAPTURED_FRAME,
    TABLE_COUNT
} TableId;

const TableDef *table_def(TableId id);
bool table_id_from_name(Str name, TableId *out);

typedef struct Column {
    void *values;    // column_width(type) * capacity bytes
    uint64_t *nulls; // bit set: NULL; the pointer is NULL while no value is
} Column;

typedef struct Chunk {
    TableId table;
    uint32_t rows;
    uint32_t capacity;
    Column *columns;
    Arena text; // bytes of COL_TEXT and COL_BLOB values
    bool text_is_reserved;
} Chunk;

Chunk *chunk_new(TableId table, uint32_t capacity);
void chunk_free(Chunk *chunk);  // accepts NULL
void chunk_reset(Chunk *chunk); // empty again, its memory kept
static inline bool chunk_is_null(const Chunk *chunk, unsigned column, uint32_t row) {
    const uint64_t *nulls = chunk->columns[column].nulls;
    return nulls && (nulls[row / 64] >> (row % 64) & 1);
}

// Receives full chunks, from any thread, and owns them (also when it fails).
typedef struct RowSink {
    Status (*push)(struct RowSink *sink, Chunk *chunk, Err *err);
    // An empty chunk that was pushed before, so that its memory need not be asked for again; NULL
    // when there is none. May itself be NULL.
    Chunk *(*spare)(struct RowSink *sink, TableId table);
} RowSink;

// A worker's open chunks, one per table. Push the rest with rows_flush(); the first failure of the
// sink is kept and returned there.
typedef struct Rows {
    RowSink *sink;
    Chunk *open[TABLE_COUNT];
    uint64_t count[TABLE_COUNT]; // rows written so far
    Status status;
    Err err;
} Rows;

void rows_init(Rows *rows, RowSink *sink);
Status rows_flush(Rows *rows, Err *err);
void rows_done(Rows *rows); // drops what was not flushed

// One row under construction: put a value for each column in the order of the definition, then
// row_end(). Types and count are checked (they are ours, so by INVARIANT).
typedef struct Row {
    Rows *rows;
    Chunk *chunk;
    const ColumnDef *def;
    Column *column;
    uint32_t index;
    unsigned left;
} Row;

Row row_begin(Rows *rows, TableId table);
void row_end(Row *row);

static inline Column *row_slot(Row *row, ColumnType type) {
    INVARIANT(row->left > 0 && row->def->type == type);
    row->left--;
    row->def++;
    return row->column++;
}
#define ROW_PUT(name, column_type, Type)                                                           \
    static inline void name(Row *row, Type v) {                                                    \
        Column *column = row_slot(row, column_type);                                               \
        ((Type *)column->values)[row->index] = v;                                                  \
    }
ROW_PUT(put_u8, COL_U8, uint8_t)
ROW_PUT(put_u16, COL_U16, uint16_t)
ROW_PUT(put_i32, COL_I32, int32_t)
ROW_PUT(put_u32, COL_U32, uint32_t)
ROW_PUT(put_i64, COL_I64, int64_t)
ROW_PUT(put_u64, COL_U64, uint64_t)
ROW_PUT(put_f64, COL_F64, double)
ROW_PUT(put_guid, COL_GUID, Guid)
#undef ROW_PUT
static inline void put_bool(Row *row, bool v) {
    Column *column = row_slot(row, COL_BOOL);
    ((uint8_t *)column->values)[row->index] = v;
}
void put_text(Row *row, Str text); // copied; p == NULL is NULL
void put_blob(Row *row, Str bytes);
void put_null(Row *row); // any type
// NULL when !present.
void put_u8_if(Row *row, bool present, uint8_t v);
void put_u32_if(Row *row, bool present, uint32_t v);
void put_i32_if(Row *row, bool present, int32_t v);
void put_i64_if(Row *row, bool present, int64_t v);
void put_u64_if(Row *row, bool present, uint64_t v);
void put_guid_if(Row *row, bool present, Guid v);
// Ids of the world (upid, utid, stack_id, image_id ...): 0 means unknown and is NULL.
void put_id(Row *row, uint32_t id);

#endif
