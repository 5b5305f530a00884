// The capture scenarios: when to use each, what it shows, what it cannot show. What is in a profile
// is not repeated here: it is read from the profile.
#include "tools/handle_capture.h"

#define NO_PATHS "Event providers that are not installed are left out without an error."

static const Scenario S_CPU = {
    .name = "cpu",
    .title = "CPU time by function",
    .use = "Where CPU time goes, at the least overhead.",
    .records = "CPU samples with call stacks, processes, threads, images, idle states.",
    .misses = "Waits and context switches, DPC and interrupt times, disk, network.",
    .overhead = "low, about 50 MB a minute on a busy 16-core machine",
    .size = "10 to 50 MB",
    .tools = "get_cpu_samples, get_hot_functions, get_per_cpu_summary, get_cpu_timeline",
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_CPU_DPC_ISR = {
    .name = "cpu_dpc_isr",
    .title = "CPU, scheduler, DPCs and interrupts",
    .use = "High DPC time, interrupt storms, lock contention, slow or late threads.",
    .records = "CPU samples, context switches and wake-ups with stacks, DPCs and interrupts "
               "with their routines, DPC queue lengths where the system knows them.",
    .misses = "Disk and network activity, single lock acquisitions (scenario locks).",
    .overhead = "moderate, 200 to 400 MB a minute on 80 processors",
    .size = "20 to 100 MB",
    .tools = "get_cpu_samples, get_hot_functions, get_hot_stacks, get_dpc_summary, "
             "get_dpc_per_cpu, get_lock_contention, get_per_cpu_summary",
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_DISK = {
    .name = "disk",
    .title = "Disk and file activity",
    .use = "A busy or slow disk; who reads and writes which files.",
    .records = "Disk transfers with start, response time and file, file operations, hard "
               "faults, CPU samples and context switches.",
    .misses = "Network, pool allocations, single lock acquisitions.",
    .overhead = "moderate, by the rate of file operations",
    .size = "50 to 500 MB",
    .tools = "get_diskio_summary, analyze, get_hot_stacks, query_trace",
    .notes = "FileIO is the larger part: leave out \"-start FileIO\" when file names on disk "
             "transfers are enough.",
    .built_in = "CPU DiskIO FileIO",
    .kind = CAPTURE_BUILT_IN,
    .seconds = 20,
};

static const Scenario S_EBPF = {
    .name = "ebpf",
    .title = "eBPF for Windows",
    .use = "eBPF programs: load, verify, JIT, run, and what they cost.",
    .records = "Events of the eBPF execution context and of its network extension, CPU, "
               "scheduler, DPCs, TCP/IP at level 4, which includes an event for each send and "
               "receive.",
    .misses = "Packet contents, sockets (AFD), HTTP, QUIC, disk.",
    .overhead = "moderate, 300 to 500 MB a minute",
    .size = "50 to 100 MB",
    .tools = "get_cpu_samples, get_hot_functions, get_dpc_summary, get_network_hot_functions",
    .notes = "eBPF for Windows must be installed on the target. " NO_PATHS,
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_FILE = {
    .name = "file",
    .title = "File operations",
    .use = "Which files a process opens, reads, writes, and how long that takes.",
    .records = "Create, read, write, close and directory operations with paths and stacks.",
    .misses = "Transfers on the disk itself (scenario disk), network, CPU samples.",
    .overhead = "moderate to high, by the rate of file operations",
    .size = "50 to 500 MB",
    .tools = "query_trace, get_process_info, analyze",
    .built_in = "FileIO",
    .kind = CAPTURE_BUILT_IN,
    .seconds = 20,
};

static const Scenario S_GENERAL = {
    .name = "general",
    .title = "First look",
    .use = "An unknown problem: a bit of everything.",
    .records = "CPU samples, scheduler, DPCs and interrupts, disk transfers with file names, "
               "hard faults, TCP/IP at level 4, which includes an event for each send and receive.",
    .misses = "Packet contents, sockets (AFD), HTTP, QUIC, file operations that stay in the "
              "cache.",
    .overhead = "moderate, 250 to 450 MB a minute",
    .size = "60 to 120 MB",
    .tools = "analyze, get_cpu_samples, get_hot_functions, get_dpc_summary, "
             "get_connection_summary, get_tcp_retransmits",
    .kind = CAPTURE_PROFILE,
    .seconds = 15,
};

static const Scenario S_LOCKS = {
    .name = "locks",
    .title = "Spinlocks, resources and waits",
    .use = "Lock contention that the wake-up chain does not explain.",
    .records = "What cpu_dpc_isr records without DPC queue lengths, and spinlock, executive "
               "resource and dispatcher object events with stacks.",
    .misses = "Disk and network activity, locks inside user mode that never wait.",
    .overhead = "very high: seconds, not minutes",
    .size = "0.5 to 2 GB",
    .tools = "get_lock_contention, get_hot_stacks, get_thread_cpu_precise, get_cpu_samples",
    .notes = "Lock events are sampled by the kernel: counts are estimates.",
    .kind = CAPTURE_PROFILE,
    .seconds = 5,
};

static const Scenario S_MEMORY = {
    .name = "memory",
    .title = "Virtual memory",
    .use = "Growing commit or working sets; who allocates address space.",
    .records = "Allocations and frees of virtual memory with stacks, working sets, process "
               "counters.",
    .misses = "Heap allocations inside a process (WPR profile Heap), kernel pools (scenario "
              "pool).",
    .overhead = "moderate",
    .size = "20 to 200 MB",
    .tools = "query_trace, get_process_info, get_hot_stacks",
    .built_in = "VirtualAllocation",
    .kind = CAPTURE_BUILT_IN,
    .seconds = 30,
};

static const Scenario S_NETWORK = {
    .name = "network",
    .title = "Network stack with XDP",
    .use = "Everything in the network stack, on a machine with XDP installed.",
    .records = "TCP and UDP with each send and receive, sockets, packets, HTTP.sys, QUIC, XDP, "
               "the kernel's own network events, CPU, scheduler, DPCs and interrupts.",
    .misses = "Disk and file activity; what a switch or adapter drops in hardware.",
    .overhead = "high, 1 to 3 GB a minute at 100 GbE",
    .size = "200 MB to 1 GB",
    .tools = "get_network_hot_functions, get_network_hot_stacks, get_network_dpcs, "
             "get_per_process_socket_throughput, get_connection_summary, get_tcp_retransmits, "
             "get_udp_flow_summary, get_packet_drops, get_rss_dispatch_quality",
    .notes = "Microsoft-XDP is strict: without XDP the start fails with 0xc558300c. Use "
             "network_minimal then.",
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_NETWORK_MINIMAL = {
    .name = "network_minimal",
    .title = "Network stack",
    .use = "Everything in the network stack, on any machine.",
    .records = "TCP and UDP with each send and receive, sockets, packets, HTTP.sys, QUIC, the "
               "kernel's own network events, CPU, scheduler, DPCs and interrupts.",
    .misses = "XDP, disk and file activity; what a switch or adapter drops in hardware.",
    .overhead = "high, 1 to 3 GB a minute",
    .size = "200 MB to 1 GB",
    .tools = "get_network_hot_functions, get_network_hot_stacks, get_network_dpcs, "
             "get_per_process_socket_throughput, get_connection_summary, get_tcp_retransmits, "
             "get_udp_flow_summary, get_packet_drops",
    .notes = NO_PATHS,
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_NETWORK_PACKETS = {
    .name = "network_packets",
    .title = "Packets at line rate",
    .use = "Packet contents and send or receive latency under load.",
    .records = "What network_minimal records, with twice the event buffers.",
    .misses = "Disk and file activity; packets that bypass NDIS; packets of the components "
              "between the layers (pktmon).",
    .overhead = "very high, 3 to 5 GB a minute, 2 GB of memory for the ring",
    .size = "1 to 2 GB at line rate",
    .tools = "get_packet_capture_summary, get_packet_timeline, decode_packet, "
             "get_send_recv_latency, get_per_process_socket_throughput",
    .notes = "Packets hold what the applications sent: treat the file as confidential.",
    .kind = CAPTURE_PROFILE,
    .seconds = 5,
};

static const Scenario S_PKTMON = {
    .name = "pktmon",
    .title = "Packets at every network component",
    .use = "Where in the stack a packet is delayed or dropped; no other data needed.",
    .records = "Packets at each component they pass, drops with reasons.",
    .misses = "CPU, scheduler, processes, sockets, disk: everything but packets.",
    .overhead = "by packet size and filter",
    .size = "50 MB to 1 GB, by rate and filter",
    .tools = "get_packet_capture_summary, get_packet_timeline, decode_packet, "
             "get_pktmon_layer_latency",
    .notes = "Packets hold what the applications sent: treat the file as confidential.",
    .kind = CAPTURE_PKTMON,
    .seconds = 10,
};

static const Scenario S_POOL = {
    .name = "pool",
    .title = "Kernel pools",
    .use = "Growing paged or nonpaged pool; which driver allocates.",
    .records = "Pool allocations and frees with tag, size and stack.",
    .misses = "User-mode heaps, virtual memory (scenario memory), network and disk.",
    .overhead = "high, by the rate of allocations",
    .size = "100 MB to 1 GB",
    .tools = "get_memory_pools, query_trace, get_hot_stacks",
    .built_in = "Pool",
    .kind = CAPTURE_BUILT_IN,
    .seconds = 20,
};

static const Scenario S_QUIC = {
    .name = "quic",
    .title = "MsQuic",
    .use = "QUIC handshakes, connections, acknowledgements, and the UDP path under them.",
    .records = "MsQuic at every level, sockets, TLS (Schannel), CPU, scheduler, DPCs, TCP/IP "
               "at level 4, which includes an event for each send and receive.",
    .misses = "Packet contents, HTTP.sys, disk. Schannel events are WPP: raw bytes without its "
              "trace files.",
    .overhead = "moderate to high, 0.5 to 1 GB a minute",
    .size = "100 to 200 MB",
    .tools = "get_quic_connections, get_quic_cid_distribution, get_quic_ack_delays, "
             "get_connect_latency, get_network_hot_functions, get_per_process_socket_throughput",
    .notes = NO_PATHS,
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

static const Scenario S_REGISTRY = {
    .name = "registry",
    .title = "Registry",
    .use = "Registry keys that a process opens and changes, and how often.",
    .records = "Registry operations with key names and stacks.",
    .misses = "Values that are read or written, files, disk, network.",
    .overhead = "moderate, by the rate of operations",
    .size = "20 to 200 MB",
    .tools = "query_trace, get_process_info",
    .built_in = "Registry",
    .kind = CAPTURE_BUILT_IN,
    .seconds = 20,
};

static const Scenario S_XDP_CPUMAP = {
    .name = "xdp_cpumap",
    .title = "XDP fast path",
    .use = "XDP redirect to other processors, CPU map rings, drain DPCs.",
    .records = "XDP per frame, the XDP driver's own traces, CPU, scheduler, DPCs and "
               "interrupts.",
    .misses = "TCP and UDP connections, sockets, packet contents, disk.",
    .overhead = "high",
    .size = "0.5 to 2 GB",
    .tools = "get_dpc_summary, get_dpc_per_cpu, get_lock_contention, get_hot_functions, "
             "get_rss_dispatch_quality, butterfly_chain",
    .notes = "Both event providers are strict: without XDP the start fails with 0xc558300c.",
    .kind = CAPTURE_PROFILE,
    .seconds = 10,
};

const Scenario *const SCENARIOS[] = {&S_CPU,
                                     &S_CPU_DPC_ISR,
                                     &S_DISK,
                                     &S_EBPF,
                                     &S_FILE,
                                     &S_GENERAL,
                                     &S_LOCKS,
                                     &S_MEMORY,
                                     &S_NETWORK,
                                     &S_NETWORK_MINIMAL,
                                     &S_NETWORK_PACKETS,
                                     &S_PKTMON,
                                     &S_POOL,
                                     &S_QUIC,
                                     &S_REGISTRY,
                                     &S_XDP_CPUMAP};
const size_t SCENARIO_COUNT = COUNT_OF(SCENARIOS);

const Scenario *scenario_find(Str name) {
    for (size_t i = 0; i < SCENARIO_COUNT; i++)
        if (str_eq(name, str_from_c(SCENARIOS[i]->name))) return SCENARIOS[i];
    return NULL;
}
