// What the symbol_*.c files share; nobody else includes it.
#ifndef SYM_SYMBOL_INTERNAL_H
#define SYM_SYMBOL_INTERNAL_H

#include "base/limits.h"
#include "base/map.h"
#include "base/os.h"
#include "sym/symbol_path.h"

#include <inttypes.h>

typedef struct Http Http;

typedef VEC(SymbolPlace) Places;
typedef VEC(Str) Strs;

struct SymbolPath {
    Arena arena;
    SymbolPathOptions options;
    Str default_store;
    Places places;
    Http *http;
    Mutex mutex; // guards what follows
    Condition changed;
    Strs in_flight; // keys being fetched
    StrMap missing; // "URL of the leaf" -> seconds since 1970 of the answer
    Arena missing_keys;
    bool missing_changed;
    unsigned part_counter;
};

// One search in progress.
typedef struct Search {
    SymbolPath *path;
    const SymbolId *id;
    Str key;
    Arena *arena;
    Progress *progress;
    SymbolResult *result;
    VEC(SymbolAttempt) attempts;
    bool saw_mismatch, saw_damage, saw_network_error, saw_definite_no, saw_skipped;
    Str mismatch_detail, damage_detail, network_detail;
} Search;

void search_note(Search *s, Str location, SymbolOutcome outcome, Str detail, long http_status);
bool search_cancelled(const Search *s);

// Whether the bytes of a file prove the identity: SYMBOL_CACHED, SYMBOL_MISMATCH or SYMBOL_DAMAGED.
SymbolOutcome symbol_verify(Str file, const SymbolId *id, Err *why);

// Path of `name` in `folder`, matched without regard to ASCII case; empty when there is none.
Str store_child(Str folder, Str name, Arena *arena);
// Looks in one store or folder; on success sets result->path and outcome.
bool store_search(Search *s, size_t place);
bool folder_search(Search *s, size_t place);
// Puts a verified or still unverified file into the stores left of `place` and returns the path in
// the leftmost one; empty when none could be written. `packed`: the file is a cabinet.
Str store_install(Search *s, size_t place, Str file, bool packed);
// Folder that holds, or is to hold, the file in this store.
Str store_leaf(Str root, const SymbolId *id, Str key, Arena *arena);
Str store_part_path(SymbolPath *path, Str folder, Str name, Arena *arena);
Str packed_name(Str name, Arena *arena); // last letter becomes '_'

// Asks one server.
bool server_search(Search *s, size_t place);
bool missing_is_known(SymbolPath *path, Str leaf_url);
void missing_add(SymbolPath *path, Str leaf_url);
void missing_load(SymbolPath *path);
void missing_save(SymbolPath *path);

// One GET into a new file.
typedef enum HttpOutcome {
    HTTP_OK,
    HTTP_NO,       // 404, 410: it is not there
    HTTP_REFUSED,  // 401, 403
    HTTP_FAILED,   // anything that may work another time
    HTTP_BAD_BODY, // 200, but not a symbol file: a sign-in page
    HTTP_TOO_LARGE,
    HTTP_STOPPED,      // cancelled
    HTTP_OPEN_CIRCUIT, // not asked: the server failed too often just before
} HttpOutcome;

typedef struct HttpAnswer {
    HttpOutcome outcome;
    long status;
    uint64_t bytes;
    Str detail; // in the arena given
} HttpAnswer;

Status http_open(const SymbolPathOptions *options, Http **out, Err *err) MUST_USE;
void http_close(Http *http);
// `small`: a text of at most LIMIT_FILE_PTR_BYTES (file.ptr) instead of a symbol file.
HttpAnswer http_get(Http *http, Str url, Str file, bool small, Progress *progress, Arena *arena);

#endif
