// etw-mcp pcapng TRACE FILE.pcapng [NAME=VALUE ...]: the captured frames as a file.
#include "cli/cli.h"

ExitCode command_pcapng(Cli *cli) {
    if (cli->word_count < 3)
        return usage_error("pcapng wants a trace and a file: etw-mcp pcapng TRACE FILE.pcapng");
    json_t *arguments = json_object();
    Str file = cli->words[2];
    (void)json_object_set_new(arguments, "path", json_stringn(file.p ? file.p : "", file.n));
    cli->words[2] = cli->words[1]; // the trace, then what else was given
    ExitCode code = command_tool(cli, "export_pcapng", 2, arguments);
    json_decref(arguments);
    return code;
}
