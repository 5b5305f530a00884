// Layouts of the records: docs of the three providers' manifests (providers/*.tsv). PktMon packs
// its fields; one layout per id in all builds. What NDIS-PacketCapture says of a frame besides its
// bytes stands in the keyword.
#include "decode/capture.h"

#include "decode/packet.h"
#include "decode/tables.h"

// clang-format off
static const ColumnDef CAPTURED_FRAME_COLUMNS[] = {
    PLAIN_EVENT_COLUMNS,
    {"source",          COL_TEXT, "ndis, wan or pktmon"},
    {"event_id",        COL_U32,  "Event that recorded it"},
    {"direction",       COL_TEXT, "send or receive"},
    {"media",           COL_U32,  "Where the bytes begin: 1 Ethernet, 2 802.11, 3 IP, above: inside of IP"},
    {"interface",       COL_U32,  "Index of the miniport; PktMon: component"},
    {"layer",           COL_U32,  "Index of the interface below; PktMon: edge of the component"},
    {"starts",          COL_BOOL, "The record begins a frame"},
    {"ends",            COL_BOOL, "The record ends a frame"},
    {"group_id",        COL_U64,  "PktMon: group of the packet"},
    {"number",          COL_U32,  "PktMon: number in its group"},
    {"appearance",      COL_U32,  "PktMon: how often the packet was seen so far"},
    {"drop_reason",     COL_U32,  "PktMon: reason of the drop"},
    {"drop_location",   COL_U32,  "PktMon: place of the drop"},
    {"frame_at",        COL_U32,  "Offset of the frame's bytes in the payload; NULL when only headers were logged"},
    {"captured",        COL_U32,  "Bytes of the frame that were logged"},
    {"original",        COL_U32,  "Bytes on the wire; 0 when not recorded"},
    {"vlan_id",         COL_U32,  "VLAN of the frame's tag, or out of band"},
    {"ip_version",      COL_U32,  "4 or 6"},
    {"protocol",        COL_TEXT, "tcp, udp, icmp, icmpv6, arp, proto-N or undecoded"},
    {"ip_proto",        COL_U32,  "Protocol number of the transport header"},
    {"src",             COL_TEXT, "Source address"},
    {"dst",             COL_TEXT, "Destination address"},
    {"sport",           COL_U32,  "Source port"},
    {"dport",           COL_U32,  "Destination port"},
    {"tcp_seq",         COL_U32,  "TCP sequence number"},
    {"tcp_ack",         COL_U32,  "TCP acknowledgement number"},
    {"tcp_flags",       COL_U32,  "TCP flags: 1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK, 32 URG, 64 ECE, 128 CWR"},
    {"tcp_window",      COL_U32,  "TCP window as in the header"},
    {"window_scale",    COL_U32,  "Window scale, in segments that carry it"},
    {"payload_length",  COL_U32,  "Bytes behind the TCP or UDP header, as the headers say"},
    {"payload_hash",    COL_I64,  "Of the first 64 payload bytes; NULL for TCP, which numbers its bytes"},
    {"ip_id",           COL_U32,  "IPv4 id, or that of the fragment header"},
    {"dont_fragment",   COL_BOOL, "IPv4: do not fragment"},
    {"more_fragments",  COL_BOOL, "Further fragments follow"},
    {"fragment_offset", COL_U32,  "Bytes of the packet in front of this fragment"},
    {"checksum",        COL_U32,  "Of TCP or UDP"},
    {"icmp_type",       COL_U32,  "ICMP type"},
    {"icmp_code",       COL_U32,  "ICMP code"},
    {"wire_length",     COL_U32,  "Bytes on the wire, as far as known; NULL when only headers were logged"},
    {"tuple",           COL_TEXT, "source -> destination/protocol"},
    {"application",     COL_TEXT, "TLS, HTTP, DNS or QUIC, by the first payload bytes"},
    {"server_name",     COL_TEXT, "Server name of TLS, question of DNS, request line of HTTP"},
    {"quic_version",    COL_U32,  "Of a QUIC long header"},
    {"dcid",            COL_TEXT, "Destination connection id of a QUIC long header"},
    {"scid",            COL_TEXT, "Source connection id of a QUIC long header"},
    {"truncated_at",    COL_TEXT, "Layer that did not arrive whole"},
    {"malformed",       COL_TEXT, "Layer that contradicts itself"},
};
// clang-format on

const TableDef TABLE_CAPTURED_FRAME = {
    "captured_frame",
    "One record of a captured frame, with what its headers say (use the view `packet`)",
    CAPTURED_FRAME_COLUMNS, COUNT_OF(CAPTURED_FRAME_COLUMNS)};

typedef enum CaptureKind { CAPTURE_NONE, CAPTURE_NDIS, CAPTURE_WAN, CAPTURE_PKTMON } CaptureKind;

// One record, read.
typedef struct Frame {
    CaptureKind kind;
    int direction; // 1 receive, 2 send, 0 not recorded
    unsigned media;
    bool has_interface; // and layer
    uint32_t interface, layer;
    bool starts, ends;
    bool has_group; // and appearance
    uint64_t group_id;
    uint32_t number, appearance;
    uint32_t drop_reason, drop_location; // PktMon
    bool has_bytes;
    Str bytes;
    uint32_t at, original;
    bool has_headers; // parsed by the capture: `parsed` has them
    Packet parsed;
    bool has_vlan; // out of band
    uint32_t vlan_id;
} Frame;

// ---------------------------------------------------------------- NDIS-PacketCapture and WAN

static const uint64_t KEYWORD_RAW_IP = 0x8200; // wireless WAN and tunnel
static const uint64_t KEYWORD_WIFI = 0x10000;
static const uint64_t KEYWORD_START = 0x40000000;
static const uint64_t KEYWORD_END = 0x80000000;
static const uint64_t KEYWORD_SEND = 0x100000000;
static const uint64_t KEYWORD_RECEIVE = 0x200000000;

// The bytes that a size in front announces, or what is left of them.
static void take_frame(Rd *r, uint64_t size, Frame *frame) {
    uint64_t left = rd_left(r);
    frame->at = (uint32_t)rd_at(r);
    frame->bytes = rd_bytes(r, (size_t)(size < left ? size : left));
    frame->has_bytes = true;
}

// An array of NetBufferListInfo values; the fifth is the tag that the card took off the frame:
// priority 3 bits, CFI 1, VLAN 12 (NDIS_NET_BUFFER_LIST_8021Q_INFO).
static void take_out_of_band(Rd *r, unsigned pointer_size, Frame *frame) {
    enum { INDEX_8021Q = 4 };
    uint64_t size = rd_u32(r);
    if (!rd_ok(r) || size > rd_left(r)) return;
    Rd info = rd_sub(r, (size_t)size);
    rd_skip(&info, (size_t)INDEX_8021Q * pointer_size);
    uint64_t tag = rd_ptr(&info, pointer_size);
    if (!rd_ok(&info) || !tag) return;
    frame->vlan_id = (uint32_t)(tag >> 4 & 0xFFF);
    frame->has_vlan = frame->vlan_id != 0;
}

// 1003: ports of the virtual switch in front of the frame, out-of-band data behind it.
static void read_switch(Rd *r, unsigned pointer_size, Frame *frame) {
    enum { NAMES = 3 };
    rd_skip(r, 4);
    for (unsigned i = 0; i < NAMES; i++) (void)rd_wstr_raw(r);
    uint32_t destinations = rd_u32(r);
    for (uint32_t i = 0; i < destinations && rd_ok(r); i++) {
        rd_skip(r, 4);
        for (unsigned n = 0; n < NAMES; n++) (void)rd_wstr_raw(r);
    }
    uint64_t size = rd_u32(r);
    if (!rd_ok(r)) return;
    take_frame(r, size, frame);
    take_out_of_band(r, pointer_size, frame);
}

static bool read_ndis(const EtlEvent *event, Frame *frame) {
    enum { SWITCH = 1003 };
    Rd r = rd_from_str(event->payload);
    uint64_t keyword = event->keyword;
    frame->has_interface = true;
    frame->interface = rd_u32(&r);
    frame->layer = rd_u32(&r);
    if (event->id == SWITCH) {
        read_switch(&r, event->pointer_size, frame);
    } else {
        uint64_t size = rd_u32(&r);
        if (rd_ok(&r)) take_frame(&r, size, frame);
    }
    frame->direction = keyword & KEYWORD_SEND ? 2 : keyword & KEYWORD_RECEIVE ? 1 : 0;
    frame->media = keyword & KEYWORD_RAW_IP ? MEDIA_IP
                   : keyword & KEYWORD_WIFI ? MEDIA_WIFI
                                            : MEDIA_ETHERNET;
    frame->starts = (keyword & KEYWORD_START) != 0;
    frame->ends = (keyword & KEYWORD_END) != 0;
    return frame->has_bytes;
}

static bool read_wan(const EtlEvent *event, Frame *frame) {
    enum { SENT = 5001 };
    Rd r = rd_from_str(event->payload);
    (void)rd_wstr_raw(&r); // routing domain
    (void)rd_wstr_raw(&r); // user
    uint64_t size = rd_u32(&r);
    if (!rd_ok(&r)) return false;
    take_frame(&r, size, frame);
    frame->direction = event->id == SENT ? 2 : 1;
    frame->media = MEDIA_IP;
    frame->starts = frame->ends = true;
    return true;
}

// ---------------------------------------------------------------- PktMon

static void read_common(Rd *r, bool identity, Frame *frame) {
    if (identity) {
        frame->group_id = rd_u64(r);
        frame->number = rd_u16(r);
        frame->appearance = rd_u16(r);
    }
    unsigned tag = rd_u16(r); // 1, 3, 5: in, receive, ingress; 2, 4, 6: out, transmit, egress
    frame->direction = tag >= 1 && tag <= 6 ? (tag & 1 ? 1 : 2) : 0;
    frame->media = rd_u16(r);
    frame->interface = rd_u16(r);
    frame->layer = rd_u16(r);
    rd_skip(r, 2); // filter
    frame->drop_reason = rd_u32(r);
    frame->drop_location = rd_u32(r);
    frame->has_group = identity;
}

// Headers that PktMon took apart; ports are in host order here, addresses in network order.
static void read_addresses(Rd *r, unsigned ip_version, Packet *packet) {
    enum { TCP = 6, UDP = 17, SCTP = 132 };
    size_t size = ip_version == 4 ? 4 : 16;
    const uint8_t *dst = rd_take(r, size), *src = rd_take(r, size);
    if (dst && src) {
        memcpy(packet->dst, dst, size);
        memcpy(packet->src, src, size);
    }
    packet->ip_version = (uint8_t)ip_version;
    packet->ip_proto = rd_u8(r);
    packet->dport = rd_u16(r);
    packet->sport = rd_u16(r);
    packet->has_ports =
        packet->ip_proto == TCP || packet->ip_proto == UDP || packet->ip_proto == SCTP;
}

// 120 to 150: parsed headers, then the common fields.
static void read_parsed(Rd *r, unsigned ip_version, Frame *frame) {
    enum { MACS = 12 };
    Packet *packet = &frame->parsed;
    rd_skip(r, MACS);
    packet->ether_type = rd_u16(r);
    frame->vlan_id = rd_u16(r) & 0xFFFu;
    frame->has_vlan = frame->vlan_id != 0;
    read_addresses(r, ip_version, packet);
    packet->flags = rd_u8(r);
    read_common(r, true, frame);
    frame->has_headers = true;
}

static void read_payload(Rd *r, Frame *frame) {
    frame->original = rd_u16(r);
    uint64_t logged = rd_u16(r);
    if (rd_ok(r)) take_frame(r, logged, frame);
}

static bool read_pktmon(const EtlEvent *event, Frame *frame) {
    Rd r = rd_from_str(event->payload);
    frame->has_interface = frame->starts = frame->ends = true;
    switch (event->id) {
    case 120:
    case 140: read_parsed(&r, 4, frame); break;
    case 130:
    case 150: read_parsed(&r, 6, frame); break;
    case 160:
    case 170:
    case 240:
        read_common(&r, true, frame);
        read_payload(&r, frame);
        break;
    default: // 200 to 230: headers and payload without the identity of the packet
        read_common(&r, false, frame);
        read_addresses(&r, event->id == 200 || event->id == 210 ? 4 : 6, &frame->parsed);
        read_payload(&r, frame);
        frame->has_headers = frame->media > MEDIA_IP;
        break;
    }
    return rd_ok(&r);
}

// ---------------------------------------------------------------- rows

static CaptureKind capture_kind(const EtlEvent *event) {
    static const Guid NDIS = {
        {0x6E, 0x00, 0xD6, 0x2E, 0x29, 0x47, 0x09, 0x46, 0xB4, 0x23, 0x3E, 0xE7, 0xBC, 0xD6, 0x78,
         0xEF}
    };
    static const Guid WAN = {
        {0xF7, 0x21, 0x45, 0xD8, 0x35, 0x22, 0x37, 0x42, 0xA7, 0xC0, 0x14, 0xE3, 0xA9, 0x67, 0x62,
         0x86}
    };
    static const Guid PKTMON = {
        {0xD9, 0x80, 0x4F, 0x4D, 0xBD, 0xC8, 0x73, 0x4D, 0xBB, 0x5B, 0x19, 0xC9, 0x04, 0x02, 0xC5,
         0xAC}
    };
    if (event->kind != ETL_MANIFEST) return CAPTURE_NONE;
    switch (event->id) {
    case 1001:
    case 1003: return guid_eq(&event->provider, &NDIS) ? CAPTURE_NDIS : CAPTURE_NONE;
    case 5001:
    case 5002: return guid_eq(&event->provider, &WAN) ? CAPTURE_WAN : CAPTURE_NONE;
    case 120:
    case 130:
    case 140:
    case 150:
    case 160:
    case 170:
    case 200:
    case 210:
    case 220:
    case 230:
    case 240: return guid_eq(&event->provider, &PKTMON) ? CAPTURE_PKTMON : CAPTURE_NONE;
    default: return CAPTURE_NONE;
    }
}

static bool read_frame(const EtlEvent *event, Frame *frame) {
    switch (frame->kind) {
    case CAPTURE_NDIS: return read_ndis(event, frame);
    case CAPTURE_WAN: return read_wan(event, frame);
    case CAPTURE_PKTMON: return read_pktmon(event, frame);
    case CAPTURE_NONE: return false;
    }
    return false;
}

static void put_flag_if(Row *row, bool present, bool v) {
    if (present)
        put_bool(row, v);
    else
        put_null(row);
}

static void put_some_text(Row *row, Str text) {
    put_text(row, text.n ? text : (Str){0});
}

static void put_record(Row *row, const EtlEvent *event, const Frame *frame) {
    static const char *const SOURCES[] = {NULL, "ndis", "wan", "pktmon"};
    static const char *const DIRECTIONS[] = {NULL, "receive", "send"};
    bool pktmon = frame->kind == CAPTURE_PKTMON;
    put_text(row, str_from_c(SOURCES[frame->kind]));
    put_u32(row, event->id);
    put_some_text(row, str_from_c(DIRECTIONS[frame->direction]));
    put_u32(row, frame->media);
    put_u32_if(row, frame->has_interface, frame->interface);
    put_u32_if(row, frame->has_interface, frame->layer);
    put_bool(row, frame->starts);
    put_bool(row, frame->ends);
    put_u64_if(row, frame->has_group, frame->group_id);
    put_u32_if(row, frame->has_group, frame->number);
    put_u32_if(row, frame->has_group, frame->appearance);
    put_u32_if(row, pktmon, frame->drop_reason);
    put_u32_if(row, pktmon, frame->drop_location);
    put_u32_if(row, frame->has_bytes, frame->at);
    put_u32(row, (uint32_t)frame->bytes.n);
    put_u32(row, frame->original);
}

static void put_cid(Row *row, const uint8_t *cid, size_t n) {
    char text[2 * PACKET_CID_MAX];
    put_some_text(row, hex_write(text, cid, n));
}

static void put_transport(Row *row, const Packet *packet, bool parsed) {
    enum { TCP = 6, HASHED_BYTES = 64 };
    bool ports = packet->has_ports, tcp = ports && packet->ip_proto == TCP, whole = !parsed;
    Str start = str_slice(packet->payload, 0, HASHED_BYTES);
    bool hashed = start.n > 0 && !tcp;
    put_u32_if(row, ports, packet->sport);
    put_u32_if(row, ports, packet->dport);
    put_u32_if(row, tcp && whole, packet->seq);
    put_u32_if(row, tcp && whole, packet->ack);
    put_u32_if(row, tcp && (whole || packet->flags), packet->flags);
    put_u32_if(row, tcp && whole, packet->window);
    put_u32_if(row, packet->window_scale >= 0, (uint32_t)packet->window_scale);
    put_u32_if(row, ports && (whole || packet->payload.p), packet->payload_length);
    put_i64_if(row, hashed, hashed ? (int64_t)(str_hash(start) >> 1) : 0);
}

static void put_fragment(Row *row, const Packet *packet, bool parsed) {
    bool ip = packet->ip_version != 0 && !parsed, v4 = packet->ip_version == 4 && !parsed;
    put_u32_if(row, v4 || packet->fragment_offset || packet->more_fragments, packet->ip_id);
    put_flag_if(row, v4, packet->dont_fragment);
    put_flag_if(row, ip, packet->more_fragments);
    put_u32_if(row, ip, packet->fragment_offset);
    put_u32_if(row, packet->has_ports && !parsed, packet->checksum);
}

static void put_packet(Row *row, const Packet *packet, const Frame *frame) {
    char protocol[PACKET_PROTOCOL_SIZE], src[IP_TEXT_SIZE], dst[IP_TEXT_SIZE];
    char tuple[PACKET_TUPLE_SIZE];
    bool ip = packet->ip_version != 0, parsed = frame->has_headers;
    bool vlan = packet->has_vlan || frame->has_vlan;
    put_u32_if(row, vlan, packet->has_vlan ? packet->vlan_id : frame->vlan_id);
    put_u32_if(row, ip, packet->ip_version);
    put_some_text(row, packet_protocol(packet, protocol));
    put_u32_if(row, ip || packet->has_ports, packet->ip_proto);
    put_some_text(row, packet_address(packet, false, src));
    put_some_text(row, packet_address(packet, true, dst));
    put_transport(row, packet, parsed);
    put_fragment(row, packet, parsed);
    put_u32_if(row, packet->has_icmp, packet->icmp_type);
    put_u32_if(row, packet->has_icmp, packet->icmp_code);
    put_u32_if(row, !parsed, packet->wire_length);
    put_some_text(row, packet_tuple(packet, tuple));
    put_some_text(row, str_from_c(packet->application));
    put_some_text(row, str_from_c(packet->name));
    bool quic = packet->application && strcmp(packet->application, "QUIC") == 0;
    bool is_long = quic && (packet->dcid_bytes || packet->scid_bytes || packet->quic_version);
    put_u32_if(row, is_long, packet->quic_version);
    put_cid(row, packet->dcid, packet->dcid_bytes);
    put_cid(row, packet->scid, packet->scid_bytes);
    put_some_text(row, str_from_c(packet->truncated_at));
    put_some_text(row, str_from_c(packet->malformed));
}

bool capture_row(Decoder *decoder, const EtlEvent *event, EventRow of) {
    Frame frame = {.kind = capture_kind(event)};
    if (frame.kind == CAPTURE_NONE) return false;
    frame.parsed.window_scale = -1;
    if (!read_frame(event, &frame)) {
        decoder->short_payloads++;
        return false;
    }
    Packet packet = frame.parsed;
    if (frame.has_headers) {
        packet.payload_length = frame.original; // of what follows the headers
        packet.payload = frame.bytes;
    } else {
        PacketInput input = {
            .bytes = frame.bytes, .media = frame.media, .original = frame.original};
        packet_decode(&input, &packet, NULL);
    }
    Row row = event_row_begin(decoder, T_CAPTURED_FRAME, event, of);
    put_record(&row, event, &frame);
    put_packet(&row, &packet, &frame);
    row_end(&row);
    return true;
}
