// get_network_dpcs and get_network_lock_contention: the general tools with the modules of the
// network stack as filter.
#include "tools/handle_stacks.h"
#include "tools/handlers.h"

enum { NAMES_SHOWN = 6 };

static Status check_list(const ToolCall *call, const char *name, Err *err) {
    const Value *list = values_get(call->values, name);
    if (list->given && list->list && !list->count)
        return err_set(err, ERR_ARG, "%s is an empty list: leave it out, or name modules", name);
    for (size_t i = 0; i < list->count; i++)
        if (!str_trim(list->list[i]).n)
            return err_set(err, ERR_ARG, "%s holds an empty name", name);
    return OK;
}

// Drivers of network adapters: their services in the machine's configuration, and modules that
// stand right behind ndis.sys in stacks are for the tools over stacks; DPC routines name theirs.
static Status adapter_drivers(ToolCall *call, ResultSet *out, Err *err) {
    return session_query(call->trace->session,
                         STR("SELECT DISTINCT lower(d.service) || '.sys' FROM device AS d "
                             "WHERE lower(d.class_guid::VARCHAR) = "
                             "'4d36e972-e325-11ce-bfc1-08002be10318' AND d.service IS NOT NULL "
                             "AND lower(d.service) || '.sys' IN (SELECT lower(name) FROM image) "
                             "ORDER BY 1"),
                         NULL, 0, 0, call->arena, out, err);
}

static Status network_modules(ToolCall *call, ModuleMatch *out, Err *err) {
    TRY(check_list(call, "extra_modules", err));
    TRY(check_list(call, "replace_modules", err));
    const Value *replace = values_get(call->values, "replace_modules");
    const Value *extra = values_get(call->values, "extra_modules");
    if (replace->count) {
        *out = (ModuleMatch){replace->list, replace->count, true};
        return OK;
    }
    ResultSet drivers;
    TRY(adapter_drivers(call, &drivers, err));
    Str *more = ARENA_ARRAY(call->arena, Str, drivers.row_count + extra->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < drivers.row_count; i++) more[count++] = drivers.cells[i].text;
    for (size_t i = 0; i < extra->count; i++) more[count++] = str_trim(extra->list[i]);
    *out = modules_network(call->arena, more, count);
    return OK;
}

// The delegate's arguments: ours under the same names, and the modules as its module_filter.
static json_t *delegate_arguments(const ToolCall *call, const Tool *delegate,
                                  const ModuleMatch *modules) {
    json_t *arguments = json_object();
    for (size_t i = 0; i < call->tool->param_count; i++) {
        const Param *param = &call->tool->params[i];
        const Value *value = &call->values->items[i];
        if (!value->given || !tool_param(delegate, param->name)) continue;
        json_object_setn_new(arguments, param->name.p, param->name.n,
                             json_stringn(value->text.p, value->text.n));
    }
    Buf filter = {0};
    for (size_t i = 0; i < modules->count; i++)
        buf_addf(&filter, "%s" STR_FMT, i ? "|" : "", STR_ARG(str_trim(modules->items[i])));
    json_object_set_new(arguments, "module_filter", json_stringn(filter.p, filter.n));
    buf_done(&filter);
    return arguments;
}

static void put_headline(ToolCall *call, const ModuleMatch *modules) {
    Buf line = {0};
    buf_addf(&line, "**Networking scope**: filtered to %zu module(s): ", modules->count);
    for (size_t i = 0; i < modules->count && i < NAMES_SHOWN; i++)
        buf_addf(&line, "%s" STR_FMT, i ? ", " : "", STR_ARG(modules->items[i]));
    if (modules->count > NAMES_SHOWN) buf_add_c(&line, ", ...");
    Str clean = format_clean(buf_str(&line), call->arena);
    call->doc->headline = str_format(call->arena, STR_FMT "\n\n" STR_FMT, STR_ARG(clean),
                                     STR_ARG(call->doc->headline));
    buf_done(&line);
}

// The filter is ours, the reader did not ask for it; the headline tells it in short.
static void hide_filter(Doc *doc) {
    for (size_t i = 0; i < doc->scope.count; i++) {
        DocPair *pair = &doc->scope.items[i];
        if (!str_eq(pair->name, STR("Filters"))) continue;
        for (size_t k = i + 1; k < doc->scope.count; k++)
            doc->scope.items[k - 1] = doc->scope.items[k];
        doc->scope.count--;
        return;
    }
}

static Status delegate(ToolCall *call, const char *name, Err *err) {
    const Tool *tool = catalog_find(&call->engine->catalog, str_from_c(name));
    ToolHandler handler = tool ? handler_find(tool->handler) : NULL;
    if (!tool) return err_set(err, ERR_NOT_FOUND, "%s is not among the tools of this server", name);
    ModuleMatch modules;
    TRY(network_modules(call, &modules, err));
    json_t *arguments = delegate_arguments(call, tool, &modules);
    Values values = {0};
    Status status = values_read(tool, arguments, call->arena, &values, err);
    json_decref(arguments);
    TRY(status);
    ToolCall inner = *call;
    inner.tool = tool;
    inner.values = &values;
    TRY(handler ? handler(&inner, err) : run_tool(tool, &values, call->trace, call->doc, err));
    put_headline(call, &modules);
    hide_filter(call->doc);
    return OK;
}

Status handle_get_network_dpcs(ToolCall *call, Err *err) {
    return delegate(call, "get_dpc_summary", err);
}

Status handle_get_network_lock_contention(ToolCall *call, Err *err) {
    return delegate(call, "get_lock_contention", err);
}
