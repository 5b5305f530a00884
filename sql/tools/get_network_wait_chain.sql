-- tool     get_network_wait_chain
-- title    What network threads wait for
-- headline **Network Wait Chain**
-- group    network
-- place    19
-- about    Why a thread was off the CPU, who woke it, and what that thread had waited for before: wait
--          reasons, waits with waker and stack, and the chain behind the longest wait.
-- example  get_network_wait_chain(trace_id="...", thread_filter="server.exe")
-- param    thread_filter  text     required          Thread id, or part of a process name (its five threads with most switch-ins).
-- param    max_depth      integer  10 1..50          Length of the chain of wakers.
-- param    max_window_us  number   1000000 0..       Longest time from ready to run that is paired.
-- needs    context_switch
-- note     A wait reason belongs to the thread that was switched out. Wait = blocked (until made ready) + ready (until it ran).
-- common
picked AS MATERIALIZED (
    SELECT n.utid, n.tid, n.process, n.pid,
           n.process || ' (' || n.pid || ') ' || n.tid AS thread, count(*) AS switches
    FROM context_switch AS c JOIN thread_name AS n ON n.utid = c.new_utid
    WHERE n.tid <> 0
      AND (CASE WHEN regexp_matches($thread_filter, '^[0-9]+$')
                THEN n.tid::VARCHAR = $thread_filter
                ELSE contains(lower(n.process), lower($thread_filter)) END)
    GROUP BY n.utid, n.tid, n.process, n.pid
    ORDER BY count(*) DESC, n.tid, n.utid
    LIMIT 5
),
wait AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY t.utid, t.end_ns, t.start_ns) AS id, t.utid,
           t.end_ns AS from_ns, t.ready_ns, t.off_end_ns AS until_ns, t.reason, t.waker_utid,
           t.ready_in_dpc, t.ready_cpu, t.ready_stack_id, t.next_cpu
    FROM thread_turn AS t
    WHERE t.off_kind = 'waiting' AND t.resumed AND t.off_end_ns > t.end_ns
),
own AS MATERIALIZED (
    SELECT w.*, p.thread FROM wait AS w JOIN picked AS p ON p.utid = w.utid
),
paired AS MATERIALIZED (
    SELECT * FROM own
    WHERE ready_ns IS NOT NULL AND until_ns - ready_ns <= $max_window_us * 1000
),
shown AS MATERIALIZED (
    SELECT * FROM paired ORDER BY until_ns - from_ns DESC, id LIMIT 20
),
stack_text AS (
    WITH RECURSIVE up AS (
        SELECT DISTINCT ready_stack_id AS of_id, ready_stack_id AS stack_id, 1 AS place
        FROM shown WHERE ready_stack_id IS NOT NULL
        UNION ALL
        SELECT u.of_id, s.parent_id, u.place + 1
        FROM up AS u JOIN stack AS s ON s.stack_id = u.stack_id
        WHERE s.parent_id IS NOT NULL AND u.place < 6
    )
    SELECT u.of_id, string_agg(f.label, ' < ' ORDER BY u.place) AS frames
    FROM up AS u JOIN stack AS s ON s.stack_id = u.stack_id
    JOIN frame_name AS f ON f.frame_id = s.frame_id
    GROUP BY u.of_id
),
cause AS MATERIALIZED (
    -- The wait that the waker itself came out of last, before it woke the other.
    SELECT e.id, e.from_ns AS effect_from_ns, w.id AS cause_id
    FROM (SELECT * FROM wait WHERE ready_ns IS NOT NULL AND waker_utid IS NOT NULL
          AND NOT coalesce(ready_in_dpc, false)) AS e
    ASOF LEFT JOIN wait AS w ON w.utid = e.waker_utid AND w.until_ns <= e.ready_ns
),
chain AS (
    WITH RECURSIVE walk AS (
        SELECT id, 1 AS depth FROM (SELECT id FROM paired ORDER BY until_ns - from_ns DESC, id
                                    LIMIT 1)
        UNION ALL
        SELECT c.cause_id, k.depth + 1
        FROM walk AS k
        JOIN cause AS c ON c.id = k.id
        JOIN wait AS w ON w.id = c.cause_id
        WHERE k.depth < $max_depth AND w.until_ns > c.effect_from_ns
    )
    SELECT id, depth FROM walk
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Thread', thread || ': ' || switches || ' switch-ins'
FROM picked ORDER BY switches DESC, thread
-- section  main table
-- out      Thread       text(80)
-- out      WaitReason   text
-- out      Count        count
-- out      %            pct
-- out      "Off CPU (us)" us     In all, ready time included.
-- empty    No thread matches thread_filter, or it was never switched in after a wait.
SELECT thread, wait_reason_name(reason), count(*),
       percent(count(*), sum(count(*)) OVER (PARTITION BY thread)), sum(until_ns - from_ns)::BIGINT
FROM own
GROUP BY thread, reason
ORDER BY thread, count(*) DESC, reason
-- section  switches table optional
-- heading  Switches
-- out      Thread           text(80)
-- out      "TimeStamp (us)" us
-- out      WaitReason       text    Why this thread had left.
-- out      OldTID           id      Whom it replaced.
-- out      OldProcessName   text(60)
-- out      OldThreadState   text
-- out      CPU              id
SELECT p.thread, c.ts_ns, wait_reason_name(o.reason), c.old_tid, coalesce(n.process, 'Idle'),
       coalesce(list_extract(['initialized', 'ready', 'running', 'standby', 'terminated', 'waiting',
                              'transition', 'deferred ready', 'gate wait', 'waiting for in-swap'],
                             c.old_state::BIGINT + 1), c.old_state::VARCHAR), c.cpu
FROM context_switch AS c
JOIN picked AS p ON p.utid = c.new_utid
LEFT JOIN thread_name AS n ON n.utid = c.old_utid
LEFT JOIN own AS o ON o.utid = c.new_utid AND o.until_ns = c.ts_ns
ORDER BY c.ts_ns, c.cpu, c.seq
LIMIT 20
-- section  waits table optional
-- heading  Longest waits
-- out      Thread                text(80)
-- out      "ReadyTimeStamp (us)" us
-- out      "SwitchTimeStamp (us)" us
-- out      "Wait (us)"           us
-- out      "Blocked (us)"        us
-- out      "Ready (us)"          us
-- out      WaitReason            text
-- out      CPU                   id    Where it was made ready.
-- out      SwitchCPU             id
-- out      Waker                 text(80)
-- out      "Ready Thread Stack"  text(240)
SELECT s.thread, s.ready_ns, s.until_ns, s.until_ns - s.from_ns, s.ready_ns - s.from_ns,
       s.until_ns - s.ready_ns, wait_reason_name(s.reason), s.ready_cpu, s.next_cpu,
       CASE WHEN s.ready_in_dpc THEN 'a DPC'
            ELSE coalesce(n.process || ' ' || n.tid, 'unknown') END, x.frames
FROM shown AS s
LEFT JOIN thread_name AS n ON n.utid = s.waker_utid
LEFT JOIN stack_text AS x ON x.of_id = s.ready_stack_id
ORDER BY s.until_ns - s.from_ns DESC, s.id
-- section  chain table optional
-- heading  Chain behind the longest wait
-- out      Depth          id
-- out      Thread         text(80)
-- out      WaitReason     text
-- out      "From (us)"    us
-- out      "Ready (us)"   us
-- out      "Ran (us)"     us
-- out      "Wait (us)"    us
-- out      "Woken by"     text(120)
SELECT k.depth, n.process || ' ' || n.tid, wait_reason_name(w.reason), w.from_ns, w.ready_ns,
       w.until_ns, w.until_ns - w.from_ns,
       CASE WHEN w.ready_ns IS NULL THEN 'unknown: no ready event'
            WHEN w.ready_in_dpc THEN 'a DPC'
            WHEN m.tid = 0 THEN 'the idle thread'
            WHEN m.tid IS NULL THEN 'unknown'
            WHEN k.depth < (SELECT max(depth) FROM chain) THEN m.process || ' ' || m.tid
            ELSE m.process || ' ' || m.tid || ', which had been running' END
FROM chain AS k
JOIN wait AS w ON w.id = k.id
LEFT JOIN thread_name AS n ON n.utid = w.utid
LEFT JOIN thread_name AS m ON m.utid = w.waker_utid
ORDER BY k.depth
-- section  unpaired notes
-- out      Note text
SELECT format('{} waits lasted longer than max_window_us from ready to run: they are not listed.',
              count(*))
FROM own WHERE ready_ns IS NOT NULL AND until_ns - ready_ns > $max_window_us * 1000
HAVING count(*) > 0
UNION ALL
SELECT 'No ready events in this trace: reasons only, no wakers.'
WHERE NOT EXISTS (SELECT 1 FROM ready_thread)
