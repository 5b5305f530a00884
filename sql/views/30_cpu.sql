-- CPU time: how long sampling ran, what a share is a share of, which CPU was busy when.

-- One row, none without samples: the stretch of time that was sampled. A trace often goes on after its kernel session
-- (rundown, merged sessions), and time nobody sampled is not idle time.
CREATE TABLE sample_span AS
SELECT greatest(0, min(ts_ns) - coalesce(most_common(weight_ns // greatest(ticks, 1)), 0)) AS start_ns,
       max(ts_ns) AS end_ns,
       most_common(weight_ns // greatest(ticks, 1)) AS interval_ns,
       (SELECT count(*) = 0 FROM sample_interval WHERE source = 0) AS interval_assumed,
       (SELECT cpu_count FROM trace LIMIT 1)::BIGINT AS cpus,
       (SELECT events_lost + buffers_lost > 0 FROM trace LIMIT 1)
           OR EXISTS (SELECT 1 FROM decode_issue WHERE severity = 'data_loss') AS lossy
FROM sample
HAVING count(*) > 0;

-- One row: samples of a window. weight_ns is W of the contract: what was observed, or the capacity
-- where samples are missing (deep idle states stop the profile interrupt); a difference below half
-- a percent is the edge of the first and last interval.
CREATE MACRO sample_total(from_ns, to_ns) AS TABLE
WITH observed AS (
    SELECT coalesce(sum(s.weight_ns), 0)::BIGINT AS observed_ns,
           coalesce(sum(s.weight_ns) FILTER (NOT s.is_idle), 0)::BIGINT AS busy_ns,
           count(s.ts_ns) AS samples
    FROM sample AS s WHERE s.ts_ns >= from_ns AND s.ts_ns < to_ns
),
span AS (
    SELECT greatest(0, least(end_ns, to_ns) - greatest(start_ns, from_ns)) AS span_ns,
           cpus, interval_ns, interval_assumed, lossy
    FROM sample_span
),
both_sides AS (
    SELECT *, span_ns * cpus AS capacity_ns,
           CASE WHEN observed_ns < span_ns * cpus * 0.995 THEN span_ns * cpus - observed_ns
                ELSE 0 END AS short_ns
    FROM observed, span
)
SELECT observed_ns, busy_ns, samples, capacity_ns, span_ns, cpus, interval_ns, interval_assumed,
       lossy, observed_ns + short_ns AS weight_ns, short_ns
FROM both_sides;

-- What each CPU ran between two switches, from the first switch of any CPU to the last.
CREATE TABLE cpu_run AS
WITH bounds AS (SELECT min(ts_ns) AS first_ns, max(ts_ns) AS last_ns FROM context_switch),
switches AS (
    SELECT cpu, ts_ns, seq, new_utid, new_tid, old_utid, old_tid,
           lag(new_tid) OVER w AS before_tid,
           lead(ts_ns) OVER w AS next_ns
    FROM context_switch
    WINDOW w AS (PARTITION BY cpu ORDER BY ts_ns, seq)
)
SELECT cpu, ts_ns AS start_ns, coalesce(next_ns, last_ns) AS end_ns, new_utid AS utid,
       new_tid AS tid, new_tid = 0 AS is_idle,
       before_tid IS NOT NULL AND before_tid <> old_tid AS is_broken
FROM switches, bounds
UNION ALL
SELECT cpu, first_ns, ts_ns, old_utid, old_tid, old_tid = 0, false
FROM switches, bounds
WHERE before_tid IS NULL AND ts_ns > first_ns;

-- One row: where utilisation comes from. Switches are exact unless the trace left some out (a
-- filtered copy), which shows as threads that leave a CPU without having come.
CREATE TABLE cpu_source AS
SELECT CASE
           WHEN switches > 0 AND broken <= 0.01 * switches THEN 'switches'
           WHEN samples > 0 THEN 'samples'
           ELSE 'none'
       END AS source,
       switches, broken, samples
FROM (SELECT count(*) AS switches, count(*) FILTER (is_broken) AS broken FROM cpu_run),
     (SELECT count(*) AS samples FROM sample);

-- One row, none without data: the stretch of time that utilisation is known for.
CREATE VIEW cpu_span AS
SELECT CASE WHEN source = 'switches' THEN (SELECT min(start_ns) FROM cpu_run)
            ELSE (SELECT start_ns FROM sample_span) END AS start_ns,
       CASE WHEN source = 'switches' THEN (SELECT max(end_ns) FROM cpu_run)
            ELSE (SELECT end_ns FROM sample_span) END AS end_ns,
       source
FROM cpu_source
WHERE source <> 'none';

-- Every processor, also those without an event.
CREATE VIEW cpu_list AS
SELECT unnest(range(cpu_count::BIGINT)) AS cpu FROM trace;

-- Busy time of each CPU in buckets of width_ns counted from time zero; the first and last bucket are
-- as long as the part of them that was observed.
CREATE MACRO cpu_bucket(width_ns, from_ns, to_ns) AS TABLE
WITH span AS (
    SELECT greatest(start_ns, from_ns) AS start_ns, least(end_ns, to_ns) AS end_ns, source
    FROM cpu_span
),
bucket AS (
    SELECT unnest(range(start_ns // width_ns, (end_ns - 1) // width_ns + 1)) AS bucket,
           start_ns AS first_ns, end_ns AS last_ns
    FROM span WHERE end_ns > start_ns
),
frame_of AS (
    SELECT bucket, greatest(first_ns, bucket * width_ns) AS start_ns,
           least(last_ns, (bucket + 1) * width_ns) AS end_ns
    FROM bucket
),
ran AS (
    SELECT r.cpu, greatest(r.start_ns, s.start_ns) AS start_ns, least(r.end_ns, s.end_ns) AS end_ns
    FROM cpu_run AS r, span AS s
    WHERE s.source = 'switches' AND NOT r.is_idle
      AND r.end_ns > s.start_ns AND r.start_ns < s.end_ns AND r.end_ns > r.start_ns
),
busy AS (
    SELECT cpu, part AS bucket,
           sum(least(end_ns, (part + 1) * width_ns) - greatest(start_ns, part * width_ns))
               AS busy_ns
    FROM (SELECT cpu, start_ns, end_ns,
                 unnest(range(start_ns // width_ns, (end_ns - 1) // width_ns + 1)) AS part
          FROM ran)
    GROUP BY ALL
    UNION ALL
    SELECT x.cpu, x.ts_ns // width_ns, sum(x.weight_ns)
    FROM sample AS x, span AS s
    WHERE s.source = 'samples' AND NOT x.is_idle AND x.ts_ns >= s.start_ns AND x.ts_ns < s.end_ns
    GROUP BY ALL
)
SELECT c.cpu, f.bucket, f.start_ns, f.end_ns,
       coalesce(b.busy_ns, 0)::BIGINT AS busy_ns,
       least(100.0, percent(coalesce(b.busy_ns, 0), f.end_ns - f.start_ns)) AS busy_pct
FROM frame_of AS f
CROSS JOIN cpu_list AS c
LEFT JOIN busy AS b ON b.cpu = c.cpu AND b.bucket = f.bucket;
