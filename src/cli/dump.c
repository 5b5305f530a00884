// etw-mcp dump: every event of a file with its decoded fields, in time order, as text, JSON lines
// or CSV. Reads the file twice (names and schemas, then the events) and keeps neither; no database
// is made. A reader that goes away ends it quietly.
#include "cli/cli.h"

#include "base/os.h"
#include "base/os_stdio.h"
#include "decode/describe.h"
#include "decode/fields.h"
#include "decode/replay.h"
#include "decode/world_build.h"
#include "tools/format.h"

#include <inttypes.h>

enum { STDOUT = 1, FIRST_BYTES = 4096, BLOCK_BYTES = 65536 };

typedef enum DumpFormat { DUMP_TEXT, DUMP_JSONL, DUMP_CSV } DumpFormat;

typedef struct DumpOptions {
    Str path, provider, event, process;
    bool has_from, has_to;
    double from_s, to_s;
    DumpFormat format;
} DumpOptions;

typedef struct DumpClass { // one per event class, filled when its first event comes
    bool known, wanted;
    ClassDescription about;
    const FieldsSchema *schema;
} DumpClass;

typedef struct Dump {
    Cli *cli;
    const DumpOptions *options;
    World *world;
    const ClassTable *classes;
    Describer *describer;
    ClassCache cache;
    DumpClass *items;
    Arena arena, scratch;
    Buf out, fields;
    bool started, closed; // something was written; the reader went away
} Dump;

// ---------------------------------------------------------------- options

static bool read_seconds(Str text, bool *has, double *out) {
    *has = str_to_f64(text, out);
    return *has;
}

static bool read_format(Str text, DumpFormat *out) {
    if (str_eq(text, STR("text")))
        *out = DUMP_TEXT;
    else if (str_eq(text, STR("jsonl")) || str_eq(text, STR("json")))
        *out = DUMP_JSONL;
    else if (str_eq(text, STR("csv")))
        *out = DUMP_CSV;
    else
        return false;
    return true;
}

typedef enum OptionRead { OPTION_READ, OPTION_UNKNOWN, OPTION_BAD } OptionRead;

static OptionRead read_option(DumpOptions *options, Str name, Str value) {
    bool good = value.n > 0;
    if (str_eq(name, STR("--provider")))
        options->provider = value;
    else if (str_eq(name, STR("--event")))
        options->event = value;
    else if (str_eq(name, STR("--process")))
        options->process = value;
    else if (str_eq(name, STR("--from")))
        good = read_seconds(value, &options->has_from, &options->from_s);
    else if (str_eq(name, STR("--to")))
        good = read_seconds(value, &options->has_to, &options->to_s);
    else if (str_eq(name, STR("--format")))
        good = read_format(value, &options->format);
    else
        return OPTION_UNKNOWN;
    return good ? OPTION_READ : OPTION_BAD;
}

// The forms that other commands name by a flag, before or behind the command.
static bool read_form(Str name, DumpOptions *options) {
    if (str_eq(name, STR("--json")))
        options->format = DUMP_JSONL;
    else if (str_eq(name, STR("--csv")))
        options->format = DUMP_CSV;
    else
        return false;
    return true;
}

static ExitCode check_options(const DumpOptions *options) {
    if (!options->path.n) return usage_error("dump wants a trace: etw-mcp dump TRACE");
    if (options->has_from && options->has_to && options->from_s >= options->to_s)
        return usage_error("dump: --from %g is not before --to %g", options->from_s, options->to_s);
    return EXIT_OK;
}

static ExitCode read_options(const Cli *cli, DumpOptions *options) {
    if (cli->format == REPLY_JSON) options->format = DUMP_JSONL;
    if (cli->format == REPLY_CSV) options->format = DUMP_CSV;
    for (size_t i = 1; i < cli->word_count; i++) {
        Str name = cli->words[i], value = {0};
        if (!str_starts(name, STR("--"))) {
            if (options->path.n) return usage_error("dump takes one trace");
            options->path = name;
            continue;
        }
        if (read_form(name, options)) continue;
        size_t equals = str_find(name, STR("="));
        if (equals != SIZE_MAX) {
            value = str_slice(name, equals + 1, name.n);
            name = str_slice(name, 0, equals);
        } else if (i + 1 < cli->word_count) {
            value = cli->words[++i];
        }
        OptionRead read = read_option(options, name, value);
        if (read == OPTION_UNKNOWN)
            return usage_error("dump: \"" STR_FMT "\" is no option of it", STR_ARG(name));
        if (read == OPTION_BAD)
            return usage_error("dump: \"" STR_FMT "\" is no value for " STR_FMT, STR_ARG(value),
                               STR_ARG(name));
    }
    return check_options(options);
}

// ---------------------------------------------------------------- choosing

static bool contains(Str text, Str part) {
    return !part.n || str_find_nocase(text, part) != SIZE_MAX;
}

static bool is_number(Str text, uint64_t wanted) {
    uint64_t number = 0;
    return str_to_u64(text, &number) && number == wanted;
}

// Classic events have an opcode and no id.
static unsigned event_number(const EventClass *class) {
    return class->key.kind == ETL_CLASSIC ? class->key.opcode : class->key.id;
}

// What has no name goes by its number.
static void name_class(const EventClass *class, Str guid, Arena *arena, ClassDescription *about) {
    if (!about->provider_name.n) about->provider_name = str_copy(arena, guid);
    if (!about->event_name.n)
        about->event_name = str_format(arena, "Event %u", event_number(class));
}

static bool class_wanted(const DumpOptions *options, const EventClass *class, Str guid,
                         const ClassDescription *about) {
    bool provider =
        contains(about->provider_name, options->provider) || contains(guid, options->provider);
    bool event = contains(about->event_name, options->event) ||
                 is_number(options->event, event_number(class));
    return provider && event;
}

// NULL: an event that the survey did not see, so the file has changed since.
static const DumpClass *class_of(Dump *dump, const EtlEvent *event) {
    uint32_t index = 0;
    if (!class_find(dump->classes, &dump->cache, event, &index)) return NULL;
    DumpClass *item = &dump->items[index];
    if (item->known) return item;
    const EventClass *class = &dump->classes->items.items[index];
    char guid[GUID_TEXT_SIZE];
    guid_to_text(&class->key.provider, guid);
    item->known = true;
    describe_class(dump->describer, class, &dump->arena, &item->about);
    name_class(class, str_from_c(guid), &dump->arena, &item->about);
    item->wanted = class_wanted(dump->options, class, str_from_c(guid), &item->about);
    if (item->wanted && item->about.schema.n)
        item->schema = schema_parse(item->about.schema, &dump->arena);
    return item;
}

// ---------------------------------------------------------------- lines

static void flush(Dump *dump) {
    if (dump->out.n && !os_write_all(STDOUT, buf_str(&dump->out))) dump->closed = true;
    buf_clear(&dump->out);
    dump->started = true;
}

typedef struct Line {
    int64_t ts_ns;
    Str provider, event, process;
    bool has_pid, has_tid;
} Line;

static void add_text_line(Dump *dump, const Line *line, const EtlEvent *event) {
    Buf *out = &dump->out;
    buf_addf(out, "%14.9f  %3u  ", (double)line->ts_ns / 1e9, event->cpu);
    if (line->has_pid)
        buf_addf(out, STR_FMT "(%" PRIu32 ")", STR_ARG(format_clean(line->process, &dump->scratch)),
                 event->pid);
    else
        buf_add_char(out, '-');
    if (line->has_tid) buf_addf(out, "/%" PRIu32, event->tid);
    buf_addf(out, "  " STR_FMT "  " STR_FMT "  ",
             STR_ARG(format_clean(line->provider, &dump->scratch)),
             STR_ARG(format_clean(line->event, &dump->scratch)));
    buf_add(out, buf_str(&dump->fields));
    buf_add_char(out, '\n');
}

static void add_jsonl_line(Dump *dump, const Line *line, const EtlEvent *event) {
    Buf *out = &dump->out;
    buf_addf(out, "{\"ts_ns\":%" PRId64 ",\"cpu\":%u", line->ts_ns, event->cpu);
    if (line->has_pid) buf_addf(out, ",\"pid\":%" PRIu32, event->pid);
    if (line->has_tid) buf_addf(out, ",\"tid\":%" PRIu32, event->tid);
    if (line->process.n) {
        buf_add_c(out, ",\"process\":");
        buf_add_json(out, line->process);
    }
    buf_add_c(out, ",\"provider\":");
    buf_add_json(out, line->provider);
    buf_add_c(out, ",\"event\":");
    buf_add_json(out, line->event);
    buf_addf(out, ",\"id\":%u,\"version\":%u,\"opcode\":%u,\"level\":%u", event->id, event->version,
             event->opcode, event->level);
    if (event->kind == ETL_MANIFEST && !guid_is_zero(&event->activity)) {
        char guid[GUID_TEXT_SIZE];
        guid_to_text(&event->activity, guid);
        buf_addf(out, ",\"activity\":\"%s\"", guid);
    }
    buf_add_c(out, ",\"fields\":");
    buf_add(out, buf_str(&dump->fields));
    buf_add_c(out, "}\n");
}

static void add_csv_line(Dump *dump, const Line *line, const EtlEvent *event) {
    Buf *out = &dump->out;
    buf_addf(out, "%" PRId64 ",%u,", line->ts_ns, event->cpu);
    if (line->has_pid) buf_addf(out, "%" PRIu32, event->pid);
    buf_add_char(out, ',');
    if (line->has_tid) buf_addf(out, "%" PRIu32, event->tid);
    buf_add_char(out, ',');
    buf_add_quoted(out, line->process, '"');
    buf_add_char(out, ',');
    buf_add_quoted(out, line->provider, '"');
    buf_add_char(out, ',');
    buf_add_quoted(out, line->event, '"');
    buf_addf(out, ",%u,%u,", event->id, event->version);
    buf_add_quoted(out, buf_str(&dump->fields), '"');
    buf_add_char(out, '\n');
}

static void add_fields(Dump *dump, const DumpClass *item, const EtlEvent *event) {
    FieldsReport report;
    buf_clear(&dump->fields);
    if (item->schema)
        fields_json(item->schema, event->payload, event->pid, &dump->scratch, &dump->fields,
                    &report);
    else
        fields_raw_json(event->payload, item->about.decoded_by, &dump->fields);
}

static void dump_event(Dump *dump, const EtlEvent *event, int64_t ts_ns) {
    const DumpClass *item = class_of(dump, event);
    if (!item || !item->wanted) return;
    uint32_t upid =
        event->pid == ETL_NO_ID ? 0 : world_process(dump->world, event->pid, event->ticks);
    Line line = {.ts_ns = ts_ns,
                 .provider = item->about.provider_name,
                 .event = item->about.event_name,
                 .process = world_process_name(dump->world, upid),
                 .has_pid = event->pid != ETL_NO_ID,
                 .has_tid = event->tid != ETL_NO_ID};
    Str wanted = dump->options->process;
    if (wanted.n && !(line.has_pid && is_number(wanted, event->pid)) &&
        !(line.process.n && contains(line.process, wanted)))
        return;
    if (dump->scratch.used_bytes) arena_clear(&dump->scratch);
    add_fields(dump, item, event);
    switch (dump->options->format) {
    case DUMP_TEXT: add_text_line(dump, &line, event); break;
    case DUMP_JSONL: add_jsonl_line(dump, &line, event); break;
    case DUMP_CSV: add_csv_line(dump, &line, event); break;
    }
    if (dump->out.n > (dump->started ? BLOCK_BYTES : FIRST_BYTES)) flush(dump);
}

static bool in_window(const DumpOptions *options, int64_t ts_ns) {
    double seconds = (double)ts_ns / 1e9;
    return (!options->has_from || seconds >= options->from_s) &&
           (!options->has_to || seconds < options->to_s);
}

static Status dump_all(Dump *dump, EtlFile *file, Err *err) {
    AUTO(replay_close) Replay *replay = replay_open(file);
    if (dump->options->format == DUMP_CSV)
        buf_add_c(&dump->out, "ts_ns,cpu,pid,tid,process,provider,event,id,version,fields\n");
    for (bool end = false; !end && !dump->closed;) {
        EtlEvent event;
        uint64_t seq = 0;
        if (atomic_load(&dump->cli->progress.cancelled))
            return err_set(err, ERR_CANCELLED, "interrupted");
        TRY(replay_next(replay, &event, &seq, &end, err));
        if (end) break;
        int64_t ts_ns = etl_ns_from_ticks(etl_header(file), event.ticks);
        if (in_window(dump->options, ts_ns)) dump_event(dump, &event, ts_ns);
    }
    flush(dump);
    return OK;
}

static Status dump_file(Cli *cli, const DumpOptions *options, Err *err) {
    AUTO(etl_close) EtlFile *file = NULL;
    Survey survey;
    TRY(etl_open(options->path, &file, err));
    Status status = survey_run_names(file, os_cpu_count(), &cli->progress, &survey, err);
    if (status != OK) {
        survey_done(&survey);
        return status;
    }
    AUTO(world_close) World *world = world_open(file, &survey);
    AUTO(describer_close) Describer *describer = describer_open(world);
    const ClassTable *classes = world_classes(world);
    Dump *dump = mem_zero(1, sizeof *dump);
    dump->cli = cli;
    dump->options = options;
    dump->world = world;
    dump->classes = classes;
    dump->describer = describer;
    dump->items = mem_zero(classes->items.count, sizeof(DumpClass));
    status = dump_all(dump, file, err);
    mem_free(dump->items);
    buf_done(&dump->out);
    buf_done(&dump->fields);
    arena_done(&dump->arena);
    arena_done(&dump->scratch);
    mem_free(dump);
    return status;
}

ExitCode command_dump(Cli *cli) {
    DumpOptions options = {0};
    ExitCode code = read_options(cli, &options);
    if (code != EXIT_OK) return code;
    Err err = {0};
    Status status = dump_file(cli, &options, &err);
    if (status == OK) return EXIT_OK;
    if (status == ERR_CANCELLED) return EXIT_INTERRUPTED;
    out_error(str_from_c(err.text));
    return EXIT_TRACE;
}
