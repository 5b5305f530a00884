// Self-describing events (docs/formats/etl.md, section 5): a short list of typed fields becomes a
// payload, a TRACE_EVENT_INFO, or a TraceLogging schema.
#ifndef SUPPORT_ETL_BUILD_META_H
#define SUPPORT_ETL_BUILD_META_H

#include "support/etl_build.h"
#include "support/etl_build_pay.h"

enum { META_FIELDS_MAX = 64 };

// One field, from text: "NAME:TYPE[/OPTION=VALUE...][:VALUE]".
//   types: u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 bool wstr astr guid ptr filetime systemtime sid
//          hex32 hex64 bin cwstr castr cbin struct
//   u32[] array with its count in the payload (TraceLogging); u32[3] constant count
//   struct/fields=2  the two fields that follow are its members
//   options: out=N map=NAME count=N|FIELD len=N|FIELD tags=N
// Lists of values are separated by ','.
typedef struct MetaField {
    Str name, value, map;
    uint16_t type; // code of manifests; TraceLogging uses the same numbers
    uint16_t out_type;
    bool has_out;
    bool is_array, variable;
    uint16_t count; // of a constant array
    Str count_field, length_field;
    uint16_t length;
    uint16_t members; // of a struct
    uint32_t tags;
} MetaField;

Status meta_field_parse(Str text, MetaField *out, Err *err);
// Appends the values. Counted forms are used for TraceLogging's binary.
Status meta_put_values(Pay *pay, unsigned pointer_size, const MetaField *fields, size_t count,
                       bool tracelogging, Err *err);

typedef struct MetaEvent {
    Guid provider, event_guid;
    uint16_t id, task;
    uint8_t version, channel, level, opcode;
    uint64_t keyword;
    Str provider_name, level_name, channel_name, keyword_names, task_name, opcode_name, message,
        event_name;
    const MetaField *fields;
    size_t field_count;
} MetaEvent;

void meta_put_event_info(Pay *pay, const MetaEvent *event);
typedef struct MetaMap {
    Guid provider;
    Str name;
    bool bits;          // combined by or, not one of them
    const Str *entries; // "VALUE:TEXT" each
    size_t count;
} MetaMap;

Status meta_put_map_info(Pay *pay, const MetaMap *map, Err *err);
void meta_put_schema(Pay *pay, Str event_name, uint32_t tags, const MetaField *fields,
                     size_t count);
void meta_put_traits(Pay *pay, Str provider_name, const Guid *group);

#endif
