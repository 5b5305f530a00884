-- tool     get_packet_capture_summary
-- title    Captured packets by flow
-- headline **Packet Capture Summary**
-- group    network
-- place    11
-- handler  get_packet_capture_summary
-- about    Captured frames (NDIS-PacketCapture or PktMon) by 5-tuple: packets each way, bytes on the
--          wire, TCP flags, retransmissions, application. A packet seen at several layers or
--          components counts once.
-- example  get_packet_capture_summary(trace_id="...", top_n=20)
-- param    top_n           integer  50 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid; not for PktMon captures.
-- needs    ndis_capture pktmon
-- next     get_packet_timeline(trace_id="{trace_id}", five_tuple="{5-Tuple}")
-- common
counted AS MATERIALIZED (SELECT * FROM packet WHERE NOT is_repeat),
flow AS (
    SELECT tuple, count(*) FILTER (direction = 'receive') AS received,
           count(*) FILTER (direction = 'send') AS sent, count(*) AS packets,
           sum(wire_length)::BIGINT AS bytes, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           bit_or(flags) AS flags,
           count(*) FILTER (protocol = 'tcp' AND payload_length > 0)
               - count(DISTINCT (seq, payload_length))
                     FILTER (protocol = 'tcp' AND payload_length > 0) AS retransmits,
           bool_or(protocol = 'tcp') AS is_tcp,
           mode(application) AS application, max(server_name) AS server_name,
           any_value(protocol) AS protocol, mode(direction) AS direction,
           any_value(CASE WHEN sport IS NOT NULL THEN socket_join(src, sport) END) AS source,
           any_value(CASE WHEN sport IS NOT NULL THEN socket_join(dst, dport) END) AS target
    FROM counted GROUP BY tuple
),
owned AS MATERIALIZED (
    SELECT f.*, coalesce(a.owner, b.owner) AS owner
    FROM flow AS f
    LEFT JOIN tuple_owner AS a
        ON a.protocol = f.protocol AND a.local = f.source AND a.remote = f.target
           AND f.direction IS DISTINCT FROM 'receive'
    LEFT JOIN tuple_owner AS b
        ON b.protocol = f.protocol AND b.local = f.target AND b.remote = f.source
           AND f.direction IS DISTINCT FROM 'send'
),
picked AS MATERIALIZED (
    SELECT * FROM owned
    WHERE $process_filter IS NULL OR owner IS NOT NULL AND process_hits(
        owner, regexp_extract(owner, '\(([0-9]+)\)$', 1), $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', string_agg(DISTINCT CASE source WHEN 'pktmon' THEN 'PktMon' WHEN 'wan'
                                     THEN 'WAN capture' ELSE 'NDIS-PacketCapture' END, ', ')
FROM packet HAVING count(*) > 0
UNION ALL
SELECT 'Total packets', format('{:,}', count(*)) FROM counted HAVING count(*) > 0
-- section  main table
-- cap      top_n
-- out      5-Tuple        text(110)
-- out      "Recv Pkts"    count
-- out      "Send Pkts"    count
-- out      "Total Pkts"   count
-- out      "Total Bytes"  bytes     On the wire, link headers included.
-- out      "First (us)"   us
-- out      "Last (us)"    us
-- out      "TCP flags"    text
-- out      Retransmits    count     Data segments seen before.
-- out      Application    text(80)  By the first payload bytes.
-- out      Process        text(60)  From the TCP and UDP events of the trace.
-- empty    No captured frame in this trace.
SELECT tuple, received, sent, packets, bytes, first_ns, last_ns,
       CASE WHEN is_tcp THEN tcp_flags_text(flags) END, CASE WHEN is_tcp THEN retransmits END,
       application || coalesce(' ' || server_name, ''), owner
FROM picked
ORDER BY packets DESC, bytes DESC, tuple
-- section  layers notes
-- out      Note text
SELECT format('{:,} further appearances of the same packets at other layers or components are not '
              || 'counted.', count(*))
FROM packet WHERE is_repeat HAVING count(*) > 0
UNION ALL
SELECT format('{:,} frames have no recorded direction: they are in the total only.', count(*))
FROM counted WHERE direction IS NULL HAVING count(*) > 0
