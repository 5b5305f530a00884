-- tool     get_thread_cpu_precise
-- title    Scheduling of each thread
-- headline **Precise Thread CPU** (grouped by {group_by})
-- group    scheduling
-- place    30
-- about    Exact running, waiting and ready time of each thread or process from context switches, with
--          switch counts, wait percentiles and top wait reasons. Use it to see who ran, who waited and
--          who waited for a CPU. Needs context switches; ready events split waits.
-- example  get_thread_cpu_precise(trace_id="...", process_filter="sqlservr", sort_by="waiting_ms")
-- filters  process
-- param    tid       integer null 0..4294967295  Thread id.
-- filters  cpu
-- window
-- param    group_by  enum thread thread|process|process+thread  What one row is.
-- param    sort_by   enum running_ms running_ms|running_pct|waiting_ms|waiting_pct|other_ms|switch_ins|cswitch_per_s|wait_to_run|wait_to_run_per_s|mean_wait_us|p50_wait_us|p90_wait_us|p99_wait_us  Largest first.
-- rows     50
-- needs    context_switch
-- note     when cpu_filter=* Running time and switch-ins are those on the chosen CPUs; waits are the threads' own.
-- next     get_wait_analysis(trace_id="{trace_id}", process="{PID}", thread={ThreadID})
-- next     get_wait_analysis(trace_id="{trace_id}", process="{PID}")
-- common
length AS (
    SELECT least($end_ns, (SELECT max(duration_ns) FROM trace)) - $start_ns AS window_ns
),
who AS MATERIALIZED (
    SELECT utid, upid, tid, pid, coalesce(process, 'unknown') AS process,
        thread_name FROM thread_name
    WHERE process_hits(process, pid, $process_filter) AND ($tid IS NULL OR tid = $tid) AND tid <> 0
),
part AS MATERIALIZED (
    SELECT t.utid,
           CASE WHEN t.ran AND t.came AND cpu_hits(t.cpu, $cpu_filter)
                THEN greatest(0, least(t.end_ns, $end_ns) - greatest(t.start_ns, $start_ns))
                    ELSE 0 END AS run_ns,
           CASE WHEN t.ran AND t.came AND cpu_hits(t.cpu, $cpu_filter)
                     AND t.end_ns > $start_ns AND t.start_ns < $end_ns
                THEN least(coalesce(i.own_ns, 0), least(t.end_ns, $end_ns) - greatest(t.start_ns,
                    $start_ns)) ELSE 0 END AS dpc_ns,
           t.came AND t.start_ns >= $start_ns AND t.start_ns < $end_ns AND cpu_hits(t.cpu,
               $cpu_filter) AS is_in,
           t.off_kind, t.reason, t.kind = 'wake' AS is_wake,
           greatest(0, least(t.off_end_ns, $end_ns) - greatest(t.end_ns, $start_ns)) AS off_ns,
           CASE WHEN t.off_kind = 'waiting' OR t.kind = 'wake'
                THEN greatest(0, least(t.off_end_ns, $end_ns) - greatest(coalesce(t.ready_ns,
                    t.off_end_ns), $start_ns)) ELSE 0 END AS ready_ns,
           t.off_kind = 'waiting' AND t.resumed AND t.off_end_ns >= $start_ns
               AND t.off_end_ns < $end_ns AS to_run,
           CASE WHEN t.off_kind = 'waiting' AND t.resumed AND t.end_ns >= $start_ns
               AND t.off_end_ns < $end_ns
                THEN t.off_end_ns - t.end_ns END AS wait_ns,
           CASE WHEN (t.off_kind = 'waiting' OR t.kind = 'wake') AND t.resumed
               AND t.ready_ns >= $start_ns AND t.off_end_ns < $end_ns
                THEN t.off_end_ns - t.ready_ns END AS woken_ns
    FROM thread_turn AS t
    LEFT JOIN turn_interrupt AS i ON i.cpu = t.cpu AND i.start_ns = t.start_ns AND i.utid = t.utid
    WHERE t.start_ns < $end_ns AND greatest(t.end_ns, coalesce(t.off_end_ns, t.end_ns)) >= $start_ns
      AND t.utid IN (SELECT utid FROM who)
),
level AS (
    SELECT unnest(CASE $group_by WHEN 'thread' THEN ['thread'] WHEN 'process' THEN ['process']
        ELSE ['process', 'thread'] END) AS level
),
reasons AS (
    SELECT level, upid, utid, string_agg(text, ', ' ORDER BY off_ns DESC, text) FILTER (place <= 3)
        AS reasons
    FROM (
        SELECT l.level, w.upid, CASE l.level WHEN 'thread' THEN w.utid END AS utid,
               wait_reason_name(p.reason) || ' ' || printf('%.0f%%',
                   100.0 * sum(p.off_ns) / greatest(1, sum(sum(p.off_ns))
                   OVER (PARTITION BY l.level, w.upid, CASE l.level WHEN 'thread'
                   THEN w.utid END))) AS text,
               sum(p.off_ns) AS off_ns,
               row_number() OVER (PARTITION BY l.level, w.upid, CASE l.level WHEN 'thread'
                   THEN w.utid END ORDER BY sum(p.off_ns) DESC, p.reason) AS place
        FROM part AS p JOIN who AS w ON w.utid = p.utid CROSS JOIN level AS l
        WHERE p.off_kind = 'waiting' AND p.off_ns > 0
        GROUP BY l.level, w.upid, CASE l.level WHEN 'thread' THEN w.utid END, p.reason
    )
    GROUP BY ALL
),
total AS MATERIALIZED (
    SELECT l.level, w.upid, CASE l.level WHEN 'thread' THEN w.utid END AS utid,
           any_value(w.process) AS process, any_value(w.pid) AS pid,
           CASE l.level WHEN 'thread' THEN any_value(w.tid) END AS tid,
           CASE l.level WHEN 'thread' THEN any_value(w.thread_name) END AS thread_name,
           count(DISTINCT p.utid) AS threads,
           sum(p.run_ns)::BIGINT AS run_ns, sum(p.run_ns - p.dpc_ns)::BIGINT AS own_ns,
           coalesce(sum(p.off_ns) FILTER (p.off_kind = 'waiting'), 0)::BIGINT AS wait_ns,
           coalesce(sum(p.off_ns) FILTER (p.off_kind = 'ready' AND NOT p.is_wake), 0)::BIGINT
               AS other_ns,
           coalesce(sum(p.off_ns) FILTER (p.off_kind = 'unknown'), 0)::BIGINT AS unknown_ns,
           count(*) FILTER (p.is_in) AS ins, count(*) FILTER (p.to_run) AS to_run,
           avg(p.wait_ns) AS mean_ns, quantile_cont(p.wait_ns, [0.5, 0.9, 0.99]) AS waits,
               count(p.wait_ns) AS wait_count,
           sum(p.ready_ns)::BIGINT AS ready_ns,
           quantile_cont(p.woken_ns, [0.5, 0.99]) AS wakes, max(p.woken_ns) AS woken_ns_max,
               count(p.woken_ns) AS woken_count
    FROM part AS p JOIN who AS w ON w.utid = p.utid CROSS JOIN level AS l
    GROUP BY l.level, w.upid, CASE l.level WHEN 'thread' THEN w.utid END
    HAVING $cpu_filter IS NULL OR sum(p.run_ns) > 0 OR count(*) FILTER (p.is_in) > 0
),
ranked AS (
    SELECT t.*, r.reasons, s.window_ns,
           CASE $sort_by
               WHEN 'running_ms' THEN run_ns WHEN 'running_pct' THEN run_ns
               WHEN 'waiting_ms' THEN wait_ns WHEN 'waiting_pct' THEN wait_ns
               WHEN 'other_ms' THEN other_ns
               WHEN 'switch_ins' THEN ins WHEN 'cswitch_per_s' THEN ins
               WHEN 'wait_to_run' THEN to_run WHEN 'wait_to_run_per_s' THEN to_run
               WHEN 'mean_wait_us' THEN mean_ns
               WHEN 'p50_wait_us' THEN waits[1] WHEN 'p90_wait_us' THEN waits[2] ELSE waits[3]
           END AS rank
    FROM total AS t CROSS JOIN length AS s
    LEFT JOIN reasons AS r ON r.level = t.level AND r.upid IS NOT DISTINCT FROM t.upid
        AND r.utid IS NOT DISTINCT FROM t.utid
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', format('context switches (exact), {:.6f} to {:.6f} s', start_ns / 1e9,
    end_ns / 1e9)
FROM (SELECT greatest(start_ns, $start_ns) AS start_ns, least(end_ns, $end_ns) AS end_ns
    FROM sched_span)
UNION ALL
SELECT 'Ready events', CASE WHEN EXISTS (FROM ready_thread)
    THEN 'recorded: Ready is the part of Waiting after the thread was made ready'
                            ELSE 'not recorded: waits cannot be split (WPR flag ReadyThread)' END
UNION ALL
SELECT 'Dropped', format('{:,} overlapping turns', count(*)) FROM thread_turn WHERE ran
    AND cpu_end_ns > end_ns
-- section  main table
-- out      Process          text(60)
-- out      PID              id
-- out      Threads          count  when group_by=process,process+thread
-- out      ThreadID         id     when group_by=thread,process+thread  Empty: the whole process.
-- out      "Running ms"     ms
-- out      "Running %"      pct    Of one CPU.
-- out      "Waiting ms"     ms     From the switch off the CPU to the switch back on.
-- out      "Waiting %"      pct
-- out      "Other off-CPU ms" ms   Runnable but taken off the CPU: preempted, time slice over.
-- out      Switch-ins       count
-- out      CSwitch/s        number
-- out      Wait->Run        count
-- out      Wait->Run/s      number
-- out      "Mean wait us"   us     Of waits that lie fully inside the window.
-- out      "P50 wait us"    us
-- out      "P90 wait us"    us
-- out      "P99 wait us"    us~
-- out      "Ready ms"       ms     Made ready, but not yet running; part of Waiting. Empty: no ready events.
-- out      "P50 ready us"   us
-- out      "P99 ready us"   us~
-- out      "Max ready us"   us
-- out      "% of all CPUs"  pct    when group_by=process,process+thread
-- out      "Thread Name"    text(60) when group_by=thread,process+thread
-- out      "Top wait reasons" text(120)
-- out      "Running excl. DPC ms" ms  Running without DPC and ISR time. Empty: not recorded.
-- out      "Unknown ms"     ms     Switches are missing, so the state is not known.
-- empty    No thread has a context switch here.
SELECT process, pid, threads, tid, run_ns, percent(run_ns, window_ns), wait_ns, percent(wait_ns,
    window_ns),
       other_ns, ins, ins / (window_ns / 1e9), to_run, to_run / (window_ns / 1e9),
       mean_ns, waits[1], waits[2], waits[3], wait_count < 100,
       CASE WHEN EXISTS (FROM ready_thread) THEN ready_ns END, wakes[1], wakes[2],
           woken_count < 100, woken_ns_max,
       percent(run_ns, window_ns * (SELECT cpu_count FROM trace)), thread_name, reasons,
       CASE WHEN EXISTS (FROM interrupt) THEN own_ns END, nullif(unknown_ns, 0)
FROM ranked
ORDER BY CASE WHEN $group_by = 'process+thread' THEN max(CASE WHEN level = 'process' THEN rank END)
    OVER (PARTITION BY upid) END DESC NULLS LAST,
         CASE WHEN $group_by = 'process+thread' THEN upid END, level, rank DESC NULLS LAST,
             process, pid, tid, utid
-- section  gaps notes
-- out      Note text
SELECT format('{:,} of {:,} switches do not follow from the one before on their CPU: the trace '
    'leaves some out. Unknown ms is the time for which no state can be told.',
              count(*) FILTER (NOT whole), count(*))
FROM cpu_turn HAVING count(*) FILTER (NOT whole) > 0
