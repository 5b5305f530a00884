-- tool     get_quic_connections
-- title    QUIC connections
-- headline **QUIC Connections**
-- group    http
-- place    3
-- about    MsQuic connections with peer, packets, bytes, loss, handshake time, round-trip time, close
--          reason. Without MsQuic events: QUIC connections seen in captured packets.
-- example  get_quic_connections(trace_id="...")
-- param    top_n           integer  50 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    quic ndis_capture pktmon
-- note     Packets and bytes are the connection's own totals where it wrote them (they cover the time before the trace), else what the packet events add up to.
-- common
picked AS MATERIALIZED (
    SELECT * FROM quic_connection WHERE process_hits(process, pid, $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text
SELECT 'Connections observed', count(*)::VARCHAR FROM picked HAVING count(*) > 0
-- section  main table
-- cap      top_n
-- out      ConnectionId      hex
-- out      Process           text(60)
-- out      Peer              text(60)
-- out      CID               text(44)
-- out      "Lifetime (us)"   us       Of the part that the trace saw.
-- out      "Recv Pkts"       count
-- out      "Send Pkts"       count
-- out      "Recv Bytes"      bytes
-- out      "Send Bytes"      bytes
-- out      "Lost Pkts"       text(60)
-- out      Role              text
-- out      Version           text
-- out      "Handshake (us)"  us
-- out      "SRTT (us)"       count
-- out      "Congestion events" count
-- out      Spurious          count
-- out      "Close reason"    text(80)
-- out      Worker/CPU        text(60)
-- empty    No MsQuic connection in this trace.
SELECT connection, owner_label(process, pid), remote, cid,
       coalesce(destroyed_ns, last_ns) - coalesce(created_ns, first_ns),
       coalesce(total_received, nullif(received, 0)), coalesce(total_sent, nullif(sent, 0)),
       coalesce(total_received_bytes, received_bytes), coalesce(total_sent_bytes, sent_bytes),
       CASE WHEN lost > 0 THEN lost || coalesce(' (' || lost_reasons || ')', '')
            ELSE coalesce(total_lost, CASE WHEN sent > 0 THEN 0 END)::VARCHAR END,
       CASE is_server WHEN 1 THEN 'server' WHEN 0 THEN 'client' END,
       CASE version WHEN 1 THEN '1' WHEN 1798521807 THEN '2' ELSE hex_text(version) END,
       CASE WHEN created_ns IS NOT NULL AND ready_ns > hello_ns THEN ready_ns - hello_ns END,
       rtt_us, congestion, spurious,
       coalesce(close_reason, CASE WHEN destroyed_ns IS NULL THEN 'open' END),
       concat_ws(', ', hex_text(worker), 'ideal CPU ' || ideal_cpu,
                 CASE WHEN len(cpus) > 0
                      THEN 'CPU ' || array_to_string(cpus[1:8], ' ')
                           || CASE WHEN len(cpus) > 8 THEN ' ...' ELSE '' END END)
FROM picked
ORDER BY coalesce(total_received_bytes, received_bytes, 0)
         + coalesce(total_sent_bytes, sent_bytes, 0) DESC, first_ns, life
-- section  captured table optional
-- heading  QUIC in captured packets (no MsQuic events)
-- out      5-Tuple           text(110)
-- out      "Dest. CID"       text(44)
-- out      "Source CID"      text(44)
-- out      Version           text
-- out      Packets           count
-- out      "First (us)"      us
-- out      "Last (us)"       us
SELECT tuple, dcid, scid, hex_text(quic_version), count(*), min(ts_ns), max(ts_ns)
FROM packet
WHERE quic_version IS NOT NULL AND NOT is_repeat AND $process_filter IS NULL
  AND NOT EXISTS (SELECT 1 FROM quic_connection)
GROUP BY tuple, dcid, scid, quic_version
ORDER BY count(*) DESC, tuple, dcid, scid LIMIT 50
