-- tool     get_http_queue_depth
-- title    HTTP queue depth
-- headline **HTTP Queue Depth**
-- group    http
-- place    2
-- about    Requests delivered to an application and not yet answered, per request queue: peak, average,
--          latency, rejects. Use it to see whether the application keeps up.
-- example  get_http_queue_depth(trace_id="...")
-- param    top_n  integer  20 1..1000 Rows.
-- needs    http
-- note     Depth counts a request from its delivery to its first response (else to its end). The average is over the time between the first and the last HTTP.sys event.
-- common
span AS (SELECT min(ts_ns) AS from_ns, max(ts_ns) AS to_ns FROM http_event),
stay AS MATERIALIZED (
    SELECT coalesce(nullif(queue, ''), 'unnamed')
               || coalesce(' [' || site || ']', '') AS queue,
           delivered_ns AS from_ns,
           coalesce(answered_ns, sent_ns, failed_ns, closed_ns) AS answered_ns,
           greatest(delivered_ns, coalesce(answered_ns, sent_ns, failed_ns, closed_ns, s.to_ns))
               AS until_ns
    FROM http_request, span AS s
    WHERE delivered_ns IS NOT NULL
),
step AS (
    SELECT queue, ts_ns, sum(change) AS change
    FROM (SELECT queue, from_ns AS ts_ns, 1 AS change FROM stay
          UNION ALL SELECT queue, until_ns, -1 FROM stay WHERE answered_ns IS NOT NULL)
    GROUP BY queue, ts_ns
),
depth AS MATERIALIZED (
    SELECT queue, ts_ns,
           sum(change) OVER (PARTITION BY queue ORDER BY ts_ns) AS depth,
           coalesce(lead(ts_ns) OVER (PARTITION BY queue ORDER BY ts_ns),
                    (SELECT to_ns FROM span)) - ts_ns AS held_ns
    FROM step
),
top AS (SELECT queue, max(depth) AS peak FROM depth GROUP BY queue),
refused AS (
    SELECT coalesce(nullif(queue, ''), 'unnamed') AS queue, count(*) AS rejects
    FROM http_event WHERE id = 64 GROUP BY ALL
)
-- section  main table
-- cap      top_n
-- out      UrlGroupId            text(80)  Request queue and, in brackets, site id.
-- out      "Peak Depth"          count
-- out      "Avg Depth"           number(3)
-- out      Deliveries            count
-- out      Completions           count
-- out      "Latency p50 (us)"    us
-- out      "Latency p99 (us)"    us~
-- out      "Time at peak (s)"    s
-- out      Rejects               count
-- empty    No request was delivered to an application.
SELECT s.queue, any_value(t.peak)::BIGINT,
       (SELECT sum(d.depth * d.held_ns) FROM depth AS d WHERE d.queue = s.queue)
           / greatest(1, (SELECT to_ns - from_ns FROM span)),
       count(*), count(s.answered_ns), quantile_cont(s.answered_ns - s.from_ns, 0.5),
       quantile_cont(s.answered_ns - s.from_ns, 0.99), count(s.answered_ns) < 100,
       (SELECT sum(d.held_ns) FROM depth AS d WHERE d.queue = s.queue
        AND d.depth = any_value(t.peak))::BIGINT,
       coalesce((SELECT sum(r.rejects) FROM refused AS r
                 WHERE r.queue = s.queue OR starts_with(s.queue, r.queue || ' [')), 0)::BIGINT
FROM stay AS s JOIN top AS t ON t.queue = s.queue
GROUP BY s.queue
ORDER BY any_value(t.peak) DESC, count(*) DESC, s.queue
-- section  unmatched notes
-- out      Note text
SELECT format('{:,} responses belong to requests that were delivered before the trace: they are '
              || 'not in the depth.', count(*))
FROM http_request WHERE delivered_ns IS NULL AND answered_ns IS NOT NULL HAVING count(*) > 0
