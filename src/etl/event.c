// The events of one buffer: every header layout (docs/formats/etl.md, "Event headers").
//
// etl_next() runs once per event of the trace, so each layout is read with fixed-offset loads after
// one comparison of the event's size with its header's size; only WPP messages and extended items,
// whose shape varies, use Rd (extended.c).
#include "etl/bytes.h"
#include "etl/event_parts.h"

enum {
    TYPE_SYSTEM32 = 1,
    TYPE_SYSTEM64 = 2,
    TYPE_COMPACT32 = 3,
    TYPE_COMPACT64 = 4,
    TYPE_FULL32 = 10,
    TYPE_INSTANCE32 = 11,
    TYPE_TIMED = 12,
    TYPE_ERROR = 13,
    TYPE_WNODE = 14,
    TYPE_PERFINFO32 = 16,
    TYPE_PERFINFO64 = 17,
    TYPE_EVENT32 = 18,
    TYPE_EVENT64 = 19,
    TYPE_FULL64 = 20,
    TYPE_INSTANCE64 = 21,
    TYPE_COUNT = 22,
    MARK_REGULAR = 0xC0,
    MARK_MESSAGE = 0x90,
    MARK_ULONG32_TIME = 0xB0,
    PERFINFO_PEBS = 0x8000,
    EVENT_FLAG_EXTENDED = 1,
};

typedef enum Shape {
    SHAPE_NONE,
    SHAPE_SYSTEM,
    SHAPE_PERFINFO,
    SHAPE_FULL,
    SHAPE_EVENT,
    SHAPE_MESSAGE,
    SHAPE_ULONG32_TIME,
    SHAPE_OTHER,
} Shape;

typedef struct HeaderType {
    uint8_t shape; // Shape
    uint8_t pointer_size;
    uint8_t size_at;  // offset of the u16 size
    uint8_t bytes;    // header without extras; the least an event may have
    uint8_t ticks_at; // offset of the timestamp, 0: none
} HeaderType;

static const HeaderType TYPES[TYPE_COUNT] = {
    [TYPE_SYSTEM32] = {SHAPE_SYSTEM,   4, 4, 32, 16},
    [TYPE_SYSTEM64] = {SHAPE_SYSTEM,   8, 4, 32, 16},
    [TYPE_COMPACT32] = {SHAPE_SYSTEM,   4, 4, 24, 16},
    [TYPE_COMPACT64] = {SHAPE_SYSTEM,   8, 4, 24, 16},
    [TYPE_FULL32] = {SHAPE_FULL,     4, 0, 48, 16},
    [TYPE_INSTANCE32] = {SHAPE_FULL,     4, 0, 72, 16},
    [TYPE_TIMED] = {SHAPE_OTHER,    8, 0, 8,  0 },
    [TYPE_ERROR] = {SHAPE_OTHER,    8, 0, 8,  0 },
    [TYPE_WNODE] = {SHAPE_OTHER,    8, 0, 8,  0 },
    [TYPE_PERFINFO32] = {SHAPE_PERFINFO, 4, 4, 16, 8 },
    [TYPE_PERFINFO64] = {SHAPE_PERFINFO, 8, 4, 16, 8 },
    [TYPE_EVENT32] = {SHAPE_EVENT,    4, 0, 80, 16},
    [TYPE_EVENT64] = {SHAPE_EVENT,    8, 0, 80, 16},
    [TYPE_FULL64] = {SHAPE_FULL,     8, 0, 48, 16},
    [TYPE_INSTANCE64] = {SHAPE_FULL,     8, 0, 72, 16},
};
static const HeaderType MESSAGE_TYPE = {SHAPE_MESSAGE, 0, 0, 8, 0};
static const HeaderType ULONG32_TIME_TYPE = {SHAPE_ULONG32_TIME, 8, 0, 8, 0};
static const HeaderType NO_TYPE = {SHAPE_NONE, 0, 0, 8, 0};

static inline const HeaderType *type_of(uint32_t mark) {
    unsigned top = mark >> 24;
    unsigned type = (mark >> 16) & 0xFF;
    if (top == MARK_REGULAR) return type < TYPE_COUNT ? &TYPES[type] : &NO_TYPE;
    if (top == MARK_MESSAGE) return &MESSAGE_TYPE;
    return top == MARK_ULONG32_TIME ? &ULONG32_TIME_TYPE : &NO_TYPE;
}

bool event_peek(const uint8_t *bytes, size_t there, size_t left, EventPeek *out) {
    if (there < 8 || left < 8) return false;
    const HeaderType *type = type_of(le32(bytes));
    *out = (EventPeek){.size = le16(bytes + type->size_at)};
    if (type->shape == SHAPE_NONE || out->size < type->bytes || out->size > left) return false;
    size_t ticks_at = type->ticks_at;
    if (type->shape == SHAPE_MESSAGE) ticks_at = message_ticks_at(le16(bytes + 6));
    if (type->shape == SHAPE_ULONG32_TIME && out->size >= 16) ticks_at = 8;
    out->has_ticks = ticks_at > 0 && ticks_at + 8 <= there && ticks_at + 8 <= out->size;
    if (out->has_ticks) out->ticks = (int64_t)le64(bytes + ticks_at);
    return true;
}

static inline Str slice(const uint8_t *p, size_t n) {
    return (Str){(const char *)p, n};
}

static inline void set_clock(EtlCursor *cursor, EtlEvent *event, int64_t ticks) {
    if (__builtin_expect(ticks < cursor->last_ticks, 0))
        etl_issue(cursor->issues, ETL_ISSUE_TIME_BACKWARDS, event->offset, 0);
    cursor->last_ticks = event->ticks = ticks;
}

// Version, hook and what both kernel layouts have not.
static inline void set_kernel(EtlEvent *event, const uint8_t *p) {
    event->version = p[0];
    event->opcode = p[6];
    event->hook = le16(p + 6);
    event->level = 0;
    event->channel = 0;
    event->id = 0;
    event->task = 0;
    event->flags = 0;
    event->keyword = 0;
    event->provider = (Guid){{0}};
    event->activity = (Guid){{0}};
}

static void read_system(EtlCursor *cursor, EtlEvent *event, const uint8_t *p, size_t header) {
    event->kind = ETL_SYSTEM;
    set_kernel(event, p);
    event->tid = le32(p + 8);
    event->pid = le32(p + 12);
    set_clock(cursor, event, (int64_t)le64(p + 16));
    bool times = header == 32;
    event->kernel_time = times ? le32(p + 24) : 0;
    event->user_time = times ? le32(p + 28) : 0;
}

static bool read_perfinfo(EtlCursor *cursor, EtlEvent *event, const uint8_t *p) {
    unsigned word = le16(p);
    event->kind = ETL_PERFINFO;
    set_kernel(event, p);
    event->tid = ETL_NO_ID;
    event->pid = ETL_NO_ID;
    event->kernel_time = 0;
    event->user_time = 0;
    if (__builtin_expect(word > 0xFF, 0)) {
        event->counters = (word >> 8) & 7;
        size_t n = 8u * (event->counters + (word & PERFINFO_PEBS ? 1u : 0u));
        if (n > event->payload.n) return false;
        event->extras = str_slice(event->payload, 0, n);
        event->payload = str_slice(event->payload, n, event->payload.n);
    }
    set_clock(cursor, event, (int64_t)le64(p + 8));
    return true;
}

static void read_full(EtlCursor *cursor, EtlEvent *event, const uint8_t *p) {
    event->kind = ETL_CLASSIC;
    event->opcode = p[4];
    event->level = p[5];
    event->version = p[6];
    event->hook = 0;
    event->channel = 0;
    event->id = 0;
    event->task = 0;
    event->flags = 0;
    event->keyword = 0;
    event->tid = le32(p + 8);
    event->pid = le32(p + 12);
    set_clock(cursor, event, (int64_t)le64(p + 16));
    memcpy(event->provider.bytes, p + 24, sizeof event->provider.bytes);
    event->activity = (Guid){{0}};
    event->kernel_time = le32(p + 40);
    event->user_time = le32(p + 44);
}

// Member by member: compilers clear a structure of this size with a string instruction, whose
// start costs more than the rest of the event.
static inline void clear_extended(EtlExtended *ext) {
    ext->any = ext->has_related_activity = ext->has_session = ext->has_match_id = false;
    ext->has_stack_key = ext->has_process_start_key = ext->has_event_key = false;
    ext->related_activity = (Guid){{0}};
    ext->sid = ext->stack = ext->tracelogging = ext->traits = ext->pmc = ext->container_id =
        (Str){0};
    ext->session_id = 0;
    ext->match_id = ext->stack_key = ext->process_start_key = ext->event_key = 0;
    ext->stack_pointer_size = 0;
}

static void read_manifest(EtlCursor *cursor, EtlEvent *event, const uint8_t *p) {
    event->kind = ETL_MANIFEST;
    event->flags = le16(p + 4);
    event->hook = 0;
    event->tid = le32(p + 8);
    event->pid = le32(p + 12);
    set_clock(cursor, event, (int64_t)le64(p + 16));
    memcpy(event->provider.bytes, p + 24, sizeof event->provider.bytes);
    event->id = le16(p + 40);
    event->version = p[42];
    event->channel = p[43];
    event->level = p[44];
    event->opcode = p[45];
    event->task = le16(p + 46);
    event->keyword = le64(p + 48);
    event->kernel_time = le32(p + 56);
    event->user_time = le32(p + 60);
    memcpy(event->activity.bytes, p + 64, sizeof event->activity.bytes);
    clear_extended(&event->ext);
    if (event->flags & EVENT_FLAG_EXTENDED && !extended_read(event))
        etl_issue(cursor->issues, ETL_ISSUE_BAD_EXTENDED_ITEM, event->offset, event->payload.n);
}

static void set_nothing(EtlEvent *event) {
    event->version = event->opcode = event->level = event->channel = 0;
    event->id = event->task = event->hook = event->flags = 0;
    event->tid = event->pid = ETL_NO_ID;
    event->keyword = 0;
    event->provider = (Guid){{0}};
    event->activity = (Guid){{0}};
    event->kernel_time = event->user_time = 0;
}

static bool read_message(EtlCursor *cursor, EtlEvent *event) {
    int64_t ticks;
    bool has_ticks;
    set_nothing(event);
    event->kind = ETL_WPP;
    event->header_type = 15;
    event->pointer_size = (uint8_t)cursor->pointer_size;
    if (!message_read(event, &has_ticks, &ticks)) return false;
    if (has_ticks)
        set_clock(cursor, event, ticks);
    else
        event->ticks = cursor->last_ticks;
    return true;
}

static void read_other(EtlCursor *cursor, EtlEvent *event, const uint8_t *p, bool timed) {
    set_nothing(event);
    event->kind = ETL_OTHER;
    event->payload = event->whole;
    if (timed && event->whole.n >= 16)
        set_clock(cursor, event, (int64_t)le64(p + 8));
    else
        event->ticks = cursor->last_ticks;
}

// The rest of the buffer holds no event: padding, zeros, a cut, or damage.
static bool stop(EtlCursor *cursor) {
    Str rest = slice(cursor->bytes + cursor->at, cursor->size - cursor->at);
    uint64_t offset = cursor->buffer->offset + (cursor->buffer->compressed ? 0 : cursor->at);
    bool padding = rest.n >= 4 && le32((const uint8_t *)rest.p) == UINT32_MAX;
    cursor->at = cursor->size;
    if (padding || rest.n < 4) return false;
    bool zeros = rest.p[0] == 0 && memcmp(rest.p, rest.p + 1, rest.n - 1) == 0;
    if (zeros)
        etl_issue(cursor->issues, ETL_ISSUE_ZERO_TAIL, offset, rest.n);
    else if (!cursor->incomplete)
        etl_issue(cursor->issues, ETL_ISSUE_BAD_EVENT, offset, rest.n);
    return false;
}

static inline bool read_shape(EtlCursor *cursor, EtlEvent *event, const HeaderType *type,
                              const uint8_t *p) {
    switch ((Shape)type->shape) {
    case SHAPE_SYSTEM: read_system(cursor, event, p, type->bytes); return true;
    case SHAPE_PERFINFO: return read_perfinfo(cursor, event, p);
    case SHAPE_FULL: read_full(cursor, event, p); return true;
    case SHAPE_EVENT: read_manifest(cursor, event, p); return true;
    case SHAPE_MESSAGE: return read_message(cursor, event);
    case SHAPE_ULONG32_TIME: read_other(cursor, event, p, true); return true;
    case SHAPE_OTHER: read_other(cursor, event, p, false); return true;
    case SHAPE_NONE: break;
    }
    return false;
}

bool etl_next(EtlCursor *cursor, EtlEvent *event) {
    size_t at = cursor->at;
    if (at >= cursor->size) return false;
    const uint8_t *p = cursor->bytes + at;
    size_t left = cursor->size - at;
    if (left < 8) return stop(cursor);
    uint32_t mark = le32(p);
    const HeaderType *type = type_of(mark);
    size_t size = le16(p + type->size_at);
    if (size < type->bytes || size > left) return stop(cursor);
    event->header_type = (uint8_t)(mark >> 16);
    event->pointer_size = type->pointer_size;
    event->cpu = cursor->buffer->cpu;
    event->counters = 0;
    event->extras = (Str){0};
    event->whole = slice(p, size);
    event->payload = slice(p + type->bytes, size - type->bytes);
    event->offset = cursor->buffer->offset + (cursor->buffer->compressed ? 0 : at);
    event->index = cursor->index;
    if (!read_shape(cursor, event, type, p)) return stop(cursor);
    cursor->index++;
    cursor->at = (at + size + 7) & ~(size_t)7;
    return true;
}
