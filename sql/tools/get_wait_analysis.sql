-- tool     get_wait_analysis
-- title    What threads wait for
-- headline **Wait Analysis**
-- group    scheduling
-- place    40
-- about    What the threads of a process, or one thread, waited for: how long, why, who woke them and at
--          which stacks; grouped by wait stack, by reason and by waker, with the longest single waits.
--          Use it when something is slow without using the CPU. Needs context switches; ready events
--          name the wakers, stacks the places.
-- example  get_wait_analysis(trace_id="...", process="sqlservr", start_time=2, end_time=3)
-- param    process  filter   null  Part of a process name, or a pid; a|b: either.
-- param    thread   integer  null  0..4294967295  Thread id.
-- window
-- rows     20
-- needs    context_switch
-- common
who AS MATERIALIZED (
    SELECT utid, upid, tid, pid, coalesce(process, 'unknown') AS process,
        thread_name FROM thread_name
    WHERE tid <> 0 AND process_hits(process, pid, $process) AND ($thread IS NULL OR tid = $thread)
),
-- Read again by each section: threads' turns are in memory, and a copy costs more than a scan.
turn AS (
    SELECT t.rowid AS id, t.utid, t.reason, t.ran, t.start_ns, t.end_ns, t.off_kind, t.off_end_ns,
           t.ready_ns, t.resumed, t.ready_in_dpc, t.waker_utid, t.wait_stack_id
    FROM thread_turn AS t
    WHERE t.start_ns < $end_ns
      AND greatest(t.end_ns, coalesce(t.off_end_ns, t.end_ns)) >= $start_ns
      AND t.utid IN (SELECT utid FROM who)
),
wait AS (
    SELECT id, utid, reason, end_ns AS from_ns, off_end_ns, ready_ns IS NOT NULL AS woken, resumed,
           ready_in_dpc, waker_utid, wait_stack_id,
           greatest(0, least(coalesce(ready_ns, off_end_ns), $end_ns) - greatest(end_ns, $start_ns))
               AS wait_ns,
           greatest(0, least(off_end_ns, $end_ns) - greatest(coalesce(ready_ns, off_end_ns),
               $start_ns)) AS ready_ns_all
    FROM turn
    WHERE off_kind = 'waiting' AND end_ns < $end_ns AND off_end_ns > $start_ns
),
-- One wait with names, by its id: only what is shown is named.
named AS (
    SELECT t.rowid AS id, t.reason, t.wait_stack_id, t.ready_stack_id,
           waker_text(t.ready_ns, t.resumed, t.ready_in_dpc, k.process, k.pid, k.tid,
               (SELECT EXISTS (FROM ready_thread))) AS waker
    FROM thread_turn AS t LEFT JOIN thread_name AS k ON k.utid = t.waker_utid
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', 'context switches (exact)' || CASE WHEN EXISTS (FROM ready_thread)
    THEN ' and ready events'
       ELSE '; ready events are not recorded, so no waker is known and time ready counts as '
           'waiting (WPR flag ReadyThread)' END
UNION ALL
SELECT 'Threads', format('{:,} with events here, of {:,} that match', (SELECT count(DISTINCT utid)
    FROM turn), (SELECT count(*) FROM who))
UNION ALL
SELECT 'Time', format('{:,.3f} ms running, {:,.3f} ms ready, {:,.3f} ms waiting{}', run_ns / 1e6,
    ready_ns / 1e6, wait_ns / 1e6,
              CASE WHEN unknown_ns > 0 THEN format(', {:,.3f} ms unknown', unknown_ns / 1e6)
                  ELSE '' END)
FROM (
    SELECT coalesce(sum(greatest(0, least(end_ns, $end_ns) - greatest(start_ns, $start_ns)))
        FILTER (ran), 0)::BIGINT AS run_ns,
           coalesce(sum(greatest(0, least(off_end_ns, $end_ns) - greatest(CASE
               WHEN off_kind = 'waiting' THEN ready_ns ELSE end_ns END, $start_ns)))
                    FILTER (off_kind = 'ready' OR (off_kind = 'waiting' AND ready_ns IS NOT NULL)),
                        0)::BIGINT AS ready_ns,
           coalesce(sum(greatest(0, least(off_end_ns, $end_ns) - greatest(end_ns, $start_ns)))
               FILTER (off_kind = 'unknown'), 0)::BIGINT AS unknown_ns,
           (SELECT coalesce(sum(wait_ns), 0)::BIGINT FROM wait) AS wait_ns
    FROM turn
)
-- section  main table
-- heading  By wait stack
-- cap      max_rows
-- out      "Wait site"    text(120)  Lock or wait function, and who called it.
-- out      Reason         text       Of the longest wait, as are waker and waker site.
-- out      Count          count
-- out      "Waiting ms"   ms
-- out      "% of waiting" pct
-- out      "Mean us"      us
-- out      "Max us"       us
-- out      "Ready ms"     ms         Made ready, not yet running.
-- out      Threads        count
-- out      "Top waker"    text(60)
-- out      "Waker site"   text(120)
-- out      "Wait stack"   text(400)
-- empty    No thread waited here.
WITH place AS (
    SELECT wait_stack_id, sum(waits)::BIGINT AS waits, sum(wait_ns)::BIGINT AS wait_ns,
           max(max_ns) AS max_ns, sum(ready_ns)::BIGINT AS ready_ns, count(*) AS threads,
           arg_max(longest, max_ns::HUGEINT * 4294967296 + utid) AS longest
    FROM (SELECT wait_stack_id, utid, count(*) AS waits, sum(wait_ns) AS wait_ns,
                 max(wait_ns) AS max_ns, sum(ready_ns_all) AS ready_ns, arg_max(id, wait_ns) AS longest
          FROM wait GROUP BY wait_stack_id, utid)
    GROUP BY wait_stack_id
),
top AS (
    SELECT *, sum(wait_ns) OVER () AS all_ns, count(*) OVER () AS total_rows FROM place
    ORDER BY wait_ns DESC, waits DESC, wait_stack_id LIMIT $max_rows
)
SELECT coalesce(stack_site(p.wait_stack_id), 'no stack'), wait_reason_name(n.reason), p.waits,
       p.wait_ns, percent(p.wait_ns, p.all_ns), p.wait_ns / p.waits, p.max_ns, p.ready_ns, p.threads,
       n.waker, stack_site(n.ready_stack_id), stack_line(p.wait_stack_id), p.total_rows
FROM top AS p JOIN named AS n ON n.id = p.longest
ORDER BY p.wait_ns DESC, p.waits DESC, p.wait_stack_id
-- section  reasons table optional
-- heading  By reason
-- cap      max_rows
-- out      "Wait reason"  text
-- out      Count          count
-- out      "Waiting ms"   ms
-- out      "% of waiting" pct
-- out      "Mean us"      us
-- out      "P50 us"       us
-- out      "P99 us"       us~
-- out      "Max us"       us
-- out      Threads        count
SELECT coalesce(wait_reason_name(reason), 'unknown'), count(*), sum(wait_ns)::BIGINT,
    percent(sum(wait_ns), sum(sum(wait_ns)) OVER ()),
       avg(wait_ns), quantile_cont(wait_ns, 0.5), quantile_cont(wait_ns, 0.99), count(*) < 100,
           max(wait_ns), count(DISTINCT utid)
FROM wait GROUP BY reason ORDER BY sum(wait_ns) DESC, reason
-- section  wakers table optional
-- heading  By waker
-- cap      max_rows
-- out      Waker          text(80)
-- out      Wakes          count
-- out      "Waiting ms"   ms       That the wakes ended.
-- out      "% of waiting" pct
-- out      Threads        count    Woken.
-- out      "Waker site"   text(160)  Of the longest wait.
-- out      "Wait site"    text(120)  Of the longest wait.
WITH waker AS (
    SELECT woken, resumed, ready_in_dpc, waker_utid, utid, count(*) AS waits,
           sum(wait_ns) AS wait_ns, max(wait_ns) AS max_ns, arg_max(id, wait_ns) AS longest
    FROM wait GROUP BY woken, resumed, ready_in_dpc, waker_utid, utid
),
text AS (
    SELECT waker_text(CASE WHEN w.woken THEN 0 END, w.resumed, w.ready_in_dpc, k.process, k.pid,
               k.tid, (SELECT EXISTS (FROM ready_thread))) AS waker, w.*
    FROM waker AS w LEFT JOIN thread_name AS k ON k.utid = w.waker_utid
),
whole AS (
    SELECT waker, sum(waits)::BIGINT AS waits, sum(wait_ns)::BIGINT AS wait_ns,
           sum(sum(wait_ns)) OVER () AS all_ns, count(DISTINCT utid) AS threads,
           arg_max(longest, max_ns::HUGEINT * 4294967296 + utid) AS longest
    FROM text GROUP BY waker
)
SELECT w.waker, w.waits, w.wait_ns, percent(w.wait_ns, w.all_ns), w.threads,
       stack_site(n.ready_stack_id), stack_site(n.wait_stack_id)
FROM whole AS w JOIN named AS n ON n.id = w.longest
ORDER BY w.wait_ns DESC, w.waker
-- section  longest table optional
-- heading  Longest waits
-- out      "From (s)"     s(6)
-- out      Process        text(60)
-- out      PID            id
-- out      TID            id
-- out      "Thread Name"  text(40)
-- out      "Waiting us"   us
-- out      "Ready us"     us
-- out      Reason         text
-- out      Waker          text(80)
-- out      "Wait site"    text(120)
SELECT w.from_ns, n.process, n.pid, n.tid, n.thread_name, w.wait_ns, CASE WHEN w.woken
    THEN w.ready_ns_all END, wait_reason_name(w.reason),
       waker_text(CASE WHEN w.woken THEN 0 END, w.resumed, w.ready_in_dpc, k.process, k.pid, k.tid,
           (SELECT EXISTS (FROM ready_thread))), stack_site(w.wait_stack_id)
FROM (SELECT * FROM wait ORDER BY resumed DESC, wait_ns DESC, from_ns, utid LIMIT 10) AS w
JOIN who AS n ON n.utid = w.utid
LEFT JOIN thread_name AS k ON k.utid = w.waker_utid
ORDER BY w.resumed DESC, w.wait_ns DESC, w.from_ns, w.utid
-- section  missing notes
-- out      Note text
SELECT 'No stacks are recorded with the context switches, so places in code are unknown (stack '
    'flag CSwitch).'
WHERE EXISTS (FROM wait) AND NOT EXISTS (SELECT 1 FROM thread_turn WHERE wait_stack_id IS NOT NULL)
UNION ALL
SELECT format('{:,} of {:,} switches of the trace do not follow from the one before on their CPU: '
    'some are missing, and what they would tell counts as unknown.',
              count(*) FILTER (NOT whole), count(*))
FROM cpu_turn HAVING count(*) FILTER (NOT whole) > 0
UNION ALL
SELECT format('{:,} of the waits had not ended when the trace or the window did.', count(*))
FROM wait WHERE NOT resumed OR off_end_ns >= $end_ns HAVING count(*) > 0
-- section  follow next
-- out      Call text
SELECT format('get_critical_path(trace_id="{{trace_id}}", thread="{}", start_time={:.6f}, '
    'end_time={:.6f})', n.tid,
              (w.from_ns // 1000) / 1e6, (w.off_end_ns // 1000 + 1) / 1e6)
FROM (SELECT * FROM wait WHERE resumed ORDER BY wait_ns DESC, from_ns, utid LIMIT 1) AS w JOIN who
    AS n ON n.utid = w.utid
UNION ALL
SELECT 'get_lock_contention(trace_id="{trace_id}")' FROM wait WHERE is_lock_reason(reason)
HAVING sum(wait_ns) > 0.3 * (SELECT sum(wait_ns) FROM wait)
