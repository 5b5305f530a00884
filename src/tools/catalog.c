// The catalogue: all tool files parsed and put in the order of tools/list.
#include "tools/catalog.h"

#include "base/embed.h"
#include "base/os.h"

#include <stdlib.h>

extern const EmbeddedFile ETW_TOOL_FILES[];
extern const unsigned ETW_TOOL_FILES_COUNT;

enum { TOOL_FILE_BYTES = 256 * 1024 };

const char *const TOOL_GROUPS[] = {"trace",   "system", "cpu",     "scheduling", "memory",
                                   "network", "http",   "compare", "capture",    NULL};

static size_t group_rank(Str group) {
    size_t i = 0;
    while (TOOL_GROUPS[i] && !str_eq(group, str_from_c(TOOL_GROUPS[i]))) i++;
    return i;
}

static int compare_tools(const void *a, const void *b) {
    const Tool *x = a, *y = b;
    size_t rank_x = group_rank(x->group), rank_y = group_rank(y->group);
    if (rank_x != rank_y) return rank_x < rank_y ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static bool in_toolsets(Str toolsets, Str group) {
    if (!str_trim(toolsets).n) return true;
    Str rest = toolsets, part = {0};
    while (str_next(&rest, ',', &part))
        if (str_eq_nocase(str_trim(part), group)) return true;
    return false;
}

static Status check_toolsets(Str toolsets, Err *err) {
    Str rest = toolsets, part = {0};
    while (str_next(&rest, ',', &part)) {
        part = str_trim(part);
        if (!part.n || TOOL_GROUPS[group_rank(part)]) continue;
        Buf names = {0};
        for (size_t i = 0; TOOL_GROUPS[i]; i++)
            buf_addf(&names, "%s%s", i ? ", " : "", TOOL_GROUPS[i]);
        (void)err_set(err, ERR_ARG, "unknown toolset \"" STR_FMT "\"; there are %s", STR_ARG(part),
                      names.p);
        buf_done(&names);
        return ERR_ARG;
    }
    return OK;
}

typedef struct ToolFiles {
    Str *names;
    Str *texts;
    size_t count;
} ToolFiles;

static void files_built_in(Arena *arena, ToolFiles *files) {
    files->count = ETW_TOOL_FILES_COUNT;
    files->names = ARENA_ARRAY(arena, Str, files->count + 1);
    files->texts = ARENA_ARRAY(arena, Str, files->count + 1);
    for (size_t i = 0; i < files->count; i++) {
        files->names[i] = str_from_c(ETW_TOOL_FILES[i].name);
        files->texts[i] = (Str){(const char *)ETW_TOOL_FILES[i].bytes, ETW_TOOL_FILES[i].size};
    }
}

static Status files_of_folder(Str folder, Arena *arena, ToolFiles *files, Err *err) {
    Str tools = path_join(arena, folder, STR("tools"));
    NameList names = {0};
    TRY(os_list_folder(tools, arena, &names, err));
    files->names = ARENA_ARRAY(arena, Str, names.count + 1);
    files->texts = ARENA_ARRAY(arena, Str, names.count + 1);
    for (size_t i = 0; i < names.count; i++) {
        if (!str_ends(names.items[i], STR(".sql"))) continue;
        Str path = path_join(arena, tools, names.items[i]);
        TRY(file_read_all(path, TOOL_FILE_BYTES, arena, &files->texts[files->count], err));
        files->names[files->count++] = path;
    }
    return OK;
}

static Status parse_files(Catalog *catalog, const ToolFiles *files, Str toolsets, Err *err) {
    catalog->tools = ARENA_ARRAY(&catalog->arena, Tool, files->count + 1);
    for (size_t i = 0; i < files->count; i++) {
        Tool *tool = &catalog->tools[catalog->count];
        TRY(tool_parse(files->names[i], files->texts[i], &catalog->arena, tool, err));
        if (!TOOL_GROUPS[group_rank(tool->group)])
            return err_set(err, ERR_INPUT, STR_FMT ": unknown group \"" STR_FMT "\"",
                           STR_ARG(files->names[i]), STR_ARG(tool->group));
        if (catalog_find(catalog, tool->name))
            return err_set(err, ERR_INPUT, STR_FMT ": second tool \"" STR_FMT "\"",
                           STR_ARG(files->names[i]), STR_ARG(tool->name));
        if (in_toolsets(toolsets, tool->group) || str_eq(tool->group, STR("trace")))
            catalog->count++;
    }
    return OK;
}

Status catalog_open(Catalog *catalog, Str sql_folder, Str toolsets, bool structured, Err *err) {
    *catalog = (Catalog){0};
    ToolFiles files = {0};
    TRY(check_toolsets(toolsets, err));
    if (sql_folder.n)
        TRY(files_of_folder(sql_folder, &catalog->arena, &files, err));
    else
        files_built_in(&catalog->arena, &files);
    TRY(parse_files(catalog, &files, toolsets, err));
    if (catalog->count) qsort(catalog->tools, catalog->count, sizeof(Tool), compare_tools);
    for (size_t i = 0; i < catalog->count; i++) {
        Tool *tool = &catalog->tools[i];
        tool->input_schema = tool_input_schema(tool, &catalog->arena);
        if (structured) tool->output_schema = tool_output_schema();
    }
    return OK;
}

void catalog_done(Catalog *catalog) {
    for (size_t i = 0; i < catalog->count; i++) {
        json_decref(catalog->tools[i].input_schema);
        json_decref(catalog->tools[i].output_schema);
    }
    arena_done(&catalog->arena);
    *catalog = (Catalog){0};
}

const Tool *catalog_find(const Catalog *catalog, Str name) {
    for (size_t i = 0; i < catalog->count; i++)
        if (str_eq(catalog->tools[i].name, name)) return &catalog->tools[i];
    return NULL;
}

const Param *tool_param(const Tool *tool, Str name) {
    for (size_t i = 0; i < tool->param_count; i++)
        if (str_eq(tool->params[i].name, name)) return &tool->params[i];
    return NULL;
}
