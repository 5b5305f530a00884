// A walk over the tokens of one message, before the parser sees it. It finds the raw spelling of
// ids and progress tokens (they go back unchanged, and JSON allows integers of any length), counts
// depth and values for the limits, and rewrites the few legal tokens that jansson refuses.
#include "base/limits.h"
#include "mcp/jsonrpc.h"

#include <string.h>

// Where a value stands: only these places matter.
typedef enum Place {
    PLACE_OTHER,
    PLACE_TOP,
    PLACE_ID,
    PLACE_PARAMS,
    PLACE_REQUEST_ID,
    PLACE_META,
    PLACE_TOKEN,
} Place;

typedef struct Level {
    bool object;
    bool wants_key;
    Place place;
    Place next; // of the value that comes next
} Level;

// Bytes [from, to) of the line to be replaced: by U+FFFD, or by themselves in quotes.
typedef struct Patch {
    size_t from, to;
    bool quote;
} Patch;

typedef struct Scan {
    Str line;
    size_t at;
    Level levels[LIMIT_JSON_DEPTH + 1];
    size_t depth; // may exceed the array: then the message is refused anyway
    VEC(Patch) patches;
    JsonScan *out;
} Scan;

static Place place_of(Place parent, Str key) {
    static const struct {
        Place parent;
        const char *key;
        Place place;
    } PLACES[] = {
        {PLACE_TOP,    "id",            PLACE_ID        },
        {PLACE_TOP,    "params",        PLACE_PARAMS    },
        {PLACE_PARAMS, "requestId",     PLACE_REQUEST_ID},
        {PLACE_PARAMS, "_meta",         PLACE_META      },
        {PLACE_META,   "progressToken", PLACE_TOKEN     },
    };
    for (size_t i = 0; i < COUNT_OF(PLACES); i++)
        if (PLACES[i].parent == parent && str_eq(key, str_from_c(PLACES[i].key)))
            return PLACES[i].place;
    return PLACE_OTHER;
}

static Level *top(Scan *scan) {
    static const Level NOWHERE = {.next = PLACE_TOP};
    if (scan->depth > LIMIT_JSON_DEPTH) scan->levels[LIMIT_JSON_DEPTH] = NOWHERE;
    return &scan->levels[scan->depth > LIMIT_JSON_DEPTH ? LIMIT_JSON_DEPTH : scan->depth];
}

static void note_value(Scan *scan, Str raw) {
    scan->out->values++;
    switch (top(scan)->next) {
    case PLACE_ID: scan->out->id = raw; break;
    case PLACE_REQUEST_ID: scan->out->request_id = raw; break;
    case PLACE_TOKEN: scan->out->progress_token = raw; break;
    case PLACE_OTHER:
    case PLACE_TOP:
    case PLACE_PARAMS:
    case PLACE_META: break;
    }
}

static bool hex4(Str s, size_t at, unsigned *out) {
    if (at + 4 > s.n) return false;
    *out = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = s.p[i];
        bool digit = c >= '0' && c <= '9', upper = c >= 'A' && c <= 'F';
        if (!digit && !upper && !(c >= 'a' && c <= 'f')) return false;
        *out = *out * 16 + (unsigned)(digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

// At a backslash: its length, and a patch when it is half of a surrogate pair.
static size_t escape(Scan *scan, size_t at) {
    unsigned first = 0, second = 0;
    if (at + 1 >= scan->line.n || scan->line.p[at + 1] != 'u') return 2;
    if (!hex4(scan->line, at + 2, &first) || first < 0xD800 || first > 0xDFFF) return 2;
    bool pair = first < 0xDC00 && at + 7 < scan->line.n && scan->line.p[at + 6] == '\\' &&
                scan->line.p[at + 7] == 'u' && hex4(scan->line, at + 8, &second) &&
                second >= 0xDC00 && second <= 0xDFFF;
    if (!pair) *vec_push(&scan->patches) = (Patch){at, at + 6, false};
    return pair ? 12 : 6;
}

// From the opening quote to behind the closing one, or to the end of the line.
static Str string_token(Scan *scan) {
    size_t from = scan->at, at = from + 1;
    while (at < scan->line.n && scan->line.p[at] != '"')
        at += scan->line.p[at] == '\\' ? escape(scan, at) : 1;
    scan->at = at < scan->line.n ? at + 1 : scan->line.n;
    return str_slice(scan->line, from, scan->at);
}

static void on_string(Scan *scan) {
    Str raw = string_token(scan);
    Level *level = top(scan);
    if (level->object && level->wants_key)
        level->next = place_of(level->place, str_slice(raw, 1, raw.n ? raw.n - 1 : 0));
    else
        note_value(scan, raw);
}

static size_t digits(Str s, size_t at) {
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9') at++;
    return at;
}

// Whether the token follows JSON's grammar of numbers; *integer: no fraction and no exponent.
static bool is_number(Str s, bool *integer) {
    size_t at = s.n && s.p[0] == '-' ? 1 : 0, end = digits(s, at);
    if (end == at || (s.p[at] == '0' && end > at + 1)) return false;
    *integer = end == s.n;
    if (end < s.n && s.p[end] == '.') {
        at = end + 1;
        end = digits(s, at);
        if (end == at) return false;
    }
    if (end < s.n && (s.p[end] | 0x20) == 'e') {
        at = end + 1;
        if (at < s.n && (s.p[at] == '+' || s.p[at] == '-')) at++;
        end = digits(s, at);
        if (end == at) return false;
    }
    return end == s.n;
}

static bool is_number_char(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static void on_number(Scan *scan) {
    size_t from = scan->at;
    while (scan->at < scan->line.n && is_number_char(scan->line.p[scan->at])) scan->at++;
    Str raw = str_slice(scan->line, from, scan->at);
    const Level *level = top(scan);
    if (level->object && level->wants_key) return; // not JSON: the parser says so
    note_value(scan, raw);
    bool integer = false;
    int64_t i = 0;
    double d = 0;
    if (!is_number(raw, &integer)) return;
    // str_to_f64 takes 63 characters; longer spellings are legal and become text as well.
    bool fits = integer ? str_to_i64(raw, &i) : str_to_f64(raw, &d);
    if (!fits) *vec_push(&scan->patches) = (Patch){from, scan->at, true};
}

static void on_word(Scan *scan) {
    size_t from = scan->at;
    while (scan->at < scan->line.n && scan->line.p[scan->at] >= 'a' &&
           scan->line.p[scan->at] <= 'z')
        scan->at++;
    note_value(scan, str_slice(scan->line, from, scan->at));
}

static void open_level(Scan *scan, bool object) {
    note_value(scan, (Str){0});
    Place place = top(scan)->next;
    scan->depth++;
    scan->at++;
    if (scan->depth > scan->out->depth) scan->out->depth = scan->depth;
    if (scan->depth <= LIMIT_JSON_DEPTH)
        scan->levels[scan->depth] = (Level){.object = object, .wants_key = object, .place = place};
}

static void punctuation(Scan *scan, char c) {
    Level *level = top(scan);
    if (c == ':') level->wants_key = false;
    if (c == ',') {
        level->wants_key = level->object;
        level->next = PLACE_OTHER;
    }
    if ((c == '}' || c == ']') && scan->depth) scan->depth--;
    scan->at++;
}

static void step(Scan *scan) {
    char c = scan->line.p[scan->at];
    if (c == '"')
        on_string(scan);
    else if (c == '{' || c == '[')
        open_level(scan, c == '{');
    else if (c == '-' || (c >= '0' && c <= '9'))
        on_number(scan);
    else if (c >= 'a' && c <= 'z')
        on_word(scan);
    else
        punctuation(scan, c);
}

static Str patched(const Scan *scan, Arena *arena) {
    size_t n = scan->line.n + 2 * scan->patches.count, from = 0, used = 0;
    char *text = arena_bytes(arena, n + 1);
    for (size_t i = 0; i <= scan->patches.count; i++) {
        bool last = i == scan->patches.count;
        Patch patch = last ? (Patch){scan->line.n, scan->line.n, false} : scan->patches.items[i];
        if (patch.from > from) memcpy(text + used, scan->line.p + from, patch.from - from);
        used += patch.from - from;
        from = patch.to;
        if (last) break;
        size_t size = patch.to - patch.from;
        if (patch.quote) text[used++] = '"';
        memcpy(text + used, patch.quote ? scan->line.p + patch.from : "\\ufffd", size);
        used += size;
        if (patch.quote) text[used++] = '"';
    }
    return (Str){text, used};
}

void json_scan(Str line, Arena *arena, JsonScan *out) {
    *out = (JsonScan){.text = line};
    Scan scan = {.line = line, .out = out};
    scan.levels[0].next = PLACE_TOP;
    while (scan.at < line.n && out->values <= LIMIT_JSON_VALUES) step(&scan);
    if (scan.patches.count) out->text = patched(&scan, arena);
    vec_free(&scan.patches);
}
