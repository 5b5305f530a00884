// Views over the Parquet files and over each other, created on first use.
#include "store/views.h"

#include "base/embed.h"
#include "base/os.h"

extern const EmbeddedFile ETW_VIEW_FILES[];
extern const unsigned ETW_VIEW_FILES_COUNT;

enum { NAME_BYTES_MAX = 64 };

// ---------------------------------------------------------------- scanning SQL

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool sql_word_next(Str *rest, Str *word) {
    size_t from = 0;
    while (from < rest->n && !is_word_char(rest->p[from])) from++;
    size_t to = from;
    while (to < rest->n && is_word_char(rest->p[to])) to++;
    *word = str_slice(*rest, from, to);
    *rest = str_slice(*rest, to, rest->n);
    return word->n > 0;
}

bool sql_names(Str sql, Str name) {
    Str rest = sql, word;
    while (sql_word_next(&rest, &word))
        if (str_eq_nocase(word, name)) return true;
    return false;
}

size_t sql_comment(Str sql) {
    bool line = str_starts(sql, STR("--"));
    if (!line && !str_starts(sql, STR("/*"))) return 0;
    Str end = line ? STR("\n") : STR("*/");
    size_t at = str_find(str_slice(sql, 2, sql.n), end);
    return at == SIZE_MAX ? sql.n : at + 2 + end.n;
}

// Length of the quoted text at the start of `s`; 0 when there is none.
static size_t quoted_text(Str s) {
    if (s.p[0] != '\'' && s.p[0] != '"') return 0;
    for (size_t i = 1; i < s.n; i++) // a doubled quote ends one text and starts the next
        if (s.p[i] == s.p[0]) return i + 1;
    return s.n;
}

bool sql_statement_next(Str *rest, Str *statement) {
    size_t at = 0, start = SIZE_MAX;
    while (at < rest->n) {
        Str here = str_slice(*rest, at, rest->n);
        size_t comment = sql_comment(here);
        size_t skip = comment ? comment : quoted_text(here);
        char c = rest->p[at];
        bool blank = comment || c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (skip == 0 && c == ';' && start != SIZE_MAX) break;
        if (start == SIZE_MAX && !blank && c != ';') start = at;
        at += skip ? skip : 1;
    }
    if (start == SIZE_MAX) return false;
    *statement = str_trim(str_slice(*rest, start, at));
    *rest = str_slice(*rest, at + 1, rest->n);
    return true;
}

// ---------------------------------------------------------------- declaring

static void view_add(Views *views, View view) {
    bool added = false;
    Str key = str_lower(views->arena, view.name);
    StrMapSlot *slot = strmap_put(&views->index, key, views->items.count, &added);
    if (added) {
        slot->key = key;
        *vec_push(&views->items) = view;
    } else { // a later file replaces an earlier definition
        views->items.items[slot->value] = view;
    }
}

// CREATE [OR REPLACE] VIEW|MACRO|FUNCTION|TABLE [IF NOT EXISTS] name
static bool statement_target(Str sql, Str *name, bool *computed) {
    static const char *const SKIPPED[] = {"create", "or",     "replace", "if",
                                          "not",    "exists", "temp",    "temporary"};
    Str rest = sql, word, kind = {0};
    while (sql_word_next(&rest, &word)) {
        bool skipped = false;
        for (size_t i = 0; i < COUNT_OF(SKIPPED); i++)
            skipped = skipped || str_eq_nocase(word, str_from_c(SKIPPED[i]));
        if (skipped) continue;
        if (kind.n) {
            *name = word;
            *computed = str_eq_nocase(kind, STR("table"));
            return word.n <= NAME_BYTES_MAX;
        }
        kind = word;
        if (!str_eq_nocase(kind, STR("view")) && !str_eq_nocase(kind, STR("macro")) &&
            !str_eq_nocase(kind, STR("function")) && !str_eq_nocase(kind, STR("table")))
            return false;
    }
    return false;
}

Status views_add_file(Views *views, Str file, Str sql, Err *err) {
    Str rest = sql, statement;
    while (sql_statement_next(&rest, &statement)) {
        View view = {.sql = str_copy(views->arena, statement)};
        Str start = statement, word;
        bool create = sql_word_next(&start, &word) && str_eq_nocase(word, STR("create"));
        if (!create || !statement_target(view.sql, &view.name, &view.computed))
            return err_set(err, ERR_INPUT,
                           STR_FMT " holds something else than CREATE VIEW, MACRO "
                                   "or TABLE: " STR_FMT,
                           STR_ARG(file), STR_ARG(str_slice(statement, 0, 60)));
        view_add(views, view);
    }
    return OK;
}

// A table without rows has no file; its view has the types all the same.
static void add_empty_select(Buf *sql, const TableDef *def) {
    buf_add_c(sql, "SELECT ");
    for (unsigned i = 0; i < def->column_count; i++) {
        buf_addf(sql, "%sNULL::%s AS ", i ? ", " : "", column_sql_type(def->columns[i].type));
        sql_add_name(sql, str_from_c(def->columns[i].name));
    }
    buf_add_c(sql, " WHERE false");
}

static void add_file_select(Buf *sql, const Manifest *manifest, TableId table) {
    AUTO(arena_done) Arena scratch = {0};
    const char *separator = "";
    buf_add_c(sql, "FROM read_parquet([");
    for (size_t i = 0; i < manifest->part_count; i++) {
        if (manifest->parts[i].table != table) continue;
        buf_add_c(sql, separator);
        sql_add_text(sql, path_join(&scratch, manifest->root, manifest->parts[i].path));
        separator = ", ";
    }
    // Folders named like "run=3" are not columns.
    buf_add_c(sql, "], hive_partitioning=false)");
}

static void add_table(Views *views, const Manifest *manifest, TableId table) {
    AUTO(buf_done) Buf sql = {0};
    const TableDef *def = table_def(table);
    buf_add_c(&sql, "CREATE VIEW ");
    sql_add_name(&sql, str_from_c(def->name));
    buf_add_c(&sql, " AS ");
    if (manifest->rows[table])
        add_file_select(&sql, manifest, table);
    else
        add_empty_select(&sql, def);
    view_add(views, (View){.name = str_from_c(def->name),
                           .sql = str_copy(views->arena, buf_str(&sql)),
                           .base = true});
}

static Status add_folder(Views *views, Str sql_folder, Err *err) {
    NameList names;
    Str text, folder = path_join(views->arena, sql_folder, STR("views"));
    TRY(os_list_folder(folder, views->arena, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        if (!str_ends(names.items[i], STR(".sql"))) continue;
        Str path = path_join(views->arena, folder, names.items[i]);
        TRY(file_read_all(path, LIMIT_SQL_FILE_BYTES, views->arena, &text, err));
        TRY(views_add_file(views, path, text, err));
    }
    return OK;
}

Status views_load(Views *views, const Manifest *manifest, Str sql_folder, Arena *arena, Err *err) {
    *views = (Views){.arena = arena};
    for (unsigned t = 0; t < TABLE_COUNT; t++) add_table(views, manifest, (TableId)t);
    if (sql_folder.n) return add_folder(views, sql_folder, err);
    for (unsigned i = 0; i < ETW_VIEW_FILES_COUNT; i++) {
        const EmbeddedFile *file = &ETW_VIEW_FILES[i];
        Str text = {(const char *)file->bytes, file->size};
        TRY(views_add_file(views, str_from_c(file->name), text, err));
    }
    return OK;
}

void views_done(Views *views) {
    strmap_done(&views->index);
    vec_free(&views->items);
}

// ---------------------------------------------------------------- creating

static View *view_named(const Views *views, Str word) {
    char lower[NAME_BYTES_MAX];
    if (word.n > sizeof lower) return NULL;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    const uint64_t *index = strmap_get(&views->index, (Str){lower, word.n});
    return index ? &views->items.items[*index] : NULL;
}

// Depth is bounded by the number of views: each is entered once.
// NOLINTNEXTLINE(misc-no-recursion)
Status views_need(Views *views, duckdb_connection connection, Str sql, Err *err) {
    Str rest = sql, word;
    while (sql_word_next(&rest, &word)) {
        View *view = view_named(views, word);
        if (!view || view->state != VIEW_WAITING) continue;
        view->state = VIEW_CREATING;
        Err own = {0};
        Status status = view->base ? OK : views_need(views, connection, view->sql, &own);
        if (status == OK) status = duck_run(connection, view->sql.p, &own);
        view->state = status == OK ? VIEW_CREATED : VIEW_WAITING;
        if (status != OK)
            return err_set(err, status == ERR_ARG ? ERR_INTERNAL : status, STR_FMT ": %s",
                           STR_ARG(view->name), own.text);
    }
    return OK;
}

// Does creating this view run a query, here or below? `depth` ends definitions in circles.
// NOLINTNEXTLINE(misc-no-recursion)
static bool view_computes(const Views *views, const View *view, unsigned depth) {
    enum { DEPTH_MAX = 16 };
    if (view->state == VIEW_CREATED || view->base) return false;
    if (view->computed || depth == DEPTH_MAX) return view->computed;
    Str rest = view->sql, word;
    while (sql_word_next(&rest, &word)) {
        const View *other = view_named(views, word);
        if (other && other != view && view_computes(views, other, depth + 1)) return true;
    }
    return false;
}

Status views_create_all(Views *views, duckdb_connection connection, Err *err) {
    for (size_t i = 0; i < views->items.count; i++) {
        const View *view = &views->items.items[i];
        if (view->state == VIEW_WAITING && !view_computes(views, view, 0))
            TRY(views_need(views, connection, view->name, err));
    }
    return OK;
}
