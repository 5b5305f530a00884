// From records to the sorted table: one entry per address, chosen by rules that do not depend on
// the order of the records, and an end for each. docs/formats/pdb.md, "The function table".
#include "base/search.h"
#include "sym/symtab_internal.h"

#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 11, RADIX_BUCKETS = 1 << RADIX_BITS };
#define NAMES_BYTES_MAX UINT32_C(0xFFFF0000)

typedef struct SortKey {
    uint32_t start, index;
} SortKey;

void symbuild_done(SymBuild *build) {
    vec_free(&build->raw);
    buf_done(&build->names);
    mem_free(build->contributions);
    build->contributions = NULL;
}

static void radix_pass(const SortKey *from, SortKey *to, size_t count, unsigned shift) {
    size_t at[RADIX_BUCKETS] = {0};
    for (size_t i = 0; i < count; i++) at[(from[i].start >> shift) & (RADIX_BUCKETS - 1)]++;
    size_t sum = 0;
    for (size_t b = 0; b < RADIX_BUCKETS; b++) {
        size_t here = at[b];
        at[b] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[at[(from[i].start >> shift) & (RADIX_BUCKETS - 1)]++] = from[i];
}

// Stable, by start. Three passes of 11 bits; the result is in `other` after an odd number.
static void sort_keys(SortKey *keys, SortKey *other, size_t count) {
    radix_pass(keys, other, count, 0);
    radix_pass(other, keys, count, RADIX_BITS);
    radix_pass(keys, other, count, 2 * RADIX_BITS);
}

static bool is_procedure(uint8_t kind) {
    return kind == SYMBOL_PROCEDURE || kind == SYMBOL_STATIC;
}

// Kinds compete for an address only with others of their class when names are counted as folded.
static unsigned class_of(uint8_t kind) {
    if (is_procedure(kind)) return 0;
    return kind == SYMBOL_PUBLIC_FUNCTION || kind == SYMBOL_PUBLIC_CODE ||
                   kind == SYMBOL_PUBLIC_OTHER || kind == SYMBOL_EXPORT
               ? 1
               : 2;
}

static Str raw_name(const SymBuild *build, const RawSymbol *raw) {
    return (Str){build->names.p + raw->name_at, raw->name_size};
}

static Str display_name(const SymBuild *build, const RawSymbol *raw, Arena *arena) {
    Str name = raw_name(build, raw);
    if (class_of(raw->kind) != 1) return name;
    return symbol_display_name(name, build->machine == MACHINE_X86, arena);
}

static bool is_better(const SymBuild *build, const RawSymbol *a, const RawSymbol *b) {
    if (a->kind != b->kind) return a->kind < b->kind;
    AUTO(arena_done) Arena arena = {0};
    Str x = display_name(build, a, &arena), y = display_name(build, b, &arena);
    if (x.n != y.n) return x.n < y.n;
    int order = str_cmp(x, y);
    if (order) return order < 0;
    order = str_cmp(raw_name(build, a), raw_name(build, b));
    return order ? order < 0 : a->length > b->length;
}

// The winner among keys[0..count), all at one address.
static const RawSymbol *pick(const SymBuild *build, const SortKey *keys, size_t count,
                             uint16_t *folded) {
    const RawSymbol *best = &build->raw.items[keys[0].index];
    for (size_t i = 1; i < count; i++) {
        const RawSymbol *other = &build->raw.items[keys[i].index];
        if (is_better(build, other, best)) best = other;
    }
    uint32_t others = 0;
    for (size_t i = 0; i < count; i++) {
        const RawSymbol *other = &build->raw.items[keys[i].index];
        if (other != best && class_of(other->kind) == class_of(best->kind) &&
            !str_eq(raw_name(build, other), raw_name(build, best)))
            others++;
    }
    *folded = others > UINT16_MAX ? UINT16_MAX : (uint16_t)others;
    return best;
}

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static const PdbContribution *contribution_at(const SymBuild *build, uint32_t rva) {
    size_t at;
    FIND_FIRST(at, build->contribution_count, build->contributions[at].rva <= rva);
    if (at == 0) return NULL;
    const PdbContribution *c = &build->contributions[at - 1];
    return rva - c->rva < c->size ? c : NULL;
}

static uint32_t section_end(const SymBuild *build, uint32_t rva) {
    for (size_t i = 0; i < build->section_count; i++) {
        const PdbSection *s = &build->sections[i];
        if (rva >= s->rva && rva - s->rva < s->size) return s->rva + s->size;
    }
    return 0;
}

// Entries without a length end where the next one starts, at the latest where the contribution or
// the section ends.
static void find_ends(const SymBuild *build, SymTab *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t start = t->start[i];
        const PdbContribution *c = contribution_at(build, start);
        if (c && t->module[i] == MODULE_UNKNOWN) t->module[i] = c->module;
        if (t->end[i]) continue;
        uint32_t limit =
            c ? (uint32_t)((uint64_t)c->rva + c->size > UINT32_MAX ? UINT32_MAX : c->rva + c->size)
              : section_end(build, start);
        if (i + 1 < t->count) limit = limit ? min_u32(limit, t->start[i + 1]) : t->start[i + 1];
        t->end[i] = limit;
    }
}

static uint32_t find_start(const SymTab *t, uint32_t rva) {
    uint32_t at;
    FIND_FIRST(at, t->count, t->start[at] < rva);
    return at < t->count && t->start[at] == rva ? at : SYM_NONE;
}

// Jump table entries and moved parts have no names of their own: they take their target's.
static void add_target_name(const SymBuild *build, const SymTab *t, const RawSymbol *raw,
                            const RawSymbol *const *winners, Buf *names) {
    AUTO(arena_done) Arena arena = {0};
    uint32_t target = find_start(t, raw->target);
    Str name = {0};
    if (target != SYM_NONE && winners[target] != raw)
        name = display_name(build, winners[target], &arena);
    if (raw->kind == SYMBOL_SEPARATE_CODE)
        buf_add(names, name);
    else if (name.n)
        buf_addf(names, "ILT+0x%" PRIx32 "(" STR_FMT ")", raw->name_at, STR_ARG(name));
    else
        buf_addf(names, "ILT+0x%" PRIx32, raw->name_at);
}

static bool has_target(const RawSymbol *raw) {
    return raw->kind == SYMBOL_TRAMPOLINE || raw->kind == SYMBOL_SEPARATE_CODE;
}

static Status write_names(const SymBuild *build, const RawSymbol *const *winners, SymTab *t,
                          Err *err) {
    Buf names = {.max = NAMES_BYTES_MAX};
    // Room at once, so that growing does not hold two copies.
    size_t wanted = build->names.n + (size_t)t->count + 1;
    if (wanted < NAMES_BYTES_MAX) {
        names.p = mem_alloc(wanted);
        names.capacity = wanted;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        t->name_at[i] = (uint32_t)names.n;
        if (has_target(winners[i]))
            add_target_name(build, t, winners[i], winners, &names);
        else
            buf_add(&names, raw_name(build, winners[i]));
        buf_add_char(&names, 0);
    }
    t->name_at[t->count] = (uint32_t)names.n;
    bool cut = names.cut;
    t->names = mem_grow(names.p, names.n + 1);
    t->names_size = (uint32_t)names.n;
    return cut ? err_set(err, ERR_LIMIT, "the names of the symbols exceed 4 GB") : OK;
}

SymTab *symtab_new(uint32_t count, uint32_t names_size) {
    SymTab *t = mem_zero(1, sizeof *t);
    size_t room = (size_t)count + 1;
    t->count = count;
    t->start = mem_alloc(room * sizeof *t->start);
    t->end = mem_alloc(room * sizeof *t->end);
    t->module = mem_alloc(room * sizeof *t->module);
    t->name_at = mem_zero(room, sizeof *t->name_at);
    t->folded = mem_alloc(room * sizeof *t->folded);
    t->kind = mem_alloc(room);
    t->flags = mem_alloc(room);
    t->names_size = names_size;
    t->names = names_size ? mem_alloc(names_size) : NULL;
    return t;
}

static void set_entry(SymTab *t, uint32_t i, const RawSymbol *raw, uint16_t folded) {
    t->start[i] = raw->start;
    uint64_t end = raw->length ? (uint64_t)raw->start + raw->length : 0;
    t->end[i] = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
    t->module[i] = raw->module;
    t->folded[i] = folded;
    t->kind[i] = raw->kind;
    t->flags[i] = (uint8_t)(raw->flags | (end ? ENTRY_END_KNOWN : 0) |
                            (has_target(raw) ? ENTRY_NAME_FINAL : 0));
}

static size_t group_size(const SortKey *keys, size_t left) {
    size_t n = 1;
    while (n < left && keys[n].start == keys[0].start) n++;
    return n;
}

// One entry per address. A public inside a procedure is a label there, an entry point of assembler
// code at most: the code belongs to the procedure.
static uint32_t choose_winners(const SymBuild *build, const SortKey *sorted,
                               const RawSymbol **winners, SymTab *t) {
    uint32_t entry = 0, procedure_end = 0;
    for (size_t i = 0, n; i < build->raw.count; i += n) {
        uint16_t folded = 0;
        n = group_size(&sorted[i], build->raw.count - i);
        const RawSymbol *best = pick(build, &sorted[i], n, &folded);
        if (class_of(best->kind) == 1 && best->start < procedure_end) continue;
        winners[entry] = best;
        set_entry(t, entry, best, folded);
        if (is_procedure(best->kind) && t->end[entry] > procedure_end)
            procedure_end = t->end[entry];
        entry++;
    }
    return entry;
}

Status symbuild_finish(SymBuild *build, SymTab **out, Err *err) {
    size_t count = build->raw.count;
    if (count > LIMIT_SYMBOLS || build->names.cut)
        return err_set(err, ERR_LIMIT, "%zu symbols are more than the limit of %d", count,
                       LIMIT_SYMBOLS);
    SortKey *keys = mem_alloc((count + 1) * sizeof *keys);
    SortKey *sorted = mem_alloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++) keys[i] = (SortKey){build->raw.items[i].start, (uint32_t)i};
    sort_keys(keys, sorted, count);
    mem_free(keys);
    uint32_t entries = 0;
    for (size_t i = 0; i < count; i += group_size(&sorted[i], count - i)) entries++;
    const RawSymbol **winners = mem_alloc(((size_t)entries + 1) * sizeof *winners);
    AUTO(symtab_close) SymTab *t = symtab_new(entries, 0);
    t->count = choose_winners(build, sorted, winners, t);
    mem_free(sorted);
    find_ends(build, t);
    Status status = write_names(build, winners, t, err);
    mem_free(winners);
    if (status != OK) return status;
    *out = t;
    t = NULL;
    return OK;
}
