// TraceLogging: the schema that an event carries (docs/formats/etl.md, section 5.3).
#ifndef DECODE_TRACELOGGING_H
#define DECODE_TRACELOGGING_H

#include "decode/fields.h"

// Reads item 11 into `layout` (empty before; layout_done also after a failure). False when it is
// damaged; what could be read before is in the layout then.
bool tracelogging_layout(Str schema, Arena *arena, FieldsLayout *layout, Str *event_name);
// Provider name and, when there is one, group of item 12.
Str traits_name(Str traits, Arena *arena);
bool traits_group(Str traits, Guid *group);

#endif
