// Inlined calls: the sites inside a module's procedures, the annotations that say which addresses
// and lines they cover, and the names of the functions. docs/formats/pdb.md, "Inlined functions".
#include "sym/lines_internal.h"

#include <stdlib.h>

enum {
    OP_END = 0,
    OP_CODE_OFFSET = 1,
    OP_CODE_BASE = 2,
    OP_CODE_DELTA = 3,
    OP_CODE_LENGTH = 4,
    OP_FILE = 5,
    OP_LINE_DELTA = 6,
    OP_CODE_AND_LINE = 11,
    OP_LENGTH_AND_CODE = 12,
    OP_COLUMN_LAST = 13,
    TYPE_RECORD_BYTES_MIN = 4,
    ID_HEADER_BYTES = 20,
    NUMERIC_LEAF = 0x8000,
};

// Operands take one, two or four bytes, big end first.
static uint32_t read_operand(Rd *r) {
    uint32_t b = rd_u8(r);
    if ((b & 0x80) == 0) return b;
    if ((b & 0xC0) == 0x80) return (b & 0x3F) << 8 | rd_u8(r);
    if ((b & 0xE0) != 0xC0) {
        rd_fail(r);
        return 0;
    }
    uint32_t high = (b & 0x1F) << 8 | rd_u8(r);
    return high << 16 | rd_be16(r);
}

static uint32_t signed_operand(uint32_t v) {
    return v & 1 ? 0u - (v >> 1) : v >> 1;
}

typedef struct Annotator {
    const LineContext *context;
    LineRows *rows;
    size_t first;  // of this site's rows
    uint32_t base; // of the procedure
    uint32_t offset, line, file;
    bool open; // the last row waits for its length
} Annotator;

static void end_row(Annotator *a, uint32_t offset) {
    if (a->open) a->rows->items[a->rows->count - 1].end = a->base + offset;
    a->open = false;
}

static void begin_row(Annotator *a) {
    end_row(a, a->offset);
    uint32_t start = a->base + a->offset;
    *vec_push(a->rows) = (LineRow){start, start, is_source_line(a->line) ? a->line : 0, a->file};
    a->open = true;
}

static void annotate(Annotator *a, uint32_t op, Rd *r) {
    uint32_t v = read_operand(r);
    switch (op) {
    case OP_CODE_OFFSET:
        a->offset = v;
        begin_row(a);
        break;
    case OP_CODE_BASE: break; // no compiler is known to write it
    case OP_CODE_DELTA:
        a->offset += v;
        begin_row(a);
        break;
    case OP_CODE_LENGTH:
        a->offset += v;
        end_row(a, a->offset);
        break;
    case OP_FILE: a->file = file_from_checksum(a->context, v); break;
    case OP_LINE_DELTA: a->line += signed_operand(v); break;
    case OP_CODE_AND_LINE:
        a->offset += v & 15;
        a->line += signed_operand(v >> 4);
        begin_row(a);
        break;
    case OP_LENGTH_AND_CODE:
        a->offset += read_operand(r);
        begin_row(a);
        end_row(a, a->offset + v);
        break;
    default: break; // columns and line ends
    }
}

static int compare_starts(const void *a, const void *b) {
    const LineRow *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

// Rows that never got a length, or one that wraps, cover nothing and go.
static void drop_empty_rows(Annotator *a) {
    size_t kept = a->first;
    bool sorted = true;
    for (size_t i = a->first; i < a->rows->count; i++) {
        LineRow row = a->rows->items[i];
        if (row.end <= row.start) continue;
        if (kept > a->first && row.start < a->rows->items[kept - 1].start) sorted = false;
        a->rows->items[kept++] = row;
    }
    a->rows->count = kept;
    if (!sorted) qsort(a->rows->items + a->first, kept - a->first, sizeof(LineRow), compare_starts);
}

static void read_annotations(const LineContext *context, Rd r, uint32_t base, InlineSite *site,
                             LineRows *rows) {
    const uint64_t *origin = map_get(&context->inlinees, site->inlinee);
    Annotator a = {.context = context, .rows = rows, .first = rows->count, .base = base};
    a.file = origin ? file_from_checksum(context, (uint32_t)(*origin >> 32)) : FILE_UNKNOWN;
    a.line = origin ? (uint32_t)*origin : 0;
    while (rd_left(&r)) {
        uint32_t op = read_operand(&r);
        if (op == OP_END || op > OP_COLUMN_LAST || !rd_ok(&r)) break;
        annotate(&a, op, &r);
    }
    drop_empty_rows(&a);
    site->first_row = (uint32_t)a.first;
    site->row_count = (uint32_t)(rows->count - a.first);
}

typedef struct SiteWalk {
    const LineContext *context;
    ModuleTable *table;
    bool inside; // a procedure
    InlineProcedure procedure;
    uint32_t stack[LIMIT_INLINE_DEPTH];
    size_t depth;
    size_t too_deep; // sites left out, to match their ends
} SiteWalk;

static void begin_procedure(SiteWalk *w, const PdbSymbol *symbol) {
    uint32_t rva;
    w->inside = pdb_rva(w->context->lines->pdb, symbol->segment, symbol->offset, &rva) &&
                symbol->length <= UINT32_MAX - rva;
    w->depth = w->too_deep = 0;
    if (!w->inside) return;
    w->procedure = (InlineProcedure){rva, rva + symbol->length, (uint32_t)w->table->sites.count, 0};
}

static void flush_procedure(SiteWalk *w) {
    if (!w->inside) return;
    w->procedure.site_count = (uint32_t)w->table->sites.count - w->procedure.first_site;
    if (w->procedure.site_count) *vec_push(&w->table->procedures) = w->procedure;
    w->inside = false;
}

static void begin_site(SiteWalk *w, const SymRecord *record) {
    if (!w->inside) return;
    if (w->depth == LIMIT_INLINE_DEPTH) {
        w->too_deep++;
        return;
    }
    Rd r = record->payload;
    InlineSite site = {.parent = w->depth ? w->stack[w->depth - 1] : SITE_NONE};
    rd_skip(&r, 8);
    site.inlinee = rd_u32(&r);
    if (record->kind == S_INLINESITE2) rd_skip(&r, 4);
    read_annotations(w->context, r, w->procedure.start, &site, &w->table->site_rows);
    w->stack[w->depth++] = (uint32_t)w->table->sites.count;
    *vec_push(&w->table->sites) = site;
}

static void end_site(SiteWalk *w) {
    if (w->too_deep)
        w->too_deep--;
    else if (w->depth)
        w->depth--;
}

static int compare_procedures(const void *a, const void *b) {
    const InlineProcedure *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->first_site < y->first_site ? -1 : x->first_site > y->first_site;
}

Status inline_sites_read(LineContext *context, size_t module, ModuleTable *table, Err *err) {
    AUTO(pdb_symbols_done) PdbSymbols it = {0};
    TRY(pdb_module_symbols(context->lines->pdb, module, &it, err));
    SiteWalk walk = {.context = context, .table = table};
    SymRecord record;
    bool damaged = false;
    while (sym_record_next(&it.rd, &record, &damaged)) {
        PdbSymbol symbol;
        if (record.kind == S_INLINESITE || record.kind == S_INLINESITE2) {
            begin_site(&walk, &record);
        } else if (record.kind == S_INLINESITE_END) {
            end_site(&walk);
        } else if (pdb_symbol_from_record(&record, &symbol, NULL) && symbol.kind <= SYMBOL_STATIC) {
            flush_procedure(&walk);
            begin_procedure(&walk, &symbol);
        }
    }
    flush_procedure(&walk);
    vec_sort(&table->procedures, compare_procedures);
    return OK;
}

// Offsets of all records of the id or type stream: one walk, then any record is at hand.
static void load_ids(PdbLines *lines, uint32_t stream, IdStream *ids) {
    if (ids->loaded) return;
    ids->loaded = true;
    if (container_load(lines->pdb->container, stream, &ids->bytes, NULL) != OK) return;
    Rd r = container_rd(&ids->bytes);
    rd_skip(&r, 4);
    uint32_t header_bytes = rd_u32(&r);
    ids->first = rd_u32(&r);
    rd_seek(&r, header_bytes < ID_HEADER_BYTES ? ID_HEADER_BYTES : header_bytes);
    VEC(uint32_t) offsets = {0};
    SymRecord record;
    bool damaged = false;
    while (sym_record_next(&r, &record, &damaged)) *vec_push(&offsets) = record.offset;
    ids->offsets = offsets.items;
    ids->count = (uint32_t)offsets.count;
}

static bool id_record(const IdStream *ids, uint32_t id, SymRecord *out) {
    bool damaged = false;
    if (id < ids->first || id - ids->first >= ids->count) return false;
    Rd r = container_rd(&ids->bytes);
    rd_seek(&r, ids->offsets[id - ids->first]);
    return sym_record_next(&r, out, &damaged);
}

// A size in a type record: small numbers stand for themselves.
static void skip_number(Rd *r) {
    static const uint8_t SIZES[] = {1, 2, 2, 4, 4, 4, 8, 10, 16, 8, 8};
    uint16_t leaf = rd_u16(r);
    if (leaf < NUMERIC_LEAF) return;
    unsigned index = leaf - NUMERIC_LEAF;
    if (index < COUNT_OF(SIZES))
        rd_skip(r, SIZES[index]);
    else
        rd_fail(r);
}

static Str class_name(PdbLines *lines, uint32_t type) {
    SymRecord record;
    load_ids(lines, STREAM_TPI, &lines->tpi);
    if (!id_record(&lines->tpi, type, &record)) return (Str){0};
    Rd r = record.payload;
    if (record.kind == LF_UNION)
        rd_skip(&r, 8);
    else if (record.kind == LF_CLASS || record.kind == LF_STRUCTURE || record.kind == LF_INTERFACE)
        rd_skip(&r, 16);
    else
        return (Str){0};
    skip_number(&r);
    return rd_astr_raw(&r);
}

static Str scope_name(PdbLines *lines, uint32_t id) {
    SymRecord record;
    if (id == 0 || !id_record(&lines->ipi, id, &record) || record.kind != LF_STRING_ID)
        return (Str){0};
    Rd r = record.payload;
    rd_skip(&r, 4);
    return rd_astr_raw(&r);
}

Str inlinee_name(PdbLines *lines, uint32_t id, Arena *arena) {
    SymRecord record;
    load_ids(lines, STREAM_IPI, &lines->ipi);
    if (!id_record(&lines->ipi, id, &record)) return (Str){0};
    if (record.kind != LF_FUNC_ID && record.kind != LF_MFUNC_ID) return (Str){0};
    Rd r = record.payload;
    uint32_t scope_id = rd_u32(&r);
    rd_skip(&r, 4);
    Str name = rd_astr_raw(&r);
    Str scope =
        record.kind == LF_FUNC_ID ? scope_name(lines, scope_id) : class_name(lines, scope_id);
    Str whole =
        scope.n ? str_format(arena, STR_FMT "::" STR_FMT, STR_ARG(scope), STR_ARG(name)) : name;
    return str_from_8bit(arena, (const uint8_t *)whole.p, whole.n);
}
