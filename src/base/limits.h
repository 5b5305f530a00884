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
    LIMIT_TEXT_BYTES = 64 * 1024,             // one converted string
    LIMIT_EVENT_STEPS = 1 << 20,              // values of one event
    LIMIT_EVENT_JSON_BYTES = 4 * 1024 * 1024, // its fields as text
    LIMIT_MAP_ENTRIES = 65536,                // of one value map
    LIMIT_MANIFEST_CHUNKS = 4096,             // of one EventSource manifest
    LIMIT_XML_DEPTH = 32,
    LIMIT_XML_ELEMENTS = 1 << 20,
    LIMIT_MANIFEST_FILES = 4096, // of a folder
    LIMIT_TMF_LINES = 4 << 20,
    // Replies
    LIMIT_REPLY_BYTES_DEFAULT = 10000,
    LIMIT_REPLY_BYTES = 24000,
    LIMIT_SQL_SECONDS_DEFAULT = 10,
    LIMIT_SQL_SECONDS = 60,
    LIMIT_LINE_BYTES = 16 * 1024 * 1024, // one JSON-RPC message in
    LIMIT_LINE_OUT_BYTES = 4 * 1024 * 1024,
    LIMIT_JSON_DEPTH = 64,
    LIMIT_JSON_VALUES = 200000,   // scalars, arrays and objects of one message
    LIMIT_QUEUE_REQUESTS = 10000, // waiting requests: the reader pauses above
    LIMIT_QUEUE_BYTES = 64 * 1024 * 1024,
    LIMIT_SUBSCRIPTIONS = 256,
    LIMIT_COMPLETIONS = 100,
    // Symbol files (docs/formats/pdb.md)
    LIMIT_PDB_STREAMS = 1 << 20,
    LIMIT_PDB_STREAM_BYTES = 1 << 30,       // one gathered stream
    LIMIT_PDB_DIRECTORY_BYTES = 256 << 20,  // stream directory in memory
    LIMIT_PDB_CHUNK_BYTES = 512 << 20,      // one decompressed MSFZ chunk
    LIMIT_PDB_CHUNK_CACHE_BYTES = 32 << 20, // decompressed chunks kept besides the current one
    LIMIT_PDB_CACHED_MODULES = 64,          // decoded line tables kept for one PDB
    LIMIT_PE_SECTIONS = 96,
    LIMIT_SYMBOLS = 20000000, // entries of one index
    LIMIT_OMAP_ENTRIES = 16 << 20,
    LIMIT_INLINE_DEPTH = 64,
    LIMIT_UNDECORATE_DEPTH = 64,
    LIMIT_UNDECORATE_BYTES = 16384,  // one undecorated name
    LIMIT_UNDECORATE_WORK = 20000,   // nodes parsed and printed for one name
    LIMIT_PERFMAP_BYTES = 256 << 20, // text of a ReadyToRun perf map
    LIMIT_CABINET_BYTES = 512 << 20, // expanded in memory
    LIMIT_SYMBOL_FILE_MIB = 2048,    // one download, one expanded cabinet on disk
    LIMIT_SYMBOL_NAME_BYTES = 120,   // base name of a PDB or image
    LIMIT_SYMBOL_PATH_BYTES = 65536,
    LIMIT_SYMBOL_PATH_ELEMENTS = 256,
    LIMIT_SYMBOL_TRANSFERS = 4, // at the same time
    LIMIT_FILE_PTR_BYTES = 4096,
    LIMIT_FILE_PTR_HOPS = 3,
    // Database
    LIMIT_SQL_FILE_BYTES = 1024 * 1024,
    LIMIT_CELL_BYTES = 1024 * 1024, // one value of a result; more is cut and marked
    LIMIT_USER_SQL_BYTES = 64 * 1024,
    LIMIT_USER_SQL_MEMORY_BYTES = 1024 * 1024 * 1024,
    ROW_GROUP_ROWS = 122880, // 60 vectors of 2,048: DuckDB's own row group
};

#endif
