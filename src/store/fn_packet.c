// packet_decode() and its kin as scalar functions of SQL. NULL in gives NULL out.
#include "store/fn_packet.h"

#include "decode/packet.h"
#include "store/duck.h"
#include "store/fn_vector.h"

// ---------------------------------------------------------------- the structure

typedef enum Member {
    M_IP_VERSION,
    M_PROTOCOL,
    M_IP_PROTO,
    M_SRC,
    M_DST,
    M_SPORT,
    M_DPORT,
    M_SEQ,
    M_ACK,
    M_FLAGS,
    M_WINDOW,
    M_WINDOW_SCALE,
    M_PAYLOAD_LENGTH,
    M_PAYLOAD_HASH,
    M_IP_ID,
    M_DONT_FRAGMENT,
    M_MORE_FRAGMENTS,
    M_FRAGMENT_OFFSET,
    M_CHECKSUM,
    M_ICMP_TYPE,
    M_ICMP_CODE,
    M_WIRE_LENGTH,
    M_TUPLE,
    M_APPLICATION,
    M_NAME,
    M_QUIC_VERSION,
    M_DCID,
    M_SCID,
    M_TRUNCATED_AT,
    M_MALFORMED,
    MEMBERS
} Member;

static const struct {
    const char *name;
    bool text; // else a whole number
} MEMBER[MEMBERS] = {
    [M_IP_VERSION] = {"ip_version",      false},
    [M_PROTOCOL] = {"protocol",        true },
    [M_IP_PROTO] = {"ip_proto",        false},
    [M_SRC] = {"src",             true },
    [M_DST] = {"dst",             true },
    [M_SPORT] = {"sport",           false},
    [M_DPORT] = {"dport",           false},
    [M_SEQ] = {"seq",             false},
    [M_ACK] = {"ack",             false},
    [M_FLAGS] = {"flags",           false},
    [M_WINDOW] = {"tcp_window",      false},
    [M_WINDOW_SCALE] = {"window_scale",    false},
    [M_PAYLOAD_LENGTH] = {"payload_length",  false},
    [M_PAYLOAD_HASH] = {"payload_hash",    false},
    [M_IP_ID] = {"ip_id",           false},
    [M_DONT_FRAGMENT] = {"dont_fragment",   false},
    [M_MORE_FRAGMENTS] = {"more_fragments",  false},
    [M_FRAGMENT_OFFSET] = {"fragment_offset", false},
    [M_CHECKSUM] = {"checksum",        false},
    [M_ICMP_TYPE] = {"icmp_type",       false},
    [M_ICMP_CODE] = {"icmp_code",       false},
    [M_WIRE_LENGTH] = {"wire_length",     false},
    [M_TUPLE] = {"tuple",           true },
    [M_APPLICATION] = {"application",     true },
    [M_NAME] = {"server_name",     true },
    [M_QUIC_VERSION] = {"quic_version",    false},
    [M_DCID] = {"dcid",            true },
    [M_SCID] = {"scid",            true },
    [M_TRUNCATED_AT] = {"truncated_at",    true },
    [M_MALFORMED] = {"malformed",       true },
};

typedef struct StructOut {
    duckdb_vector child[MEMBERS];
    int64_t *numbers[MEMBERS];
    idx_t row;
} StructOut;

static void put_number(StructOut *out, Member member, bool present, int64_t value) {
    out->numbers[member][out->row] = value;
    if (!present) out_null(out->child[member], out->row);
}

static void put_str(StructOut *out, Member member, Str text) {
    if (text.p && text.n)
        out_text(out->child[member], out->row, text);
    else
        out_null(out->child[member], out->row);
}

static void put_cid(StructOut *out, Member member, const uint8_t *cid, size_t n) {
    char text[2 * PACKET_CID_MAX];
    put_str(out, member, hex_write(text, cid, n));
}

static void put_transport(StructOut *out, const Packet *packet) {
    enum { TCP = 6, HASHED_BYTES = 64 };
    bool ports = packet->has_ports, tcp = ports && packet->ip_proto == TCP;
    Str start = str_slice(packet->payload, 0, HASHED_BYTES);
    put_number(out, M_SPORT, ports, packet->sport);
    put_number(out, M_DPORT, ports, packet->dport);
    put_number(out, M_SEQ, tcp, packet->seq);
    put_number(out, M_ACK, tcp, packet->ack);
    put_number(out, M_FLAGS, tcp, packet->flags);
    put_number(out, M_WINDOW, tcp, packet->window);
    put_number(out, M_WINDOW_SCALE, packet->window_scale >= 0, packet->window_scale);
    put_number(out, M_PAYLOAD_LENGTH, ports, packet->payload_length);
    put_number(out, M_PAYLOAD_HASH, start.n > 0, start.n ? (int64_t)(str_hash(start) >> 1) : 0);
    put_number(out, M_CHECKSUM, ports, packet->checksum);
    put_number(out, M_ICMP_TYPE, packet->has_icmp, packet->icmp_type);
    put_number(out, M_ICMP_CODE, packet->has_icmp, packet->icmp_code);
    put_str(out, M_APPLICATION, str_from_c(packet->application));
    put_str(out, M_NAME, str_from_c(packet->name));
    bool quic = packet->application && strcmp(packet->application, "QUIC") == 0;
    bool is_long = quic && (packet->dcid_bytes || packet->scid_bytes || packet->quic_version);
    put_number(out, M_QUIC_VERSION, is_long, packet->quic_version);
    put_cid(out, M_DCID, packet->dcid, packet->dcid_bytes);
    put_cid(out, M_SCID, packet->scid, packet->scid_bytes);
}

static void put_packet(StructOut *out, const Packet *packet) {
    char protocol[PACKET_PROTOCOL_SIZE], src[IP_TEXT_SIZE], dst[IP_TEXT_SIZE];
    char tuple[PACKET_TUPLE_SIZE];
    bool ip = packet->ip_version != 0;
    put_number(out, M_IP_VERSION, ip, packet->ip_version);
    put_str(out, M_PROTOCOL, packet_protocol(packet, protocol));
    put_number(out, M_IP_PROTO, ip || packet->has_ports, packet->ip_proto);
    put_str(out, M_SRC, packet_address(packet, false, src));
    put_str(out, M_DST, packet_address(packet, true, dst));
    put_number(out, M_IP_ID,
               packet->ip_version == 4 || packet->fragment_offset || packet->more_fragments,
               packet->ip_id);
    put_number(out, M_DONT_FRAGMENT, packet->ip_version == 4, packet->dont_fragment);
    put_number(out, M_MORE_FRAGMENTS, ip, packet->more_fragments);
    put_number(out, M_FRAGMENT_OFFSET, ip, packet->fragment_offset);
    put_number(out, M_WIRE_LENGTH, true, packet->wire_length);
    put_str(out, M_TUPLE, packet_tuple(packet, tuple));
    put_str(out, M_TRUNCATED_AT, str_from_c(packet->truncated_at));
    put_str(out, M_MALFORMED, str_from_c(packet->malformed));
    put_transport(out, packet);
}

static void run_decode(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    (void)info;
    InColumn bytes = in_column(input, 0), media = in_column(input, 1), size = in_column(input, 2);
    StructOut out;
    for (unsigned i = 0; i < MEMBERS; i++) {
        out.child[i] = duckdb_struct_vector_get_child(output, i);
        out.numbers[i] = duckdb_vector_get_data(out.child[i]);
    }
    for (out.row = 0; out.row < duckdb_data_chunk_get_size(input); out.row++) {
        if (in_is_null(&bytes, out.row) || in_is_null(&media, out.row) ||
            in_is_null(&size, out.row)) {
            for (unsigned i = 0; i < MEMBERS; i++) out_null(out.child[i], out.row);
            out_null(output, out.row);
            continue;
        }
        PacketInput frame = {.bytes = in_text(&bytes, out.row),
                             .media = ((const uint32_t *)media.data)[out.row],
                             .original = ((const uint32_t *)size.data)[out.row]};
        Packet packet;
        packet_decode(&frame, &packet, NULL);
        put_packet(&out, &packet);
    }
}

// ---------------------------------------------------------------- text and bytes

static void run_print(duckdb_data_chunk input, duckdb_vector output, bool json) {
    InColumn bytes = in_column(input, 0), media = in_column(input, 1), size = in_column(input, 2);
    InColumn sent = in_column(input, 3);
    AUTO(buf_done) Buf text = {0};
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        if (in_is_null(&bytes, row) || in_is_null(&media, row) || in_is_null(&size, row) ||
            in_is_null(&sent, row)) {
            out_null(output, row);
            continue;
        }
        PacketInput frame = {.bytes = in_text(&bytes, row),
                             .media = ((const uint32_t *)media.data)[row],
                             .original = ((const uint32_t *)size.data)[row],
                             .sent = ((const bool *)sent.data)[row]};
        buf_clear(&text);
        packet_print(&frame, json, &text);
        out_text(output, row, buf_str(&text));
    }
}

static void run_text(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    (void)info;
    run_print(input, output, false);
}

static void run_json(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    (void)info;
    run_print(input, output, true);
}

static void run_slice(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    (void)info;
    InColumn bytes = in_column(input, 0), from = in_column(input, 1), size = in_column(input, 2);
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); row++) {
        if (in_is_null(&bytes, row) || in_is_null(&from, row) || in_is_null(&size, row)) {
            out_null(output, row);
            continue;
        }
        size_t start = ((const uint32_t *)from.data)[row];
        Str part =
            str_slice(in_text(&bytes, row), start, start + ((const uint32_t *)size.data)[row]);
        out_text(output, row, part);
    }
}

// ---------------------------------------------------------------- registration

enum { PARAMETERS_MAX = 4 };
static const struct {
    const char *name;
    duckdb_type parameters[PARAMETERS_MAX]; // DUCKDB_TYPE_INVALID: no more
    duckdb_type result;                     // DUCKDB_TYPE_STRUCT: the structure above
    duckdb_scalar_function_t run;
} FUNCTIONS[] = {
    {"packet_decode",
     {DUCKDB_TYPE_BLOB, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_UINTEGER},
     DUCKDB_TYPE_STRUCT,  run_decode},
    {"packet_text",
     {DUCKDB_TYPE_BLOB, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_BOOLEAN},
     DUCKDB_TYPE_VARCHAR, run_text  },
    {"packet_json",
     {DUCKDB_TYPE_BLOB, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_BOOLEAN},
     DUCKDB_TYPE_VARCHAR, run_json  },
    {"blob_slice",
     {DUCKDB_TYPE_BLOB, DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_UINTEGER},
     DUCKDB_TYPE_BLOB,    run_slice },
};

static duckdb_logical_type struct_type(void) {
    duckdb_logical_type types[MEMBERS];
    const char *names[MEMBERS];
    for (unsigned i = 0; i < MEMBERS; i++) {
        names[i] = MEMBER[i].name;
        types[i] =
            duckdb_create_logical_type(MEMBER[i].text ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_BIGINT);
    }
    duckdb_logical_type type = duckdb_create_struct_type(types, names, MEMBERS);
    for (unsigned i = 0; i < MEMBERS; i++) duckdb_destroy_logical_type(&types[i]);
    return type;
}

static duckdb_scalar_function function_make(size_t index) {
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_scalar_function_set_name(function, FUNCTIONS[index].name);
    for (unsigned i = 0; i < PARAMETERS_MAX; i++) {
        if (FUNCTIONS[index].parameters[i] == DUCKDB_TYPE_INVALID) break;
        scalar_add_parameter(function, FUNCTIONS[index].parameters[i]);
    }
    duckdb_logical_type result = FUNCTIONS[index].result == DUCKDB_TYPE_STRUCT
                                     ? struct_type()
                                     : duckdb_create_logical_type(FUNCTIONS[index].result);
    duckdb_scalar_function_set_return_type(function, result);
    duckdb_destroy_logical_type(&result);
    duckdb_scalar_function_set_function(function, FUNCTIONS[index].run);
    return function;
}

Status packet_functions_register(duckdb_connection connection, Err *err) {
    for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++) {
        duckdb_scalar_function function = function_make(i);
        duckdb_state state = duckdb_register_scalar_function(connection, function);
        duckdb_destroy_scalar_function(&function);
        if (state != DuckDBSuccess)
            return err_set(err, ERR_INTERNAL, "the SQL engine refuses the function %s",
                           FUNCTIONS[i].name);
    }
    return OK;
}
