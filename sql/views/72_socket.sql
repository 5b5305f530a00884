-- Sockets: Microsoft-Windows-Winsock-AFD, the events of socket calls and transport indications.

CREATE TABLE afd_event AS
WITH read AS (
    SELECT ts_ns, seq, cpu, tid, utid, header_pid, id, class_id, payload,
           event_field_i64(class_id, payload, 'EnterExit') = 1 AS is_exit,
           event_field_i64(class_id, payload, 'Location') AS location,
           event_field_u64(class_id, payload, 'Process') AS process_key,
           event_field_u64(class_id, payload, 'Endpoint') AS endpoint,
           event_field_i64(class_id, payload, 'Status') AS status,
           event_field_i64(class_id, payload, 'BufferLength') AS bytes,
           event_field_i64(class_id, payload, 'Reason') AS reason
    FROM provider_events('e53c6823-7bb8-44bb-90dc-3f86090d48a6')
    WHERE id BETWEEN 1000 AND 1037 OR id BETWEEN 3000 AND 3007 OR id IN (33, 34)
)
SELECT * EXCLUDE (class_id, payload),
       CASE id WHEN 1000 THEN 'create' WHEN 1001 THEN 'close' WHEN 1002 THEN 'cleanup'
               WHEN 1003 THEN 'send' WHEN 1005 THEN 'send' WHEN 1007 THEN 'send'
               WHEN 1011 THEN 'send' WHEN 1013 THEN 'send'
               WHEN 1004 THEN 'receive' WHEN 1006 THEN 'receive' WHEN 1009 THEN 'receive'
               WHEN 1012 THEN 'receive' WHEN 1015 THEN 'receive'
               WHEN 1017 THEN 'connect' WHEN 1018 THEN 'connect' WHEN 1020 THEN 'connect'
               WHEN 1021 THEN 'connect' WHEN 1023 THEN 'accept' WHEN 1024 THEN 'accept'
               WHEN 1026 THEN 'accept' WHEN 1027 THEN 'accept' WHEN 1029 THEN 'bind'
               WHEN 1030 THEN 'bind' WHEN 1032 THEN 'abort' WHEN 1037 THEN 'listen'
               WHEN 1033 THEN 'drop' WHEN 33 THEN 'drop' WHEN 34 THEN 'drop'
               WHEN 3000 THEN 'connect_indication' WHEN 3001 THEN 'connect_indication'
               WHEN 3003 THEN 'data_indication' WHEN 3004 THEN 'data_indication'
               WHEN 3006 THEN 'disconnect_indication' ELSE 'other' END AS kind,
       -- A call that completes: no error, not pending. Two sites report bytes a second time.
       is_exit AND status = 0 AND location NOT IN (3073, 3024) AS done,
       CASE WHEN id IN (1007, 1009, 1013, 1015, 1018, 1021, 1024, 1027, 1030, 1033, 3001, 3004)
            THEN socket_text(event_field_text(class_id, payload, 'Address')) END AS address,
       CASE WHEN id IN (1024, 1027)
            THEN event_field_u64(class_id, payload, 'AcceptEndpoint') END AS accept_endpoint,
       CASE WHEN id IN (1024, 1027, 3001)
            THEN event_field_i64(class_id, payload, 'CurrentBacklog') END AS backlog,
       CASE WHEN id IN (33, 34) THEN event_field_i64(class_id, payload, 'PacketSize') END
           AS packet_size,
       CASE WHEN id = 1000 THEN real_pid(event_field_i64(class_id, payload, 'ProcessId')) END
           AS create_pid,
       CASE WHEN id = 1000 THEN event_field_i64(class_id, payload, 'SocketType') END AS socket_type,
       CASE WHEN id IN (1032, 1033) THEN event_field_text(class_id, payload, 'Reason') END
           AS reason_text
FROM read;

-- Whose a Process pointer is: the key of a process event, the process id of a create event, or the
-- header of calls that run in the caller's context.
CREATE TABLE afd_owner AS
WITH header AS (
    SELECT process_key, max(create_pid) AS create_pid,
           mode(real_pid(header_pid)) FILTER (
               NOT is_exit AND kind IN ('bind', 'connect', 'send', 'receive')
               AND location NOT IN (6101, 3006, 3056, 3018, 3023, 3024, 3025, 3073, 3102, 4107,
                                    4114, 4123, 4052, 8016, 8028)) AS header_pid,
           min(ts_ns) AS first_ns
    FROM afd_event WHERE process_key <> 0 GROUP BY process_key
)
SELECT h.process_key, coalesce(k.upid, l.upid) AS upid,
       coalesce(k.pid, h.create_pid, h.header_pid) AS pid,
       owner_name(coalesce(p.process, q.process), coalesce(h.create_pid, h.header_pid)) AS process
FROM header AS h
LEFT JOIN (SELECT unique_key, max(upid) AS upid, arg_max(pid, upid) AS pid
           FROM process WHERE unique_key <> 0 GROUP BY unique_key) AS k
    ON k.unique_key = h.process_key
LEFT JOIN process_life AS l
    ON l.pid = coalesce(h.create_pid, h.header_pid)
       AND h.first_ns >= l.from_ns AND h.first_ns < l.until_ns
LEFT JOIN process_name AS p ON p.upid = k.upid
LEFT JOIN process_name AS q ON q.upid = l.upid;

-- With the number of the life of its endpoint: the pointer is used again after a close.
CREATE TABLE socket_event AS
SELECT *, endpoint::VARCHAR || '.'
              || sum(CASE WHEN kind = 'create' OR closed_before THEN 1 ELSE 0 END)
                     OVER (PARTITION BY endpoint ORDER BY ts_ns, seq) AS life
FROM (
    SELECT *, kind <> 'create' AND coalesce(lag(kind = 'close')
                  OVER (PARTITION BY endpoint ORDER BY ts_ns, seq), false) AS closed_before
    FROM afd_event
    WHERE endpoint <> 0 AND id >= 1000 AND NOT (NOT is_exit AND kind IN ('create', 'close'))
);

CREATE TABLE socket AS
WITH life AS (
    SELECT life, any_value(endpoint) AS endpoint, any_value(process_key) AS process_key,
           min(ts_ns) FILTER (kind = 'create') AS created_ns,
           coalesce(max(ts_ns) FILTER (kind = 'close'),
                    max(ts_ns) FILTER (kind = 'cleanup' AND is_exit)) AS closed_ns,
           min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           count(*) FILTER (kind = 'receive' AND done) AS received,
           count(*) FILTER (kind = 'send' AND done) AS sent,
           coalesce(sum(bytes) FILTER (kind IN ('send', 'receive') AND done), 0)::BIGINT AS bytes,
           max(socket_type) AS socket_type,
           bool_or(kind = 'drop' OR id IN (1007, 1009)) AS has_datagrams,
           arg_min(address, ts_ns) FILTER (kind = 'bind' AND address IS NOT NULL) AS local,
           arg_min(address, ts_ns) FILTER (kind = 'connect' AND address IS NOT NULL) AS connected,
           max(reason_text) FILTER (kind = 'abort') AS abort_reason,
           bool_or(kind = 'disconnect_indication') AS disconnected
    FROM socket_event GROUP BY life
),
accepted AS (
    SELECT accept_endpoint, ts_ns, address FROM afd_event
    WHERE kind = 'accept' AND is_exit AND status = 0 AND accept_endpoint <> 0
)
SELECT l.* EXCLUDE (connected), o.upid, o.pid, coalesce(o.process, 'unknown') AS process,
       coalesce(l.connected, (SELECT any_value(a.address) FROM accepted AS a
                              WHERE a.accept_endpoint = l.endpoint AND a.ts_ns >= l.first_ns
                                AND a.ts_ns <= l.last_ns)) AS remote
FROM life AS l LEFT JOIN afd_owner AS o ON o.process_key = l.process_key;
