// etw-mcp pdb: what a symbol file or an image holds.
#include "cli/cli.h"

#include "sym/pdb_report.h"

typedef struct PdbCall {
    Str path;
    PdbReportOptions options;
    unsigned parts; // asked for
} PdbCall;

static ExitCode take_part(PdbCall *call, PdbReportPart part) {
    call->options.part = part;
    return ++call->parts == 1
               ? EXIT_OK
               : usage_error("pdb shows one of --functions, --lines and --address at a time");
}

static ExitCode take_address(PdbCall *call, Str text) {
    uint64_t value = 0;
    if (!str_to_u64(text, &value) || value > UINT32_MAX)
        return usage_error("pdb: --address wants an RVA like 0x1234, not \"" STR_FMT "\"",
                           STR_ARG(text));
    call->options.address = (uint32_t)value;
    return take_part(call, PDB_REPORT_ADDRESS);
}

static ExitCode take_word(PdbCall *call, Str word, const Str *next, bool *used_next) {
    static const char ADDRESS[] = "--address";
    *used_next = false;
    if (str_eq(word, STR("--functions"))) return take_part(call, PDB_REPORT_FUNCTIONS);
    if (str_eq(word, STR("--lines"))) return take_part(call, PDB_REPORT_LINES);
    if (str_eq(word, STR("--json"))) {
        call->options.json = true;
        return EXIT_OK;
    }
    if (str_eq(word, str_from_c(ADDRESS)) && next) {
        *used_next = true;
        return take_address(call, *next);
    }
    if (str_starts(word, STR("--address="))) return take_address(call, str_slice(word, 10, word.n));
    if (str_starts(word, STR("--")))
        return usage_error("pdb: \"" STR_FMT "\" is no option, or its value is missing",
                           STR_ARG(word));
    if (call->path.n) return usage_error("pdb takes one file");
    call->path = word;
    return EXIT_OK;
}

ExitCode command_pdb(Cli *cli) {
    PdbCall call = {
        .options = {.part = PDB_REPORT_SUMMARY, .json = cli->format == REPLY_JSON}
    };
    for (size_t i = 1; i < cli->word_count; i++) {
        bool used_next = false;
        const Str *next = i + 1 < cli->word_count ? &cli->words[i + 1] : NULL;
        ExitCode code = take_word(&call, cli->words[i], next, &used_next);
        if (code != EXIT_OK) return code;
        i += used_next;
    }
    if (!call.path.n)
        return usage_error("pdb wants a file: etw-mcp pdb FILE [--functions | --lines | "
                           "--address RVA] [--json]");
    AUTO(buf_done) Buf out = {0};
    Err err = {0};
    Status status = pdb_report(call.path, &call.options, &out, &err);
    if (status != OK) {
        out_error(str_from_c(err.text));
        return status == ERR_ARG ? EXIT_TOOL : EXIT_TRACE;
    }
    out_text(buf_str(&out));
    return EXIT_OK;
}
