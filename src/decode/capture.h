// Captured frames: what NDIS-PacketCapture, Ras-NdisWan and PktMon record of packets, with what
// the headers say. Decoded once, at load: analyses then read columns and no payload.
#ifndef DECODE_CAPTURE_H
#define DECODE_CAPTURE_H

#include "decode/event_rows.h"

// Writes a row of captured_frame when the event is a record of a frame; false when it is none, or
// when it ends inside its layout (which is counted).
bool capture_row(Decoder *decoder, const EtlEvent *event, EventRow of);

#endif
