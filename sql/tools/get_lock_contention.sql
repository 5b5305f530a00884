-- tool     get_lock_contention
-- title    Lock contention
-- headline **Lock Contention**
-- group    scheduling
-- place    50
-- about    Who waits for locks, and where: threads that block (with the site of the waiter and of the one
--          that releases), CPU time burnt in spinlocks, and convoys. Needs context switches with stacks
--          and ready events; spinning needs CPU samples.
-- example  get_lock_contention(trace_id="...", module_filter="ntfs.sys")
-- filters  module function cpu
-- window
-- rows     30
-- needs    context_switch sample lock
-- common
turn AS (
    SELECT * FROM thread_turn
    WHERE off_kind = 'waiting' AND is_lock_reason(reason) AND end_ns < $end_ns
        AND off_end_ns > $start_ns AND cpu_hits(cpu, $cpu_filter)
),
spin_frame AS (
    SELECT frame_id, ltrim(function, '*') AS function FROM frame_name
    WHERE symbol_source <> 'unknown' AND is_spin_function(function)
),
-- Stacks of lock waits, of spinning and of lock events, each with its site once.
used AS MATERIALIZED ( -- filters on names must not come before the rows are few
    SELECT wait_stack_id AS stack_id FROM turn
    UNION
    SELECT stack_id FROM sample WHERE frame_id IN (SELECT frame_id FROM spin_frame)
        AND ts_ns >= $start_ns AND ts_ns < $end_ns
    UNION
    SELECT stack_id FROM lock_event WHERE ts_ns >= $start_ns AND ts_ns < $end_ns
),
site AS MATERIALIZED (
    SELECT stack_id, stack_site(stack_id) AS site
    FROM used
    WHERE stack_id IS NOT NULL
      AND filter_hits(stack_modules(stack_id), $module_filter)        -- when module_filter=*
      AND filter_hits(stack_functions(stack_id), $function_filter)    -- when function_filter=*
),
narrow AS (SELECT $module_filter IS NOT NULL OR $function_filter IS NOT NULL AS narrow),
switches AS MATERIALIZED (
    SELECT count(*) AS switches FROM context_switch
    WHERE ts_ns >= $start_ns AND ts_ns < $end_ns AND cpu_hits(cpu, $cpu_filter)
),
block AS MATERIALIZED (
    SELECT t.utid, t.reason, t.end_ns AS from_ns, t.off_end_ns, t.resumed, t.waker_utid,
        t.ready_ns, t.ready_in_dpc,
           coalesce(p.process, 'unknown') AS process, p.pid, p.tid,
           waker_text(t.ready_ns, t.resumed, t.ready_in_dpc, k.process, k.pid, k.tid,
               (SELECT EXISTS (FROM ready_thread))) AS releaser,
           t.wait_stack_id, s.site, t.ready_stack_id,
           greatest(0, least(coalesce(t.ready_ns, t.off_end_ns), $end_ns) - greatest(t.end_ns,
               $start_ns)) AS ns
    FROM turn AS t
    LEFT JOIN thread_name AS p ON p.utid = t.utid
    LEFT JOIN thread_name AS k ON k.utid = t.waker_utid
    LEFT JOIN site AS s ON s.stack_id = t.wait_stack_id
    WHERE s.stack_id IS NOT NULL OR NOT (SELECT narrow FROM narrow)
),
spin AS MATERIALIZED (
    SELECT x.cpu, x.weight_ns, f.function, s.site, coalesce(p.process, 'unknown') AS process
    FROM sample AS x
    JOIN spin_frame AS f ON f.frame_id = x.frame_id
    LEFT JOIN site AS s ON s.stack_id = x.stack_id
    LEFT JOIN process_name AS p ON p.upid = x.upid
    WHERE x.ts_ns >= $start_ns AND x.ts_ns < $end_ns AND cpu_hits(x.cpu, $cpu_filter)
      AND (s.stack_id IS NOT NULL OR NOT (SELECT narrow FROM narrow))
),
busy AS MATERIALIZED (
    SELECT coalesce(sum(weight_ns), 0)::BIGINT AS busy_ns FROM sample
    WHERE NOT is_idle AND ts_ns >= $start_ns AND ts_ns < $end_ns AND cpu_hits(cpu, $cpu_filter)
),
-- Threads that both wait for a lock of a site and release one there.
in_turn AS (
    SELECT site, count(*) AS threads
    FROM (SELECT site, utid FROM block WHERE site IS NOT NULL
          INTERSECT
          SELECT site, waker_utid FROM block WHERE site IS NOT NULL AND waker_utid IS NOT NULL)
    GROUP BY site
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', concat_ws('; ',
    CASE WHEN EXISTS (FROM context_switch) THEN 'blocking from context switches' || CASE
        WHEN EXISTS (FROM ready_thread) THEN ' and ready events'
         ELSE ' (no ready events: who releases is unknown)' END
             ELSE 'no context switches: blocking is unknown' END,
    CASE WHEN EXISTS (FROM sample) THEN 'spinning from CPU samples'
        ELSE 'no CPU samples: spinning is unknown' END,
    CASE WHEN EXISTS (FROM lock_event) THEN 'lock events' END)
UNION ALL
SELECT 'Context switches', format('{:,}, {:.2f}% of them into a lock wait', s.switches,
    percent((SELECT count(*) FROM block WHERE from_ns >= $start_ns), s.switches))
FROM switches AS s WHERE s.switches > 0
UNION ALL
SELECT 'Lock waits', format('{:,} taking {:,.3f} ms; median {:,.1f} us, p99 {:,.1f} us, max '
    '{:,.1f} us', count(*), sum(ns) / 1e6,
       quantile_cont(ns, 0.5) / 1e3, quantile_cont(ns, 0.99) / 1e3, max(ns) / 1e3)
FROM block HAVING count(*) > 0
UNION ALL
SELECT 'Spinning', format('{:,.3f} ms of sampled CPU, {:.2f}% of the busy time: {}',
    sum(weight_ns) / 1e6, percent(sum(weight_ns), (SELECT busy_ns FROM busy)),
       CASE WHEN percent(sum(weight_ns), (SELECT busy_ns FROM busy)) > 10 THEN 'ALERT (above 10%)'
            WHEN percent(sum(weight_ns), (SELECT busy_ns FROM busy)) > 5 THEN 'moderate (above 5%)'
                ELSE 'healthy' END)
FROM spin HAVING count(*) > 0
UNION ALL
SELECT 'Spinning', 'none sampled: healthy'
WHERE EXISTS (FROM sample) AND NOT EXISTS (FROM spin) AND EXISTS (SELECT 1 FROM frame_name
    WHERE symbol_source <> 'unknown')
-- section  main table
-- heading  Top Contention Sites
-- cap      max_rows
-- out      "Contention Site"   text(160)  Lock function and who called it.
-- out      Count               count
-- out      "% of Lock Waits"   pct
-- out      Reason              text
-- out      "Total ms"          ms
-- out      "Median us"         us
-- out      "P99 us"            us~
-- out      "Max us"            us
-- out      Threads             count
-- out      "Releaser site"     text(160)  Of the longest wait, as are releaser and stack.
-- out      "Top releaser"      text(60)
-- out      "Wait stack"        text(300)
-- empty    No blocked thread to show; Source says what is recorded.
SELECT coalesce(site, 'no stack (' || wait_reason_name(reason) || ')'), count(*), percent(count(*),
    sum(count(*)) OVER ()), wait_reason_name(reason),
       sum(ns)::BIGINT, quantile_cont(ns, 0.5), quantile_cont(ns, 0.99), count(*) < 100, max(ns),
           count(DISTINCT utid), stack_site(arg_max(ready_stack_id, (ns, from_ns, utid))),
           arg_max(releaser, (ns, from_ns, utid)),
       stack_line(arg_max(wait_stack_id, (ns, from_ns, utid)))
FROM block GROUP BY site, reason ORDER BY sum(ns) DESC, count(*) DESC, site, reason
-- section  processes table optional
-- heading  Blocked time by process
-- cap      max_rows
-- out      Process       text(60)
-- out      PID           id
-- out      "Lock waits"  count
-- out      "Blocked ms"  ms
-- out      Threads       count
SELECT process, pid, count(*), sum(ns)::BIGINT, count(DISTINCT utid) FROM block GROUP BY process,
    pid ORDER BY sum(ns) DESC, process, pid
-- section  spinning table optional
-- heading  Spinning
-- cap      max_rows
-- out      Function      text(80)
-- out      Site          text(160)
-- out      "Weight us"   us
-- out      "% of busy"   pct
-- out      Samples       count
-- out      Process       text(60)
SELECT function, coalesce(site, 'no stack'), sum(weight_ns)::BIGINT, percent(sum(weight_ns),
    (SELECT busy_ns FROM busy)), count(*), arg_max(process, (weight_ns, process))
FROM spin GROUP BY function, site ORDER BY sum(weight_ns) DESC, function, site
-- section  spinlocks table optional
-- heading  Spinlock events
-- cap      max_rows
-- out      Lock          hex
-- out      Caller        text(80)
-- out      Count         count
-- out      Spins         count
-- out      "Held us"     us
-- out      "Max held us" us
-- out      "Wait cycles" count
SELECT l.lock, f.label, count(*), coalesce(sum(l.spin_count), 0)::BIGINT,
    coalesce(sum(l.release_ns - l.acquire_ns), 0)::BIGINT,
       max(l.release_ns - l.acquire_ns), coalesce(sum(l.wait_cycles), 0)::BIGINT
FROM lock_event AS l LEFT JOIN frame_name AS f ON f.frame_id = l.frame_id
WHERE l.kind = 'spinlock' AND l.ts_ns >= $start_ns AND l.ts_ns < $end_ns AND cpu_hits(l.cpu,
    $cpu_filter)
  AND filter_hits(f.module, $module_filter) AND filter_hits(f.function, $function_filter)
GROUP BY l.lock, f.label ORDER BY coalesce(sum(l.spin_count), 0) DESC, count(*) DESC, l.lock,
    f.label
-- section  resources table optional
-- heading  Resource and push lock events
-- cap      max_rows
-- out      Kind          text
-- out      Lock          hex
-- out      Events        count
-- out      Threads       count
-- out      "Top site"    text(160)
SELECT l.kind, l.lock, count(*), count(DISTINCT l.utid), max(s.site)
FROM lock_event AS l LEFT JOIN site AS s ON s.stack_id = l.stack_id
WHERE l.kind IN ('resource', 'pushlock') AND l.ts_ns >= $start_ns AND l.ts_ns < $end_ns
    AND cpu_hits(l.cpu, $cpu_filter)
  AND (s.stack_id IS NOT NULL OR NOT (SELECT narrow FROM narrow))
GROUP BY l.kind, l.lock ORDER BY count(*) DESC, l.kind, l.lock
-- section  convoys table optional
-- heading  Convoys: threads that wait for a lock and release it to the next
-- cap      max_rows
-- out      Site                  text(160)
-- out      Waits                 count
-- out      "Threads in turn"     count  They wait there and release there.
-- out      "Blocked ms"          ms
-- out      "Top pair"            text(120)  Of the longest wait: releaser, then the one it woke.
SELECT b.site, count(*), any_value(o.threads), sum(b.ns)::BIGINT,
       arg_max(b.releaser || ' wakes ' || b.process || ' (' || coalesce(b.pid::VARCHAR, '?')
           || ') tid ' || b.tid, (b.ns, b.from_ns, b.utid))
FROM block AS b JOIN in_turn AS o ON o.site = b.site
WHERE o.threads >= 2
GROUP BY b.site ORDER BY sum(b.ns) DESC, b.site
-- section  reasons table optional
-- heading  By wait reason
-- out      "Wait Reason"    text
-- out      Count            count
-- out      "% of Switches"  pct
-- out      "Blocked ms"     ms
SELECT wait_reason_name(reason), count(*), percent(count(*), (SELECT switches FROM switches)),
    sum(ns)::BIGINT
FROM block GROUP BY reason ORDER BY sum(ns) DESC, reason
-- section  switchers table optional
-- heading  Switches by process
-- cap      max_rows
-- out      Process    text(60)
-- out      Switches   count
SELECT coalesce(n.process, 'unknown'), count(*)
FROM context_switch AS c LEFT JOIN thread_name AS n ON n.utid = c.new_utid
WHERE c.ts_ns >= $start_ns AND c.ts_ns < $end_ns AND cpu_hits(c.cpu, $cpu_filter)
  AND NOT EXISTS (SELECT 1 FROM thread_turn WHERE wait_stack_id IS NOT NULL)
GROUP BY ALL ORDER BY count(*) DESC, 1
-- section  missing notes
-- out      Note text
SELECT 'No stacks are recorded with the context switches: sites are unknown (stack flag CSwitch).'
WHERE EXISTS (FROM context_switch) AND NOT EXISTS (SELECT 1 FROM thread_turn
    WHERE wait_stack_id IS NOT NULL)
UNION ALL
SELECT 'Spinning can only be told by function names, and no symbols are resolved: resolve_symbols '
    'first.'
WHERE EXISTS (FROM sample) AND NOT EXISTS (SELECT 1 FROM frame_name
    WHERE symbol_source <> 'unknown')
UNION ALL
SELECT format('{:,} of {:,} switches do not follow from the one before on their CPU: some are '
    'missing, and waits with them.',
              count(*) FILTER (NOT whole), count(*))
FROM cpu_turn HAVING count(*) FILTER (NOT whole) > 0
-- section  follow next
-- out      Call text
SELECT format('get_critical_path(trace_id="{{trace_id}}", thread="{}", start_time={:.6f}, '
    'end_time={:.6f})', tid,
              (from_ns // 1000) / 1e6, (off_end_ns // 1000 + 1) / 1e6)
FROM (SELECT * FROM block WHERE resumed AND tid IS NOT NULL ORDER BY ns DESC, from_ns, utid LIMIT 1)
UNION ALL
SELECT format('get_wait_analysis(trace_id="{{trace_id}}", process="{}")', pid)
FROM (SELECT pid FROM block WHERE pid IS NOT NULL GROUP BY pid ORDER BY sum(ns) DESC, pid LIMIT 1)
