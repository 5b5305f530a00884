// Events of manifest providers, laid out as their published schemas say; the schema of one provider
// is embedded as mergers do, another provider has none.
#include "etlgen.h"

#include "support/etl_build_meta.h"

typedef struct Manifest {
    const char *provider;
    uint16_t id;
    uint8_t level;
    uint64_t keyword;
} Manifest;

static const Manifest TCP_RECEIVE = {"2f07e2ee-15db-40f1-90ef-9d7ba282188a", 1074, 4, 0x200000000};
static const Manifest TCP_SEND = {"2f07e2ee-15db-40f1-90ef-9d7ba282188a", 1332, 4, 0x100000000};
static const Manifest TCP_RUNDOWN = {"2f07e2ee-15db-40f1-90ef-9d7ba282188a", 1300, 4, 0x80};
static const Manifest AFD_SEND = {"e53c6823-7bb8-44bb-90dc-3f86090d48a6", 1003, 4, 0x4};
static const Manifest AFD_RECEIVE = {"e53c6823-7bb8-44bb-90dc-3f86090d48a6", 1004, 4, 0x4};
static const Manifest PACKET = {"2ed6006e-4729-4609-b423-3ee7bcd678ef", 1001, 4, 0};
static const Manifest HTTP = {"dd5ef90a-6398-47a4-ad34-4dcecdef795f", 0, 4, 0x2};
static const Manifest CUSTOM = {"5b1e0000-0000-4000-8000-000000000001", 7, 4, 0x10};
static const Manifest BARE = {"5b1e0000-0000-4000-8000-000000000002", 9, 4, 0x20};

static void put_event(Gen *gen, EtlAt at, const Manifest *manifest, uint16_t id, uint64_t keyword,
                      const Buf *payload) {
    EtlBuildEvent event = {.header = ETL_BUILD_EVENT,
                           .cpu = at.cpu,
                           .ticks = at.ticks,
                           .tid = at.tid,
                           .pid = at.pid,
                           .id = id,
                           .level = manifest->level,
                           .keyword = keyword,
                           .payload = buf_str(payload)};
    INVARIANT(guid_from_text(str_from_c(manifest->provider), &event.guid));
    etl_build_event(gen->build, &event);
}

static void u32(Buf *buf, uint32_t v) {
    buf_add(buf, (Str){(const char *)&v, 4});
}

static void u64(Buf *buf, uint64_t v) {
    buf_add(buf, (Str){(const char *)&v, 8});
}

static void be16(Buf *buf, uint16_t v) {
    uint16_t swapped = __builtin_bswap16(v);
    buf_add(buf, (Str){(const char *)&swapped, 2});
}

static void wtext(Buf *buf, const char *text) {
    for (; *text; text++) {
        buf_add_char(buf, *text);
        buf_add_char(buf, 0);
    }
    buf_add_char(buf, 0);
    buf_add_char(buf, 0);
}

static uint32_t skewed_flow(Gen *gen) {
    uint32_t x = gen_below(gen, 1u << 12);
    return (x * x >> 12) * FLOWS >> 12;
}

static uint64_t tcb(uint32_t flow) {
    return 0xFFFFB00000000000u + flow * 0x400u;
}

static void address(Buf *buf, const uint8_t ip[4], uint16_t port) {
    static const char ZEROS[8] = {0};
    u32(buf, 16);
    buf_add(buf, (Str){"\2\0", 2});
    be16(buf, port);
    buf_add(buf, (Str){(const char *)ip, 4});
    buf_add(buf, (Str){ZEROS, 8});
}

void net_begin(Gen *gen) {
    if (!gen->mix->weight[KIND_TCPIP]) return;
    AUTO(buf_done) Buf payload = {0};
    EtlAt at = {.ticks = etl_build_ticks(gen->build, 500000), .tid = 4, .pid = 4};
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        const uint8_t local[4] = {10, 0, 0, 1};
        const uint8_t remote[4] = {10, 1, (uint8_t)(flow / 200), (uint8_t)(flow % 200 + 1)};
        buf_clear(&payload);
        u64(&payload, tcb(flow));
        address(&payload, local, (uint16_t)(20000 + flow));
        address(&payload, remote, 443);
        u32(&payload, 4); // established
        u32(&payload, 400 + (flow % gen->options.processes + 1) * 4);
        put_event(gen, at, &TCP_RUNDOWN, TCP_RUNDOWN.id, TCP_RUNDOWN.keyword, &payload);
    }
}

void net_tcpip(Gen *gen, EtlAt at) {
    AUTO(buf_done) Buf payload = {0};
    uint32_t flow = skewed_flow(gen), bytes = 100 + gen_below(gen, 60000);
    bool send = gen_below(gen, 2);
    u64(&payload, tcb(flow));
    if (send) {
        u32(&payload, 65536);
        u32(&payload, 131072);
        u32(&payload, bytes);
        u32(&payload, (uint32_t)gen_random(gen));
        for (int i = 0; i < 3; i++) u32(&payload, 200 + gen_below(gen, 500));
        gen->stats.tcpip_sent[flow] += bytes;
    } else {
        u32(&payload, bytes);
        u32(&payload, (uint32_t)gen_random(gen));
        gen->stats.tcpip_received[flow] += bytes;
    }
    const Manifest *manifest = send ? &TCP_SEND : &TCP_RECEIVE;
    put_event(gen, at, manifest, manifest->id, manifest->keyword, &payload);
}

void net_afd(Gen *gen, EtlAt at) {
    AUTO(buf_done) Buf payload = {0};
    const Manifest *manifest = gen_below(gen, 2) ? &AFD_SEND : &AFD_RECEIVE;
    uint32_t flow = skewed_flow(gen);
    u32(&payload, gen_below(gen, 2));
    u32(&payload, 3000 + gen_below(gen, 10));
    u64(&payload, 0xFFFFE00000000000u + (flow % gen->options.processes + 1) * 0x1000u);
    u64(&payload, 0xFFFFB10000000000u + flow * 0x400u);
    u32(&payload, 1);
    u64(&payload, 0x1000000 + gen_below(gen, 1u << 20));
    u32(&payload, 1460);
    u32(&payload, 0);
    put_event(gen, at, manifest, manifest->id, manifest->keyword, &payload);
}

void net_packet(Gen *gen, EtlAt at) {
    AUTO(buf_done) Buf payload = {0};
    uint32_t flow = skewed_flow(gen), size = 60 + gen_below(gen, gen->options.payload - 59);
    static const char MACS[12] = {0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2};
    u32(&payload, 5);
    u32(&payload, 3);
    u32(&payload, size);
    size_t start = payload.n;
    buf_add(&payload, (Str){MACS, 12});
    be16(&payload, 0x0800);
    be16(&payload, 0x4500);
    be16(&payload, (uint16_t)(size - 14));
    u32(&payload, (uint32_t)gen_random(gen) & 0xFFFF);
    be16(&payload, 0x4006);
    be16(&payload, 0);
    const uint8_t addresses[8] = {10, 0, 0, 1, 10, 1, (uint8_t)(flow / 200), (uint8_t)(flow % 200 + 1)};
    buf_add(&payload, (Str){(const char *)addresses, 8});
    be16(&payload, (uint16_t)(20000 + flow));
    be16(&payload, 443);
    u32(&payload, (uint32_t)gen_random(gen));
    u32(&payload, (uint32_t)gen_random(gen));
    be16(&payload, 0x5010);
    be16(&payload, 0xFFFF);
    u32(&payload, 0);
    // Text-like bytes: captured traffic compresses a little, not away.
    while (payload.n - start < size) {
        uint64_t word = gen_random(gen) & 0x3F1F3F1F3F1F3F1Fu;
        size_t left = size - (payload.n - start);
        buf_add(&payload, (Str){(const char *)&word, left < 8 ? left : 8});
    }
    put_event(gen, at, &PACKET, PACKET.id, 0x1C0000001u, &payload);
    gen->stats.packets[flow]++;
}

// One request is four events, one after another.
void net_http(Gen *gen, EtlAt at) {
    AUTO(buf_done) Buf payload = {0};
    uint64_t request = 0xFD00000000000000u + ++gen->request, object = 0xFFFFB20000000000u + request % 512 * 0x800;
    u64(&payload, request);
    u64(&payload, request & ~7u);
    const uint8_t remote[4] = {10, 1, 0, 9};
    address(&payload, remote, 50000);
    put_event(gen, at, &HTTP, 1, HTTP.keyword, &payload);
    buf_clear(&payload);
    u64(&payload, object);
    u32(&payload, 4); // GET
    wtext(&payload, request % 3 ? "http://host:80/index.html" : "http://host:80/api/items");
    at.ticks++;
    put_event(gen, at, &HTTP, 2, HTTP.keyword, &payload);
    buf_clear(&payload);
    u64(&payload, object);
    u64(&payload, request);
    u32(&payload, 1);
    wtext(&payload, "DefaultAppPool");
    wtext(&payload, "http://host:80/");
    u32(&payload, 0);
    at.ticks++;
    put_event(gen, at, &HTTP, 3, HTTP.keyword, &payload);
    buf_clear(&payload);
    u64(&payload, request);
    u64(&payload, request & ~7u);
    buf_add(&payload, (Str){"\xC8\0GET\0", 6});
    u32(&payload, 200);
    buf_add(&payload, (Str){"\1\0", 2});
    u32(&payload, 0);
    at.ticks++;
    put_event(gen, at, &HTTP, 4, HTTP.keyword, &payload);
    gen->stats.requests++;
}

void net_custom(Gen *gen, EtlAt at, bool embedded) {
    AUTO(buf_done) Buf payload = {0};
    const Manifest *manifest = embedded ? &CUSTOM : &BARE;
    static const char *const NAMES[] = {"render", "layout", "commit", "flush", "decode"};
    u32(&payload, gen_below(gen, 1000));
    u64(&payload, gen_random(gen) & 0xFFFFFF);
    wtext(&payload, NAMES[gen_below(gen, COUNT_OF(NAMES))]);
    uint32_t extra = gen_below(gen, gen->options.payload);
    u32(&payload, extra);
    for (uint32_t i = 0; i < extra; i++) buf_add_char(&payload, (char)('a' + i % 23));
    put_event(gen, at, manifest, manifest->id, manifest->keyword, &payload);
}

void net_metadata(Gen *gen) {
    AUTO(buf_done) Buf bytes = {0};
    MetaField fields[5] = {{.name = STR("Frame"), .type = 8},
                           {.name = STR("Cost"), .type = 10},
                           {.name = STR("Phase"), .type = 1},
                           {.name = STR("Size"), .type = 8},
                           {.name = STR("Data"), .type = 14, .length_field = STR("Size")}};
    MetaEvent event = {.id = CUSTOM.id,
                       .level = CUSTOM.level,
                       .keyword = CUSTOM.keyword,
                       .provider_name = STR("Bench-Custom"),
                       .task_name = STR("Frame"),
                       .event_name = STR("Frame"),
                       .fields = fields,
                       .field_count = 5};
    INVARIANT(guid_from_text(str_from_c(CUSTOM.provider), &event.provider));
    meta_put_event_info(&bytes, &event);
    EtlBuildEvent info = {.header = ETL_BUILD_FULL,
                          .ticks = etl_build_ticks(gen->build, gen->now_ns),
                          .opcode = 32,
                          .tid = 4,
                          .pid = 4,
                          .payload = buf_str(&bytes)};
    INVARIANT(guid_from_text(STR("bbccf6c1-6cd1-48c4-80ff-839482e37671"), &info.guid));
    etl_build_event(gen->build, &info);
}
