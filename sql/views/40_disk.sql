-- Disk transfers with names.
CREATE VIEW disk_transfer AS
SELECT d.ts_ns, d.start_ns, d.response_ns, d.disk, d.kind, d.bytes, d.upid,
       coalesce(p.process, 'unknown') AS process, p.pid,
       coalesce(d.file, 'unknown') AS file
FROM disk_io AS d LEFT JOIN process_name AS p ON p.upid = d.upid;

-- Per disk, the time in which at least one request was in flight, within a window.
CREATE MACRO disk_busy(from_ns, to_ns) AS TABLE
SELECT disk,
       sum(greatest(0, end_ns - greatest(start_ns, coalesce(covered_ns, start_ns))))::BIGINT
           AS busy_ns
FROM (
    SELECT disk, start_ns, end_ns,
           max(end_ns) OVER (PARTITION BY disk ORDER BY start_ns, end_ns
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns
    FROM (
        SELECT disk, greatest(start_ns, from_ns) AS start_ns, least(ts_ns, to_ns) AS end_ns
        FROM disk_io
        WHERE ts_ns >= from_ns AND start_ns < to_ns
    )
)
GROUP BY disk;
