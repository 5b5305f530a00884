// What SQL finds by name: a view for each table, and the views, macros and derived tables of
// sql/views/*.sql. Creating them all costs tens of milliseconds, so each is created when a
// statement first names it (or names one that needs it).
#ifndef STORE_VIEWS_H
#define STORE_VIEWS_H

#include "base/map.h"
#include "store/duck.h"
#include "store/manifest.h"

typedef enum ViewState { VIEW_WAITING, VIEW_CREATING, VIEW_CREATED } ViewState;
typedef struct View {
    Str name;
    Str sql;       // its CREATE statement
    bool computed; // a table: creating it runs its query
    bool base;     // over files: names nothing else, whatever the words of their paths
    ViewState state;
} View;

// In an arena that outlives it; not thread-safe.
typedef struct Views {
    VEC(View) items;
    StrMap index; // lower-case name -> index
    Arena *arena;
} Views;

// Declares the tables of a database, then the statements of sql/views (built in, or from
// sql_folder).
Status views_load(Views *views, const Manifest *manifest, Str sql_folder, Arena *arena, Err *err);
// Declares the statements of one SQL file.
Status views_add_file(Views *views, Str file, Str sql, Err *err);
// Creates what `sql` names and does not exist yet. Taking any word for a name is harmless.
Status views_need(Views *views, duckdb_connection connection, Str sql, Err *err);
// Creates everything but computed tables and what depends on them.
Status views_create_all(Views *views, duckdb_connection connection, Err *err);
void views_done(Views *views);

// Cuts SQL into words: next identifier or keyword (quotes removed), false at the end.
bool sql_word_next(Str *rest, Str *word);
// Is `name` a word of the statement?
bool sql_names(Str sql, Str name);
// Length of the comment that `sql` begins with, or 0.
size_t sql_comment(Str sql);
// Cuts the next statement off *rest, without its ';'; false when only blanks and comments are left.
bool sql_statement_next(Str *rest, Str *statement);

#endif
