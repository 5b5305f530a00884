-- tool     get_connect_latency
-- title    TCP connect latency
-- headline **TCP Connect Latency**
-- group    network
-- place    5
-- about    Time from a connect request to the established connection, per process, and failures. Use
--          it when connecting is slow.
-- example  get_connect_latency(trace_id="...", process_filter="chrome")
-- param    top_n           integer  30 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    tcpip afd ndis_capture pktmon
-- common
picked AS MATERIALIZED (
    SELECT * FROM connect_attempt WHERE process_hits(process, pid, $process_filter)
)
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
-- out      Source       text
-- empty    No connect was seen from its request to its end, so there is no latency to tell.
SELECT process, pid, count(latency_ns), quantile_cont(latency_ns, 0.5),
       quantile_cont(latency_ns, 0.95), quantile_cont(latency_ns, 0.99), count(latency_ns) < 100,
       quantile_cont(latency_ns, 0.999), count(latency_ns) < 1000,
       count(*) - count(latency_ns), max(latency_ns), any_value(source)
FROM picked
GROUP BY process, pid
ORDER BY quantile_cont(latency_ns, 0.99) DESC NULLS LAST, process, pid
