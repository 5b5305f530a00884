// query_trace and describe_tables: SQL from users, and what they may ask about.
#include "tools/handlers.h"

#include "base/limits.h"
#include "tools/view_list.h"

enum { QUERY_ROWS_MAX = 5000 };

static bool is_whole(Str type) {
    return str_ends(type, STR("INT")) || str_ends(type, STR("INTEGER"));
}

// Users get raw values: no unit is changed, no separator added.
static const char *format_of(Str type) {
    if (is_whole(type)) return "id";
    return str_eq(type, STR("BOOLEAN")) ? "bool" : "text(400)";
}

static void put_result(ToolCall *call, const ResultSet *result, size_t max_rows) {
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    table->columns = ARENA_ARRAY(call->arena, DocColumn, result->column_count + 1);
    for (size_t i = 0; i < result->column_count; i++) {
        DocColumn *column = &table->columns[i];
        column->title = format_clean(result->columns[i], call->arena);
        bool known = format_parse(str_from_c(format_of(result->types[i])), &column->format);
        INVARIANT(known);
    }
    table->column_count = result->column_count;
    table->cells = result->cells;
    table->row_count = table->total_rows = result->row_count;
    table->cap = STR("max_rows");
    table->empty = STR("The query gave no rows.");
    if (!result->more) return;
    doc_note(call->doc,
             str_format(call->arena,
                        "The query has more than %zu rows: raise max_rows, aggregate, or "
                        "page with LIMIT and OFFSET.",
                        max_rows));
}

Status handle_query_trace(ToolCall *call, Err *err) {
    Str sql = values_text(call->values, "sql");
    const Value *rows = values_get(call->values, "max_rows");
    const Value *seconds = values_get(call->values, "timeout_seconds");
    size_t max_rows = (size_t)rows->i64;
    Progress none = {0};
    Progress *progress = call->context && call->context->progress ? call->context->progress : &none;
    ResultSet result = {0};
    TRY(database_user_query(call->database, sql, max_rows, (unsigned)seconds->i64, progress,
                            call->arena, &result, err));
    call->doc->headline = STR("**Query**");
    call->doc->title = call->tool->title;
    doc_scope(call->doc, STR("Trace"), call->trace->file_name);
    if (rows->given) call->doc->budget_bytes = LIMIT_REPLY_BYTES;
    put_result(call, &result, max_rows);
    if (call->trace->facts->loss_note.n) doc_note(call->doc, call->trace->facts->loss_note);
    return OK;
}

// ---------------------------------------------------------------- describe_tables

static void list_views(ToolCall *call) {
    ViewInfo *views = NULL;
    size_t count = view_list(call->arena, &views);
    DocSection *table = doc_table(call->doc, STR("views"), STR("Views"));
    doc_column(call->doc, table, "View", "text");
    doc_column(call->doc, table, "About", "text(200)");
    for (size_t i = 0; i < count; i++) {
        Cell *cells = doc_row(call->doc, table);
        cells[0] = cell_text(views[i].name);
        cells[1] = cell_text(views[i].about);
    }
}

static void list_tables(ToolCall *call) {
    Doc *doc = call->doc;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Table", "text");
    doc_column(doc, table, "Rows", "count");
    doc_column(doc, table, "One row is", "text");
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        const TableDef *def = table_def((TableId)i);
        Cell *cells = doc_row(doc, table);
        cells[0] = cell_text(str_from_c(def->name));
        cells[1] = cell_i64((int64_t)database_row_count(call->database, (TableId)i));
        cells[2] = cell_text(str_from_c(def->about));
    }
    list_views(call);
    doc_note(doc,
             STR("ts_ns and *_ns are nanoseconds since the trace began; upid and utid name one "
                 "life of a process and thread (pid, tid, names: tables process and thread)."));
    doc_next(doc,
             str_format(call->arena, "describe_tables(trace_id=\"" STR_FMT "\", table=\"sample\")",
                        STR_ARG(call->trace->trace_id)));
}

static void list_columns(ToolCall *call, TableId id) {
    Doc *doc = call->doc;
    const TableDef *def = table_def(id);
    doc_scope(doc, STR("Table"), str_from_c(def->name));
    doc_scope(doc, STR("Rows"),
              format_integer((int64_t)database_row_count(call->database, id), call->arena));
    doc_scope(doc, STR("One row is"), str_from_c(def->about));
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Column", "text");
    doc_column(doc, table, "Type", "text");
    doc_column(doc, table, "Meaning", "text");
    for (unsigned i = 0; i < def->column_count; i++) {
        Cell *cells = doc_row(doc, table);
        cells[0] = cell_text(str_from_c(def->columns[i].name));
        cells[1] = cell_text(str_from_c(column_sql_type(def->columns[i].type)));
        cells[2] = cell_text(str_from_c(def->columns[i].about));
    }
}

// Views are not declared in C: the database says their columns.
static Status describe_view(ToolCall *call, Str name, Err *err) {
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_')
            return err_set(err, ERR_ARG, "unknown table");
    }
    ResultSet result = {0};
    Str sql = str_format(call->arena, "DESCRIBE SELECT * FROM " STR_FMT, STR_ARG(name));
    Progress none = {0};
    TRY(database_user_query(call->database, sql, QUERY_ROWS_MAX, LIMIT_SQL_SECONDS_DEFAULT, &none,
                            call->arena, &result, err));
    doc_scope(call->doc, STR("View"), name);
    ViewInfo *views = NULL;
    size_t count = view_list(call->arena, &views);
    for (size_t i = 0; i < count; i++)
        if (str_eq(views[i].name, name)) doc_scope(call->doc, STR("About"), views[i].about);
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    doc_column(call->doc, table, "Column", "text");
    doc_column(call->doc, table, "Type", "text");
    for (size_t i = 0; i < result.row_count; i++) {
        Cell *cells = doc_row(call->doc, table);
        cells[0] = result.cells[i * result.column_count];
        cells[1] = result.cells[i * result.column_count + 1];
    }
    return OK;
}

static Status unknown_table(ToolCall *call, Str name, Err *err) {
    Str *names = ARENA_ARRAY(call->arena, Str, TABLE_COUNT);
    for (unsigned i = 0; i < TABLE_COUNT; i++) names[i] = str_from_c(table_def((TableId)i)->name);
    Str near = nearest_name(name, names, TABLE_COUNT);
    Str hint =
        near.n ? str_format(call->arena, " Did you mean " STR_FMT "?", STR_ARG(near)) : (Str){0};
    return err_set(
        err, ERR_ARG,
        "there is no table \"" STR_FMT "\"." STR_FMT " describe_tables without table lists all",
        STR_ARG(format_shorten(format_clean(name, call->arena), 60, call->arena)), STR_ARG(hint));
}

Status handle_describe_tables(ToolCall *call, Err *err) {
    Str name = values_text(call->values, "table");
    TableId id = T_TRACE;
    call->doc->headline = STR("**Tables**");
    call->doc->title = call->tool->title;
    call->doc->budget_bytes = LIMIT_REPLY_BYTES;
    if (!name.n) {
        list_tables(call);
    } else if (table_id_from_name(name, &id)) {
        list_columns(call, id);
    } else if (describe_view(call, str_lower(call->arena, name), NULL) != OK) {
        return unknown_table(call, name, err);
    }
    return OK;
}
