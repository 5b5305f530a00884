// The manifest of a trace database, and the folders ("generations") that hold its Parquet files.
//
//   <folder>/wpr-mcp-cache-manifest.json     written last; names one generation
//   <folder>/g<id>/<table>-<n>.parquet       the data files of one load
//   <folder>/g<id>/writer-<who>              that load is not finished
//   <folder>/g<id>/reader-<who>              a program has the database open
//   <folder>/etw-mcp/...                     all of that, where another program's manifest lies
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include "store/store.h"

#define MANIFEST_NAME "wpr-mcp-cache-manifest.json"
#define MANIFEST_PRODUCER "etw-mcp"
enum {
    MANIFEST_VERSION = 3,
    STORE_SCHEMA_VERSION = 2, // raise when rows change meaning while their columns stay
};

typedef struct PartFile {
    TableId table;
    Str path; // relative to the database's root
    uint64_t size_bytes;
    uint64_t rows;
} PartFile;

typedef struct Manifest {
    json_t *json; // the whole document
    Str root;     // folder that the paths are relative to
    Str generation;
    PartFile *parts;
    size_t part_count;
    uint64_t rows[TABLE_COUNT];
} Manifest;

// The folder our files are in: `folder`, or its sub-folder when a manifest of another program is
// there.
Status manifest_root(Str folder, Arena *arena, Str *root, Err *err);

// STORE_INVALID and STORE_NONE come with a sentence that says why.
typedef struct Verdict {
    StoreState state;
    Str why;
} Verdict;

// Reads and checks the manifest of `root` and the files it lists. `identity` may be NULL: any
// trace. Only STORE_VALID fills *out (release with manifest_done).
Status manifest_load(Str root, const TraceIdentity *identity, Arena *arena, Manifest *out,
                     Verdict *verdict, Err *err);
void manifest_done(Manifest *manifest);

typedef struct ManifestFacts {
    const TraceIdentity *identity;
    Str mode;
    const json_t *info; // may be NULL
    int64_t created_wall_ns;
    Str generation;
    const PartFile *parts;
    size_t part_count;
} ManifestFacts;
// Puts the manifest in place, atomically.
Status manifest_write(Str root, const ManifestFacts *facts, Err *err);

// Hash of every table's name, columns and types, as text.
Str schema_fingerprint(Arena *arena);

// ---------------------------------------------------------------- generations

// A new folder in `root`, marked as being written.
Status generation_create(Str root, Arena *arena, Str *name, Err *err);
// The generation is finished: drops the writer's mark.
void generation_release(Str root, Str generation);
// Marks a generation as in use and gives the marker's path; empty where nobody may write (then
// nobody can remove it either).
Status generation_hold(Str root, Str generation, Arena *arena, Str *marker, Err *err);
// Removes generations that no manifest names, no living writer writes and no living reader holds.
void generation_sweep(Str root);

#endif
