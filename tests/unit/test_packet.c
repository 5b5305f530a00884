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
#define IP4(total, protocol)                                                                       \
    ETH "08004500" total "00000000"                                                                \
        "40" protocol "00000a0000010a000002"
#define IP6(length, next)                                                                          \
    ETH "86dd60000000" length next "40"                                                            \
        "20010db8000000000000000000000001"                                                         \
        "20010db8000000000000000000000002"
#define SEGMENT "04d20050000003e8000000005002200000000000"
#define IP6_TCP                                                                                    \
    "aabbccddeeff11223344556686dd600000000014064020010db800000000000000000000000120010db80000000"  \
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
#include "packet_cases.inc"
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const Case *c = &CASES[i];
        uint8_t bytes[BYTES_MAX];
        char text[PACKET_TUPLE_SIZE];
        PacketInput input = {
            .bytes = {(const char *)bytes, bytes_from_hex(c->hex, bytes)},
              .media = c->media
        };
        Packet packet;
        AUTO(buf_done) Buf json = {0};
        packet_decode(&input, &packet, NULL);
        packet_print(&input, true, &json);
        Str tuple = packet_tuple(&packet, text);
        if (!str_eq(tuple, str_from_c(c->tuple))) fail_msg("case %zu: " STR_FMT, i, STR_ARG(tuple));
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
            PacketInput input = {
                .bytes = {(const char *)exact, n},
                  .media = CASES[i].media
            };
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
    PacketInput input = {
        .bytes = {(const char *)bytes, n},
          .media = MEDIA_ETHERNET
    };
    packet_decode(&input, &packet, NULL);
    assert_int_equal(packet.wire_length, 1514);
    assert_int_equal(packet.payload_length, 1460);
    assert_null(packet.truncated_at);
    input.original = 1518;
    packet_decode(&input, &packet, NULL);
    assert_int_equal(packet.wire_length, 1518);
    // A length of zero: the card cuts the frame up.
    n = bytes_from_hex(IP4("0000", "06") "04d20050000003e80000000050102000000000004142", bytes);
    input = (PacketInput){
        .bytes = {(const char *)bytes, n},
          .media = MEDIA_ETHERNET
    };
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
