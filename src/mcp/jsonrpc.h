// JSON-RPC 2.0 as MCP uses it: one line in, one message; and the lines that go back.
#ifndef MCP_JSONRPC_H
#define MCP_JSONRPC_H

#include "base/str.h"

#include <jansson.h>

typedef enum RpcCode {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_RESOURCE_NOT_FOUND = -32002,  // legacy versions
    RPC_UNSUPPORTED_VERSION = -32022, // 2026-07-28
} RpcCode;

// What keeps the exact spelling of a number that no C type holds.
typedef struct JsonScan {
    Str text; // for the parser: the line itself, or a copy with what jansson refuses rewritten
    Str id, request_id, progress_token; // last raw token at that place; empty: none
    size_t depth;                       // deepest nesting seen
    size_t values;                      // scalars, arrays and objects
} JsonScan;

// Walks a line without judging it (the parser does). Integers beyond 64 bits and reals beyond
// double become strings, lone surrogate escapes become U+FFFD: all are legal JSON that clients
// send.
void json_scan(Str line, Arena *arena, JsonScan *out);

typedef enum RpcKind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_BAD } RpcKind;

typedef struct RpcMessage {
    RpcKind kind;
    json_t *root; // owner of everything below; release with json_decref
    Str id;       // request: raw token, to be echoed
    Str id_key;   // request: "i" + digits or "s" + text, equal for equal ids
    Str method;
    json_t *params;     // an object, or NULL when absent
    Str progress_token; // raw token, or empty
    Str cancelled_key;  // notification: key of params.requestId, or empty
    // RPC_BAD
    RpcCode code;
    const char *complaint;
    size_t values; // how many the message holds
} RpcMessage;

// Text lives in `arena` or in message->root, never in `line`.
void rpc_parse(Str line, Arena *arena, RpcMessage *out);

// Appends a value, compact; false when it does not serialise.
bool json_add(Buf *out, const json_t *value);
// Appends the members of an object, without braces.
bool json_add_members(Buf *out, const json_t *object);
void json_add_text(Buf *out, Str text); // as a JSON string
// A new string value; bytes that are not UTF-8 become U+FFFD.
json_t *json_text(Str text);
Str json_str(const json_t *value); // text of a string value; empty otherwise
Str json_get_str(const json_t *object, const char *key);

// A whole error line; `id` empty: no id member. `data` may be NULL.
void rpc_error(Buf *out, Str id, RpcCode code, Str text, const json_t *data);
// At most `max` bytes of foreign text for a message, cut at a character, with "..." when cut.
Str rpc_quote(Arena *arena, Str text, size_t max);

#endif
