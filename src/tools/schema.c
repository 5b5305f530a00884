// JSON schemas of a tool: what tools/list says about its arguments and its structured reply. Plain
// types only, since some clients refuse unions and type lists; null is accepted all the same.
#include "tools/catalog.h"

#include <math.h>

static void put(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value);
}

static json_t *json_from_double(double value) {
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

static const char *schema_type(ParamType type) {
    switch (type) {
    case PARAM_INTEGER: return "integer";
    case PARAM_NUMBER: return "number";
    case PARAM_BOOLEAN: return "boolean";
    case PARAM_LIST: return "array";
    case PARAM_TEXT:
    case PARAM_FILTER:
    case PARAM_ENUM:
    case PARAM_CPUSET: return "string";
    }
    return "string";
}

static json_t *default_value(const Param *param, Arena *arena) {
    double number = 0;
    if (param->type == PARAM_INTEGER || param->type == PARAM_NUMBER)
        return str_to_f64(param->default_text, &number) ? json_from_double(number) : NULL;
    if (param->type == PARAM_BOOLEAN) return json_boolean(str_eq(param->default_text, STR("true")));
    return format_json_text(param->default_text, arena);
}

static json_t *param_schema(const Param *param, Arena *arena) {
    json_t *schema = json_object();
    put(schema, "type", json_string(schema_type(param->type)));
    if (param->type == PARAM_LIST) put(schema, "items", json_pack("{s:s}", "type", "string"));
    if (param->choice_count) {
        json_t *choices = json_array();
        for (size_t i = 0; i < param->choice_count; i++)
            (void)json_array_append_new(choices, format_json_text(param->choices[i], arena));
        put(schema, "enum", choices);
    }
    if (param->has_min) put(schema, "minimum", json_from_double(param->min));
    if (param->has_max) put(schema, "maximum", json_from_double(param->max));
    json_t *value = param->has_default ? default_value(param, arena) : NULL;
    if (value) put(schema, "default", value);
    // Most tools have these, and the instructions explain them once: the list has a size to keep.
    bool known = param->is_cap || param->is_window || str_eq(param->name, STR("trace_id"));
    if (!known) put(schema, "description", format_json_text(param->about, arena));
    return schema;
}

json_t *tool_input_schema(const Tool *tool, Arena *arena) {
    json_t *schema = json_object(), *properties = json_object(), *required = json_array();
    put(schema, "type", json_string("object"));
    for (size_t i = 0; i < tool->param_count; i++) {
        const Param *param = &tool->params[i];
        char *name = str_to_c(arena, param->name);
        put(properties, name, param_schema(param, arena));
        if (param->required) (void)json_array_append_new(required, json_string(name));
    }
    if (json_object_size(properties))
        put(schema, "properties", properties);
    else
        json_decref(properties);
    if (json_array_size(required))
        put(schema, "required", required);
    else
        json_decref(required);
    put(schema, "additionalProperties", json_false());
    return schema;
}

static json_t *array_of(const char *type) {
    return json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", type);
}

static json_t *rows_schema(void) {
    json_t *schema =
        json_pack("{s:s,s:{s:s,s:{}}}", "type", "array", "items", "type", "array", "items");
    return schema;
}

// One schema for every tool: columns and rows, never objects, which cost twice the tokens.
json_t *tool_output_schema(void) {
    json_t *section =
        json_pack("{s:s,s:{s:{s:s},s:{s:s},s:o,s:o,s:{s:s}}}", "type", "object", "properties",
                  "name", "type", "string", "heading", "type", "string", "columns",
                  array_of("string"), "rows", rows_schema(), "row_count", "type", "integer");
    json_t *properties = json_object();
    put(properties, "title", json_pack("{s:s}", "type", "string"));
    put(properties, "scope", json_pack("{s:s}", "type", "object"));
    put(properties, "columns", array_of("string"));
    put(properties, "rows", rows_schema());
    put(properties, "row_count", json_pack("{s:s}", "type", "integer"));
    put(properties, "sections", json_pack("{s:s,s:o}", "type", "array", "items", section));
    put(properties, "notes", array_of("string"));
    put(properties, "truncated", json_pack("{s:s}", "type", "boolean"));
    put(properties, "next", array_of("string"));
    return json_pack("{s:s,s:o}", "type", "object", "properties", properties);
}
