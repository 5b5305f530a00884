// export_analysis: the analyze report as a file. export_table: a table or a query as a file.
#include "tools/handle_export.h"

#include "base/limits.h"

#include <stdlib.h>

// ---------------------------------------------------------------- export_analysis

static Status run_analyze(ToolCall *call, Doc *doc, Err *err) {
    const Tool *analyze = catalog_find(&call->engine->catalog, STR("analyze"));
    if (!analyze)
        return err_set(err, ERR_NOT_FOUND,
                       "the tool analyze is not exposed (--toolsets): there is no report to write");
    static const char *const NAMES[] = {"trace_id", "start_time", "end_time", "filter_query"};
    json_t *arguments = json_object();
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        const Value *value = values_get(call->values, NAMES[i]);
        if (!value->present) continue;
        json_t *json =
            i == 1 || i == 2 ? json_real(value->f64) : format_json_text(value->text, call->arena);
        (void)json_object_set_new(arguments, NAMES[i], json);
    }
    Values values = {0};
    Status status = values_read(analyze, arguments, call->arena, &values, err);
    json_decref(arguments);
    if (status != OK) return status;
    return run_tool(analyze, &values, call->trace, doc, err);
}

// How many of the code addresses have function names.
static Status symbol_state(ToolCall *call, Str *out, Err *err) {
    static const char SQL[] =
        "SELECT count(*) FILTER (symbol_source <> 'unknown'), count(*) FROM frame_name";
    ResultSet result = {0};
    TRY(session_query(call->trace->session, str_from_c(SQL), NULL, 0, 1, call->arena, &result,
                      err));
    int64_t named = result.row_count ? result.cells[0].i64 : 0;
    int64_t all = result.row_count ? result.cells[1].i64 : 0;
    *out = str_format(call->arena, STR_FMT " of " STR_FMT " code addresses have function names",
                      STR_ARG(format_integer(named, call->arena)),
                      STR_ARG(format_integer(all, call->arena)));
    return OK;
}

typedef struct Head {
    Str generator, written, trace, identity, symbols;
} Head;

static Status head_fill(ToolCall *call, Head *head, Err *err) {
    Arena *arena = call->arena;
    const TraceIdentity *identity = &call->entry->identity;
    head->generator = str_format(arena, "etw-mcp %s", engine_version());
    head->written = os_wall_text(arena, os_wall_ns());
    head->trace = format_clean(identity->path, arena);
    head->identity = str_format(arena, "%s, %llu bytes, modified %s", identity->trace_id,
                                (unsigned long long)identity->size_bytes,
                                os_wall_text(arena, identity->mtime_ns).p);
    return symbol_state(call, &head->symbols, err);
}

// "--" would end or break the comment.
static void comment_line(Buf *out, const char *name, Str value) {
    buf_addf(out, "<!-- %s: ", name);
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        bool dash = c == '-' && i > 0 && value.p[i - 1] == '-';
        buf_add_c(out, dash ? " -" : "");
        if (!dash) buf_add_char(out, c);
    }
    buf_add_c(out, " -->\n");
}

static void put_markdown(const Head *head, Doc *doc, Buf *out) {
    comment_line(out, "Generator", head->generator);
    comment_line(out, "Written", head->written);
    comment_line(out, "Trace", head->trace);
    comment_line(out, "Identity", head->identity);
    comment_line(out, "Symbols", head->symbols);
    buf_add_char(out, '\n');
    buf_add(out, doc_markdown_whole(doc));
}

static void put_json(const Head *head, Doc *doc, Buf *out) {
    json_t *json = doc_json(doc, false);
    json_t *meta =
        json_pack("{s:s,s:s}", "generator", head->generator.p, "written", head->written.p);
    (void)json_object_set_new(meta, "trace", format_json_text(head->trace, doc->arena));
    (void)json_object_set_new(meta, "identity", format_json_text(head->identity, doc->arena));
    (void)json_object_set_new(meta, "symbols", format_json_text(head->symbols, doc->arena));
    (void)json_object_set_new(json, "export", meta);
    buf_add(out, json_dump_text(json, true, doc->arena));
    buf_add_char(out, '\n');
    json_decref(json);
}

static Status write_report(const ExportTarget *target, const Head *head, Doc *report, Err *err) {
    AUTO(buf_done) Buf out = {0};
    if (str_eq(target->extension, STR(".json"))) {
        put_json(head, report, &out);
    } else if (str_eq(target->extension, STR(".csv"))) {
        buf_add(&out, doc_csv(report));
    } else {
        put_markdown(head, report, &out);
    }
    return file_write_atomic(target->temp, buf_str(&out), err);
}

static Status export_report(ToolCall *call, const ExportTarget *target, Err *err) {
    AUTO(doc_done) Doc report = {.arena = call->arena};
    Head head = {0};
    uint64_t bytes = 0;
    TRY(run_analyze(call, &report, err));
    TRY(head_fill(call, &head, err));
    TRY(write_report(target, &head, &report, err));
    TRY(export_finish(target, &bytes, err));
    Doc *doc = call->doc;
    doc->headline = STR("**Report written**");
    doc_scope(doc, STR("Trace"), call->trace->file_name);
    export_scope(doc, target, bytes);
    doc_scope(doc, STR("Symbols"), head.symbols);
    for (size_t i = 0; i < report.notes.count; i++) doc_note(doc, report.notes.items[i]);
    if (str_eq(target->extension, STR(".csv")))
        doc_note(doc, STR("CSV holds the tables only, one after the other with a blank line "
                          "between."));
    return OK;
}

Status handle_export_analysis(ToolCall *call, Err *err) {
    ExportTarget target = {0};
    TRY(export_target(call, "output_path", ".md .markdown .txt .csv .json", &target, err));
    Status status = export_report(call, &target, err);
    if (status != OK) export_abandon(&target);
    return status;
}

// ---------------------------------------------------------------- export_table

enum { ORDERED_ROWS_MAX = 5000000 };

static bool is_name(Str text) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false;
    }
    return text.n > 0;
}

static bool has_column(const TableDef *def, const char *name) {
    for (unsigned i = 0; i < def->column_count; i++)
        if (str_eq(str_from_c(def->columns[i].name), str_from_c(name))) return true;
    return false;
}

// Rows of a table come in time order, so that the same export gives the same bytes; sorting very
// many needs more memory than a query has.
static Str table_sql(ToolCall *call, Str name) {
    TableId id = T_TRACE;
    Arena *arena = call->arena;
    Str sql = str_format(arena, "SELECT * FROM \"" STR_FMT "\"", STR_ARG(name));
    if (!table_id_from_name(name, &id)) return sql;
    const TableDef *def = table_def(id);
    if (database_row_count(call->database, id) > ORDERED_ROWS_MAX) {
        doc_note(call->doc,
                 STR("The table has too many rows to be sorted: they come in no order."));
        return sql;
    }
    if (has_column(def, "ts_ns") && has_column(def, "seq") && has_column(def, "cpu"))
        return str_format(arena, STR_FMT " ORDER BY ts_ns, cpu, seq", STR_ARG(sql));
    return str_format(arena, STR_FMT " ORDER BY ALL", STR_ARG(sql));
}

static CopyFormat copy_format(Str extension) {
    if (str_eq(extension, STR(".csv"))) return COPY_CSV;
    return str_eq(extension, STR(".json")) ? COPY_JSON : COPY_PARQUET;
}

static Status copy_out(ToolCall *call, const ExportTarget *target, Str sql, uint64_t *rows,
                       Err *err) {
    Progress none = {0};
    Progress *progress = call->context && call->context->progress ? call->context->progress : &none;
    UserCopy copy = {.sql = sql,
                     .path = target->temp,
                     .format = copy_format(target->extension),
                     .seconds_max = (unsigned)values_get(call->values, "timeout_seconds")->i64};
    return database_user_copy(call->database, &copy, progress, rows, err);
}

Status handle_export_table(ToolCall *call, Err *err) {
    ExportTarget target = {0};
    Str what = str_trim(values_text(call->values, "table_or_sql"));
    uint64_t rows = 0, bytes = 0;
    TRY(export_target(call, "path", ".csv .json .parquet", &target, err));
    bool named = is_name(what);
    Str sql = named ? table_sql(call, str_lower(call->arena, what)) : what;
    Status status = copy_out(call, &target, sql, &rows, err);
    if (status == OK) status = export_finish(&target, &bytes, err);
    if (status != OK) {
        export_abandon(&target);
        return status;
    }
    Doc *doc = call->doc;
    doc->headline = STR("**Table written**");
    doc_scope(doc, STR("Trace"), call->trace->file_name);
    doc_scope(doc, named ? STR("Table") : STR("Query"), what);
    doc_scope(doc, STR("Rows"), format_integer((int64_t)rows, call->arena));
    export_scope(doc, &target, bytes);
    if (call->trace->facts->loss_note.n) doc_note(doc, call->trace->facts->loss_note);
    return OK;
}
