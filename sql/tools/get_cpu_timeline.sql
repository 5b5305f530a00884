-- tool     get_cpu_timeline
-- title    CPU utilisation over time
-- headline **CPU Timeline**
-- group    cpu
-- place    21
-- about    Utilisation of the CPUs in buckets of time, with the hot CPUs and a steady window to use in
--          other tools. Above 16 CPUs without a filter it shows all together and the 8 busiest.
--          More buckets than max_rows widens the bucket.
-- example  get_cpu_timeline(trace_id="...", bucket_seconds=0.5, cpu_filter="0-3")
-- filters  cpu
-- param    bucket_seconds  number  1.0 0.000001..  Width of a bucket.
-- window
-- rows     60
-- needs    context_switch sample
-- common
span AS (
    SELECT greatest(start_ns, $start_ns) AS start_ns, least(end_ns, $end_ns) AS end_ns, source
    FROM cpu_span
),
-- The width asked for, or the smallest multiple of it that keeps to max_rows.
width AS MATERIALIZED (
    SELECT wanted * min(times) AS width_ns, wanted
    FROM (
        SELECT wanted, start_ns, end_ns,
               unnest(range(least_times, least_times * 2 + 2)) AS times
        FROM (
            SELECT wanted, start_ns, end_ns,
                   greatest(1, ((end_ns - 1) // wanted + 1 - start_ns // wanted) // $max_rows)
                       AS least_times
            FROM (SELECT greatest(1000, ($bucket_seconds * 1e9)::BIGINT) AS wanted, start_ns, end_ns
                  FROM span)
        )
    )
    WHERE (end_ns - 1) // (wanted * times) + 1 - start_ns // (wanted * times) <= $max_rows
    GROUP BY wanted
),
bucket AS MATERIALIZED (
    SELECT * FROM cpu_bucket((SELECT width_ns FROM width), $start_ns, $end_ns)
    WHERE cpu_hits(cpu, $cpu_filter)
),
mean AS MATERIALIZED (
    SELECT cpu, percent(sum(busy_ns), sum(end_ns - start_ns)) AS mean_pct FROM bucket GROUP BY cpu
),
crowded AS (SELECT $cpu_filter IS NULL AND count(*) > 16 AS yes FROM mean),
shown AS (
    SELECT cpu FROM mean
    QUALIFY NOT (SELECT yes FROM crowded) OR row_number() OVER (ORDER BY mean_pct DESC, cpu) <= 8
),
whole AS MATERIALIZED (
    SELECT bucket, min(start_ns) AS start_ns, max(end_ns) AS end_ns,
           percent(sum(busy_ns), sum(end_ns - start_ns)) AS busy_pct
    FROM bucket GROUP BY bucket
)
-- section  scope values
-- out      Name text
-- out      Value text
SELECT 'Source', CASE source WHEN 'switches' THEN 'context switches (exact)'
                             ELSE 'CPU samples' END FROM span
UNION ALL
SELECT 'Bucket', format('{} s', width_ns / 1e9)
                 || CASE WHEN width_ns > wanted THEN ' (widened to keep to max_rows)' ELSE '' END
FROM width
-- section  main pivot
-- out      "Time (s)"  text
-- out      CPU         text
-- out      Busy        text
-- empty    No utilisation data in this window.
SELECT format('{:.3f}-{:.3f}', start_ns / 1e9, end_ns / 1e9) AS label, title,
       CASE WHEN busy_pct < 0.1 THEN '-' ELSE printf('%.1f%%', busy_pct) END AS busy
FROM (
    SELECT bucket, start_ns, end_ns, -1 AS cpu, 'All' AS title, busy_pct FROM whole
    WHERE (SELECT yes FROM crowded)
    UNION ALL
    SELECT bucket, start_ns, end_ns, cpu, 'CPU ' || cpu, busy_pct
    FROM bucket WHERE cpu IN (SELECT cpu FROM shown)
)
ORDER BY bucket, cpu
-- section  busy histogram optional
-- heading  Busy over the CPUs shown
-- out      Time text
-- out      Busy pct
SELECT format('{:.3f}-{:.3f}', start_ns / 1e9, end_ns / 1e9), busy_pct
FROM whole WHERE (SELECT source FROM span) = 'samples'
ORDER BY bucket
-- section  hot lines optional
-- out      Line text
SELECT 'Hot CPUs (mean >= 10 %): '
       || string_agg(format('{} ({:.1f}%)', cpu, mean_pct), ', ' ORDER BY mean_pct DESC, cpu)
FROM (SELECT * FROM mean WHERE mean_pct >= 10 ORDER BY mean_pct DESC, cpu LIMIT 20)
HAVING count(*) > 0
-- section  steady lines optional
-- out      Line text
WITH middle AS (SELECT median(busy_pct) AS pct FROM whole),
near AS (
    SELECT bucket, start_ns, end_ns,
           bucket - row_number() OVER (ORDER BY bucket) AS run
    FROM whole, middle
    WHERE abs(busy_pct - pct) <= 0.2 * pct
)
SELECT format('Steady window (within 20 % of the median, {:.1f}%): '
              'start_time={:.3f}, end_time={:.3f}',
              (SELECT pct FROM middle), min(start_ns) / 1e9, max(end_ns) / 1e9)
FROM near GROUP BY run HAVING count(*) >= 2
ORDER BY count(*) DESC, run LIMIT 1
-- section  crowd notes
-- out      Note text
SELECT 'Only All and the 8 busiest CPUs are shown; cpu_filter picks others.'
FROM crowded WHERE yes
