// event_fields() and its kin as scalar functions of SQL. Arguments come as flat vectors; NULL in
// gives NULL out. What a function keeps between rows lives on its stack, so any number of threads
// may run it.
#include "store/duck.h"
#include "store/event_schemas.h"
#include "store/fn_vector.h"

typedef enum FieldFunction {
    FN_JSON,
    FN_JSON_PID,
    FN_I64,
    FN_U64,
    FN_F64,
    FN_TEXT,
    FN_NAMES,
} FieldFunction;

static void on_bind(duckdb_bind_info info) {
    Err err = {0};
    EventSchemas *schemas = duckdb_scalar_function_bind_get_extra_info(info);
    if (event_schemas_need(schemas, &err) != OK)
        duckdb_scalar_function_bind_set_error(info, err.text);
}

static void run_json(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    const EventSchemas *schemas = duckdb_scalar_function_get_extra_info(info);
    InColumn ids = in_column(input, 0), payloads = in_column(input, 1), pids = {0};
    bool has_pid = duckdb_data_chunk_get_column_count(input) > 2;
    if (has_pid) pids = in_column(input, 2);
    AUTO(arena_done) Arena scratch = {0};
    AUTO(buf_done) Buf json = {0};
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        if (in_is_null(&ids, row) || in_is_null(&payloads, row)) {
            out_null(output, row);
            continue;
        }
        uint32_t pid = ETL_NO_ID;
        if (has_pid && !in_is_null(&pids, row)) pid = ((const uint32_t *)pids.data)[row];
        EventSchema class = event_schema_of(schemas, ((const uint32_t *)ids.data)[row]);
        FieldsReport report;
        Str payload = in_text(&payloads, row);
        buf_clear(&json);
        if (class.schema) {
            if (scratch.used_bytes) arena_clear(&scratch);
            fields_json(class.schema, payload, pid, &scratch, &json, &report);
        } else {
            fields_raw_json(payload, class.why, &json);
        }
        out_text(output, row, buf_str(&json));
    }
}

static bool set_value(duckdb_vector output, void *data, idx_t row, FieldFunction function,
                      const FieldsValue *value) {
    bool number = value->kind == FIELDS_I64 || value->kind == FIELDS_U64;
    switch (function) {
    case FN_I64:
        ((int64_t *)data)[row] = value->i64;
        return value->kind == FIELDS_I64 || (value->kind == FIELDS_U64 && value->i64 >= 0);
    case FN_U64: ((uint64_t *)data)[row] = value->u64; return number;
    case FN_F64: ((double *)data)[row] = value->f64; return number || value->kind == FIELDS_F64;
    case FN_TEXT:
        if (value->kind == FIELDS_NONE) return false;
        out_text(output, row, value->text);
        return true;
    case FN_JSON:
    case FN_JSON_PID:
    case FN_NAMES: return false;
    }
    return false;
}

// What the last rows of a class asked for: most chunks hold a few classes and one name.
typedef struct PlaceSlot {
    uint32_t class_id; // 0: free
    bool fixed;
    FieldsPlace place;
} PlaceSlot;
typedef struct Places {
    Str name; // of all slots
    PlaceSlot slots[16];
} Places;

static const PlaceSlot *place_of(Places *places, uint32_t class_id, const EventSchema *class,
                                 Str name) {
    if (places->name.n != name.n || memcmp(places->name.p, name.p, name.n) != 0)
        *places = (Places){.name = name};
    PlaceSlot *slot = &places->slots[class_id % COUNT_OF(places->slots)];
    if (slot->class_id != class_id) {
        *slot = (PlaceSlot){.class_id = class_id};
        slot->fixed = class->schema && fields_place(class->schema, name, &slot->place);
    }
    return slot;
}

static void run_field(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output,
                      FieldFunction function) {
    const EventSchemas *schemas = duckdb_scalar_function_get_extra_info(info);
    InColumn ids = in_column(input, 0), payloads = in_column(input, 1), names = in_column(input, 2);
    void *data = duckdb_vector_get_data(output);
    Places places = {.name = STR("")};
    AUTO(arena_done) Arena scratch = {0};
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        if (in_is_null(&ids, row) || in_is_null(&payloads, row) || in_is_null(&names, row)) {
            out_null(output, row);
            continue;
        }
        uint32_t class_id = ((const uint32_t *)ids.data)[row];
        Str payload = in_text(&payloads, row), name = in_text(&names, row);
        EventSchema class = event_schema_of(schemas, class_id);
        FieldsValue value = {0};
        const PlaceSlot *slot =
            function != FN_TEXT && class_id ? place_of(&places, class_id, &class, name) : NULL;
        if (slot && slot->fixed) {
            value = fields_at(&slot->place, payload);
        } else if (class.schema) {
            if (scratch.used_bytes) arena_clear(&scratch);
            value =
                fields_value(class.schema, payload, ETL_NO_ID, name, function == FN_TEXT, &scratch);
        }
        if (!set_value(output, data, row, function, &value)) out_null(output, row);
    }
}

#define FIELD_FUNCTION(name, function)                                                             \
    static void name(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {   \
        run_field(info, input, output, function);                                                  \
    }
FIELD_FUNCTION(run_i64, FN_I64)
FIELD_FUNCTION(run_u64, FN_U64)
FIELD_FUNCTION(run_f64, FN_F64)
FIELD_FUNCTION(run_text, FN_TEXT)

static void run_names(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    const EventSchemas *schemas = duckdb_scalar_function_get_extra_info(info);
    InColumn ids = in_column(input, 0);
    AUTO(buf_done) Buf text = {0};
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        EventSchema class = {0};
        if (!in_is_null(&ids, row))
            class = event_schema_of(schemas, ((const uint32_t *)ids.data)[row]);
        if (!class.schema) {
            out_null(output, row);
            continue;
        }
        buf_clear(&text);
        fields_list(class.schema, &text);
        out_text(output, row, buf_str(&text));
    }
}

static const struct {
    const char *name;
    FieldFunction function;
    duckdb_type second; // DUCKDB_TYPE_INVALID: one argument
    duckdb_type third;  // DUCKDB_TYPE_INVALID: no third
    duckdb_type result;
    duckdb_scalar_function_t run;
} FUNCTIONS[] = {
    {"event_fields",      FN_JSON,     DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_INVALID,  DUCKDB_TYPE_VARCHAR, run_json},
    {"event_fields",      FN_JSON_PID, DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_VARCHAR,
     run_json                                                                                                  },
    {"event_field_i64",   FN_I64,      DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_VARCHAR,  DUCKDB_TYPE_BIGINT,  run_i64 },
    {"event_field_u64",   FN_U64,      DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_VARCHAR,  DUCKDB_TYPE_UBIGINT,
     run_u64                                                                                                   },
    {"event_field_f64",   FN_F64,      DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_VARCHAR,  DUCKDB_TYPE_DOUBLE,  run_f64 },
    {"event_field_text",  FN_TEXT,     DUCKDB_TYPE_BLOB,    DUCKDB_TYPE_VARCHAR,  DUCKDB_TYPE_VARCHAR,
     run_text                                                                                                  },
    {"event_field_names", FN_NAMES,    DUCKDB_TYPE_INVALID, DUCKDB_TYPE_INVALID,  DUCKDB_TYPE_VARCHAR,
     run_names                                                                                                 },
};

static duckdb_scalar_function function_make(size_t index, EventSchemas *schemas) {
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_scalar_function_set_name(function, FUNCTIONS[index].name);
    scalar_add_parameter(function, DUCKDB_TYPE_UINTEGER);
    if (FUNCTIONS[index].second != DUCKDB_TYPE_INVALID)
        scalar_add_parameter(function, FUNCTIONS[index].second);
    if (FUNCTIONS[index].third != DUCKDB_TYPE_INVALID)
        scalar_add_parameter(function, FUNCTIONS[index].third);
    duckdb_logical_type result = duckdb_create_logical_type(FUNCTIONS[index].result);
    duckdb_scalar_function_set_return_type(function, result);
    duckdb_destroy_logical_type(&result);
    // The pid may be unknown while the payload is there.
    if (FUNCTIONS[index].function == FN_JSON_PID)
        duckdb_scalar_function_set_special_handling(function);
    duckdb_scalar_function_set_extra_info(function, schemas, NULL);
    duckdb_scalar_function_set_bind(function, on_bind);
    duckdb_scalar_function_set_function(function, FUNCTIONS[index].run);
    return function;
}

// Functions of one name stand together in the list and become one set.
Status event_functions_register(duckdb_connection connection, EventSchemas *schemas, Err *err) {
    for (size_t i = 0; i < COUNT_OF(FUNCTIONS);) {
        const char *name = FUNCTIONS[i].name;
        duckdb_scalar_function_set set = duckdb_create_scalar_function_set(name);
        duckdb_state state = DuckDBSuccess;
        for (; i < COUNT_OF(FUNCTIONS) && strcmp(FUNCTIONS[i].name, name) == 0; i++) {
            duckdb_scalar_function function = function_make(i, schemas);
            if (duckdb_add_scalar_function_to_set(set, function) != DuckDBSuccess)
                state = DuckDBError;
            duckdb_destroy_scalar_function(&function);
        }
        if (state == DuckDBSuccess) state = duckdb_register_scalar_function_set(connection, set);
        duckdb_destroy_scalar_function_set(&set);
        if (state != DuckDBSuccess)
            return err_set(err, ERR_INTERNAL, "the SQL engine refuses the function %s", name);
    }
    return OK;
}
