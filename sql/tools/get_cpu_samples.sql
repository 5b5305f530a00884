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
-- next     when group_by=process,cpu+process,thread get_cpu_samples(trace_id="{trace_id}", group_by="process+function")
-- next     when group_by=cpu get_cpu_timeline(trace_id="{trace_id}")
-- common
capacity AS MATERIALIZED (SELECT * FROM sample_total($start_ns, $end_ns)),
hit_frame AS MATERIALIZED (
    FROM frame_hit($function_filter) -- when function_filter=*
    SELECT 0::UBIGINT AS frame_id WHERE false -- unless function_filter=*
),
pick AS (
    SELECT s.cpu, s.upid, s.utid, s.frame_id, s.weight_ns, s.is_idle
    FROM sample AS s
    WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns
      AND cpu_hits(s.cpu, $cpu_filter) -- when cpu_filter=*
      AND frame_owner(s.frame_id) IN (FROM module_hit($module_filter)) -- when module_filter=*
      AND s.upid IN (FROM process_hit($process_filter)) -- when process_filter=*
      AND s.frame_id IN (FROM hit_frame) -- when function_filter=*
),
-- What samples lack up to the capacity: deep idle states stop the profile interrupt.
missing AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT l.cpu, greatest(0, t.span_ns - coalesce(x.weight_ns, 0))::BIGINT AS weight_ns,
               CASE WHEN t.lossy THEN '<Unaccounted>'
                    ELSE '<Heuristic Low Power State>' END AS module,
               CASE WHEN t.lossy THEN '<lost or damaged>' ELSE '<C3>' END AS function
        FROM cpu_list AS l
        CROSS JOIN capacity AS t
        LEFT JOIN (
            SELECT cpu, sum(weight_ns) AS weight_ns FROM sample
            WHERE ts_ns >= $start_ns AND ts_ns < $end_ns GROUP BY cpu
        ) AS x ON x.cpu = l.cpu
        WHERE t.short_ns > 0
    )
    WHERE weight_ns > 0 AND cpu_hits(cpu, $cpu_filter) AND filter_hits(module, $module_filter)
      AND process_hits('Idle', 0, $process_filter) AND filter_hits(function, $function_filter)
),
whole AS MATERIALIZED (
    SELECT sum(weight_ns)::BIGINT AS weight_ns, sum(samples)::BIGINT AS samples,
           sum(idle_ns)::BIGINT AS idle_ns
    FROM (
        SELECT sum(weight_ns) AS weight_ns, count(*) AS samples,
               coalesce(sum(weight_ns) FILTER (is_idle), 0) AS idle_ns
        FROM pick
        UNION ALL
        SELECT sum(weight_ns), 0, sum(weight_ns) FROM missing
    )
),
cell AS (
    SELECT
           cpu, -- when group_by=cpu*
           upid, -- when group_by=*process*,thread
           utid, -- when group_by=thread
           frame_owner(frame_id) AS owner, -- when group_by=*module
           sum(weight_ns)::BIGINT AS weight_ns, count(*) AS samples
    FROM pick GROUP BY ALL
),
named AS (
    SELECT
           c.cpu, -- when group_by=cpu*
           NULL AS cpu, -- unless group_by=cpu*
           coalesce(p.process, 'unknown') AS process, p.pid, -- when group_by=*process*,thread
           NULL AS process, NULL AS pid, -- unless group_by=*process*,thread
           t.tid, t.thread_name, -- when group_by=thread
           NULL AS tid, NULL AS thread_name, -- unless group_by=thread
           coalesce(m.module, 'unknown') AS module, -- when group_by=*module
           NULL AS module, -- unless group_by=*module
           c.weight_ns, c.samples
    FROM cell AS c
    LEFT JOIN process_name AS p ON p.upid = c.upid -- when group_by=*process*,thread
    LEFT JOIN thread_name AS t ON t.utid = c.utid -- when group_by=thread
    LEFT JOIN owner_module AS m ON m.owner = c.owner -- when group_by=*module
    UNION ALL
    SELECT
           cpu, -- when group_by=cpu*
           NULL, -- unless group_by=cpu*
           'Idle', 0, -- when group_by=*process*,thread
           NULL, NULL, -- unless group_by=*process*,thread
           0, NULL, -- when group_by=thread
           NULL, NULL, -- unless group_by=thread
           module, -- when group_by=*module
           NULL, -- unless group_by=*module
           weight_ns, 0
    FROM missing
),
-- Functions are many: only the rows to be shown get names.
by_frame AS (
    SELECT
           upid, -- when group_by=process+function
           NULL::UINTEGER AS upid, -- when group_by=function
           frame_id, sum(weight_ns)::BIGINT AS weight_ns, count(*) AS samples
    FROM pick GROUP BY ALL
),
by_function AS (
    SELECT b.upid, frame_function(b.frame_id) - coalesce(s.displacement, 0::UBIGINT) AS function_id,
           min(b.frame_id) AS frame_id, sum(b.weight_ns)::BIGINT AS weight_ns,
           sum(b.samples)::BIGINT AS samples, NULL AS module, NULL AS function
    FROM by_frame AS b LEFT JOIN frame_symbol AS s ON s.frame_id = b.frame_id
    GROUP BY 1, 2
    UNION ALL
    SELECT NULL, NULL, NULL, sum(weight_ns)::BIGINT, 0, module, function
    FROM missing GROUP BY module, function
),
top_function AS (
    SELECT *, count(*) OVER () AS total_rows
    FROM by_function
    ORDER BY weight_ns DESC, function_id, upid LIMIT $max_rows
)
-- section  scope values
-- out      Name text
-- out      Value text
SELECT 'Total weight', format('{:,} us in {:,} samples ({} idle)', weight_ns // 1000, samples,
                              printf('%.1f%%', percent(idle_ns, weight_ns)))
FROM whole WHERE weight_ns > 0
UNION ALL
SELECT 'CPU capacity', format('{:,} us ({} CPUs, {:.3f} s sampled every {:g} us)',
                              capacity_ns // 1000, cpus, span_ns / 1e9, interval_ns / 1e3)
FROM capacity
-- section  main table unless group_by=function,process+function
-- out      CPU            id    when group_by=cpu*
-- out      "Process Name" text  when group_by=*process*,thread
-- out      PID            id    when group_by=*process*,thread
-- out      TID            id    when group_by=thread
-- out      "Thread Name"  text  when group_by=thread
-- out      Module         text  when group_by=*module
-- out      Weight         us    Microseconds of CPU.
-- out      "% Weight"     pct   Of the filtered total.
-- out      Samples        count
-- out      "% of CPU capacity" pct  Of all CPUs over the sampled time.
-- empty    No CPU samples in this window.
SELECT cpu, process, pid, tid, thread_name, module,
       sum(weight_ns)::BIGINT AS weight_ns,
       percent(sum(weight_ns), (SELECT weight_ns FROM whole)),
       sum(samples)::BIGINT,
       percent(sum(weight_ns), (SELECT capacity_ns FROM capacity))
FROM named
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY weight_ns DESC, 1, 2, 3, 4, 5, 6
-- section  main table when group_by=function,process+function
-- cap      max_rows
-- out      "Process Name" text  when group_by=process+function
-- out      PID            id    when group_by=process+function
-- out      Module         text
-- out      Function       text(120)
-- out      Weight         us    Microseconds of CPU.
-- out      "% Weight"     pct   Of the filtered total.
-- out      Samples        count
-- out      "% of CPU capacity" pct  Of all CPUs over the sampled time.
-- empty    No CPU samples in this window.
SELECT CASE WHEN t.module IS NOT NULL THEN 'Idle' ELSE coalesce(p.process, 'unknown') END,
       CASE WHEN t.module IS NOT NULL THEN 0 ELSE p.pid END,
       coalesce(t.module, m.module, 'unknown') AS module,
       coalesce(t.function, function_label(frame_function(t.frame_id), m.module, s.function_name,
                                           s.is_export, j.name)) AS function,
       t.weight_ns, percent(t.weight_ns, (SELECT weight_ns FROM whole)), t.samples,
       percent(t.weight_ns, (SELECT capacity_ns FROM capacity)), t.total_rows
FROM top_function AS t
LEFT JOIN process_name AS p ON p.upid = t.upid
LEFT JOIN owner_module AS m ON m.owner = frame_owner(t.frame_id)
LEFT JOIN method AS j ON j.method_id + 1073741824 = frame_owner(t.frame_id)
LEFT JOIN frame_symbol AS s ON s.frame_id = t.frame_id
ORDER BY t.weight_ns DESC, t.function_id, t.upid
-- section  assumed notes
-- out      Note text
SELECT 'The sample interval is not recorded; 1 ms is assumed.'
FROM capacity WHERE interval_assumed
-- section  unnamed notes when group_by=*function
-- out      Note text
SELECT 'Code without symbols shows as module+0xRVA: each address is a row of its own.'
WHERE NOT EXISTS (FROM frame_symbol)
