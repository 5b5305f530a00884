// An .etl file as buffers and events (docs/formats/etl.md; numbers below are its sections).
//
// etl_open() walks the buffer headers once and reads the header event; nothing is decompressed but
// a few bytes of each compressed buffer. Buffers are then loaded one at a time, by any thread, each
// into the caller's EtlScratch, and walked with etl_next(). Damage never is an error after
// etl_open(): it is recorded in `EtlIssue`s and everything that is intact is still there.
#ifndef ETL_ETL_H
#define ETL_ETL_H

#include "base/os.h"
#include "base/rd.h"

typedef enum EtlClock {
    ETL_CLOCK_QPC = 1,         // ReservedFlags 0 and 1
    ETL_CLOCK_SYSTEM_TIME = 2, // FILETIME, 10,000,000 per second
    ETL_CLOCK_CPU_CYCLES = 3,  // CpuSpeedInMHz * 1,000,000 per second
} EtlClock;

// TRACE_LOGFILE_HEADER (1.5), read from whichever layout the header event has.
typedef struct EtlHeader {
    uint32_t buffer_size_bytes;
    uint8_t os_major, os_minor, trace_major, trace_minor;
    uint32_t os_build;
    uint32_t cpu_count;    // as recorded; more may occur
    uint64_t end_filetime; // 0: not stopped cleanly
    uint32_t timer_resolution_100ns;
    uint32_t max_file_size_mib;
    uint32_t log_file_mode; // 1.7
    uint32_t buffers_written;
    uint32_t pointer_size; // of the file's writer, never of events
    uint32_t events_lost;
    uint32_t buffers_lost;
    uint32_t cpu_mhz;
    int32_t time_zone_bias_min; // UTC = local + bias
    Str time_zone_name;
    uint64_t boot_filetime; // a label only (3.4)
    uint64_t perf_freq;     // as recorded
    uint64_t start_filetime;
    uint32_t reserved_flags;
    Str session_name;
    Str file_name;
    // Derived:
    EtlClock clock;
    uint64_t ticks_per_s;         // of every raw timestamp; never 0
    int64_t start_ticks;          // raw timestamp of the header event: time zero of the trace
    unsigned header_pointer_size; // 4 or 8, by the header event's own type
} EtlHeader;

typedef enum EtlCompression {
    ETL_PLAIN = 0,
    ETL_LZNT1 = 2,
    ETL_XPRESS = 3,
    ETL_XPRESS_HUFFMAN = 4,
} EtlCompression;

typedef struct EtlBuffer {
    uint64_t offset;      // in the file
    uint32_t size_bytes;  // on disk, header included (clamped to the file)
    uint32_t valid_bytes; // header included; after decompression for compressed buffers
    int64_t sequence;
    uint16_t cpu;
    uint16_t logger_id;
    uint16_t flags;
    uint16_t type;
    bool compressed;
    bool cut;            // the file ends inside it
    uint32_t segment;    // append mode: counts the sessions in one file
    int64_t first_ticks; // timestamp of its first event; INT64_MAX when it has none
} EtlBuffer;

typedef enum EtlIssueKind {
    ETL_ISSUE_TRUNCATED_FILE,    // the file ends inside a buffer
    ETL_ISSUE_BAD_BUFFER_HEADER, // no plausible header where one is due; `count` bytes skipped
    ETL_ISSUE_ZERO_TAIL,         // preallocated or crashed: zeros to the end (information)
    ETL_ISSUE_BAD_COMPRESSION,   // a buffer does not inflate; what came out is used
    ETL_ISSUE_BAD_EVENT,         // an event's size or marker is wrong; rest of the buffer skipped
    ETL_ISSUE_BAD_EXTENDED_ITEM,
    ETL_ISSUE_TIME_BACKWARDS,    // within one buffer or stream
    ETL_ISSUE_EVENTS_LOST_FLAG,  // buffer flag 0x02
    ETL_ISSUE_BUFFERS_LOST_FLAG, // buffer flag 0x04
    ETL_ISSUE_RT_CORRUPT_FLAG,   // buffer flag 0x08
    ETL_ISSUE_SEQUENCE_GAP,      // weak evidence (information)
    ETL_ISSUE_BAD_HEADER_EVENT,  // log header short or absurd; defaults used
    ETL_ISSUE_UNKNOWN_BUFFER_TYPE,
    ETL_ISSUE_FILE_GREW, // while it was read; `bytes` came behind what was read
    ETL_ISSUE_KINDS
} EtlIssueKind;

typedef enum EtlSeverity { ETL_INFO, ETL_DATA_LOSS } EtlSeverity;

// Counted, with the file offset of the first of its kind. One set per owner; merge with
// etl_issues_add(). first_offset is meaningless while count is 0.
typedef struct EtlIssues {
    uint64_t count[ETL_ISSUE_KINDS];
    uint64_t bytes[ETL_ISSUE_KINDS]; // bytes not used because of it
    uint64_t first_offset[ETL_ISSUE_KINDS];
} EtlIssues;

void etl_issue(EtlIssues *issues, EtlIssueKind kind, uint64_t offset, uint64_t bytes);
void etl_issues_add(EtlIssues *into, const EtlIssues *from);
const char *etl_issue_name(EtlIssueKind kind); // "truncated_file" ...
const char *etl_issue_text(EtlIssueKind kind); // one sentence for people
EtlSeverity etl_issue_severity(EtlIssueKind kind);

typedef struct EtlFile EtlFile; // read-only and shared by threads after etl_open

// ERR_NOT_FOUND, ERR_IO, or ERR_INPUT with one sentence saying what the file is instead (empty, a
// folder, not an event trace, a Windows 2000/XP trace, a real-time backup container ...).
Status etl_open(Str path, EtlFile **out, Err *err);
void etl_close(EtlFile *file);
AUTO_DEFINE(EtlFile *, etl_close)

const EtlHeader *etl_header(const EtlFile *file);
uint64_t etl_file_size(const EtlFile *file);
EtlCompression etl_compression(const EtlFile *file);
const EtlIssues *etl_file_issues(const EtlFile *file);         // of the buffer walk
void etl_count_growth(const EtlFile *file, EtlIssues *issues); // since it was opened
// All buffers that hold events (types 0, 1, 2, 4, 5), sorted by (first_ticks, file offset): reading
// them in this order visits the trace roughly in time order.
size_t etl_buffer_count(const EtlFile *file);
const EtlBuffer *etl_buffer(const EtlFile *file, size_t index);
// Streams (1.9): buffers of one (segment, logger, cpu) in their true order. stream_of gives the
// stream number of a buffer (0..etl_stream_count()-1) and its position in that stream.
size_t etl_stream_count(const EtlFile *file);
void etl_stream_of(const EtlFile *file, size_t index, uint32_t *stream, uint32_t *position);
// Index (of etl_buffer) of the buffer at `position` of `stream`; SIZE_MAX behind its end.
size_t etl_stream_buffer(const EtlFile *file, uint32_t stream, uint32_t position);

// A worker's reusable memory: raw bytes and decompressed bytes of one buffer.
typedef struct EtlScratch EtlScratch;
EtlScratch *etl_scratch_open(void);
void etl_scratch_close(EtlScratch *scratch);
AUTO_DEFINE(EtlScratch *, etl_scratch_close)

// Where an event was found: its header's kind (2.1).
typedef enum EtlKind {
    ETL_SYSTEM,   // SYSTEM32/64 and COMPACT32/64: kernel event with thread
    ETL_PERFINFO, // kernel event without thread
    ETL_CLASSIC,  // FULL_HEADER and INSTANCE: (class GUID, opcode, version)
    ETL_MANIFEST, // EVENT_HEADER: manifest, EventSource, TraceLogging
    ETL_WPP,      // MESSAGE
    ETL_OTHER,    // ERROR, TIMED, "ulong32 time": kept with its bytes as payload
} EtlKind;

#define ETL_NO_ID UINT32_MAX // pid or tid is unknown

typedef struct EtlExtended { // 2.6; slices point into the buffer; absent items have p == NULL
    bool any;
    bool has_related_activity, has_session, has_match_id;
    Guid related_activity;
    Str sid;
    uint32_t session_id;
    uint64_t match_id;           // of stack or stack key items
    Str stack;                   // addresses
    unsigned stack_pointer_size; // 4 or 8 when stack or stack_key is present
    bool has_stack_key;
    uint64_t stack_key;
    Str tracelogging; // item 11
    Str traits;       // item 12
    Str pmc;          // item 8: u64 each
    bool has_process_start_key, has_event_key;
    uint64_t process_start_key, event_key;
    Str container_id;
} EtlExtended;

typedef struct EtlEvent {
    EtlKind kind;
    uint8_t header_type;  // 1..21, 15 for messages (2.1)
    uint8_t pointer_size; // of the payload: 4 or 8
    uint8_t version;      // masked with 0xFF
    uint8_t opcode;       // hook type of kernel events, opcode of the others
    uint8_t level, channel;
    uint16_t id; // manifest event id; WPP message number
    uint16_t task;
    uint16_t hook;     // group << 8 | type for ETL_SYSTEM and ETL_PERFINFO, else 0
    uint16_t flags;    // EVENT_HEADER Flags or WPP option flags
    uint16_t cpu;      // of the buffer
    uint32_t tid, pid; // ETL_NO_ID when the header has none
    int64_t ticks;     // raw clock; the previous event's when it has none
    uint64_t keyword;
    Guid provider; // manifest provider, classic class, WPP message GUID; else zero
    Guid activity;
    uint32_t kernel_time, user_time;
    uint32_t counters; // PERFINFO extras: number of u64 at the front of `extras`
    Str extras;        // PEBS index and counters (2.3)
    Str payload;
    Str whole;       // header and payload
    uint64_t offset; // in the file: of the event itself (plain) or its buffer (compressed)
    uint32_t index;  // ordinal in its buffer
    EtlExtended ext; // filled for ETL_MANIFEST
} EtlEvent;

// Walks one loaded buffer.
typedef struct EtlCursor {
    const EtlBuffer *buffer;
    const uint8_t *bytes; // whole buffer, header included
    size_t size;          // valid bytes
    size_t at;
    uint32_t index;
    int64_t last_ticks;
    unsigned pointer_size; // for WPP messages that do not say theirs
    bool incomplete;       // the file or the compressed stream ends early: counted already
    EtlIssues *issues;
} EtlCursor;

// Reads and inflates buffer `index`. Damage is counted in *issues; an unreadable file (vanished,
// I/O error) is ERR_IO. The cursor and every slice of its events are valid until the next load into
// the same scratch.
Status etl_load(EtlFile *file, size_t index, EtlScratch *scratch, EtlIssues *issues,
                EtlCursor *cursor, Err *err);
// False at the end of the buffer. `event` is filled completely.
bool etl_next(EtlCursor *cursor, EtlEvent *event);

// Trace-relative nanoseconds of a raw timestamp (3.2), exact, saturating.
int64_t etl_ns_from_ticks(const EtlHeader *header, int64_t ticks);
// The same for a duration in ticks.
int64_t etl_ns_from_duration(const EtlHeader *header, int64_t ticks);

#endif
