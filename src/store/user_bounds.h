// Bounds of functions in SQL from outside.
#ifndef STORE_USER_BOUNDS_H
#define STORE_USER_BOUNDS_H

#include "base/str.h"

#include <duckdb.h>

bool user_bounds_has(Str name); // a function with a bound
// Macros for those functions that the statement names.
Status user_bounds_create(duckdb_connection connection, Str sql, Err *err);

#endif
