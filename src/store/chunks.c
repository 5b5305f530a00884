// The table function behind the Parquet writer. One chunk is one thread's work: with
// preserve_insertion_order off it becomes one row group, which therefore is one stretch of time.
// Fixed-width columns are copied vector by vector; text is referenced where it lies.
#include "store/chunks.h"

#include "base/arena.h"

// State of one scan, shared by its threads.
typedef struct Scan {
    const Batch *batch;
    _Atomic size_t next;
} Scan;

// State of one thread of a scan.
typedef struct Cursor {
    const Chunk *chunk; // NULL: take the next one
    uint32_t at;
    Arena repaired; // text that was not UTF-8
} Cursor;

static void scan_free(void *scan) {
    mem_free(scan);
}

static void cursor_free(void *p) {
    Cursor *cursor = p;
    if (cursor) arena_done(&cursor->repaired);
    mem_free(cursor);
}

static duckdb_type duckdb_type_of(ColumnType type) {
    switch (type) {
    case COL_BOOL: return DUCKDB_TYPE_BOOLEAN;
    case COL_U8: return DUCKDB_TYPE_UTINYINT;
    case COL_U16: return DUCKDB_TYPE_USMALLINT;
    case COL_I32: return DUCKDB_TYPE_INTEGER;
    case COL_U32: return DUCKDB_TYPE_UINTEGER;
    case COL_I64: return DUCKDB_TYPE_BIGINT;
    case COL_U64: return DUCKDB_TYPE_UBIGINT;
    case COL_F64: return DUCKDB_TYPE_DOUBLE;
    case COL_TEXT: return DUCKDB_TYPE_VARCHAR;
    case COL_BLOB: return DUCKDB_TYPE_BLOB;
    case COL_GUID: return DUCKDB_TYPE_UUID;
    }
    return DUCKDB_TYPE_VARCHAR;
}

static void chunks_bind(duckdb_bind_info info) {
    duckdb_value value = duckdb_bind_get_parameter(info, 0);
    uintptr_t address = (uintptr_t)duckdb_get_uint64(value);
    duckdb_destroy_value(&value);
    const Batch *batch = (const Batch *)address; // NOLINT(performance-no-int-to-ptr)
    const TableDef *def = table_def(batch->table);
    for (unsigned i = 0; i < def->column_count; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(duckdb_type_of(def->columns[i].type));
        duckdb_bind_add_result_column(info, def->columns[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_cardinality(info, batch->rows, true);
    Scan *scan = mem_zero(1, sizeof *scan);
    scan->batch = batch;
    duckdb_bind_set_bind_data(info, scan, scan_free);
}

static void chunks_init(duckdb_init_info info) {
    const Scan *scan = duckdb_init_get_bind_data(info);
    duckdb_init_set_max_threads(info, scan->batch->count);
}

static void chunks_init_local(duckdb_init_info info) {
    duckdb_init_set_init_data(info, mem_zero(1, sizeof(Cursor)), cursor_free);
}

static void fill_nulls(duckdb_vector vector, const uint64_t *nulls, uint32_t from, uint32_t rows) {
    if (!nulls) return;
    duckdb_vector_ensure_validity_writable(vector);
    uint64_t *valid = duckdb_vector_get_validity(vector);
    INVARIANT(from % 64 == 0);
    for (uint32_t word = 0; word < (rows + 63) / 64; word++) valid[word] = ~nulls[from / 64 + word];
}

// The engine holds a UUID as a signed 128-bit number whose order is that of its text.
static duckdb_hugeint uuid_from_guid(const Guid *guid) {
    Rd r = rd_from(guid->bytes, sizeof guid->bytes);
    uint64_t upper = (uint64_t)rd_u32(&r) << 32;
    upper |= (uint64_t)rd_u16(&r) << 16;
    upper |= rd_u16(&r);
    uint64_t lower = __builtin_bswap64(rd_u64(&r));
    return (duckdb_hugeint){.lower = lower, .upper = (int64_t)(upper ^ (UINT64_C(1) << 63))};
}

static void fill_guids(duckdb_hugeint *out, const Guid *values, uint32_t rows) {
    for (uint32_t i = 0; i < rows; i++) out[i] = uuid_from_guid(&values[i]);
}

static duckdb_string_t string_of(Str s) {
    duckdb_string_t out = {0};
    INVARIANT(s.n <= UINT32_MAX);
    if (s.n <= sizeof out.value.inlined.inlined) {
        out.value.inlined.length = (uint32_t)s.n;
        if (s.n) memcpy(out.value.inlined.inlined, s.p, s.n);
        return out;
    }
    out.value.pointer.length = (uint32_t)s.n;
    memcpy(out.value.pointer.prefix, s.p, sizeof out.value.pointer.prefix);
    // The engine's type lacks const; nothing writes through it.
    memcpy(&out.value.pointer.ptr, &s.p, sizeof s.p);
    return out;
}

static void fill_strings(duckdb_string_t *out, const Chunk *chunk, unsigned column, Cursor *cursor,
                         uint32_t rows) {
    const Str *values = (const Str *)chunk->columns[column].values + cursor->at;
    bool text = table_def(chunk->table)->columns[column].type == COL_TEXT;
    for (uint32_t i = 0; i < rows; i++) {
        Str s = values[i];
        // A reader refuses the whole file for one bad byte, so nothing but UTF-8 may get in.
        if (text && !str_is_utf8(s))
            s = str_from_8bit(&cursor->repaired, (const uint8_t *)s.p, s.n);
        out[i] = string_of(s);
    }
}

static void fill_column(duckdb_vector vector, Cursor *cursor, unsigned column, uint32_t rows) {
    const Chunk *chunk = cursor->chunk;
    ColumnType type = table_def(chunk->table)->columns[column].type;
    const char *values = chunk->columns[column].values;
    void *out = duckdb_vector_get_data(vector);
    fill_nulls(vector, chunk->columns[column].nulls, cursor->at, rows);
    if (type == COL_TEXT || type == COL_BLOB) {
        fill_strings(out, chunk, column, cursor, rows);
    } else if (type == COL_GUID) {
        fill_guids(out, (const Guid *)chunk->columns[column].values + cursor->at, rows);
    } else {
        size_t width = column_width(type);
        memcpy(out, values + width * cursor->at, width * rows);
    }
}

static void chunks_next(duckdb_function_info info, duckdb_data_chunk output) {
    Scan *scan = duckdb_function_get_bind_data(info);
    Cursor *cursor = duckdb_function_get_local_init_data(info);
    if (!cursor->chunk || cursor->at >= cursor->chunk->rows) {
        size_t index = atomic_fetch_add(&scan->next, 1);
        if (index >= scan->batch->count) {
            duckdb_data_chunk_set_size(output, 0);
            return;
        }
        cursor->chunk = scan->batch->chunks[index];
        cursor->at = 0;
    }
    uint32_t left = cursor->chunk->rows - cursor->at;
    uint32_t size = (uint32_t)duckdb_vector_size();
    uint32_t rows = left < size ? left : size;
    unsigned columns = table_def(cursor->chunk->table)->column_count;
    for (unsigned i = 0; i < columns; i++)
        fill_column(duckdb_data_chunk_get_vector(output, i), cursor, i, rows);
    cursor->at += rows;
    duckdb_data_chunk_set_size(output, rows);
}

Status chunks_register(duckdb_connection connection, Err *err) {
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_logical_type address = duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT);
    duckdb_table_function_set_name(function, "etw_chunks");
    duckdb_table_function_add_parameter(function, address);
    duckdb_table_function_set_bind(function, chunks_bind);
    duckdb_table_function_set_init(function, chunks_init);
    duckdb_table_function_set_local_init(function, chunks_init_local);
    duckdb_table_function_set_function(function, chunks_next);
    duckdb_state state = duckdb_register_table_function(connection, function);
    duckdb_destroy_logical_type(&address);
    duckdb_destroy_table_function(&function);
    return state == DuckDBSuccess ? OK : err_set(err, ERR_INTERNAL, "cannot register etw_chunks");
}
