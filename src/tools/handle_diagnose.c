// diagnose_trace: a SQL tool; whether a stack is whole shows at its root, which C finds by walking
// the tree in memory.
#include "tools/handlers.h"

static const char IDS_SQL[] =
    "SELECT DISTINCT id::BIGINT FROM (SELECT stack_id AS id FROM sample UNION "
    "SELECT stack_id FROM context_switch UNION SELECT stack_id FROM ready_thread UNION "
    "SELECT stack_id FROM disk_io_init UNION SELECT stack_id FROM hard_fault) "
    "WHERE id IS NOT NULL ORDER BY 1";

static Status make_roots(ToolCall *call, const StackSet *set, Err *err) {
    Integers ids;
    Session *session = call->trace->session;
    Arena *arena = call->arena;
    TRY(session_integers(session, str_from_c(IDS_SQL), NULL, 0, 0, arena, &ids, err));
    int64_t *roots = ARENA_ARRAY(arena, int64_t, ids.row_count + 1);
    int64_t *depths = ARENA_ARRAY(arena, int64_t, ids.row_count + 1);
    uint32_t *stack_of_node = ARENA_ARRAY(arena, uint32_t, (size_t)set->node_count + 1);
    for (uint32_t id = 1; id <= set->stack_count; id++) stack_of_node[set->node_of_stack[id]] = id;
    for (size_t i = 0; i < ids.row_count; i++) {
        int64_t id = ids.columns[0][i];
        uint32_t node = id > 0 && id <= set->stack_count ? set->node_of_stack[id] : 0;
        for (; node; node = set->parent[node]) {
            roots[i] = stack_of_node[node];
            depths[i]++;
        }
    }
    Arg args[] = {
        {.name = "ids",    .type = ARG_I64_LIST, .i64_list = ids.columns[0]},
        {.name = "roots",  .type = ARG_I64_LIST, .i64_list = roots         },
        {.name = "depths", .type = ARG_I64_LIST, .i64_list = depths        },
    };
    for (size_t i = 0; i < COUNT_OF(args); i++) args[i].list_count = ids.row_count;
    ResultSet nothing;
    return session_query(session,
                         STR("CREATE OR REPLACE TEMP TABLE stack_root AS SELECT "
                             "unnest($ids::BIGINT[]) AS stack_id, unnest($roots::BIGINT[]) AS "
                             "root_id, unnest($depths::BIGINT[]) AS depth"),
                         args, COUNT_OF(args), 1, arena, &nothing, err);
}

Status handle_diagnose_trace(ToolCall *call, Err *err) {
    const StackSet *set = NULL;
    TRY(stack_cache_get(call->trace->stacks, call->trace->session, &set, err));
    Status status = make_roots(call, set, err);
    stack_cache_release(call->trace->stacks, set);
    if (status == OK) status = run_tool(call->tool, call->values, call->trace, call->doc, err);
    ResultSet nothing;
    (void)session_query(call->trace->session, STR("DROP TABLE IF EXISTS temp.stack_root"), NULL, 0,
                        1, call->arena, &nothing, NULL);
    return status;
}
