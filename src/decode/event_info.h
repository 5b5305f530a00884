// Event metadata that mergers embed: TRACE_EVENT_INFO and EVENT_MAP_INFO
// (docs/formats/etl.md, 5.1).
#ifndef DECODE_EVENT_INFO_H
#define DECODE_EVENT_INFO_H

#include "decode/fields.h"

typedef struct EventInfo {
    Guid provider, event_guid;
    uint16_t id;
    uint8_t version, opcode;
    uint32_t source; // 0 manifest, 1 MOF class, 2 WPP, 3 TraceLogging
    Str provider_name, task_name, opcode_name, event_name;
} EventInfo;

// Identity and names. False when it is no such structure.
bool event_info_read(Str bytes, Arena *arena, EventInfo *out);
// The map named `name` of a provider in the trace; NULL: none. Bytes of an EVENT_MAP_INFO.
typedef Str (*FindMap)(void *context, const Guid *provider, Str name);
// The fields. False when the structure is damaged; fields before the damage are there.
bool event_info_layout(Str bytes, FindMap find_map, void *context, Arena *arena,
                       FieldsLayout *layout);
// Name of an EVENT_MAP_INFO (trimmed), and its entries.
Str event_map_name(Str bytes, Arena *arena);
bool event_map_read(Str bytes, Arena *arena, FieldsMap *map);
uint8_t type_from_tdh(uint16_t in_type); // FieldsType; IN_OPAQUE when unknown

#endif
