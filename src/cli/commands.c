// The commands: analyze, call, sql, extract, tools, schema.
#include "cli/cli.h"

#include "base/os.h"

#include <stdlib.h>

static const json_t *properties_of(const ToolInfo *tool) {
    return json_object_get(tool->input_schema, "properties");
}

static bool takes(const ToolInfo *tool, const char *param) {
    return json_object_get(properties_of(tool), param) != NULL;
}

static bool is_trace_id(Str word) {
    return str_starts(word, STR("trace_")) && word.n == 18;
}

// "name=value" of a parameter name, unless a file has exactly that name.
static bool is_assignment(const ToolInfo *tool, Str word, Arena *arena) {
    size_t equals = str_find(word, STR("="));
    if (equals == SIZE_MAX || equals == 0) return false;
    if (takes(tool, str_to_c(arena, str_slice(word, 0, equals)))) return true;
    FileInfo info = {0};
    return os_stat(word, &info, NULL) != OK || !info.exists;
}

static void put_text(json_t *object, const char *key, Str text) {
    (void)json_object_set_new(object, key, json_stringn(text.p ? text.p : "", text.n));
}

static ExitCode report_failure(const Cli *cli, Status status, const char *text, ExitCode code) {
    if (status == ERR_CANCELLED || atomic_load(&cli->progress.cancelled)) return EXIT_INTERRUPTED;
    out_error(str_from_c(text));
    return code;
}

static CallContext call_context(Cli *cli) {
    return (CallContext){.progress = &cli->progress, .report = out_progress, .report_context = cli};
}

// A path is loaded first; an id stands for itself.
static ExitCode put_trace(Cli *cli, Str word, json_t *arguments) {
    if (is_trace_id(word)) {
        put_text(arguments, "trace_id", word);
        return EXIT_OK;
    }
    CallContext context = call_context(cli);
    const char *trace_id = NULL;
    Err err = {0};
    Status status = engine_load(cli->engine, word, false, &context, cli->arena, &trace_id, &err);
    out_progress_end(cli);
    if (status != OK) return report_failure(cli, status, err.text, EXIT_TRACE);
    put_text(arguments, "trace_id", str_from_c(trace_id));
    return EXIT_OK;
}

// A word without "=" is the trace, the file or the folder, whichever the tool takes.
static ExitCode put_word(Cli *cli, const ToolInfo *tool, Str word, json_t *arguments) {
    static const char *const NAMES[] = {"etl_path", "directory", "trace_id"};
    if (!str_eq(str_from_c(tool->group), STR("trace")) && takes(tool, "trace_id"))
        return put_trace(cli, word, arguments);
    if (takes(tool, "trace_id") && !takes(tool, "etl_path")) return put_trace(cli, word, arguments);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (!takes(tool, NAMES[i])) continue;
        put_text(arguments, NAMES[i], word);
        return EXIT_OK;
    }
    return usage_error("%s takes no trace: \"" STR_FMT "\" is one word too many", tool->name,
                       STR_ARG(word));
}

static ExitCode call_with(Cli *cli, const ToolInfo *tool, const json_t *arguments) {
    CallContext context = call_context(cli);
    ToolReply reply = {0};
    engine_call(cli->engine, tool, arguments, cli->format, &context, cli->arena, &reply);
    out_progress_end(cli);
    json_decref(reply.structured);
    if (reply.status == ERR_CANCELLED || (reply.is_error && atomic_load(&cli->progress.cancelled)))
        return EXIT_INTERRUPTED;
    if (!reply.is_error) {
        out_text(reply.text);
        return EXIT_OK;
    }
    out_error(reply.text);
    bool trace = reply.status == ERR_INPUT || reply.status == ERR_IO;
    return trace ? EXIT_TRACE : EXIT_TOOL;
}

ExitCode command_tool(Cli *cli, const char *name, size_t from, json_t *arguments) {
    const ToolInfo *tool = engine_tool_named(cli->engine, str_from_c(name));
    if (!tool) return usage_error("there is no tool \"%s\"; etw-mcp tools lists them", name);
    for (size_t i = from; i < cli->word_count; i++) {
        Str word = cli->words[i];
        if (is_assignment(tool, word, cli->arena)) {
            size_t equals = str_find(word, STR("="));
            put_text(arguments, str_to_c(cli->arena, str_slice(word, 0, equals)),
                     str_slice(word, equals + 1, word.n));
            continue;
        }
        ExitCode code = put_word(cli, tool, word, arguments);
        if (code != EXIT_OK) return code;
    }
    return call_with(cli, tool, arguments);
}

static ExitCode command_call(Cli *cli) {
    if (cli->word_count < 2) return usage_error("call wants a tool: etw-mcp call TOOL TRACE k=v");
    json_t *arguments = json_object();
    ExitCode code = command_tool(cli, str_to_c(cli->arena, cli->words[1]), 2, arguments);
    json_decref(arguments);
    return code;
}

static ExitCode command_analyze(Cli *cli) {
    if (cli->word_count < 2) return usage_error("analyze wants a trace: etw-mcp analyze TRACE");
    json_t *arguments = json_object();
    ExitCode code = command_tool(cli, "analyze", 1, arguments);
    json_decref(arguments);
    return code;
}

static ExitCode command_sql(Cli *cli) {
    if (cli->word_count < 3)
        return usage_error("sql wants a trace and a query: etw-mcp sql TRACE \"SELECT ...\"");
    json_t *arguments = json_object();
    put_text(arguments, "sql", cli->words[2]);
    for (size_t i = 2; i + 1 < cli->word_count; i++) cli->words[i] = cli->words[i + 1];
    cli->word_count--; // the query is no assignment, whatever it holds
    ExitCode code = command_tool(cli, "query_trace", 1, arguments);
    json_decref(arguments);
    return code;
}

static void extract_line(const Cli *cli, const char *event, const char *trace_id,
                         const char *error) {
    json_t *line =
        json_pack("{s:s,s:s*,s:s*}", "event", event, "trace_id", trace_id, "error", error);
    char *text = json_dumps(line, JSON_COMPACT);
    out_text(str_copy(cli->arena, str_from_c(text)));
    free(text);
    json_decref(line);
}

static ExitCode command_extract(Cli *cli) {
    if (cli->word_count < 2) return usage_error("extract wants a trace: etw-mcp extract TRACE");
    bool force = cli->word_count > 2 && str_eq(cli->words[2], STR("force=true"));
    if (cli->word_count > 3 || (cli->word_count == 3 && !force))
        return usage_error("extract takes a trace and force=true, nothing else");
    CallContext context = call_context(cli);
    context.report = out_progress_json;
    const char *trace_id = NULL;
    Err err = {0};
    Status status =
        engine_load(cli->engine, cli->words[1], force, &context, cli->arena, &trace_id, &err);
    if (status == OK) {
        extract_line(cli, "done", trace_id, NULL);
        return EXIT_OK;
    }
    extract_line(cli, "failed", NULL, err.text);
    return status == ERR_CANCELLED ? EXIT_INTERRUPTED : EXIT_TRACE;
}

static ExitCode command_tools(Cli *cli) {
    const Engine *engine = cli->engine;
    if (cli->word_count > 1 && str_eq(cli->words[1], STR("--markdown"))) {
        out_text(docs_tools(engine, cli->arena));
        return EXIT_OK;
    }
    if (cli->word_count > 1) {
        const ToolInfo *tool = engine_tool_named(engine, cli->words[1]);
        if (!tool)
            return usage_error("there is no tool \"" STR_FMT "\"; etw-mcp tools lists them",
                               STR_ARG(cli->words[1]));
        out_text(engine_tool_help(engine, tool, cli->arena));
        return EXIT_OK;
    }
    Buf out = {0};
    for (size_t i = 0; i < engine_tool_count(engine); i++) {
        const ToolInfo *tool = engine_tool(engine, i);
        buf_addf(&out, "%-34s %-10s %s\n", tool->name, tool->group, tool->title);
    }
    out_text(buf_str(&out));
    buf_done(&out);
    return EXIT_OK;
}

static ExitCode command_schema(Cli *cli) {
    out_text(docs_schema(cli->arena));
    return EXIT_OK;
}

static const struct {
    const char *name;
    ExitCode (*run)(Cli *cli);
} COMMANDS[] = {
    {"analyze",   command_analyze  },
    {"call",      command_call     },
    {"sql",       command_sql      },
    {"dump",      command_dump     },
    {"pdb",       command_pdb      },
    {"extract",   command_extract  },
    {"export",    command_export   },
    {"pcapng",    command_pcapng   },
    {"tools",     command_tools    },
    {"schema",    command_schema   },
    {"providers", command_providers},
};

ExitCode command_run(Cli *cli) {
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++)
        if (str_eq(cli->words[0], str_from_c(COMMANDS[i].name))) return COMMANDS[i].run(cli);
    return usage_error("there is no command \"" STR_FMT "\"", STR_ARG(cli->words[0]));
}
