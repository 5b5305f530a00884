-- Waits with where they waited: the stack at the switch that brought the thread back. Columns as in
-- sample, so that stacks of both are weighed alike.
CREATE VIEW thread_wait_stack AS
SELECT w.end_ns AS start_ns, w.off_end_ns AS end_ns, w.off_end_ns - w.end_ns AS weight_ns,
       w.next_cpu AS cpu, t.upid, w.utid, w.reason, w.wait_stack_id AS stack_id,
       NULL::UBIGINT AS frame_id
FROM thread_turn AS w
LEFT JOIN thread AS t ON t.utid = w.utid
WHERE w.off_kind = 'waiting' AND w.resumed;
