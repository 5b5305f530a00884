-- CPU time of each process and thread: from context switches where they are exact, else samples.
CREATE TABLE thread_cpu AS
SELECT t.utid, t.upid, x.cpu_ns
FROM (
    SELECT utid, sum(end_ns - start_ns)::BIGINT AS cpu_ns
    FROM cpu_run
    WHERE NOT is_idle AND (SELECT source FROM cpu_source) = 'switches'
    GROUP BY utid
    UNION ALL
    SELECT utid, sum(weight_ns)::BIGINT
    FROM sample
    WHERE NOT is_idle AND (SELECT source FROM cpu_source) = 'samples'
    GROUP BY utid
) AS x JOIN thread AS t ON t.utid = x.utid;

CREATE VIEW process_cpu AS
SELECT upid, sum(cpu_ns)::BIGINT AS cpu_ns FROM thread_cpu GROUP BY upid;
