// The engine's own matching tries every way to place each %, so a short pattern can take for ever,
// and no interrupt reaches it. Here only the last % is moved: at most text times pattern steps.
#include "store/fn_like.h"

#include "store/fn_vector.h"

// Of one call, which is at most one vector of rows: a second or two.
#define STEPS_MAX UINT64_C(500000000)

// Bytes of the UTF-8 character at `at`.
static size_t character(Str text, size_t at) {
    size_t n = 1;
    while (at + n < text.n && ((unsigned char)text.p[at + n] & 0xC0) == 0x80) n++;
    return n;
}

// One step of the pattern at *at on the text at *from; false: it does not fit here.
static bool step(Str text, Str pattern, char escape, size_t *from, size_t *at) {
    char wanted = pattern.p[*at];
    bool escaped = escape && wanted == escape;
    if (!escaped && wanted == '_') {
        *from += character(text, *from);
        (*at)++;
        return true;
    }
    size_t literal = *at + escaped;
    if (pattern.p[literal] != text.p[*from]) return false;
    *at = literal + 1;
    (*from)++;
    return true;
}

static bool escapes_end(Str pattern, char escape) {
    size_t at = 0;
    while (escape && at < pattern.n) {
        if (pattern.p[at] != escape) {
            at++;
        } else {
            if (at + 1 == pattern.n) return false;
            at += 2;
        }
    }
    return true;
}

LikeResult like_match(Str text, Str pattern, char escape, uint64_t *steps) {
    if (!escapes_end(pattern, escape)) return LIKE_BAD_ESCAPE;
    size_t from = 0, at = 0, tried = 0,
           after = SIZE_MAX; // the last %: where it ends, and behind it
    while (from < text.n) {
        if (++*steps > STEPS_MAX) return LIKE_TOO_LONG;
        bool any = at < pattern.n && pattern.p[at] == '%' && escape != '%';
        if (any) {
            after = ++at;
            tried = from;
        } else if (at == pattern.n || !step(text, pattern, escape, &from, &at)) {
            if (after == SIZE_MAX) return LIKE_NO;
            tried += character(text, tried);
            from = tried;
            at = after;
        }
    }
    while (at < pattern.n && pattern.p[at] == '%' && escape != '%') at++;
    return at == pattern.n ? LIKE_YES : LIKE_NO;
}

static const char *like_rows(duckdb_data_chunk input, duckdb_vector output) {
    InColumn text = in_column(input, 0), pattern = in_column(input, 1), escape = {0};
    bool escapes = duckdb_data_chunk_get_column_count(input) > 2;
    if (escapes) escape = in_column(input, 2);
    bool *out = duckdb_vector_get_data(output);
    uint64_t steps = 0;
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        if (in_is_null(&text, row) || in_is_null(&pattern, row) ||
            (escapes && in_is_null(&escape, row))) {
            out_null(output, row);
            continue;
        }
        Str mark = escapes ? in_text(&escape, row) : (Str){0};
        if (mark.n > 1) return "the ESCAPE of LIKE is one character";
        LikeResult result =
            like_match(in_text(&text, row), in_text(&pattern, row), mark.n ? mark.p[0] : 0, &steps);
        if (result == LIKE_BAD_ESCAPE)
            return "a LIKE pattern must not end with its ESCAPE character";
        if (result == LIKE_TOO_LONG)
            return "LIKE on texts this long takes too many steps: filter the rows first, or use "
                   "contains() or regexp_matches()";
        out[row] = result == LIKE_YES;
    }
    return NULL;
}

static void like_run(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    const char *error = like_rows(input, output);
    if (error) duckdb_scalar_function_set_error(info, error);
}

static Status register_one(duckdb_connection connection, const char *name, unsigned parameters,
                           Err *err) {
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type type = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(function, name);
    for (unsigned i = 0; i < parameters; i++) scalar_add_parameter(function, DUCKDB_TYPE_VARCHAR);
    duckdb_scalar_function_set_return_type(function, type);
    duckdb_scalar_function_set_function(function, like_run);
    duckdb_state state = duckdb_register_scalar_function(connection, function);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_scalar_function(&function);
    return state == DuckDBSuccess ? OK : err_set(err, ERR_INTERNAL, "cannot register %s", name);
}

Status like_functions_register(duckdb_connection connection, Err *err) {
    TRY(register_one(connection, "etw_like", 2, err));
    return register_one(connection, "etw_like_escape", 3, err);
}
