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

static bool read_option(DumpOptions *options, Str name, Str value) {
    if (str_eq(name, STR("--provider")))
        options->provider = value;
    else if (str_eq(name, STR("--event")))
        options->event = value;
    else if (str_eq(name, STR("--process")))
        options->process = value;
    else if (str_eq(name, STR("--from")))
        return read_seconds(value, &options->has_from, &options->from_s);
    else if (str_eq(name, STR("--to")))
        return read_seconds(value, &options->has_to, &options->to_s);
    else if (str_eq(name, STR("--format")))
        return read_format(value, &options->format);
    else
        return false;
    return true;
}

static ExitCode read_options(const Cli *cli, DumpOptions *options) {
    for (size_t i = 1; i < cli->word_count; i++) {
        Str name = cli->words[i], value = {0};
        if (!str_starts(name, STR("--"))) {
            if (options->path.n) return usage_error("dump takes one trace");
            options->path = name;
            continue;
        }
        size_t equals = str_find(name, STR("="));
        if (equals != SIZE_MAX) {
            value = str_slice(name, equals + 1, name.n);
            name = str_slice(name, 0, equals);
        } else if (i + 1 < cli->word_count) {
            value = cli->words[++i];
        }
        if (!read_option(options, name, value))
            return usage_error("dump: \"" STR_FMT "\" is no option, or \"" STR_FMT
                               "\" no value for it",
                               STR_ARG(name), STR_ARG(value));
    }
    return options->path.n ? EXIT_OK : usage_error("dump wants a trace: etw-mcp dump TRACE");
}

// ---------------------------------------------------------------- choosing

static bool contains(Str text, Str part) {
    return !part.n || str_find_nocase(text, part) != SIZE_MAX;
}

static bool is_number(Str text, uint64_t wanted) {
    uint64_t number = 0;
    return str_to_u64(text, &number) && number == wanted;
}

static bool class_wanted(const DumpOptions *options, const EventClass *class,
                         const ClassDescription *about) {
    char guid[GUID_TEXT_SIZE];
    guid_to_text(&class->key.provider, guid);
    bool provider = contains(about->provider_name, options->provider) ||
                    contains(str_from_c(guid), options->provider);
    bool event =
        contains(about->event_name, options->event) || is_number(options->event, class->key.id);
    return provider && event;
}

// NULL: an event that the survey did not see, so the file has changed since.
static const DumpClass *class_of(Dump *dump, const EtlEvent *event) {
    uint32_t index = 0;
    if (!class_find(dump->classes, &dump->cache, event, &index)) return NULL;
    DumpClass *item = &dump->items[index];
    if (item->known) return item;
    const EventClass *class = &dump->classes->items.items[index];
    item->known = true;
    describe_class(dump->describer, class, &dump->arena, &item->about);
    item->wanted = class_wanted(dump->options, class, &item->about);
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

static void add_provider(Buf *out, const DumpClass *item, const EtlEvent *event) {
    char guid[GUID_TEXT_SIZE];
    if (item->about.provider_name.n) {
        buf_add(out, item->about.provider_name);
        return;
    }
    guid_to_text(&event->provider, guid);
    buf_add_c(out, guid);
}

static void add_event_name(Buf *out, const DumpClass *item, const EtlEvent *event) {
    if (item->about.event_name.n)
        buf_add(out, item->about.event_name);
    else
        buf_addf(out, "Event %u", event->kind == ETL_CLASSIC ? event->opcode : event->id);
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
        buf_addf(out, STR_FMT "(%" PRIu32 ")", STR_ARG(line->process), event->pid);
    else
        buf_add_char(out, '-');
    if (line->has_tid) buf_addf(out, "/%" PRIu32, event->tid);
    buf_addf(out, "  " STR_FMT "  " STR_FMT "  ", STR_ARG(line->provider), STR_ARG(line->event));
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
                 .process = world_process_name(dump->world, upid),
                 .has_pid = event->pid != ETL_NO_ID,
                 .has_tid = event->tid != ETL_NO_ID};
    Str wanted = dump->options->process;
    if (wanted.n && !(line.has_pid && is_number(wanted, event->pid)) &&
        !(line.process.n && contains(line.process, wanted)))
        return;
    if (dump->scratch.used_bytes) arena_clear(&dump->scratch);
    AUTO(buf_done) Buf provider = {0}, name = {0};
    add_provider(&provider, item, event);
    add_event_name(&name, item, event);
    line.provider = buf_str(&provider);
    line.event = buf_str(&name);
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
