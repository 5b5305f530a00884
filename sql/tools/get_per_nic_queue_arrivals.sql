-- tool     get_per_nic_queue_arrivals
-- title    NIC work per CPU
-- headline **NIC Queue Arrivals**
-- group    network
-- place    16
-- about    How the DPC time of a network driver spreads over CPUs: its receive queues at work. Use it
--          when one CPU takes all packets.
-- example  get_per_nic_queue_arrivals(trace_id="...", nic_module="netvsc")
-- param    nic_module  filter  mlx5.sys  Part of the driver's module name; when the default finds none, the busiest network driver.
-- rows     80
-- needs    dpc
-- common
wanted AS MATERIALIZED (
    SELECT DISTINCT module FROM module_interrupt
    WHERE NOT is_isr AND filter_hits(module, $nic_module)
),
busiest AS (
    SELECT arg_max(module, (own_ns, module)) AS module
    FROM (SELECT m.module, sum(m.own_ns) AS own_ns FROM module_interrupt AS m
          WHERE NOT m.is_isr AND m.module IN (SELECT module FROM nic_module) GROUP BY m.module)
    HAVING count(*) > 0
),
chosen AS MATERIALIZED (
    SELECT module FROM wanted
    UNION ALL
    SELECT module FROM busiest
    WHERE NOT EXISTS (SELECT 1 FROM wanted) AND list_contains($nic_module, 'mlx5.sys')
),
by_cpu AS MATERIALIZED (
    SELECT cpu, coalesce(sum(own_ns) FILTER (NOT is_isr), 0)::BIGINT AS dpc_ns,
           coalesce(sum(n) FILTER (NOT is_isr), 0)::BIGINT AS dpcs,
           coalesce(sum(n) FILTER (is_isr), 0)::BIGINT AS isrs
    FROM module_interrupt WHERE module IN (SELECT module FROM chosen) GROUP BY cpu
),
total AS (SELECT sum(dpc_ns) AS dpc_ns FROM by_cpu),
arrived AS (
    SELECT cpu, count(*) AS packets FROM packet
    WHERE direction = 'receive' AND NOT is_repeat GROUP BY cpu
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Driver', string_agg(module, ', ' ORDER BY module)
       || CASE WHEN EXISTS (SELECT 1 FROM wanted) THEN ''
               ELSE ' (the busiest network driver; none matches the default)' END
FROM chosen HAVING count(*) > 0
UNION ALL
SELECT 'Total DPC time (us)', format('{:,.1f}', sum(dpc_ns) / 1e3) FROM by_cpu HAVING count(*) > 0
UNION ALL
SELECT 'CPUs in use', count(*) FILTER (dpc_ns > 0)::VARCHAR FROM by_cpu HAVING count(*) > 0
UNION ALL
SELECT 'Busiest CPU', format('{} ({:.1f}%)', arg_max(cpu, (dpc_ns, -cpu::BIGINT)),
                             100.0 * max(dpc_ns) / greatest(1, sum(dpc_ns)))
FROM by_cpu HAVING count(*) > 0
UNION ALL
SELECT 'Spread', CASE WHEN count(*) FILTER (dpc_ns > 0) = 1 THEN 'one CPU takes everything'
                      WHEN max(dpc_ns) > 0.5 * sum(dpc_ns) THEN 'uneven: one CPU takes most'
                      ELSE 'spread over several CPUs' END
FROM by_cpu HAVING count(*) > 0
-- section  main table
-- out      CPU              id
-- out      "DPC Time (us)"  us
-- out      "% of total"     pct
-- out      "DPC Count"      count
-- out      "Mean (us)"      us
-- out      "ISR Count"      count
-- out      Packets          count   Captured packets received on that CPU.
-- empty    No DPC of such a driver in this trace.
SELECT b.cpu, b.dpc_ns, percent(b.dpc_ns, t.dpc_ns), b.dpcs,
       CASE WHEN b.dpcs > 0 THEN b.dpc_ns * 1.0 / b.dpcs END, b.isrs, a.packets
FROM by_cpu AS b CROSS JOIN total AS t LEFT JOIN arrived AS a ON a.cpu = b.cpu
ORDER BY b.dpc_ns DESC, b.cpu
-- section  others table optional
-- heading  Modules with DPCs
-- out      Module           text(60)
-- out      "Network driver" bool
-- out      "DPC Time (us)"  us
SELECT module, is_nic_driver(module) OR lower(module) = 'ndis.sys', sum(own_ns)::BIGINT
FROM module_interrupt WHERE NOT is_isr AND NOT EXISTS (SELECT 1 FROM chosen)
GROUP BY module
ORDER BY is_nic_driver(module) OR lower(module) = 'ndis.sys' DESC, sum(own_ns) DESC, module
LIMIT 20
