// walk_stack and butterfly_chain: the prefix tree around a function, as a table or as CSV.
#include "base/limits.h"
#include "tools/chain.h"
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

enum { ROWS_MAX = 500, DEPTH_MAX = 1024, CSV_CELL_ROOM = 64 };

typedef struct ChainCall {
    StackCall *stacks;
    uint32_t function;
    Str policy;
    bool share; // a column with the share of the denominator
} ChainCall;

static BranchPolicy policy_of(Str text) {
    if (str_eq(text, STR("all"))) return BRANCH_ALL;
    return str_eq(text, STR("threshold")) ? BRANCH_THRESHOLD : BRANCH_DOMINANT;
}

static ChainOptions options_of(const StackCall *stacks, bool callees) {
    const Value *depth = stack_call_value(stacks, "max_depth");
    ChainOptions options = {.callees = callees,
                            .policy = policy_of(values_text(stacks->call->values, "branch_policy")),
                            .depth_max = DEPTH_MAX,
                            .rows_max = ROWS_MAX};
    if (depth && depth->i64 < DEPTH_MAX) options.depth_max = (uint32_t)depth->i64;
    const Value *threshold = stack_call_value(stacks, "branch_threshold_pct");
    if (threshold) options.threshold_pct = threshold->f64;
    const Value *stops = stack_call_value(stacks, "stop_at_modules");
    if (stops && stops->count) {
        Str *items = ARENA_ARRAY(stacks->arena, Str, stops->count);
        for (size_t i = 0; i < stops->count; i++)
            items[i] = str_lower(stacks->arena, str_trim(stops->list[i]));
        ModuleMatch match = {items, stops->count, false};
        options.stops = stack_functions_matching(stacks->set, &match, NULL, 0, stacks->arena);
    }
    return options;
}

static Str branch_text(const ChainCall *call, const ChainRow *row) {
    if (!row->depth) return STR("root");
    if (!row->siblings_left) return call->policy;
    return str_format(call->stacks->arena, STR_FMT " (+%zu not followed)", STR_ARG(call->policy),
                      row->siblings_left);
}

static DocSection *open_table(const ChainCall *call, Str name, Str heading) {
    Doc *doc = call->stacks->doc;
    DocSection *table = doc_table(doc, name, heading);
    doc_column(doc, table, "Depth", "id");
    doc_column(doc, table, "Frame", "text");
    doc_column(doc, table, "Frame Hits", "us");
    if (call->share)
        doc_column(doc, table, str_to_c(call->stacks->arena, call->stacks->denominator.label),
                   "pct");
    doc_column(doc, table, "% Parent", "pct");
    doc_column(doc, table, "Chain Hits", "us");
    doc_column(doc, table, "Branch", "text");
    doc_column(doc, table, "Samples", "count");
    return table;
}

static double parent_share(const Chain *chain, const ChainRow *row) {
    int64_t parent = chain->rows[row->parent].chain_weight;
    return parent ? 100.0 * (double)row->chain_weight / (double)parent : 0;
}

static void put_rows(const ChainCall *call, const Chain *chain, DocSection *table, int64_t sign) {
    StackCall *stacks = call->stacks;
    for (size_t i = 0; i < chain->count; i++) {
        const ChainRow *row = &chain->rows[i];
        Cell *cells = doc_row(stacks->doc, table);
        size_t at = 0;
        cells[at++] = cell_i64(sign * (int64_t)row->depth);
        cells[at++] = cell_text(stack_function_label(stacks->set, row->function, stacks->arena));
        cells[at++] = cell_i64(row->frame_weight);
        if (call->share) cells[at++] = denominator_share(&stacks->denominator, row->chain_weight);
        cells[at++] = cell_f64(parent_share(chain, row));
        cells[at++] = cell_i64(row->chain_weight);
        cells[at++] = cell_text(branch_text(call, row));
        cells[at] = cell_i64(row->chain_samples);
        stack_call_note_function(stacks, row->function);
    }
}

static void note_hidden(StackCall *stacks, const Chain *chain) {
    if (!chain->hidden_edges) return;
    doc_note(stacks->doc,
             str_format(stacks->arena,
                        "The %d heaviest rows are kept; %zu further edges below them, with " STR_FMT
                        " us, are left out. branch_policy=threshold thins the tree.",
                        (int)ROWS_MAX, chain->hidden_edges,
                        STR_ARG(format_integer(chain->hidden_weight / 1000, stacks->arena))));
}

static void finish(StackCall *stacks) {
    stack_call_notes(stacks);
    doc_next(stacks->doc, str_format(stacks->arena, "get_hot_stacks(trace_id=\"" STR_FMT "\")",
                                     STR_ARG(stacks->call->trace->trace_id)));
}

Status handle_walk_stack(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    StackOptions options = {.needs_stacks = true};
    bool enough = false, found = false;
    TRY(stack_call_open(call, &options, &stacks, &enough, err));
    if (!enough) return OK;
    FunctionChoice choice = {"function_filter", "module_filter"};
    ChainCall walk = {&stacks, 0, values_text(call->values, "branch_policy"), false};
    TRY(stack_call_choose(&stacks, &choice, &walk.function, &found, err));
    if (found) {
        bool callees = str_eq(values_text(call->values, "direction"), STR("callees"));
        ChainOptions chain_options = options_of(&stacks, callees);
        Chain chain = {0};
        chain_build(&stacks.tree, walk.function, &chain_options, call->arena, &chain);
        call->doc->headline = stack_call_headline(
            &stacks, callees ? "Callees below" : "Callers above", walk.function);
        stack_call_unit(&stacks);
        put_rows(&walk, &chain, open_table(&walk, STR("main"), (Str){0}), 1);
        note_hidden(&stacks, &chain);
    }
    finish(&stacks);
    return OK;
}

// ---------------------------------------------------------------- butterfly_chain

static void csv_row(Buf *out, const ChainCall *call, const Chain *chain, const ChainRow *row,
                    int64_t sign) {
    Arena *arena = call->stacks->arena;
    Format us = {.kind = FORMAT_US, .decimals = -1}, pct = {.kind = FORMAT_PERCENT, .decimals = -1};
    Cell frame_hits = cell_i64(row->frame_weight), chain_hits = cell_i64(row->chain_weight);
    Cell share = cell_f64(parent_share(chain, row));
    buf_addf(out, "%lld,", (long long)(sign * (int64_t)row->depth));
    buf_add_csv(out,
                format_clean(stack_function_label(call->stacks->set, row->function, arena), arena));
    buf_addf(
        out, "," STR_FMT "," STR_FMT "," STR_FMT ",", STR_ARG(format_plain(us, &frame_hits, arena)),
        STR_ARG(format_plain(pct, &share, arena)), STR_ARG(format_plain(us, &chain_hits, arena)));
    buf_add_csv(out, branch_text(call, row));
    buf_add_char(out, '\n');
}

// Rows that do not fit the reply, and edges that the cap left out, are one last row.
static void csv_rest(Buf *out, StackCall *stacks, const Chain *chain, size_t left) {
    size_t edges = chain->hidden_edges + left;
    if (!edges) return;
    buf_addf(out, ",[not shown],,," STR_FMT ",cut (%zu edges)\n",
             STR_ARG(format_plain((Format){.kind = FORMAT_US, .decimals = -1},
                                  &(Cell){.type = CELL_I64, .i64 = chain->hidden_weight},
                                  stacks->arena)),
             edges);
}

static void csv_chain(Buf *out, const ChainCall *call, const Chain *chain, int64_t sign) {
    size_t i = 0;
    for (; i < chain->count; i++) {
        size_t before = out->n;
        csv_row(out, call, chain, &chain->rows[i], sign);
        if (out->n + CSV_CELL_ROOM <= LIMIT_REPLY_BYTES) continue;
        out->n = before;
        break;
    }
    csv_rest(out, call->stacks, chain, chain->count - i);
}

static void butterfly(const ChainCall *call, bool callers, bool callees, Str format) {
    StackCall *stacks = call->stacks;
    bool csv = !str_eq(format, STR("table")), wpa = str_eq(format, STR("wpa_csv"));
    bool both = callers && callees;
    Buf out = {0};
    if (csv)
        buf_add_c(&out, wpa ? "Level,Function,Inclusive Hits,Parent %,Chain Hits,Branch\n"
                            : "Depth,Frame,Frame Hits,% Parent,Chain Hits,Branch\n");
    for (int i = 0; i < 2; i++) {
        bool down = i == 1;
        if (!(down ? callees : callers)) continue;
        ChainOptions options = options_of(stacks, down);
        Chain chain = {0};
        chain_build(&stacks->tree, call->function, &options, stacks->arena, &chain);
        Str heading = !both ? (Str){0} : down ? STR("**Callees**") : STR("**Callers**");
        DocSection *table = open_table(call, both && down ? STR("callees") : STR("main"), heading);
        int64_t sign = csv && !down ? -1 : 1;
        put_rows(call, &chain, table, sign);
        if (csv) csv_chain(&out, call, &chain, sign);
        note_hidden(stacks, &chain);
    }
    if (csv) stacks->doc->raw = str_copy(stacks->arena, buf_str(&out));
    buf_done(&out);
}

Status handle_butterfly_chain(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    StackOptions options = {.needs_stacks = true};
    bool enough = false, found = false;
    TRY(stack_call_open(call, &options, &stacks, &enough, err));
    if (!enough) return OK;
    FunctionChoice choice = {"target_function", "target_module"};
    ChainCall chain = {&stacks, 0, values_text(call->values, "branch_policy"), true};
    TRY(stack_call_choose(&stacks, &choice, &chain.function, &found, err));
    if (found) {
        Str direction = values_text(call->values, "direction");
        bool both = str_eq(direction, STR("both"));
        bool callers = both || str_eq(direction, STR("callers"));
        call->doc->headline = stack_call_headline(&stacks, "Butterfly of", chain.function);
        stack_call_unit(&stacks);
        butterfly(&chain, callers, both || !callers, values_text(call->values, "output_format"));
    }
    finish(&stacks);
    return OK;
}
