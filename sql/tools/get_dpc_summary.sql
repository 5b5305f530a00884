-- tool     get_dpc_summary
-- title    DPC and ISR durations
-- headline **DPC/ISR Summary**
-- group    scheduling
-- place    10
-- about    How long DPCs and ISRs run, by module and by routine, with the longest ones, a health check
--          against the usual limits (DPC 100 us, ISR 25 us) and histograms. Use it to find the driver that
--          keeps a CPU from its threads. Needs DPC or ISR events.
-- example  get_dpc_summary(trace_id="...", module_filter="ndis.sys|tcpip.sys")
-- filters  module
-- window
-- rows     30
-- needs    dpc isr
-- next     get_dpc_per_cpu(trace_id="{trace_id}", module_filter="{Module}")
-- common
run AS MATERIALIZED (
    SELECT i.cpu, i.kind, i.is_isr, i.start_ns, i.end_ns, i.duration_ns AS ns, i.own_ns,
           coalesce(f.module, 'unknown') AS module, coalesce(f.function, 'unknown') AS routine
    FROM interrupt_own AS i LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
    WHERE i.end_ns >= $start_ns AND i.end_ns < $end_ns AND filter_hits(f.module, $module_filter)
),
dpc AS (SELECT * FROM run WHERE NOT is_isr),
span AS (SELECT least($end_ns, (SELECT max(duration_ns) FROM trace)) - $start_ns AS window_ns),
-- Stretches of DPCs and ISRs on one CPU with no more than 10 us between two of them.
stretch AS (
    SELECT cpu, min(start_ns) AS start_ns, max(end_ns) AS end_ns, count(*) AS runs
    FROM (SELECT cpu, start_ns, end_ns, sum(fresh::INTEGER) OVER (PARTITION BY cpu
        ORDER BY start_ns, end_ns DESC) AS part
          FROM (SELECT cpu, start_ns, end_ns,
                       start_ns > 10000 + coalesce(max(end_ns) OVER (PARTITION BY cpu
                           ORDER BY start_ns, end_ns DESC
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -10001)
                                      AS fresh
                FROM interrupt_own WHERE end_ns >= $start_ns AND end_ns < $end_ns))
    GROUP BY cpu, part
),
bucket AS (
    SELECT module, CASE WHEN ns < 1000 THEN 0 ELSE least(16, floor(log2(ns // 1000))::INTEGER
        + 1) END AS bucket, count(*) AS runs
    FROM dpc GROUP BY ALL
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', 'DPC and ISR events (exact, logged at their end)'
UNION ALL
SELECT 'Executions', format('{:,} DPCs taking {:,.3f} ms, {:,} ISRs taking {:,.3f} ms (nested time '
    'counted once)',
       count(*) FILTER (NOT is_isr), coalesce(sum(own_ns) FILTER (NOT is_isr), 0) / 1e6,
       count(*) FILTER (is_isr), coalesce(sum(own_ns) FILTER (is_isr), 0) / 1e6)
FROM run HAVING count(*) > 0
-- section  main table
-- cap      max_rows
-- out      Module        text(60)
-- out      "DPC Count"   count
-- out      "< 5us"       pct   Share of the DPCs.
-- out      "5-20us"      pct
-- out      "> 20us"      pct
-- out      "Max Bucket"  text  Of the longest DPC.
-- out      "ISR Count"   count
-- out      "Total (us)"  us    DPCs and ISRs, nested time of others included.
-- out      "Max (us)"    us
-- out      "p99 (us)"    us~
-- out      "Exclusive (us)" us Without the ISRs and DPCs nested in it.
-- out      "ISR Total (us)" us
-- empty    No DPC or ISR ran here.
SELECT module, count(*) FILTER (NOT is_isr),
       percent(count(*) FILTER (NOT is_isr AND ns < 5000), count(*) FILTER (NOT is_isr)),
       percent(count(*) FILTER (NOT is_isr AND ns >= 5000 AND ns <= 20000),
           count(*) FILTER (NOT is_isr)),
       percent(count(*) FILTER (NOT is_isr AND ns > 20000), count(*) FILTER (NOT is_isr)),
       duration_bucket(max(ns) FILTER (NOT is_isr)),
       count(*) FILTER (is_isr), sum(ns)::BIGINT, max(ns), quantile_cont(ns, 0.99), count(*) < 100,
       sum(own_ns)::BIGINT, coalesce(sum(ns) FILTER (is_isr), 0)::BIGINT
FROM run GROUP BY module ORDER BY sum(ns) DESC, module
-- section  health values
-- heading  Health
-- out      Name  text
-- out      Value text(300)
SELECT 'DPC durations', format('{:.2f}% below 5 us, {:.2f}% from 5 to 32 us, {:.2f}% above 16 us',
           percent(count(*) FILTER (ns < 5000), count(*)),
               percent(count(*) FILTER (ns >= 5000 AND ns <= 32000), count(*)),
           percent(count(*) FILTER (ns > 16000), count(*)))
FROM dpc HAVING count(*) > 0
UNION ALL
SELECT 'DPCs above the guidance', format('{:,} above 100 us, {:,} above 1 ms, {:,} above 10 ms, '
    '{:,} above 100 ms',
           count(*) FILTER (ns > 100000), count(*) FILTER (ns > 1000000),
               count(*) FILTER (ns > 10000000), count(*) FILTER (ns > 100000000))
FROM dpc HAVING count(*) > 0
UNION ALL
SELECT 'ISRs above the guidance', format('{:,} of {:,} above 25 us', count(*) FILTER (ns > 25000),
    count(*))
FROM run WHERE is_isr HAVING count(*) > 0
UNION ALL
SELECT 'Longest unbroken stretch', format('{:,.1f} us of DPCs and ISRs on CPU {}, from {:.6f} s '
    '({:,} executions)',
           (end_ns - start_ns) / 1e3, cpu, start_ns / 1e9, runs)
FROM (SELECT * FROM stretch ORDER BY end_ns - start_ns DESC, cpu, start_ns LIMIT 1)
UNION ALL
SELECT 'Watchdog risk', CASE
           WHEN (SELECT coalesce(max(ns), 0) FROM dpc) >= 100000000
               THEN 'RAISED: a single DPC ran for 100 ms or longer'
           WHEN (SELECT coalesce(max(end_ns - start_ns), 0) FROM stretch) >= 1000000000
               THEN 'RAISED: a CPU did nothing but DPCs and ISRs for 1 s or longer'
           ELSE 'none seen (no DPC of 100 ms, no unbroken second of DPCs and ISRs)' END
WHERE EXISTS (FROM run)
UNION ALL
SELECT 'Dropped', format('{:,} events with an absurd duration (clock reset)', count(*))
FROM interrupt WHERE duration_ns IS NULL AND ts_ns >= $start_ns AND ts_ns < $end_ns HAVING count(*)
    > 0
-- section  routines table optional
-- heading  Routines
-- cap      max_rows
-- out      Module       text(60)
-- out      Routine      text(80)
-- out      Kind         text
-- out      Count        count
-- out      "Total (us)" us
-- out      Mean         us
-- out      p50          us
-- out      p99          us~
-- out      "Max (us)"   us
-- out      "At (s)"     s(6)  Start of the longest.
-- out      CPU          id    Of the longest.
SELECT module, routine, kind, count(*), sum(ns)::BIGINT, avg(ns), quantile_cont(ns, 0.5),
    quantile_cont(ns, 0.99), count(*) < 100,
       max(ns), arg_max(start_ns, (ns, -start_ns)), arg_max(cpu, (ns, -start_ns))
FROM run GROUP BY module, routine, kind ORDER BY max(ns) DESC, sum(ns) DESC, module, routine, kind
-- section  histograms code optional
-- heading  DPC durations of the busiest modules
-- out      Line text(200)
SELECT CASE WHEN bucket < 0 THEN format('{} ({:,} DPCs; a full bar of 40 is 80% or more)', module,
    all_runs)
            ELSE format('{:>13} us {:<40} {:>6.2f}%  {:,}', bucket_label(bucket),
                        repeat('#', least(40, round(50.0 * runs / all_runs)::INTEGER)),
                            100.0 * runs / all_runs, runs) END
FROM (
    SELECT b.module, b.bucket, b.runs, m.all_runs, m.place
    FROM bucket AS b JOIN (
        SELECT module, count(*) AS all_runs, row_number() OVER (ORDER BY sum(ns) DESC, module)
            AS place FROM dpc GROUP BY module
    ) AS m ON m.module = b.module AND m.place <= 5
    UNION ALL
    SELECT module, -1, 0, count(*), row_number() OVER (ORDER BY sum(ns) DESC, module) FROM dpc
        GROUP BY module
)
WHERE place <= 5
ORDER BY place, bucket
-- section  missing notes
-- out      Note text
SELECT format('{} are not in the trace ({} records them); their time is missing here.', about,
    capture)
FROM trace_source WHERE source IN ('dpc', 'isr') AND events = 0
UNION ALL
SELECT 'Modules that show as unknown: no image of the trace covers the routine (image rundown is '
    'missing).'
WHERE EXISTS (SELECT 1 FROM run WHERE module = 'unknown')
-- section  follow next
-- out      Call text
SELECT format('get_cpu_samples(trace_id="{{trace_id}}", group_by="function", cpu_filter="{}", '
    'start_time={:.6f}, end_time={:.6f})',
              cpu, start_ns / 1e9, end_ns / 1e9)
FROM (SELECT * FROM dpc WHERE ns > 1000000 ORDER BY ns DESC, start_ns LIMIT 1)
WHERE EXISTS (FROM sample)
