// The command line: the same engine and the same text as over MCP.
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "tools/engine.h"

typedef enum ExitCode {
    EXIT_OK = 0,
    EXIT_TOOL = 1,  // the tool refused or failed
    EXIT_USAGE = 2, // the command line is wrong
    EXIT_TRACE = 3, // the file cannot be read or is no trace
    EXIT_INTERRUPTED = 130,
} ExitCode;

typedef struct Cli {
    EngineOptions engine_options;
    ReplyFormat format;
    bool verbose; // log lines of the engine
    bool quiet;   // no progress bar
    Str *words;   // command and what follows it
    size_t word_count;
    Arena *arena;
    Engine *engine;
    Progress progress; // cancelled by Ctrl-C
    bool bar_shown;
} Cli;

// options.c
ExitCode options_read(Cli *cli, int argc, char **argv, bool *done);
ExitCode usage_error(const char *format, ...) PRINTF_LIKE(1, 2);

// commands.c: one command of `cli->words`; the engine is open.
ExitCode command_run(Cli *cli);
// Calls the tool with `arguments` and words[from ..], which are the trace and assignments.
ExitCode command_tool(Cli *cli, const char *name, size_t from, json_t *arguments);

// export.c
ExitCode command_export(Cli *cli);

// pdb.c
ExitCode command_pdb(Cli *cli);

// pcapng.c
ExitCode command_pcapng(Cli *cli);

// dump.c
ExitCode command_dump(Cli *cli);
// providers.c: docs/providers.md
ExitCode command_providers(Cli *cli);

// output.c: everything that goes to stdout and stderr
void out_text(Str text); // a reader that went away is not an error
void out_error(Str text);
void out_progress(void *cli, double done, double total,
                  const char *message); // a bar, on a terminal
void out_progress_end(Cli *cli);
void out_progress_json(void *cli, double done, double total, const char *message);

// docs.c: docs/tools.md and docs/schema.md
Str docs_tools(const Engine *engine, Arena *arena);
Str docs_schema(Arena *arena);

#endif
