// export_pcapng: the captured frames of a trace as a pcapng file. Frames are read, sorted and
// written in stretches of time of about the same size, so memory does not grow with the capture.
#include "tools/handle_export.h"
#include "tools/pcapng.h"

#include <stdlib.h>

enum {
    COL_TS,
    COL_CPU,
    COL_ROW, // orders frames of one time on one processor
    COL_DIRECTION,
    COL_MEDIA,
    COL_ORIGINAL,
    COL_PLACE,
    COL_COMMENT,
    COL_PACKET_ID,
    COL_DROP_REASON,
    COL_DROP_LOCATION,
    COL_BYTES,
    COLUMNS
};
enum { INTERFACES_MAX = 4096 };

// The ends of stretches of some 64 MB: row groups overlap in time, so shorter ones would read most
// of them several times. One row's time may be the end of several.
static const char STRETCHES_SQL[] =
    "WITH size AS (SELECT greatest(1, sum(captured + 64) // 67108864)::BIGINT AS parts "
    "FROM captured_frame WHERE ts_ns >= $from_ns AND ts_ns < $to_ns), "
    "part AS (SELECT ts_ns, ntile((SELECT parts FROM size)) OVER (ORDER BY ts_ns) AS n "
    "FROM captured_frame WHERE ts_ns >= $from_ns AND ts_ns < $to_ns) "
    "SELECT DISTINCT max(ts_ns) + 1 AS until_ns FROM part GROUP BY n ORDER BY until_ns";

// PktMon describes further appearances of a packet; without all_appearances the first one counts.
#define FRAMES_SQL                                                                                 \
    "SELECT p.ts_ns, p.cpu::BIGINT, p.packet_id::BIGINT, CASE p.direction WHEN 'receive' THEN 1 "  \
    "WHEN 'send' THEN 2 ELSE 0 END, "                                                              \
    "p.media::BIGINT, p.wire_length, p.adapter, "                                                  \
    "concat_ws('; ', CASE WHEN p.group_id IS NOT NULL THEN 'packet ' || p.group_id || '/' "        \
    "|| p.number || ', appearance ' || p.appearance END, "                                         \
    "CASE WHEN p.source = 'pktmon' THEN 'edge ' || p.layer "                                       \
    "WHEN p.layer <> p.interface THEN 'layer ' || p.layer END, "                                   \
    "CASE WHEN p.is_repeat THEN 'seen before' END, 'dropped: ' || p.dropped, "                     \
    "'process ' || o.owner || ' (' || o.basis || ')'), "                                           \
    "CASE WHEN p.group_id IS NOT NULL THEN p.group_id * 65536 + p.number END::BIGINT, "            \
    "CASE WHEN p.dropped IS NOT NULL THEN p.drop_reason::BIGINT END, p.drop_location::BIGINT, "    \
    "p.bytes "                                                                                     \
    "FROM packet AS p LEFT JOIN packet_flow_owner AS o ON o.tuple = p.tuple "                      \
    "WHERE p.ts_ns >= $after_ns AND p.ts_ns < $until_ns "                                          \
    "AND (NOT p.is_repeat OR $all_appearances) "                                                   \
    "%s"
static const char FILTER_SQL[] =
    "AND p.tuple IN (SELECT tuple FROM packet_flow_owner "
    "WHERE tuple_hits(src, sport, dst, dport, protocol, $flow) AND owner_hits(owner, $process)) ";

typedef struct Link {
    Str place;
    unsigned type;
    unsigned number;
} Link;

// A frame that waits for its stretch to be sorted; its texts are in the arena of the stretch.
typedef struct Held {
    int64_t ts_ns, cpu, row;
    PcapngFrame frame;
} Held;

typedef struct Export {
    ToolCall *call;
    Pcapng pcapng;
    Arena stretch;
    VEC(Held) held;
    VEC(Link) links;
    int64_t start_unix_ns;
    uint64_t written, skipped, headers;
} Export;

static unsigned link_type(int64_t media) {
    enum { WIFI = 2, IP = 3 };
    if (media == WIFI) return PCAPNG_WIFI;
    if (media == IP) return PCAPNG_RAW_IP;
    return media <= 1 ? PCAPNG_ETHERNET : 0; // what starts above IP has no link type
}

static Status link_number(Export *export, Str place, unsigned type, unsigned *out, Err *err) {
    for (size_t i = 0; i < export->links.count; i++) {
        const Link *link = &export->links.items[i];
        if (link->type != type || !str_eq(link->place, place)) continue;
        *out = link->number;
        return OK;
    }
    if (export->links.count == INTERFACES_MAX)
        return err_set(err, ERR_LIMIT, "the capture names more than %d interfaces", INTERFACES_MAX);
    TRY(pcapng_interface(&export->pcapng, place, type, out, err));
    *vec_push(&export->links) = (Link){str_copy(export->call->arena, place), type, *out};
    return OK;
}

// The payload of a captured 802.11 frame is decrypted, its header still says Protected.
static Str frame_bytes(Export *export, Str bytes, unsigned type) {
    enum { PROTECTED = 0x40 };
    char *copy = arena_bytes(&export->stretch, bytes.n);
    if (bytes.n) memcpy(copy, bytes.p, bytes.n);
    if (type == PCAPNG_WIFI && bytes.n >= 2) copy[1] = (char)(copy[1] & ~PROTECTED);
    return (Str){copy, bytes.n};
}

static Status hold_frame(Export *export, const Cell *cells, Err *err) {
    unsigned type = link_type(cells[COL_MEDIA].i64);
    if (cells[COL_BYTES].type != CELL_TEXT) {
        export->headers++;
        return OK;
    }
    if (!type) {
        export->skipped++;
        return OK;
    }
    bool dropped = cells[COL_DROP_REASON].type == CELL_I64;
    Held held = {.ts_ns = cells[COL_TS].i64, .cpu = cells[COL_CPU].i64, .row = cells[COL_ROW].i64};
    held.frame = (PcapngFrame){.unix_ns = (uint64_t)(export->start_unix_ns + held.ts_ns),
                               .original = (uint32_t)cells[COL_ORIGINAL].i64,
                               .bytes = frame_bytes(export, cells[COL_BYTES].text, type),
                               .direction = (int)cells[COL_DIRECTION].i64,
                               .has_id = cells[COL_PACKET_ID].type == CELL_I64,
                               .id = (uint64_t)cells[COL_PACKET_ID].i64,
                               .dropped = dropped,
                               .drop_reason = (uint32_t)cells[COL_DROP_REASON].i64,
                               .drop_location = (uint32_t)cells[COL_DROP_LOCATION].i64};
    if (cells[COL_COMMENT].type == CELL_TEXT)
        held.frame.comment = str_copy(&export->stretch, cells[COL_COMMENT].text);
    Str place = cells[COL_PLACE].type == CELL_TEXT ? cells[COL_PLACE].text : (Str){0};
    TRY(link_number(export, place, type, &held.frame.interface, err));
    *vec_push(&export->held) = held;
    return OK;
}

static Status hold_rows(void *context, const ResultSet *rows, Err *err) {
    Export *export = context;
    for (size_t i = 0; i < rows->row_count; i++)
        TRY(hold_frame(export, &rows->cells[i * COLUMNS], err));
    return OK;
}

static int order_of(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int held_order(const void *left, const void *right) {
    const Held *a = left, *b = right;
    int order = order_of(a->ts_ns, b->ts_ns);
    if (!order) order = order_of(a->cpu, b->cpu);
    return order ? order : order_of(a->row, b->row);
}

// Sorted here: the engine would carry every byte through its own sort.
static Status write_held(Export *export, Err *err) {
    vec_sort(&export->held, held_order);
    for (size_t i = 0; i < export->held.count; i++)
        TRY(pcapng_frame(&export->pcapng, &export->held.items[i].frame, err));
    export->written += export->held.count;
    export->held.count = 0;
    arena_clear(&export->stretch);
    return OK;
}

static Status write_stretch(Export *export, int64_t after_ns, int64_t until_ns, Err *err) {
    ToolCall *call = export->call;
    Str flow = values_text(call->values, "five_tuple");
    const Value *process = values_get(call->values, "process_filter");
    bool all = values_get(call->values, "all_appearances")->boolean;
    // clang-format off
    Arg args[] = {
        {.name = "after_ns", .type = ARG_I64, .i64 = after_ns},
        {.name = "until_ns", .type = ARG_I64, .i64 = until_ns},
        {.name = "all_appearances", .type = ARG_BOOL, .boolean = all},
        {.name = "flow", .type = flow.n ? ARG_TEXT : ARG_NULL, .text = flow},
        {.name = "process", .type = process->count ? ARG_TEXT_LIST : ARG_NULL,
         .text_list = process->list, .list_count = process->count},
    };
    // clang-format on
    RowsVisitor visitor = {hold_rows, export};
    Str sql = str_format(call->arena, FRAMES_SQL, flow.n || process->count ? FILTER_SQL : "");
    TRY(session_each(call->trace->session, sql, args, COUNT_OF(args), &visitor, err));
    return write_held(export, err);
}

static Status write_frames(Export *export, const Window *window, Err *err) {
    Session *session = export->call->trace->session;
    Arg args[] = {
        {.name = "from_ns", .type = ARG_I64, .i64 = window->start_ns},
        {.name = "to_ns",   .type = ARG_I64, .i64 = window->end_ns  }
    };
    ResultSet ends = {0};
    TRY(session_query(session, str_from_c(STRETCHES_SQL), args, COUNT_OF(args), 0,
                      export->call->arena, &ends, err));
    int64_t after_ns = window->start_ns;
    for (size_t i = 0; i < ends.row_count; i++) {
        TRY(write_stretch(export, after_ns, ends.cells[i].i64, err));
        after_ns = ends.cells[i].i64;
    }
    return OK;
}

static Status read_start(Export *export, Err *err) {
    static const char SQL[] =
        "SELECT (start_filetime::HUGEINT * 100 - 11644473600000000000)::BIGINT FROM trace";
    ResultSet result = {0};
    TRY(session_query(export->call->trace->session, str_from_c(SQL), NULL, 0, 1,
                      export->call->arena, &result, err));
    if (result.row_count && result.cells[0].type == CELL_I64)
        export->start_unix_ns = result.cells[0].i64;
    return OK;
}

static Status write_all(Export *export, const ExportTarget *target, const Window *window,
                        Err *err) {
    ToolCall *call = export->call;
    Str application = str_format(call->arena, "etw-mcp %s", engine_version());
    Str comment = str_format(call->arena, "Frames of " STR_FMT, STR_ARG(call->trace->file_name));
    TRY(read_start(export, err));
    TRY(pcapng_open(&export->pcapng, target->temp, application, comment, err));
    TRY(write_frames(export, window, err));
    return pcapng_finish(&export->pcapng, err);
}

static void report(const Export *export, const ExportTarget *target, uint64_t bytes) {
    Doc *doc = export->call->doc;
    Arena *arena = doc->arena;
    doc->headline = STR("**Packet capture written**");
    doc_scope(doc, STR("Trace"), export->call->trace->file_name);
    doc_scope(doc, STR("Packets"), format_integer((int64_t) export->written, arena));
    doc_scope(doc, STR("Interfaces"), format_integer((int64_t) export->links.count, arena));
    export_scope(doc, target, bytes);
    if (export->skipped)
        doc_note(doc, str_format(arena,
                                 "%llu frames start above IP and have no link type: they "
                                 "are left out.",
                                 (unsigned long long)export->skipped));
    if (export->headers)
        doc_note(doc, str_format(arena,
                                 "%llu packets were logged without their bytes: they are left "
                                 "out.",
                                 (unsigned long long)export->headers));
    if (!values_get(export->call->values, "all_appearances")->boolean)
        doc_note(doc, STR("Each packet is written once, at the first place it was seen; "
                          "all_appearances=true writes it at every place."));
}

Status handle_export_pcapng(ToolCall *call, Err *err) {
    ExportTarget target = {0};
    Window window = {0};
    uint64_t bytes = 0;
    Export export = {.call = call};
    TRY(packet_check_tuple(call, err));
    TRY(packet_check_process(call, err));
    TRY(run_window(call->values, call->trace->facts, call->doc, &window, err));
    TRY(export_target(call, "path", ".pcapng", &target, err));
    Status status = write_all(&export, &target, &window, err);
    pcapng_done(&export.pcapng);
    if (status == OK && !export.written)
        status = err_set(err, ERR_NOT_FOUND,
                         "no captured frame to write: the trace holds none, or the filters leave "
                         "none (get_packet_capture_summary lists the flows)");
    if (status == OK) status = export_finish(&target, &bytes, err);
    if (status == OK)
        report(&export, &target, bytes);
    else
        export_abandon(&target);
    vec_free(&export.links);
    vec_free(&export.held);
    arena_done(&export.stretch);
    return status;
}
