-- tool     get_packet_timeline
-- title    Packets of a flow
-- headline **Packet Timeline**
-- group    network
-- place    12
-- handler  get_packet_timeline
-- about    The captured packets of one flow, both directions, in time order, with relative sequence
--          numbers, gaps and marks: retransmission, out of order, duplicate ACK, zero window.
-- example  get_packet_timeline(trace_id="...", five_tuple="10.0.0.1:1234 -> 10.0.0.2:80")
-- param    five_tuple   text     required       "a:p -> b:q", "a:p -> b:q/proto", "a:p <-> b:q", "a:p-b:q" or "a:p b:q"; IPv6 as [addr]:port; a port may be *.
-- param    max_packets  integer  100 1..5000    Rows.
-- needs    ndis_capture pktmon
-- common
matched AS MATERIALIZED (
    SELECT packet_id, ts_ns, cpu, class_id, direction, protocol, src, dst, sport, dport, tuple, seq,
           ack, flags, tcp_window, window_scale, payload_length, icmp_type, icmp_code,
           fragment_offset, wire_length, application, server_name, truncated_at, drop_reason,
           drop_location, row_number() OVER (ORDER BY ts_ns, cpu, packet_id) AS nth
    FROM packet_base
    WHERE NOT is_repeat
      AND tuple IN (SELECT tuple FROM packet_flow
                    WHERE tuple_hits(src, sport, dst, dport, protocol, $five_tuple))
),
base AS (
    SELECT *, socket_join(dst, dport) || ' -> ' || socket_join(src, sport) || '/tcp' AS reverse
    FROM (
        SELECT tuple, coalesce(arg_min(seq, ts_ns) FILTER (flags & 2 <> 0), min(seq)) AS isn,
               max(window_scale) AS scale, any_value(src) AS src, any_value(sport) AS sport,
               any_value(dst) AS dst, any_value(dport) AS dport
        FROM matched WHERE protocol = 'tcp' GROUP BY tuple
    )
),
scaled AS (SELECT count(scale) > 1 AND count(scale) = count(*) AS yes FROM base),
-- What is said of a packet looks back only, so packets behind the last one shown are counted alone.
placed AS (
    SELECT m.*, (m.seq - b.isn + 4294967296) % 4294967296 AS rel_seq,
           (m.ack - o.isn + 4294967296) % 4294967296 AS rel_ack,
           CASE WHEN m.flags & 2 = 0 AND (SELECT yes FROM scaled)
                THEN m.tcp_window * (1 << coalesce(b.scale, 0)) ELSE m.tcp_window END
               AS window_bytes,
           m.ts_ns - lag(m.ts_ns) OVER (ORDER BY m.nth) AS gap_ns,
           d.reason || ' at ' || d.location AS dropped
    FROM matched AS m
    LEFT JOIN base AS b ON b.tuple = m.tuple
    LEFT JOIN base AS o ON o.tuple = b.reverse
    LEFT JOIN pktmon_drop_name AS d
        ON d.class_id = m.class_id AND d.drop_reason = m.drop_reason
           AND d.drop_location = m.drop_location
    WHERE m.nth <= $max_packets
),
judged AS (
    SELECT *,
           max(rel_seq + payload_length)
               OVER (PARTITION BY tuple ORDER BY nth
                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_before,
           row_number() OVER (PARTITION BY tuple, seq, payload_length > 0 ORDER BY nth) > 1 AS seen,
           lag(ack) OVER same AS ack_before, lag(tcp_window) OVER same AS window_before
    FROM placed
    WINDOW same AS (PARTITION BY tuple ORDER BY nth)
)
-- section  scope values
-- out      Name  text
-- out      Value text
SELECT 'Matched packets', format('{:,}', count(*)) FROM matched HAVING count(*) > 0
-- section  main table
-- cap      max_packets
-- out      "TimeStamp (us)" us
-- out      Direction      text
-- out      Proto          text
-- out      Src            text(60)
-- out      Dst            text(60)
-- out      "L4 Fields"    text(160)
-- out      Size           bytes
-- out      "Gap (us)"     us
-- out      Marks          text(100)
-- empty    No captured packet matches this flow.
SELECT ts_ns, direction, protocol, source, target, fields, wire_length, gap_ns, marks
FROM (
    SELECT nth, ts_ns, direction, protocol,
           CASE WHEN sport IS NULL THEN src ELSE socket_join(src, sport) END AS source,
           CASE WHEN dport IS NULL THEN dst ELSE socket_join(dst, dport) END AS target,
           CASE WHEN protocol = 'tcp' AND seq IS NOT NULL THEN
                    'seq=' || rel_seq
                    || CASE WHEN flags & 16 <> 0 THEN ' ack=' || coalesce(rel_ack, ack) ELSE '' END
                    || ' [' || tcp_flags_text(flags) || '] len=' || payload_length
                    || ' win=' || window_bytes
                WHEN protocol = 'udp' THEN coalesce('len=' || payload_length, '')
                WHEN icmp_type IS NOT NULL THEN 'type=' || icmp_type || ' code=' || icmp_code
                ELSE '' END
           || CASE WHEN fragment_offset > 0 THEN ' fragment at ' || fragment_offset ELSE '' END
           || coalesce(' ' || application || coalesce(' ' || server_name, ''), '') AS fields,
           wire_length, gap_ns,
           array_to_string(list_filter(
               [CASE WHEN protocol = 'tcp' AND payload_length > 0 AND seen
                     THEN 'retransmission' END,
                CASE WHEN protocol = 'tcp' AND payload_length > 0 AND NOT seen
                          AND rel_seq < end_before THEN 'out of order' END,
                CASE WHEN protocol = 'tcp' AND payload_length = 0 AND flags & 23 = 16
                          AND ack = ack_before AND tcp_window = window_before
                     THEN 'duplicate ACK' END,
                CASE WHEN protocol = 'tcp' AND tcp_window = 0 AND flags & 4 = 0
                     THEN 'zero window' END,
                CASE WHEN dropped IS NOT NULL THEN 'dropped: ' || dropped END,
                CASE WHEN truncated_at IS NOT NULL THEN 'cut in ' || truncated_at END],
               lambda x: x IS NOT NULL), ', ') AS marks
    FROM judged
    UNION ALL
    SELECT nth, ts_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM matched
    WHERE nth > $max_packets
)
ORDER BY nth
-- section  nearest table optional
-- heading  Closest flows
-- out      5-Tuple text(110)
-- out      Packets count
SELECT tuple, packets FROM packet_flow
WHERE NOT EXISTS (SELECT 1 FROM matched)
ORDER BY levenshtein(tuple, $five_tuple), packets DESC, tuple
LIMIT 3
