// The catalogue of tools. A tool is one file of sql/tools: a comment header and SQL. The header
// gives the MCP schema, the command line's options, the help and docs/tools.md; its grammar is in
// CONTRIBUTING.md and in catalog.c.
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include "tools/format.h"

typedef enum ParamType {
    PARAM_TEXT,
    PARAM_FILTER, // text with | between alternatives; bound as a list of lower-case texts
    PARAM_INTEGER,
    PARAM_NUMBER,
    PARAM_BOOLEAN,
    PARAM_ENUM,
    PARAM_CPUSET, // "0-7,16"; bound as a list of integers
    PARAM_LIST,   // list of texts
} ParamType;

typedef struct Param {
    Str name;
    ParamType type;
    bool required;
    bool has_default;
    Str default_text;
    bool has_min, has_max;
    double min, max;
    Str *choices; // PARAM_ENUM
    size_t choice_count;
    Str about;
    bool is_cap;    // rows shown: max_rows, top_n
    bool is_window; // start_time, end_time
} Param;

// "param=a,b": holds when the parameter's effective value is one of them; "*" at either end of one
// stands for anything, so "param=*" holds when there is a value.
typedef struct When {
    Str param;
    Str values;
    bool negated;
} When;
enum { WHEN_MAX = 4 };
typedef struct Whens {
    When items[WHEN_MAX];
    size_t count;
} Whens;
// Cuts conditions ("when a=x,y unless b=z") off the front of *rest; false: malformed or too many.
bool whens_take(Str *rest, Whens *whens);

typedef struct OutColumn {
    Str title; // may hold {param}
    Format format;
    Str about;
    Whens when;
} OutColumn;

typedef enum SectionStyle {
    STYLE_TABLE,
    STYLE_VALUES,    // name, value: one line each, in the scope when it comes before a table
    STYLE_LINES,     // one text: a line each
    STYLE_NOTES,     // one text: a note each
    STYLE_NEXT,      // one text: a next call each
    STYLE_CODE,      // one text: lines of a fenced block
    STYLE_HISTOGRAM, // label, value: bars
    STYLE_PIVOT,     // row label, column label, value: a table with one column per column label
} SectionStyle;

typedef struct CommonTable { // one common table expression
    Str name;
    Str sql;       // "name AS (...)"
    Str body;      // what stands in the brackets
    bool shared;   // MATERIALIZED: made once for a call when several sections use it
    uint64_t uses; // bit i: refers to common table i
} CommonTable;
enum { COMMON_MAX = 64 };

typedef struct Section {
    Str name;
    SectionStyle style;
    bool optional; // left out when it has no rows
    Whens when;
    Str heading;
    Str empty; // what to say without rows
    Str cap;   // parameter that caps its rows; empty: none
    OutColumn *columns;
    size_t column_count;
    Str sql;
    uint64_t uses; // common tables it refers to
} Section;

enum { TOOL_LINES_MAX = 6 };
typedef struct ToolLine { // of `note` and `next`
    Str text;
    Whens when;
} ToolLine;

typedef struct Tool {
    Str name, title, headline, group, about, example;
    Str handler; // name of the C handler; empty: SQL
    int place;
    bool needs_trace; // takes trace_id
    bool read_only, destructive, idempotent, open_world;
    bool has_window;
    Param *params; // trace_id included
    size_t param_count;
    Str needs[TOOL_LINES_MAX]; // each: names of trace_source, any of which will do
    size_t needs_count;
    ToolLine notes[TOOL_LINES_MAX];
    size_t notes_count;
    ToolLine next[TOOL_LINES_MAX];
    size_t next_count;
    Str common;          // common table expressions, as written
    CommonTable *tables; // the same, one by one
    size_t table_count;
    Section *sections;
    size_t section_count;
    json_t *input_schema; // owned; catalog_done frees
    json_t *output_schema;
} Tool;

typedef struct Catalog {
    Arena arena;
    Tool *tools; // in the order of tools/list
    size_t count;
} Catalog;

// Parses one file; `text` is kept by reference.
Status tool_parse(Str file, Str text, Arena *arena, Tool *out, Err *err);
// Every tool: built in, or of `sql_folder` when that is not empty. `toolsets`: comma-separated
// groups; empty: all.
Status catalog_open(Catalog *catalog, Str sql_folder, Str toolsets, bool structured, Err *err);
void catalog_done(Catalog *catalog);
const Tool *catalog_find(const Catalog *catalog, Str name);
// Splits tool->common and finds what each section uses; common.c.
Status tool_split_common(Tool *tool, Arena *arena, Err *err);
// `sql` with the common tables of `uses` in front, except those that exist already (`made`).
Str tool_full_sql(const Tool *tool, uint64_t uses, uint64_t made, Str sql, Arena *arena);
const Param *tool_param(const Tool *tool, Str name);
const char *param_type_name(ParamType type);

// Groups in the order of tools/list; NULL ends the list.
extern const char *const TOOL_GROUPS[];

// schema.c
json_t *tool_input_schema(const Tool *tool, Arena *arena);
json_t *tool_output_schema(void);
// help.c
Str tool_help(const Tool *tool, Arena *arena);

#endif
