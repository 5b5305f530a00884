-- tool     get_accept_latency
-- title    TCP accept latency
-- headline **TCP Accept Latency**
-- group    network
-- place    6
-- about    Time from a connection's arrival at a listener to the accept call that hands it out, per
--          process, with the deepest backlog. Use it when a server answers new clients late.
-- example  get_accept_latency(trace_id="...", process_filter="w3wp")
-- param    top_n           integer  30 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    afd
-- common
picked AS MATERIALIZED (
    SELECT * FROM accept_done WHERE process_hits(process, pid, $process_filter)
),
failed AS (SELECT process, pid, count(*) AS failures FROM accept_failure GROUP BY ALL)
-- section  main table
-- cap      top_n
-- out      Process      text(60)
-- out      PID          id
-- out      Samples      count
-- out      "p50 (us)"   us
-- out      "p95 (us)"   us
-- out      "p99 (us)"   us~
-- out      "p999 (us)"  us~
-- out      Failures     count
-- out      "Max (us)"   us
-- out      "Backlog max" count
-- out      Source       text
-- empty    No accept could be matched with the arrival of its connection, so there is no latency to tell.
SELECT p.process, p.pid, count(*), quantile_cont(latency_ns, 0.5), quantile_cont(latency_ns, 0.95),
       quantile_cont(latency_ns, 0.99), count(*) < 100, quantile_cont(latency_ns, 0.999),
       count(*) < 1000, coalesce(any_value(f.failures), 0), max(latency_ns), max(backlog),
       any_value(source)
FROM picked AS p
LEFT JOIN failed AS f ON f.process = p.process AND f.pid IS NOT DISTINCT FROM p.pid
GROUP BY p.process, p.pid
ORDER BY quantile_cont(latency_ns, 0.99) DESC, p.process, p.pid
