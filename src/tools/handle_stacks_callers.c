// get_function_callers: who calls a function, and whom it calls, exactly, from every sample's
// stack.
//
// A sample counts once: where a stack holds the function several times (recursion), the outermost
// of them says the caller and the innermost the callee, so that each direction adds up to the
// function's inclusive weight. walk_stack shows the recursion itself.
#include "tools/chain.h"
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

static const char *direction_name(bool callees) {
    return callees ? "callee" : "caller";
}

static void put_rows(StackCall *stacks, DocSection *table, const Neighbours *neighbours,
                     bool both) {
    const Function *functions = stacks->set->functions;
    for (size_t i = 0; i < neighbours->count; i++) {
        const Neighbour *row = &neighbours->items[i];
        Cell *cells = doc_row(stacks->doc, table);
        size_t at = 0;
        if (row->is_end) {
            cells[at++] = cell_text(neighbours->callees ? STR("[self]") : STR("[root]"));
            cells[at++] = cell_text(STR(""));
        } else {
            cells[at++] = cell_text(functions[row->function].name);
            cells[at++] = cell_text(functions[row->function].module);
            stack_call_note_function(stacks, row->function);
        }
        if (both) cells[at++] = cell_text(str_from_c(direction_name(neighbours->callees)));
        cells[at++] = cell_i64(row->weight);
        if (neighbours->total)
            cells[at] = cell_f64(100.0 * (double)row->weight / (double)neighbours->total);
        at++;
        cells[at++] = denominator_share(&stacks->denominator, row->weight);
        cells[at] = cell_i64(row->samples);
    }
}

static void cut_rows(StackCall *stacks, DocSection *table) {
    const Value *cap = stack_call_value(stacks, "max_rows");
    if (!cap || (uint64_t)cap->i64 >= table->row_count) return;
    table->row_count = (size_t)cap->i64;
    table->cap = STR("max_rows");
}

static DocSection *open_table(StackCall *stacks, bool both) {
    Doc *doc = stacks->doc;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Function", "text");
    doc_column(doc, table, "Module", "text");
    if (both) doc_column(doc, table, "Direction", "text");
    doc_column(doc, table, "Hits", "us");
    doc_column(doc, table, "% of Parent", "pct");
    doc_column(doc, table, str_to_c(stacks->arena, stacks->denominator.label), "pct");
    doc_column(doc, table, "Samples", "count");
    return table;
}

static void note_recursion(StackCall *stacks, uint32_t function) {
    int64_t recursive = stack_recursive_weight(&stacks->tree, function);
    if (!recursive) return;
    doc_note(stacks->doc,
             str_format(stacks->arena,
                        "Recursion: " STR_FMT " us of these samples hold the function more than "
                        "once; the outermost call counts for callers, the innermost for callees. "
                        "walk_stack follows the recursion itself.",
                        STR_ARG(format_integer(recursive / 1000, stacks->arena))));
}

static Str inclusive_text(const StackCall *stacks, uint32_t function) {
    const FunctionWeight *weights = &stacks->functions[function];
    return str_format(stacks->arena, STR_FMT " us in " STR_FMT " samples, " STR_FMT " us exclusive",
                      STR_ARG(format_integer(weights->inclusive / 1000, stacks->arena)),
                      STR_ARG(format_integer(weights->samples, stacks->arena)),
                      STR_ARG(format_integer(weights->exclusive / 1000, stacks->arena)));
}

Status handle_get_function_callers(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    StackOptions options = {.needs_stacks = true};
    bool enough = false, found = false;
    TRY(stack_call_open(call, &options, &stacks, &enough, err));
    if (!enough) return OK;
    FunctionChoice choice = {"function_filter", "module_filter"};
    uint32_t function = 0;
    TRY(stack_call_choose(&stacks, &choice, &function, &found, err));
    if (found) {
        Str direction = values_text(call->values, "direction");
        bool both = str_eq(direction, STR("both"));
        bool callers = both || str_eq(direction, STR("callers"));
        bool callees = both || !callers;
        const char *what = both ? "Callers and callees of" : callers ? "Callers of" : "Callees of";
        call->doc->headline = stack_call_headline(&stacks, what, function);
        doc_scope(call->doc, STR("Hits"), inclusive_text(&stacks, function));
        DocSection *table = open_table(&stacks, both);
        for (int i = 0; i < 2; i++) {
            if (!(i ? callees : callers)) continue;
            Neighbours neighbours = stack_neighbours(&stacks.tree, function, i == 1, call->arena);
            put_rows(&stacks, table, &neighbours, both);
        }
        cut_rows(&stacks, table);
        note_recursion(&stacks, function);
    }
    stack_call_notes(&stacks);
    if (found)
        (void)stack_call_next(&stacks, "walk_stack", function);
    else
        doc_next(call->doc, str_format(call->arena, "get_hot_stacks(trace_id=\"" STR_FMT "\")",
                                       STR_ARG(call->trace->trace_id)));
    return OK;
}
