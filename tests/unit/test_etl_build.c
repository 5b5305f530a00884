// The trace writer against bytes written by hand from the format's description.
#include "base/os.h"
#include "support/etl_build.h"
#include "support/etl_build_compress.h"
#include "support/etl_build_kernel.h"
#include "support/etl_build_meta.h"
#include "support/etl_build_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t at(Str bytes, size_t offset, unsigned size) {
    uint64_t value = 0;
    assert_true(offset + size <= bytes.n);
    memcpy(&value, bytes.p + offset, size);
    return value;
}

static void assert_bytes(Str got, size_t offset, const char *hex) {
    AUTO(buf_done) Buf want = {0};
    assert_true(pay_hex(&want, str_from_c(hex)));
    assert_true(offset + want.n <= got.n);
    assert_memory_equal(got.p + offset, want.p, want.n);
}

static void build_one(const EtlBuildOptions *options, const EtlBuildEvent *event, Buf *out) {
    AUTO(etl_build_close) EtlBuild *build = etl_build_open(options);
    etl_build_event(build, event);
    Err err = {0};
    assert_int_equal(etl_build_finish(build, out, &err), OK);
}

static const EtlBuildOptions SMALL = {.buffer_size = 1024, .cpus = 2, .os_build = 19041};

static void test_buffer_headers(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_PERFINFO,
                           .cpu = 1,
                           .ticks = 10000000123,
                           .hook = 0x0F2E,
                           .version = 2,
                           .payload = STR("0123456789abcdef")};
    build_one(&SMALL, &event, &trace);
    Str t = buf_str(&trace);
    assert_int_equal(t.n, 2048);
    // Header buffer: sizes, sequence 0, flush marker and CPU index flag, type 4.
    assert_int_equal(at(t, 0x00, 4), 1024);
    assert_int_equal(at(t, 0x18, 8), 0);
    assert_int_equal(at(t, 0x2C, 4), 3);
    assert_int_equal(at(t, 0x34, 2), 0x21);
    assert_int_equal(at(t, 0x36, 2), 4);
    // The log header event: SYSTEM64, version 2, hook 0, at 1,000 s.
    assert_bytes(t, 0x48, "0200 02C0");
    assert_bytes(t, 0x4E, "0000");
    assert_int_equal(at(t, 0x58, 8), 10000000000);
    // Its payload (1.5, 64-bit column).
    size_t p = 0x48 + 32;
    assert_int_equal(at(t, p, 4), 1024);
    assert_bytes(t, p + 4, "0A000105");
    assert_int_equal(at(t, p + 8, 4), 19041);
    assert_int_equal(at(t, p + 12, 4), 2);
    assert_int_equal(at(t, p + 36, 4), 2); // buffers written
    assert_int_equal(at(t, p + 44, 4), 8);
    assert_int_equal(at(t, p + 256, 8), 10000000);
    assert_int_equal(at(t, p + 264, 8), 134117966450000000);
    assert_int_equal(at(t, p + 16, 8), 134117966450000123); // 123 ticks later
    assert_int_equal(at(t, p + 272, 4), 1);
    assert_bytes(t, p + 280, "7400 6500 7300 7400 2000"); // "test "
    // The event's buffer: CPU 1, sequence 1, 32 bytes of event behind the header, then 0xFF.
    size_t b = 1024;
    assert_int_equal(at(t, b, 4), 1024);
    assert_int_equal(at(t, b + 0x10, 8), 10000000123);
    assert_int_equal(at(t, b + 0x18, 8), 1);
    assert_int_equal(at(t, b + 0x28, 2), 1);
    assert_int_equal(at(t, b + 0x30, 4), 0x48 + 32);
    assert_int_equal(at(t, b + 0x34, 2), 0x21);
    assert_int_equal(at(t, b + 0x36, 2), 0);
    assert_bytes(t, b + 0x48, "0200 11C0 2000 2E0F 7BE40B5402000000 30313233");
    assert_bytes(t, b + 0x48 + 32, "FFFFFFFF");
}

static const Guid GUID = {
    {0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 1, 2, 3, 4, 5, 6, 7, 8}
};
#define GUID_HEX "44332211 6655 8877 0102030405060708"

static void test_event_headers(void **state) {
    (void)state;
    static const struct {
        EtlBuildHeader header;
        unsigned pointer_size;
        const char *hex;
    } CASES[] = {
        {ETL_BUILD_SYSTEM,   8,
         "0300 02C0 2300 0103 07000000 09000000 8877665544332211 01000000 02000000 414243"     },
        {ETL_BUILD_SYSTEM,   4,
         "0300 01C0 2300 0103 07000000 09000000 8877665544332211 01000000 02000000 414243"     },
        {ETL_BUILD_COMPACT,  8, "0300 04C0 1B00 0103 07000000 09000000 8877665544332211 414243"},
        {ETL_BUILD_COMPACT,  4, "0300 03C0 1B00 0103 07000000 09000000 8877665544332211 414243"},
        {ETL_BUILD_PERFINFO, 8,
         "0382 11C0 2B00 0103 8877665544332211 EFBE000000000000 0100000000000000 0200000000000000 "
         "414243"                                                                              },
        {ETL_BUILD_PERFINFO, 4,
         "0382 10C0 2B00 0103 8877665544332211 EFBE000000000000 0100000000000000 0200000000000000 "
         "414243"                                                                              },
        {ETL_BUILD_FULL,     8,
         "3300 14C0 0A 04 0300 07000000 09000000 8877665544332211 " GUID_HEX
         " 01000000 02000000 414243"                                                           },
        {ETL_BUILD_FULL,     4,
         "3300 0AC0 0A 04 0300 07000000 09000000 8877665544332211 " GUID_HEX
         " 01000000 02000000 414243"                                                           },
        {ETL_BUILD_INSTANCE, 8,
         "4B00 15C0 0A 04 0300 07000000 09000000 8877665544332211 " GUID_HEX
         " 01000000 02000000 0B000000 0C000000 " GUID_HEX " 414243"                            },
        {ETL_BUILD_INSTANCE, 4,
         "4B00 0BC0 0A 04 0300 07000000 09000000 8877665544332211 " GUID_HEX
         " 01000000 02000000 0B000000 0C000000 " GUID_HEX " 414243"                            },
        {ETL_BUILD_EVENT,    8,
         "5300 13C0 0000 0000 07000000 09000000 8877665544332211 " GUID_HEX
         " 3412 03 0B 04 0A 7856 0D00000000000080 01000000 02000000 " GUID_HEX " 414243"       },
        {ETL_BUILD_EVENT,    4,
         "5300 12C0 0000 0000 07000000 09000000 8877665544332211 " GUID_HEX
         " 3412 03 0B 04 0A 7856 0D00000000000080 01000000 02000000 " GUID_HEX " 414243"       },
        {ETL_BUILD_RAW,      8, "414243"                                                       },
    };
    static const uint64_t COUNTERS[] = {1, 2};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf trace = {0};
        EtlBuildEvent event = {.header = CASES[i].header,
                               .pointer_size = CASES[i].pointer_size,
                               .ticks = 0x1122334455667788,
                               .tid = 7,
                               .pid = 9,
                               .kernel_time = 1,
                               .user_time = 2,
                               .version = 3,
                               .hook = 0x0301,
                               .guid = GUID,
                               .opcode = 10,
                               .level = 4,
                               .channel = 11,
                               .id = 0x1234,
                               .task = 0x5678,
                               .keyword = 0x800000000000000D,
                               .activity = GUID,
                               .instance = 11,
                               .parent_instance = 12,
                               .parent_guid = GUID,
                               .has_pebs = true,
                               .pebs = 0xBEEF,
                               .counters = COUNTERS,
                               .counter_count = 2,
                               .payload = STR("ABC")};
        build_one(&SMALL, &event, &trace);
        assert_bytes(buf_str(&trace), 1024 + 0x48, CASES[i].hex);
    }
}

static void test_extended_items(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    const EtlBuildItem items[] = {
        {3,  STR("abcd")    },
        {10, STR("12345678")}
    };
    EtlBuildEvent event = {
        .header = ETL_BUILD_EVENT, .items = items, .item_count = 2, .payload = STR("P")};
    build_one(&SMALL, &event, &trace);
    size_t e = 1024 + 0x48;
    assert_bytes(buf_str(&trace), e, "7100 13C0 0100"); // 80 + 16 + 16 + 1 bytes; flag 1
    assert_bytes(buf_str(&trace), e + 80, "1000 0300 0100 0400 61626364 00000000");
    assert_bytes(buf_str(&trace), e + 96, "1000 0A00 0000 0800 3132333435363738 50");
}

static void test_message(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    EtlBuildEvent event = {.header = ETL_BUILD_MESSAGE,
                           .id = 10,
                           .flags = 0xAA,
                           .guid = GUID,
                           .tid = 7,
                           .pid = 9,
                           .ticks = 0x1122334455667788,
                           .payload = STR("ABC")};
    build_one(&SMALL, &event, &trace);
    assert_bytes(buf_str(&trace), 1024 + 0x48,
                 "2B00 0090 0A00 AA00 " GUID_HEX " 8877665544332211 07000000 09000000 414243");
}

// A buffer that cannot take the next event is written; others of the same CPU follow in sequence.
static void test_full_buffers(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    AUTO(etl_build_close) EtlBuild *build = etl_build_open(&SMALL);
    for (int64_t i = 0; i < 100; i++) // 16 + 5 bytes, 24 with alignment
        etl_build_event(build, &(EtlBuildEvent){.header = ETL_BUILD_PERFINFO,
                                                .cpu = (uint16_t)(i % 2),
                                                .ticks = etl_build_ticks(build, i * 100),
                                                .payload = STR("12345")});
    etl_build_mark_loss(build, 1, true, true);
    assert_int_equal(etl_build_finish(build, &trace, NULL), OK);
    Str t = buf_str(&trace);
    // (1024 - 0x48) / 24 = 39 events in a buffer: two buffers for each CPU.
    assert_int_equal(t.n, 5 * 1024);
    static const struct {
        unsigned cpu, valid, flags;
    } WANT[] = {
        {0, 0x48 + 38 * 24 + 21, 0x20},
        {1, 0x48 + 38 * 24 + 21, 0x20},
        {0, 0x48 + 10 * 24 + 21, 0x20},
        {1, 0x48 + 10 * 24 + 21, 0x27}
    };
    for (size_t i = 0; i < COUNT_OF(WANT); i++) {
        size_t b = 1024 * (i + 1);
        assert_int_equal(at(t, b + 0x28, 2), WANT[i].cpu);
        assert_int_equal(at(t, b + 0x18, 8), i + 1);
        assert_int_equal(at(t, b + 0x30, 4), WANT[i].valid);
        assert_int_equal(at(t, b + 0x34, 2), WANT[i].flags);
    }
}

static void test_errors(void **state) {
    (void)state;
    AUTO(etl_build_close) EtlBuild *build = etl_build_open(&SMALL);
    char large[1000] = {0};
    etl_build_event(build, &(EtlBuildEvent){
                               .payload = {large, sizeof large}
    });
    Err err = {0};
    assert_int_equal(etl_build_finish(build, NULL, &err), ERR_LIMIT);
    assert_string_equal(err.text, "event of 1032 bytes exceeds 952");
}

static void test_compressed_shape(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    EtlBuildOptions options = {.buffer_size = 65536, .compression = ETL_BUILD_XPRESS};
    EtlBuildEvent event = {.header = ETL_BUILD_RAW, .payload = STR("abcdefghijklmnopqrstuvwxyz")};
    build_one(&options, &event, &trace);
    Str t = buf_str(&trace);
    assert_int_equal(at(t, 0, 4), 512);  // small, plain header buffer
    assert_int_equal(at(t, 0x2C, 4), 3); // the format
    assert_int_equal(at(t, 0x34, 2), 0x21);
    assert_bytes(t, 0x48 + 32 + 4, "0A000200");
    assert_int_equal(at(t, 0x48 + 32 + 32, 4), 0x04000001);
    assert_int_equal(at(t, 512, 4), 0x48 + 30);
    assert_int_equal(at(t, 512 + 0x30, 4), 0x48 + 26);
    assert_int_equal(at(t, 512 + 0x34, 2), 0x61);
    assert_bytes(t, 512 + 0x48, "3F000000 6162636465666768696A6B6C6D6E6F707172737475767778797A");
    assert_int_equal(t.n, 512 + 0x48 + 30);
}

static void test_xpress_vector(void **state) {
    (void)state;
    AUTO(buf_done) Buf in = {0}, out = {0};
    for (int i = 0; i < 100; i++) buf_add(&in, STR("abc"));
    etl_compress_xpress(buf_str(&in), &out);
    assert_int_equal(out.n, 13);
    assert_bytes(buf_str(&out), 0, "FFFFFF1F 616263 1700 0F FF 2601");
}

static const struct {
    const char *line;
    size_t bytes64, bytes32; // of header and payload; sizes of the format's tables
} PAYLOAD_SIZES[] = {
    {"sample 1ms tid=5 ip=0x10",                          16 + 16,                   16 + 12            },
    {"cswitch 1ms new=1 old=2 version=1",                 16 + 16,                   16 + 16            },
    {"cswitch 1ms new=1 old=2 version=4",                 16 + 24,                   16 + 24            },
    {"cswitch 1ms new=1 old=2 version=5",                 16 + 28,                   16 + 28            },
    {"ready 1ms tid=1",                                   16 + 8,                    16 + 8             },
    {"dpc 1ms took=1us routine=1",                        16 + 16,                   16 + 12            },
    {"isr 1ms took=1us routine=1",                        16 + 20,                   16 + 16            },
    {"isr msi 1ms took=1us routine=1",                    16 + 24,                   16 + 20            },
    {"process counters 1ms pid=1",                        32 + 104,                  32 + 60            },
    {"process start 1ms pid=1 name=a",                    32 + 36 + 4 + 2 + 6,       32 + 28 + 4 + 2 + 6},
    {"process start 1ms pid=1 name=a version=3",          32 + 32 + 4 + 2 + 2,       32 + 24 + 4 + 2 + 2},
    {"process start 1ms pid=1 name=a version=1",          32 + 24 + 4 + 2,           32 + 20 + 4 + 2    },
    {"process start 1ms pid=1 name=a version=0",          32 + 16 + 4 + 2,           32 + 8 + 4 + 2     },
    {"process start 1ms pid=1 name=a sid=S-1-5-18",       32 + 36 + 16 + 12 + 2 + 6,
     32 + 28 + 8 + 12 + 2 + 6                                                                           },
    {"thread start 1ms pid=1 tid=2 name=ab",              32 + 72 + 6,               32 + 44 + 6        },
    {"thread start 1ms pid=1 tid=2 version=2",            32 + 68,                   32 + 40            },
    {"thread end 1ms pid=1 tid=2 version=1",              32 + 8,                    32 + 8             },
    {"image load 1ms pid=1 base=1 name=ab",               32 + 56 + 6,               32 + 44 + 6        },
    {"image load 1ms pid=1 base=1 name=ab version=2",     32 + 56 + 6,               32 + 44 + 6        },
    {"image load 1ms pid=1 base=1 name=ab version=1",     32 + 20 + 6,               32 + 12 + 6        },
    {"image load 1ms base=1 name=ab version=0",           32 + 12 + 6,               32 + 8 + 6         },
    {"stack walk 1ms event=1ms pid=1 tid=2 frames=1,2,3", 16 + 16 + 24,              16 + 16 + 12       },
    {"stack kernel 1ms event=1ms pid=1 tid=2 key=3",      16 + 24,                   16 + 20            },
    {"disk read 1ms disk=1",                              32 + 52,                   32 + 44            },
    {"disk read 1ms disk=1 version=2",                    32 + 48,                   32 + 40            },
    {"disk read 1ms disk=1 version=1",                    32 + 40,                   32 + 36            },
    {"disk flush 1ms disk=1",                             32 + 28,                   32 + 24            },
    {"disk read-init 1ms irp=1",                          32 + 12,                   32 + 8             },
    {"file read 1ms irp=1",                               32 + 48,                   32 + 32            },
    {"file read 1ms irp=1 version=2",                     32 + 48,                   32 + 32            },
    {"file create 1ms irp=1 path=a",                      32 + 32 + 4,               32 + 24 + 4        },
    {"file close 1ms irp=1",                              32 + 28,                   32 + 16            },
    {"file set-info 1ms irp=1",                           32 + 40,                   32 + 24            },
    {"file directory 1ms irp=1",                          32 + 40 + 2,               32 + 28 + 2        },
    {"file end 1ms irp=1",                                32 + 20,                   32 + 12            },
    {"file map 1ms base=1",                               32 + 36,                   32 + 24            },
    {"fault hard 1ms tid=1",                              16 + 40,                   16 + 32            },
    {"virtual alloc 1ms base=1",                          32 + 24,                   32 + 16            },
    {"pool alloc 1ms tag=Abcd",                           16 + 24,                   16 + 16            },
    {"tcp send 1ms local=1.2.3.4:5 remote=6.7.8.9:10",    16 + 40,                   16 + 36            },
    {"tcp connect 1ms local=1.2.3.4:5 remote=6.7.8.9:10", 16 + 48,                   16 + 44            },
    {"tcp recv 1ms local=[::1]:5 remote=[::2]:10",        16 + 56,                   16 + 52            },
    {"tcp send 1ms local=[::1]:5 remote=[::2]:10",        16 + 64,                   16 + 60            },
    {"udp recv 1ms local=1.2.3.4:5 remote=6.7.8.9:10",    16 + 32,                   16 + 28            },
    {"registry open 1ms name=a",                          16 + 24 + 4,               16 + 20 + 4        },
    {"spinlock 1ms lock=1",                               16 + 56,                   16 + 48            },
    {"config cpu 1ms",                                    32 + 828,                  32 + 820           },
    {"config cpu 1ms version=2",                          32 + 808,                  32 + 804           },
    {"config cpu 1ms version=1",                          32 + 804,                  32 + 800           },
    {"config disk 1ms",                                   32 + 568,                  32 + 568           },
    {"config logical-disk 1ms",                           32 + 112,                  32 + 112           },
    {"config video 1ms",                                  32 + 2584,                 32 + 2584          },
    {"config processor 1ms",                              32 + 428,                  32 + 428           },
    {"config numbers 1ms numbers=1,2",                    32 + 12,                   32 + 12            },
    {"config groups 1ms masks=1,2",                       32 + 20,                   32 + 12            },
    {"masks end 1ms",                                     32 + 36,                   32 + 36            },
};

static void test_kernel_payloads(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(PAYLOAD_SIZES); i++) {
        bool wide = i % 2 == 0;
        AUTO(buf_done) Buf script = {0}, trace = {0};
        buf_addf(&script, "trace buffer=8K ptr=%d\n%s\n", wide ? 8 : 4, PAYLOAD_SIZES[i / 2].line);
        Err err = {0};
        if (etl_build_script(buf_str(&script), &trace, &err) != OK) fail_msg("%s", err.text);
        // Size is at 4 in SYSTEM and PERFINFO headers.
        size_t got = at(buf_str(&trace), 8192 + 0x48 + 4, 2);
        size_t want = wide ? PAYLOAD_SIZES[i / 2].bytes64 : PAYLOAD_SIZES[i / 2].bytes32;
        if (got != want) fail_msg("%s: %zu bytes, not %zu", PAYLOAD_SIZES[i / 2].line, got, want);
    }
}

static void test_payload_bytes(void **state) {
    (void)state;
    static const struct {
        const char *line;
        size_t header;
        const char *hex;
    } CASES[] = {
        {"sample 1ms tid=5 ip=0x1122 flags=dpc|isr priority=9",                          16,
         "2211000000000000 05000000 0100 4B 00"                                                                                                                },
        {"cswitch 1ms new=1 old=2 new_priority=9 old_priority=8 old_reason=WrQueue old_state=5 "
         "new_wait=7 old_mode=user old_qos=2",                                  16,      "01000000 02000000 09 08 00 00 0F 05 05 00 07000000 00000000"},
        {"dpc 1ms took=10us routine=0x10",                                               16,      "AC0A0C5402000000 1000000000000000"                          },
        {"isr 1ms start=1ms routine=0x10 vector=0x1234",                                 16,
         "100B0C5402000000 1000000000000000 01 3412 00"                                                                                                        },
        {"tcp send 1ms pid=1 bytes=2 local=10.0.0.1:80 remote=10.0.0.2:443",             16,
         "01000000 02000000 0A000002 0A000001 01BB 0050 00000000"                                                                                              },
        {"udp recv 1ms pid=1 bytes=2 local=10.0.0.1:80 remote=10.0.0.2:443",             16,
         "01000000 02000000 0A000001 0A000002 0050 01BB"                                                                                                       },
        {"disk read 1ms disk=1 bytes=4096 offset=512 key=3 irp=4 response=30us tid=101", 32,
         "01000000 00000000 00100000 00000000 0002000000000000 0300000000000000 "
         "0400000000000000 2C01000000000000 65000000"                                                                                                          },
        {"process start 1ms pid=1 parent=2 name=a sid=S-1-5-18",                         32 + 36,
         "40332211 00A8FFFF 0000000000000000 01 01 000000000005 12000000 61 00 0000"                                                                           },
        {"pool alloc 1ms type=1 tag=Abcd bytes=16 entry=5",                              16,
         "01000000 41626364 1000000000000000 0500000000000000"                                                                                                 },
        {"config numbers 1ms numbers=0x10000,2",                                         32,      "02000000 00000100 02000000"                                 },
        {"pmc config 1ms names=a|b",                                                     16,      "02000000 6100 0000 6200 0000"                               },
        {"disk read 1ms disk=1 bytes=4096 cut=3 extra=EEFF",                             32,      "010000 EEFF"                                                },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf script = {0}, trace = {0};
        buf_addf(&script, "trace buffer=8K\n%s\n", CASES[i].line);
        Err err = {0};
        if (etl_build_script(buf_str(&script), &trace, &err) != OK) fail_msg("%s", err.text);
        AUTO(buf_done) Buf want = {0};
        assert_true(pay_hex(&want, str_from_c(CASES[i].hex)));
        Str got = str_slice(buf_str(&trace), 8192 + 0x48 + CASES[i].header, SIZE_MAX);
        if (memcmp(got.p, want.p, want.n) != 0) fail_msg("%s", CASES[i].line);
    }
}

static void test_script_errors(void **state) {
    (void)state;
    static const struct {
        const char *script, *error;
    } CASES[] = {
        {"sampel 1ms",                                     "line 1: unknown verb 'sampel'"                                      },
        {"\nsample 1ms ipp=1",                             "line 2: 'sample' does not take 'ipp'"                               },
        {"sample 1ms ip=x",                                "line 1: ip: 'x' is neither a number nor an address in a known image"},
        {"sample 1m ip=1",                                 "line 1: '1m' is not a time such as 10ms, 1.5s, 20us"                },
        {"repeat 3 every 1ms {\nsample 1ms",               "line 1: no '}'"                                                     },
        {"repeat 3 every 1ms {\nsample 1ms cpu=${1/0}\n}", "line 2: expression '1/0'"                                           },
        {"sample $nope",                                   "line 1: unknown variable $nope"                                     },
        {"process start 1ms sid=S-x",                      "line 1: malformed SID, GUID, address or port"                       },
        {"trace compress=zip",                             "line 1: 'zip' is neither a number nor an address in a known image"  },
        {"damage flip offset=999999",                      "line 1: bytes 999999+1 are outside the trace (65536)"               },
        {"manifest 1ms f=a:u99:1",                         "line 1: field type 'u99'"                                           },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        AUTO(buf_done) Buf trace = {0};
        Err err = {0};
        assert_int_not_equal(etl_build_script(str_from_c(CASES[i].script), &trace, &err), OK);
        assert_string_equal(err.text, CASES[i].error);
        assert_int_equal(trace.n, 0);
    }
}

static void test_damage(void **state) {
    (void)state;
    AUTO(buf_done) Buf plain = {0}, broken = {0};
    Err err = {0};
    Str line = STR("trace buffer=1K\nsample 1ms tid=1 ip=2\n");
    Str with = STR("trace buffer=1K\nsample 1ms tid=1 ip=2\n"
                   "damage flip buffer=1 offset=0x4C mask=0x0F\ndamage truncate offset=0x460\n"
                   "damage append bytes=2\n");
    assert_int_equal(etl_build_script(line, &plain, &err), OK);
    assert_int_equal(etl_build_script(with, &broken, &err), OK);
    assert_int_equal(broken.n, 0x462);
    plain.p[0x44C] = (char)(plain.p[0x44C] ^ 0x0F);
    assert_memory_equal(plain.p, broken.p, 0x460);
    assert_bytes(buf_str(&broken), 0x460, "0000");
}

// Switches made from runs: on each CPU the old thread is the new one of the switch before.
static void test_runs_chain(void **state) {
    (void)state;
    AUTO(buf_done) Buf trace = {0};
    Err err = {0};
    Str script = STR("trace buffer=64K cpus=1\n"
                     "run 5ms tid=7 for=2ms\nrun 1ms tid=5 for=3ms\nrun 6ms tid=8 for=500us\n");
    assert_int_equal(etl_build_script(script, &trace, &err), OK);
    // Thread 8 interrupts 7, which goes on afterwards.
    static const uint32_t CHAIN[] = {0, 5, 0, 7, 8, 7, 0};
    size_t seen = 0, offset = 65536 + 0x48;
    Str t = buf_str(&trace);
    while (at(t, offset, 4) != 0xFFFFFFFF) {
        if (at(t, offset + 6, 2) == 0x0524) {
            assert_true(seen + 1 < COUNT_OF(CHAIN));
            assert_int_equal(at(t, offset + 16, 4), CHAIN[seen + 1]);
            assert_int_equal(at(t, offset + 20, 4), CHAIN[seen]);
            seen++;
        }
        offset += (at(t, offset + 4, 2) + 7) & ~(size_t)7;
    }
    assert_int_equal(seen + 1, COUNT_OF(CHAIN));
}

static void test_metadata_blob(void **state) {
    (void)state;
    AUTO(buf_done) Buf pay = {0};
    Err err = {0};
    MetaField fields[3];
    assert_int_equal(meta_field_parse(STR("Len:u16"), &fields[0], &err), OK);
    assert_int_equal(meta_field_parse(STR("Data:bin/len=Len"), &fields[1], &err), OK);
    assert_int_equal(meta_field_parse(STR("State:u32/map=M/out=20"), &fields[2], &err), OK);
    MetaEvent event = {.provider = GUID,
                       .id = 5,
                       .version = 1,
                       .provider_name = STR("Prov"),
                       .fields = fields,
                       .field_count = 3};
    meta_put_event_info(&pay, &event);
    Str t = buf_str(&pay);
    assert_bytes(t, 0, GUID_HEX);
    assert_int_equal(at(t, 32, 2), 5);
    assert_int_equal(at(t, 34, 1), 1);
    assert_int_equal(at(t, 100, 4), 3);
    assert_int_equal(at(t, 104, 4), 3);
    size_t names = 112 + 3 * 24;
    assert_int_equal(at(t, 52, 4), names); // provider name comes first
    assert_bytes(t, names, "5000 7200 6F00 7600 0000 4C00 6500 6E00 0000");
    assert_bytes(t, 112, "00000000 C2000000 0600 0000 00000000 0100 0000 00000000");
    assert_bytes(t, 112 + 24, "02000000 CA000000 0E00 0000 00000000 0100 0000 00000000");
    assert_bytes(t, 112 + 48, "00000000 D4000000 0800 1400 E0000000 0100 0000 00000000");
}

static void test_tracelogging_schema(void **state) {
    (void)state;
    AUTO(buf_done) Buf pay = {0};
    Err err = {0};
    MetaField fields[3];
    assert_int_equal(meta_field_parse(STR("a:u8/out=4:7"), &fields[0], &err), OK);
    assert_int_equal(meta_field_parse(STR("b:u32[]:1,2"), &fields[1], &err), OK);
    assert_int_equal(meta_field_parse(STR("s:struct/fields=1"), &fields[2], &err), OK);
    meta_put_schema(&pay, STR("Ev"), 0x200001, fields, 3);
    assert_bytes(buf_str(&pay), 0, "1400 81 80 80 01 457600 6100 84 04 6200 48 7300 98 01");
    buf_clear(&pay);
    assert_int_equal(meta_put_values(&pay, 8, fields, 3, true, &err), OK);
    assert_bytes(buf_str(&pay), 0, "07 0200 01000000 02000000");
    assert_int_equal(pay.n, 11);
}

// The examples of the description: each block builds, and every verb of the table has its line.
static bool has_example(Str text, const char *verb) {
    AUTO(buf_done) Buf line = {0};
    buf_addf(&line, "\n%s 1ms", verb);
    return str_find(text, buf_str(&line)) != SIZE_MAX;
}

static void test_readme(void **state) {
    (void)state;
    Arena arena = {0};
    Str text = {0};
    Err err = {0};
    Status status =
        file_read_all(STR(ETW_SOURCE_DIR "/tests/support/README.md"), 1 << 20, &arena, &text, &err);
    if (status != OK) fail_msg("%s", err.text);
    size_t count = 0, blocks = 0, from = 0;
    const BuildRecord *records = etl_build_records(&count);
    for (size_t i = 0; i < count; i++)
        if (!has_example(text, records[i].verb)) fail_msg("no example of %s", records[i].verb);
    Str rest = text;
    while ((from = str_find(rest, STR("```trace\n"))) != SIZE_MAX) {
        AUTO(buf_done) Buf trace = {0};
        rest = str_slice(rest, from + 9, rest.n);
        Str block = str_slice(rest, 0, str_find(rest, STR("```")));
        if (etl_build_script(block, &trace, &err) != OK)
            fail_msg("%s\n%.*s", err.text, (int)block.n, block.p);
        rest = str_slice(rest, block.n + 3, rest.n);
        blocks++;
    }
    assert_true(blocks > 10);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_headers),      cmocka_unit_test(test_event_headers),
        cmocka_unit_test(test_extended_items),      cmocka_unit_test(test_message),
        cmocka_unit_test(test_full_buffers),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_compressed_shape),    cmocka_unit_test(test_xpress_vector),
        cmocka_unit_test(test_kernel_payloads),     cmocka_unit_test(test_payload_bytes),
        cmocka_unit_test(test_script_errors),       cmocka_unit_test(test_damage),
        cmocka_unit_test(test_runs_chain),          cmocka_unit_test(test_metadata_blob),
        cmocka_unit_test(test_tracelogging_schema), cmocka_unit_test(test_readme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
