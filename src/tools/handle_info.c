// The ready summary of load_trace, which trace_info repeats.
#include "tools/handlers.h"

enum { SYMBOL_PATH_WIDTH = 80, FIRST_COLUMNS = 6, PROVIDERS_SHOWN = 40 };

static Str cell_str(const Cell *cell) {
    return cell->type == CELL_TEXT ? cell->text : (Str){0};
}

static void bullet(Doc *doc, const char *name, Str value) {
    if (value.n) doc_scope_styled(doc, PAIR_BULLET, str_from_c(name), value);
}

static Str symbol_path(const ToolCall *call, const Trace *entry) {
    Str path = entry->symbol_path.n ? entry->symbol_path : call->engine->settings.symbol_path;
    if (!path.n) path = STR("not set");
    if (entry->extra_symbol_paths.n)
        path = str_format(call->arena, STR_FMT ";" STR_FMT, STR_ARG(path),
                          STR_ARG(entry->extra_symbol_paths));
    return format_shorten(format_clean(path, call->arena), SYMBOL_PATH_WIDTH, call->arena);
}

// One row of the table trace, as bullets.
static Status head_bullets(ToolCall *call, const RunTrace *run, const Trace *entry, Err *err) {
    static const char SQL[] =
        "SELECT cpu_count::VARCHAR, "
        "CASE WHEN os_build > 0 THEN os_build::VARCHAR || coalesce(' (' || build_lab || ')', '') "
        "END,"
        "start_utc, events, "
        "CASE WHEN buffers_read = 0 THEN NULL ELSE buffers_read END, pointer_size::VARCHAR, "
        "compression, session_name FROM trace LIMIT 1";
    Arena *arena = call->arena;
    Doc *doc = call->doc;
    ResultSet result = {0};
    TRY(session_query(run->session, str_from_c(SQL), NULL, 0, 1, arena, &result, err));
    double seconds = (double)run->facts->duration_ns / 1e9;
    bullet(doc, "Duration", str_format(arena, "%.3f s", seconds));
    if (!result.row_count) return OK;
    bullet(doc, "CPUs", cell_str(&result.cells[0]));
    bullet(doc, "Symbols", symbol_path(call, entry));
    bullet(doc, "OS build", cell_str(&result.cells[1]));
    bullet(doc, "Capture start (UTC)", cell_str(&result.cells[2]));
    bullet(doc, "Events", format_integer((int64_t)run->facts->events, arena));
    bullet(doc, "Lost",
           str_format(arena, STR_FMT " events, " STR_FMT " buffers",
                      STR_ARG(format_integer((int64_t)run->facts->events_lost, arena)),
                      STR_ARG(format_integer((int64_t)run->facts->buffers_lost, arena))));
    bullet(doc, "Mode", entry->mode);
    Str note =
        entry->folder_is_fallback ? STR(" (the trace's own folder cannot be written)") : (Str){0};
    bullet(doc, "Cache", str_format(arena, STR_FMT STR_FMT, STR_ARG(entry->folder), STR_ARG(note)));
    return OK;
}

static void datasets_section(ToolCall *call) {
    Arena *arena = call->arena;
    DocSection *section = doc_table(call->doc, STR("datasets"), STR("**Exported datasets:**"));
    section->style = STYLE_LINES;
    doc_column(call->doc, section, "Dataset", "text(400)");
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        uint64_t rows = database_row_count(call->database, (TableId)i);
        if (!rows) continue;
        const TableDef *def = table_def((TableId)i);
        Buf line = {0};
        buf_addf(&line, "- %s: " STR_FMT " rows (", def->name,
                 STR_ARG(format_integer((int64_t)rows, arena)));
        for (unsigned c = 0; c < def->column_count && c < FIRST_COLUMNS; c++)
            buf_addf(&line, "%s%s", c ? ", " : "", def->columns[c].name);
        buf_add_c(&line, def->column_count > FIRST_COLUMNS ? ", ...)" : ")");
        doc_row(call->doc, section)[0] = cell_text(str_copy(arena, buf_str(&line)));
        buf_done(&line);
    }
}

// ---------------------------------------------------------------- areas and tools

typedef struct Areas { // rows of trace_source
    ResultSet rows;
} Areas;

static uint64_t area_events(const Areas *areas, Str source) {
    for (size_t i = 0; i < areas->rows.row_count; i++) {
        const Cell *cells = &areas->rows.cells[i * areas->rows.column_count];
        if (str_eq(cell_str(&cells[0]), source)) return cells[3].u64;
    }
    return 0;
}

static bool line_has_data(const Areas *areas, Str names) {
    Str rest = names, name = {0};
    while (str_next(&rest, ' ', &name))
        if (name.n && area_events(areas, name)) return true;
    return false;
}

static bool tool_has_data(const Areas *areas, const Tool *tool) {
    for (size_t i = 0; i < tool->needs_count; i++)
        if (!line_has_data(areas, tool->needs[i])) return false;
    return true;
}

static void areas_section(ToolCall *call, const Areas *areas) {
    DocSection *table = doc_table(call->doc, STR("areas"), STR("Data in the trace"));
    doc_column(call->doc, table, "Area", "text");
    doc_column(call->doc, table, "Recorded", "text");
    doc_column(call->doc, table, "Events", "count");
    Buf absent = {0};
    for (size_t i = 0; i < areas->rows.row_count; i++) {
        const Cell *from = &areas->rows.cells[i * areas->rows.column_count];
        if (!from[3].u64 && !str_eq(cell_str(&from[2]), STR("enabled"))) {
            buf_addf(&absent, "%s" STR_FMT, absent.n ? ", " : "", STR_ARG(cell_str(&from[0])));
            continue;
        }
        Cell *cells = doc_row(call->doc, table);
        cells[0] = from[1];
        cells[1] = cell_text(from[3].u64 ? STR("yes") : STR("enabled, no event"));
        cells[2] = from[3];
    }
    if (absent.n)
        doc_note(call->doc,
                 str_format(call->arena, "Not recorded: " STR_FMT ".", STR_ARG(buf_str(&absent))));
    buf_done(&absent);
}

static void note_idle_tools(ToolCall *call, const Areas *areas) {
    Buf out = {0};
    const Catalog *catalog = &call->engine->catalog;
    for (size_t i = 0; i < catalog->count; i++)
        if (!tool_has_data(areas, &catalog->tools[i]))
            buf_addf(&out, "%s" STR_FMT, out.n ? ", " : "", STR_ARG(catalog->tools[i].name));
    if (out.n)
        doc_note(call->doc, str_format(call->arena, "Tools without data here: " STR_FMT ".",
                                       STR_ARG(buf_str(&out))));
    buf_done(&out);
}

static Status providers_section(ToolCall *call, const RunTrace *run, Err *err) {
    static const char SQL[] = "SELECT coalesce(name, guid::VARCHAR), kind, events, bytes, "
                              "first_ts_ns, last_ts_ns FROM provider "
                              "ORDER BY events DESC, guid, provider_id";
    DocSection *table = doc_table(call->doc, STR("providers"), STR("Providers"));
    static const char *const COLUMNS[][2] = {
        {"Provider",  "text(60)"},
        {"Kind",      "text"    },
        {"Events",    "count"   },
        {"Bytes",     "bytes"   },
        {"First (s)", "s"       },
        {"Last (s)",  "s"       },
    };
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    ResultSet result = {0};
    TRY(session_query(run->session, str_from_c(SQL), NULL, 0, 0, call->arena, &result, err));
    table->cells = result.cells;
    table->total_rows = result.row_count;
    table->row_count = result.row_count < PROVIDERS_SHOWN ? result.row_count : PROVIDERS_SHOWN;
    return OK;
}

// Image rows without any symbol path to look along.
static void note_symbols(ToolCall *call, const Trace *entry) {
    bool path =
        entry->symbol_path.n || call->engine->settings.symbol_path.n || entry->extra_symbol_paths.n;
    if (!path && database_row_count(call->database, T_IMAGE))
        doc_note(call->doc, STR("No symbol path is set: code shows as module+0xRVA. load_trace("
                                "symbol_path=...) or _NT_SYMBOL_PATH sets one."));
}

Status summary_fill(ToolCall *call, const RunTrace *run, Trace *entry, Err *err) {
    Areas areas = {0};
    doc_scope_styled(call->doc, PAIR_BOLD, STR("Trace ID"), run->trace_id);
    TRY(head_bullets(call, run, entry, err));
    TRY(session_query(run->session,
                      STR("SELECT source, about, state, events FROM trace_source "
                          "ORDER BY events DESC, source"),
                      NULL, 0, 0, call->arena, &areas.rows, err));
    areas_section(call, &areas);
    datasets_section(call);
    note_idle_tools(call, &areas);
    note_symbols(call, entry);
    if (run->facts->loss_note.n) doc_note(call->doc, run->facts->loss_note);
    doc_note(call->doc, str_format(call->arena,
                                   "The trace is ready: pass trace_id=\"" STR_FMT "\" to any tool.",
                                   STR_ARG(run->trace_id)));
    doc_next(call->doc,
             str_format(call->arena, "analyze(trace_id=\"" STR_FMT "\")", STR_ARG(run->trace_id)));
    return OK;
}

Status handle_trace_info(ToolCall *call, Err *err) {
    call->doc->headline = str_format(call->arena, "**Trace loaded:** " STR_FMT,
                                     STR_ARG(format_clean(call->trace->file_name, call->arena)));
    call->doc->title = call->tool->title;
    TRY(summary_fill(call, call->trace, call->entry, err));
    return providers_section(call, call->trace, err);
}
