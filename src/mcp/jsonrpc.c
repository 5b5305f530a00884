// Messages of JSON-RPC 2.0: shape checks in, lines out. Which faults are answered with an id and
// which without follows MCP's schema, where an id is never null.
#include "mcp/jsonrpc.h"

#include "base/limits.h"

#include <string.h>

Str json_str(const json_t *value) {
    return (Str){json_string_value(value), json_string_length(value)};
}

Str json_get_str(const json_t *object, const char *key) {
    return json_str(json_object_get(object, key));
}

static bool is_raw_integer(Str raw) {
    size_t at = raw.n && raw.p[0] == '-' ? 1 : 0;
    if (at == raw.n) return false;
    for (; at < raw.n; at++)
        if (raw.p[at] < '0' || raw.p[at] > '9') return false;
    return true;
}

// An id or token: a copy of its raw spelling, and its key; false when it is neither string nor
// integer.
static bool read_id(const json_t *value, Str raw, Arena *arena, Str *out, Str *key) {
    if (json_is_integer(value) || (json_is_string(value) && is_raw_integer(raw))) {
        // A key spelled with escapes has no raw token; its integer fits.
        *out = is_raw_integer(raw)
                   ? str_copy(arena, raw)
                   : str_format(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        *key = str_format(arena, "i" STR_FMT, STR_ARG(*out));
        return true;
    }
    if (!json_is_string(value)) return false;
    Str text = json_str(value);
    if (raw.n < 2 || raw.p[0] != '"') {
        Buf spelled = {0};
        json_add_text(&spelled, text);
        *out = str_copy(arena, buf_str(&spelled));
        buf_done(&spelled);
    } else {
        *out = str_copy(arena, raw);
    }
    char *keyed = arena_bytes(arena, text.n + 1);
    keyed[0] = 's';
    if (text.n) memcpy(keyed + 1, text.p, text.n);
    *key = (Str){keyed, text.n + 1};
    return true;
}

static RpcKind refuse(RpcMessage *message, RpcCode code, const char *complaint) {
    message->code = code;
    message->complaint = complaint;
    return RPC_BAD;
}

static RpcKind read_message(const JsonScan *scan, Arena *arena, RpcMessage *message) {
    const json_t *root = message->root;
    if (json_is_array(root))
        return refuse(message, RPC_INVALID_REQUEST,
                      "Batches are not supported; send one message "
                      "a line");
    if (!json_is_object(root))
        return refuse(message, RPC_INVALID_REQUEST, "A message must be a JSON object");
    if (!str_eq(json_get_str(root, "jsonrpc"), STR("2.0")))
        return refuse(message, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    const json_t *method = json_object_get(root, "method");
    if (!method && (json_object_get(root, "result") || json_object_get(root, "error"))) {
        return RPC_RESPONSE;
    }
    if (!json_is_string(method))
        return refuse(message, RPC_INVALID_REQUEST, "method must be a string");
    message->method = json_str(method);
    const json_t *id = json_object_get(root, "id");
    if (id && !read_id(id, scan->id, arena, &message->id, &message->id_key))
        return refuse(message, RPC_INVALID_REQUEST, "id must be a string or an integer");
    message->params = json_object_get(root, "params");
    if (message->params && !json_is_object(message->params)) {
        // Nothing is ever sent back for a notification.
        if (id) return refuse(message, RPC_INVALID_PARAMS, "params must be an object");
        message->params = NULL;
    }
    Str ignored;
    (void)read_id(json_object_get(json_object_get(message->params, "_meta"), "progressToken"),
                  scan->progress_token, arena, &message->progress_token, &ignored);
    (void)read_id(json_object_get(message->params, "requestId"), scan->request_id, arena, &ignored,
                  &message->cancelled_key);
    return id ? RPC_REQUEST : RPC_NOTIFICATION;
}

static RpcKind parse(Str line, Arena *arena, RpcMessage *out) {
    if (!str_is_utf8(line))
        return refuse(out, RPC_PARSE_ERROR, "Parse error: the line is not valid UTF-8");
    JsonScan scan;
    json_scan(line, arena, &scan);
    out->values = scan.values;
    if (scan.depth > LIMIT_JSON_DEPTH)
        return refuse(out, RPC_INVALID_REQUEST, "The message is nested too deeply");
    if (scan.values > LIMIT_JSON_VALUES)
        return refuse(out, RPC_INVALID_REQUEST, "The message holds too many values");
    out->root = json_loadb(scan.text.p, scan.text.n, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    if (!out->root) return refuse(out, RPC_PARSE_ERROR, "Parse error: the line is not valid JSON");
    return read_message(&scan, arena, out);
}

void rpc_parse(Str line, Arena *arena, RpcMessage *out) {
    *out = (RpcMessage){0};
    out->kind = parse(line, arena, out);
}

static int add_bytes(const char *bytes, size_t size, void *context) {
    buf_add(context, (Str){bytes, size});
    return 0;
}

// 36.3 is written as that, not as its nearest double with 17 digits.
#define REAL_DIGITS JSON_REAL_PRECISION(15)

bool json_add(Buf *out, const json_t *value) {
    return json_dump_callback(value, add_bytes, out,
                              JSON_COMPACT | JSON_ENCODE_ANY | REAL_DIGITS) == 0;
}

bool json_add_members(Buf *out, const json_t *object) {
    return json_dump_callback(object, add_bytes, out, JSON_COMPACT | JSON_EMBED | REAL_DIGITS) == 0;
}

void json_add_text(Buf *out, Str text) {
    json_t *value = json_text(text);
    if (!json_add(out, value)) buf_add_c(out, "\"\"");
    json_decref(value);
}

// Length of the character at the start of `s`; 0 when its bytes are not UTF-8.
static size_t character(Str s) {
    for (size_t n = 1; n <= 4 && n <= s.n; n++)
        if (str_is_utf8((Str){s.p, n})) return n;
    return 0;
}

json_t *json_text(Str text) {
    json_t *value = json_stringn_nocheck(text.p ? text.p : "", text.n);
    if (str_is_utf8(text)) return value;
    json_decref(value);
    Buf clean = {0};
    while (text.n) {
        size_t n = character(text);
        buf_add(&clean, n ? (Str){text.p, n} : STR("\xEF\xBF\xBD"));
        text = str_slice(text, n ? n : 1, text.n);
    }
    value = json_stringn_nocheck(buf_str(&clean).p, clean.n);
    buf_done(&clean);
    return value;
}

void rpc_error(Buf *out, Str id, RpcCode code, Str text, const json_t *data) {
    buf_add_c(out, "{\"jsonrpc\":\"2.0\"");
    if (id.n) {
        buf_add_c(out, ",\"id\":");
        buf_add(out, id);
    }
    buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", (int)code);
    json_add_text(out, text);
    if (data) {
        buf_add_c(out, ",\"data\":");
        if (!json_add(out, data)) buf_add_c(out, "null");
    }
    buf_add_c(out, "}}");
}

Str rpc_quote(Arena *arena, Str text, size_t max) {
    if (text.n <= max) return str_copy(arena, text);
    while (max && ((unsigned char)text.p[max] & 0xC0) == 0x80) max--;
    Str cut = str_slice(text, 0, max);
    char *p = arena_bytes(arena, cut.n + 4);
    if (cut.n) memcpy(p, cut.p, cut.n);
    memcpy(p + cut.n, "...", 4);
    return (Str){p, cut.n + 3};
}
