// Tools that are C functions: one line each.
#include "tools/handlers.h"

#define HANDLER_LIST(X)                                                                            \
    X(list_traces)                                                                                 \
    X(load_trace)                                                                                  \
    X(get_load_status)                                                                             \
    X(list_loaded_traces)                                                                          \
    X(unload_trace)                                                                                \
    X(list_capture_profiles)                                                                       \
    X(get_capture_profile)                                                                         \
    X(get_capture_commands)                                                                        \
    X(get_capture_instructions)                                                                    \
    X(recommend_capture)                                                                           \
    X(compare_traces)                                                                              \
    X(export_analysis)                                                                             \
    X(export_table)                                                                                \
    X(get_entities)                                                                                \
    X(get_evidence_status)                                                                         \
    X(trace_info)                                                                                  \
    X(query_trace)                                                                                 \
    X(get_packet_capture_summary)                                                                  \
    X(get_packet_timeline)                                                                         \
    X(get_pktmon_layer_latency)                                                                    \
    X(explain_connection)                                                                          \
    X(export_pcapng)                                                                               \
    X(describe_tables)                                                                             \
    X(get_hot_functions)                                                                           \
    X(get_hot_stacks)                                                                              \
    X(get_function_callers)                                                                        \
    X(walk_stack)                                                                                  \
    X(butterfly_chain)                                                                             \
    X(get_network_hot_functions)                                                                   \
    X(get_network_hot_stacks)                                                                      \
    X(check_symbols)                                                                               \
    X(resolve_symbols)                                                                             \
    X(diagnose_symbol_load)                                                                        \
    X(clean_stale_symbol_files)                                                                    \
    X(get_critical_path)                                                                           \
    X(count_stacks)                                                                                \
    X(get_flame_graph)                                                                             \
    X(diagnose_trace)                                                                              \
    X(get_network_dpcs)                                                                            \
    X(get_network_lock_contention)

static const struct {
    const char *name;
    ToolHandler run;
} HANDLERS[] = {
#define HANDLER(name) {#name, handle_##name},
    HANDLER_LIST(HANDLER)
#undef HANDLER
};

ToolHandler handler_find(Str name) {
    for (size_t i = 0; i < COUNT_OF(HANDLERS); i++)
        if (str_eq(name, str_from_c(HANDLERS[i].name))) return HANDLERS[i].run;
    return NULL;
}
