// The packet decoder on frames written out in hexadecimal.
#include "decode/packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { BYTES_MAX = 512 };
#define ETH "aabbccddeeff112233445566"
// Ethernet, IPv4 of total length `total` (hexadecimal) and protocol, 10.0.0.1 to 10.0.0.2.
#define IP4(total, protocol) ETH "08004500" total "00000000" "40" protocol "00000a0000010a000002"
#define IP6(length, next)                                                                          \
    ETH "86dd60000000" length next "40"                                                            \
        "20010db8000000000000000000000001" "20010db8000000000000000000000002"
#define SEGMENT "04d20050000003e8000000005002200000000000"
#define IP6_TCP                                                                                    \
    "aabbccddeeff11223344556686dd600000000014064020010db800000000000000000000000120010db80000000" \
    "0000000000000000210e101bb00003039000109325010ffff00000000"

static size_t bytes_from_hex(const char *hex, uint8_t *out) {
    size_t n = strlen(hex) / 2;
    assert_true(n <= BYTES_MAX && strlen(hex) % 2 == 0);
    for (size_t i = 0; i < n; i++) {
        uint64_t byte = 0;
        char digits[5] = {'0', 'x', hex[2 * i], hex[2 * i + 1], 0};
        assert_true(str_to_u64(str_from_c(digits), &byte));
        out[i] = (uint8_t)byte;
    }
    return n;
}

typedef struct Case {
    const char *hex;
    unsigned media;
    const char *tuple;
    const char *truncated_at, *malformed, *application, *name;
    const char *parts[8]; // of the JSON text
} Case;

static const Case CASES[] = {
    {"aabbccddeeff11223344556608004500002800000000400600000a0000010a00000204d20050000003e80000"
     "00005002200000000000",
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "",
     {"\"eth.dst\":\"aa:bb:cc:dd:ee:ff\"", "\"eth.src\":\"11:22:33:44:55:66\"",
      "\"tcp.seq\":1000,\"tcp.ack\":0,\"tcp.data_offset\":5,\"tcp.flags\":\"SYN\","
      "\"tcp.flags_raw\":\"0x2\",\"tcp.window\":8192",
      "\"ip.ttl\":64", "\"ip.total_length\":40", "\"ip.header_len\":20"}},
    {"aabbccddeeff11223344556608004500002c1234000040110000c0a8010ac0a8011413881388001800000000"
     "00000000000000000000000000000000",
     MEDIA_ETHERNET, "192.168.1.10:5000 -> 192.168.1.20:5000/udp", NULL, NULL, NULL, "",
     {"\"ip.id\":\"0x1234\"", "\"ip.total_length\":44", "\"udp.length\":24",
      "\"udp.payload_length\":16"}},
    {IP6_TCP, MEDIA_ETHERNET, "[2001:db8::1]:4321 -> [2001:db8::2]:443/tcp", NULL, NULL, NULL, "",
     {"\"tcp.seq\":12345,\"tcp.ack\":67890", "\"tcp.flags\":\"ACK\"", "\"tcp.window\":65535",
      "\"ip.hop_limit\":64", "\"ip.payload_length\":20"}},
    {IP6("0008", "11") "2328232900080000", MEDIA_ETHERNET,
     "[2001:db8::1]:9000 -> [2001:db8::2]:9001/udp", NULL, NULL, NULL, "", {"\"udp.length\":8"}},
    {"ffffffffffff112233445566080600010800060400011122334455660a0000010000000000000a000002",
     MEDIA_ETHERNET, "arp", NULL, NULL, NULL, "",
     {"\"eth.ethertype\":\"0x806\"", "\"arp.summary\":\"who-has 10.0.0.2 tell 10.0.0.1\""}},
    // Truncation: what came whole before stays.
    {"", MEDIA_ETHERNET, "undecoded", "eth", NULL, NULL, "", {"{\"layers\":[]"}},
    {ETH, MEDIA_ETHERNET, "undecoded", "eth", NULL, NULL, "", {0}},
    {ETH "0800" "4500002800000000", MEDIA_ETHERNET, "undecoded", "ip", NULL, NULL, "",
     {"\"eth.ethertype\":\"0x800\"}]"}},
    {IP4("0028", "06") "04d20050000003e80000", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/tcp", "tcp",
     NULL, NULL, "", {"\"ip.dst\":\"10.0.0.2\""}},
    {IP4("0028", "06") "04d20050000003e8000000008002200000000000", MEDIA_ETHERNET,
     "10.0.0.1 -> 10.0.0.2/tcp", "tcp", NULL, NULL, "", {0}},
    {IP4("0018", "11") "04d20050", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/udp", "udp", NULL, NULL,
     "", {0}},
    {IP4("0018", "01") "0800", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/icmp", "icmp", NULL, NULL, "",
     {0}},
    {IP6("0003", "3a") "8000", MEDIA_ETHERNET, "2001:db8::1 -> 2001:db8::2/icmpv6", "icmpv6", NULL,
     NULL, "", {0}},
    {ETH "8100" "0064", MEDIA_ETHERNET, "undecoded", "vlan", NULL, NULL, "", {0}},
    // Nonsense is not truncation.
    {ETH "0800" "4400002800000000400600000a0000010a000002", MEDIA_ETHERNET, "undecoded", NULL, "ip",
     NULL, "", {0}},
    {ETH "0800" "6500002800000000400600000a0000010a000002", MEDIA_ETHERNET, "undecoded", NULL, "ip",
     NULL, "", {0}},
    {IP4("0028", "06") "04d20050000003e8000000004002200000000000", MEDIA_ETHERNET,
     "10.0.0.1 -> 10.0.0.2/tcp", NULL, "tcp", NULL, "", {0}},
    // Tags of any depth.
    {ETH "88a8" "2064" "8100" "0005" "0800" "4500002800000000400600000a0000010a000002" SEGMENT,
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "",
     {"\"vlan.id\":100,\"vlan.priority\":1", "\"vlan.id\":5"}},
    // 802.3 with SNAP.
    {ETH "0030" "aaaa03000000" "0800" "4500002800000000400600000a0000010a000002" SEGMENT,
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "",
     {"\"eth.length\":\"0x30\"", "\"llc.type\":\"0x800\""}},
    // Raw IP; 802.11 data with a QoS field.
    {"4500002800000000400600000a0000010a000002" SEGMENT, MEDIA_IP,
     "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "", {"{\"layer\":\"ip\""}},
    {"88020000" "aabbccddeeff" "112233445566" "112233445577" "1000" "0000" "aaaa03000000" "0800"
     "4500002800000000400600000a0000010a000002" SEGMENT,
     MEDIA_WIFI, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "",
     {"\"wifi.receiver\":\"aa:bb:cc:dd:ee:ff\""}},
    // A later fragment has no transport header.
    {ETH "0800" "4500002812340010401100000a0000010a000002" "13881389001800000000000000000000",
     MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/udp", NULL, NULL, NULL, "",
     {"\"ip.fragment_offset\":128"}},
    // Hop-by-hop options, then the first fragment.
    {IP6("0018", "00") "2c00010400000000" "1100000100000abc" "2328232900080000", MEDIA_ETHERNET,
     "[2001:db8::1]:9000 -> [2001:db8::2]:9001/udp", NULL, NULL, NULL, "",
     {"\"layer\":\"hop_by_hop\"", "\"ext.more_fragments\":1,\"ext.id\":\"0xabc\"",
      "\"udp.length\":8"}},
    // TCP options and a checksum that is right.
    {IP4("0034", "06") "04d20050000003e800000000800220000000" "0000" "020405b40103030804020000",
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "",
     {"\"tcp.mss\":1460", "\"tcp.window_scale\":8", "\"tcp.sack_permitted\":1"}},
    {IP4("0030", "06") "04d20050000003e8000000007002200000000000" "020405b4" "05020101",
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, NULL, NULL, "", {0}},
    {IP4("0030", "06") "04d20050000003e8000000007002200000000000" "020905b4" "01010000",
     MEDIA_ETHERNET, "10.0.0.1:1234 -> 10.0.0.2:80/tcp", NULL, "tcp", NULL, "", {0}},
    // ICMP: echo; an error with the packet that caused it.
    {IP4("001c", "01") "0800f7ff00000001", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/icmp", NULL, NULL,
     NULL, "", {"\"icmp.name\":\"echo request\"", "\"icmp.sequence\":1"}},
    {IP4("0038", "01") "0303000000000000" "4500001c00000000401100000a0000020a000001"
                       "0035d43100080000",
     MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/icmp", NULL, NULL, NULL, "",
     {"\"icmp.name\":\"destination unreachable\"", "\"depth\":1", "\"udp.src_port\":53"}},
    {IP6("0018", "3a") "8700000000000000" "fe800000000000000000000000000005", MEDIA_ETHERNET,
     "2001:db8::1 -> 2001:db8::2/icmpv6", NULL, NULL, NULL, "",
     {"\"icmp.target\":\"fe80::5\""}},
    // Other protocols and tunnels.
    {IP4("001c", "59") "0000000000000000", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/proto-89", NULL,
     NULL, NULL, "", {0}},
    {IP4("0024", "32") "0000100000000007", MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/proto-50", NULL,
     NULL, NULL, "", {"\"sec.spi\":\"0x1000\",\"sec.sequence\":7"}},
    {IP4("003a", "11") "c00012b500260000" "0800000000002a00" IP4("001c", "59"), MEDIA_ETHERNET,
     "10.0.0.1:49152 -> 10.0.0.2:4789/udp", NULL, NULL, NULL, "",
     {"\"vxlan.vni\":42", "{\"layer\":\"eth\",\"depth\":1"}},
    {IP4("0030", "2f") "20000800000000ff" "4500001400000000400600000a0000010a000002",
     MEDIA_ETHERNET, "10.0.0.1 -> 10.0.0.2/proto-47", NULL, NULL, NULL, "",
     {"\"gre.key\":\"0xff\"", "{\"layer\":\"ip\",\"depth\":1"}},
    // Applications.
    {IP4("0039", "11") "c000003500250000" "123401000001000000000000" "0377777702746c00" "00010001"
                       "00",
     MEDIA_ETHERNET, "10.0.0.1:49152 -> 10.0.0.2:53/udp", NULL, NULL, "DNS", "www.tl",
     {"\"dns.id\":\"0x1234\"", "\"dns.question\":\"www.tl\""}},
    {IP4("003a", "06") "c000005000000001000000025018ffff00000000" "474554202f20485454502f312e310d0a",
     MEDIA_ETHERNET, "10.0.0.1:49152 -> 10.0.0.2:80/tcp", NULL, NULL, "HTTP", "",
     {"\"http.line\":\"GET / HTTP/1.1\""}},
    {IP4("006e", "06") "c00001bb00000001000000025018ffff00000000" "1603010041" "0100003d" "0303"
     "0000000000000000000000000000000000000000000000000000000000000000" "00" "00021301" "0100"
     "0012" "0000000e" "000c" "000009" "612e7465737439" "7a7a",
     MEDIA_ETHERNET, "10.0.0.1:49152 -> 10.0.0.2:443/tcp", NULL, NULL, "TLS", "a.test9zz",
     {"\"tls.handshake\":1", "\"tls.server_name\":\"a.test9zz\""}},
    {IP4("0030", "11") "c00001bb001c0000" "c000000001" "04aabbccdd" "0201ff" "00" "00000000000000",
     MEDIA_ETHERNET, "10.0.0.1:49152 -> 10.0.0.2:443/udp", NULL, NULL, "QUIC", "",
     {"\"quic.type\":\"Initial\",\"quic.dcid\":\"aabbccdd\",\"quic.scid\":\"01ff\"",
      "\"quic.token_length\":0"}},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const Case *c = &CASES[i];
        uint8_t bytes[BYTES_MAX];
        char text[PACKET_TUPLE_SIZE];
        PacketInput input = {.bytes = {(const char *)bytes, bytes_from_hex(c->hex, bytes)},
                             .media = c->media};
        Packet packet;
        AUTO(buf_done) Buf json = {0};
        packet_decode(&input, &packet, NULL);
        packet_print(&input, true, &json);
        Str tuple = packet_tuple(&packet, text);
        if (!str_eq(tuple, str_from_c(c->tuple)))
            fail_msg("case %zu: " STR_FMT, i, STR_ARG(tuple));
        if (!str_eq(str_from_c(packet.truncated_at), str_from_c(c->truncated_at)) ||
            !str_eq(str_from_c(packet.malformed), str_from_c(c->malformed)) ||
            !str_eq(str_from_c(packet.application), str_from_c(c->application)) ||
            !str_eq(str_from_c(packet.name), str_from_c(c->name)))
            fail_msg("case %zu: truncated at %s, malformed %s, application %s, name %s", i,
                     packet.truncated_at ? packet.truncated_at : "-",
                     packet.malformed ? packet.malformed : "-",
                     packet.application ? packet.application : "-", packet.name);
        for (size_t k = 0; k < COUNT_OF(c->parts) && c->parts[k]; k++)
            if (str_find(buf_str(&json), str_from_c(c->parts[k])) == SIZE_MAX)
                fail_msg("case %zu lacks %s in %s", i, c->parts[k], json.p);
    }
}

// Every prefix of every frame: fields of cut headers are not given, nothing is read out of bounds.
static void test_prefixes(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        uint8_t bytes[BYTES_MAX];
        size_t size = bytes_from_hex(CASES[i].hex, bytes);
        for (size_t n = 0; n < size; n++) {
            uint8_t *exact = mem_alloc(n);
            memcpy(exact, bytes, n);
            PacketInput input = {.bytes = {(const char *)exact, n}, .media = CASES[i].media};
            AUTO(buf_done) Buf json = {0};
            packet_print(&input, true, &json);
            assert_true(json.n > 0 && json.p[json.n - 1] == '}');
            mem_free(exact);
        }
    }
}

static void test_lengths(void **state) {
    (void)state;
    uint8_t bytes[BYTES_MAX];
    Packet packet;
    // A frame cut after the transport header: the IP header knows how much there was.
    size_t n = bytes_from_hex(IP4("05dc", "06") "04d20050000003e8000000005010200000000000", bytes);
    PacketInput input = {.bytes = {(const char *)bytes, n}, .media = MEDIA_ETHERNET};
    packet_decode(&input, &packet, NULL);
    assert_int_equal(packet.wire_length, 1514);
    assert_int_equal(packet.payload_length, 1460);
    assert_null(packet.truncated_at);
    input.original = 1518;
    packet_decode(&input, &packet, NULL);
    assert_int_equal(packet.wire_length, 1518);
    // A length of zero: the card cuts the frame up.
    n = bytes_from_hex(IP4("0000", "06") "04d20050000003e80000000050102000000000004142", bytes);
    input = (PacketInput){.bytes = {(const char *)bytes, n}, .media = MEDIA_ETHERNET};
    packet_decode(&input, &packet, NULL);
    assert_int_equal(packet.payload_length, 2);
}

static void test_flags(void **state) {
    (void)state;
    char text[PACKET_FLAGS_SIZE];
    assert_int_equal(packet_flags(0, text).n, 0);
    Str all = packet_flags(0xFF, text);
    assert_true(str_eq(all, STR("FIN,SYN,RST,PSH,ACK,URG,ECE,CWR")));
    assert_true(str_eq(packet_flags(TCP_SYN | TCP_ACK, text), STR("SYN,ACK")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
