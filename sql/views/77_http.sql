-- HTTP.sys: requests from their arrival to their answer.

CREATE TABLE http_event AS
SELECT ts_ns, seq, id, header_pid, header_upid, activity_id, related_activity_id,
       CASE WHEN id IN (1, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 22, 52, 64, 65, 124)
                 OR id IN (16, 17) AND version >= 1
            THEN event_field_u64(class_id, payload, 'RequestId') END AS request_id,
       CASE WHEN id IN (1, 4, 8, 22)
            THEN event_field_u64(class_id, payload, 'ConnectionId') END AS connection_id,
       CASE WHEN id IN (21, 22, 23)
            THEN event_field_u64(class_id, payload, 'ConnectionObj') END AS connection_key,
       CASE WHEN id IN (2, 3, 16, 17)
            THEN event_field_u64(class_id, payload, 'RequestObj') END AS request_key,
       CASE WHEN id = 1 THEN socket_text(event_field_text(class_id, payload, 'RemoteAddr')) END
           AS remote,
       CASE WHEN id = 2 THEN event_field_i64(class_id, payload, 'HttpVerb') END AS verb,
       CASE WHEN id IN (4, 8) THEN event_field_text(class_id, payload, 'Verb') END AS verb_text,
       CASE WHEN id IN (2, 3) THEN event_field_text(class_id, payload, 'Url') END AS url,
       CASE WHEN id IN (3, 64, 65)
            THEN event_field_text(class_id, payload, 'RequestQueueName') END AS queue,
       CASE WHEN id IN (3, 16, 17) THEN event_field_i64(class_id, payload, 'SiteId') END AS site,
       CASE WHEN id IN (4, 8) THEN event_field_i64(class_id, payload, 'StatusCode')
            WHEN id IN (10, 11, 12, 13, 14)
            THEN event_field_i64(class_id, payload, 'HttpStatus') END AS status,
       CASE WHEN id IN (16, 17) THEN event_field_i64(class_id, payload, 'BytesSent') END
           AS bytes_sent,
       CASE WHEN id IN (52, 64, 65) THEN event_field_text(class_id, payload, 'Reason') END AS reason
FROM provider_events('dd5ef90a-6398-47a4-ad34-4dcecdef795f')
WHERE id IN (1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 21, 22, 23, 52, 64, 65, 124);

-- Names of the driver's verbs; 1 (unknown) has its name in the answer.
CREATE MACRO http_verb_name(verb, verb_text) AS
    CASE WHEN verb IS NULL THEN nullif(verb_text, '')
         WHEN verb = 1 THEN coalesce(nullif(verb_text, ''), 'Unknown')
         ELSE coalesce(list_extract(
             ['Unparsed', 'Unknown', 'Invalid', 'OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE',
              'TRACE', 'CONNECT', 'TRACK', 'MOVE', 'COPY', 'PROPFIND', 'PROPPATCH', 'MKCOL', 'LOCK',
              'UNLOCK', 'SEARCH'], verb + 1), 'verb ' || verb) END;

-- Events of a request. Request ids are used again: event 1 begins a life; life 0 began before the
-- trace. Events with the request's object only (2, and 16 and 17 of old versions) are found by the
-- activity of the request, else by the delivery of the same object.
CREATE TABLE http_request_event AS
WITH numbered AS (
    SELECT *, request_id::VARCHAR || '.'
                  || sum(CASE WHEN id = 1 THEN 1 ELSE 0 END)
                         OVER (PARTITION BY request_id ORDER BY ts_ns, seq) AS life
    FROM http_event WHERE request_id IS NOT NULL AND id <> 22
),
connection_activity AS (
    SELECT DISTINCT activity_id FROM http_event WHERE id IN (21, 22) AND activity_id IS NOT NULL
),
activity AS (
    SELECT life, activity, min(ts_ns) AS from_ns
    FROM (
        SELECT life, ts_ns,
               CASE WHEN id <> 1 THEN activity_id
                    WHEN related_activity_id IS NULL
                         OR related_activity_id IN (SELECT activity_id FROM connection_activity)
                    THEN activity_id ELSE related_activity_id END AS activity
        FROM numbered
    )
    WHERE activity IS NOT NULL AND activity NOT IN (SELECT activity_id FROM connection_activity)
    GROUP BY life, activity
),
loose AS (
    SELECT * FROM http_event
    WHERE request_id IS NULL AND request_key IS NOT NULL
),
by_activity AS (
    SELECT l.*, a.life
    FROM loose AS l
    ASOF LEFT JOIN activity AS a ON a.activity = l.activity_id AND a.from_ns <= l.ts_ns
),
by_object AS (
    SELECT l.* REPLACE (coalesce(l.life, d.life) AS life)
    FROM by_activity AS l
    ASOF LEFT JOIN (SELECT request_key, ts_ns, life FROM numbered WHERE id = 3) AS d
        ON d.request_key = l.request_key AND d.ts_ns >= l.ts_ns
)
SELECT * FROM numbered
UNION ALL BY NAME
SELECT * FROM by_object WHERE life IS NOT NULL;

CREATE TABLE http_request AS
WITH connection AS (
    SELECT a.connection_id, a.ts_ns, min(c.ts_ns) AS closed_ns
    FROM http_event AS a
    LEFT JOIN http_event AS c
        ON c.id = 23 AND c.connection_key = a.connection_key AND c.ts_ns >= a.ts_ns
    WHERE a.id = 22
    GROUP BY a.connection_id, a.ts_ns
),
life AS (
    SELECT life, any_value(request_id) AS request_id, any_value(connection_id) AS connection_id,
           max(remote) AS remote, min(ts_ns) AS first_ns,
           min(ts_ns) FILTER (id = 1) AS received_ns, min(ts_ns) FILTER (id = 2) AS parsed_ns,
           min(ts_ns) FILTER (id = 3) AS delivered_ns,
           min(ts_ns) FILTER (id IN (4, 8)) AS answered_ns,
           min(ts_ns) FILTER (id IN (10, 11, 12, 13, 16, 17)) AS sent_ns,
           min(ts_ns) FILTER (id IN (14, 15, 52, 64, 65)) AS failed_ns,
           min(verb) AS verb, max(verb_text) AS verb_text,
           coalesce(max(url) FILTER (id = 2), max(url)) AS url, max(queue) AS queue,
           max(site) AS site,
           coalesce(arg_min(status, ts_ns) FILTER (id IN (4, 8)),
                    arg_min(status, ts_ns) FILTER (status > 0)) AS status,
           max(bytes_sent) AS bytes_sent,
           arg_min(header_pid, ts_ns) FILTER (id IN (4, 8)) AS pid,
           arg_min(header_upid, ts_ns) FILTER (id IN (4, 8)) AS upid,
           CASE WHEN bool_or(id = 52) THEN 'parse error' WHEN bool_or(id = 64) THEN 'rejected'
                WHEN bool_or(id = 65) THEN 'cancelled'
                WHEN bool_or(id IN (14, 15)) THEN 'send error'
                WHEN bool_or(id IN (16, 17)) THEN 'cached' WHEN bool_or(id IN (10, 11, 12, 13))
                THEN 'sent' WHEN bool_or(id IN (4, 8)) THEN 'answered' ELSE 'in flight' END
               AS outcome,
           max(reason) AS reason
    FROM http_request_event GROUP BY life
)
SELECT l.*, http_verb_name(l.verb, l.verb_text) AS verb_name,
       CASE WHEN l.pid IS NOT NULL THEN owner_label(owner_name(p.process, l.pid), l.pid) END
           AS process,
       c.closed_ns
FROM life AS l
LEFT JOIN process_name AS p ON p.upid = l.upid
ASOF LEFT JOIN connection AS c ON c.connection_id = l.connection_id AND c.ts_ns <= l.first_ns;
