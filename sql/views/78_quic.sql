-- MsQuic connections. The key is the Connection pointer, which is used again: 5120 begins a life, and
-- so does anything behind 5121.
CREATE TABLE quic_event AS
WITH read AS (
    SELECT ts_ns, seq, cpu, id, header_pid, header_upid, class_id, payload,
           coalesce(event_field_u64(class_id, payload, 'Connection'),
                    event_field_u64(class_id, payload, 'Owner')) AS connection
    FROM provider_events('ff15e657-4f26-570e-88ab-0796b258d11c')
    WHERE id IN (5120, 5121, 5122, 5127, 5128, 5131, 5132, 5135, 5136, 5139, 5144, 5145, 5147, 5148,
                 5149, 5154, 5155, 5160, 5161, 5164, 5165, 5166, 5167, 5174, 5189, 5190, 5194)
),
opened AS (
    SELECT *, id = 5120 OR coalesce(lag(id = 5121) OVER (PARTITION BY connection
                                                         ORDER BY ts_ns, seq), false) AS opens
    FROM read WHERE connection <> 0
)
SELECT ts_ns, seq, cpu, id, header_pid, header_upid, connection,
       connection::VARCHAR || '.' || sum(CASE WHEN opens THEN 1 ELSE 0 END)
           OVER (PARTITION BY connection ORDER BY ts_ns, seq) AS life,
       CASE WHEN id IN (5120, 5147) THEN event_field_i64(class_id, payload, 'IsServer') END
           AS is_server,
       CASE WHEN id IN (5127, 5128)
            THEN socket_text(event_field_text(class_id, payload, 'Addr')) END AS address,
       CASE WHEN id = 5131 THEN event_field_u64(class_id, payload, 'Worker') END AS worker,
       CASE WHEN id IN (5135, 5136) THEN event_field_i64(class_id, payload, 'ErrorCode') END
           AS error_code,
       CASE WHEN id IN (5135, 5136) THEN event_field_i64(class_id, payload, 'IsRemoteShutdown') END
           AS is_remote,
       CASE WHEN id = 5139 THEN event_field_i64(class_id, payload, 'Value') END AS version,
       CASE WHEN id IN (5148, 5149) THEN substr(event_field_text(class_id, payload, 'Cid'), 3) END
           AS cid,
       CASE WHEN id BETWEEN 5164 AND 5167 THEN event_field_i64(class_id, payload, 'Number') END
           AS number,
       CASE WHEN id BETWEEN 5164 AND 5167 THEN event_field_i64(class_id, payload, 'Type') END
           AS type,
       CASE WHEN id IN (5164, 5165) THEN event_field_i64(class_id, payload, 'Length') END AS bytes,
       CASE WHEN id = 5166 THEN event_field_text(class_id, payload, 'Reason') END AS lost_reason,
       CASE WHEN id IN (5160, 5190, 5194) THEN event_field_i64(class_id, payload, 'SmoothedRtt') END
           AS rtt_us,
       CASE WHEN id IN (5160, 5190, 5194)
            THEN event_field_i64(class_id, payload, 'CongestionCount') END AS congestion,
       CASE WHEN id IN (5160, 5190, 5194)
            THEN event_field_i64(class_id, payload, 'SendTotalBytes') END AS total_sent_bytes,
       CASE WHEN id IN (5160, 5190, 5194)
            THEN event_field_i64(class_id, payload, 'RecvTotalBytes') END AS total_received_bytes,
       CASE WHEN id IN (5160, 5174)
            THEN event_field_i64(class_id, payload, 'SendTotalPackets') END AS total_sent,
       CASE WHEN id IN (5160, 5174)
            THEN event_field_i64(class_id, payload, 'RecvTotalPackets') END AS total_received,
       CASE WHEN id IN (5160, 5174)
            THEN event_field_i64(class_id, payload, 'SendSuspectedLostPackets') END AS total_lost,
       CASE WHEN id IN (5160, 5174)
            THEN event_field_i64(class_id, payload, 'SendSpuriousLostPackets') END AS spurious
FROM opened;

CREATE TABLE quic_worker AS
SELECT event_field_u64(class_id, payload, 'Worker') AS worker,
       max(event_field_i64(class_id, payload, 'IdealProcessor')) AS ideal_cpu
FROM provider_events('ff15e657-4f26-570e-88ab-0796b258d11c') AS e
WHERE e.id = 2048 GROUP BY ALL;

CREATE MACRO quic_error_name(code) AS
    CASE WHEN code BETWEEN 256 AND 511 THEN 'TLS alert ' || (code - 256)
         ELSE coalesce(list_extract(
             ['NO_ERROR', 'INTERNAL_ERROR', 'CONNECTION_REFUSED', 'FLOW_CONTROL_ERROR',
              'STREAM_LIMIT_ERROR', 'STREAM_STATE_ERROR', 'FINAL_SIZE_ERROR',
              'FRAME_ENCODING_ERROR', 'TRANSPORT_PARAMETER_ERROR', 'CONNECTION_ID_LIMIT_ERROR',
              'PROTOCOL_VIOLATION', 'INVALID_TOKEN', 'APPLICATION_ERROR', 'CRYPTO_BUFFER_EXCEEDED',
              'KEY_UPDATE_ERROR', 'AEAD_LIMIT_REACHED', 'NO_VIABLE_PATH',
              'VERSION_NEGOTIATION_ERROR'], code + 1), 'error ' || code) END;

CREATE TABLE quic_connection AS
WITH life AS (
    SELECT life, any_value(connection) AS connection, mode(real_pid(header_pid)) AS pid,
           mode(header_upid) AS upid, max(is_server) AS is_server,
           min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           min(ts_ns) FILTER (id = 5120) AS created_ns,
           min(ts_ns) FILTER (id = 5121) AS destroyed_ns,
           min(ts_ns) FILTER (id = 5132) AS hello_ns, min(ts_ns) FILTER (id = 5122) AS ready_ns,
           bool_or(id = 5147) AS in_rundown,
           arg_max(address, ts_ns) FILTER (id = 5128) AS remote,
           arg_max(address, ts_ns) FILTER (id = 5127) AS local,
           arg_min(cid, ts_ns) FILTER (id = 5148 AND cid <> '') AS cid,
           arg_max(version, ts_ns) FILTER (version IS NOT NULL) AS version,
           arg_max(worker, ts_ns) FILTER (worker IS NOT NULL) AS worker,
           count(*) FILTER (id = 5164) AS sent, count(*) FILTER (id = 5165) AS received,
           sum(bytes) FILTER (id = 5164) AS sent_bytes,
           sum(bytes) FILTER (id = 5165) AS received_bytes,
           count(*) FILTER (id = 5166) AS lost,
           max(total_sent) AS total_sent, max(total_received) AS total_received,
           max(total_sent_bytes) AS total_sent_bytes,
           max(total_received_bytes) AS total_received_bytes, max(total_lost) AS total_lost,
           max(spurious) AS spurious, arg_max(rtt_us, ts_ns) FILTER (rtt_us IS NOT NULL) AS rtt_us,
           coalesce(max(congestion),
                    nullif(count(*) FILTER (id IN (5144, 5189)), 0)) AS congestion,
           arg_min(CASE WHEN is_remote = 1 THEN 'peer: ' ELSE 'local: ' END
                   || CASE WHEN id = 5136 THEN 'application error ' || error_code
                           ELSE quic_error_name(error_code) END, ts_ns)
               FILTER (id IN (5135, 5136)) AS close_reason,
           list_sort(list_distinct(list(cpu) FILTER (id = 5165))) AS cpus
    FROM quic_event GROUP BY life
),
reason AS (
    SELECT life, string_agg(lost_reason || ' ' || n, ', ' ORDER BY lost_reason) AS lost_reasons
    FROM (SELECT life, lost_reason, count(*) AS n FROM quic_event WHERE id = 5166 GROUP BY ALL)
    GROUP BY life
)
SELECT l.*, owner_name(p.process, l.pid) AS process, r.lost_reasons, w.ideal_cpu
FROM life AS l
LEFT JOIN process_name AS p ON p.upid = l.upid
LEFT JOIN reason AS r ON r.life = l.life
LEFT JOIN quic_worker AS w ON w.worker = l.worker;
