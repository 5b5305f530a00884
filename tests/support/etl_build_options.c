// The `trace` line of a script, and the `damage` lines, which change the finished bytes.
#include "support/etl_build_script_priv.h"

static Status option_numbers(EtlScript *s, Args *args, EtlBuildOptions *o, Err *err) {
    const struct {
        const char *key;
        uint64_t max;
        uint32_t *out;
    } numbers[] = {
        {"ptr",          8,                &o->pointer_size          },
        {"cpus",         2048,             &o->cpus                  },
        {"buffer",       16 * 1024 * 1024, &o->buffer_size           },
        {"build",        UINT32_MAX,       &o->os_build              },
        {"mode",         UINT32_MAX,       &o->log_file_mode         },
        {"events_lost",  UINT32_MAX,       &o->events_lost           },
        {"buffers_lost", UINT32_MAX,       &o->buffers_lost          },
        {"mhz",          UINT32_MAX,       &o->cpu_mhz               },
        {"resolution",   UINT32_MAX,       &o->timer_resolution_100ns},
        {"kernel",       UINT32_MAX,       &o->kernel_version        },
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        uint64_t value = 0;
        TRY(args_number(s, args, numbers[i].key, 0, &value, err));
        if (value > numbers[i].max)
            return err_set(err, ERR_ARG, "%s exceeds %llu", numbers[i].key,
                           (unsigned long long)numbers[i].max);
        *numbers[i].out = (uint32_t)value;
    }
    uint64_t ticks = 0, logger = 0, merged = 0, unclean = 0, sort = 1, old_cpu = 0, bias = 0;
    TRY(args_number(s, args, "freq", 0, &o->perf_freq, err));
    TRY(args_number(s, args, "start_filetime", 0, &o->start_filetime, err));
    TRY(args_number(s, args, "boot_filetime", 0, &o->boot_filetime, err));
    TRY(args_number(s, args, "start_ticks", 0, &ticks, err));
    TRY(args_number(s, args, "logger", 0, &logger, err));
    TRY(args_number(s, args, "merged", 0, &merged, err));
    TRY(args_number(s, args, "unclean", 0, &unclean, err));
    TRY(args_number(s, args, "sort", 1, &sort, err));
    TRY(args_number(s, args, "old_cpu", 0, &old_cpu, err));
    TRY(args_number(s, args, "bias", 0, &bias, err));
    o->start_ticks = (int64_t)ticks;
    o->logger_id = (uint16_t)logger;
    o->merged = merged != 0;
    o->unclean = unclean != 0;
    o->sort = sort != 0;
    o->old_cpu_field = old_cpu != 0;
    o->time_zone_bias_min = (int32_t)bias;
    return OK;
}

static Status option_masks(EtlScript *s, Args *args, EtlBuildOptions *o, Err *err) {
    Str list = args_text(args, "masks");
    if (list.n == 0) return OK;
    uint64_t *masks = NULL;
    size_t count = 0;
    TRY(script_frames(s, list, &masks, &count, err));
    if (count > ETL_BUILD_MASKS) return err_set(err, ERR_ARG, "masks: at most 8");
    for (size_t i = 0; i < count; i++) o->masks[i] = (uint32_t)masks[i];
    o->has_masks = true;
    return OK;
}

static Status option_script(EtlScript *s, Args *args, Err *err) {
    static const BuildName STACKS[] = {
        {"walk", 0},
        {"keys", 1},
        {NULL,   0}
    };
    uint64_t keyed = 0, idle = 0;
    Arg *stacks = args_find(args, "stacks");
    if (stacks) TRY(script_named(s, stacks->value, STACKS, &keyed, err));
    TRY(args_number(s, args, "idle_samples", 0, &idle, err));
    TRY(args_number(s, args, "seed", 0, &s->random, err));
    TRY(args_span(args, "interval", 1000000, &s->interval_ns, err));
    if (s->interval_ns <= 0) return err_set(err, ERR_ARG, "interval must be above 0");
    s->keyed_stacks = keyed != 0;
    s->idle_samples = idle != 0;
    return OK;
}

Status script_options(EtlScript *s, Args *args, EtlBuildOptions *o, Err *err) {
    static const BuildName CLOCKS[] = {
        {"qpc",    1                   },
        {"system", 2                   },
        {"cycles", 3                   },
        {"zero",   ETL_BUILD_CLOCK_ZERO},
        {NULL,     0                   }
    };
    static const BuildName FORMATS[] = {
        {"none",    ETL_BUILD_PLAIN  },
        {"lznt1",   ETL_BUILD_LZNT1  },
        {"xpress",  ETL_BUILD_XPRESS },
        {"huffman", ETL_BUILD_HUFFMAN},
        {NULL,      0                }
    };
    uint64_t clock = 0, format = 0;
    int64_t duration = 0;
    TRY(option_numbers(s, args, o, err));
    TRY(option_masks(s, args, o, err));
    TRY(option_script(s, args, err));
    Arg *arg = args_find(args, "clock");
    if (arg) TRY(script_named(s, arg->value, CLOCKS, &clock, err));
    arg = args_find(args, "compress");
    if (arg) TRY(script_named(s, arg->value, FORMATS, &format, err));
    TRY(args_span(args, "duration", 0, &duration, err));
    o->clock = (uint32_t)clock;
    o->compression = (EtlBuildCompression)format;
    o->duration_ns = (uint64_t)duration;
    o->session_name = args_text(args, "session");
    o->log_file_name = args_text(args, "file");
    o->time_zone_name = args_text(args, "zone");
    if (o->pointer_size && o->pointer_size != 4 && o->pointer_size != 8)
        return err_set(err, ERR_ARG, "ptr is 4 or 8");
    if (o->buffer_size && o->buffer_size < 1024)
        return err_set(err, ERR_ARG, "buffer is at least 1K");
    return OK;
}

static Status damage_range(const Buf *trace, uint64_t at, uint64_t bytes, Err *err) {
    if (at > trace->n || bytes > trace->n - at)
        return err_set(err, ERR_ARG, "bytes %llu+%llu are outside the trace (%zu)",
                       (unsigned long long)at, (unsigned long long)bytes, trace->n);
    return OK;
}

// Offset of buffer `index`, walked by the sizes on disk.
static Status buffer_offset(const Buf *trace, uint64_t index, uint64_t *out, Err *err) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < index; i++) {
        uint32_t size = 0;
        TRY(damage_range(trace, at, 0x48, err));
        memcpy(&size, trace->p + at, 4);
        if (size == 0)
            return err_set(err, ERR_ARG, "there is no buffer %llu", (unsigned long long)index);
        at += size;
    }
    *out = at;
    return damage_range(trace, at, 0x48, err);
}

static Status damage_one(EtlScript *s, Args *args, Buf *trace, Err *err) {
    uint64_t at = 0, bytes = 0, mask = 0, buffer = 0;
    TRY(args_number(s, args, "offset", 0, &at, err));
    TRY(args_number(s, args, "bytes", 1, &bytes, err));
    TRY(args_number(s, args, "mask", 0xFF, &mask, err));
    Arg *in_buffer = args_find(args, "buffer");
    if (in_buffer) {
        uint64_t start = 0;
        TRY(script_number(s, in_buffer->value, &buffer, err));
        TRY(buffer_offset(trace, buffer, &start, err));
        at += start;
    }
    AUTO(buf_done) Buf hex = {0};
    if (!pay_hex(&hex, args_text(args, "hex"))) return err_set(err, ERR_ARG, "hex digits");
    Str verb = args->verb;
    if (str_eq(verb, STR("damage append"))) {
        buf_add(trace, buf_str(&hex));
        if (!hex.n) pay_zeros(trace, bytes);
        return OK;
    }
    if (str_eq(verb, STR("damage write"))) bytes = hex.n;
    if (str_eq(verb, STR("damage truncate"))) bytes = 0;
    TRY(damage_range(trace, at, bytes, err));
    if (str_eq(verb, STR("damage truncate"))) {
        trace->n = at;
    } else if (str_eq(verb, STR("damage write"))) {
        memcpy(trace->p + at, hex.p, bytes);
    } else if (str_eq(verb, STR("damage zero"))) {
        memset(trace->p + at, 0, bytes);
    } else if (str_eq(verb, STR("damage flip"))) {
        for (uint64_t i = 0; i < bytes; i++)
            trace->p[at + i] = (char)(trace->p[at + i] ^ (int)(mask & 0xFF));
    } else if (str_eq(verb, STR("damage remove"))) {
        memmove(trace->p + at, trace->p + at + bytes, trace->n - at - bytes);
        trace->n -= bytes;
    } else {
        return err_set(err, ERR_ARG, "unknown verb '" STR_FMT "'", STR_ARG(verb));
    }
    return OK;
}

Status script_damage(EtlScript *s, Buf *trace, Err *err) {
    Str lines = buf_str(&s->damage_lines), line, number = {0};
    while (str_next(&lines, '\n', &line)) {
        Args args;
        Err why = {0};
        (void)str_next(&line, ' ', &number);
        s->offset_ns = 0;
        Status status = script_args(s, line, &args, &why);
        if (status == OK) status = damage_one(s, &args, trace, &why);
        if (status == OK) status = args_all_used(&args, &why);
        if (status != OK)
            return err_set(err, status, "line " STR_FMT ": %s", STR_ARG(number), why.text);
    }
    return OK;
}
