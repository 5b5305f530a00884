// Help of one tool for people, from its header: the text of `etw-mcp tools NAME` and of
// docs/tools.md.
#include "tools/catalog.h"

static void help_param(const Param *param, Buf *out) {
    buf_addf(out, "  " STR_FMT " (%s", STR_ARG(param->name), param_type_name(param->type));
    if (param->required) buf_add_c(out, ", required");
    if (param->has_default) buf_addf(out, ", default " STR_FMT, STR_ARG(param->default_text));
    if (param->has_min && param->has_max)
        buf_addf(out, ", %g to %g", param->min, param->max);
    else if (param->has_min)
        buf_addf(out, ", at least %g", param->min);
    buf_add_c(out, ")\n      ");
    buf_add(out, param->about);
    buf_add_char(out, '\n');
    if (!param->choice_count) return;
    buf_add_c(out, "      One of: ");
    for (size_t i = 0; i < param->choice_count; i++)
        buf_addf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(param->choices[i]));
    buf_add_char(out, '\n');
}

static void help_columns(const Section *section, Buf *out) {
    buf_addf(out, "\nColumns of " STR_FMT ":\n", STR_ARG(section->name));
    for (size_t i = 0; i < section->column_count; i++) {
        const OutColumn *column = &section->columns[i];
        buf_addf(out, "  " STR_FMT, STR_ARG(column->title));
        if (column->about.n) buf_addf(out, ": " STR_FMT, STR_ARG(column->about));
        buf_add_char(out, '\n');
    }
}

Str tool_help(const Tool *tool, Arena *arena) {
    Buf out = {0};
    buf_addf(&out, STR_FMT ": " STR_FMT "\n\n" STR_FMT "\n", STR_ARG(tool->name),
             STR_ARG(tool->title), STR_ARG(tool->about));
    if (tool->param_count) buf_add_c(&out, "\nParameters:\n");
    for (size_t i = 0; i < tool->param_count; i++) help_param(&tool->params[i], &out);
    for (size_t i = 0; i < tool->section_count; i++)
        if (tool->sections[i].style == STYLE_TABLE) help_columns(&tool->sections[i], &out);
    for (size_t i = 0; i < tool->needs_count; i++)
        buf_addf(&out, "%s  " STR_FMT "\n", i ? "" : "\nNeeds data from (one of a line):\n",
                 STR_ARG(tool->needs[i]));
    if (tool->example.n) buf_addf(&out, "\nExample:\n  " STR_FMT "\n", STR_ARG(tool->example));
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}
