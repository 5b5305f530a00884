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

-- What common filters leave, for `x IN (FROM ..._hit($filter))` in a line that is there only when
-- the filter is given.
CREATE MACRO module_hit(filter) AS TABLE
SELECT owner FROM owner_module WHERE filter_hits(module, filter);

CREATE MACRO process_hit(filter) AS TABLE
SELECT upid FROM process_name WHERE process_hits(process, pid, filter);

CREATE MACRO frame_hit(filter) AS TABLE
SELECT frame_id FROM frame_name WHERE filter_hits(function, filter);

-- One row: where utilisation comes from. Switches are exact unless the trace left some out (a
-- filtered copy), which shows as threads that leave a CPU without having come; some 50,000 switches
-- from the beginning are enough to see that.
CREATE TABLE cpu_source AS
WITH size AS (
    SELECT count(*) AS switches, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns FROM context_switch
),
looked AS (
    SELECT s.old_tid, lag(s.new_tid) OVER (PARTITION BY s.cpu ORDER BY s.seq) AS before_tid
    FROM context_switch AS s, size
    WHERE s.ts_ns <= size.first_ns
                     + ((size.last_ns - size.first_ns) * least(1.0, 50000 / size.switches))::BIGINT
),
seen AS (
    SELECT count(*) AS looked_at,
           count(*) FILTER (before_tid IS NOT NULL AND before_tid <> old_tid) AS broken
    FROM looked
)
SELECT CASE
           WHEN switches > 0 AND broken <= 0.01 * looked_at THEN 'switches'
           WHEN samples > 0 THEN 'samples'
           ELSE 'none'
       END AS source,
       switches, looked_at, broken, samples, first_ns, last_ns
FROM size, seen, (SELECT count(*) AS samples FROM sample);

-- One row, none without data: the stretch of time that utilisation is known for.
CREATE VIEW cpu_span AS
SELECT CASE WHEN source = 'switches' THEN first_ns
            ELSE (SELECT start_ns FROM sample_span) END AS start_ns,
       CASE WHEN source = 'switches' THEN last_ns
            ELSE (SELECT end_ns FROM sample_span) END AS end_ns,
       source
FROM cpu_source
WHERE source <> 'none';

-- Every processor, also those without an event.
CREATE VIEW cpu_list AS
SELECT unnest(range(cpu_count::BIGINT)) AS cpu FROM trace;

-- Busy time of each CPU in buckets of width_ns counted from time zero; the first and last bucket are
-- as long as the part of them that was observed.
--
-- No switch is paired with its successor, which would sort them all: the time a CPU was busy in a
-- bucket is the sum of the times at which it went idle minus the sum of those at which it became
-- busy, with the bucket's ends where it was busy there. Switches between threads change nothing.
CREATE MACRO cpu_bucket(width_ns, from_ns, to_ns) AS TABLE
WITH span AS (
    SELECT greatest(start_ns, from_ns) AS start_ns, least(end_ns, to_ns) AS end_ns, source
    FROM cpu_span
),
piece AS (
    SELECT bucket, greatest(first_ns, bucket * width_ns) AS start_ns,
           least(last_ns, (bucket + 1) * width_ns) AS end_ns
    FROM (SELECT unnest(range(start_ns // width_ns, (end_ns - 1) // width_ns + 1)) AS bucket,
                 start_ns AS first_ns, end_ns AS last_ns
          FROM span WHERE end_ns > start_ns)
),
moved AS (
    SELECT s.cpu, s.ts_ns // width_ns AS bucket,
           sum(CASE WHEN s.new_tid = 0 THEN s.ts_ns ELSE -s.ts_ns END) AS moved_ns,
           min(s.seq * 2 + CASE WHEN s.old_tid <> 0 THEN 1 ELSE 0 END) % 2 = 1 AS was_busy,
           max(s.seq * 2 + CASE WHEN s.new_tid <> 0 THEN 1 ELSE 0 END) % 2 = 1 AS stays_busy
    FROM context_switch AS s
    WHERE (SELECT source FROM cpu_source) = 'switches' AND s.ts_ns >= from_ns AND s.ts_ns < to_ns
      AND (s.old_tid = 0) <> (s.new_tid = 0)
    GROUP BY ALL
),
before AS (
    SELECT s.cpu,
           max(s.seq * 2 + CASE WHEN s.new_tid <> 0 THEN 1 ELSE 0 END) % 2 = 1 AS was_busy
    FROM context_switch AS s
    WHERE (SELECT source FROM cpu_source) = 'switches' AND s.ts_ns < from_ns
      AND (s.old_tid = 0) <> (s.new_tid = 0)
    GROUP BY s.cpu
),
state AS (
    SELECT c.cpu, p.bucket, p.start_ns, p.end_ns, m.moved_ns, m.was_busy, m.stays_busy,
           coalesce(
               last_value(m.stays_busy IGNORE NULLS) OVER (
                   PARTITION BY c.cpu ORDER BY p.bucket
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
               b.was_busy,
               first_value(m.was_busy IGNORE NULLS) OVER (
                   PARTITION BY c.cpu ORDER BY p.bucket
                   ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
               false) AS enters_busy
    FROM piece AS p
    CROSS JOIN cpu_list AS c
    LEFT JOIN moved AS m ON m.cpu = c.cpu AND m.bucket = p.bucket
    LEFT JOIN before AS b ON b.cpu = c.cpu
),
-- A sample stands for the interval that ends with it: the part of it in its own bucket, then the
-- parts in earlier ones.
stretch AS (
    SELECT x.cpu, greatest(x.ts_ns - x.weight_ns, from_ns) AS start_ns,
           least(x.ts_ns, to_ns) AS end_ns
    FROM sample AS x
    WHERE (SELECT source FROM cpu_source) = 'samples' AND NOT x.is_idle
      AND x.ts_ns >= from_ns AND x.ts_ns - x.weight_ns < to_ns
),
sampled AS (
    SELECT cpu, bucket, sum(busy_ns) AS busy_ns
    FROM (
        SELECT cpu, (end_ns - 1) // width_ns AS bucket,
               sum(end_ns - greatest(start_ns, (end_ns - 1) // width_ns * width_ns)) AS busy_ns
        FROM stretch WHERE end_ns > start_ns GROUP BY ALL
        UNION ALL
        SELECT cpu, part,
               sum((part + 1) * width_ns - greatest(start_ns, part * width_ns)) AS busy_ns
        FROM (SELECT cpu, start_ns, end_ns,
                     unnest(range(start_ns // width_ns, (end_ns - 1) // width_ns)) AS part
              FROM stretch
              WHERE end_ns > start_ns AND start_ns // width_ns < (end_ns - 1) // width_ns)
        GROUP BY ALL
    )
    GROUP BY ALL
),
busy AS (
    SELECT t.cpu, t.bucket, t.start_ns, t.end_ns,
           CASE WHEN t.moved_ns IS NOT NULL
                    THEN t.moved_ns - CASE WHEN t.was_busy THEN t.start_ns ELSE 0 END
                                    + CASE WHEN t.stays_busy THEN t.end_ns ELSE 0 END
                WHEN t.enters_busy THEN t.end_ns - t.start_ns
                ELSE coalesce(x.busy_ns, 0) END AS busy_ns
    FROM state AS t
    LEFT JOIN sampled AS x ON x.cpu = t.cpu AND x.bucket = t.bucket
)
SELECT cpu, bucket, start_ns, end_ns, busy_ns::BIGINT AS busy_ns,
       least(100.0, percent(busy_ns, end_ns - start_ns)) AS busy_pct
FROM busy;

-- What each CPU ran between two switches, from the first switch of any CPU to the last.
CREATE VIEW cpu_run AS
SELECT t.cpu, t.start_ns, CASE WHEN t.is_last THEN c.last_ns ELSE t.end_ns END AS end_ns, t.utid,
       t.tid, t.tid = 0 AS is_idle
FROM cpu_turn AS t, cpu_source AS c
WHERE t.came OR t.end_ns > t.start_ns;
