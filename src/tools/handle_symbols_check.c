// check_symbols: how well addresses resolve, per module, and what to do about the rest.
#include "tools/handle_symbols.h"
#include "tools/handlers.h"

enum { MODULES_SHOWN = 25, NAMES_SHOWN = 10, SLOW_NS = 1000 * 1000 * 1000 };

static Str identity_text(const ModuleWeight *module) {
    if (!module->has_symbols) return STR("-");
    if (module->symbols.id_from_image) return STR("from the image");
    if (module->symbols.has_pdb_id) return STR("yes");
    return module->symbols.has_image_id ? STR("image only") : STR("no");
}

// Is a PDB of the trace's identity on the path?
static Str pdb_text(const ModuleWeight *module) {
    if (!module->has_symbols) return STR("-");
    if (module->symbols.source == SYMBOL_SOURCE_PDB) return STR("yes");
    if (!module->symbols.has_pdb_id) return STR("-");
    if (module->other_build) return STR("other identity");
    switch (module->symbols.pdb_found) {
    case SYMBOL_SKIPPED: return STR("not local, server not asked");
    case SYMBOL_NOT_ON_SERVER: return STR("not on server");
    case SYMBOL_NETWORK_ERROR: return STR("network error");
    case SYMBOL_DAMAGED: return STR("damaged");
    case SYMBOL_BAD_NAME: return STR("bad name");
    case SYMBOL_CACHED:
    case SYMBOL_DOWNLOADED:
    case SYMBOL_NOT_FOUND:
    case SYMBOL_MISMATCH:
    case SYMBOL_CANCELLED: return STR("none");
    }
    return STR("none");
}

static Cell share(int64_t part, int64_t all) {
    return all > 0 ? cell_f64(100 * (double)part / (double)all) : (Cell){.type = CELL_NULL};
}

static void modules_section(ToolCall *call, const ModuleWeights *weights) {
    static const char *const COLUMNS[][2] = {
        {"Module",       "text" },
        {"Functions",    "count"},
        {"From PDB",     "count"},
        {"Mismatched",   "count"}, // nameless because the path has another build, which is not used
        {"From Export",  "count"},
        {"Pre-resolved", "count"},
        {"Unknown",      "count"},
        {"% PDB",        "pct"  },
        {"% Export",     "pct"  },
        {"Weight",       "us"   },
        {"Status",       "text" },
        {"Identity",     "text" },
        {"PDB on path",  "text" },
    };
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i][0], COLUMNS[i][1]);
    size_t shown = weights->count < MODULES_SHOWN ? weights->count : MODULES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const ModuleWeight *module = &weights->items[i];
        const int64_t *measure = module_measure(module);
        Cell *cells = doc_row(call->doc, table);
        cells[0] = cell_text(module->module);
        cells[1] = cell_i64(module->functions);
        const int64_t *count = module->addresses;
        cells[2] = cell_i64(count[FROM_PDB]);
        cells[3] = cell_i64(module->other_build ? count[FROM_NOWHERE] : 0);
        cells[4] = cell_i64(count[FROM_EXPORT]);
        cells[5] = cell_i64(count[FROM_TRACE]);
        cells[6] = cell_i64(module->other_build ? 0 : count[FROM_NOWHERE]);
        cells[7] = share(measure[FROM_PDB], sum_of(measure));
        cells[8] = share(measure[FROM_EXPORT], sum_of(measure));
        cells[9] = cell_i64(sum_of(module->weight));
        cells[10] = cell_text(str_from_c(module_status_name(module->status)));
        cells[11] = cell_text(identity_text(module));
        cells[12] = cell_text(pdb_text(module));
    }
    table->total_rows = weights->count;
    table->empty = STR("No code addresses: the trace holds neither samples nor stacks.");
}

static void path_section(ToolCall *call, Str extra) {
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    SymbolPathOptions options = {.no_download = call->engine->settings.no_download};
    DocSection *section = doc_table(call->doc, STR("path"), STR("**Symbol path**"));
    section->style = STYLE_LINES;
    doc_column(call->doc, section, "Entry", "text(400)");
    section->empty = STR("No symbol path is set: load_trace(symbol_path=...), extra_symbol_paths "
                         "or _NT_SYMBOL_PATH sets one.");
    bool set = extra.n || symbols_path_text(call->symbols, call->arena).n;
    if (!set || symbols_path_open(call->symbols, extra, &options, &path, NULL) != OK) return;
    Buf lines = {0};
    symbol_path_describe(path, &lines);
    Str rest = str_copy(call->arena, buf_str(&lines)), line = {0};
    buf_done(&lines);
    while (str_next(&rest, '\n', &line))
        if (line.n)
            doc_row(call->doc, section)[0] =
                cell_text(str_format(call->arena, "- " STR_FMT, STR_ARG(line)));
}

// "3: a.dll, b.dll, c.dll", empty when no module is of this status.
static Str names_of(const ModuleWeights *weights, ModuleStatus status, Arena *arena) {
    size_t count = 0;
    Buf names = {0};
    for (size_t i = 0; i < weights->count; i++) {
        if (weights->items[i].status != status) continue;
        if (count++ < NAMES_SHOWN)
            buf_addf(&names, "%s" STR_FMT, count > 1 ? ", " : "",
                     STR_ARG(weights->items[i].module));
    }
    Str text = count ? str_format(arena, "%zu: " STR_FMT "%s", count, STR_ARG(buf_str(&names)),
                                  count > NAMES_SHOWN ? ", ..." : "")
                     : (Str){0};
    buf_done(&names);
    return text;
}

static void summary_section(ToolCall *call, const ModuleWeights *weights) {
    static const struct {
        ModuleStatus status;
        const char *title;
    } ROWS[] = {
        {MODULE_OK,           "Fully resolved"                        },
        {MODULE_MISMATCHED,   "Another build on the path (never used)"},
        {MODULE_EXPORT_ONLY,  "Export-only"                           },
        {MODULE_PRE_RESOLVED, "Named by the trace"                    },
        {MODULE_PARTIAL,      "Partly resolved"                       },
        {MODULE_MISSING,      "Without names"                         },
    };
    DocSection *table = doc_table(call->doc, STR("summary"), STR("**Summary**"));
    table->style = STYLE_VALUES;
    doc_column(call->doc, table, "Name", "text");
    doc_column(call->doc, table, "Value", "text(400)");
    Cell *cells = doc_row(call->doc, table);
    cells[0] = cell_text(STR("Modules"));
    cells[1] = cell_text(str_format(call->arena, "%zu", weights->count));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Str names = names_of(weights, ROWS[i].status, call->arena);
        if (!names.n) continue;
        cells = doc_row(call->doc, table);
        cells[0] = cell_text(str_from_c(ROWS[i].title));
        cells[1] = cell_text(names);
    }
    cells = doc_row(call->doc, table);
    cells[0] =
        cell_text(weights->sampled ? STR("Sample weight by source") : STR("Addresses by source"));
    cells[1] = cell_text(weights_text(weights, call->arena));
}

static const ModuleWeight *worst(const ModuleWeights *weights) {
    for (size_t i = 0; i < weights->count; i++) {
        const ModuleWeight *module = &weights->items[i];
        if (module->has_symbols && module->status != MODULE_OK &&
            module->status != MODULE_PRE_RESOLVED)
            return module;
    }
    return NULL;
}

static void advise(ToolCall *call, const ModuleWeights *weights) {
    const ModuleWeight *bad = worst(weights);
    Str id = call->trace->trace_id;
    for (size_t i = 0; i < weights->count; i++) {
        const SymbolModule *symbols = &weights->items[i].symbols;
        note_fastlink(call, symbols);
        if (symbols->elapsed_ns > SLOW_NS)
            doc_note(call->doc, str_format(call->arena, STR_FMT ": reading its symbols took %.1f s",
                                           STR_ARG(weights->items[i].module),
                                           (double)symbols->elapsed_ns / 1e9));
    }
    if (!weights->sampled && weights->count)
        doc_note(call->doc, STR("The trace is loaded, but holds no CPU samples: shares count "
                                "addresses of stacks and interrupts instead."));
    if (names_of(weights, MODULE_EXPORT_ONLY, call->arena).n)
        doc_note(call->doc, STR("Names with * are nearest exports and may be wrong: "
                                "diagnose_symbol_load says why a module has no PDB."));
    if (!bad) return;
    doc_note(call->doc, STR("resolve_symbols fetches what servers of the path have; "
                            "extra_symbol_paths adds folders of your own builds."));
    doc_next(call->doc,
             str_format(call->arena, "resolve_symbols(trace_id=\"" STR_FMT "\")", STR_ARG(id)));
    if (symbol_name_is_safe(bad->module))
        doc_next(call->doc, str_format(call->arena,
                                       "diagnose_symbol_load(trace_id=\"" STR_FMT
                                       "\", module=\"" STR_FMT "\")",
                                       STR_ARG(id), STR_ARG(bad->module)));
}

Status handle_check_symbols(ToolCall *call, Err *err) {
    Window window = {0};
    ModuleWeights weights = {0};
    Str extra = extra_paths(call);
    run_scope(call->tool, call->values, call->trace, &window, call->doc);
    TRY(module_weights_read(call, call->trace->session, extra, &weights, err));
    modules_section(call, &weights);
    summary_section(call, &weights);
    path_section(call, extra);
    advise(call, &weights);
    return OK;
}
