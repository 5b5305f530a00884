-- tool     get_tcp_retransmits
-- title    TCP retransmissions
-- headline **TCP Retransmits**
-- group    network
-- place    3
-- about    Connections that retransmit: how often, what kind (SYN, timeout, fast recovery), what share
--          of what they sent. Use it when transfers stall or are slow.
-- example  get_tcp_retransmits(trace_id="...")
-- param    top_n  integer  30 1..1000 Rows.
-- needs    tcpip kernel_network tcp
-- note     Rate = retransmissions / (send events + retransmissions); above 0.1 % deserves a look.
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', net_source_name(source)
FROM net_source WHERE protocol = 'tcp' AND direction = 'retransmit'
UNION ALL
SELECT 'Connections above 0.1 %',
       count(*) FILTER (retransmits * 1000 > packets_sent + retransmits)::VARCHAR
FROM tcp_connection HAVING sum(retransmits) > 0
-- section  main table
-- cap      top_n
-- out      5-Tuple       text(110)
-- out      Process       text(60)
-- out      Retransmits   count
-- out      Packets       count    Send events.
-- out      Rate          pct
-- out      SYN           count
-- out      RTO           count    After a timeout.
-- out      Fast          count    In loss recovery.
-- out      Bytes         bytes    Retransmitted, where recorded.
-- out      "First (s)"   s
-- out      "Last (s)"    s
-- empty    No retransmissions were recorded. That is a good sign when the capture has TCP data and retransmission events (TCPIP: the diagnosis keyword, level 4; kernel events always have them).
SELECT tuple, owner_label(process, pid),
       retransmits, packets_sent, percent(retransmits, packets_sent + retransmits),
       syn, rto, fast, retransmitted_bytes, first_lost_ns, last_lost_ns
FROM tcp_connection WHERE retransmits > 0
ORDER BY retransmits DESC, tuple, flow
-- section  unsplit notes
-- out      Note text
SELECT 'The source does not tell kinds of retransmission apart.'
FROM tcp_retransmit WHERE kind = 'unknown' LIMIT 1
