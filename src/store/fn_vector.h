// Columns of values inside SQL functions (fn_*.c and their like): arguments come as flat vectors,
// results go into one.
#ifndef STORE_FN_VECTOR_H
#define STORE_FN_VECTOR_H

#include "base/str.h"

#include <duckdb.h>

typedef struct InColumn {
    uint64_t *valid; // NULL: every row
    void *data;
} InColumn;

static inline InColumn in_column(duckdb_data_chunk input, idx_t index) {
    duckdb_vector vector = duckdb_data_chunk_get_vector(input, index);
    return (InColumn){duckdb_vector_get_validity(vector), duckdb_vector_get_data(vector)};
}

static inline bool in_is_null(const InColumn *column, idx_t row) {
    return column->valid && !duckdb_validity_row_is_valid(column->valid, row);
}

// Text or bytes; valid while the column is.
static inline Str in_text(const InColumn *column, idx_t row) {
    const duckdb_string_t *value = &((const duckdb_string_t *)column->data)[row];
    bool inlined = value->value.inlined.length <= 12;
    return (Str){inlined ? value->value.inlined.inlined : value->value.pointer.ptr,
                 value->value.inlined.length};
}

static inline void out_null(duckdb_vector output, idx_t row) {
    duckdb_vector_ensure_validity_writable(output);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(output), row);
}

// Text or bytes; copied.
static inline void out_text(duckdb_vector output, idx_t row, Str text) {
    duckdb_vector_assign_string_element_len(output, row, text.p ? text.p : "", text.n);
}

static inline void scalar_add_parameter(duckdb_scalar_function function, duckdb_type kind) {
    duckdb_logical_type type = duckdb_create_logical_type(kind);
    duckdb_scalar_function_add_parameter(function, type);
    duckdb_destroy_logical_type(&type);
}

#endif
