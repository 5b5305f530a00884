// Function names of one trace: finds the symbol files of its modules, resolves every code address
// of a module at once, and keeps the result for SQL (frame_symbols(), frame_lines()).
//
// Nothing happens before the first query that wants names; then every module with addresses is
// looked up in the folders and caches of the trace's symbol path. Servers are asked by
// symbols_fetch() alone. A file that proves another identity is never used.
#ifndef TOOLS_SYMBOLS_H
#define TOOLS_SYMBOLS_H

#include "store/store.h"
#include "sym/sym.h"

typedef struct Symbols Symbols;

typedef enum SymbolSource {
    SYMBOL_SOURCE_NONE,
    SYMBOL_SOURCE_EXPORT,
    SYMBOL_SOURCE_PDB
} SymbolSource;
const char *symbol_source_name(SymbolSource source); // "unknown", "export", "pdb"

// A module (image.module_id) that has code addresses. Text lives as long as the Symbols.
typedef struct SymbolModule {
    uint32_t image_id;
    Str name;
    bool has_pdb_id, has_image_id; // what the trace, or an image that it names, says of identity
    bool id_from_image;            // the trace had no PDB identity; a proved image had it
    SymbolId pdb, image, map;
    bool has_map_id; // a proved image names the perf map of its precompiled methods
    bool fastlink;   // the PDB left all but its public symbols in object files
    bool from_map;   // names are from that map: it has no lines
    size_t first_frame, frame_count;
    // What was found so far:
    SymbolSource source;
    Str path;                           // of the file in use
    SymbolOutcome pdb_found, img_found; // last answers; SYMBOL_NOT_FOUND before the first
    Str why;                            // of the answer on the PDB, in one line
    size_t named;                       // addresses with a name
    uint64_t elapsed_ns;
} SymbolModule;

typedef struct SymbolsOptions {
    Str path; // complete; empty: nothing is looked up
    bool no_download;
} SymbolsOptions;

Symbols *symbols_open(const SymbolsOptions *options);
void symbols_close(Symbols *symbols); // after its database; accepts NULL
// The database whose frames are named; before the first query that wants names.
void symbols_attach(Symbols *symbols, Database *database);
// DatabaseOptions.extend with the Symbols as context.
Status symbols_extend(void *connection, void *context, Err *err);
// Another path from now on: what was not found is looked up again.
void symbols_set_path(Symbols *symbols, Str path);
Str symbols_path_text(Symbols *symbols, Arena *arena);
bool symbols_no_download(const Symbols *symbols);
// The path opened for one call, with more places behind it.
Status symbols_path_open(Symbols *symbols, Str extra, const SymbolPathOptions *options,
                         SymbolPath **out, Err *err);

// Looks up along the path, and along `extra` (";"-joined folders) for modules that are not named
// yet. *changed (may be NULL) says whether there are new names: callers then drop cached stacks.
Status symbols_need(Symbols *symbols, Str extra, bool *changed, Err *err);
// Copies of the modules, by name, then image_id. symbols_need first.
size_t symbols_modules(Symbols *symbols, Arena *arena, SymbolModule **out);

typedef struct SymbolFetch {
    uint32_t image_id;
    SymbolId id; // what was asked for
    SymbolResult result;
    bool asked; // false: not reached
} SymbolFetch;
typedef struct SymbolFetchOptions {
    Str extra;
    Progress *progress; // cancels; may be NULL
} SymbolFetchOptions;
// Asks servers too, for every module listed, and names their addresses from what came. `fetches`
// are in the order given; results live in `arena`.
Status symbols_fetch(Symbols *symbols, const SymbolFetchOptions *options, SymbolFetch *fetches,
                     size_t count, Arena *arena, Err *err);

// One step of source at a frame: the innermost inlined function first.
typedef struct FrameLine {
    uint64_t frame_id;
    uint32_t depth; // 0: innermost
    Str function, file;
    uint32_t line; // 0: unknown
    bool inlined;
} FrameLine;
typedef struct FrameLines {
    const FrameLine *items; // by module, then address
    size_t count;
} FrameLines;
// Lines of one module's addresses, read from its PDB on first use and kept.
Status symbols_lines(Symbols *symbols, uint32_t image_id, FrameLines *out, Err *err);

#endif
