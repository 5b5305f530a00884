// get_flame_graph: the stacks of a call, or of two traces, in one of three forms, into the reply or
// a file.
#include "base/limits.h"
#include "tools/flame.h"
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

#include <string.h>

typedef struct Output { // a file that is written under a temporary name
    FileWriter *writer;
    Str path, temporary;
    uint64_t bytes;
    Status status;
    Err *err;
} Output;

static void flush_file(FlameSink *sink) {
    Output *output = sink->context;
    output->bytes += sink->text.n;
    if (output->status == OK)
        output->status = file_append(output->writer, buf_str(&sink->text), output->err);
    buf_clear(&sink->text);
}

static FlameFormat format_of(Str text) {
    if (str_eq(text, STR("svg"))) return FLAME_SVG;
    return str_eq(text, STR("speedscope")) ? FLAME_SPEEDSCOPE : FLAME_FOLDED;
}

// Absolute, free of links, in a folder that exists and may be written; never a trace.
static Status check_output(const ToolCall *call, Str wanted, Str *path, Err *err) {
    Str folder = {0};
    if (os_real_path(path_folder(wanted), call->arena, &folder, NULL) != OK)
        return err_set(err, ERR_ARG, "output_path: the folder \"" STR_FMT "\" does not exist",
                       STR_ARG(path_folder(wanted)));
    *path = path_join(call->arena, folder, path_name(wanted));
    TRY(path_check_allowed(call->engine, *path, err));
    FileInfo info = {0};
    TRY(os_stat(*path, &info, err));
    if (info.is_folder || !path_name(wanted).n)
        return err_set(err, ERR_ARG, "output_path: \"" STR_FMT "\" is a folder; name a file in it",
                       STR_ARG(wanted));
    if (str_ends_nocase(*path, STR(".etl")))
        return err_set(err, ERR_ARG, "output_path: a trace (.etl) is not overwritten");
    return OK;
}

static Status write_file(const Flame *flame, FlameFormat format, Output *output, Arena *arena,
                         FlameCut *cut, Err *err) {
    output->err = err;
    output->temporary =
        str_format(arena, STR_FMT ".%d.tmp", STR_ARG(output->path), os_process_id());
    TRY(file_create(output->temporary, &output->writer, err));
    FlameSink sink = {.flush = flush_file, .context = output};
    flame_write(flame, format, 0, &sink, cut);
    flush_file(&sink);
    buf_done(&sink.text);
    Status status = output->status;
    if (status == OK) status = file_finish(output->writer, err);
    file_writer_close(output->writer);
    if (status == OK) status = os_rename(output->temporary, output->path, err);
    if (status != OK) (void)os_remove_file(output->temporary, NULL);
    return status;
}

static void reply_file(StackCall *stacks, const Output *output, bool replaced,
                       const FlameCut *cut) {
    Doc *doc = stacks->doc;
    doc_scope(doc, STR("Written"), output->path);
    doc_scope(doc, STR("Bytes"), format_integer((int64_t)output->bytes, stacks->arena));
    if (replaced) doc_note(doc, STR("A file of that name was there and is replaced."));
    if (cut->stacks)
        doc_note(doc, str_format(stacks->arena,
                                 STR_FMT " boxes narrower than a tenth of a pixel are not drawn.",
                                 STR_ARG(format_integer((int64_t)cut->stacks, stacks->arena))));
}

// Folded stacks go into a fenced block, so that scope and notes stay readable; the other forms are
// the whole reply.
static void reply_text(StackCall *stacks, FlameFormat format, Str text, const FlameCut *cut) {
    Doc *doc = stacks->doc;
    bool folded = format == FLAME_FOLDED;
    DocSection *section = doc_table(doc, STR("graph"), (Str){0});
    doc_column(doc, section, "Text", "text");
    section->style = STYLE_CODE;
    Str rest = text, line = {0};
    while (folded && str_next(&rest, '\n', &line)) doc_row(doc, section)[0] = cell_text(line);
    if (!folded) doc_row(doc, section)[0] = cell_text(text);
    if (!folded) doc->raw = text;
    if (cut->stacks)
        doc_note(doc, str_format(stacks->arena,
                                 STR_FMT " %s do not fit the reply%s; output_path writes all "
                                         "of them into a file.",
                                 STR_ARG(format_integer((int64_t)cut->stacks, stacks->arena)),
                                 format == FLAME_SVG ? "boxes" : "stacks",
                                 format == FLAME_SVG ? "" : " and are one frame, [not shown]"));
}

static Status reply(StackCall *stacks, const Flame *flame, Err *err) {
    ToolCall *call = stacks->call;
    FlameFormat format = format_of(values_text(call->values, "format"));
    const Value *wanted = stack_call_value(stacks, "output_path");
    FlameCut cut = {0};
    if (wanted) {
        Output output = {0};
        FileInfo before = {0};
        TRY(check_output(call, wanted->text, &output.path, err));
        TRY(os_stat(output.path, &before, err));
        TRY(write_file(flame, format, &output, call->arena, &cut, err));
        reply_file(stacks, &output, before.exists, &cut);
        return OK;
    }
    // Room for scope and notes around folded stacks.
    enum { AROUND_BYTES = 2400 };
    FlameSink sink = {0};
    call->doc->budget_bytes = LIMIT_REPLY_BYTES;
    size_t room = LIMIT_REPLY_BYTES - (format == FLAME_FOLDED ? AROUND_BYTES : 64);
    flame_write(flame, format, room, &sink, &cut);
    Str text = str_copy(call->arena, buf_str(&sink.text));
    buf_done(&sink.text);
    reply_text(stacks, format, text, &cut);
    return OK;
}

static bool *kept_functions(const StackCall *stacks) {
    const Value *modules = stack_call_value(stacks, "module_filter");
    const Value *names = stack_call_value(stacks, "function_filter");
    if (!modules && !names) return NULL;
    ModuleMatch match = {modules ? modules->list : NULL, modules ? modules->count : 0, false};
    return stack_functions_matching(stacks->set, &match, names ? names->list : NULL,
                                    names ? names->count : 0, stacks->arena);
}

static void add_side(StackCall *stacks, Flame *flame, unsigned side) {
    flame_add(flame, stacks->set, &stacks->weights, kept_functions(stacks), side);
}

// The same call on the other trace; what it has to say is noted here.
static Status add_baseline(ToolCall *call, const StackOptions *options, Flame *flame, Err *err) {
    AUTO(trace_let_go) TraceHold hold = {0};
    TRY(trace_hold(call->engine, values_text(call->values, "baseline_id"), call->context,
                   call->arena, &hold, err));
    AUTO(doc_done) Doc doc = {.arena = call->arena};
    RunTrace trace = {.session = hold.session,
                      .facts = &hold.data->facts,
                      .stacks = hold.data->stacks,
                      .trace_id = str_from_c(hold.trace->identity.trace_id),
                      .file_name = path_name(hold.trace->identity.path)};
    ToolCall other = *call;
    other.doc = &doc;
    other.trace = &trace;
    other.entry = hold.trace;
    other.database = hold.data->database;
    AUTO(stack_call_close) StackCall stacks = {0};
    bool enough = false;
    TRY(stack_call_open(&other, options, &stacks, &enough, err));
    flame->baseline_name = str_copy(&flame->arena, trace.file_name);
    if (enough) add_side(&stacks, flame, 1);
    doc_scope(call->doc, STR("Baseline"),
              str_format(call->arena, STR_FMT ", " STR_FMT " us", STR_ARG(trace.file_name),
                         STR_ARG(format_integer(stacks.weights.weight / 1000, call->arena))));
    if (!enough) doc_note(call->doc, STR("The baseline has nothing in this scope."));
    return OK;
}

static void note_forms(StackCall *stacks, const Flame *flame) {
    bool waits = stacks->options.source == STACKS_WAITS;
    doc_note(stacks->doc,
             str_format(stacks->arena, "Weights are microseconds of %s.%s",
                        waits ? "waiting" : "CPU",
                        flame->compares ? " Folded lines: baseline, then this trace." : ""));
    stack_call_notes(stacks);
}

Status handle_get_flame_graph(ToolCall *call, Err *err) {
    bool waits = str_eq(values_text(call->values, "source"), STR("waits"));
    StackOptions options = {.source = waits ? STACKS_WAITS : STACKS_SAMPLES, .needs_stacks = waits};
    AUTO(stack_call_close) StackCall stacks = {0};
    AUTO(flame_close) Flame flame;
    flame_open(&flame, values_get(call->values, "baseline_id")->present);
    bool enough = false;
    TRY(stack_call_open(call, &options, &stacks, &enough, err));
    if (!enough) return OK;
    flame.name = str_copy(&flame.arena, call->trace->file_name);
    add_side(&stacks, &flame, 0);
    if (values_get(call->values, "baseline_id")->present)
        TRY(add_baseline(call, &options, &flame, err));
    flame_finish(&flame);
    if (!flame.nodes.items[0].total[0] && !flame.nodes.items[0].total[1]) {
        DocSection *main = doc_table(call->doc, STR("main"), (Str){0});
        main->empty = STR("No stack of this scope holds a function that the filters name.");
        return OK;
    }
    TRY(reply(&stacks, &flame, err));
    note_forms(&stacks, &flame);
    return OK;
}
