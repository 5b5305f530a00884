// What IP carries: TCP (RFC 9293, 2018, 7323), UDP, ICMP and neighbour discovery, SCTP, ESP, AH,
// GRE, IGMP, IP in IP.
#include "decode/packet_internal.h"

enum {
    ICMP = 1,
    IGMP = 2,
    IPIP = 4,
    TCP = 6,
    UDP = 17,
    IP6_IN = 41,
    GRE = 47,
    ESP = 50,
    AH = 51,
    ICMPV6 = 58,
    SCTP = 132
};

static uint32_t add_words(uint32_t sum, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i += 2) {
        sum += (uint32_t)p[i] << 8 | (i + 1 < n ? p[i + 1] : 0u);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

// With the pseudo header, over the whole segment.
static void show_checksum(Walk *walk, const char *key, const Rd *segment, unsigned protocol,
                          uint16_t stored) {
    const Packet *packet = walk->packet;
    if (!walk->out) return;
    show_hex(walk, key, stored);
    size_t n = (size_t)(segment->end - segment->start);
    const char *verdict = "not verified";
    bool part = packet->more_fragments || packet->fragment_offset;
    if (packet->ip_version && walk->whole && !part && !(protocol == UDP && !stored)) {
        size_t address = packet->ip_version == 4 ? 4 : 16;
        uint32_t sum = add_words(0, packet->src, address);
        sum = add_words(sum, packet->dst, address);
        sum = add_words(sum + protocol + (uint32_t)(n >> 16) + (uint32_t)(n & 0xFFFF),
                        segment->start, n);
        while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
        if (sum == 0xFFFF)
            verdict = "ok";
        else if (!walk->sent && stored)
            verdict = "wrong";
    }
    show_c(walk, protocol == TCP ? "tcp.checksum_status" : "udp.checksum_status", verdict);
}

// ---------------------------------------------------------------- TCP

static void show_sack(Walk *walk, Rd *option) {
    AUTO(buf_done) Buf text = {0};
    while (rd_left(option) >= 8) {
        uint32_t left = rd_be32(option), right = rd_be32(option);
        buf_addf(&text, "%s%u-%u", text.n ? "," : "", left, right);
    }
    show_text(walk, "tcp.sack", buf_str(&text));
}

static void walk_tcp_options(Walk *walk, Rd options) {
    enum { END, NOP, MSS, SCALE, SACK_OK, SACK, TIMESTAMPS = 8 };
    while (rd_left(&options)) {
        unsigned kind = rd_u8(&options);
        if (kind == END) return;
        if (kind == NOP) continue;
        unsigned size = rd_u8(&options);
        if (!rd_ok(&options) || size < 2 || size - 2 > rd_left(&options)) {
            wrong_at(walk, "tcp");
            return;
        }
        Rd option = rd_sub(&options, size - 2);
        if (kind == MSS && size == 4) {
            show_number(walk, "tcp.mss", rd_be16(&option));
        } else if (kind == SCALE && size == 3) {
            unsigned scale = rd_u8(&option);
            walk->packet->window_scale = (int8_t)(scale > 14 ? 14 : scale);
            show_number(walk, "tcp.window_scale", scale);
        } else if (kind == SACK_OK) {
            show_number(walk, "tcp.sack_permitted", 1);
        } else if (kind == SACK && walk->out) {
            show_sack(walk, &option);
        } else if (kind == TIMESTAMPS && size == 10) {
            show_number(walk, "tcp.timestamp", rd_be32(&option));
            show_number(walk, "tcp.timestamp_echo", rd_be32(&option));
        }
    }
}

static void show_tcp(Walk *walk, const Rd *segment, unsigned header_bytes, unsigned urgent) {
    const Packet *packet = walk->packet;
    char flags[PACKET_FLAGS_SIZE];
    show_layer(walk, "tcp");
    show_number(walk, "tcp.src_port", packet->sport);
    show_number(walk, "tcp.dst_port", packet->dport);
    show_number(walk, "tcp.seq", packet->seq);
    show_number(walk, "tcp.ack", packet->ack);
    show_number(walk, "tcp.data_offset", header_bytes / 4);
    show_text(walk, "tcp.flags", packet_flags(packet->flags, flags));
    show_hex(walk, "tcp.flags_raw", packet->flags);
    show_number(walk, "tcp.window", packet->window);
    if (urgent) show_number(walk, "tcp.urgent", urgent);
    show_number(walk, "tcp.payload_length", packet->payload_length);
    show_checksum(walk, "tcp.checksum", segment, TCP, packet->checksum);
}

static void walk_tcp(Walk *walk, Rd *r) {
    Packet *packet = walk->packet;
    Rd segment = rd_sub(r, rd_left(r)), head = segment;
    uint16_t sport = rd_be16(&head), dport = rd_be16(&head);
    uint32_t seq = rd_be32(&head), ack = rd_be32(&head);
    unsigned offset = rd_u8(&head), flags = rd_u8(&head), window = rd_be16(&head);
    unsigned checksum = rd_be16(&head), urgent = rd_be16(&head);
    unsigned header_bytes = (offset >> 4) * 4;
    if (!rd_ok(&head)) {
        cut_at(walk, "tcp");
        return;
    }
    if (header_bytes < 20) {
        wrong_at(walk, "tcp");
        return;
    }
    Rd options = rd_sub(&head, header_bytes - 20);
    if (!rd_ok(&head)) {
        cut_at(walk, "tcp");
        return;
    }
    packet->has_ports = true;
    packet->sport = sport;
    packet->dport = dport;
    packet->seq = seq;
    packet->ack = ack;
    packet->flags = (uint8_t)flags;
    packet->window = (uint16_t)window;
    packet->checksum = (uint16_t)checksum;
    packet->payload_length =
        walk->upper_length > header_bytes ? walk->upper_length - header_bytes : 0;
    packet->payload = (Str){(const char *)head.p, rd_left(&head)};
    show_tcp(walk, &segment, header_bytes, urgent);
    walk_tcp_options(walk, options);
    walk_tcp_payload(walk, packet->payload);
}

// ---------------------------------------------------------------- UDP and tunnels over it

static void walk_vxlan(Walk *walk, Rd *r) {
    unsigned flags = rd_u8(r);
    rd_skip(r, 3);
    uint32_t network = rd_be32(r) >> 8;
    if (!rd_ok(r)) return;
    show_layer(walk, "vxlan");
    show_hex(walk, "vxlan.flags", flags);
    show_number(walk, "vxlan.vni", network);
    walk_inner(walk, r, walk_ethernet);
}

static void walk_by_type(Walk *walk, Rd *r, unsigned type) {
    enum { ETHER_IP4 = 0x0800, ETHER_IP6 = 0x86DD, BRIDGED = 0x6558 };
    if (type == BRIDGED) walk_inner(walk, r, walk_ethernet);
    if (type == ETHER_IP4 || type == ETHER_IP6) walk_inner(walk, r, walk_ip);
}

static void walk_geneve(Walk *walk, Rd *r) {
    unsigned options = rd_u8(r) & 0x3F;
    rd_skip(r, 1);
    unsigned type = rd_be16(r);
    uint32_t network = rd_be32(r) >> 8;
    rd_skip(r, (size_t)options * 4);
    if (!rd_ok(r)) return;
    show_layer(walk, "geneve");
    show_hex(walk, "geneve.type", type);
    show_number(walk, "geneve.vni", network);
    walk_by_type(walk, r, type);
}

static void walk_udp(Walk *walk, Rd *r) {
    enum { PORT_VXLAN = 4789, PORT_GENEVE = 6081, HEADER = 8 };
    Packet *packet = walk->packet;
    Rd datagram = rd_sub(r, rd_left(r)), head = datagram;
    uint16_t sport = rd_be16(&head), dport = rd_be16(&head);
    uint32_t length = rd_be16(&head);
    uint16_t checksum = rd_be16(&head);
    if (!rd_ok(&head)) {
        cut_at(walk, "udp");
        return;
    }
    packet->has_ports = true;
    packet->sport = sport;
    packet->dport = dport;
    packet->checksum = checksum;
    uint32_t whole = length ? length : walk->upper_length; // zero: left to the card
    if (length && length < HEADER) wrong_at(walk, "udp");
    packet->payload_length = whole > HEADER ? whole - HEADER : 0;
    size_t captured = rd_left(&head);
    if (captured > packet->payload_length) captured = packet->payload_length;
    packet->payload = (Str){(const char *)head.p, captured};
    show_layer(walk, "udp");
    show_number(walk, "udp.src_port", sport);
    show_number(walk, "udp.dst_port", dport);
    show_number(walk, "udp.length", length);
    show_number(walk, "udp.payload_length", packet->payload_length);
    show_checksum(walk, "udp.checksum", &datagram, UDP, checksum);
    Rd inner = rd_sub(&head, captured);
    if (dport == PORT_VXLAN)
        walk_vxlan(walk, &inner);
    else if (dport == PORT_GENEVE)
        walk_geneve(walk, &inner);
    else
        walk_udp_payload(walk, packet->payload);
}

// ---------------------------------------------------------------- ICMP

static const char *icmp_name(bool v6, unsigned type) {
    static const struct {
        uint8_t type;
        bool v6;
        const char *name;
    } NAMES[] = {
        {0,   false, "echo reply"             },
        {3,   false, "destination unreachable"},
        {4,   false, "source quench"          },
        {5,   false, "redirect"               },
        {8,   false, "echo request"           },
        {9,   false, "router advertisement"   },
        {10,  false, "router solicitation"    },
        {11,  false, "time exceeded"          },
        {12,  false, "parameter problem"      },
        {13,  false, "timestamp request"      },
        {14,  false, "timestamp reply"        },
        {1,   true,  "destination unreachable"},
        {2,   true,  "packet too big"         },
        {3,   true,  "time exceeded"          },
        {4,   true,  "parameter problem"      },
        {128, true,  "echo request"           },
        {129, true,  "echo reply"             },
        {130, true,  "multicast query"        },
        {131, true,  "multicast report"       },
        {132, true,  "multicast done"         },
        {133, true,  "router solicitation"    },
        {134, true,  "router advertisement"   },
        {135, true,  "neighbor solicitation"  },
        {136, true,  "neighbor advertisement" },
        {137, true,  "redirect"               },
        {143, true,  "multicast report v2"    },
    };
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (NAMES[i].type == type && NAMES[i].v6 == v6) return NAMES[i].name;
    return "other";
}

static bool icmp_is_echo(bool v6, unsigned type) {
    return v6 ? type == 128 || type == 129 : type == 0 || type == 8;
}

static bool icmp_is_error(bool v6, unsigned type) {
    return v6 ? type >= 1 && type <= 4
              : type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

static void walk_icmp(Walk *walk, Rd *r, bool v6) {
    enum { SOLICITATION = 135, ADVERTISEMENT = 136 };
    unsigned type = rd_u8(r), code = rd_u8(r);
    uint16_t checksum = rd_be16(r);
    if (!rd_ok(r)) {
        cut_at(walk, v6 ? "icmpv6" : "icmp");
        return;
    }
    Packet *packet = walk->packet;
    packet->has_icmp = true;
    packet->icmp_type = (uint8_t)type;
    packet->icmp_code = (uint8_t)code;
    show_layer(walk, v6 ? "icmpv6" : "icmp");
    show_number(walk, "icmp.type", type);
    show_number(walk, "icmp.code", code);
    show_c(walk, "icmp.name", icmp_name(v6, type));
    show_hex(walk, "icmp.checksum", checksum);
    if (rd_left(r) < 4) return;
    if (icmp_is_echo(v6, type)) {
        show_number(walk, "icmp.id", rd_be16(r));
        show_number(walk, "icmp.sequence", rd_be16(r));
        packet->payload = (Str){(const char *)r->p, rd_left(r)};
        return;
    }
    rd_skip(r, 4);
    if (icmp_is_error(v6, type)) {
        walk_inner(walk, r, walk_ip);
    } else if (v6 && (type == SOLICITATION || type == ADVERTISEMENT)) {
        const uint8_t *target = rd_take(r, 16);
        if (target) show_ip(walk, "icmp.target", 6, target);
    }
}

// ---------------------------------------------------------------- the others

static void walk_gre(Walk *walk, Rd *r) {
    enum { HAS_CHECKSUM = 0x8000, HAS_KEY = 0x2000, HAS_SEQUENCE = 0x1000 };
    unsigned flags = rd_be16(r), type = rd_be16(r);
    if (flags & HAS_CHECKSUM) rd_skip(r, 4);
    uint32_t key = flags & HAS_KEY ? rd_be32(r) : 0;
    if (flags & HAS_SEQUENCE) rd_skip(r, 4);
    if (!rd_ok(r)) {
        cut_at(walk, "gre");
        return;
    }
    show_layer(walk, "gre");
    show_hex(walk, "gre.type", type);
    if (flags & HAS_KEY) show_hex(walk, "gre.key", key);
    walk_by_type(walk, r, type);
}

static void walk_sctp(Walk *walk, Rd *r) {
    uint16_t sport = rd_be16(r), dport = rd_be16(r);
    uint32_t tag = rd_be32(r);
    rd_skip(r, 4);
    if (!rd_ok(r)) {
        cut_at(walk, "sctp");
        return;
    }
    walk->packet->has_ports = true;
    walk->packet->sport = sport;
    walk->packet->dport = dport;
    show_layer(walk, "sctp");
    show_number(walk, "sctp.src_port", sport);
    show_number(walk, "sctp.dst_port", dport);
    show_hex(walk, "sctp.tag", tag);
}

static void walk_secured(Walk *walk, Rd *r, bool ah) {
    const char *layer = ah ? "ah" : "esp";
    if (ah) rd_skip(r, 4);
    uint32_t spi = rd_be32(r), sequence = rd_be32(r);
    if (!rd_ok(r)) {
        cut_at(walk, layer);
        return;
    }
    show_layer(walk, layer);
    show_hex(walk, "sec.spi", spi);
    show_number(walk, "sec.sequence", sequence);
}

static void walk_igmp(Walk *walk, Rd *r) {
    unsigned type = rd_u8(r);
    rd_skip(r, 3);
    const uint8_t *group = rd_take(r, 4);
    if (!group) {
        cut_at(walk, "igmp");
        return;
    }
    show_layer(walk, "igmp");
    show_hex(walk, "igmp.type", type);
    show_ip(walk, "igmp.group", 4, group);
}

void walk_upper(Walk *walk, Rd *r, unsigned protocol) {
    switch (protocol) {
    case TCP: walk_tcp(walk, r); return;
    case UDP: walk_udp(walk, r); return;
    case ICMP: walk_icmp(walk, r, false); return;
    case ICMPV6: walk_icmp(walk, r, true); return;
    case IGMP: walk_igmp(walk, r); return;
    case IPIP:
    case IP6_IN: walk_inner(walk, r, walk_ip); return;
    case GRE: walk_gre(walk, r); return;
    case ESP: walk_secured(walk, r, false); return;
    case AH: walk_secured(walk, r, true); return;
    case SCTP: walk_sctp(walk, r); return;
    default: walk->packet->payload = (Str){(const char *)r->p, rd_left(r)}; return;
    }
}
