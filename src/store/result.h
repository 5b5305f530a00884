// Result chunks of the engine as cells.
#ifndef STORE_RESULT_H
#define STORE_RESULT_H

#include "store/duck.h"
#include "store/store.h"

// Runs a prepared statement with its bound values and collects its rows into `arena`, stopping
// after max_rows (0: all). `stopped` is asked once the statement has begun, where an interrupt
// would have been lost before; it may be NULL.
typedef struct RunLimits {
    size_t max_rows;
    uint64_t bytes_max; // of all cells; 0: no limit
    const atomic_bool *stopped;
} RunLimits;
Status result_collect(duckdb_connection connection, duckdb_prepared_statement statement,
                      const RunLimits *limits, Arena *arena, ResultSet *out, Err *err);

// Hands the rows to the visitor chunk by chunk; see session_each.
Status result_each(duckdb_connection connection, duckdb_prepared_statement statement,
                   const RunLimits *limits, const RowsVisitor *visitor, Err *err);

// Rows of whole numbers only (see session_integers).
Status result_integers(duckdb_connection connection, duckdb_prepared_statement statement,
                       const RunLimits *limits, int64_t null_value, Arena *arena, Integers *out,
                       Err *err);

#endif
