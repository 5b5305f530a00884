// Link layers and IP (RFC 791, 826, 8200; IEEE 802.1Q, 802.2, 802.3, 802.11). packet_upper.c goes
// on with what IP carries.
#include "decode/packet_internal.h"

enum {
    ETHER_IP4 = 0x0800,
    ETHER_ARP = 0x0806,
    ETHER_IP6 = 0x86DD,
    ETHER_LENGTH_MAX = 1500, // a smaller "type" is the length of 802.3
    MAC_BYTES = 6,
};

static bool is_tag(unsigned type) {
    return type == 0x8100 || type == 0x88A8 || type == 0x9100;
}

void walk_inner(Walk *walk, Rd *r, WalkInner inner) {
    enum { DEPTH_MAX = 4 };
    if (!walk->out || walk->depth >= DEPTH_MAX || !rd_left(r)) return;
    Packet packet = {.window_scale = -1};
    Walk below = {
        .packet = &packet, .out = walk->out, .sent = walk->sent, .depth = walk->depth + 1};
    inner(&below, r);
}

// ---------------------------------------------------------------- link layer

static void walk_arp(Walk *walk, Rd *r) {
    unsigned hardware = rd_be16(r), protocol = rd_be16(r);
    unsigned hardware_bytes = rd_u8(r), protocol_bytes = rd_u8(r), operation = rd_be16(r);
    if (!rd_ok(r)) {
        cut_at(walk, "arp");
        return;
    }
    show_layer(walk, "arp");
    show_c(walk, "arp.operation", operation == 1 ? "request" : operation == 2 ? "reply" : "other");
    show_number(walk, "arp.operation_raw", operation);
    show_number(walk, "arp.hardware_type", hardware);
    if (hardware_bytes != MAC_BYTES || protocol != ETHER_IP4 || protocol_bytes != 4) return;
    const uint8_t *sender = rd_take(r, MAC_BYTES), *sender_ip = rd_take(r, 4);
    const uint8_t *target = rd_take(r, MAC_BYTES), *target_ip = rd_take(r, 4);
    if (!rd_ok(r)) {
        cut_at(walk, "arp");
        return;
    }
    show_mac(walk, "arp.sender_mac", sender);
    show_ip(walk, "arp.sender_ip", 4, sender_ip);
    show_mac(walk, "arp.target_mac", target);
    show_ip(walk, "arp.target_ip", 4, target_ip);
    if (!walk->out) return;
    char asked[IP_TEXT_SIZE], tells[IP_TEXT_SIZE];
    Str wanted = ip4_to_text((Str){(const char *)target_ip, 4}, asked);
    Str teller = ip4_to_text((Str){(const char *)sender_ip, 4}, tells);
    Buf line = {.p = NULL};
    if (operation == 1)
        buf_addf(&line, "who-has " STR_FMT " tell " STR_FMT, STR_ARG(wanted), STR_ARG(teller));
    else
        buf_addf(&line, STR_FMT " is-at", STR_ARG(teller));
    show_text(walk, "arp.summary", buf_str(&line));
    buf_done(&line);
}

void walk_ether_type(Walk *walk, Rd *r, unsigned type) {
    walk->packet->ether_type = (uint16_t)type;
    if (type == ETHER_IP4 || type == ETHER_IP6)
        walk_ip(walk, r);
    else if (type == ETHER_ARP)
        walk_arp(walk, r);
}

// 802.2 behind a length, or behind an 802.11 header.
static void walk_llc(Walk *walk, Rd *r) {
    enum { SNAP = 0xAA };
    unsigned dsap = rd_u8(r), ssap = rd_u8(r), control = rd_u8(r);
    if (!rd_ok(r)) {
        cut_at(walk, "llc");
        return;
    }
    if (dsap != SNAP || ssap != SNAP) {
        show_layer(walk, "llc");
        show_hex(walk, "llc.dsap", dsap);
        show_hex(walk, "llc.ssap", ssap);
        show_hex(walk, "llc.control", control);
        return;
    }
    rd_skip(r, 3); // organisation
    unsigned type = rd_be16(r);
    if (!rd_ok(r)) {
        cut_at(walk, "llc");
        return;
    }
    show_layer(walk, "llc");
    show_hex(walk, "llc.type", type);
    walk_ether_type(walk, r, type);
}

void walk_ethernet(Walk *walk, Rd *r) {
    Packet *packet = walk->packet;
    const uint8_t *dst = rd_take(r, MAC_BYTES), *src = rd_take(r, MAC_BYTES);
    unsigned type = rd_be16(r);
    if (!rd_ok(r)) {
        cut_at(walk, "eth");
        return;
    }
    packet->has_ethernet = true;
    memcpy(packet->eth_dst, dst, MAC_BYTES);
    memcpy(packet->eth_src, src, MAC_BYTES);
    show_layer(walk, "eth");
    show_mac(walk, "eth.dst", dst);
    show_mac(walk, "eth.src", src);
    show_hex(walk, type > ETHER_LENGTH_MAX ? "eth.ethertype" : "eth.length", type);
    while (is_tag(type)) {
        unsigned tag = rd_be16(r), inner = rd_be16(r);
        if (!rd_ok(r)) {
            cut_at(walk, "vlan");
            return;
        }
        if (!packet->has_vlan) packet->vlan_id = tag & 0xFFF;
        packet->has_vlan = true;
        show_layer(walk, "vlan");
        show_number(walk, "vlan.id", tag & 0xFFF);
        show_number(walk, "vlan.priority", tag >> 13);
        show_hex(walk, "vlan.ethertype", inner);
        type = inner;
    }
    if (type <= ETHER_LENGTH_MAX)
        walk_llc(walk, r);
    else
        walk_ether_type(walk, r, type);
}

// Data frames only; the payload was decrypted by whoever captured it.
static void walk_wifi(Walk *walk, Rd *r) {
    enum { TYPE_DATA = 2, TO_FROM_DS = 0x0300, QOS = 0x80, NO_DATA = 0x40, ORDER = 0x8000 };
    unsigned control = rd_u16(r);
    rd_skip(r, 2); // duration
    const uint8_t *first = rd_take(r, MAC_BYTES), *second = rd_take(r, MAC_BYTES);
    const uint8_t *third = rd_take(r, MAC_BYTES);
    rd_skip(r, 2); // sequence
    if (!rd_ok(r)) {
        cut_at(walk, "wifi");
        return;
    }
    show_layer(walk, "wifi");
    show_number(walk, "wifi.type", control >> 2 & 3);
    show_number(walk, "wifi.subtype", control >> 4 & 15);
    show_mac(walk, "wifi.receiver", first);
    show_mac(walk, "wifi.transmitter", second);
    show_mac(walk, "wifi.address3", third);
    if ((control >> 2 & 3) != TYPE_DATA || (control & NO_DATA)) return;
    if ((control & TO_FROM_DS) == TO_FROM_DS) rd_skip(r, MAC_BYTES);
    if (control & QOS) {
        rd_skip(r, 2);
        if (control & ORDER) rd_skip(r, 4);
    }
    if (!rd_ok(r)) {
        cut_at(walk, "wifi");
        return;
    }
    walk_llc(walk, r);
}

// ---------------------------------------------------------------- IP

static uint32_t sum_words(const uint8_t *p, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < n; i += 2) sum += (uint32_t)p[i] << 8 | p[i + 1];
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

// Limits the reader to what IP says it carries: what follows is padding of the link layer. A length
// of zero is a frame that the card cuts up (segmentation offload).
static Rd limit_upper(Walk *walk, Rd *r, uint32_t length) {
    walk->upper_length = length;
    walk->whole = length <= rd_left(r);
    return rd_sub(r, walk->whole ? length : rd_left(r));
}

static void show_options(Walk *walk, const uint8_t *options, size_t n) {
    if (n) show_bytes(walk, "ip.options", (Str){(const char *)options, n});
}

static void show_ip4(Walk *walk, const uint8_t *header, unsigned header_bytes) {
    const Packet *packet = walk->packet;
    show_layer(walk, "ip");
    show_number(walk, "ip.version", 4);
    show_number(walk, "ip.header_len", header_bytes);
    show_number(walk, "ip.dscp", header[1] >> 2);
    show_number(walk, "ip.ecn", header[1] & 3);
    show_number(walk, "ip.total_length", (uint32_t)header[2] << 8 | header[3]);
    show_hex(walk, "ip.id", packet->ip_id);
    show_number(walk, "ip.dont_fragment", packet->dont_fragment);
    show_number(walk, "ip.more_fragments", packet->more_fragments);
    show_number(walk, "ip.fragment_offset", packet->fragment_offset);
    show_number(walk, "ip.ttl", header[8]);
    show_number(walk, "ip.proto", header[9]);
    show_ip(walk, "ip.src", 4, packet->src);
    show_ip(walk, "ip.dst", 4, packet->dst);
    bool right = sum_words(header, header_bytes) == 0xFFFF;
    bool unset = !header[10] && !header[11];
    show_c(walk, "ip.checksum",
           right                 ? "ok"
           : unset || walk->sent ? "not verified (filled in by the card)"
                                 : "wrong");
    show_options(walk, header + 20, header_bytes - 20);
}

static void walk_ip4(Walk *walk, Rd *r) {
    Packet *packet = walk->packet;
    Rd peek = *r;
    unsigned header_bytes = (rd_u8(&peek) & 15u) * 4;
    if (rd_left(r) < 20) {
        cut_at(walk, "ip");
        return;
    }
    if (header_bytes < 20) {
        wrong_at(walk, "ip");
        return;
    }
    const uint8_t *header = rd_take(r, header_bytes);
    if (!header) {
        cut_at(walk, "ip");
        return;
    }
    uint32_t total = (uint32_t)header[2] << 8 | header[3];
    unsigned fragment = (unsigned)header[6] << 8 | header[7];
    packet->ip_version = 4;
    packet->ip_id = (uint32_t)header[4] << 8 | header[5];
    packet->dont_fragment = fragment >> 14 & 1;
    packet->more_fragments = fragment >> 13 & 1;
    packet->fragment_offset = (fragment & 0x1FFF) * 8;
    packet->ip_proto = header[9];
    memcpy(packet->src, header + 12, 4);
    memcpy(packet->dst, header + 16, 4);
    show_ip4(walk, header, header_bytes);
    if (total && total < header_bytes) {
        wrong_at(walk, "ip");
        return;
    }
    uint32_t length = total ? total - header_bytes : (uint32_t)rd_left(r);
    packet->ip_length = length + header_bytes;
    Rd upper = limit_upper(walk, r, length);
    if (packet->fragment_offset) return; // no transport header in it
    walk_upper(walk, &upper, packet->ip_proto);
}

static bool is_extension(unsigned next) {
    return next == 0 || next == 43 || next == 44 || next == 51 || next == 60 || next == 135 ||
           next == 139 || next == 140;
}

static const char *extension_name(unsigned next) {
    switch (next) {
    case 0: return "hop_by_hop";
    case 43: return "routing";
    case 44: return "fragment";
    case 51: return "ah";
    case 60: return "destination_options";
    default: return "extension";
    }
}

// One extension header; false when it is cut.
static bool walk_extension(Walk *walk, Rd *r, unsigned *next) {
    enum { FRAGMENT = 44, AH = 51 };
    Packet *packet = walk->packet;
    const char *name = extension_name(*next);
    unsigned kind = *next, left = (unsigned)rd_left(r);
    unsigned following = rd_u8(r), size = rd_u8(r);
    show_layer(walk, name);
    show_number(walk, "ext.next", following);
    if (kind == FRAGMENT) {
        unsigned offset = rd_be16(r);
        packet->ip_id = rd_be32(r);
        packet->fragment_offset = offset & 0xFFF8;
        packet->more_fragments = offset & 1;
        show_number(walk, "ext.fragment_offset", packet->fragment_offset);
        show_number(walk, "ext.more_fragments", packet->more_fragments);
        show_hex(walk, "ext.id", packet->ip_id);
    } else if (kind == AH) {
        rd_skip(r, 2);
        show_hex(walk, "ext.spi", rd_be32(r));
        show_number(walk, "ext.sequence", rd_be32(r));
        rd_skip(r, size >= 1 ? ((size_t)size + 2) * 4 - 12 : 0);
    } else {
        rd_skip(r, ((size_t)size + 1) * 8 - 2);
    }
    if (!rd_ok(r)) {
        cut_at(walk, "ip");
        return false;
    }
    unsigned used = left - (unsigned)rd_left(r);
    walk->upper_length = walk->upper_length > used ? walk->upper_length - used : 0;
    *next = following;
    return true;
}

static void walk_ip6(Walk *walk, Rd *r) {
    Packet *packet = walk->packet;
    uint32_t first = rd_be32(r);
    uint32_t length = rd_be16(r);
    unsigned next = rd_u8(r), hop_limit = rd_u8(r);
    const uint8_t *src = rd_take(r, 16), *dst = rd_take(r, 16);
    if (!rd_ok(r)) {
        cut_at(walk, "ip");
        return;
    }
    packet->ip_version = 6;
    memcpy(packet->src, src, 16);
    memcpy(packet->dst, dst, 16);
    show_layer(walk, "ip");
    show_number(walk, "ip.version", 6);
    show_number(walk, "ip.traffic_class", first >> 20 & 0xFF);
    show_number(walk, "ip.flow_label", first & 0xFFFFF);
    show_number(walk, "ip.payload_length", length);
    show_number(walk, "ip.proto", next);
    show_number(walk, "ip.hop_limit", hop_limit);
    show_ip(walk, "ip.src", 6, src);
    show_ip(walk, "ip.dst", 6, dst);
    if (!length) length = (uint32_t)rd_left(r); // a jumbogram, or left to the card
    packet->ip_length = length + 40;
    Rd upper = limit_upper(walk, r, length);
    while (is_extension(next))
        if (!walk_extension(walk, &upper, &next)) return;
    packet->ip_proto = (uint8_t)next;
    if (packet->fragment_offset) return;
    walk_upper(walk, &upper, next);
}

void walk_ip(Walk *walk, Rd *r) {
    if (!rd_left(r)) {
        cut_at(walk, "ip");
        return;
    }
    Rd peek = *r;
    unsigned version = rd_u8(&peek) >> 4;
    unsigned type = walk->packet->ether_type;
    bool fits = !type || (type == ETHER_IP4 ? version == 4 : type != ETHER_IP6 || version == 6);
    if (!fits || (version != 4 && version != 6))
        wrong_at(walk, "ip");
    else if (version == 4)
        walk_ip4(walk, r);
    else
        walk_ip6(walk, r);
}

// ---------------------------------------------------------------- a frame

static void walk_upper_only(Walk *walk, Rd *r, unsigned protocol) {
    walk->packet->ip_proto = (uint8_t)protocol;
    walk->upper_length = (uint32_t)rd_left(r);
    walk_upper(walk, r, protocol);
}

static void walk_media(Walk *walk, Rd *r, unsigned media) {
    switch (media) {
    case MEDIA_WIFI: walk_wifi(walk, r); return;
    case MEDIA_IP: walk_ip(walk, r); return;
    case MEDIA_TCP: walk_upper_only(walk, r, 6); return;
    case MEDIA_UDP: walk_upper_only(walk, r, 17); return;
    case MEDIA_ICMP: walk_upper_only(walk, r, 1); return;
    case MEDIA_ESP: walk_upper_only(walk, r, 50); return;
    case MEDIA_AH: walk_upper_only(walk, r, 51); return;
    case MEDIA_ARP: walk_ether_type(walk, r, ETHER_ARP); return;
    case MEDIA_UNKNOWN:
    case MEDIA_ETHERNET: walk_ethernet(walk, r); return;
    default: walk->packet->payload = (Str){(const char *)r->p, rd_left(r)}; return;
    }
}

void packet_decode(const PacketInput *input, Packet *packet, PacketOut *out) {
    *packet = (Packet){.window_scale = -1};
    Walk walk = {.packet = packet, .out = out, .sent = input->sent};
    Rd r = rd_from_str(input->bytes);
    walk_media(&walk, &r, input->media);
    show_end(&walk);
    packet->wire_length = input->original ? input->original : (uint32_t)input->bytes.n;
    if (!input->original && packet->ip_length && r.start) {
        // Cut without a record of the size: the IP header says how much there was.
        uint64_t header = (uint64_t)(packet->has_ethernet ? 14 + (packet->has_vlan ? 4 : 0) : 0);
        if (header + packet->ip_length > packet->wire_length)
            packet->wire_length = (uint32_t)(header + packet->ip_length);
    }
}
