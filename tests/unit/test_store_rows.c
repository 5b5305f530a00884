// What is written is read back: every table, every type, NULLs, texts of every length, several
// parts.
#include "support/store_fill.h"

#include <stdio.h>
#include <string.h>

static void check_text(const Cell *cell, Str text) {
    assert_int_equal(cell->type, CELL_TEXT);
    assert_int_equal(cell->text.n, text.n);
    assert_memory_equal(cell->text.p ? cell->text.p : "", text.p, text.n);
}

static Str hex(Str bytes, Arena *arena) {
    Str out = STR("");
    for (size_t i = 0; i < bytes.n; i++)
        out = str_format(arena, STR_FMT "%02x", STR_ARG(out), (unsigned char)bytes.p[i]);
    return out;
}

static void check_integer(const Cell *cell, int64_t value) {
    assert_int_equal(cell->type, CELL_I64);
    assert_int_equal(cell->i64, value);
}

static void check_cell(const Cell *cell, TableId table, unsigned column, uint64_t row,
                       Arena *arena) {
    uint64_t n = fill_number(table, column, row);
    if (fill_is_null(table, column, row)) {
        assert_int_equal(cell->type, CELL_NULL);
        return;
    }
    char guid[GUID_TEXT_SIZE];
    switch (table_def(table)->columns[column].type) {
    case COL_BOOL:
        assert_int_equal(cell->type, CELL_BOOL);
        assert_int_equal(cell->boolean, n & 1);
        break;
    case COL_U8: check_integer(cell, (uint8_t)n); break;
    case COL_U16: check_integer(cell, (uint16_t)n); break;
    case COL_I32: check_integer(cell, (int32_t)n); break;
    case COL_U32: check_integer(cell, (uint32_t)n); break;
    case COL_I64: check_integer(cell, column == 0 ? (int64_t)row : (int64_t)n); break;
    case COL_U64:
        assert_int_equal(cell->type, CELL_U64);
        assert_int_equal(cell->u64, n);
        break;
    case COL_F64:
        assert_int_equal(cell->type, CELL_F64);
        assert_true(cell->f64 == (double)(int32_t)n / 4);
        break;
    case COL_TEXT: check_text(cell, fill_text(table, column, row, arena)); break;
    case COL_BLOB: check_text(cell, hex(fill_text(table, column, row, arena), arena)); break;
    case COL_GUID: {
        Guid value = fill_guid(n);
        guid_to_text(&value, guid);
        check_text(cell, str_from_c(guid));
        break;
    }
    }
}

enum { SMALL_ROWS = 500 };

// Rows of one thread and one chunk keep their order.
static void table_comes_back(StoreCase *c, Database *database, TableId table) {
    const TableDef *def = table_def(table);
    Str sql = str_format(&c->arena, "SELECT * FROM %s", def->name);
    ResultSet set = case_query(c, database, sql.p, NULL, 0);
    assert_int_equal(set.row_count, SMALL_ROWS);
    assert_int_equal(set.column_count, def->column_count);
    assert_int_equal(database_row_count(database, table), SMALL_ROWS);
    for (unsigned i = 0; i < def->column_count; i++) {
        assert_true(str_eq(set.columns[i], str_from_c(def->columns[i].name)));
        assert_true(str_eq(set.types[i], str_from_c(column_sql_type(def->columns[i].type))));
    }
    for (size_t r = 0; r < set.row_count; r++)
        for (unsigned i = 0; i < def->column_count; i++)
            check_cell(&set.cells[r * set.column_count + i], table, i, r, &c->arena);
}

static void every_table_comes_back(void **state) {
    (void)state;
    StoreCase c;
    TableId all[TABLE_COUNT];
    case_open(&c);
    for (unsigned t = 0; t < TABLE_COUNT; t++) all[t] = (TableId)t;
    case_write(&c, all, TABLE_COUNT, SMALL_ROWS);
    Str why = {0};
    assert_int_equal(case_state(&c, &why), STORE_VALID);
    AUTO(database_close) Database *database = NULL;
    assert_int_equal(database_open(c.folder, NULL, &database, NULL), OK);
    for (unsigned t = 0; t < TABLE_COUNT; t++) table_comes_back(&c, database, (TableId)t);
    database_close(database);
    database = NULL;
    case_close(&c);
}

static void empty_tables_have_their_columns(void **state) {
    (void)state;
    StoreCase c;
    case_open(&c);
    case_write(&c, NULL, 0, 0);
    AUTO(database_close) Database *database = NULL;
    assert_int_equal(database_open(c.folder, NULL, &database, NULL), OK);
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        const TableDef *def = table_def((TableId)t);
        Str sql = str_format(&c.arena, "SELECT * FROM %s", def->name);
        ResultSet set = case_query(&c, database, sql.p, NULL, 0);
        assert_int_equal(set.row_count, 0);
        assert_int_equal(set.column_count, def->column_count);
        for (unsigned i = 0; i < def->column_count; i++)
            assert_true(str_eq(set.types[i], str_from_c(column_sql_type(def->columns[i].type))));
    }
    database_close(database);
    database = NULL;
    case_close(&c);
}

static size_t count_parts(StoreCase *c, Database *database) {
    const json_t *generation = json_object_get(database_manifest(database), "generation_id");
    NameList names;
    Str folder = path_join(&c->arena, c->folder, str_from_c(json_string_value(generation)));
    size_t count = 0;
    assert_int_equal(os_list_folder(folder, &c->arena, &names, NULL), OK);
    for (size_t i = 0; i < names.count; i++) count += str_starts(names.items[i], STR("sample-"));
    return count;
}

static void many_rows_in_several_parts(void **state) {
    (void)state;
    enum { ROWS = 5 * ROW_GROUP_ROWS + 12345 };
    StoreCase c;
    const TableId table = T_SAMPLE;
    case_open(&c);
    case_write(&c, &table, 1, ROWS);
    uint64_t sum = 0, nulls = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        bool null = fill_is_null(table, 7, i); // stack_id
        nulls += null;
        if (!null) sum += (uint32_t)fill_number(table, 7, i);
    }
    AUTO(database_close) Database *database = NULL;
    assert_int_equal(database_open(c.folder, NULL, &database, NULL), OK);
    assert_int_equal(count_parts(&c, database), 2);
    assert_int_equal(case_number(&c, database, "SELECT count(*) FROM sample"), ROWS);
    assert_int_equal(case_number(&c, database, "SELECT count(DISTINCT ts_ns) FROM sample"), ROWS);
    assert_int_equal(case_number(&c, database, "SELECT sum(stack_id) FROM sample"), sum);
    assert_int_equal(
        case_number(&c, database, "SELECT count(*) FROM sample WHERE stack_id IS NULL"), nulls);
    database_close(database);
    database = NULL;
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_comes_back),
        cmocka_unit_test(empty_tables_have_their_columns),
        cmocka_unit_test(many_rows_in_several_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
