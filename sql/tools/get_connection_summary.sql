-- tool     get_connection_summary
-- title    TCP connections
-- headline **TCP Connection Summary**
-- group    network
-- place    1
-- about    TCP connections by traffic: bytes, data events, retransmissions, state, round-trip time,
--          process. Use it to find who talks to whom and how much.
-- example  get_connection_summary(trace_id="...", process_filter="chrome")
-- param    top_n           integer  50 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    tcpip kernel_network tcp
-- next     get_tcp_retransmits(trace_id="{trace_id}")
-- common
picked AS MATERIALIZED (
    SELECT * FROM tcp_connection WHERE process_hits(process, pid, $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Connections observed', count(*)::VARCHAR FROM picked HAVING count(*) > 0
UNION ALL
SELECT 'Source', net_source_name(source) FROM tcp_source
-- section  main table
-- cap      top_n
-- out      5-Tuple         text(110)
-- out      Process         text(60)
-- out      "Recv Bytes"    bytes
-- out      "Send Bytes"    bytes
-- out      "Total Bytes"   bytes
-- out      Packets         count      Data events, or packets where an event counts several.
-- out      Retransmits     count
-- out      "Duration (s)"  s          From its first to its last event.
-- out      State           text       open, closed, reset, failed, or rundown (seen only in the rundown).
-- out      "RTT (us)"      count      As the stack measured it, when the connection ended.
-- out      "Min RTT (us)"  count
-- out      "Cwnd max"      bytes
-- out      Timeouts        count
-- out      "Lifetime bytes" bytes     Payload of its whole life, where that is more than the trace saw.
-- empty    No TCP connections in this trace.
SELECT tuple, owner_label(process, pid),
       bytes_received, bytes_sent, bytes, packets, retransmits, last_ns - first_ns, state,
       rtt_us, min_rtt_us, cwnd_max, timeouts,
       CASE WHEN total_in + total_out > bytes THEN total_in + total_out END
FROM picked
ORDER BY bytes DESC, packets DESC, tuple, flow
-- section  retransmits notes
-- out      Note text
SELECT 'The trace holds no retransmission event: there were none, or the capture left the diagnosis '
       || 'keyword out.'
FROM picked HAVING count(*) > 0 AND count(retransmits) = 0
-- section  partial notes
-- out      Note text
SELECT 'Bytes ' || CASE direction WHEN 'send' THEN 'sent' ELSE 'received' END
       || ' were not recorded (the capture left the '
       || CASE direction WHEN 'send' THEN 'send' ELSE 'receive' END || ' path out).'
FROM (VALUES ('send'), ('receive')) AS d(direction)
WHERE (SELECT source FROM tcp_source) = 'tcpip'
  AND direction NOT IN (SELECT s.direction FROM net_source AS s
                        WHERE s.protocol = 'tcp' AND s.source = 'tcpip')
