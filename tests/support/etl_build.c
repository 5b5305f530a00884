// Buffers and event headers of an .etl file (docs/formats/etl.md, sections 1 and 2).
//
// The header buffer is written first as a placeholder of its final size, since its totals are known
// only at the end, and then written again over itself.
#include "support/etl_build.h"

#include "base/os.h"
#include "support/etl_build_compress.h"
#include "support/etl_build_pay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_HEADER = 0x48,
    CPUS_MAX = 2048,
    EVENT_MAX = 65535,
    MODE_RELOG = 0x10000,
    MODE_COMPRESSED = 0x04000000,
    FLAG_FLUSHED = 0x0001,
    FLAG_EVENTS_LOST = 0x0002,
    FLAG_BUFFERS_LOST = 0x0004,
    FLAG_CPU_INDEX = 0x0020,
    FLAG_COMPRESSED = 0x0040,
    TYPE_HEADER = 4,
    STATE_FLUSH = 3,
};

#define FILETIME_DEFAULT 134117966450000000u // 2026-01-02 03:04:05 UTC

typedef struct CpuBuffer {
    uint8_t *bytes; // NULL until the CPU's first event
    size_t at;
    int64_t last_ticks;
    uint16_t flags;
} CpuBuffer;

typedef struct Pending { // with `sort`: an event in `pool`
    int64_t ticks;
    size_t order, offset, size;
    uint16_t cpu;
} Pending;

struct EtlBuild {
    EtlBuildOptions options;
    Arena arena; // strings of the options
    FILE *file;
    Buf memory;
    uint64_t written_bytes;
    uint32_t buffers;
    int64_t sequence;
    uint16_t logger_id;
    size_t header_size; // of the header buffer on disk; 0 until it is written
    Buf header_events;
    int64_t last_ticks;
    CpuBuffer cpus[CPUS_MAX];
    Buf event; // the one being made
    Buf scratch;
    Buf packed; // one compressed buffer
    Buf pool;
    VEC(Pending) pending;
    Status status;
    Err err;
};

void etl_build_fail(EtlBuild *build, Status status, const char *format, ...) {
    if (build->status != OK) return; // the first failure is the one that matters
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    build->status = err_set(&build->err, status, "%s", text);
}

static void fill_names(EtlBuild *build) {
    EtlBuildOptions *o = &build->options;
    Str session = o->merged ? STR("Relogger") : STR("test session");
    Str file = o->merged ? STR("[multiple files]") : STR("C:\\traces\\test.etl");
    o->session_name = str_copy(&build->arena, o->session_name.n ? o->session_name : session);
    o->log_file_name = str_copy(&build->arena, o->log_file_name.n ? o->log_file_name : file);
    Str zone = o->time_zone_name.n ? o->time_zone_name : STR("@tzres.dll,-932");
    o->time_zone_name = str_copy(&build->arena, zone);
    o->path = str_copy(&build->arena, o->path);
}

static void fill_clock(EtlBuildOptions *o) {
    if (!o->start_filetime) o->start_filetime = FILETIME_DEFAULT;
    if (o->clock == 0) o->clock = 1;
    if (o->clock == ETL_BUILD_CLOCK_ZERO) o->clock = 0;
    if (!o->perf_freq) o->perf_freq = 10000000;
    if (!o->cpu_mhz) o->cpu_mhz = 3000;
    uint64_t per_s = o->clock == 2   ? 10000000
                     : o->clock == 3 ? (uint64_t)o->cpu_mhz * 1000000
                                     : o->perf_freq;
    if (!o->start_ticks)
        o->start_ticks = o->clock == 2 ? (int64_t)o->start_filetime : (int64_t)(per_s * 1000);
    if (!o->boot_filetime) o->boot_filetime = o->start_filetime - 1000u * 10000000u;
    if (!o->timer_resolution_100ns) o->timer_resolution_100ns = 156250;
}

static uint32_t kernel_version_of(uint32_t build) {
    return build < 9200 ? 27 : build < 18362 ? 42 : build < 19041 ? 70 : build < 22000 ? 80 : 85;
}

EtlBuild *etl_build_open(const EtlBuildOptions *options) {
    EtlBuild *build = mem_zero(1, sizeof *build);
    build->options = *options;
    EtlBuildOptions *o = &build->options;
    if (!o->pointer_size) o->pointer_size = 8;
    if (!o->cpus) o->cpus = 1;
    if (!o->buffer_size) o->buffer_size = 65536;
    if (!o->os_build) o->os_build = 19041;
    if (!o->kernel_version) o->kernel_version = kernel_version_of(o->os_build);
    if (!o->logger_id && !o->merged) o->logger_id = 2;
    o->log_file_mode |= 1u | (o->merged ? (uint32_t)MODE_RELOG : 0);
    if (o->compression) o->log_file_mode |= MODE_COMPRESSED;
    build->logger_id = o->logger_id;
    fill_clock(o);
    fill_names(build);
    build->last_ticks = o->start_ticks;
    if (o->path.n) {
        build->file = fopen(o->path.p, "w+b");
        if (!build->file)
            etl_build_fail(build, ERR_IO, STR_FMT ": %s", STR_ARG(o->path), os_error());
    }
    return build;
}

void etl_build_close(EtlBuild *build) {
    if (!build) return;
    if (build->file) (void)fclose(build->file);
    for (size_t i = 0; i < CPUS_MAX; i++) mem_free(build->cpus[i].bytes);
    buf_done(&build->memory);
    buf_done(&build->header_events);
    buf_done(&build->event);
    buf_done(&build->packed);
    buf_done(&build->scratch);
    buf_done(&build->pool);
    vec_free(&build->pending);
    arena_done(&build->arena);
    mem_free(build);
}

static void write_bytes(EtlBuild *build, const void *bytes, size_t size) {
    build->written_bytes += size;
    if (build->status != OK) return;
    if (!build->file) {
        buf_add(&build->memory, (Str){(const char *)bytes, size});
    } else if (fwrite(bytes, 1, size, build->file) != size) {
        etl_build_fail(build, ERR_IO, STR_FMT ": %s", STR_ARG(build->options.path), os_error());
    }
}

static void put16(uint8_t *p, uint16_t v) {
    memcpy(p, &v, 2);
}

static void put32(uint8_t *p, uint32_t v) {
    memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v) {
    memcpy(p, &v, 8);
}

// Wall time of a raw timestamp.
static uint64_t filetime_of(const EtlBuild *build, int64_t ticks) {
    const EtlBuildOptions *o = &build->options;
    if (o->clock == 2) return (uint64_t)ticks;
    uint64_t per_s = o->clock == 3 ? (uint64_t)o->cpu_mhz * 1000000 : o->perf_freq;
    uint64_t passed = (uint64_t)(ticks - o->start_ticks);
    return o->start_filetime + passed / per_s * 10000000 + passed % per_s * 10000000 / per_s;
}

typedef struct BufferHeader {
    uint32_t disk_bytes, valid_bytes;
    int64_t time, sequence;
    uint16_t cpu, flags, type;
    uint32_t state;
} BufferHeader;

static void put_buffer_header(const EtlBuild *build, uint8_t *p, const BufferHeader *h) {
    memset(p, 0, BUFFER_HEADER);
    put32(p, h->disk_bytes);
    put32(p + 0x04, h->valid_bytes);
    put32(p + 0x08, h->valid_bytes);
    put64(p + 0x10, (uint64_t)h->time);
    put64(p + 0x18, (uint64_t)h->sequence);
    if (build->options.old_cpu_field) {
        p[0x28] = (uint8_t)h->cpu;
        p[0x29] = 8; // alignment
    } else {
        put16(p + 0x28, h->cpu);
    }
    put16(p + 0x2A, build->logger_id);
    put32(p + 0x2C, h->state);
    put32(p + 0x30, h->valid_bytes);
    put16(p + 0x34, (uint16_t)(h->flags | (build->options.old_cpu_field ? 0 : FLAG_CPU_INDEX)));
    put16(p + 0x36, h->type);
}

// Payload of hook 0x0000 (1.5).
static void put_log_header(const EtlBuild *build, Pay *pay) {
    const EtlBuildOptions *o = &build->options;
    uint8_t major = o->os_build < 10240 ? 6 : 10;
    uint8_t minor = o->os_build >= 10240  ? 0
                    : o->os_build >= 9600 ? 3
                    : o->os_build >= 9200 ? 2
                                          : 1;
    pay_u32(pay, o->buffer_size);
    pay_u8(pay, major);
    pay_u8(pay, minor);
    pay_u8(pay, o->compression ? 2 : 1);
    pay_u8(pay, o->compression ? 0 : 5);
    pay_u32(pay, o->os_build);
    pay_u32(pay, o->cpus);
    int64_t end_ticks = build->last_ticks;
    if (o->duration_ns) end_ticks = etl_build_ticks(build, (int64_t)o->duration_ns);
    pay_u64(pay, o->unclean ? 0 : filetime_of(build, end_ticks));
    pay_u32(pay, o->timer_resolution_100ns);
    pay_u32(pay, 0);
    pay_u32(pay, o->log_file_mode);
    pay_u32(pay, build->buffers);
    pay_u32(pay, 1);
    pay_u32(pay, o->pointer_size);
    pay_u32(pay, o->events_lost);
    pay_u32(pay, o->cpu_mhz);
    pay_zeros(pay, 2 * o->pointer_size);
    pay_u32(pay, (uint32_t)o->time_zone_bias_min);
    pay_wchars(pay, 32, o->time_zone_name);
    pay_zeros(pay, 16 + 4);
    pay_wchars(pay, 32, o->time_zone_name);
    pay_zeros(pay, 16 + 4 + 4);
    pay_u64(pay, o->boot_filetime);
    pay_u64(pay, o->perf_freq);
    pay_u64(pay, o->start_filetime);
    pay_u32(pay, o->clock);
    pay_u32(pay, o->buffers_lost);
    pay_wstr(pay, o->session_name);
    pay_wstr(pay, o->log_file_name);
    pay_zeros(pay, 2);
}

static void put_system(const EtlBuildEvent *e, Pay *pay) {
    bool compact = e->header == ETL_BUILD_COMPACT;
    unsigned type = (compact ? 3u : 1u) + (e->pointer_size == 8);
    pay_u16(pay, e->version);
    pay_u16(pay, (uint16_t)(0xC000 | type));
    pay_u16(pay, 0);       // size, set at the end
    pay_u16(pay, e->hook); // type, then group
    pay_u32(pay, e->tid);
    pay_u32(pay, e->pid);
    pay_u64(pay, (uint64_t)e->ticks);
    if (!compact) {
        pay_u32(pay, e->kernel_time);
        pay_u32(pay, e->user_time);
    }
}

static void put_perfinfo(const EtlBuildEvent *e, Pay *pay) {
    unsigned extras = (e->has_pebs ? 0x8000u : 0) | (e->counter_count & 7) << 8;
    pay_u16(pay, (uint16_t)(e->version | extras));
    pay_u16(pay, e->pointer_size == 8 ? 0xC011 : 0xC010);
    pay_u16(pay, 0);
    pay_u16(pay, e->hook);
    pay_u64(pay, (uint64_t)e->ticks);
    if (e->has_pebs) pay_u64(pay, e->pebs);
    for (unsigned i = 0; i < (e->counter_count & 7); i++) pay_u64(pay, e->counters[i]);
}

static void put_full(const EtlBuildEvent *e, Pay *pay) {
    bool instance = e->header == ETL_BUILD_INSTANCE;
    unsigned type = (e->pointer_size == 8 ? 20u : 10u) + instance;
    pay_u16(pay, 0);
    pay_u16(pay, (uint16_t)(0xC000 | type));
    pay_u8(pay, e->opcode);
    pay_u8(pay, e->level);
    pay_u16(pay, e->version);
    pay_u32(pay, e->tid);
    pay_u32(pay, e->pid);
    pay_u64(pay, (uint64_t)e->ticks);
    pay_guid(pay, e->guid);
    pay_u32(pay, e->kernel_time);
    pay_u32(pay, e->user_time);
    if (!instance) return;
    pay_u32(pay, e->instance);
    pay_u32(pay, e->parent_instance);
    pay_guid(pay, e->parent_guid);
}

static void put_items(const EtlBuildEvent *e, Pay *pay) {
    for (size_t i = 0; i < e->item_count; i++) {
        size_t size = e->items[i].data.n;
        size_t padded = (size + 7) & ~(size_t)7;
        pay_u16(pay, (uint16_t)(8 + padded));
        pay_u16(pay, e->items[i].type);
        pay_u16(pay, i + 1 < e->item_count);
        pay_u16(pay, (uint16_t)size);
        pay_bytes(pay, e->items[i].data);
        pay_zeros(pay, padded - size);
    }
}

static void put_event_header(const EtlBuildEvent *e, Pay *pay) {
    pay_u16(pay, 0);
    pay_u16(pay, e->pointer_size == 8 ? 0xC013 : 0xC012);
    pay_u16(pay, (uint16_t)(e->flags | (e->item_count ? 1 : 0)));
    pay_u16(pay, e->property);
    pay_u32(pay, e->tid);
    pay_u32(pay, e->pid);
    pay_u64(pay, (uint64_t)e->ticks);
    pay_guid(pay, e->guid);
    pay_u16(pay, e->id);
    pay_u8(pay, (uint8_t)e->version);
    pay_u8(pay, e->channel);
    pay_u8(pay, e->level);
    pay_u8(pay, e->opcode);
    pay_u16(pay, e->task);
    pay_u64(pay, e->keyword);
    pay_u32(pay, e->kernel_time);
    pay_u32(pay, e->user_time);
    pay_guid(pay, e->activity);
    put_items(e, pay);
}

static void put_message(const EtlBuildEvent *e, Pay *pay) {
    pay_u16(pay, 0);
    pay_u16(pay, 0x9000);
    pay_u16(pay, e->id);
    pay_u16(pay, e->flags);
    if (e->flags & 0x01) pay_u32(pay, e->sequence);
    if (e->flags & 0x04) {
        pay_u32(pay, e->component);
    } else if (e->flags & 0x02) {
        pay_guid(pay, e->guid);
    }
    if (e->flags & 0x08) pay_u64(pay, (uint64_t)e->ticks);
    if (e->flags & 0x20) {
        pay_u32(pay, e->tid);
        pay_u32(pay, e->pid);
    }
}

// The whole event with its size field set; false when it is too large for any buffer.
static bool make_event(EtlBuild *build, const EtlBuildEvent *event, Pay *pay) {
    EtlBuildEvent e = *event;
    if (!e.pointer_size) e.pointer_size = build->options.pointer_size;
    size_t from = pay->n, size_at = 0;
    switch (e.header) {
    case ETL_BUILD_SYSTEM:
    case ETL_BUILD_COMPACT: put_system(&e, pay), size_at = 4; break;
    case ETL_BUILD_PERFINFO: put_perfinfo(&e, pay), size_at = 4; break;
    case ETL_BUILD_FULL:
    case ETL_BUILD_INSTANCE: put_full(&e, pay); break;
    case ETL_BUILD_EVENT: put_event_header(&e, pay); break;
    case ETL_BUILD_MESSAGE: put_message(&e, pay); break;
    case ETL_BUILD_RAW: break;
    }
    pay_bytes(pay, e.payload);
    size_t size = pay->n - from;
    size_t room = build->options.buffer_size - BUFFER_HEADER;
    if (size > EVENT_MAX || (!e.in_header_buffer && size > room)) {
        etl_build_fail(build, ERR_LIMIT, "event of %zu bytes exceeds %zu", size,
                       room < EVENT_MAX ? room : (size_t)EVENT_MAX);
        pay->n = from;
        return false;
    }
    if (e.header != ETL_BUILD_RAW) pay_set_u16(pay, from + size_at, (uint16_t)size);
    return true;
}

static size_t aligned(size_t n) {
    return (n + 7) & ~(size_t)7;
}

static void align_header_events(EtlBuild *build) {
    pay_zeros(&build->header_events, aligned(build->header_events.n) - build->header_events.n);
}

static EtlBuildEvent log_header_event(const EtlBuild *build, Str payload) {
    return (EtlBuildEvent){.header = ETL_BUILD_SYSTEM,
                           .version = 2,
                           .ticks = build->options.start_ticks,
                           .tid = build->options.merged ? ETL_BUILD_UNKNOWN : 4242,
                           .pid = build->options.merged ? ETL_BUILD_UNKNOWN : 4200,
                           .in_header_buffer = true,
                           .payload = payload};
}

static void put_masks_event(EtlBuild *build, Pay *pay) {
    AUTO(buf_done) Buf payload = {0};
    for (size_t i = 0; i < ETL_BUILD_MASKS; i++) pay_u32(&payload, build->options.masks[i]);
    pay_u32(&payload, build->options.kernel_version);
    EtlBuildEvent event = log_header_event(build, buf_str(&payload));
    event.hook = 0x0005;
    (void)make_event(build, &event, pay);
    pay_zeros(pay, aligned(pay->n) - pay->n);
}

// The header buffer with the totals known now.
static void make_header_buffer(EtlBuild *build, Buf *out) {
    AUTO(buf_done) Buf payload = {0};
    const EtlBuildOptions *o = &build->options;
    pay_zeros(out, BUFFER_HEADER);
    put_log_header(build, &payload);
    EtlBuildEvent event = log_header_event(build, buf_str(&payload));
    (void)make_event(build, &event, out);
    size_t saved = out->n;
    if (o->has_masks || build->header_events.n) pay_zeros(out, aligned(out->n) - out->n);
    if (o->has_masks) put_masks_event(build, out);
    pay_bytes(out, buf_str(&build->header_events));
    size_t valid = out->n;
    // Compressed traces keep the header buffer small: the next multiple of 512 bytes.
    size_t size = o->compression ? (valid + 511) & ~(size_t)511 : o->buffer_size;
    if (valid > size)
        etl_build_fail(build, ERR_LIMIT, "header events of %zu bytes exceed the buffer", valid);
    pay_fill(out, 0xFF, size > valid ? size - valid : 0);
    BufferHeader h = {.disk_bytes = (uint32_t)size,
                      .valid_bytes = (uint32_t)valid,
                      .flags = FLAG_FLUSHED,
                      .type = TYPE_HEADER,
                      .state = o->compression ? (uint32_t)o->compression : STATE_FLUSH};
    uint16_t logger = build->logger_id;
    build->logger_id = o->logger_id;
    put_buffer_header(build, (uint8_t *)out->p, &h);
    build->logger_id = logger;
    // A merger saves the offset before it appends its own events (1.3).
    if (o->merged) pay_set_u32(out, 0x04, (uint32_t)saved);
}

static void begin_file(EtlBuild *build) {
    if (build->header_size) return;
    AUTO(buf_done) Buf header = {0};
    align_header_events(build);
    make_header_buffer(build, &header);
    build->header_size = header.n;
    build->buffers = 1;
    build->sequence = 1;
    write_bytes(build, header.p, header.n);
}

static void write_buffer(EtlBuild *build, uint16_t cpu, CpuBuffer *buffer) {
    const EtlBuildOptions *o = &build->options;
    begin_file(build);
    int64_t time = o->merged ? (int64_t)filetime_of(build, build->last_ticks) : buffer->last_ticks;
    BufferHeader h = {.disk_bytes = o->buffer_size,
                      .valid_bytes = (uint32_t)buffer->at,
                      .time = time,
                      .sequence = build->sequence++,
                      .cpu = cpu,
                      .flags = buffer->flags,
                      .state = STATE_FLUSH};
    build->buffers++;
    if (o->compression) {
        Str content = {(const char *)buffer->bytes + BUFFER_HEADER, buffer->at - BUFFER_HEADER};
        Buf *out = &build->packed;
        buf_clear(out);
        pay_zeros(out, BUFFER_HEADER);
        if (o->compression == ETL_BUILD_XPRESS) etl_compress_xpress(content, out);
        if (o->compression == ETL_BUILD_LZNT1) etl_compress_lznt1(content, out);
        if (o->compression == ETL_BUILD_HUFFMAN) etl_compress_huffman(content, out);
        h.disk_bytes = (uint32_t)out->n;
        h.flags |= FLAG_COMPRESSED;
        put_buffer_header(build, (uint8_t *)out->p, &h);
        write_bytes(build, out->p, out->n);
    } else {
        memset(buffer->bytes + buffer->at, 0xFF, o->buffer_size - buffer->at);
        put_buffer_header(build, buffer->bytes, &h);
        write_bytes(build, buffer->bytes, o->buffer_size);
    }
    buffer->at = BUFFER_HEADER;
    buffer->flags = 0;
}

static CpuBuffer *cpu_buffer(EtlBuild *build, uint16_t cpu) {
    CpuBuffer *buffer = &build->cpus[cpu % CPUS_MAX];
    if (!buffer->bytes) {
        buffer->bytes = mem_alloc(build->options.buffer_size);
        buffer->at = BUFFER_HEADER;
        buffer->last_ticks = build->options.start_ticks;
    }
    return buffer;
}

static void store_event(EtlBuild *build, uint16_t cpu, int64_t ticks, Str bytes) {
    CpuBuffer *buffer = cpu_buffer(build, cpu);
    size_t at = aligned(buffer->at);
    if (at + bytes.n > build->options.buffer_size) {
        write_buffer(build, cpu, buffer);
        at = BUFFER_HEADER;
    }
    memset(buffer->bytes + buffer->at, 0, at - buffer->at);
    memcpy(buffer->bytes + at, bytes.p, bytes.n);
    buffer->at = at + bytes.n;
    if (ticks > buffer->last_ticks) buffer->last_ticks = ticks;
    if (ticks > build->last_ticks) build->last_ticks = ticks;
}

void etl_build_event(EtlBuild *build, const EtlBuildEvent *event) {
    if (event->in_header_buffer) {
        if (build->header_size) {
            etl_build_fail(build, ERR_ARG, "the header buffer is already written");
            return;
        }
        align_header_events(build);
        (void)make_event(build, event, &build->header_events);
        return;
    }
    buf_clear(&build->event);
    if (event->cpu >= CPUS_MAX) {
        etl_build_fail(build, ERR_ARG, "cpu %u exceeds %d", event->cpu, CPUS_MAX - 1);
        return;
    }
    if (!make_event(build, event, &build->event)) return;
    if (!build->options.sort) {
        store_event(build, event->cpu, event->ticks, buf_str(&build->event));
        return;
    }
    *vec_push(&build->pending) = (Pending){.ticks = event->ticks,
                                           .order = build->pending.count,
                                           .offset = build->pool.n,
                                           .size = build->event.n,
                                           .cpu = event->cpu};
    buf_add(&build->pool, buf_str(&build->event));
}

static int by_time(const void *a, const void *b) {
    const Pending *x = a, *y = b;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void store_pending(EtlBuild *build) {
    if (build->pending.count == 0) return;
    for (size_t i = 0; i < build->pending.count; i++) build->pending.items[i].order = i;
    qsort(build->pending.items, build->pending.count, sizeof *build->pending.items, by_time);
    for (size_t i = 0; i < build->pending.count; i++) {
        const Pending *p = &build->pending.items[i];
        store_event(build, p->cpu, p->ticks,
                    str_slice(buf_str(&build->pool), p->offset, p->offset + p->size));
    }
    build->pending.count = 0;
    buf_clear(&build->pool);
}

void etl_build_flush(EtlBuild *build, uint16_t cpu, bool empty_too) {
    store_pending(build);
    CpuBuffer *buffer = cpu_buffer(build, cpu);
    if (empty_too || buffer->at > BUFFER_HEADER) write_buffer(build, cpu, buffer);
}

static void flush_all(EtlBuild *build) {
    store_pending(build);
    CpuBuffer *last = NULL;
    for (size_t i = 0; i < CPUS_MAX; i++)
        if (build->cpus[i].at > BUFFER_HEADER) last = &build->cpus[i];
    if (last) last->flags |= FLAG_FLUSHED;
    for (size_t i = 0; i < CPUS_MAX; i++)
        if (build->cpus[i].at > BUFFER_HEADER) write_buffer(build, (uint16_t)i, &build->cpus[i]);
}

void etl_build_mark_loss(EtlBuild *build, uint16_t cpu, bool events, bool buffers) {
    store_pending(build);
    CpuBuffer *buffer = cpu_buffer(build, cpu);
    if (events) buffer->flags |= FLAG_EVENTS_LOST;
    if (buffers) buffer->flags |= FLAG_BUFFERS_LOST;
}

void etl_build_next_session(EtlBuild *build, uint16_t logger_id) {
    flush_all(build);
    begin_file(build);
    build->sequence = 1;
    build->logger_id = logger_id;
}

Status etl_build_finish(EtlBuild *build, Buf *out, Err *err) {
    flush_all(build);
    begin_file(build);
    AUTO(buf_done) Buf header = {0};
    make_header_buffer(build, &header);
    INVARIANT(header.n == build->header_size);
    if (build->status == OK && !build->file) {
        memcpy(build->memory.p, header.p, header.n);
        if (out) buf_add(out, buf_str(&build->memory));
    } else if (build->file) {
        bool good = fseek(build->file, 0, SEEK_SET) == 0 &&
                    fwrite(header.p, 1, header.n, build->file) == header.n;
        good = fclose(build->file) == 0 && good;
        build->file = NULL;
        if (!good) etl_build_fail(build, ERR_IO, "%s: cannot be completed", build->options.path.p);
    }
    if (build->status != OK && err) *err = build->err;
    return build->status;
}

int64_t etl_build_ticks(const EtlBuild *build, int64_t since_start_ns) {
    uint64_t magnitude = (uint64_t)(since_start_ns < 0 ? -since_start_ns : since_start_ns);
    int64_t ticks = (int64_t)etl_build_duration(build, magnitude);
    return build->options.start_ticks + (since_start_ns < 0 ? -ticks : ticks);
}

uint64_t etl_build_duration(const EtlBuild *build, uint64_t ns) {
    const EtlBuildOptions *o = &build->options;
    uint64_t per_s = o->clock == 2   ? 10000000
                     : o->clock == 3 ? (uint64_t)o->cpu_mhz * 1000000
                                     : o->perf_freq;
    return ns / 1000000000 * per_s + ns % 1000000000 * per_s / 1000000000;
}

Buf *etl_build_scratch(EtlBuild *build) {
    buf_clear(&build->scratch);
    return &build->scratch;
}

unsigned etl_build_pointer_size(const EtlBuild *build) {
    return build->options.pointer_size;
}

const EtlBuildOptions *etl_build_options(const EtlBuild *build) {
    return &build->options;
}

uint64_t etl_build_bytes(const EtlBuild *build) {
    return build->written_bytes;
}

uint32_t etl_build_buffers(const EtlBuild *build) {
    return build->buffers;
}
