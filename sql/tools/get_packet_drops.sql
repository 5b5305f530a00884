-- tool     get_packet_drops
-- title    Dropped packets
-- headline **Packet Drops**
-- group    network
-- place    7
-- about    Packets that the stack (TCPIP), sockets (AFD) or network components (PktMon) dropped, by
--          component and reason. NDIS itself reports no drops.
-- example  get_packet_drops(trace_id="...")
-- param    top_n  integer  30 1..1000 Rows.
-- needs    tcpip afd pktmon
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Total drops', format('{:,}', sum(packets)::BIGINT) FROM packet_drop HAVING count(*) > 0
UNION ALL
SELECT 'Total bytes', format('{:,}', sum(bytes)::BIGINT) FROM packet_drop HAVING sum(bytes) > 0
-- section  main table
-- cap      top_n
-- out      Miniport      text(80)   Component or interface.
-- out      Reason        text(80)
-- out      Count         count
-- out      Bytes         bytes      Where recorded.
-- out      "% of Drops"  pct
-- out      Source        text
-- out      Flow/Process  text(100)  The one with most drops.
-- out      "First (s)"   s
-- out      "Last (s)"    s
-- empty    No packet was dropped, as far as the recorded providers tell: a good result.
WITH flow AS (
    SELECT component, reason, source, coalesce(process || ' ', '') || flow AS flow,
           sum(packets) AS packets
    FROM packet_drop WHERE flow IS NOT NULL GROUP BY ALL
)
SELECT d.component, d.reason, sum(d.packets)::BIGINT, sum(d.bytes)::BIGINT,
       percent(sum(d.packets), (SELECT sum(packets) FROM packet_drop)), d.source,
       (SELECT arg_max(f.flow, (f.packets, f.flow)) FROM flow AS f
        WHERE f.component = d.component AND f.reason = d.reason AND f.source = d.source),
       min(d.ts_ns), max(d.ts_ns)
FROM packet_drop AS d
GROUP BY d.component, d.reason, d.source
ORDER BY sum(d.packets) DESC, d.component, d.reason, d.source
