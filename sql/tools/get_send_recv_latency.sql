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
-- common
keyed AS (
    -- What makes a packet the same: TCP with sequence, length and flags; else the IPv4 id where the
    -- sender counts it, else checksum, length and first payload bytes.
    SELECT direction, ts_ns, packet_id, tuple,
           hash(tuple, seq, ack, flags, payload_length,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) <> 0 THEN ip_id END,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) = 0 THEN checksum END,
                CASE WHEN protocol <> 'tcp' AND coalesce(ip_id, 0) = 0 THEN payload_hash END,
                icmp_type, fragment_offset) AS key
    FROM packet
    WHERE NOT is_repeat AND direction IS NOT NULL AND ip_version IS NOT NULL AND tuple IS NOT NULL
),
story AS (
    -- Sends and receives of a key in time order; the state walks along them: the sends that wait, the
    -- latencies that came out.
    SELECT tuple, key,
           list(struct_pack(ts := ts_ns, sent := direction = 'send', waiting := []::BIGINT[],
                            found := []::BIGINT[])
                ORDER BY ts_ns, direction DESC, packet_id) AS events,
           count(*) FILTER (direction = 'send') AS sends,
           count(*) FILTER (direction = 'receive') AS receives
    FROM keyed GROUP BY tuple, key
),
walked AS MATERIALIZED (
    SELECT tuple, sends, receives,
           list_reduce(
               list_prepend(struct_pack(ts := 0::BIGINT, sent := false, waiting := []::BIGINT[],
                                        found := []::BIGINT[]), events),
               lambda state, event: CASE
                   WHEN event.sent
                       THEN struct_pack(ts := event.ts, sent := true,
                                        waiting := list_append(state.waiting, event.ts),
                                        found := state.found)
                   WHEN len(list_filter(state.waiting, lambda w: w >= event.ts - 10000000)) > 0
                       THEN struct_pack(
                           ts := event.ts, sent := false,
                           waiting := list_filter(state.waiting,
                                                  lambda w: w >= event.ts - 10000000)[2:],
                           found := list_append(state.found, event.ts
                               - list_filter(state.waiting, lambda w: w >= event.ts - 10000000)[1]))
                   ELSE state END).found AS found
    FROM story WHERE sends > 0 AND receives > 0 AND sends + receives <= 256
    UNION ALL
    SELECT tuple, sends, receives, []::BIGINT[] FROM story WHERE sends > 0 AND receives = 0
    UNION ALL
    -- Very many packets that look the same: in order.
    SELECT tuple, sends, receives,
           list_filter(
               list_transform(
                   list_zip(list_transform(list_filter(events, lambda e: e.sent), lambda e: e.ts),
                            list_transform(list_filter(events, lambda e: NOT e.sent),
                                           lambda e: e.ts)),
                   lambda z: z[2] - z[1]),
               lambda d: d >= 0 AND d <= 10000000)
    FROM story WHERE sends > 0 AND receives > 0 AND sends + receives > 256
),
pair AS MATERIALIZED (SELECT tuple, unnest(found) AS latency_ns FROM walked)
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
FROM pair
GROUP BY tuple
ORDER BY count(*) DESC, quantile_cont(latency_ns, 0.99) DESC, tuple
-- section  rest notes
-- out      Note text
SELECT format('{:,} sends have no receive: lost, not captured, or their receiver is another host.',
              sum(sends - len(found))::BIGINT)
FROM walked HAVING sum(sends - len(found)) > 0
UNION ALL
SELECT format('{:,} packets look the same as another one: such pairs are matched in order.', count(*))
FROM walked WHERE sends > 1 AND receives > 1 HAVING count(*) > 0
