// What the parts of the packet decoder share.
#ifndef DECODE_PACKET_INTERNAL_H
#define DECODE_PACKET_INTERNAL_H

#include "decode/packet.h"

typedef struct Walk {
    Packet *packet;
    PacketOut *out; // may be NULL
    bool sent;
    unsigned depth;
    // Of the IP header being read, for the transport's pseudo header:
    uint32_t upper_length; // bytes behind the IP header by its own length
    bool whole;            // all of them were captured
} Walk;

// packet_print.c: no-ops without an output.
void show_layer(Walk *walk, const char *layer);
void show_number(Walk *walk, const char *key, uint64_t value);
void show_hex(Walk *walk, const char *key, uint64_t value);
void show_text(Walk *walk, const char *key, Str text);
void show_c(Walk *walk, const char *key, const char *text);
void show_mac(Walk *walk, const char *key, const uint8_t *mac);
void show_ip(Walk *walk, const char *key, unsigned version, const uint8_t *address);
void show_bytes(Walk *walk, const char *key, Str bytes);
void show_end(Walk *walk); // of the last layer

static inline void cut_at(Walk *walk, const char *layer) {
    if (!walk->packet->truncated_at && !walk->packet->malformed) walk->packet->truncated_at = layer;
}
static inline void wrong_at(Walk *walk, const char *layer) {
    if (!walk->packet->truncated_at && !walk->packet->malformed) walk->packet->malformed = layer;
}

// packet.c
void walk_ether_type(Walk *walk, Rd *r, unsigned type);
void walk_ip(Walk *walk, Rd *r);
void walk_ethernet(Walk *walk, Rd *r);
// Decodes inner headers as further layers; the packet keeps the outer ones.
typedef void (*WalkInner)(Walk *walk, Rd *r);
void walk_inner(Walk *walk, Rd *r, WalkInner inner);
// packet_upper.c: what IP carries. `r` holds what was captured of it.
void walk_upper(Walk *walk, Rd *r, unsigned protocol);
// packet_app.c
void walk_tcp_payload(Walk *walk, Str payload);
void walk_udp_payload(Walk *walk, Str payload);

#endif
