// Checking and coercing arguments, and binding them to SQL.
#include "tools/values.h"

#include "base/limits.h"

#include <math.h>
#include <stdlib.h>

enum { LIST_ITEMS_MAX = 1000, SHOWN_BYTES = 80 };

Str nearest_name(Str wanted, const Str *names, size_t count) {
    size_t best = wanted.n / 3 + 2;
    Str found = {0};
    for (size_t i = 0; i < count; i++) {
        size_t distance = str_distance(wanted, names[i], best + 1);
        bool inside =
            wanted.n >= 3 && (str_find_nocase(names[i], wanted) != SIZE_MAX ||
                              (names[i].n >= 3 && str_find_nocase(wanted, names[i]) != SIZE_MAX));
        if (inside && distance > 1) distance = 1;
        if (distance >= best) continue;
        best = distance;
        found = names[i];
    }
    return found;
}

static Str shown(Str text, Arena *arena) {
    return format_shorten(format_clean(text, arena), SHOWN_BYTES, arena);
}

static Str json_shown(const json_t *value, Arena *arena) {
    if (json_is_string(value))
        return str_format(
            arena, "\"" STR_FMT "\"",
            STR_ARG(shown((Str){json_string_value(value), json_string_length(value)}, arena)));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    Str copy = shown(str_copy(arena, str_from_c(text)), arena);
    free(text);
    return copy;
}

static Status wrong(const Param *param, const json_t *value, const char *wanted, Arena *arena,
                    Err *err) {
    return err_set(err, ERR_ARG, STR_FMT " must be %s, not " STR_FMT, STR_ARG(param->name), wanted,
                   STR_ARG(json_shown(value, arena)));
}

static bool parse_cpu_range(Str part, int64_t *low, int64_t *high) {
    size_t dash = str_find(part, STR("-"));
    Str first = str_trim(str_slice(part, 0, dash == SIZE_MAX ? part.n : dash));
    Str last = dash == SIZE_MAX ? first : str_trim(str_slice(part, dash + 1, part.n));
    return str_to_i64(first, low) && str_to_i64(last, high) && *low >= 0 && *low <= *high &&
           *high < LIMIT_CPUS;
}

Status cpuset_parse(Str text, Arena *arena, int64_t **cpus, size_t *count, Err *err) {
    *cpus = ARENA_ARRAY(arena, int64_t, LIMIT_CPUS);
    bool *seen = ARENA_ARRAY(arena, bool, LIMIT_CPUS);
    *count = 0;
    Str rest = text, part = {0};
    while (str_next(&rest, ',', &part)) {
        int64_t low = 0, high = 0;
        part = str_trim(part);
        if (!parse_cpu_range(part, &low, &high))
            return err_set(err, ERR_ARG,
                           "cpu_filter: \"" STR_FMT
                           "\" is not a CPU or a rising range of CPUs below "
                           "%d; write it as \"0-7,16\"",
                           STR_ARG(shown(part, arena)), (int)LIMIT_CPUS);
        for (int64_t cpu = low; cpu <= high; cpu++) seen[cpu] = true;
    }
    for (int64_t cpu = 0; cpu < LIMIT_CPUS; cpu++)
        if (seen[cpu]) (*cpus)[(*count)++] = cpu;
    return OK;
}

static Status check_range(const Param *param, double number, const json_t *value, Arena *arena,
                          Err *err) {
    bool low = param->has_min && number < param->min;
    bool high = param->has_max && number > param->max;
    if (!low && !high) return OK;
    Str wanted = param->has_max ? str_format(arena, "from %.15g to %.15g", param->min, param->max)
                                : str_format(arena, "at least %.15g", param->min);
    return wrong(param, value, wanted.p, arena, err);
}

static bool json_to_number(const json_t *value, double *out) {
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return isfinite(*out);
    }
    if (!json_is_string(value)) return false;
    return str_to_f64(str_trim((Str){json_string_value(value), json_string_length(value)}), out);
}

static Status read_number(const Param *param, const json_t *value, Arena *arena, Value *out,
                          Err *err) {
    bool whole = param->type == PARAM_INTEGER;
    if (!json_to_number(value, &out->f64) ||
        (whole && (out->f64 != floor(out->f64) || fabs(out->f64) > 9e15)))
        return wrong(param, value, whole ? "a whole number" : "a number", arena, err);
    TRY(check_range(param, out->f64, value, arena, err));
    out->i64 = whole ? (int64_t)out->f64 : 0;
    out->text = whole ? str_format(arena, "%lld", (long long)out->i64)
                      : str_format(arena, "%.9g", out->f64);
    return OK;
}

static Status read_boolean(const Param *param, const json_t *value, Arena *arena, Value *out,
                           Err *err) {
    Str text = json_is_string(value) ? str_trim(str_from_c(json_string_value(value))) : (Str){0};
    bool yes = json_is_true(value) || str_eq_nocase(text, STR("true")) || str_eq(text, STR("1")) ||
               (json_is_integer(value) && json_integer_value(value) == 1);
    bool no = json_is_false(value) || str_eq_nocase(text, STR("false")) || str_eq(text, STR("0")) ||
              (json_is_integer(value) && json_integer_value(value) == 0);
    if (!yes && !no) return wrong(param, value, "true or false", arena, err);
    out->boolean = yes;
    out->text = yes ? STR("true") : STR("false");
    return OK;
}

static Status read_choice(const Param *param, const json_t *value, Arena *arena, Value *out,
                          Err *err) {
    for (size_t i = 0; i < param->choice_count; i++) {
        if (!str_eq_nocase(out->text, param->choices[i])) continue;
        out->text = param->choices[i];
        return OK;
    }
    Buf wanted = {0};
    buf_add_c(&wanted, "one of ");
    for (size_t i = 0; i < param->choice_count; i++)
        buf_addf(&wanted, "%s" STR_FMT, i ? ", " : "", STR_ARG(param->choices[i]));
    Str list = str_copy(arena, buf_str(&wanted));
    buf_done(&wanted);
    return wrong(param, value, list.p, arena, err);
}

// Alternatives between |, lower-case, as the SQL macros want them.
static void read_filter(Arena *arena, Value *out) {
    size_t count = 1;
    for (size_t i = 0; i < out->text.n; i++) count += out->text.p[i] == '|';
    out->list = ARENA_ARRAY(arena, Str, count);
    Str rest = out->text, part = {0};
    while (str_next(&rest, '|', &part)) {
        part = str_trim(part);
        if (part.n) out->list[out->count++] = str_lower(arena, part);
    }
    out->present = out->given = out->count > 0;
}

static bool list_items(const json_t *array, Arena *arena, Value *out) {
    size_t count = json_array_size(array);
    if (count > LIST_ITEMS_MAX) return false;
    out->list = ARENA_ARRAY(arena, Str, count + 1);
    Buf joined = {0};
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        Str text = {0};
        if (json_is_string(item)) {
            text = (Str){json_string_value(item), json_string_length(item)};
        } else {
            char *dump = json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT);
            text = str_from_c(dump);
            out->list[out->count] = str_copy(arena, text);
            free(dump);
            text = out->list[out->count];
        }
        out->list[out->count++] = str_copy(arena, text);
        buf_addf(&joined, "%s" STR_FMT, i ? ", " : "", STR_ARG(text));
    }
    out->text = str_copy(arena, buf_str(&joined));
    buf_done(&joined);
    out->present = out->given = count > 0;
    return true;
}

// A JSON array, text that holds one, or one bare text.
static Status read_list(const Param *param, const json_t *value, Arena *arena, Value *out,
                        Err *err) {
    bool fine = false;
    if (json_is_array(value)) {
        fine = list_items(value, arena, out);
    } else if (json_is_string(value)) {
        Str text = str_trim(str_from_c(json_string_value(value)));
        json_t *parsed = str_starts(text, STR("["))
                             ? json_loadb(text.p, text.n, 0, NULL)
                             : json_pack("[s%]", text.p ? text.p : "", text.n);
        fine = json_is_array(parsed) && list_items(parsed, arena, out);
        json_decref(parsed);
    }
    return fine ? OK : wrong(param, value, "a list of texts (at most 1,000)", arena, err);
}

static Status read_text(const Param *param, const json_t *value, Arena *arena, Value *out,
                        Err *err) {
    if (json_is_string(value)) {
        Str text = {json_string_value(value), json_string_length(value)};
        if (memchr(text.p, 0, text.n)) return wrong(param, value, "text without NUL", arena, err);
        out->text = str_copy(arena, text);
    } else if (json_is_number(value)) {
        out->text = json_shown(value, arena); // cpu_filter=5, process_filter=1234
    } else {
        return wrong(param, value, "text", arena, err);
    }
    if (!str_trim(out->text).n) {
        out->present = out->given = false; // empty text is "no filter"
        return OK;
    }
    if (param->type == PARAM_ENUM) return read_choice(param, value, arena, out, err);
    if (param->type == PARAM_FILTER) read_filter(arena, out);
    if (param->type == PARAM_CPUSET)
        return cpuset_parse(out->text, arena, &out->cpus, &out->count, err);
    return OK;
}

static Status read_value(const Param *param, const json_t *value, Arena *arena, Value *out,
                         Err *err) {
    *out = (Value){.given = true, .present = true};
    switch (param->type) {
    case PARAM_INTEGER:
    case PARAM_NUMBER: {
        bool empty = json_is_string(value) && !json_string_length(value);
        if (!empty) return read_number(param, value, arena, out, err);
        *out = (Value){0};
        return OK;
    }
    case PARAM_BOOLEAN: return read_boolean(param, value, arena, out, err);
    case PARAM_LIST: return read_list(param, value, arena, out, err);
    case PARAM_TEXT:
    case PARAM_FILTER:
    case PARAM_ENUM:
    case PARAM_CPUSET: return read_text(param, value, arena, out, err);
    }
    return OK;
}

static Status read_default(const Param *param, Arena *arena, Value *out, Err *err) {
    json_t *text = json_stringn(param->default_text.p, param->default_text.n);
    Status status = read_value(param, text, arena, out, err);
    json_decref(text);
    out->given = false;
    return status;
}

static Status refuse_unknown(const Tool *tool, Str name, Arena *arena, Err *err) {
    Str *names = ARENA_ARRAY(arena, Str, tool->param_count + 1);
    Buf list = {0};
    for (size_t i = 0; i < tool->param_count; i++) {
        names[i] = tool->params[i].name;
        buf_addf(&list, "%s" STR_FMT, i ? ", " : "", STR_ARG(names[i]));
    }
    Str near = nearest_name(name, names, tool->param_count);
    Str hint = near.n ? str_format(arena, " Did you mean " STR_FMT "?", STR_ARG(near)) : (Str){0};
    (void)err_set(err, ERR_ARG, "unknown argument \"" STR_FMT "\".%s " STR_FMT " takes %s",
                  STR_ARG(shown(name, arena)), hint.n ? hint.p : "", STR_ARG(tool->name),
                  list.n ? list.p : "no arguments");
    buf_done(&list);
    return ERR_ARG;
}

static Status check_names(const Tool *tool, const json_t *arguments, Arena *arena, Err *err) {
    const char *key = NULL;
    json_t *value = NULL;
    json_t *object = json_incref((json_t *)(uintptr_t)arguments); // jansson's loops want it mutable
    Status status = OK;
    json_object_foreach(object, key, value) {
        if (tool_param(tool, str_from_c(key))) continue;
        status = refuse_unknown(tool, str_from_c(key), arena, err);
        break;
    }
    json_decref(object);
    return status;
}

static Status missing(const Tool *tool, const Param *param, Err *err) {
    if (str_eq(param->name, STR("trace_id")))
        return err_set(err, ERR_ARG,
                       "trace_id is required: load_trace returns it, list_loaded_traces lists it");
    return err_set(err, ERR_ARG, STR_FMT " is required by " STR_FMT ": " STR_FMT,
                   STR_ARG(param->name), STR_ARG(tool->name), STR_ARG(param->about));
}

Status values_read(const Tool *tool, const json_t *arguments, Arena *arena, Values *out, Err *err) {
    *out = (Values){.tool = tool, .items = ARENA_ARRAY(arena, Value, tool->param_count + 1)};
    if (arguments && !json_is_null(arguments)) {
        if (!json_is_object(arguments))
            return err_set(err, ERR_ARG, "arguments must be a JSON object");
        TRY(check_names(tool, arguments, arena, err));
    }
    for (size_t i = 0; i < tool->param_count; i++) {
        const Param *param = &tool->params[i];
        const json_t *value = json_object_get(arguments, str_to_c(arena, param->name));
        if (value && !json_is_null(value))
            TRY(read_value(param, value, arena, &out->items[i], err));
        if (!out->items[i].present && param->has_default)
            TRY(read_default(param, arena, &out->items[i], err));
        if (!out->items[i].present && param->required) return missing(tool, param, err);
    }
    return OK;
}

const Value *values_get(const Values *values, const char *name) {
    const Param *param = tool_param(values->tool, str_from_c(name));
    INVARIANT(param);
    return &values->items[param - values->tool->params];
}

Str values_text(const Values *values, const char *name) {
    const Value *value = values_get(values, name);
    return value->present ? value->text : (Str){0};
}

// "*" stands for anything, at either end of the pattern.
static bool like(Str text, Str pattern) {
    bool open_front = str_starts(pattern, STR("*")), open_back = str_ends(pattern, STR("*"));
    Str core = str_slice(pattern, open_front ? 1 : 0, pattern.n - (open_back && pattern.n ? 1 : 0));
    if (open_front && open_back) return str_find(text, core) != SIZE_MAX;
    if (open_front) return str_ends(text, core);
    return open_back ? str_starts(text, core) : str_eq(text, core);
}

static bool when_holds(const When *when, const Values *values) {
    const Param *param = tool_param(values->tool, when->param);
    INVARIANT(param);
    const Value *value = &values->items[param - values->tool->params];
    bool holds = false;
    Str rest = when->values, part = {0};
    while (!holds && value->present && str_next(&rest, ',', &part)) holds = like(value->text, part);
    return holds != when->negated;
}

bool whens_hold(const Whens *whens, const Values *values) {
    for (size_t i = 0; i < whens->count; i++)
        if (!when_holds(&whens->items[i], values)) return false;
    return true;
}

static Arg arg_from(const Param *param, const Value *value) {
    Arg arg = {.type = ARG_NULL};
    if (!value->present) return arg;
    switch (param->type) {
    case PARAM_INTEGER: return (Arg){.type = ARG_I64, .i64 = value->i64};
    case PARAM_NUMBER: return (Arg){.type = ARG_F64, .f64 = value->f64};
    case PARAM_BOOLEAN: return (Arg){.type = ARG_BOOL, .boolean = value->boolean};
    case PARAM_TEXT:
    case PARAM_ENUM: return (Arg){.type = ARG_TEXT, .text = value->text};
    case PARAM_CPUSET:
        return (Arg){.type = ARG_I64_LIST, .i64_list = value->cpus, .list_count = value->count};
    case PARAM_FILTER:
    case PARAM_LIST:
        return (Arg){.type = ARG_TEXT_LIST, .text_list = value->list, .list_count = value->count};
    }
    return arg;
}

size_t values_bind(const Values *values, Arena *arena, Arg *args) {
    for (size_t i = 0; i < values->tool->param_count; i++) {
        args[i] = arg_from(&values->tool->params[i], &values->items[i]);
        args[i].name = str_to_c(arena, values->tool->params[i].name);
    }
    return values->tool->param_count;
}
