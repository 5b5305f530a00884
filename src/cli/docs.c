// docs/tools.md and docs/schema.md, printed from the catalogue and the table definitions.
#include "cli/cli.h"

#include "decode/table.h"
#include "tools/view_list.h"

static const char READING[] =
    "## Reading a reply\n\n"
    "Title, then what the answer is about (trace, window, filters), then tables, largest first, "
    "then "
    "notes, then at most two calls that lead on.\n\n"
    "- Time zero is the first timestamp of the trace. `start_time` and `end_time` are seconds; the "
    "interval holds its start, not its end.\n"
    "- Filters are literal substrings, upper and lower case alike; `|` separates alternatives. A "
    "number as `process_filter` is also a pid.\n"
    "- Percentiles are interpolated linearly between the two nearest ranks, over exact values.\n"
    "- 1 MB is 1,048,576 bytes. Percentages have one decimal from 10 on, two from 0.01 on.\n"
    "- A reply has at most 10,000 bytes, 24,000 when `max_rows` is given; what is cut is said in "
    "its "
    "first lines and below the table.\n"
    "- Data that the trace does not hold is never shown as 0: the reply says whether it was not "
    "recorded, recorded without events, or filtered away.\n\n";

Str docs_tools(const Engine *engine, Arena *arena) {
    Buf out = {0};
    buf_add_c(&out, "# Tools\n\nPrinted by `etw-mcp tools --markdown`; do not edit.\n\n");
    buf_add_c(&out, READING);
    const char *group = "";
    for (size_t i = 0; i < engine_tool_count(engine); i++) {
        const ToolInfo *tool = engine_tool(engine, i);
        if (!str_eq(str_from_c(group), str_from_c(tool->group)))
            buf_addf(&out, "## Group %s\n\n", tool->group);
        group = tool->group;
        Str help = engine_tool_help(engine, tool, arena);
        buf_addf(&out, "### %s\n\n```\n" STR_FMT "```\n\n", tool->name, STR_ARG(help));
    }
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static void put_views(Arena *arena, Buf *out) {
    ViewInfo *views = NULL;
    size_t count = view_list(arena, &views);
    buf_add_c(out,
              "## Views\n\nDerived from the tables, also for SQL; `describe_tables` shows their "
              "columns.\n\n| View | About |\n| --- | --- |\n");
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "| " STR_FMT " | " STR_FMT " |\n", STR_ARG(views[i].name),
                 STR_ARG(views[i].about));
}

Str docs_schema(Arena *arena) {
    Buf out = {0};
    buf_add_c(&out, "# Tables of a trace database\n\nPrinted by `etw-mcp schema`; do not edit. "
                    "`ts_ns` and `*_ns` are nanoseconds since the trace began.\n\n");
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        const TableDef *def = table_def((TableId)i);
        buf_addf(&out, "## %s\n\n%s.\n\n| Column | Type | Meaning |\n| --- | --- | --- |\n",
                 def->name, def->about);
        for (unsigned c = 0; c < def->column_count; c++)
            buf_addf(&out, "| %s | %s | %s |\n", def->columns[c].name,
                     column_sql_type(def->columns[c].type), def->columns[c].about);
        buf_add_char(&out, '\n');
    }
    put_views(arena, &out);
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}
