// What the first payload bytes say of the application: TLS (RFC 8446, 6066), HTTP/1, DNS
// (RFC 1035), QUIC (RFC 8999, 9000, 9369). A guess is made only where the bytes fit.
#include "decode/packet_internal.h"

static void set_name(Packet *packet, Str name) {
    size_t n = name.n < PACKET_NAME_MAX ? name.n : PACKET_NAME_MAX;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[i];
        packet->name[i] = c > ' ' && c < 0x7F && c != '"' && c != '\\' ? c : '?';
    }
    packet->name[n] = 0;
}

// ---------------------------------------------------------------- TLS

static void read_server_name(Packet *packet, Rd list) {
    enum { HOST_NAME = 0 };
    Rd names = rd_sub(&list, rd_be16(&list));
    while (rd_left(&names) > 3) {
        unsigned kind = rd_u8(&names);
        Str name = rd_bytes(&names, rd_be16(&names));
        if (kind != HOST_NAME || !rd_ok(&names)) continue;
        set_name(packet, name);
        return;
    }
}

// The hello may go on in the next segment: its fields are read as far as they came.
static void read_client_hello(Packet *packet, Rd *r) {
    enum { SERVER_NAME = 0, FIXED = 2 + 32 };
    rd_skip(r, 3); // length
    rd_skip(r, FIXED);
    rd_skip(r, rd_u8(r));   // session
    rd_skip(r, rd_be16(r)); // cipher suites
    rd_skip(r, rd_u8(r));   // compression
    rd_skip(r, 2);          // length of the extensions
    while (rd_left(r) >= 4) {
        unsigned kind = rd_be16(r), size = rd_be16(r);
        if (size > rd_left(r)) return;
        Rd extension = rd_sub(r, size);
        if (kind != SERVER_NAME) continue;
        read_server_name(packet, extension);
        return;
    }
}

static bool read_tls(Walk *walk, Str payload) {
    enum {
        CHANGE_CIPHER = 20,
        APPLICATION = 23,
        HANDSHAKE = 22,
        CLIENT_HELLO = 1,
        MAJOR = 3,
        MINOR_MAX = 4,
        RECORD_MAX = 16384 + 2048
    };
    Rd r = rd_from_str(payload);
    unsigned type = rd_u8(&r), major = rd_u8(&r), minor = rd_u8(&r), size = rd_be16(&r);
    bool record = rd_ok(&r) && type >= CHANGE_CIPHER && type <= APPLICATION && major == MAJOR &&
                  minor <= MINOR_MAX && size && size <= RECORD_MAX;
    if (!record) return false;
    Packet *packet = walk->packet;
    packet->application = "TLS";
    show_layer(walk, "tls");
    show_number(walk, "tls.record", type);
    if (type != HANDSHAKE || !rd_left(&r)) return true;
    unsigned message = rd_u8(&r);
    show_number(walk, "tls.handshake", message);
    if (message == CLIENT_HELLO) read_client_hello(packet, &r);
    if (packet->name[0]) show_c(walk, "tls.server_name", packet->name);
    return true;
}

// ---------------------------------------------------------------- HTTP/1

static bool read_http(Walk *walk, Str payload) {
    static const char *const STARTS[] = {"GET ",    "POST ",  "PUT ",     "HEAD ",
                                         "DELETE ", "PATCH ", "OPTIONS ", "HTTP/1."};
    for (size_t i = 0; i < COUNT_OF(STARTS); i++) {
        if (!str_starts(payload, str_from_c(STARTS[i]))) continue;
        Str rest = payload, line = {0};
        if (!str_next(&rest, '\n', &line)) line = payload;
        walk->packet->application = "HTTP";
        show_layer(walk, "http");
        if (walk->out) {
            AUTO(arena_done) Arena scratch = {0};
            Str text = str_trim(str_slice(line, 0, PACKET_NAME_MAX));
            show_text(walk, "http.line", str_from_8bit(&scratch, (const uint8_t *)text.p, text.n));
        }
        return true;
    }
    return false;
}

void walk_tcp_payload(Walk *walk, Str payload) {
    enum { PORT_DNS = 53 };
    if (!payload.n) return;
    if (read_tls(walk, payload) || read_http(walk, payload)) return;
    if (walk->packet->sport == PORT_DNS || walk->packet->dport == PORT_DNS)
        walk->packet->application = "DNS";
}

// ---------------------------------------------------------------- DNS

static void read_question(Packet *packet, Rd *r) {
    char text[PACKET_NAME_MAX];
    size_t at = 0;
    for (unsigned size = rd_u8(r); rd_ok(r) && size && size < 64; size = rd_u8(r)) {
        Str label = rd_bytes(r, size);
        if (at + label.n + 1 > sizeof text) break;
        if (at) text[at++] = '.';
        if (label.n) memcpy(text + at, label.p, label.n);
        at += label.n;
    }
    set_name(packet, (Str){text, at});
}

static bool read_dns(Walk *walk, Str payload) {
    Packet *packet = walk->packet;
    unsigned sport = packet->sport, dport = packet->dport;
    bool port = sport == 53 || dport == 53 || sport == 5353 || dport == 5353 || sport == 5355 ||
                dport == 5355;
    Rd r = rd_from_str(payload);
    unsigned id = rd_be16(&r), flags = rd_be16(&r), questions = rd_be16(&r), answers = rd_be16(&r);
    rd_skip(&r, 4);
    if (!port || !rd_ok(&r)) return false;
    packet->application = "DNS";
    show_layer(walk, "dns");
    show_hex(walk, "dns.id", id);
    show_number(walk, "dns.response", flags >> 15);
    show_number(walk, "dns.code", flags & 15);
    show_number(walk, "dns.answers", answers);
    if (questions) read_question(packet, &r);
    if (packet->name[0]) show_c(walk, "dns.question", packet->name);
    return true;
}

// ---------------------------------------------------------------- QUIC

static bool quic_version_known(uint32_t version) {
    return version == 0 || version == 1 || version == 0x6B3343CF || version >> 8 == 0xFF0000 ||
           (version & 0x0F0F0F0F) == 0x0A0A0A0A;
}

// Lengths of one, two, four or eight bytes (RFC 9000, 16).
static uint64_t rd_varint(Rd *r) {
    unsigned first = rd_u8(r);
    uint64_t value = first & 0x3F;
    for (unsigned i = 1; i < 1u << (first >> 6); i++) value = value << 8 | rd_u8(r);
    return value;
}

static const char *quic_type(uint32_t version, unsigned first) {
    static const char *const NAMES[] = {"Initial", "0-RTT", "Handshake", "Retry"};
    if (!version) return "Version Negotiation";
    unsigned type = first >> 4 & 3;
    return NAMES[version == 0x6B3343CF ? (type + 3) % 4 : type];
}

static void show_quic_long(Walk *walk, Rd *r, unsigned first) {
    const Packet *packet = walk->packet;
    const char *type = quic_type(packet->quic_version, first);
    show_layer(walk, "quic");
    show_c(walk, "quic.header", "long");
    show_hex(walk, "quic.version", packet->quic_version);
    show_c(walk, "quic.type", type);
    show_bytes(walk, "quic.dcid", (Str){(const char *)packet->dcid, packet->dcid_bytes});
    show_bytes(walk, "quic.scid", (Str){(const char *)packet->scid, packet->scid_bytes});
    if (strcmp(type, "Initial") != 0) return;
    uint64_t token = rd_varint(r);
    if (rd_ok(r)) show_number(walk, "quic.token_length", token);
}

static bool read_quic(Walk *walk, Str payload) {
    enum { LONG = 0xC0, SHORT = 0x40, FORM = 0xC0, SPIN = 0x20, PORT = 443, SHORT_BYTES_MIN = 21 };
    Packet *packet = walk->packet;
    Rd r = rd_from_str(payload);
    unsigned first = rd_u8(&r);
    if ((first & FORM) == LONG || (first & 0x80)) {
        uint32_t version = rd_be32(&r);
        Str dcid = rd_bytes(&r, rd_u8(&r)), scid = rd_bytes(&r, rd_u8(&r));
        bool negotiates = !version && (first & 0x80);
        if (!rd_ok(&r) || !quic_version_known(version) || dcid.n > PACKET_CID_MAX ||
            scid.n > PACKET_CID_MAX || (!negotiates && (first & FORM) != LONG))
            return false;
        packet->application = "QUIC";
        packet->quic_version = version;
        packet->dcid_bytes = (uint8_t)dcid.n;
        packet->scid_bytes = (uint8_t)scid.n;
        if (dcid.n) memcpy(packet->dcid, dcid.p, dcid.n);
        if (scid.n) memcpy(packet->scid, scid.p, scid.n);
        show_quic_long(walk, &r, first);
        return true;
    }
    bool port = packet->sport == PORT || packet->dport == PORT;
    if (!port || (first & FORM) != SHORT || packet->payload_length < SHORT_BYTES_MIN) return false;
    packet->application = "QUIC";
    show_layer(walk, "quic");
    show_c(walk, "quic.header", "short");
    show_number(walk, "quic.spin", first & SPIN ? 1 : 0);
    return true;
}

void walk_udp_payload(Walk *walk, Str payload) {
    if (!payload.n) return;
    if (read_dns(walk, payload)) return;
    (void)read_quic(walk, payload);
}
