// Writes .etl files from scratch, for tests, the demo and benchmarks (docs/formats/etl.md, sections
// 1 to 3; numbers below are its sections). It shares no code with the reader, so that each checks
// the other.
//
// Layers, each usable alone:
//   etl_build.h         buffers, event headers, compression (this file)
//   etl_build_kernel.h  payloads of kernel events from small structs
//   etl_build_meta.h    manifest metadata, EventSource, TraceLogging
//   etl_build_script.h  whole traces from text
//
// Events go into one buffer per CPU; a full buffer is compressed and written at once, so a trace of
// any size needs one buffer per CPU of memory (unless `sort` is asked for).
#ifndef SUPPORT_ETL_BUILD_H
#define SUPPORT_ETL_BUILD_H

#include "base/rd.h"
#include "base/str.h"

typedef enum EtlBuildCompression {
    ETL_BUILD_PLAIN = 0,
    ETL_BUILD_LZNT1 = 2,
    ETL_BUILD_XPRESS = 3,
    ETL_BUILD_HUFFMAN = 4,
} EtlBuildCompression;

enum { ETL_BUILD_MASKS = 8 };
#define ETL_BUILD_UNKNOWN 0xFFFFFFFFu // thread or process id of an event that has none

// Everything has a sensible meaning when zero; the comment says which.
typedef struct EtlBuildOptions {
    Str path;                // streamed to this file; empty: kept in memory
    unsigned pointer_size;   // 8; of kernel events and of the log header
    unsigned cpus;           // 1; NumberOfProcessors (events may name others)
    uint32_t buffer_size;    // 65536
    uint64_t perf_freq;      // 10,000,000
    uint64_t start_filetime; // 2026-01-02 03:04:05 UTC
    int64_t start_ticks;     // 1,000 s after boot; the start time with clock 2
    uint64_t duration_ns;    // up to the last event; sets EndTime
    uint32_t clock;          // ReservedFlags: 1 (QPC); CLOCK_ZERO writes 0
    uint32_t os_build;       // 19041
    EtlBuildCompression compression;
    uint32_t log_file_mode; // 1, or'ed with what compression and `merged` need
    uint32_t events_lost, buffers_lost;
    uint32_t cpu_mhz;                // 3000
    uint32_t timer_resolution_100ns; // 156250
    uint16_t logger_id;              // 2; 0 when merged
    bool merged;        // as a merge tool writes it: logger 0, FILETIME buffer times, mode 0x10000
    bool unclean;       // the session did not stop: EndTime 0
    bool sort;          // keep events in memory and write them in time order
    bool old_cpu_field; // Windows 7 form of the buffer's processor number (1.6)
    bool has_masks;     // write a 0x0005 event into the header buffer
    uint32_t masks[ETL_BUILD_MASKS];
    uint32_t kernel_version; // of 0x0005; by os_build
    int32_t time_zone_bias_min;
    Str time_zone_name;
    uint64_t boot_filetime; // start minus start_ticks
    Str session_name;       // "Relogger" when merged, else "test session"
    Str log_file_name;
} EtlBuildOptions;

enum { ETL_BUILD_CLOCK_ZERO = 100 }; // EtlBuildOptions.clock: ReservedFlags 0

typedef enum EtlBuildHeader { // of one event (2.1)
    ETL_BUILD_SYSTEM,
    ETL_BUILD_COMPACT,
    ETL_BUILD_PERFINFO,
    ETL_BUILD_FULL,
    ETL_BUILD_INSTANCE,
    ETL_BUILD_EVENT, // EVENT_HEADER
    ETL_BUILD_MESSAGE,
    ETL_BUILD_RAW, // the payload is the whole event
} EtlBuildHeader;

typedef struct EtlBuildItem { // extended item of an EVENT_HEADER event (2.6)
    uint16_t type;
    Str data;
} EtlBuildItem;

typedef struct EtlBuildEvent {
    EtlBuildHeader header;
    unsigned pointer_size; // 0: the trace's
    uint16_t cpu;
    bool in_header_buffer; // cpu is then without meaning
    int64_t ticks;         // raw clock; see etl_build_ticks
    uint32_t tid, pid;     // SYSTEM, FULL, INSTANCE, EVENT, MESSAGE
    uint32_t kernel_time, user_time;
    uint16_t version;
    uint16_t hook; // SYSTEM, COMPACT, PERFINFO
    Guid guid;     // class, provider or message GUID
    uint8_t opcode, level, channel;
    uint16_t id, task; // EVENT; id is also the message number
    uint16_t flags;    // EVENT: bit 0 is set by itself; MESSAGE: option flags (2.7)
    uint16_t property; // EVENT
    uint64_t keyword;
    Guid activity;
    const EtlBuildItem *items;
    size_t item_count;
    uint32_t instance, parent_instance; // INSTANCE
    Guid parent_guid;
    bool has_pebs; // PERFINFO extras (2.3)
    uint64_t pebs;
    const uint64_t *counters;
    unsigned counter_count;       // at most 7
    uint32_t sequence, component; // MESSAGE
    Str payload;
} EtlBuildEvent;

typedef struct EtlBuild EtlBuild;

// Failures (the file cannot be written, an event is larger than a buffer) are kept and returned by
// etl_build_finish. Strings and items of options and events are copied.
EtlBuild *etl_build_open(const EtlBuildOptions *options);
// Writes what is buffered and completes the header. In memory the trace is appended to `out` (may
// be NULL with a path). Nothing may follow but the close.
Status etl_build_finish(EtlBuild *build, Buf *out, Err *err);
void etl_build_close(EtlBuild *build);
AUTO_DEFINE(EtlBuild *, etl_build_close)

void etl_build_event(EtlBuild *build, const EtlBuildEvent *event);

// Raw clock of a time since the start of the trace, and of a duration.
int64_t etl_build_ticks(const EtlBuild *build, int64_t since_start_ns);
uint64_t etl_build_duration(const EtlBuild *build, uint64_t ns);
// Empty memory for one payload, reused; valid until the next call.
Buf *etl_build_scratch(EtlBuild *build);
unsigned etl_build_pointer_size(const EtlBuild *build);
const EtlBuildOptions *etl_build_options(const EtlBuild *build); // with defaults filled in

// Writes the CPU's buffer now; an empty one only when `empty_too`.
void etl_build_flush(EtlBuild *build, uint16_t cpu, bool empty_too);
// Sets the loss flags of the CPU's current buffer.
void etl_build_mark_loss(EtlBuild *build, uint16_t cpu, bool events, bool buffers);
// Append mode: what follows belongs to another session; sequence numbers restart.
void etl_build_next_session(EtlBuild *build, uint16_t logger_id);
// Bytes and buffers written so far (of finished buffers).
uint64_t etl_build_bytes(const EtlBuild *build);
uint32_t etl_build_buffers(const EtlBuild *build);
void etl_build_fail(EtlBuild *build, Status status, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
