// Fake tools:
//   echo message          the message
//   slow ms               works so long in steps, reports each, stops when cancelled
//   stuck ms              the same, deaf to cancellation
//   fail                  always an error
//   big bytes             a text of that size
//   garbage               text that is not UTF-8
//   trace_info, describe_tables, query_trace: know one trace, "trace_fake", with one table
//   test_*                what the protocol's conformance suite calls by name
#include "support/tools/fake_engine.h"

#include "base/os.h"

#include <string.h>

enum { TOOLS_MAX = 16 };

struct Engine {
    bool structured;
    json_t *output_schema;
    ToolInfo tools[TOOLS_MAX];
    size_t count;
};

static atomic_uint running;

unsigned fake_engine_running(void) {
    return atomic_load(&running);
}

static json_t *schema_new(const char *properties, const char *required) {
    json_t *schema = json_pack("{s:s,s:b}", "type", "object", "additionalProperties", 0);
    if (properties) {
        json_t *parsed = json_loads(properties, 0, NULL);
        INVARIANT(parsed && json_object_set_new(schema, "properties", parsed) == 0);
    }
    if (required)
        INVARIANT(json_object_set_new(schema, "required", json_pack("[s]", required)) == 0);
    return schema;
}

static void add_tool(Engine *engine, const char *name, const char *description,
                     const char *properties, const char *required) {
    INVARIANT(engine->count < TOOLS_MAX);
    engine->tools[engine->count++] = (ToolInfo){.name = name,
                                                .title = name,
                                                .description = description,
                                                .group = "fake",
                                                .input_schema = schema_new(properties, required),
                                                .output_schema = engine->output_schema,
                                                .read_only = strcmp(name, "fail") != 0,
                                                .idempotent = true};
}

#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define INTEGER(name, about)                                                                       \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"" about "\"}"

Status engine_open(const EngineOptions *options, Engine **out, Err *err) {
    (void)err;
    Engine *engine = mem_zero(1, sizeof *engine);
    engine->structured = options && options->structured;
    if (engine->structured)
        engine->output_schema = json_pack("{s:s,s:{s:{s:s}},s:[s]}", "type", "object", "properties",
                                          "text", "type", "string", "required", "text");
    add_tool(engine, "echo", "Says what it is told.", "{" TEXT("message", "What to say.") "}",
             "message");
    add_tool(engine, "slow", "Works for some time.", "{" INTEGER("ms", "How long.") "}", "ms");
    add_tool(engine, "stuck", "Works, deaf to cancellation.", "{" INTEGER("ms", "How long.") "}",
             "ms");
    add_tool(engine, "fail", "Always fails.", NULL, NULL);
    add_tool(engine, "big", "A large text.", "{" INTEGER("bytes", "Its size.") "}", "bytes");
    add_tool(engine, "garbage", "Text that is not UTF-8.", NULL, NULL);
    add_tool(engine, "trace_info", "Facts of a trace.", "{" TEXT("trace_id", "Its id.") "}",
             "trace_id");
    add_tool(engine, "describe_tables", "Columns of a table.",
             "{" TEXT("trace_id", "Its id.") "," TEXT("table", "Which.") "}", "trace_id");
    add_tool(engine, "query_trace", "Runs SQL.",
             "{" TEXT("trace_id", "Its id.") "," TEXT("sql", "What to run.") "}", "sql");
    add_tool(engine, "test_simple_text", "A text.", NULL, NULL);
    add_tool(engine, "test_logging_tool", "A text, and no log message.", NULL, NULL);
    add_tool(engine, "test_streaming_elicitation", "A text, and no request.", NULL, NULL);
    add_tool(engine, "test_error_handling", "An error.", NULL, NULL);
    add_tool(engine, "test_tool_with_progress", "Three steps.", NULL, NULL);
    *out = engine;
    return OK;
}

void engine_close(Engine *engine) {
    if (!engine) return;
    for (size_t i = 0; i < engine->count; i++) {
        json_t *schema = NULL;
        memcpy(&schema, &engine->tools[i].input_schema, sizeof(json_t *)); // const for others
        json_decref(schema);
    }
    json_decref(engine->output_schema);
    mem_free(engine);
}

size_t engine_tool_count(const Engine *engine) {
    return engine->count;
}

const ToolInfo *engine_tool(const Engine *engine, size_t index) {
    return index < engine->count ? &engine->tools[index] : NULL;
}

const ToolInfo *engine_tool_named(const Engine *engine, Str name) {
    for (size_t i = 0; i < engine->count; i++)
        if (str_eq(name, str_from_c(engine->tools[i].name))) return &engine->tools[i];
    return NULL;
}

Str engine_tool_help(const Engine *engine, const ToolInfo *tool, Arena *arena) {
    (void)engine;
    return str_copy(arena, str_from_c(tool->description));
}

const char *engine_instructions(void) {
    return "Fake tools for protocol tests.";
}

const char *engine_version(void) {
    return "0.0.1-test";
}

// NOLINTNEXTLINE(readability-function-size): the interface of the engine
size_t engine_complete(Engine *engine, Str kind, Str trace_id, Str prefix, Arena *arena, Str *out,
                       size_t max) {
    (void)engine;
    size_t n = 0;
    if (str_eq(kind, STR("trace_id")) && str_starts(STR("trace_fake"), prefix) && max)
        out[n++] = STR("trace_fake");
    if (str_eq(kind, STR("table")) && str_eq(trace_id, STR("trace_fake")))
        for (unsigned i = 0; i < 300 && n < max; i++) // more than one answer may hold
            out[n++] = str_format(arena, "table_%03u", i);
    return n;
}

static bool step(const CallContext *context, unsigned at, unsigned total, bool deaf, unsigned ms) {
    if (context->report) context->report(context->report_context, at, total, "working");
    Mutex lock;
    Condition never;
    mutex_init(&lock);
    condition_init(&never);
    mutex_lock(&lock);
    uint64_t end = os_now_ns() + (uint64_t)ms * 1000000;
    for (uint64_t now = os_now_ns(); now < end; now = os_now_ns())
        (void)condition_wait_for(&never, &lock, end - now);
    mutex_unlock(&lock);
    condition_done(&never);
    mutex_done(&lock);
    return deaf || !context->progress || !atomic_load(&context->progress->cancelled);
}

static void call_slow(const CallContext *context, json_int_t ms, bool deaf, Arena *arena,
                      ToolReply *reply) {
    enum { STEP_MS = 20 };
    atomic_fetch_add(&running, 1);
    bool going = true;
    unsigned total = ms < 0 ? 0 : ms > 60000 ? 60000 : (unsigned)ms;
    for (unsigned at = 0; going && at < total; at += STEP_MS)
        going = step(context, at, total, deaf, total - at < STEP_MS ? total - at : STEP_MS);
    atomic_fetch_sub(&running, 1);
    reply->status = going ? OK : ERR_CANCELLED;
    reply->text = str_format(arena, "Worked %u ms.", total);
}

static void call_trace(const ToolInfo *tool, const json_t *arguments, Arena *arena,
                       ToolReply *reply) {
    const char *trace_id = json_string_value(json_object_get(arguments, "trace_id"));
    const char *table = json_string_value(json_object_get(arguments, "table"));
    const char *sql = json_string_value(json_object_get(arguments, "sql"));
    bool known = trace_id && strcmp(trace_id, "trace_fake") == 0;
    if (!known || (table && strcmp(table, "process") != 0)) {
        *reply = (ToolReply){.status = ERR_NOT_FOUND,
                             .is_error = true,
                             .text = str_format(arena, "Unknown trace_id or table: \"%s\".",
                                                known      ? table
                                                : trace_id ? trace_id
                                                           : "")};
        return;
    }
    reply->text =
        str_format(arena, "%s of %s%s%s", tool->name, trace_id, sql ? ": " : "", sql ? sql : "");
}

static bool missing_argument(const ToolInfo *tool, const json_t *arguments, Arena *arena,
                             ToolReply *reply) {
    const char *name =
        json_string_value(json_array_get(json_object_get(tool->input_schema, "required"), 0));
    if (!name || json_object_get(arguments, name)) return false;
    *reply = (ToolReply){
        .status = ERR_ARG,
        .is_error = true,
        .text = str_format(arena, "%s: missing required argument \"%s\".", tool->name, name)};
    return true;
}

static void call_plain(const ToolInfo *tool, const json_t *arguments, const CallContext *context,
                       Arena *arena, ToolReply *reply) {
    Str name = str_from_c(tool->name);
    bool deaf = str_eq(name, STR("stuck"));
    const json_t *message = json_object_get(arguments, "message");
    json_int_t ms = json_integer_value(json_object_get(arguments, "ms"));
    json_int_t bytes = json_integer_value(json_object_get(arguments, "bytes"));
    if (str_eq(name, STR("echo"))) {
        Str text = {json_string_value(message), json_string_length(message)};
        reply->text = str_copy(arena, text);
    } else if (deaf || str_eq(name, STR("slow"))) {
        call_slow(context, ms, deaf, arena, reply);
    } else if (str_eq(name, STR("big"))) {
        size_t n = bytes > 0 && bytes < 64000000 ? (size_t)bytes : 1;
        char *p = arena_bytes(arena, n + 1);
        memset(p, 'x', n);
        reply->text = (Str){p, n};
    } else if (str_eq(name, STR("garbage"))) {
        reply->text = STR("a\xFF\xC3(b\xED\xA0\x80");
    } else if (str_eq(name, STR("test_simple_text")) || str_eq(name, STR("test_logging_tool")) ||
               str_eq(name, STR("test_streaming_elicitation"))) {
        reply->text = STR("This is a simple text response for testing.");
    } else if (str_eq(name, STR("test_tool_with_progress"))) {
        for (unsigned at = 0; at <= 100; at += 50) (void)step(context, at, 100, false, 50);
        reply->text = STR("Progress done.");
    } else {
        *reply = (ToolReply){.status = ERR_INPUT,
                             .is_error = true,
                             .text = STR("This tool intentionally returns an error for testing")};
    }
}

// NOLINTNEXTLINE(readability-function-size): the interface of the engine
void engine_call(Engine *engine, const ToolInfo *tool, const json_t *arguments, ReplyFormat format,
                 const CallContext *context, Arena *arena, ToolReply *reply) {
    (void)format;
    *reply = (ToolReply){0};
    if (missing_argument(tool, arguments, arena, reply)) return;
    Str name = str_from_c(tool->name);
    if (str_eq(name, STR("trace_info")) || str_eq(name, STR("describe_tables")) ||
        str_eq(name, STR("query_trace")))
        call_trace(tool, arguments, arena, reply);
    else
        call_plain(tool, arguments, context, arena, reply);
    if (engine->structured && !reply->is_error)
        reply->structured = json_pack("{s:s%}", "text", reply->text.p, reply->text.n);
}
