// Builds the streams of a PDB; pdb_pack.c puts them into a container.
#include "support/pdb_build.h"

#include "support/pdb_build_internal.h"
#include "sym/codeview.h"

const Guid SAMPLE_GUID = {
    {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
     0x01}
};

void pb_u8(Buf *b, uint8_t v) {
    buf_add(b, (Str){(const char *)&v, 1});
}

void pb_u16(Buf *b, uint16_t v) {
    buf_add(b, (Str){(const char *)&v, 2});
}

void pb_u32(Buf *b, uint32_t v) {
    buf_add(b, (Str){(const char *)&v, 4});
}

void pb_u64(Buf *b, uint64_t v) {
    buf_add(b, (Str){(const char *)&v, 8});
}

void pb_text(Buf *b, const char *text) {
    buf_add(b, (Str){text, strlen(text) + 1});
}

void pb_zeros(Buf *b, size_t n) {
    while (n--) pb_u8(b, 0);
}

void pb_align(Buf *b, size_t to) {
    while (b->n % to) pb_u8(b, 0);
}

void pb_set_u32(Buf *b, size_t at, uint32_t v) {
    memcpy(b->p + at, &v, sizeof v);
}

static size_t begin_record(Buf *b, uint16_t kind) {
    pb_u16(b, 0);
    pb_u16(b, kind);
    return b->n - 4;
}

static void end_record(Buf *b, size_t at) {
    pb_align(b, 4);
    uint16_t size = (uint16_t)(b->n - at - 2);
    memcpy(b->p + at, &size, sizeof size);
}

PdbBuild *pdb_build_new(void) {
    PdbBuild *b = mem_zero(1, sizeof *b);
    b->guid = SAMPLE_GUID;
    b->info_age = SAMPLE_INFO_AGE;
    b->dbi_age = SAMPLE_AGE;
    b->machine = 0x8664;
    b->feature = 20140508;
    pb_u8(&b->strings, 0);
    return b;
}

void pdb_build_free(PdbBuild *b) {
    if (!b) return;
    Buf *bufs[] = {&b->publics, &b->sections, &b->contributions, &b->omap,
                   &b->strings, &b->ipi,      &b->tpi,           &b->address_map};
    for (size_t i = 0; i < COUNT_OF(bufs); i++) buf_done(bufs[i]);
    for (size_t i = 0; i < b->module_count; i++) {
        buf_done(&b->modules[i].symbols);
        buf_done(&b->modules[i].checksums);
        buf_done(&b->modules[i].inlinees);
        buf_done(&b->modules[i].lines);
    }
    for (size_t i = 0; i < b->named_count; i++) buf_done(&b->named[i].content);
    mem_free(b);
}

void pdb_build_identity(PdbBuild *b, const Guid *guid, uint32_t info_age, uint32_t dbi_age) {
    b->guid = *guid;
    b->info_age = info_age;
    b->dbi_age = dbi_age;
}

void pdb_build_flags(PdbBuild *b, uint16_t dbi_flags, uint16_t machine, uint32_t feature) {
    b->dbi_flags = dbi_flags;
    b->machine = machine;
    b->feature = feature;
}

void pdb_build_section(PdbBuild *b, uint32_t rva, uint32_t size, uint32_t characteristics) {
    pb_zeros(&b->sections, 8);
    pb_u32(&b->sections, size);
    pb_u32(&b->sections, rva);
    pb_zeros(&b->sections, 20);
    pb_u32(&b->sections, characteristics);
}

// Publics must be added in the order of their addresses: the address map is written as they come.
void pdb_build_public(PdbBuild *b, uint32_t flags, uint16_t segment, uint32_t offset,
                      const char *name) {
    pb_u32(&b->address_map, (uint32_t)b->publics.n);
    size_t at = begin_record(&b->publics, S_PUB32);
    pb_u32(&b->publics, flags);
    pb_u32(&b->publics, offset);
    pb_u16(&b->publics, segment);
    pb_text(&b->publics, name);
    end_record(&b->publics, at);
}

uint32_t pdb_build_module(PdbBuild *b, const char *name) {
    ModuleBuild *m = &b->modules[b->module_count];
    m->name = name;
    pb_u32(&m->symbols, 4);
    return b->module_count++;
}

void pdb_build_procedure(PdbBuild *b, uint32_t module, uint16_t kind, CodeRange range,
                         const char *name) {
    Buf *s = &b->modules[module].symbols;
    size_t at = begin_record(s, kind);
    b->modules[module].open_at = at;
    pb_zeros(s, 12);
    pb_u32(s, range.size);
    pb_zeros(s, 12);
    pb_u32(s, range.offset);
    pb_u16(s, range.segment);
    pb_u8(s, 0);
    pb_text(s, name);
    end_record(s, at);
}

void pdb_build_end(PdbBuild *b, uint32_t module) {
    Buf *s = &b->modules[module].symbols;
    pb_set_u32(s, b->modules[module].open_at + 8, (uint32_t)s->n);
    end_record(s, begin_record(s, S_END));
}

void pdb_build_thunk(PdbBuild *b, uint32_t module, uint16_t segment, uint32_t offset,
                     uint16_t length, const char *name) {
    Buf *s = &b->modules[module].symbols;
    size_t at = begin_record(s, S_THUNK32);
    pb_zeros(s, 12);
    pb_u32(s, offset);
    pb_u16(s, segment);
    pb_u16(s, length);
    pb_u8(s, 0);
    pb_text(s, name);
    end_record(s, at);
    end_record(s, begin_record(s, S_END));
}

void pdb_build_trampoline(PdbBuild *b, uint32_t module, uint16_t segment, uint32_t offset,
                          uint32_t target) {
    Buf *s = &b->modules[module].symbols;
    size_t at = begin_record(s, S_TRAMPOLINE);
    pb_u16(s, 0);
    pb_u16(s, 5);
    pb_u32(s, offset);
    pb_u32(s, target);
    pb_u16(s, segment);
    pb_u16(s, segment);
    end_record(s, at);
}

void pdb_build_inline(PdbBuild *b, uint32_t module, uint32_t inlinee, const uint8_t *annotations,
                      size_t size) {
    Buf *s = &b->modules[module].symbols;
    size_t at = begin_record(s, S_INLINESITE);
    pb_zeros(s, 8);
    pb_u32(s, inlinee);
    buf_add(s, (Str){(const char *)annotations, size});
    end_record(s, at);
}

void pdb_build_inline_end(PdbBuild *b, uint32_t module) {
    Buf *s = &b->modules[module].symbols;
    end_record(s, begin_record(s, S_INLINESITE_END));
}

static uint32_t add_scope(PdbBuild *b, const char *scope, bool is_class) {
    if (!scope) return 0;
    Buf *out = is_class ? &b->tpi : &b->ipi;
    size_t at = begin_record(out, is_class ? LF_CLASS : LF_STRING_ID);
    pb_zeros(out, is_class ? 16 : 4);
    if (is_class) pb_u16(out, 8); // its size, a small number
    pb_text(out, scope);
    end_record(out, at);
    return 0x1000 + (is_class ? b->tpi_count++ : b->ipi_count++);
}

uint32_t pdb_build_function_id(PdbBuild *b, const char *scope, bool scope_is_class,
                               const char *name) {
    uint32_t scope_id = add_scope(b, scope, scope_is_class);
    size_t at = begin_record(&b->ipi, scope && scope_is_class ? LF_MFUNC_ID : LF_FUNC_ID);
    pb_u32(&b->ipi, scope_id);
    pb_u32(&b->ipi, 0);
    pb_text(&b->ipi, name);
    end_record(&b->ipi, at);
    return 0x1000 + b->ipi_count++;
}

void pdb_build_inlinee(PdbBuild *b, uint32_t module, uint32_t inlinee, uint32_t file,
                       uint32_t line) {
    Buf *s = &b->modules[module].inlinees;
    pb_u32(s, inlinee);
    pb_u32(s, file);
    pb_u32(s, line);
}

uint32_t pdb_build_file(PdbBuild *b, uint32_t module, const char *path) {
    Buf *s = &b->modules[module].checksums;
    uint32_t at = (uint32_t)s->n;
    pb_u32(s, (uint32_t)b->strings.n);
    pb_text(&b->strings, path);
    pb_u8(s, 0);
    pb_u8(s, 0);
    pb_align(s, 4);
    return at;
}

void pdb_build_lines(PdbBuild *b, uint32_t module, uint32_t file, CodeRange range,
                     const LineSpec *rows, size_t count) {
    Buf *s = &b->modules[module].lines;
    pb_u32(s, DEBUG_S_LINES);
    pb_u32(s, (uint32_t)(12 + 12 + count * 8));
    pb_u32(s, range.offset);
    pb_u16(s, range.segment);
    pb_u16(s, 0);
    pb_u32(s, range.size);
    pb_u32(s, file);
    pb_u32(s, (uint32_t)count);
    pb_u32(s, (uint32_t)(12 + count * 8));
    for (size_t i = 0; i < count; i++) {
        pb_u32(s, rows[i].offset);
        pb_u32(s, rows[i].line | 0x80000000);
    }
}

void pdb_build_contribution(PdbBuild *b, uint16_t segment, uint32_t offset, uint32_t size,
                            uint16_t module) {
    Buf *s = &b->contributions;
    pb_u16(s, segment);
    pb_u16(s, 0);
    pb_u32(s, offset);
    pb_u32(s, size);
    pb_u32(s, 0);
    pb_u16(s, module);
    pb_zeros(s, 10);
}

void pdb_build_omap(PdbBuild *b, uint32_t from, uint32_t to) {
    pb_u32(&b->omap, from);
    pb_u32(&b->omap, to);
}

void pdb_build_share_stream(PdbBuild *b) {
    b->share_stream = true;
}

void pdb_build_named(PdbBuild *b, const char *name, const char *content) {
    NamedBuild *named = &b->named[b->named_count++];
    named->name = name;
    buf_add_c(&named->content, content);
}

static void build_info(const PdbBuild *b, Buf *out, uint32_t first_named) {
    AUTO(buf_done) Buf names = {0};
    pb_u32(out, 20000404);
    pb_u32(out, 0x5E5E5E5E);
    pb_u32(out, b->info_age);
    buf_add(out, (Str){(const char *)b->guid.bytes, 16});
    pb_text(&names, "/names");
    for (size_t i = 0; i < b->named_count; i++) pb_text(&names, b->named[i].name);
    pb_u32(out, (uint32_t)names.n);
    buf_add(out, buf_str(&names));
    pb_u32(out, b->named_count + 1);
    pb_u32(out, b->named_count + 2);
    pb_u32(out, 1);
    pb_u32(out, (1u << (b->named_count + 1)) - 1);
    pb_u32(out, 0);
    pb_u32(out, 0);
    pb_u32(out, BUILD_STREAM_NAMES);
    uint32_t at = sizeof "/names";
    for (uint32_t i = 0; i < b->named_count; i++) {
        pb_u32(out, at);
        pb_u32(out, first_named + i);
        at += (uint32_t)strlen(b->named[i].name) + 1;
    }
    pb_u32(out, 0);
    pb_u32(out, b->feature);
}

static void build_ids(const Buf *records, uint32_t count, Buf *out) {
    pb_u32(out, 20040203);
    pb_u32(out, 56);
    pb_u32(out, 0x1000);
    pb_u32(out, 0x1000 + count);
    pb_u32(out, (uint32_t)records->n);
    pb_zeros(out, 36);
    buf_add(out, buf_str(records));
}

static void pb_subsection(Buf *out, uint32_t kind, const Buf *data, bool signature) {
    if (data->n == 0) return;
    pb_u32(out, kind);
    pb_u32(out, (uint32_t)data->n + (signature ? 4 : 0));
    if (signature) pb_u32(out, 0);
    buf_add(out, buf_str(data));
    pb_align(out, 4);
}

static void build_module(const ModuleBuild *m, Buf *out, uint32_t *c13_bytes) {
    buf_add(out, buf_str(&m->symbols));
    size_t before = out->n;
    buf_add(out, buf_str(&m->lines));
    pb_subsection(out, DEBUG_S_FILECHKSMS, &m->checksums, false);
    pb_subsection(out, DEBUG_S_INLINEELINES, &m->inlinees, true);
    *c13_bytes = (uint32_t)(out->n - before);
    pb_u32(out, 0);
}

static void build_module_record(const ModuleBuild *m, uint16_t stream, uint32_t c13_bytes,
                                Buf *out) {
    pb_u32(out, 0);
    pb_u16(out, 0xFFFF);
    pb_zeros(out, 2 + 4);
    pb_u32(out, UINT32_MAX);
    pb_zeros(out, 16);
    pb_u16(out, 0);
    pb_u16(out, stream);
    pb_u32(out, (uint32_t)m->symbols.n);
    pb_u32(out, 0);
    pb_u32(out, c13_bytes);
    pb_zeros(out, 16);
    pb_text(out, m->name);
    pb_text(out, m->name);
    pb_align(out, 4);
}

static void build_dbi(const PdbBuild *b, const Buf *modules, Buf *out) {
    pb_u32(out, UINT32_MAX);
    pb_u32(out, 19990903);
    pb_u32(out, b->dbi_age);
    pb_u16(out, 0xFFFF);
    pb_u16(out, 0);
    pb_u16(out, BUILD_STREAM_PUBLICS);
    pb_u16(out, 0);
    pb_u16(out, BUILD_STREAM_RECORDS);
    pb_u16(out, 0);
    pb_u32(out, (uint32_t)modules->n);
    pb_u32(out, (uint32_t)b->contributions.n + 4);
    pb_zeros(out, 16);
    pb_u32(out, 22);
    pb_u32(out, 3); // edit-and-continue: makes the debug header start at an odd offset
    pb_u16(out, b->dbi_flags);
    pb_u16(out, b->machine);
    pb_u32(out, 0);
    buf_add(out, buf_str(modules));
    pb_u32(out, 0xF12EBA2D);
    buf_add(out, buf_str(&b->contributions));
    pb_zeros(out, 3);
    for (unsigned i = 0; i < 11; i++)
        pb_u16(out, i == 5                ? BUILD_STREAM_SECTIONS
                    : i == 3 && b->omap.n ? BUILD_STREAM_OMAP
                                          : 0xFFFF);
}

static void build_publics(const PdbBuild *b, Buf *out) {
    pb_u32(out, 0);
    pb_u32(out, (uint32_t)b->address_map.n);
    pb_zeros(out, 20);
    buf_add(out, buf_str(&b->address_map));
}

static void build_names(const PdbBuild *b, Buf *out) {
    pb_u32(out, 0xEFFEEFFE);
    pb_u32(out, 1);
    pb_u32(out, (uint32_t)b->strings.n);
    buf_add(out, buf_str(&b->strings));
    pb_u32(out, 0);
}

size_t build_streams(const PdbBuild *b, Buf *streams) {
    AUTO(buf_done) Buf records = {0};
    uint32_t next = BUILD_STREAM_FIRST_MODULE;
    for (uint32_t i = 0; i < b->module_count; i++) {
        uint32_t c13_bytes = 0;
        build_module(&b->modules[i], &streams[next + i], &c13_bytes);
        build_module_record(&b->modules[i], (uint16_t)(next + (b->share_stream ? 0 : i)), c13_bytes,
                            &records);
    }
    next += b->module_count;
    build_info(b, &streams[STREAM_INFO], next);
    for (uint32_t i = 0; i < b->named_count; i++)
        buf_add(&streams[next + i], buf_str(&b->named[i].content));
    next += b->named_count;
    build_ids(&b->tpi, b->tpi_count, &streams[STREAM_TPI]);
    build_ids(&b->ipi, b->ipi_count, &streams[STREAM_IPI]);
    build_dbi(b, &records, &streams[STREAM_DBI]);
    build_publics(b, &streams[BUILD_STREAM_PUBLICS]);
    build_names(b, &streams[BUILD_STREAM_NAMES]);
    buf_add(&streams[BUILD_STREAM_RECORDS], buf_str(&b->publics));
    buf_add(&streams[BUILD_STREAM_SECTIONS], buf_str(&b->sections));
    buf_add(&streams[BUILD_STREAM_OMAP], buf_str(&b->omap));
    return next;
}

static void sample_inlines(PdbBuild *b, uint32_t m, uint32_t file, uint32_t other) {
    uint32_t outer = pdb_build_function_id(b, "app::Widget", true, "grow");
    uint32_t inner = pdb_build_function_id(b, "app", false, "clamp");
    pdb_build_inlinee(b, m, outer, file, 100);
    pdb_build_inlinee(b, m, inner, other, 200);
    // grow: line 101 at +8 for 16 bytes; clamp inside it: line 200 at +12 for 4 bytes.
    static const uint8_t OUTER[] = {6, 2, 12, 16, 8};
    static const uint8_t INNER[] = {12, 4, 12};
    pdb_build_inline(b, m, outer, OUTER, sizeof OUTER);
    pdb_build_inline(b, m, inner, INNER, sizeof INNER);
    pdb_build_inline_end(b, m);
    pdb_build_inline_end(b, m);
}

PdbBuild *pdb_build_sample(void) {
    PdbBuild *b = pdb_build_new();
    pdb_build_section(b, 0x1000, 0x1000, 0x60000020);
    pdb_build_section(b, 0x3000, 0x1000, 0x40000040);
    uint32_t a = pdb_build_module(b, "a.obj"), c = pdb_build_module(b, "c.obj");
    uint32_t file = pdb_build_file(b, a, "c:\\src\\a.cpp");
    uint32_t other = pdb_build_file(b, a, "c:\\src\\clamp.h");
    pdb_build_procedure(b, a, S_GPROC32, (CodeRange){1, 0x100, 0x40}, "app::main");
    sample_inlines(b, a, file, other);
    pdb_build_end(b, a);
    pdb_build_procedure(b, a, S_LPROC32, (CodeRange){1, 0x140, 0x20}, "helper");
    pdb_build_end(b, a);
    pdb_build_procedure(b, c, S_GPROC32, (CodeRange){1, 0x200, 0x10}, "same_one");
    pdb_build_end(b, c);
    pdb_build_procedure(b, c, S_GPROC32, (CodeRange){1, 0x200, 0x10}, "same");
    pdb_build_end(b, c);
    pdb_build_procedure(b, c, S_GPROC32, (CodeRange){0, 0, 0x10}, "discarded");
    pdb_build_end(b, c);
    pdb_build_thunk(b, c, 1, 0x220, 6, "imported");
    pdb_build_trampoline(b, c, 1, 5, 0x100);
    static const LineSpec ROWS[] = {
        {0,  10},
        {8,  11},
        {8,  12},
        {24, 13}
    };
    pdb_build_lines(b, a, file, (CodeRange){1, 0x100, 0x40}, ROWS, COUNT_OF(ROWS));
    pdb_build_public(b, 2, 1, 0x100, "?main@app@@YAHXZ");
    pdb_build_public(b, 2, 1, 0x300, "?run@Widget@app@@QEAAHH@Z");
    pdb_build_public(b, 0, 1, 0x380, "label");
    pdb_build_public(b, 0, 1, 0x3F0, "??_C@_02PNLFEGOK@F6@");
    pdb_build_public(b, 0, 2, 0x10, "data");
    pdb_build_public(b, 2, 9, 0, "absolute");
    pdb_build_contribution(b, 1, 0x100, 0x60, 0);
    pdb_build_contribution(b, 1, 0x300, 0x30, 1);
    pdb_build_contribution(b, 1, 0x380, 0x20, 1);
    pdb_build_named(b, "srcsrv", "SRCSRV: ini\n");
    return b;
}
