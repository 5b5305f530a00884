// The tools that SQL cannot say. handlers.c lists them.
#ifndef TOOLS_HANDLERS_H
#define TOOLS_HANDLERS_H

#include "tools/engine_internal.h"

Status handle_list_traces(ToolCall *call, Err *err);
Status handle_load_trace(ToolCall *call, Err *err);
Status handle_get_load_status(ToolCall *call, Err *err);
Status handle_list_loaded_traces(ToolCall *call, Err *err);
Status handle_unload_trace(ToolCall *call, Err *err);
Status handle_list_capture_profiles(ToolCall *call, Err *err);
Status handle_get_capture_profile(ToolCall *call, Err *err);
Status handle_get_capture_commands(ToolCall *call, Err *err);
Status handle_get_capture_instructions(ToolCall *call, Err *err);
Status handle_recommend_capture(ToolCall *call, Err *err);
Status handle_compare_traces(ToolCall *call, Err *err);
Status handle_export_analysis(ToolCall *call, Err *err);
Status handle_export_table(ToolCall *call, Err *err);
Status handle_get_entities(ToolCall *call, Err *err);
Status handle_get_evidence_status(ToolCall *call, Err *err);
Status handle_trace_info(ToolCall *call, Err *err);
Status handle_query_trace(ToolCall *call, Err *err);
Status handle_get_packet_capture_summary(ToolCall *call, Err *err);
Status handle_get_packet_timeline(ToolCall *call, Err *err);
Status handle_get_pktmon_layer_latency(ToolCall *call, Err *err);
Status handle_explain_connection(ToolCall *call, Err *err);
Status handle_export_pcapng(ToolCall *call, Err *err);
// handle_packet.c: refuses a five_tuple that cannot be read.
Status packet_check_tuple(ToolCall *call, Err *err);
Status packet_check_process(ToolCall *call, Err *err); // process_filter, where there are processes
Status handle_describe_tables(ToolCall *call, Err *err);
Status handle_get_hot_functions(ToolCall *call, Err *err);
Status handle_get_hot_stacks(ToolCall *call, Err *err);
Status handle_get_function_callers(ToolCall *call, Err *err);
Status handle_walk_stack(ToolCall *call, Err *err);
Status handle_butterfly_chain(ToolCall *call, Err *err);
Status handle_count_stacks(ToolCall *call, Err *err);
Status handle_get_flame_graph(ToolCall *call, Err *err);
Status handle_get_network_hot_functions(ToolCall *call, Err *err);
Status handle_get_network_hot_stacks(ToolCall *call, Err *err);
Status handle_check_symbols(ToolCall *call, Err *err);
Status handle_resolve_symbols(ToolCall *call, Err *err);
Status handle_diagnose_symbol_load(ToolCall *call, Err *err);
Status handle_clean_stale_symbol_files(ToolCall *call, Err *err);
Status handle_get_critical_path(ToolCall *call, Err *err);
Status handle_diagnose_trace(ToolCall *call, Err *err);
Status handle_get_network_dpcs(ToolCall *call, Err *err);
Status handle_get_network_lock_contention(ToolCall *call, Err *err);

#endif
