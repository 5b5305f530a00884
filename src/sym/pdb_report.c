// Prints a symbol file. Text is aligned for reading; JSON is one object a call.
#include "sym/pdb_report.h"

#include "sym/portable_pdb.h"
#include "sym/sym.h"
#include "sym/undecorate.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct Report {
    SymFile *file;
    const PdbReportOptions *options;
    Buf *out;
    Arena arena;
    size_t rows;
} Report;

// A name of the file as valid, printable UTF-8: it is text of a stranger.
static Str clean(Report *r, Str s) {
    Str text = str_from_8bit(&r->arena, (const uint8_t *)s.p, s.n);
    char *copy = str_to_c(&r->arena, text);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7F) copy[i] = '?';
    return (Str){copy, text.n};
}

// One fact: a line "label: value", or a JSON member. Numbers in JSON are bare.
static void fact(Report *r, const char *key, const char *label, Str value, bool number) {
    if (!r->options->json) {
        buf_addf(r->out, "%-12s " STR_FMT "\n", label, STR_ARG(value));
        return;
    }
    char last = r->out->n ? r->out->p[r->out->n - 1] : 0;
    buf_addf(r->out, "%s\"%s\":", last == '{' ? "" : ",", key);
    if (number)
        buf_add(r->out, value);
    else
        buf_add_json(r->out, value);
}

static void number_fact(Report *r, const char *key, const char *label, uint64_t value) {
    fact(r, key, label, str_format(&r->arena, "%" PRIu64, value), true);
}

static SymbolId id_of_table(const SymTabInfo *info, Str name) {
    return (SymbolId){
        .name = name, .guid = info->guid, .age = info->dbi_age ? info->dbi_age : info->info_age};
}

static const char *kind_of_symbols(const SymTabInfo *info) {
    if (info->managed) return "managed code: no native functions";
    if (info->fastlink)
        return "partial: linked with /DEBUG:FASTLINK, which leaves all but public symbols in the "
               "object files; link with /DEBUG:FULL or run mspdbcmf.exe on it where it was built";
    if (info->stripped || (!info->has_lines && info->procedures == 0))
        return "public symbols, without lines";
    return info->has_lines ? "private symbols with lines" : "private symbols without lines";
}

static void pdb_facts(Report *r, Pdb *pdb) {
    const SymTabInfo *info = symtab_info(symfile_table(r->file));
    SymbolId id = id_of_table(info, path_name(symfile_path(r->file)));
    char guid[GUID_TEXT_SIZE];
    guid_to_text(&info->guid, guid);
    const PdbInfo *p = pdb_info(pdb);
    fact(r, "container", "Container:",
         p->compressed ? STR("MSFZ (compressed)")
                       : str_format(&r->arena, "MSF, %" PRIu32 "-byte pages", p->page_size),
         false);
    fact(r, "guid", "GUID:", str_from_c(guid), false);
    number_fact(r, "age", "Age:", id.age);
    number_fact(r, "file_age", "File age:", info->info_age);
    fact(r, "store_path", "Store path:", symbol_store_path(&id, &r->arena), false);
    fact(r, "machine", "Machine:", str_from_c(machine_name(info->machine)), false);
    fact(r, "symbols", "Symbols:", str_from_c(kind_of_symbols(info)), false);
    number_fact(r, "publics", "Publics:", info->publics);
    number_fact(r, "procedures", "Procedures:", info->procedures);
    number_fact(r, "functions", "Functions:", symtab_count(symfile_table(r->file)));
    size_t with_lines = 0;
    for (size_t i = 0; i < pdb_module_count(pdb); i++)
        with_lines += pdb_module(pdb, i)->c13_bytes != 0;
    number_fact(r, "modules", "Modules:", pdb_module_count(pdb));
    number_fact(r, "modules_with_lines", "With lines:", with_lines);
    number_fact(r, "sections", "Sections:", info->sections);
    if (info->has_omap) fact(r, "reordered", "Reordered:", STR("true"), true);
    if (info->damaged) fact(r, "damaged", "Damaged:", STR("true"), true);
    AUTO(buf_done) Buf source = {0};
    if (pdb_source_index(pdb, &source, NULL) == OK && source.n)
        number_fact(r, "source_index_bytes", "Source index:", source.n);
}

static void image_facts(Report *r, const PeIdentity *pe) {
    SymbolId id = {.name = path_name(symfile_path(r->file)),
                   .is_image = true,
                   .time_date_stamp = pe->time_date_stamp,
                   .image_size = pe->image_size};
    fact(r, "container", "Container:", STR("image: exports and unwind ranges only"), false);
    fact(r, "store_path", "Store path:", symbol_store_path(&id, &r->arena), false);
    fact(r, "machine", "Machine:", str_from_c(machine_name(pe->machine)), false);
    if (pe->has_pdb) {
        SymbolId pdb = {.name = path_name(pe->pdb_path),
                        .guid = pe->pdb_guid,
                        .age = pe->pdb_age,
                        .portable = pe->portable_pdb};
        fact(r, "pdb", "PDB:", clean(r, pe->pdb_path), false);
        fact(r, "pdb_store_path", "PDB store:", clean(r, symbol_store_path(&pdb, &r->arena)),
             false);
    }
    if (pe->has_perfmap) {
        SymbolId map = symbol_perfmap_id(pe, &r->arena);
        fact(r, "perfmap", "Perf map:", clean(r, pe->perfmap_path), false);
        fact(r, "perfmap_store_path", "Map store:", clean(r, symbol_store_path(&map, &r->arena)),
             false);
    }
    number_fact(r, "exports", "Exports:", symtab_info(symfile_table(r->file))->publics);
    number_fact(r, "functions", "Functions:", symtab_count(symfile_table(r->file)));
}

static void perfmap_facts(Report *r, const PerfMapInfo *map) {
    const SymTabInfo *info = symtab_info(symfile_table(r->file));
    SymbolId id = {.name = path_name(symfile_path(r->file)),
                   .is_perfmap = true,
                   .guid = map->signature,
                   .age = map->version};
    fact(r, "container", "Container:",
         str_format(&r->arena, "perf map of precompiled managed code, version %" PRIu32,
                    map->version),
         false);
    fact(r, "store_path", "Store path:", symbol_store_path(&id, &r->arena), false);
    fact(r, "machine", "Machine:", str_from_c(machine_name(map->machine)), false);
    number_fact(r, "procedures", "Methods:", info->procedures);
    number_fact(r, "functions", "Functions:", symtab_count(symfile_table(r->file)));
    if (info->damaged) fact(r, "damaged", "Damaged:", STR("true"), true);
}

static Status summary(Report *r, Err *err) {
    const PerfMapInfo *map = symfile_perfmap(r->file);
    if (map) {
        perfmap_facts(r, map);
        return OK;
    }
    const PeIdentity *pe = symfile_image(r->file);
    if (pe) {
        image_facts(r, pe);
        return OK;
    }
    Pdb *pdb = NULL;
    TRY(symfile_pdb(r->file, &pdb, err));
    pdb_facts(r, pdb);
    return OK;
}

static bool next_row(Report *r) {
    if (r->options->max_rows && r->rows == r->options->max_rows) return false;
    if (r->options->json && r->rows) buf_add_char(r->out, ',');
    r->rows++;
    return true;
}

static void say_cut(Report *r, size_t total) {
    if (r->options->json || r->rows == total) return;
    buf_addf(r->out, "... %zu of %zu rows\n", r->rows, total);
}

static Str name_of(Report *r, const SymFunction *f) {
    AUTO(buf_done) Buf full = {0};
    if (r->options->full_names && undecorate(f->raw_name, UNDECORATE_FULL, &full))
        return clean(r, buf_str(&full));
    return clean(r, f->name);
}

// As in the tools: a name from an image's exports may be that of something else nearby.
static const char *second_best_mark(const Report *r) {
    return symtab_info(symfile_table(r->file))->from_image ? "*" : "";
}

static void function_row(Report *r, const SymRange *range, const SymFunction *f) {
    Str name = name_of(r, f);
    if (r->options->json) {
        buf_addf(r->out,
                 "{\"rva\":%" PRIu32 ",\"size\":%" PRIu32 ",\"kind\":\"%s\",\"name\":", range->rva,
                 range->size, symbol_kind_name(f->kind));
        buf_add_json(r->out, name);
        if (f->folded) buf_addf(r->out, ",\"folded\":%" PRIu32, f->folded);
        buf_add_c(r->out, "}");
        return;
    }
    buf_addf(r->out, "%08" PRIx32 " %8" PRIx32 " %-16s %s" STR_FMT, range->rva, range->size,
             symbol_kind_name(f->kind), second_best_mark(r), STR_ARG(name));
    if (f->folded) buf_addf(r->out, " (+%" PRIu32 " folded)", f->folded);
    buf_add_char(r->out, '\n');
}

static Status functions(Report *r, Err *err) {
    (void)err;
    const SymTab *table = symfile_table(r->file);
    size_t count;
    SymRange *ranges = symtab_ranges(table, &count);
    if (r->options->json) buf_addf(r->out, "\"total\":%zu,\"functions\":[", count);
    for (size_t i = 0; i < count && next_row(r); i++) {
        SymFunction f;
        symtab_function(table, ranges[i].function, &r->arena, &f);
        function_row(r, &ranges[i], &f);
        arena_clear(&r->arena);
    }
    if (r->options->json) buf_add_char(r->out, ']');
    say_cut(r, count);
    mem_free(ranges);
    return OK;
}

static int compare_rows(const void *a, const void *b) {
    const LineRow *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void line_row(Report *r, const PdbLines *lines, const LineRow *row) {
    Str file = clean(r, pdb_lines_file(lines, row->file));
    if (r->options->json) {
        buf_addf(r->out, "{\"rva\":%" PRIu32 ",\"size\":%" PRIu32 ",\"line\":%" PRIu32 ",\"file\":",
                 row->start, row->end - row->start, row->line);
        buf_add_json(r->out, file);
        buf_add_char(r->out, '}');
        return;
    }
    buf_addf(r->out, "%08" PRIx32 " %6" PRIx32 " " STR_FMT ":%" PRIu32 "\n", row->start,
             row->end - row->start, STR_ARG(file), row->line);
}

// Addresses are those of the layout that symbols use: in a reordered image not the final ones.
static Status line_rows(Report *r, Err *err) {
    Pdb *pdb = NULL;
    PdbLines *lines = NULL;
    LineRows rows = {0};
    TRY(symfile_pdb(r->file, &pdb, err));
    TRY(symfile_lines(r->file, &lines, err));
    Status status = OK;
    for (size_t i = 0; i < pdb_module_count(pdb) && status == OK; i++)
        status = pdb_lines_of_module(lines, i, &rows, err);
    if (status == OK && rows.count) vec_sort(&rows, compare_rows);
    if (r->options->json) buf_addf(r->out, "\"total\":%zu,\"lines\":[", rows.count);
    for (size_t i = 0; i < rows.count && status == OK && next_row(r); i++) {
        line_row(r, lines, &rows.items[i]);
        arena_clear(&r->arena);
    }
    if (r->options->json) buf_add_char(r->out, ']');
    if (status == OK) say_cut(r, rows.count);
    vec_free(&rows);
    return status;
}

static void frame_row(Report *r, const SymAddress *at, const SourceFrame *frame) {
    Str name = frame->inlined ? clean(r, frame->function) : name_of(r, &at->function);
    Str file = clean(r, frame->file);
    if (r->options->json) {
        buf_addf(r->out, "%s{\"name\":", r->rows++ ? "," : "");
        buf_add_json(r->out, name);
        buf_addf(r->out, ",\"inlined\":%s,\"line\":%" PRIu32 ",\"file\":",
                 frame->inlined ? "true" : "false", frame->line);
        buf_add_json(r->out, file);
        buf_add_char(r->out, '}');
        return;
    }
    if (!frame->inlined) buf_add_c(r->out, second_best_mark(r));
    buf_add(r->out, name);
    if (!frame->inlined) buf_addf(r->out, "+0x%" PRIx32, at->offset);
    if (frame->line) buf_addf(r->out, " [" STR_FMT ":%" PRIu32 "]", STR_ARG(file), frame->line);
    if (frame->inlined)
        buf_add_c(r->out, " (inlined)");
    else
        buf_addf(r->out, " (%s)", symbol_kind_name(at->function.kind));
    buf_add_char(r->out, '\n');
}

static Status address(Report *r, Err *err) {
    SymAddress at;
    TRY(symfile_at(r->file, r->options->address, true, &r->arena, &at, err));
    if (r->options->json)
        buf_addf(r->out, "\"rva\":%" PRIu32 ",\"found\":%s,\"offset\":%" PRIu32 ",\"frames\":[",
                 r->options->address, at.found ? "true" : "false", at.offset);
    for (size_t i = 0; at.found && i < at.frames.count; i++) frame_row(r, &at, &at.frames.items[i]);
    if (r->options->json)
        buf_add_char(r->out, ']');
    else if (!at.found)
        buf_addf(r->out, "no function covers 0x%" PRIx32 "\n", r->options->address);
    return OK;
}

static Status portable(Report *r, Source *source, Err *err) {
    Guid guid;
    char text[GUID_TEXT_SIZE];
    if (r->options->part != PDB_REPORT_SUMMARY)
        return err_set(err, ERR_INPUT,
                       STR_FMT ": a portable PDB describes managed code only; it holds no native "
                               "addresses",
                       STR_ARG(source_name(source)));
    TRY(portable_pdb_guid_from(source, &guid, err));
    guid_to_text(&guid, text);
    SymbolId id = {.name = path_name(source_name(source)), .guid = guid, .portable = true};
    fact(r, "container", "Container:", STR("portable PDB: managed code only, no native addresses"),
         false);
    fact(r, "guid", "GUID:", str_from_c(text), false);
    fact(r, "store_path", "Store path:", symbol_store_path(&id, &r->arena), false);
    return OK;
}

static Status report_parts(Report *r, Err *err) {
    switch (r->options->part) {
    case PDB_REPORT_SUMMARY: return summary(r, err);
    case PDB_REPORT_FUNCTIONS: return functions(r, err);
    case PDB_REPORT_LINES: return line_rows(r, err);
    case PDB_REPORT_ADDRESS: return address(r, err);
    }
    return err_set(err, ERR_INTERNAL, "no such part");
}

Status pdb_report(Str path, const PdbReportOptions *options, Buf *out, Err *err) {
    AUTO(source_close) Source *source = NULL;
    AUTO(symfile_close) SymFile *file = NULL;
    Report r = {.options = options, .out = out};
    TRY(source_open(path, &source, err));
    bool is_portable = source_kind(source) == FILE_KIND_PORTABLE_PDB;
    if (!is_portable) TRY(symfile_open(path, NULL, &file, err));
    r.file = file;
    if (options->json) buf_add_char(out, '{');
    if (options->json || options->part == PDB_REPORT_SUMMARY) { // rows of text stand alone
        fact(&r, "file", "File:", clean(&r, path), false);
        number_fact(&r, "size_bytes", "Bytes:", source_size(source));
    }
    if (options->json && options->part != PDB_REPORT_SUMMARY) buf_add_char(out, ',');
    Status status = is_portable ? portable(&r, source, err) : report_parts(&r, err);
    if (options->json) buf_add_c(out, "}\n");
    arena_done(&r.arena);
    return status;
}
