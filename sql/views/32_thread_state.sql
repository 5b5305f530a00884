-- What every thread did at every moment: running, ready, waiting (or unknown, where switches are
-- missing), from context switches and ready events.

-- One row, none without switches: the stretch of time the scheduler was recorded.
CREATE VIEW sched_span AS
SELECT min(s.ts_ns) AS start_ns, greatest(max(s.ts_ns), any_value(t.duration_ns)) AS end_ns
FROM context_switch AS s CROSS JOIN (SELECT duration_ns FROM trace LIMIT 1) AS t
HAVING count(*) > 0;

-- One turn on a CPU, from the switch that brought the thread to the next switch there, and how it
-- left. Turns of one CPU, idle included, cover sched_span without gap or overlap. A turn is broken
-- when the next switch takes another thread off: switches between them are missing, and who ran
-- when is unknown.
CREATE TABLE cpu_turn AS
SELECT cpu, utid, tid, start_ns, end_ns, came, whole, state, reason, leaver_utid, leaver_state,
       leaver_reason, priority, wait_stack_id, is_last
FROM sched_cpu_turns('context_switch', 'trace');

-- How a thread left its CPU: 'waiting', 'ready' (preempted, its time was up), 'gone', or NULL when
-- the switch does not say.
CREATE MACRO leave_kind(state, reason) AS
    CASE
        WHEN state IN (5, 8) THEN 'waiting'
        WHEN state = 4 THEN 'gone'
        WHEN state <= 9 THEN 'ready'
        WHEN reason IN (30, 31, 32, 33, 38) THEN 'ready'
        WHEN reason IS NOT NULL THEN 'waiting'
    END;

-- One turn of a thread and the stretch off the CPU behind it, up to its next turn; together they
-- cover the thread's time from its first to its last event. kind is 'turn'; 'leave', a switch off a
-- CPU that the thread was never seen to get; or 'wake', a ready event before the first turn. The
-- stretch off the CPU has off_kind 'waiting', 'ready' or 'unknown', or NULL when there is none.
CREATE TABLE thread_turn AS
SELECT utid, cpu, kind, came, start_ns, end_ns, cpu_end_ns, ran, priority, off_kind, off_end_ns,
       resumed, reason, ready_ns, waker_utid, ready_in_dpc, ready_cpu, ready_stack_id,
       wait_stack_id, next_cpu
FROM sched_thread_turns('context_switch', 'trace', 'ready_thread', 'thread');

-- Every moment of every thread in exactly one state, and every moment of every CPU: rows with a cpu
-- cover sched_span for each CPU (running, idle threads included, or unknown), rows with a utid and
-- without is_idle cover each thread's time.
CREATE VIEW thread_state AS
SELECT utid, 'running' AS state, start_ns, end_ns, cpu, false AS is_idle, NULL::UTINYINT AS reason,
       NULL::UINTEGER AS waker_utid, NULL::BOOLEAN AS waker_in_dpc, NULL::UINTEGER
           AS waker_stack_id,
       NULL::UINTEGER AS wait_stack_id
FROM thread_turn WHERE ran AND end_ns > start_ns
UNION ALL
SELECT utid, 'waiting', end_ns, coalesce(ready_ns, off_end_ns), NULL, false, reason,
       waker_utid, ready_in_dpc, ready_stack_id, wait_stack_id
FROM thread_turn WHERE off_kind = 'waiting' AND coalesce(ready_ns, off_end_ns) > end_ns
UNION ALL
SELECT utid, 'ready', CASE WHEN off_kind = 'waiting' THEN ready_ns ELSE end_ns END, off_end_ns,
    NULL, false, reason,
       waker_utid, ready_in_dpc, ready_stack_id, wait_stack_id
FROM thread_turn
WHERE (off_kind = 'ready' AND off_end_ns > end_ns) OR (off_kind = 'waiting'
    AND ready_ns < off_end_ns)
UNION ALL
SELECT utid, 'unknown', end_ns, off_end_ns, NULL, false, NULL, NULL, NULL, NULL, NULL
FROM thread_turn WHERE off_kind = 'unknown' AND off_end_ns > end_ns
UNION ALL
SELECT utid, 'running', start_ns, end_ns, cpu, true, NULL, NULL, NULL, NULL, NULL
FROM cpu_turn WHERE tid = 0 AND whole AND end_ns > start_ns
UNION ALL
SELECT NULL, 'unknown', start_ns, end_ns, cpu, false, NULL, NULL, NULL, NULL, NULL
FROM cpu_turn WHERE (NOT whole OR utid IS NULL) AND end_ns > start_ns
UNION ALL
SELECT NULL, 'unknown', end_ns, cpu_end_ns, cpu, false, NULL, NULL, NULL, NULL, NULL
FROM thread_turn WHERE ran AND cpu_end_ns > end_ns;
