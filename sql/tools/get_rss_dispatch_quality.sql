-- tool     get_rss_dispatch_quality
-- title    Receive-side scaling
-- headline **RSS Dispatch Quality**
-- group    network
-- place    17
-- about    Do processes receive on the CPUs that take the network card's DPCs? Cross-CPU work costs
--          cache misses and wake-ups.
-- example  get_rss_dispatch_quality(trace_id="...")
-- param    min_samples  integer  100 1..1000000 Events or samples from which a process counts.
-- rows     30
-- needs    dpc
-- needs    afd sample
-- note     NIC-DPC CPUs: the fewest CPUs with 95 % of the network driver's DPC time. A high cross_cpu_pct means that packets are processed on one CPU and received on another.
-- common
work AS MATERIALIZED (
    SELECT process, pid, cpu, count(*) AS n FROM receive_event
    WHERE source = 'socket calls (AFD)' GROUP BY ALL
    UNION ALL
    SELECT coalesce(p.process, 'unknown'), p.pid, s.cpu, count(*)
    FROM network_sample AS s LEFT JOIN process_name AS p ON p.upid = s.upid
    WHERE NOT EXISTS (SELECT 1 FROM receive_event WHERE source = 'socket calls (AFD)')
    GROUP BY ALL
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'NIC-DPC CPUs', coalesce(string_agg(cpu::VARCHAR, ' ' ORDER BY cpu),
                                'none: no DPC of a network driver was recorded') FROM nic_cpu
UNION ALL
SELECT 'Receives by', CASE WHEN EXISTS (SELECT 1 FROM receive_event
                                        WHERE source = 'socket calls (AFD)')
                           THEN 'completed socket calls (AFD)'
                           ELSE 'CPU samples with network code in their stack' END
-- section  main table
-- out      "Process Name"   text(60)
-- out      Samples          count
-- out      "NIC-DPC CPUs"   count
-- out      "Recv CPUs"      count
-- out      "Recv CPU list"  text(60)
-- out      same_cpu_pct     pct
-- out      cross_cpu_pct    pct
-- empty    No process reached min_samples.
SELECT owner_label(process, pid), sum(n)::BIGINT, (SELECT count(*) FROM nic_cpu), count(*),
       array_to_string(list_sort(list(cpu))[1:8], ' '),
       CASE WHEN EXISTS (SELECT 1 FROM nic_cpu)
            THEN percent(coalesce(sum(n) FILTER (cpu IN (SELECT cpu FROM nic_cpu)), 0), sum(n)) END,
       CASE WHEN EXISTS (SELECT 1 FROM nic_cpu)
            THEN 100 - percent(coalesce(sum(n) FILTER (cpu IN (SELECT cpu FROM nic_cpu)), 0),
                               sum(n)) END
FROM work
GROUP BY process, pid
HAVING sum(n) >= $min_samples
ORDER BY sum(n) DESC, process, pid
