// The engine: every loaded trace and every tool, behind one thread-safe object. mcp/ and cli/ are
// thin fronts of it; both get the same text from the same call.
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include "base/str.h"
#include "base/thread.h"

#include <jansson.h>

typedef struct Engine Engine;

typedef struct EngineOptions {
    bool structured;      // declare output schemas and fill ToolReply.structured
    Str sql_folder;       // read sql/ from this folder instead of the built-in files (development)
    Str toolsets;         // comma-separated groups to expose; empty: all
    Str *allowed_folders; // --allow-dir; none: every folder
    size_t allowed_folder_count;
    bool quiet; // no log lines on stderr
} EngineOptions;

// No side effect and no file access: the catalogue is parsed, nothing else.
Status engine_open(const EngineOptions *options, Engine **out, Err *err);
void engine_close(Engine *engine); // cancels and joins every load
AUTO_DEFINE(Engine *, engine_close)

typedef struct ToolInfo {
    const char *name, *title, *description, *group;
    const json_t *input_schema;  // owned by the engine
    const json_t *output_schema; // NULL unless options.structured
    bool read_only, destructive, idempotent, open_world;
} ToolInfo;

// Fixed order for the life of the process: entry tools first.
size_t engine_tool_count(const Engine *engine);
const ToolInfo *engine_tool(const Engine *engine, size_t index);
const ToolInfo *engine_tool_named(const Engine *engine, Str name); // NULL: no such tool
// The tool's whole help for people: about, every parameter with default and choices, an example.
Str engine_tool_help(const Engine *engine, const ToolInfo *tool, Arena *arena);

// The engine reports at most once a second per call while a call waits for work.
typedef struct CallContext {
    Progress *progress; // set progress->cancelled to stop the call; may be NULL
    void (*report)(void *context, double done, double total, const char *message); // may be NULL
    void *report_context;
} CallContext;

typedef enum ReplyFormat { REPLY_MARKDOWN, REPLY_CSV, REPLY_JSON } ReplyFormat;

typedef struct ToolReply {
    Status status; // OK; ERR_CANCELLED: send nothing; anything else: `text` explains, is_error
    bool is_error;
    Str text;           // complete; in the caller's arena
    json_t *structured; // new reference or NULL
} ToolReply;

// `arguments` is an object or NULL. Wrong arguments, unknown traces, missing data: a reply, never a
// crash; the caller checks the tool's name first with engine_tool_named.
void engine_call(Engine *engine, const ToolInfo *tool, const json_t *arguments, ReplyFormat format,
                 const CallContext *context, Arena *arena, ToolReply *reply);

// Loads a trace and waits for it; for the command line. *trace_id lives as long as the engine.
Status engine_load(Engine *engine, Str path, bool force, const CallContext *context, Arena *arena,
                   const char **trace_id, Err *err);

// What the handshakes send as instructions (<= 2,048 characters).
const char *engine_instructions(void);
const char *engine_version(void);

// For completion: values that start with `prefix`, for "trace_id", "process", "table" ... ;
// unknown kinds give none. `trace_id` may be empty.
size_t engine_complete(Engine *engine, Str kind, Str trace_id, Str prefix, Arena *arena, Str *out,
                       size_t max);

#endif
