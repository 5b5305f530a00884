// Reads one tool file. The grammar, one `-- key rest` a line before the SQL (lines that continue a
// text start with "--" and at least four blanks):
//
//   tool NAME | title TEXT | headline TEXT | group NAME | place N | about TEXT | example TEXT
//   handler NAME            the tool is a C function
//   trace none              the tool takes no trace_id
//   acts write|destructive|open_world
//   param NAME TYPE DEFAULT [LIMITS] TEXT    DEFAULT: required, null or a value; LIMITS: 1..500,
//                           1.. (integer, number) or a|b|c (enum)
//   window                  start_time and end_time; $start_ns and $end_ns are always bound
//   filters cpu module process function      the common filters of these names
//   rows N                  max_rows, default N
//   denominator             the three parameters of a denominator
//   needs A B               sources of data: one of them must be there; several lines: each line
//   note TEXT | next CALL   printed behind the tables; {param} and {Column} (of the first row) are
//                           filled in; both may start with when/unless
//   common                  the SQL that follows is put before each section (WITH ...)
//   section NAME STYLE [optional] [when P=A,B] [unless P=A]
//   heading TEXT | empty TEXT | cap PARAM    of the section
//   out TITLE FORMAT [when P=A,B] TEXT       a column of the section, in the order of the SELECT
//
// A line of SQL that ends in `-- when P=A,B` or `-- unless P=A` is there only when that holds
// (`P=*`: the parameter is given): a filter that is not in use costs nothing.
#include "tools/catalog.h"

typedef struct ToolParser {
    Str file;
    unsigned line;
    Arena *arena;
    Tool *tool;
    VEC(Param) params;
    VEC(Section) sections;
    VEC(OutColumn) columns; // of the section being read
    Str *continued;         // text that a continuation line adds to
    const char *sql_start;  // of the section or the common part being read; NULL in headers
    bool in_common;
} ToolParser;

static Status complain(const ToolParser *parser, Err *err, const char *what, Str value) {
    return err_set(err, ERR_INPUT, STR_FMT ":%u: %s: \"" STR_FMT "\"", STR_ARG(parser->file),
                   parser->line, what, STR_ARG(value));
}

// Cuts the next word, or "quoted words", off *rest.
static bool take_word(Str *rest, Str *word) {
    *rest = str_trim(*rest);
    if (!rest->n) return false;
    bool quoted = rest->p[0] == '"';
    size_t from = quoted ? 1 : 0, end = from;
    while (end < rest->n && (quoted ? rest->p[end] != '"' : rest->p[end] != ' ')) end++;
    *word = str_slice(*rest, from, end);
    *rest = str_trim(str_slice(*rest, end + (quoted ? 1 : 0), rest->n));
    return true;
}

static bool parse_limits(Str word, Param *param) {
    size_t dots = str_find(word, STR(".."));
    if (dots == SIZE_MAX) return false;
    Str low = str_slice(word, 0, dots), high = str_slice(word, dots + 2, word.n);
    if (low.n && !(param->has_min = str_to_f64(low, &param->min))) return false;
    if (high.n && !(param->has_max = str_to_f64(high, &param->max))) return false;
    return low.n || high.n;
}

static void parse_choices(ToolParser *parser, Str word, Param *param) {
    size_t count = 1;
    for (size_t i = 0; i < word.n; i++) count += word.p[i] == '|';
    param->choices = ARENA_ARRAY(parser->arena, Str, count);
    Str rest = word, choice;
    while (str_next(&rest, '|', &choice)) param->choices[param->choice_count++] = choice;
}

static const struct {
    const char *name;
    ParamType type;
} TYPES[] = {
    {"text",    PARAM_TEXT   },
    {"filter",  PARAM_FILTER },
    {"integer", PARAM_INTEGER},
    {"number",  PARAM_NUMBER },
    {"seconds", PARAM_NUMBER },
    {"boolean", PARAM_BOOLEAN},
    {"enum",    PARAM_ENUM   },
    {"cpuset",  PARAM_CPUSET },
    {"list",    PARAM_LIST   },
};

const char *param_type_name(ParamType type) {
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (TYPES[i].type == type) return TYPES[i].name;
    return "text";
}

static Status parse_param(ToolParser *parser, Str rest, Err *err) {
    Param param = {0};
    Str type = {0}, word = {0};
    if (!take_word(&rest, &param.name) || !take_word(&rest, &type) || !take_word(&rest, &word))
        return complain(parser, err, "param wants NAME TYPE DEFAULT", rest);
    size_t i = 0;
    while (i < COUNT_OF(TYPES) && !str_eq(type, str_from_c(TYPES[i].name))) i++;
    if (i == COUNT_OF(TYPES)) return complain(parser, err, "unknown parameter type", type);
    param.type = TYPES[i].type;
    param.required = str_eq(word, STR("required"));
    param.has_default = !param.required && !str_eq(word, STR("null"));
    param.default_text = word;
    Str limits = {0}, behind = rest;
    if (param.type == PARAM_INTEGER || param.type == PARAM_NUMBER) {
        if (take_word(&behind, &limits) && parse_limits(limits, &param)) rest = behind;
    } else if (param.type == PARAM_ENUM) {
        if (!take_word(&rest, &limits)) return complain(parser, err, "enum wants choices", rest);
        parse_choices(parser, limits, &param);
    }
    param.about = rest;
    param.is_cap = str_eq(param.name, STR("max_rows")) || str_eq(param.name, STR("top_n"));
    *vec_push(&parser->params) = param;
    parser->continued = &parser->params.items[parser->params.count - 1].about;
    return OK;
}

static Status parse_params(ToolParser *parser, const char *const *lines, size_t count, Err *err) {
    for (size_t i = 0; i < count; i++) TRY(parse_param(parser, str_from_c(lines[i]), err));
    parser->continued = NULL;
    return OK;
}

static Status parse_window(ToolParser *parser, Err *err) {
    static const char *const LINES[] = {
        "start_time seconds null From this second on.",
        "end_time seconds null Before this second.",
    };
    parser->tool->has_window = true;
    TRY(parse_params(parser, LINES, COUNT_OF(LINES), err));
    for (size_t i = parser->params.count - 2; i < parser->params.count; i++)
        parser->params.items[i].is_window = true;
    return OK;
}

static Status parse_filters(ToolParser *parser, Str rest, Err *err) {
    static const char *const LINES[] = {
        "cpu_filter cpuset null CPUs, as in \"0-7,16\".",
        "module_filter filter null Part of a module name; a|b: either.",
        "process_filter filter null Part of a process name, or a pid; a|b: either.",
        "function_filter filter null Part of a function name; a|b: either.",
    };
    Str name = {0};
    while (take_word(&rest, &name)) {
        size_t i = 0;
        while (i < COUNT_OF(LINES) && !str_starts(str_from_c(LINES[i]), name)) i++;
        if (i == COUNT_OF(LINES)) return complain(parser, err, "unknown common filter", name);
        TRY(parse_params(parser, &LINES[i], 1, err));
    }
    return OK;
}

static Status parse_denominator(ToolParser *parser, Err *err) {
    static const char *const LINES[] = {
        "denominator enum trace trace|active_cpus|active_busy|custom What 100 % is.",
        "denominator_lps integer null 1.. Processors, for custom.",
        "denominator_seconds number null Seconds, for custom.",
    };
    return parse_params(parser, LINES, COUNT_OF(LINES), err);
}

static Status parse_rows(ToolParser *parser, Str rest, Err *err) {
    Str line =
        str_format(parser->arena, "max_rows integer " STR_FMT " 1.. Rows shown.", STR_ARG(rest));
    TRY(parse_param(parser, line, err));
    parser->continued = NULL;
    return OK;
}

bool whens_take(Str *rest, Whens *whens) {
    for (;;) {
        Str behind = *rest, word = {0};
        if (!take_word(&behind, &word)) return true;
        bool negated = str_eq(word, STR("unless"));
        if (!negated && !str_eq(word, STR("when"))) return true;
        if (!take_word(&behind, &word)) return false;
        size_t equals = str_find(word, STR("="));
        if (equals == SIZE_MAX || whens->count == WHEN_MAX) return false;
        whens->items[whens->count++] = (When){.param = str_slice(word, 0, equals),
                                              .values = str_slice(word, equals + 1, word.n),
                                              .negated = negated};
        *rest = behind;
    }
}

static Status take_whens(const ToolParser *parser, Str *rest, Whens *whens, Err *err) {
    return whens_take(rest, whens) ? OK : complain(parser, err, "when wants P=A,B", *rest);
}

static const struct {
    const char *name;
    SectionStyle style;
} STYLES[] = {
    {"table",     STYLE_TABLE    },
    {"values",    STYLE_VALUES   },
    {"lines",     STYLE_LINES    },
    {"notes",     STYLE_NOTES    },
    {"next",      STYLE_NEXT     },
    {"code",      STYLE_CODE     },
    {"histogram", STYLE_HISTOGRAM},
    {"pivot",     STYLE_PIVOT    },
};

static void finish_sql(ToolParser *parser, const char *end) {
    if (!parser->sql_start) return;
    Str sql = str_trim((Str){parser->sql_start, (size_t)(end - parser->sql_start)});
    if (str_ends(sql, STR(";"))) sql = str_trim(str_slice(sql, 0, sql.n - 1));
    parser->sql_start = NULL;
    if (parser->in_common)
        parser->tool->common = sql;
    else if (parser->sections.count)
        parser->sections.items[parser->sections.count - 1].sql = sql;
}

static void finish_section(ToolParser *parser) {
    if (!parser->sections.count) return;
    Section *section = &parser->sections.items[parser->sections.count - 1];
    if (!parser->columns.count) return;
    section->columns = ARENA_ARRAY(parser->arena, OutColumn, parser->columns.count);
    memcpy(section->columns, parser->columns.items, parser->columns.count * sizeof(OutColumn));
    section->column_count = parser->columns.count;
    parser->columns.count = 0;
}

static Section *push_section(ToolParser *parser, Str name) {
    finish_section(parser);
    Section *section = vec_push(&parser->sections);
    *section = (Section){.name = name};
    parser->in_common = false;
    return section;
}

static Status parse_section(ToolParser *parser, Str rest, Err *err) {
    Str name = {0}, style = {0}, word = {0};
    if (!take_word(&rest, &name) || !take_word(&rest, &style))
        return complain(parser, err, "section wants NAME STYLE", rest);
    size_t i = 0;
    while (i < COUNT_OF(STYLES) && !str_eq(style, str_from_c(STYLES[i].name))) i++;
    if (i == COUNT_OF(STYLES)) return complain(parser, err, "unknown section style", style);
    Section *section = push_section(parser, name);
    section->style = STYLES[i].style;
    Str behind = rest;
    if (take_word(&behind, &word) && str_eq(word, STR("optional"))) {
        section->optional = true;
        rest = behind;
    }
    TRY(take_whens(parser, &rest, &section->when, err));
    return rest.n ? complain(parser, err, "section has more than it may", rest) : OK;
}

// The section a header line belongs to: tools of one table need no section line.
static Section *current_section(ToolParser *parser) {
    if (!parser->sections.count) return push_section(parser, STR("main"));
    return &parser->sections.items[parser->sections.count - 1];
}

static Status parse_out(ToolParser *parser, Str rest, Err *err) {
    OutColumn column = {0};
    Str format = {0};
    (void)current_section(parser);
    if (!take_word(&rest, &column.title) || !take_word(&rest, &format))
        return complain(parser, err, "out wants TITLE FORMAT", rest);
    if (!format_parse(format, &column.format))
        return complain(parser, err, "unknown format", format);
    TRY(take_whens(parser, &rest, &column.when, err));
    column.about = rest;
    *vec_push(&parser->columns) = column;
    parser->continued = &parser->columns.items[parser->columns.count - 1].about;
    return OK;
}

static Status parse_acts(ToolParser *parser, Str rest, Err *err) {
    Str word = {0};
    while (take_word(&rest, &word)) {
        if (str_eq(word, STR("write"))) {
            parser->tool->read_only = false;
        } else if (str_eq(word, STR("destructive"))) {
            parser->tool->destructive = true;
        } else if (str_eq(word, STR("open_world"))) {
            parser->tool->open_world = true;
        } else {
            return complain(parser, err, "acts wants write, destructive or open_world", word);
        }
    }
    return OK;
}

static Status push_line(ToolParser *parser, Str *lines, size_t *count, Str text, Err *err) {
    if (*count == TOOL_LINES_MAX) return complain(parser, err, "too many lines of a kind", text);
    lines[*count] = text;
    parser->continued = &lines[*count];
    (*count)++;
    return OK;
}

static Status push_tool_line(ToolParser *parser, ToolLine *lines, size_t *count, Str text,
                             Err *err) {
    if (*count == TOOL_LINES_MAX) return complain(parser, err, "too many lines of a kind", text);
    ToolLine *line = &lines[(*count)++];
    TRY(take_whens(parser, &text, &line->when, err));
    line->text = text;
    parser->continued = &line->text;
    return OK;
}

static bool parse_text_key(ToolParser *parser, Str key, Str rest) {
    Tool *tool = parser->tool;
    const struct {
        const char *key;
        Str *text;
    } texts[] = {
        {"tool",     &tool->name    },
        {"title",    &tool->title   },
        {"headline", &tool->headline},
        {"group",    &tool->group   },
        {"about",    &tool->about   },
        {"example",  &tool->example },
        {"handler",  &tool->handler },
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (!str_eq(key, str_from_c(texts[i].key))) continue;
        *texts[i].text = rest;
        parser->continued = texts[i].text;
        return true;
    }
    return false;
}

static bool parse_section_key(ToolParser *parser, Str key, Str rest) {
    if (str_eq(key, STR("heading"))) {
        current_section(parser)->heading = rest;
    } else if (str_eq(key, STR("empty"))) {
        current_section(parser)->empty = rest;
        parser->continued = &current_section(parser)->empty;
    } else if (str_eq(key, STR("cap"))) {
        current_section(parser)->cap = rest;
    } else {
        return false;
    }
    return true;
}

static Status parse_place(ToolParser *parser, Str rest, Err *err) {
    int64_t place = 0;
    if (!str_to_i64(rest, &place) || place < 0 || place > 100000)
        return complain(parser, err, "place wants a number", rest);
    parser->tool->place = (int)place;
    return OK;
}

static Status parse_key(ToolParser *parser, Str key, Str rest, Err *err) {
    Tool *tool = parser->tool;
    parser->continued = NULL;
    if (parse_text_key(parser, key, rest) || parse_section_key(parser, key, rest)) return OK;
    if (str_eq(key, STR("param"))) return parse_param(parser, rest, err);
    if (str_eq(key, STR("out"))) return parse_out(parser, rest, err);
    if (str_eq(key, STR("section"))) return parse_section(parser, rest, err);
    if (str_eq(key, STR("window"))) return parse_window(parser, err);
    if (str_eq(key, STR("filters"))) return parse_filters(parser, rest, err);
    if (str_eq(key, STR("rows"))) return parse_rows(parser, rest, err);
    if (str_eq(key, STR("denominator"))) return parse_denominator(parser, err);
    if (str_eq(key, STR("acts"))) return parse_acts(parser, rest, err);
    if (str_eq(key, STR("place"))) return parse_place(parser, rest, err);
    if (str_eq(key, STR("needs")))
        return push_line(parser, tool->needs, &tool->needs_count, rest, err);
    if (str_eq(key, STR("note")))
        return push_tool_line(parser, tool->notes, &tool->notes_count, rest, err);
    if (str_eq(key, STR("next")))
        return push_tool_line(parser, tool->next, &tool->next_count, rest, err);
    if (str_eq(key, STR("common"))) {
        parser->in_common = true;
        return OK;
    }
    if (str_eq(key, STR("trace")) && str_eq(rest, STR("none"))) {
        tool->needs_trace = false;
        return OK;
    }
    return complain(parser, err, "unknown header key", key);
}

static void append_continuation(ToolParser *parser, Str text) {
    if (!parser->continued) return;
    *parser->continued =
        str_format(parser->arena, STR_FMT " " STR_FMT, STR_ARG(*parser->continued), STR_ARG(text));
}

// In SQL only `-- section` and `-- common` are ours; other comments are SQL's.
static bool ends_sql(Str line) {
    return str_starts(line, STR("-- section ")) || str_eq(line, STR("-- common"));
}

static Status parse_line(ToolParser *parser, Str line, Err *err) {
    Str trimmed = str_trim(line);
    if (parser->sql_start) {
        if (!ends_sql(trimmed)) return OK;
        finish_sql(parser, line.p);
    }
    if (!trimmed.n) return OK;
    if (!str_starts(trimmed, STR("--"))) {
        if (!parser->in_common) (void)current_section(parser);
        parser->sql_start = line.p;
        return OK;
    }
    Str body = str_slice(trimmed, 2, trimmed.n);
    if (str_starts(body, STR("    "))) {
        append_continuation(parser, str_trim(body));
        return OK;
    }
    Str key = {0};
    if (!take_word(&body, &key)) return OK;
    return parse_key(parser, key, body, err);
}

static void put_trace_param(ToolParser *parser) {
    Param param = {.name = STR("trace_id"),
                   .type = PARAM_TEXT,
                   .required = true,
                   .about = STR("Id from load_trace.")};
    *vec_push(&parser->params) = param;
}

static Status check_whens(const ToolParser *parser, const Whens *whens, Err *err) {
    for (size_t i = 0; i < whens->count; i++)
        if (!tool_param(parser->tool, whens->items[i].param))
            return complain(parser, err, "when names no parameter", whens->items[i].param);
    return OK;
}

static Status check_tool(const ToolParser *parser, Err *err) {
    const Tool *tool = parser->tool;
    if (!tool->name.n || !tool->title.n || !tool->group.n || !tool->about.n)
        return complain(parser, err, "tool, title, group and about are required", tool->name);
    if (tool->about.n > 600) return complain(parser, err, "about is over 600 bytes", tool->name);
    if (tool->handler.n) return OK;
    if (!tool->section_count) return complain(parser, err, "no SQL and no handler", tool->name);
    for (size_t i = 0; i < tool->section_count; i++) {
        const Section *section = &tool->sections[i];
        if (!section->sql.n) return complain(parser, err, "section without SQL", section->name);
        if (!section->column_count)
            return complain(parser, err, "section without out lines", section->name);
        if (section->cap.n && !tool_param(tool, section->cap))
            return complain(parser, err, "cap names no parameter", section->cap);
        TRY(check_whens(parser, &section->when, err));
        for (size_t c = 0; c < section->column_count; c++)
            TRY(check_whens(parser, &section->columns[c].when, err));
    }
    return OK;
}

// trace_id comes first whatever the order of the header.
static void settle_params(ToolParser *parser) {
    Tool *tool = parser->tool;
    size_t first = tool->needs_trace ? 0 : 1;
    tool->param_count = parser->params.count - first;
    tool->params = ARENA_ARRAY(parser->arena, Param, tool->param_count);
    memcpy(tool->params, parser->params.items + first, tool->param_count * sizeof(Param));
}

static Status parse_lines(ToolParser *parser, Str text, Err *err) {
    put_trace_param(parser);
    Str rest = text, line = {0};
    while (str_next(&rest, '\n', &line)) {
        parser->line++;
        TRY(parse_line(parser, line, err));
    }
    finish_sql(parser, text.p + text.n);
    finish_section(parser);
    Tool *tool = parser->tool;
    settle_params(parser);
    if (parser->sections.count) {
        tool->section_count = parser->sections.count;
        tool->sections = ARENA_ARRAY(parser->arena, Section, tool->section_count);
        memcpy(tool->sections, parser->sections.items, tool->section_count * sizeof(Section));
    }
    if (!tool->headline.n)
        tool->headline = str_format(parser->arena, "**" STR_FMT "**", STR_ARG(tool->title));
    for (size_t i = 0; i < tool->section_count; i++) {
        Section *section = &tool->sections[i];
        if (!section->cap.n && tool_param(tool, STR("max_rows")) &&
            str_eq(section->name, STR("main")))
            section->cap = STR("max_rows");
    }
    TRY(tool_split_common(tool, parser->arena, err));
    return check_tool(parser, err);
}

Status tool_parse(Str file, Str text, Arena *arena, Tool *out, Err *err) {
    *out = (Tool){.needs_trace = true, .read_only = true, .idempotent = true, .place = 500};
    ToolParser parser = {.file = file, .arena = arena, .tool = out};
    Status status = parse_lines(&parser, text, err);
    vec_free(&parser.params);
    vec_free(&parser.sections);
    vec_free(&parser.columns);
    return status;
}
