-- Captured packets: NDIS-PacketCapture, Ras-NdisWan, PktMon.

CREATE VIEW pktmon_component AS
SELECT id, any_value(type) AS type, any_value(name) AS name, any_value(description) AS description
FROM (
    SELECT event_field_i64(class_id, payload, 'Id') AS id,
           event_field_text(class_id, payload, 'Type') AS type,
           event_field_text(class_id, payload, 'Name') AS name,
           event_field_text(class_id, payload, 'Description') AS description
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
