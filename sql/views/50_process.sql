-- CPU time of each thread: from context switches where they are exact, else samples. A thread ran
-- from the sum of the times it came to a CPU to the sum of those it left one; who ran at the ends is
-- counted from there.
CREATE TABLE thread_cpu AS
WITH edge AS (
    SELECT cpu, arg_min(old_utid, seq) AS first_utid, arg_max(new_utid, seq) AS last_utid
    FROM context_switch GROUP BY cpu
),
moment AS (
    SELECT old_utid AS utid, sum(ts_ns) AS left_ns, 0 AS came_ns
    FROM context_switch WHERE old_tid <> 0 GROUP BY old_utid
    UNION ALL
    SELECT new_utid, 0, sum(ts_ns) FROM context_switch WHERE new_tid <> 0 GROUP BY new_utid
    UNION ALL
    SELECT e.first_utid, 0, c.first_ns FROM edge AS e, cpu_source AS c
    UNION ALL
    SELECT e.last_utid, c.last_ns, 0 FROM edge AS e, cpu_source AS c
)
SELECT t.utid, t.upid, x.cpu_ns
FROM (
    SELECT utid, (sum(left_ns) - sum(came_ns))::BIGINT AS cpu_ns
    FROM moment
    WHERE (SELECT source FROM cpu_source) = 'switches'
    GROUP BY utid
    UNION ALL
    SELECT utid, sum(weight_ns)::BIGINT
    FROM sample
    WHERE NOT is_idle AND (SELECT source FROM cpu_source) = 'samples'
    GROUP BY utid
) AS x JOIN thread AS t ON t.utid = x.utid
WHERE t.tid <> 0 OR (SELECT source FROM cpu_source) = 'samples';

-- CPU time of each process.
CREATE VIEW process_cpu AS
SELECT upid, sum(cpu_ns)::BIGINT AS cpu_ns FROM thread_cpu GROUP BY upid;
