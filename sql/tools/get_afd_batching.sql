-- tool     get_afd_batching
-- title    Receive batching
-- headline **AFD Receive Batching**
-- group    network
-- place    8
-- about    How many receives a thread completes on a socket each time it wakes. Use it to see whether
--          a receiver keeps up in batches or wakes for every packet.
-- example  get_afd_batching(trace_id="...", process_filter="server")
-- param    top_n           integer  30 1..1000 Rows.
-- param    process_filter  filter   null       Process name (substring) or pid.
-- needs    afd
-- note     A batch ends where the next completed receive of the socket on the thread comes more than 10 us later, or where the thread was switched out in between. Completed calls only; data indications are not receives.
-- common
received AS (
    SELECT e.ts_ns, e.seq, e.endpoint, e.tid, e.utid, e.bytes, o.pid,
           coalesce(o.process, 'unknown') AS process,
           lag(e.ts_ns) OVER w AS before_ns
    FROM afd_event AS e LEFT JOIN afd_owner AS o ON o.process_key = e.process_key
    WHERE e.kind = 'receive' AND e.done
    WINDOW w AS (PARTITION BY e.endpoint, e.tid ORDER BY e.ts_ns, e.seq)
),
switched AS (
    SELECT r.*, s.ts_ns AS out_ns
    FROM received AS r
    ASOF LEFT JOIN (SELECT old_utid AS utid, ts_ns FROM context_switch WHERE old_tid <> 0) AS s
        ON s.utid = r.utid AND s.ts_ns <= r.ts_ns
),
batch AS MATERIALIZED (
    SELECT *, before_ns IS NULL OR ts_ns - before_ns > 10000 OR coalesce(out_ns > before_ns, false)
               AS begins
    FROM switched WHERE process_hits(process, pid, $process_filter)
)
-- section  main table
-- cap      top_n
-- out      Process               text(60)
-- out      PID                   id
-- out      Socket                hex
-- out      ThreadID              id
-- out      Events                count
-- out      Batches               count
-- out      "Avg per Completion"  number
-- out      "Bytes/event"         number
-- empty    No receive was completed on a socket.
SELECT process, pid, endpoint, tid, count(*), count(*) FILTER (begins),
       count(*) * 1.0 / count(*) FILTER (begins), avg(bytes)
FROM batch
GROUP BY process, pid, endpoint, tid
ORDER BY count(*) DESC, process, pid, endpoint, tid
