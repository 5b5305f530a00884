// Symbols as tables of SQL: frame_symbols() and frame_lines(). Their rows are found when a query
// that reads them starts, which is when names are first needed.
#include "store/fn_vector.h"
#include "tools/symbols_internal.h"

typedef struct Scan { // of one query
    ModuleNames *names;
    FrameLines *lines;
    size_t module_count;
    size_t module, item;
    Arena arena;
} Scan;

static void scan_free(void *data) {
    Scan *scan = data;
    arena_done(&scan->arena);
    mem_free(scan);
}

static Scan *scan_new(const Symbols *symbols) {
    Scan *scan = mem_zero(1, sizeof *scan);
    scan->module_count = symbols->listed ? symbols->module_count : 0;
    scan->names = ARENA_ARRAY(&scan->arena, ModuleNames, scan->module_count);
    scan->lines = ARENA_ARRAY(&scan->arena, FrameLines, scan->module_count);
    for (size_t i = 0; i < scan->module_count; i++) {
        scan->names[i] = symbols->names[i];
        scan->lines[i] = symbols->lines[i];
    }
    return scan;
}

// ---------------------------------------------------------------- columns

typedef struct SqlColumn {
    const char *name;
    duckdb_type type;
} SqlColumn;

static const SqlColumn NAME_COLUMNS[] = {
    {"frame_id",      DUCKDB_TYPE_UBIGINT},
    {"function_name", DUCKDB_TYPE_VARCHAR},
    {"displacement",  DUCKDB_TYPE_UBIGINT},
    {"source",        DUCKDB_TYPE_VARCHAR},
    {"is_export",     DUCKDB_TYPE_BOOLEAN},
};
static const SqlColumn LINE_COLUMNS[] = {
    {"frame_id",      DUCKDB_TYPE_UBIGINT },
    {"depth",         DUCKDB_TYPE_UINTEGER},
    {"function_name", DUCKDB_TYPE_VARCHAR },
    {"file",          DUCKDB_TYPE_VARCHAR },
    {"line",          DUCKDB_TYPE_UINTEGER},
    {"is_inlined",    DUCKDB_TYPE_BOOLEAN },
};

static void add_columns(duckdb_bind_info info, const SqlColumn *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(columns[i].type);
        duckdb_bind_add_result_column(info, columns[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
}

static void set_text(duckdb_vector vector, idx_t row, Str text) {
    if (text.n)
        out_text(vector, row, text);
    else
        out_null(vector, row);
}

// ---------------------------------------------------------------- frame_symbols()

static void names_bind(duckdb_bind_info info) {
    add_columns(info, NAME_COLUMNS, COUNT_OF(NAME_COLUMNS));
}

static void names_init(duckdb_init_info info) {
    Symbols *symbols = duckdb_init_get_extra_info(info);
    Err err = {0};
    mutex_lock(&symbols->mutex);
    Status status = symbols_look_up(symbols, (Str){0}, NULL, &err);
    Scan *scan = status == OK ? scan_new(symbols) : NULL;
    mutex_unlock(&symbols->mutex);
    if (scan)
        duckdb_init_set_init_data(info, scan, scan_free);
    else
        duckdb_init_set_error(info, err.text);
}

static void put_name(duckdb_vector *columns, idx_t row, const FrameName *name, bool is_export) {
    ((uint64_t *)duckdb_vector_get_data(columns[0]))[row] = name->frame_id;
    set_text(columns[1], row, name->function);
    ((uint64_t *)duckdb_vector_get_data(columns[2]))[row] = name->displacement;
    set_text(columns[3], row, is_export ? STR("export") : STR("pdb"));
    ((bool *)duckdb_vector_get_data(columns[4]))[row] = is_export;
}

static void names_run(duckdb_function_info info, duckdb_data_chunk output) {
    Scan *scan = duckdb_function_get_init_data(info);
    duckdb_vector columns[COUNT_OF(NAME_COLUMNS)];
    idx_t row = 0, room = duckdb_vector_size();
    for (idx_t i = 0; i < COUNT_OF(columns); i++)
        columns[i] = duckdb_data_chunk_get_vector(output, i);
    while (row < room && scan->module < scan->module_count) {
        const ModuleNames *names = &scan->names[scan->module];
        if (!names->items || scan->item == names->count) {
            scan->module++;
            scan->item = 0;
            continue;
        }
        const FrameName *name = &names->items[scan->item++];
        if (name->function.n) put_name(columns, row++, name, names->is_export);
    }
    duckdb_data_chunk_set_size(output, row);
}

// ---------------------------------------------------------------- frame_lines()

static void lines_bind(duckdb_bind_info info) {
    add_columns(info, LINE_COLUMNS, COUNT_OF(LINE_COLUMNS));
}

static Status read_all_lines(Symbols *symbols, Err *err) {
    TRY(symbols_look_up(symbols, (Str){0}, NULL, err));
    if (!symbols->listed) return OK;
    // A file that went away since costs its own lines only.
    for (size_t i = 0; i < symbols->module_count; i++)
        if (symbols_read_lines(symbols, i, NULL) != OK) symbols->lines[i] = (FrameLines){0};
    return OK;
}

static void lines_init(duckdb_init_info info) {
    Symbols *symbols = duckdb_init_get_extra_info(info);
    Err err = {0};
    mutex_lock(&symbols->mutex);
    Status status = read_all_lines(symbols, &err);
    Scan *scan = status == OK ? scan_new(symbols) : NULL;
    mutex_unlock(&symbols->mutex);
    if (scan)
        duckdb_init_set_init_data(info, scan, scan_free);
    else
        duckdb_init_set_error(info, err.text);
}

static void put_line(duckdb_vector *columns, idx_t row, const FrameLine *line) {
    ((uint64_t *)duckdb_vector_get_data(columns[0]))[row] = line->frame_id;
    ((uint32_t *)duckdb_vector_get_data(columns[1]))[row] = line->depth;
    set_text(columns[2], row, line->function);
    set_text(columns[3], row, line->file);
    ((uint32_t *)duckdb_vector_get_data(columns[4]))[row] = line->line;
    ((bool *)duckdb_vector_get_data(columns[5]))[row] = line->inlined;
}

static void lines_run(duckdb_function_info info, duckdb_data_chunk output) {
    Scan *scan = duckdb_function_get_init_data(info);
    duckdb_vector columns[COUNT_OF(LINE_COLUMNS)];
    idx_t row = 0, room = duckdb_vector_size();
    for (idx_t i = 0; i < COUNT_OF(columns); i++)
        columns[i] = duckdb_data_chunk_get_vector(output, i);
    while (row < room && scan->module < scan->module_count) {
        const FrameLines *lines = &scan->lines[scan->module];
        if (!lines->items || scan->item == lines->count) {
            scan->module++;
            scan->item = 0;
            continue;
        }
        put_line(columns, row++, &lines->items[scan->item++]);
    }
    duckdb_data_chunk_set_size(output, row);
}

// ---------------------------------------------------------------- registration

static const struct {
    const char *name;
    duckdb_table_function_bind_t bind;
    duckdb_table_function_init_t init;
    duckdb_table_function_t run;
    const char *view; // takes the place of the empty one of sql/views
} FUNCTIONS[] = {
    {"frame_symbols", names_bind, names_init, names_run,
     "CREATE VIEW frame_symbol AS FROM frame_symbols()"},
    {"frame_lines",   lines_bind, lines_init, lines_run,
     "CREATE VIEW frame_line AS FROM frame_lines()"    },
};

Status symbols_extend(void *connection, void *context, Err *err) {
    for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++) {
        duckdb_table_function function = duckdb_create_table_function();
        duckdb_table_function_set_name(function, FUNCTIONS[i].name);
        duckdb_table_function_set_extra_info(function, context, NULL);
        duckdb_table_function_set_bind(function, FUNCTIONS[i].bind);
        duckdb_table_function_set_init(function, FUNCTIONS[i].init);
        duckdb_table_function_set_function(function, FUNCTIONS[i].run);
        duckdb_state state = duckdb_register_table_function(connection, function);
        duckdb_destroy_table_function(&function);
        if (state == DuckDBSuccess) state = duckdb_query(connection, FUNCTIONS[i].view, NULL);
        if (state != DuckDBSuccess)
            return err_set(err, ERR_INTERNAL, "the SQL engine refuses the function %s",
                           FUNCTIONS[i].name);
    }
    return OK;
}
