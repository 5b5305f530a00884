-- tool     get_quic_ack_delays
-- title    QUIC acknowledgement times
-- headline **QUIC ACK Delays**
-- group    http
-- place    5
-- about    Time from a sent QUIC packet to its acknowledgement, per connection and packet number
--          space: round trip plus the peer's delay.
-- example  get_quic_ack_delays(trace_id="...")
-- param    top_n           integer  30 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    quic
-- note     Measured: PacketSent to PacketACKed of one packet number, which is the round trip plus the peer's acknowledgement delay (MsQuic logs no delay field). Min is close to the round trip of the path; Excess p99 = p99 - Min; HIGH from 25,000 us of excess.
-- common
packet_of AS (
    SELECT life, id, ts_ns, number,
           CASE type WHEN 1 THEN 'Initial' WHEN 3 THEN 'Handshake' WHEN 2 THEN 'Application'
                     WHEN 5 THEN 'Application' END AS space
    FROM quic_event WHERE id IN (5164, 5167)
),
pair AS MATERIALIZED (
    SELECT a.life, a.space, a.ts_ns - s.ts_ns AS delay_ns
    FROM (SELECT * FROM packet_of WHERE id = 5167 AND space IS NOT NULL) AS a
    ASOF JOIN (SELECT * FROM packet_of WHERE id = 5164) AS s
        ON s.life = a.life AND s.space = a.space AND s.number = a.number AND s.ts_ns <= a.ts_ns
)
-- section  main table
-- cap      top_n
-- out      ConnectionId        hex
-- out      Process             text(60)
-- out      Space               text
-- out      Acks                count
-- out      "p50 (us)"          us
-- out      "p99 (us)"          us~
-- out      "p999 (us)"         us~
-- out      "Min (us)"          us
-- out      "Excess p99 (us)"   us~
-- out      Flag                text
-- empty    No sent packet could be matched with its acknowledgement (they need the Packet keyword and level 5).
SELECT q.connection, owner_label(q.process, q.pid), p.space, count(*),
       quantile_cont(delay_ns, 0.5), quantile_cont(delay_ns, 0.99), count(*) < 100,
       quantile_cont(delay_ns, 0.999), count(*) < 1000, min(delay_ns),
       quantile_cont(delay_ns, 0.99) - min(delay_ns), count(*) < 100,
       CASE WHEN quantile_cont(delay_ns, 0.99) - min(delay_ns) >= 25000000 THEN 'HIGH' END
FROM pair AS p JOIN quic_connection AS q ON q.life = p.life
WHERE process_hits(q.process, q.pid, $process_filter)
GROUP BY q.connection, q.process, q.pid, q.life, p.space
ORDER BY quantile_cont(delay_ns, 0.99) - min(delay_ns) DESC, q.connection, q.life, p.space
