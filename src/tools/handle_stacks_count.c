// count_stacks: a predicate over every sample's own stack. One pass over the tree from the roots
// down: a node's state follows from its parent's, and the state of a stack's innermost node says
// whether the stack fits.
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 32, STACKS_SHOWN = 3, FRAMES_SHOWN = 24 };

typedef struct Item {
    Str module, function; // lower-case; either may be empty
    Str shown;
    size_t functions; // that it names
} Item;

typedef struct Items {
    Item items[ITEMS_MAX];
    size_t count;
} Items;

typedef struct State { // of the path from the root to a node
    uint64_t seen;     // items met, in any order
    uint64_t run;      // bit j: the last j + 1 frames are the outermost j + 1 items
    uint8_t in_order;  // items met from the outermost on
    uint8_t reversed;  // the same with the list turned round
    bool contiguous, excluded;
} State;

typedef struct Count {
    int64_t weight, samples, contiguous, excluded, reversed;
} Count;

// ---------------------------------------------------------------- items

static Status bad_item(const char *param, Str text, Arena *arena, Err *err) {
    return err_set(err, ERR_ARG,
                   "%s: \"" STR_FMT "\" is none of \"module!function\", \"function\", "
                   "\"module.sys\" and [module, function]",
                   param, STR_ARG(format_shorten(format_clean(text, arena), 60, arena)));
}

static bool names_module(Str text) {
    return str_ends_nocase(text, STR(".sys")) || str_ends_nocase(text, STR(".dll")) ||
           str_ends_nocase(text, STR(".exe"));
}

static Str json_text(const json_t *value, Arena *arena) {
    return str_lower(arena, str_trim((Str){json_string_value(value), json_string_length(value)}));
}

static bool read_pair(Str text, Arena *arena, Item *out) {
    json_t *pair = json_loadb(text.p, text.n, 0, NULL);
    const json_t *module = json_array_get(pair, 0), *function = json_array_get(pair, 1);
    bool fine = json_array_size(pair) == 2 && json_is_string(module) && json_is_string(function);
    if (fine) {
        out->module = json_text(module, arena);
        out->function = json_text(function, arena);
    }
    json_decref(pair);
    return fine;
}

static Status read_item(const char *param, Str text, Arena *arena, Item *out, Err *err) {
    text = str_trim(text);
    *out = (Item){0};
    size_t mark = str_find(text, STR("!"));
    if (str_starts(text, STR("["))) {
        if (!read_pair(text, arena, out)) return bad_item(param, text, arena, err);
    } else if (mark != SIZE_MAX) {
        out->module = str_lower(arena, str_trim(str_slice(text, 0, mark)));
        out->function = str_lower(arena, str_trim(str_slice(text, mark + 1, text.n)));
    } else if (names_module(text)) {
        out->module = str_lower(arena, text);
    } else {
        out->function = str_lower(arena, text);
    }
    if (!out->module.n && !out->function.n) return bad_item(param, text, arena, err);
    const char *between = out->module.n && out->function.n ? "!" : "";
    out->shown = format_clean(str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(out->module), between,
                                         STR_ARG(out->function)),
                              arena);
    return OK;
}

static Status read_items(const ToolCall *call, const char *param, Items *out, Err *err) {
    const Value *list = values_get(call->values, param);
    if (list->count > ITEMS_MAX)
        return err_set(err, ERR_ARG, "%s takes at most %d items", param, (int)ITEMS_MAX);
    out->count = list->count;
    for (size_t i = 0; i < list->count; i++)
        TRY(read_item(param, list->list[i], call->arena, &out->items[i], err));
    return OK;
}

static bool is_exactly(const Function *function, Str name) {
    return str_eq_nocase(function->name, name) ||
           (function->is_export &&
            str_eq_nocase(str_slice(function->name, 1, function->name.n), name));
}

// Sets `bit` in the mask of every function that the item names: those of exactly that name, or,
// when there is none, those that contain it.
static void mark_functions(const StackSet *set, Item *item, uint64_t bit, uint64_t *masks,
                           Arena *arena) {
    ModuleMatch modules = {&item->module, item->module.n ? 1 : 0, false};
    bool *fits =
        stack_functions_matching(set, &modules, &item->function, item->function.n ? 1 : 0, arena);
    bool exact = false;
    for (uint32_t f = 0; f <= set->function_count && item->function.n && !exact; f++)
        exact = fits[f] && is_exactly(&set->functions[f], item->function);
    for (uint32_t f = 0; f <= set->function_count; f++) {
        if (!fits[f] || (exact && !is_exactly(&set->functions[f], item->function))) continue;
        masks[f] |= bit;
        item->functions++;
    }
}

// ---------------------------------------------------------------- the pass

// Bit j of the result is bit count - 1 - j of the mask.
static uint64_t turned(uint64_t mask, size_t count) {
    uint64_t out = 0;
    for (size_t i = 0; i < count; i++) out |= (mask >> i & 1) << (count - 1 - i);
    return out;
}

static State step(State state, uint64_t mask, uint64_t outward, size_t count) {
    state.seen |= mask;
    if (state.in_order < count && outward >> state.in_order & 1) state.in_order++;
    if (state.reversed < count && mask >> state.reversed & 1) state.reversed++;
    state.run = (state.run << 1 | 1) & outward;
    state.contiguous = state.contiguous || (state.run >> (count - 1) & 1);
    return state;
}

static State *states_of(const StackSet *set, const uint64_t *masks, const uint64_t *excludes,
                        size_t count, Arena *arena) {
    State *states = ARENA_ARRAY(arena, State, (size_t)set->node_count + 1);
    uint64_t *outward = ARENA_ARRAY(arena, uint64_t, (size_t)set->function_count + 1);
    for (uint32_t f = 0; f <= set->function_count; f++) outward[f] = turned(masks[f], count);
    for (uint32_t node = 1; node <= set->node_count; node++) {
        uint32_t f = set->function[node];
        states[node] = step(states[set->parent[node]], masks[f], outward[f], count);
        states[node].excluded = states[node].excluded || excludes[f];
    }
    return states;
}

static bool fits(const State *state, bool ordered, size_t count) {
    if (ordered) return state->in_order == count;
    return state->seen == (UINT64_C(1) << count) - 1;
}

static Count count_entries(const StackCall *stacks, const State *states, bool ordered,
                           size_t items) {
    Count count = {0};
    for (size_t i = 0; i < stacks->weights.count; i++) {
        const StackWeight *entry = &stacks->weights.items[i];
        const State *state = &states[entry->node];
        if (!entry->node) continue;
        if (ordered && state->reversed == items && !state->excluded)
            count.reversed += entry->samples;
        if (!fits(state, ordered, items)) continue;
        if (state->excluded) {
            count.excluded += entry->samples;
            continue;
        }
        count.weight += entry->weight;
        count.samples += entry->samples;
        if (state->contiguous) count.contiguous += entry->samples;
    }
    return count;
}

// ---------------------------------------------------------------- the reply

static Str items_text(const Items *items, Arena *arena) {
    Buf out = {0};
    for (size_t i = 0; i < items->count; i++)
        buf_addf(&out, "%s" STR_FMT, i ? ", " : "", STR_ARG(items->items[i].shown));
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static void put_row(StackCall *stacks, const Items *contains, bool ordered, const Count *count) {
    Doc *doc = stacks->doc;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Contains", "text");
    doc_column(doc, table, "Order", "text");
    doc_column(doc, table, "Matching Samples", "count");
    doc_column(doc, table, "% trace", "pct");
    doc_column(doc, table, "Excluded Samples", "count");
    doc_column(doc, table, "Method", "text");
    doc_column(doc, table, "Matching Weight", "us");
    Cell *cells = doc_row(doc, table);
    cells[0] = cell_text(items_text(contains, stacks->arena));
    cells[1] = cell_text(ordered ? STR("callee to caller") : STR("any"));
    cells[2] = cell_i64(count->samples);
    cells[3] = denominator_share(&stacks->denominator, count->weight);
    cells[4] = cell_i64(count->excluded);
    cells[5] = cell_text(STR("exact-stacks"));
    cells[6] = cell_i64(count->weight);
}

static void put_stack(StackCall *stacks, const StackWeight *entry, const uint64_t *masks,
                      size_t number) {
    Doc *doc = stacks->doc;
    uint32_t *path = ARENA_ARRAY(stacks->arena, uint32_t, stacks->set->longest);
    uint32_t frames = stack_path(stacks->set, entry, path);
    DocSection *section = doc_table(
        doc, str_format(stacks->arena, "stack %zu", number),
        str_format(stacks->arena,
                   "**Stack %zu** (" STR_FMT " us in " STR_FMT " samples, innermost first)", number,
                   STR_ARG(format_integer(entry->weight / 1000, stacks->arena)),
                   STR_ARG(format_integer(entry->samples, stacks->arena))));
    doc_column(doc, section, "Frame", "text");
    section->style = STYLE_CODE;
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < frames; i++) {
        bool named = masks[path[i]] != 0;
        if (i >= FRAMES_SHOWN && !named) { // frames that the call names always show
            skipped++;
            continue;
        }
        doc_row(doc, section)[0] = cell_text(
            str_format(stacks->arena, "%s" STR_FMT, named ? "> " : "  ",
                       STR_ARG(stack_function_label(stacks->set, path[i], stacks->arena))));
    }
    if (skipped)
        doc_row(doc, section)[0] =
            cell_text(str_format(stacks->arena, "  ... %u frames further out left out", skipped));
}

static void put_stacks(StackCall *stacks, const State *states, const uint64_t *masks, bool ordered,
                       size_t items) {
    const StackTree *tree = &stacks->tree;
    uint32_t heaviest[STACKS_SHOWN + 1] = {0}; // by weight, then order; one more for the newcomer
    for (uint32_t node = 1; node <= stacks->set->node_count; node++) {
        int64_t own = stack_tree_own(tree, node);
        if (!own || states[node].excluded || !fits(&states[node], ordered, items)) continue;
        size_t at = STACKS_SHOWN;
        while (at && (!heaviest[at - 1] || stack_tree_own(tree, heaviest[at - 1]) < own)) {
            heaviest[at] = heaviest[at - 1];
            at--;
        }
        heaviest[at] = node;
    }
    for (size_t i = 0; i < STACKS_SHOWN && heaviest[i]; i++) {
        uint32_t node = heaviest[i];
        StackWeight entry = {.node = node,
                             .weight = stack_tree_own(tree, node),
                             .samples =
                                 tree->samples_before[node + 1] - tree->samples_before[node]};
        put_stack(stacks, &entry, masks, i + 1);
    }
}

static void put_notes(StackCall *stacks, const Items *contains, const Items *excludes, bool ordered,
                      const Count *count) {
    Doc *doc = stacks->doc;
    Arena *arena = stacks->arena;
    const Items *lists[] = {contains, excludes};
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (!lists[k]->items[i].functions)
                doc_note(doc, str_format(arena,
                                         "\"" STR_FMT "\" names no function of this trace's code.",
                                         STR_ARG(lists[k]->items[i].shown)));
    if (ordered && contains->count > 1 && count->samples)
        doc_note(doc,
                 str_format(arena,
                            STR_FMT " of the " STR_FMT
                                    " matching samples hold the items next to each other, without "
                                    "frames in between.",
                            STR_ARG(format_integer(count->contiguous, arena)),
                            STR_ARG(format_integer(count->samples, arena))));
    if (ordered && !count->samples && count->reversed && contains->count > 1)
        doc_note(doc, str_format(arena,
                                 "No stack holds the items in this order, but " STR_FMT
                                 " samples hold them in the reverse order: the first item must be "
                                 "the one nearest the leaf.",
                                 STR_ARG(format_integer(count->reversed, arena))));
}

Status handle_count_stacks(ToolCall *call, Err *err) {
    Items contains = {0}, excludes = {0};
    TRY(read_items(call, "contains", &contains, err));
    TRY(read_items(call, "excludes", &excludes, err));
    AUTO(stack_call_close) StackCall stacks = {0};
    StackOptions options = {.needs_stacks = true};
    bool enough = false, ordered = values_get(call->values, "contains_in_order")->boolean;
    TRY(stack_call_open(call, &options, &stacks, &enough, err));
    if (!enough) return OK;
    const StackSet *set = stacks.set;
    uint64_t *masks = ARENA_ARRAY(call->arena, uint64_t, (size_t)set->function_count + 1);
    uint64_t *excluded = ARENA_ARRAY(call->arena, uint64_t, (size_t)set->function_count + 1);
    for (size_t i = 0; i < contains.count; i++)
        mark_functions(set, &contains.items[i], UINT64_C(1) << i, masks, call->arena);
    for (size_t i = 0; i < excludes.count; i++)
        mark_functions(set, &excludes.items[i], 1, excluded, call->arena);
    State *states = states_of(set, masks, excluded, contains.count, call->arena);
    Count count = count_entries(&stacks, states, ordered, contains.count);
    put_row(&stacks, &contains, ordered, &count);
    put_stacks(&stacks, states, masks, ordered, contains.count);
    put_notes(&stacks, &contains, &excludes, ordered, &count);
    stack_call_notes(&stacks);
    doc_next(call->doc, str_format(call->arena, "get_hot_stacks(trace_id=\"" STR_FMT "\")",
                                   STR_ARG(call->trace->trace_id)));
    return OK;
}
