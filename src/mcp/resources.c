// Resources: a glossary, and per trace what the tools trace_info, describe_tables and query_trace
// answer. Traces are templates and never list entries, because loading one must not change a list.
#include "mcp/methods.h"

#define GLOSSARY_URI "etw://glossary"
#define SUMMARY_TEMPLATE "trace://{trace_id}/summary"
#define TABLE_TEMPLATE "trace://{trace_id}/table/{name}"

void resources_list(Call *call) {
    if (!call_first_page(call)) return;
    buf_addf(&call->members,
             "\"resources\":[{\"uri\":\"" GLOSSARY_URI "\",\"name\":\"glossary\",\"title\":"
             "\"Glossary\",\"description\":\"Words and units that the answers use.\","
             "\"mimeType\":\"text/markdown\",\"size\":%zu}]",
             str_from_c(MCP_GLOSSARY).n);
}

void resource_templates_list(Call *call) {
    if (!call_first_page(call)) return;
    buf_add_c(&call->members,
              "\"resourceTemplates\":["
              "{\"uriTemplate\":\"" SUMMARY_TEMPLATE "\",\"name\":\"trace-summary\",\"title\":"
              "\"Trace summary\",\"description\":\"What a trace holds: the answer of trace_info.\","
              "\"mimeType\":\"text/markdown\"},"
              "{\"uriTemplate\":\"" TABLE_TEMPLATE "\",\"name\":\"trace-table\",\"title\":"
              "\"Table of a trace\",\"description\":\"Columns and first rows of one table of a "
              "trace.\",\"mimeType\":\"text/markdown\"}]");
}

bool resource_argument_kind(Str uri_template, Str argument, Str *kind) {
    bool table = str_eq(uri_template, STR(TABLE_TEMPLATE));
    *kind = (Str){0};
    if (str_eq(argument, STR("trace_id"))) *kind = STR("trace_id");
    if (table && str_eq(argument, STR("name"))) *kind = STR("table");
    return table || str_eq(uri_template, STR(SUMMARY_TEMPLATE));
}

static void not_found(Call *call, Str uri, Str why) {
    json_t *data = json_object();
    (void)json_object_set_new(data, "uri", json_text(uri));
    Str shown = rpc_quote(call->arena, why, 400);
    call_fail(call, call->modern ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND, data,
              "Resource not found%s" STR_FMT, shown.n ? ": " : "", STR_ARG(shown));
}

static void add_contents(Call *call, Str uri, Str text) {
    Buf *out = &call->members;
    buf_add_c(out, "\"contents\":[{\"uri\":");
    json_add_text(out, uri);
    buf_add_c(out, ",\"mimeType\":\"text/markdown\",\"text\":");
    json_add_text(out, text);
    buf_add_c(out, "}]");
}

// Calls a tool; false when there is no such tool or it answers with an error, which is in *text.
static bool ask(Call *call, const char *tool_name, json_t *arguments, Str *text) {
    const ToolInfo *tool = engine_tool_named(call->engine, str_from_c(tool_name));
    ToolReply reply = {.is_error = true};
    if (tool)
        engine_call(call->engine, tool, arguments, REPLY_MARKDOWN, &call->context, call->arena,
                    &reply);
    json_decref(reply.structured);
    json_decref(arguments);
    *text = reply.text;
    return !reply.is_error && reply.status == OK;
}

static json_t *trace_argument(Str trace_id) {
    json_t *arguments = json_object();
    (void)json_object_set_new(arguments, "trace_id", json_text(trace_id));
    return arguments;
}

static bool is_identifier(Str name) {
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.n > 0 && name.n <= 64;
}

static void read_table(Call *call, Str uri, Str trace_id, Str name) {
    Str columns = STR("no such table"), rows = {0};
    // The name becomes part of a query, so it must not be able to be anything but a name.
    bool found = is_identifier(name);
    if (found) {
        json_t *describe = trace_argument(trace_id);
        (void)json_object_set_new(describe, "table", json_text(name));
        found = ask(call, "describe_tables", describe, &columns);
    }
    if (!found) {
        not_found(call, uri, columns);
        return;
    }
    json_t *query = trace_argument(trace_id);
    Str sql = str_format(call->arena, "SELECT * FROM \"" STR_FMT "\" LIMIT 50", STR_ARG(name));
    (void)json_object_set_new(query, "sql", json_text(sql));
    if (!ask(call, "query_trace", query, &rows)) {
        not_found(call, uri, rows);
        return;
    }
    Buf both = {0};
    buf_add(&both, columns);
    buf_add_c(&both, "\n\n");
    buf_add(&both, rows);
    add_contents(call, uri, buf_str(&both));
    buf_done(&both);
}

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Percent-decoded; a malformed escape stays as it is.
static Str decoded(Arena *arena, Str s) {
    char *p = arena_bytes(arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool escape = s.p[i] == '%' && i + 2 < s.n && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0;
        p[n++] = escape ? (char)(hex(s.p[i + 1]) * 16 + hex(s.p[i + 2])) : s.p[i];
        if (escape) i += 2;
    }
    p[n] = 0;
    return (Str){p, n};
}

void resources_read(Call *call) {
    Str uri, trace_id, rest, text;
    if (!call_string(call, "uri", &uri)) return;
    if (str_eq(uri, STR(GLOSSARY_URI))) {
        add_contents(call, uri, str_from_c(MCP_GLOSSARY));
        return;
    }
    static const Str SCHEME = {"trace://", 8}, TABLE = {"table/", 6};
    rest = str_slice(uri, SCHEME.n, uri.n);
    size_t slash = str_find(rest, STR("/"));
    if (!str_starts(uri, SCHEME) || slash == SIZE_MAX || slash == 0) {
        not_found(call, uri, (Str){0});
        return;
    }
    trace_id = decoded(call->arena, str_slice(rest, 0, slash));
    rest = str_slice(rest, slash + 1, rest.n);
    if (str_starts(rest, TABLE)) {
        read_table(call, uri, trace_id, decoded(call->arena, str_slice(rest, TABLE.n, rest.n)));
    } else if (!str_eq(rest, STR("summary"))) {
        not_found(call, uri, (Str){0});
    } else if (ask(call, "trace_info", trace_argument(trace_id), &text)) {
        add_contents(call, uri, text);
    } else {
        not_found(call, uri, text);
    }
}
