// The table of methods, and those that are about the server itself and its tools. Which era knows
// which method, and what each result must carry, follows the specifications of the five versions.
#include "mcp/methods.h"

#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SERVER_NAME "etw-mcp"
#define SERVER_TITLE "ETW trace analysis"

// Newest first. Nothing but the handshake differs between them for what we send.
static const char *const LEGACY_VERSIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

// Neither listChanged nor subscribe: the lists are the same for the life of the process.
static const char CAPABILITIES[] =
    "\"capabilities\":{\"tools\":{},\"prompts\":{},\"resources\":{},\"completions\":{}}";

Str mcp_legacy_version(Str requested) {
    for (size_t i = 0; i < COUNT_OF(LEGACY_VERSIONS); i++)
        if (str_eq(requested, str_from_c(LEGACY_VERSIONS[i])))
            return str_from_c(LEGACY_VERSIONS[i]);
    return str_from_c(LEGACY_VERSIONS[0]);
}

const char *mcp_legacy_versions(void) {
    return "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05";
}

void call_fail(Call *call, RpcCode code, json_t *data, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    call->code = code;
    call->text = str_copy(call->arena, (Str){text, size});
    json_decref(call->data);
    call->data = data;
}

bool call_string(Call *call, const char *name, Str *out) {
    const json_t *value = json_object_get(call->params, name);
    *out = json_str(value);
    if (json_is_string(value)) return true;
    call_fail(call, RPC_INVALID_PARAMS, NULL, "params.%s must be a string", name);
    return false;
}

bool call_first_page(Call *call) {
    json_t *cursor = json_object_get(call->params, "cursor");
    if (!cursor) return true;
    json_t *data = json_pack("{s:O}", "cursor", cursor);
    call_fail(call, RPC_INVALID_PARAMS, data, "Unknown cursor: the list has one page");
    return false;
}

static void add_server_info(Buf *out, bool with_title) {
    buf_add_c(out, "{\"name\":\"" SERVER_NAME "\",");
    if (with_title) buf_add_c(out, "\"title\":\"" SERVER_TITLE "\",");
    buf_add_c(out, "\"version\":");
    json_add_text(out, str_from_c(engine_version()));
    buf_add_char(out, '}');
}

static void add_instructions(Buf *out) {
    buf_add_c(out, ",\"instructions\":");
    json_add_text(out, str_from_c(engine_instructions()));
}

static void initialize(Call *call) {
    buf_add_c(&call->members, "\"protocolVersion\":");
    json_add_text(&call->members, call->version);
    buf_addf(&call->members, ",%s,\"serverInfo\":", CAPABILITIES);
    add_server_info(&call->members, true);
    add_instructions(&call->members);
}

static void ping(Call *call) {
    (void)call; // the empty result
}

static void server_discover(Call *call) {
    buf_addf(&call->members, "\"supportedVersions\":[\"%s\"],%s", MCP_VERSION_MODERN, CAPABILITIES);
    add_instructions(&call->members);
}

static void add_flag(Buf *out, const char *name, bool value, bool first) {
    buf_addf(out, "%s\"%s\":%s", first ? "" : ",", name, value ? "true" : "false");
}

static void add_tool(Buf *out, const ToolInfo *tool) {
    buf_add_c(out, "{\"name\":");
    json_add_text(out, str_from_c(tool->name));
    buf_add_c(out, ",\"title\":");
    json_add_text(out, str_from_c(tool->title));
    buf_add_c(out, ",\"description\":");
    json_add_text(out, str_from_c(tool->description));
    buf_add_c(out, ",\"inputSchema\":");
    INVARIANT(json_add(out, tool->input_schema));
    if (tool->output_schema) {
        buf_add_c(out, ",\"outputSchema\":");
        INVARIANT(json_add(out, tool->output_schema));
    }
    buf_add_c(out, ",\"annotations\":{");
    add_flag(out, "readOnlyHint", tool->read_only, true);
    if (!tool->read_only) add_flag(out, "destructiveHint", tool->destructive, false);
    // Says something only of tools that change things.
    if (!tool->read_only) add_flag(out, "idempotentHint", tool->idempotent, false);
    add_flag(out, "openWorldHint", tool->open_world, false);
    buf_add_c(out, "}}");
}

static void tools_list(Call *call) {
    if (!call_first_page(call)) return;
    if (!call->tools->n) {
        buf_add_c(call->tools, "\"tools\":[");
        for (size_t i = 0; i < engine_tool_count(call->engine); i++) {
            if (i) buf_add_char(call->tools, ',');
            add_tool(call->tools, engine_tool(call->engine, i));
        }
        buf_add_char(call->tools, ']');
    }
    buf_add(&call->members, buf_str(call->tools));
}

static void unknown_tool(Call *call, Str name) {
    enum { NEAR = 6 };
    const char *nearest = NULL;
    size_t best = NEAR;
    for (size_t i = 0; i < engine_tool_count(call->engine); i++) {
        const char *candidate = engine_tool(call->engine, i)->name;
        size_t distance = str_distance(name, str_from_c(candidate), best);
        if (distance >= best) continue;
        best = distance;
        nearest = candidate;
    }
    Str shown = rpc_quote(call->arena, name, 100);
    call_fail(call, RPC_INVALID_PARAMS, NULL, "Unknown tool: " STR_FMT "%s%s%s", STR_ARG(shown),
              nearest ? ". Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

// Legal JSON, but text with a zero character would be cut wherever it meets a C string.
// Depth is bounded: deeper messages are refused by the parser.
// NOLINTNEXTLINE(misc-no-recursion)
static bool holds_nul(json_t *value) {
    if (json_is_string(value))
        return memchr(json_string_value(value), 0, json_string_length(value)) != NULL;
    size_t index = 0;
    json_t *item = NULL;
    json_array_foreach(value, index, item) {
        if (holds_nul(item)) return true;
    }
    const char *key = NULL;
    json_object_foreach(value, key, item) {
        if (holds_nul(item)) return true;
    }
    return false;
}

static void tool_text(Call *call, Str text, const json_t *structured, bool is_error) {
    Buf *out = &call->members;
    buf_add_c(out, "\"content\":[{\"type\":\"text\",\"text\":");
    if (structured && !is_error) {
        // Hosts show the model one of the two, so both say the same.
        Buf literal = {0};
        (void)json_add(&literal, structured);
        json_add_text(out, buf_str(&literal));
        buf_add_c(out, "}],\"structuredContent\":");
        buf_add(out, buf_str(&literal));
        buf_done(&literal);
    } else {
        json_add_text(out, text);
        buf_add_c(out, "}]");
    }
    if (is_error) buf_add_c(out, ",\"isError\":true");
}

static void tools_call(Call *call) {
    Str name;
    if (!call_string(call, "name", &name)) return;
    json_t *arguments = json_object_get(call->params, "arguments");
    if (json_is_null(arguments)) arguments = NULL;
    if (arguments && !json_is_object(arguments)) {
        call_fail(call, RPC_INVALID_PARAMS, NULL, "params.arguments must be an object");
        return;
    }
    const ToolInfo *tool = engine_tool_named(call->engine, name);
    if (!tool) {
        unknown_tool(call, name);
        return;
    }
    if (holds_nul(arguments)) {
        tool_text(call,
                  STR("An argument holds a zero character (\\u0000). No tool accepts one; "
                      "leave it out."),
                  NULL, true);
        return;
    }
    ToolReply reply = {0};
    engine_call(call->engine, tool, arguments, REPLY_MARKDOWN, &call->context, call->arena, &reply);
    // Clients refuse a success that lacks the structure its tool declares, and then show nothing.
    bool failed =
        reply.is_error || reply.status != OK || (tool->output_schema && !reply.structured);
    if (failed && !reply.text.n) reply.text = str_from_c("The call was stopped.");
    tool_text(call, reply.text, reply.structured, failed);
    json_decref(reply.structured);
}

static void subscriptions_listen(Call *call) {
    // Nothing ever changes, so nothing asked for is honoured; the stream stays open all the same.
    if (!json_is_object(json_object_get(call->params, "notifications")))
        call_fail(call, RPC_INVALID_PARAMS, NULL, "params.notifications must be an object");
}

static const Method METHODS[] = {
    {"initialize",           ERA_LEGACY,            .opens = true,                  .run = initialize         },
    {"ping",                 ERA_LEGACY,            .opens = true,                  .run = ping               },
    {"server/discover",      ERA_MODERN,            .cache = CACHE_PUBLIC,          .run = server_discover    },
    {"tools/list",           ERA_BOTH,              .cache = CACHE_PUBLIC,          .run = tools_list         },
    {"tools/call",           ERA_BOTH,              .works = true,                  .run = tools_call         },
    {"prompts/list",         ERA_BOTH,              .cache = CACHE_PUBLIC,          .run = prompts_list       },
    {"prompts/get",          ERA_BOTH,              .run = prompts_get            },
    {"resources/list",              ERA_BOTH, .cache = CACHE_PUBLIC,          .run = resources_list                          },
    {"resources/templates/list",              ERA_BOTH, .cache = CACHE_PUBLIC, .run = resource_templates_list},
    {"resources/read",              ERA_BOTH,         .works = true,         .cache = CACHE_PRIVATE,                           .run = resources_read},
    {"completion/complete",  ERA_BOTH,              .works = true,                  .run = completion_complete},
    {"subscriptions/listen", ERA_MODERN,            .subscribes = true,             .run = subscriptions_listen},
};

const Method *method_named(Str name) {
    for (size_t i = 0; i < COUNT_OF(METHODS); i++)
        if (str_eq(name, str_from_c(METHODS[i].name))) return &METHODS[i];
    return NULL;
}

static void compose_result(Call *call, const Method *method, Buf *line) {
    buf_add_c(line, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add(line, call->id);
    buf_add_c(line, ",\"result\":{");
    if (call->modern) buf_add_c(line, "\"resultType\":\"complete\"");
    if (call->modern && call->members.n) buf_add_char(line, ',');
    buf_add(line, buf_str(&call->members));
    if (call->modern && method->cache == CACHE_PUBLIC)
        buf_add_c(line, ",\"ttlMs\":3600000,\"cacheScope\":\"public\"");
    if (call->modern && method->cache == CACHE_PRIVATE)
        buf_add_c(line, ",\"ttlMs\":0,\"cacheScope\":\"private\"");
    if (call->modern) {
        buf_add_c(line, ",\"_meta\":{\"" MCP_META "serverInfo\":");
        add_server_info(line, false);
        buf_add_char(line, '}');
    }
    buf_add_c(line, "}}");
}

static void compose(Call *call, const Method *method, Buf *line) {
    if (call->code)
        rpc_error(line, call->id, call->code, call->text, call->data);
    else
        compose_result(call, method, line);
}

void call_compose(Call *call, const Method *method, Buf *line) {
    compose(call, method, line);
    if (line->n <= LIMIT_LINE_OUT_BYTES) return;
    // Clients close the pipe on lines of 8 to 10 MiB; a refusal keeps the connection.
    Str text = str_format(call->arena,
                          "The answer has %zu bytes, more than the limit of %d for one message. "
                          "Ask for less: a narrower filter, fewer rows.",
                          line->n, (int)LIMIT_LINE_OUT_BYTES);
    buf_clear(line);
    buf_clear(&call->members);
    if (method->run == tools_call)
        tool_text(call, text, NULL, true);
    else
        call_fail(call, RPC_INTERNAL_ERROR, NULL, STR_FMT, STR_ARG(text));
    compose(call, method, line);
}
