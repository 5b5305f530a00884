-- tool     get_network_timeline
-- title    Network traffic over time
-- headline **Network Timeline**
-- group    network
-- place    20
-- about    Bytes, packets, retransmissions and drops in equal stretches of time, in total or by process,
--          protocol or flow. Use it to find when traffic rose, stalled or lost packets.
-- example  get_network_timeline(trace_id="...", bucket=100, group_by="process")
-- param    bucket    number  1000 0.1..            Milliseconds of a stretch.
-- param    group_by  enum    total total|process|protocol|flow  What a row stands for besides its time.
-- window
-- rows     200
-- needs    tcpip kernel_network tcp udp ndis_capture pktmon
-- note     Traffic comes from the TCP and UDP events; without them from captured packets (bytes on the wire). Stretches without traffic are left out. An empty cell: not recorded.
-- common
width AS (SELECT greatest(1, ($bucket * 1e6)::BIGINT) AS ns),
traffic AS (
    SELECT d.ts_ns, d.direction, d.packets, d.bytes,
           CASE $group_by WHEN 'process' THEN owner_label(owner_name(p.process, d.pid), d.pid)
                WHEN 'protocol' THEN d.protocol
                WHEN 'flow' THEN d.local || ' <-> ' || coalesce(d.remote, '*') || '/' || d.protocol
                ELSE 'total' END AS row_group
    FROM net_data AS d LEFT JOIN process_name AS p ON p.upid = d.upid
    UNION ALL
    SELECT ts_ns, direction, 1, wire_length,
           CASE $group_by WHEN 'process' THEN 'unknown' WHEN 'protocol' THEN protocol
                WHEN 'flow' THEN tuple ELSE 'total' END
    FROM packet_base WHERE NOT is_repeat AND NOT EXISTS (SELECT 1 FROM net_flow)
),
lost AS (
    SELECT r.ts_ns,
           CASE $group_by WHEN 'process' THEN owner_label(c.process, c.pid)
                WHEN 'protocol' THEN 'tcp'
                WHEN 'flow' THEN c.local || ' <-> ' || c.remote || '/tcp'
                ELSE 'total' END AS row_group
    FROM tcp_retransmit AS r JOIN tcp_connection AS c ON c.flow = r.flow
),
dropped AS (
    SELECT ts_ns, packets,
           CASE $group_by WHEN 'process' THEN coalesce(process, 'unknown')
                WHEN 'protocol' THEN coalesce(protocol, 'unknown')
                WHEN 'flow' THEN coalesce(flow, 'unknown') ELSE 'total' END AS row_group
    FROM packet_drop
),
all_rows AS (
    SELECT ts_ns, row_group, CASE WHEN direction = 'receive' THEN bytes END AS received,
           CASE WHEN direction = 'send' THEN bytes END AS sent, packets, 0 AS retransmits,
           0 AS drops
    FROM traffic
    UNION ALL SELECT ts_ns, row_group, NULL, NULL, 0, 1, 0 FROM lost
    UNION ALL SELECT ts_ns, row_group, NULL, NULL, 0, 0, packets FROM dropped
),
bucketed AS MATERIALIZED (
    SELECT a.ts_ns // w.ns AS bucket, a.row_group, coalesce(sum(received), 0)::BIGINT AS received,
           coalesce(sum(sent), 0)::BIGINT AS sent, sum(packets)::BIGINT AS packets,
           sum(retransmits)::BIGINT AS retransmits, sum(drops)::BIGINT AS drops
    FROM all_rows AS a, width AS w
    WHERE a.ts_ns >= $start_ns AND a.ts_ns < $end_ns
    GROUP BY ALL
)
-- section  main table
-- out      "Time (s)"     s
-- out      Group          text(110)
-- out      "Recv Bytes"   bytes
-- out      "Send Bytes"   bytes
-- out      Packets        count
-- out      Retransmits    count
-- out      Drops          count
-- empty    No network traffic in this window.
SELECT b.bucket * w.ns, b.row_group, b.received, b.sent, b.packets,
       CASE WHEN EXISTS (SELECT 1 FROM net_flow WHERE protocol = 'tcp') THEN b.retransmits END,
       CASE WHEN EXISTS (SELECT 1 FROM trace_source
                         WHERE source IN ('tcpip', 'afd', 'pktmon') AND events > 0)
            THEN b.drops END
FROM bucketed AS b, width AS w
ORDER BY b.bucket, b.received + b.sent DESC, b.row_group
