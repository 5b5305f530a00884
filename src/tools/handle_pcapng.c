// export_pcapng: the captured frames of a trace as a pcapng file. Frames are read page by page, so
// memory does not grow with the capture.
#include "tools/handle_export.h"
#include "tools/pcapng.h"

enum {
    COL_ID,
    COL_TS,
    COL_DIRECTION,
    COL_MEDIA,
    COL_ORIGINAL,
    COL_PLACE,
    COL_COMMENT,
    COL_BYTES,
    COLUMNS
};
enum { PAGE_ROWS = 4096, INTERFACES_MAX = 4096 };

// PktMon describes further appearances of a packet; without all_appearances the first one counts.
static const char PAGE_SQL[] =
    "SELECT packet_id, ts_ns, CASE direction WHEN 'receive' THEN 1 WHEN 'send' THEN 2 ELSE 0 END, "
    "media::BIGINT, wire_length, place, "
    "concat_ws('; ', CASE WHEN group_id IS NOT NULL THEN 'packet ' || group_id || '/' || number "
    "END, "
    "CASE WHEN is_repeat THEN 'seen before' END, 'dropped: ' || dropped, "
    "coalesce(a.owner, b.owner)), hex(bytes) "
    "FROM packet AS p "
    "LEFT JOIN tuple_owner AS a ON p.direction IS DISTINCT FROM 'receive' "
    "AND a.protocol = p.protocol AND a.local = socket_join(p.src, p.sport) "
    "AND a.remote = socket_join(p.dst, p.dport) "
    "LEFT JOIN tuple_owner AS b ON p.direction IS DISTINCT FROM 'send' "
    "AND b.protocol = p.protocol AND b.local = socket_join(p.dst, p.dport) "
    "AND b.remote = socket_join(p.src, p.sport) "
    "WHERE p.packet_id > $after AND p.ts_ns >= $from_ns AND p.ts_ns < $to_ns "
    "AND (NOT p.is_repeat OR $all_appearances) "
    "AND tuple_hits(p.src, p.sport, p.dst, p.dport, p.protocol, $flow) "
    "ORDER BY p.packet_id LIMIT 4096";

typedef struct Link {
    Str place;
    unsigned type;
    unsigned number;
} Link;

typedef struct Export {
    ToolCall *call;
    Pcapng pcapng;
    VEC(Link) links;
    int64_t start_unix_ns;
    int64_t after; // last packet written
    uint64_t written, skipped;
    bool end;
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

static unsigned digit(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
}

static Str bytes_from_hex(Str hex, Arena *arena) {
    size_t n = hex.n / 2;
    char *bytes = arena_bytes(arena, n);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(digit(hex.p[2 * i]) << 4 | digit(hex.p[2 * i + 1]));
    return (Str){bytes, n};
}

static Status write_frame(Export *export, const Cell *cells, Arena *arena, Err *err) {
    unsigned type = link_type(cells[COL_MEDIA].i64);
    export->after = cells[COL_ID].i64;
    if (!type || cells[COL_BYTES].type != CELL_TEXT) {
        export->skipped++;
        return OK;
    }
    PcapngFrame frame = {.unix_ns = (uint64_t)(export->start_unix_ns + cells[COL_TS].i64),
                         .original = (uint32_t)cells[COL_ORIGINAL].i64,
                         .bytes = bytes_from_hex(cells[COL_BYTES].text, arena),
                         .direction = (int)cells[COL_DIRECTION].i64,
                         .comment = cells[COL_COMMENT].type == CELL_TEXT ? cells[COL_COMMENT].text
                                                                         : (Str){0}};
    Str place = cells[COL_PLACE].type == CELL_TEXT ? cells[COL_PLACE].text : (Str){0};
    TRY(link_number(export, place, type, &frame.interface, err));
    TRY(pcapng_frame(&export->pcapng, &frame, err));
    export->written++;
    return OK;
}

static Status write_page(Export *export, const Window *window, Err *err) {
    ToolCall *call = export->call;
    Str flow = values_text(call->values, "five_tuple");
    bool all = values_get(call->values, "all_appearances")->boolean;
    // clang-format off
    Arg args[] = {
        {.name = "after", .type = ARG_I64, .i64 = export->after},
        {.name = "from_ns", .type = ARG_I64, .i64 = window->start_ns},
        {.name = "to_ns", .type = ARG_I64, .i64 = window->end_ns},
        {.name = "all_appearances", .type = ARG_BOOL, .boolean = all},
        {.name = "flow", .type = flow.n ? ARG_TEXT : ARG_NULL, .text = flow},
    };
    // clang-format on
    AUTO(arena_done) Arena page = {0};
    ResultSet rows = {0};
    TRY(session_query(call->trace->session, str_from_c(PAGE_SQL), args, COUNT_OF(args), 0, &page,
                      &rows, err));
    for (size_t i = 0; i < rows.row_count; i++)
        TRY(write_frame(export, &rows.cells[i * COLUMNS], &page, err));
    export->end = rows.row_count < PAGE_ROWS;
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
    while (!export->end) TRY(write_page(export, window, err));
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
    return status;
}
