-- tool     get_udp_dispatch_quality
-- title    UDP receive dispatch
-- headline **UDP Dispatch Quality**
-- group    network
-- place    18
-- about    On which CPUs are datagrams handed up and received, and do those take the network card's
--          DPCs? By process and port.
-- example  get_udp_dispatch_quality(trace_id="...", port=443)
-- param    port         integer  null 0..65535    Local UDP port.
-- param    min_samples  integer  25 1..1000000    Events or samples from which a row counts.
-- rows     30
-- needs    tcpip afd sample
-- note     Datagrams (TCPIP) are counted where the stack hands them up, socket calls (AFD) where the thread completes its receive. Cross-CPU %: share outside the fewest CPUs with 95 % of the network driver's DPC time.
-- common
work AS MATERIALIZED (
    SELECT process, pid, port, source, cpu, count(*) AS n FROM receive_event
    WHERE is_udp AND ($port IS NULL OR port = $port) GROUP BY ALL
    UNION ALL
    SELECT coalesce(p.process, 'unknown'), p.pid, NULL, 'CPU samples', s.cpu, count(*)
    FROM network_sample AS s LEFT JOIN process_name AS p ON p.upid = s.upid
    WHERE NOT EXISTS (SELECT 1 FROM receive_event WHERE is_udp) AND $port IS NULL
      AND lower(s.module) IN ('tcpip.sys', 'afd.sys', 'ws2_32.dll', 'mswsock.dll')
      AND regexp_matches(lower(s.function), 'udp|datagram|dgram')
    GROUP BY ALL
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'NIC-DPC CPUs', coalesce(string_agg(cpu::VARCHAR, ' ' ORDER BY cpu),
                                'none: no DPC of a network driver was recorded') FROM nic_cpu
-- section  main table
-- out      "Process Name"   text(60)
-- out      "UDP samples"    count
-- out      "Recv CPUs"      count
-- out      "Recv CPU list"  text(60)
-- out      "NIC-DPC CPUs"   count
-- out      "Cross-CPU %"    pct
-- out      Port             id
-- out      Source           text
-- empty    No process received enough datagrams.
SELECT owner_label(process, pid), sum(n)::BIGINT, count(*),
       array_to_string(list_sort(list(cpu))[1:8], ' '), (SELECT count(*) FROM nic_cpu),
       CASE WHEN EXISTS (SELECT 1 FROM nic_cpu)
            THEN 100 - percent(coalesce(sum(n) FILTER (cpu IN (SELECT cpu FROM nic_cpu)), 0),
                               sum(n)) END,
       port, source
FROM work
GROUP BY process, pid, port, source
HAVING sum(n) >= $min_samples
ORDER BY sum(n) DESC, process, pid, port, source
