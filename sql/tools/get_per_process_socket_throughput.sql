-- tool     get_per_process_socket_throughput
-- title    Socket throughput per process
-- headline **Per-Process Socket Throughput**
-- group    network
-- place    4
-- about    TCP and UDP packet and byte rates of each process over the trace, and its busiest second.
-- example  get_per_process_socket_throughput(trace_id="...")
-- param    top_n  integer  30 1..1000 Rows.
-- needs    tcpip kernel_network tcp udp
-- note     Rates are over the duration of the trace; 1 MB = 1,048,576 bytes; TCP packets are data events (packets where an event counts several), UDP packets are datagrams. An empty cell: that direction was not recorded.
-- common
span AS (SELECT greatest(duration_ns, 1) / 1e9 AS seconds FROM trace),
known AS MATERIALIZED (SELECT list(protocol || ' ' || direction) AS ways FROM net_source),
moved AS MATERIALIZED (
    SELECT d.protocol || ' ' || d.direction AS way, d.packets, d.bytes, d.upid, d.pid,
           owner_name(p.process, d.pid) AS process
    FROM net_flow AS d LEFT JOIN process_name AS p ON p.upid = d.upid
),
peak AS (
    SELECT owner_name(p.process, d.pid) AS process, d.pid, d.upid, max(d.bytes) AS bytes
    FROM (SELECT pid, upid, ts_ns // 1000000000 AS second, sum(bytes) AS bytes
          FROM net_data GROUP BY ALL) AS d
    LEFT JOIN process_name AS p ON p.upid = d.upid
    GROUP BY ALL
),
totals AS MATERIALIZED (
    SELECT process, pid, upid, sum(packets) FILTER (way = 'tcp receive') AS trp,
           sum(bytes) FILTER (way = 'tcp receive') AS trb,
           sum(packets) FILTER (way = 'tcp send') AS tsp, sum(bytes) FILTER (way = 'tcp send') AS tsb,
           sum(packets) FILTER (way = 'udp receive') AS urp,
           sum(bytes) FILTER (way = 'udp receive') AS urb,
           sum(packets) FILTER (way = 'udp send') AS usp, sum(bytes) FILTER (way = 'udp send') AS usb,
           sum(bytes) AS bytes
    FROM moved GROUP BY ALL
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', string_agg(DISTINCT net_source_name(source), ', ' ORDER BY net_source_name(source))
FROM net_source HAVING count(*) > 0
-- section  main table
-- cap      top_n
-- out      Process          text(60)
-- out      PID              id
-- out      "TCP Recv PPS"   number
-- out      "TCP Recv MB/s"  number(4)
-- out      "TCP Send PPS"   number
-- out      "TCP Send MB/s"  number(4)
-- out      "UDP Recv PPS"   number
-- out      "UDP Recv MB/s"  number(4)
-- out      "UDP Send PPS"   number
-- out      "UDP Send MB/s"  number(4)
-- out      "Peak MB/s (1 s)" number(4)
-- empty    No TCP or UDP data in this trace.
SELECT t.process, t.pid,
       CASE WHEN list_contains(ways, 'tcp receive') THEN coalesce(trp, 0) END / seconds,
       CASE WHEN list_contains(ways, 'tcp receive') THEN coalesce(trb, 0) END / seconds / 1048576,
       CASE WHEN list_contains(ways, 'tcp send') THEN coalesce(tsp, 0) END / seconds,
       CASE WHEN list_contains(ways, 'tcp send') THEN coalesce(tsb, 0) END / seconds / 1048576,
       CASE WHEN list_contains(ways, 'udp receive') THEN coalesce(urp, 0) END / seconds,
       CASE WHEN list_contains(ways, 'udp receive') THEN coalesce(urb, 0) END / seconds / 1048576,
       CASE WHEN list_contains(ways, 'udp send') THEN coalesce(usp, 0) END / seconds,
       CASE WHEN list_contains(ways, 'udp send') THEN coalesce(usb, 0) END / seconds / 1048576,
       (SELECT p.bytes FROM peak AS p WHERE p.process = t.process
        AND p.pid IS NOT DISTINCT FROM t.pid AND p.upid IS NOT DISTINCT FROM t.upid) / 1048576
FROM totals AS t, span, known
ORDER BY t.bytes DESC, t.process, t.pid, t.upid
-- section  totals values
-- out      Name  text
-- out      Value text(200)
SELECT 'Total', printf('%.4f MB/s in, %.4f MB/s out',
              coalesce(sum(coalesce(trb, 0) + coalesce(urb, 0)), 0) / any_value(seconds) / 1048576,
              coalesce(sum(coalesce(tsb, 0) + coalesce(usb, 0)), 0) / any_value(seconds) / 1048576)
FROM totals, span HAVING count(*) > 0
