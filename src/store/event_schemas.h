// Schemas of a trace's event classes for SQL: loaded when a statement first needs one, then shared
// by every instance over the same database. The functions (fn_event_fields.c):
//
//   event_fields(class_id, payload [, pid])   all fields as JSON text
//   event_field_i64 / _u64 / _f64 / _text(class_id, payload, name)   one field; NULL: not there
//   event_field_names(class_id)               "Name, Name, ..."; NULL: no schema
#ifndef STORE_EVENT_SCHEMAS_H
#define STORE_EVENT_SCHEMAS_H

#include "decode/fields.h"
#include "store/store.h"

#include <duckdb.h>

typedef struct EventSchemas EventSchemas;

typedef struct EventSchema {
    const FieldsSchema *schema; // NULL: none
    Str why;                    // event_class.decoded_by
} EventSchema;

// Reads nothing yet. `database` outlives it.
EventSchemas *event_schemas_open(Database *database);
void event_schemas_close(EventSchemas *schemas); // accepts NULL
// Thread-safe; the first call reads event_class.
Status event_schemas_need(EventSchemas *schemas, Err *err);
// After event_schemas_need. An unknown class has no schema.
EventSchema event_schema_of(const EventSchemas *schemas, uint32_t class_id);

// Makes the functions known to an instance. `schemas` outlives it.
Status event_functions_register(duckdb_connection connection, EventSchemas *schemas, Err *err);

#endif
