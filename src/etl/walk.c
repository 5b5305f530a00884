// The buffer walk: from header to header by their own sizes, and around damage
// (docs/formats/etl.md, "Buffers", "Damage").
//
// Only headers and the first bytes behind them are read. A size that does not lead to another
// header is not believed: in a plain file the session's one buffer size leads on, in a compressed
// one the next place where header fields and first event agree, found byte by byte. So one damaged
// header costs its own buffer at most.
#include "etl/bytes.h"
#include "etl/etl_internal.h"

enum {
    WINDOW_BYTES = 256 * 1024,
    READ_BYTES = 1024,            // for one header
    READ_BYTES_DENSE = 32 * 1024, // when buffers are small
    DENSE_BUFFER_BYTES = 8 * 1024,
    LOOK_BYTES = BUFFER_HEADER_BYTES + PEEK_RAW_BYTES,
    STRIDES_TRIED = 16,
    STRIDE_MISSES_MAX = 64,
    ZERO_TRIES_MAX = 4,
    BUFFERS_MAX = 4 * 1024 * 1024,
    FIRST_BUFFER_BYTES = 32 * 1024 * 1024, // searched when the file starts with damage
};

typedef struct Walk {
    EtlFile *etl;
    uint8_t *window;
    uint64_t window_at;
    size_t window_n;
    size_t read_bytes;
    uint64_t stride; // the one buffer size of a plain file; 0: sizes vary
    unsigned stride_misses;
    unsigned zero_tries;
    uint64_t barren_from;  // a search from here to the end of the file has found nothing
    bool format_confirmed; // the compression format has inflated a buffer
    Status status;         // sticky: the first read that failed
    Err *err;
} Walk;

typedef struct Candidate {
    BufferHeader header;
    EventPeek event;
    unsigned oddities;
    bool has_event; // a valid event header follows
    bool compressed;
} Candidate;

static void walk_start(Walk *w, EtlFile *etl, Err *err) {
    *w = (Walk){.etl = etl, .err = err, .read_bytes = READ_BYTES, .barren_from = UINT64_MAX};
    w->window = mem_alloc(WINDOW_BYTES);
}

static void walk_done(Walk *w) {
    mem_free(w->window);
}

// Reader at `offset` with at least `want` bytes, or all up to the end of the file.
static Rd view(Walk *w, uint64_t offset, size_t want) {
    uint64_t size = w->etl->size;
    if (offset >= size || w->status != OK) return (Rd){0};
    if (want > size - offset) want = (size_t)(size - offset);
    bool inside = offset >= w->window_at && offset - w->window_at + want <= w->window_n;
    if (!inside) {
        size_t n = want > w->read_bytes ? want : w->read_bytes;
        w->window_at = offset;
        w->status = file_read_at(w->etl->file, offset, w->window, n, &w->window_n, w->err);
    }
    size_t skip = (size_t)(offset - w->window_at);
    if (w->status != OK || skip > w->window_n) return (Rd){0};
    Rd window = rd_from(w->window, w->window_n);
    rd_skip(&window, skip);
    return rd_from(window.p, rd_left(&window));
}

static bool peek_compressed(Walk *w, Rd raw, size_t left, EventPeek *out) {
    static const EtlCompression FORMATS[] = {ETL_XPRESS, ETL_LZNT1, ETL_XPRESS_HUFFMAN};
    uint8_t start[PEEK_EVENT_BYTES];
    size_t wanted = left < sizeof start ? left : sizeof start;
    Str in = rd_bytes(&raw, rd_left(&raw));
    bool ok;
    if (w->etl->compression != ETL_PLAIN) {
        size_t made = etl_inflate(w->etl->compression, in, start, wanted, &ok);
        if (event_peek(start, made, left, out)) return w->format_confirmed = true;
    }
    // An older merge tool announces another format than it writes.
    for (size_t i = 0; i < COUNT_OF(FORMATS) && !w->format_confirmed; i++) {
        size_t made = etl_inflate(FORMATS[i], in, start, wanted, &ok);
        if (!event_peek(start, made, left, out)) continue;
        w->etl->compression = FORMATS[i];
        return w->format_confirmed = true;
    }
    return false;
}

static bool peek_plain(Rd raw, size_t left, EventPeek *out) {
    size_t there = rd_left(&raw);
    const uint8_t *bytes = rd_take(&raw, there);
    return bytes && event_peek(bytes, there, left, out);
}

// Looks for the first event as the header's flag says, else the other way: the flag may be damaged.
static void peek_event(Walk *w, Rd raw, Candidate *c) {
    c->compressed = c->header.flags & BUFFER_FLAG_COMPRESSED;
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t left = buffer_valid_bytes(&c->header, c->compressed) - BUFFER_HEADER_BYTES;
        c->has_event = c->compressed ? peek_compressed(w, raw, left, &c->event)
                                     : peek_plain(raw, left, &c->event);
        if (c->has_event || left == 0) return;
        if (attempt == 0 && w->etl->compression == ETL_PLAIN && !c->compressed) return;
        c->compressed = !c->compressed;
    }
}

// False when the file has no room for a header at `offset`.
static bool look(Walk *w, uint64_t offset, Candidate *c) {
    Rd r = view(w, offset, LOOK_BYTES);
    *c = (Candidate){0};
    if (!buffer_header_read(&r, &c->header)) return false;
    c->oddities = buffer_header_oddities(&c->header);
    if (c->oddities <= 1) peek_event(w, r, c);
    return true;
}

static bool zero_bytes(Rd r, size_t n) {
    if (n > rd_left(&r)) n = rd_left(&r);
    const uint8_t *p = rd_take(&r, n);
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static bool size_sane(const BufferHeader *header) {
    return header->size_bytes >= BUFFER_HEADER_BYTES && header->size_bytes <= BUFFER_DISK_BYTES_MAX;
}

// Whether a buffer may end at `offset`: the file ends there, or a header or zeros follow.
static bool leads_on(Walk *w, uint64_t offset) {
    if (offset == w->etl->size) return true;
    Rd r = view(w, offset, LOOK_BYTES);
    BufferHeader header;
    if (zero_bytes(r, BUFFER_HEADER_BYTES)) return rd_left(&r) > 0;
    return buffer_header_read(&r, &header) && buffer_header_oddities(&header) <= 1;
}

// Whether the bytes at `offset` are a buffer beyond doubt.
static bool confirmed(Walk *w, uint64_t offset) {
    Candidate c;
    if (!look(w, offset, &c) || c.oddities > 0 || !c.has_event) return false;
    return w->stride == 0 || c.header.size_bytes == w->stride;
}

// How far the next place is that may start with a size other than 0; 32 bytes are there.
static size_t zeros_ahead(const uint8_t *p) {
    return (le64(p) | le64(p + 8) | le64(p + 16) | le64(p + 24)) == 0 ? 29 : 1;
}

// The next confirmed buffer from `from` on that starts below `limit`; UINT64_MAX when none.
static uint64_t find_header(Walk *w, uint64_t from, uint64_t limit) {
    uint64_t size = w->etl->size;
    if (from >= w->barren_from) return UINT64_MAX;
    for (uint64_t at = from; at < limit && at + BUFFER_HEADER_BYTES < size && w->status == OK;) {
        uint64_t reach = limit - at + LOOK_BYTES;
        Rd block = view(w, at, reach < WINDOW_BYTES ? (size_t)reach : WINDOW_BYTES);
        size_t n = rd_left(&block);
        size_t keep = at + n >= size ? BUFFER_HEADER_BYTES : LOOK_BYTES;
        if (n < keep) break;
        const uint8_t *p = block.p;
        size_t step = 1;
        for (size_t i = 0; i <= n - keep; i += step, p += step) {
            // Cheap tests of what header fields exclude, before the real one.
            step = le32(p) == 0 ? zeros_ahead(p) : 1;
            if (le32(p) - BUFFER_HEADER_BYTES > BUFFER_DISK_BYTES_MAX) continue;
            if (le32(p + 0x0C) != 0 || le32(p + 0x34) & 0xFFF8FF80u) continue;
            if (at + i < limit && confirmed(w, at + i)) return at + i;
        }
        at += n - keep + 1;
    }
    if (limit == size) w->barren_from = from;
    return UINT64_MAX;
}

static uint64_t zero_tail(Walk *w, uint64_t at) {
    etl_issue(&w->etl->issues, ETL_ISSUE_ZERO_TAIL, at, w->etl->size - at);
    return w->etl->size;
}

// With the session's stride only the places of headers and first events are read.
static bool zeros_to_end(Walk *w, uint64_t at, uint64_t step) {
    size_t n = step == WINDOW_BYTES ? WINDOW_BYTES : LOOK_BYTES;
    for (; at < w->etl->size && w->status == OK; at += step)
        if (!zero_bytes(view(w, at, n), n)) return false;
    return true;
}

// No header at `at`: the offset of the next buffer, or the end of the file.
static uint64_t skip_damage(Walk *w, uint64_t at) {
    uint64_t size = w->etl->size;
    bool zeros = zero_bytes(view(w, at, LOOK_BYTES), BUFFER_HEADER_BYTES);
    if (zeros && w->stride > 0 && w->zero_tries++ < ZERO_TRIES_MAX &&
        zeros_to_end(w, at, w->stride))
        return zero_tail(w, at);
    uint64_t next = UINT64_MAX;
    if (w->stride > 0 && w->stride_misses < STRIDE_MISSES_MAX) {
        for (unsigned k = 1; k <= STRIDES_TRIED && next == UINT64_MAX; k++)
            if (confirmed(w, at + k * w->stride)) next = at + k * w->stride;
        if (next == UINT64_MAX) w->stride_misses++;
    }
    if (next == UINT64_MAX) next = find_header(w, at + 1, size);
    if (next == UINT64_MAX && zeros && zeros_to_end(w, at, WINDOW_BYTES)) return zero_tail(w, at);
    if (next == UINT64_MAX) next = size;
    etl_issue(&w->etl->issues, ETL_ISSUE_BAD_BUFFER_HEADER, at, next - at);
    return next;
}

// Where the buffer at `at` ends: as its header says if that can be, else where the next one starts.
static uint64_t buffer_end(Walk *w, uint64_t at, const BufferHeader *header) {
    EtlIssues *issues = &w->etl->issues;
    uint64_t size = w->etl->size;
    uint64_t end = at + header->size_bytes;
    bool sane = size_sane(header);
    if (sane && end <= size && leads_on(w, end)) return end;
    if (sane && w->stride == header->size_bytes) {
        // Either the next header is damaged, or a hole in the file has moved it up here.
        uint64_t moved = find_header(w, at + BUFFER_HEADER_BYTES, end);
        if (moved == UINT64_MAX) return end;
        etl_issue(issues, ETL_ISSUE_BAD_BUFFER_HEADER, moved, 0);
        return moved;
    }
    if (w->stride > 0) {
        etl_issue(issues, ETL_ISSUE_BAD_BUFFER_HEADER, at, 0);
        return at + w->stride;
    }
    uint64_t next = find_header(w, at + BUFFER_HEADER_BYTES, size);
    if (next == UINT64_MAX && sane) return end; // cut, or damage up to the end of the file
    if (next == UINT64_MAX) next = size;
    // Surplus bytes do no harm to a compressed stream, so a buffer may reach over a damaged one.
    bool behind = sane && next > end;
    etl_issue(issues, ETL_ISSUE_BAD_BUFFER_HEADER, behind ? end : at, behind ? next - end : 0);
    return next;
}

static void note_flags(EtlFile *etl, const BufferHeader *header, uint64_t at) {
    EtlIssues *issues = &etl->issues;
    unsigned flags = header->flags;
    if (flags & BUFFER_FLAG_EVENTS_LOST) etl_issue(issues, ETL_ISSUE_EVENTS_LOST_FLAG, at, 0);
    if (flags & BUFFER_FLAG_BUFFERS_LOST) etl_issue(issues, ETL_ISSUE_BUFFERS_LOST_FLAG, at, 0);
    if (flags & BUFFER_FLAG_RT_CORRUPT) etl_issue(issues, ETL_ISSUE_RT_CORRUPT_FLAG, at, 0);
    if (header->type > BUFFER_TYPE_MAX) etl_issue(issues, ETL_ISSUE_UNKNOWN_BUFFER_TYPE, at, 0);
}

static EtlBuffer make_buffer(const Walk *w, uint64_t at, uint64_t end, const Candidate *c) {
    uint64_t there = (end < w->etl->size ? end : w->etl->size) - at;
    const BufferHeader *h = &c->header;
    if (there > BUFFER_DISK_BYTES_MAX) there = BUFFER_DISK_BYTES_MAX;
    return (EtlBuffer){
        .offset = at,
        .size_bytes = (uint32_t)there,
        .valid_bytes = buffer_valid_bytes(h, c->compressed),
        .sequence = h->sequence,
        .cpu = h->cpu,
        .logger_id = h->logger_id,
        .flags = h->flags,
        .type = h->type,
        .compressed = c->compressed,
        .cut = end > w->etl->size,
        .first_ticks = c->has_event && c->event.has_ticks ? c->event.ticks : INT64_MAX,
    };
}

static void add_buffer(Walk *w, uint64_t at, uint64_t end, const Candidate *c) {
    EtlFile *etl = w->etl;
    EtlBuffer buffer = make_buffer(w, at, end, c);
    note_flags(etl, &c->header, at);
    uint64_t whole = buffer.compressed ? end - at : buffer.valid_bytes;
    if (buffer.cut)
        etl_issue(&etl->issues, ETL_ISSUE_TRUNCATED_FILE, at,
                  whole > buffer.size_bytes ? whole - buffer.size_bytes : 0);
    bool events = buffer.type <= 2 || buffer.type == 4 || buffer.type == 5 || c->has_event;
    if (!events) return;
    if (c->has_event && !c->event.has_ticks) *vec_push(&etl->late) = (uint32_t)etl->buffers.count;
    *vec_push(&etl->buffers) = buffer;
}

static uint64_t walk_step(Walk *w, uint64_t at) {
    Candidate c;
    uint64_t size = w->etl->size;
    if (size - at < BUFFER_HEADER_BYTES) {
        if (zeros_to_end(w, at, WINDOW_BYTES)) return zero_tail(w, at);
        etl_issue(&w->etl->issues, ETL_ISSUE_TRUNCATED_FILE, at, size - at);
        return size;
    }
    if (w->etl->buffers.count >= BUFFERS_MAX) {
        etl_issue(&w->etl->issues, ETL_ISSUE_BAD_BUFFER_HEADER, at, size - at);
        return size;
    }
    if (!look(w, at, &c)) return size; // the file shrank or cannot be read
    if (c.oddities > 1) return skip_damage(w, at);
    uint64_t end = buffer_end(w, at, &c.header);
    if (end - at != c.header.size_bytes) { // look again: the damaged size may have hidden the event
        Rd r = view(w, at, LOOK_BYTES);
        rd_skip(&r, BUFFER_HEADER_BYTES);
        c.header.size_bytes = end - at < BUFFER_DISK_BYTES_MAX ? (uint32_t)(end - at)
                                                               : (uint32_t)BUFFER_DISK_BYTES_MAX;
        peek_event(w, r, &c);
    }
    add_buffer(w, at, end, &c);
    w->read_bytes = end - at < DENSE_BUFFER_BYTES ? READ_BYTES_DENSE : READ_BYTES;
    return end;
}

// A plain file has one buffer size, told twice: by each buffer header and by the header event.
static uint64_t find_stride(Walk *w, uint64_t start, const BufferHeader *header) {
    const EtlHeader *log = &w->etl->header;
    bool known = w->etl->header_good;
    if (known && log->log_file_mode & MODE_COMPRESSED) return 0;
    uint64_t size = header->size_bytes;
    bool sane = size_sane(header);
    if (known && size == log->buffer_size_bytes && sane) return size;
    Candidate next;
    if (sane && leads_on(w, start + size)) {
        bool packed = look(w, start + size, &next) && next.oddities <= 1 && next.compressed;
        return packed ? 0 : size;
    }
    uint64_t told = log->buffer_size_bytes;
    bool told_leads = known && told >= BUFFER_HEADER_BYTES && told <= BUFFER_DISK_BYTES_MAX &&
                      leads_on(w, start + told);
    return told_leads ? told : 0;
}

static void choose_compression(EtlFile *etl, const BufferHeader *first) {
    if (!etl->header_good || !(etl->header.log_file_mode & MODE_COMPRESSED)) return;
    unsigned format = first->state & 0xFFFF;
    bool known = format == ETL_LZNT1 || format == ETL_XPRESS_HUFFMAN;
    etl->compression = known ? (EtlCompression)format : ETL_XPRESS;
}

Status etl_walk(EtlFile *etl, uint64_t start, Err *err) {
    Walk w;
    Candidate first;
    walk_start(&w, etl, err);
    if (start > 0) etl_issue(&etl->issues, ETL_ISSUE_BAD_BUFFER_HEADER, 0, start);
    if (look(&w, start, &first)) {
        choose_compression(etl, &first.header);
        w.stride = find_stride(&w, start, &first.header);
    }
    for (uint64_t at = start; at < etl->size && w.status == OK;) at = walk_step(&w, at);
    walk_done(&w);
    return w.status;
}

static bool is_first(Walk *w, uint64_t offset, EtlBuffer *out, bool certain) {
    Candidate c;
    if (!look(w, offset, &c) || c.oddities > (certain ? 0u : 1u)) return false;
    uint64_t end = offset + c.header.size_bytes;
    bool leads = size_sane(&c.header) && leads_on(w, end);
    *out = make_buffer(w, offset, size_sane(&c.header) ? end : w->etl->size, &c);
    if (certain) return leads && c.has_event && end < w->etl->size;
    return c.has_event || (leads && c.header.type == BUFFER_TYPE_HEADER);
}

Status etl_first_buffer(EtlFile *etl, EtlBuffer *first, bool *found, Err *err) {
    Walk w;
    walk_start(&w, etl, err);
    *found = is_first(&w, 0, first, false);
    for (uint64_t at = 1; !*found && w.status == OK; at++) {
        at = find_header(&w, at, FIRST_BUFFER_BYTES);
        if (at == UINT64_MAX) break;
        *found = is_first(&w, at, first, true);
    }
    walk_done(&w);
    return w.status;
}
