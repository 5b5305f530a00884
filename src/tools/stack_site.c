// Sites of stacks, and the functions that give them to SQL.
#include "tools/stack_site.h"

#include <duckdb.h>

enum { LINE_FRAMES = 24 };

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

static Str stack_modules(const StackSet *set, uint32_t stack_id, Arena *arena) {
    return stack_names(set, stack_id, true, arena);
}

static Str stack_functions(const StackSet *set, uint32_t stack_id, Arena *arena) {
    return stack_names(set, stack_id, false, arena);
}

static Str short_line(const StackSet *set, uint32_t stack_id, Arena *arena) {
    return stack_line(set, stack_id, LINE_FRAMES, arena);
}

// ---------------------------------------------------------------- functions of SQL

typedef Str (*StackText)(const StackSet *set, uint32_t stack_id, Arena *arena);

// Rows come in runs of one stack, so a text serves until another stack is asked for.
static void put_texts(const StackSet *set, StackText text, duckdb_data_chunk input,
                      duckdb_vector output) {
    AUTO(arena_done) Arena arena = {0};
    duckdb_vector ids = duckdb_data_chunk_get_vector(input, 0);
    const uint32_t *id = duckdb_vector_get_data(ids);
    uint64_t *known = duckdb_vector_get_validity(ids);
    duckdb_vector_ensure_validity_writable(output);
    uint64_t *valid = duckdb_vector_get_validity(output);
    Str last = {0};
    uint32_t last_id = 0;
    for (idx_t row = 0, rows = duckdb_data_chunk_get_size(input); row < rows; row++) {
        bool asked = !known || duckdb_validity_row_is_valid(known, row);
        if (asked && id[row] != last_id) {
            arena_clear(&arena);
            last = text(set, id[row], &arena);
            last_id = id[row];
        }
        if (asked && last.n)
            duckdb_vector_assign_string_element_len(output, row, last.p, last.n);
        else
            duckdb_validity_set_row_invalid(valid, row);
    }
}

static void run_text(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output,
                     StackText text) {
    StackNames *names = duckdb_scalar_function_get_extra_info(info);
    AUTO(session_close) Session *session = NULL;
    const StackSet *set = NULL;
    Err err = {0};
    Status status = session_open(names->database, &session, &err);
    if (status == OK) status = stack_cache_get(names->cache, session, &set, &err);
    if (status == OK)
        put_texts(set, text, input, output);
    else
        duckdb_scalar_function_set_error(info, err.text);
    stack_cache_release(names->cache, set);
}

static void run_site(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    run_text(info, input, output, stack_site);
}

static void run_line(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    run_text(info, input, output, short_line);
}

static void run_modules(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    run_text(info, input, output, stack_modules);
}

static void run_functions(duckdb_function_info info, duckdb_data_chunk input,
                          duckdb_vector output) {
    run_text(info, input, output, stack_functions);
}

static const struct {
    const char *name;
    duckdb_scalar_function_t run;
} FUNCTIONS[] = {
    {"stack_site",      run_site     },
    {"stack_line",      run_line     },
    {"stack_modules",   run_modules  },
    {"stack_functions", run_functions},
};

Status stack_functions_register(void *connection, StackNames *names, Err *err) {
    for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++) {
        duckdb_scalar_function function = duckdb_create_scalar_function();
        duckdb_logical_type id = duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER);
        duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
        duckdb_scalar_function_set_name(function, FUNCTIONS[i].name);
        duckdb_scalar_function_add_parameter(function, id);
        duckdb_scalar_function_set_return_type(function, text);
        duckdb_scalar_function_set_extra_info(function, names, NULL);
        duckdb_scalar_function_set_function(function, FUNCTIONS[i].run);
        duckdb_state state = duckdb_register_scalar_function(connection, function);
        duckdb_destroy_logical_type(&id);
        duckdb_destroy_logical_type(&text);
        duckdb_destroy_scalar_function(&function);
        if (state != DuckDBSuccess)
            return err_set(err, ERR_INTERNAL, "the SQL engine refuses the function %s",
                           FUNCTIONS[i].name);
    }
    return OK;
}
