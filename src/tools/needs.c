// Reads trace_source and tells absent, enabled without events, lost and filtered away apart.
#include "tools/needs.h"

typedef struct Source {
    Str name, about, state, capture;
    uint64_t events;
} Source;

static Str cell_str(const Cell *cell) {
    return cell->type == CELL_TEXT ? cell->text : (Str){0};
}

static uint64_t cell_u64(const Cell *cell) {
    return cell->type == CELL_U64 || cell->type == CELL_I64 ? cell->u64 : 0;
}

// The rows of trace_source that a `needs` line names, in its order.
static Status sources_read(Str names, const RunTrace *trace, Arena *arena, Source *out,
                           size_t *count, size_t max, Err *err) {
    static const char SQL[] =
        "SELECT source, about, state, capture, events FROM trace_source WHERE source = $source";
    *count = 0;
    Str rest = names, name = {0};
    while (str_next(&rest, ' ', &name) && *count < max) {
        if (!name.n) continue;
        Arg arg = {.name = "source", .type = ARG_TEXT, .text = name};
        ResultSet result = {0};
        TRY(session_query(trace->session, str_from_c(SQL), &arg, 1, 1, arena, &result, err));
        Source *source = &out[(*count)++];
        *source = (Source){.name = name, .about = name, .state = STR("absent")};
        if (!result.row_count) continue;
        const Cell *cells = result.cells;
        if (cell_str(&cells[1]).n) source->about = cell_str(&cells[1]);
        source->state = cell_str(&cells[2]);
        source->capture = cell_str(&cells[3]);
        source->events = cell_u64(&cells[4]);
    }
    return OK;
}

enum { SOURCES_MAX = 8 };

static Str lower_first(Str text, Arena *arena) {
    Str copy = str_copy(arena, text);
    bool acronym = text.n > 1 && text.p[1] >= 'A' && text.p[1] <= 'Z';
    if (!copy.n || acronym || copy.p[0] < 'A' || copy.p[0] > 'Z') return copy;
    return str_format(arena, "%c" STR_FMT, copy.p[0] + ('a' - 'A'),
                      STR_ARG(str_slice(copy, 1, copy.n)));
}

static Str list_about(const Source *sources, size_t count, Arena *arena) {
    Buf out = {0};
    for (size_t i = 0; i < count; i++)
        buf_addf(&out, "%s" STR_FMT, i ? " and no " : "",
                 STR_ARG(lower_first(sources[i].about, arena)));
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static void explain_missing(const Source *sources, size_t count, const RunTrace *trace, Doc *doc) {
    Arena *arena = doc->arena;
    DocSection *section = doc_table(doc, STR("main"), (Str){0});
    bool enabled = false;
    for (size_t i = 0; i < count; i++)
        enabled = enabled || str_eq(sources[i].state, STR("enabled"));
    Str about = list_about(sources, count, arena);
    Buf text = {0};
    if (enabled)
        buf_addf(&text, "No data: they were asked for, but the trace holds no " STR_FMT ".",
                 STR_ARG(about));
    else
        buf_addf(&text, "No data: the capture recorded no " STR_FMT ".", STR_ARG(about));
    if (!enabled && sources[0].capture.n)
        buf_addf(&text, " What records them: " STR_FMT ".", STR_ARG(sources[0].capture));
    const TraceFacts *facts = trace->facts;
    if (facts->events_lost || facts->buffers_lost)
        buf_addf(&text, " %llu events and %llu buffers were lost, so some may be among them.",
                 (unsigned long long)facts->events_lost, (unsigned long long)facts->buffers_lost);
    section->empty = str_copy(arena, buf_str(&text));
    buf_done(&text);
    doc_next(doc, str_format(arena, "get_trace_stats(trace_id=\"" STR_FMT "\")",
                             STR_ARG(trace->trace_id)));
}

static uint64_t events_of(const Source *sources, size_t count) {
    uint64_t events = 0;
    for (size_t i = 0; i < count; i++) events += sources[i].events;
    return events;
}

Status needs_check(const Tool *tool, const RunTrace *trace, Doc *doc, bool *enough, Err *err) {
    Source sources[SOURCES_MAX];
    size_t count = 0;
    *enough = true;
    for (size_t i = 0; i < tool->needs_count; i++) {
        TRY(sources_read(tool->needs[i], trace, doc->arena, sources, &count, SOURCES_MAX, err));
        if (!count || events_of(sources, count)) continue;
        *enough = false;
        explain_missing(sources, count, trace, doc);
        return OK;
    }
    return OK;
}

Status needs_explain_filtered(const Tool *tool, const RunTrace *trace, Arena *arena, Str *out,
                              Err *err) {
    Source sources[SOURCES_MAX];
    size_t count = 0;
    if (tool->needs_count)
        TRY(sources_read(tool->needs[0], trace, arena, sources, &count, SOURCES_MAX, err));
    if (!count) {
        *out = STR("Nothing is left after the filters and the window.");
        return OK;
    }
    Str events = format_integer((int64_t)events_of(sources, count), arena);
    *out = str_format(arena,
                      "Nothing is left after the filters and the window: the trace holds " STR_FMT
                      " events of this kind (" STR_FMT ").",
                      STR_ARG(events), STR_ARG(lower_first(sources[0].about, arena)));
    return OK;
}
