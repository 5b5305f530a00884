// The trace database: a folder of Parquet files plus a manifest, and DuckDB over it.
//
// Writing: store_writer is a RowSink for decode; store_commit() makes the new generation visible in
// one rename of the manifest, so a killed process leaves the old database or none. Reading:
// database_open() maps a folder with a valid manifest; every table of decode/table.h is a view of
// its name there, with or without rows, and sql/views/*.sql are loaded on top.
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/thread.h"
#include "decode/table.h"

#include <jansson.h>

// ---------------------------------------------------------------- identity and folders

enum { TRACE_ID_SIZE = 19 + 1 }; // "trace_" + 12 hex digits + NUL (rounded up)

typedef struct TraceIdentity {
    Str path; // absolute, free of links
    uint64_t size_bytes;
    int64_t mtime_ns;
    char trace_id[TRACE_ID_SIZE]; // first 12 hex digits of SHA-256("<path>|<size>|<mtime_ns>")
} TraceIdentity;

Status trace_identity(Str path, Arena *arena, TraceIdentity *out, Err *err);

// Where the database of a trace lives: `.etw-export-<stem>` beside it, or, when that folder cannot
// be written, a folder under the per-user cache (*fallback then says so). Creates nothing.
Str store_folder(const TraceIdentity *identity, Arena *arena, bool *fallback);

// ---------------------------------------------------------------- writing

typedef struct StoreWriter StoreWriter; // is a RowSink; thread-safe

// Starts a new generation in `folder` (created). Nothing that a reader uses is touched.
Status store_writer_open(Str folder, const TraceIdentity *identity, StoreWriter **out, Err *err);
RowSink *store_writer_sink(StoreWriter *writer);
// Writes what is pending and the manifest (temporary file, flush, rename), then removes older
// generations. After this a reader sees the new one. `mode` and `info` go into the manifest.
Status store_commit(StoreWriter *writer, Str mode, const json_t *info, Err *err);
void store_writer_close(StoreWriter *writer); // without commit: removes the unfinished generation
AUTO_DEFINE(StoreWriter *, store_writer_close)

// ---------------------------------------------------------------- reading

typedef enum StoreState { STORE_NONE, STORE_VALID, STORE_INVALID } StoreState;

// Is there a database of exactly this trace? `why` (in arena) says why not, in one sentence.
Status store_check(Str folder, const TraceIdentity *identity, Arena *arena, StoreState *state,
                   Str *why, Err *err);

typedef struct Database Database; // read-only, shared by threads
typedef struct DatabaseOptions {
    Str sql_folder;        // development: read sql/views from here
    uint64_t memory_bytes; // cap of this instance, 0: default
    unsigned threads;      // 0: all
    // Registers functions that SQL cannot say, in every instance that is opened: `connection` is a
    // duckdb_connection (src/tools includes duckdb.h, others need not). May be NULL.
    Status (*extend)(void *connection, void *context, Err *err);
    void *extend_context;
} DatabaseOptions;
Status database_open(Str folder, const DatabaseOptions *options, Database **out, Err *err);
void database_close(Database *database);
AUTO_DEFINE(Database *, database_close)
uint64_t database_row_count(const Database *database, TableId table); // from the manifest
const json_t *database_manifest(const Database *database);
// Of this size and time of the file? Between a store_check and a database_open another process may
// have put the database of a changed file in its place.
bool database_is_of(const Database *database, const TraceIdentity *identity);

// A connection of one worker; not shared. Cheap: closed sessions are kept and reused.
typedef struct Session Session;
Status session_open(Database *database, Session **out, Err *err);
void session_close(Session *session);
AUTO_DEFINE(Session *, session_close)
// From any thread: the statement that runs and every later one of this session end with
// ERR_CANCELLED.
void session_interrupt(Session *session);
void *session_connection(Session *session); // the duckdb_connection

// A bound argument of a statement.
typedef enum ArgType {
    ARG_NULL,
    ARG_BOOL,
    ARG_I64,
    ARG_F64,
    ARG_TEXT,
    ARG_I64_LIST,
    ARG_TEXT_LIST
} ArgType;
typedef struct Arg {
    const char *name; // of $name
    ArgType type;
    bool boolean;
    int64_t i64;
    double f64;
    Str text;
    const int64_t *i64_list;
    const Str *text_list;
    size_t list_count;
} Arg;

// Result cells as the tools see them.
typedef enum CellType { CELL_NULL, CELL_BOOL, CELL_I64, CELL_U64, CELL_F64, CELL_TEXT } CellType;
typedef struct Cell {
    CellType type;
    union {
        bool boolean;
        int64_t i64;
        uint64_t u64;
        double f64;
        Str text; // also BLOB (as hex), UUID, and any other type's text form
    };
} Cell;
typedef struct ResultSet {
    Str *columns;
    Str *types; // SQL type names
    size_t column_count;
    Cell *cells; // row-major
    size_t row_count;
    bool more; // the query had more rows than max_rows
} ResultSet;

// Runs one SELECT; arguments the statement does not use are ignored. Everything is copied into
// `arena`. max_rows 0: all.
Status session_query(Session *session, Str sql, const Arg *args, size_t arg_count, size_t max_rows,
                     Arena *arena, ResultSet *out, Err *err);

// The same for results of any size: hands the rows on as they come, some thousand at a time, and ends
// at the first failure of the visitor. Blobs are their bytes. What a call is handed is gone after it.
typedef struct RowsVisitor {
    Status (*visit)(void *context, const ResultSet *rows, Err *err);
    void *context;
} RowsVisitor;
Status session_each(Session *session, Str sql, const Arg *args, size_t arg_count,
                    const RowsVisitor *visitor, Err *err);

// session_query for large results of whole numbers: every column as an array of int64_t (unsigned ones
// keep their bits), NULL as `null_value`. ERR_INTERNAL when a column is of another type.
typedef struct Integers {
    int64_t **columns;
    size_t column_count;
    size_t row_count;
} Integers;
Status session_integers(Session *session, Str sql, const Arg *args, size_t arg_count,
                        int64_t null_value, Arena *arena, Integers *out, Err *err);

// SQL from outside (query_trace): a separate, locked instance over the same folder: one SELECT or
// EXPLAIN, no files, no settings, time and memory limits. The error names the nearest table or
// column. `progress` cancels.
Status database_user_query(Database *database, Str sql, size_t max_rows, unsigned seconds_max,
                           Progress *progress, Arena *arena, ResultSet *out, Err *err);

// The same as a file with every row: creates `path`, the only file the statement can reach besides
// the database. *rows: written.
typedef enum CopyFormat { COPY_CSV, COPY_JSON, COPY_PARQUET } CopyFormat;
typedef struct UserCopy {
    Str sql; // one SELECT
    Str path;
    CopyFormat format;
    unsigned seconds_max;
} UserCopy;
Status database_user_copy(Database *database, const UserCopy *copy, Progress *progress,
                          uint64_t *rows, Err *err);

#endif
