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
WITH switch AS (
    SELECT cpu, ts_ns, new_utid, new_tid, old_utid, old_tid, old_state, old_wait_reason,
           new_priority, stack_id,
           lead(ts_ns) OVER w AS next_ns, lead(old_tid) OVER w AS next_tid,
           lead(old_utid) OVER w AS next_utid,
           lead(old_state) OVER w AS next_state, lead(old_wait_reason) OVER w AS next_reason,
           row_number() OVER w AS place
    FROM context_switch
    WINDOW w AS (PARTITION BY cpu ORDER BY ts_ns, seq)
)
SELECT cpu, new_utid AS utid, new_tid AS tid, ts_ns AS start_ns, coalesce(next_ns, end_ns)
    AS end_ns,
       true AS came, next_tid IS NULL OR next_tid = new_tid AS whole,
       CASE WHEN next_tid = new_tid THEN next_state END AS state,
       CASE WHEN next_tid = new_tid THEN next_reason END AS reason,
       CASE WHEN next_tid <> new_tid AND next_tid <> 0 THEN next_utid END AS leaver_utid,
       next_state AS leaver_state, next_reason AS leaver_reason,
       new_priority AS priority, stack_id AS wait_stack_id, next_ns IS NULL AS is_last
FROM switch CROSS JOIN sched_span
UNION ALL
SELECT cpu, old_utid, old_tid, start_ns, ts_ns, false, true, old_state, old_wait_reason, NULL,
    NULL, NULL,
       NULL, NULL, false
FROM switch CROSS JOIN sched_span
WHERE place = 1;

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
WITH first_ready AS (
    SELECT r.utid, min(r.ts_ns) AS ts_ns FROM ready_thread AS r WHERE r.utid IS NOT NULL
        GROUP BY r.utid
),
first_turn AS (SELECT utid, min(start_ns) AS start_ns FROM cpu_turn WHERE tid <> 0 GROUP BY utid),
piece AS (
    SELECT utid, cpu, start_ns, end_ns, 'turn' AS kind, came, whole, leave_kind(state, reason)
        AS leave,
           reason, priority, wait_stack_id, is_last
    FROM cpu_turn WHERE tid <> 0 AND utid IS NOT NULL
    UNION ALL
    SELECT leaver_utid, cpu, end_ns, end_ns, 'leave', false, true, leave_kind(leaver_state,
        leaver_reason),
           leaver_reason, NULL, NULL, false
    FROM cpu_turn WHERE leaver_utid IS NOT NULL
    UNION ALL
    SELECT r.utid, NULL, r.ts_ns, r.ts_ns, 'wake', false, true, 'ready', NULL, NULL, NULL, false
    FROM first_ready AS r LEFT JOIN first_turn AS t ON t.utid = r.utid
    WHERE r.utid NOT IN (SELECT utid FROM thread WHERE tid = 0) AND (t.utid IS NULL
        OR r.ts_ns < t.start_ns)
),
follow AS (
    SELECT p.*,
           lead(start_ns) OVER w AS next_ns, lead(kind) OVER w AS next_kind,
           lead(wait_stack_id) OVER w AS next_stack_id, lead(cpu) OVER w AS next_cpu
    FROM piece AS p
    WINDOW w AS (PARTITION BY utid ORDER BY start_ns, end_ns, cpu)
),
clipped AS (
    SELECT f.utid, f.cpu, f.kind, f.came, f.start_ns, f.end_ns AS cpu_end_ns, f.reason, f.priority,
           f.next_kind, f.next_stack_id, f.next_cpu, f.whole,
           f.next_ns IS NOT NULL AS has_next,
           CASE WHEN f.whole THEN least(f.end_ns, coalesce(f.next_ns, f.end_ns))
               ELSE f.start_ns END AS end_ns,
           CASE WHEN f.next_ns IS NOT NULL THEN f.next_ns
                WHEN f.is_last OR f.leave = 'gone' THEN NULL
                ELSE least(s.end_ns, greatest(coalesce(t.end_ns, s.end_ns), f.end_ns)) END
                    AS off_end_ns,
           CASE WHEN NOT f.whole OR f.leave IS NULL OR f.next_kind = 'leave'
                     OR (f.leave = 'gone' AND f.next_ns IS NOT NULL) THEN 'unknown'
                ELSE f.leave END AS off_kind
    FROM follow AS f
    CROSS JOIN sched_span AS s
    LEFT JOIN (SELECT utid, end_ns FROM thread WHERE end_ns IS NOT NULL) AS t ON t.utid = f.utid
)
SELECT c.utid, c.cpu, c.kind, c.came, c.start_ns, c.end_ns, c.cpu_end_ns,
    c.whole AND c.kind = 'turn' AS ran,
       c.priority,
       CASE WHEN c.off_end_ns >= c.end_ns THEN c.off_kind END AS off_kind, c.off_end_ns,
       c.has_next AS resumed, c.reason,
       CASE WHEN r.ts_ns <= c.off_end_ns THEN r.ts_ns END AS ready_ns,
       CASE WHEN r.ts_ns <= c.off_end_ns THEN r.waker_utid END AS waker_utid,
       CASE WHEN r.ts_ns <= c.off_end_ns THEN r.in_dpc END AS ready_in_dpc,
       CASE WHEN r.ts_ns <= c.off_end_ns THEN r.cpu END AS ready_cpu,
       CASE WHEN r.ts_ns <= c.off_end_ns THEN r.stack_id END AS ready_stack_id,
       c.next_stack_id AS wait_stack_id, c.next_cpu
FROM clipped AS c
ASOF LEFT JOIN (SELECT utid, ts_ns, waker_utid, in_dpc, cpu, stack_id FROM ready_thread) AS r
    ON c.utid = r.utid
   AND c.end_ns + CASE WHEN c.kind = 'turn' AND c.came AND c.end_ns = c.start_ns THEN 1
       ELSE 0 END <= r.ts_ns;

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
