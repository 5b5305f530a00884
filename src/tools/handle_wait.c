// get_wait_analysis, get_lock_contention, get_memory_pools: SQL tools that name places in code by
// stacks. The table of sites is made first, then the tool's own SQL runs.
#include "tools/handlers.h"
#include "tools/stack_site.h"

static Status run_with_sites(ToolCall *call, const char *ids_sql, Err *err) {
    TRY(stack_site_make(call, ids_sql, err));
    Status status = run_tool(call->tool, call->values, call->trace, call->doc, err);
    stack_site_drop(call);
    return status;
}

#define TURN_STACKS                                                                                \
    "SELECT wait_stack_id AS id FROM thread_turn "                                                 \
    "WHERE off_kind = 'waiting' AND end_ns < $end_ns AND off_end_ns >= $start_ns "                 \
    "UNION SELECT ready_stack_id FROM thread_turn "                                                \
    "WHERE off_kind = 'waiting' AND end_ns < $end_ns AND off_end_ns >= $start_ns"

Status handle_get_wait_analysis(ToolCall *call, Err *err) {
    return run_with_sites(
        call, "SELECT DISTINCT id::BIGINT FROM (" TURN_STACKS ") WHERE id IS NOT NULL ORDER BY 1",
        err);
}

Status handle_get_lock_contention(ToolCall *call, Err *err) {
    return run_with_sites(
        call,
        "SELECT DISTINCT id::BIGINT FROM (" TURN_STACKS
        " UNION SELECT s.stack_id FROM sample AS s JOIN frame_name AS f ON f.frame_id = s.frame_id "
        "WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns AND is_spin_function(f.function) "
        "UNION SELECT stack_id FROM lock_event WHERE ts_ns >= $start_ns AND ts_ns < $end_ns"
        ") WHERE id IS NOT NULL ORDER BY 1",
        err);
}

Status handle_get_memory_pools(ToolCall *call, Err *err) {
    return run_with_sites(call,
                          "SELECT DISTINCT stack_id::BIGINT FROM pool_event WHERE stack_id IS NOT "
                          "NULL AND kind = 'alloc' ORDER BY 1",
                          err);
}
