// Where symbol files are looked for: _NT_SYMBOL_PATH in full, local stores, and symbol servers.
//
// The network is asked only when the path names a server and options.no_download is off. A file is
// used only after its own bytes proved the identity asked for. docs/formats/pdb.md, "Finding
// files".
#ifndef SYM_SYMBOL_PATH_H
#define SYM_SYMBOL_PATH_H

#include "base/rd.h"
#include "base/thread.h"
#include "sym/pe.h"

typedef struct SymbolPath SymbolPath;

// What is wanted: a PDB by GUID and age, or an image by time stamp and size.
typedef struct SymbolId {
    Str name; // base name, as recorded in the trace or image; its case is kept
    bool is_image;
    Guid guid;
    uint32_t age;
    bool portable;   // managed PDB: its key has no age
    bool is_perfmap; // ReadyToRun perf map: `guid` is its signature, `age` its version
    uint32_t time_date_stamp, image_size;
} SymbolId;

// "A6259241...2E1": the folder name of a store for this identity.
Str symbol_key(const SymbolId *id, Arena *arena);
// "foo.pdb/A6259241...2E1/foo.pdb".
Str symbol_store_path(const SymbolId *id, Arena *arena);
// What an image says of its perf map (PeIdentity.has_perfmap). Stores of .NET files are in lower
// case.
SymbolId symbol_perfmap_id(const PeIdentity *image, Arena *arena);
// Names come from strangers: only a plain file name without tricks may become a path or a URL.
bool symbol_name_is_safe(Str name);

typedef enum SymbolOutcome {
    SYMBOL_CACHED,        // found in a folder or store; `path` is it
    SYMBOL_DOWNLOADED,    // fetched from a server, now in a store; `path` is it
    SYMBOL_NOT_FOUND,     // in no folder or store, and the path names no server
    SYMBOL_NOT_ON_SERVER, // every server said that it does not have it
    SYMBOL_MISMATCH,      // a file of that name was there, but is another build
    SYMBOL_DAMAGED,       // the file cannot be read; `detail` says why
    SYMBOL_NETWORK_ERROR, // a server could not be asked: not the same as "not there"
    SYMBOL_SKIPPED,       // a server is on the path, but downloads are switched off
    SYMBOL_BAD_NAME,      // the recorded name is not a file name
    SYMBOL_CANCELLED,
} SymbolOutcome;
// "already cached", "downloaded", "not on server", "identity mismatch", "network error" ...
const char *symbol_outcome_name(SymbolOutcome outcome);

// One place that was asked.
typedef struct SymbolAttempt {
    Str location; // path or URL, without its query
    SymbolOutcome outcome;
    Str detail;       // empty when there is nothing to add
    long http_status; // 0: not HTTP, or no answer
} SymbolAttempt;

typedef struct SymbolResult {
    SymbolOutcome outcome;
    Str path;            // of the file, when found
    Str url;             // asked last, or that would be asked when downloads were on
    Str detail;          // why not, in one line
    uint64_t size_bytes; // of the file
    uint64_t elapsed_ns;
    SymbolAttempt *attempts; // in the order they were made
    size_t attempt_count;
} SymbolResult;

typedef struct SymbolPathOptions {
    bool no_download;
    bool retry_missing; // forget stored "not there" answers of servers
    Str default_store;  // for empty parts; empty: <user's cache>/symbols
    Str missing_file;   // keeps "not there" answers for a day; empty: memory only
    // Tests change these; 0 means the usual value.
    unsigned connect_seconds, stall_seconds, retry_wait_ms;
    Str libcurl; // file name or path; empty: the system's
} SymbolPathOptions;

// The text of _NT_ALT_SYMBOL_PATH and _NT_SYMBOL_PATH, joined; empty when both are unset.
Str symbol_path_from_environment(Arena *arena);
// What the public symbols of Windows need: a store of one's own, filled from Microsoft's server.
Str symbol_path_for_windows(Arena *arena);

// Never fails for a strange element: it stays listed with a note that says why it is not used.
Status symbol_path_open(Str text, const SymbolPathOptions *options, SymbolPath **out,
                        Err *err) MUST_USE;
void symbol_path_close(SymbolPath *path); // writes the missing file
AUTO_DEFINE(SymbolPath *, symbol_path_close)

typedef enum SymbolPlaceKind {
    SYMBOL_PLACE_FOLDER, // plain folder
    SYMBOL_PLACE_STORE,  // folder in store layout, filled from what stands right of it
    SYMBOL_PLACE_CACHE,  // store for everything to its right
    SYMBOL_PLACE_SERVER,
} SymbolPlaceKind;
const char *symbol_place_kind_name(SymbolPlaceKind kind);

typedef struct SymbolPlace {
    SymbolPlaceKind kind;
    Str location;     // folder or URL
    unsigned element; // number of the ';' element it stands in
    bool usable;
    bool is_default; // the default store, put in by us
    Str note;        // why it is not usable
} SymbolPlace;

size_t symbol_path_count(const SymbolPath *path);
const SymbolPlace *symbol_path_place(const SymbolPath *path, size_t index);
bool symbol_path_has_server(const SymbolPath *path);
// One line per place: kind, location, state ("12 symbol folders", "does not exist", "server" ...).
void symbol_path_describe(const SymbolPath *path, Buf *out);

// Looks in folders and stores, then asks servers. Text of the result lives in `arena`. The Status
// is OK whatever the outcome; ERR_CANCELLED when progress->cancelled was set. `progress` may be
// NULL; its `done` counts bytes received. Safe from several threads; one file is fetched once.
Status symbol_find(SymbolPath *path, const SymbolId *id, Progress *progress, Arena *arena,
                   SymbolResult *out, Err *err) MUST_USE;
// The same for many, with up to LIMIT_SYMBOL_TRANSFERS at once.
Status symbol_find_many(SymbolPath *path, const SymbolId *ids, size_t count, Progress *progress,
                        Arena *arena, SymbolResult *results) MUST_USE;

// The file of this name in the folder of another, without regard to ASCII case; empty: none.
// Nothing is proved yet.
Str symbol_beside(Str file, Str name, Arena *arena);

// A file of this name somewhere on the path, whatever its identity.
typedef struct SymbolCandidate {
    Str path;
    Str folder_key; // name of its folder in a store ("searched as"); empty in plain folders
    Str redirect;   // target of a file.ptr; empty
    bool readable;
    bool compressed; // cabinet or MSFZ
    Guid guid;
    uint32_t age; // of the link; the image's
    Str detail;   // why it is not readable
} SymbolCandidate;
// Up to `max` files named `name` in folders and stores; no server is asked.
size_t symbol_candidates(SymbolPath *path, Str name, Arena *arena, SymbolCandidate *out,
                         size_t max);

#endif
