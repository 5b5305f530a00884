-- Stretches longer than a second in which a CPU recorded no event of the frequent kinds. It may
-- simply have slept.
CREATE TABLE cpu_gap AS
WITH moment AS (
    SELECT cpu, ts_ns FROM sample
    UNION ALL SELECT cpu, ts_ns FROM context_switch
    UNION ALL SELECT cpu, ts_ns FROM event_row
    UNION ALL SELECT cpu, ts_ns FROM interrupt
    UNION ALL SELECT cpu, ts_ns FROM disk_io
    UNION ALL SELECT cpu, ts_ns FROM file_io
),
-- A gap over a second is also one between quarters of a second, and those are few.
quarter AS (
    SELECT cpu, ts_ns // 250000000 AS part, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
    FROM moment GROUP BY ALL
)
SELECT cpu, last_ns AS start_ns, next_ns AS end_ns
FROM (
    SELECT cpu, last_ns, lead(first_ns) OVER (PARTITION BY cpu ORDER BY part) AS next_ns
    FROM quarter
)
WHERE next_ns - last_ns > 1000000000;
