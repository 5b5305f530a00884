// From a tool's header and the checked arguments to queries and a Doc.
#include "tools/run.h"

#include "base/limits.h"
#include "tools/needs.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_FETCHED_MAX = 10000, EXTRA_ARGS = 8 };

typedef struct Run {
    const Tool *tool;
    const Values *values;
    const RunTrace *trace;
    Doc *doc;
    Window window;
    Arg *args;
    size_t arg_count;
    uint64_t made; // common tables that exist as temporary tables for this call
} Run;

static double seconds_from_ns(int64_t ns) {
    return (double)ns / 1e9;
}

static int64_t ns_from_seconds(double seconds) {
    double ns = seconds * 1e9;
    if (ns >= 9.2e18) return INT64_MAX;
    return ns <= -9.2e18 ? INT64_MIN : (int64_t)llround(ns);
}

static void note_clip(Doc *doc, const char *name, double asked, double used) {
    doc_note(doc, str_format(doc->arena, "%s %.9g lies outside the trace; %.9g is used.", name,
                             asked, used));
}

Status run_window(const Values *values, const TraceFacts *facts, Doc *doc, Window *out, Err *err) {
    int64_t last_ns = facts->duration_ns + 1; // behind the last event
    *out = (Window){.start_ns = 0, .end_ns = last_ns};
    if (!values->tool->has_window) return OK;
    const Value *start = values_get(values, "start_time"), *end = values_get(values, "end_time");
    if (start->present && end->present && start->f64 >= end->f64)
        return err_set(err, ERR_ARG, "start_time (%.9g) must be before end_time (%.9g)", start->f64,
                       end->f64);
    out->given = start->present || end->present;
    if (start->present) {
        int64_t wanted = ns_from_seconds(start->f64);
        out->start_ns = wanted < 0 ? 0 : wanted > last_ns ? last_ns : wanted;
        if (out->start_ns != wanted)
            note_clip(doc, "start_time", start->f64, seconds_from_ns(out->start_ns));
    }
    if (end->present) {
        int64_t wanted = ns_from_seconds(end->f64);
        out->end_ns = wanted < 0 ? 0 : wanted > last_ns ? last_ns : wanted;
        if (wanted < 0 || wanted > last_ns + 1000)
            note_clip(doc, "end_time", end->f64, seconds_from_ns(facts->duration_ns));
    }
    return OK;
}

// Only plain words may leave a table cell: what a trace says is not ours to put into prose.
static bool fit_for_prose(Str text) {
    if (!text.n || text.n > 64) return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '.' && c != '_' && c != '-' && c != '+') return false;
    }
    return true;
}

static Str fill_value(Str name, const Values *values, const RunTrace *trace, const DocSection *row,
                      Arena *arena, bool *ok) {
    if (trace && str_eq(name, STR("trace_id"))) return trace->trace_id;
    const Param *param = tool_param(values->tool, name);
    if (param) {
        const Value *value = &values->items[param - values->tool->params];
        if (!value->present) *ok = false;
        return value->present ? format_clean(value->text, arena) : (Str){0};
    }
    for (size_t i = 0; row && row->row_count && i < row->column_count; i++) {
        if (!str_eq(row->columns[i].title, name)) continue;
        Str text = format_plain(row->columns[i].format, &row->cells[i], arena);
        if (!fit_for_prose(text)) *ok = false;
        return text;
    }
    *ok = false;
    return (Str){0};
}

Str run_fill(Str text, const Values *values, const RunTrace *trace, const DocSection *row,
             Arena *arena, bool *ok) {
    Buf out = {0};
    *ok = true;
    while (text.n) {
        size_t open = str_find(text, STR("{"));
        size_t close = open == SIZE_MAX ? SIZE_MAX : str_find(text, STR("}"));
        if (open == SIZE_MAX || close == SIZE_MAX || close < open) break;
        buf_add(&out, str_slice(text, 0, open));
        Str name = str_slice(text, open + 1, close);
        buf_add(&out, fill_value(name, values, trace, row, arena, ok));
        text = str_slice(text, close + 1, text.n);
    }
    buf_add(&out, text);
    Str filled = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return filled;
}

// Arguments that narrow the answer, as the reader would write them.
static Str filters_text(const Tool *tool, const Values *values, Arena *arena) {
    Buf out = {0};
    for (size_t i = 0; i < tool->param_count; i++) {
        const Param *param = &tool->params[i];
        const Value *value = &values->items[i];
        bool filter =
            param->type == PARAM_FILTER || param->type == PARAM_CPUSET || param->type == PARAM_LIST;
        if (!filter || !value->given) continue;
        buf_addf(&out, "%s" STR_FMT "=\"" STR_FMT "\"", out.n ? ", " : "", STR_ARG(param->name),
                 STR_ARG(value->text));
    }
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static bool narrowed(const Run *run) {
    return run->window.given || filters_text(run->tool, run->values, run->doc->arena).n > 0;
}

void run_scope(const Tool *tool, const Values *values, const RunTrace *trace, const Window *window,
               Doc *doc) {
    bool ok = true;
    doc->headline = run_fill(tool->headline, values, trace, NULL, doc->arena, &ok);
    doc->title = tool->title;
    if (trace) doc_scope(doc, STR("Trace"), trace->file_name);
    if (window && window->given)
        doc_scope(doc, STR("Window"),
                  str_format(doc->arena, "%.6f to %.6f s", seconds_from_ns(window->start_ns),
                             seconds_from_ns(window->end_ns)));
    Str filters = filters_text(tool, values, doc->arena);
    if (filters.n) doc_scope(doc, STR("Filters"), filters);
}

static void put_arg(Run *run, const char *name, Arg arg) {
    arg.name = name;
    run->args[run->arg_count++] = arg;
}

static void bind_args(Run *run) {
    Arena *arena = run->doc->arena;
    run->args = ARENA_ARRAY(arena, Arg, run->tool->param_count + EXTRA_ARGS);
    run->arg_count = values_bind(run->values, arena, run->args);
    put_arg(run, "start_ns", (Arg){.type = ARG_I64, .i64 = run->window.start_ns});
    put_arg(run, "end_ns", (Arg){.type = ARG_I64, .i64 = run->window.end_ns});
    put_arg(run, "windowed", (Arg){.type = ARG_BOOL, .boolean = run->window.given});
}

// The condition at the end of a line of SQL, if there is one.
static bool line_stays(const Run *run, Str line) {
    static const char *const MARKS[] = {"-- when ", "-- unless "};
    for (size_t i = 0; i < COUNT_OF(MARKS); i++) {
        size_t at = str_find(line, str_from_c(MARKS[i]));
        if (at == SIZE_MAX) continue;
        Str rest = str_slice(line, at + 3, line.n);
        Whens whens = {0};
        if (!whens_take(&rest, &whens)) return true;
        for (size_t k = 0; k < whens.count; k++)
            if (!tool_param(run->tool, whens.items[k].param)) return true;
        return whens_hold(&whens, run->values);
    }
    return true;
}

// Lines whose condition does not hold are left out.
static Str conditional_sql(const Run *run, Str sql) {
    if (str_find(sql, STR("-- when ")) == SIZE_MAX && str_find(sql, STR("-- unless ")) == SIZE_MAX)
        return sql;
    Buf out = {0};
    Str rest = sql, line = {0};
    while (str_next(&rest, '\n', &line))
        if (line_stays(run, line)) buf_addf(&out, STR_FMT "\n", STR_ARG(line));
    Str text = str_copy(run->doc->arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static size_t section_cap(const Run *run, const Section *section) {
    if (!section->cap.n || section->style == STYLE_PIVOT) return ROWS_FETCHED_MAX;
    const Param *param = tool_param(run->tool, section->cap);
    const Value *value = &run->values->items[param - run->tool->params];
    if (!value->present || value->i64 > ROWS_FETCHED_MAX) return ROWS_FETCHED_MAX;
    return (size_t)value->i64;
}

static Status count_rows(const Run *run, Str sql, size_t *out, Err *err) {
    Arena *arena = run->doc->arena;
    ResultSet result = {0};
    Str counting =
        str_format(arena, "SELECT count(*)::BIGINT FROM (\n" STR_FMT "\n)", STR_ARG(sql));
    TRY(session_query(run->trace->session, counting, run->args, run->arg_count, 1, arena, &result,
                      err));
    *out = result.row_count ? (size_t)result.cells[0].i64 : 0;
    return OK;
}

static Status blame_tool(const Run *run, Str part, Err *err) {
    if (!err || err->status == ERR_CANCELLED) return ERR_CANCELLED;
    Str text = str_copy(run->doc->arena, str_from_c(err->text));
    return err_set(err, err->status, STR_FMT " (section " STR_FMT "): " STR_FMT,
                   STR_ARG(run->tool->name), STR_ARG(part), STR_ARG(text));
}

// Columns of the query that a section's columns read: one, or two for a value that may be rough.
static size_t query_columns(const Section *section) {
    size_t count = 0;
    for (size_t i = 0; i < section->column_count; i++)
        count += section->columns[i].format.rough ? 2 : 1;
    return count;
}

// A query that limits its own rows says how many there are in a last column of this name.
static bool has_total(const Section *section, const ResultSet *result) {
    size_t wanted = query_columns(section);
    return result->column_count == wanted + 1 && str_eq(result->columns[wanted], STR("total_rows"));
}

static void mark_rough(DocSection *out, size_t column, const ResultSet *result, size_t flag,
                       Doc *doc) {
    if (!out->rough) out->rough = ARENA_ARRAY(doc->arena, bool, out->row_count * out->column_count);
    for (size_t row = 0; row < out->row_count; row++) {
        const Cell *cell = &result->cells[row * result->column_count + flag];
        const Cell *value = &result->cells[row * result->column_count + flag - 1];
        bool rough = cell->type == CELL_BOOL && cell->boolean && value->type != CELL_NULL;
        out->rough[row * out->column_count + column] = rough;
        if (rough)
            doc_note(doc, STR("~ marks a percentile of few values (p99 of fewer than 100, "
                              "p99.9 of fewer than 1,000)."));
    }
}

// Keeps the columns whose condition holds.
static void shape_columns(const Run *run, const Section *section, const ResultSet *result,
                          DocSection *out) {
    Arena *arena = run->doc->arena;
    size_t *kept = ARENA_ARRAY(arena, size_t, section->column_count + 1);
    out->columns = ARENA_ARRAY(arena, DocColumn, section->column_count + 1);
    size_t from = 0;
    for (size_t i = 0; i < section->column_count; i++) {
        const OutColumn *column = &section->columns[i];
        size_t at = from;
        from += column->format.rough ? 2 : 1;
        if (!whens_hold(&column->when, run->values)) continue;
        bool ok = true;
        Str title = run_fill(column->title, run->values, run->trace, NULL, arena, &ok);
        out->columns[out->column_count] = (DocColumn){title, column->format};
        kept[out->column_count++] = at;
    }
    out->cells = ARENA_ARRAY(arena, Cell, out->row_count * out->column_count + 1);
    for (size_t row = 0; row < out->row_count; row++)
        for (size_t i = 0; i < out->column_count; i++)
            out->cells[row * out->column_count + i] =
                result->cells[row * result->column_count + kept[i]];
    for (size_t i = 0; i < out->column_count; i++)
        if (out->columns[i].format.rough) mark_rough(out, i, result, kept[i] + 1, run->doc);
}

// The distinct labels of column `column`, in order of appearance.
static size_t distinct(const DocSection *section, size_t column, Arena *arena, Str *out) {
    size_t count = 0;
    for (size_t row = 0; row < section->row_count; row++) {
        const Cell *cell = &section->cells[row * section->column_count + column];
        Str label = format_cell(section->columns[column].format, cell, arena);
        size_t i = 0;
        while (i < count && !str_eq(out[i], label)) i++;
        if (i == count) out[count++] = label;
    }
    return count;
}

static size_t index_of(const Str *labels, size_t count, Str label) {
    size_t i = 0;
    while (i < count && !str_eq(labels[i], label)) i++;
    return i;
}

// Long form (row label, column label, value) to a table with one column per column label.
static void pivot(DocSection *section, Arena *arena) {
    enum { LABEL, COLUMN, VALUE, WIDTH };
    INVARIANT(section->column_count == WIDTH);
    Str *rows = ARENA_ARRAY(arena, Str, section->row_count + 1);
    Str *titles = ARENA_ARRAY(arena, Str, section->row_count + 1);
    size_t row_count = distinct(section, LABEL, arena, rows);
    size_t title_count = distinct(section, COLUMN, arena, titles);
    DocColumn *columns = ARENA_ARRAY(arena, DocColumn, title_count + 1);
    columns[0] = section->columns[LABEL];
    for (size_t i = 0; i < title_count; i++)
        columns[i + 1] = (DocColumn){titles[i], section->columns[VALUE].format};
    Cell *cells = ARENA_ARRAY(arena, Cell, row_count * (title_count + 1) + 1);
    for (size_t i = 0; i < row_count; i++) cells[i * (title_count + 1)] = cell_text(rows[i]);
    for (size_t i = 0; i < section->row_count; i++) {
        const Cell *from = &section->cells[i * WIDTH];
        Str row = format_cell(section->columns[LABEL].format, &from[LABEL], arena);
        Str title = format_cell(section->columns[COLUMN].format, &from[COLUMN], arena);
        cells[index_of(rows, row_count, row) * (title_count + 1) +
              index_of(titles, title_count, title) + 1] = from[VALUE];
    }
    section->columns = columns;
    section->column_count = title_count + 1;
    section->cells = cells;
    section->row_count = section->total_rows = row_count;
}

static void put_texts(const Run *run, const Section *section, const ResultSet *result) {
    Doc *doc = run->doc;
    for (size_t row = 0; row < result->row_count; row++) {
        const Cell *cells = &result->cells[row * result->column_count];
        Str first = format_cell(section->columns[0].format, &cells[0], doc->arena);
        if (section->style == STYLE_NOTES) {
            doc_note(doc, first);
        } else if (section->style == STYLE_NEXT) {
            bool ok = true;
            Str call = run_fill(first, run->values, run->trace, NULL, doc->arena, &ok);
            if (ok) doc_next(doc, call);
        } else if (section->column_count > 1) {
            doc_scope(doc, first, format_cell(section->columns[1].format, &cells[1], doc->arena));
        } else {
            doc_scope(doc, (Str){0}, first);
        }
    }
}

// Values that come before any table describe the whole reply.
static bool goes_to_scope(const Run *run, const Section *section) {
    return section->style == STYLE_VALUES && !run->doc->sections.count && !section->heading.n;
}

static Status run_section(Run *run, const Section *section, Err *err) {
    Doc *doc = run->doc;
    Str sql = conditional_sql(
        run, tool_full_sql(run->tool, section->uses, run->made, section->sql, doc->arena));
    size_t cap = section_cap(run, section);
    ResultSet result = {0};
    if (session_query(run->trace->session, sql, run->args, run->arg_count, cap, doc->arena, &result,
                      err) != OK)
        return blame_tool(run, section->name, err);
    bool counted = has_total(section, &result);
    if (result.column_count != query_columns(section) + counted)
        return err_set(err, ERR_INTERNAL,
                       STR_FMT ": section " STR_FMT " has another number of columns than out",
                       STR_ARG(run->tool->name), STR_ARG(section->name));
    if (section->style == STYLE_NOTES || section->style == STYLE_NEXT ||
        goes_to_scope(run, section)) {
        put_texts(run, section, &result);
        return OK;
    }
    if (!result.row_count && section->optional) return OK;
    DocSection *out = doc_table(doc, section->name, section->heading);
    out->style = section->style;
    out->row_count = out->total_rows = result.row_count;
    if (counted && result.row_count)
        out->total_rows = (size_t)result.cells[result.column_count - 1].i64;
    else if (result.more)
        TRY(count_rows(run, sql, &out->total_rows, err));
    out->cap = out->total_rows > out->row_count ? section->cap : (Str){0};
    shape_columns(run, section, &result, out);
    if (section->style == STYLE_PIVOT) pivot(out, doc->arena);
    if (!out->row_count) out->empty = section->empty.n ? section->empty : STR("Nothing to show.");
    return OK;
}

// Sections of this call that refer to common table `index`, directly or through others.
static size_t count_users(const Run *run, size_t index) {
    size_t users = 0;
    for (size_t i = 0; i < run->tool->section_count; i++) {
        const Section *section = &run->tool->sections[i];
        if (!whens_hold(&section->when, run->values)) continue;
        uint64_t uses = section->uses;
        for (size_t k = run->tool->table_count; k-- > 0;)
            if (uses >> k & 1) uses |= run->tool->tables[k].uses;
        users += uses >> index & 1;
    }
    return users;
}

static Status run_plain(const Run *run, Str sql, Err *err) {
    ResultSet nothing = {0};
    return session_query(run->trace->session, sql, run->args, run->arg_count, 1, run->doc->arena,
                         &nothing, err);
}

// Common tables that several sections want are computed once. Temporary tables belong to the
// session; drop_shared() takes them away again.
static Status make_shared(Run *run, Err *err) {
    Arena *arena = run->doc->arena;
    for (size_t i = 0; i < run->tool->table_count; i++) {
        const CommonTable *table = &run->tool->tables[i];
        if (!table->shared || count_users(run, i) < 2) continue;
        Str body = tool_full_sql(run->tool, table->uses, run->made, str_trim(table->body), arena);
        Str sql = str_format(arena, "CREATE OR REPLACE TEMP TABLE " STR_FMT " AS " STR_FMT,
                             STR_ARG(table->name), STR_ARG(conditional_sql(run, body)));
        if (run_plain(run, sql, err) != OK) return blame_tool(run, table->name, err);
        run->made |= UINT64_C(1) << i;
    }
    return OK;
}

static void drop_shared(const Run *run) {
    for (size_t i = 0; i < run->tool->table_count; i++) {
        if (!(run->made >> i & 1)) continue;
        Str sql = str_format(run->doc->arena, "DROP TABLE temp." STR_FMT,
                             STR_ARG(run->tool->tables[i].name));
        (void)run_plain(run, sql, NULL);
    }
}

static Status run_sections(Run *run, Err *err) {
    TRY(make_shared(run, err));
    for (size_t i = 0; i < run->tool->section_count; i++)
        if (whens_hold(&run->tool->sections[i].when, run->values))
            TRY(run_section(run, &run->tool->sections[i], err));
    return OK;
}

static DocSection *find_section(Doc *doc, Str name) {
    for (size_t i = 0; i < doc->sections.count; i++)
        if (str_eq(doc->sections.items[i].name, name)) return &doc->sections.items[i];
    return NULL;
}

// The main table is empty although its data exist: filtered away, or there was nothing to say.
static Status explain_empty(Run *run, Err *err) {
    DocSection *main = find_section(run->doc, STR("main"));
    if (!main || main->row_count || !narrowed(run)) return OK;
    return needs_explain_filtered(run->tool, run->trace, run->doc->arena, &main->empty, err);
}

static void put_notes(Run *run) {
    Doc *doc = run->doc;
    DocSection *main = find_section(doc, STR("main"));
    for (size_t i = 0; i < run->tool->notes_count; i++) {
        const ToolLine *line = &run->tool->notes[i];
        if (!whens_hold(&line->when, run->values)) continue;
        bool ok = true;
        Str note = run_fill(line->text, run->values, run->trace, main, doc->arena, &ok);
        if (ok) doc_note(doc, note);
    }
    if (run->trace->facts->loss_note.n) doc_note(doc, run->trace->facts->loss_note);
    for (size_t i = 0; i < run->tool->next_count; i++) {
        const ToolLine *line = &run->tool->next[i];
        if (!whens_hold(&line->when, run->values)) continue;
        bool ok = true;
        Str call = run_fill(line->text, run->values, run->trace, main, doc->arena, &ok);
        if (ok) doc_next(doc, call);
    }
}

// A reader who asks for many rows gets the hard limit of bytes, not the default.
static void settle_budget(Run *run) {
    for (size_t i = 0; i < run->tool->param_count; i++)
        if (run->tool->params[i].is_cap && run->values->items[i].given)
            run->doc->budget_bytes = LIMIT_REPLY_BYTES;
}

Status run_tool(const Tool *tool, const Values *values, const RunTrace *trace, Doc *doc, Err *err) {
    Run run = {.tool = tool, .values = values, .trace = trace, .doc = doc};
    TRY(run_window(values, trace->facts, doc, &run.window, err));
    run_scope(tool, values, trace, &run.window, doc);
    settle_budget(&run);
    bool enough = true;
    TRY(needs_check(tool, trace, doc, &enough, err));
    if (!enough) return OK;
    bind_args(&run);
    Status status = run_sections(&run, err);
    drop_shared(&run);
    TRY(status);
    TRY(explain_empty(&run, err));
    put_notes(&run);
    return OK;
}
