// Writes captured frames as pcapng (version 1.0): one section, an interface per place and link
// type, an enhanced packet block per frame with nanoseconds UTC, direction, packet id, drop
// verdict and a comment.
#ifndef TOOLS_PCAPNG_H
#define TOOLS_PCAPNG_H

#include "base/os.h"

typedef struct Pcapng {
    FileWriter *writer;
    Buf block; // under construction
    unsigned interfaces;
} Pcapng;

typedef struct PcapngFrame {
    unsigned interface; // as pcapng_interface gave it
    uint64_t unix_ns;   // since 1970-01-01 UTC
    uint32_t original;  // bytes on the wire
    Str bytes;          // captured
    int direction;      // 0 unknown, 1 inbound, 2 outbound
    Str comment;        // UTF-8; empty: none
    bool has_id;        // the same wherever the packet is seen
    uint64_t id;
    bool dropped; // with the capture's numbers of why and where
    uint32_t drop_reason, drop_location;
} PcapngFrame;

enum { PCAPNG_ETHERNET = 1, PCAPNG_RAW_IP = 101, PCAPNG_WIFI = 105 };

Status pcapng_open(Pcapng *out, Str path, Str application, Str comment, Err *err);
Status pcapng_interface(Pcapng *pcapng, Str name, unsigned link_type, unsigned *number, Err *err);
Status pcapng_frame(Pcapng *pcapng, const PcapngFrame *frame, Err *err);
Status pcapng_finish(Pcapng *pcapng, Err *err);
void pcapng_done(Pcapng *pcapng); // also after a failure

#endif
