-- Dropped packets: one row per event that reports a drop, of every provider that does.

-- Reasons of TCPIP 1214 above the six that the provider names: PktMon numbers them 1200 + n.
CREATE MACRO transport_drop_reason(n) AS
    coalesce(list_extract(
        ['DestinationIsMulticast', 'HeaderIsInvalid', 'ChecksumIsInvalid',
         'TransportEndpointWasNotFound', 'ConnectedPathError', 'SessionStateError',
         'ReceiveInspection', 'AckInvalid', 'ExpectedSyn', 'Rst', 'SynRcvdSyn',
         'SimultaneousConnect', 'PawsFailed', 'LandAttack', 'MissedReset', 'OutsideWindow',
         'DuplicateSegment', 'ClosedWindow', 'TcbRemoved', 'FinWait2', 'ReassemblyConflict',
         'FinReceived', 'ListenerInvalidFlags', 'TcbNotInTcbTable',
         'TimeWaitTcbReceivedRstOutsideWindow', 'TimeWaitTcbSynAndOtherFlags', 'TimeWaitTcb',
         'SynAckWithFastopenCookieRequest', 'PauseAccept', 'SynAttack', 'AcceptInspection',
         'AcceptRedirection'], n::BIGINT) || ' (' || n || ')', 'reason ' || n);

CREATE MACRO protocol_name(n) AS
    CASE n::BIGINT WHEN 6 THEN 'tcp' WHEN 17 THEN 'udp' WHEN 1 THEN 'icmp' WHEN 58 THEN 'icmpv6'
                   ELSE 'proto-' || n END;

CREATE TABLE tcpip_drop AS
WITH picked AS (
    SELECT * FROM provider_events('2f07e2ee-15db-40f1-90ef-9d7ba282188a')
    WHERE id IN (1058, 1190, 1214, 1215, 1361, 1423, 1478, 1538, 1539, 1543)
)
SELECT ts_ns, id,
       CASE WHEN id IN (1214, 1215, 1478)
            THEN greatest(1, coalesce(event_field_i64(class_id, payload, 'PacketCount'), 1))
            WHEN id = 1058
            THEN greatest(1, coalesce(
                event_field_i64(class_id, payload, 'LandAttackSegmentsDropped'), 1))
            ELSE 1 END AS packets,
       CASE WHEN id = 1190 THEN event_field_i64(class_id, payload, 'NumBytes') END AS bytes,
       CASE id WHEN 1214 THEN transport_drop_reason(event_field_i64(class_id, payload, 'Reason'))
               WHEN 1215 THEN 'network: ' || event_field_text(class_id, payload, 'Reason')
               WHEN 1478 THEN 'framing: reason ' || event_field_i64(class_id, payload, 'Reason')
               WHEN 1423 THEN 'icmp: ' || event_field_text(class_id, payload, 'DropReason')
               WHEN 1190 THEN 'receiver closed'
               WHEN 1361 THEN 'clone dropped'
               WHEN 1058 THEN 'land attack'
               ELSE 'arp: reason ' || event_field_i64(class_id, payload, 'DropReason')
       END AS reason,
       CASE WHEN id = 1478 THEN event_field_i64(class_id, payload, 'Interface')
            WHEN id IN (1538, 1539, 1543) OR id IN (1215, 1423) AND version >= 1
            THEN event_field_i64(class_id, payload, 'IfIndex') END AS interface,
       CASE WHEN id IN (1214, 1215)
            THEN event_field_i64(class_id, payload, 'IPTransportProtocol') END AS protocol,
       CASE WHEN id = 1214 THEN socket_text(event_field_text(class_id, payload, 'LocalSockAddr'))
       END AS local,
       CASE WHEN id = 1214 THEN socket_text(event_field_text(class_id, payload, 'RemoteSockAddr'))
            WHEN id = 1215 THEN
                CASE WHEN event_field_i64(class_id, payload, 'SourceIPv4Address') <> 0
                     THEN event_field_text(class_id, payload, 'SourceIPv4Address')
                     ELSE event_field_text(class_id, payload, 'IPv6SourceAddress') END
       END AS remote
FROM picked;

CREATE TABLE packet_drop AS
SELECT ts_ns, 'tcpip' || coalesce(' (interface ' || interface || ')', '') AS component, reason,
       packets, bytes, 'TCPIP ' || id AS source, protocol_name(protocol) AS protocol, local, remote,
       CASE WHEN local IS NOT NULL THEN local || ' <- ' || remote ELSE remote END AS flow,
       NULL::VARCHAR AS process
FROM tcpip_drop
UNION ALL
SELECT e.ts_ns, 'afd',
       coalesce(list_extract(['source is not the connected peer', 'receive buffer full',
                              'buffer allocation failed', 'circular receive buffer full',
                              'datagram too large'], e.reason), 'reason ' || e.reason),
       1, coalesce(e.packet_size, e.bytes), 'AFD ' || e.id, 'udp', s.local, e.address,
       coalesce(s.local, '?') || ' <- ' || coalesce(e.address, '?'), o.process
FROM afd_event AS e
LEFT JOIN socket_event AS x ON x.endpoint = e.endpoint AND x.ts_ns = e.ts_ns AND x.seq = e.seq
LEFT JOIN socket AS s ON s.life = x.life
LEFT JOIN afd_owner AS o ON o.process_key = e.process_key
WHERE e.kind = 'drop'
UNION ALL
SELECT ts_ns, component, reason || ' at ' || location, 1, original, 'PktMon ' || event_id, protocol,
       NULL, NULL, tuple, NULL
FROM pktmon_drop;
