// Line tables (C13) of a PDB's modules, and the answer to "which source line is this address".
// docs/formats/pdb.md, "Lines".
#include "base/search.h"
#include "sym/lines_internal.h"

#include <stdlib.h>

enum {
    SUBSECTION_IGNORED = (int)0x80000000,
    LINES_HAVE_COLUMNS = 1,
    LINE_BLOCK_BYTES = 12,
    LINE_MASK = 0xFFFFFF,
    LINE_HIDDEN_1 = 0xF00F00,
    LINE_HIDDEN_2 = 0xFEEFEE,
    STRING_TABLE_MAGIC = (int)0xEFFEEFFE,
};

bool is_source_line(uint32_t line) {
    return line != LINE_HIDDEN_1 && line != LINE_HIDDEN_2;
}

uint32_t file_from_checksum(const LineContext *context, uint32_t offset) {
    Rd r = context->checksums;
    rd_seek(&r, offset);
    uint32_t name = rd_u32(&r);
    return rd_ok(&r) ? name : FILE_UNKNOWN;
}

// A row before its end is known.
typedef struct PendingRow {
    uint32_t offset, line, file, order;
} PendingRow;
typedef VEC(PendingRow) PendingRows;

static int compare_pending(const void *a, const void *b) {
    const PendingRow *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void read_block(const LineContext *context, Rd *r, PendingRows *pending) {
    uint32_t file = file_from_checksum(context, rd_u32(r));
    uint32_t count = rd_u32(r), bytes = rd_u32(r);
    if (bytes < LINE_BLOCK_BYTES) {
        rd_fail(r);
        return;
    }
    size_t have = bytes - LINE_BLOCK_BYTES;
    Rd block = rd_sub(r, have < rd_left(r) ? have : rd_left(r));
    for (uint32_t i = 0; i < count && rd_left(&block) >= 8; i++) {
        uint32_t offset = rd_u32(&block), bits = rd_u32(&block);
        *vec_push(pending) = (PendingRow){offset, bits & LINE_MASK, file, (uint32_t)pending->count};
    }
}

static bool is_sorted(const PendingRows *pending) {
    for (size_t i = 1; i < pending->count; i++)
        if (pending->items[i].offset < pending->items[i - 1].offset) return false;
    return true;
}

// Rows of all files of one function, merged. Of several rows at one offset the last one holds; each
// reaches to the next larger offset.
static void finish_rows(PendingRows *pending, uint32_t base, uint32_t size, LineRows *rows) {
    if (pending->count && !is_sorted(pending)) vec_sort(pending, compare_pending);
    for (size_t i = 0; i < pending->count; i++) {
        const PendingRow *row = &pending->items[i];
        uint32_t end = size;
        if (i + 1 < pending->count) {
            if (pending->items[i + 1].offset == row->offset) continue;
            if (pending->items[i + 1].offset < size) end = pending->items[i + 1].offset;
        }
        if (row->offset >= end || !is_source_line(row->line)) continue;
        *vec_push(rows) = (LineRow){base + row->offset, base + end, row->line, row->file};
    }
}

static void read_lines(const LineContext *context, Rd r, PendingRows *pending, LineRows *rows) {
    uint32_t offset = rd_u32(&r), segment = rd_u16(&r), base = 0;
    rd_skip(&r, 2); // flags: columns follow the lines of a block, within its size
    uint32_t size = rd_u32(&r);
    if (!rd_ok(&r) || !pdb_rva(context->lines->pdb, segment, offset, &base)) return;
    if (size > UINT32_MAX - base) return;
    pending->count = 0;
    while (rd_left(&r) >= LINE_BLOCK_BYTES) read_block(context, &r, pending);
    finish_rows(pending, base, size, rows);
}

static void read_inlinees(LineContext *context, Rd r) {
    bool extended = rd_u32(&r) == 1;
    while (rd_left(&r) >= 12) {
        uint32_t id = rd_u32(&r), file = rd_u32(&r), line = rd_u32(&r);
        (void)map_put(&context->inlinees, id, (uint64_t)file << 32 | line, NULL);
        if (extended) rd_skip(&r, (size_t)rd_u32(&r) * 4);
    }
}

static bool next_subsection(Rd *r, uint32_t *kind, Rd *data) {
    if (rd_left(r) < 8) return false;
    *kind = rd_u32(r);
    uint32_t size = rd_u32(r);
    *data = rd_sub(r, size < rd_left(r) ? size : rd_left(r));
    size_t pad = (4 - size % 4) % 4;
    rd_skip(r, pad < rd_left(r) ? pad : rd_left(r));
    return true;
}

// Two walks: the lists that rows refer to may follow them.
static void read_subsections(LineContext *context, Rd all, LineRows *rows) {
    uint32_t kind;
    Rd data;
    for (Rd r = all; next_subsection(&r, &kind, &data);) {
        if (kind == DEBUG_S_FILECHKSMS)
            context->checksums = data;
        else if (kind == DEBUG_S_INLINEELINES)
            read_inlinees(context, data);
    }
    PendingRows pending = {0};
    for (Rd r = all; next_subsection(&r, &kind, &data);)
        if (kind == DEBUG_S_LINES) read_lines(context, data, &pending, rows);
    vec_free(&pending);
}

static int compare_rows(const void *a, const void *b) {
    const LineRow *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static void table_close(ModuleTable *table) {
    if (!table) return;
    vec_free(&table->rows);
    vec_free(&table->procedures);
    vec_free(&table->sites);
    vec_free(&table->site_rows);
    mem_free(table);
}

static Status read_table(PdbLines *lines, size_t index, ModuleTable *table, Err *err) {
    const PdbModule *m = pdb_module(lines->pdb, index);
    uint64_t have = container_stream_size(lines->pdb->container, m->stream);
    uint64_t at = (uint64_t)m->symbol_bytes + m->c11_bytes, size = m->c13_bytes;
    if (at >= have) return OK;
    if (size > have - at) size = have - at;
    if (size > LIMIT_PDB_STREAM_BYTES)
        return err_set(err, ERR_LIMIT, STR_FMT ": %" PRIu64 " bytes of lines in one module",
                       STR_ARG(pdb_name(lines->pdb)), size);
    AUTO(buf_done) Buf bytes = {.p = mem_alloc((size_t)size + 1), .capacity = (size_t)size + 1};
    TRY(container_read(lines->pdb->container, m->stream, at, bytes.p, (size_t)size, err));
    LineContext context = {.lines = lines};
    read_subsections(&context, rd_from(bytes.p, (size_t)size), &table->rows);
    vec_sort(&table->rows, compare_rows);
    Status status = inline_sites_read(&context, index, table, err);
    map_done(&context.inlinees);
    return status;
}

// Under the mutex. The table stays valid until the mutex is released.
static Status module_table(PdbLines *lines, size_t index, ModuleTable **out, Err *err) {
    size_t oldest = 0;
    for (size_t i = 0; i < LIMIT_PDB_CACHED_MODULES; i++) {
        ModuleTable *table = lines->tables[i];
        if (table && table->module == index) {
            table->used_at = ++lines->clock;
            *out = table;
            return OK;
        }
        const ModuleTable *old = lines->tables[oldest];
        if (old && (!table || table->used_at < old->used_at)) oldest = i;
    }
    ModuleTable *fresh = mem_zero(1, sizeof *fresh);
    fresh->module = index;
    fresh->used_at = ++lines->clock;
    Status status = read_table(lines, index, fresh, err);
    if (status != OK) {
        table_close(fresh);
        return status;
    }
    table_close(lines->tables[oldest]);
    lines->tables[oldest] = *out = fresh;
    return OK;
}

// Without the string table lines still have numbers.
static void read_string_table(PdbLines *lines) {
    uint32_t stream = pdb_named_stream(lines->pdb, STR("/names"));
    if (container_load(lines->pdb->container, stream, &lines->names, NULL) != OK) return;
    Rd r = container_rd(&lines->names);
    bool good = rd_i32(&r) == STRING_TABLE_MAGIC;
    rd_skip(&r, 4);
    uint32_t size = rd_u32(&r);
    if (good && rd_ok(&r)) lines->strings = rd_sub(&r, size < rd_left(&r) ? size : rd_left(&r));
}

Status pdb_lines_open(Pdb *pdb, PdbLines **out, Err *err) {
    if (pdb->info.managed)
        return err_set(err, ERR_NOT_FOUND, STR_FMT ": lines of managed code have no addresses",
                       STR_ARG(pdb_name(pdb)));
    PdbLines *lines = mem_zero(1, sizeof *lines);
    lines->pdb = pdb;
    mutex_init(&lines->mutex);
    read_string_table(lines);
    *out = lines;
    return OK;
}

void pdb_lines_close(PdbLines *lines) {
    if (!lines) return;
    for (size_t i = 0; i < LIMIT_PDB_CACHED_MODULES; i++) table_close(lines->tables[i]);
    buf_done(&lines->names);
    buf_done(&lines->ipi.bytes);
    buf_done(&lines->tpi.bytes);
    mem_free(lines->ipi.offsets);
    mem_free(lines->tpi.offsets);
    mutex_done(&lines->mutex);
    mem_free(lines);
}

Str pdb_lines_file(const PdbLines *lines, uint32_t file) {
    Rd r = lines->strings;
    if (file >= rd_left(&r)) return (Str){0};
    rd_seek(&r, file);
    return rd_astr_raw(&r);
}

static Status bad_module(const PdbLines *lines, size_t module, Err *err) {
    return err_set(err, ERR_ARG, STR_FMT ": there is no module %zu", STR_ARG(pdb_name(lines->pdb)),
                   module);
}

Status pdb_lines_of_module(PdbLines *lines, size_t module, LineRows *out, Err *err) {
    if (module >= lines->pdb->module_count) return bad_module(lines, module, err);
    ModuleTable *table = NULL;
    mutex_lock(&lines->mutex);
    Status status = module_table(lines, module, &table, err);
    for (size_t i = 0; status == OK && i < table->rows.count; i++)
        *vec_push(out) = table->rows.items[i];
    mutex_unlock(&lines->mutex);
    return status;
}

// The row that starts last among those that cover the address.
static const LineRow *row_at(const LineRow *rows, size_t count, uint32_t rva) {
    size_t at;
    FIND_FIRST(at, count, rows[at].start <= rva);
    return at && rva < rows[at - 1].end ? &rows[at - 1] : NULL;
}

static const InlineProcedure *procedure_at(const ModuleTable *table, uint32_t rva) {
    size_t at;
    FIND_FIRST(at, table->procedures.count, table->procedures.items[at].start <= rva);
    const InlineProcedure *p = at ? &table->procedures.items[at - 1] : NULL;
    return p && rva < p->end ? p : NULL;
}

static const LineRow *site_row(const ModuleTable *table, const InlineSite *site, uint32_t rva) {
    if (site->row_count == 0) return NULL;
    return row_at(&table->site_rows.items[site->first_row], site->row_count, rva);
}

static void set_position(const PdbLines *lines, const LineRow *row, Arena *arena,
                         SourceFrame *frame) {
    if (!row) return;
    Str file = pdb_lines_file(lines, row->file);
    frame->file = str_from_8bit(arena, (const uint8_t *)file.p, file.n);
    frame->line = row->line;
}

// Sites lie in nesting order, so the sites around an address come outermost first.
static size_t sites_at(const ModuleTable *table, uint32_t rva, const InlineSite **chain) {
    const InlineProcedure *p = procedure_at(table, rva);
    size_t count = 0;
    uint32_t parent = SITE_NONE;
    for (uint32_t i = 0; p && i < p->site_count && count < LIMIT_INLINE_DEPTH; i++) {
        const InlineSite *site = &table->sites.items[p->first_site + i];
        if (site->parent != parent || !site_row(table, site, rva)) continue;
        chain[count++] = site;
        parent = p->first_site + i;
    }
    return count;
}

static void fill_frames(PdbLines *lines, const ModuleTable *table, uint32_t rva, Arena *arena,
                        SourceFrames *out) {
    const InlineSite *chain[LIMIT_INLINE_DEPTH];
    size_t depth = sites_at(table, rva, chain);
    for (size_t i = 0; i < depth; i++) {
        const InlineSite *site = chain[depth - 1 - i];
        SourceFrame *frame = &out->items[i];
        *frame = (SourceFrame){.inlined = true};
        frame->function = inlinee_name(lines, site->inlinee, arena);
        set_position(lines, site_row(table, site, rva), arena, frame);
    }
    out->items[depth] = (SourceFrame){0};
    out->count = depth + 1;
    set_position(lines, row_at(table->rows.items, table->rows.count, rva), arena,
                 &out->items[depth]);
}

Status pdb_lines_at(PdbLines *lines, size_t module, uint32_t rva, Arena *arena, SourceFrames *out,
                    Err *err) {
    if (module >= lines->pdb->module_count) return bad_module(lines, module, err);
    ModuleTable *table = NULL;
    mutex_lock(&lines->mutex);
    Status status = module_table(lines, module, &table, err);
    if (status == OK) fill_frames(lines, table, rva, arena, out);
    mutex_unlock(&lines->mutex);
    return status;
}
