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
picked AS MATERIALIZED (
    SELECT * FROM packet_flow_owner WHERE owner_hits(owner, $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', sources FROM packet_count WHERE records > 0
UNION ALL
SELECT 'Total packets', format('{:,}', packets) FROM packet_count WHERE packets > 0
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
              || 'counted.', repeats)
FROM packet_count WHERE repeats > 0
UNION ALL
SELECT format('{:,} frames have no recorded direction: they are in the total only.', undirected)
FROM packet_count WHERE undirected > 0
