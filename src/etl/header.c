// The header event: TRACE_LOGFILE_HEADER in its 32- and 64-bit layout, and what follows from it
// (docs/formats/etl.md, "Header event" and "Clocks").
#include "etl/etl_internal.h"

enum {
    HEADER_EVENT_BYTES_64 = 280,
    HEADER_EVENT_BYTES_32 = 272,
    TIME_ZONE_BYTES = 172,
    TIME_ZONE_NAME_UNITS = 32,
    DEFAULT_TICKS_PER_S = 10000000,
    CPU_MHZ_MAX = 1000000,
};
#define PERF_FREQ_MAX 1000000000000ULL

static void read_times(Rd *r, EtlHeader *h) {
    h->boot_filetime = rd_u64(r);
    h->perf_freq = rd_u64(r);
    h->start_filetime = rd_u64(r);
    h->reserved_flags = rd_u32(r);
    h->buffers_lost = rd_u32(r);
}

static bool read_log_header(EtlFile *etl, Rd *r, unsigned pointer_size) {
    EtlHeader *h = &etl->header;
    h->header_pointer_size = pointer_size;
    h->buffer_size_bytes = rd_u32(r);
    h->os_major = rd_u8(r);
    h->os_minor = rd_u8(r);
    h->trace_major = rd_u8(r);
    h->trace_minor = rd_u8(r);
    h->os_build = rd_u32(r);
    h->cpu_count = rd_u32(r);
    h->end_filetime = rd_u64(r);
    h->timer_resolution_100ns = rd_u32(r);
    h->max_file_size_mib = rd_u32(r);
    h->log_file_mode = rd_u32(r);
    h->buffers_written = rd_u32(r);
    rd_skip(r, 4); // StartBuffers
    h->pointer_size = rd_u32(r);
    h->events_lost = rd_u32(r);
    h->cpu_mhz = rd_u32(r);
    rd_skip(r, 2u * pointer_size); // two stale pointers
    Rd zone = rd_sub(r, TIME_ZONE_BYTES);
    h->time_zone_bias_min = rd_i32(&zone);
    h->time_zone_name = rd_wchars(&zone, TIME_ZONE_NAME_UNITS, &etl->arena);
    rd_skip(r, 4);
    read_times(r, h);
    if (!rd_ok(r)) return false;
    h->session_name = rd_wstr(r, &etl->arena);
    h->file_name = rd_wstr(r, &etl->arena);
    return true;
}

static uint64_t ticks_per_s(const EtlHeader *h) {
    bool frequency_good = h->perf_freq > 0 && h->perf_freq <= PERF_FREQ_MAX;
    if (h->clock == ETL_CLOCK_SYSTEM_TIME) return DEFAULT_TICKS_PER_S;
    if (h->clock == ETL_CLOCK_CPU_CYCLES && h->cpu_mhz > 0 && h->cpu_mhz <= CPU_MHZ_MAX)
        return (uint64_t)h->cpu_mhz * 1000000u;
    return h->clock == ETL_CLOCK_QPC && frequency_good ? h->perf_freq : 0;
}

void etl_header_derive(EtlFile *etl, uint64_t offset) {
    EtlHeader *h = &etl->header;
    h->clock = h->reserved_flags == 2   ? ETL_CLOCK_SYSTEM_TIME
               : h->reserved_flags == 3 ? ETL_CLOCK_CPU_CYCLES
                                        : ETL_CLOCK_QPC;
    h->ticks_per_s = ticks_per_s(h);
    if (h->header_pointer_size == 0) h->header_pointer_size = 8;
    if (etl->header_good && h->ticks_per_s > 0 && h->reserved_flags <= 3) return;
    etl_issue(&etl->issues, ETL_ISSUE_BAD_HEADER_EVENT, offset, 0);
    if (h->ticks_per_s == 0) h->ticks_per_s = DEFAULT_TICKS_PER_S;
}

void etl_header_read(EtlFile *etl, EtlCursor *cursor, uint64_t offset) {
    EtlEvent event;
    bool there = etl_next(cursor, &event) && event.kind == ETL_SYSTEM && event.hook == 0;
    if (there) {
        Rd r = rd_from_str(event.payload);
        size_t needed = event.pointer_size == 8 ? HEADER_EVENT_BYTES_64 : HEADER_EVENT_BYTES_32;
        etl->header_good =
            event.payload.n >= needed && read_log_header(etl, &r, event.pointer_size);
        etl->header.start_ticks = event.ticks;
        etl->start_known = true;
    }
    // A damaged description must not leave half of its values behind.
    if (!etl->header_good) {
        int64_t start_ticks = etl->header.start_ticks;
        etl->header = (EtlHeader){.start_ticks = start_ticks};
    }
    etl_header_derive(etl, offset);
}
