// What the parts of an open database share; src/store only.
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "store/duck.h"
#include "store/event_schemas.h"
#include "store/manifest.h"
#include "store/views.h"

struct Session {
    Database *database;
    duckdb_connection connection;
    atomic_bool interrupted;
    Session *next; // while idle
};

struct Database {
    Arena arena;
    Manifest manifest;
    DatabaseOptions options;
    Str marker; // says to writers that the files are in use
    duckdb_database duck;
    Mutex views_lock; // guards views
    Views views;
    EventSchemas *schemas; // shared with the instances of user queries
    Mutex lock;            // guards idle
    Session *idle;
};

#endif
