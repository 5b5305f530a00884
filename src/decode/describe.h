// Names of an event class, and where its fields come from: the kernel layouts, the schema it
// carries (TraceLogging), metadata in the trace, built-in or user manifests.
#ifndef DECODE_DESCRIBE_H
#define DECODE_DESCRIBE_H

#include "decode/class.h"
#include "decode/world.h"

typedef struct ClassDescription { // p == NULL: unknown
    Str provider_name, event_name, task_name, opcode_name;
    Str decoded_by; // kernel, tracelogging, embedded, eventsource, builtin ..., or "none: why"
    Str table_name; // typed table of its rows
    Str schema;     // bytes that decode its payload later without the trace file
} ClassDescription;

typedef struct Describer Describer;
Describer *describer_open(const World *world);
void describer_close(Describer *describer);
AUTO_DEFINE(Describer *, describer_close)
void describe_class(Describer *describer, const EventClass *class, Arena *arena,
                    ClassDescription *out);

#endif
