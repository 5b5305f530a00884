// Sites of stacks, and the temporary table that gives them to SQL.
#include "tools/stack_site.h"

// Code that waits and locks on behalf of others; who waits stands above it.
static const char *const SYSTEM_MODULES[] = {
    "ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe",   "ntkrpamp.exe",     "hal.dll",
    "ntdll.dll",    "kernel32.dll", "kernelbase.dll", "win32u.dll",       "wow64.dll",
    "wow64cpu.dll", "ucrtbase.dll", "msvcrt.dll",     "vcruntime140.dll", "msvcp140.dll",
};

static bool is_system(const Function *function) {
    for (size_t i = 0; i < COUNT_OF(SYSTEM_MODULES); i++)
        if (str_eq_nocase(function->module, str_from_c(SYSTEM_MODULES[i]))) return true;
    return false;
}

// module!function; names without a symbol have their module in them.
static Str function_label(const Function *function, Arena *arena) {
    bool bare = str_starts(function->name, function->module) ||
                str_starts(function->name, STR("unknown+")) ||
                str_eq(function->module, STR("unknown"));
    if (bare) return function->name;
    return str_format(arena, STR_FMT "!" STR_FMT, STR_ARG(function->module),
                      STR_ARG(function->name));
}

static const Function *function_at(const StackSet *set, uint32_t node) {
    return &set->functions[set->function[node]];
}

static uint32_t node_of(const StackSet *set, uint32_t stack_id) {
    return stack_id <= set->stack_count ? set->node_of_stack[stack_id] : 0;
}

Str stack_site(const StackSet *set, uint32_t stack_id, Arena *arena) {
    uint32_t before = 0, node = node_of(set, stack_id);
    if (!node) return (Str){0};
    while (node && is_system(function_at(set, node))) {
        before = node;
        node = set->parent[node];
    }
    if (!node) { // the system's own thread: its innermost frames are the switch itself
        node = before;
        before = 0;
    }
    Str caller = function_label(function_at(set, node), arena);
    if (!before) return caller;
    return str_format(arena, STR_FMT " <- " STR_FMT,
                      STR_ARG(function_label(function_at(set, before), arena)), STR_ARG(caller));
}

Str stack_line(const StackSet *set, uint32_t stack_id, uint32_t frames_max, Arena *arena) {
    if (!node_of(set, stack_id)) return (Str){0};
    Buf line = {0};
    uint32_t shown = 0, left = 0;
    for (uint32_t node = node_of(set, stack_id); node; node = set->parent[node]) {
        if (shown == frames_max) {
            left++;
            continue;
        }
        Str label = function_label(function_at(set, node), arena);
        buf_addf(&line, "%s" STR_FMT, shown++ ? " <- " : "", STR_ARG(label));
    }
    if (left) buf_addf(&line, " <- %u more", left);
    Str text = str_copy(arena, buf_str(&line));
    buf_done(&line);
    return text;
}

// Every different module (or function) of the stack, for filters.
static Str stack_names(const StackSet *set, uint32_t stack_id, bool modules, Arena *arena) {
    Buf names = {0};
    Str last = {0};
    for (uint32_t node = node_of(set, stack_id); node; node = set->parent[node]) {
        const Function *function = function_at(set, node);
        Str name = modules ? function->module : function->name;
        if (!str_eq(name, last)) buf_addf(&names, STR_FMT "\n", STR_ARG(name));
        last = name;
    }
    Str text = str_copy(arena, buf_str(&names));
    buf_done(&names);
    return text;
}

static Status put_sites(ToolCall *call, const StackSet *set, const Integers *ids, Err *err) {
    enum { FRAMES = 24, SITE, LINE, MODULES, FUNCTIONS, TEXTS };
    static const char *const NAMES[] = {"sites", "stacks", "modules", "functions"};
    Arena *arena = call->arena;
    size_t count = ids->row_count;
    Str *texts[TEXTS - SITE];
    for (size_t i = 0; i < COUNT_OF(texts); i++) texts[i] = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t i = 0; i < count; i++) {
        int64_t id = ids->columns[0][i];
        uint32_t stack_id = id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
        texts[0][i] = stack_site(set, stack_id, arena);
        texts[1][i] = stack_line(set, stack_id, FRAMES, arena);
        texts[2][i] = stack_names(set, stack_id, true, arena);
        texts[3][i] = stack_names(set, stack_id, false, arena);
    }
    Arg args[COUNT_OF(texts) + 1] = {
        {.name = "ids", .type = ARG_I64_LIST, .i64_list = ids->columns[0], .list_count = count}
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        args[i + 1] = (Arg){
            .name = NAMES[i], .type = ARG_TEXT_LIST, .text_list = texts[i], .list_count = count};
    ResultSet nothing;
    return session_query(call->trace->session,
                         STR("CREATE OR REPLACE TEMP TABLE stack_site AS "
                             "SELECT unnest($ids) AS stack_id, unnest($sites) AS site, "
                             "unnest($stacks) AS stack, unnest($modules) AS modules, "
                             "unnest($functions) AS functions"),
                         args, COUNT_OF(args), 1, arena, &nothing, err);
}

Status stack_site_make(ToolCall *call, const char *ids_sql, Err *err) {
    Window window;
    TRY(run_window(call->values, call->trace->facts, call->doc, &window, err));
    Arg args[] = {
        {.name = "start_ns", .type = ARG_I64, .i64 = window.start_ns},
        {.name = "end_ns",   .type = ARG_I64, .i64 = window.end_ns  }
    };
    Integers ids;
    TRY(session_integers(call->trace->session, str_from_c(ids_sql), args, COUNT_OF(args), 0,
                         call->arena, &ids, err));
    const StackSet *set = NULL;
    TRY(stack_cache_get(call->trace->stacks, call->trace->session, &set, err));
    Status status = put_sites(call, set, &ids, err);
    stack_cache_release(call->trace->stacks, set);
    return status;
}

void stack_site_drop(ToolCall *call) {
    ResultSet nothing;
    (void)session_query(call->trace->session, STR("DROP TABLE IF EXISTS temp.stack_site"), NULL, 0,
                        1, call->arena, &nothing, NULL);
}
