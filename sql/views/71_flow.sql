-- TCP and UDP traffic: events of three providers, each number from one of them.

-- A process by its number and a time: the lives of one pid, end to end.
CREATE TABLE process_life AS
SELECT upid, pid, from_ns,
       coalesce(lead(from_ns) OVER (PARTITION BY pid ORDER BY from_ns, upid),
                9223372036854775807) AS until_ns
FROM (
    SELECT upid, pid,
           CASE WHEN row_number() OVER (PARTITION BY pid ORDER BY coalesce(start_ns, -1), upid) = 1
                THEN -9223372036854775807 ELSE coalesce(start_ns, 0) END AS from_ns
    FROM process
);

-- Events of one provider, captured frames aside.
CREATE MACRO provider_events(provider_guid) AS TABLE
SELECT d.ts_ns, d.seq, d.cpu, d.pid AS header_pid, d.tid, d.upid AS header_upid, d.utid,
       d.activity_id, d.related_activity_id, d.class_id, d.payload, c.id, c.version, c.keyword
FROM event_data AS d
JOIN event_class AS c ON c.class_id = d.class_id
JOIN provider AS p ON p.provider_id = c.provider_id
WHERE p.guid = provider_guid::UUID;

-- Socket addresses in one spelling: no scope, IPv4 that travels in IPv6 as IPv4.
CREATE MACRO socket_text(address) AS
    CASE WHEN contains(address, '%') OR starts_with(address, '[::ffff:')
         THEN regexp_replace(regexp_replace(address, '%[0-9]+\]', ']'),
                             '^\[::ffff:([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)\]', '\1')
         ELSE address END;
CREATE MACRO socket_join(address, port) AS
    CASE WHEN contains(address, ':') THEN '[' || address || ']' ELSE address END || ':' || port;
CREATE MACRO socket_port(address) AS
    try_cast(regexp_extract(address, ':([0-9]+)$', 1) AS INTEGER);
CREATE MACRO socket_address(address) AS
    replace(replace(regexp_replace(address, ':[0-9]+$', ''), '[', ''), ']', '');
CREATE MACRO real_pid(pid) AS
    CASE WHEN pid::BIGINT IN (0, 4294967295) THEN NULL ELSE pid::UINTEGER END;

-- Who: by name, else by number.
CREATE MACRO owner_name(process, pid) AS coalesce(process, 'pid ' || pid, 'unknown');
CREATE MACRO owner_label(process, pid) AS
    CASE WHEN pid IS NULL OR process = 'pid ' || pid THEN process
         ELSE process || ' (' || pid || ')' END;

-- The kernel's TcpIp and UdpIp classes and their manifest twin Kernel-Network.
CREATE TABLE kernel_net_event AS
WITH twin AS (
    SELECT *, id >= 42 AND id NOT IN (49) AS is_udp,
           CASE WHEN id IN (42, 43, 58, 59) THEN id - CASE WHEN id >= 58 THEN 48 ELSE 32 END
                WHEN id >= 26 THEN id - 16 ELSE id END AS base
    FROM provider_events('7dd42a49-5329-4832-8dfd-43d979153a88')
    WHERE id BETWEEN 10 AND 34 OR id IN (42, 43, 58, 59)
),
read AS (
    SELECT ts_ns, seq, cpu, is_udp,
           ['send', 'receive', 'connect', 'disconnect', 'retransmit', 'accept', 'reconnect', 'fail',
            'copy'][base - 9] AS kind,
           event_field_i64(class_id, payload, 'PID') AS pid,
           event_field_i64(class_id, payload, 'size') AS bytes,
           event_field_text(class_id, payload, 'saddr') AS saddr,
           event_field_text(class_id, payload, 'daddr') AS daddr,
           event_field_i64(class_id, payload, 'sport') AS sport,
           event_field_i64(class_id, payload, 'dport') AS dport
    FROM twin WHERE base <> 17
),
placed AS (
    SELECT ts_ns, seq, cpu, is_udp, kind, real_pid(pid) AS pid, bytes,
           CASE WHEN is_udp AND kind = 'receive' THEN socket_join(daddr, dport)
                ELSE socket_join(saddr, sport) END AS local,
           CASE WHEN is_udp AND kind = 'receive' THEN socket_join(saddr, sport)
                ELSE socket_join(daddr, dport) END AS remote
    FROM read
)
SELECT e.ts_ns, e.seq, e.cpu, e.is_udp, e.kind, e.bytes, e.local, e.remote, e.pid, l.upid,
       'kernel_network' AS source
FROM placed AS e
LEFT JOIN process_life AS l
    ON l.pid = e.pid AND e.ts_ns >= l.from_ns AND e.ts_ns < l.until_ns
UNION ALL
SELECT ts_ns, seq, cpu, false, kind, bytes, socket_join(local_address, local_port),
       socket_join(remote_address, remote_port), real_pid(pid),
       CASE WHEN real_pid(pid) IS NOT NULL THEN upid END,
       'kernel'
FROM tcp_event WHERE kind NOT IN ('fail')
UNION ALL
SELECT ts_ns, seq, cpu, true, kind, bytes, socket_join(local_address, local_port),
       socket_join(remote_address, remote_port), real_pid(pid),
       CASE WHEN real_pid(pid) IS NOT NULL THEN upid END,
       'kernel'
FROM udp_event WHERE kind NOT IN ('fail');

-- Microsoft-Windows-TCPIP: what tells of a connection. Its data events are tcp_data_event.
CREATE TABLE tcpip_event AS
WITH picked AS (
    SELECT * FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
    WHERE id IN (1002, 1004, 1017, 1031, 1033, 1034, 1038, 1039, 1040, 1043, 1044, 1045, 1046, 1047,
                 1048, 1077, 1184, 1185, 1186, 1187, 1200, 1201, 1300, 1351, 1382, 1418, 1419, 1420,
                 1421, 1468, 1477, 1481, 1555)
)
SELECT ts_ns, seq, cpu, id, version, class_id,
       event_field_u64(class_id, payload, 'Tcb') AS tcb,
       CASE WHEN id NOT IN (1077, 1351)
            THEN socket_text(event_field_text(class_id, payload, 'LocalAddress')) END AS local,
       CASE WHEN id NOT IN (1077, 1351)
            THEN socket_text(event_field_text(class_id, payload, 'RemoteAddress')) END AS remote,
       CASE WHEN id IN (1017, 1031, 1033, 1034, 1038, 1039, 1040, 1043, 1044, 1045)
            THEN real_pid(event_field_i64(class_id, payload, 'ProcessId'))
            WHEN id = 1300 THEN real_pid(event_field_i64(class_id, payload, 'Pid')) END AS pid,
       CASE WHEN id IN (1002, 1382) THEN real_pid(header_pid) END AS caller_pid,
       CASE WHEN id IN (1017, 1031, 1033, 1034, 1045)
            THEN event_field_i64(class_id, payload, 'Status') END AS status,
       CASE WHEN id IN (1418, 1419, 1420, 1421, 1481)
            THEN event_field_i64(class_id, payload, 'BytesToSend') END AS bytes,
       CASE WHEN id = 1382 THEN event_field_text(class_id, payload, 'DnsName') END AS host,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'DataBytesOut') END AS total_out,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'DataBytesIn') END AS total_in,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'BytesRetrans') END
           AS bytes_retransmitted,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'Timeouts') END AS timeouts,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'RttUs') END AS rtt_us,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'MinRttUs') END AS min_rtt_us
FROM picked;

-- The bytes it moves: 1332 and 1073 sent, 1074 received. No addresses (before version 5 of 1332),
-- and the process id of the header is not the owner's.
CREATE TABLE tcp_data_event AS
SELECT ts_ns, seq, cpu, id, event_field_u64(class_id, payload, 'Tcb') AS tcb,
       CASE WHEN id = 1332 THEN event_field_i64(class_id, payload, 'BytesSent')
            ELSE event_field_i64(class_id, payload, 'NumBytes') END AS bytes,
       CASE WHEN id = 1074 AND version >= 1
            THEN greatest(1, event_field_i64(class_id, payload, 'NumPkt')) ELSE 1 END AS packets,
       CASE WHEN id = 1332 THEN event_field_i64(class_id, payload, 'Cwnd') END AS cwnd
FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
WHERE id IN (1073, 1074, 1332);

-- What an event of the stack says of a connection.
CREATE MACRO tcp_event_name(id) AS
    CASE id WHEN 1002 THEN 'connect requested' WHEN 1004 THEN 'SYN sent'
            WHEN 1017 THEN 'accepted' WHEN 1031 THEN 'connecting' WHEN 1033 THEN 'connected'
            WHEN 1034 THEN 'connect failed' WHEN 1038 THEN 'closed by the application'
            WHEN 1039 THEN 'abort (RST sent)' WHEN 1040 THEN 'abort complete'
            WHEN 1043 THEN 'disconnect complete' WHEN 1044 THEN 'shut down'
            WHEN 1045 THEN 'connect timed out' WHEN 1046 THEN 'retransmission timeout'
            WHEN 1047 THEN 'keep-alive timeout' WHEN 1048 THEN 'disconnect timeout'
            WHEN 1073 THEN 'sent' WHEN 1332 THEN 'sent' WHEN 1074 THEN 'received'
            WHEN 1077 THEN 'retransmission round' WHEN 1351 THEN 'retransmission round'
            WHEN 1184 THEN 'RST received' WHEN 1185 THEN 'SYN received on the connection'
            WHEN 1186 THEN 'SYN retransmitted' WHEN 1187 THEN 'data retransmitted'
            WHEN 1200 THEN 'zero-window timeout' WHEN 1201 THEN 'FIN-WAIT-2 timeout'
            WHEN 1300 THEN 'in the rundown' WHEN 1382 THEN 'name resolved'
            WHEN 1468 THEN 'aborted by the stack' WHEN 1477 THEN 'totals written'
            WHEN 1555 THEN 'aborted by an administrator'
            WHEN 1418 THEN 'sent in recovery' WHEN 1419 THEN 'sent in recovery'
            WHEN 1420 THEN 'sent in recovery' WHEN 1421 THEN 'sent in recovery'
            WHEN 1481 THEN 'recovery step' ELSE 'event ' || id END;

-- Where 1332 names addresses (version 5): its rows at which the addresses of a Tcb change.
CREATE TABLE tcp_data_pair AS
WITH named AS (
    SELECT ts_ns, seq, event_field_u64(class_id, payload, 'Tcb') AS tcb,
           socket_text(event_field_text(class_id, payload, 'LocalAddress')) AS local,
           socket_text(event_field_text(class_id, payload, 'RemoteAddress')) AS remote
    FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
    WHERE id = 1332 AND version >= 5
),
pair AS (
    SELECT tcb, local, remote, min((ts_ns, seq)) AS first FROM named
    WHERE tcb <> 0 AND local IS NOT NULL GROUP BY tcb, local, remote
),
several AS (SELECT tcb FROM pair GROUP BY tcb HAVING count(*) > 1)
SELECT tcb, first[1] AS ts_ns, first[2] AS seq, local, remote FROM pair
WHERE tcb NOT IN (SELECT tcb FROM several)
UNION ALL
SELECT tcb, ts_ns, seq, local, remote
FROM (SELECT *, lag((local, remote)) OVER (PARTITION BY tcb ORDER BY ts_ns, seq) AS before
      FROM named WHERE local IS NOT NULL AND tcb IN (SELECT tcb FROM several))
WHERE before IS DISTINCT FROM (local, remote);

-- With the number of the life of its Tcb: the allocator reuses the pointer. A connect or an accept
-- begins a life, and so does another pair of addresses. The addresses of 1002 are not final.
-- Only events that name addresses can tell; there are few of them.
CREATE TABLE tcb_mark AS
WITH named AS (
    SELECT tcb, ts_ns, seq, id, local, remote FROM tcpip_event
    WHERE tcb <> 0 AND (local IS NOT NULL OR id IN (1002, 1017))
    UNION ALL
    SELECT tcb, ts_ns, seq, 1332, local, remote FROM tcp_data_pair
),
opened AS (
    SELECT *, CASE WHEN id <> 1002 THEN local || '|' || remote END AS pair,
           sum(CASE WHEN id IN (1002, 1017) THEN 1 ELSE 0 END)
               OVER (PARTITION BY tcb ORDER BY ts_ns, seq) AS opens
    FROM named
),
paired AS (
    SELECT *, last_value(pair IGNORE NULLS)
                  OVER (PARTITION BY tcb, opens ORDER BY ts_ns, seq
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS pair_before
    FROM opened
)
SELECT tcb, ts_ns, seq, id, local, remote,
       tcb::VARCHAR || '.' || opens || '.'
           || sum(CASE WHEN pair <> pair_before THEN 1 ELSE 0 END)
                  OVER (PARTITION BY tcb, opens ORDER BY ts_ns, seq) AS life
FROM paired;

-- The lives of each Tcb and when they begin; the first, 0.0, has no beginning. is_alone: the Tcb has
-- no other, so its events need no search.
CREATE TABLE tcb_span AS
WITH marked AS (
    SELECT tcb, life, min(ts_ns) AS from_ns FROM tcb_mark GROUP BY tcb, life
),
loose AS (
    SELECT tcb, min(ts_ns) AS first_ns
    FROM (SELECT tcb, ts_ns FROM tcp_data_event
          UNION ALL
          SELECT tcb, ts_ns FROM tcpip_event WHERE local IS NULL AND id NOT IN (1002, 1017))
    WHERE tcb <> 0 GROUP BY tcb
),
span AS (
    SELECT tcb, life, CASE WHEN life = tcb || '.0.0' THEN -9223372036854775807
                           ELSE from_ns END AS from_ns FROM marked
    UNION ALL
    SELECT l.tcb, l.tcb || '.0.0', -9223372036854775807
    FROM loose AS l
    LEFT JOIN (SELECT tcb, min(from_ns) AS from_ns, bool_or(life = tcb || '.0.0') AS has_first
               FROM marked GROUP BY tcb) AS m ON m.tcb = l.tcb
    WHERE m.tcb IS NULL OR NOT m.has_first AND l.first_ns < m.from_ns
)
SELECT tcb, life, from_ns, row_number() OVER (ORDER BY tcb, from_ns, life) AS number,
       count(*) OVER (PARTITION BY tcb) = 1 AS is_alone
FROM span;

-- Events of connections with their life; data aside.
CREATE TABLE tcb_event AS
SELECT e.*, m.life
FROM tcpip_event AS e
JOIN tcb_mark AS m ON m.tcb = e.tcb AND m.ts_ns = e.ts_ns AND m.seq = e.seq AND m.id = e.id
UNION ALL
SELECT e.*, s.life
FROM tcpip_event AS e
ASOF JOIN tcb_span AS s ON s.tcb = e.tcb AND s.from_ns <= e.ts_ns
WHERE e.tcb <> 0 AND e.local IS NULL AND e.id NOT IN (1002, 1017);

-- Data with the number of its life.
CREATE TABLE tcp_data_reused AS
SELECT d.*, s.number
FROM (SELECT * FROM tcp_data_event WHERE tcb IN (SELECT tcb FROM tcb_span WHERE NOT is_alone)) AS d
ASOF JOIN tcb_span AS s ON s.tcb = d.tcb AND s.from_ns <= d.ts_ns;
CREATE VIEW tcp_data AS
SELECT d.*, s.number
FROM tcp_data_event AS d JOIN tcb_span AS s ON s.tcb = d.tcb AND s.is_alone
UNION ALL
SELECT * FROM tcp_data_reused;
CREATE TABLE tcp_data_total AS
SELECT number, CASE WHEN id = 1074 THEN 'receive' ELSE 'send' END AS direction,
       min(ts_ns) AS first_ns, max(ts_ns) AS last_ns, sum(bytes)::BIGINT AS bytes,
       sum(packets) FILTER (bytes IS NOT NULL)::BIGINT AS packets, count(bytes) AS events,
       min(ts_ns) FILTER (bytes IS NOT NULL) AS first_data_ns,
       max(ts_ns) FILTER (bytes IS NOT NULL) AS last_data_ns, max(cwnd) AS cwnd_max
FROM tcp_data GROUP BY ALL;

-- Where each number comes from.
CREATE TABLE net_source AS
WITH seen AS (
    SELECT 'tcp' AS protocol, CASE WHEN id = 1074 THEN 'receive' ELSE 'send' END AS direction,
           'tcpip' AS source, 1 AS rank
    FROM tcp_data_event GROUP BY ALL
    UNION ALL
    SELECT 'tcp', 'retransmit', 'tcpip', 1
    FROM tcpip_event
    WHERE id IN (1077, 1186, 1187, 1351, 1418, 1419, 1420, 1421, 1481) GROUP BY ALL
    UNION ALL
    SELECT 'udp', kind, 'tcpip', 1 FROM udp_message GROUP BY ALL
    UNION ALL
    SELECT CASE WHEN is_udp THEN 'udp' ELSE 'tcp' END, kind, source,
           CASE source WHEN 'kernel_network' THEN 2 ELSE 3 END
    FROM kernel_net_event WHERE kind IN ('send', 'receive', 'retransmit') GROUP BY ALL
)
SELECT protocol, direction, arg_min(source, rank) AS source FROM seen GROUP BY ALL;

-- How a source is named in a result.
CREATE MACRO net_source_name(source) AS
    CASE source WHEN 'tcpip' THEN 'Microsoft-Windows-TCPIP'
                WHEN 'kernel_network' THEN 'Microsoft-Windows-Kernel-Network'
                WHEN 'kernel' THEN 'the kernel''s TcpIp and UdpIp events' END;

-- Datagrams of Microsoft-Windows-TCPIP. On receive, local and remote are sometimes swapped: the
-- port that the same endpoint sends from is the local one.
CREATE TABLE udp_message AS
WITH read AS (
    SELECT ts_ns, seq, cpu, CASE WHEN id = 1169 THEN 'send' ELSE 'receive' END AS kind,
           event_field_u64(class_id, payload, 'Endpoint') AS endpoint,
           event_field_i64(class_id, payload, 'NumMessages') AS messages,
           event_field_i64(class_id, payload, 'NumBytes') AS bytes,
           socket_text(event_field_text(class_id, payload, 'LocalSockAddr')) AS local,
           socket_text(event_field_text(class_id, payload, 'RemoteSockAddr')) AS remote,
           real_pid(event_field_i64(class_id, payload, 'Pid')) AS pid
    FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
    WHERE id IN (1169, 1170)
),
own AS (
    SELECT endpoint, max(socket_port(local)) AS port
    FROM read WHERE kind = 'send' GROUP BY endpoint HAVING count(DISTINCT socket_port(local)) = 1
),
turned AS (
    SELECT r.*, r.kind = 'receive' AND o.port IS NOT NULL AND socket_port(r.remote) = o.port
                    AND socket_port(r.local) <> o.port AS swapped
    FROM read AS r LEFT JOIN own AS o ON o.endpoint = r.endpoint
)
SELECT t.ts_ns, t.seq, t.cpu, t.kind, t.endpoint, t.messages, t.bytes, t.pid, l.upid,
       CASE WHEN swapped THEN remote ELSE local END AS local,
       CASE WHEN swapped THEN local ELSE remote END AS remote
FROM turned AS t
LEFT JOIN process_life AS l
    ON l.pid = t.pid AND t.ts_ns >= l.from_ns AND t.ts_ns < l.until_ns;

-- Lives of Tcbs: who, where, how it ended.
CREATE TABLE tcb_life AS
WITH address AS (
    SELECT life, coalesce(arg_max(local, ts_ns) FILTER (id <> 1002 AND local IS NOT NULL),
                          any_value(local)) AS local,
           coalesce(arg_max(remote, ts_ns) FILTER (id <> 1002 AND remote IS NOT NULL),
                    any_value(remote)) AS remote
    FROM tcb_mark GROUP BY life
),
told AS (
    SELECT life, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           coalesce(arg_max(pid, ts_ns) FILTER (pid IS NOT NULL),
                    arg_max(caller_pid, ts_ns) FILTER (caller_pid IS NOT NULL)) AS pid,
           max(host) AS host,
           bool_or(id IN (1039, 1040, 1046, 1047, 1048, 1184, 1185, 1200, 1201, 1468, 1555))
               AS was_reset,
           bool_or(id IN (1038, 1043, 1044, 1477)) AS was_closed,
           bool_or(id IN (1034, 1045)) AS failed,
           bool_and(id = 1300) AS only_rundown, max(total_out) AS total_out,
           max(total_in) AS total_in, max(bytes_retransmitted) AS bytes_retransmitted,
           max(timeouts) AS timeouts, max(rtt_us) AS rtt_us, max(min_rtt_us) AS min_rtt_us
    FROM tcb_event GROUP BY life
),
moved AS (
    SELECT number, min(first_ns) AS first_ns, max(last_ns) AS last_ns, max(cwnd_max) AS cwnd_max
    FROM tcp_data_total GROUP BY number
),
life AS (
    SELECT s.life, s.tcb, s.number, least(t.first_ns, m.first_ns) AS first_ns,
           greatest(t.last_ns, m.last_ns) AS last_ns, a.local, a.remote, t.pid, t.host,
           coalesce(t.was_reset, false) AS was_reset, coalesce(t.was_closed, false) AS was_closed,
           coalesce(t.failed, false) AS failed,
           coalesce(t.only_rundown, false) AND m.number IS NULL AS only_rundown, m.cwnd_max,
           t.total_out, t.total_in, t.bytes_retransmitted, t.timeouts, t.rtt_us, t.min_rtt_us
    FROM tcb_span AS s
    LEFT JOIN told AS t ON t.life = s.life
    LEFT JOIN moved AS m ON m.number = s.number
    LEFT JOIN address AS a ON a.life = s.life
    WHERE t.life IS NOT NULL OR m.number IS NOT NULL
)
SELECT f.*, l.upid
FROM life AS f
LEFT JOIN process_life AS l
    ON l.pid = f.pid AND f.last_ns >= l.from_ns AND f.last_ns < l.until_ns;

-- Lives of tuples of the kernel events: a connect or an accept begins one.
CREATE TABLE kernel_tcp_event AS
SELECT *, source || '|' || local || '|' || remote || '|'
              || sum(CASE WHEN kind IN ('connect', 'accept') THEN 1 ELSE 0 END)
                     OVER (PARTITION BY source, local, remote ORDER BY ts_ns, seq) AS life
FROM kernel_net_event WHERE NOT is_udp;

-- Bytes and packets as they moved, of one source per direction. TCPIP comes first where it has any.
CREATE VIEW net_data AS
SELECT e.ts_ns, e.cpu, 'tcp' AS protocol,
       CASE WHEN e.id = 1074 THEN 'receive' ELSE 'send' END AS direction, l.pid, l.upid, e.bytes,
       e.packets, l.local, l.remote, l.life AS flow, 'tcpip' AS source
FROM tcp_data AS e
JOIN tcb_life AS l ON l.number = e.number
WHERE e.bytes IS NOT NULL
UNION ALL
SELECT * FROM other_net_data;
CREATE TABLE other_net_data AS
SELECT e.ts_ns, e.cpu, 'tcp' AS protocol, s.direction, e.pid, e.upid, e.bytes, 1 AS packets,
       e.local, e.remote, e.life AS flow, s.source
FROM kernel_tcp_event AS e
JOIN net_source AS s ON s.protocol = 'tcp' AND s.source = e.source AND s.direction = e.kind
WHERE e.kind IN ('send', 'receive')
UNION ALL
SELECT e.ts_ns, e.cpu, 'udp', e.kind, e.pid, e.upid, e.bytes, e.messages, e.local, e.remote,
       e.endpoint::VARCHAR || '|' || coalesce(e.remote, '*'), s.source
FROM udp_message AS e
JOIN net_source AS s ON s.protocol = 'udp' AND s.source = 'tcpip' AND s.direction = e.kind
UNION ALL
SELECT e.ts_ns, e.cpu, 'udp', e.kind, e.pid, e.upid, e.bytes, 1, e.local, e.remote,
       coalesce(e.pid, 0)::VARCHAR || '|' || e.local || '|' || e.remote, s.source
FROM kernel_net_event AS e
JOIN net_source AS s ON s.protocol = 'udp' AND s.source = e.source AND s.direction = e.kind
WHERE e.is_udp;

-- Their sums by flow and direction.
CREATE TABLE net_flow AS
SELECT 'tcp' AS protocol, t.direction, l.life AS flow, l.local, l.remote, l.pid, l.upid,
       'tcpip' AS source, t.first_data_ns AS first_ns, t.last_data_ns AS last_ns, t.bytes,
       t.packets, t.events
FROM tcp_data_total AS t JOIN tcb_life AS l ON l.number = t.number
WHERE t.events > 0
UNION ALL
SELECT protocol, direction, flow, local, remote, pid, upid, source, min(ts_ns), max(ts_ns),
       sum(bytes)::BIGINT, sum(packets)::BIGINT, count(*)
FROM other_net_data
GROUP BY protocol, direction, flow, local, remote, pid, upid, source;

-- Retransmissions, once each: timeouts of data and of SYNs, and segments sent in recovery.
CREATE TABLE tcp_retransmit AS
WITH has AS (
    SELECT bool_or(id = 1187) AS timeouts, bool_or(id IN (1418, 1419, 1420, 1421)) AS recovery
    FROM tcpip_event
)
SELECT e.ts_ns, e.life AS flow,
       CASE WHEN e.id = 1186 THEN 'SYN' WHEN e.id IN (1077, 1187, 1351) THEN 'RTO' ELSE 'Fast' END
           AS kind,
       CASE WHEN e.id >= 1418 THEN e.bytes END AS bytes, 'tcpip' AS source
FROM tcb_event AS e, has AS h
WHERE (e.id IN (1186, 1187, 1418, 1419, 1420, 1421)
       OR e.id IN (1077, 1351) AND NOT h.timeouts
       OR e.id = 1481 AND NOT h.recovery AND e.bytes > 0)
  AND 'tcpip' = (SELECT source FROM net_source
                 WHERE protocol = 'tcp' AND direction = 'retransmit')
UNION ALL
SELECT ts_ns, life, 'unknown', bytes, source
FROM kernel_tcp_event
WHERE kind = 'retransmit'
  AND source = (SELECT source FROM net_source
                WHERE protocol = 'tcp' AND direction = 'retransmit');

-- The provider that connections are taken from: the first that recorded data, else the first that
-- recorded connections.
CREATE TABLE tcp_source AS
SELECT arg_min(source, rank) AS source
FROM (
    SELECT source, CASE source WHEN 'tcpip' THEN 1 WHEN 'kernel_network' THEN 2 ELSE 3 END AS rank
    FROM net_source WHERE protocol = 'tcp' AND direction IN ('send', 'receive')
    UNION ALL (SELECT 'tcpip', 4 FROM tcpip_event LIMIT 1)
    UNION ALL
    SELECT source, CASE source WHEN 'kernel_network' THEN 5 ELSE 6 END
    FROM kernel_tcp_event GROUP BY source
)
HAVING count(*) > 0;

-- Connections: one row per life.
CREATE TABLE tcp_connection AS
WITH life AS (
    SELECT life AS flow, tcb, local, remote, pid, upid, first_ns, last_ns, host,
           CASE WHEN failed THEN 'failed' WHEN was_reset THEN 'reset' WHEN was_closed THEN 'closed'
                WHEN only_rundown THEN 'rundown' ELSE 'open' END AS state,
           rtt_us, min_rtt_us, cwnd_max, timeouts, total_out, total_in, bytes_retransmitted
    FROM tcb_life WHERE (SELECT source FROM tcp_source) = 'tcpip'
    UNION ALL
    SELECT life, NULL, any_value(local), any_value(remote),
           arg_max(pid, ts_ns) FILTER (pid IS NOT NULL),
           arg_max(upid, ts_ns) FILTER (upid IS NOT NULL), min(ts_ns), max(ts_ns), NULL,
           CASE WHEN bool_or(kind = 'disconnect') THEN 'closed' ELSE 'open' END,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM kernel_tcp_event
    WHERE source = (SELECT source FROM tcp_source)
    GROUP BY life
),
data AS (
    SELECT flow, sum(bytes) FILTER (direction = 'receive')::BIGINT AS bytes_received,
           sum(bytes) FILTER (direction = 'send')::BIGINT AS bytes_sent,
           sum(packets)::BIGINT AS packets,
           coalesce(sum(packets) FILTER (direction = 'send'), 0)::BIGINT AS packets_sent
    FROM net_flow WHERE protocol = 'tcp' GROUP BY flow
),
lost AS (
    SELECT flow, count(*) AS retransmits, count(*) FILTER (kind = 'SYN') AS syn,
           count(*) FILTER (kind = 'RTO') AS rto, count(*) FILTER (kind = 'Fast') AS fast,
           sum(bytes)::BIGINT AS bytes, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
    FROM tcp_retransmit GROUP BY flow
),
has AS (
    SELECT bool_or(direction = 'send') AS send, bool_or(direction = 'receive') AS receive,
           bool_or(direction = 'retransmit') AS retransmit
    FROM net_source
    WHERE protocol = 'tcp' AND source = (SELECT source FROM tcp_source)
),
numbered AS (
    SELECT *, row_number() OVER (PARTITION BY local, remote ORDER BY first_ns, flow) AS nth
    FROM life
)
SELECT n.flow, n.tcb, n.local, n.remote, n.upid, owner_name(p.process, n.pid) AS process, n.pid,
       CASE WHEN n.local IS NULL
            THEN '<unknown>' || coalesce(' tcb ' || hex_text(n.tcb), '')
            ELSE n.local || ' <-> ' || n.remote || CASE WHEN nth > 1 THEN ' #' || nth ELSE '' END
       END AS tuple,
       n.first_ns, n.last_ns, n.state, n.host, n.rtt_us, n.min_rtt_us, n.cwnd_max,
       n.timeouts, n.total_out, n.total_in, n.bytes_retransmitted,
       CASE WHEN h.receive THEN coalesce(d.bytes_received, 0) END AS bytes_received,
       CASE WHEN h.send THEN coalesce(d.bytes_sent, 0) END AS bytes_sent,
       coalesce(d.bytes_received, 0) + coalesce(d.bytes_sent, 0) AS bytes,
       coalesce(d.packets, 0) AS packets, coalesce(d.packets_sent, 0) AS packets_sent,
       -- TCPIP tells of them under a keyword of its own: none at all may mean not recorded.
       CASE WHEN h.retransmit OR (SELECT source FROM tcp_source) <> 'tcpip'
            THEN coalesce(l.retransmits, 0) END AS retransmits,
       coalesce(l.syn, 0) AS syn,
       coalesce(l.rto, 0) AS rto, coalesce(l.fast, 0) AS fast,
       coalesce(n.bytes_retransmitted, l.bytes) AS retransmitted_bytes,
       l.first_ns AS first_lost_ns, l.last_ns AS last_lost_ns
FROM numbered AS n
LEFT JOIN has AS h ON true
LEFT JOIN data AS d ON d.flow = n.flow
LEFT JOIN lost AS l ON l.flow = n.flow
LEFT JOIN process_name AS p ON p.upid = n.upid;
