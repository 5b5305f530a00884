// Weight of modules by the source of their names, and what that makes of them.
#include "tools/handle_symbols.h"

#include <stdlib.h>

const char *module_status_name(ModuleStatus status) {
    static const char *const NAMES[MODULE_STATUSES] = {
        [MODULE_OK] = "OK",
        [MODULE_MISMATCHED] = "MISMATCHED_PDB",
        [MODULE_EXPORT_ONLY] = "EXPORT_ONLY",
        [MODULE_PRE_RESOLVED] = "PRE_RESOLVED",
        [MODULE_PARTIAL] = "PARTIAL",
        [MODULE_MISSING] = "MISSING",
    };
    return NAMES[status];
}

int64_t sum_of(const int64_t *by_source) {
    int64_t sum = 0;
    for (unsigned i = 0; i < NAME_SOURCES; i++) sum += by_source[i];
    return sum;
}

const int64_t *module_measure(const ModuleWeight *module) {
    return sum_of(module->weight) ? module->weight : module->addresses;
}

static ModuleStatus status_of(const ModuleWeight *module) {
    const int64_t *measure = module_measure(module);
    double all = (double)sum_of(measure);
    if (all <= 0) return MODULE_MISSING;
    double pdb = 100 * (double)measure[FROM_PDB] / all;
    double export = 100 * (double)measure[FROM_EXPORT] / all;
    double trace = 100 * (double)measure[FROM_TRACE] / all;
    double none = 100 * (double)measure[FROM_NOWHERE] / all;
    if (pdb >= 90) return MODULE_OK;
    if (module->other_build && none >= 50 && pdb < 10) return MODULE_MISMATCHED;
    if (export >= 90 && pdb < 10) return MODULE_EXPORT_ONLY;
    if (trace >= 90 && pdb < 10 && export < 10) return MODULE_PRE_RESOLVED;
    return none < 100 ? MODULE_PARTIAL : MODULE_MISSING;
}

static NameSource source_named(Str name) {
    if (str_eq(name, STR("pdb"))) return FROM_PDB;
    if (str_eq(name, STR("export"))) return FROM_EXPORT;
    return str_eq(name, STR("pre-resolved")) ? FROM_TRACE : FROM_NOWHERE;
}

static int compare_weights(const void *left, const void *right) {
    const ModuleWeight *a = left, *b = right;
    int64_t weight_a = sum_of(a->weight), weight_b = sum_of(b->weight);
    if (weight_a != weight_b) return weight_a > weight_b ? -1 : 1;
    int64_t n_a = sum_of(a->addresses), n_b = sum_of(b->addresses);
    if (n_a != n_b) return n_a > n_b ? -1 : 1;
    int order = str_cmp(a->module, b->module);
    if (order) return order;
    uint32_t id_a = a->symbols.image_id, id_b = b->symbols.image_id;
    return id_a < id_b ? -1 : id_a > id_b;
}

typedef struct Sums {
    ToolCall *call;
    SymbolModule *modules;
    size_t module_count;
    SymbolPath *path;
} Sums;

static void find_symbols(const Sums *sums, int64_t image_id, ModuleWeight *out) {
    for (size_t i = 0; i < sums->module_count && !out->has_symbols; i++) {
        if (sums->modules[i].image_id != image_id) continue;
        out->symbols = sums->modules[i];
        out->has_symbols = true;
    }
    if (!out->has_symbols || out->symbols.source == SYMBOL_SOURCE_PDB) return;
    out->other_build = out->symbols.pdb_found == SYMBOL_MISMATCH;
    SymbolCandidate candidate = {0};
    if (!out->other_build && out->symbols.has_pdb_id && sums->path)
        out->other_build = symbol_candidates(sums->path, out->symbols.pdb.name, sums->call->arena,
                                             &candidate, 1) > 0 &&
                           candidate.readable;
}

static void add_row(const Sums *sums, const Cell *cells, ModuleWeights *out) {
    ModuleWeight *last = out->count ? &out->items[out->count - 1] : NULL;
    int64_t image_id = cells[1].i64;
    bool same = last && str_eq(last->module, cells[0].text) &&
                (last->has_symbols ? last->symbols.image_id == image_id : image_id < 0);
    if (!same) {
        last = &out->items[out->count++];
        *last = (ModuleWeight){.module = cells[0].text};
        if (image_id >= 0) find_symbols(sums, image_id, last);
    }
    NameSource source = source_named(cells[2].text);
    if (source != FROM_NOWHERE) last->functions += cells[3].i64;
    last->addresses[source] += cells[4].i64;
    last->weight[source] += cells[5].i64;
    out->addresses[source] += cells[4].i64;
    out->weight[source] += cells[5].i64;
}

static Status read_rows(const Sums *sums, Session *session, ModuleWeights *out, Err *err) {
    static const char SQL[] =
        "WITH weight AS (SELECT frame_id, sum(weight_ns)::BIGINT AS ns FROM sample "
        "WHERE frame_id IS NOT NULL GROUP BY frame_id) "
        "SELECT n.module, coalesce(f.image_id, -1)::BIGINT AS image, n.symbol_source, "
        "count(DISTINCT n.function)::BIGINT, count(*)::BIGINT, coalesce(sum(w.ns), 0)::BIGINT "
        "FROM frame AS f JOIN frame_name AS n ON n.frame_id = f.frame_id "
        "LEFT JOIN weight AS w ON w.frame_id = f.frame_id "
        "GROUP BY ALL ORDER BY n.module, image, n.symbol_source";
    enum { COLUMNS = 6 };
    ResultSet rows = {0};
    Arena *arena = sums->call->arena;
    TRY(session_query(session, str_from_c(SQL), NULL, 0, 0, arena, &rows, err));
    out->items = ARENA_ARRAY(arena, ModuleWeight, rows.row_count);
    for (size_t i = 0; i < rows.row_count; i++) add_row(sums, &rows.cells[i * COLUMNS], out);
    out->sampled = sum_of(out->weight) > 0;
    for (size_t i = 0; i < out->count; i++) out->items[i].status = status_of(&out->items[i]);
    vec_sort(out, compare_weights);
    return OK;
}

Status module_weights_read(ToolCall *call, Session *session, Str extra, ModuleWeights *out,
                           Err *err) {
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    Sums sums = {.call = call};
    bool changed = false;
    SymbolPathOptions options = {.no_download = true};
    *out = (ModuleWeights){0};
    TRY(symbols_need(call->symbols, extra, &changed, err));
    if (changed) stack_cache_drop(call->trace->stacks);
    if (extra.n || symbols_path_text(call->symbols, call->arena).n)
        TRY(symbols_path_open(call->symbols, extra, &options, &path, err));
    sums.path = path;
    sums.module_count = symbols_modules(call->symbols, call->arena, &sums.modules);
    return read_rows(&sums, session, out, err);
}

Str weights_text(const ModuleWeights *weights, Arena *arena) {
    static const char *const NAMES[NAME_SOURCES] = {"pdb", "export", "pre-resolved", "unknown"};
    const int64_t *by = weights->sampled ? weights->weight : weights->addresses;
    double all = (double)sum_of(by);
    Buf out = {0};
    for (unsigned i = 0; i < NAME_SOURCES; i++)
        buf_addf(&out, "%s%s %.1f %%", i ? ", " : "", NAMES[i],
                 all > 0 ? 100 * (double)by[i] / all : 0.0);
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

Str extra_paths(const ToolCall *call) {
    const Value *value = values_get(call->values, "extra_symbol_paths");
    Buf out = {0};
    for (size_t i = 0; i < value->count; i++)
        buf_addf(&out, "%s" STR_FMT, i ? ";" : "", STR_ARG(value->list[i]));
    Str text = str_copy(call->arena, buf_str(&out));
    buf_done(&out);
    return text;
}

bool module_is_named(Str module, Str wanted) {
    if (str_eq_nocase(module, wanted)) return true;
    size_t dot = str_rfind_char(module, '.');
    return dot != SIZE_MAX && str_eq_nocase(str_slice(module, 0, dot), wanted);
}

void note_fastlink(ToolCall *call, const SymbolModule *module) {
    if (!module->fastlink) return;
    doc_note(call->doc,
             str_format(call->arena,
                        STR_FMT " was linked with /DEBUG:FASTLINK: all but the public symbols of "
                                "its PDB stayed in object files, so functions and lines are "
                                "missing. Link it with /DEBUG:FULL, or run mspdbcmf.exe on the PDB "
                                "where it was built.",
                        STR_ARG(module->name)));
}
