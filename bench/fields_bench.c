// How fast fields are read: schemas of a usual mix of manifest events, one core, no database.
// fields_bench [events]   prints events, seconds and output bytes for the whole object and for six
// fields of each event.
#include "decode/fields.h"

#include "base/os.h"

#include <stdio.h>

typedef struct Kind {
    const FieldsSchema *schema;
    char payload[256];
    size_t bytes;
} Kind;

static void add(FieldsLayout *layout, const char *name, uint8_t type, uint8_t out) {
    *vec_push(&layout->fields) = (FieldsDef){.name = str_from_c(name), .type = type, .out = out};
}

static void put(Kind *kind, const void *bytes, size_t n) {
    memcpy(kind->payload + kind->bytes, bytes, n);
    kind->bytes += n;
}

static void finish(Kind *kind, FieldsLayout *layout, Arena *arena) {
    AUTO(buf_done) Buf schema = {0};
    schema_begin(&schema, 8);
    schema_add(&schema, layout);
    kind->schema = schema_parse(str_copy(arena, buf_str(&schema)), arena);
    INVARIANT(kind->schema);
    layout_done(layout);
}

// A data transfer as TCPIP logs it: pointers, counters, no text.
static void make_transfer(Kind *kind, Arena *arena) {
    static const char *const NAMES[] = {"Tcb",  "BytesSent", "Cwnd", "SndWnd",
                                        "SRtt", "RttVar",    "RTO",  "State"};
    FieldsLayout layout = {0};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        uint64_t value = i ? 1460 * i : 0xffffa00112345678;
        add(&layout, NAMES[i], i ? IN_U32 : IN_PTR, OUT_DEFAULT);
        put(kind, &value, i ? 4 : 8);
    }
    finish(kind, &layout, arena);
}

// A request: a pointer, an identifier, a URL in UTF-16, a status.
static void make_request(Kind *kind, Arena *arena) {
    static const char URL[] = "http://server.example:80/folder/page.htm";
    FieldsLayout layout = {0};
    uint64_t object = 0xffffa00112345678;
    uint32_t status = 200;
    add(&layout, "RequestObj", IN_PTR, OUT_DEFAULT);
    add(&layout, "RequestId", IN_HEX64, OUT_DEFAULT);
    add(&layout, "Url", IN_WSTR, OUT_DEFAULT);
    add(&layout, "Status", IN_U32, OUT_DEFAULT);
    put(kind, &object, 8);
    put(kind, &object, 8);
    for (size_t i = 0; i < sizeof URL; i++) {
        char unit[2] = {URL[i], 0};
        put(kind, unit, 2);
    }
    put(kind, &status, 4);
    finish(kind, &layout, arena);
}

// Addresses, ports and a GUID.
static void make_connect(Kind *kind, Arena *arena) {
    static const uint8_t ADDRESS[16] = {2, 0, 0x1F, 0x90, 10, 0, 0, 1};
    FieldsLayout layout = {0};
    uint16_t port = 443;
    add(&layout, "PID", IN_U32, OUT_PID);
    add(&layout, "Local", IN_BIN, OUT_SOCKADDR);
    layout.fields.items[1].length_kind = LENGTH_FIXED;
    layout.fields.items[1].length = sizeof ADDRESS;
    add(&layout, "daddr", IN_U32, OUT_IPV4);
    add(&layout, "dport", IN_U16, OUT_PORT);
    add(&layout, "Activity", IN_GUID, OUT_DEFAULT);
    put(kind, ADDRESS, 4);
    put(kind, ADDRESS, sizeof ADDRESS);
    put(kind, ADDRESS + 4, 4);
    put(kind, &port, 2);
    put(kind, ADDRESS, sizeof ADDRESS);
    finish(kind, &layout, arena);
}

int main(int argc, char **argv) {
    enum { KINDS = 3, MILLION = 1000000 };
    static const char *const FIELDS[] = {"Tcb", "BytesSent", "Cwnd", "SRtt", "RTO", "State"};
    AUTO(arena_done) Arena arena = {0}, scratch = {0};
    AUTO(buf_done) Buf json = {0};
    static Kind kinds[KINDS];
    uint64_t events = MILLION, bytes = 0, sum = 0;
    if (argc > 1) (void)str_to_u64(str_from_c(argv[1]), &events);
    make_transfer(&kinds[0], &arena);
    make_request(&kinds[1], &arena);
    make_connect(&kinds[2], &arena);
    uint64_t start = os_now_ns();
    for (uint64_t i = 0; i < events; i++) {
        const Kind *kind = &kinds[i % KINDS];
        FieldsReport report;
        if (scratch.used_bytes) arena_clear(&scratch);
        buf_clear(&json);
        fields_json(kind->schema, (Str){kind->payload, kind->bytes}, ETL_NO_ID, &scratch, &json,
                    &report);
        INVARIANT(!report.missing && !report.extra_bytes);
        bytes += json.n;
    }
    double whole = (double)(os_now_ns() - start) / 1e9;
    start = os_now_ns();
    for (uint64_t i = 0; i < events; i++)
        for (size_t f = 0; f < COUNT_OF(FIELDS); f++)
            sum += fields_value(kinds[0].schema, (Str){kinds[0].payload, kinds[0].bytes}, ETL_NO_ID,
                                str_from_c(FIELDS[f]), false, &scratch)
                       .u64;
    double single = (double)(os_now_ns() - start) / 1e9;
    printf("events %llu, whole objects %.3f s (%llu bytes), six fields each %.3f s (sum %llx)\n",
           (unsigned long long)events, whole, (unsigned long long)bytes, single,
           (unsigned long long)sum);
    return 0;
}
