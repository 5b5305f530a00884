// trace (one row), trace_source (which data there is, and why not) and decode_issue (damage and
// loss, counted).
#include "decode/trace_rows.h"

#include "decode/entities.h"
#include "decode/world_internal.h"

#include <inttypes.h>
#include <time.h>

static Str text_or_null(Str s) {
    return s.n ? s : (Str){0};
}

// ---------------------------------------------------------------- sources

enum { SOURCE_HOOKS = 10 };

// An area of data: its hooks (low..high pairs) or its manifest provider, the group-mask bit that
// turns it on (docs/formats/etl.md), and how to record it.
typedef struct Source {
    const char *name, *about;
    uint16_t hooks[SOURCE_HOOKS]; // pairs; 0,0 ends
    const char *provider;         // GUID of a manifest provider
    uint8_t mask;
    uint32_t bits;  // of mask
    uint32_t bits0; // the public flag, in mask 0
    const char *capture;
} Source;

#define CAPTURE_BASE "any scenario with process and thread events"
static const Source SOURCES[] = {
    {"process",
     "Process starts, ends and rundown",                   {0x0301, 0x0304, 0x0327, 0x0327},
     NULL,                                                                                                         0,
     1,                                                                                                                          0,
     CAPTURE_BASE                                                                                                                                                },
    {"thread",          "Thread starts, ends and rundown", {0x0501, 0x0504},                                 NULL, 0, 2,         0,         CAPTURE_BASE         },
    {"image",
     "Image loads and rundown",                            {0x030A, 0x030A, 0x1402, 0x1404},
     NULL,                                                                                                         0,
     4,                                                                                                                          0,
     "WPR flag Loader"                                                                                                                                           },
    {"process_counter",
     "Process memory counters",                            {0x0320, 0x0321},
     NULL,                                                                                                         0,
     8,                                                                                                                          0,
     "WPR flag ProcessCounter"                                                                                                                                   },
    {"sample",
     "CPU samples",                                        {0x0F2E, 0x0F2E, 0x0F37, 0x0F37, 0x0F47, 0x0F47},
     NULL,                                                                                                         1,
     2,                                                                                                                          0x1000000,
     "capture scenario cpu (WPR flag SampledProfile)"                                                                                                            },
    {"pmc_sample",
     "Performance-counter samples",                        {0x0F2F, 0x0F2F},
     NULL,                                                                                                         1,
     0x400,                                                                                                                      0,
     "WPR hardware counter profiles"                                                                                                                             },
    {"stack",
     "Call stacks",                                        {0x1820, 0x1826},
     NULL,                                                                                                         0,
     0,                                                                                                                          0,
     "stack flags of the profile (for samples: SampledProfile)"                                                                                                  },
    {"context_switch",
     "Context switches",                                   {0x0524, 0x0525},
     NULL,                                                                                                         1,
     4,                                                                                                                          0x10,
     "capture scenario cpu_dpc_isr (WPR flag CSwitch)"                                                                                                           },
    {"ready_thread",
     "Threads made ready",                                 {0x0532, 0x0532},
     NULL,                                                                                                         1,
     0x200,                                                                                                                      0x800,
     "capture scenario cpu_dpc_isr (WPR flag ReadyThread)"                                                                                                       },
    {"dpc",
     "DPC executions",                                     {0x0F42, 0x0F42, 0x0F44, 0x0F45},
     NULL,                                                                                                         1,
     0x80,                                                                                                                       0x20,
     "capture scenario cpu_dpc_isr (WPR flag DPC)"                                                                                                               },
    {"isr",
     "ISR executions",                                     {0x0F43, 0x0F43, 0x0F32, 0x0F32, 0x0F5F, 0x0F5F},
     NULL,                                                                                                         1,
     0x4000,                                                                                                                     0x40,
     "capture scenario cpu_dpc_isr (WPR flag Interrupt)"                                                                                                         },
    {"syscall",         "System calls",                    {0x0F33, 0x0F34},                                 NULL, 2, 0x40,      0x80,      "WPR flag SystemCall"},
    {"disk_io",
     "Disk transfers",                                     {0x010A, 0x010B, 0x010E, 0x010E, 0x0137, 0x0139},
     NULL,                                                                                                         0,
     0x100,                                                                                                                      0,
     "WPR profile DiskIO"                                                                                                                                        },
    {"disk_io_init",
     "Disk requests at their start",                       {0x010C, 0x010D, 0x010F, 0x010F, 0x013A, 0x013C},
     NULL,                                                                                                         0,
     0x400,                                                                                                                      0,
     "WPR profile DiskIO"                                                                                                                                        },
    {"file_name",
     "File names",                                         {0x0400, 0x0400, 0x0420, 0x0424},
     NULL,                                                                                                         0,
     0x200,                                                                                                                      0,
     "WPR profile DiskIO or FileIO"                                                                                                                              },
    {"file_io",         "File operations",                 {0x0440, 0x0451},                                 NULL, 0, 0x6000000, 0,         "WPR profile FileIO" },
    {"hard_fault",      "Hard page faults",                {0x0220, 0x0220},                                 NULL, 0, 0x2000,    0,         "WPR flag HardFaults"},
    {"page_fault",
     "Soft page faults",                                   {0x020A, 0x020F},
     NULL,                                                                                                         0,
     0x1000,                                                                                                                     0,
     "WPR flag MemoryFaults"                                                                                                                                     },
    {"virtual_alloc",
     "Virtual memory allocations",                         {0x0262, 0x0263, 0x0280, 0x0281},
     NULL,                                                                                                         1,
     0x8000,                                                                                                                     0x4000,
     "WPR profile VirtualAllocation"                                                                                                                             },
    {"pool",            "Kernel pool allocations",         {0x0E20, 0x0E23},                                 NULL, 1, 0x40,      0,         "WPR profile Pool"   },
    {"registry",
     "Registry operations",                                {0x090A, 0x0919},
     NULL,                                                                                                         0,
     0x20000,                                                                                                                    0,
     "WPR profile Registry"                                                                                                                                      },
    {"lock",
     "Spinlocks, resources, pushlocks",                    {0x0529, 0x052E},
     NULL,                                                                                                         1,
     0x30000,                                                                                                                    0,
     "WPR flag SpinLock"                                                                                                                                         },
    {"tcp",
     "TCP events of the kernel",                           {0x060A, 0x0626},
     NULL,                                                                                                         0,
     0x10000,                                                                                                                    0,
     "WPR flag NetworkTrace"                                                                                                                                     },
    {"udp",
     "UDP events of the kernel",                           {0x080A, 0x081B},
     NULL,                                                                                                         0,
     0x10000,                                                                                                                    0,
     "WPR flag NetworkTrace"                                                                                                                                     },
    {"alpc",            "ALPC messages",                   {0x1A21, 0x1A29},                                 NULL, 0, 0x100000,  0,         "WPR flag ALPC"      },
    {"handle",          "Handles and objects",             {0x1120, 0x1133},                                 NULL, 4, 0xC0,      0,         "WPR profile Handle" },
    {"power",
     "Power and processor idle states",                    {0x1220, 0x1240},
     NULL,                                                                                                         4,
     0x8000,                                                                                                                     0,
     "WPR profile Power"                                                                                                                                         },
    {"system_config",
     "Machine configuration",                              {0x0B0A, 0x0B25},
     NULL,                                                                                                         0,
     0,                                                                                                                          0,
     "any kernel session that is stopped in the ordinary way"                                                                                                    },
    {"kernel_network",
     "TCP and UDP (Microsoft-Windows-Kernel-Network)",     {0},
     "7dd42a49-5329-4832-8dfd-43d979153a88",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario network"                                                                                                                                  },
    {"tcpip",
     "TCP/IP stack (Microsoft-Windows-TCPIP)",             {0},
     "2f07e2ee-15db-40f1-90ef-9d7ba282188a",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario network"                                                                                                                                  },
    {"afd",
     "Sockets (Microsoft-Windows-Winsock-AFD)",            {0},
     "e53c6823-7bb8-44bb-90dc-3f86090d48a6",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario network"                                                                                                                                  },
    {"ndis_capture",
     "Captured packets (NDIS-PacketCapture)",              {0},
     "2ed6006e-4729-4609-b423-3ee7bcd678ef",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario network_packets"                                                                                                                          },
    {"pktmon",
     "Captured packets (PktMon)",                          {0},
     "4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario pktmon"                                                                                                                                   },
    {"http",
     "HTTP.sys (Microsoft-Windows-HttpService)",           {0},
     "dd5ef90a-6398-47a4-ad34-4dcecdef795f",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario network"                                                                                                                                  },
    {"quic",
     "MsQuic (Microsoft-Quic)",                            {0},
     "ff15e657-4f26-570e-88ab-0796b258d11c",                                                                       0,
     0,                                                                                                                          0,
     "capture scenario quic"                                                                                                                                     },
    {"clr",
     ".NET runtime",                                       {0},
     "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",                                                                       0,
     0,                                                                                                                          0,
     "PerfView or dotnet-trace"                                                                                                                                  },
};

static bool source_has(const Source *source, const Guid *provider, const EventClass *class) {
    if (source->provider)
        return class->key.kind == ETL_MANIFEST && guid_eq(&class->key.provider, provider);
    if (class->key.kind != ETL_SYSTEM) return false;
    for (size_t i = 0; i + 1 < SOURCE_HOOKS && source->hooks[i + 1]; i += 2)
        if (class->key.hook >= source->hooks[i] && class->key.hook <= source->hooks[i + 1])
            return true;
    return false;
}

static const char *source_state(const World *world, const Source *source, uint64_t events) {
    if (events) return "recorded";
    if (source->provider || (!source->bits && !source->bits0)) return "absent";
    if (!world->has_masks) return "unknown"; // the trace does not say what was turned on
    bool on = world->masks[source->mask] & source->bits || world->masks[0] & source->bits0;
    return on ? "enabled" : "absent";
}

static void source_rows(const World *world, Rows *rows) {
    const ClassTable *classes = &world->survey.classes;
    for (size_t s = 0; s < COUNT_OF(SOURCES); s++) {
        const Source *source = &SOURCES[s];
        Guid provider = {{0}};
        if (source->provider) INVARIANT(guid_from_text(str_from_c(source->provider), &provider));
        uint64_t events = 0;
        int64_t first = INT64_MAX, last = INT64_MIN;
        for (size_t i = 0; i < classes->items.count; i++) {
            const EventClass *class = &classes->items.items[i];
            if (!source_has(source, &provider, class)) continue;
            events += class->events;
            if (class->first_ticks < first) first = class->first_ticks;
            if (class->last_ticks > last) last = class->last_ticks;
        }
        // Stacks in extended items of manifest events have no event of their own.
        if (strcmp(source->name, "stack") == 0) events += world->inline_stacks.count;
        Row row = row_begin(rows, T_TRACE_SOURCE);
        put_text(&row, str_from_c(source->name));
        put_text(&row, str_from_c(source->about));
        put_text(&row, str_from_c(source_state(world, source, events)));
        put_u64(&row, events);
        put_i64_if(&row, first != INT64_MAX, first != INT64_MAX ? world_ns(world, first) : 0);
        put_i64_if(&row, last != INT64_MIN, last != INT64_MIN ? world_ns(world, last) : 0);
        put_text(&row, str_from_c(source->capture));
        row_end(&row);
    }
}

// ---------------------------------------------------------------- issues

typedef struct Issue {
    const char *kind;
    bool loss;
    uint64_t count, bytes, first_offset;
    bool has_offset;
    const char *about;
} Issue;

static void issue_row(Rows *rows, EntityFacts *facts, const Issue *issue) {
    if (!issue->count) return;
    facts->data_loss_issues += issue->loss;
    Row row = row_begin(rows, T_DECODE_ISSUE);
    put_text(&row, str_from_c(issue->kind));
    put_text(&row, issue->loss ? STR("data_loss") : STR("info"));
    put_u64(&row, issue->count);
    put_u64(&row, issue->bytes);
    put_u64_if(&row, issue->has_offset, issue->first_offset);
    put_text(&row, str_from_c(issue->about));
    row_end(&row);
}

static void issue_rows(const World *world, const EtlFile *file, EntityFacts *facts, Rows *rows) {
    EtlIssues all = world->survey.issues, *issues = &all;
    etl_count_growth(file, issues); // everything has been read by now
    for (unsigned i = 0; i < ETL_ISSUE_KINDS; i++) {
        EtlIssueKind kind = (EtlIssueKind)i;
        issue_row(rows, facts,
                  &(Issue){etl_issue_name(kind), etl_issue_severity(kind) == ETL_DATA_LOSS,
                           issues->count[i], issues->bytes[i], issues->first_offset[i], true,
                           etl_issue_text(kind)});
    }
    uint64_t stacks = world->stacks.count;
    uint64_t unpaired = stacks > facts->stacks_taken ? stacks - facts->stacks_taken : 0;
    const Issue ours[] = {
        {"events_lost",         true,  world->header->events_lost,  0, 0, false,
         "Events that the session lost while recording (its own count)"    },
        {"buffers_lost",        true,  world->header->buffers_lost, 0, 0, false,
         "Buffers that the session lost while recording (its own count)"   },
        {"stack_unpaired",      false, unpaired,                    0, 0, false,
         "Stacks without an event: their event was filtered out or lost"   },
        {"stack_key_undefined", true,  world->unresolved_keys,      0, 0, false,
         "References to cached stacks whose definition is not in the trace"},
        {"short_payload",       true,  facts->short_payloads,       0, 0, false,
         "Kernel events that end before the fields their rows need"        },
    };
    for (size_t i = 0; i < COUNT_OF(ours); i++) issue_row(rows, facts, &ours[i]);
}

// ---------------------------------------------------------------- trace

static Str filetime_text(Arena *arena, uint64_t filetime) {
    const uint64_t unix_epoch = 116444736000000000u; // 1970 in 100 ns since 1601
    if (filetime < unix_epoch || filetime > unix_epoch + (uint64_t)100000 * 86400 * 10000000)
        return (Str){0};
    uint64_t units = filetime - unix_epoch;
    time_t seconds = (time_t)(units / 10000000);
    struct tm utc;
    char text[32] = "";
    if (!gmtime_r(&seconds, &utc)) return (Str){0};
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
    return str_format(arena, "%s.%07" PRIu64, text, units % 10000000);
}

typedef struct CpuConfig { // SystemConfig 0A and SysConfig 32
    bool found;
    uint32_t mhz, processors, memory_mb, page_size;
    Str computer, domain, architecture;
    Str build_lab, product, installed;
} CpuConfig;

static const char *const ARCHITECTURES[] = {
    [0] = "x86", [5] = "arm", [6] = "ia64", [9] = "x64", [12] = "arm64"};

static CpuConfig read_config(const World *world, Arena *arena) {
    CpuConfig config = {0};
    KeptList list = world_kept(world, 0x0B0A);
    if (list.count) {
        const Kept *kept = &list.items[list.count - 1];
        Rd r = rd_from_str(kept->payload);
        config.mhz = rd_u32(&r);
        config.processors = rd_u32(&r);
        config.memory_mb = rd_u32(&r);
        config.page_size = rd_u32(&r);
        (void)rd_u32(&r); // allocation granularity
        config.computer = rd_wchars(&r, 256, arena);
        config.domain = rd_wchars(&r, kept->version >= 2 ? 134 : 132, arena);
        config.found = rd_ok(&r);
        rd_skip(&r, 2 * (size_t)kept->pointer_size); // hyper-threading flag, highest user address
        uint16_t architecture = rd_u16(&r);
        if (kept->version >= 3 && rd_ok(&r) && architecture < COUNT_OF(ARCHITECTURES))
            config.architecture = str_from_c(ARCHITECTURES[architecture]);
    }
    Guid provider;
    INVARIANT(guid_from_text(STR("9b79ee91-b5fd-41c0-a243-4248e266e9d0"), &provider));
    list = world_kept_class(world, &provider, 32);
    if (list.count) {
        Rd r = rd_from_str(list.items[0].payload);
        config.installed = filetime_text(arena, rd_u64(&r));
        config.build_lab = rd_wstr(&r, arena);
        config.product = rd_wstr(&r, arena);
    }
    return config;
}

static uint32_t cpus_seen(const World *world, EtlFile *file) {
    uint32_t most = 0;
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        uint32_t cpu = etl_buffer(file, i)->cpu;
        if (world->survey.buffers[i].events && cpu + 1 > most) most = cpu + 1;
    }
    return most;
}

static const char *clock_name(EtlClock clock) {
    switch (clock) {
    case ETL_CLOCK_QPC: return "qpc";
    case ETL_CLOCK_SYSTEM_TIME: return "system_time";
    case ETL_CLOCK_CPU_CYCLES: return "cpu_cycles";
    }
    return "qpc";
}

static const char *compression_name(EtlCompression compression) {
    switch (compression) {
    case ETL_PLAIN: return "none";
    case ETL_LZNT1: return "lznt1";
    case ETL_XPRESS: return "xpress";
    case ETL_XPRESS_HUFFMAN: return "xpress_huffman";
    }
    return "none";
}

static void put_machine(Row *row, const World *world, const CpuConfig *config, uint32_t cpus) {
    const EtlHeader *h = world->header;
    put_u8(row, h->os_major);
    put_u8(row, h->os_minor);
    put_u32(row, h->os_build);
    put_text(row, text_or_null(config->build_lab));
    put_text(row, text_or_null(config->product));
    put_text(row, text_or_null(config->installed));
    put_text(row, text_or_null(config->computer));
    put_text(row, text_or_null(config->domain));
    put_u32(row, cpus > h->cpu_count ? cpus : h->cpu_count);
    put_u32_if(row, h->cpu_mhz || config->found, h->cpu_mhz ? h->cpu_mhz : config->mhz);
    put_u32_if(row, config->found, config->memory_mb);
    put_u32_if(row, config->found, config->page_size);
    put_text(row, text_or_null(config->architecture));
    put_u8(row, (uint8_t)world->survey.kernel_pointer_size);
}

static void put_clock(Row *row, const World *world, int64_t first, int64_t last, Arena *arena) {
    const EtlHeader *h = world->header;
    bool any = first <= last;
    put_text(row, str_from_c(clock_name(h->clock)));
    put_u64(row, h->ticks_per_s);
    put_u64(row, h->start_filetime);
    put_text(row, filetime_text(arena, h->start_filetime));
    put_i64(row, any && last > 0 ? last : 0);
    put_i64_if(row, any, first);
    put_i64_if(row, any, last);
    put_text(row, filetime_text(arena, h->boot_filetime));
    put_text(row, text_or_null(h->time_zone_name));
    put_i32(row, h->time_zone_bias_min);
    put_u32(row, h->timer_resolution_100ns);
}

static Str masks_text(const World *world, Arena *arena) {
    if (!world->has_masks) return (Str){0};
    Buf text = {0};
    for (int i = 0; i < 8; i++) buf_addf(&text, i ? " %08" PRIx32 : "%08" PRIx32, world->masks[i]);
    Str copy = str_copy(arena, buf_str(&text));
    buf_done(&text);
    return copy;
}

static void trace_row(const World *world, EtlFile *file, Str file_name, EntityFacts *facts,
                      Rows *rows) {
    AUTO(arena_done) Arena arena = {0};
    int64_t first = INT64_MAX, last = INT64_MIN;
    size_t buffers = etl_buffer_count(file);
    for (size_t i = 0; i < buffers; i++) {
        const BufferFacts *buffer = &world->survey.buffers[i];
        if (!buffer->events) continue;
        if (buffer->first_ticks < first) first = buffer->first_ticks;
        if (buffer->last_ticks > last) last = buffer->last_ticks;
    }
    if (first <= last) {
        first = world_ns(world, first);
        last = world_ns(world, last);
        facts->duration_ns = last > 0 ? last : 0;
    }
    CpuConfig config = read_config(world, &arena);
    const EtlHeader *h = world->header;
    Row row = row_begin(rows, T_TRACE);
    put_text(&row, file_name);
    put_u64(&row, etl_file_size(file));
    put_machine(&row, world, &config, cpus_seen(world, file));
    put_clock(&row, world, first, last, &arena);
    put_u32(&row, h->log_file_mode);
    put_text(&row, text_or_null(h->session_name));
    put_u32(&row, h->buffer_size_bytes);
    put_u32(&row, h->buffers_written);
    put_u32(&row, (uint32_t)buffers);
    put_text(&row, str_from_c(compression_name(etl_compression(file))));
    put_u64(&row, world->survey.events);
    put_u32(&row, h->events_lost);
    put_u32(&row, h->buffers_lost);
    put_text(&row, masks_text(world, &arena));
    put_u32_if(&row, world->kernel_event_version != 0, world->kernel_event_version);
    row_end(&row);
}

void trace_rows(const World *world, EtlFile *file, Str file_name, EntityFacts *facts, Rows *rows) {
    trace_row(world, file, file_name, facts, rows);
    source_rows(world, rows);
    issue_rows(world, file, facts, rows);
}
