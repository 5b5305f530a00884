// TCP and UDP events (groups 06 and 08). Fields are packed, addresses and ports in network order.
// In TCP events daddr and dport are the remote end in both directions; in UDP events saddr is the
// sender, which is the remote end of a receive.
#include "decode/kernel/families.h"
#include "decode/tables.h"

// What put_flow() fills behind upid, source and kind.
// clang-format off
#define FLOW_COLUMNS                                                                               \
    {"ip_version",      COL_U8,   "4 or 6"},                                                       \
    {"pid",             COL_U32,  "Process id in the payload"},                                    \
    {"bytes",           COL_U32,  "Payload bytes"},                                                \
    {"local_address",   COL_TEXT, "Local address"},                                                \
    {"local_port",      COL_U32,  "Local port"},                                                   \
    {"remote_address",  COL_TEXT, "Remote address"},                                               \
    {"remote_port",     COL_U32,  "Remote port"},                                                  \
    {"connection_id",   COL_U64,  "As recorded (0 on most systems)"},                              \
    {"sequence_number", COL_U32,  "As recorded (0 on most systems)"}
// clang-format on

static const ColumnDef TCP_EVENT_COLUMNS[] = {
    EVENT_COLUMNS,
    {"upid",           COL_U32,  "Process"                                                   },
    {"source",         COL_TEXT, "kernel (TcpIp class) or kernel_network (manifest provider)"},
    {"kind",           COL_TEXT,
      "send, receive, connect, disconnect, retransmit, accept, reconnect, copy, fail, arp_copy, "
     "full_ack, partial_ack or duplicate_ack"                                                 },
    FLOW_COLUMNS,
    {"mss",            COL_U32,  "Maximum segment size (connect, accept)"                    },
    {"receive_window", COL_U32,  "Receive window (connect, accept)"                          },
    {"failure_code",   COL_U32,  "Failure code (fail)"                                       },
    STACK_COLUMN,
};

const TableDef TABLE_TCP_EVENT = {"tcp_event",
                                  "One TCP event of the kernel's TcpIp class or of Kernel-Network",
                                  TCP_EVENT_COLUMNS, COUNT_OF(TCP_EVENT_COLUMNS)};

static const ColumnDef UDP_EVENT_COLUMNS[] = {
    EVENT_COLUMNS,
    {"upid",         COL_U32,  "Process"                 },
    {"source",       COL_TEXT, "kernel or kernel_network"},
    {"kind",         COL_TEXT, "send, receive or fail"   },
    FLOW_COLUMNS,
    {"failure_code", COL_U32,  "Failure code (fail)"     },
    STACK_COLUMN,
};

const TableDef TABLE_UDP_EVENT = {"udp_event",
                                  "One UDP event of the kernel's UdpIp class or of Kernel-Network",
                                  UDP_EVENT_COLUMNS, COUNT_OF(UDP_EVENT_COLUMNS)};

enum NetSlot {
    N_PID = 1,
    N_SIZE,
    N_DADDR,
    N_SADDR,
    N_DPORT,
    N_SPORT,
    N_SEQUENCE,
    N_CONNECTION,
    N_MSS,
    N_WINDOW,
    N_FAILURE,
};

#define ENDS(address)                                                                              \
    {"PID", F_U32, N_PID, 0}, {"size", F_U32, N_SIZE, 0}, {"daddr", address, N_DADDR, 0},          \
        {"saddr", address, N_SADDR, 0}, {"dport", F_BE16, N_DPORT, 0}, {                           \
        "sport", F_BE16, N_SPORT, 0                                                                \
    }
#define TIMES                                                                                      \
    {"startime", F_U32, 0, 0}, {                                                                   \
        "endtime", F_U32, 0, 0                                                                     \
    }
#define OPTIONS                                                                                    \
    {"mss", F_U16, N_MSS, 0}, {"sackopt", F_U16, 0, 0}, {"tsopt", F_U16, 0, 0},                    \
        {"wsopt", F_U16, 0, 0}, {"rcvwin", F_U32, N_WINDOW, 0}, {"rcvwinscale", F_I16, 0, 0}, {    \
        "sndwinscale", F_I16, 0, 0                                                                 \
    }
#define SEQUENCE                                                                                   \
    { "seqnum", F_U32, N_SEQUENCE, 0 }
#define CONNECTION                                                                                 \
    { "connid", F_PTR, N_CONNECTION, 0 }

static const Field TCP_V0[] = {
    {"daddr", F_IP4,  N_DADDR, 0},
    {"saddr", F_IP4,  N_SADDR, 0},
    {"dport", F_BE16, N_DPORT, 0},
    {"sport", F_BE16, N_SPORT, 0},
    {"size",  F_U32,  N_SIZE,  0},
    {"PID",   F_U32,  N_PID,   0},
};
static const Field TCP_SEND_V1[] = {ENDS(F_IP4), TIMES, CONNECTION, SEQUENCE};
static const Field TCP_SEND_V2[] = {ENDS(F_IP4), TIMES, SEQUENCE, CONNECTION};
static const Field TCP_SEND6[] = {ENDS(F_IP6), TIMES, SEQUENCE, CONNECTION};
static const Field TCP_V1[] = {ENDS(F_IP4), CONNECTION, SEQUENCE};
static const Field TCP_V2[] = {ENDS(F_IP4), SEQUENCE, CONNECTION};
static const Field TCP6[] = {ENDS(F_IP6), SEQUENCE, CONNECTION};
static const Field TCP_CONNECT_V1[] = {ENDS(F_IP4), OPTIONS, CONNECTION, SEQUENCE};
static const Field TCP_CONNECT_V2[] = {ENDS(F_IP4), OPTIONS, SEQUENCE, CONNECTION};
static const Field TCP_CONNECT6[] = {ENDS(F_IP6), OPTIONS, SEQUENCE, CONNECTION};
static const Field FAIL_V1[] = {
    {"Proto", F_U32, 0, 0},
};
static const Field FAIL_V2[] = {
    {"Proto",       F_U16, 0,         0},
    {"FailureCode", F_U16, N_FAILURE, 0},
};
static const Field UDP_V0[] = {
    {"context", F_PTR,  0,       0},
    {"saddr",   F_IP4,  N_SADDR, 0},
    {"sport",   F_BE16, N_SPORT, 0},
    {"size",    F_U16,  N_SIZE,  0},
    {"daddr",   F_IP4,  N_DADDR, 0},
    {"dport",   F_BE16, N_DPORT, 0},
    {"dsize",   F_U16,  0,       0},
};
static const Field UDP_V1[] = {ENDS(F_IP4)};
static const Field UDP_V2[] = {ENDS(F_IP4), SEQUENCE, CONNECTION};
static const Field UDP6[] = {ENDS(F_IP6), SEQUENCE, CONNECTION};

enum { GROUP_UDP = 0x08, TYPE_V6 = 0x10, TYPE_SEND = 0x0A, TYPE_RECEIVE = 0x0B };

static bool is_v6(uint16_t hook) {
    return (hook & 0xFF) >= TYPE_SEND + TYPE_V6;
}

// The hook type of the IPv4 variant.
static unsigned base_type(uint16_t hook) {
    return (hook & 0xFFu) - (is_v6(hook) ? TYPE_V6 : 0);
}

static Str net_kind(uint16_t hook) {
    static const char *const KINDS[] = {
        "send", "receive", "connect",  "disconnect", "retransmit",  "accept",        "reconnect",
        "fail", "copy",    "arp_copy", "full_ack",   "partial_ack", "duplicate_ack",
    };
    return str_from_c(KINDS[base_type(hook) - TYPE_SEND]);
}

static void put_address(Row *row, const Values *v, unsigned slot) {
    char text[IP_TEXT_SIZE];
    Str bytes = v->at[slot].s;
    if (!value_has(v, slot))
        put_null(row);
    else
        put_text(row, bytes.n == 4 ? ip4_to_text(bytes, text) : ip6_to_text(bytes, text));
}

static void put_u32_slot(Row *row, const Values *v, unsigned slot) {
    put_u32_if(row, value_has(v, slot), (uint32_t)v->at[slot].u);
}

// Columns that both tables share, upid to sequence_number.
static void put_flow(Row *row, Decoder *decoder, const EtlEvent *event, uint16_t hook,
                     const Values *v) {
    bool from_remote = hook >> 8 == GROUP_UDP && base_type(hook) == TYPE_RECEIVE;
    uint32_t pid = (uint32_t)v->at[N_PID].u;
    bool has_pid = value_has(v, N_PID);
    put_id(row, has_pid ? world_process(decoder->world, pid, event->ticks) : 0);
    put_text(row, STR("kernel"));
    put_text(row, net_kind(hook));
    put_u8_if(row, value_has(v, N_DADDR), is_v6(hook) ? 6 : 4);
    put_u32_if(row, has_pid, pid);
    put_u32_slot(row, v, N_SIZE);
    put_address(row, v, from_remote ? N_DADDR : N_SADDR);
    put_u32_slot(row, v, from_remote ? N_DPORT : N_SPORT);
    put_address(row, v, from_remote ? N_SADDR : N_DADDR);
    put_u32_slot(row, v, from_remote ? N_SPORT : N_DPORT);
    put_u64_if(row, value_has(v, N_CONNECTION), v->at[N_CONNECTION].u);
    put_u32_slot(row, v, N_SEQUENCE);
}

static bool read_net(Decoder *decoder, const EtlEvent *event, const EventSpec *spec, Values *v) {
    enum { ENDS_COMPLETE = 6 };
    unsigned needed = spec->field_count < ENDS_COMPLETE ? spec->field_count : ENDS_COMPLETE;
    if (spec_read(spec, event, v) >= needed) return true;
    decoder->short_payloads++;
    return false;
}

static void emit_tcp(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (!read_net(decoder, event, spec, &v)) return;
    Row row = decoder_row(decoder, T_TCP_EVENT, event);
    put_flow(&row, decoder, event, spec->hook, &v);
    put_u32_slot(&row, &v, N_MSS);
    put_u32_slot(&row, &v, N_WINDOW);
    put_u32_slot(&row, &v, N_FAILURE);
    put_id(&row, decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

static void emit_udp(Decoder *decoder, const EtlEvent *event, const EventSpec *spec) {
    Values v;
    if (!read_net(decoder, event, spec, &v)) return;
    Row row = decoder_row(decoder, T_UDP_EVENT, event);
    put_flow(&row, decoder, event, spec->hook, &v);
    put_u32_slot(&row, &v, N_FAILURE);
    put_id(&row, decoder_stack(decoder, event, event->tid));
    row_end(&row);
}

#define TCP(type, version, name, fields)                                                           \
    SPEC_ROWS(0x0600 | (type), version, version, "TcpIp/" name, fields, 0, T_TCP_EVENT, emit_tcp)
#define UDP(type, version, name, fields)                                                           \
    SPEC_ROWS(0x0800 | (type), version, version, "UdpIp/" name, fields, 0, T_UDP_EVENT, emit_udp)
#define TCP_PLAIN(type, name)                                                                      \
    TCP(type, 0, name, TCP_V0), TCP(type, 1, name, TCP_V1), TCP(type, 2, name, TCP_V2)
#define TCP_CONNECT(type, name)                                                                    \
    TCP(type, 0, name, TCP_V0), TCP(type, 1, name, TCP_CONNECT_V1),                                \
        TCP(type, 2, name, TCP_CONNECT_V2)

static const EventSpec NETWORK_SPECS[] = {
    TCP(0x0A, 0, "SendIPV4", TCP_V0),
    TCP(0x0A, 1, "SendIPV4", TCP_SEND_V1),
    TCP(0x0A, 2, "SendIPV4", TCP_SEND_V2),
    TCP_PLAIN(0x0B, "RecvIPV4"),
    TCP_CONNECT(0x0C, "ConnectIPV4"),
    TCP_PLAIN(0x0D, "DisconnectIPV4"),
    TCP_PLAIN(0x0E, "RetransmitIPV4"),
    TCP_CONNECT(0x0F, "AcceptIPV4"),
    TCP(0x10, 1, "ReconnectIPV4", TCP_V1),
    TCP(0x10, 2, "ReconnectIPV4", TCP_V2),
    TCP(0x11, 1, "Fail", FAIL_V1),
    TCP(0x11, 2, "Fail", FAIL_V2),
    TCP(0x12, 1, "TCPCopyIPV4", TCP_V1),
    TCP(0x12, 2, "TCPCopyIPV4", TCP_V2),
    TCP(0x13, 1, "ARPCopyIPV4", TCP_V1),
    TCP(0x14, 1, "FullACKIPV4", TCP_V1),
    TCP(0x15, 1, "PartACKIPV4", TCP_V1),
    TCP(0x16, 1, "DupACKIPV4", TCP_V1),
    TCP(0x1A, 2, "SendIPV6", TCP_SEND6),
    TCP(0x1B, 2, "RecvIPV6", TCP6),
    TCP(0x1C, 2, "ConnectIPV6", TCP_CONNECT6),
    TCP(0x1D, 2, "DisconnectIPV6", TCP6),
    TCP(0x1E, 2, "RetransmitIPV6", TCP6),
    TCP(0x1F, 2, "AcceptIPV6", TCP_CONNECT6),
    TCP(0x20, 2, "ReconnectIPV6", TCP6),
    SPEC_NAME(0x0621, "TcpIp/FailIPV6"),
    TCP(0x22, 2, "TCPCopyIPV6", TCP6),
    SPEC_NAME(0x0623, "TcpIp/ARPCopyIPV6"),
    SPEC_NAME(0x0624, "TcpIp/FullACKIPV6"),
    SPEC_NAME(0x0625, "TcpIp/PartACKIPV6"),
    SPEC_NAME(0x0626, "TcpIp/DupACKIPV6"),
    UDP(0x0A, 0, "SendIPV4", UDP_V0),
    UDP(0x0A, 1, "SendIPV4", UDP_V1),
    UDP(0x0A, 2, "SendIPV4", UDP_V2),
    UDP(0x0B, 0, "RecvIPV4", UDP_V0),
    UDP(0x0B, 1, "RecvIPV4", UDP_V1),
    UDP(0x0B, 2, "RecvIPV4", UDP_V2),
    UDP(0x11, 2, "Fail", FAIL_V2),
    UDP(0x1A, 2, "SendIPV6", UDP6),
    UDP(0x1B, 2, "RecvIPV6", UDP6),
};
const SpecFamily FAMILY_NETWORK = {NETWORK_SPECS, COUNT_OF(NETWORK_SPECS), NULL};
