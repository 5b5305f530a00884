// Prompts: recipes that a person picks from a menu. Each is a text with {arguments}; a line that
// names an argument which was not given is left out.
#include "mcp/methods.h"

#include <string.h>

typedef struct PromptArgument {
    const char *name;
    const char *description;
    bool required;
    const char *kind; // of engine_complete
} PromptArgument;

enum { ARGUMENTS_MAX = 2 };

typedef struct Prompt {
    const char *name, *title, *description;
    PromptArgument arguments[ARGUMENTS_MAX]; // unused: name NULL
    const char *text;
} Prompt;

#define TRACE_ARGUMENT                                                                             \
    { "trace_id", "Id from load_trace.", true, "trace_id" }
#define PROCESS_ARGUMENT                                                                           \
    { "process", "Image name or pid to look at first.", false, "process" }
#define REPORT_RULES                                                                               \
    "\nWrite a report of at most one page: the finding first, then the evidence (tool, figure, "   \
    "time window), then what the trace cannot show because it was not recorded, was lost or has "  \
    "no symbols, and how to record it. Do not conclude from absence: check get_trace_stats first."

static const Prompt PROMPTS[] = {
    {"triage_cpu",
     "Find what uses the CPU",         "Where CPU time goes: processes, modules, functions, call paths, interrupts.",
     {TRACE_ARGUMENT, PROCESS_ARGUMENT},
     "Find out what uses the CPU in trace {trace_id}.\n"
     "Start with process {process}: pass process_filter=\"{process}\" to tools that take it.\n"
     "\n"
     "1. analyze(trace_id=\"{trace_id}\"): load per CPU, lost events, state of symbols.\n"
     "2. get_per_cpu_summary and get_cpu_timeline: all CPUs or a few, steady or in bursts? Use the "
     "busy interval as start_time and end_time from here on.\n"
     "3. get_cpu_samples with group_by=\"process\", then \"process+module\": who.\n"
     "4. get_hot_functions with modules=\"all\", then get_hot_stacks: what. get_function_callers "
     "for the top function: why.\n"
     "5. get_dpc_summary when interrupt work shows up: which driver.\n"
     "6. When functions appear as addresses: check_symbols, then resolve_symbols, then repeat "
     "4.\n" REPORT_RULES                                                                 },
    {"triage_waits",
     "Find what threads wait for",     "Why something is slow without using the CPU: waits, locks, wakers, time to run.",
     {TRACE_ARGUMENT, PROCESS_ARGUMENT},
     "Find out what threads wait for in trace {trace_id}.\n"
     "Start with process {process}: pass process_filter=\"{process}\" to tools that take it.\n"
     "\n"
     "1. analyze(trace_id=\"{trace_id}\"): is the machine busy at all, are events lost?\n"
     "2. get_thread_cpu_precise with sort_by=\"waiting_ms\": who waits, how long, for what reason; "
     "then sort_by=\"p99_wait_us\". Long ready times mean too few CPUs, not a lock.\n"
     "3. get_lock_contention: spinning, blocking, the code that holds and the code that waits.\n"
     "4. get_network_wait_chain for the thread that matters: who wakes it, and what that one was "
     "doing before.\n"
     "5. get_diskio_summary and get_connection_summary when the chain ends at a "
     "device.\n" REPORT_RULES                                                            },
    {"triage_disk",
     "Find what keeps the disk busy",  "Disk traffic and latency by disk, file and process.",
     {TRACE_ARGUMENT, PROCESS_ARGUMENT},
     "Find out what keeps the disk busy, and whether anything waits for it, in trace {trace_id}.\n"
     "Start with process {process}.\n"
     "\n"
     "1. analyze(trace_id=\"{trace_id}\"), then get_diskio_summary: busy share, average and p99 "
     "latency per disk, then files and processes. High latency at low traffic points to the "
     "device or to flushes; high traffic at normal latency points to the caller.\n"
     "2. get_thread_cpu_precise with sort_by=\"waiting_ms\" for the processes found: do their "
     "threads really wait?\n"
     "3. get_hot_stacks for the same processes: compression, scanning or encryption around the "
     "transfers?\n" REPORT_RULES                                                         },
    {"triage_network",
     "Find network latency and drops", "Slow or lossy network: connections, retransmits, drops, where packets spend their time.",
     {TRACE_ARGUMENT, PROCESS_ARGUMENT},
     "Find out why the network is slow or lossy in trace {trace_id}.\n"
     "Start with process {process}.\n"
     "\n"
     "1. analyze(trace_id=\"{trace_id}\"), then get_trace_stats: which network providers are in "
     "the trace?\n"
     "2. get_connection_summary and get_udp_flow_summary: which flows carry the traffic.\n"
     "3. get_tcp_retransmits and get_packet_drops: loss, its reason and the component.\n"
     "4. get_connect_latency and get_accept_latency: time to establish connections.\n"
     "5. get_send_recv_latency and get_pktmon_layer_latency when packets were captured: time "
     "between two points.\n"
     "6. get_network_dpcs, get_rss_dispatch_quality, get_network_hot_functions: is receive work "
     "stuck on one CPU?\n"
     "7. get_network_wait_chain for the thread that serves the slow flow.\n" REPORT_RULES},
    {"compare_runs",
     "Compare two traces",             "What changed between a good and a bad recording.",
     {{"baseline", "The good one: a trace id, or the path of an .etl file.", true, "trace_id"},
      {"test", "The bad one: a trace id, or the path of an .etl file.", true, "trace_id"}},
     "Find out what changed from {baseline} (baseline) to {test} (test).\n"
     "\n"
     "1. load_trace for each that is a path; trace_info for both: duration, CPU count, clock, "
     "lost events, symbols. Differences there come first in the report, since they weaken "
     "everything below.\n"
     "2. compare_traces(baseline_etl=\"{baseline}\", test_etl=\"{test}\") with mode=\"per_cpu\", "
     "then \"modules\", then \"hot_functions\" with modules=\"all\".\n"
     "3. For the largest significant change: get_hot_stacks and get_function_callers in both "
     "traces.\n"
     "4. When CPU time did not change: get_thread_cpu_precise with sort_by=\"waiting_ms\" in "
     "both.\n" REPORT_RULES                                                              },
};

static const Prompt *prompt_named(Str name) {
    for (size_t i = 0; i < COUNT_OF(PROMPTS); i++)
        if (str_eq(name, str_from_c(PROMPTS[i].name))) return &PROMPTS[i];
    return NULL;
}

static void add_argument(Buf *out, const PromptArgument *argument) {
    buf_addf(out, "{\"name\":\"%s\",\"description\":\"%s\",\"required\":%s}", argument->name,
             argument->description, argument->required ? "true" : "false");
}

void prompts_list(Call *call) {
    if (!call_first_page(call)) return;
    Buf *out = &call->members;
    buf_add_c(out, "\"prompts\":[");
    for (size_t i = 0; i < COUNT_OF(PROMPTS); i++) {
        const Prompt *prompt = &PROMPTS[i];
        buf_addf(out, "%s{\"name\":\"%s\",\"title\":\"%s\",\"description\":\"%s\",\"arguments\":[",
                 i ? "," : "", prompt->name, prompt->title, prompt->description);
        for (size_t j = 0; j < ARGUMENTS_MAX && prompt->arguments[j].name; j++) {
            if (j) buf_add_char(out, ',');
            add_argument(out, &prompt->arguments[j]);
        }
        buf_add_c(out, "]}");
    }
    buf_add_char(out, ']');
}

// Appends one line with its {arguments} filled in; nothing when one of them is absent.
static void add_line(Buf *out, Str line, const json_t *arguments, Arena *arena) {
    size_t before = out->n;
    while (line.n) {
        size_t open = str_find(line, STR("{"));
        size_t close = str_find(line, STR("}"));
        if (open == SIZE_MAX || close == SIZE_MAX) break;
        const char *name = str_to_c(arena, str_slice(line, open + 1, close));
        Str value = json_get_str(arguments, name);
        if (!value.n) {
            out->n = before;
            return;
        }
        buf_add(out, str_slice(line, 0, open));
        buf_add(out, value);
        line = str_slice(line, close + 1, line.n);
    }
    buf_add(out, line);
    buf_add_char(out, '\n');
}

static bool check_arguments(Call *call, const Prompt *prompt, const json_t *arguments) {
    for (size_t i = 0; i < ARGUMENTS_MAX && prompt->arguments[i].name; i++) {
        const PromptArgument *argument = &prompt->arguments[i];
        const json_t *value = json_object_get(arguments, argument->name);
        if (value && !json_is_null(value) && !json_is_string(value)) {
            call_fail(call, RPC_INVALID_PARAMS, NULL, "Argument %s of prompt %s must be a string",
                      argument->name, prompt->name);
            return false;
        }
        if (argument->required && !json_str(value).n) {
            call_fail(call, RPC_INVALID_PARAMS, NULL, "Missing argument of prompt %s: %s (%s)",
                      prompt->name, argument->name, argument->description);
            return false;
        }
    }
    return true;
}

void prompts_get(Call *call) {
    Str name;
    if (!call_string(call, "name", &name)) return;
    const Prompt *prompt = prompt_named(name);
    if (!prompt) {
        Str shown = rpc_quote(call->arena, name, 100);
        call_fail(call, RPC_INVALID_PARAMS, NULL, "Unknown prompt: " STR_FMT, STR_ARG(shown));
        return;
    }
    const json_t *arguments = json_object_get(call->params, "arguments");
    if (!check_arguments(call, prompt, arguments)) return;
    Buf text = {0};
    Str rest = str_from_c(prompt->text);
    while (rest.n) { // str_next would treat blank lines alike, but loses the last separator
        size_t end = str_find(rest, STR("\n"));
        add_line(&text, str_slice(rest, 0, end), arguments, call->arena);
        rest = end == SIZE_MAX ? (Str){0} : str_slice(rest, end + 1, rest.n);
    }
    Buf *out = &call->members;
    buf_addf(out, "\"description\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":",
             prompt->description);
    buf_add_c(out, "{\"type\":\"text\",\"text\":");
    json_add_text(out, buf_str(&text));
    buf_add_c(out, "}}]");
    buf_done(&text);
}

bool prompt_argument_kind(Str prompt_name, Str argument, Str *kind) {
    const Prompt *prompt = prompt_named(prompt_name);
    *kind = (Str){0};
    for (size_t i = 0; prompt && i < ARGUMENTS_MAX && prompt->arguments[i].name; i++)
        if (str_eq(argument, str_from_c(prompt->arguments[i].name)))
            *kind = str_from_c(prompt->arguments[i].kind);
    return prompt != NULL;
}
