// The benchmark generator's parts: a seeded scene, its events, its statistics.
#ifndef BENCH_ETLGEN_H
#define BENCH_ETLGEN_H

#include "support/etl_build_kernel.h"

typedef enum Kind {
    KIND_SAMPLE,
    KIND_SWITCH,
    KIND_READY,
    KIND_DPC,
    KIND_ISR,
    KIND_DISK,
    KIND_TCP,    // kernel TcpIp class
    KIND_TCPIP,  // Microsoft-Windows-TCPIP 1074 and 1332
    KIND_AFD,    // Winsock-AFD 1003 and 1004, entry and exit
    KIND_PACKET, // NDIS-PacketCapture 1001
    KIND_HTTP,   // HttpService 1 to 4
    KIND_CUSTOM, // a provider whose schema the trace embeds
    KIND_BARE,   // a provider without any schema
    KINDS
} Kind;

typedef struct Mix {
    const char *name;
    unsigned weight[KINDS];
} Mix;

typedef struct Options {
    const char *path, *mix;
    uint64_t events; // primary events; stacks come on top
    uint64_t seed;
    unsigned cpus, processes, threads; // threads per process
    unsigned depth, stacks;            // frames of a stack, distinct stacks
    unsigned payload;                  // bytes of a packet or custom payload
    bool compress;
    unsigned lost_buffers;
} Options;

enum { PROCESSES_MAX = 1024, MODULES = 8, KERNEL_MODULES = 16, FLOWS = 256 };

typedef struct Stats {
    uint64_t events, kinds[KINDS], stacks;
    uint64_t samples_of_process[PROCESSES_MAX]; // 0 is idle
    uint64_t samples_of_module[KERNEL_MODULES + PROCESSES_MAX * MODULES];
    uint64_t *switches_in; // per thread
    uint64_t tcp_bytes[FLOWS], tcpip_sent[FLOWS], tcpip_received[FLOWS], packets[FLOWS];
    uint64_t disk_reads, disk_bytes;
    uint64_t requests;
    int64_t last_ns;
} Stats;

typedef struct Gen {
    Options options;
    const Mix *mix;
    EtlBuild *build;
    EtlKernel kernel;
    uint64_t random;
    int64_t now_ns;
    uint32_t *running; // per CPU: thread number, 0 idle
    uint64_t *frames;  // stacks * depth
    uint64_t *kernel_frames;
    Stats stats;
    uint64_t request;
} Gen;

uint64_t gen_random(Gen *gen);
uint32_t gen_below(Gen *gen, uint32_t bound);
// Thread n (1-based) belongs to process (n - 1) / threads + 1.
uint32_t gen_tid(uint32_t thread);
uint32_t gen_pid(const Gen *gen, uint32_t thread);
uint32_t gen_process(const Gen *gen, uint32_t thread); // 1-based; 0 idle

void scene_begin(Gen *gen); // rundown, images, machine
void scene_end(Gen *gen);
void scene_event(Gen *gen); // one primary event of the mix
const uint64_t *scene_stack(Gen *gen, uint32_t process, uint32_t *number);

// events of manifest providers
void net_tcpip(Gen *gen, EtlAt at);
void net_afd(Gen *gen, EtlAt at);
void net_packet(Gen *gen, EtlAt at);
void net_http(Gen *gen, EtlAt at);
void net_custom(Gen *gen, EtlAt at, bool embedded);
void net_begin(Gen *gen);
void net_metadata(Gen *gen);

void stats_print(const Gen *gen);

#endif
