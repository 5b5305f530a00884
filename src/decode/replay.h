// Every event of a file in time order, straight from its buffers: a merge of the streams. Holds one
// buffer for each stream that is under way, whatever the size of the file.
#ifndef DECODE_REPLAY_H
#define DECODE_REPLAY_H

#include "etl/etl.h"

typedef struct Replay Replay;

Replay *replay_open(EtlFile *file);
void replay_close(Replay *replay); // accepts NULL
AUTO_DEFINE(Replay *, replay_close)
// The next event and its seq (as in the tables), valid until the next call. *end: there are no
// more. An error is an unreadable file; damage is skipped.
Status replay_next(Replay *replay, EtlEvent *event, uint64_t *seq, bool *end, Err *err);

#endif
