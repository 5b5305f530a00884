// Number formats of the tool contract (docs/tools.md, section "Reading a reply").
#include "tools/format.h"

#include <math.h>
#include <stdio.h>

enum { PATH_WIDTH = 72, TEXT_WIDTH = 160 };

typedef struct FormatName {
    const char *name;
    FormatKind kind;
} FormatName;

static const FormatName NAMES[] = {
    {"text",   FORMAT_TEXT   },
    {"path",   FORMAT_PATH   },
    {"id",     FORMAT_ID     },
    {"count",  FORMAT_COUNT  },
    {"number", FORMAT_NUMBER },
    {"hex",    FORMAT_HEX    },
    {"pct",    FORMAT_PERCENT},
    {"bytes",  FORMAT_BYTES  },
    {"kb",     FORMAT_KB     },
    {"mb",     FORMAT_MB     },
    {"us",     FORMAT_US     },
    {"ms",     FORMAT_MS     },
    {"s",      FORMAT_S      },
    {"bool",   FORMAT_BOOL   },
};

bool format_parse(Str text, Format *out) {
    bool rough = str_ends(text, STR("~"));
    if (rough) text = str_slice(text, 0, text.n - 1);
    Str name = text;
    int64_t decimals = -1;
    size_t open = str_find(text, STR("("));
    if (open != SIZE_MAX) {
        if (!str_ends(text, STR(")"))) return false;
        if (!str_to_i64(str_slice(text, open + 1, text.n - 1), &decimals)) return false;
        if (decimals < 0 || decimals > 1000) return false;
        name = str_slice(text, 0, open);
    }
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (!str_eq(name, str_from_c(NAMES[i].name))) continue;
        *out = (Format){NAMES[i].kind, (int)decimals, rough};
        return true;
    }
    return false;
}

static Str with_commas(Str digits, Arena *arena) {
    size_t start = digits.n && digits.p[0] == '-' ? 1 : 0;
    size_t end = str_find(digits, STR("."));
    if (end == SIZE_MAX) end = digits.n;
    char *out = arena_bytes(arena, digits.n + digits.n / 3 + 1);
    size_t n = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (i > start && i < end && (end - i) % 3 == 0) out[n++] = ',';
        out[n++] = digits.p[i];
    }
    out[n] = 0;
    return (Str){out, n};
}

Str format_integer(int64_t value, Arena *arena) {
    return with_commas(str_format(arena, "%lld", (long long)value), arena);
}

static double rounded(double value, int decimals) {
    double scale = pow(10, decimals);
    double scaled = value * scale;
    return fabs(scaled) < 9e15 ? round(scaled) / scale : value;
}

static Str plain_number(double value, int decimals, Arena *arena) {
    if (!isfinite(value)) return (Str){0};
    double shown = rounded(value, decimals);
    if (shown == floor(shown) && fabs(shown) < 9e15)
        return str_format(arena, "%lld", (long long)shown);
    return str_format(arena, "%.*f", decimals, shown);
}

Str format_number(double value, int decimals, Arena *arena) {
    return with_commas(plain_number(value, decimals < 0 ? 2 : decimals, arena), arena);
}

static int percent_decimals(double percent) {
    double size = fabs(percent);
    if (size >= 10) return 1;
    return size >= 0.01 ? 2 : 4;
}

Str format_percent(double percent, Arena *arena) {
    if (!isfinite(percent)) return (Str){0};
    if (percent == 0) return STR("0%");
    int decimals = percent_decimals(percent);
    return str_format(arena, "%.*f%%", decimals, rounded(percent, decimals));
}

static size_t clean_char(Str text, size_t i, char *out) {
    unsigned char c = (unsigned char)text.p[i];
    if (c == '\n' || c == '\r' || c == '\t') {
        out[0] = ' ';
        return 1;
    }
    if (c >= 0x20 && c != 0x7f) {
        out[0] = text.p[i];
        return 1;
    }
    return (size_t)snprintf(out, 5, "\\x%02x", c);
}

Str format_clean(Str text, Arena *arena) {
    bool clean = str_is_utf8(text);
    for (size_t i = 0; clean && i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        clean = c >= 0x20 && c != 0x7f;
    }
    if (clean) return text;
    if (!str_is_utf8(text)) text = str_from_8bit(arena, (const uint8_t *)text.p, text.n);
    char *out = arena_bytes(arena, text.n * 4 + 8);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) n += clean_char(text, i, out + n);
    out[n] = 0;
    return (Str){out, n};
}

static size_t char_count(Str text) {
    size_t count = 0;
    for (size_t i = 0; i < text.n; i++) count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return count;
}

// Byte offset of character `index`.
static size_t char_offset(Str text, size_t index) {
    size_t i = 0;
    for (; i < text.n; i++) {
        if (((unsigned char)text.p[i] & 0xc0) == 0x80) continue;
        if (index-- == 0) break;
    }
    return i;
}

Str format_shorten(Str text, size_t width, Arena *arena) {
    size_t count = text.n <= width ? 0 : char_count(text);
    if (count <= width || width < 8) return text;
    size_t head = (width - 3) / 2;
    size_t tail = width - 3 - head;
    Str front = str_slice(text, 0, char_offset(text, head));
    Str back = str_slice(text, char_offset(text, count - tail), text.n);
    return str_format(arena, STR_FMT "..." STR_FMT, STR_ARG(front), STR_ARG(back));
}

static double cell_number(const Cell *cell) {
    switch (cell->type) {
    case CELL_BOOL: return cell->boolean ? 1 : 0;
    case CELL_I64: return (double)cell->i64;
    case CELL_U64: return (double)cell->u64;
    case CELL_F64: return cell->f64;
    case CELL_NULL:
    case CELL_TEXT: return NAN;
    }
    return NAN;
}

// Value in the unit shown, and its decimals; false when the cell is shown as text.
static bool shown_number(Format format, const Cell *cell, double *value, int *decimals) {
    *value = cell_number(cell);
    *decimals = format.decimals < 0 ? 2 : format.decimals;
    if (cell->type == CELL_TEXT || cell->type == CELL_NULL || cell->type == CELL_BOOL) return false;
    switch (format.kind) {
    case FORMAT_KB: *value /= 1024; return true;
    case FORMAT_MB: *value /= 1024.0 * 1024; return true;
    case FORMAT_US: *value /= 1e3; return true;
    case FORMAT_MS: *value /= 1e6; return true;
    case FORMAT_S:
        *value /= 1e9;
        *decimals = format.decimals < 0 ? 3 : format.decimals;
        return true;
    case FORMAT_PERCENT: *decimals = percent_decimals(*value); return true;
    case FORMAT_NUMBER: return true;
    case FORMAT_ID:
    case FORMAT_COUNT:
    case FORMAT_BYTES: *decimals = 0; return true;
    case FORMAT_HEX:
    case FORMAT_TEXT:
    case FORMAT_PATH:
    case FORMAT_BOOL: return false;
    }
    return false;
}

static Str integer_digits(const Cell *cell, Arena *arena) {
    if (cell->type == CELL_U64) return str_format(arena, "%llu", (unsigned long long)cell->u64);
    if (cell->type == CELL_I64) return str_format(arena, "%lld", (long long)cell->i64);
    return plain_number(cell_number(cell), 0, arena);
}

static Str text_of(Format format, const Cell *cell, Arena *arena) {
    switch (cell->type) {
    case CELL_NULL: return (Str){0};
    case CELL_TEXT: return cell->text;
    case CELL_BOOL: return cell->boolean ? STR("yes") : STR("no");
    case CELL_I64:
    case CELL_U64:
        if (format.kind == FORMAT_HEX)
            return str_format(arena, "0x%llx", (unsigned long long)cell->u64);
        return integer_digits(cell, arena);
    case CELL_F64: return isfinite(cell->f64) ? str_format(arena, "%.9g", cell->f64) : (Str){0};
    }
    return (Str){0};
}

static bool is_integer_kind(FormatKind kind) {
    return kind == FORMAT_ID || kind == FORMAT_COUNT || kind == FORMAT_BYTES;
}

Str format_cell(Format format, const Cell *cell, Arena *arena) {
    double value = 0;
    int decimals = 0;
    if (!shown_number(format, cell, &value, &decimals)) {
        Str text = format_clean(text_of(format, cell, arena), arena);
        if (cell->type != CELL_TEXT) return text;
        int width = format.kind == FORMAT_PATH ? PATH_WIDTH : TEXT_WIDTH;
        if (format.decimals > 0) width = format.decimals;
        return format_shorten(text, (size_t)width, arena);
    }
    if (format.kind == FORMAT_PERCENT) return format_percent(value, arena);
    if (format.kind == FORMAT_ID) return integer_digits(cell, arena);
    if (is_integer_kind(format.kind)) return with_commas(integer_digits(cell, arena), arena);
    return format_number(value, decimals, arena);
}

Str format_plain(Format format, const Cell *cell, Arena *arena) {
    double value = 0;
    int decimals = 0;
    if (!shown_number(format, cell, &value, &decimals)) return text_of(format, cell, arena);
    if (is_integer_kind(format.kind)) return integer_digits(cell, arena);
    return plain_number(value, decimals, arena);
}

json_t *format_json_text(Str text, Arena *arena) {
    if (!str_is_utf8(text)) text = str_from_8bit(arena, (const uint8_t *)text.p, text.n);
    return json_stringn(text.p ? text.p : "", text.n);
}

static json_t *json_from_integer(const Cell *cell, Arena *arena) {
    const int64_t exact = (int64_t)1 << 53; // what every JSON reader keeps
    bool fits = cell->type == CELL_U64 ? cell->u64 <= (uint64_t)exact
                                       : cell->i64 <= exact && cell->i64 >= -exact;
    if (!fits) return format_json_text(integer_digits(cell, arena), arena);
    return json_integer(cell->type == CELL_U64 ? (json_int_t)cell->u64 : cell->i64);
}

json_t *format_json(Format format, const Cell *cell, Arena *arena) {
    double value = 0;
    int decimals = 0;
    if (cell->type == CELL_NULL) return json_null();
    if (cell->type == CELL_BOOL) return json_boolean(cell->boolean);
    bool whole = cell->type == CELL_I64 || cell->type == CELL_U64;
    if (!shown_number(format, cell, &value, &decimals)) {
        if (whole && format.kind != FORMAT_HEX) return json_from_integer(cell, arena);
        if (cell->type != CELL_F64) return format_json_text(text_of(format, cell, arena), arena);
        decimals = 6;
    }
    if (whole && is_integer_kind(format.kind)) return json_from_integer(cell, arena);
    if (!isfinite(value)) return json_null();
    double shown = rounded(value, decimals);
    if (shown == floor(shown) && fabs(shown) < 9e15) return json_integer((json_int_t)shown);
    return json_real(shown);
}
