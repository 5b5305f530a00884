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
-- param    filter_query  filter  null  Part of a module or process name; | separates alternatives.
-- common
span AS (
    SELECT greatest(start_ns, $start_ns) AS start_ns, least(end_ns, $end_ns) AS end_ns, source
    FROM cpu_span
),
total AS MATERIALIZED (SELECT * FROM sample_total($start_ns, $end_ns)),
picked AS MATERIALIZED (
    SELECT c.cpu, c.is_idle, coalesce(p.process, 'unknown') AS process, p.pid,
           coalesce(f.module, 'unknown') AS module, coalesce(f.function, 'unknown') AS function,
           coalesce(f.symbol_source, 'unknown') AS symbol_source, c.weight_ns
    FROM (SELECT cpu, is_idle, upid, frame_id, sum(weight_ns)::BIGINT AS weight_ns
          FROM sample WHERE ts_ns >= $start_ns AND ts_ns < $end_ns GROUP BY ALL) AS c
    LEFT JOIN process_name AS p ON p.upid = c.upid
    LEFT JOIN frame_name AS f ON f.frame_id = c.frame_id
    WHERE filter_hits(f.module, $filter_query) OR process_hits(p.process, p.pid, $filter_query)
),
hot AS (SELECT * FROM picked WHERE NOT is_idle),
-- A filter leaves samples only: switches know no module.
usage AS MATERIALIZED (
    SELECT cpu, percent(sum(busy_ns), sum(end_ns - start_ns)) AS busy_pct
    FROM cpu_bucket(1000000000, $start_ns, $end_ns) WHERE $filter_query IS NULL GROUP BY cpu
    UNION ALL
    SELECT l.cpu, percent(coalesce(sum(h.weight_ns), 0), any_value(t.span_ns))
    FROM cpu_list AS l CROSS JOIN total AS t LEFT JOIN hot AS h ON h.cpu = l.cpu
    WHERE $filter_query IS NOT NULL GROUP BY l.cpu
),
of_process AS (
    SELECT upid, process, pid FROM process_name
    WHERE process_hits(process, pid, $filter_query)
),
switches AS (
    SELECT count(*) AS switches FROM context_switch AS s
    WHERE ts_ns >= $start_ns AND ts_ns < $end_ns
      AND ($filter_query IS NULL
           OR new_utid IN (SELECT utid FROM thread WHERE upid IN (SELECT upid FROM of_process)))
),
waits AS (
    SELECT w.reason, count(*) AS waits,
           sum(least(coalesce(w.end_ns, $end_ns), $end_ns)
               - greatest(w.start_ns, $start_ns))::BIGINT AS wait_ns
    FROM thread_wait AS w JOIN thread AS t ON t.utid = w.utid
    WHERE w.start_ns < $end_ns AND coalesce(w.end_ns, $end_ns) > $start_ns
      AND ($filter_query IS NULL OR t.upid IN (SELECT upid FROM of_process))
    GROUP BY w.reason
),
dpc AS MATERIALIZED (
    SELECT count(*) AS calls, count(*) FILTER (i.duration_ns > 16000) AS slow,
           max(i.duration_ns) AS max_ns, sum(i.duration_ns) AS all_ns
    FROM interrupt AS i LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
    WHERE i.kind LIKE '%dpc' AND i.ts_ns >= $start_ns AND i.ts_ns < $end_ns
      AND filter_hits(f.module, $filter_query)
),
disk_use AS MATERIALIZED (
    SELECT b.disk, percent(b.busy_ns, $end_ns - $start_ns) AS busy_pct, x.transfers, x.bytes,
           x.avg_ns
    FROM disk_busy($start_ns, $end_ns) AS b
    JOIN (SELECT disk, count(*) AS transfers, sum(bytes)::BIGINT AS bytes,
                 avg(response_ns) FILTER (kind <> 'flush') AS avg_ns
          FROM disk_transfer
          WHERE ts_ns >= $start_ns AND ts_ns < $end_ns
            AND process_hits(process, pid, $filter_query)
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
      AND ($filter_query IS NULL OR upid IN (SELECT upid FROM of_process))
),
unresolved AS MATERIALIZED (
    SELECT module, sum(weight_ns) AS weight_ns,
           percent(sum(weight_ns), (SELECT sum(weight_ns) FROM hot)) AS pct
    FROM hot WHERE symbol_source = 'unknown' GROUP BY module
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
SELECT module, function, sum(weight_ns)::BIGINT,
       percent(sum(weight_ns), sum(sum(weight_ns)) OVER ()),
       percent(sum(weight_ns), (SELECT weight_ns FROM total))
FROM hot GROUP BY module, function
ORDER BY sum(weight_ns) DESC, module, function LIMIT 15
-- section  network table optional unless filter_query=*
-- heading  Hot Functions: networking
-- out      Module      text(60)
-- out      Function    text(100)
-- out      Weight      us
-- out      "% Weight"  pct
-- out      "% of Total" pct
SELECT module, function, sum(weight_ns)::BIGINT,
       percent(sum(weight_ns), sum(sum(weight_ns)) OVER ()),
       percent(sum(weight_ns), (SELECT weight_ns FROM total))
FROM hot WHERE is_network_module(module) GROUP BY module, function
ORDER BY sum(weight_ns) DESC, module, function LIMIT 15
-- section  symbols lines optional
-- out      Line text(300)
SELECT format('Symbols: {:.1f}% of the busy weight has function names',
              -- whole numbers first: a sum of fractions depends on its order
              percent((SELECT sum(weight_ns) FROM hot)
                      - coalesce((SELECT sum(weight_ns) FROM unresolved), 0),
                      (SELECT sum(weight_ns) FROM hot)))
       || coalesce((SELECT '; unresolved: ' || string_agg(format('{} ({:.1f}%)', module, pct), ', '
                                                          ORDER BY pct DESC, module)
                    FROM (SELECT * FROM unresolved WHERE pct > 1 AND module <> 'unknown'
                          ORDER BY pct DESC, module LIMIT 5)), '')
WHERE EXISTS (SELECT 1 FROM hot)
-- section  processes table optional
-- heading  Top processes
-- out      Process    text(60)
-- out      PID        id
-- out      "CPU ms"   ms
-- out      "% of busy" pct
SELECT process, pid, sum(weight_ns)::BIGINT, percent(sum(weight_ns), sum(sum(weight_ns)) OVER ())
FROM hot GROUP BY process, pid ORDER BY sum(weight_ns) DESC, process, pid LIMIT 10
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
           ELSE format('{:,}, {:,.0f} a second', switches,
                       switches / greatest(1e-9, (SELECT (end_ns - start_ns) / 1e9 FROM span))) END
FROM switches
UNION ALL
SELECT 'Longest waits in sum',
       (SELECT string_agg(format('{} ({:,} waits, {:.1f} s)', wait_reason_name(reason), waits,
                                 wait_ns / 1e9), '; ' ORDER BY wait_ns DESC, reason)
        FROM (SELECT * FROM waits ORDER BY wait_ns DESC, reason LIMIT 5))
WHERE EXISTS (SELECT 1 FROM waits)
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
                     percent(sum(weight_ns), (SELECT sum(weight_ns) FROM hot))),
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
