-- Time to establish connections.

-- Connects by the stack, else by the sockets, else on the wire. latency_ns is NULL for a failure.
CREATE TABLE connect_attempt AS
WITH stack AS (
    SELECT life, min(ts_ns) FILTER (id = 1002) AS start_ns,
           min(ts_ns) FILTER (id = 1033 AND status = 0) AS done_ns,
           min(ts_ns) FILTER (id IN (1034, 1045) OR id = 1033 AND status <> 0) AS failed_ns
    FROM tcb_event WHERE id IN (1002, 1033, 1034, 1045) GROUP BY life
),
by_stack AS (
    SELECT s.start_ns,
           CASE WHEN s.done_ns IS NOT NULL THEN s.done_ns - s.start_ns END AS latency_ns,
           l.upid, l.pid, 'TCPIP 1002 to 1033' AS source
    FROM stack AS s JOIN tcb_life AS l ON l.life = s.life
    WHERE s.start_ns IS NOT NULL AND (s.done_ns IS NOT NULL OR s.failed_ns IS NOT NULL)
),
call AS (
    SELECT endpoint, ts_ns, process_key FROM afd_event
    WHERE kind = 'connect' AND NOT is_exit AND endpoint <> 0
),
outcome AS (
    SELECT endpoint, ts_ns, status FROM afd_event
    WHERE kind = 'connect' AND is_exit AND endpoint <> 0 AND status <> 259
),
by_socket AS (
    SELECT c.ts_ns AS start_ns, CASE WHEN o.status = 0 THEN o.ts_ns - c.ts_ns END AS latency_ns,
           w.upid, w.pid, 'AFD connect enter to exit' AS source
    FROM outcome AS o
    ASOF JOIN call AS c ON c.endpoint = o.endpoint AND c.ts_ns <= o.ts_ns
    LEFT JOIN afd_owner AS w ON w.process_key = c.process_key
),
handshake AS MATERIALIZED (
    SELECT packet_id, ts_ns, src, dst, sport, dport, seq, ack, flags, is_repeat
    FROM packet_base WHERE protocol = 'tcp' AND flags & 2 <> 0
),
by_packet AS (
    SELECT s.ts_ns AS start_ns, min(a.ts_ns) - s.ts_ns AS latency_ns, NULL::UINTEGER AS upid,
           NULL::UINTEGER AS pid, 'SYN to SYN-ACK in captured packets' AS source
    FROM handshake AS s
    LEFT JOIN handshake AS a
        ON a.src = s.dst AND a.dst = s.src AND a.sport = s.dport AND a.dport = s.sport
           AND a.flags & 18 = 18 AND a.ack = (s.seq + 1) % 4294967296
           AND a.ts_ns >= s.ts_ns
    WHERE s.flags & 18 = 2 AND NOT s.is_repeat
    GROUP BY s.packet_id, s.ts_ns
)
SELECT x.*, owner_name(p.process, x.pid) AS process
FROM (
    SELECT * FROM by_stack
    UNION ALL
    SELECT * FROM by_socket WHERE NOT EXISTS (SELECT 1 FROM by_stack)
    UNION ALL
    SELECT * FROM by_packet
    WHERE NOT EXISTS (SELECT 1 FROM by_stack) AND NOT EXISTS (SELECT 1 FROM by_socket)
) AS x
LEFT JOIN process_name AS p ON p.upid = x.upid;

-- Accepts: from the connection's arrival (AFD indication, else the stack's accept) to the accept
-- call that hands it out, on the same listener and of the same remote address; without addresses, first
-- in first out.
CREATE TABLE accept_done AS
WITH arrived AS (
    SELECT endpoint, ts_ns, address, backlog,
           row_number() OVER (PARTITION BY endpoint ORDER BY ts_ns, seq) AS nth
    FROM afd_event
    WHERE kind = 'connect_indication' AND endpoint <> 0
      AND is_exit = (SELECT bool_and(is_exit) FROM afd_event WHERE kind = 'connect_indication')
),
handed AS (
    SELECT endpoint, ts_ns, address, backlog, process_key, status,
           row_number() OVER (PARTITION BY endpoint ORDER BY ts_ns, seq) AS nth
    FROM afd_event
    WHERE kind = 'accept' AND is_exit AND endpoint <> 0 AND status = 0
),
has AS (
    SELECT (SELECT count(*) FROM arrived) > 0 AS indications,
           (SELECT count(*) FROM arrived WHERE address IS NOT NULL) > 0
               AND (SELECT count(*) FROM handed WHERE address IS NOT NULL) > 0 AS addresses
),
by_address AS (
    SELECT a.ts_ns AS start_ns, h.ts_ns - a.ts_ns AS latency_ns, h.process_key,
           greatest(a.backlog, h.backlog) AS backlog, 'AFD indication to accept' AS source
    FROM handed AS h
    ASOF JOIN arrived AS a
        ON a.endpoint = h.endpoint AND a.address = h.address AND a.ts_ns <= h.ts_ns
    WHERE (SELECT indications AND addresses FROM has)
),
in_order AS (
    SELECT a.ts_ns, h.ts_ns - a.ts_ns, h.process_key, greatest(a.backlog, h.backlog),
           'AFD indication to accept, first in first out'
    FROM handed AS h JOIN arrived AS a ON a.endpoint = h.endpoint AND a.nth = h.nth
    WHERE (SELECT indications AND NOT addresses FROM has) AND h.ts_ns >= a.ts_ns
),
by_stack AS (
    SELECT t.ts_ns, h.ts_ns - t.ts_ns, h.process_key, h.backlog, 'TCPIP 1017 to AFD accept'
    FROM handed AS h
    ASOF JOIN (SELECT remote, ts_ns FROM tcpip_event WHERE id = 1017 AND status = 0) AS t
        ON t.remote = h.address AND t.ts_ns <= h.ts_ns
    WHERE (SELECT NOT indications FROM has)
)
SELECT x.*, o.upid, o.pid, coalesce(o.process, 'unknown') AS process
FROM (SELECT * FROM by_address UNION ALL SELECT * FROM in_order
      UNION ALL SELECT * FROM by_stack) AS x
LEFT JOIN afd_owner AS o ON o.process_key = x.process_key;

CREATE VIEW accept_failure AS
SELECT e.ts_ns, coalesce(o.process, 'unknown') AS process, o.pid
FROM afd_event AS e LEFT JOIN afd_owner AS o ON o.process_key = e.process_key
WHERE e.kind = 'accept' AND e.is_exit AND e.status NOT IN (0, 259);

-- Captured sends and the receives of the same packet. What makes a packet the same: TCP with
-- sequence, length and flags; else the IPv4 id where the sender counts it, else checksum, length and
-- first payload bytes. Only keys that have both are looked at further.
CREATE TABLE packet_key AS
WITH keyed AS (
    SELECT direction = 'send' AS is_sent, ts_ns, cpu, packet_id, tuple,
           hash(tuple, seq, ack, flags, payload_length,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) <> 0 THEN ip_id END,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) = 0 THEN checksum END,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) = 0 THEN payload_hash END,
                icmp_type, fragment_offset) AS key
    FROM packet_base
    WHERE NOT is_repeat AND direction IS NOT NULL AND ip_version IS NOT NULL AND tuple IS NOT NULL
)
SELECT * FROM keyed WHERE is_sent AND key IN (SELECT key FROM keyed WHERE NOT is_sent)
UNION ALL
SELECT * FROM keyed WHERE NOT is_sent AND key IN (SELECT key FROM keyed WHERE is_sent);

-- One row per packet that was sent and received: a receive matches the oldest unmatched send at most
-- 10 ms before it; each send is used once.
CREATE TABLE packet_match AS
WITH of_key AS (
    SELECT key, any_value(tuple) AS tuple, count(*) FILTER (is_sent) AS sends,
           count(*) FILTER (NOT is_sent) AS receives, min(ts_ns) FILTER (is_sent) AS sent_ns,
           min(ts_ns) FILTER (NOT is_sent) AS received_ns
    FROM packet_key GROUP BY key
),
-- Sends and receives of a key in time order; the state walks along them: the sends that wait, the
-- latencies that came out.
story AS (
    SELECT key, list(struct_pack(ts := ts_ns, sent := is_sent, waiting := []::BIGINT[],
                                 found := []::BIGINT[])
                     ORDER BY ts_ns, is_sent DESC, cpu, packet_id) AS events
    FROM packet_key
    WHERE key IN (SELECT key FROM of_key WHERE sends + receives > 2)
    GROUP BY key
),
walked AS (
    SELECT key,
           list_reduce(
               list_prepend(struct_pack(ts := 0::BIGINT, sent := false, waiting := []::BIGINT[],
                                        found := []::BIGINT[]), events),
               lambda state, event: CASE
                   WHEN event.sent
                       THEN struct_pack(ts := event.ts, sent := true,
                                        waiting := list_append(state.waiting, event.ts),
                                        found := state.found)
                   WHEN len(list_filter(state.waiting, lambda w: w >= event.ts - 10000000)) > 0
                       THEN struct_pack(
                           ts := event.ts, sent := false,
                           waiting := list_filter(state.waiting,
                                                  lambda w: w >= event.ts - 10000000)[2:],
                           found := list_append(state.found, event.ts
                               - list_filter(state.waiting, lambda w: w >= event.ts - 10000000)[1]))
                   ELSE state END).found AS found
    FROM story WHERE len(events) <= 256
    UNION ALL
    -- Very many packets that look the same: in order.
    SELECT key,
           list_filter(
               list_transform(
                   list_zip(list_transform(list_filter(events, lambda e: e.sent), lambda e: e.ts),
                            list_transform(list_filter(events, lambda e: NOT e.sent),
                                           lambda e: e.ts)),
                   lambda z: z[2] - z[1]),
               lambda d: d >= 0 AND d <= 10000000)
    FROM story WHERE len(events) > 256
)
SELECT tuple, key, received_ns - sent_ns AS latency_ns
FROM of_key
WHERE sends = 1 AND receives = 1 AND received_ns - sent_ns BETWEEN 0 AND 10000000
UNION ALL
SELECT k.tuple, w.key, unnest(w.found)
FROM walked AS w JOIN of_key AS k ON k.key = w.key;

-- Sends without a receive, and keys that several packets share.
CREATE TABLE packet_match_rest AS
SELECT (SELECT count(*) FROM packet_base
        WHERE NOT is_repeat AND direction = 'send' AND ip_version IS NOT NULL AND tuple IS NOT NULL)
           - (SELECT count(*) FROM packet_match) AS unmatched,
       (SELECT count(*)
        FROM (SELECT key FROM packet_key GROUP BY key
              HAVING count(*) FILTER (is_sent) > 1 AND count(*) FILTER (NOT is_sent) > 1)) AS alike;
