// Synthetic rows for tests of the store: every value follows from table, column and row, so a test
// can say what it must read back. Also a temporary folder with a file that plays the trace.
#ifndef SUPPORT_STORE_FILL_H
#define SUPPORT_STORE_FILL_H

// cmocka wants these before its own header.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "store/store.h"

static inline uint64_t fill_number(TableId table, unsigned column, uint64_t row) {
    return u64_hash(row * 131 + column * 7 + (uint64_t)table * 1000003);
}

// One value in nine is NULL, but never in the first column.
static inline bool fill_is_null(TableId table, unsigned column, uint64_t row) {
    return column > 0 && fill_number(table, column, row) % 9 == 0;
}

// Empty, short, inlined by the engine (12 bytes), longer, long; with bytes above ASCII.
static inline Str fill_text(TableId table, unsigned column, uint64_t row, Arena *arena) {
    uint64_t n = fill_number(table, column, row);
    switch (n % 5) {
    case 0: return STR("");
    case 1: return str_format(arena, "%llu", (unsigned long long)(n % 1000));
    case 2: return str_format(arena, "%012llu", (unsigned long long)(n % 1000000));
    case 3: return str_format(arena, "Gerät %llu", (unsigned long long)n);
    default: break;
    }
    Str text = str_format(arena, "%0300llu", (unsigned long long)n);
    return text;
}

static inline Guid fill_guid(uint64_t n) {
    Guid guid;
    for (unsigned i = 0; i < 16; i++) guid.bytes[i] = (uint8_t)(n >> (i % 8 * 8) ^ i * 17);
    return guid;
}

static inline void fill_value(Row *row, TableId table, unsigned column, uint64_t index,
                              Arena *arena) {
    const ColumnDef *def = &table_def(table)->columns[column];
    uint64_t n = fill_number(table, column, index);
    if (fill_is_null(table, column, index)) {
        put_null(row);
        return;
    }
    switch (def->type) {
    case COL_BOOL: put_bool(row, n & 1); break;
    case COL_U8: put_u8(row, (uint8_t)n); break;
    case COL_U16: put_u16(row, (uint16_t)n); break;
    case COL_I32: put_i32(row, (int32_t)n); break;
    case COL_U32: put_u32(row, (uint32_t)n); break;
    case COL_I64: put_i64(row, column == 0 ? (int64_t)index : (int64_t)n); break;
    case COL_U64: put_u64(row, n); break;
    case COL_F64: put_f64(row, (double)(int32_t)n / 4); break;
    case COL_TEXT: put_text(row, fill_text(table, column, index, arena)); break;
    case COL_BLOB: put_blob(row, fill_text(table, column, index, arena)); break;
    case COL_GUID: put_guid(row, fill_guid(n)); break;
    }
}

static inline void fill_rows(Rows *rows, TableId table, uint64_t from, uint64_t count) {
    AUTO(arena_done) Arena arena = {0};
    for (uint64_t i = from; i < from + count; i++) {
        Row row = row_begin(rows, table);
        for (unsigned c = 0; c < table_def(table)->column_count; c++)
            fill_value(&row, table, c, i, &arena);
        row_end(&row);
        if (arena.used_bytes > 1024 * 1024) arena_clear(&arena);
    }
}

typedef struct StoreCase {
    Arena arena;
    Str base;   // temporary folder of this test
    Str trace;  // the file that plays the trace
    Str folder; // of the database
    TraceIdentity identity;
} StoreCase;

static inline Str case_path(StoreCase *c, const char *name) {
    return path_join(&c->arena, c->base, str_from_c(name));
}

static inline void case_identity(StoreCase *c) {
    assert_int_equal(trace_identity(c->trace, &c->arena, &c->identity, NULL), OK);
}

static inline void case_open_in(StoreCase *c, const char *parent, const char *name) {
    *c = (StoreCase){0};
    char pattern[256];
    (void)snprintf(pattern, sizeof pattern, "%s/etw-store-XXXXXX", parent);
    assert_non_null(mkdtemp(pattern));
    c->base = str_copy(&c->arena, str_from_c(pattern));
    if (*name) {
        c->base = case_path(c, name);
        assert_int_equal(os_make_folders(c->base, NULL), OK);
    }
    c->trace = case_path(c, "demo.etl");
    assert_int_equal(file_write_atomic(c->trace, STR("not really a trace"), NULL), OK);
    case_identity(c);
    bool fallback = true;
    c->folder = store_folder(&c->identity, &c->arena, &fallback);
    assert_false(fallback);
}

static inline void case_open(StoreCase *c) {
    case_open_in(c, "/tmp", "");
}

static inline void case_close(StoreCase *c) {
    (void)os_remove_tree(c->base, NULL);
    arena_done(&c->arena);
}

// A committed database with `count` rows in each of the tables.
static inline void case_write(StoreCase *c, const TableId *tables, size_t table_count,
                              uint64_t count) {
    AUTO(store_writer_close) StoreWriter *writer = NULL;
    Err err = {0};
    if (store_writer_open(c->folder, &c->identity, &writer, &err) != OK) fail_msg("%s", err.text);
    Rows rows;
    rows_init(&rows, store_writer_sink(writer));
    for (size_t i = 0; i < table_count; i++) fill_rows(&rows, tables[i], 0, count);
    Status status = rows_flush(&rows, &err);
    rows_done(&rows);
    if (status == OK) status = store_commit(writer, STR("auto"), NULL, &err);
    if (status != OK) fail_msg("%s", err.text);
}

static inline StoreState case_state(StoreCase *c, Str *why) {
    StoreState state = STORE_NONE;
    assert_int_equal(store_check(c->folder, &c->identity, &c->arena, &state, why, NULL), OK);
    return state;
}

// Runs a statement that must work.
static inline ResultSet case_query(StoreCase *c, Database *database, const char *sql,
                                   const Arg *args, size_t arg_count) {
    AUTO(session_close) Session *session = NULL;
    ResultSet set = {0};
    Err err = {0};
    Status status = session_open(database, &session, &err);
    if (status == OK)
        status = session_query(session, str_from_c(sql), args, arg_count, 0, &c->arena, &set, &err);
    if (status != OK) {
        fail_msg("%s: %s", sql, err.text);
        abort(); // not reached; says so to the analyzer
    }
    return set;
}

static inline int64_t case_number(StoreCase *c, Database *database, const char *sql) {
    ResultSet set = case_query(c, database, sql, NULL, 0);
    assert_int_equal(set.row_count, 1);
    assert_int_equal(set.cells[0].type, CELL_I64);
    return set.cells[0].i64;
}

#endif
