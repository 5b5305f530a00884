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

-- Events of one provider.
CREATE MACRO provider_events(provider_guid) AS TABLE
SELECT d.ts_ns, d.seq, d.cpu, d.pid AS header_pid, d.tid, d.upid AS header_upid, d.utid,
       d.activity_id, d.related_activity_id, d.class_id, d.payload, c.id, c.version, c.keyword
FROM event_data AS d
JOIN event_class AS c ON c.class_id = d.class_id
JOIN provider AS p ON p.provider_id = c.provider_id
WHERE p.guid = provider_guid::UUID;

-- Socket addresses in one spelling: no scope, IPv4 that travels in IPv6 as IPv4.
CREATE MACRO socket_text(address) AS
    regexp_replace(regexp_replace(address, '%[0-9]+\]', ']'),
                   '^\[::ffff:([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)\]', '\1');
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

-- Microsoft-Windows-TCPIP: what tells of a connection and what it moves. The data events carry no
-- addresses and a process id that is not the owner's.
CREATE TABLE tcpip_event AS
WITH picked AS (
    SELECT * FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
    WHERE id IN (1002, 1004, 1017, 1031, 1033, 1034, 1038, 1039, 1040, 1043, 1044, 1045, 1046, 1047,
                 1048, 1073, 1074, 1077, 1184, 1185, 1186, 1187, 1200, 1201, 1300, 1332, 1351, 1382,
                 1418, 1419, 1420, 1421, 1468, 1477, 1481, 1555)
)
SELECT ts_ns, seq, cpu, id, version, class_id,
       event_field_u64(class_id, payload, 'Tcb') AS tcb,
       CASE WHEN id NOT IN (1073, 1074, 1077, 1351) AND (id <> 1332 OR version >= 5)
            THEN socket_text(event_field_text(class_id, payload, 'LocalAddress')) END AS local,
       CASE WHEN id NOT IN (1073, 1074, 1077, 1351) AND (id <> 1332 OR version >= 5)
            THEN socket_text(event_field_text(class_id, payload, 'RemoteAddress')) END AS remote,
       CASE WHEN id IN (1017, 1031, 1033, 1034, 1038, 1039, 1040, 1043, 1044, 1045)
            THEN real_pid(event_field_i64(class_id, payload, 'ProcessId'))
            WHEN id = 1300 THEN real_pid(event_field_i64(class_id, payload, 'Pid')) END AS pid,
       CASE WHEN id IN (1002, 1382) THEN real_pid(header_pid) END AS caller_pid,
       CASE WHEN id IN (1017, 1031, 1033, 1034, 1045)
            THEN event_field_i64(class_id, payload, 'Status') END AS status,
       CASE WHEN id = 1332 THEN event_field_i64(class_id, payload, 'BytesSent')
            WHEN id IN (1073, 1074) THEN event_field_i64(class_id, payload, 'NumBytes')
            WHEN id IN (1418, 1419, 1420, 1421, 1481)
                THEN event_field_i64(class_id, payload, 'BytesToSend') END AS bytes,
       CASE WHEN id = 1074 AND version >= 1
            THEN greatest(1, event_field_i64(class_id, payload, 'NumPkt')) ELSE 1 END AS packets,
       CASE WHEN id = 1332 THEN event_field_i64(class_id, payload, 'Cwnd') END AS cwnd,
       CASE WHEN id = 1382 THEN event_field_text(class_id, payload, 'DnsName') END AS host,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'DataBytesOut') END AS total_out,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'DataBytesIn') END AS total_in,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'BytesRetrans') END
           AS bytes_retransmitted,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'Timeouts') END AS timeouts,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'RttUs') END AS rtt_us,
       CASE WHEN id = 1477 THEN event_field_i64(class_id, payload, 'MinRttUs') END AS min_rtt_us
FROM picked;

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

-- With the number of the life of its Tcb: the allocator reuses the pointer. A connect or an accept
-- begins a life, and so does another pair of addresses. The addresses of 1002 are not final.
-- Only events that name addresses can tell; there are few of them.
CREATE TABLE tcb_mark AS
WITH named AS (
    SELECT tcb, ts_ns, seq, id, local || '|' || remote AS pair
    FROM tcpip_event
    WHERE tcb <> 0 AND id <> 1332 AND (local IS NOT NULL OR id IN (1002, 1017))
    UNION ALL
    SELECT tcb, ts_ns, seq, id, pair
    FROM (
        SELECT tcb, ts_ns, seq, id, local || '|' || remote AS pair,
               lag(local || '|' || remote) OVER (PARTITION BY tcb ORDER BY ts_ns, seq) AS before
        FROM tcpip_event WHERE tcb <> 0 AND id = 1332 AND local IS NOT NULL
    )
    WHERE pair IS DISTINCT FROM before
),
opened AS (
    SELECT * REPLACE (CASE WHEN id <> 1002 THEN pair END AS pair),
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
SELECT tcb, ts_ns, seq, id,
       tcb::VARCHAR || '.' || opens || '.'
           || sum(CASE WHEN pair <> pair_before THEN 1 ELSE 0 END)
                  OVER (PARTITION BY tcb, opens ORDER BY ts_ns, seq) AS life
FROM paired;

CREATE TABLE tcb_event AS
SELECT e.*, m.life
FROM tcpip_event AS e
JOIN tcb_mark AS m ON m.tcb = e.tcb AND m.ts_ns = e.ts_ns AND m.seq = e.seq AND m.id = e.id
WHERE e.id <> 1332
UNION ALL
SELECT e.*, coalesce(m.life, e.tcb::VARCHAR || '.0.0')
FROM tcpip_event AS e
ASOF LEFT JOIN (SELECT tcb, life, min(ts_ns) AS ts_ns FROM tcb_mark GROUP BY tcb, life) AS m
    ON m.tcb = e.tcb AND m.ts_ns <= e.ts_ns
WHERE e.tcb <> 0 AND (e.id = 1332 OR e.local IS NULL AND e.id NOT IN (1002, 1017));

-- Where each number comes from.
CREATE TABLE net_source AS
WITH seen AS (
    SELECT 'tcp' AS protocol, CASE WHEN id = 1074 THEN 'receive' ELSE 'send' END AS direction,
           'tcpip' AS source, 1 AS rank
    FROM tcpip_event WHERE id IN (1073, 1074, 1332) GROUP BY ALL
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
WITH life AS (
    SELECT life, tcb, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           coalesce(arg_max(local, ts_ns) FILTER (id <> 1002 AND local IS NOT NULL),
                    any_value(local)) AS local,
           coalesce(arg_max(remote, ts_ns) FILTER (id <> 1002 AND remote IS NOT NULL),
                    any_value(remote)) AS remote,
           coalesce(arg_max(pid, ts_ns) FILTER (pid IS NOT NULL),
                    arg_max(caller_pid, ts_ns) FILTER (caller_pid IS NOT NULL)) AS pid,
           max(host) AS host,
           bool_or(id IN (1039, 1040, 1046, 1047, 1048, 1184, 1185, 1200, 1201, 1468, 1555))
               AS was_reset,
           bool_or(id IN (1038, 1043, 1044, 1477)) AS was_closed,
           bool_or(id IN (1034, 1045)) AS failed,
           bool_and(id = 1300) AS only_rundown,
           max(cwnd) AS cwnd_max, max(total_out) AS total_out, max(total_in) AS total_in,
           max(bytes_retransmitted) AS bytes_retransmitted, max(timeouts) AS timeouts,
           max(rtt_us) AS rtt_us, max(min_rtt_us) AS min_rtt_us
    FROM tcb_event GROUP BY life, tcb
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

-- Bytes and packets as they moved, of one source per direction.
CREATE TABLE net_data AS
SELECT e.ts_ns, e.cpu, 'tcp' AS protocol, s.direction, l.pid, l.upid, e.bytes, e.packets, l.local,
       l.remote, e.life AS flow, s.source
FROM tcb_event AS e
JOIN tcb_life AS l ON l.life = e.life
JOIN net_source AS s ON s.protocol = 'tcp' AND s.source = 'tcpip'
     AND s.direction = CASE WHEN e.id = 1074 THEN 'receive'
                            WHEN e.id IN (1073, 1332) THEN 'send' END
WHERE e.bytes IS NOT NULL
UNION ALL
SELECT e.ts_ns, e.cpu, 'tcp', s.direction, e.pid, e.upid, e.bytes, 1, e.local, e.remote, e.life,
       s.source
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
    UNION ALL SELECT 'tcpip', 4 FROM tcpip_event GROUP BY ALL
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
    SELECT flow, min(ts_ns) AS first_data_ns, max(ts_ns) AS last_data_ns,
           sum(bytes) FILTER (direction = 'receive')::BIGINT AS bytes_received,
           sum(bytes) FILTER (direction = 'send')::BIGINT AS bytes_sent,
           sum(packets)::BIGINT AS packets,
           coalesce(sum(packets) FILTER (direction = 'send'), 0)::BIGINT AS packets_sent
    FROM net_data WHERE protocol = 'tcp' GROUP BY flow
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
