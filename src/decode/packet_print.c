// Prints the fields of a packet, as JSON or as one line a layer, while packet.c walks over it.
#include "decode/packet_internal.h"

#include <inttypes.h>

static const char HEX[] = "0123456789abcdef";

void show_end(Walk *walk) {
    PacketOut *out = walk->out;
    if (!out || !out->open) return;
    buf_add_char(out->out, out->json ? '}' : '\n');
    out->open = false;
}

void show_layer(Walk *walk, const char *layer) {
    PacketOut *out = walk->out;
    if (!out) return;
    show_end(walk);
    if (out->json) {
        if (!out->first) buf_add_char(out->out, ',');
        buf_addf(out->out, "{\"layer\":\"%s\"", layer);
        if (walk->depth) buf_addf(out->out, ",\"depth\":%u", walk->depth);
    } else {
        for (unsigned i = 0; i < walk->depth; i++) buf_add_c(out->out, "  ");
        buf_addf(out->out, "%s:", layer);
    }
    out->open = true;
    out->first = false;
}

// Text form: the key without its layer.
static bool show_key(Walk *walk, const char *key) {
    PacketOut *out = walk->out;
    if (!out) return false;
    if (out->json) {
        buf_addf(out->out, ",\"%s\":", key);
        return true;
    }
    const char *dot = strchr(key, '.');
    buf_addf(out->out, " %s=", dot ? dot + 1 : key);
    return true;
}

void show_number(Walk *walk, const char *key, uint64_t value) {
    if (show_key(walk, key)) buf_addf(walk->out->out, "%" PRIu64, value);
}

void show_text(Walk *walk, const char *key, Str text) {
    if (!show_key(walk, key)) return;
    if (walk->out->json)
        buf_add_json(walk->out->out, text);
    else
        buf_add(walk->out->out, text);
}

void show_c(Walk *walk, const char *key, const char *text) {
    show_text(walk, key, str_from_c(text));
}

void show_hex(Walk *walk, const char *key, uint64_t value) {
    char text[24];
    size_t at = sizeof text;
    if (!walk->out) return;
    do {
        text[--at] = HEX[value & 15];
        value >>= 4;
    } while (value);
    text[--at] = 'x';
    text[--at] = '0';
    show_text(walk, key, (Str){text + at, sizeof text - at});
}

void show_mac(Walk *walk, const char *key, const uint8_t *mac) {
    enum { MAC_BYTES = 6 };
    char text[3 * MAC_BYTES];
    for (size_t i = 0; i < MAC_BYTES; i++) {
        text[3 * i] = HEX[mac[i] >> 4];
        text[3 * i + 1] = HEX[mac[i] & 15];
        text[3 * i + 2] = ':';
    }
    show_text(walk, key, (Str){text, sizeof text - 1});
}

void show_ip(Walk *walk, const char *key, unsigned version, const uint8_t *address) {
    char text[IP_TEXT_SIZE];
    Str bytes = {(const char *)address, version == 4 ? 4 : 16};
    if (walk->out)
        show_text(walk, key, version == 4 ? ip4_to_text(bytes, text) : ip6_to_text(bytes, text));
}

void show_bytes(Walk *walk, const char *key, Str bytes) {
    enum { SHOWN_MAX = 64 };
    char text[2 * SHOWN_MAX];
    size_t n = bytes.n < SHOWN_MAX ? bytes.n : SHOWN_MAX;
    if (!walk->out) return;
    show_text(walk, key, hex_write(text, bytes.p, n));
}

Str packet_protocol(const Packet *packet, char *out) {
    enum { ETHER_ARP = 0x0806, ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58, SCTP = 132 };
    if (packet->ether_type == ETHER_ARP) return STR("arp");
    if (!packet->ip_version && !packet->has_ports && !packet->has_icmp) return STR("undecoded");
    switch (packet->ip_proto) {
    case TCP: return STR("tcp");
    case UDP: return STR("udp");
    case ICMP: return STR("icmp");
    case ICMPV6: return STR("icmpv6");
    case SCTP: return STR("sctp");
    default: break;
    }
    size_t at = PACKET_PROTOCOL_SIZE;
    unsigned n = packet->ip_proto;
    do {
        out[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    Str prefix = STR("proto-");
    at -= prefix.n;
    memcpy(out + at, prefix.p, prefix.n);
    return (Str){out + at, PACKET_PROTOCOL_SIZE - at};
}

Str packet_address(const Packet *packet, bool destination, char *out) {
    Str bytes = {(const char *)(destination ? packet->dst : packet->src), 16};
    if (packet->ip_version == 6) return ip6_to_text(bytes, out);
    if (packet->ip_version != 4) return (Str){0};
    bytes.n = 4;
    return ip4_to_text(bytes, out);
}

static size_t add_end(const Packet *packet, bool destination, char *out, size_t at) {
    char ip[IP_TEXT_SIZE];
    Str text = packet_address(packet, destination, ip);
    bool brackets = packet->ip_version == 6 && packet->has_ports;
    if (brackets) out[at++] = '[';
    if (text.n) memcpy(out + at, text.p, text.n);
    at += text.n;
    if (brackets) out[at++] = ']';
    if (!packet->has_ports) return at;
    char digits[5];
    size_t n = 0;
    unsigned port = destination ? packet->dport : packet->sport;
    do {
        digits[n++] = (char)('0' + port % 10);
        port /= 10;
    } while (port);
    out[at++] = ':';
    while (n) out[at++] = digits[--n];
    return at;
}

Str packet_tuple(const Packet *packet, char *out) {
    char protocol[PACKET_PROTOCOL_SIZE];
    Str name = packet_protocol(packet, protocol);
    size_t at = 0;
    if (packet->ip_version) {
        at = add_end(packet, false, out, at);
        Str arrow = STR(" -> ");
        memcpy(out + at, arrow.p, arrow.n);
        at = add_end(packet, true, out, at + arrow.n);
        out[at++] = '/';
    }
    memcpy(out + at, name.p, name.n);
    return (Str){out, at + name.n};
}

Str packet_flags(uint8_t flags, char *out) {
    static const char *const NAMES[] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
    size_t at = 0;
    for (unsigned i = 0; i < COUNT_OF(NAMES); i++) {
        if (!(flags >> i & 1)) continue;
        if (at) out[at++] = ',';
        memcpy(out + at, NAMES[i], 3);
        at += 3;
    }
    return (Str){out, at};
}

// Structured like a hex dump: offset, bytes, printable characters.
static void add_dump(Buf *out, Str bytes) {
    enum { ROW = 16, SHOWN_MAX = 64 };
    for (size_t from = 0; from < bytes.n && from < SHOWN_MAX; from += ROW) {
        Str row = str_slice(bytes, from, from + ROW);
        buf_addf(out, "%04x ", (unsigned)from);
        for (size_t i = 0; i < ROW; i++) {
            if (i < row.n)
                buf_addf(out, " %02x", (unsigned)(uint8_t)row.p[i]);
            else
                buf_add_c(out, "   ");
        }
        buf_add_c(out, "  ");
        for (size_t i = 0; i < row.n; i++)
            buf_add_char(out, row.p[i] >= ' ' && row.p[i] < 0x7F ? row.p[i] : '.');
        buf_add_char(out, '\n');
    }
}

void packet_print(const PacketInput *input, bool json, Buf *out) {
    Packet packet;
    PacketOut print = {.out = out, .json = json, .first = true};
    if (json) buf_add_c(out, "{\"layers\":[");
    packet_decode(input, &packet, &print);
    if (json) buf_add_char(out, ']');
    if (packet.truncated_at)
        buf_addf(out, json ? ",\"_truncated_at\":\"%s\"" : "truncated_at: %s\n",
                 packet.truncated_at);
    if (packet.malformed)
        buf_addf(out, json ? ",\"_malformed\":\"%s\"" : "malformed: %s\n", packet.malformed);
    if (json)
        buf_add_char(out, '}');
    else
        add_dump(out, packet.payload);
}
