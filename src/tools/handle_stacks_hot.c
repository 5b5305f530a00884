// get_hot_functions and get_hot_stacks, and both for the networking modules.
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLES_MAX = 5, SCOPE_NAMES = 6, MODULES_LISTED = 10, FLAG_PCT = 10 };

typedef struct HotRow {
    uint32_t function; // UINT32_MAX: the synthetic idle row
    int64_t inclusive, exclusive, samples;
} HotRow;
typedef struct HotRows {
    HotRow *items;
    size_t count;
} HotRows;

static const uint32_t IDLE_FUNCTION = UINT32_MAX;

// Module filter of a call, however it came about.
typedef struct Scope {
    ModuleMatch modules;
    bool everything; // no filter at all
    Str text;        // for the scope line; empty: none
} Scope;

// ---------------------------------------------------------------- rows

static int compare_exclusive(const void *left, const void *right) {
    const HotRow *a = left, *b = right;
    if (a->exclusive != b->exclusive) return a->exclusive > b->exclusive ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static int compare_inclusive(const void *left, const void *right) {
    const HotRow *a = left, *b = right;
    if (a->inclusive != b->inclusive) return a->inclusive > b->inclusive ? -1 : 1;
    return compare_exclusive(left, right);
}

// A sample without a stack is a stack of one frame here: it is in its function, once.
static FunctionWeight *all_weights(const StackCall *stacks, int64_t *exclusive_samples) {
    const StackSet *set = stacks->set;
    size_t count = (size_t)set->function_count + 1;
    FunctionWeight *out = ARENA_ARRAY(stacks->arena, FunctionWeight, count);
    memcpy(out, stacks->functions, count * sizeof *out);
    for (size_t i = 0; i < stacks->weights.count; i++) {
        const StackWeight *entry = &stacks->weights.items[i];
        if (exclusive_samples) exclusive_samples[entry->function] += entry->samples;
        if (entry->node) continue;
        out[entry->function].inclusive += entry->weight;
        out[entry->function].exclusive += entry->weight;
        out[entry->function].samples += entry->samples;
    }
    return out;
}

static HotRows rows_of(const StackCall *stacks, const FunctionWeight *weights,
                       const int64_t *exclusive_samples, const bool *fits) {
    uint32_t count = stacks->set->function_count + 1;
    HotRows rows = {ARENA_ARRAY(stacks->arena, HotRow, (size_t)count + 1), 0};
    for (uint32_t f = 0; f < count; f++) {
        if (!fits[f] || !weights[f].inclusive) continue;
        if (exclusive_samples && !weights[f].exclusive) continue;
        rows.items[rows.count++] =
            (HotRow){f, weights[f].inclusive, weights[f].exclusive,
                     exclusive_samples ? exclusive_samples[f] : weights[f].samples};
    }
    return rows;
}

// Does a filter on processes let the synthetic idle process (pid 0) through?
static bool idle_process_fits(const StackCall *stacks) {
    const Value *process = stack_call_value(stacks, "process_filter");
    if (!process) return true;
    for (size_t i = 0; i < process->count; i++)
        if (str_eq(process->list[i], STR("0")) ||
            str_find(STR("idle"), process->list[i]) != SIZE_MAX)
            return true;
    return false;
}

static Status add_idle(const StackCall *stacks, HotRows *rows, Err *err) {
    if (!stacks->denominator.short_ns || stacks->options.dpc_only || !idle_process_fits(stacks))
        return OK;
    int64_t short_ns = 0;
    TRY(denominator_idle(stacks->call->trace, &stacks->window,
                         stack_call_value(stacks, "cpu_filter"), stacks->arena, &short_ns, err));
    if (short_ns) rows->items[rows->count++] = (HotRow){IDLE_FUNCTION, short_ns, short_ns, 0};
    return OK;
}

static Cell module_cell(const StackCall *stacks, uint32_t function) {
    if (function == IDLE_FUNCTION) return cell_text(denominator_idle_module(&stacks->denominator));
    return cell_text(stacks->set->functions[function].module);
}

static Cell function_cell(const StackCall *stacks, uint32_t function) {
    if (function == IDLE_FUNCTION)
        return cell_text(denominator_idle_function(&stacks->denominator));
    return cell_text(stacks->set->functions[function].name);
}

static size_t rows_shown(const StackCall *stacks, size_t count) {
    const Value *cap = stack_call_value(stacks, "max_rows");
    return cap && (uint64_t)cap->i64 < count ? (size_t)cap->i64 : count;
}

static void finish_table(DocSection *table, size_t total) {
    table->total_rows = total;
    if (table->row_count < total) table->cap = STR("max_rows");
}

static void note_rows(StackCall *stacks, const HotRows *rows, size_t shown) {
    bool over = false;
    for (size_t i = 0; i < shown; i++) {
        if (rows->items[i].function != IDLE_FUNCTION)
            stack_call_note_function(stacks, rows->items[i].function);
        over = over || (double)rows->items[i].inclusive > stacks->denominator.weight_ns * 1.005;
    }
    if (over && stacks->denominator.weight_ns > 0)
        doc_note(stacks->doc,
                 str_format(stacks->arena,
                            "Shares above 100 %%: these rows hold idle time or CPUs that the "
                            "denominator " STR_FMT " leaves out.",
                            STR_ARG(stacks->denominator.mode)));
}

static void next_calls(StackCall *stacks, const HotRows *rows, const char *tool) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].function != IDLE_FUNCTION &&
            stack_call_next(stacks, "get_function_callers", rows->items[i].function))
            break;
    doc_next(stacks->doc, str_format(stacks->arena, "%s(trace_id=\"" STR_FMT "\")", tool,
                                     STR_ARG(stacks->call->trace->trace_id)));
}

// ---------------------------------------------------------------- get_hot_functions

static Scope scope_of_list(const StackCall *stacks, Str text) {
    Scope scope = {0};
    size_t room = 1;
    for (size_t i = 0; i < text.n; i++) room += text.p[i] == ',' || text.p[i] == '|';
    Str *items = ARENA_ARRAY(stacks->arena, Str, room);
    size_t count = 0;
    Str rest = text, comma = {0}, part = {0};
    while (str_next(&rest, ',', &comma))
        while (str_next(&comma, '|', &part))
            if (str_trim(part).n) items[count++] = str_lower(stacks->arena, str_trim(part));
    bool all = count == 1 && str_eq(items[0], STR("all"));
    scope.everything = all || !count;
    if (!scope.everything) scope.modules = (ModuleMatch){items, count, false};
    scope.text = scope.everything ? STR("all") : format_clean(text, stacks->arena);
    return scope;
}

static void list_modules(StackCall *stacks, const FunctionWeight *weights) {
    const StackSet *set = stacks->set;
    HotRow *modules = ARENA_ARRAY(stacks->arena, HotRow, (size_t)set->function_count + 1);
    size_t count = 0;
    for (uint32_t f = 0; f <= set->function_count; f++) {
        bool same = count && str_eq(set->functions[modules[count - 1].function].module,
                                    set->functions[f].module);
        if (!same) modules[count++] = (HotRow){.function = f};
        modules[count - 1].exclusive += weights[f].exclusive;
    }
    qsort(modules, count, sizeof *modules, compare_exclusive);
    DocSection *table = doc_table(stacks->doc, STR("modules"), STR("**Hottest modules**"));
    doc_column(stacks->doc, table, "Module", "text");
    doc_column(stacks->doc, table, "Weight", "us");
    for (size_t i = 0; i < count && i < MODULES_LISTED && modules[i].exclusive; i++) {
        Cell *cells = doc_row(stacks->doc, table);
        cells[0] = cell_text(set->functions[modules[i].function].module);
        cells[1] = cell_i64(modules[i].exclusive);
    }
}

static int64_t sum_where(const StackCall *stacks, const HotRows *rows, const char *module,
                         const char *const *names, size_t name_count) {
    int64_t sum = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].function == IDLE_FUNCTION) continue;
        const Function *f = &stacks->set->functions[rows->items[i].function];
        if (module && !str_eq_nocase(f->module, str_from_c(module))) continue;
        bool hit = !name_count;
        for (size_t k = 0; k < name_count && !hit; k++)
            hit = str_find_nocase(f->name, str_from_c(names[k])) != SIZE_MAX;
        if (hit) sum += rows->items[i].exclusive;
    }
    return sum;
}

static void xdp_line(StackCall *stacks, const char *what, int64_t part, int64_t whole,
                     bool flagged) {
    double share = whole ? 100.0 * (double)part / (double)whole : 0;
    DocSection *lines = &stacks->doc->sections.items[stacks->doc->sections.count - 1];
    Cell *cells = doc_row(stacks->doc, lines);
    cells[0] = cell_text(str_from_c(what));
    cells[1] = cell_f64(share);
    cells[2] = cell_text(flagged && share > FLAG_PCT ? STR("above 10 %: look here") : STR(""));
}

// The CPU map of XDP hands packets to other CPUs; its known bottlenecks.
static void xdp_block(StackCall *stacks, const HotRows *rows, int64_t total) {
    static const char *const CLONES[] = {"NdisAllocateClone", "NdisFreeClone", "CloneNetBuffer"};
    // Leaf functions that spin; SpinLock covers the KeAcquire... family.
    static const char *const SPINS[] = {"KxWaitForSpinLock", "KxWaitForLockOwnerShip",
                                        "KeAcquireInStackQueuedSpinLock", "SpinLock"};
    static const char *const DRAIN[] = {"XdpCpuMapDrainDpc"};
    static const char *const FLUSH[] = {"XdpCpuMapFlushBatch"};
    static const char *const INSPECT[] = {"XdpInspect", "XdpParseFrame"};
    int64_t xdp = sum_where(stacks, rows, "xdp.sys", NULL, 0);
    bool in_scope = false;
    for (size_t i = 0; i < rows->count && !in_scope; i++)
        in_scope = rows->items[i].function != IDLE_FUNCTION &&
                   str_find_nocase(stacks->set->functions[rows->items[i].function].module,
                                   STR("xdp")) != SIZE_MAX;
    if (!in_scope) return;
    DocSection *table = doc_table(stacks->doc, STR("xdp"), STR("## XDP CPU map"));
    doc_column(stacks->doc, table, "What", "text");
    doc_column(stacks->doc, table, "Share", "pct");
    doc_column(stacks->doc, table, "Flag", "text");
    xdp_line(stacks, "Clone allocation and free, of xdp.sys",
             sum_where(stacks, rows, "xdp.sys", CLONES, COUNT_OF(CLONES)), xdp, true);
    xdp_line(stacks, "Spinning for spinlocks (innermost frame), of the rows in scope",
             sum_where(stacks, rows, NULL, SPINS, COUNT_OF(SPINS)), total, true);
    xdp_line(stacks, "XdpCpuMapDrainDpc, of xdp.sys", sum_where(stacks, rows, "xdp.sys", DRAIN, 1),
             xdp, false);
    xdp_line(stacks, "XdpCpuMapFlushBatch, of xdp.sys",
             sum_where(stacks, rows, "xdp.sys", FLUSH, 1), xdp, false);
    xdp_line(stacks, "XdpInspect and XdpParseFrame, of xdp.sys",
             sum_where(stacks, rows, "xdp.sys", INSPECT, COUNT_OF(INSPECT)), xdp, false);
}

static void functions_table(StackCall *stacks, const HotRows *rows, int64_t total) {
    Doc *doc = stacks->doc;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Module", "text");
    doc_column(doc, table, "Function", "text");
    doc_column(doc, table, "Weight", "us");
    doc_column(doc, table, "% Weight", "pct");
    doc_column(doc, table, str_to_c(stacks->arena, stacks->denominator.label), "pct");
    doc_column(doc, table, "Samples", "count");
    size_t shown = rows_shown(stacks, rows->count);
    for (size_t i = 0; i < shown; i++) {
        const HotRow *row = &rows->items[i];
        Cell *cells = doc_row(doc, table);
        cells[0] = module_cell(stacks, row->function);
        cells[1] = function_cell(stacks, row->function);
        cells[2] = cell_i64(row->exclusive);
        if (total) cells[3] = cell_f64(100.0 * (double)row->exclusive / (double)total);
        cells[4] = denominator_share(&stacks->denominator, row->exclusive);
        cells[5] = cell_i64(row->samples);
    }
    finish_table(table, rows->count);
    note_rows(stacks, rows, shown);
}

static Status hot_functions(StackCall *stacks, const Scope *scope, Err *err) {
    int64_t *samples = ARENA_ARRAY(stacks->arena, int64_t, (size_t)stacks->set->function_count + 1);
    FunctionWeight *weights = all_weights(stacks, samples);
    bool *fits = stack_functions_matching(stacks->set, &scope->modules, NULL, 0, stacks->arena);
    HotRows rows = rows_of(stacks, weights, samples, fits);
    if (scope->everything) TRY(add_idle(stacks, &rows, err));
    vec_sort(&rows, compare_exclusive);
    int64_t total = 0;
    for (size_t i = 0; i < rows.count; i++) total += rows.items[i].exclusive;
    if (rows.count) {
        functions_table(stacks, &rows, total);
    } else {
        DocSection *main = doc_table(stacks->doc, STR("main"), (Str){0});
        main->empty = STR("No sample of this scope is in one of these modules; modules=\"all\" "
                          "takes away the filter.");
        list_modules(stacks, weights);
    }
    xdp_block(stacks, &rows, total);
    stack_call_notes(stacks);
    next_calls(stacks, &rows, "get_hot_stacks");
    return OK;
}

// Exclusive time needs no stacks, so nothing is said of those that are missing.
static Status open_functions(ToolCall *call, StackCall *stacks, bool *enough, Err *err) {
    StackOptions options = {.source = STACKS_SAMPLES, .leaf_only = true};
    return stack_call_open(call, &options, stacks, enough, err);
}

Status handle_get_hot_functions(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    bool enough = false;
    TRY(open_functions(call, &stacks, &enough, err));
    if (!enough) return OK;
    Scope scope = {0};
    const Value *modules = stack_call_value(&stacks, "modules");
    if (modules) {
        scope = scope_of_list(&stacks, modules->text);
        doc_scope(call->doc, STR("Modules"), scope.text);
    } else {
        scope.modules = modules_default(call->arena);
        doc_scope(call->doc, STR("Modules"),
                  STR("networking (22 modules, the kernel included); modules=\"all\" shows every "
                      "module"));
    }
    return hot_functions(&stacks, &scope, err);
}

// ---------------------------------------------------------------- get_hot_stacks

// The frames of one stack, innermost first, around the function that the row is about.
static void put_stack(StackCall *stacks, const StackWeight *entry, uint32_t function,
                      uint32_t *path) {
    Doc *doc = stacks->doc;
    uint32_t frames = stack_path(stacks->set, entry, path), at = 0;
    uint32_t depth = (uint32_t)stack_call_value(stacks, "max_depth")->i64;
    while (at < frames && path[at] != function) at++;
    DocSection *section = &doc->sections.items[doc->sections.count - 1];
    for (uint32_t i = 0; i < frames && i < depth; i++)
        doc_row(doc, section)[0] = cell_text(
            str_format(stacks->arena, "%s" STR_FMT, i == at ? "> " : "  ",
                       STR_ARG(stack_function_label(stacks->set, path[i], stacks->arena))));
    if (at >= depth) {
        if (at > depth)
            doc_row(doc, section)[0] =
                cell_text(str_format(stacks->arena, "  ... %u more", at - depth));
        doc_row(doc, section)[0] = cell_text(
            str_format(stacks->arena, "> " STR_FMT,
                       STR_ARG(stack_function_label(stacks->set, function, stacks->arena))));
    }
    uint32_t last = at >= depth ? at + 1 : depth;
    if (last < frames)
        doc_row(doc, section)[0] =
            cell_text(str_format(stacks->arena, "  ... %u more", frames - last));
}

static void examples(StackCall *stacks, const HotRows *rows, size_t shown) {
    uint32_t *path = ARENA_ARRAY(stacks->arena, uint32_t, stacks->set->longest);
    uint32_t done = 0;
    for (size_t i = 0; i < shown && done < EXAMPLES_MAX; i++) {
        uint32_t function = rows->items[i].function;
        if (function == IDLE_FUNCTION) continue;
        done++;
        StackWeight entry = {.node = stack_heaviest(&stacks->tree, function)};
        if (!entry.node) continue; // its samples have no stack
        Str heading = str_format(
            stacks->arena, "**Heaviest stack with " STR_FMT "** (" STR_FMT " us, innermost first)",
            STR_ARG(stack_function_label(stacks->set, function, stacks->arena)),
            STR_ARG(
                format_integer(stack_tree_own(&stacks->tree, entry.node) / 1000, stacks->arena)));
        DocSection *section =
            doc_table(stacks->doc, str_format(stacks->arena, "stack %u", done), heading);
        doc_column(stacks->doc, section, "Frame", "text");
        section->style = STYLE_CODE;
        put_stack(stacks, &entry, function, path);
    }
}

static size_t above_threshold(StackCall *stacks, HotRows *rows) {
    double least = stack_call_value(stacks, "min_weight_pct")->f64;
    double whole = stacks->denominator.weight_ns;
    size_t kept = 0;
    while (kept < rows->count && 100.0 * (double)rows->items[kept].inclusive >= least * whole)
        kept++;
    if (kept < rows->count)
        doc_note(stacks->doc,
                 str_format(stacks->arena,
                            STR_FMT " functions below %.9g %% (min_weight_pct) are left out.",
                            STR_ARG(format_integer((int64_t)(rows->count - kept), stacks->arena)),
                            least));
    return kept;
}

static void stacks_table(StackCall *stacks, const HotRows *rows, bool has_stacks) {
    Doc *doc = stacks->doc;
    char *label = str_to_c(stacks->arena, stacks->denominator.label);
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Module", "text");
    doc_column(doc, table, "Function", "text");
    doc_column(doc, table, "Inclusive", "us");
    doc_column(doc, table, str_format(stacks->arena, "Incl %s", label).p, "pct");
    doc_column(doc, table, "Exclusive", "us");
    doc_column(doc, table, str_format(stacks->arena, "Excl %s", label).p, "pct");
    doc_column(doc, table, "Samples", "count");
    size_t shown = rows_shown(stacks, rows->count);
    for (size_t i = 0; i < shown; i++) {
        const HotRow *row = &rows->items[i];
        Cell *cells = doc_row(doc, table);
        cells[0] = module_cell(stacks, row->function);
        cells[1] = function_cell(stacks, row->function);
        if (has_stacks) cells[2] = cell_i64(row->inclusive);
        if (has_stacks) cells[3] = denominator_share(&stacks->denominator, row->inclusive);
        cells[4] = cell_i64(row->exclusive);
        cells[5] = denominator_share(&stacks->denominator, row->exclusive);
        cells[6] = cell_i64(row->samples);
    }
    finish_table(table, rows->count);
    note_rows(stacks, rows, shown);
    if (!rows->count) table->empty = STR("No function of this scope reaches min_weight_pct.");
}

static Status hot_stacks(StackCall *stacks, const Scope *scope, Err *err) {
    const Value *names = stack_call_value(stacks, "function_filter");
    bool *fits = stack_functions_matching(stacks->set, &scope->modules, names ? names->list : NULL,
                                          names ? names->count : 0, stacks->arena);
    HotRows rows = rows_of(stacks, all_weights(stacks, NULL), NULL, fits);
    size_t found = rows.count;
    if (scope->everything && !names) TRY(add_idle(stacks, &rows, err));
    vec_sort(&rows, compare_inclusive);
    rows.count = above_threshold(stacks, &rows);
    bool has_stacks = stacks->weights.bare_samples < stacks->weights.samples;
    stacks_table(stacks, &rows, has_stacks);
    DocSection *main = &stacks->doc->sections.items[stacks->doc->sections.count - 1];
    if (!found) main->empty = STR("No stack of this scope holds a function that the filters name.");
    if (has_stacks)
        examples(stacks, &rows, rows_shown(stacks, rows.count));
    else
        doc_note(stacks->doc, STR("Stacks were not recorded (stack flag SampledProfile of the "
                                  "capture profile): exclusive weights only."));
    stack_call_notes(stacks);
    next_calls(stacks, &rows, "get_flame_graph");
    return OK;
}

static Status open_stacks(ToolCall *call, StackCall *stacks, bool *enough, Err *err) {
    StackOptions options = {.source = STACKS_SAMPLES,
                            .dpc_only = values_get(call->values, "dpc_only")->boolean};
    TRY(stack_call_open(call, &options, stacks, enough, err));
    if (options.dpc_only) doc_scope(call->doc, STR("Only"), STR("samples inside a DPC"));
    return OK;
}

Status handle_get_hot_stacks(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    bool enough = false;
    TRY(open_stacks(call, &stacks, &enough, err));
    if (!enough) return OK;
    const Value *modules = stack_call_value(&stacks, "module_filter");
    Scope scope = {.everything = !modules};
    if (modules) scope.modules = (ModuleMatch){modules->list, modules->count, false};
    return hot_stacks(&stacks, &scope, err);
}

// ---------------------------------------------------------------- for networking

// Drivers of network adapters, as the machine's configuration names their services.
static Status adapter_drivers(ToolCall *call, Str **out, size_t *count, Err *err) {
    ResultSet rows = {0};
    TRY(session_query(call->trace->session,
                      STR("SELECT DISTINCT lower(d.service) || '.sys' FROM device AS d "
                          "WHERE lower(d.class_guid::VARCHAR) = "
                          "'4d36e972-e325-11ce-bfc1-08002be10318' AND d.service IS NOT NULL "
                          "AND lower(d.service) || '.sys' IN (SELECT lower(name) FROM image) "
                          "ORDER BY 1"),
                      NULL, 0, 0, call->arena, &rows, err));
    *out = ARENA_ARRAY(call->arena, Str, rows.row_count);
    *count = rows.row_count;
    for (size_t i = 0; i < rows.row_count; i++) (*out)[i] = rows.cells[i].text;
    return OK;
}

// Drivers that ndis.sys calls, other than Windows' own.
static size_t ndis_drivers(const StackCall *stacks, Str *out, size_t max) {
    static const char *const OWN[] = {"wdf01000.sys", "fltmgr.sys",   "acpi.sys",    "pci.sys",
                                      "cng.sys",      "ksecdd.sys",   "pacer.sys",   "msrpc.sys",
                                      "ndisuio.sys",  "vwififlt.sys", "nwifi.sys",   "tdi.sys",
                                      "storport.sys", "clipsp.sys",   "wdiwifi.sys", "netbt.sys"};
    const StackSet *set = stacks->set;
    ModuleMatch known = modules_network(stacks->arena, NULL, 0);
    size_t count = 0;
    for (uint32_t node = 1; node <= set->node_count && count < max; node++) {
        uint32_t parent = set->parent[node];
        if (!parent || !stack_tree_weight(&stacks->tree, node)) continue;
        Str module = set->functions[set->function[node]].module;
        if (!str_eq_nocase(set->functions[set->function[parent]].module, STR("ndis.sys"))) continue;
        if (!str_ends_nocase(module, STR(".sys")) || module_matches(&known, module, stacks->arena))
            continue;
        bool own = false;
        for (size_t i = 0; i < COUNT_OF(OWN) && !own; i++)
            own = str_eq_nocase(module, str_from_c(OWN[i]));
        for (size_t i = 0; i < count && !own; i++) own = str_eq_nocase(out[i], module);
        if (!own) out[count++] = str_lower(stacks->arena, module);
    }
    return count;
}

// An empty list is a mistake, not "no filter".
static Status check_list(const ToolCall *call, const char *name, Err *err) {
    const Value *list = values_get(call->values, name);
    if (list->list && !list->count)
        return err_set(err, ERR_ARG, "%s is an empty list: leave it out, or name modules", name);
    for (size_t i = 0; i < list->count; i++)
        if (!str_trim(list->list[i]).n)
            return err_set(err, ERR_ARG, "%s holds an empty name", name);
    return OK;
}

static Status network_scope(StackCall *stacks, Scope *out, Err *err) {
    ToolCall *call = stacks->call;
    const Value *extra = values_get(call->values, "extra_modules");
    const Value *replace = values_get(call->values, "replace_modules");
    enum { DRIVERS_MAX = 16 };
    if (replace->count) {
        Str *items = ARENA_ARRAY(call->arena, Str, replace->count);
        for (size_t i = 0; i < replace->count; i++)
            items[i] = str_lower(call->arena, str_trim(replace->list[i]));
        out->modules = (ModuleMatch){items, replace->count, true};
        return OK;
    }
    Str *adapters = NULL;
    size_t adapter_count = 0;
    TRY(adapter_drivers(call, &adapters, &adapter_count, err));
    Str *more = ARENA_ARRAY(call->arena, Str, adapter_count + DRIVERS_MAX + extra->count);
    size_t count = ndis_drivers(stacks, more, DRIVERS_MAX);
    for (size_t i = 0; i < adapter_count; i++) {
        bool known = false;
        for (size_t k = 0; k < count; k++) known = known || str_eq(more[k], adapters[i]);
        if (!known) more[count++] = adapters[i];
    }
    if (count) {
        Buf names = {0};
        for (size_t i = 0; i < count; i++)
            buf_addf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(more[i]));
        doc_scope(call->doc, STR("Adapter drivers found"), str_copy(call->arena, buf_str(&names)));
        buf_done(&names);
    }
    for (size_t i = 0; i < extra->count; i++) more[count++] = str_trim(extra->list[i]);
    out->modules = modules_network(call->arena, more, count);
    return OK;
}

static void network_headline(ToolCall *call, const Scope *scope) {
    Buf line = {0};
    buf_addf(&line, "**Networking scope**: filtered to %zu module(s): ", scope->modules.count);
    for (size_t i = 0; i < scope->modules.count && i < SCOPE_NAMES; i++)
        buf_addf(&line, "%s" STR_FMT, i ? ", " : "", STR_ARG(scope->modules.items[i]));
    if (scope->modules.count > SCOPE_NAMES) buf_add_c(&line, ", ...");
    Str clean = format_clean(buf_str(&line), call->arena);
    call->doc->headline = str_format(call->arena, STR_FMT "\n\n" STR_FMT, STR_ARG(clean),
                                     STR_ARG(call->doc->headline));
    buf_done(&line);
}

static Status check_lists(const ToolCall *call, Err *err) {
    TRY(check_list(call, "extra_modules", err));
    return check_list(call, "replace_modules", err);
}

Status handle_get_network_hot_functions(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    bool enough = false;
    TRY(check_lists(call, err));
    TRY(open_functions(call, &stacks, &enough, err));
    if (!enough) return OK;
    Scope scope = {0};
    TRY(network_scope(&stacks, &scope, err));
    network_headline(call, &scope);
    return hot_functions(&stacks, &scope, err);
}

Status handle_get_network_hot_stacks(ToolCall *call, Err *err) {
    AUTO(stack_call_close) StackCall stacks = {0};
    bool enough = false;
    TRY(check_lists(call, err));
    TRY(open_stacks(call, &stacks, &enough, err));
    if (!enough) return OK;
    Scope scope = {0};
    TRY(network_scope(&stacks, &scope, err));
    network_headline(call, &scope);
    return hot_stacks(&stacks, &scope, err);
}
