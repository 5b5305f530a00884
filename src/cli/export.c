// etw-mcp export TRACE [TABLE | "SELECT ..."] FILE: the report, a table or a query as a file.
#include "cli/cli.h"

#include "base/os.h"

static void put_text(json_t *object, const char *key, Str text) {
    (void)json_object_set_new(object, key, json_stringn(text.p ? text.p : "", text.n));
}

ExitCode command_export(Cli *cli) {
    enum { REPORT_WORDS = 3, TABLE_WORDS = 4 };
    if (cli->word_count != REPORT_WORDS && cli->word_count != TABLE_WORDS)
        return usage_error(
            "export wants a trace, a table or query, and a file: etw-mcp export TRACE "
            "TABLE FILE.csv|.json|.parquet; without a table it writes the report");
    bool report = cli->word_count == REPORT_WORDS;
    json_t *arguments = json_object();
    put_text(arguments, report ? "output_path" : "path", cli->words[cli->word_count - 1]);
    if (!report) put_text(arguments, "table_or_sql", cli->words[2]);
    cli->word_count = 2; // the rest is no assignment, whatever it holds
    ExitCode code = command_tool(cli, report ? "export_analysis" : "export_table", 1, arguments);
    json_decref(arguments);
    return code;
}
