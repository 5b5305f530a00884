-- tool     get_udp_flow_summary
-- title    UDP flows
-- headline **UDP Flow Summary**
-- group    network
-- place    2
-- about    UDP flows by packets: datagrams and bytes each way, rate, datagrams per event, drops.
-- example  get_udp_flow_summary(trace_id="...", process_filter="svchost")
-- param    top_n           integer  50 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    tcpip kernel_network udp
-- common
flow AS MATERIALIZED (
    SELECT d.flow, any_value(d.local) AS local, any_value(d.remote) AS remote,
           owner_name(max(p.process), max(d.pid)) AS process, max(d.pid) AS pid,
           coalesce(sum(d.packets) FILTER (d.direction = 'receive'), 0)::BIGINT AS received,
           coalesce(sum(d.packets) FILTER (d.direction = 'send'), 0)::BIGINT AS sent,
           sum(d.packets)::BIGINT AS packets, sum(d.bytes)::BIGINT AS bytes, sum(d.events)::BIGINT AS events,
           min(d.first_ns) AS first_ns, max(d.last_ns) AS last_ns
    FROM net_flow AS d LEFT JOIN process_name AS p ON p.upid = d.upid
    WHERE d.protocol = 'udp' GROUP BY d.flow
),
picked AS MATERIALIZED (
    SELECT f.*, f.local || ' <-> ' || coalesce(f.remote, '*') AS tuple,
           CASE WHEN EXISTS (SELECT 1 FROM trace_source
                             WHERE source IN ('tcpip', 'afd') AND events > 0)
                THEN coalesce((SELECT sum(x.packets) FROM packet_drop AS x
                               WHERE x.protocol = 'udp' AND x.local = f.local
                                 AND (x.remote IS NULL OR x.remote = f.remote)), 0)::BIGINT
           END AS drops
    FROM flow AS f WHERE process_hits(f.process, f.pid, $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Flows observed', count(*)::VARCHAR FROM picked HAVING count(*) > 0
UNION ALL
SELECT 'Source', string_agg(DISTINCT net_source_name(source), ', ')
FROM net_source WHERE protocol = 'udp' HAVING count(*) > 0
-- section  main table
-- cap      top_n
-- out      5-Tuple         text(110)
-- out      Process         text(60)
-- out      "Recv Pkts"     count
-- out      "Send Pkts"     count
-- out      "Total Pkts"    count
-- out      Bytes           bytes
-- out      "Duration (s)"  s
-- out      PPS             number   Packets / (last - first event); 0 for a single event.
-- out      "Avg batch"     number   Datagrams per event.
-- out      Drops           count    Datagrams dropped by the transport or the socket.
-- empty    No UDP datagrams in this trace.
SELECT tuple, owner_label(process, pid),
       received, sent, packets, bytes, last_ns - first_ns,
       CASE WHEN last_ns > first_ns THEN packets * 1e9 / (last_ns - first_ns) ELSE 0 END,
       packets * 1.0 / events, drops
FROM picked
ORDER BY packets DESC, bytes DESC, tuple, flow
