// Manifests that EventSource providers logged into the trace (docs/formats/etl.md, 5.2).
#ifndef DECODE_EVENTSOURCE_H
#define DECODE_EVENTSOURCE_H

#include "decode/fields_source.h"
#include "decode/world.h"

typedef struct EventSources EventSources;

EventSources *eventsources_open(const World *world);
void eventsources_close(EventSources *sources); // accepts NULL
// One layout, or several with the processes they belong to.
bool eventsources_find(EventSources *sources, const SourceKey *key, Arena *arena,
                       SourceAnswer *answer);
// p == NULL: the provider logged no manifest (that is complete).
Str eventsources_provider_name(EventSources *sources, const Guid *guid);
// The layout of the chunk events themselves.
void eventsources_chunk_layout(FieldsLayout *layout);

#endif
