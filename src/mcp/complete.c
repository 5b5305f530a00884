// Completion of arguments of prompts and resource templates, from what the engine knows.
#include "base/limits.h"
#include "mcp/methods.h"

void completion_complete(Call *call) {
    json_t *ref = json_object_get(call->params, "ref");
    json_t *argument = json_object_get(call->params, "argument");
    if (!json_is_string(json_object_get(argument, "name")) ||
        !json_is_string(json_object_get(argument, "value"))) {
        call_fail(call, RPC_INVALID_PARAMS, NULL,
                  "params.argument needs the strings name and value");
        return;
    }
    Str name = json_get_str(argument, "name"), kind = {0};
    Str type = json_get_str(ref, "type");
    bool known = false;
    if (str_eq(type, STR("ref/prompt")))
        known = prompt_argument_kind(json_get_str(ref, "name"), name, &kind);
    else if (str_eq(type, STR("ref/resource")))
        known = resource_argument_kind(json_get_str(ref, "uri"), name, &kind);
    if (!known) {
        call_fail(call, RPC_INVALID_PARAMS, NULL,
                  "Unknown completion reference: ref must name a prompt or a resource template");
        return;
    }
    json_t *given = json_object_get(json_object_get(call->params, "context"), "arguments");
    Str values[LIMIT_COMPLETIONS + 1]; // one more, to know whether there are more
    size_t count = 0;
    if (kind.n)
        count =
            engine_complete(call->engine, kind, json_get_str(given, "trace_id"),
                            json_get_str(argument, "value"), call->arena, values, COUNT_OF(values));
    bool more = count > LIMIT_COMPLETIONS;
    if (more) count = LIMIT_COMPLETIONS;
    buf_add_c(&call->members, "\"completion\":{\"values\":[");
    for (size_t i = 0; i < count; i++) {
        if (i) buf_add_char(&call->members, ',');
        json_add_text(&call->members, values[i]);
    }
    buf_add_char(&call->members, ']');
    if (!more) buf_addf(&call->members, ",\"total\":%zu", count);
    buf_addf(&call->members, ",\"hasMore\":%s}", more ? "true" : "false");
}
