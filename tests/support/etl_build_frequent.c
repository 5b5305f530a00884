// Direct functions for frequent kernel events. Values stand in the order of the field lists in
// etl_build_tables.c; a layout's own version picks what is written.
#include "support/etl_build_kernel.h"

static const char *const VERBS[K_EVENTS] = {
    [K_PROCESS_START] = "process start",
    [K_PROCESS_END] = "process end",
    [K_PROCESS_RUNDOWN] = "process rundown",
    [K_PROCESS_RUNDOWN_END] = "process rundown-end",
    [K_THREAD_START] = "thread start",
    [K_THREAD_END] = "thread end",
    [K_THREAD_RUNDOWN] = "thread rundown",
    [K_THREAD_RUNDOWN_END] = "thread rundown-end",
    [K_IMAGE_LOAD] = "image load",
    [K_IMAGE_UNLOAD] = "image unload",
    [K_IMAGE_RUNDOWN] = "image rundown",
    [K_IMAGE_RUNDOWN_END] = "image rundown-end",
    [K_IMAGE_PDB] = "image pdb",
    [K_SAMPLE] = "sample",
    [K_INTERVAL_START] = "interval start",
    [K_CSWITCH] = "cswitch",
    [K_READY] = "ready",
    [K_DPC] = "dpc",
    [K_ISR] = "isr",
    [K_STACK_WALK] = "stack walk",
    [K_STACK_KERNEL] = "stack kernel",
    [K_STACK_USER] = "stack user",
    [K_STACK_RUNDOWN] = "stack rundown",
    [K_DISK_READ] = "disk read",
    [K_DISK_WRITE] = "disk write",
    [K_DISK_READ_INIT] = "disk read-init",
    [K_DISK_WRITE_INIT] = "disk write-init",
    [K_FILE_NAME_CREATE] = "file name-create",
    [K_FILE_RUNDOWN] = "file rundown",
    [K_FAULT_HARD] = "fault hard",
    [K_VIRTUAL_ALLOC] = "virtual alloc",
    [K_VIRTUAL_FREE] = "virtual free",
    [K_TCP_SEND] = "tcp send",
    [K_TCP_RECV] = "tcp recv",
    [K_UDP_SEND] = "udp send",
    [K_UDP_RECV] = "udp recv",
};

EtlKernel etl_kernel_init(EtlBuild *build) {
    EtlKernel kernel = {.build = build};
    for (size_t i = 0; i < K_EVENTS; i++) {
        kernel.records[i] = etl_build_record(str_from_c(VERBS[i]), BUILD_ANY_VERSION,
                                             etl_build_options(build)->os_build);
        INVARIANT(kernel.records[i] != NULL);
    }
    return kernel;
}

// Values by key, so that a layout with fields in another order gets the right ones.
typedef struct Named {
    const char *key;
    uint64_t number;
    Str text;
} Named;

// A function always passes the same keys in the same order.
static void bind(EtlKernel *kernel, KernelEvent event, const Named *named, size_t count) {
    const BuildRecord *r = kernel->records[event];
    for (size_t i = 0; i < r->count; i++) {
        const char *key = r->fields[i].key;
        for (size_t k = 0; key && k < count; k++)
            if (strcmp(key, named[k].key) == 0) kernel->argument[event][i] = (uint8_t)(k + 1);
    }
    kernel->bound[event] = true;
}

static void put(EtlKernel *kernel, KernelEvent event, EtlAt at, const Named *named, size_t count) {
    const BuildRecord *r = kernel->records[event];
    BuildValue values[BUILD_FIELDS_MAX];
    if (!kernel->bound[event]) bind(kernel, event, named, count);
    for (size_t i = 0; i < r->count; i++) {
        uint8_t argument = kernel->argument[event][i];
        values[i] = (BuildValue){0};
        if (argument)
            values[i] = (BuildValue){named[argument - 1].number, named[argument - 1].text};
    }
    EtlBuildEvent when = {.ticks = at.ticks, .cpu = at.cpu, .tid = at.tid, .pid = at.pid};
    etl_build_put(kernel->build, r, r->version_max, &when, values);
}
#define PUT(event, at, ...)                                                                        \
    put(kernel, event, at, (const Named[]){__VA_ARGS__},                                           \
        sizeof((const Named[]){__VA_ARGS__}) / sizeof(Named))
#define NUM(key, value)                                                                            \
    {                                                                                              \
        key, value, {                                                                              \
            0                                                                                      \
        }                                                                                          \
    }
#define TXT(key, value)                                                                            \
    { key, 0, value }

void etl_kernel_process(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlProcess *process) {
    PUT(event, at, NUM("key", process->key), NUM("pid", process->pid),
        NUM("parent", process->parent), NUM("session", process->session),
        NUM("exit", (uint32_t)process->exit_status), NUM("directory", 0x1AD000),
        TXT("sid", process->sid), TXT("name", process->name), TXT("cmd", process->command));
}

void etl_kernel_thread(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlThread *thread) {
    PUT(event, at, NUM("pid", thread->pid), NUM("tid", thread->tid), NUM("entry", thread->entry),
        NUM("affinity", 0xFF), NUM("tag", thread->service_tag),
        NUM("base_priority", thread->priority), NUM("page_priority", 5), NUM("io_priority", 2),
        TXT("name", thread->name));
}

void etl_kernel_image(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlImage *image) {
    PUT(event, at, NUM("base", image->base), NUM("size", image->size), NUM("pid", image->pid),
        NUM("timestamp", image->timestamp), NUM("default_base", image->base),
        TXT("name", image->path));
}

void etl_kernel_pdb(EtlKernel *kernel, EtlAt at, const EtlImage *image, const char *guid,
                    uint32_t age, Str pdb) {
    PUT(K_IMAGE_PDB, at, NUM("base", image->base), NUM("pid", image->pid),
        TXT("guid", str_from_c(guid)), NUM("age", age), TXT("pdb", pdb));
}

void etl_kernel_interval(EtlKernel *kernel, EtlAt at, uint32_t interval_100ns) {
    PUT(K_INTERVAL_START, at, NUM("interval", interval_100ns), NUM("old_interval", interval_100ns),
        TXT("name", STR("Timer")));
}

void etl_kernel_sample(EtlKernel *kernel, EtlAt at, uint64_t ip, uint32_t tid, uint8_t flags) {
    PUT(K_SAMPLE, at, NUM("ip", ip), NUM("tid", tid), NUM("count", 1), NUM("flags", flags),
        NUM("priority", 8));
}

void etl_kernel_switch(EtlKernel *kernel, EtlAt at, const EtlSwitch *change) {
    PUT(K_CSWITCH, at, NUM("new", change->new_tid), NUM("old", change->old_tid),
        NUM("new_priority", change->new_priority), NUM("old_priority", change->old_priority),
        NUM("old_reason", change->old_reason), NUM("old_state", change->old_state),
        NUM("new_wait", change->new_wait_clock_ticks));
}

void etl_kernel_ready(EtlKernel *kernel, EtlAt at, uint32_t tid) {
    PUT(K_READY, at, NUM("tid", tid), NUM("reason", 1));
}

void etl_kernel_interrupt(EtlKernel *kernel, KernelEvent event, EtlAt at, int64_t start_ticks,
                          uint64_t routine) {
    PUT(event, at, NUM("start", (uint64_t)start_ticks), NUM("routine", routine), NUM("return", 1),
        NUM("vector", 0x91));
}

void etl_kernel_stack(EtlKernel *kernel, EtlAt at, int64_t event_ticks, const uint64_t *frames,
                      size_t count) {
    Str list = {(const char *)frames, count * sizeof *frames};
    PUT(K_STACK_WALK, at, NUM("event", (uint64_t)event_ticks), NUM("pid", at.pid),
        NUM("tid", at.tid), TXT("frames", list));
}

void etl_kernel_stack_key(EtlKernel *kernel, KernelEvent event, EtlAt at, int64_t event_ticks,
                          uint64_t key) {
    PUT(event, at, NUM("event", (uint64_t)event_ticks), NUM("pid", at.pid), NUM("tid", at.tid),
        NUM("key", key));
}

void etl_kernel_stack_define(EtlKernel *kernel, EtlAt at, uint64_t key, const uint64_t *frames,
                             size_t count) {
    Str list = {(const char *)frames, count * sizeof *frames};
    PUT(K_STACK_RUNDOWN, at, NUM("key", key), TXT("frames", list));
}

void etl_kernel_disk(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlTransfer *transfer) {
    PUT(event, at, NUM("disk", transfer->disk), NUM("flags", transfer->irp_flags),
        NUM("bytes", transfer->bytes), NUM("offset", transfer->offset),
        NUM("key", transfer->file_key), NUM("irp", transfer->irp),
        NUM("response", transfer->response_ticks), NUM("tid", transfer->tid));
}

void etl_kernel_disk_init(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t irp,
                          uint32_t tid) {
    PUT(event, at, NUM("irp", irp), NUM("tid", tid));
}

void etl_kernel_file_name(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t key, Str name) {
    PUT(event, at, NUM("key", key), TXT("name", name));
}

void etl_kernel_hard_fault(EtlKernel *kernel, EtlAt at, int64_t start_ticks,
                           const EtlTransfer *transfer, uint64_t address) {
    PUT(K_FAULT_HARD, at, NUM("start", (uint64_t)start_ticks), NUM("offset", transfer->offset),
        NUM("address", address), NUM("key", transfer->file_key), NUM("tid", transfer->tid),
        NUM("bytes", transfer->bytes));
}

void etl_kernel_virtual(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t base,
                        uint64_t size, uint32_t pid) {
    PUT(event, at, NUM("base", base), NUM("size", size), NUM("pid", pid),
        NUM("flags", event == K_VIRTUAL_ALLOC ? 0x3000 : 0x8000));
}

void etl_kernel_net(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlNet *net) {
    PUT(event, at, NUM("pid", net->pid), NUM("bytes", net->bytes), TXT("local", net->local),
        TXT("remote", net->remote));
}
