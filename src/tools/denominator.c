// Denominators, part A.5 of the tool contract. W is a property of the window: sample_total of
// sql/views says it; utilisation of each CPU comes from cpu_busy.
#include "tools/denominator.h"

enum { ACTIVE_PCT = 2 }; // a CPU with at least this mean utilisation is active

typedef struct Usage {
    int64_t active; // A
    double mean_pct;
} Usage;

static int64_t whole(const Cell *cell) {
    return cell->type == CELL_I64 || cell->type == CELL_U64 ? cell->i64 : 0;
}

static size_t window_args(const Window *window, Arg *args) {
    args[0] = (Arg){.name = "start_ns", .type = ARG_I64, .i64 = window->start_ns};
    args[1] = (Arg){.name = "end_ns", .type = ARG_I64, .i64 = window->end_ns};
    return 2;
}

static Arg cpu_arg(const Value *cpus) {
    if (!cpus || !cpus->present) return (Arg){.name = "cpus", .type = ARG_NULL};
    return (Arg){
        .name = "cpus", .type = ARG_I64_LIST, .i64_list = cpus->cpus, .list_count = cpus->count};
}

static Status read_total(const RunTrace *trace, const Window *window, Arena *arena,
                         Denominator *out, Err *err) {
    Arg args[2];
    ResultSet rows = {0};
    TRY(session_query(trace->session,
                      STR("SELECT weight_ns::BIGINT, observed_ns::BIGINT, short_ns::BIGINT, "
                          "span_ns::BIGINT, cpus::BIGINT, interval_assumed, lossy "
                          "FROM sample_total($start_ns, $end_ns)"),
                      args, window_args(window, args), 1, arena, &rows, err));
    if (!rows.row_count) return OK; // no samples at all
    out->total_ns = whole(&rows.cells[0]);
    out->observed_ns = whole(&rows.cells[1]);
    out->short_ns = whole(&rows.cells[2]);
    out->span_ns = whole(&rows.cells[3]);
    out->cpus = whole(&rows.cells[4]);
    out->interval_assumed = rows.cells[5].type == CELL_BOOL && rows.cells[5].boolean;
    out->lossy = rows.cells[6].type == CELL_BOOL && rows.cells[6].boolean;
    return OK;
}

// The CPUs that count: those named by the filter, else those busy for 2 % of the time.
static Status read_usage(const RunTrace *trace, const Window *window, const Value *cpus,
                         Arena *arena, Usage *out, Err *err) {
    Arg args[4];
    size_t count = window_args(window, args);
    args[count++] = cpu_arg(cpus);
    args[count++] = (Arg){.name = "active_pct", .type = ARG_F64, .f64 = ACTIVE_PCT};
    ResultSet rows = {0};
    TRY(session_query(trace->session,
                      STR("SELECT count(*)::BIGINT, coalesce(avg(busy_pct), 0)::DOUBLE "
                          "FROM cpu_busy($start_ns, $end_ns) "
                          "WHERE CASE WHEN $cpus IS NULL THEN busy_pct >= $active_pct "
                          "ELSE cpu_hits(cpu, $cpus) END"),
                      args, count, 1, arena, &rows, err));
    out->active = rows.row_count ? whole(&rows.cells[0]) : 0;
    out->mean_pct = rows.row_count && rows.cells[1].type == CELL_F64 ? rows.cells[1].f64 : 0;
    return OK;
}

static Str microseconds(double ns, Arena *arena) {
    return format_integer((int64_t)(ns / 1000), arena);
}

static Status read_custom(const Values *values, Denominator *out, Err *err) {
    const Value *lps = values_get(values, "denominator_lps");
    const Value *seconds = values_get(values, "denominator_seconds");
    if (!lps->present || !seconds->present || lps->i64 <= 0 || seconds->f64 <= 0)
        return err_set(err, ERR_ARG,
                       "denominator=custom needs both denominator_lps and denominator_seconds, "
                       "each above 0");
    double capacity = (double)out->cpus * (double)out->span_ns;
    double wanted = (double)lps->i64 * seconds->f64 * 1e9;
    out->weight_ns = capacity > 0 ? (double)out->total_ns * wanted / capacity : 0;
    return OK;
}

// The parameters' order and names are those of the contract: W, L, D, A, U.
static void write_line(Denominator *out, const Usage *usage, bool named, Arena *arena) {
    out->line =
        str_format(arena,
                   STR_FMT " = " STR_FMT " us (W " STR_FMT
                           " us: %lld CPUs, %.3f s%s; A %lld CPUs, %s; U " STR_FMT ")",
                   STR_ARG(out->mode), STR_ARG(microseconds(out->weight_ns, arena)),
                   STR_ARG(microseconds((double)out->total_ns, arena)), (long long)out->cpus,
                   (double)out->span_ns / 1e9, out->short_ns ? ", partly not sampled" : "",
                   (long long)usage->active, named ? "of cpu_filter" : "at least 2 % busy",
                   STR_ARG(format_percent(usage->mean_pct, arena)));
}

Status denominator_read(const Values *values, const RunTrace *trace, const Window *window,
                        Arena *arena, Denominator *out, Err *err) {
    *out = (Denominator){.mode = STR("trace")};
    const Tool *tool = values->tool;
    if (tool_param(tool, STR("denominator"))) out->mode = values_text(values, "denominator");
    if (!out->mode.n) out->mode = STR("trace");
    out->label = str_format(arena, "%% " STR_FMT, STR_ARG(out->mode));
    TRY(read_total(trace, window, arena, out, err));
    const Value *cpus =
        tool_param(tool, STR("cpu_filter")) ? values_get(values, "cpu_filter") : NULL;
    Usage usage = {0};
    TRY(read_usage(trace, window, cpus, arena, &usage, err));
    out->weight_ns = (double)out->total_ns;
    double active = out->cpus ? (double)usage.active / (double)out->cpus : 0;
    if (str_eq(out->mode, STR("custom")))
        TRY(read_custom(values, out, err));
    else if (str_eq(out->mode, STR("active_cpus")))
        out->weight_ns *= active;
    else if (str_eq(out->mode, STR("active_busy")))
        out->weight_ns *= active * usage.mean_pct / 100;
    write_line(out, &usage, cpus && cpus->present, arena);
    return OK;
}

Cell denominator_share(const Denominator *denominator, int64_t weight_ns) {
    if (denominator->weight_ns <= 0) return (Cell){.type = CELL_NULL};
    return cell_f64(100.0 * (double)weight_ns / denominator->weight_ns);
}

Status denominator_idle(const RunTrace *trace, const Window *window, const Value *cpus,
                        Arena *arena, int64_t *short_ns, Err *err) {
    Arg args[3];
    size_t count = window_args(window, args);
    args[count++] = cpu_arg(cpus);
    ResultSet rows = {0};
    TRY(session_query(trace->session,
                      STR("SELECT coalesce(sum(short_ns), 0)::BIGINT "
                          "FROM sample_short($start_ns, $end_ns) WHERE cpu_hits(cpu, $cpus)"),
                      args, count, 1, arena, &rows, err));
    *short_ns = rows.row_count ? whole(&rows.cells[0]) : 0;
    return OK;
}

Str denominator_idle_module(const Denominator *denominator) {
    return denominator->lossy ? STR("<Unaccounted>") : STR("<Heuristic Low Power State>");
}

Str denominator_idle_function(const Denominator *denominator) {
    return denominator->lossy ? STR("<events lost>") : STR("<C3>");
}
