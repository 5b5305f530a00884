-- What shares of CPU time are shares of: utilisation of each CPU over a window, and the time that
-- samples leave open.

-- Busy share of each CPU over a window as a whole; no rows without data.
CREATE MACRO cpu_busy(from_ns, to_ns) AS TABLE
WITH span AS (
    SELECT greatest(start_ns, from_ns) AS start_ns, least(end_ns, to_ns) AS end_ns, source
    FROM cpu_span
),
busy AS (
    SELECT r.cpu,
           sum(least(r.end_ns, s.end_ns) - greatest(r.start_ns, s.start_ns)) AS busy_ns
    FROM cpu_run AS r, span AS s
    WHERE s.source = 'switches' AND NOT r.is_idle AND r.end_ns > s.start_ns
      AND r.start_ns < s.end_ns
    GROUP BY r.cpu
    UNION ALL
    SELECT x.cpu, sum(x.weight_ns)
    FROM sample AS x, span AS s
    WHERE s.source = 'samples' AND NOT x.is_idle AND x.ts_ns >= from_ns AND x.ts_ns < to_ns
    GROUP BY x.cpu
)
SELECT c.cpu, least(100.0, percent(coalesce(b.busy_ns, 0), s.end_ns - s.start_ns)) AS busy_pct
FROM cpu_list AS c
CROSS JOIN span AS s
LEFT JOIN busy AS b ON b.cpu = c.cpu
WHERE s.end_ns > s.start_ns;

-- Per CPU, what samples leave open up to the CPU's capacity (a CPU in a deep idle state is not
-- sampled). Rows only where sample_total says that samples are missing.
CREATE MACRO sample_short(from_ns, to_ns) AS TABLE
SELECT l.cpu,
       greatest(0, any_value(t.span_ns) - coalesce(any_value(o.weight_ns), 0))::BIGINT AS short_ns,
       any_value(t.lossy) AS lossy
FROM cpu_list AS l
CROSS JOIN sample_total(from_ns, to_ns) AS t
LEFT JOIN (
    SELECT cpu, sum(weight_ns) AS weight_ns
    FROM sample WHERE ts_ns >= from_ns AND ts_ns < to_ns
    GROUP BY cpu
) AS o ON o.cpu = l.cpu
WHERE t.short_ns > 0
GROUP BY l.cpu;
