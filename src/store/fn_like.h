// LIKE and ILIKE for statements of users, in bounded time.
#ifndef STORE_FN_LIKE_H
#define STORE_FN_LIKE_H

#include "store/duck.h"

// Registers etw_like(text, pattern) and etw_like_escape(text, pattern, escape): what the engine's
// LIKE [ESCAPE] says, NULL in gives NULL out. A call on many long texts that would take more than
// some seconds is an error of the statement.
Status like_functions_register(duckdb_connection connection, Err *err);

// Whether the whole text fits: % is any run of characters, _ one character, and what follows
// `escape` (0: none) itself. *steps counts the work, about the comparisons.
typedef enum LikeResult { LIKE_NO, LIKE_YES, LIKE_BAD_ESCAPE, LIKE_TOO_LONG } LikeResult;
LikeResult like_match(Str text, Str pattern, char escape, uint64_t *steps);

#endif
