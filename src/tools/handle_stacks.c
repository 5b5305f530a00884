// Shared parts of the stack tools. Filters go into the SQL that weighs the stacks, so every number
// behind it comes from the samples of the scope alone.
#include "tools/handle_stacks.h"

#include "base/limits.h"
#include "tools/needs.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 8, MATCHES_SHOWN = 10, NEAR_NAMES_MAX = 20000 };

const Value *stack_call_value(const StackCall *stacks, const char *name) {
    const Values *values = stacks->call->values;
    if (!tool_param(values->tool, str_from_c(name))) return NULL;
    const Value *value = values_get(values, name);
    return value->present ? value : NULL;
}

Str stack_function_label(const StackSet *set, uint32_t function, Arena *arena) {
    const Function *f = &set->functions[function];
    bool plain = str_starts(f->name, STR("unknown+0x")) ||
                 (str_starts(f->name, f->module) &&
                  str_starts(str_slice(f->name, f->module.n, f->name.n), STR("+0x")));
    if (plain || str_eq(f->name, f->module)) return f->name;
    return str_format(arena, STR_FMT "!" STR_FMT, STR_ARG(f->module), STR_ARG(f->name));
}

Str stack_call_headline(const StackCall *stacks, const char *what, uint32_t function) {
    Str label = stack_function_label(stacks->set, function, stacks->arena);
    return format_clean(str_format(stacks->arena, "**%s " STR_FMT "**", what, STR_ARG(label)),
                        stacks->arena);
}

// ---------------------------------------------------------------- the query

typedef struct Query {
    Buf sql;
    Arg args[ARGS_MAX];
    size_t count;
} Query;

static void add_arg(Query *query, const char *name, Arg arg) {
    INVARIANT(query->count < ARGS_MAX);
    arg.name = name;
    query->args[query->count++] = arg;
}

static void add_common_filters(const StackCall *stacks, Query *query) {
    const Value *cpus = stack_call_value(stacks, "cpu_filter");
    const Value *process = stack_call_value(stacks, "process_filter");
    add_arg(query, "start_ns", (Arg){.type = ARG_I64, .i64 = stacks->window.start_ns});
    add_arg(query, "end_ns", (Arg){.type = ARG_I64, .i64 = stacks->window.end_ns});
    if (cpus) {
        buf_add_c(&query->sql, " AND cpu_hits(s.cpu, $cpus)");
        add_arg(query, "cpus",
                (Arg){.type = ARG_I64_LIST, .i64_list = cpus->cpus, .list_count = cpus->count});
    }
    if (process) {
        buf_add_c(&query->sql, " AND s.upid IN (SELECT upid FROM process_name "
                               "WHERE process_hits(process, pid, $process))");
        add_arg(
            query, "process",
            (Arg){.type = ARG_TEXT_LIST, .text_list = process->list, .list_count = process->count});
    }
    if (stacks->options.dpc_only) buf_add_c(&query->sql, " AND s.in_dpc");
}

// The rows that a call is about, as (stack_id, frame_id, upid, cpu, weight_ns ...) named s.
static void add_source(const StackCall *stacks, Query *query) {
    if (stacks->options.source == STACKS_WAITS)
        buf_add_c(&query->sql, "FROM thread_wait_stack AS s "
                               "WHERE s.end_ns >= $start_ns AND s.end_ns < $end_ns");
    else
        buf_add_c(&query->sql, "FROM sample AS s WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns");
    add_common_filters(stacks, query);
}

static Status read_weights(StackCall *stacks, Err *err) {
    Query query = {0};
    bool leaf = stacks->options.leaf_only;
    buf_addf(&query.sql, "SELECT %s, s.frame_id, sum(s.weight_ns)::BIGINT, count(*)%s ",
             leaf ? "0" : "s.stack_id",
             stacks->options.source == STACKS_SAMPLES
                 ? ", sum(CASE WHEN s.is_idle THEN s.weight_ns ELSE 0 END)::BIGINT"
                 : "");
    add_source(stacks, &query);
    buf_add_c(&query.sql, leaf ? " GROUP BY s.frame_id" : " GROUP BY s.stack_id, s.frame_id");
    StackQuery weighing = {buf_str(&query.sql), query.args, query.count};
    Status status = stack_weights(stacks->set, stacks->call->trace->session, &weighing,
                                  stacks->arena, &stacks->weights, err);
    buf_done(&query.sql);
    return status;
}

// ---------------------------------------------------------------- opening

static Str us_text(int64_t ns, Arena *arena) {
    return format_integer(ns / 1000, arena);
}

static double percent_of(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void settle_budget(const ToolCall *call) {
    for (size_t i = 0; i < call->tool->param_count; i++)
        if (call->tool->params[i].is_cap && call->values->items[i].given)
            call->doc->budget_bytes = LIMIT_REPLY_BYTES;
}

static bool say_empty(StackCall *stacks, Str text) {
    DocSection *section = doc_table(stacks->doc, STR("main"), (Str){0});
    section->empty = text;
    return false;
}

// Nothing in scope, or nothing with a stack: says which of the two and why.
static Status check_content(StackCall *stacks, bool *enough, Err *err) {
    const StackWeights *weights = &stacks->weights;
    bool waits = stacks->options.source == STACKS_WAITS;
    if (!waits && !stacks->denominator.observed_ns && !stacks->window.given) {
        *enough = say_empty(stacks, STR("The trace holds no CPU samples, only context switches: "
                                        "source=\"waits\" shows where threads waited."));
    } else if (!weights->samples) {
        Str text = {0};
        TRY(needs_explain_filtered(stacks->call->tool, stacks->call->trace, stacks->arena, &text,
                                   err));
        if (waits) text = STR("No wait with a stack ended in this scope.");
        *enough = say_empty(stacks, text);
    } else if (stacks->options.needs_stacks && weights->bare_samples == weights->samples) {
        *enough = say_empty(
            stacks,
            str_format(stacks->arena,
                       "No call stacks: the %s in this scope were recorded without. To record "
                       "them: stack flag %s in the capture profile (scenario cpu has it).",
                       waits ? "context switches" : "CPU samples",
                       waits ? "CSwitch" : "SampledProfile"));
    }
    return OK;
}

static void say_weight(StackCall *stacks) {
    const StackWeights *weights = &stacks->weights;
    Arena *arena = stacks->arena;
    bool waits = stacks->options.source == STACKS_WAITS;
    Str idle = stacks->idle_ns
                   ? str_format(arena, " (" STR_FMT " of it idle)",
                                STR_ARG(format_percent(percent_of(stacks->idle_ns, weights->weight),
                                                       arena)))
                   : (Str){0};
    doc_scope(stacks->doc, waits ? STR("Waiting") : STR("Weight"),
              str_format(arena, STR_FMT " us in " STR_FMT " %s" STR_FMT,
                         STR_ARG(us_text(weights->weight, arena)),
                         STR_ARG(format_integer(weights->samples, arena)),
                         waits ? "waits" : "samples", STR_ARG(idle)));
    if (!waits) doc_scope(stacks->doc, STR("Denominator"), stacks->denominator.line);
}

Status stack_call_open(ToolCall *call, const StackOptions *options, StackCall *out, bool *enough,
                       Err *err) {
    *out = (StackCall){.call = call, .arena = call->arena, .doc = call->doc, .options = *options};
    *enough = true;
    TRY(run_window(call->values, call->trace->facts, call->doc, &out->window, err));
    run_scope(call->tool, call->values, call->trace, &out->window, call->doc);
    settle_budget(call);
    TRY(needs_check(call->tool, call->trace, call->doc, enough, err));
    if (!*enough) return OK;
    TRY(denominator_read(call->values, call->trace, &out->window, call->arena, &out->denominator,
                         err));
    TRY(stack_cache_get(call->trace->stacks, call->trace->session, &out->set, err));
    TRY(read_weights(out, err));
    out->idle_ns = out->weights.idle_weight;
    TRY(check_content(out, enough, err));
    if (!*enough) return OK;
    stack_tree_build(out->set, &out->weights, out->arena, &out->tree);
    out->functions = stack_function_weights(&out->tree, out->arena);
    say_weight(out);
    return OK;
}

void stack_call_close(StackCall *stacks) {
    if (stacks->set) stack_cache_release(stacks->call->trace->stacks, stacks->set);
    stacks->set = NULL;
}

// ---------------------------------------------------------------- notes

void stack_call_unit(StackCall *stacks) {
    doc_scope(stacks->doc, STR("Hits"), STR("microseconds of CPU in samples"));
}

void stack_call_notes(StackCall *stacks) {
    const StackWeights *weights = &stacks->weights;
    Arena *arena = stacks->arena;
    if (weights->bare_samples && !stacks->options.leaf_only)
        doc_note(
            stacks->doc,
            str_format(
                arena,
                STR_FMT " of " STR_FMT " %s (" STR_FMT " of the weight) have no recorded stack.",
                STR_ARG(format_integer(weights->bare_samples, arena)),
                STR_ARG(format_integer(weights->samples, arena)),
                stacks->options.source == STACKS_WAITS ? "waits" : "samples",
                STR_ARG(format_percent(percent_of(weights->bare_weight, weights->weight), arena))));
    const StackSet *set = stacks->set;
    int64_t partial = 0;
    for (size_t i = 0; i < weights->count; i++) {
        uint32_t node = weights->items[i].node;
        if (node && set->partial[node]) partial += weights->items[i].samples;
    }
    if (partial)
        doc_note(stacks->doc,
                 str_format(arena,
                            "Of " STR_FMT " samples only the outer part of the stack was recorded: "
                            "frames between it and the sampled address are missing.",
                            STR_ARG(format_integer(partial, arena))));
    if (stacks->options.source == STACKS_SAMPLES && stacks->denominator.interval_assumed)
        doc_note(stacks->doc, STR("The sample interval is not recorded; 1 ms is assumed."));
    Str loss = stacks->call->trace->facts->loss_note;
    if (loss.n) doc_note(stacks->doc, loss);
}

void stack_call_note_function(StackCall *stacks, uint32_t function) {
    const Function *f = &stacks->set->functions[function];
    if (f->is_export)
        doc_note(stacks->doc, str_format(stacks->arena,
                                         "Names with * are nearest exports and may be wrong: "
                                         "diagnose_symbol_load(trace_id=\"" STR_FMT "\").",
                                         STR_ARG(stacks->call->trace->trace_id)));
    Str rest = str_slice(f->name, f->module.n, f->name.n);
    if (f->module.n && str_starts(f->name, f->module) && str_starts(rest, STR("+0x")))
        doc_note(stacks->doc, STR("Frames without symbols show as module+0xRVA: each address is a "
                                  "function of its own."));
}

// What a trace says is put into a call only when it is plain.
static bool plain_name(Str name) {
    bool plain = name.n > 0 && name.n <= 64;
    for (size_t i = 0; i < name.n && plain; i++) {
        char c = name.p[i];
        plain = c > ' ' && c < 127 && c != '"' && c != '|' && c != '\\' && c != '`';
    }
    return plain;
}

bool stack_call_next(StackCall *stacks, const char *tool, uint32_t function) {
    Str name = stacks->set->functions[function].name;
    if (!plain_name(name)) return false;
    doc_next(stacks->doc,
             str_format(stacks->arena,
                        "%s(trace_id=\"" STR_FMT "\", function_filter=\"" STR_FMT "\")", tool,
                        STR_ARG(stacks->call->trace->trace_id), STR_ARG(name)));
    return true;
}

// ---------------------------------------------------------------- choosing

static bool contains_any(Str lower, const Str *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_find(lower, items[i]) != SIZE_MAX) return true;
    return false;
}

bool module_matches(const ModuleMatch *match, Str module, Arena *arena) {
    if (!match->count) return true;
    Str lower = str_lower(arena, module);
    if (!match->strict) return contains_any(lower, match->items, match->count);
    for (size_t i = 0; i < match->count; i++) {
        bool whole = str_rfind_char(match->items[i], '.') != SIZE_MAX;
        if (whole ? str_eq(lower, match->items[i]) : str_find(lower, match->items[i]) != SIZE_MAX)
            return true;
    }
    return false;
}

bool *stack_functions_matching(const StackSet *set, const ModuleMatch *modules, const Str *names,
                               size_t name_count, Arena *arena) {
    bool *out = ARENA_ARRAY(arena, bool, (size_t)set->function_count + 1);
    AUTO(arena_done) Arena scratch = {0};
    Str module = {0};
    bool fits = false;
    for (uint32_t f = 0; f <= set->function_count; f++) {
        const Function *function = &set->functions[f];
        if (!f || !str_eq(module, function->module)) { // they are sorted by module
            module = function->module;
            fits = module_matches(modules, module, &scratch);
        }
        out[f] = fits;
        if (!fits || !name_count) continue;
        out[f] = contains_any(str_lower(&scratch, function->name), names, name_count);
        if (scratch.used_bytes > (1 << 20)) arena_clear(&scratch);
    }
    return out;
}

typedef struct Match {
    uint32_t function;
    int64_t weight;
    bool exact;
} Match;

static int compare_matches(const void *left, const void *right) {
    const Match *a = left, *b = right;
    if (a->exact != b->exact) return a->exact ? -1 : 1;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

// "name", "module!name" and "*name" (a nearest export) all name a function exactly.
static bool names_exactly(const Function *function, const Str *names, size_t count) {
    Str bare =
        function->is_export ? str_slice(function->name, 1, function->name.n) : function->name;
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(function->name, names[i]) || str_eq_nocase(bare, names[i])) return true;
    return false;
}

// Cuts "module!" off the front of a lone name.
static Str split_module(Str *name) {
    size_t mark = str_find(*name, STR("!"));
    if (mark == SIZE_MAX || mark == 0 || mark + 1 == name->n) return (Str){0};
    Str module = str_slice(*name, 0, mark);
    *name = str_slice(*name, mark + 1, name->n);
    return module;
}

static void say_matches(StackCall *stacks, const Match *matches, size_t count) {
    Doc *doc = stacks->doc;
    DocSection *table =
        doc_table(doc, STR("matches"),
                  matches[0].exact ? STR("**Also matching** (the exact name is used)")
                                   : STR("**Matching functions** (the heaviest is used)"));
    doc_column(doc, table, "Module", "text");
    doc_column(doc, table, "Function", "text");
    doc_column(doc, table, "Hits", "us");
    for (size_t i = 0; i < count && i < MATCHES_SHOWN; i++) {
        const Function *function = &stacks->set->functions[matches[i].function];
        Cell *cells = doc_row(doc, table);
        cells[0] = cell_text(function->module);
        cells[1] = cell_text(function->name);
        cells[2] = cell_i64(matches[i].weight);
    }
    table->total_rows = count;
}

// The trace knows no such function, or no stack of this scope holds it.
static void say_unmatched(StackCall *stacks, Str wanted, const bool *fits) {
    const StackSet *set = stacks->set;
    Str shown = format_shorten(format_clean(wanted, stacks->arena), 80, stacks->arena);
    Buf text = {0};
    uint32_t elsewhere = UINT32_MAX;
    for (uint32_t f = 0; f <= set->function_count && elsewhere == UINT32_MAX; f++)
        if (fits[f]) elsewhere = f;
    if (elsewhere != UINT32_MAX) {
        buf_addf(&text,
                 "No stack of this scope holds \"" STR_FMT "\": it occurs outside of it (" STR_FMT
                 ").",
                 STR_ARG(shown), STR_ARG(stack_function_label(set, elsewhere, stacks->arena)));
    } else {
        Str *names = ARENA_ARRAY(stacks->arena, Str, NEAR_NAMES_MAX);
        size_t count = 0;
        for (uint32_t f = 0; f < set->function_count && count < NEAR_NAMES_MAX; f++)
            if (stacks->functions[f].inclusive) names[count++] = set->functions[f].name;
        Str near = nearest_name(wanted, names, count);
        buf_addf(&text, "No function of a stack here matches \"" STR_FMT "\".", STR_ARG(shown));
        if (near.n) buf_addf(&text, " Nearest name: " STR_FMT ".", STR_ARG(near));
        buf_add_c(&text, " get_hot_stacks lists the functions there are.");
    }
    DocSection *section = doc_table(stacks->doc, STR("main"), (Str){0});
    section->empty = str_copy(stacks->arena, buf_str(&text));
    buf_done(&text);
}

Status stack_call_choose(StackCall *stacks, const FunctionChoice *choice, uint32_t *function,
                         bool *found, Err *err) {
    const Value *name = stack_call_value(stacks, choice->function_param);
    const Value *module = stack_call_value(stacks, choice->module_param);
    if (!name) return err_set(err, ERR_ARG, "%s is required", choice->function_param);
    const StackSet *set = stacks->set;
    Str *names = name->list;
    size_t name_count = name->count;
    ModuleMatch modules = {module ? module->list : NULL, module ? module->count : 0, false};
    Str own_module = name_count == 1 ? split_module(&names[0]) : (Str){0};
    if (own_module.n && !module) modules = (ModuleMatch){&own_module, 1, false};
    bool *fits = stack_functions_matching(set, &modules, names, name_count, stacks->arena);
    Match *matches = ARENA_ARRAY(stacks->arena, Match, (size_t)set->function_count + 1);
    size_t count = 0;
    for (uint32_t f = 0; f <= set->function_count; f++)
        if (fits[f] && stacks->functions[f].inclusive)
            matches[count++] = (Match){f, stacks->functions[f].inclusive,
                                       names_exactly(&set->functions[f], names, name_count)};
    *found = count > 0;
    if (!count) {
        say_unmatched(stacks, name->text, fits);
        return OK;
    }
    qsort(matches, count, sizeof *matches, compare_matches);
    *function = matches[0].function;
    doc_scope(stacks->doc, STR("Function"), stack_function_label(set, *function, stacks->arena));
    if (count > 1) say_matches(stacks, matches, count);
    stack_call_note_function(stacks, *function);
    return OK;
}

// ---------------------------------------------------------------- module sets

static const char *const DEFAULT_MODULES[] = {
    "xdp.sys",      "xdplwf.sys",   "tcpip.sys",    "ndis.sys",     "netio.sys",
    "afd.sys",      "pacer.sys",    "http.sys",     "mux.sys",      "vmswitch.sys",
    "vmsif.sys",    "wsk.sys",      "nsi.sys",      "fwpkclnt.sys", "mlx5.sys",
    "mlnx5.sys",    "e1q63x64.sys", "ixn63x64.sys", "i40e65.sys",   "mrvlpcie8897.sys",
    "ntoskrnl.exe", "hal.dll",
};
static const char *const NETWORK_MODULES[] = {
    "tcpip.sys",   "tcpip6.sys",   "ndis.sys",    "afd.sys",    "http.sys",     "fwpkclnt.sys",
    "netio.sys",   "wfplwfs.sys",  "xdp.sys",     "xdplwf.sys", "ebpfcore.sys", "netebpfext.sys",
    "mlx5.sys",    "mlx4_bus.sys", "ixgbe.sys",   "i40ea.sys",  "vmswitch.sys", "ws2_32.dll",
    "wininet.dll", "winhttp.dll",  "mswsock.dll", "msquic.dll", "schannel.dll", "ncrypt.dll",
};

static ModuleMatch match_of(const char *const *names, size_t count, const Str *more,
                            size_t more_count, Arena *arena) {
    Str *items = ARENA_ARRAY(arena, Str, count + more_count);
    for (size_t i = 0; i < count; i++) items[i] = str_from_c(names[i]);
    for (size_t i = 0; i < more_count; i++) items[count + i] = str_lower(arena, more[i]);
    return (ModuleMatch){items, count + more_count, true};
}

ModuleMatch modules_default(Arena *arena) {
    return match_of(DEFAULT_MODULES, COUNT_OF(DEFAULT_MODULES), NULL, 0, arena);
}

ModuleMatch modules_network(Arena *arena, const Str *more, size_t more_count) {
    return match_of(NETWORK_MODULES, COUNT_OF(NETWORK_MODULES), more, more_count, arena);
}
