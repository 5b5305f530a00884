// Options before the command. `--name=value` and `--name value` are the same.
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

static const char HELP[] =
    "etw-mcp: answers questions about Windows performance traces (.etl)\n"
    "\n"
    "usage: etw-mcp [options]                            MCP server on stdin and stdout\n"
    "       etw-mcp [options] analyze TRACE [k=v ...]    the one-call report\n"
    "       etw-mcp [options] call TOOL [TRACE] [k=v ..] any tool; TRACE is a path or a trace id\n"
    "       etw-mcp [options] sql TRACE \"SELECT ...\"     any question\n"
    "       etw-mcp [options] extract TRACE [force=true] decode to Parquet; progress as JSON "
    "lines\n"
    "       etw-mcp dump TRACE [--provider P] [--event E] [--process X] [--from S] [--to S]\n"
    "                    [--format text|jsonl|csv]       every event with its fields, in time "
    "order\n"
    "       etw-mcp pdb FILE [--functions | --lines | --address RVA] [--json]\n"
    "                                                    what a PDB or an image holds\n"
    "       etw-mcp [options] export TRACE [TABLE | \"SELECT ...\"] FILE  a table or query as "
    ".csv,\n"
    "                                                    .json or .parquet; the report as .md\n"
    "       etw-mcp [options] pcapng TRACE FILE.pcapng   captured frames, for Wireshark\n"
    "       etw-mcp tools [NAME | --markdown]            the tools, or the help of one\n"
    "       etw-mcp schema                               the tables, as Markdown\n"
    "       etw-mcp providers                            how events get their fields, as Markdown\n"
    "\n"
    "options:\n"
    "  --json, --csv       the answer in that form instead of Markdown (call, analyze, sql,\n"
    "                      dump)\n"
    "  --structured        server: structured replies with output schemas (ETW_MCP_STRUCTURED=1)\n"
    "  --toolsets A,B      expose these groups of tools only: trace, system, cpu, scheduling,\n"
    "                      memory, network, http, compare, capture (ETW_MCP_TOOLSETS)\n"
    "  --allow-dir DIR     read and write below this folder only; may be repeated\n"
    "  --sql-dir DIR       read sql/ from this folder (development)\n"
    "  --quiet             no log lines, no progress bar\n"
    "  --verbose           log lines also for commands\n"
    "  --version, --help\n"
    "\n"
    "environment:\n"
    "  _NT_SYMBOL_PATH                 where PDBs are, as in Windows debuggers\n"
    "  ETW_MCP_NO_AUTO_DOWNLOAD=1      never fetch symbols\n"
    "  ETW_MCP_NATIVE_WORKER_MEMORY_MB=N  memory cap; unset: a quarter of the machine's\n"
    "  ETW_MCP_MANIFESTS=DIR           .man files that describe events (see: etw-mcp providers)\n"
    "  ETW_MCP_TMF=DIR                 .tmf files with the texts of WPP messages\n"
    "\n"
    "exit status: 0 answered, 1 the tool refused, 2 wrong usage, 3 unreadable trace,\n"
    "             130 interrupted\n";

ExitCode usage_error(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_error(str_from_c(text));
    out_error(STR("etw-mcp --help shows the usage."));
    return EXIT_USAGE;
}

typedef struct ArgList {
    char **items;
    int count;
    int at;
} ArgList;

// The value of option `name`: after "=" or the next word.
static bool option_value(ArgList *args, const char *name, Str *value) {
    Str word = str_from_c(args->items[args->at]), option = str_from_c(name);
    if (!str_starts(word, option)) return false;
    if (word.n > option.n && word.p[option.n] == '=') {
        *value = str_slice(word, option.n + 1, word.n);
        return true;
    }
    if (word.n != option.n || args->at + 1 >= args->count) return false;
    *value = str_from_c(args->items[++args->at]);
    return true;
}

static bool read_flag(Cli *cli, Str word) {
    if (str_eq(word, STR("--json"))) {
        cli->format = REPLY_JSON;
    } else if (str_eq(word, STR("--csv"))) {
        cli->format = REPLY_CSV;
    } else if (str_eq(word, STR("--structured"))) {
        cli->engine_options.structured = true;
    } else if (str_eq(word, STR("--quiet"))) {
        cli->quiet = true;
    } else if (str_eq(word, STR("--verbose"))) {
        cli->verbose = true;
    } else {
        return false;
    }
    return true;
}

static bool read_valued(Cli *cli, ArgList *args) {
    EngineOptions *options = &cli->engine_options;
    Str value = {0};
    if (option_value(args, "--toolsets", &value)) {
        options->toolsets = value;
    } else if (option_value(args, "--sql-dir", &value)) {
        options->sql_folder = value;
    } else if (option_value(args, "--allow-dir", &value)) {
        options->allowed_folders[options->allowed_folder_count++] = value;
    } else {
        return false;
    }
    return true;
}

ExitCode options_read(Cli *cli, int argc, char **argv, bool *done) {
    ArgList args = {argv, argc, 1};
    size_t room = (size_t)(argc > 0 ? argc : 0) + 1;
    cli->words = ARENA_ARRAY(cli->arena, Str, room);
    cli->engine_options.allowed_folders = ARENA_ARRAY(cli->arena, Str, room);
    *done = true;
    for (; args.at < args.count; args.at++) {
        Str word = str_from_c(args.items[args.at]);
        if (str_eq(word, STR("--help")) || str_eq(word, STR("-h"))) {
            out_text(str_from_c(HELP));
            return EXIT_OK;
        }
        if (str_eq(word, STR("--version"))) {
            out_text(str_format(cli->arena, "etw-mcp %s", engine_version()));
            return EXIT_OK;
        }
        bool option = str_starts(word, STR("--")) && !str_eq(word, STR("--markdown"));
        bool own =
            cli->word_count && (str_eq(cli->words[0], STR("dump")) || // read their own options
                                str_eq(cli->words[0], STR("pdb")));
        if (own && !str_eq(word, STR("--quiet"))) option = false;
        if (!option) {
            cli->words[cli->word_count++] = word;
        } else if (!read_flag(cli, word) && !read_valued(cli, &args)) {
            return usage_error("unknown or incomplete option \"" STR_FMT "\"", STR_ARG(word));
        }
    }
    *done = false;
    return EXIT_OK;
}
