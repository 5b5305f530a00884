// Values in scripts: numbers, times, names, lists, and the expansion of $-expressions.
#include "support/etl_build_script_priv.h"

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "image.dll+0x10": the image loaded last under that file name.
static bool image_address(const EtlScript *s, Str text, uint64_t *out) {
    size_t plus = str_rfind_char(text, '+');
    uint64_t offset = 0;
    if (plus != SIZE_MAX && !str_to_u64(str_slice(text, plus + 1, text.n), &offset)) return false;
    Str name = plus == SIZE_MAX ? text : str_slice(text, 0, plus);
    for (size_t i = s->images.count; i-- > 0;) {
        if (!str_eq_nocase(s->images.items[i].name, name)) continue;
        *out = s->images.items[i].base + offset;
        return true;
    }
    return false;
}

static bool suffixed(Str text, uint64_t *out) {
    if (text.n < 2) return false;
    char last = text.p[text.n - 1];
    uint64_t unit = last == 'K' ? 1024 : last == 'M' ? 1024 * 1024 : last == 'G' ? 1u << 30 : 0;
    return unit && str_to_u64(str_slice(text, 0, text.n - 1), out) &&
           !__builtin_mul_overflow(*out, unit, out);
}

Status script_number(EtlScript *s, Str text, uint64_t *out, Err *err) {
    int64_t negative = 0;
    if (str_to_u64(text, out) || suffixed(text, out) || image_address(s, text, out)) return OK;
    if (str_to_i64(text, &negative)) {
        *out = (uint64_t)negative;
        return OK;
    }
    return err_set(err, ERR_ARG,
                   "'" STR_FMT "' is neither a number nor an address in a known image",
                   STR_ARG(text));
}

static bool time_term(Str text, int64_t *out) {
    static const struct {
        const char *suffix;
        double ns;
    } UNITS[] = {
        {"ns", 1  },
        {"us", 1e3},
        {"ms", 1e6},
        {"s",  1e9}
    };
    double value = 0;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++) {
        Str suffix = str_from_c(UNITS[i].suffix);
        if (!str_ends(text, suffix)) continue;
        if (!str_to_f64(str_slice(text, 0, text.n - suffix.n), &value)) return false;
        double ns = value * UNITS[i].ns;
        bool fits = ns > -1e17 && ns < 1e17; // three years
        if (fits) *out = (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
        return fits;
    }
    *out = 0;
    return str_eq(text, STR("0"));
}

Status script_time(Str text, int64_t *out, Err *err) {
    int64_t sum = 0;
    for (size_t at = 0; at < text.n;) {
        size_t end = at + 1;
        while (end < text.n && text.p[end] != '+' && text.p[end] != '-') end++;
        size_t from = text.p[at] == '+' ? at + 1 : at;
        int64_t term = 0;
        if (!time_term(str_slice(text, from, end), &term))
            return err_set(err, ERR_ARG, "'" STR_FMT "' is not a time such as 10ms, 1.5s, 20us",
                           STR_ARG(text));
        sum += term;
        at = end;
    }
    *out = sum;
    return OK;
}

Status script_named(EtlScript *s, Str text, const BuildName *names, uint64_t *out, Err *err) {
    Str part, rest = text;
    *out = 0;
    while (names && str_next(&rest, '|', &part)) {
        const BuildName *name = names;
        while (name->name && !str_eq(part, str_from_c(name->name))) name++;
        uint64_t value = name->value;
        if (!name->name) TRY(script_number(s, part, &value, err));
        *out |= value;
    }
    return names ? OK : script_number(s, text, out, err);
}

Status script_frames(EtlScript *s, Str text, uint64_t **frames, size_t *count, Err *err) {
    uint64_t list[FRAMES_MAX];
    Str part;
    *count = 0;
    while (str_next(&text, ',', &part)) {
        if (*count == FRAMES_MAX)
            return err_set(err, ERR_LIMIT, "a list has more than %d values", FRAMES_MAX);
        TRY(script_number(s, str_trim(part), &list[(*count)++], err));
    }
    *frames = ARENA_ARRAY(&s->arena, uint64_t, *count);
    if (*count) memcpy(*frames, list, *count * sizeof *list);
    return OK;
}

uint64_t script_random(EtlScript *s, uint64_t below) {
    s->random += 0x9E3779B97F4A7C15u;
    uint64_t x = u64_hash(s->random);
    return below ? x % below : 0;
}

// Splits "text*weight"; the weight is 1 when there is none.
static uint64_t choice_weight(Str *choice) {
    size_t star = str_rfind_char(*choice, '*');
    uint64_t weight = 1;
    if (star != SIZE_MAX && str_to_u64(str_slice(*choice, star + 1, choice->n), &weight))
        *choice = str_slice(*choice, 0, star);
    return weight;
}

Str script_pick(EtlScript *s, Str choices) {
    uint64_t total = 0;
    Str rest = choices, part;
    while (str_next(&rest, '|', &part)) total += choice_weight(&part);
    uint64_t at = script_random(s, total);
    for (rest = choices; str_next(&rest, '|', &part);) {
        uint64_t weight = choice_weight(&part);
        if (at < weight) return part;
        at -= weight;
    }
    return (Str){0};
}

// Expressions: integers, + - * / %, parentheses, i j k (repeats from the innermost out), rand(n),
// names of variables.
typedef struct Expression {
    EtlScript *script;
    Str text;
    size_t at;
    unsigned depth;
    bool failed;
} Expression;

static int64_t sum(Expression *e);

static void skip_blanks(Expression *e) {
    while (e->at < e->text.n && e->text.p[e->at] == ' ') e->at++;
}

static bool accept(Expression *e, char c) {
    skip_blanks(e);
    if (e->at >= e->text.n || e->text.p[e->at] != c) return false;
    e->at++;
    return true;
}

static Str *variable(EtlScript *s, Str name) {
    uint64_t *found = strmap_get(&s->variables, name);
    return found ? (Str *)(uintptr_t)*found : NULL;
}

static bool index_variable(const EtlScript *s, Str name, uint64_t *out) {
    if (name.n != 1 || name.p[0] < 'i' || name.p[0] > 'l') return false;
    size_t up = (size_t)(name.p[0] - 'i');
    if (up >= s->depth) return false;
    *out = s->index[s->depth - 1 - up];
    return true;
}

static int64_t named_value(Expression *e, Str name) {
    uint64_t value = 0;
    if (str_eq(name, STR("rand"))) {
        bool open = accept(e, '(');
        int64_t below = sum(e);
        if (!open || !accept(e, ')') || below <= 0) e->failed = true;
        return e->failed ? 0 : (int64_t)script_random(e->script, (uint64_t)below);
    }
    if (index_variable(e->script, name, &value)) return (int64_t)value;
    Str *text = variable(e->script, name);
    if (!text || !str_to_u64(*text, &value)) e->failed = true;
    return (int64_t)value;
}

static int64_t factor(Expression *e) {
    if (accept(e, '-')) return (int64_t)(0 - (uint64_t)factor(e));
    if (accept(e, '(')) {
        if (++e->depth > 50) e->failed = true;
        int64_t value = e->failed ? 0 : sum(e);
        if (!accept(e, ')')) e->failed = true;
        return value;
    }
    skip_blanks(e);
    size_t from = e->at;
    while (e->at < e->text.n && is_name_char(e->text.p[e->at])) e->at++;
    Str word = str_slice(e->text, from, e->at);
    uint64_t value = 0;
    if (str_to_u64(word, &value)) return (int64_t)value;
    if (word.n == 0) e->failed = true;
    return e->failed ? 0 : named_value(e, word);
}

static int64_t product(Expression *e) {
    uint64_t value = (uint64_t)factor(e);
    while (!e->failed) {
        if (accept(e, '*')) {
            value *= (uint64_t)factor(e);
        } else if (accept(e, '/') || accept(e, '%')) {
            bool rest = e->text.p[e->at - 1] == '%';
            uint64_t by = (uint64_t)factor(e);
            if (by == 0) e->failed = true;
            if (by) value = rest ? value % by : value / by;
        } else {
            break;
        }
    }
    return (int64_t)value;
}

static int64_t sum(Expression *e) {
    uint64_t value = (uint64_t)product(e);
    while (!e->failed) {
        if (accept(e, '+')) {
            value += (uint64_t)product(e);
        } else if (accept(e, '-')) {
            value -= (uint64_t)product(e);
        } else {
            break;
        }
    }
    return (int64_t)value;
}

static Status expand_expression(EtlScript *s, Str text, Buf *out, Err *err) {
    Expression e = {.script = s, .text = text};
    int64_t value = sum(&e);
    skip_blanks(&e);
    if (e.failed || e.at != text.n)
        return err_set(err, ERR_ARG, "expression '" STR_FMT "'", STR_ARG(text));
    buf_addf(out, "%lld", (long long)value);
    return OK;
}

static Status expand_name(EtlScript *s, Str name, Buf *out, Err *err) {
    uint64_t value = 0;
    Str *text = variable(s, name);
    if (text) {
        buf_add(out, *text);
    } else if (index_variable(s, name, &value)) {
        buf_addf(out, "%llu", (unsigned long long)value);
    } else {
        return err_set(err, ERR_ARG, "unknown variable $" STR_FMT, STR_ARG(name));
    }
    return OK;
}

// Expands the one that starts at line.p[at] == '$'; *end is behind it.
static Status expand_one(EtlScript *s, Str line, size_t at, size_t *end, Buf *out, Err *err) {
    char open = at + 1 < line.n ? line.p[at + 1] : 0;
    if (open == '{' || open == '[') {
        Str close = open == '{' ? STR("}") : STR("]");
        size_t n = str_find(str_slice(line, at + 2, line.n), close);
        if (n == SIZE_MAX) return err_set(err, ERR_ARG, "no '%c' behind '$%c'", close.p[0], open);
        Str inside = str_slice(line, at + 2, at + 2 + n);
        *end = at + 3 + n;
        if (open == '{') return expand_expression(s, inside, out, err);
        Str choice = script_pick(s, inside), expanded;
        TRY(script_expand(s, choice, &expanded, err));
        buf_add(out, expanded);
        return OK;
    }
    *end = at + 1;
    while (*end < line.n && is_name_char(line.p[*end])) (*end)++;
    if (*end == at + 1) {
        buf_add_char(out, '$'); // "$(string.x)" of manifests and the like stay as they are
        return OK;
    }
    return expand_name(s, str_slice(line, at + 1, *end), out, err);
}

Status script_expand(EtlScript *s, Str line, Str *out, Err *err) {
    if (str_find(line, STR("$")) == SIZE_MAX) {
        *out = line;
        return OK;
    }
    AUTO(buf_done) Buf text = {0};
    for (size_t at = 0; at < line.n;) {
        if (line.p[at] != '$') {
            buf_add_char(&text, line.p[at++]);
            continue;
        }
        size_t end = at + 1;
        TRY(expand_one(s, line, at, &end, &text, err));
        at = end;
    }
    *out = str_copy(&s->arena, buf_str(&text));
    return OK;
}

Arg *args_find(Args *args, const char *key) {
    for (size_t i = 0; i < args->count; i++) {
        if (!str_eq(args->items[i].key, str_from_c(key))) continue;
        args->items[i].used = true;
        return &args->items[i];
    }
    return NULL;
}

Str args_text(Args *args, const char *key) {
    Arg *arg = args_find(args, key);
    return arg ? arg->value : (Str){0};
}

Status args_number(EtlScript *s, Args *args, const char *key, uint64_t fallback, uint64_t *out,
                   Err *err) {
    Arg *arg = args_find(args, key);
    *out = fallback;
    if (!arg) return OK;
    Err why = {0};
    if (script_number(s, arg->value, out, &why) != OK)
        return err_set(err, ERR_ARG, "%s: %s", key, why.text);
    return OK;
}

Status args_span(Args *args, const char *key, int64_t fallback, int64_t *out, Err *err) {
    Arg *arg = args_find(args, key);
    *out = fallback;
    return arg ? script_time(arg->value, out, err) : OK;
}

Status args_guid(Args *args, const char *key, Guid *out, Err *err) {
    Arg *arg = args_find(args, key);
    *out = (Guid){{0}};
    if (!arg || guid_from_text(arg->value, out)) return OK;
    return err_set(err, ERR_ARG, "%s: '" STR_FMT "' is not a GUID", key, STR_ARG(arg->value));
}

Status args_all_used(const Args *args, Err *err) {
    for (size_t i = 0; i < args->count; i++)
        if (!args->items[i].used)
            return err_set(err, ERR_ARG, "'" STR_FMT "' does not take '" STR_FMT "'",
                           STR_ARG(args->verb), STR_ARG(args->items[i].key));
    return OK;
}
