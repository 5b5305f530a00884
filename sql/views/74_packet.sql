-- Captured packets: NDIS-PacketCapture, Ras-NdisWan, PktMon.

CREATE VIEW pktmon_component AS
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

-- Every record of PktMon that carries a frame, or a part of one: one per appearance of a packet.
CREATE TABLE pktmon_frame AS
WITH picked AS (
    SELECT * FROM provider_events('4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac')
    WHERE id IN (160, 170, 240)
)
SELECT ts_ns, seq, cpu, id AS event_id,
       event_field_u64(class_id, payload, 'PktGroupId') AS group_id,
       event_field_i64(class_id, payload, 'PktNumber') AS number,
       event_field_i64(class_id, payload, 'AppearanceCount') AS appearance,
       event_field_i64(class_id, payload, 'DirTag') AS dir_tag,
       event_field_i64(class_id, payload, 'PacketType')::UINTEGER AS media,
       event_field_i64(class_id, payload, 'ComponentId') AS component,
       event_field_i64(class_id, payload, 'EdgeId') AS edge,
       event_field_i64(class_id, payload, 'DropReason') AS drop_reason,
       event_field_text(class_id, payload, 'DropReason') AS drop_text,
       event_field_text(class_id, payload, 'DropLocation') AS drop_location,
       event_field_i64(class_id, payload, 'OriginalPayloadSize') AS original,
       blob_slice(payload, 34::UINTEGER,
                  event_field_i64(class_id, payload, 'LoggedPayloadSize')::UINTEGER) AS bytes
FROM picked;

-- 1 and 2 in and out of the host, 3 and 4 receive and transmit, 5 and 6 ingress and egress.
CREATE MACRO pktmon_direction(dir_tag) AS
    CASE WHEN dir_tag IN (1, 3, 5) THEN 'receive' WHEN dir_tag IN (2, 4, 6) THEN 'send' END;

CREATE TABLE pktmon_drop AS
SELECT f.ts_ns, f.event_id, component_label(f.component, c.name, c.description) AS component,
       CASE WHEN f.drop_text = f.drop_reason::VARCHAR THEN 'reason ' || f.drop_reason
            ELSE f.drop_text || ' (' || f.drop_reason || ')' END AS reason,
       f.drop_location AS location, f.original, p.protocol, p.tuple
FROM (SELECT *, packet_decode(bytes, media, original::UINTEGER) AS p FROM pktmon_frame
      WHERE event_id <> 160) AS f
LEFT JOIN pktmon_component AS c ON c.id = f.component
UNION ALL
-- Drops with parsed headers only.
SELECT e.ts_ns, e.id, component_label(e.component, c.name, c.description),
       CASE WHEN e.reason_text = e.reason::VARCHAR THEN 'reason ' || e.reason
            ELSE e.reason_text || ' (' || e.reason || ')' END,
       e.location, e.original, protocol_name(e.protocol),
       e.source || ':' || e.sport || ' -> ' || e.target || ':' || e.dport || '/'
           || protocol_name(e.protocol)
FROM (
    SELECT ts_ns, id, event_field_i64(class_id, payload, 'ComponentId') AS component,
           event_field_i64(class_id, payload, 'DropReason') AS reason,
           event_field_text(class_id, payload, 'DropReason') AS reason_text,
           event_field_text(class_id, payload, 'DropLocation') AS location,
           event_field_i64(class_id, payload, 'OriginalPayloadSize') AS original,
           event_field_i64(class_id, payload, 'Protocol') AS protocol,
           event_field_text(class_id, payload, 'SourceIP') AS source,
           event_field_text(class_id, payload, 'DestinationIP') AS target,
           event_field_i64(class_id, payload, 'SourcePort') AS sport,
           event_field_i64(class_id, payload, 'DestinationPort') AS dport
    FROM provider_events('4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac')
    WHERE id IN (140, 150, 210, 230)
) AS e
LEFT JOIN pktmon_component AS c ON c.id = e.component;

-- Frames of NDIS-PacketCapture and of the WAN capture. What is data in a keyword: 0x40000000 a
-- packet starts, 0x80000000 it ends, 0x100000000 sent, 0x200000000 received, 0x10000 802.11, 0x200
-- and 0x8000 no link header.
CREATE TABLE ndis_frame AS
WITH fragment AS (
    SELECT ts_ns, seq, cpu, tid, id, keyword::HUGEINT::BIGINT AS keyword,
           CASE WHEN id < 5000 THEN event_field_i64(class_id, payload, 'MiniportIfIndex') END
               AS miniport,
           CASE WHEN id < 5000 THEN event_field_i64(class_id, payload, 'LowerIfIndex') END
               AS lower_if,
           CASE WHEN id = 1001
                THEN blob_slice(payload, 12::UINTEGER,
                                event_field_i64(class_id, payload, 'FragmentSize')::UINTEGER)
                ELSE unhex(substr(event_field_text(class_id, payload, 'Fragment'), 3)) END AS bytes
    FROM (
        SELECT * REPLACE (keyword & 281474976710655 AS keyword)
        FROM provider_events('2ed6006e-4729-4609-b423-3ee7bcd678ef')
        WHERE id IN (1001, 1003)
        UNION ALL
        SELECT * REPLACE (keyword & 281474976710655 AS keyword)
        FROM provider_events('d84521f7-2235-4237-a7c0-14e3a9676286')
        WHERE id IN (5001, 5002)
    )
),
marked AS MATERIALIZED (
    SELECT *, id > 5000 OR keyword & 1073741824 <> 0 OR NOT bool_or(keyword & 3221225472 <> 0)
                  OVER (PARTITION BY id > 5000) AS starts,
           id > 5000 OR keyword & 2147483648 <> 0 OR NOT bool_or(keyword & 3221225472 <> 0)
                  OVER (PARTITION BY id > 5000) AS ends
    FROM fragment
),
numbered AS (
    SELECT *, sum(CASE WHEN starts THEN 1 ELSE 0 END)
                  OVER (PARTITION BY id, miniport, lower_if, tid ORDER BY ts_ns, seq) AS number
    FROM marked
    WHERE NOT (SELECT bool_and(starts AND ends) FROM marked)
),
joined AS (
    -- Since Windows 8.1 every packet is one event.
    SELECT ts_ns, seq, cpu, id, miniport, lower_if, keyword, bytes FROM marked
    WHERE (SELECT bool_and(starts AND ends) FROM marked)
    UNION ALL
    SELECT min(ts_ns), arg_min(seq, ts_ns), arg_min(cpu, ts_ns), id, miniport, lower_if,
           bit_or(keyword), list_reduce(list(bytes ORDER BY ts_ns, seq), lambda a, b: a || b)
    FROM numbered
    WHERE number > 0
    GROUP BY id, miniport, lower_if, tid, number
    HAVING bool_or(ends)
)
SELECT ts_ns, seq, cpu, id, miniport, lower_if,
       CASE WHEN id = 5001 OR keyword & 4294967296 <> 0 THEN 'send'
            WHEN id = 5002 OR keyword & 8589934592 <> 0 THEN 'receive' END AS direction,
       CASE WHEN id > 5000 OR keyword & 33280 <> 0 THEN 3
            WHEN keyword & 65536 <> 0 THEN 2 ELSE 1 END::UINTEGER AS media,
       bytes
FROM joined;

-- The layer of each miniport that counts: the lowest one seen.
CREATE TABLE ndis_layer AS
SELECT id, miniport,
       CASE WHEN bool_or(lower_if = miniport) THEN miniport ELSE min(lower_if) END AS counted,
       count(DISTINCT lower_if) AS layers
FROM ndis_frame WHERE id < 5000 GROUP BY id, miniport;

-- Every captured frame, decoded. is_repeat: the same packet as a frame before, seen elsewhere.
CREATE TABLE packet AS
WITH frame AS (
    SELECT f.ts_ns, f.seq AS event_seq, f.cpu,
           CASE WHEN f.id > 5000 THEN 'wan' ELSE 'ndis' END AS source,
           f.direction, f.media, 0::UINTEGER AS original, f.bytes,
           CASE WHEN f.id > 5000 THEN 'WAN' ELSE 'interface ' || f.miniport
                || CASE WHEN f.lower_if <> f.miniport THEN ' layer ' || f.lower_if ELSE '' END
           END AS place,
           coalesce(f.miniport, 0) AS interface_number,
           coalesce(f.lower_if <> l.counted, false)
               OR f.id = 1003 AND EXISTS (SELECT 1 FROM ndis_layer WHERE id = 1001) AS is_repeat,
           NULL::UBIGINT AS group_id, NULL::BIGINT AS number, NULL::VARCHAR AS dropped
    FROM ndis_frame AS f
    LEFT JOIN ndis_layer AS l ON l.id = f.id AND l.miniport = f.miniport
    UNION ALL
    SELECT f.ts_ns, f.seq, f.cpu, 'pktmon', pktmon_direction(f.dir_tag), f.media,
           f.original::UINTEGER, f.bytes,
           component_label(f.component, c.name, c.description) || ' edge ' || f.edge, f.component,
           row_number() OVER (PARTITION BY f.group_id, f.number
                              ORDER BY f.appearance, f.ts_ns, f.seq) > 1,
           f.group_id, f.number,
           CASE WHEN f.event_id <> 160 THEN f.drop_text || ' at ' || f.drop_location END
    FROM pktmon_frame AS f
    LEFT JOIN pktmon_component AS c ON c.id = f.component
    WHERE f.bytes IS NOT NULL AND f.media IS NOT NULL
),
flat AS (
    SELECT row_number() OVER (ORDER BY ts_ns, cpu, event_seq) AS packet_id, *,
           unnest(packet_decode(bytes, media, original))
    FROM frame
),
-- A later fragment has no transport header: it takes the tuple of the first one.
first_fragment AS (
    SELECT src, dst, ip_proto, ip_id, ts_ns, tuple, sport, dport FROM flat
    WHERE more_fragments = 1 AND fragment_offset = 0
),
later AS (
    SELECT l.packet_id, f.tuple, f.sport, f.dport
    FROM (SELECT * FROM flat WHERE fragment_offset > 0) AS l
    ASOF JOIN first_fragment AS f
        ON f.src = l.src AND f.dst = l.dst AND f.ip_proto = l.ip_proto AND f.ip_id = l.ip_id
           AND f.ts_ns <= l.ts_ns
)
SELECT p.* REPLACE (coalesce(f.tuple, p.tuple) AS tuple, coalesce(f.sport, p.sport) AS sport,
                    coalesce(f.dport, p.dport) AS dport)
FROM flat AS p LEFT JOIN later AS f ON f.packet_id = p.packet_id;

CREATE MACRO tcp_flags_text(flags) AS
    array_to_string(list_filter(
        [CASE WHEN flags & 1 <> 0 THEN 'FIN' END, CASE WHEN flags & 2 <> 0 THEN 'SYN' END,
         CASE WHEN flags & 4 <> 0 THEN 'RST' END, CASE WHEN flags & 8 <> 0 THEN 'PSH' END,
         CASE WHEN flags & 16 <> 0 THEN 'ACK' END, CASE WHEN flags & 32 <> 0 THEN 'URG' END,
         CASE WHEN flags & 64 <> 0 THEN 'ECE' END, CASE WHEN flags & 128 <> 0 THEN 'CWR' END],
        lambda x: x IS NOT NULL), ',');

-- Who has a pair of addresses, from the TCP and UDP events of the trace.
CREATE TABLE tuple_owner AS
SELECT protocol, local, remote, arg_max(owner_label(process, pid), n) AS owner
FROM (
    SELECT d.protocol, d.local, d.remote, owner_name(p.process, d.pid) AS process, d.pid,
           count(*) AS n
    FROM net_data AS d LEFT JOIN process_name AS p ON p.upid = d.upid
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
