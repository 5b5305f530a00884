// Facts of a trace that every reply may need, and the note about what it lost.
#include "tools/trace.h"

#include "tools/format.h"

static uint64_t number(const ResultSet *result, size_t column) {
    const Cell *cell = &result->cells[column];
    bool whole = cell->type == CELL_I64 || cell->type == CELL_U64;
    return result->row_count && whole ? cell->u64 : 0;
}

// `row`: the trace's own counts, then places of damage, then whether the file grew meanwhile.
static Str loss_note(const TraceFacts *facts, const ResultSet *row, Arena *arena) {
    Buf note = {0};
    uint64_t count = number(row, 5);
    if (facts->events_lost || facts->buffers_lost)
        buf_addf(&note,
                 "The session lost " STR_FMT " events and " STR_FMT
                 " buffers: counts and sums are too low.",
                 STR_ARG(format_integer((int64_t)facts->events_lost, arena)),
                 STR_ARG(format_integer((int64_t)facts->buffers_lost, arena)));
    if (count)
        buf_addf(&note,
                 "%sThe file is damaged in " STR_FMT
                 " %s: what could not be read is missing here; get_trace_stats says more.",
                 note.n ? " " : "", STR_ARG(format_integer((int64_t)count, arena)),
                 count == 1 ? "place" : "places");
    if (number(row, 6))
        buf_addf(
            &note,
            "%sThe file grew while it was read, so its end is missing here: load it again when "
            "it is complete.",
            note.n ? " " : "");
    Str text = note.n ? str_copy(arena, buf_str(&note)) : (Str){0};
    buf_done(&note);
    return text;
}

Status trace_facts_read(Database *database, Arena *arena, TraceFacts *out, Err *err) {
    *out = (TraceFacts){0};
    AUTO(session_close) Session *session = NULL;
    TRY(session_open(database, &session, err));
    ResultSet trace = {0};
    // One query: opening a trace must not take long. Losses that the session counted itself are
    // reported from its own numbers, so they are left out of the places.
    TRY(session_query(
        session,
        STR("SELECT duration_ns, cpu_count::BIGINT, events::BIGINT, events_lost::BIGINT, "
            "buffers_lost::BIGINT, "
            "(SELECT coalesce(sum(count), 0) FROM decode_issue WHERE severity = 'data_loss' "
            "AND kind NOT LIKE '%_lost%' AND kind <> 'file_grew')::BIGINT, "
            "(SELECT count(*) FROM decode_issue WHERE kind = 'file_grew')::BIGINT "
            "FROM trace LIMIT 1"),
        NULL, 0, 1, arena, &trace, err));
    // A damaged timestamp can be the latest there is; windows end one behind the last event.
    uint64_t duration_ns = number(&trace, 0);
    out->duration_ns = duration_ns < INT64_MAX ? (int64_t)duration_ns : INT64_MAX - 1;
    out->cpu_count = (int64_t)number(&trace, 1);
    out->events = number(&trace, 2);
    out->events_lost = number(&trace, 3);
    out->buffers_lost = number(&trace, 4);
    out->loss_note = loss_note(out, &trace, arena);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        uint64_t rows = database_row_count(database, (TableId)i);
        out->rows += rows;
        out->tables += rows > 0;
    }
    return OK;
}
