// The table of functions: made from a PDB or an image, searched by address.
#include "base/search.h"
#include "sym/symtab_internal.h"

#include <string.h>

enum {
    WALK_BACK = 8,             // entries looked at for one that encloses the address
    OMAP_UNMAPPED = INT32_MIN, // 0x80000000 and above, and 0: inserted code
};

// Data that assemblers and compilers put into executable sections.
static bool is_data_name(Str name) {
    static const char *const PREFIXES[] = {
        "??_C@",
        "??_R",
        "__real@",
        "__xmm@",
        "__imp_",
        "__IMPORT_DESCRIPTOR",
        "__NULL_IMPORT_DESCRIPTOR",
    };
    for (size_t i = 0; i < COUNT_OF(PREFIXES); i++)
        if (str_starts(name, str_from_c(PREFIXES[i]))) return true;
    return str_ends(name, STR("_NULL_THUNK_DATA"));
}

static bool is_public(SymbolKind kind) {
    return kind == SYMBOL_PUBLIC_FUNCTION || kind == SYMBOL_PUBLIC_CODE ||
           kind == SYMBOL_PUBLIC_OTHER;
}

static bool wanted(const Pdb *pdb, const PdbSymbol *symbol, uint32_t *rva) {
    if (!pdb_rva(pdb, symbol->segment, symbol->offset, rva)) return false;
    if (!is_public(symbol->kind)) return true;
    const PdbSection *section = pdb_section(pdb, symbol->segment - 1);
    if ((section->characteristics & SECTION_EXECUTABLE) == 0) return false;
    return symbol->kind != SYMBOL_PUBLIC_OTHER || !is_data_name(symbol->name);
}

static void add_symbol(SymBuild *build, const Pdb *pdb, const PdbSymbol *symbol, uint32_t module) {
    uint32_t rva = 0, target = 0;
    if (!wanted(pdb, symbol, &rva)) return;
    RawSymbol *raw = vec_push(&build->raw);
    (void)pdb_rva(pdb, symbol->target_segment, symbol->target_offset, &target);
    *raw = (RawSymbol){.start = rva,
                       .length = symbol->length,
                       .name_at = (uint32_t)build->names.n,
                       .name_size = (uint32_t)symbol->name.n,
                       .module = module,
                       .target = target,
                       .kind = (uint8_t)symbol->kind};
    if (symbol->kind == SYMBOL_TRAMPOLINE) raw->name_at = symbol->offset; // shown, not a place
    buf_add(&build->names, symbol->name);
}

static Status add_publics(SymBuild *build, Pdb *pdb, SymTabInfo *info, Err *err) {
    AUTO(pdb_symbols_done) PdbSymbols it = {0};
    TRY(pdb_publics(pdb, &it, err));
    PdbSymbol symbol;
    while (pdb_symbols_next(&it, &symbol) && build->raw.count <= LIMIT_SYMBOLS) {
        info->publics++;
        add_symbol(build, pdb, &symbol, MODULE_UNKNOWN);
    }
    if (it.damaged) info->damaged = true;
    return OK;
}

// A module whose stream cannot be read costs its own functions only.
static void add_module(SymBuild *build, Pdb *pdb, size_t module, PdbSymbols *it, SymTabInfo *info) {
    PdbSymbol symbol;
    if (pdb_module_symbols(pdb, module, it, NULL) != OK) {
        info->damaged = true;
        return;
    }
    while (pdb_symbols_next(it, &symbol) && build->raw.count <= LIMIT_SYMBOLS) {
        if (symbol.kind <= SYMBOL_STATIC) info->procedures++;
        add_symbol(build, pdb, &symbol, (uint32_t)module);
    }
    if (it->damaged) info->damaged = true;
}

static void add_modules(SymBuild *build, Pdb *pdb, SymTabInfo *info) {
    AUTO(pdb_symbols_done) PdbSymbols it = {0};
    // Real modules never share a stream; made-up ones could name a long one a thousand times.
    uint32_t streams = container_stream_count(pdb_container(pdb));
    uint8_t *seen = mem_zero((size_t)streams + 1, 1);
    for (size_t i = 0; i < pdb_module_count(pdb); i++) {
        const PdbModule *module = pdb_module(pdb, i);
        if (module->stream == STREAM_NONE) continue;
        if (module->stream >= streams || seen[module->stream]) {
            info->damaged = true;
            continue;
        }
        seen[module->stream] = 1;
        if (module->c13_bytes) info->has_lines = true;
        add_module(build, pdb, i, &it, info);
    }
    mem_free(seen);
}

static SymTabInfo info_from_pdb(const Pdb *pdb) {
    const PdbInfo *p = pdb_info(pdb);
    return (SymTabInfo){.guid = p->guid,
                        .info_age = p->info_age,
                        .dbi_age = p->dbi_age,
                        .machine = p->machine,
                        .stripped = p->stripped,
                        .managed = p->managed,
                        .fastlink = p->fastlink,
                        .sections = (uint32_t)pdb_section_count(pdb)};
}

Status symtab_from_pdb(Pdb *pdb, SymTab **out, Err *err) {
    SymTabInfo info = info_from_pdb(pdb);
    SymBuild build = {.machine = info.machine, .names = {.max = UINT32_MAX}};
    build.section_count = pdb_section_count(pdb);
    build.sections = build.section_count ? pdb_section(pdb, 0) : NULL;
    OmapEntry *omap = NULL;
    size_t omap_count = 0;
    if (!info.managed) add_modules(&build, pdb, &info);
    Status status = OK;
    // What is damaged costs its own part: without publics procedures remain, and the reverse.
    if (!info.managed && add_publics(&build, pdb, &info, NULL) != OK) info.damaged = true;
    if (pdb_contributions(pdb, &build.contributions, &build.contribution_count, NULL) != OK)
        info.damaged = true;
    if (pdb_omap(pdb, true, &omap, &omap_count, NULL) != OK) info.damaged = true;
    status = symbuild_finish(&build, out, err);
    symbuild_done(&build);
    if (status != OK) {
        mem_free(omap);
        return status;
    }
    info.has_omap = omap_count != 0;
    (*out)->info = info;
    (*out)->to_source = omap;
    (*out)->to_source_count = omap_count;
    return OK;
}

void symtab_close(SymTab *t) {
    if (!t) return;
    mem_free(t->start);
    mem_free(t->end);
    mem_free(t->module);
    mem_free(t->name_at);
    mem_free(t->folded);
    mem_free(t->kind);
    mem_free(t->flags);
    mem_free(t->names);
    mem_free(t->to_source);
    mem_free(t);
}

const SymTabInfo *symtab_info(const SymTab *table) {
    return &table->info;
}

uint32_t symtab_count(const SymTab *table) {
    return table->count;
}

Str symtab_raw_name(const SymTab *t, uint32_t index) {
    return (Str){t->names + t->name_at[index], t->name_at[index + 1] - t->name_at[index] - 1};
}

Str symtab_name(const SymTab *t, uint32_t index, Arena *arena) {
    Str raw = symtab_raw_name(t, index);
    SymbolKind kind = (SymbolKind)t->kind[index];
    bool decorated = is_public(kind) || kind == SYMBOL_EXPORT;
    // Procedures have their plain names, but for those of x86 assemblers: "@f@8".
    if (kind <= SYMBOL_STATIC && t->info.machine == MACHINE_X86)
        decorated = str_rfind_char(raw, '@') != SIZE_MAX;
    if (!decorated || t->flags[index] & ENTRY_NAME_FINAL) return raw;
    return symbol_display_name(raw, t->info.machine == MACHINE_X86, arena);
}

void symtab_function(const SymTab *t, uint32_t index, Arena *arena, SymFunction *out) {
    Str raw = symtab_raw_name(t, index);
    *out = (SymFunction){.name = symtab_name(t, index, arena),
                         .raw_name = raw,
                         .rva = t->start[index],
                         .end = t->end[index],
                         .module = t->module[index],
                         .folded = t->folded[index],
                         .kind = (SymbolKind)t->kind[index],
                         .arm64ec =
                             str_starts(raw, STR("#")) || str_find(raw, STR("@$$h")) != SIZE_MAX,
                         .end_known = (t->flags[index] & ENTRY_END_KNOWN) != 0};
}

static bool is_unmapped(uint32_t to) {
    return to == 0 || to >= (uint32_t)OMAP_UNMAPPED;
}

static bool translate(const SymTab *t, uint32_t rva, uint32_t *source) {
    if (t->to_source_count == 0) {
        *source = rva;
        return true;
    }
    size_t at;
    FIND_FIRST(at, t->to_source_count, t->to_source[at].from <= rva);
    if (at == 0 || is_unmapped(t->to_source[at - 1].to)) return false;
    *source = t->to_source[at - 1].to + (rva - t->to_source[at - 1].from);
    return true;
}

// `after` is the index of the first entry that starts behind `rva`. When the last entry before does
// not reach the address, one of the few before it may enclose it.
static uint32_t covering(const SymTab *t, uint32_t after, uint32_t rva) {
    for (uint32_t back = 1; back <= WALK_BACK && back <= after; back++)
        if (rva < t->end[after - back]) return after - back;
    return SYM_NONE;
}

static uint32_t first_after(const SymTab *t, uint32_t low, uint32_t high, uint32_t rva) {
    uint32_t at;
    FIND_FIRST(at, high - low, t->start[low + at] <= rva);
    return low + at;
}

uint32_t symtab_at(const SymTab *t, uint32_t rva, uint32_t *source_rva) {
    uint32_t source = rva;
    if (t->info.machine == MACHINE_ARM32) rva &= ~UINT32_C(1); // Thumb bit
    if (!translate(t, rva, &source)) return SYM_NONE;
    if (source_rva) *source_rva = source;
    return covering(t, first_after(t, 0, t->count, source), source);
}

// First entry behind `rva`, looked for from the last place: forwards in steps that double, or in
// all that lies before.
static uint32_t first_after_from(const SymTab *t, uint32_t last, uint32_t rva) {
    if (last && t->start[last - 1] > rva) return first_after(t, 0, last, rva);
    uint32_t low = last;
    for (uint32_t step = 1; step < t->count - low; step *= 2) {
        if (t->start[low + step - 1] > rva) return first_after(t, low, low + step - 1, rva);
        low += step;
    }
    return first_after(t, low, t->count, rva);
}

void symtab_at_many(const SymTab *t, const uint32_t *rvas, size_t count, uint32_t *functions) {
    uint32_t after = 0; // entries before this one start at or below the last address
    uint32_t thumb = t->info.machine == MACHINE_ARM32 ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t rva = 0;
        functions[i] = SYM_NONE;
        if (!translate(t, rvas[i] & ~thumb, &rva)) continue;
        after = first_after_from(t, after, rva);
        functions[i] = covering(t, after, rva);
    }
}

typedef VEC(SymRange) Ranges;

static void add_range(Ranges *ranges, SymRange range) {
    SymRange *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;
    if (last && last->function == range.function && last->rva + last->size == range.rva) {
        last->size += range.size;
        return;
    }
    SymRange *slot = vec_push(ranges);
    INVARIANT(slot);
    *slot = range;
}

// One stretch of the image: [from, from + size) runs code that symbols know at `source`.
static void add_stretch(const SymTab *t, uint32_t from, uint32_t size, uint32_t source,
                        Ranges *ranges) {
    uint64_t end = (uint64_t)source + size;
    uint32_t i = first_after(t, 0, t->count, source);
    i = i > WALK_BACK ? i - WALK_BACK : 0;
    for (; i < t->count && t->start[i] < end; i++) {
        uint64_t low = t->start[i] > source ? t->start[i] : source;
        uint64_t high = t->end[i] < end ? t->end[i] : end;
        if (low < high)
            add_range(ranges,
                      (SymRange){from + (uint32_t)(low - source), (uint32_t)(high - low), i});
    }
}

SymRange *symtab_ranges(const SymTab *t, size_t *count) {
    Ranges ranges = {0};
    vec_reserve(&ranges, (size_t)t->count + 1);
    if (t->to_source_count == 0)
        for (uint32_t i = 0; i < t->count; i++)
            *vec_push(&ranges) =
                (SymRange){t->start[i], t->end[i] ? t->end[i] - t->start[i] : 0, i};
    for (size_t i = 0; i + 1 < t->to_source_count; i++) {
        const OmapEntry *e = &t->to_source[i];
        if (!is_unmapped(e->to)) add_stretch(t, e->from, e[1].from - e->from, e->to, &ranges);
    }
    *count = ranges.count;
    return ranges.items;
}
