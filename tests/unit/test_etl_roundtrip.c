// Writer and reader against each other: every event written comes back with the same fields, in
// every combination of pointer size, compression, clock and style of file.
#include "etl/decompress.h"
#include "etl/etl.h"
#include "support/etl_build.h"
#include "support/etl_build_compress.h"
#include "support/etl_build_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 3000, KINDS = 7 };

static const Guid GUID = {
    {9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8}
};
static const uint64_t COUNTERS[] = {11, 12, 13};
static const EtlBuildItem ITEMS[] = {
    {10, {"ABCDEFGH", 8}                  },
    {11, {"\x08\x00\x00x\x00y\x00\x08", 8}}
};

// Event number n, the same each time it is asked for.
static EtlBuildEvent event_of(const EtlBuild *build, uint64_t n, char *payload) {
    size_t size = n * 7 % 150;
    for (size_t i = 0; i < size; i++) payload[i] = (char)(n / 9 + i * i);
    memcpy(payload, &n, sizeof n);
    if (size < sizeof n) size = sizeof n;
    return (EtlBuildEvent){
        .header = (EtlBuildHeader)(n % KINDS),
        .pointer_size = n % 5 == 0 ? 4 : 0,
        .cpu = (uint16_t)(n * n % 3),
        .ticks = etl_build_ticks(build, (int64_t)n * 1000),
        .tid = (uint32_t)(n * 4),
        .pid = (uint32_t)(n * 8),
        .kernel_time = 3,
        .user_time = 4,
        .version = (uint16_t)(n % 6),
        .hook = (uint16_t)(0x0100 + n % 0x1D00),
        .guid = GUID,
        .opcode = (uint8_t)n,
        .level = (uint8_t)(n % 6),
        .channel = 11,
        .id = (uint16_t)n,
        .task = (uint16_t)(n * 3),
        .flags = n % KINDS == ETL_BUILD_MESSAGE ? 0x2A : 0,
        .keyword = n << 32,
        .activity = GUID,
        .items = ITEMS,
        .item_count = n % 3,
        .counters = COUNTERS,
        .counter_count = n % 4,
        .has_pebs = n % 8 == 2,
        .pebs = n,
        .payload = {payload, size}
    };
}

static EtlKind kind_of(EtlBuildHeader header) {
    static const EtlKind KIND[KINDS] = {ETL_SYSTEM,  ETL_SYSTEM,   ETL_PERFINFO, ETL_CLASSIC,
                                        ETL_CLASSIC, ETL_MANIFEST, ETL_WPP};
    return KIND[header];
}

static void compare_manifest(const EtlEvent *got, const EtlBuildEvent *want) {
    assert_int_equal(got->id, want->id);
    assert_int_equal(got->task, want->task);
    assert_int_equal(got->channel, want->channel);
    assert_int_equal(got->keyword, want->keyword);
    assert_memory_equal(got->activity.bytes, want->activity.bytes, 16);
    assert_int_equal(got->ext.has_event_key, want->item_count >= 1);
    assert_int_equal(got->ext.tracelogging.n, want->item_count >= 2 ? ITEMS[1].data.n : 0);
}

static void compare(const EtlEvent *got, const EtlBuildEvent *want, unsigned pointer_size) {
    bool named = got->kind == ETL_CLASSIC || got->kind == ETL_MANIFEST || got->kind == ETL_WPP;
    assert_int_equal(got->kind, kind_of(want->header));
    assert_int_equal(got->ticks, want->ticks);
    assert_int_equal(got->cpu, want->cpu);
    if (got->kind != ETL_WPP) {
        assert_int_equal(got->pointer_size, want->pointer_size ? want->pointer_size : pointer_size);
        assert_int_equal(got->version, want->version);
    }
    bool thread = got->kind != ETL_PERFINFO;
    assert_int_equal(got->tid, thread ? want->tid : ETL_NO_ID);
    assert_int_equal(got->pid, thread ? want->pid : ETL_NO_ID);
    if (!named) assert_int_equal(got->hook, want->hook);
    if (named) assert_memory_equal(got->provider.bytes, want->guid.bytes, 16);
    if (got->kind == ETL_CLASSIC || got->kind == ETL_MANIFEST) {
        assert_int_equal(got->opcode, want->opcode);
        assert_int_equal(got->level, want->level);
    }
    if (got->kind == ETL_MANIFEST) compare_manifest(got, want);
    if (got->kind == ETL_PERFINFO)
        assert_int_equal(got->extras.n, 8 * (want->counter_count + want->has_pebs));
    assert_int_equal(got->payload.n, want->payload.n);
    assert_memory_equal(got->payload.p, want->payload.p, want->payload.n);
}

static void check_header(const EtlFile *file, const EtlBuild *build) {
    const EtlHeader *h = etl_header(file);
    const EtlBuildOptions *o = etl_build_options(build);
    assert_int_equal(h->os_build, o->os_build);
    assert_int_equal(h->cpu_count, o->cpus);
    assert_int_equal(h->perf_freq, o->perf_freq);
    assert_int_equal(h->start_filetime, o->start_filetime);
    assert_int_equal(h->start_ticks, o->start_ticks);
    assert_int_equal(h->buffers_written, etl_build_buffers(build));
    assert_int_equal(h->events_lost, o->events_lost);
    assert_int_equal(h->buffers_lost, o->buffers_lost);
    assert_int_equal(h->header_pointer_size, o->pointer_size);
    assert_int_equal(h->reserved_flags, o->clock);
    assert_true(str_eq(h->session_name, o->session_name));
    assert_true(str_eq(h->file_name, o->log_file_name));
    assert_int_equal(etl_file_size(file), etl_build_bytes(build));
}

static void read_back(const char *path, const EtlBuild *build) {
    AUTO(etl_close) EtlFile *file = NULL;
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    Err err = {0};
    if (etl_open(str_from_c(path), &file, &err) != OK) fail_msg("%s", err.text);
    check_header(file, build);
    size_t seen = 0;
    char payload[256];
    EtlIssues issues = {{0}, {0}, {0}};
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        EtlCursor cursor;
        EtlEvent event;
        if (etl_load(file, i, scratch, &issues, &cursor, &err) != OK) fail_msg("%s", err.text);
        if (etl_buffer(file, i)->type == 4) continue;
        while (etl_next(&cursor, &event)) {
            uint64_t n = 0;
            assert_true(event.payload.n >= sizeof n);
            memcpy(&n, event.payload.p, sizeof n);
            EtlBuildEvent want = event_of(build, n, payload);
            compare(&event, &want, etl_build_options(build)->pointer_size);
            seen++;
        }
    }
    assert_int_equal(seen, EVENTS);
    for (size_t i = 0; i < ETL_ISSUE_KINDS; i++) assert_int_equal(issues.count[i], 0);
}

static void run_case(EtlBuildOptions options) {
    char path[] = "/tmp/etw-roundtrip-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    options.path = str_from_c(path);
    AUTO(etl_build_close) EtlBuild *build = etl_build_open(&options);
    char payload[256];
    for (uint64_t n = 0; n < EVENTS; n++) {
        EtlBuildEvent event = event_of(build, n, payload);
        etl_build_event(build, &event);
    }
    Err err = {0};
    Status status = etl_build_finish(build, NULL, &err);
    if (status != OK) fail_msg("%s", err.text);
    read_back(path, build);
    (void)unlink(path);
}

static void test_roundtrip(void **state) {
    (void)state;
    run_case((EtlBuildOptions){.cpus = 3});
    run_case(
        (EtlBuildOptions){.cpus = 3, .pointer_size = 4, .os_build = 7601, .old_cpu_field = true});
    run_case((EtlBuildOptions){.cpus = 3, .buffer_size = 1024, .perf_freq = 2533203});
    run_case((EtlBuildOptions){
        .cpus = 3, .compression = ETL_BUILD_XPRESS, .merged = true, .buffer_size = 1 << 20});
    run_case((EtlBuildOptions){
        .cpus = 3, .compression = ETL_BUILD_XPRESS, .buffer_size = 4096, .pointer_size = 4});
    run_case((EtlBuildOptions){.cpus = 3, .compression = ETL_BUILD_LZNT1, .buffer_size = 16384});
    run_case((EtlBuildOptions){.cpus = 3, .compression = ETL_BUILD_HUFFMAN});
    run_case(
        (EtlBuildOptions){.cpus = 3, .compression = ETL_BUILD_HUFFMAN, .buffer_size = 1 << 18});
    run_case((EtlBuildOptions){.cpus = 3, .clock = 2, .events_lost = 5, .buffers_lost = 6});
    run_case((EtlBuildOptions){
        .cpus = 3, .clock = ETL_BUILD_CLOCK_ZERO, .merged = true, .os_build = 26200});
    run_case((EtlBuildOptions){.cpus = 3, .clock = 3, .cpu_mhz = 2000});
    run_case((EtlBuildOptions){.cpus = 3,
                               .sort = true,
                               .compression = ETL_BUILD_XPRESS,
                               .session_name = STR("häß"),
                               .has_masks = true});
}

typedef struct Tally { // of the demo trace
    size_t events, hooks[0x2000];
    uint32_t running[4];
} Tally;

static void tally_event(Tally *tally, const EtlEvent *event) {
    tally->events++;
    tally->hooks[event->hook & 0x1FFF]++;
    if (event->hook != 0x0524) return;
    Rd r = rd_from_str(event->payload);
    uint32_t new_tid = rd_u32(&r), old_tid = rd_u32(&r);
    assert_in_range(event->cpu, 0, 3);
    assert_int_equal(old_tid, tally->running[event->cpu]);
    assert_int_not_equal(new_tid, old_tid);
    tally->running[event->cpu] = new_tid;
}

static void tally_file(const char *path, Tally *tally) {
    AUTO(etl_close) EtlFile *file = NULL;
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    Err err = {0};
    EtlIssues issues = {{0}, {0}, {0}};
    if (etl_open(str_from_c(path), &file, &err) != OK) fail_msg("%s", err.text);
    // Stream by stream, so that each processor's switches come in their order.
    for (uint32_t s = 0; s < etl_stream_count(file); s++)
        for (uint32_t p = 0; etl_stream_buffer(file, s, p) != SIZE_MAX; p++) {
            EtlCursor cursor;
            EtlEvent event;
            size_t index = etl_stream_buffer(file, s, p);
            assert_int_equal(etl_load(file, index, scratch, &issues, &cursor, &err), OK);
            while (etl_next(&cursor, &event)) tally_event(tally, &event);
        }
    for (size_t i = 0; i < ETL_ISSUE_KINDS; i++) assert_int_equal(issues.count[i], 0);
}

static void test_demo(void **state) {
    (void)state;
    Arena arena = {0};
    Str script = {0};
    Err err = {0};
    Status status = file_read_all(STR(ETW_SOURCE_DIR "/tests/support/demo.trace"), 1 << 20, &arena,
                                  &script, &err);
    if (status != OK) fail_msg("%s", err.text);
    char path[] = "/tmp/etw-demo-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    if (etl_build_script_file(script, str_from_c(path), &err) != OK) fail_msg("%s", err.text);
    Tally *tally = mem_zero(1, sizeof *tally);
    tally_file(path, tally);
    static const struct {
        unsigned hook;
        size_t least;
    } WANT[] = {
        {0x0F2E, 4000},
        {0x0524, 2000},
        {0x0532, 1000},
        {0x1820, 6000},
        {0x0F44, 900 },
        {0x0F43, 900 },
        {0x010A, 350 },
        {0x010B, 80  },
        {0x0220, 40  },
        {0x060A, 1400},
        {0x030A, 4   },
        {0x1403, 15  },
        {0x0301, 1   },
        {0x0303, 5   },
        {0x0304, 5   }
    };
    for (size_t i = 0; i < COUNT_OF(WANT); i++)
        if (tally->hooks[WANT[i].hook] < WANT[i].least)
            fail_msg("%zu events of 0x%04X, at least %zu wanted", tally->hooks[WANT[i].hook],
                     WANT[i].hook, WANT[i].least);
    mem_free(tally);
    arena_done(&arena);
    (void)unlink(path);
}

typedef size_t Decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                          bool *ok);

static void fill(Buf *in, unsigned shape, size_t size) {
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < size; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        unsigned random = (unsigned)(x >> 40) & 0xFF;
        unsigned repeated = (unsigned)(i % 48 < 40 ? i % 48 : random);
        unsigned bytes[] = {0,        (unsigned)i & 0xFF, random,
                            repeated, random % 3,         i / 5000 % 2 ? random : 7};
        buf_add_char(in, (char)bytes[shape]);
    }
}

static void test_compressors(void **state) {
    (void)state;
    static const struct {
        void (*pack)(Str in, Buf *out);
        Decompress *unpack;
    } FORMATS[] = {
        {etl_compress_xpress,  xpress_decompress        },
        {etl_compress_lznt1,   lznt1_decompress         },
        {etl_compress_huffman, xpress_huffman_decompress}
    };
    static const size_t SIZES[] = {1,    2,    3,    31,    32,    33,    100,
                                   4095, 4096, 4097, 65535, 65536, 65537, 200000};
    for (size_t f = 0; f < COUNT_OF(FORMATS); f++)
        for (unsigned shape = 0; shape < 6; shape++)
            for (size_t k = 0; k < COUNT_OF(SIZES); k++) {
                AUTO(buf_done) Buf in = {0}, packed = {0};
                fill(&in, shape, SIZES[k]);
                FORMATS[f].pack(buf_str(&in), &packed);
                uint8_t *out = mem_alloc(in.n);
                bool ok = false;
                size_t n = FORMATS[f].unpack((const uint8_t *)packed.p, packed.n, out, in.n, &ok);
                if (!ok || n != in.n || memcmp(out, in.p, n) != 0)
                    fail_msg("format %zu shape %u size %zu: %zu bytes, ok %d", f, shape, SIZES[k],
                             n, ok);
                // Repeated data must really shrink.
                if (shape == 3 && in.n > 4000) assert_true(packed.n < in.n / 2);
                mem_free(out);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roundtrip),
        cmocka_unit_test(test_demo),
        cmocka_unit_test(test_compressors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
