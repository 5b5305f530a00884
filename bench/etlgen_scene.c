// The scene: processes, threads, images, stacks, and the kernel events of each CPU in turn. Every
// CPU runs one thread at a time, so switches chain and samples belong to who runs.
#include "etlgen.h"

#include <stdlib.h>

#define KERNEL_BASE 0xFFFFF80000000000u
#define USER_BASE 0x00007FF600000000u
#define IMAGE_SIZE 0x200000u
#define PROCESS_STRIDE 0x10000000u

uint32_t gen_tid(uint32_t thread) {
    return thread ? 1000 + thread * 4 : 0;
}

uint32_t gen_process(const Gen *gen, uint32_t thread) {
    return thread ? (thread - 1) / gen->options.threads + 1 : 0;
}

static uint32_t pid_of(uint32_t process) {
    return process ? 400 + process * 4 : 0;
}

uint32_t gen_pid(const Gen *gen, uint32_t thread) {
    return pid_of(gen_process(gen, thread));
}

static uint64_t module_base(uint32_t process, uint32_t module) {
    if (process == 0) return KERNEL_BASE + (uint64_t)module * IMAGE_SIZE;
    return USER_BASE + (uint64_t)process * PROCESS_STRIDE + (uint64_t)module * IMAGE_SIZE;
}

// Few functions are hot: squaring a uniform number gathers it near zero.
static uint32_t skewed(Gen *gen, uint32_t bound) {
    uint64_t x = gen_below(gen, 1u << 16);
    return (uint32_t)((x * x >> 16) * bound >> 16);
}

static uint64_t code_address(Gen *gen, uint32_t process) {
    uint32_t module = skewed(gen, process ? MODULES : KERNEL_MODULES);
    uint32_t function = skewed(gen, 2000);
    return module_base(process, module) + 0x1000 + function * 0x200u + gen_below(gen, 0x180);
}

static uint64_t kernel_stacks(const Gen *gen) {
    return gen->options.stacks / 4 + 1;
}

static void make_stacks(Gen *gen) {
    const Options *o = &gen->options;
    unsigned kernel_depth = o->depth / 3 + 1, user_depth = o->depth - kernel_depth + 1;
    gen->kernel_frames = mem_zero(kernel_stacks(gen) * kernel_depth, 8);
    gen->frames = mem_zero((size_t)o->stacks * user_depth, 8);
    for (size_t i = 0; i < kernel_stacks(gen) * kernel_depth; i++)
        gen->kernel_frames[i] = code_address(gen, 0);
    for (size_t i = 0; i < o->stacks; i++)
        for (unsigned d = 0; d < user_depth; d++)
            gen->frames[i * user_depth + d] = code_address(gen, (uint32_t)i % o->processes + 1);
}

static void images(Gen *gen, KernelEvent event) {
    AUTO(arena_done) Arena arena = {0};
    EtlAt at = {.ticks = etl_build_ticks(gen->build, gen->now_ns)};
    for (uint32_t process = 0; process <= gen->options.processes; process++) {
        for (uint32_t m = 0; m < (process ? MODULES : KERNEL_MODULES); m++) {
            Str path =
                process ? str_format(&arena, "\\Device\\HarddiskVolume3\\p%u\\m%u.dll", process, m)
                        : str_format(&arena, "\\SystemRoot\\system32\\drivers\\k%u.sys", m);
            EtlImage image = {.base = module_base(process, m),
                              .size = IMAGE_SIZE,
                              .pid = pid_of(process),
                              .timestamp = 0x50000000 + process * 100 + m,
                              .path = path};
            etl_kernel_image(&gen->kernel, event, at, &image);
        }
    }
}

static void processes(Gen *gen, KernelEvent process_event, KernelEvent thread_event) {
    AUTO(arena_done) Arena arena = {0};
    EtlAt at = {.ticks = etl_build_ticks(gen->build, gen->now_ns)};
    for (uint32_t p = 0; p <= gen->options.processes; p++) {
        EtlProcess process = {.key = 0xFFFFE00000000000u + p * 0x1000u,
                              .pid = pid_of(p),
                              .parent = p ? 4 : 0,
                              .exit_status = 259,
                              .name = p ? str_format(&arena, "p%u.exe", p) : STR("Idle")};
        etl_kernel_process(&gen->kernel, process_event, at, &process);
    }
    for (uint32_t t = 1; t <= gen->options.processes * gen->options.threads; t++) {
        EtlThread thread = {.pid = gen_pid(gen, t), .tid = gen_tid(t), .priority = 8};
        etl_kernel_thread(&gen->kernel, thread_event, at, &thread);
    }
}

void scene_begin(Gen *gen) {
    size_t threads = (size_t)gen->options.processes * gen->options.threads + 1;
    gen->running = mem_zero(gen->options.cpus, sizeof *gen->running);
    gen->stats.switches_in = mem_zero(threads, sizeof(uint64_t));
    make_stacks(gen);
    EtlAt at = {.ticks = etl_build_ticks(gen->build, 0)};
    etl_kernel_interval(&gen->kernel, at, 10000);
    processes(gen, K_PROCESS_RUNDOWN, K_THREAD_RUNDOWN);
    net_begin(gen);
    gen->now_ns = 1000000;
}

void scene_end(Gen *gen) {
    gen->now_ns += 1000000;
    processes(gen, K_PROCESS_RUNDOWN_END, K_THREAD_RUNDOWN_END);
    images(gen, K_IMAGE_RUNDOWN_END);
    net_metadata(gen);
}

// One of the stacks that a thread can have: those of a process are the ones whose number leaves its
// remainder.
static uint32_t stack_of(const Gen *gen, uint32_t thread, uint32_t number) {
    const Options *o = &gen->options;
    if (!thread) return number;
    uint32_t process = gen_process(gen, thread) - 1;
    uint32_t per_process = o->stacks / o->processes;
    return ((per_process ? number % per_process * o->processes : 0) + process) % o->stacks;
}

static void stack_event(Gen *gen, EtlAt at, uint32_t thread, uint32_t number) {
    const Options *o = &gen->options;
    uint64_t frames[192];
    unsigned kernel_depth = o->depth / 3 + 1, user_depth = o->depth - kernel_depth + 1;
    unsigned n = 0;
    const uint64_t *kernel = &gen->kernel_frames[(number % kernel_stacks(gen)) * kernel_depth];
    for (unsigned i = 0; i < kernel_depth && n < o->depth; i++) frames[n++] = kernel[i];
    const uint64_t *user = &gen->frames[(size_t)number * user_depth];
    for (unsigned i = 0; thread && i < user_depth && n < o->depth; i++) frames[n++] = user[i];
    EtlAt later = {
        .ticks = at.ticks + 2, .cpu = at.cpu, .tid = gen_tid(thread), .pid = gen_pid(gen, thread)};
    etl_kernel_stack(&gen->kernel, later, at.ticks, frames, n);
    gen->stats.stacks++;
}

static void sample(Gen *gen, EtlAt at) {
    uint32_t thread = gen->running[at.cpu];
    uint32_t process = gen_process(gen, thread);
    uint32_t number = stack_of(gen, thread, skewed(gen, gen->options.stacks));
    unsigned kernel_depth = gen->options.depth / 3 + 1;
    uint64_t ip = gen->kernel_frames[(number % kernel_stacks(gen)) * kernel_depth];
    etl_kernel_sample(&gen->kernel, at, ip, gen_tid(thread), 0);
    gen->stats.samples_of_process[process]++;
    gen->stats.samples_of_module[(ip - KERNEL_BASE) / IMAGE_SIZE]++;
    stack_event(gen, at, thread, number);
}

static bool is_running(const Gen *gen, uint32_t thread) {
    for (unsigned i = 0; i < gen->options.cpus; i++)
        if (gen->running[i] == thread) return true;
    return false;
}

static void context_switch(Gen *gen, EtlAt at) {
    uint32_t threads = gen->options.processes * gen->options.threads;
    uint32_t old = gen->running[at.cpu];
    uint32_t next = gen_below(gen, 4) == 0 && old ? 0 : gen_below(gen, threads) + 1;
    if (next == old || (next && is_running(gen, next))) next = old ? 0 : next;
    if (next == old) return;
    EtlSwitch change = {.new_tid = gen_tid(next),
                        .old_tid = gen_tid(old),
                        .new_priority = 8,
                        .old_priority = 8,
                        .old_reason = gen_below(gen, 8) ? 6 : 30,
                        .old_state = gen_below(gen, 8) ? 5 : 1};
    etl_kernel_switch(&gen->kernel, at, &change);
    gen->running[at.cpu] = next;
    gen->stats.switches_in[next]++;
    gen->stats.kinds[KIND_SWITCH]++;
    if (next && gen_below(gen, 2))
        stack_event(gen, at, next, stack_of(gen, next, skewed(gen, gen->options.stacks)));
}

static void interrupt(Gen *gen, EtlAt at, KernelEvent event) {
    uint64_t routine = module_base(0, gen_below(gen, 4)) + 0x1000 + gen_below(gen, 16) * 0x200u;
    etl_kernel_interrupt(&gen->kernel, event, at, at.ticks - 1 - gen_below(gen, 3), routine);
}

static void disk(Gen *gen, EtlAt at) {
    uint32_t thread = gen->running[at.cpu];
    uint64_t irp = 0xFFFFE10000000000u + gen->stats.disk_reads % 64 * 0x200;
    EtlTransfer transfer = {.bytes = 4096u << gen_below(gen, 5),
                            .tid = gen_tid(thread),
                            .irp = irp,
                            .file_key = 0xFFFFA00000000000u + gen_below(gen, 100) * 0x10,
                            .offset = (uint64_t)gen_below(gen, 1u << 20) * 4096,
                            .response_ticks = 5 + gen_below(gen, 2000)};
    at.tid = gen_tid(thread);
    at.pid = gen_pid(gen, thread);
    etl_kernel_disk_init(&gen->kernel, K_DISK_READ_INIT, at, irp, at.tid);
    at.ticks += 1;
    etl_kernel_disk(&gen->kernel, K_DISK_READ, at, &transfer);
    gen->stats.disk_reads++;
    gen->stats.disk_bytes += transfer.bytes;
}

static void tcp(Gen *gen, EtlAt at) {
    AUTO(arena_done) Arena arena = {0};
    uint32_t flow = skewed(gen, FLOWS), bytes = 100 + gen_below(gen, 1400);
    EtlNet net = {.pid = pid_of(flow % gen->options.processes + 1),
                  .bytes = bytes,
                  .local = str_format(&arena, "10.0.0.1:%u", 20000 + flow),
                  .remote = str_format(&arena, "10.1.%u.%u:443", flow / 200, flow % 200 + 1)};
    etl_kernel_net(&gen->kernel, gen_below(gen, 2) ? K_TCP_SEND : K_TCP_RECV, at, &net);
    gen->stats.tcp_bytes[flow] += bytes;
}

static Kind pick_kind(Gen *gen) {
    uint32_t sum = 0;
    for (int i = 0; i < KINDS; i++) sum += gen->mix->weight[i];
    uint32_t at = gen_below(gen, sum);
    for (int i = 0; i < KINDS; i++) {
        if (at < gen->mix->weight[i]) return (Kind)i;
        at -= gen->mix->weight[i];
    }
    return KIND_SAMPLE;
}

void scene_event(Gen *gen) {
    Kind kind = pick_kind(gen);
    gen->now_ns += 400 + gen_below(gen, 1200);
    EtlAt at = {.ticks = etl_build_ticks(gen->build, gen->now_ns),
                .cpu = (uint16_t)gen_below(gen, gen->options.cpus)};
    uint32_t thread = gen->running[at.cpu];
    at.tid = thread ? gen_tid(thread) : 0;
    at.pid = gen_pid(gen, thread);
    if (kind != KIND_SWITCH) gen->stats.kinds[kind]++; // some switches find nobody to run
    switch (kind) {
    case KIND_SAMPLE: sample(gen, at); break;
    case KIND_SWITCH: context_switch(gen, at); break;
    case KIND_READY:
        etl_kernel_ready(
            &gen->kernel, at,
            gen_tid(gen_below(gen, gen->options.processes * gen->options.threads) + 1));
        break;
    case KIND_DPC: interrupt(gen, at, K_DPC); break;
    case KIND_ISR: interrupt(gen, at, K_ISR); break;
    case KIND_DISK: disk(gen, at); break;
    case KIND_TCP: tcp(gen, at); break;
    case KIND_TCPIP: net_tcpip(gen, at); break;
    case KIND_AFD: net_afd(gen, at); break;
    case KIND_PACKET: net_packet(gen, at); break;
    case KIND_HTTP: net_http(gen, at); break;
    case KIND_CUSTOM: net_custom(gen, at, true); break;
    case KIND_BARE: net_custom(gen, at, false); break;
    case KINDS: break;
    }
    gen->stats.last_ns = gen->now_ns;
}
