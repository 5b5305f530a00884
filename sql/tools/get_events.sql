-- tool     get_events
-- title    Events with their fields
-- headline **Events**
-- group    system
-- place    20
-- about    Events of any provider (manifest, EventSource, TraceLogging, WPP, classic) in time order with
--          their decoded fields. Filter by provider, event, process, thread, CPU, activity and field
--          values; list_providers says what there is. Kernel events with a tool of their own (CPU, disk,
--          file, TCP ...) are not among them.
-- example  get_events(trace_id="...", provider="HttpService", event="Deliver", where=["Status=0"])
-- param    provider    filter   null       Part of a provider name or GUID; a|b: either.
-- param    event       filter   null       Part of an event name, or an event id; a|b: either.
-- param    where       list     null       Conditions on fields, all of which must hold: "Name=value",
--          "Name!=value", "Name~part", "Name<1", "Name>1". Members of structures are "Struct.Name".
-- param    columns     list     null       Fields to show; all when omitted.
-- param    activity    text     null       An activity id: events that have it, or come from it.
-- param    thread      integer  null 0..   Thread id in the event header.
-- param    cursor      text     null       The Cursor of the last row seen: continues behind it.
-- param    count_only  boolean  false      Only the numbers by event.
-- filters  cpu process
-- window
-- rows     50
-- common
class AS (
    SELECT c.class_id, coalesce(p.name, p.guid::VARCHAR) AS provider,
           coalesce(c.event_name,
                    'Event ' || CASE WHEN c.kind = 'classic' THEN c.opcode ELSE c.id END) AS event,
           c.decoded_by
    FROM event_class AS c JOIN provider AS p ON p.provider_id = c.provider_id
    WHERE (filter_hits(p.name, $provider) OR filter_hits(p.guid::VARCHAR, $provider))
      AND (filter_hits(c.event_name, $event) OR list_contains($event::VARCHAR[], c.id::VARCHAR))
),
page AS (
    SELECT try_cast(split_part($cursor, ':', 1) AS BIGINT) AS ts_ns,
           try_cast(split_part($cursor, ':', 2) AS UBIGINT) AS seq
),
hit AS (
    SELECT d.ts_ns, d.seq, d.cpu, d.pid, d.tid, d.class_id, d.payload, d.upid, n.process,
           k.provider, k.event, k.decoded_by
    FROM event_row AS d
    JOIN class AS k ON k.class_id = d.class_id
    LEFT JOIN process_name AS n ON n.upid = d.upid
    WHERE d.ts_ns >= $start_ns AND d.ts_ns < $end_ns
      AND cpu_hits(d.cpu, $cpu_filter)
      AND ($thread IS NULL OR d.tid = $thread)
      AND process_hits(n.process, d.pid, $process_filter)
      AND ($activity IS NULL OR d.activity_id = try_cast($activity AS UUID)
           OR d.related_activity_id = try_cast($activity AS UUID))
      AND fields_hit(d.class_id, d.payload, $where)
      AND ($cursor IS NULL OR (d.ts_ns, d.seq) > (SELECT (ts_ns, seq) FROM page))
)
-- section  kinds table optional when count_only=true
-- cap      max_rows
-- heading  Events by kind
-- out      Provider    text(60)
-- out      Event       text(60)
-- out      Count       count
-- out      "First (s)" s
-- out      "Last (s)"  s
-- out      "Decoded by" text
SELECT provider, event, count(*), min(ts_ns), max(ts_ns), any_value(decoded_by)
FROM hit GROUP BY provider, event ORDER BY count(*) DESC, provider, event
-- section  main table unless count_only=true
-- cap      max_rows
-- out      "Time (s)" s
-- out      CPU        id
-- out      Process    text(40)
-- out      TID        id
-- out      Provider   text(50)
-- out      Event      text(60)
-- out      Fields     text(400)   "_missing" names the first field that the payload no longer holds,
--          "_extra_bytes" counts what is left behind the last one.
-- out      Cursor     text
-- empty    No event matches.
SELECT ts_ns, cpu, coalesce(process || ' (' || pid || ')', pid::VARCHAR),
       CASE WHEN tid < 4294967295 THEN tid END, provider, event,
       CASE WHEN $columns IS NULL THEN event_fields(class_id, payload, pid)
            ELSE list_aggregate(list_transform($columns::VARCHAR[], lambda name:
                     name || '=' || coalesce(event_field_text(class_id, payload, name), '-')),
                     'string_agg', ', ') END,
       ts_ns || ':' || seq
FROM hit ORDER BY ts_ns, seq
-- section  bad notes
-- out      Note text
SELECT 'cursor must be a Cursor of this tool, such as "12345:678".'
FROM page WHERE $cursor IS NOT NULL AND (ts_ns IS NULL OR seq IS NULL)
UNION ALL
SELECT 'activity is not a GUID.'
WHERE $activity IS NOT NULL AND try_cast($activity AS UUID) IS NULL
