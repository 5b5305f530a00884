-- tool     analyze
-- title    Trace analysis
-- headline # Trace Analysis
-- group    cpu
-- place    1
-- about    One-call report: machine and trace, CPU utilisation, hottest functions and processes, symbol
--          state, DPC health, context switches and waits, disk, TCP, and which tools to call next for the
--          anomalies found. Call it first after load_trace. filter_query keeps modules or processes.
-- example  analyze(trace_id="...", start_time=2, end_time=3, filter_query="tcpip")
-- window
-- param    filter_query  filter  null  Part of a module or process name; a|b: either.
-- common
span AS (
    SELECT greatest(start_ns, $start_ns) AS start_ns, least(end_ns, $end_ns) AS end_ns, source
    FROM cpu_span
),
total AS MATERIALIZED (SELECT * FROM sample_total($start_ns, $end_ns)),
-- Busy samples; the filter may name their module or their process.
busy AS (
    SELECT s.cpu, s.upid, s.frame_id, s.weight_ns
    FROM sample AS s
    WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns AND NOT s.is_idle
      AND (frame_owner(s.frame_id) IN (FROM module_hit($filter_query)) -- when filter_query=*
           OR s.upid IN (FROM process_hit($filter_query))) -- when filter_query=*
),
-- By module and process: small enough to be named and used by several sections.
cell AS MATERIALIZED (
    SELECT b.cpu, b.upid, b.owner, b.weight_ns, coalesce(m.module, 'unknown') AS module,
           coalesce(p.process, 'unknown') AS process, p.pid
    FROM (SELECT cpu, upid, frame_owner(frame_id) AS owner, sum(weight_ns)::BIGINT AS weight_ns
          FROM busy GROUP BY ALL) AS b
    LEFT JOIN owner_module AS m ON m.owner = b.owner
    LEFT JOIN process_name AS p ON p.upid = b.upid
),
by_function AS MATERIALIZED (
    SELECT frame_function(b.frame_id) - coalesce(s.displacement, 0::UBIGINT) AS function_id,
           min(b.frame_id) AS frame_id, frame_owner(min(b.frame_id)) AS owner,
           sum(b.weight_ns)::BIGINT AS weight_ns
    FROM (SELECT frame_id, sum(weight_ns) AS weight_ns FROM busy GROUP BY ALL) AS b
    LEFT JOIN frame_symbol AS s ON s.frame_id = b.frame_id
    GROUP BY 1
),
-- A filter leaves samples only: switches know no module.
usage AS MATERIALIZED (
    SELECT cpu, percent(sum(busy_ns), sum(end_ns - start_ns)) AS busy_pct -- unless filter_query=*
    FROM cpu_bucket(1000000000, $start_ns, $end_ns) GROUP BY cpu -- unless filter_query=*
    SELECT l.cpu, -- when filter_query=*
           percent(coalesce(sum(h.weight_ns), 0), any_value(t.span_ns)) -- when filter_query=*
               AS busy_pct -- when filter_query=*
    FROM cpu_list AS l CROSS JOIN total AS t -- when filter_query=*
    LEFT JOIN cell AS h ON h.cpu = l.cpu GROUP BY l.cpu -- when filter_query=*
),
of_process AS (
    SELECT upid, process, pid FROM process_name
    WHERE process_hits(process, pid, $filter_query)
),
of_thread AS (SELECT utid FROM thread WHERE upid IN (SELECT upid FROM of_process)),
switched AS (
    SELECT s.old_tid, s.old_state, s.old_wait_reason FROM context_switch AS s
    WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns
      AND (s.new_utid IN (FROM of_thread) OR s.old_utid IN (FROM of_thread)) -- when filter_query=*
),
-- How often threads began to wait, by reason.
waits AS MATERIALIZED (
    SELECT CASE WHEN old_tid <> 0 AND old_state = 5 THEN old_wait_reason END AS reason,
           count(*) AS times
    FROM switched GROUP BY 1
),
dpc AS MATERIALIZED (
    SELECT count(*) AS calls, count(*) FILTER (i.duration_ns > 16000) AS slow,
           max(i.duration_ns) AS max_ns
    FROM interrupt AS i
    WHERE i.kind LIKE '%dpc' AND i.ts_ns >= $start_ns AND i.ts_ns < $end_ns
      AND frame_owner(i.frame_id) IN (FROM module_hit($filter_query)) -- when filter_query=*
),
disk_use AS MATERIALIZED (
    SELECT b.disk, percent(b.busy_ns, $end_ns - $start_ns) AS busy_pct, x.transfers, x.bytes,
           x.avg_ns
    FROM disk_busy($start_ns, $end_ns) AS b
    JOIN (SELECT disk, count(*) AS transfers, sum(bytes)::BIGINT AS bytes,
                 avg(response_ns) FILTER (kind <> 'flush') AS avg_ns
          FROM disk_transfer
          WHERE ts_ns >= $start_ns AND ts_ns < $end_ns
            AND process_hits(process, pid, $filter_query) -- when filter_query=*
          GROUP BY disk) AS x ON x.disk = b.disk
),
tcp AS MATERIALIZED (
    SELECT count(*) FILTER (kind = 'send') AS sends,
           count(*) FILTER (kind = 'receive') AS receives,
           count(*) FILTER (kind = 'retransmit') AS retransmits,
           count(*) FILTER (kind = 'fail') AS fails,
           coalesce(sum(bytes) FILTER (kind = 'send'), 0)::BIGINT AS sent,
           coalesce(sum(bytes) FILTER (kind = 'receive'), 0)::BIGINT AS received
    FROM tcp_event
    WHERE ts_ns >= $start_ns AND ts_ns < $end_ns
      AND source = (SELECT min(source) FROM tcp_event)
      AND upid IN (SELECT upid FROM of_process) -- when filter_query=*
),
unresolved AS MATERIALIZED (
    SELECT m.module, sum(f.weight_ns)::BIGINT AS weight_ns,
           percent(sum(f.weight_ns), (SELECT sum(weight_ns) FROM cell)) AS pct
    FROM (
        SELECT b.owner, sum(b.weight_ns) AS weight_ns
        FROM by_function AS b
        WHERE b.frame_id >> 62 <> 1
          AND b.frame_id NOT IN (SELECT frame_id FROM frame_symbol)
        GROUP BY b.owner
    ) AS f
    LEFT JOIN owner_module AS m ON m.owner = f.owner
    GROUP BY m.module
)
-- section  system values
-- out      Name  text
-- out      Value text(240)
SELECT 'System', concat_ws(', ', format('{} logical processors', cpu_count),
           CASE WHEN cpu_mhz > 0 THEN format('{:,} MHz', cpu_mhz) END,
           CASE WHEN memory_mb > 0 THEN format('{:,} MB memory', memory_mb) END,
           (SELECT 'NICs: ' || string_agg(description, '; ' ORDER BY ipv4_index, description)
            FROM nic WHERE mac IS NOT NULL AND mac <> '' AND mac NOT LIKE '00-00-00-00%'))
FROM trace
UNION ALL
SELECT 'Capture', format('OS build {}, {:.3f} s from {} UTC, {:,} events; '
                         'lost: {:,} events, {:,} buffers',
                         CASE WHEN os_build > 0 THEN os_build::VARCHAR ELSE 'unknown' END,
                         duration_ns / 1e9, start_utc, events, events_lost, buffers_lost)
FROM trace
-- section  cpus lines
-- heading  Per-CPU Utilization
-- empty    Neither context switches nor CPU samples are recorded; get_capture_commands tells how.
-- out      Line text(600)
WITH named AS (
    SELECT cpu, busy_pct, cpu_role(busy_pct) AS role FROM usage
)
SELECT line FROM (
    SELECT 1 AS place,
           'Source: ' || CASE
               WHEN $filter_query IS NOT NULL THEN 'CPU samples of what the filter leaves'
               WHEN source = 'switches' THEN 'context switches'
               ELSE 'CPU samples' END AS line
    FROM span WHERE source <> 'none'
    UNION ALL
    SELECT CASE role WHEN 'Saturated' THEN 2 WHEN 'Active' THEN 3 WHEN 'Low activity' THEN 4
                     ELSE 5 END,
           format('{} ({}): {}', role, count(*),
                  CASE role
                      WHEN 'Idle' THEN string_agg(cpu::VARCHAR, ', ' ORDER BY cpu)
                      ELSE string_agg(format('{} ({:.1f}%)', cpu, busy_pct), ', ' ORDER BY cpu)
                  END)
    FROM named GROUP BY role
    UNION ALL
    SELECT 6, format('Total active (>= 2 %): {} of {}, mean {:.1f}%',
                     count(*) FILTER (busy_pct >= 2), count(*), avg(busy_pct))
    FROM named HAVING count(*) > 0
)
ORDER BY place
-- section  functions table
-- heading  Hot Functions
-- out      Module      text(60)
-- out      Function    text(100)
-- out      Weight      us
-- out      "% Weight"  pct  Of the busy samples shown here.
-- out      "% of Total" pct Of all weight, idle included.
-- empty    No busy CPU samples here.
SELECT coalesce(m.module, 'unknown'),
       function_label(t.function_id, m.module, s.function_name, s.is_export, j.name),
       t.weight_ns, percent(t.weight_ns, t.all_ns),
       percent(t.weight_ns, (SELECT weight_ns FROM total))
FROM (SELECT *, sum(weight_ns) OVER () AS all_ns FROM by_function
      ORDER BY weight_ns DESC, function_id LIMIT 15) AS t
LEFT JOIN owner_module AS m ON m.owner = t.owner
LEFT JOIN method AS j ON j.method_id + 1073741824 = t.owner
LEFT JOIN frame_symbol AS s ON s.frame_id = t.frame_id
ORDER BY t.weight_ns DESC, t.function_id
-- section  network table optional unless filter_query=*
-- heading  Hot Functions: networking
-- out      Module      text(60)
-- out      Function    text(100)
-- out      Weight      us
-- out      "% Weight"  pct
-- out      "% of Total" pct
SELECT t.module, function_label(t.function_id, t.module, s.function_name, s.is_export, NULL),
       t.weight_ns, percent(t.weight_ns, t.all_ns),
       percent(t.weight_ns, (SELECT weight_ns FROM total))
FROM (SELECT b.*, m.module, sum(b.weight_ns) OVER () AS all_ns
      FROM by_function AS b JOIN owner_module AS m ON m.owner = b.owner
      WHERE is_network_module(m.module)
      ORDER BY b.weight_ns DESC, b.function_id LIMIT 15) AS t
LEFT JOIN frame_symbol AS s ON s.frame_id = t.frame_id
ORDER BY t.weight_ns DESC, t.function_id
-- section  symbols lines optional
-- out      Line text(300)
SELECT format('Symbols: {:.1f}% of the busy weight has function names',
              -- whole numbers first: a sum of fractions depends on its order
              percent((SELECT sum(weight_ns) FROM cell)
                      - coalesce((SELECT sum(weight_ns) FROM unresolved), 0),
                      (SELECT sum(weight_ns) FROM cell)))
       || coalesce((SELECT '; unresolved: ' || string_agg(format('{} ({:.1f}%)', module, pct), ', '
                                                          ORDER BY pct DESC, module)
                    FROM (SELECT * FROM unresolved WHERE pct > 1 AND module <> 'unknown'
                          ORDER BY pct DESC, module LIMIT 5)), '')
WHERE EXISTS (FROM cell)
-- section  processes table optional
-- heading  Top processes
-- out      Process    text(60)
-- out      PID        id
-- out      "CPU ms"   ms
-- out      "% of busy" pct
SELECT process, pid, sum(weight_ns)::BIGINT, percent(sum(weight_ns), sum(sum(weight_ns)) OVER ())
FROM cell GROUP BY process, pid ORDER BY sum(weight_ns) DESC, process, pid LIMIT 10
-- section  health values
-- heading  Health
-- out      Name  text
-- out      Value text(300)
SELECT 'DPCs', CASE
           WHEN NOT EXISTS (SELECT 1 FROM interrupt WHERE kind LIKE '%dpc') THEN 'not captured'
           WHEN calls = 0 THEN 'none here'
           ELSE format('{:,}, {:.2f}% above 16 us{}, longest {:.1f} us', calls,
                       percent(slow, calls),
                       CASE WHEN percent(slow, calls) > 1 THEN ' (WARNING: above 1%)' ELSE '' END,
                       max_ns / 1e3) END
FROM dpc
UNION ALL
SELECT 'Context switches', CASE
           WHEN NOT EXISTS (FROM context_switch) THEN 'not captured'
           ELSE format('{:,}, {:,.0f} a second', all_times,
                       all_times / greatest(1e-9, (SELECT (end_ns - start_ns) / 1e9 FROM span))) END
FROM (SELECT coalesce(sum(times), 0)::BIGINT AS all_times FROM waits)
UNION ALL
SELECT 'Top wait reasons',
       (SELECT string_agg(format('{} ({:,} waits)', wait_reason_name(reason), times), ', '
                          ORDER BY times DESC, reason)
        FROM (SELECT * FROM waits WHERE reason IS NOT NULL ORDER BY times DESC, reason LIMIT 5))
WHERE EXISTS (SELECT 1 FROM waits WHERE reason IS NOT NULL)
UNION ALL
SELECT format('Disk {}', disk),
       format('busy {:.1f}% of the time, {:,} transfers, {:.1f} MB, {:,.0f} us on average',
              busy_pct, transfers, bytes / 1048576, avg_ns / 1e3)
FROM disk_use
UNION ALL
SELECT 'Disks', CASE WHEN EXISTS (FROM disk_io) THEN 'none here' ELSE 'not captured' END
WHERE NOT EXISTS (FROM disk_use)
UNION ALL
SELECT 'TCP', CASE
           WHEN NOT EXISTS (FROM tcp_event) THEN 'not captured'
           ELSE format('{:,} sends ({:,} bytes), {:,} receives ({:,} bytes), '
                       '{:,} retransmits ({:.2f}% of sends), {:,} failures',
                       sends, sent, receives, received, retransmits,
                       coalesce(percent(retransmits, sends), 0), fails) END
FROM tcp
-- section  look table optional
-- heading  What to look at next
-- out      Finding text(120)
-- out      Call    text(200)
WITH found AS (
    SELECT 1 AS place,
           'CPU ' || string_agg(cpu::VARCHAR, ', ' ORDER BY cpu) || ' saturated' AS finding,
           format('get_cpu_samples(trace_id="{}", group_by="process+module", cpu_filter="{}")',
                  $trace_id, string_agg(cpu::VARCHAR, ',' ORDER BY cpu)) AS call
    FROM usage WHERE busy_pct >= 80 HAVING count(*) > 0
    UNION ALL
    SELECT 2, 'work is on few CPUs while others idle',
           format('get_cpu_timeline(trace_id="{}")', $trace_id)
    FROM usage HAVING max(busy_pct) >= 80 AND avg(busy_pct) < 30
    UNION ALL
    SELECT 3, format('{:.1f}% of the DPCs take over 16 us', percent(slow, calls)),
           format('get_dpc_summary(trace_id="{}")', $trace_id)
    FROM dpc WHERE percent(slow, calls) > 1
    UNION ALL
    SELECT 4, format('disk {} is busy {:.0f}% of the time', disk, busy_pct),
           format('get_diskio_summary(trace_id="{}")', $trace_id)
    FROM disk_use WHERE busy_pct >= 50
    UNION ALL
    SELECT 5, format('{:.2f}% of the TCP sends are retransmits', percent(retransmits, sends)),
           format('get_tcp_retransmits(trace_id="{}")', $trace_id)
    FROM tcp WHERE retransmits > 0 AND percent(retransmits, sends) > 0.5
    UNION ALL
    SELECT 6, format('{:.0f}% of the busy weight has no function names',
                     percent(sum(weight_ns), (SELECT sum(weight_ns) FROM cell))),
           format('check_symbols(trace_id="{}")', $trace_id)
    FROM unresolved WHERE module <> 'unknown' HAVING sum(pct) > 10
    UNION ALL
    SELECT 7, 'events were lost or the file is damaged',
           format('get_trace_stats(trace_id="{}")', $trace_id)
    FROM trace
    WHERE events_lost + buffers_lost > 0
       OR EXISTS (SELECT 1 FROM decode_issue WHERE severity = 'data_loss')
)
SELECT finding, call FROM found ORDER BY place
