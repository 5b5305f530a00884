-- tool     get_dpc_per_cpu
-- title    Where DPC and ISR time lands
-- headline **DPC/ISR Time per CPU**
-- group    scheduling
-- place    20
-- about    DPC and ISR time by module and by CPU, with how uneven it is. Use it to see whether interrupt
--          work sits on few processors. Exact from DPC and ISR events; without them estimated from CPU
--          samples taken inside DPCs and ISRs.
-- example  get_dpc_per_cpu(trace_id="...", module_filter="ndis.sys")
-- filters  module
-- window
-- rows     80
-- needs    dpc isr sample
-- next     get_rss_dispatch_quality(trace_id="{trace_id}")
-- next     get_dpc_summary(trace_id="{trace_id}")
-- common
exact AS (SELECT EXISTS (FROM interrupt) AS exact),
span AS (SELECT least($end_ns, (SELECT max(duration_ns) FROM trace)) - $start_ns AS window_ns),
run AS MATERIALIZED (
    SELECT i.cpu, i.is_isr, i.ns, i.own_ns, coalesce(f.module, 'unknown') AS module
    FROM (
        SELECT cpu, is_isr, frame_id, duration_ns AS ns,
               least(own_ns, least(end_ns, $end_ns) - greatest(start_ns, $start_ns)) AS own_ns
        FROM interrupt_own WHERE end_ns >= $start_ns AND start_ns < $end_ns
        UNION ALL
        SELECT cpu, in_isr, frame_id, NULL, weight_ns
        FROM sample
        WHERE (in_dpc OR in_isr) AND NOT (SELECT exact FROM exact) AND ts_ns >= $start_ns
            AND ts_ns < $end_ns
    ) AS i LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
    WHERE filter_hits(f.module, $module_filter)
),
cell AS MATERIALIZED (
    SELECT module, cpu, coalesce(sum(own_ns) FILTER (NOT is_isr), 0)::BIGINT AS dpc_ns,
           coalesce(sum(own_ns) FILTER (is_isr), 0)::BIGINT AS isr_ns, sum(own_ns)::BIGINT
               AS all_ns,
           count(*) FILTER (NOT is_isr) AS dpcs, count(*) FILTER (is_isr) AS isrs, max(ns) AS ns_max
    FROM run GROUP BY module, cpu
),
total AS MATERIALIZED (
    SELECT cpu, sum(dpc_ns)::BIGINT AS dpc_ns, sum(isr_ns)::BIGINT AS isr_ns, sum(all_ns)::BIGINT
        AS all_ns,
           sum(dpcs)::BIGINT AS dpcs, sum(isrs)::BIGINT AS isrs, max(ns_max) AS ns_max
    FROM cell GROUP BY cpu
),
top AS (
    SELECT CASE WHEN $module_filter IS NULL THEN (SELECT module FROM cell GROUP BY module
        ORDER BY sum(all_ns) DESC, module LIMIT 1) END AS module
),
detail AS (
    SELECT c.cpu, sum(c.dpc_ns)::BIGINT AS dpc_ns, sum(c.isr_ns)::BIGINT AS isr_ns,
        sum(c.all_ns)::BIGINT AS all_ns,
           sum(c.dpcs + c.isrs)::BIGINT AS runs, max(c.ns_max) AS ns_max
    FROM cell AS c, top AS t WHERE t.module IS NULL OR c.module = t.module GROUP BY c.cpu
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', CASE WHEN exact THEN 'DPC and ISR events (exact); nested time counts once'
                      ELSE 'CPU samples taken inside DPCs and ISRs (an estimate): DPC and ISR '
                          'events are not recorded (capture scenario cpu_dpc_isr)' END
FROM exact
UNION ALL
SELECT 'Imbalance', format('CPU {} has {:.1f}% of the time; {} of {} CPUs have 90% of it',
    any_value(top_cpu), 100.0 * max(share),
                           count(*) FILTER (before < 0.9), (SELECT cpu_count FROM trace))
FROM (
    SELECT first(cpu) OVER w AS top_cpu, all_ns / greatest(1, sum(all_ns) OVER ()) AS share,
           coalesce(sum(all_ns) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
               0) / greatest(1, sum(all_ns) OVER ()) AS before
    FROM total WHERE all_ns > 0 WINDOW w AS (ORDER BY all_ns DESC, cpu)
)
HAVING count(*) > 0
-- section  main table
-- cap      max_rows
-- out      Module           text(60)
-- out      "Total DPC (us)" us
-- out      "Active CPUs"    count
-- out      "Top CPU"        text   Its share is of the window.
-- out      "DPC Count"      count
-- out      "Total ISR (us)" us
-- out      "ISR Count"      count
-- out      "Max (us)"       us
-- empty    No DPC or ISR ran here.
SELECT module, dpc_ns, cpus, format('CPU {} ({:.1f}%)', top_cpu, percent(least(top_ns, window_ns),
    window_ns)), dpcs, isr_ns, isrs, ns_max
FROM (
    SELECT 'All' AS module, 0 AS place, sum(dpc_ns)::BIGINT AS dpc_ns, count(*) AS cpus,
        arg_max(cpu, (all_ns, -cpu::BIGINT)) AS top_cpu,
           max(all_ns) AS top_ns, sum(dpcs)::BIGINT AS dpcs, sum(isr_ns)::BIGINT AS isr_ns,
               sum(isrs)::BIGINT AS isrs, max(ns_max) AS ns_max,
           sum(all_ns) AS all_ns
    FROM total HAVING count(*) > 0
    UNION ALL
    SELECT module, 1, sum(dpc_ns)::BIGINT, count(*), arg_max(cpu, (all_ns, -cpu::BIGINT)),
        max(all_ns), sum(dpcs)::BIGINT, sum(isr_ns)::BIGINT,
           sum(isrs)::BIGINT, max(ns_max), sum(all_ns)
    FROM cell GROUP BY module
) CROSS JOIN span
ORDER BY place DESC, all_ns DESC, module
-- section  detail table optional
-- heading  By CPU: the busiest module, or the modules of the filter
-- cap      max_rows
-- out      CPU             id
-- out      "DPC Time (us)" us
-- out      "% of CPU"      pct    DPC and ISR time, of the window.
-- out      Count           count
-- out      "Max (us)"      us
-- out      "ISR Time (us)" us
SELECT cpu, dpc_ns, percent(least(all_ns, window_ns), window_ns), runs, ns_max, isr_ns
FROM detail CROSS JOIN span ORDER BY all_ns DESC, cpu
-- section  all table optional
-- heading  By CPU: all modules
-- cap      max_rows
-- out      CPU             id
-- out      "DPC Time (us)" us
-- out      "DPC %"         pct
-- out      "ISR Time (us)" us
-- out      "ISR %"         pct
-- out      "DPC Count"     count
-- out      "ISR Count"     count
-- out      "Max (us)"      us
SELECT cpu, dpc_ns, percent(least(dpc_ns, window_ns), window_ns), isr_ns,
    percent(least(isr_ns, window_ns), window_ns), dpcs, isrs, ns_max
FROM total CROSS JOIN span ORDER BY all_ns DESC, cpu
-- section  missing notes
-- out      Note text
SELECT format('{} are not in the trace ({} records them).', about, capture)
FROM trace_source WHERE source IN ('dpc', 'isr') AND events = 0 AND (SELECT exact FROM exact)
