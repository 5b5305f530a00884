// Chunks as a DuckDB table: etw_chunks(batch) hands whole chunks to the engine's threads.
#ifndef STORE_CHUNKS_H
#define STORE_CHUNKS_H

#include "decode/table.h"
#include "store/duck.h"

#include <stdatomic.h>

// Some chunks of one table. The text of VARCHAR and BLOB values is not copied: the batch outlives
// every statement that reads it.
typedef struct Batch {
    TableId table;
    Chunk **chunks;
    size_t count;
    uint64_t rows;
} Batch;

// Registers etw_chunks(address UBIGINT) in a private instance: the argument is the address of a
// Batch, so no SQL from outside may ever reach that instance.
Status chunks_register(duckdb_connection connection, Err *err);

#endif
