// The methods of the protocol. A method sees one Call: what was asked, by which era's rules, and
// where the answer goes. It knows nothing of lines, threads or other requests.
#ifndef MCP_METHODS_H
#define MCP_METHODS_H

#include "mcp/jsonrpc.h"
#include "tools/engine.h"

#define MCP_VERSION_MODERN "2026-07-28"
#define MCP_META "io.modelcontextprotocol/"

typedef struct Call {
    Engine *engine;
    Str id;         // raw
    json_t *params; // an object, or NULL
    bool modern;    // 2026-07-28; else one of the handshake versions
    Str version;    // initialize: what was agreed on
    Buf *tools;     // text of the tool list, made by the first tools/list
    Arena *arena;   // of the request
    CallContext context;
    // The answer: members of the result, or an error.
    Buf members;
    RpcCode code; // 0: no error
    Str text;
    json_t *data; // owned
} Call;

enum { ERA_LEGACY = 1, ERA_MODERN = 2, ERA_BOTH = 3 };

typedef enum CacheHint { CACHE_NONE, CACHE_PUBLIC, CACHE_PRIVATE } CacheHint;

typedef struct Method {
    const char *name;
    unsigned eras;
    bool opens;      // legal before a legacy handshake, without a claim in _meta
    bool works;      // may take long: runs in the pool, not beside the reader
    bool subscribes; // stays open after its acknowledgement
    CacheHint cache;
    void (*run)(Call *call);
} Method;

const Method *method_named(Str name); // NULL: no such method

// The legacy version that answers a requested one: itself, or the newest.
Str mcp_legacy_version(Str requested);
// Comma-separated, for messages.
const char *mcp_legacy_versions(void);

// The whole line that answers the call. It may be empty.
void call_compose(Call *call, const Method *method, Buf *line);

void call_fail(Call *call, RpcCode code, json_t *data, const char *format, ...) PRINTF_LIKE(4, 5);
// A parameter that must be a string; false when it is none, and the call has failed.
bool call_string(Call *call, const char *name, Str *out);
// The four lists have one page, so any cursor is unknown.
bool call_first_page(Call *call);

void prompts_list(Call *call);
void prompts_get(Call *call);
// What completes an argument of a prompt: a kind of engine_complete; false: no such prompt.
bool prompt_argument_kind(Str prompt, Str argument, Str *kind);
void resources_list(Call *call);
void resource_templates_list(Call *call);
void resources_read(Call *call);
bool resource_argument_kind(Str uri_template, Str argument, Str *kind);
void completion_complete(Call *call);

extern const char MCP_GLOSSARY[]; // Markdown

#endif
