-- tool     get_cpu_samples
-- title    CPU samples
-- headline **CPU Samples** (grouped by {group_by})
-- group    cpu
-- place    10
-- about    Sampled CPU time by module, process, function, thread, CPU or a pair of these, largest
--          first. Use it to see who uses the CPU; filters and window combine freely. Weight is
--          microseconds of CPU. Needs CPU samples.
-- example  get_cpu_samples(trace_id="...", group_by="process+module", start_time=1, end_time=2)
-- param    group_by  enum  module  module|process|function|process+module|cpu|cpu+process|thread|process+function|cpu+module  What one row is.
-- filters  cpu module process function
-- window
-- rows     50
-- needs    sample
-- next     get_hot_functions(trace_id="{trace_id}", modules="{Module}")
-- next     when group_by=module,function get_cpu_samples(trace_id="{trace_id}", module_filter="{Module}", group_by="process+function")
-- next     when group_by=process,cpu+process,thread get_cpu_samples(trace_id="{trace_id}", process_filter="{PID}", group_by="function")
-- next     when group_by=cpu get_cpu_timeline(trace_id="{trace_id}")
-- common
total AS MATERIALIZED (SELECT * FROM sample_total($start_ns, $end_ns)),
cell AS (
    SELECT s.cpu, s.upid, CASE WHEN $group_by = 'thread' THEN s.utid END AS utid, s.frame_id,
           sum(s.weight_ns)::BIGINT AS weight_ns, count(*) AS samples,
           coalesce(sum(s.weight_ns) FILTER (s.is_idle), 0)::BIGINT AS idle_ns
    FROM sample AS s
    WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns
    GROUP BY ALL
),
named AS (
    SELECT c.cpu, coalesce(p.process, 'unknown') AS process, p.pid, t.tid, t.thread_name,
           coalesce(f.module, 'unknown') AS module, coalesce(f.function, 'unknown') AS function,
           c.weight_ns, c.samples, c.idle_ns
    FROM cell AS c
    LEFT JOIN process_name AS p ON p.upid = c.upid
    LEFT JOIN thread_name AS t ON t.utid = c.utid
    LEFT JOIN frame_name AS f ON f.frame_id = c.frame_id
    UNION ALL
    -- Deep idle states stop the profile interrupt: what is missing up to the capacity.
    SELECT l.cpu, 'Idle', 0, 0, NULL,
           CASE WHEN any_value(t.lossy) THEN '<Unaccounted>' ELSE '<Heuristic Low Power State>' END,
           CASE WHEN any_value(t.lossy) THEN '<lost or damaged>' ELSE '<C3>' END,
           greatest(0, any_value(t.span_ns) - coalesce(sum(c.weight_ns), 0))::BIGINT, 0,
           greatest(0, any_value(t.span_ns) - coalesce(sum(c.weight_ns), 0))::BIGINT
    FROM cpu_list AS l CROSS JOIN total AS t LEFT JOIN cell AS c ON c.cpu = l.cpu
    WHERE t.short_ns > 0
    GROUP BY l.cpu
),
picked AS MATERIALIZED (
    SELECT *
    FROM named
    WHERE cpu_hits(cpu, $cpu_filter) AND filter_hits(module, $module_filter)
      AND process_hits(process, pid, $process_filter) AND filter_hits(function, $function_filter)
      AND weight_ns > 0
)
-- section  scope values
-- out      Name text
-- out      Value text
SELECT 'Total weight', format('{:,} us in {:,} samples ({} idle)', sum(weight_ns) // 1000,
                              sum(samples)::BIGINT,
                              printf('%.1f%%', percent(sum(idle_ns), sum(weight_ns))))
FROM picked
HAVING sum(weight_ns) > 0
UNION ALL
SELECT 'CPU capacity', format('{:,} us ({} CPUs, {:.3f} s sampled every {:g} us)',
                              capacity_ns // 1000, cpus, span_ns / 1e9, interval_ns / 1e3)
FROM total
-- section  main table
-- out      CPU            id    when group_by=cpu,cpu+process,cpu+module
-- out      "Process Name" text  when group_by=process,process+module,cpu+process,thread,process+function
-- out      PID            id    when group_by=process,process+module,cpu+process,thread,process+function
-- out      TID            id    when group_by=thread
-- out      "Thread Name"  text  when group_by=thread
-- out      Module         text  when group_by=module,function,process+module,process+function,cpu+module
-- out      Function       text  when group_by=function,process+function
-- out      Weight         us    Microseconds of CPU.
-- out      "% Weight"     pct   Of the filtered total.
-- out      Samples        count
-- out      "% of CPU capacity" pct  Of all CPUs over the sampled time.
-- empty    No CPU samples in this window.
SELECT CASE WHEN contains($group_by, 'cpu') THEN cpu END AS cpu,
       CASE WHEN contains($group_by, 'process') OR $group_by = 'thread' THEN process END AS process,
       CASE WHEN contains($group_by, 'process') OR $group_by = 'thread' THEN pid END AS pid,
       CASE WHEN $group_by = 'thread' THEN tid END AS tid,
       CASE WHEN $group_by = 'thread' THEN thread_name END AS thread_name,
       CASE WHEN contains($group_by, 'module') OR contains($group_by, 'function')
            THEN module END AS module,
       CASE WHEN contains($group_by, 'function') THEN function END AS function,
       sum(weight_ns)::BIGINT AS weight_ns,
       percent(sum(weight_ns), sum(sum(weight_ns)) OVER ()) AS weight_pct,
       sum(samples)::BIGINT AS samples,
       percent(sum(weight_ns), (SELECT capacity_ns FROM total)) AS capacity_pct
FROM picked
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY weight_ns DESC, cpu, process, pid, tid, module, function
-- section  assumed notes
-- out      Note text
SELECT 'The sample interval is not recorded; 1 ms is assumed.' FROM total WHERE interval_assumed
UNION ALL
SELECT 'Frames without symbols show as module+0xRVA: each address is a row of its own.'
WHERE contains($group_by, 'function')
  AND EXISTS (SELECT 1 FROM picked WHERE starts_with(function, module || '+0x'))
