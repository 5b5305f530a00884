// Packet tools whose arguments SQL cannot refuse: they are checked here, the rest is their SQL.
#include "tools/handlers.h"

static Status ask(ToolCall *call, const char *sql, const Arg *args, size_t count, bool *yes,
                  Err *err) {
    ResultSet result = {0};
    TRY(session_query(call->trace->session, str_from_c(sql), args, count, 1, call->arena, &result,
                      err));
    *yes = result.row_count == 1 && result.cells[0].type == CELL_BOOL && result.cells[0].boolean;
    return OK;
}

Status packet_check_tuple(ToolCall *call, Err *err) {
    static const char SQL[] = "SELECT tuple_parts($flow).a <> ''";
    Str flow = values_text(call->values, "five_tuple");
    if (!flow.n) return OK;
    Arg arg = {.name = "flow", .type = ARG_TEXT, .text = flow};
    bool readable = false;
    TRY(ask(call, SQL, &arg, 1, &readable, err));
    if (readable) return OK;
    return err_set(err, ERR_ARG,
                   "five_tuple \"" STR_FMT "\" cannot be read. Accepted: \"a:p -> b:q\", "
                   "\"a:p -> b:q/tcp\", \"a:p <-> b:q\", \"a:p-b:q\", \"a:p b:q\"; IPv6 as "
                   "[addr]:port; a port may be *. get_packet_capture_summary lists the flows",
                   STR_ARG(flow));
}

Status handle_get_packet_timeline(ToolCall *call, Err *err) {
    TRY(packet_check_tuple(call, err));
    return run_tool(call->tool, call->values, call->trace, call->doc, err);
}

// PktMon knows no processes: a filter by process would answer something else than was asked.
Status packet_check_process(ToolCall *call, Err *err) {
    static const char SQL[] =
        "SELECT count(*) > 0 AND count(*) FILTER (source <> 'pktmon') = 0 FROM capture_kind";
    bool pktmon_only = false;
    if (values_text(call->values, "process_filter").n)
        TRY(ask(call, SQL, NULL, 0, &pktmon_only, err));
    if (pktmon_only)
        return err_set(err, ERR_ARG,
                       "process_filter does not work here: PktMon records no processes. Leave it "
                       "out, or use get_connection_summary(trace_id=\"" STR_FMT
                       "\", process_filter=...)",
                       STR_ARG(call->trace->trace_id));
    return OK;
}

Status handle_get_packet_capture_summary(ToolCall *call, Err *err) {
    TRY(packet_check_process(call, err));
    return run_tool(call->tool, call->values, call->trace, call->doc, err);
}

Status handle_get_pktmon_layer_latency(ToolCall *call, Err *err) {
    TRY(packet_check_tuple(call, err));
    return run_tool(call->tool, call->values, call->trace, call->doc, err);
}

Status handle_explain_connection(ToolCall *call, Err *err) {
    TRY(packet_check_tuple(call, err));
    if (!values_text(call->values, "five_tuple").n && !values_get(call->values, "pid")->present)
        return err_set(err, ERR_ARG,
                       "explain_connection wants five_tuple or pid. "
                       "get_connection_summary(trace_id=\"" STR_FMT "\") lists the connections",
                       STR_ARG(call->trace->trace_id));
    return run_tool(call->tool, call->values, call->trace, call->doc, err);
}
