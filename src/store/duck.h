// DuckDB's C API in the house's terms: instances, statements without rows, quoting, error lines.
#ifndef STORE_DUCK_H
#define STORE_DUCK_H

#include "base/str.h"

#include <duckdb.h>

typedef struct DuckOptions {
    unsigned threads;      // 0: all
    uint64_t memory_bytes; // 0: a quarter of the machine's
    Str temp_folder;       // for spilling; empty: none
} DuckOptions;

// One in-memory instance. Never loads or installs an extension.
Status duck_open(const DuckOptions *options, duckdb_database *out, Err *err);
Status duck_connect(duckdb_database database, duckdb_connection *out, Err *err);
// Runs statements that give no rows.
Status duck_run(duckdb_connection connection, const char *sql, Err *err);
// Works on a statement until its result can be taken or it has failed; destroy `pending`
// afterwards. The engine's own wait turns in a circle while other threads have all the work, which
// costs a core.
duckdb_state duck_finish(duckdb_pending_result pending, duckdb_result *out);
// The engine's message as one error line; the status follows from its kind ("IO Error: ...").
Status duck_error(Err *err, const char *message);

void sql_add_text(Buf *sql, Str text); // 'it''s'
void sql_add_name(Buf *sql, Str name); // "a ""b"""

#endif
