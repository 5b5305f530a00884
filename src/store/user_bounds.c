// Bounds of functions that make one huge value, or compare two large ones character by character.
// Such a call is one step to the SQL engine: no interrupt reaches it and no memory limit counts
// what it builds, so a statement of one line could keep a processor, or take all memory, for
// minutes. A macro of the same name checks the arguments first; names are found in the statement's
// own catalogue before the engine's, and a qualified name, which would go around that, is refused.
#include "store/user_bounds.h"

#include "store/duck.h"
#include "store/fn_like.h"
#include "store/views.h"

#define CHARS_MAX "16000000"
#define ITEMS_MAX "1000000"
#define SAID(name, what) "error('" name " makes at most " what " here')"
#define BOUND(n, most, name, what) "if(" n " > " most ", " SAID(name, what) ", " n ")"

#define LIST_END(name, from, to)                                                                   \
    "if(abs(coalesce(try_cast((" to ")::VARCHAR AS DOUBLE), 0) - "                                 \
    "coalesce(try_cast((" from ")::VARCHAR AS DOUBLE), 0)) > " ITEMS_MAX                           \
    ", " SAID(name, "1,000,000 items") ", " to ")"
#define LIST(name)                                                                                 \
    "CREATE MACRO " name "(a) AS system.main." name                                                \
    "(" LIST_END(name, "0", "a") "), "                                                             \
                                 "(a, b) AS system.main." name "(a, " LIST_END(                    \
                                     name, "a", "b") "), "                                         \
                                                     "(a, b, c) AS system.main." name              \
                                                     "(a, " LIST_END(name, "a", "b") ", c)"

#define PAIR(name)                                                                                 \
    "CREATE MACRO " name "(a, b) AS system.main." name "(if(length(a) * length(b) > 100000000, "   \
    "error('" name " compares at most 10,000 with 10,000 characters here'), a), b)"

// A width with four digits or more, or one that comes as an argument.
#define FORMAT_TEXT                                                                                \
    "if(regexp_matches(f, '[0-9]{4}|[*]|[{][^}]*[{]'), "                                           \
    "error('a width has at most 3 digits here'), f)"
#define FORMAT(name)                                                                               \
    "CREATE MACRO " name "(f) AS system.main." name "(" FORMAT_TEXT "), "                          \
    "(f, a) AS system.main." name "(" FORMAT_TEXT ", a), "                                         \
    "(f, a, b) AS system.main." name "(" FORMAT_TEXT ", a, b), "                                   \
    "(f, a, b, c) AS system.main." name "(" FORMAT_TEXT ", a, b, c), "                             \
    "(f, a, b, c, d) AS system.main." name "(" FORMAT_TEXT ", a, b, c, d), "                       \
    "(f, a, b, c, d, e) AS system.main." name "(" FORMAT_TEXT ", a, b, c, d, e)"

#define REPEAT                                                                                     \
    "CREATE MACRO repeat(s, n) AS system.main.repeat(s, if(n * (strlen(s::VARCHAR) + 1) "          \
    "> " CHARS_MAX ", " SAID("repeat", "16,000,000 characters") ", n))"
#define PAD(name)                                                                                  \
    "CREATE MACRO " name "(s, n, p) AS system.main." name                                          \
    "(s, " BOUND("n", CHARS_MAX, name, "16,000,000 characters") "::INTEGER, p)"
#define BITSTRING                                                                                  \
    "CREATE MACRO bitstring(s, n) AS system.main.bitstring(s, " BOUND(                             \
        "n", CHARS_MAX, "bitstring", "16,000,000 bits") "::INTEGER)"

// clang-format off
static const struct {
    const char *name, *sql;
} BOUNDS[] = {
    {"repeat",                  REPEAT},
    {"lpad",                    PAD("lpad")},
    {"rpad",                    PAD("rpad")},
    {"bitstring",               BITSTRING},
    {"range",                   LIST("range")},
    {"generate_series",         LIST("generate_series")},
    {"printf",                  FORMAT("printf")},
    {"format",                  FORMAT("format")},
    {"levenshtein",             PAIR("levenshtein")},
    {"editdist3",               PAIR("editdist3")},
    {"damerau_levenshtein",     PAIR("damerau_levenshtein")},
    {"jaro_similarity",         PAIR("jaro_similarity")},
    {"jaro_winkler_similarity", PAIR("jaro_winkler_similarity")},
    {"jaccard",                 PAIR("jaccard")},
};
// clang-format on

#define GLOB_MACRO                                                                                 \
    "CREATE MACRO \"~~~\"(s, p) AS system.main.\"~~~\"(s, if(length(p) - "                         \
    "length(replace(p, '*', '')) > if(strlen(s) > 10000, 1, 2), error('GLOB takes at most two * "  \
    "here, one on long texts: use LIKE or regexp_matches()'), p))"

// The operators behind LIKE and GLOB, which a statement never names as functions.
static const char *const PATTERNS[] = {
    "CREATE MACRO \"~~\"(s, p) AS etw_like(s, p)",
    "CREATE MACRO \"!~~\"(s, p) AS NOT etw_like(s, p)",
    "CREATE MACRO \"~~*\"(s, p) AS etw_like(lower(s), lower(p))",
    "CREATE MACRO \"!~~*\"(s, p) AS NOT etw_like(lower(s), lower(p))",
    "CREATE MACRO like_escape(s, p, e) AS etw_like_escape(s, p, e)",
    "CREATE MACRO not_like_escape(s, p, e) AS NOT etw_like_escape(s, p, e)",
    "CREATE MACRO ilike_escape(s, p, e) AS etw_like_escape(lower(s), lower(p), lower(e))",
    "CREATE MACRO not_ilike_escape(s, p, e) AS NOT etw_like_escape(lower(s), lower(p), lower(e))",
    GLOB_MACRO,
};
static const char *const PATTERN_FUNCTIONS[] = {
    "like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape", "glob",
};

// Whether the statement may match patterns: by a word, or by the operators themselves.
static bool has_pattern(Str sql) {
    return str_find_nocase(sql, STR("like")) != SIZE_MAX ||
           str_find_nocase(sql, STR("glob")) != SIZE_MAX || str_find(sql, STR("~~")) != SIZE_MAX;
}

bool user_bounds_has(Str name) {
    for (size_t i = 0; i < COUNT_OF(BOUNDS); i++)
        if (str_eq_nocase(name, str_from_c(BOUNDS[i].name))) return true;
    for (size_t i = 0; i < COUNT_OF(PATTERN_FUNCTIONS); i++)
        if (str_eq_nocase(name, str_from_c(PATTERN_FUNCTIONS[i]))) return true;
    return false;
}

Status user_bounds_create(duckdb_connection connection, Str sql, Err *err) {
    Str rest = sql, word;
    bool wanted[COUNT_OF(BOUNDS)] = {0};
    while (sql_word_next(&rest, &word))
        for (size_t i = 0; i < COUNT_OF(BOUNDS); i++)
            wanted[i] = wanted[i] || str_eq_nocase(word, str_from_c(BOUNDS[i].name));
    for (size_t i = 0; i < COUNT_OF(BOUNDS); i++)
        if (wanted[i]) TRY(duck_run(connection, BOUNDS[i].sql, err));
    if (!has_pattern(sql)) return OK;
    TRY(like_functions_register(connection, err));
    for (size_t i = 0; i < COUNT_OF(PATTERNS); i++) TRY(duck_run(connection, PATTERNS[i], err));
    return OK;
}
