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

// When one of its threads fails, the engine interrupts the others, and may report that in place of
// what failed (its pull request 25902). Nobody asked for an interrupt then: the statement is run
// again, and fails at the same place.
enum { RUNS_MAX = 8 };

static bool is_masked(Status status, const RunLimits *limits) {
    return status == ERR_CANCELLED && !(limits->stopped && atomic_load(limits->stopped));
}

static Status masked_said(Status status, const RunLimits *limits, Err *err) {
    if (!is_masked(status, limits)) return status;
    return err_set(err, ERR_INTERNAL, "the query failed, and the SQL engine does not say why");
}

// A streamed result is marked as deprecated, yet the only way to stop after some rows without
// holding all of them. Who wants all anyway takes them whole: a stream waits for its reader.
static Status run_statement(duckdb_connection connection, duckdb_prepared_statement statement,
                            const RunLimits *limits, bool streamed, duckdb_result *result,
                            Err *err) {
    duckdb_pending_result pending = NULL;
    Status status = OK;
    duckdb_state state = streamed ? duckdb_pending_prepared_streaming(statement, &pending)
                                  : duckdb_pending_prepared(statement, &pending);
    if (state != DuckDBSuccess) {
        status = duck_error(err, pending ? duckdb_pending_error(pending) : NULL);
    } else {
        // From here on an interrupt is not lost any more.
        if (limits->stopped && atomic_load(limits->stopped)) duckdb_interrupt(connection);
        if (duck_finish(pending, result) != DuckDBSuccess)
            status = duck_error(err, duckdb_result_error(result));
    }
    duckdb_destroy_pending(&pending);
    return status;
}

static Status collect_once(duckdb_connection connection, duckdb_prepared_statement statement,
                           const RunLimits *limits, Arena *arena, ResultSet *out, Err *err) {
    duckdb_result result = {0};
    Collector collector = {.set = out, .arena = arena};
    *out = (ResultSet){0};
    Status status = run_statement(connection, statement, limits, true, &result, err);
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

Status result_collect(duckdb_connection connection, duckdb_prepared_statement statement,
                      const RunLimits *limits, Arena *arena, ResultSet *out, Err *err) {
    Status status = OK;
    unsigned runs = 0;
    do {
        status = collect_once(connection, statement, limits, arena, out, err);
    } while (is_masked(status, limits) && ++runs < RUNS_MAX);
    return masked_said(status, limits, err);
}

// ---------------------------------------------------------------- chunk by chunk

// Blobs stay where the chunk has them.
static void blobs_collect(Collector *collector, duckdb_data_chunk chunk) {
    ResultSet *set = collector->set;
    for (size_t c = 0; c < set->column_count; c++) {
        if (duckdb_get_type_id(collector->types[c]) != DUCKDB_TYPE_BLOB) continue;
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, c);
        duckdb_string_t *values = duckdb_vector_get_data(vector);
        for (size_t r = 0; r < set->row_count; r++) {
            Cell *cell = &collector->cells.items[r * set->column_count + c];
            if (cell->type != CELL_NULL)
                cell->text =
                    (Str){duckdb_string_t_data(&values[r]), duckdb_string_t_length(values[r])};
        }
    }
}

static Status chunks_visit(duckdb_result *result, Collector *collector, const RowsVisitor *visitor,
                           Err *err) {
    ResultSet *set = collector->set;
    for (;;) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (!chunk) break;
        set->row_count = 0;
        collector->cells.count = 0;
        chunk_collect(collector, chunk, 0);
        blobs_collect(collector, chunk);
        set->cells = collector->cells.items;
        Status status = visitor->visit(visitor->context, set, err);
        duckdb_destroy_data_chunk(&chunk);
        arena_clear(collector->arena);
        if (status != OK) return status;
    }
    const char *message = duckdb_result_error(result);
    return message && *message ? duck_error(err, message) : OK;
}

Status result_each(duckdb_connection connection, duckdb_prepared_statement statement,
                   const RunLimits *limits, const RowsVisitor *visitor, Err *err) {
    AUTO(arena_done) Arena arena = {0};
    duckdb_result result = {0};
    ResultSet set = {0};
    Collector collector = {.set = &set, .arena = &arena};
    Status status = run_statement(connection, statement, limits, true, &result, err);
    if (status == OK) {
        AUTO(arena_done) Arena page = {0};
        columns_describe(&result, &collector);
        collector.arena = &page;
        status = chunks_visit(&result, &collector, visitor, err);
        collector.arena = &arena;
        types_destroy(&collector);
    }
    duckdb_destroy_result(&result);
    vec_free(&collector.cells);
    if (limits->stopped && atomic_load(limits->stopped))
        return err_set(err, ERR_CANCELLED, "the query was cancelled");
    return masked_said(status, limits, err); // rows were handed on: not run again
}

// ---------------------------------------------------------------- whole numbers

static int64_t integer_at(const void *values, duckdb_type type, idx_t row, bool *known) {
    switch ((int)type) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_UTINYINT: return ((const uint8_t *)values)[row];
    case DUCKDB_TYPE_TINYINT: return ((const int8_t *)values)[row];
    case DUCKDB_TYPE_USMALLINT: return ((const uint16_t *)values)[row];
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)values)[row];
    case DUCKDB_TYPE_UINTEGER: return ((const uint32_t *)values)[row];
    case DUCKDB_TYPE_INTEGER: return ((const int32_t *)values)[row];
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_BIGINT: return ((const int64_t *)values)[row];
    case DUCKDB_TYPE_HUGEINT: { // sums: the caller knows that they fit
        duckdb_hugeint huge = ((const duckdb_hugeint *)values)[row];
        return (int64_t)huge.lower;
    }
    default: *known = false; return 0;
    }
}

// A chunk's rows behind those before. The columns have room for the whole result.
static bool integers_take(Integers *set, int64_t null_value, duckdb_data_chunk chunk) {
    idx_t rows = duckdb_data_chunk_get_size(chunk);
    bool known = true;
    for (size_t c = 0; c < set->column_count; c++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, c);
        duckdb_logical_type logical = duckdb_vector_get_column_type(vector);
        duckdb_type type = duckdb_get_type_id(logical);
        duckdb_destroy_logical_type(&logical);
        uint64_t *validity = duckdb_vector_get_validity(vector);
        const void *values = duckdb_vector_get_data(vector);
        int64_t *to = set->columns[c] + set->row_count;
        for (idx_t r = 0; r < rows; r++) {
            bool valid = !validity || duckdb_validity_row_is_valid(validity, r);
            to[r] = valid ? integer_at(values, type, r, &known) : null_value;
        }
    }
    set->row_count += rows;
    return known;
}

static Status integers_collect(duckdb_result *result, int64_t null_value, Arena *arena,
                               Integers *out, Err *err) {
    idx_t room = duckdb_row_count(result); // known, as the result is whole
    out->column_count = duckdb_column_count(result);
    out->columns = ARENA_ARRAY(arena, int64_t *, out->column_count);
    for (size_t c = 0; c < out->column_count; c++)
        out->columns[c] = arena_room(arena, arena_array_bytes(room, sizeof(int64_t)));
    for (;;) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (!chunk) {
            const char *message = duckdb_result_error(result);
            return message && *message ? duck_error(err, message) : OK;
        }
        INVARIANT(out->row_count + duckdb_data_chunk_get_size(chunk) <= room);
        bool known = integers_take(out, null_value, chunk);
        duckdb_destroy_data_chunk(&chunk);
        if (!known) return err_set(err, ERR_INTERNAL, "a column does not hold whole numbers");
    }
}

// NOLINTNEXTLINE(readability-function-size): as result_collect, and the value
static Status integers_once(duckdb_connection connection, duckdb_prepared_statement statement,
                            const RunLimits *limits, int64_t null_value, Arena *arena,
                            Integers *out, Err *err) {
    duckdb_result result = {0};
    *out = (Integers){0};
    Status status = run_statement(connection, statement, limits, false, &result, err);
    if (status == OK) status = integers_collect(&result, null_value, arena, out, err);
    duckdb_destroy_result(&result);
    if (limits->stopped && atomic_load(limits->stopped))
        return err_set(err, ERR_CANCELLED, "the query was cancelled");
    return status;
}

// NOLINTNEXTLINE(readability-function-size): as above
Status result_integers(duckdb_connection connection, duckdb_prepared_statement statement,
                       const RunLimits *limits, int64_t null_value, Arena *arena, Integers *out,
                       Err *err) {
    Status status = OK;
    unsigned runs = 0;
    do {
        status = integers_once(connection, statement, limits, null_value, arena, out, err);
    } while (is_masked(status, limits) && ++runs < RUNS_MAX);
    return masked_said(status, limits, err);
}
