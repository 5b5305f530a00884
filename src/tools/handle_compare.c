// compare_traces: the same queries on two traces, then row against row.
#include "tools/handle_compare.h"

#include "base/limits.h"

#include <math.h>
#include <stdlib.h>

typedef struct Mode {
    const char *name, *span;
    double scale; // of the measured value to what a row shows per second
    int keys;
    bool utilisation;
    const char *what, *capture; // missing without it; what records it
} Mode;

static const Mode MODES[] = {
    {"hot_functions", "span_samples", 1e-6,       2, false, "CPU samples",                      "cpu"        },
    {"modules",       "span_samples", 1e-6,       1, false, "CPU samples",                      "cpu"        },
    {"per_cpu",       "span_cpu",     1e-6,       1, true,  "CPU samples or context switches",  "cpu_dpc_isr"},
    {"processes",     "span_samples", 1e-6,       1, false, "CPU samples",                      "cpu"        },
    {"waits",         "span_cpu",     1e-6,       2, false, "context switches",                 "cpu_dpc_isr"},
    {"dpc",           "span_cpu",     1e-6,       2, false, "DPC executions",                   "cpu_dpc_isr"},
    {"disk",          "span_cpu",     1.0 / 1024, 2, false, "disk transfers",                   "disk"       },
    {"flows",         "span_trace",   1.0 / 1024, 2, false, "TCP and UDP events of the kernel",
     "network_minimal"                                                                                       },
    {"events",        "span_trace",   1,          2, false, "events",                           "general"    },
};

typedef struct Facts {
    int64_t duration_ns, cpus, ticks_per_s, lost, damaged, interval_ns;
    Str clock, os_build;
} Facts;

typedef struct Side {
    const char *param; // "baseline_etl"
    const char *label; // "baseline"
    TraceHold hold;
    WatchTicket ticket;
    Str name, id;
    Trace *trace; // of the registry; NULL: an id of an earlier process
    Facts facts;
    int64_t from_ns, to_ns;
    bool whole;
    double start_s, end_s; // asked for; end < 0: none
} Side;

typedef struct Compare {
    ToolCall *call;
    const Mode *mode;
    Side sides[SIDES];
    double seconds[SIDES];
    Str *modules; // lower case; NULL with module_count 0: every module
    size_t module_count;
    bool network;
    Items items;
} Compare;

static Str cell_str(const Cell *cell) {
    return cell->type == CELL_TEXT ? cell->text : (Str){0};
}

static int64_t cell_int(const Cell *cell) {
    return cell->type == CELL_I64 || cell->type == CELL_U64 ? cell->i64 : 0;
}

static double cell_number(const Cell *cell) {
    return cell->type == CELL_F64 ? cell->f64 : (double)cell_int(cell);
}

// ---------------------------------------------------------------- the two traces

static Status blame(const Side *side, Status status, const Err *why, Err *err) {
    return err_set(err, status, "%s: %s", side->param, why->text);
}

// A path starts its load here, so that both run at the same time; the wait comes later.
static Status begin_side(Compare *compare, Side *side, Err *err) {
    ToolCall *call = compare->call;
    Str given = str_trim(values_text(call->values, side->param));
    Err why = {0};
    mutex_lock(&call->engine->mutex);
    side->trace = registry_find(call->engine, given);
    mutex_unlock(&call->engine->mutex);
    bool known = side->trace != NULL;
    side->id = given;
    if (known || !str_ends_nocase(given, STR(".etl"))) {
        bool id = known || str_starts(given, STR("trace_"));
        FileInfo info = {0};
        bool file = !known && os_stat(given, &info, NULL) == OK && info.exists;
        if (id && !file) return OK;
    }
    const Settings *settings = engine_settings(call->engine);
    LoadRequest request = {.path = given,
                           .mode = settings->mode.n ? settings->mode : STR("auto"),
                           .timeout_seconds = settings->load_timeout_seconds};
    Trace *trace = NULL;
    bool already = false;
    Status status = load_start(call->engine, &request, call->arena, &trace, &already, &why);
    if (status != OK) return blame(side, status, &why, err);
    side->id = str_from_c(trace->identity.trace_id);
    side->trace = trace;
    return OK;
}

// Both loads share one waiting time, so that the call ends in time whatever their sizes.
static Status wait_for_sides(Compare *compare, Err *err) {
    Engine *engine = compare->call->engine;
    uint64_t start = os_now_ns();
    for (int i = 0; i < SIDES; i++) {
        Side *side = &compare->sides[i];
        if (!side->trace) continue;
        double left =
            engine_settings(engine)->load_wait_seconds - (double)(os_now_ns() - start) / 1e9;
        TRY(load_wait(engine, side->trace, left > 0 ? left : 0, compare->call->context, err));
        mutex_lock(&engine->mutex);
        bool loading = side->trace->state == TRACE_LOADING;
        double percent = load_percent(side->trace), eta = load_eta_seconds(engine, side->trace);
        mutex_unlock(&engine->mutex);
        if (loading)
            return err_set(err, ERR_LIMIT,
                           "%s: " STR_FMT " is still loading: %.0f %%, about %.0f s left. Call "
                           "get_load_status(trace_id=\"" STR_FMT "\", wait_seconds=10), then this "
                           "tool again",
                           side->param, STR_ARG(side->id), percent, eta, STR_ARG(side->id));
    }
    return OK;
}

static Status read_facts(Compare *compare, Side *side, Err *err);

static Status finish_side(Compare *compare, Side *side, Err *err) {
    ToolCall *call = compare->call;
    Err why = {0};
    Status status =
        trace_hold(call->engine, side->id, call->context, call->arena, &side->hold, &why);
    if (status == ERR_CANCELLED) return err_set(err, status, "%s", why.text);
    if (status != OK) return blame(side, status, &why, err);
    Progress *progress = call->context ? call->context->progress : NULL;
    side->ticket =
        watch_begin(call->engine->watch, side->hold.session, progress, LIMIT_SQL_SECONDS);
    side->name = path_name(side->hold.trace->identity.path);
    return read_facts(compare, side, err);
}

static void end_side(Side *side) {
    if (!side->hold.data) return;
    (void)watch_end(side->ticket);
    trace_let_go(&side->hold);
}

// ---------------------------------------------------------------- queries

static const Section *section_named(const Tool *tool, const char *name) {
    size_t i = 0;
    while (i < tool->section_count && !str_eq(tool->sections[i].name, str_from_c(name))) i++;
    INVARIANT(i < tool->section_count);
    return &tool->sections[i];
}

static Status ask(const Compare *compare, const Side *side, const char *section, ResultSet *out,
                  Err *err) {
    const Tool *tool = compare->call->tool;
    const Section *query = section_named(tool, section);
    Arg from = {.name = "from_ns", .type = ARG_I64, .i64 = side->from_ns};
    Arg to = {.name = "to_ns", .type = ARG_I64, .i64 = side->to_ns};
    Arg network = {.name = "network", .type = ARG_BOOL, .boolean = compare->network};
    Arg whole = {.name = "whole", .type = ARG_BOOL, .boolean = side->whole};
    Arg modules = {.name = "modules", .type = ARG_NULL, .text_list = compare->modules};
    modules.list_count = compare->module_count;
    if (compare->module_count) modules.type = ARG_TEXT_LIST;
    Arg args[] = {from, to, network, whole, modules};
    Str sql = tool_full_sql(tool, query->uses, 0, query->sql, compare->call->arena);
    return session_query(side->hold.session, sql, args, COUNT_OF(args), 0, compare->call->arena,
                         out, err);
}

static Status read_facts(Compare *compare, Side *side, Err *err) {
    ResultSet result = {0};
    TRY(ask(compare, side, "facts", &result, err));
    if (!result.row_count) return OK;
    const Cell *cells = result.cells;
    side->facts = (Facts){.duration_ns = cell_int(&cells[0]),
                          .cpus = cell_int(&cells[1]),
                          .clock = cell_str(&cells[2]),
                          .ticks_per_s = cell_int(&cells[3]),
                          .os_build = cell_str(&cells[4]),
                          .lost = cell_int(&cells[5]),
                          .damaged = cell_int(&cells[6]),
                          .interval_ns = cell_int(&cells[7])};
    return OK;
}

static int64_t ns_from_seconds(double seconds) {
    return seconds >= 9e9 ? INT64_MAX : (int64_t)llround(seconds * 1e9);
}

// The part of the trace in which the mode's data were recorded, within the window asked for. *some
// is false when the data are not there at all.
static Status settle_span(Compare *compare, Side *side, bool *some, Err *err) {
    ResultSet result = {0};
    TRY(ask(compare, side, compare->mode->span, &result, err));
    *some = result.row_count > 0 && result.cells[0].type != CELL_NULL;
    side->whole = side->start_s <= 0 && side->end_s < 0;
    if (!*some) return OK;
    int64_t from = cell_int(&result.cells[0]), to = cell_int(&result.cells[1]);
    int64_t start = ns_from_seconds(side->start_s);
    int64_t end = side->end_s < 0 ? INT64_MAX : ns_from_seconds(side->end_s);
    side->from_ns = start > from ? start : from;
    side->to_ns = end < to ? end : to;
    if (side->from_ns < side->to_ns) return OK;
    return err_set(err, ERR_ARG,
                   "%s_start, %s_end: the window holds none of the %s, which were recorded from "
                   "%.3f to %.3f s",
                   side->label, side->label, compare->mode->what, (double)from / 1e9,
                   (double)to / 1e9);
}

static Str item_key(Arena *arena, Str first, Str second) {
    return str_format(arena, STR_FMT "\x1f" STR_FMT, STR_ARG(first), STR_ARG(second));
}

typedef struct Collector {
    StrMap index;
    VEC(Item) items;
} Collector;

static Item *collect_item(Collector *collector, Arena *arena, const Cell *cells) {
    Str first = cell_str(&cells[0]), second = cell_str(&cells[1]);
    Str key = item_key(arena, first, second);
    bool added = false;
    StrMapSlot *slot = strmap_put(&collector->index, key, collector->items.count, &added);
    if (added) {
        slot->key = key;
        *vec_push(&collector->items) = (Item){
            .key = {first, second}
        };
    }
    return &collector->items.items[slot->value];
}

static Status collect_side(const Compare *compare, int side, Collector *collector, Err *err) {
    ResultSet result = {0};
    TRY(ask(compare, &compare->sides[side], compare->mode->name, &result, err));
    for (size_t i = 0; i < result.row_count; i++) {
        const Cell *cells = &result.cells[i * result.column_count];
        Measure *measure = &collect_item(collector, compare->call->arena, cells)->side[side];
        double value = cell_number(&cells[3]);
        measure->value += value;
        measure->count += cell_number(&cells[4]);
        measure->squares += cell_number(&cells[5]);
        int64_t slice = cells[2].type == CELL_NULL ? -1 : cell_int(&cells[2]);
        if (slice >= 0 && slice < SLICES)
            measure->slices[slice] += value;
        else
            measure->unsliced = true;
    }
    return OK;
}

static Status collect(Compare *compare, Err *err) {
    Collector collector = {0};
    Status status = OK;
    for (int i = 0; i < SIDES && status == OK; i++)
        status = collect_side(compare, i, &collector, err);
    size_t count = collector.items.count;
    compare->items.items = ARENA_ARRAY(compare->call->arena, Item, count + 1);
    if (count) memcpy(compare->items.items, collector.items.items, count * sizeof(Item));
    compare->items.count = count;
    strmap_done(&collector.index);
    vec_free(&collector.items);
    return status;
}

// Which modules have function names, and of which build they are.
static Status fold_modules(Compare *compare, Err *err) {
    Arena *arena = compare->call->arena;
    ResultSet results[SIDES] = {0};
    for (int i = 0; i < SIDES; i++)
        TRY(ask(compare, &compare->sides[i], "names", &results[i], err));
    ModuleState *states =
        ARENA_ARRAY(arena, ModuleState, (results[0].row_count + results[1].row_count + 1) * SIDES);
    StrMap modules = {0};
    for (int i = 0; i < SIDES; i++) {
        for (size_t k = 0; k < results[i].row_count; k++) {
            const Cell *cells = &results[i].cells[k * results[i].column_count];
            StrMapSlot *slot = strmap_put(&modules, cell_str(&cells[0]), modules.count, NULL);
            states[slot->value * SIDES + (size_t)i] = (ModuleState){
                .exists = true, .named = cell_number(&cells[1]), .build = cell_str(&cells[2])};
        }
    }
    compare_fold_modules(&compare->items, &modules, states, compare->call->doc);
    strmap_done(&modules);
    return OK;
}

// ---------------------------------------------------------------- the reply

static void fact_line(Compare *compare, const char *name, Str baseline, Str test) {
    Doc *doc = compare->call->doc;
    if (!baseline.n && !test.n) return;
    Str unknown = STR("unknown");
    if (!baseline.n) baseline = unknown;
    if (!test.n) test = unknown;
    Str value = str_eq(baseline, test)
                    ? str_format(doc->arena, STR_FMT " (both)", STR_ARG(baseline))
                    : str_format(doc->arena, "baseline " STR_FMT ", test " STR_FMT " (differs)",
                                 STR_ARG(baseline), STR_ARG(test));
    doc_scope(doc, str_from_c(name), value);
}

static Str seconds_text(Arena *arena, int64_t ns) {
    return str_format(arena, "%.3f s", (double)ns / 1e9);
}

static Str lost_text(Arena *arena, const Facts *facts) {
    Str lost = format_integer(facts->lost, arena), damaged = format_integer(facts->damaged, arena);
    if (!facts->damaged) return lost;
    return str_format(arena, STR_FMT ", damage in " STR_FMT " places", STR_ARG(lost),
                      STR_ARG(damaged));
}

static Str clock_text(Arena *arena, const Facts *facts) {
    return str_format(arena, STR_FMT ", " STR_FMT " Hz", STR_ARG(facts->clock),
                      STR_ARG(format_integer(facts->ticks_per_s, arena)));
}

static Str interval_text(Arena *arena, const Facts *facts) {
    if (!facts->interval_ns) return (Str){0};
    return str_format(arena, "%.4g ms", (double)facts->interval_ns / 1e6);
}

static Str span_text(Arena *arena, const Side *side) {
    return str_format(arena, "%.3f to %.3f s", (double)side->from_ns / 1e9,
                      (double)side->to_ns / 1e9);
}

static void put_facts(Compare *compare) {
    Arena *arena = compare->call->arena;
    Doc *doc = compare->call->doc;
    const Side *a = &compare->sides[BASELINE], *b = &compare->sides[TEST];
    doc_scope(doc, STR("Baseline"),
              str_format(arena, STR_FMT " (" STR_FMT ")", STR_ARG(a->name), STR_ARG(a->id)));
    doc_scope(doc, STR("Test"),
              str_format(arena, STR_FMT " (" STR_FMT ")", STR_ARG(b->name), STR_ARG(b->id)));
    fact_line(compare, "Duration", seconds_text(arena, a->facts.duration_ns),
              seconds_text(arena, b->facts.duration_ns));
    if (a->to_ns && b->to_ns)
        fact_line(compare, "Compared", span_text(arena, a), span_text(arena, b));
    fact_line(compare, "Logical processors", format_integer(a->facts.cpus, arena),
              format_integer(b->facts.cpus, arena));
    fact_line(compare, "Clock", clock_text(arena, &a->facts), clock_text(arena, &b->facts));
    fact_line(compare, "OS build", a->facts.os_build, b->facts.os_build);
    fact_line(compare, "Lost events and buffers", lost_text(arena, &a->facts),
              lost_text(arena, &b->facts));
    fact_line(compare, "Sampling interval", interval_text(arena, &a->facts),
              interval_text(arena, &b->facts));
    Str modules = values_text(compare->call->values, "modules");
    doc_scope(doc, STR("Mode"), str_from_c(compare->mode->name));
    if (compare->mode->keys == 2 || str_eq(STR("modules"), str_from_c(compare->mode->name)))
        if (str_eq(STR("span_samples"), str_from_c(compare->mode->span)))
            doc_scope(doc, STR("Modules"), compare->network ? STR("networking") : modules);
}

static Str mark_of(double z) {
    if (fabs(z) > 3) return STR("**");
    if (fabs(z) > 2) return STR("*");
    return STR("ns");
}

static Str change_text(int change) {
    static const char *const TEXTS[] = {"less", "none", "more", ""};
    return str_from_c(TEXTS[change + 1]);
}

// Ratio per logical processor where the machines differ in size.
static bool per_processor(const Compare *compare) {
    const Facts *a = &compare->sides[BASELINE].facts, *b = &compare->sides[TEST].facts;
    return a->cpus > 0 && b->cpus > 0 && a->cpus != b->cpus && !compare->mode->utilisation;
}

static void put_row(Compare *compare, DocSection *table, const Item *item) {
    Cell *cells = doc_row(compare->call->doc, table);
    int keys = compare->mode->keys;
    double scale = compare->mode->scale;
    if (compare->mode->utilisation) {
        int64_t cpu = 0;
        cells[0] = str_to_i64(item->key[0], &cpu) ? cell_i64(cpu) : cell_text(item->key[0]);
    } else {
        for (int i = 0; i < keys; i++) cells[i] = cell_text(item->key[i]);
    }
    cells += keys;
    double a = item->rate[BASELINE], b = item->rate[TEST];
    cells[0] = cell_f64(item->share[BASELINE]);
    cells[1] = cell_f64(item->share[TEST]);
    cells[2] = cell_f64(item->share[TEST] - item->share[BASELINE]);
    cells[3] = cell_f64(a * scale);
    cells[4] = cell_f64(b * scale);
    if (a > 0) cells[5] = cell_f64(b / a);
    cells[6] = cell_text(mark_of(item->z));
    cells[7] = cell_f64(item->z);
    cells[8] = cell_text(change_text(item->change));
    if (!per_processor(compare) || !(a > 0)) return;
    const Facts *base = &compare->sides[BASELINE].facts, *test = &compare->sides[TEST].facts;
    cells[9] = cell_f64(b / a * (double)base->cpus / (double)test->cpus);
}

// In mode per_cpu, idle CPUs that stay idle are left out.
static bool is_quiet(const Compare *compare, const Item *item) {
    return compare->mode->utilisation && item->share[BASELINE] < 1 && item->share[TEST] < 1 &&
           fabs(item->share[TEST] - item->share[BASELINE]) < 0.5;
}

static void put_table(Compare *compare) {
    ToolCall *call = compare->call;
    const Section *section = section_named(call->tool, compare->mode->name);
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    table->columns = ARENA_ARRAY(call->arena, DocColumn, section->column_count + 1);
    for (size_t i = 0; i < section->column_count; i++)
        table->columns[table->column_count++] =
            (DocColumn){section->columns[i].title, section->columns[i].format};
    if (per_processor(compare)) doc_column(call->doc, table, "Ratio per CPU", "number(3)");
    size_t cap = (size_t)values_get(call->values, "max_rows")->i64, total = 0;
    for (size_t i = 0; i < compare->items.count; i++) {
        if (is_quiet(compare, &compare->items.items[i])) continue;
        if (total++ < cap) put_row(compare, table, &compare->items.items[i]);
    }
    table->total_rows = total;
    table->cap = STR("max_rows");
    if (total) return;
    table->empty = STR("Nothing to compare on either side.");
    if (compare->mode->utilisation)
        table->empty = STR("No CPU changed: all are below 1 % on both sides.");
    else if (compare->network || compare->module_count)
        table->empty =
            STR("No CPU samples in these modules on either side; modules=\"all\" compares "
                "all code.");
}

static Item whole_of(const Compare *compare) {
    Item whole = {0};
    for (size_t i = 0; i < compare->items.count; i++) {
        for (int k = 0; k < SIDES; k++) {
            const Measure *from = &compare->items.items[i].side[k];
            Measure *to = &whole.side[k];
            to->value += from->value;
            to->count += from->count;
            to->squares += from->squares;
            to->unsliced = to->unsliced || from->unsliced;
            for (size_t n = 0; n < SLICES; n++) to->slices[n] += from->slices[n];
        }
    }
    compare_judge_one(&whole, compare->seconds, compare->mode->utilisation);
    return whole;
}

static void put_total(Compare *compare) {
    Arena *arena = compare->call->arena;
    Item whole = whole_of(compare);
    double a = whole.rate[BASELINE] * compare->mode->scale;
    double b = whole.rate[TEST] * compare->mode->scale;
    const Section *section = section_named(compare->call->tool, compare->mode->name);
    Str unit = section->columns[section->column_count - 6].title; // "Baseline CPU ms/s"
    unit = str_slice(unit, 9, unit.n);
    Str ratio = a > 0 ? str_format(arena, ", ratio %.3f", b / a) : (Str){0};
    doc_scope(compare->call->doc, STR("Total"),
              str_format(arena, "baseline " STR_FMT ", test " STR_FMT " " STR_FMT "%s, " STR_FMT,
                         STR_ARG(format_number(a, 3, arena)), STR_ARG(format_number(b, 3, arena)),
                         STR_ARG(unit), ratio.n ? ratio.p : "", STR_ARG(mark_of(whole.z))));
}

enum { CHANGES_SHOWN = 4 };

static void put_verdict(Compare *compare) {
    Arena *arena = compare->call->arena;
    size_t changed = 0, total = compare->items.count;
    Buf list = {0};
    for (size_t i = 0; i < total; i++) {
        const Item *item = &compare->items.items[i];
        if (item->change != 1 && item->change != -1) continue;
        if (++changed > CHANGES_SHOWN) continue;
        Str label = item->key[1].n ? item->key[1] : item->key[0];
        double a = item->rate[BASELINE], b = item->rate[TEST];
        buf_addf(&list, "%s" STR_FMT, changed > 1 ? ", " : ": ", STR_ARG(label));
        if (a > 0 && b > 0) buf_addf(&list, " %+.1f%%", 100 * (b / a - 1));
        if (!(a > 0)) buf_add_c(&list, " new");
        if (!(b > 0)) buf_add_c(&list, " gone");
    }
    Str text = changed ? str_format(arena, "%zu of %zu rows%s%s", changed, total,
                                    list.n ? list.p : "", changed > CHANGES_SHOWN ? ", ..." : "")
                       : str_format(arena, "none of %zu rows", total);
    buf_done(&list);
    doc_scope(compare->call->doc, STR("Changed beyond noise"), text);
}

static void put_notes(Compare *compare) {
    Doc *doc = compare->call->doc;
    const Facts *a = &compare->sides[BASELINE].facts, *b = &compare->sides[TEST].facts;
    doc_note(doc, STR("Positive Delta and z: the test uses more. Shares are of the rows compared; "
                      "rates are per second of the compared time, of the whole machine."));
    doc_note(doc,
             STR("Significance looks at counts alone (ns below 2, * above 2, ** above 3 standard "
                 "deviations). Change is none unless the difference also stands out from the "
                 "unrest of 32 time slices, for the number of rows compared, and is 1 % or "
                 "more."));
    if (compare->mode->utilisation && a->cpus && b->cpus)
        doc_note(doc, STR("Each CPU is compared with the CPU of the same number."));
    if (per_processor(compare))
        doc_note(doc, STR("The machines have different numbers of processors: \"Ratio per CPU\" "
                          "divides each rate by them."));
    if (a->lost || b->lost || a->damaged || b->damaged)
        doc_note(doc, STR("Events were lost or damaged: rates of that trace are too low."));
    if (compare->seconds[0] > 0 && compare->seconds[1] > 0 &&
        (compare->seconds[0] < 1 || compare->seconds[1] < 1))
        doc_note(doc, STR("A side covers less than a second: little can be told from noise."));
}

static void explain_missing(Compare *compare, const bool some[SIDES]) {
    Doc *doc = compare->call->doc;
    const Mode *mode = compare->mode;
    bool both = !some[BASELINE] && !some[TEST];
    const char *who = both         ? "Neither trace holds"
                      : some[TEST] ? "The baseline holds no"
                                   : "The test holds no";
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    table->empty = str_format(doc->arena, "No data: %s %s. Capture scenario %s records them.", who,
                              mode->what, mode->capture);
    doc_next(doc, str_format(doc->arena, "get_trace_stats(trace_id=\"" STR_FMT "\")",
                             STR_ARG(compare->sides[some[BASELINE] ? TEST : BASELINE].id)));
}

// ---------------------------------------------------------------- the call

static void read_modules(Compare *compare) {
    Str text = str_trim(values_text(compare->call->values, "modules"));
    bool functions = str_eq(STR("span_samples"), str_from_c(compare->mode->span)) &&
                     !str_eq(STR("processes"), str_from_c(compare->mode->name));
    compare->network = functions && !text.n;
    if (!functions || !text.n || str_eq_nocase(text, STR("all"))) return;
    compare->modules = ARENA_ARRAY(compare->call->arena, Str, text.n + 1);
    Str lower = str_lower(compare->call->arena, text);
    for (size_t i = 0, from = 0; i <= lower.n; i++) {
        if (i < lower.n && lower.p[i] != ',' && lower.p[i] != '|') continue;
        Str part = str_trim(str_slice(lower, from, i));
        if (part.n) compare->modules[compare->module_count++] = part;
        from = i + 1;
    }
}

static double given_or(const Compare *compare, const char *name, double fallback) {
    const Value *value = values_get(compare->call->values, name);
    return value->present ? value->f64 : fallback;
}

static Status read_windows(Compare *compare, Err *err) {
    for (int i = 0; i < SIDES; i++) {
        Side *side = &compare->sides[i];
        side->start_s = given_or(compare, i ? "test_start" : "baseline_start", 0);
        side->end_s = given_or(compare, i ? "test_end" : "baseline_end", -1);
        if (side->end_s >= 0 && side->end_s <= side->start_s)
            return err_set(err, ERR_ARG, "%s_end must be greater than %s_start", side->label,
                           side->label);
    }
    return OK;
}

// Rows of every kind need something on each side, else the comparison is of a capture, not of work.
static Status has_data(Compare *compare, bool some[SIDES], Err *err) {
    static const struct {
        const char *mode, *sql;
    } CHECKS[] = {
        {"waits",   "SELECT count(*) FROM context_switch"                                       },
        {"dpc",     "SELECT count(*) FROM interrupt WHERE kind LIKE '%dpc'"                     },
        {"disk",    "SELECT count(*) FROM disk_io"                                              },
        {"flows",   "SELECT (SELECT count(*) FROM tcp_event) + (SELECT count(*) FROM udp_event)"},
        {"per_cpu", "SELECT count(*) FROM cpu_span"                                             },
    };
    for (size_t i = 0; i < COUNT_OF(CHECKS); i++) {
        if (!str_eq(str_from_c(CHECKS[i].mode), str_from_c(compare->mode->name))) continue;
        for (int k = 0; k < SIDES; k++) {
            ResultSet result = {0};
            TRY(session_query(compare->sides[k].hold.session, str_from_c(CHECKS[i].sql), NULL, 0, 1,
                              compare->call->arena, &result, err));
            some[k] = some[k] && result.row_count && cell_number(&result.cells[0]) > 0;
        }
    }
    return OK;
}

static Status compare_run(Compare *compare, Err *err) {
    bool some[SIDES] = {false, false};
    for (int i = 0; i < SIDES; i++) TRY(settle_span(compare, &compare->sides[i], &some[i], err));
    TRY(has_data(compare, some, err));
    put_facts(compare);
    if (!some[BASELINE] || !some[TEST]) {
        explain_missing(compare, some);
        return OK;
    }
    for (int i = 0; i < SIDES; i++)
        compare->seconds[i] = (double)(compare->sides[i].to_ns - compare->sides[i].from_ns) / 1e9;
    TRY(collect(compare, err));
    bool functions = str_eq(STR("hot_functions"), str_from_c(compare->mode->name));
    if (functions) TRY(fold_modules(compare, err));
    compare_judge(&compare->items, compare->seconds, compare->mode->utilisation);
    vec_sort(&compare->items, compare_order);
    if (compare->items.count) put_total(compare);
    if (compare->items.count) put_verdict(compare);
    put_table(compare);
    if (functions) compare_note_moved(&compare->items, compare->call->doc);
    put_notes(compare);
    return OK;
}

Status handle_compare_traces(ToolCall *call, Err *err) {
    Compare compare = {.call = call};
    compare.sides[BASELINE] = (Side){.param = "baseline_etl", .label = "baseline"};
    compare.sides[TEST] = (Side){.param = "test_etl", .label = "test"};
    Str mode = values_text(call->values, "mode");
    for (size_t i = 0; i < COUNT_OF(MODES); i++)
        if (str_eq(mode, str_from_c(MODES[i].name))) compare.mode = &MODES[i];
    INVARIANT(compare.mode);
    call->doc->headline = call->tool->headline;
    call->doc->title = call->tool->title;
    if (values_get(call->values, "max_rows")->given) call->doc->budget_bytes = LIMIT_REPLY_BYTES;
    read_modules(&compare);
    TRY(read_windows(&compare, err));
    for (int i = 0; i < SIDES; i++) TRY(begin_side(&compare, &compare.sides[i], err));
    TRY(wait_for_sides(&compare, err));
    Status status = OK;
    for (int i = 0; i < SIDES && status == OK; i++)
        status = finish_side(&compare, &compare.sides[i], err);
    if (status == OK) status = compare_run(&compare, err);
    for (int i = 0; i < SIDES; i++) end_side(&compare.sides[i]);
    return status;
}
