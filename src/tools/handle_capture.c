// The capture tools: which scenarios there are, their profiles, the commands, the runbook. All
// text: no trace, no side effect.
#include "tools/handle_capture.h"

#include "base/limits.h"

static const char MODE_NOTE_FILE[] =
    "mode file writes to disk all along: no time limit, some disk load. memory keeps the last "
    "minutes in a ring and writes at the stop: for problems that are seen afterwards.";
static const char XDP_NOTE[] =
    "If the start fails with 0xc558300c, a strict provider is not installed (XDP): use "
    "network_minimal. 0xc5584017 means that the profile has no variant for this mode: use the "
    "other start line.";

static Status unknown_scenario(Str name, Arena *arena, Err *err) {
    Str *names = ARENA_ARRAY(arena, Str, SCENARIO_COUNT);
    Buf list = {0};
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        names[i] = str_from_c(SCENARIOS[i]->name);
        buf_addf(&list, "%s%s", i ? ", " : "", SCENARIOS[i]->name);
    }
    Str near = nearest_name(name, names, SCENARIO_COUNT);
    Str hint = near.n ? str_format(arena, " Did you mean " STR_FMT "?", STR_ARG(near)) : (Str){0};
    (void)err_set(err, ERR_ARG,
                  "unknown scenario \"" STR_FMT "\".%s The scenarios are %s. "
                  "list_capture_profiles() describes them; pass the name, not a path",
                  STR_ARG(format_shorten(format_clean(name, arena), 60, arena)),
                  hint.n ? hint.p : "", list.p);
    buf_done(&list);
    return ERR_ARG;
}

static Status wanted_scenario(const ToolCall *call, const Scenario **out, Err *err) {
    Str name = values_text(call->values, "scenario");
    *out = scenario_find(name);
    return *out ? OK : unknown_scenario(name, call->arena, err);
}

// ---------------------------------------------------------------- list_capture_profiles

static Status scenarios_table(ToolCall *call, Err *err) {
    static const char *const COLUMNS[] = {"Scenario", "Title", "When to use", "Providers",
                                          "Est. overhead"};
    DocSection *table = doc_table(call->doc, STR("main"), (Str){0});
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        doc_column(call->doc, table, COLUMNS[i], "text(600)");
    for (size_t i = 0; i < SCENARIO_COUNT; i++) {
        const Scenario *scenario = SCENARIOS[i];
        Str providers = capture_providers(scenario, false, call->arena, err);
        if (!providers.n) return ERR_INTERNAL;
        Cell *cells = doc_row(call->doc, table);
        cells[0] = cell_text(str_from_c(scenario->name));
        cells[1] = cell_text(str_from_c(scenario->title));
        cells[2] = cell_text(str_from_c(scenario->use));
        cells[3] = cell_text(providers);
        cells[4] = cell_text(str_from_c(scenario->overhead));
    }
    return OK;
}

Status handle_list_capture_profiles(ToolCall *call, Err *err) {
    Doc *doc = call->doc;
    doc->headline = STR("**Capture Profiles**");
    doc->budget_bytes = LIMIT_REPLY_BYTES;
    TRY(scenarios_table(call, err));
    DocSection *steps = capture_section(doc, "workflow", STR("Workflow"), STYLE_LINES);
    capture_line(doc, steps, "1. Pick a scenario (recommend_capture helps).");
    capture_line(doc, steps,
                 "2. get_capture_profile(scenario) gives the profile: save it as "
                 "<scenario>.wprp on the target.");
    capture_line(doc, steps,
                 "3. get_capture_commands(scenario, output_path) gives the commands; "
                 "run them on the target by any transport.");
    capture_line(doc, steps, "4. Copy the .etl file back.");
    capture_line(doc, steps, "5. load_trace(etl_path).");
    doc_note(doc, STR("Pass the scenario's name, not a path."));
    doc_note(doc, STR("pktmon differs: another tool, no profile, packets only. disk, file, memory, "
                      "pool and registry use profiles that WPR brings along: no file to save."));
    doc_note(doc, STR("Every capture needs an elevated shell and does not work inside a Windows "
                      "container; virtual machines are fine."));
    doc_next(doc, STR("get_capture_commands(scenario=\"general\", "
                      "output_path=\"C:\\\\traces\\\\capture.etl\")"));
    return OK;
}

// ---------------------------------------------------------------- get_capture_profile

static const char *tool_of(const Scenario *scenario) {
    switch (scenario->kind) {
    case CAPTURE_PROFILE: return "wpr, with the profile below";
    case CAPTURE_BUILT_IN: return "wpr, with its own profiles";
    case CAPTURE_PKTMON: return "pktmon (no WPR)";
    }
    return "";
}

static Str buffers_text(const CaptureProfile *profile, Arena *arena) {
    Str kernel = str_format(arena, "kernel %lld KB x %lld", (long long)profile->kernel_kb,
                            (long long)profile->kernel_buffers);
    if (!profile->event_buffers) return kernel;
    return str_format(arena, STR_FMT ", events %lld KB x %lld", STR_ARG(kernel),
                      (long long)profile->event_kb, (long long)profile->event_buffers);
}

static void field(Doc *doc, DocSection *table, const char *name, Str value) {
    Cell *cells = doc_row(doc, table);
    cells[0] = cell_text(str_from_c(name));
    cells[1] = cell_text(value);
}

static void profile_fields(ToolCall *call, const Scenario *scenario, Str providers,
                           const CaptureProfile *profile) {
    Doc *doc = call->doc;
    Arena *arena = call->arena;
    DocSection *table = doc_table(doc, STR("main"), (Str){0});
    doc_column(doc, table, "Field", "text");
    doc_column(doc, table, "Value", "text(1000)");
    field(doc, table, "Title", str_from_c(scenario->title));
    field(doc, table, "When to use", str_from_c(scenario->use));
    field(doc, table, "Capture tool", str_from_c(tool_of(scenario)));
    field(doc, table, "Privilege", STR("administrator (elevated shell)"));
    field(doc, table, "VM compatible", STR("yes"));
    field(doc, table, "Container compatible", STR("no"));
    field(doc, table, "Recommended duration", str_format(arena, "%d s", scenario->seconds));
    field(doc, table, "Estimated overhead", str_from_c(scenario->overhead));
    field(doc, table, "Providers", providers);
    field(doc, table, "Analysis tools", str_from_c(scenario->tools));
    if (profile)
        field(
            doc, table, "Bundled .wprp",
            str_format(arena, "%s.wprp, profile " STR_FMT, scenario->name, STR_ARG(profile->name)));
    field(doc, table, "Notes", str_from_c(scenario->notes ? scenario->notes : "none"));
    field(doc, table, "Records", str_from_c(scenario->records));
    field(doc, table, "Cannot see", str_from_c(scenario->misses));
    field(doc, table, "Expected size", str_from_c(scenario->size));
    if (profile) field(doc, table, "Buffers", buffers_text(profile, arena));
}

static void profile_mechanism(Doc *doc, const Scenario *scenario) {
    DocSection *lines = capture_section(doc, "mechanism", STR("Mechanism"), STYLE_LINES);
    if (scenario->kind == CAPTURE_PKTMON) {
        capture_line(doc, lines,
                     "There is no profile: pktmon attaches to the components of the network stack "
                     "and logs packets itself. get_capture_commands gives its commands.");
        return;
    }
    capture_line(doc, lines,
                 "WPR brings these profiles along; there is no file to save. \"wpr -profiles\" "
                 "lists them on the target, \"wpr -profiledetails NAME\" says what one records.");
    capture_line(doc, lines, "A level can follow the name: DiskIO.Light, DiskIO.Verbose.");
}

Status handle_get_capture_profile(ToolCall *call, Err *err) {
    const Scenario *scenario = NULL;
    TRY(wanted_scenario(call, &scenario, err));
    Doc *doc = call->doc;
    Arena *arena = call->arena;
    doc->headline = str_format(arena, "**Profile:** %s", scenario->name);
    doc->budget_bytes = LIMIT_REPLY_BYTES; // a profile that is cut is none
    CaptureProfile *profile = NULL;
    if (scenario->kind == CAPTURE_PROFILE) {
        profile = ARENA_NEW(arena, CaptureProfile);
        TRY(capture_profile_read(str_from_c(scenario->name), arena, profile, err));
    }
    Str providers = capture_providers(scenario, true, arena, err);
    if (!providers.n) return ERR_INTERNAL;
    profile_fields(call, scenario, providers, profile);
    if (profile)
        capture_xml_section(doc, profile->text,
                            str_format(arena, "Save as %s.wprp", scenario->name));
    else
        profile_mechanism(doc, scenario);
    doc_next(doc, str_format(arena,
                             "get_capture_commands(scenario=\"%s\", "
                             "output_path=\"C:\\\\traces\\\\capture.etl\", duration_s=%d)",
                             scenario->name, scenario->seconds));
    doc_next(doc, str_format(arena, "get_capture_instructions(scenario=\"%s\", target=\"remote\")",
                             scenario->name));
    return OK;
}

// ---------------------------------------------------------------- get_capture_commands

static Status read_order(ToolCall *call, CaptureOrder *out, Err *err) {
    TRY(wanted_scenario(call, &out->scenario, err));
    out->path = values_text(call->values, "output_path");
    TRY(capture_path_check(out->path, err));
    out->path = str_trim(out->path);
    out->to_memory = str_eq(values_text(call->values, "mode"), STR("memory"));
    return OK;
}

static void order_scope(Doc *doc, const CaptureOrder *order) {
    doc_scope(doc, STR("Scenario"),
              str_format(doc->arena, "%s (%s)", order->scenario->name, order->scenario->title));
    doc_scope(doc, STR("Output"), order->path);
    doc_scope(doc, STR("Duration"), str_format(doc->arena, "%lld s", (long long)order->seconds));
    bool packets = order->scenario->kind == CAPTURE_PKTMON;
    doc_scope(doc, STR("Mode"),
              packets            ? STR("file (pktmon has no other here)")
              : order->to_memory ? STR("memory")
                                 : STR("file"));
}

static void order_notes(Doc *doc, const CaptureOrder *order) {
    const Scenario *scenario = order->scenario;
    if (!str_ends_nocase(order->path, STR(".etl")))
        doc_note(doc, STR("output_path does not end in .etl: load_trace takes it all the same."));
    if (scenario->kind == CAPTURE_PKTMON) return;
    doc_note(doc, str_from_c(MODE_NOTE_FILE));
    doc_note(doc, str_from_c(XDP_NOTE));
    if ((int64_t)scenario->seconds * 6 < order->seconds && !order->to_memory)
        doc_note(doc,
                 str_format(doc->arena,
                            "%lld s are long for this scenario (%d s recommended, overhead %s): "
                            "see that the disk has room.",
                            (long long)order->seconds, scenario->seconds, scenario->overhead));
}

static void save_lines(Doc *doc, DocSection *lines, const Scenario *scenario) {
    if (scenario->kind == CAPTURE_PROFILE)
        capture_line(
            doc, lines,
            "Save the XML of get_capture_profile(scenario=\"%s\") as %s.wprp in the folder "
            "in which the commands run.",
            scenario->name, scenario->name);
    else
        capture_line(doc, lines, "There is no profile to save: %s.", tool_of(scenario));
}

static Str load_call(const CaptureOrder *order, Arena *arena) {
    Str path = order->path;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '\\' || path.p[i] == '/') at = i;
    Str name = at == SIZE_MAX ? path : str_slice(path, at + 1, path.n);
    return str_format(arena, "load_trace(etl_path=\"<folder of the copy>/" STR_FMT "\")",
                      STR_ARG(name));
}

Status handle_get_capture_commands(ToolCall *call, Err *err) {
    CaptureOrder order = {0};
    TRY(read_order(call, &order, err));
    order.seconds = values_get(call->values, "duration_s")->i64;
    Doc *doc = call->doc;
    doc->headline = STR("**Capture Commands**");
    doc->budget_bytes = LIMIT_REPLY_BYTES;
    order_scope(doc, &order);
    capture_run_section(doc, &order, (Str){0});
    DocSection *lines = capture_section(doc, "afterwards", (Str){0}, STYLE_LINES);
    save_lines(doc, lines, order.scenario);
    capture_line(doc, lines, "Run the block in an elevated PowerShell on the target.");
    order_notes(doc, &order);
    doc_next(doc, load_call(&order, call->arena));
    return OK;
}

// ---------------------------------------------------------------- get_capture_instructions

static Status prerequisites(Doc *doc, const Scenario *scenario, Err *err) {
    Str providers = capture_providers(scenario, true, doc->arena, err);
    if (!providers.n) return ERR_INTERNAL;
    DocSection *lines = capture_section(doc, "prerequisites", STR("2. Prerequisites"), STYLE_LINES);
    bool packets = scenario->kind == CAPTURE_PKTMON;
    capture_line(doc, lines, "- Privilege: administrator, in an elevated PowerShell.");
    capture_line(doc, lines, "- Tool: %s.",
                 packets ? "pktmon, in Windows 10 1809, Server 2019 and later"
                         : "wpr, in Windows 10, Server 2019 and later; older ones get it with the "
                           "Windows Performance Toolkit");
    capture_line(doc, lines, "- Virtual machine: yes. Windows container: no, capture on its host.");
    capture_line(doc, lines, "- Providers: " STR_FMT ".", STR_ARG(providers));
    capture_line(doc, lines, "- Overhead: %s.", scenario->overhead);
    if (scenario->notes) capture_line(doc, lines, "- Note: %s", scenario->notes);
    return OK;
}

static void transfer_section(Doc *doc, const CaptureOrder *order) {
    Str path = capture_quote(order->path, doc->arena);
    DocSection *code = capture_section(doc, "transfer", STR("6. Transfer back"), STYLE_CODE);
    code->fence = STR("powershell");
    capture_line(doc, code, "# PowerShell remoting, from this machine:");
    capture_line(doc, code, "$session = New-PSSession -ComputerName <TARGET>");
    capture_line(doc, code, "Copy-Item -FromSession $session -Path " STR_FMT " -Destination .",
                 STR_ARG(path));
    capture_line(doc, code, "Remove-PSSession $session");
    capture_line(doc, code, "# or, with an SSH server on the target: scp <USER>@<TARGET>:<PATH> .");
    DocSection *lines = capture_section(doc, "transfer_notes", (Str){0}, STYLE_LINES);
    capture_line(doc, lines,
                 "A file-transfer tool of the MCP client, or copying by hand, does as "
                 "well. The profile goes the other way in the same manner (Copy-Item "
                 "-ToSession).");
}

static void closing_sections(Doc *doc, const CaptureOrder *order, bool remote) {
    const Scenario *scenario = order->scenario;
    int step = remote ? 7 : 6;
    DocSection *lines = capture_section(
        doc, "load", str_format(doc->arena, "%d. Load and analyze", step), STYLE_LINES);
    capture_line(doc, lines, "- " STR_FMT, STR_ARG(load_call(order, doc->arena)));
    capture_line(doc, lines, "- Then: %s.", scenario->tools);
    DocSection *code = capture_section(doc, "cleanup",
                                       str_format(doc->arena, "%d. Cleanup", step + 1), STYLE_CODE);
    code->fence = STR("powershell");
    if (scenario->kind == CAPTURE_PROFILE)
        capture_line(doc, code, "Remove-Item .\\%s.wprp", scenario->name);
    capture_line(doc, code, "Remove-Item " STR_FMT "   # when the copy is safe",
                 STR_ARG(capture_quote(order->path, doc->arena)));
}

static void runbook_opening(Doc *doc, const CaptureOrder *order) {
    const Scenario *scenario = order->scenario;
    DocSection *lines = capture_section(doc, "overview", STR("1. Overview"), STYLE_LINES);
    capture_line(doc, lines, "- Purpose: %s", scenario->use);
    capture_line(doc, lines, "- Records: %s", scenario->records);
    capture_line(doc, lines, "- Cannot see: %s", scenario->misses);
}

Status handle_get_capture_instructions(ToolCall *call, Err *err) {
    CaptureOrder order = {0};
    TRY(read_order(call, &order, err));
    const Scenario *scenario = order.scenario;
    order.seconds = scenario->seconds;
    bool remote = str_eq(values_text(call->values, "target"), STR("remote"));
    Doc *doc = call->doc;
    doc->headline = STR("**Capture Instructions**");
    doc->budget_bytes = LIMIT_REPLY_BYTES;
    order_scope(doc, &order);
    doc_scope(doc, STR("Target"), remote ? STR("remote") : STR("local"));
    runbook_opening(doc, &order);
    TRY(prerequisites(doc, scenario, err));
    DocSection *lines = capture_section(doc, "save", STR("3. Save the profile"), STYLE_LINES);
    save_lines(doc, lines, scenario);
    capture_run_section(doc, &order, STR("4. Start the capture"));
    lines = capture_section(doc, "verify", STR("5. Stop and verify"), STYLE_LINES);
    capture_line(doc, lines,
                 "The last two steps of the block stop and show the file. Expected size "
                 "for %d s: %s. A file of a few KB means that nothing was recorded.",
                 scenario->seconds, scenario->size);
    if (remote) transfer_section(doc, &order);
    closing_sections(doc, &order, remote);
    order_notes(doc, &order);
    doc_next(doc, load_call(&order, call->arena));
    return OK;
}
