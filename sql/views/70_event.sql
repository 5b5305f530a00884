-- Events without a typed table, and captured frames: the columns that both have.
CREATE VIEW event_row AS
SELECT ts_ns, seq, cpu, upid, utid, class_id, pid, tid, activity_id, related_activity_id, stack_id,
       payload
FROM event_data
UNION ALL
SELECT ts_ns, seq, cpu, upid, utid, class_id, pid, tid, activity_id, related_activity_id, stack_id,
       payload
FROM captured_frame;

-- Every event without a typed table, with its names. `fields` is decoded only where it is asked for:
-- all fields as JSON text (fields->>'Name'); event_field_i64(class_id, payload, 'Name') and its kin
-- are faster for a few fields of many events.
CREATE VIEW event AS
SELECT d.ts_ns, p.name AS provider_name, c.event_name, c.task_name, c.opcode_name, c.id, c.version,
       c.opcode, c.level, c.keyword, c.task, c.channel, c.kind, c.decoded_by, d.cpu, d.pid, d.tid,
       d.upid, d.utid, d.activity_id, d.related_activity_id, d.stack_id, d.class_id,
       p.guid AS provider_guid, d.seq, d.payload,
       event_fields(d.class_id, d.payload, d.pid) AS fields
FROM event_row AS d
JOIN event_class AS c ON c.class_id = d.class_id
JOIN provider AS p ON p.provider_id = c.provider_id;

-- The events of one activity, across threads and providers, in order.
CREATE VIEW activity_event AS
SELECT e.activity_id, row_number() OVER in_order AS step,
       e.ts_ns - first_value(e.ts_ns) OVER in_order AS since_first_ns,
       e.ts_ns - lag(e.ts_ns) OVER in_order AS since_previous_ns, e.ts_ns, e.seq, e.provider_name,
       e.event_name, e.id, e.opcode_name, e.cpu, e.pid, e.tid, e.upid, e.utid,
       e.related_activity_id, e.stack_id, e.class_id, e.payload, e.fields
FROM event AS e
WHERE e.activity_id IS NOT NULL
WINDOW in_order AS (PARTITION BY e.activity_id ORDER BY e.ts_ns, e.seq);

-- One activity: how long, where, and which activity it came from (the related activity of an event).
CREATE VIEW activity AS
SELECT d.activity_id, min(d.ts_ns) AS start_ns, max(d.ts_ns) AS end_ns,
       max(d.ts_ns) - min(d.ts_ns) AS duration_ns, count(*) AS events,
       count(DISTINCT d.utid) AS threads, count(DISTINCT d.upid) AS processes,
       string_agg(DISTINCT coalesce(p.name, p.guid::VARCHAR), ', '
                  ORDER BY coalesce(p.name, p.guid::VARCHAR)) AS providers,
       arg_min(d.related_activity_id, (d.ts_ns, d.seq)) AS parent_activity_id
FROM event_row AS d
JOIN event_class AS c ON c.class_id = d.class_id
JOIN provider AS p ON p.provider_id = c.provider_id
WHERE d.activity_id IS NOT NULL
GROUP BY d.activity_id;

-- Conditions on fields: "Name=value", "Name!=value", "Name~part" (case ignored), "Name<1", "Name>1".
-- Equal means the same text as shown, or the same number.
CREATE MACRO field_condition_hits(class_id, payload, name, op, wanted) AS
    CASE op
        WHEN '~' THEN contains(lower(event_field_text(class_id, payload, name)), lower(wanted))
        WHEN '<' THEN event_field_f64(class_id, payload, name) < try_cast(wanted AS DOUBLE)
        WHEN '>' THEN event_field_f64(class_id, payload, name) > try_cast(wanted AS DOUBLE)
        WHEN '!=' THEN event_field_text(class_id, payload, name) <> wanted
            AND event_field_f64(class_id, payload, name)::VARCHAR
                IS DISTINCT FROM try_cast(wanted AS DOUBLE)::VARCHAR
        ELSE event_field_text(class_id, payload, name) = wanted
            OR event_field_f64(class_id, payload, name) = try_cast(wanted AS DOUBLE)
    END;

CREATE MACRO fields_hit(class_id, payload, conditions) AS
    conditions IS NULL
    OR len(list_filter(conditions::VARCHAR[], lambda part:
        coalesce(field_condition_hits(class_id, payload,
                                      trim(regexp_extract(part, '^([^=!~<>]+)', 1)),
                                      regexp_extract(part, '(!=|=|~|<|>)', 1),
                                      trim(regexp_extract(part, '(!=|=|~|<|>)(.*)$', 2))),
                 false))) = len(conditions::VARCHAR[]);
