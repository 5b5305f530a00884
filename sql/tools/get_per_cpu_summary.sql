-- tool     get_per_cpu_summary
-- title    Utilisation of each CPU
-- headline **Per-CPU Summary**
-- group    cpu
-- place    20
-- about    Mean and highest utilisation of each logical processor over 1-second buckets, its role
--          (Saturated >= 80 %, Active >= 20 %, Low activity >= 2 %, Idle), DPC and ISR share. Use it to
--          find hot or unused CPUs. From context switches where recorded, else from samples.
-- example  get_per_cpu_summary(trace_id="...")
-- window
-- rows     80
-- needs    context_switch sample
-- next     get_cpu_timeline(trace_id="{trace_id}")
-- common
bucket AS MATERIALIZED (SELECT * FROM cpu_bucket(1000000000, $start_ns, $end_ns)),
span AS MATERIALIZED (
    SELECT greatest(start_ns, $start_ns) AS start_ns, least(end_ns, $end_ns) AS end_ns, source
    FROM cpu_span
),
interrupted AS (
    SELECT i.cpu,
           sum(i.duration_ns) FILTER (i.kind LIKE '%dpc') AS dpc_ns,
           sum(i.duration_ns) FILTER (i.kind LIKE '%isr%') AS isr_ns
    FROM interrupt AS i
    WHERE i.ts_ns >= (SELECT start_ns FROM span) AND i.ts_ns < (SELECT end_ns FROM span)
    GROUP BY i.cpu
),
sampled AS (
    SELECT x.cpu,
           sum(x.weight_ns) FILTER (x.in_dpc) AS dpc_ns,
           sum(x.weight_ns) FILTER (x.in_isr) AS isr_ns
    FROM sample AS x
    WHERE x.ts_ns >= (SELECT start_ns FROM span) AND x.ts_ns < (SELECT end_ns FROM span)
    GROUP BY x.cpu
),
switched AS (
    SELECT w.cpu, count(*) AS switches
    FROM context_switch AS w
    WHERE w.ts_ns >= (SELECT start_ns FROM span) AND w.ts_ns < (SELECT end_ns FROM span)
    GROUP BY w.cpu
),
summary AS MATERIALIZED (
    SELECT b.cpu,
           percent(sum(b.busy_ns), sum(b.end_ns - b.start_ns)) AS mean_pct,
           max(b.busy_pct) AS max_pct,
           sum(b.end_ns - b.start_ns) AS length_ns
    FROM bucket AS b GROUP BY b.cpu
)
-- section  scope values
-- out      Name text
-- out      Value text
SELECT 'Source', CASE source WHEN 'switches' THEN 'context switches (exact)'
                             ELSE 'CPU samples' END
                 || format(', {:.3f} to {:.3f} s', start_ns / 1e9, end_ns / 1e9)
FROM span
-- section  main table
-- out      CPU          id
-- out      "Avg %"      pct
-- out      "Max %"      pct  Busiest 1-second bucket.
-- out      Role         text
-- out      "DPC %"      pct  Empty: not recorded.
-- out      "ISR %"      pct  Empty: not recorded.
-- out      "Switches/s" number
-- out      Group        id   Processor group.
-- out      "NUMA node"  id
-- empty    No utilisation data in this window.
SELECT s.cpu, s.mean_pct, s.max_pct, cpu_role(s.mean_pct),
       percent(CASE WHEN EXISTS (FROM interrupt) THEN coalesce(i.dpc_ns, 0)
                    WHEN EXISTS (FROM sample) THEN coalesce(x.dpc_ns, 0) END, s.length_ns),
       percent(CASE WHEN EXISTS (FROM interrupt) THEN coalesce(i.isr_ns, 0)
                    WHEN EXISTS (FROM sample) THEN coalesce(x.isr_ns, 0) END, s.length_ns),
       CASE WHEN EXISTS (FROM context_switch)
            THEN coalesce(w.switches, 0) / (s.length_ns / 1e9) END,
       c.group_number, c.numa_node
FROM summary AS s
LEFT JOIN interrupted AS i USING (cpu)
LEFT JOIN sampled AS x USING (cpu)
LEFT JOIN switched AS w USING (cpu)
LEFT JOIN cpu AS c ON c.cpu = s.cpu
ORDER BY s.cpu
-- section  roles lines
-- out      Line text
SELECT format('Saturated: {}, active: {}, low activity: {}, idle: {}; '
              'active CPUs (>= 2 %): {} of {}',
              count(*) FILTER (mean_pct >= 80), count(*) FILTER (mean_pct >= 20 AND mean_pct < 80),
              count(*) FILTER (mean_pct >= 2 AND mean_pct < 20), count(*) FILTER (mean_pct < 2),
              count(*) FILTER (mean_pct >= 2), count(*))
FROM summary HAVING count(*) > 0
-- section  broken notes
-- out      Note text
SELECT format('{:,} of {:,} context switches do not follow from the switch before: the trace '
              'leaves some out, so samples are used.', broken, looked_at)
FROM cpu_source WHERE looked_at > 0 AND source <> 'switches'
