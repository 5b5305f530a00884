-- tool     get_socket_lifecycle
-- title    Socket lives
-- headline **Socket Lifecycle**
-- group    network
-- place    9
-- about    Sockets from creation to close, with calls, bytes, addresses and how they ended. Use it to
--          find leaked, short-lived or aborted sockets.
-- example  get_socket_lifecycle(trace_id="...", process_filter="server")
-- param    process_filter  filter   null       Process name (substring) or pid.
-- param    top_n           integer  50 1..1000 Rows.
-- needs    afd
-- common
picked AS MATERIALIZED (
    SELECT * FROM socket WHERE process_hits(process, pid, $process_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text
SELECT 'Sockets', count(*)::VARCHAR FROM picked HAVING count(*) > 0
-- section  main table
-- cap      top_n
-- out      Process         text(60)
-- out      PID             id
-- out      Socket          hex
-- out      "Created (us)"  text   "?": before the trace.
-- out      "Closed (us)"   text
-- out      "Duration (s)"  s      Of the part that the trace saw.
-- out      Recv            count  Completed calls.
-- out      Send            count
-- out      Bytes           bytes
-- out      End             text(60)
-- out      Proto           text
-- out      Local           text(60)
-- out      Remote          text(60)
-- empty    No socket calls in this trace.
SELECT process, pid, endpoint, coalesce(format('{:,.1f}', created_ns / 1e3), '?'),
       coalesce(format('{:,.1f}', closed_ns / 1e3), 'open'),
       coalesce(closed_ns, last_ns) - coalesce(created_ns, first_ns), received, sent, bytes,
       CASE WHEN abort_reason IS NOT NULL THEN 'aborted: ' || abort_reason
            WHEN closed_ns IS NOT NULL THEN 'closed'
            WHEN disconnected THEN 'peer closed' ELSE 'open' END,
       CASE WHEN socket_type = 1 THEN 'stream' WHEN socket_type = 2 THEN 'datagram'
            WHEN socket_type = 3 THEN 'raw' WHEN socket_type IS NOT NULL THEN 'type ' || socket_type
            WHEN has_datagrams THEN 'datagram' END,
       local, remote
FROM picked
ORDER BY coalesce(closed_ns, last_ns) - coalesce(created_ns, first_ns) DESC, process, pid, life
