-- tool     get_socket_affinity_check
-- title    Socket affinity
-- headline **Socket CPU Affinity**
-- group    network
-- place    10
-- about    Do the receives of a socket stay on one CPU? Data indications (where the packet was
--          processed) and completed receives (where the thread ran) are judged apart.
-- example  get_socket_affinity_check(trace_id="...")
-- rows     50
-- needs    afd
-- note     The affinity that was asked for is not in the trace: this tells where the work ran. Fewer than 10 events: low confidence; 90 % and more on one CPU: working.
-- common
work AS (
    SELECT coalesce(o.process, 'unknown') AS process, o.pid, e.endpoint, e.cpu,
           CASE e.kind WHEN 'receive' THEN 'receive' ELSE 'indication' END AS stage,
           count(*) AS events
    FROM afd_event AS e LEFT JOIN afd_owner AS o ON o.process_key = e.process_key
    WHERE e.endpoint <> 0
      AND (e.kind = 'receive' AND e.done
           OR e.kind = 'data_indication'
              AND e.is_exit = (SELECT bool_and(x.is_exit) FROM afd_event AS x
                               WHERE x.kind = 'data_indication'))
    GROUP BY ALL
),
judged AS MATERIALIZED (
    SELECT process, pid, endpoint, stage, sum(events)::BIGINT AS events,
           arg_max(cpu, (events, -cpu::BIGINT)) AS top_cpu,
           percent(max(events), sum(events)) AS top_pct, count(*) AS cpus,
           CASE WHEN sum(events) < 10 THEN 'low confidence'
                WHEN max(events) >= 0.9 * sum(events) THEN 'affinity working'
                ELSE 'affinity not working' END AS status
    FROM work GROUP BY process, pid, endpoint, stage
)
-- section  scope values
-- out      Name  text
-- out      Value text
SELECT 'Sockets by status',
       string_agg(status || ' ' || n, ', ' ORDER BY status)
FROM (SELECT status, count(*) AS n FROM judged GROUP BY status) HAVING count(*) > 0
-- section  main table
-- out      Process          text(60)
-- out      PID              id
-- out      Socket           hex
-- out      Stage            text   indication: packet processing; receive: the receiving thread.
-- out      Events           count
-- out      "Top CPU"        id
-- out      "Top CPU %"      pct
-- out      "Distinct CPUs"  count
-- out      Status           text
-- empty    No receive was completed on a socket.
SELECT process, pid, endpoint, stage, events, top_cpu, top_pct, cpus, status
FROM judged
ORDER BY CASE status WHEN 'affinity not working' THEN 0 WHEN 'affinity working' THEN 1 ELSE 2 END,
         events DESC, process, pid, endpoint, stage
