// Symbol records: framing, the kinds that name code, and the walks over publics and modules.
// docs/formats/pdb.md, "Symbol records".
#include "sym/pdb_internal.h"

enum {
    PUBLICS_HEADER_BYTES = 28,
    RECORD_BYTES_MIN = 2, // the kind
    MODULE_SIGNATURE_BYTES = 4,
};

bool sym_record_next(Rd *r, SymRecord *out, bool *damaged) {
    if (rd_left(r) < 4) return false;
    out->offset = (uint32_t)rd_at(r);
    uint16_t size = rd_u16(r);
    if (size < RECORD_BYTES_MIN || size > rd_left(r)) {
        *damaged = true;
        return false;
    }
    out->payload = rd_sub(r, size);
    out->kind = rd_u16(&out->payload);
    return true;
}

const char *symbol_kind_name(SymbolKind kind) {
    switch (kind) {
    case SYMBOL_PROCEDURE: return "procedure";
    case SYMBOL_STATIC: return "static procedure";
    case SYMBOL_THUNK: return "thunk";
    case SYMBOL_SEPARATE_CODE: return "separate code";
    case SYMBOL_TRAMPOLINE: return "jump table entry";
    case SYMBOL_PUBLIC_FUNCTION: return "public function";
    case SYMBOL_PUBLIC_CODE: return "public code";
    case SYMBOL_PUBLIC_OTHER: return "public label";
    case SYMBOL_EXPORT: return "export";
    case SYMBOL_UNWIND_RANGE: return "unwind range";
    }
    return "unknown";
}

// The name must end inside its record.
static bool read_name(Rd *r, Str *out) {
    size_t left = rd_left(r);
    *out = rd_astr_raw(r);
    return rd_ok(r) && out->n < left;
}

static bool read_procedure(Rd *r, bool managed, PdbSymbol *out, uint32_t *skip_to) {
    rd_skip(r, 4);
    uint32_t end = rd_u32(r);
    rd_skip(r, 4);
    out->length = rd_u32(r);
    rd_skip(r, 12);
    out->offset = rd_u32(r);
    out->segment = rd_u16(r);
    rd_skip(r, managed ? 3 : 1);
    if (skip_to) *skip_to = end;
    return read_name(r, &out->name);
}

static bool read_thunk(Rd *r, PdbSymbol *out) {
    rd_skip(r, 12);
    out->offset = rd_u32(r);
    out->segment = rd_u16(r);
    out->length = rd_u16(r);
    rd_skip(r, 1);
    return read_name(r, &out->name);
}

static bool read_trampoline(Rd *r, PdbSymbol *out) {
    rd_skip(r, 2);
    out->length = rd_u16(r);
    out->offset = rd_u32(r);
    out->target_offset = rd_u32(r);
    out->segment = rd_u16(r);
    out->target_segment = rd_u16(r);
    return rd_ok(r);
}

static bool read_separate_code(Rd *r, PdbSymbol *out) {
    rd_skip(r, 8);
    out->length = rd_u32(r);
    rd_skip(r, 4);
    out->offset = rd_u32(r);
    out->target_offset = rd_u32(r);
    out->segment = rd_u16(r);
    out->target_segment = rd_u16(r);
    return rd_ok(r);
}

static bool read_public(Rd *r, PdbSymbol *out) {
    out->flags = rd_u32(r);
    out->offset = rd_u32(r);
    out->segment = rd_u16(r);
    out->kind = out->flags & PUBLIC_FUNCTION ? SYMBOL_PUBLIC_FUNCTION
                : out->flags & PUBLIC_CODE   ? SYMBOL_PUBLIC_CODE
                                             : SYMBOL_PUBLIC_OTHER;
    return read_name(r, &out->name);
}

bool pdb_symbol_from_record(const SymRecord *record, PdbSymbol *out, uint32_t *skip_to) {
    Rd r = record->payload;
    *out = (PdbSymbol){.kind = SYMBOL_PROCEDURE};
    if (skip_to) *skip_to = 0;
    switch (record->kind) {
    case S_LPROC32:
    case S_LPROC32_ID:
    case S_LPROC32_DPC:
    case S_LPROC32_DPC_ID:
        out->kind = SYMBOL_STATIC;
        return read_procedure(&r, false, out, skip_to);
    case S_GPROC32:
    case S_GPROC32_ID: return read_procedure(&r, false, out, skip_to);
    case S_LMANPROC: out->kind = SYMBOL_STATIC; return read_procedure(&r, true, out, skip_to);
    case S_GMANPROC: return read_procedure(&r, true, out, skip_to);
    case S_THUNK32: out->kind = SYMBOL_THUNK; return read_thunk(&r, out);
    case S_TRAMPOLINE: out->kind = SYMBOL_TRAMPOLINE; return read_trampoline(&r, out);
    case S_SEPCODE: out->kind = SYMBOL_SEPARATE_CODE; return read_separate_code(&r, out);
    case S_PUB32: return read_public(&r, out);
    default: return false;
    }
}

// The publics stream lists the records that count, in the order of their addresses. Without a
// usable list every S_PUB32 record of the record stream is taken.
static Status read_address_map(Pdb *pdb, PdbSymbols *out, Err *err) {
    uint32_t stream = pdb->publics_stream;
    uint64_t size = container_stream_size(pdb->container, stream);
    if (size < PUBLICS_HEADER_BYTES) return OK;
    uint8_t head[8];
    TRY(container_read(pdb->container, stream, 0, head, sizeof head, err));
    Rd r = rd_from(head, sizeof head);
    uint64_t at = PUBLICS_HEADER_BYTES + (uint64_t)rd_u32(&r);
    uint32_t bytes = rd_u32(&r);
    if (at > size || bytes > size - at || bytes > LIMIT_PDB_STREAM_BYTES) {
        out->damaged = true;
        return OK;
    }
    out->offset_count = bytes / 4;
    out->offsets = mem_alloc((size_t)bytes + 1);
    return container_read(pdb->container, stream, at, out->offsets, out->offset_count * 4, err);
}

Status pdb_publics(Pdb *pdb, PdbSymbols *out, Err *err) {
    *out = (PdbSymbols){.publics = true};
    Status status = container_load(pdb->container, pdb->records_stream, &out->bytes, err);
    if (status == OK) status = read_address_map(pdb, out, err);
    out->rd = container_rd(&out->bytes);
    if (status != OK) pdb_symbols_done(out);
    return status;
}

Status pdb_module_symbols(Pdb *pdb, size_t module, PdbSymbols *keep, Err *err) {
    const PdbModule *m = &pdb->modules[module];
    Buf bytes = keep->bytes;
    mem_free(keep->offsets);
    *keep = (PdbSymbols){.bytes = bytes};
    buf_clear(&keep->bytes);
    uint64_t have = container_stream_size(pdb->container, m->stream), size = m->symbol_bytes;
    if (size > have) {
        keep->damaged = true;
        size = have;
    }
    if (size > LIMIT_PDB_STREAM_BYTES)
        return err_set(err, ERR_LIMIT, STR_FMT ": module %zu has %" PRIu64 " bytes of symbols",
                       STR_ARG(pdb_name(pdb)), module, size);
    if (size + 1 > keep->bytes.capacity) {
        buf_done(&keep->bytes);
        keep->bytes = (Buf){.p = mem_alloc((size_t)size + 1), .capacity = (size_t)size + 1};
    }
    TRY(container_read(pdb->container, m->stream, 0, keep->bytes.p, (size_t)size, err));
    keep->bytes.n = (size_t)size;
    keep->rd = container_rd(&keep->bytes);
    if (size > MODULE_SIGNATURE_BYTES)
        rd_skip(&keep->rd, MODULE_SIGNATURE_BYTES);
    else
        rd_skip(&keep->rd, (size_t)size);
    return OK;
}

// A procedure says where its S_END is; jumping there leaves out its locals. Believed only when it
// lies ahead, is aligned, and an end record is there.
static void jump_to_end(Rd *r, uint32_t end) {
    Rd there = *r;
    if (end % 4 != 0 || end <= rd_at(r)) return;
    rd_seek(&there, end);
    Rd look = there;
    rd_skip(&look, 2);
    uint16_t kind = rd_u16(&look);
    if (rd_ok(&look) && (kind == S_END || kind == S_PROC_ID_END)) *r = there;
}

static bool next_mapped(PdbSymbols *it, PdbSymbol *out) {
    while (it->next < it->offset_count) {
        Rd r = it->rd;
        SymRecord record;
        bool cut = false;
        rd_seek(&r, it->offsets[it->next++]);
        if (rd_ok(&r) && sym_record_next(&r, &record, &cut) && record.kind == S_PUB32 &&
            pdb_symbol_from_record(&record, out, NULL))
            return true;
        it->damaged = true;
    }
    return false;
}

bool pdb_symbols_next(PdbSymbols *it, PdbSymbol *out) {
    if (it->offsets) return next_mapped(it, out);
    SymRecord record;
    while (sym_record_next(&it->rd, &record, &it->damaged)) {
        uint32_t end = 0;
        if ((record.kind == S_PUB32) != it->publics) continue;
        if (!pdb_symbol_from_record(&record, out, &end)) continue;
        if (end) jump_to_end(&it->rd, end);
        return true;
    }
    return false;
}

void pdb_symbols_done(PdbSymbols *it) {
    if (!it) return;
    buf_done(&it->bytes);
    mem_free(it->offsets);
    it->offsets = NULL;
}
