// etw-mcp: MCP server without a command, else one command and an exit status.
#include "cli/cli.h"

#include "base/os.h"
#include "mcp/mcp.h"

#include <signal.h>

static Progress *interrupted; // the one thing a signal handler may touch

static void on_interrupt(int signal_number) {
    if (atomic_load(&interrupted->cancelled)) { // the second one does not wait
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
    atomic_store(&interrupted->cancelled, true);
}

static bool env_is_on(const char *name) {
    Str value = os_env(name);
    return value.n && !str_eq(value, STR("0"));
}

static void options_from_environment(EngineOptions *options) {
    if (env_is_on("ETW_MCP_STRUCTURED")) options->structured = true;
    if (!options->toolsets.n) options->toolsets = os_env("ETW_MCP_TOOLSETS");
}

static ExitCode serve(Cli *cli) {
    McpOptions options = {.quiet = cli->quiet};
    Err err = {0};
    if (mcp_serve(cli->engine, &options, &err) == OK) return EXIT_OK;
    out_error(str_from_c(err.text));
    return EXIT_TOOL;
}

static ExitCode run(Cli *cli) {
    bool server = cli->word_count == 0;
    options_from_environment(&cli->engine_options);
    cli->engine_options.quiet = cli->quiet || (!server && !cli->verbose);
    if (!server) cli->engine_options.structured = false; // --json asks for it
#ifdef SIGXFSZ
    (void)signal(SIGXFSZ, SIG_IGN); // a file at its limit is a failed write, with a message
#endif
    Err err = {0};
    if (engine_open(&cli->engine_options, &cli->engine, &err) != OK)
        return usage_error("%s", err.text);
    ExitCode code = EXIT_OK;
    if (server) {
        code = serve(cli);
    } else {
        interrupted = &cli->progress;
        (void)signal(SIGINT, on_interrupt);
#ifdef SIGPIPE
        (void)signal(SIGPIPE, SIG_IGN); // a closed pipe ends the output, not the program
#endif
        code = command_run(cli);
    }
    engine_close(cli->engine);
    return code;
}

int main(int argc, char **argv) {
    Arena arena = {0};
    Cli cli = {.arena = &arena};
    bool done = false;
    os_tune_memory();
    ExitCode code = options_read(&cli, argc, argv, &done);
    if (!done) code = run(&cli);
    arena_done(&arena);
    return (int)code;
}
