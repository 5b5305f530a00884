// The script interpreter: text to commands, repeats, words to arguments, verbs to events.
#include "support/etl_build_script_priv.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Command {
    Str text;
    size_t line; // in the script, from 1
} Command;

typedef struct Commands {
    VEC(Command) list;
} Commands;

static bool is_repeat(Str line) {
    return str_starts(line, STR("repeat "));
}

// Cuts at " ; " outside quotes; a repeat on one line becomes three commands.
static void add_commands(Commands *commands, Str line, size_t number) {
    line = str_trim(line);
    if (line.n == 0 || line.p[0] == '#') return;
    size_t brace = is_repeat(line) ? str_find(line, STR(" { ")) : SIZE_MAX;
    if (brace != SIZE_MAX && line.p[line.n - 1] == '}') {
        *vec_push(&commands->list) = (Command){str_slice(line, 0, brace + 2), number};
        add_commands(commands, str_slice(line, brace + 3, line.n - 1), number);
        *vec_push(&commands->list) = (Command){STR("}"), number};
        return;
    }
    bool quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"') quoted = !quoted;
        if (quoted || line.p[i] != ';' || i == 0 || line.p[i - 1] != ' ') continue;
        if (i + 1 < line.n && line.p[i + 1] != ' ') continue;
        *vec_push(&commands->list) = (Command){str_trim(str_slice(line, 0, i)), number};
        add_commands(commands, str_slice(line, i + 1, line.n), number);
        return;
    }
    *vec_push(&commands->list) = (Command){line, number};
}

typedef struct Source { // a script being split
    Str rest, line;
    size_t number;
} Source;

// A line that ends in <<WORD takes the lines up to WORD as its last value.
static Status here_text(EtlScript *s, Source *source, size_t mark, Str *out, Err *err) {
    AUTO(buf_done) Buf text = {0};
    Str line = source->line, word = str_slice(line, mark + 2, line.n);
    buf_add(&text, str_slice(line, 0, mark));
    buf_add_char(&text, '"');
    Str next;
    bool first = true;
    for (;;) {
        if (!str_next(&source->rest, '\n', &next))
            return err_set(err, ERR_ARG, "no line '" STR_FMT "' ends the text", STR_ARG(word));
        source->number++;
        if (str_eq(str_trim(next), word)) break;
        if (!first) buf_add_char(&text, '\n');
        first = false;
        for (size_t i = 0; i < next.n; i++) {
            if (next.p[i] == '\r') continue;
            if (next.p[i] == '"') buf_add_char(&text, '"'); // doubled: a quote inside quotes
            buf_add_char(&text, next.p[i]);
        }
    }
    buf_add_char(&text, '"');
    *out = str_copy(&s->arena, buf_str(&text));
    return OK;
}

static Status split_commands(EtlScript *s, Str text, Commands *commands, Err *err) {
    Source source = {.rest = text};
    while (str_next(&source.rest, '\n', &source.line)) {
        size_t first = ++source.number;
        source.line = str_trim(source.line);
        size_t mark = str_find(source.line, STR("=<<"));
        if (mark == SIZE_MAX || source.line.n <= mark + 3 || source.line.p[0] == '#') {
            add_commands(commands, source.line, first);
            continue;
        }
        Str whole = {0};
        Err why = {0};
        if (here_text(s, &source, mark + 1, &whole, &why) != OK)
            return err_set(err, ERR_ARG, "line %zu: %s", first, why.text);
        *vec_push(&commands->list) = (Command){whole, first};
    }
    return OK;
}

// One word; quotes may stand anywhere and keep blanks, "" inside them is a quote.
static Str next_word(EtlScript *s, Str *rest) {
    *rest = str_trim(*rest);
    AUTO(buf_done) Buf word = {0};
    bool quoted = false;
    size_t i = 0;
    for (; i < rest->n && (quoted || (rest->p[i] != ' ' && rest->p[i] != '\t')); i++) {
        if (rest->p[i] != '"') {
            buf_add_char(&word, rest->p[i]);
        } else if (quoted && i + 1 < rest->n && rest->p[i + 1] == '"') {
            buf_add_char(&word, '"');
            i++;
        } else {
            quoted = !quoted;
        }
    }
    *rest = str_slice(*rest, i, rest->n);
    return str_copy(&s->arena, buf_str(&word));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

Status script_args(EtlScript *s, Str line, Args *args, Err *err) {
    *args = (Args){0};
    for (size_t position = 0; line.n; position++) {
        Str word = next_word(s, &line);
        size_t equals = str_find(word, STR("="));
        bool time = word.n && equals == SIZE_MAX && position > 0 &&
                    (is_digit(word.p[0]) || word.p[0] == '-');
        if (equals != SIZE_MAX) {
            if (args->count == ARGS_MAX)
                return err_set(err, ERR_LIMIT, "more than %d arguments", ARGS_MAX);
            args->items[args->count++] = (Arg){.key = str_slice(word, 0, equals),
                                               .value = str_slice(word, equals + 1, word.n)};
        } else if (time && !args->has_time) {
            args->has_time = true;
            TRY(script_time(word, &args->time_ns, err));
        } else if (position < 2 && !args->has_time && args->count == 0) {
            args->verb = position == 0 ? word
                                       : str_format(&s->arena, STR_FMT " " STR_FMT,
                                                    STR_ARG(args->verb), STR_ARG(word));
        } else {
            return err_set(err, ERR_ARG, "unexpected '" STR_FMT "'", STR_ARG(word));
        }
    }
    args->time_ns += s->offset_ns;
    if (args->time_ns > s->last_ns) s->last_ns = args->time_ns;
    return OK;
}

static Status run_let(EtlScript *s, Str line, Err *err) {
    Str value = str_slice(line, 4, line.n), name = {0};
    (void)str_next(&value, '=', &name);
    name = str_trim(name);
    if (name.n == 0) return err_set(err, ERR_ARG, "let NAME = TEXT");
    Str *text = ARENA_NEW(&s->arena, Str);
    TRY(script_expand(s, str_trim(value), text, err));
    *text = str_copy(&s->arena, *text);
    bool added = false;
    StrMapSlot *slot = strmap_put(&s->variables, name, 0, &added);
    if (added) slot->key = str_copy(&s->arena, name);
    slot->value = (uintptr_t)text;
    return OK;
}

static Status run_command(EtlScript *s, Str line, Err *err) {
    if (str_starts(line, STR("let "))) return run_let(s, line, err);
    Str expanded;
    TRY(script_expand(s, line, &expanded, err));
    if (str_starts(expanded, STR("damage "))) {
        buf_addf(&s->damage_lines, "%zu " STR_FMT "\n", s->line, STR_ARG(expanded));
        return OK;
    }
    Args args;
    TRY(script_args(s, expanded, &args, err));
    bool known = false;
    TRY(script_special(s, &args, &known, err));
    if (!known) TRY(script_record(s, &args, &known, err));
    if (!known) return err_set(err, ERR_ARG, "unknown verb '" STR_FMT "'", STR_ARG(args.verb));
    return args_all_used(&args, err);
}

// Index of the "}" of the repeat at `from`; `to` when there is none.
static size_t repeat_end(const Commands *commands, size_t from, size_t to) {
    size_t open = 0;
    for (size_t i = from; i < to; i++) {
        Str text = commands->list.items[i].text;
        if (is_repeat(text)) open++;
        if (str_eq(text, STR("}")) && --open == 0) return i;
    }
    return to;
}

static Status run_range(EtlScript *s, const Commands *commands, size_t from, size_t to, Err *err);

// "repeat COUNT [every TIME] [from TIME] {"
static Status run_repeat(EtlScript *s, const Commands *commands, size_t from, size_t end,
                         Err *err) {
    Str line, word;
    TRY(script_expand(s, commands->list.items[from].text, &line, err));
    uint64_t count = 0;
    int64_t every = 0, start = 0, outer = s->offset_ns;
    (void)next_word(s, &line);
    if (!str_to_u64(next_word(s, &line), &count) || s->depth == DEPTH_MAX)
        return err_set(err, ERR_ARG, "repeat COUNT [every TIME] [from TIME] {, %d deep at most",
                       DEPTH_MAX);
    while ((word = next_word(s, &line)).n && !str_eq(word, STR("{"))) {
        bool is_every = str_eq(word, STR("every"));
        if (!is_every && !str_eq(word, STR("from")))
            return err_set(err, ERR_ARG, "unexpected '" STR_FMT "'", STR_ARG(word));
        TRY(script_time(next_word(s, &line), is_every ? &every : &start, err));
    }
    for (uint64_t i = 0; i < count; i++) {
        s->offset_ns = outer + start + (int64_t)i * every;
        s->index[s->depth++] = i;
        TRY(run_range(s, commands, from + 1, end, err));
        s->depth--;
    }
    s->offset_ns = outer;
    return OK;
}

static Status run_range(EtlScript *s, const Commands *commands, size_t from, size_t to, Err *err) {
    for (size_t i = from; i < to; i++) {
        Err why = {0};
        const Command *command = &commands->list.items[i];
        s->line = command->line;
        Status status = OK;
        if (is_repeat(command->text)) {
            size_t end = repeat_end(commands, i, to);
            if (end == to) return err_set(err, ERR_ARG, "line %zu: no '}'", command->line);
            status = run_repeat(s, commands, i, end, &why);
            i = end;
        } else {
            status = run_command(s, command->text, &why);
        }
        if (status == OK) continue;
        if (str_starts(str_from_c(why.text), STR("line ")))
            return err_set(err, status, "%s", why.text);
        return err_set(err, status, "line %zu: %s", command->line, why.text);
    }
    return OK;
}

EtlScript *etl_script_open(EtlBuild *build) {
    EtlScript *s = mem_zero(1, sizeof *s);
    s->build = build;
    s->interval_ns = 1000000;
    return s;
}

void etl_script_close(EtlScript *s) {
    if (!s) return;
    strmap_done(&s->variables);
    map_done(&s->pid_of_tid);
    map_done(&s->key_of_hash);
    vec_free(&s->images);
    vec_free(&s->runs);
    vec_free(&s->keys);
    buf_done(&s->damage_lines);
    arena_done(&s->arena);
    mem_free(s);
}

Status etl_script_line(EtlScript *s, Err *err, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_bytes(&s->arena, (size_t)(n > 0 ? n : 0) + 1);
    (void)vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, format, again);
    va_end(again);
    Commands commands = {0};
    Status status = split_commands(s, (Str){text, n > 0 ? (size_t)n : 0}, &commands, err);
    if (status == OK) status = run_range(s, &commands, 0, commands.list.count, err);
    vec_free(&commands.list);
    return status;
}

Status etl_script_end(EtlScript *s, Err *err) {
    TRY(script_play_runs(s, err));
    return script_define_keys(s, err);
}

// The `trace` line, which must come before every event.
static Status take_options(EtlScript *s, Commands *commands, EtlBuildOptions *options, Err *err) {
    options->sort = true;
    for (size_t i = 0; i < commands->list.count; i++) {
        Command *command = &commands->list.items[i];
        if (!str_starts(command->text, STR("trace "))) continue;
        Args args;
        Err why = {0};
        Status status = script_args(s, command->text, &args, &why);
        if (status == OK) status = script_options(s, &args, options, &why);
        if (status == OK) status = args_all_used(&args, &why);
        if (status != OK) return err_set(err, status, "line %zu: %s", command->line, why.text);
        command->text = STR("let trace = done");
        break;
    }
    return OK;
}

static Status build_trace(EtlScript *s, Commands *commands, Str path, Buf *out, Err *err) {
    EtlBuildOptions options = {.path = path};
    TRY(take_options(s, commands, &options, err));
    AUTO(etl_build_close) EtlBuild *build = etl_build_open(&options);
    s->build = build;
    TRY(run_range(s, commands, 0, commands->list.count, err));
    TRY(etl_script_end(s, err));
    return etl_build_finish(build, out, err);
}

Status etl_build_script(Str script, Buf *out, Err *err) {
    AUTO(etl_script_close) EtlScript *s = etl_script_open(NULL);
    Commands commands = {0};
    AUTO(buf_done) Buf trace = {0};
    Status status = split_commands(s, script, &commands, err);
    if (status == OK) status = build_trace(s, &commands, (Str){0}, &trace, err);
    if (status == OK) status = script_damage(s, &trace, err);
    vec_free(&commands.list);
    if (status == OK) buf_add(out, buf_str(&trace));
    return status;
}

Status etl_build_script_file(Str script, Str path, Err *err) {
    AUTO(buf_done) Buf trace = {0};
    TRY(etl_build_script(script, &trace, err));
    return file_write_atomic(path, buf_str(&trace), err);
}
