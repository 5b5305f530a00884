-- Stretches longer than a second in which a CPU recorded no event at all, from one per-CPU stream of
-- the tables that the kernel writes most often. A CPU may simply have slept.
CREATE TABLE cpu_gap AS
WITH moment AS (
    SELECT cpu, ts_ns FROM sample
    UNION ALL SELECT cpu, ts_ns FROM context_switch
    UNION ALL SELECT cpu, ts_ns FROM event_data
    UNION ALL SELECT cpu, ts_ns FROM interrupt
    UNION ALL SELECT cpu, ts_ns FROM disk_io
    UNION ALL SELECT cpu, ts_ns FROM file_io
),
second AS (SELECT DISTINCT cpu, ts_ns // 250000000 AS part FROM moment),
edge AS (
    SELECT cpu, part, lead(part) OVER (PARTITION BY cpu ORDER BY part) AS next_part FROM second
)
SELECT e.cpu,
       (SELECT max(m.ts_ns) FROM moment AS m
        WHERE m.cpu = e.cpu AND m.ts_ns < (e.part + 1) * 250000000) AS start_ns,
       (SELECT min(m.ts_ns) FROM moment AS m
        WHERE m.cpu = e.cpu AND m.ts_ns >= e.next_part * 250000000) AS end_ns
FROM edge AS e WHERE e.next_part - e.part > 4;
