// Network analyses of real traces against readings of their own: bytes and packets of each flow
// summed from raw payloads, and every captured frame as tshark reads our pcapng.
#include "decode/spec.h"
#include "support/shared_data.h"
#include "tools/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FILE_MAX = 64 << 20, KEY_MAX = 160 };

typedef struct Fixture {
    Arena arena;
    Engine *engine;
    Str folder;
    const char *trace_id;
    Str trace;
} Fixture;

// A copy of the trace, loaded: its database must not appear beside the shared one.
static void open_trace(Fixture *fixture, const char *name) {
    Err err = {0};
    Arena *arena = &fixture->arena;
    Str traces = shared_folder(ETW_SOURCE_DIR, "traces", arena), bytes = {0};
    if (!traces.n) skip();
    Str from = path_join(arena, traces, str_from_c(name));
    fixture->folder =
        path_join(arena, os_cache_folder(arena), str_format(arena, "net-%d", os_process_id()));
    fixture->trace = path_join(arena, fixture->folder, str_from_c(name));
    EngineOptions options = {.quiet = true};
    if (os_make_folders(fixture->folder, &err) != OK ||
        file_read_all(from, FILE_MAX, arena, &bytes, &err) != OK ||
        file_write_atomic(fixture->trace, bytes, &err) != OK ||
        engine_open(&options, &fixture->engine, &err) != OK ||
        engine_load(fixture->engine, fixture->trace, false, NULL, arena, &fixture->trace_id,
                    &err) != OK)
        fail_msg("%s", err.text);
}

static void close_trace(Fixture *fixture) {
    engine_close(fixture->engine);
    (void)os_remove_tree(fixture->folder, NULL);
    arena_done(&fixture->arena);
}

static void call(Fixture *fixture, const char *name, json_t *arguments) {
    ToolReply reply = {0};
    (void)json_object_set_new(arguments, "trace_id", json_string(fixture->trace_id));
    engine_call(fixture->engine, engine_tool_named(fixture->engine, str_from_c(name)), arguments,
                REPLY_MARKDOWN, NULL, &fixture->arena, &reply);
    json_decref(arguments);
    if (reply.is_error) fail_msg("%.*s", STR_ARG(reply.text));
}

// The rows of a query as CSV, without the header.
static Str rows_of(Fixture *fixture, const char *sql) {
    Err err = {0};
    Str text = {0}, path = path_join(&fixture->arena, fixture->folder, STR("rows.csv"));
    call(fixture, "export_table", json_pack("{s:s,s:s}", "table_or_sql", sql, "path", path.p));
    if (file_read_all(path, FILE_MAX, &fixture->arena, &text, &err) != OK) fail_msg("%s", err.text);
    Str header = {0};
    assert_true(str_next(&text, '\n', &header));
    return text;
}

// ---------------------------------------------------------------- flows

typedef struct Flow {
    char key[KEY_MAX];
    uint64_t bytes, packets;
} Flow;
typedef struct Flows {
    VEC(Flow) items;
    Guid provider; // Kernel-Network
} Flows;

typedef struct Shape {
    bool udp, v6, receive;
} Shape;

// Which data event it is, if any, of the kernel classes or of Kernel-Network.
static bool shape_of(const Flows *flows, const EtlEvent *event, Shape *out) {
    static const struct {
        uint16_t hook, id;
        Shape shape;
    } SHAPES[] = {
        {0x060A, 10, {false, false, false}},
        {0x060B, 11, {false, false, true} },
        {0x061A, 26, {false, true, false} },
        {0x061B, 27, {false, true, true}  },
        {0x080A, 42, {true, false, false} },
        {0x080B, 43, {true, false, true}  },
        {0x081A, 58, {true, true, false}  },
        {0x081B, 59, {true, true, true}   },
    };
    bool manifest = event->kind == ETL_MANIFEST && guid_eq(&event->provider, &flows->provider);
    for (size_t i = 0; i < COUNT_OF(SHAPES); i++) {
        bool hit = manifest ? event->id == SHAPES[i].id : event->hook == SHAPES[i].hook;
        if (!hit) continue;
        *out = SHAPES[i].shape;
        return true;
    }
    return false;
}

static void add_end(Buf *key, bool v6, const char *address, unsigned port) {
    char text[IP_TEXT_SIZE];
    Str bytes = {address, v6 ? 16 : 4};
    if (v6)
        buf_addf(key, "[" STR_FMT "]:%u ", STR_ARG(ip6_to_text(bytes, text)), port);
    else
        buf_addf(key, STR_FMT ":%u ", STR_ARG(ip4_to_text(bytes, text)), port);
}

static void add_event(Flows *flows, const EtlEvent *event) {
    Shape shape;
    if (!shape_of(flows, event, &shape)) return;
    Rd r = rd_from_str(event->payload);
    size_t n = shape.v6 ? 16 : 4;
    rd_skip(&r, 4); // pid
    uint32_t size = rd_u32(&r);
    const uint8_t *dst = rd_take(&r, n), *src = rd_take(&r, n);
    unsigned dport = rd_be16(&r), sport = rd_be16(&r);
    assert_true(rd_ok(&r));
    bool from_peer = shape.udp && shape.receive;
    AUTO(buf_done) Buf key = {0};
    buf_add_c(&key, shape.udp ? "udp " : "tcp ");
    add_end(&key, shape.v6, (const char *)(from_peer ? dst : src), from_peer ? dport : sport);
    add_end(&key, shape.v6, (const char *)(from_peer ? src : dst), from_peer ? sport : dport);
    buf_add_c(&key, shape.receive ? "receive" : "send");
    Flow *flow = NULL;
    for (size_t i = 0; i < flows->items.count && !flow; i++)
        if (strcmp(flows->items.items[i].key, key.p) == 0) flow = &flows->items.items[i];
    if (!flow) {
        flow = vec_push(&flows->items);
        *flow = (Flow){.bytes = 0};
        assert_true(key.n < KEY_MAX);
        memcpy(flow->key, key.p, key.n + 1);
    }
    flow->bytes += size;
    flow->packets++;
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const Flow *)a)->key, ((const Flow *)b)->key);
}

static void read_flows(Str path, Flows *flows) {
    Err err = {0};
    EtlIssues issues = {0};
    AUTO(etl_close) EtlFile *file = NULL;
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    assert_true(guid_from_text(STR("7dd42a49-5329-4832-8dfd-43d979153a88"), &flows->provider));
    if (etl_open(path, &file, &err) != OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        EtlCursor cursor;
        EtlEvent event;
        if (etl_load(file, i, scratch, &issues, &cursor, &err) != OK) fail_msg("%s", err.text);
        while (etl_next(&cursor, &event)) add_event(flows, &event);
    }
    if (flows->items.count) qsort(flows->items.items, flows->items.count, sizeof(Flow), by_key);
}

static void check_flows(const char *name) {
    Fixture fixture = {0};
    Flows flows = {0};
    AUTO(buf_done) Buf expected = {0};
    open_trace(&fixture, name);
    read_flows(fixture.trace, &flows);
    assert_true(flows.items.count > 0);
    for (size_t i = 0; i < flows.items.count; i++)
        buf_addf(&expected, "%s,%llu,%llu\n", flows.items.items[i].key,
                 (unsigned long long)flows.items.items[i].bytes,
                 (unsigned long long)flows.items.items[i].packets);
    Str rows = rows_of(&fixture, "SELECT protocol || ' ' || local || ' ' || remote || ' ' || "
                                 "direction AS key, sum(bytes), sum(packets) FROM net_data "
                                 "GROUP BY key ORDER BY key");
    if (!str_eq(rows, buf_str(&expected)))
        fail_msg("%s: expected\n%.*s\ngot\n%.*s", name, STR_ARG(buf_str(&expected)), STR_ARG(rows));
    // Connections hold all of it, once.
    Str same = rows_of(&fixture, "SELECT (SELECT sum(bytes) FROM tcp_connection) = (SELECT "
                                 "sum(bytes) FROM net_data WHERE protocol = 'tcp') AS same");
    assert_true(str_eq(str_trim(same), STR("true")));
    vec_free(&flows.items);
    close_trace(&fixture);
}

static void test_flows_kernel_network(void **state) {
    (void)state;
    check_flows("KernelNetwork.etl");
}

static void test_flows_kernel_x64(void **state) {
    (void)state;
    check_flows("net.4.5.2.x64.etl");
}

static void test_flows_kernel_x86(void **state) {
    (void)state;
    check_flows("net.4.5.x86.etl");
}

// ---------------------------------------------------------------- frames

static const char FRAMES_SQL[] =
    "SELECT json_extract_string(j, '$.layers[0].\"eth.src\"'), "
    "json_extract_string(j, '$.layers[0].\"eth.dst\"'), src, dst, "
    "'0x' || lpad(lower(hex(ip_id)), 4, '0'), json_extract_string(j, '$.layers[1].\"ip.ttl\"'), "
    "ip_proto, json_extract_string(j, '$.layers[1].\"ip.total_length\"'), icmp_type, icmp_code, "
    "json_extract_string(j, '$.layers[2].\"icmp.id\"'), "
    "json_extract_string(j, '$.layers[2].\"icmp.sequence\"'), wire_length "
    "FROM (SELECT *, packet_json(bytes, media, original, false) AS j FROM packet) "
    "ORDER BY packet_id";

static void test_frames_as_tshark_reads_them(void **state) {
    (void)state;
    enum { FRAMES = 114 };
    if (!has_program("tshark")) skip();
    Fixture fixture = {0};
    open_trace(&fixture, "PktMon.etl");
    Str path = path_join(&fixture.arena, fixture.folder, STR("out.pcapng"));
    call(&fixture, "export_pcapng", json_pack("{s:s,s:b}", "path", path.p, "all_appearances", 1));
    Str command = str_format(
        &fixture.arena,
        "tshark -r '" STR_FMT
        "' -T fields -E separator=, -e eth.src -e eth.dst -e ip.src -e ip.dst "
        "-e ip.id -e ip.ttl -e ip.proto -e ip.len -e icmp.type -e icmp.code -e icmp.ident "
        "-e icmp.seq -e frame.len 2>/dev/null",
        STR_ARG(path));
    Str theirs = command_output(command.p, &fixture.arena), rest = theirs, line = {0};
    Str ours = rows_of(&fixture, FRAMES_SQL);
    size_t lines = 0;
    while (str_next(&rest, '\n', &line)) lines += line.n > 0;
    assert_int_equal(lines, FRAMES);
    if (!str_eq(str_trim(ours), str_trim(theirs)))
        fail_msg("tshark:\n%.*s\nours:\n%.*s", STR_ARG(theirs), STR_ARG(ours));
    close_trace(&fixture);
}

// ---------------------------------------------------------------- requests

static void test_http_requests_are_whole(void **state) {
    (void)state;
    Fixture fixture = {0};
    open_trace(&fixture, "HTTP_Server.etl");
    Str rows = rows_of(&fixture,
                       "SELECT count(*), count(received_ns), count(parsed_ns), "
                       "count(delivered_ns), count(answered_ns), count(sent_ns), count(*) FILTER "
                       "(received_ns <= parsed_ns AND parsed_ns <= delivered_ns AND delivered_ns "
                       "<= answered_ns AND answered_ns <= sent_ns), count(DISTINCT request_id), "
                       "count(*) FILTER (verb_name = 'GET' AND status IN (200, 304) AND url LIKE "
                       "'http://georgis2:80/%.%') FROM http_request");
    assert_true(str_eq(str_trim(rows), STR("291,291,291,291,291,291,291,291,291")));
    // By the path in the URL, as the events name it.
    rows = rows_of(&fixture, "SELECT count(DISTINCT url) = (SELECT count(DISTINCT "
                             "fields->>'Url') FROM event WHERE id = 2 AND provider_name = "
                             "'Microsoft-Windows-HttpService') FROM http_request");
    assert_true(str_eq(str_trim(rows), STR("true")));
    close_trace(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows_kernel_network),
        cmocka_unit_test(test_flows_kernel_x64),
        cmocka_unit_test(test_flows_kernel_x86),
        cmocka_unit_test(test_frames_as_tshark_reads_them),
        cmocka_unit_test(test_http_requests_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
