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
by_packet AS (
    SELECT s.ts_ns AS start_ns, min(a.ts_ns) - s.ts_ns AS latency_ns, NULL::UINTEGER AS upid,
           NULL::UINTEGER AS pid, 'SYN to SYN-ACK in captured packets' AS source
    FROM packet AS s
    LEFT JOIN packet AS a
        ON a.src = s.dst AND a.dst = s.src AND a.sport = s.dport AND a.dport = s.sport
           AND a.protocol = 'tcp' AND a.flags & 18 = 18 AND a.ack = (s.seq + 1) % 4294967296
           AND a.ts_ns >= s.ts_ns
    WHERE s.protocol = 'tcp' AND s.flags & 18 = 2 AND NOT s.is_repeat
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
