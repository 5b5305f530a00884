// Matching functions across builds: by name. What cannot be matched by name is compared as a whole
// module; what may have been renamed or moved is said.
#include "tools/handle_compare.h"

#include <math.h>

enum { MOVED_SHOWN = 5, NAME_BYTES = 60 };
static const double NAMED_MIN = 0.5;
static const double MOVED_SHARE_MIN = 0.5; // percent of all: less is not worth a note

static Str shown(Str text, Arena *arena) {
    return format_shorten(format_clean(text, arena), NAME_BYTES, arena);
}

// NULL: its functions can be compared; else why not.
static const char *cannot_compare(const ModuleState *baseline, const ModuleState *test) {
    if (!baseline->exists || !test->exists) return NULL;
    bool first = baseline->named >= NAMED_MIN, second = test->named >= NAMED_MIN;
    if (first != second)
        return first ? "has function names in the baseline only"
                     : "has function names in the test only";
    bool same_build = !baseline->build.n || !test->build.n || str_eq(baseline->build, test->build);
    return !first && !same_build ? "has no function names and is another build" : NULL;
}

static void add_measure(Measure *to, const Measure *from) {
    to->value += from->value;
    to->count += from->count;
    to->squares += from->squares;
    to->unsliced = to->unsliced || from->unsliced;
    for (size_t i = 0; i < SLICES; i++) to->slices[i] += from->slices[i];
}

void compare_fold_modules(Items *items, const StrMap *modules, const ModuleState *states,
                          Doc *doc) {
    StrMap folded = {0};
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++) {
        Item *item = &items->items[i];
        const uint64_t *at = strmap_get(modules, item->key[0]);
        const char *why =
            at ? cannot_compare(&states[*at * SIDES + BASELINE], &states[*at * SIDES + TEST])
               : NULL;
        if (!why) {
            items->items[kept++] = *item;
            continue;
        }
        bool added = false;
        StrMapSlot *slot = strmap_put(&folded, item->key[0], kept, &added);
        if (added) {
            item->key[1] = STR("(whole module)");
            items->items[kept++] = *item;
            doc_note(doc, str_format(doc->arena, STR_FMT " %s: it is compared as a module.",
                                     STR_ARG(shown(item->key[0], doc->arena)), why));
        } else {
            Item *whole = &items->items[slot->value];
            for (int k = 0; k < SIDES; k++) add_measure(&whole->side[k], &item->side[k]);
        }
    }
    items->count = kept;
    strmap_done(&folded);
}

static bool only_on(const Item *item, int side) {
    return item->side[side].count > 0 && !(item->side[!side].count > 0) &&
           item->share[side] >= MOVED_SHARE_MIN;
}

// Names that share most of their letters: foo and foo_v2, or foo in another namespace.
static bool similar(Str a, Str b) {
    size_t longer = a.n > b.n ? a.n : b.n;
    if (longer > 200 || str_find(a, STR("+0x")) != SIZE_MAX) return false;
    if (str_find(a, b) != SIZE_MAX || str_find(b, a) != SIZE_MAX) return true;
    return str_distance(a, b, longer / 3 + 1) <= longer / 3;
}

static const char *relation(const Item *gone, const Item *come) {
    bool same_module = str_eq_nocase(gone->key[0], come->key[0]);
    if (str_eq(gone->key[1], come->key[1]) && !same_module) return "moved";
    bool close = fabs(gone->share[BASELINE] - come->share[TEST]) * 2 < gone->share[BASELINE];
    return same_module && close && similar(gone->key[1], come->key[1]) ? "perhaps renamed" : NULL;
}

static void note_relation(Doc *doc, const char *what, const Item *gone, const Item *come) {
    Arena *arena = doc->arena;
    doc_note(doc,
             str_format(arena,
                        "%s: " STR_FMT "!" STR_FMT " (baseline %.1f%%) and " STR_FMT "!" STR_FMT
                        " (test %.1f%%).",
                        str_eq(str_from_c(what), STR("moved")) ? "Moved" : "Perhaps renamed",
                        STR_ARG(shown(gone->key[0], arena)), STR_ARG(shown(gone->key[1], arena)),
                        gone->share[BASELINE], STR_ARG(shown(come->key[0], arena)),
                        STR_ARG(shown(come->key[1], arena)), come->share[TEST]));
}

void compare_note_moved(const Items *items, Doc *doc) {
    size_t notes = 0;
    for (size_t i = 0; i < items->count && notes < MOVED_SHOWN; i++) {
        const Item *gone = &items->items[i];
        if (!only_on(gone, BASELINE)) continue;
        for (size_t k = 0; k < items->count; k++) {
            const Item *come = &items->items[k];
            const char *what = only_on(come, TEST) ? relation(gone, come) : NULL;
            if (!what) continue;
            note_relation(doc, what, gone, come);
            notes++;
            break;
        }
    }
}
