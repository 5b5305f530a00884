// Runs a statement and collects its rows. The result is streamed, so that a row limit also limits
// work and memory.
#include "store/result.h"

#include "store/cell.h"

// Cells while the number of rows is unknown.
typedef struct Collector {
    ResultSet *set;
    Arena *arena;
    VEC(Cell) cells;
    duckdb_logical_type *types;
} Collector;

static void columns_describe(duckdb_result *result, Collector *collector) {
    ResultSet *set = collector->set;
    set->column_count = duckdb_column_count(result);
    set->columns = ARENA_ARRAY(collector->arena, Str, set->column_count);
    set->types = ARENA_ARRAY(collector->arena, Str, set->column_count);
    collector->types = ARENA_ARRAY(collector->arena, duckdb_logical_type, set->column_count);
    for (size_t i = 0; i < set->column_count; i++) {
        collector->types[i] = duckdb_column_logical_type(result, i);
        set->columns[i] = str_copy(collector->arena, str_from_c(duckdb_column_name(result, i)));
        set->types[i] = type_name(collector->types[i], collector->arena);
    }
}

static void types_destroy(Collector *collector) {
    for (size_t i = 0; collector->types && i < collector->set->column_count; i++)
        duckdb_destroy_logical_type(&collector->types[i]);
}

// Takes the rows of one chunk, up to max_rows in all.
static void chunk_collect(Collector *collector, duckdb_data_chunk chunk, size_t max_rows) {
    ResultSet *set = collector->set;
    size_t columns = set->column_count, rows = duckdb_data_chunk_get_size(chunk);
    if (max_rows && rows > max_rows - set->row_count) {
        rows = max_rows - set->row_count;
        set->more = true;
    }
    size_t first = collector->cells.count;
    vec_reserve(&collector->cells, first + rows * columns);
    collector->cells.count = first + rows * columns;
    for (size_t c = 0; c < columns; c++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, c);
        for (size_t r = 0; r < rows; r++)
            collector->cells.items[first + r * columns + c] =
                cell_from_vector(vector, collector->types[c], r, collector->arena);
    }
    set->row_count += rows;
}

static Status rows_collect(duckdb_result *result, Collector *collector, const RunLimits *limits,
                           Err *err) {
    size_t used = collector->arena->used_bytes;
    while (!collector->set->more) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (!chunk) {
            const char *message = duckdb_result_error(result);
            return message && *message ? duck_error(err, message) : OK;
        }
        chunk_collect(collector, chunk, limits->max_rows);
        duckdb_destroy_data_chunk(&chunk);
        uint64_t bytes =
            collector->arena->used_bytes - used + collector->cells.count * sizeof(Cell);
        if (limits->bytes_max && bytes > limits->bytes_max) collector->set->more = true;
    }
    return OK;
}

static Status run_streaming(duckdb_connection connection, duckdb_prepared_statement statement,
                            const RunLimits *limits, duckdb_result *result, Err *err) {
    duckdb_pending_result pending = NULL;
    Status status = OK;
    // Marked as deprecated, yet the only way to stop after some rows without holding all of them.
    if (duckdb_pending_prepared_streaming(statement, &pending) != DuckDBSuccess) {
        status = duck_error(err, pending ? duckdb_pending_error(pending) : NULL);
    } else {
        // From here on an interrupt is not lost any more.
        if (limits->stopped && atomic_load(limits->stopped)) duckdb_interrupt(connection);
        if (duckdb_execute_pending(pending, result) != DuckDBSuccess)
            status = duck_error(err, duckdb_result_error(result));
    }
    duckdb_destroy_pending(&pending);
    return status;
}

Status result_collect(duckdb_connection connection, duckdb_prepared_statement statement,
                      const RunLimits *limits, Arena *arena, ResultSet *out, Err *err) {
    duckdb_result result = {0};
    Collector collector = {.set = out, .arena = arena};
    *out = (ResultSet){0};
    Status status = run_streaming(connection, statement, limits, &result, err);
    if (status == OK) {
        columns_describe(&result, &collector);
        status = rows_collect(&result, &collector, limits, err);
        types_destroy(&collector);
    }
    duckdb_destroy_result(&result);
    if (status == OK && collector.cells.count) {
        out->cells = ARENA_ARRAY(arena, Cell, collector.cells.count);
        memcpy(out->cells, collector.cells.items, collector.cells.count * sizeof(Cell));
    }
    vec_free(&collector.cells);
    if (limits->stopped && atomic_load(limits->stopped))
        return err_set(err, ERR_CANCELLED, "the query was cancelled");
    return status;
}
