// Common table expressions of a tool: each section gets only those it refers to, since the database
// would bind all of them again for every section.
#include "tools/catalog.h"

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Length of the comment or quoted text that starts at `at`; 0: none does.
static size_t skipped_at(Str sql, size_t at) {
    char c = sql.p[at];
    if (c == '-' && at + 1 < sql.n && sql.p[at + 1] == '-') {
        size_t end = at;
        while (end < sql.n && sql.p[end] != '\n') end++;
        return end - at;
    }
    if (c != '\'' && c != '"') return 0;
    size_t end = at + 1;
    while (end < sql.n && sql.p[end] != c) end++;
    return (end < sql.n ? end + 1 : end) - at;
}

// The end of the table that starts at `from`: the comma behind its closing bracket, or the end.
static size_t table_end(Str sql, size_t from) {
    int depth = 0;
    size_t at = from;
    while (at < sql.n) {
        size_t skip = skipped_at(sql, at);
        if (skip) {
            at += skip;
            continue;
        }
        if (sql.p[at] == '(') depth++;
        if (sql.p[at] == ')') depth--;
        if (sql.p[at] == ',' && depth == 0) return at;
        at++;
    }
    return sql.n;
}

// Cuts comments and blanks off the front.
static Str skip_blanks(Str sql) {
    for (;;) {
        sql = str_trim(sql);
        if (!str_starts(sql, STR("--"))) return sql;
        sql = str_slice(sql, skipped_at(sql, 0), sql.n);
    }
}

static Str word_at(Str sql, size_t at) {
    size_t end = at;
    while (end < sql.n && is_word_char(sql.p[end])) end++;
    return str_slice(sql, at, end);
}

// Bits of the common tables whose names occur as words in `sql`.
static uint64_t names_in(const Tool *tool, Str sql) {
    uint64_t found = 0;
    size_t at = 0;
    while (at < sql.n) {
        size_t skip = skipped_at(sql, at);
        Str word = skip ? (Str){0} : word_at(sql, at);
        for (size_t i = 0; word.n && i < tool->table_count; i++)
            if (str_eq(word, tool->tables[i].name)) found |= UINT64_C(1) << i;
        at += skip ? skip : word.n ? word.n : 1;
    }
    return found;
}

// "name AS [MATERIALIZED] ( body )"
static Status find_body(const Tool *tool, CommonTable *table, Err *err) {
    size_t open = str_find(table->sql, STR("("));
    bool closed = open != SIZE_MAX && str_ends(table->sql, STR(")"));
    if (!closed)
        return err_set(err, ERR_INPUT, STR_FMT ": common table " STR_FMT " wants AS ( ... )",
                       STR_ARG(tool->name), STR_ARG(table->name));
    table->body = str_slice(table->sql, open + 1, table->sql.n - 1);
    Str words = str_slice(table->sql, 0, open);
    table->shared = str_find_nocase(words, STR("MATERIALIZED")) != SIZE_MAX;
    return OK;
}

Status tool_split_common(Tool *tool, Arena *arena, Err *err) {
    tool->tables = ARENA_ARRAY(arena, CommonTable, COMMON_MAX);
    Str rest = skip_blanks(tool->common);
    while (rest.n) {
        if (tool->table_count == COMMON_MAX)
            return err_set(err, ERR_INPUT, STR_FMT ": more than %d common tables",
                           STR_ARG(tool->name), (int)COMMON_MAX);
        size_t end = table_end(rest, 0);
        CommonTable *table = &tool->tables[tool->table_count++];
        table->sql = str_trim(str_slice(rest, 0, end));
        table->name = word_at(rest, 0);
        if (!table->name.n)
            return err_set(err, ERR_INPUT, STR_FMT ": a common table has no name",
                           STR_ARG(tool->name));
        TRY(find_body(tool, table, err));
        rest = skip_blanks(str_slice(rest, end + 1, rest.n));
    }
    // Tables refer to earlier ones only, as SQL wants it.
    for (size_t i = 0; i < tool->table_count; i++) {
        uint64_t earlier = (UINT64_C(1) << i) - 1;
        tool->tables[i].uses = names_in(tool, tool->tables[i].sql) & earlier;
    }
    for (size_t i = 0; i < tool->section_count; i++)
        tool->sections[i].uses = names_in(tool, tool->sections[i].sql);
    return OK;
}

// With what those tables refer to in turn; tables that exist need nothing more.
static uint64_t with_indirect(const Tool *tool, uint64_t uses, uint64_t made) {
    uses &= ~made;
    for (size_t i = tool->table_count; i-- > 0;)
        if (uses >> i & 1) uses |= tool->tables[i].uses & ~made;
    return uses;
}

Str tool_full_sql(const Tool *tool, uint64_t uses, uint64_t made, Str sql, Arena *arena) {
    uses = with_indirect(tool, uses, made);
    if (!uses) return sql;
    Buf out = {0};
    for (size_t i = 0; i < tool->table_count; i++)
        if (uses >> i & 1)
            buf_addf(&out, "%s" STR_FMT, out.n ? ",\n" : "WITH ", STR_ARG(tool->tables[i].sql));
    bool own_with = sql.n > 5 && str_eq_nocase(str_slice(sql, 0, 5), STR("WITH "));
    buf_addf(&out, own_with ? ",\n" STR_FMT : "\n" STR_FMT,
             STR_ARG(own_with ? str_slice(sql, 5, sql.n) : sql));
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}
