-- tool     get_diskio_summary
-- title    Disk traffic
-- headline **Disk I/O Summary**
-- group    system
-- place    4
-- about    Disk reads, writes and flushes per disk, file and process with bytes, latency (queueing
--          included) and busy time. Use it to find who keeps a disk busy and with what.
-- example  get_diskio_summary(trace_id="...", process_filter="sqlservr")
-- filters  process
-- window
-- rows     30
-- needs    disk_io
-- note     Latency is from request to completion; Avg, p99 and Max are of reads and writes, not of
--          flushes.
-- common
io AS MATERIALIZED (
    SELECT * FROM disk_transfer
    WHERE ts_ns >= $start_ns AND ts_ns < $end_ns AND process_hits(process, pid, $process_filter)
),
moved AS (SELECT * FROM io WHERE kind <> 'flush')
-- section  main table
-- cap      max_rows
-- out      Disk       id
-- out      Reads      count
-- out      "Read MB"  mb
-- out      Writes     count
-- out      "Write MB" mb
-- out      Flushes    count
-- out      "Avg (us)" us
-- out      "p99 (us)" us~
-- out      "Max (us)" us
-- out      "Busy %"   pct  Share of the window with a request in flight, whoever asked.
-- empty    No disk transfers in this window.
SELECT i.disk, count(*) FILTER (i.kind = 'read'),
       coalesce(sum(i.bytes) FILTER (i.kind = 'read'), 0)::BIGINT,
       count(*) FILTER (i.kind = 'write'),
       coalesce(sum(i.bytes) FILTER (i.kind = 'write'), 0)::BIGINT,
       count(*) FILTER (i.kind = 'flush'),
       avg(i.response_ns) FILTER (i.kind <> 'flush'),
       quantile_cont(i.response_ns, 0.99) FILTER (i.kind <> 'flush'),
       count(*) FILTER (i.kind <> 'flush') < 100,
       max(i.response_ns) FILTER (i.kind <> 'flush'),
       percent(any_value(b.busy_ns), $end_ns - $start_ns)
FROM io AS i LEFT JOIN disk_busy($start_ns, $end_ns) AS b ON b.disk = i.disk
GROUP BY i.disk ORDER BY i.disk
-- section  files table optional
-- heading  Files
-- cap      max_rows
-- out      File       path
-- out      Disk       id
-- out      Reads      count
-- out      "Read MB"  mb
-- out      Writes     count
-- out      "Write MB" mb
-- out      "Avg (us)" us
-- out      "p99 (us)" us~
-- out      "Max (us)" us
SELECT file, disk, count(*) FILTER (kind = 'read'),
       coalesce(sum(bytes) FILTER (kind = 'read'), 0)::BIGINT,
       count(*) FILTER (kind = 'write'),
       coalesce(sum(bytes) FILTER (kind = 'write'), 0)::BIGINT,
       avg(response_ns), quantile_cont(response_ns, 0.99), count(*) < 100, max(response_ns)
FROM moved GROUP BY file, disk
ORDER BY sum(bytes) DESC, file, disk
-- section  processes table optional
-- heading  Processes
-- out      Process    text(60)
-- out      PID        id
-- out      Reads      count
-- out      "Read MB"  mb
-- out      Writes     count
-- out      "Write MB" mb
-- out      Flushes    count
-- out      "Avg (us)" us
-- out      "Max (us)" us
SELECT process, pid, count(*) FILTER (kind = 'read'),
       coalesce(sum(bytes) FILTER (kind = 'read'), 0)::BIGINT,
       count(*) FILTER (kind = 'write'),
       coalesce(sum(bytes) FILTER (kind = 'write'), 0)::BIGINT,
       count(*) FILTER (kind = 'flush'), avg(response_ns) FILTER (kind <> 'flush'),
       max(response_ns) FILTER (kind <> 'flush')
FROM io GROUP BY process, pid
ORDER BY coalesce(sum(bytes), 0) DESC, process, pid LIMIT 15
