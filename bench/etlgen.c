// etlgen: writes a large, seeded trace and prints what is in it, so that a load can be checked to
// the last event. Usage: etlgen [--mix cpu|sched|core|network|packets|traffic|mixed] [--events N]
// ... OUT.etl
#include "etlgen.h"

#include <stdio.h>
#include <stdlib.h>

// Weights of primary events; the order is that of Kind.
static const Mix MIXES[] = {
    {"cpu",     {100, 2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0}  },
    {"sched",   {10, 45, 45, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0} },
    {"network", {10, 8, 8, 6, 4, 1, 10, 35, 20, 2, 2, 2, 1}},
    {"packets", {5, 4, 4, 4, 3, 0, 0, 10, 5, 65, 0, 0, 0}  },
    {"traffic", {4, 3, 3, 3, 2, 0, 0, 40, 5, 40, 0, 0, 0}  },
    {"core",    {40, 41, 14, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0} },
    {"mixed",   {34, 34, 12, 3, 2, 2, 2, 4, 3, 4, 1, 6, 2} },
};

static const Mix *find_mix(const char *name) {
    for (size_t i = 0; i < COUNT_OF(MIXES); i++)
        if (strcmp(MIXES[i].name, name) == 0) return &MIXES[i];
    return NULL;
}

typedef struct NumberOption {
    const char *name;
    size_t offset;
    bool wide; // uint64_t, else unsigned
} NumberOption;

static const NumberOption NUMBERS[] = {
    {"--events",       offsetof(Options, events),       true },
    {"--seed",         offsetof(Options, seed),         true },
    {"--cpus",         offsetof(Options, cpus),         false},
    {"--processes",    offsetof(Options, processes),    false},
    {"--threads",      offsetof(Options, threads),      false},
    {"--depth",        offsetof(Options, depth),        false},
    {"--stacks",       offsetof(Options, stacks),       false},
    {"--payload",      offsetof(Options, payload),      false},
    {"--lost-buffers", offsetof(Options, lost_buffers), false},
};

static bool parse_number(Options *options, const char *name, const char *text) {
    uint64_t value = 0;
    if (!text || !str_to_u64(str_from_c(text), &value)) return false;
    for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
        if (strcmp(NUMBERS[i].name, name) != 0) continue;
        char *at = (char *)options + NUMBERS[i].offset;
        unsigned narrow = (unsigned)value;
        if (NUMBERS[i].wide)
            memcpy(at, &value, sizeof value);
        else
            memcpy(at, &narrow, sizeof narrow);
        return NUMBERS[i].wide || value <= 100000000;
    }
    return false;
}

static bool parse_options(int argc, char **argv, Options *options) {
    *options = (Options){.mix = "mixed",
                         .events = 100000,
                         .seed = 1,
                         .cpus = 8,
                         .processes = 20,
                         .threads = 8,
                         .depth = 40,
                         .stacks = 20000,
                         .payload = 1450};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--compress") == 0) {
            options->compress = true;
        } else if (strcmp(argv[i], "--mix") == 0 && i + 1 < argc) {
            options->mix = argv[++i];
        } else if (argv[i][0] == '-') {
            if (!parse_number(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) return false;
            i++;
        } else {
            options->path = argv[i];
        }
    }
    bool sane = options->cpus >= 1 && options->cpus <= 256 && options->processes >= 1 &&
                options->processes < PROCESSES_MAX && options->threads >= 1 &&
                options->threads <= 1024 && options->depth >= 2 && options->depth <= 190 &&
                options->stacks >= 1 && options->payload >= 64 && options->payload <= 9000;
    return options->path && sane && find_mix(options->mix);
}

uint64_t gen_random(Gen *gen) {
    gen->random += 0x9E3779B97F4A7C15u;
    return u64_hash(gen->random);
}

uint32_t gen_below(Gen *gen, uint32_t bound) {
    return (uint32_t)((gen_random(gen) >> 32) * bound >> 32);
}

static int run(Gen *gen) {
    Err err = {0};
    const Options *o = &gen->options;
    EtlBuildOptions build = {
        .path = str_from_c(o->path),
        .cpus = o->cpus,
        .merged = true,
        .has_masks = true,
        .masks = {0x0001270F, 0x00004286},
        .buffers_lost = o->lost_buffers,
        .compression = o->compress ? ETL_BUILD_XPRESS : ETL_BUILD_PLAIN,
        .duration_ns = o->events * 1000
    };
    gen->build = etl_build_open(&build);
    gen->kernel = etl_kernel_init(gen->build);
    scene_begin(gen);
    for (uint64_t i = 0; i < o->events; i++) {
        scene_event(gen);
        if (o->lost_buffers && i == o->events / 2) etl_build_mark_loss(gen->build, 0, true, true);
    }
    scene_end(gen);
    stats_print(gen);
    Status status = etl_build_finish(gen->build, NULL, &err);
    etl_build_close(gen->build);
    if (status == OK) return 0;
    (void)fprintf(stderr, "etlgen: %s\n", err.text);
    return 1;
}

int main(int argc, char **argv) {
    Gen gen = {0};
    if (!parse_options(argc, argv, &gen.options)) {
        (void)fprintf(stderr,
                      "usage: etlgen [--mix cpu|sched|core|network|packets|traffic|mixed] "
                      "[--events N] [--seed N]\n"
                      "  [--cpus 1..256] [--processes N] [--threads N per process] [--depth N]\n"
                      "  [--stacks N distinct] [--payload BYTES] [--lost-buffers N] [--compress] "
                      "OUT.etl\n");
        return 2;
    }
    gen.mix = find_mix(gen.options.mix);
    gen.random = gen.options.seed * 0xD6E8FEB86659FD93u;
    return run(&gen);
}
