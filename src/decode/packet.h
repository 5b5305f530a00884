// Captured frames: link layer, IP, transport, and what the first payload bytes say of the
// application. Reads any bytes; a header that did not arrive whole gives no fields.
//
// One decoder serves two uses: Packet holds what analyses join on, and the optional PacketOut
// prints every field of every layer, as JSON or as text. Inner headers of tunnels and of ICMP
// errors are printed as further layers (depth 1 and up); Packet describes the outer ones.
#ifndef DECODE_PACKET_H
#define DECODE_PACKET_H

#include "decode/spec.h"

// Where the bytes start; the numbers are those of PktMon's PacketType.
typedef enum PacketMedia {
    MEDIA_UNKNOWN = 0, // read as Ethernet
    MEDIA_ETHERNET = 1,
    MEDIA_WIFI = 2,
    MEDIA_IP = 3,
    MEDIA_TCP = 5,
    MEDIA_UDP = 6,
    MEDIA_ARP = 7,
    MEDIA_ICMP = 8,
    MEDIA_ESP = 9,
    MEDIA_AH = 10,
} PacketMedia;

typedef struct PacketInput {
    Str bytes;
    unsigned media;
    uint32_t original; // length on the wire; 0: not recorded
    bool sent;         // checksums of sent frames are often left to the card
} PacketInput;

enum PacketTcpFlag { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };
enum { PACKET_NAME_MAX = 255, PACKET_CID_MAX = 20 };

typedef struct Packet {
    uint32_t wire_length; // what was on the wire, as far as is known
    bool has_ethernet;
    uint8_t eth_dst[6], eth_src[6];
    bool has_vlan;
    uint16_t vlan_id;
    uint16_t ether_type; // behind the tags; 0: unknown
    uint8_t ip_version;  // 0: no IP header
    uint8_t ip_proto;    // of the transport header
    uint8_t src[16], dst[16];
    uint32_t ip_id;     // of IPv4, or of the fragment header
    uint32_t ip_length; // header and payload, from the header
    bool dont_fragment, more_fragments;
    uint32_t fragment_offset; // bytes
    bool has_ports;           // the transport header was there
    uint16_t sport, dport;
    bool has_icmp;
    uint8_t icmp_type, icmp_code;
    uint32_t seq, ack; // TCP
    uint16_t window;
    uint8_t flags;
    int8_t window_scale;            // -1: not in this segment
    uint16_t checksum;              // of TCP or UDP
    uint32_t payload_length;        // of TCP or UDP, from the headers
    Str payload;                    // as captured
    const char *truncated_at;       // layer that did not arrive whole; NULL: none
    const char *malformed;          // layer that contradicts itself; NULL: none
    const char *application;        // "TLS", "HTTP", "DNS", "QUIC"; NULL: unknown
    char name[PACKET_NAME_MAX + 1]; // server name of TLS, question of DNS; printable ASCII
    uint8_t dcid[PACKET_CID_MAX], scid[PACKET_CID_MAX]; // QUIC long header
    uint8_t dcid_bytes, scid_bytes;
    uint32_t quic_version; // of a long header
} Packet;

typedef struct PacketOut {
    Buf *out;
    bool json; // else one line a layer
    // Inside:
    bool open, first;
    unsigned depth;
} PacketOut;

void packet_decode(const PacketInput *input, Packet *packet, PacketOut *out);

// "tcp", "udp", "icmp", "icmpv6", "arp", "proto-N", "undecoded".
enum { PACKET_PROTOCOL_SIZE = 16 };
Str packet_protocol(const Packet *packet, char *out);
// "10.0.0.1:1234 -> 10.0.0.2:80/tcp", "[fe80::1]:1 -> [fe80::2]:2/udp", "10.0.0.1
// -> 10.0.0.2/icmp".
enum { PACKET_TUPLE_SIZE = 2 * IP_TEXT_SIZE + 40 };
Str packet_tuple(const Packet *packet, char *out);
Str packet_address(const Packet *packet, bool destination, char *out); // IP_TEXT_SIZE
// "FIN,SYN,RST,PSH,ACK,URG,ECE,CWR", those that are set; "" for none.
enum { PACKET_FLAGS_SIZE = 40 };
Str packet_flags(uint8_t flags, char *out);

// The whole as {"layers":[{"layer":"eth","eth.dst":...}, ...]} or one line a layer.
void packet_print(const PacketInput *input, bool json, Buf *out);

#endif
