// Every limit of the program, named. Hitting one is ERR_LIMIT or a visible "cut", never silence.
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    // ETL container (docs/formats/etl.md)
    LIMIT_BUFFER_BYTES = 16 * 1024 * 1024 + 64 * 1024, // one decompressed buffer
    LIMIT_CPUS = 2048,
    LIMIT_STACK_FRAMES = 1024, // one joined stack
    LIMIT_EXT_ITEMS = 64,
    // Metadata in events
    LIMIT_SCHEMA_DEPTH = 8,
    LIMIT_SCHEMA_FIELDS = 4096,
    LIMIT_MANIFEST_BYTES = 16 * 1024 * 1024,
    LIMIT_TEXT_BYTES = 64 * 1024, // one converted string
    // Replies
    LIMIT_REPLY_BYTES_DEFAULT = 10000,
    LIMIT_REPLY_BYTES = 24000,
    LIMIT_SQL_SECONDS_DEFAULT = 10,
    LIMIT_SQL_SECONDS = 60,
    LIMIT_LINE_BYTES = 16 * 1024 * 1024, // one JSON-RPC message in
    LIMIT_LINE_OUT_BYTES = 4 * 1024 * 1024,
    LIMIT_JSON_DEPTH = 64,
    LIMIT_JSON_VALUES = 200000, // scalars, arrays and objects of one message
    LIMIT_QUEUE_REQUESTS = 10000, // waiting requests: the reader pauses above
    LIMIT_QUEUE_BYTES = 64 * 1024 * 1024,
    LIMIT_SUBSCRIPTIONS = 256,
    LIMIT_COMPLETIONS = 100,
    // Database
    LIMIT_SQL_FILE_BYTES = 1024 * 1024,
    LIMIT_CELL_BYTES = 1024 * 1024, // one value of a result; more is cut and marked
    LIMIT_USER_SQL_BYTES = 64 * 1024,
    LIMIT_USER_SQL_MEMORY_BYTES = 1024 * 1024 * 1024,
    ROW_GROUP_ROWS = 122880, // 60 vectors of 2,048: DuckDB's own row group
};

#endif
