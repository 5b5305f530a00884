// The parts of event headers whose shape varies (extended.c).
#ifndef ETL_EVENT_PARTS_H
#define ETL_EVENT_PARTS_H

#include "etl/etl_internal.h"

// event->payload holds items and payload; leaves the payload. False when the items are damaged:
// the sound ones in front are kept, the payload is empty then.
bool extended_read(EtlEvent *event);

// event->payload holds everything behind the 8-byte head. False when the optional fields do not
// fit.
bool message_read(EtlEvent *event, bool *has_ticks, int64_t *ticks);
// Offset of the timestamp of a message with these option flags; 0 when it has none.
size_t message_ticks_at(unsigned option_flags);

#endif
