-- Every event without a typed table, with its names. `fields` is decoded only where it is asked for:
-- all fields as JSON text (fields->>'Name'); event_field_i64(class_id, payload, 'Name') and its kin
-- are faster for a few fields of many events.
CREATE VIEW event AS
SELECT d.ts_ns, p.name AS provider_name, c.event_name, c.task_name, c.opcode_name, c.id, c.version,
       c.opcode, c.level, c.keyword, c.task, c.channel, c.kind, c.decoded_by, d.cpu, d.pid, d.tid,
       d.upid, d.utid, d.activity_id, d.related_activity_id, d.stack_id, d.class_id,
       p.guid AS provider_guid, d.seq, d.payload,
       event_fields(d.class_id, d.payload, d.pid) AS fields
FROM event_data AS d
JOIN event_class AS c ON c.class_id = d.class_id
JOIN provider AS p ON p.provider_id = c.provider_id;
