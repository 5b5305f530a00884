// One value of a result vector as a cell.
#ifndef STORE_CELL_H
#define STORE_CELL_H

#include "store/duck.h"
#include "store/store.h"

// Numbers stay numbers when 64 bits or a double hold them; everything else becomes text. Lists and
// structures become JSON text.
Cell cell_from_vector(duckdb_vector vector, duckdb_logical_type type, idx_t row, Arena *arena);

// Name of a type as SQL writes it: "BIGINT", "DECIMAL(18,3)", "VARCHAR[]".
Str type_name(duckdb_logical_type type, Arena *arena);

#endif
