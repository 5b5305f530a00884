// What the generator wrote, as one JSON object on standard output.
#include "etlgen.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const KIND_NAMES[KINDS] = {
    "sample", "context_switch", "ready_thread", "dpc",    "isr", "disk", "tcp", "tcpip",
    "afd",    "packet",         "http",         "custom", "bare"};

static void counts(const char *name, const char *key, const uint64_t *values, size_t count) {
    const char *comma = "";
    (void)printf(",\n \"%s\": {", name);
    for (size_t i = 0; i < count; i++) {
        if (!values[i]) continue;
        (void)printf("%s\"%s%zu\": %" PRIu64, comma, key, i, values[i]);
        comma = ", ";
    }
    (void)printf("}");
}

void stats_print(const Gen *gen) {
    const Stats *s = &gen->stats;
    size_t threads = (size_t)gen->options.processes * gen->options.threads + 1;
    (void)printf("{\"mix\": \"%s\", \"seed\": %" PRIu64 ", \"cpus\": %u, \"stacks\": %" PRIu64
                 ", \"disk_reads\": %" PRIu64 ", \"disk_bytes\": %" PRIu64
                 ", \"requests\": %" PRIu64 ", \"last_ns\": %lld",
                 gen->mix->name, gen->options.seed, gen->options.cpus, s->stacks, s->disk_reads,
                 s->disk_bytes, s->requests, (long long)s->last_ns);
    (void)printf(",\n \"kinds\": {");
    for (int i = 0; i < KINDS; i++)
        (void)printf("%s\"%s\": %" PRIu64, i ? ", " : "", KIND_NAMES[i], s->kinds[i]);
    (void)printf("}");
    counts("samples_of_process", "", s->samples_of_process, gen->options.processes + 1);
    counts("samples_of_module", "k", s->samples_of_module, KERNEL_MODULES);
    counts("switches_in", "", s->switches_in, threads);
    counts("tcp_bytes", "", s->tcp_bytes, FLOWS);
    counts("tcpip_sent", "", s->tcpip_sent, FLOWS);
    counts("tcpip_received", "", s->tcpip_received, FLOWS);
    counts("packets", "", s->packets, FLOWS);
    (void)printf("}\n");
}
