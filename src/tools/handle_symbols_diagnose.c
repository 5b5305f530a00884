// diagnose_symbol_load: one module's identity in the trace, on disk, and in every candidate PDB.
#include "tools/handle_symbols.h"
#include "tools/handlers.h"

#include <inttypes.h>

enum { CANDIDATES_MAX = 25, NAMES_NEAR = 5 };

// What candidates are compared with.
typedef struct Diagnosis {
    ToolCall *call;
    Arena *arena;
    ModuleWeights weights;
    const ModuleWeight *modules[CANDIDATES_MAX]; // of the name: one per build
    size_t count;
    bool has_disk;
    PeIdentity disk;
    Str pdb_name; // looked for; empty: none is known
} Diagnosis;

static Str hex_text(uint64_t value, Arena *arena) {
    return str_format(arena, "0x%" PRIx64, value);
}

static Str guid_text(const Guid *guid, Arena *arena) {
    char text[GUID_TEXT_SIZE];
    guid_to_text(guid, text);
    return str_copy(arena, str_from_c(text));
}

static bool same_pdb(const SymbolId *id, const Guid *guid, uint32_t age) {
    return guid_eq(&id->guid, guid) && id->age == age;
}

// ---------------------------------------------------------------- the trace

static Status trace_section(Diagnosis *d, Str module, Err *err) {
    static const char SQL[] =
        "SELECT name, any_value(path), base, size_bytes, time_date_stamp, pdb_name, "
        "pdb_guid::VARCHAR, pdb_age, count(*) FROM image "
        "WHERE lower(name) = lower($module) "
        "GROUP BY name, base, size_bytes, time_date_stamp, pdb_name, pdb_guid, pdb_age "
        "ORDER BY base, time_date_stamp, pdb_guid LIMIT 20";
    static const char *const COLUMNS[][2] = {
        {"Module",     "text"     },
        {"Path",       "path(100)"},
        {"Base",       "hex"      },
        {"Size",       "hex"      },
        {"Time stamp", "hex"      },
        {"PDB",        "path(100)"},
        {"GUID",       "text"     },
        {"Age",        "id"       },
        {"Mapped",     "count"    },
    };
    ResultSet rows = {0};
    Arg arg = {.name = "module", .type = ARG_TEXT, .text = module};
    DocSection *table = doc_table(d->call->doc, STR("trace"), STR("**Trace identity**"));
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(d->call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    TRY(session_query(d->call->trace->session, str_from_c(SQL), &arg, 1, 0, d->arena, &rows, err));
    table->cells = rows.cells;
    table->row_count = table->total_rows = rows.row_count;
    return OK;
}

// The trace's own spelling of the module; ERR_NOT_FOUND lists what is near.
static Status settle_module(Diagnosis *d, Str wanted, Str *module, Err *err) {
    static const char SQL[] =
        "SELECT DISTINCT name FROM image WHERE name IS NOT NULL ORDER BY name";
    ResultSet rows = {0};
    Buf near = {0};
    size_t shown = 0;
    TRY(session_query(d->call->trace->session, str_from_c(SQL), NULL, 0, 0, d->arena, &rows, err));
    Str *names = ARENA_ARRAY(d->arena, Str, rows.row_count);
    for (size_t i = 0; i < rows.row_count; i++) {
        names[i] = rows.cells[i].text;
        if (!module_is_named(names[i], wanted)) continue;
        *module = names[i];
        return OK;
    }
    for (size_t i = 0; i < rows.row_count && shown < NAMES_NEAR; i++)
        if (str_find_nocase(names[i], wanted) != SIZE_MAX)
            buf_addf(&near, "%s" STR_FMT, shown++ ? ", " : "", STR_ARG(names[i]));
    if (!shown) buf_add(&near, nearest_name(wanted, names, rows.row_count));
    Str list = str_copy(d->arena, buf_str(&near));
    buf_done(&near);
    return err_set(err, ERR_NOT_FOUND,
                   "no image of the trace is called \"" STR_FMT "\"%s" STR_FMT
                   ". check_symbols lists the modules",
                   STR_ARG(wanted), list.n ? "; near: " : "", STR_ARG(list));
}

// ---------------------------------------------------------------- the file on disk

static void pair(Diagnosis *d, DocSection *section, const char *name, Str value) {
    Cell *cells = doc_row(d->call->doc, section);
    cells[0] = cell_text(str_from_c(name));
    cells[1] = cell_text(value);
}

static DocSection *values_table(Diagnosis *d, const char *name, const char *heading) {
    DocSection *section = doc_table(d->call->doc, str_from_c(name), str_from_c(heading));
    section->style = STYLE_VALUES;
    doc_column(d->call->doc, section, "Name", "text");
    doc_column(d->call->doc, section, "Value", "text(400)");
    return section;
}

static Status read_disk(Diagnosis *d, Str path, Err *err) {
    AUTO(pe_close) Pe *pe = NULL;
    Str real = {0};
    TRY(os_real_path(path, d->arena, &real, err));
    TRY(path_check_allowed(d->call->engine, real, err));
    TRY(pe_open(path, &pe, err));
    d->disk = *pe_identity(pe);
    d->disk.pdb_path = str_copy(d->arena, d->disk.pdb_path);
    d->has_disk = true;
    return OK;
}

static void disk_section(Diagnosis *d, Str path) {
    DocSection *section = values_table(d, "disk", "**File on disk**");
    pair(d, section, "File", path);
    pair(d, section, "Machine", str_from_c(machine_name(d->disk.machine)));
    pair(d, section, "Time stamp", hex_text(d->disk.time_date_stamp, d->arena));
    pair(d, section, "Image size", hex_text(d->disk.image_size, d->arena));
    if (!d->disk.has_pdb) {
        pair(d, section, "PDB", STR("none: the image has no RSDS record"));
        return;
    }
    SymbolId id = {
        .name = path_name(d->disk.pdb_path), .guid = d->disk.pdb_guid, .age = d->disk.pdb_age};
    pair(d, section, "PDB", d->disk.pdb_path);
    pair(d, section, "GUID", guid_text(&id.guid, d->arena));
    pair(d, section, "Age", str_format(d->arena, "%u", id.age));
    pair(d, section, "Store key", symbol_key(&id, d->arena));
}

static Str reconcile(const Diagnosis *d, const SymbolModule *module) {
    if (module->has_pdb_id && d->disk.has_pdb) {
        if (same_pdb(&module->pdb, &d->disk.pdb_guid, d->disk.pdb_age))
            return STR("the file on disk is the build of the trace");
        return guid_eq(&module->pdb.guid, &d->disk.pdb_guid)
                   ? STR("differs: same GUID, another age (linked again)")
                   : STR("differs: another GUID, so another build (updated, or of another "
                         "machine)");
    }
    if (!module->has_image_id)
        return STR("cannot be told: the trace has no identity of the module");
    bool same = module->image.time_date_stamp == d->disk.time_date_stamp &&
                module->image.image_size == d->disk.image_size;
    return same ? STR("same time stamp and size") : STR("differs in time stamp or size");
}

static void reconciliation_section(Diagnosis *d) {
    DocSection *section = values_table(d, "reconciliation", "**Reconciliation**");
    for (size_t i = 0; i < d->count; i++)
        pair(d, section, "Trace and disk", reconcile(d, &d->modules[i]->symbols));
    if (!d->count) pair(d, section, "Trace and disk", STR("no code address of it was recorded"));
}

// ---------------------------------------------------------------- candidates

static Str match_text(const Diagnosis *d, const SymbolCandidate *candidate) {
    if (!candidate->readable)
        return str_format(d->arena, "unreadable: " STR_FMT, STR_ARG(candidate->detail));
    bool same_guid = false;
    for (size_t i = 0; i < d->count; i++) {
        const SymbolModule *module = &d->modules[i]->symbols;
        if (!module->has_pdb_id) continue;
        if (same_pdb(&module->pdb, &candidate->guid, candidate->age)) return STR("YES (trace)");
        if (module->source == SYMBOL_SOURCE_PDB && str_eq(module->path, candidate->path))
            return STR("YES (trace)"); // by the other of its two ages
        same_guid = same_guid || guid_eq(&module->pdb.guid, &candidate->guid);
    }
    if (d->has_disk && d->disk.has_pdb && guid_eq(&d->disk.pdb_guid, &candidate->guid) &&
        d->disk.pdb_age == candidate->age)
        return STR("YES (disk only)");
    return same_guid ? STR("NO: another age") : STR("NO: another GUID");
}

static void candidates_section(Diagnosis *d, SymbolPath *path) {
    static const char *const COLUMNS[][2] = {
        {"Path",        "path(120)"},
        {"GUID",        "text"     },
        {"Age",         "id"       },
        {"Match",       "text(120)"},
        {"Searched as", "text"     },
        {"Redirect",    "path(120)"},
    };
    DocSection *table = doc_table(d->call->doc, STR("candidates"), STR("**Candidate PDBs**"));
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(d->call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    SymbolCandidate *found = ARENA_ARRAY(d->arena, SymbolCandidate, CANDIDATES_MAX);
    size_t count = path && d->pdb_name.n && symbol_name_is_safe(d->pdb_name)
                       ? symbol_candidates(path, d->pdb_name, d->arena, found, CANDIDATES_MAX)
                       : 0;
    for (size_t i = 0; i < count; i++) {
        Cell *cells = doc_row(d->call->doc, table);
        cells[0] = cell_text(found[i].path);
        if (found[i].readable) cells[1] = cell_text(guid_text(&found[i].guid, d->arena));
        if (found[i].readable) cells[2] = cell_i64(found[i].age);
        cells[3] = cell_text(match_text(d, &found[i]));
        if (found[i].folder_key.n) cells[4] = cell_text(found[i].folder_key);
        if (found[i].redirect.n) cells[5] = cell_text(found[i].redirect);
    }
    table->empty = !d->pdb_name.n ? STR("Neither the trace nor a file on disk names a PDB.")
                   : path         ? STR("No file of that name is in a folder or store of the path.")
                                  : STR("No symbol path is set.");
}

// ---------------------------------------------------------------- in use

// Every place that was asked for the PDB, servers by the URL that would be asked.
static void attempts_lines(Diagnosis *d, SymbolPath *path, const SymbolId *id,
                           DocSection *section) {
    SymbolResult result = {0};
    if (!path || symbol_find(path, id, NULL, d->arena, &result, NULL) != OK) return;
    pair(d, section, "Looking for it",
         str_format(d->arena, "%s%s" STR_FMT, symbol_outcome_name(result.outcome),
                    result.detail.n ? ": " : "", STR_ARG(result.detail)));
    if (result.url.n) pair(d, section, "URL", result.url);
}

static void use_section(Diagnosis *d, SymbolPath *path) {
    static const char *const NAMES[NAME_SOURCES] = {"pdb", "export", "pre-resolved", "unknown"};
    DocSection *section = values_table(d, "use", "**In use**");
    for (size_t i = 0; i < d->count; i++) {
        const ModuleWeight *module = d->modules[i];
        Buf counts = {0};
        for (unsigned k = 0; k < NAME_SOURCES; k++)
            buf_addf(&counts, "%s%s %" PRId64, k ? ", " : "", NAMES[k], module->addresses[k]);
        pair(d, section, "Status", str_from_c(module_status_name(module->status)));
        pair(d, section, "Addresses by source", str_copy(d->arena, buf_str(&counts)));
        buf_done(&counts);
        if (module->symbols.path.n) pair(d, section, "File in use", module->symbols.path);
        if (module->symbols.has_pdb_id && module->symbols.source != SYMBOL_SOURCE_PDB)
            attempts_lines(d, path, &module->symbols.pdb, section);
    }
    if (!d->count) pair(d, section, "Status", STR("no code address of the module was recorded"));
}

static void advise(Diagnosis *d, SymbolPath *path, Str module) {
    Doc *doc = d->call->doc;
    const SymbolModule *symbols = d->count ? &d->modules[0]->symbols : NULL;
    if (!path)
        doc_note(doc, STR("No symbol path is set: load_trace(symbol_path=\"" SYMBOLS_OF_WINDOWS
                          "\") looks on Microsoft's server and keeps what it gets."));
    if (symbols) note_fastlink(d->call, symbols);
    if (symbols && !symbols->has_pdb_id)
        doc_note(doc,
                 STR("The trace does not say which PDB the module was built with: only an image "
                     "of its time stamp and size, somewhere on the path, can tell. Merge traces "
                     "(wpr -stop, xperf -merge) on the machine that recorded them."));
    if (symbols && symbols->source != SYMBOL_SOURCE_PDB && symbols->has_pdb_id &&
        symbol_name_is_safe(module))
        doc_next(doc,
                 str_format(d->arena,
                            "resolve_symbols(trace_id=\"" STR_FMT "\", modules=\"" STR_FMT "\")",
                            STR_ARG(d->call->trace->trace_id), STR_ARG(module)));
    doc_next(doc, str_format(d->arena, "check_symbols(trace_id=\"" STR_FMT "\")",
                             STR_ARG(d->call->trace->trace_id)));
}

static void pick_modules(Diagnosis *d, Str module) {
    for (size_t i = 0; i < d->weights.count && d->count < CANDIDATES_MAX; i++) {
        const ModuleWeight *weight = &d->weights.items[i];
        if (!weight->has_symbols || !str_eq_nocase(weight->module, module)) continue;
        d->modules[d->count++] = weight;
        if (!d->pdb_name.n) d->pdb_name = weight->symbols.pdb.name;
    }
    if (!d->pdb_name.n && d->has_disk) d->pdb_name = path_name(d->disk.pdb_path);
}

Status handle_diagnose_symbol_load(ToolCall *call, Err *err) {
    Window window = {0};
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    Diagnosis d = {.call = call, .arena = call->arena};
    Str extra = extra_paths(call), exe = values_text(call->values, "exe_path"), module = {0};
    SymbolPathOptions options = {.no_download = true};
    TRY(settle_module(&d, values_text(call->values, "module"), &module, err));
    if (exe.n) TRY(read_disk(&d, exe, err));
    run_scope(call->tool, call->values, call->trace, &window, call->doc);
    TRY(module_weights_read(call, call->trace->session, extra, &d.weights, err));
    if (extra.n || symbols_path_text(call->symbols, call->arena).n)
        TRY(symbols_path_open(call->symbols, extra, &options, &path, err));
    pick_modules(&d, module);
    TRY(trace_section(&d, module, err));
    if (d.has_disk) disk_section(&d, exe);
    if (d.has_disk) reconciliation_section(&d);
    candidates_section(&d, path);
    use_section(&d, path);
    advise(&d, path, module);
    return OK;
}
