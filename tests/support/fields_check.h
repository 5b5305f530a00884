// What must hold for any schema and any payload: the output is JSON, and asking for single fields
// works and agrees with it. For fuzz targets and tests with hostile input.
#ifndef SUPPORT_FIELDS_CHECK_H
#define SUPPORT_FIELDS_CHECK_H

#include "decode/fields.h"

#include <jansson.h>

// False when the bytes are no schema.
static inline bool fields_check(Str bytes, Str payload) {
    AUTO(arena_done) Arena arena = {0}, scratch = {0};
    AUTO(buf_done) Buf json = {0}, names = {0};
    const FieldsSchema *schema = schema_parse(bytes, &arena);
    if (!schema) return false;
    FieldsReport report;
    fields_json(schema, payload, ETL_NO_ID, &scratch, &json, &report);
    INVARIANT(json.n < 2 * LIMIT_EVENT_JSON_BYTES);
    json_t *object = json_loadb(json.p, json.n, JSON_ALLOW_NUL, NULL);
    INVARIANT(json_is_object(object));
    INVARIANT(report.extra_bytes <= payload.n);
    fields_list(schema, &names);
    Str rest = buf_str(&names), name;
    for (unsigned i = 0; i < 64 && str_next(&rest, ',', &name); i++) {
        FieldsValue value =
            fields_value(schema, payload, ETL_NO_ID, str_trim(name), true, &scratch);
        INVARIANT(value.kind <= FIELDS_TEXT);
    }
    json_decref(object);
    return true;
}

static inline void layout_check(const FieldsLayout *layout, Str payload) {
    for (unsigned pointer_size = 4; pointer_size <= 8; pointer_size += 4) {
        AUTO(buf_done) Buf schema = {0};
        schema_begin(&schema, pointer_size);
        schema_add(&schema, layout);
        (void)fields_check(buf_str(&schema), payload);
    }
}

// The first two bytes say how long the first part is.
static inline Str first_part(const uint8_t *data, size_t size, Str *second) {
    Rd r = rd_from(data, size);
    size_t n = rd_u16(&r);
    if (n > rd_left(&r)) n = rd_left(&r);
    Str first = rd_bytes(&r, n);
    *second = rd_bytes(&r, rd_left(&r));
    return first;
}

#endif
