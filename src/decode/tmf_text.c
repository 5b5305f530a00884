// The text of a WPP message: its format with the arguments filled in, as the system's own formatter
// prints them.
#include "decode/fields_internal.h"

#include <inttypes.h>

enum { ARGUMENTS_MAX = 64, FIRST_ARGUMENT = 10, WIDTH_MAX = 4096 };

typedef struct Arguments {
    const FieldsNode *nodes[ARGUMENTS_MAX];
    FieldsRaw values[ARGUMENTS_MAX];
    size_t count;
} Arguments;

typedef struct Conversion { // of "%10!-08I64x!"
    bool left, zeros, alternate, plus, blank;
    unsigned width, precision;
    bool has_precision;
    char letter;
} Conversion;

static Conversion read_conversion(Str spec) {
    Conversion c = {.letter = spec.n ? spec.p[spec.n - 1] : 's'};
    size_t i = 0;
    for (; i < spec.n; i++) {
        char f = spec.p[i];
        if (f == '-')
            c.left = true;
        else if (f == '0')
            c.zeros = true;
        else if (f == '#')
            c.alternate = true;
        else if (f == '+')
            c.plus = true;
        else if (f == ' ')
            c.blank = true;
        else
            break;
    }
    for (; i < spec.n && spec.p[i] >= '0' && spec.p[i] <= '9'; i++)
        if (c.width < WIDTH_MAX) c.width = c.width * 10 + (unsigned)(spec.p[i] - '0');
    if (i < spec.n && spec.p[i] == '.') {
        c.has_precision = true;
        for (i++; i < spec.n && spec.p[i] >= '0' && spec.p[i] <= '9'; i++)
            if (c.precision < WIDTH_MAX)
                c.precision = c.precision * 10 + (unsigned)(spec.p[i] - '0');
    }
    return c;
}

static void add_padded(Buf *out, const Conversion *c, Str prefix, Str digits) {
    size_t zeros = 0, used = prefix.n + digits.n;
    if (c->has_precision && digits.n < c->precision) zeros = c->precision - digits.n;
    if (!c->has_precision && c->zeros && !c->left && used < c->width) zeros = c->width - used;
    used += zeros;
    for (size_t i = used; !c->left && i < c->width; i++) buf_add_char(out, ' ');
    buf_add(out, prefix);
    for (size_t i = 0; i < zeros; i++) buf_add_char(out, '0');
    buf_add(out, digits);
    for (size_t i = used; c->left && i < c->width; i++) buf_add_char(out, ' ');
}

static Str digits_of(uint64_t v, unsigned base, bool upper, char *text, size_t size) {
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    size_t at = size;
    do {
        text[--at] = digits[v % base];
        v /= base;
    } while (v);
    return (Str){text + at, size - at};
}

static void add_number(Buf *out, const Conversion *c, const FieldsRaw *raw, unsigned pointer_size) {
    char text[24];
    uint64_t u = raw->u;
    if (raw->n && raw->n < 8) u &= ((uint64_t)1 << (8 * raw->n)) - 1;
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    bool hex = c->letter == 'x' || c->letter == 'X' || c->letter == 'p';
    Str prefix = {0};
    if (is_signed && raw->n && raw->n < 8) { // sign of its own size
        unsigned shift = (unsigned)(64 - 8 * raw->n);
        u = (uint64_t)((int64_t)(u << shift) >> shift);
    }
    if (is_signed && (int64_t)u < 0) {
        prefix = STR("-");
        u = 0 - u;
    } else if (is_signed && (c->plus || c->blank)) {
        prefix = c->plus ? STR("+") : STR(" ");
    }
    if (c->alternate && hex && u) prefix = c->letter == 'X' ? STR("0X") : STR("0x");
    Conversion shown = *c;
    if (c->letter == 'p') { // all digits of a pointer
        shown.has_precision = true;
        shown.precision = 2 * pointer_size;
    }
    unsigned base = hex ? 16 : c->letter == 'o' ? 8 : 10;
    add_padded(out, &shown, prefix,
               digits_of(u, base, c->letter == 'X' || c->letter == 'p', text, sizeof text));
}

static void add_set(Buf *out, const FieldsMap *map, uint64_t value) {
    const char *separator = "[";
    for (size_t i = 0; i < map->count; i++) {
        if (!(value & map->entries[i].value)) continue;
        buf_addf(out, "%s" STR_FMT, separator, STR_ARG(map->entries[i].text));
        separator = ",";
    }
    buf_add_c(out, *separator == '[' ? "[]" : "]");
}

static void add_coded(Buf *out, uint64_t value, const char *prefix, Str name) {
    buf_addf(out, "0x%08" PRIx64, value);
    if (name.n) buf_addf(out, "(%s" STR_FMT ")", prefix, STR_ARG(name));
}

static void add_list(Buf *out, const FieldsMap *map, uint64_t value) {
    Str name = {0};
    for (size_t i = 0; i < map->count; i++)
        if (map->entries[i].value == value) name = map->entries[i].text;
    add_coded(out, value, "", name);
}

// The value as JSON shows it, without the quotes of text.
static void add_shown(Buf *out, const Conversion *c, const ParsedLayout *layout,
                      const FieldsNode *node, const FieldsRaw *raw, Arena *scratch) {
    AUTO(buf_done) Buf json = {0};
    bool wide = node->def.type == IN_WSTR || node->def.type == IN_CWSTR;
    Str text;
    if (wide || node->def.type == IN_ASTR || node->def.type == IN_CASTR) {
        text =
            wide ? str_from_utf16(scratch, raw->p, raw->n) : str_from_8bit(scratch, raw->p, raw->n);
    } else {
        value_json(&json, layout, node, raw, scratch);
        text = buf_str(&json);
        if (text.n > 1 && text.p[0] == '"') text = str_slice(text, 1, text.n - 1);
    }
    if (c->has_precision && text.n > c->precision) text.n = c->precision;
    Conversion shown = *c;
    shown.has_precision = shown.zeros = false;
    add_padded(out, &shown, (Str){0}, text);
}

static void add_argument(Buf *out, FieldsWalk *walk, const Arguments *arguments, size_t index,
                         Str spec) {
    if (index >= arguments->count) {
        buf_add_c(out, "<missing>");
        return;
    }
    const FieldsNode *node = arguments->nodes[index];
    const FieldsRaw *raw = &arguments->values[index];
    Conversion c = read_conversion(spec);
    unsigned shown = node->def.out;
    if (node->def.map) {
        const FieldsMap *map = &walk->layout->maps[node->def.map - 1];
        if (map->bits)
            add_set(out, map, raw->u);
        else
            add_list(out, map, raw->u);
    } else if (shown == OUT_NTSTATUS) {
        add_coded(out, raw->u, "STATUS_", ntstatus_name((uint32_t)raw->u));
    } else if (shown == OUT_HRESULT) {
        add_coded(out, raw->u, "", hresult_name((uint32_t)raw->u));
    } else if (shown == OUT_WIN32ERROR) {
        add_coded(out, raw->u, "", win32_name((uint32_t)raw->u));
    } else if (shown != OUT_IPV4 && shown != OUT_CHAR4 && c.letter != 's' && c.letter != 'S' &&
               c.letter != 'c' && node->size && node->size <= 8 &&
               type_is_integer((FieldsType)node->def.type)) {
        add_number(out, &c, raw, walk->schema->pointer_size);
    } else {
        add_shown(out, &c, walk->layout, node, raw, walk->scratch);
    }
}

static void read_arguments(FieldsWalk *walk, Arguments *arguments) {
    const ParsedLayout *layout = walk->layout;
    arguments->count = 0;
    for (uint32_t i = 0; i < layout->count && arguments->count < ARGUMENTS_MAX; i++) {
        const FieldsNode *node = &layout->nodes[i];
        if (node->def.type == IN_OPAQUE || node->def.type == IN_STRUCT) return;
        if (!walk_value(walk, node, &arguments->values[arguments->count])) return;
        arguments->nodes[arguments->count++] = node;
    }
}

// "%10!d!": number and conversion of the argument at the start of `s`; its length, 0: none.
static size_t argument_at(Str s, uint64_t *number, Str *spec) {
    size_t i = 1;
    while (i < s.n && i < 4 && s.p[i] >= '0' && s.p[i] <= '9') i++;
    if (!str_to_u64(str_slice(s, 1, i), number) || *number < FIRST_ARGUMENT) return 0;
    *spec = STR("s");
    if (i >= s.n || s.p[i] != '!') return i;
    size_t end = str_find(str_slice(s, i + 1, s.n), STR("!"));
    if (end == SIZE_MAX) return i;
    *spec = str_slice(s, i + 1, i + 1 + end);
    return i + 2 + end;
}

void message_json(Buf *out, const FieldsWalk *event) {
    FieldsWalk walk;
    Arguments arguments;
    AUTO(buf_done) Buf text = {.max = LIMIT_TEXT_BYTES};
    Rd whole = event->r;
    Str payload = rd_bytes(&whole, rd_left(&whole)), message = event->layout->message;
    walk_start(&walk, event->schema, event->layout, payload, event->scratch, NULL);
    read_arguments(&walk, &arguments);
    for (size_t i = 0; i < message.n;) {
        uint64_t number = 0;
        Str rest = str_slice(message, i, message.n), spec;
        size_t n = message.p[i] == '%' ? argument_at(rest, &number, &spec) : 0;
        if (n) {
            add_argument(&text, &walk, &arguments, (size_t)number - FIRST_ARGUMENT, spec);
            i += n;
            continue;
        }
        buf_add_char(&text, message.p[i]);
        i += str_starts(rest, STR("%%")) ? 2 : 1;
    }
    buf_add_c(out, "\"_message\":");
    Str shown = str_trim(buf_str(&text)); // a cut may fall into a character
    buf_add_json(out, str_from_8bit(event->scratch, (const uint8_t *)shown.p, shown.n));
}
