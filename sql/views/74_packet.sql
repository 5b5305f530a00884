-- Captured packets: NDIS-PacketCapture, Ras-NdisWan, PktMon.

CREATE TABLE pktmon_component AS
SELECT id, any_value(type) AS type, any_value(name) AS name, any_value(description) AS description
FROM (
    SELECT event_field_i64(class_id, payload, 'Id') AS id,
           event_field_text(class_id, payload, 'Type') AS type,
           nullif(event_field_text(class_id, payload, 'Name'), 'NULL') AS name,
           nullif(event_field_text(class_id, payload, 'Description'), 'NULL') AS description
    FROM provider_events('4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac') AS e
    WHERE e.id IN (20, 270, 280)
)
GROUP BY id;

CREATE MACRO component_label(number, name, description) AS
    CASE WHEN nullif(description, '') IS NOT NULL AND nullif(name, '') IS NOT NULL
              AND name <> description THEN description || ' (' || name || ')'
         ELSE coalesce(nullif(description, ''), nullif(name, ''), 'Component ' || number) END;

-- Which kinds of records there are. Joined in front of a scan, a kind that is absent costs nothing.
CREATE TABLE capture_kind AS
SELECT source, event_id, interface, layer, direction, group_id IS NULL AS is_loose,
       frame_at IS NULL AS is_header, starts, ends, fragment_offset > 0 AS is_later, count(*) AS n
FROM captured_frame
GROUP BY source, event_id, interface, layer, direction, group_id IS NULL, frame_at IS NULL, starts,
         ends, fragment_offset > 0;

-- Records of PktMon that report a drop; their reasons and places by name.
CREATE MACRO is_pktmon_drop(event_id) AS event_id IN (140, 150, 170, 210, 230, 240);
CREATE TABLE pktmon_drop_name AS
SELECT f.class_id, f.drop_reason, f.drop_location,
       any_value(event_field_text(f.class_id, f.payload, 'DropReason')) AS reason,
       any_value(event_field_text(f.class_id, f.payload, 'DropLocation')) AS location
FROM captured_frame AS f
JOIN (SELECT DISTINCT event_id FROM capture_kind
      WHERE source = 'pktmon' AND is_pktmon_drop(event_id)) AS k ON k.event_id = f.event_id
WHERE f.source = 'pktmon'
GROUP BY f.class_id, f.drop_reason, f.drop_location;

-- Names of interfaces, where the capture lists its sources.
CREATE TABLE ndis_interface AS
SELECT event_field_i64(class_id, payload, 'IfIndex') AS if_index,
       max(event_field_text(class_id, payload, 'SourceName')) AS name
FROM provider_events('2ed6006e-4729-4609-b423-3ee7bcd678ef') AS e
WHERE e.id = 5101
GROUP BY if_index;

-- The layer of each miniport that counts: the lowest one seen.
CREATE TABLE ndis_layer AS
SELECT event_id AS id, interface AS miniport,
       CASE WHEN bool_or(layer = interface) THEN interface ELSE min(layer) END AS counted,
       count(DISTINCT layer) AS layers
FROM capture_kind WHERE source = 'ndis' GROUP BY event_id, interface;

-- The same packet as one before, seen elsewhere: at another layer of NDIS, at another component of
-- PktMon. PktMon records without identity count at the place of each direction that has most.
CREATE TABLE packet_repeat AS
SELECT f.seq
FROM captured_frame AS f
JOIN (SELECT l.*, id = 1003 AND EXISTS (SELECT 1 FROM ndis_layer WHERE id = 1001) AS none_counts
      FROM ndis_layer AS l) AS l
    ON l.id = f.event_id AND l.miniport = f.interface AND (l.layers > 1 OR l.none_counts)
WHERE f.source = 'ndis' AND (f.layer <> l.counted OR l.none_counts)
UNION ALL
SELECT seq FROM (
    SELECT f.seq, row_number() OVER (PARTITION BY f.group_id, f.number
                                     ORDER BY f.appearance, f.frame_at IS NULL, f.ts_ns, f.seq) AS nth
    FROM captured_frame AS f
    JOIN (SELECT DISTINCT source FROM capture_kind
          WHERE source = 'pktmon' AND NOT is_loose) AS k ON k.source = f.source
    WHERE f.group_id IS NOT NULL
)
WHERE nth > 1
UNION ALL
SELECT f.seq
FROM captured_frame AS f
JOIN (SELECT 'pktmon' AS source, direction, arg_max((interface, layer), (n, interface, layer)) AS place
      FROM (SELECT direction, interface, layer, sum(n) AS n FROM capture_kind
            WHERE source = 'pktmon' AND is_loose GROUP BY ALL)
      GROUP BY direction) AS b
    ON b.source = f.source AND b.direction IS NOT DISTINCT FROM f.direction
       AND b.place <> (f.interface, f.layer)
WHERE f.group_id IS NULL;

-- Records that are no packet as they stand: parts of frames (before Windows 8.1; then all of them are
-- read anew), later fragments, and headers of a frame that was also logged whole.
CREATE TABLE packet_part AS
SELECT f.seq FROM captured_frame AS f
JOIN (SELECT DISTINCT source FROM capture_kind
      WHERE source = 'ndis' AND NOT (starts AND ends)) AS k ON k.source = f.source
UNION
SELECT f.seq FROM captured_frame AS f
JOIN (SELECT DISTINCT source FROM capture_kind WHERE is_later) AS k ON k.source = f.source
WHERE f.fragment_offset > 0
UNION
SELECT h.seq
FROM (SELECT f.* FROM captured_frame AS f
      JOIN (SELECT DISTINCT source FROM capture_kind WHERE is_header) AS k ON k.source = f.source
      WHERE f.frame_at IS NULL) AS h
SEMI JOIN captured_frame AS f
    ON f.source = h.source AND f.frame_at IS NOT NULL AND f.group_id = h.group_id
       AND f.number = h.number AND f.appearance = h.appearance AND f.interface = h.interface
       AND f.layer = h.layer;

-- The columns of packets that one record has.
CREATE VIEW frame_record AS
SELECT seq AS packet_id, ts_ns, seq AS event_seq, cpu, class_id, source, event_id, direction, media,
       original, interface, layer, group_id, number::BIGINT AS number, appearance, drop_reason,
       drop_location, vlan_id, ip_version::BIGINT AS ip_version, protocol,
       ip_proto::BIGINT AS ip_proto, src, dst, sport::BIGINT AS sport, dport::BIGINT AS dport,
       tcp_seq::BIGINT AS seq, tcp_ack::BIGINT AS ack, tcp_flags::BIGINT AS flags,
       tcp_window::BIGINT AS tcp_window, window_scale::BIGINT AS window_scale,
       payload_length::BIGINT AS payload_length, payload_hash, ip_id::BIGINT AS ip_id,
       dont_fragment::BIGINT AS dont_fragment, more_fragments::BIGINT AS more_fragments,
       fragment_offset::BIGINT AS fragment_offset, checksum::BIGINT AS checksum,
       icmp_type::BIGINT AS icmp_type, icmp_code::BIGINT AS icmp_code,
       wire_length::BIGINT AS wire_length, tuple, application, server_name,
       quic_version::BIGINT AS quic_version, dcid, scid, truncated_at, malformed, captured,
       blob_slice(payload, frame_at, captured) AS bytes
FROM captured_frame;

-- Those records themselves; few, where frames come whole.
CREATE TABLE packet_part_record AS
SELECT f.ts_ns, f.seq, f.tid, f.starts, f.ends
FROM captured_frame AS f SEMI JOIN packet_part ON packet_part.seq = f.seq;

-- What they make: frames joined from their parts and decoded, and fragments behind a first one, which
-- have no transport header and take the tuple of the first.
CREATE TABLE packet_rest AS
WITH mark AS (
    SELECT 'ndis' AS source, bool_or(starts OR ends) AS any_mark FROM capture_kind
    WHERE source = 'ndis' HAVING bool_or(NOT (starts AND ends))
),
record AS (
    SELECT r.*, p.tid, p.starts, p.ends
    FROM packet_part_record AS p JOIN frame_record AS r ON r.packet_id = p.seq AND r.ts_ns = p.ts_ns
),
part AS (
    SELECT r.*, r.starts OR NOT m.any_mark AS begins, r.ends OR NOT m.any_mark AS finishes
    FROM record AS r JOIN mark AS m ON m.source = r.source
),
numbered AS (
    SELECT *, sum(CASE WHEN begins THEN 1 ELSE 0 END)
                  OVER (PARTITION BY event_id, interface, layer, tid
                        ORDER BY ts_ns, packet_id) AS nth
    FROM part
),
joined AS (
    SELECT min(ts_ns) AS ts_ns, arg_min(packet_id, ts_ns) AS packet_id, arg_min(cpu, ts_ns) AS cpu,
           arg_min(class_id, ts_ns) AS class_id, event_id, interface, layer,
           CASE WHEN bool_or(direction = 'send') THEN 'send'
                WHEN bool_or(direction = 'receive') THEN 'receive' END AS direction,
           CASE WHEN bool_or(media = 3) THEN 3 WHEN bool_or(media = 2) THEN 2 ELSE 1 END::UINTEGER
               AS media,
           max(vlan_id) AS vlan_id,
           list_reduce(list(bytes ORDER BY ts_ns, packet_id), lambda a, b: a || b) AS bytes
    FROM numbered
    WHERE nth > 0
    GROUP BY event_id, interface, layer, tid, nth
    HAVING bool_or(finishes)
),
decoded AS (
    SELECT *, packet_id AS event_seq, 'ndis' AS source, 0::UINTEGER AS original,
           octet_length(bytes)::UINTEGER AS captured,
           unnest(packet_decode(bytes, media, 0::UINTEGER))
    FROM joined
),
frame AS (
    SELECT * FROM decoded
    UNION ALL BY NAME
    SELECT * EXCLUDE (tid, starts, ends) FROM record
    WHERE fragment_offset > 0 AND source NOT IN (SELECT source FROM mark)
),
wanted AS (SELECT DISTINCT src, dst, ip_proto, ip_id FROM frame WHERE fragment_offset > 0),
first_fragment AS (
    SELECT src, dst, ip_proto, ip_id, f.ts_ns, f.tuple, f.sport, f.dport
    FROM frame_record AS f SEMI JOIN wanted USING (src, dst, ip_proto, ip_id)
    WHERE f.more_fragments = 1 AND f.fragment_offset = 0
    UNION ALL
    SELECT src, dst, ip_proto, ip_id, ts_ns, tuple, sport, dport FROM decoded
    WHERE more_fragments = 1 AND fragment_offset = 0
)
SELECT l.* REPLACE (CASE WHEN l.fragment_offset > 0 THEN coalesce(f.tuple, l.tuple)
                         ELSE l.tuple END AS tuple,
                    CASE WHEN l.fragment_offset > 0 THEN coalesce(f.sport, l.sport)
                         ELSE l.sport END AS sport,
                    CASE WHEN l.fragment_offset > 0 THEN coalesce(f.dport, l.dport)
                         ELSE l.dport END AS dport)
FROM frame AS l
ASOF LEFT JOIN first_fragment AS f
    ON f.src = l.src AND f.dst = l.dst AND f.ip_proto = l.ip_proto AND f.ip_id = l.ip_id
       AND f.ts_ns <= l.ts_ns;

-- Every captured packet, without the names of places: each join is paid by every row.
CREATE VIEW packet_base AS
SELECT p.*, r.seq IS NOT NULL AS is_repeat
FROM (
    SELECT * FROM frame_record ANTI JOIN packet_part ON packet_part.seq = frame_record.packet_id
    UNION ALL BY NAME
    SELECT * FROM packet_rest
) AS p
LEFT JOIN packet_repeat AS r ON r.seq = p.packet_id;

-- Every captured packet. is_repeat: the same packet as one before, seen elsewhere. packet_id and
-- event_seq: the seq of its (first) record. Only what a query names is read; bytes are the dear ones.
CREATE VIEW packet AS
SELECT p.*,
       CASE p.source WHEN 'pktmon'
            THEN component_label(p.interface, c.name, c.description) || ' edge ' || p.layer
            WHEN 'wan' THEN 'WAN'
            ELSE 'interface ' || p.interface
                 || CASE WHEN p.layer <> p.interface THEN ' layer ' || p.layer ELSE '' END
       END AS place,
       CASE p.source WHEN 'pktmon' THEN component_label(p.interface, c.name, c.description)
            WHEN 'wan' THEN 'WAN' ELSE coalesce(i.name, 'interface ' || p.interface) END AS adapter,
       coalesce(p.interface, 0) AS interface_number, d.reason || ' at ' || d.location AS dropped
FROM packet_base AS p
LEFT JOIN pktmon_component AS c ON c.id = p.interface
LEFT JOIN ndis_interface AS i ON i.if_index = p.interface
LEFT JOIN pktmon_drop_name AS d
    ON d.class_id = p.class_id AND d.drop_reason = p.drop_reason
       AND d.drop_location = p.drop_location;

CREATE TABLE pktmon_drop AS
SELECT p.ts_ns, p.event_id, component_label(p.interface, c.name, c.description) AS component,
       CASE WHEN d.reason = p.drop_reason::VARCHAR THEN 'reason ' || p.drop_reason
            ELSE d.reason || ' (' || p.drop_reason || ')' END AS reason,
       d.location, nullif(p.original, 0) AS original, p.protocol, p.tuple
FROM packet AS p
JOIN pktmon_drop_name AS d
    ON d.class_id = p.class_id AND d.drop_reason = p.drop_reason
       AND d.drop_location = p.drop_location
LEFT JOIN pktmon_component AS c ON c.id = p.interface;

-- Flows of captured packets, each packet once. Hash collisions aside (one in 10^13 at a million
-- packets), retransmissions are exact: data that begins and ends where other data of the flow does.
CREATE TABLE packet_flow AS
WITH segment AS (
    SELECT flow_hash, sum(n - 1)::BIGINT AS repeated
    FROM (SELECT hash(tuple) AS flow_hash,
                 seq::UBIGINT * 4294967296 + payload_length::UBIGINT AS part, count(*) AS n
          FROM packet_base WHERE protocol = 'tcp' AND payload_length > 0 AND NOT is_repeat GROUP BY ALL)
    GROUP BY flow_hash
),
flow AS (
    SELECT tuple, any_value(protocol) AS protocol, any_value(src) AS src, any_value(dst) AS dst,
           any_value(sport) AS sport, any_value(dport) AS dport,
           count(*) FILTER (direction = 'receive') AS received,
           count(*) FILTER (direction = 'send') AS sent, count(*) AS packets,
           sum(wire_length)::BIGINT AS bytes, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           bit_or(flags) AS flags, mode(application) AS application,
           max(server_name) AS server_name, mode(direction) AS direction
    FROM packet_base WHERE NOT is_repeat GROUP BY tuple
)
SELECT f.*, coalesce(s.repeated, 0) AS retransmits, f.protocol = 'tcp' AS is_tcp,
       CASE WHEN f.sport IS NOT NULL THEN socket_join(f.src, f.sport) END AS source,
       CASE WHEN f.dport IS NOT NULL THEN socket_join(f.dst, f.dport) END AS target
FROM flow AS f LEFT JOIN segment AS s ON s.flow_hash = hash(f.tuple);

-- What a trace holds of packets, in one row.
CREATE TABLE packet_count AS
SELECT count(*) AS records, count(*) FILTER (NOT is_repeat) AS packets,
       count(*) FILTER (is_repeat) AS repeats,
       count(*) FILTER (NOT is_repeat AND direction IS NULL) AS undirected,
       string_agg(DISTINCT CASE source WHEN 'pktmon' THEN 'PktMon' WHEN 'wan' THEN 'WAN capture'
                                       ELSE 'NDIS-PacketCapture' END, ', ') AS sources
FROM packet_base;

CREATE MACRO tcp_flags_text(flags) AS
    array_to_string(list_filter(
        [CASE WHEN flags & 1 <> 0 THEN 'FIN' END, CASE WHEN flags & 2 <> 0 THEN 'SYN' END,
         CASE WHEN flags & 4 <> 0 THEN 'RST' END, CASE WHEN flags & 8 <> 0 THEN 'PSH' END,
         CASE WHEN flags & 16 <> 0 THEN 'ACK' END, CASE WHEN flags & 32 <> 0 THEN 'URG' END,
         CASE WHEN flags & 64 <> 0 THEN 'ECE' END, CASE WHEN flags & 128 <> 0 THEN 'CWR' END],
        lambda x: x IS NOT NULL), ',');

-- Who has a pair of addresses, from the TCP and UDP events of the trace.
CREATE TABLE tuple_owner AS
SELECT protocol, local, remote, arg_max(owner_label(process, pid), n) AS owner,
       count(DISTINCT owner_label(process, pid)) AS owners
FROM (
    SELECT d.protocol, d.local, d.remote, owner_name(p.process, d.pid) AS process, d.pid,
           sum(d.events) AS n
    FROM net_flow AS d LEFT JOIN process_name AS p ON p.upid = d.upid
    WHERE d.local IS NOT NULL AND (d.pid IS NOT NULL OR d.upid IS NOT NULL) GROUP BY ALL
    UNION ALL
    SELECT 'tcp', local, remote, process, pid, 1 FROM tcp_connection
    WHERE local IS NOT NULL AND process <> 'unknown'
)
GROUP BY protocol, local, remote;

-- Addresses of a flow as people write them: "a:p -> b:q/proto", "a:p <-> b:q #2", "a:p-b:q",
-- "a:p b:q"; IPv6 with a port in brackets; a port may be "*" or left out. Fields are empty when it
-- cannot be read.
CREATE MACRO tuple_parts(flow) AS
    regexp_extract(
        flow,
        '(?i)^\s*(\[[0-9A-F:.]+\]|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|[0-9A-F]*:[0-9A-F:.]*|\*)'
            || '(?::([0-9]+|\*))?(?:\s*(?:<->|->|<-|-)\s*|\s+)'
            || '(\[[0-9A-F:.]+\]|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|[0-9A-F]*:[0-9A-F:.]*|\*)'
            || '(?::([0-9]+|\*))?(?:/([A-Z0-9-]+))?(?:\s+#[0-9]+)?\s*$',
        ['a', 'ap', 'b', 'bp', 'proto']);
CREATE MACRO end_hits(address, port, wanted, wanted_port) AS
    (wanted = '*' OR coalesce(address, '') = lower(replace(replace(wanted, '[', ''), ']', '')))
    AND (wanted_port IN ('', '*') OR port = try_cast(wanted_port AS BIGINT));
-- Either direction; NULL: every packet.
CREATE MACRO tuple_hits(src, sport, dst, dport, protocol, flow) AS
    flow IS NULL
    OR (tuple_parts(flow).proto IN ('', protocol)
        AND (end_hits(src, sport, tuple_parts(flow).a, tuple_parts(flow).ap)
             AND end_hits(dst, dport, tuple_parts(flow).b, tuple_parts(flow).bp)
             OR end_hits(dst, dport, tuple_parts(flow).a, tuple_parts(flow).ap)
                AND end_hits(src, sport, tuple_parts(flow).b, tuple_parts(flow).bp)));

-- Whose the captured flows are, and how sure that is. The local end is the source of what was sent.
CREATE TABLE packet_flow_owner AS
SELECT f.*, coalesce(a.owner, b.owner) AS owner,
       CASE coalesce(a.owners, b.owners) WHEN 1 THEN 'the only owner of these addresses'
            ELSE 'most events of ' || coalesce(a.owners, b.owners) || ' owners' END AS basis
FROM packet_flow AS f
LEFT JOIN tuple_owner AS a
    ON a.protocol = f.protocol AND a.local = f.source AND a.remote = f.target
       AND f.direction IS DISTINCT FROM 'receive'
LEFT JOIN tuple_owner AS b
    ON b.protocol = f.protocol AND b.local = f.target AND b.remote = f.source
       AND f.direction IS DISTINCT FROM 'send';
CREATE MACRO owner_hits(owner, process) AS
    process IS NULL OR owner IS NOT NULL AND process_hits(
        owner, regexp_extract(owner, '\(([0-9]+)\)$', 1), process);
