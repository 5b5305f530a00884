-- tool     explain_connection
-- title    One connection explained
-- headline **Connection Explained**
-- group    network
-- place    21
-- handler  explain_connection
-- about    What happened to a TCP connection, or to a process's busiest ones: who, how it began and
--          ended, events in order, traffic over its life, loss, and a reading of it.
-- example  explain_connection(trace_id="...", five_tuple="10.0.0.1:50000 <-> 10.0.0.2:443")
-- param    five_tuple  text     null           One flow, either direction: "a:p -> b:q", "a:p <-> b:q"; IPv6 as [addr]:port; a port may be *.
-- param    pid         integer  null 0..       A process: its busiest connections.
-- param    top_n       integer  5 1..50        Connections explained.
-- needs    tcpip kernel_network tcp
-- common
picked AS MATERIALIZED (
    SELECT * FROM tcp_connection
    WHERE ($pid IS NULL OR pid = $pid)
      AND tuple_hits(socket_address(local), socket_port(local), socket_address(remote),
                     socket_port(remote), 'tcp', nullif($five_tuple, ''))
    ORDER BY bytes DESC, first_ns, flow
    LIMIT $top_n
),
numbered AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY bytes DESC, first_ns, flow) AS nth FROM picked
),
stack_event AS MATERIALIZED (
    SELECT n.nth, n.tuple, e.ts_ns, e.seq, tcp_event_name(e.id) AS what, e.id,
           CASE WHEN e.id IN (1033, 1034, 1045) AND e.status <> 0
                THEN 'status ' || hex_text(e.status)
                WHEN e.bytes IS NOT NULL THEN e.bytes || ' bytes' ELSE e.host END AS detail
    FROM tcb_event AS e JOIN numbered AS n ON n.flow = e.life
    UNION ALL
    SELECT n.nth, n.tuple, d.ts_ns, d.seq, tcp_event_name(d.id), d.id, d.bytes || ' bytes'
    FROM numbered AS n JOIN tcb_span AS s ON s.life = n.flow
    JOIN tcp_data AS d ON d.number = s.number
    UNION ALL
    SELECT n.nth, n.tuple, e.ts_ns, e.seq,
           CASE e.kind WHEN 'send' THEN 'sent' WHEN 'receive' THEN 'received' ELSE e.kind END, NULL,
           e.bytes || ' bytes'
    FROM kernel_tcp_event AS e JOIN numbered AS n ON n.flow = e.life
    WHERE e.kind <> 'copy'
),
moved AS MATERIALIZED (
    SELECT n.nth, d.ts_ns, d.direction, d.bytes
    FROM net_data AS d JOIN numbered AS n ON n.flow = d.flow
),
pause AS MATERIALIZED (
    SELECT nth, arg_max(before_ns, gap_ns) AS from_ns, max(gap_ns) AS gap_ns
    FROM (SELECT nth, lag(ts_ns) OVER (PARTITION BY nth ORDER BY ts_ns) AS before_ns,
                 ts_ns - lag(ts_ns) OVER (PARTITION BY nth ORDER BY ts_ns) AS gap_ns FROM moved)
    WHERE gap_ns IS NOT NULL GROUP BY nth
),
begun AS MATERIALIZED (
    SELECT nth, min(ts_ns) FILTER (id = 1002) AS asked_ns,
           min(ts_ns) FILTER (id = 1033) AS ready_ns,
           bool_or(id = 1017 OR what = 'accept') AS accepted,
           bool_or(id IN (1002, 1031) OR what = 'connect') AS connected,
           arg_min(what, ts_ns) FILTER (id IN (1039, 1040, 1046, 1047, 1048, 1184, 1185, 1200, 1201,
                                               1468, 1555)) AS broken_by
    FROM stack_event GROUP BY nth
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Source', net_source_name(source) FROM tcp_source
-- section  main table
-- out      "#"              id
-- out      5-Tuple          text(110)
-- out      Process          text(60)
-- out      Host             text(80)
-- out      "Begin"          text
-- out      State            text
-- out      "From (s)"       s
-- out      "Duration (s)"   s
-- out      "Recv Bytes"     bytes
-- out      "Send Bytes"     bytes
-- out      "Connect (us)"   us
-- out      "RTT (us)"       count
-- out      Retransmits      count
-- empty    No TCP connection matches.
SELECT n.nth, n.tuple, owner_label(n.process, n.pid), n.host,
       CASE WHEN b.accepted THEN 'accepted' WHEN b.connected THEN 'connected'
            ELSE 'before the trace' END,
       n.state, n.first_ns, n.last_ns - n.first_ns, n.bytes_received, n.bytes_sent,
       b.ready_ns - b.asked_ns, n.rtt_us, n.retransmits
FROM numbered AS n LEFT JOIN begun AS b ON b.nth = n.nth
ORDER BY n.nth
-- section  reading lines optional
-- heading  Reading
-- out      Line text(300)
SELECT line FROM (
    SELECT n.nth, 1 AS place, '#' || n.nth || ': connecting took '
           || format('{:,.1f}', (b.ready_ns - b.asked_ns) / 1e3) || ' us.' AS line
    FROM numbered AS n JOIN begun AS b ON b.nth = n.nth WHERE b.ready_ns >= b.asked_ns
    UNION ALL
    SELECT n.nth, 2, '#' || n.nth || ': the connect failed.' FROM numbered AS n
    WHERE n.state = 'failed'
    UNION ALL
    SELECT n.nth, 3, '#' || n.nth || ': ' || n.retransmits || ' retransmissions ('
           || concat_ws(', ', CASE WHEN n.syn > 0 THEN n.syn || ' SYN' END,
                        CASE WHEN n.rto > 0 THEN n.rto || ' after a timeout' END,
                        CASE WHEN n.fast > 0 THEN n.fast || ' in recovery' END,
                        CASE WHEN n.syn + n.rto + n.fast = 0 THEN 'kind not recorded' END)
           || ') for ' || n.packets_sent || ' sends: packets to ' || coalesce(n.remote, 'the peer')
           || ', or their acknowledgements, were lost or late.'
    FROM numbered AS n WHERE n.retransmits > 0
    UNION ALL
    SELECT n.nth, 4, '#' || n.nth || ': the longest pause between data is '
           || format('{:,.1f}', p.gap_ns / 1e6) || ' ms, from '
           || format('{:.6f}', p.from_ns / 1e9) || ' s.'
    FROM numbered AS n JOIN pause AS p ON p.nth = n.nth WHERE p.gap_ns >= 1000000
    UNION ALL
    SELECT n.nth, 5, '#' || n.nth || ': it ended by ' || b.broken_by || '.'
    FROM numbered AS n JOIN begun AS b ON b.nth = n.nth WHERE b.broken_by IS NOT NULL
    UNION ALL
    SELECT n.nth, 6, '#' || n.nth || ': in its whole life it moved '
           || format('{:,}', n.total_in + n.total_out)
           || ' bytes, more than the trace holds (it is older, or events are missing).'
    FROM numbered AS n WHERE n.total_in + n.total_out > n.bytes
)
ORDER BY nth, place
-- section  events table optional
-- heading  Events
-- out      "#"          id
-- out      "Time (s)"   number(6)
-- out      Event        text(60)
-- out      Times        count      In a row.
-- out      Detail       text(80)   Of the first.
SELECT nth, min(ts_ns) / 1e9, any_value(what), count(*), arg_min(detail, (ts_ns, seq))
FROM (
    SELECT *, row_number() OVER (PARTITION BY nth ORDER BY ts_ns, seq)
              - row_number() OVER (PARTITION BY nth, what ORDER BY ts_ns, seq) AS run
    FROM stack_event
)
GROUP BY nth, what, run
ORDER BY nth, min(ts_ns), any_value(what)
LIMIT 100
-- section  life table optional
-- heading  Traffic in tenths of its life
-- out      "#"           id
-- out      "From (s)"    number(6)
-- out      "Recv Bytes"  bytes
-- out      "Send Bytes"  bytes
SELECT n.nth, (n.first_ns + part * greatest(1, n.last_ns - n.first_ns) // 10) / 1e9,
       coalesce(sum(m.bytes) FILTER (m.direction = 'receive'), 0)::BIGINT,
       coalesce(sum(m.bytes) FILTER (m.direction = 'send'), 0)::BIGINT
FROM numbered AS n
JOIN (SELECT m.*,
             least(9, (m.ts_ns - n.first_ns) * 10 // greatest(1, n.last_ns - n.first_ns)) AS part
      FROM moved AS m JOIN numbered AS n ON n.nth = m.nth) AS m ON m.nth = n.nth
GROUP BY n.nth, part, n.first_ns, n.last_ns
ORDER BY n.nth, part
