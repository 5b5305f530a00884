-- tool     get_send_recv_latency
-- title    Send to receive latency
-- headline **Send-to-Receive Latency**
-- group    network
-- place    14
-- about    Time from a captured send to the captured receive of the same packet, per flow. Only where
--          both ends share a clock: loopback, or a virtual switch on one host.
-- example  get_send_recv_latency(trace_id="...")
-- param    top_n  integer  20 1..1000 Flows.
-- needs    ndis_capture pktmon
-- note     A receive matches the oldest unmatched send of the same packet at most 10,000 us before it. Both ends must share a clock, so this tells of traffic within one host only.
-- section  main table
-- cap      top_n
-- out      Flow         text(110)
-- out      Pairs        count
-- out      "p50 (us)"   us
-- out      "p99 (us)"   us~
-- out      "p999 (us)"  us~
-- out      "min (us)"   us
-- out      "max (us)"   us
-- empty    No send was matched with a receive of the same packet: the capture holds one end only.
SELECT tuple, count(*), quantile_cont(latency_ns, 0.5), quantile_cont(latency_ns, 0.99),
       count(*) < 100, quantile_cont(latency_ns, 0.999), count(*) < 1000, min(latency_ns),
       max(latency_ns)
FROM packet_match
GROUP BY tuple
ORDER BY count(*) DESC, quantile_cont(latency_ns, 0.99) DESC, tuple
-- section  rest notes
-- out      Note text
SELECT format('{:,} sends have no receive: lost, not captured, or their receiver is another host.',
              unmatched)
FROM packet_match_rest WHERE unmatched > 0
UNION ALL
SELECT format('{:,} packets look the same as another one: such pairs are matched in order.', alike)
FROM packet_match_rest WHERE alike > 0
