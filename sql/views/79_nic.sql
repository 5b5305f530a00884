-- Network cards: which drivers are theirs, which CPUs run their DPCs.
CREATE MACRO is_nic_driver(module) AS
    regexp_matches(lower(module), '^(mlx|mlnx|e1[a-z0-9]|e2f|ixg|ixn|i40|ice|iavf|igb|igc|vmxnet|'
        || 'netvsc|netkvm|netadapter|rt6|rt8|rtu|rtw|rtl|rtcx|b57|bxn|bnxt|k57|l2nd|qed|qlx|netw|'
        || 'athw|mrvlp|aqn|atlantic|nvnet|msux|asix|ax8|usbnet|rndis|usb80236|ena|gvnic|mana)');

-- DPC and ISR time of each module on each CPU.
CREATE TABLE module_interrupt AS
SELECT coalesce(f.module, 'unknown') AS module, i.cpu, i.is_isr, sum(i.own_ns)::BIGINT AS own_ns,
       count(*) AS n
FROM interrupt_own AS i LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
GROUP BY ALL;

-- The modules that stand for the network card: its drivers, else NDIS, which runs the DPCs of many.
CREATE TABLE nic_module AS
WITH total AS (
    SELECT module, sum(own_ns) AS own_ns FROM module_interrupt WHERE NOT is_isr GROUP BY module
),
driver AS (SELECT module FROM total WHERE is_nic_driver(module))
SELECT module FROM driver
UNION ALL
SELECT module FROM total
WHERE lower(module) = 'ndis.sys' AND NOT EXISTS (SELECT 1 FROM driver);

-- The fewest CPUs that together hold 95 % of the card's DPC time.
CREATE TABLE nic_cpu AS
WITH by_cpu AS (
    SELECT cpu, sum(own_ns) AS own_ns
    FROM module_interrupt
    WHERE NOT is_isr AND module IN (SELECT module FROM nic_module) GROUP BY cpu
),
ranked AS (
    SELECT cpu, own_ns, sum(own_ns) OVER (ORDER BY own_ns DESC, cpu) - own_ns AS before_ns,
           sum(own_ns) OVER () AS total_ns
    FROM by_cpu
)
SELECT cpu FROM ranked WHERE before_ns < 0.95 * total_ns;

-- Stacks with a frame of the network stack in them, and their inner frames.
CREATE TABLE network_stack AS
WITH RECURSIVE inside AS (
    SELECT s.stack_id FROM stack AS s JOIN frame_name AS f ON f.frame_id = s.frame_id
    WHERE is_network_module(f.module)
    UNION
    SELECT s.stack_id FROM stack AS s JOIN inside AS i ON s.parent_id = i.stack_id
)
SELECT stack_id FROM inside;

-- Samples of processes in network code; time inside DPCs and ISRs is not theirs.
CREATE TABLE network_sample AS
SELECT s.ts_ns, s.cpu, s.upid, f.module, f.function
FROM sample AS s LEFT JOIN frame_name AS f ON f.frame_id = s.frame_id
WHERE NOT s.is_idle AND NOT s.in_dpc AND NOT s.in_isr
  AND (is_network_module(f.module) OR s.stack_id IN (SELECT stack_id FROM network_stack));

-- Receives: completed socket calls (AFD), datagrams as the stack hands them up (TCPIP).
CREATE TABLE receive_event AS
SELECT e.ts_ns, e.cpu, o.upid, o.pid, coalesce(o.process, 'unknown') AS process,
       'socket calls (AFD)' AS source,
       s.socket_type = 2 OR s.has_datagrams AS is_udp, socket_port(s.local) AS port
FROM socket_event AS e
JOIN socket AS s ON s.life = e.life
LEFT JOIN afd_owner AS o ON o.process_key = e.process_key
WHERE e.kind = 'receive' AND e.done
UNION ALL
SELECT u.ts_ns, u.cpu, u.upid, u.pid, owner_name(p.process, u.pid), 'datagrams (TCPIP)', true,
       socket_port(u.local)
FROM udp_message AS u LEFT JOIN process_name AS p ON p.upid = u.upid
WHERE u.kind = 'receive';
