-- Waits with where they waited: the stack at the switch that brought the thread back. Columns as in
-- sample, so that stacks of both are weighed alike.
CREATE VIEW thread_wait_stack AS
SELECT w.start_ns, w.end_ns, w.end_ns - w.start_ns AS weight_ns, c.cpu, t.upid, w.utid, w.reason,
       c.stack_id, NULL::UBIGINT AS frame_id
FROM thread_wait AS w
JOIN context_switch AS c ON c.new_utid = w.utid AND c.ts_ns = w.end_ns
LEFT JOIN thread AS t ON t.utid = w.utid;
