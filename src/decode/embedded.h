// The metadata events of a merged trace, indexed.
#ifndef DECODE_EMBEDDED_H
#define DECODE_EMBEDDED_H

#include "base/map.h"
#include "decode/event_info.h"
#include "decode/world.h"

typedef struct Embedded {
    Arena arena;
    StrMap infos; // identity -> index + 1 of a kept event
    StrMap maps;  // provider and name
    StrMap names; // provider -> index of `texts` + 1
    KeptList info_list, map_list;
    VEC(Str) texts;
} Embedded;

void embedded_open(Embedded *embedded, const World *world);
void embedded_done(Embedded *embedded);
// TRACE_EVENT_INFO of a manifest event (its id) or of a classic one (its opcode); p == NULL: none.
Str embedded_info(const Embedded *embedded, bool classic, const Guid *provider, uint16_t id,
                  uint8_t version);
// For event_info_layout: `context` is the Embedded.
Str embedded_map(void *context, const Guid *provider, Str name);
// Name that any of a provider's metadata gives it.
Str embedded_provider_name(const Embedded *embedded, const Guid *provider);

#endif
