-- tool     get_pktmon_layer_latency
-- title    Latency between network components
-- headline **Pktmon Layer Latency**
-- group    network
-- place    15
-- handler  get_pktmon_layer_latency
-- about    Time that packets spend between network components (a PktMon capture): percentiles per hop
--          and the slowest journeys. Use it to find the layer that delays or drops packets.
-- example  get_pktmon_layer_latency(trace_id="...", direction="rx")
-- param    five_tuple  text     null       One flow, either direction: "a:p -> b:q", "a:p <-> b:q", IPv6 as [addr]:port.
-- param    direction   enum     null tx|send|rx|recv  Packets that go out or come in.
-- rows     30
-- needs    pktmon
-- note     Packets are followed by PktMon's own number; pieces that a component made anew are joined by content. A journey ends after a pause of 50,000 us or at a second visit of a place. Complete: it has both ends of the most common path of its direction.
-- common
picked AS MATERIALIZED (
    SELECT * FROM journey
    WHERE tuple_hits(src, sport, dst, dport, protocol, nullif($five_tuple, ''))
      AND ($direction IS NULL
           OR direction = CASE WHEN $direction IN ('tx', 'send') THEN 'send' ELSE 'receive' END)
),
hop AS MATERIALIZED (
    SELECT p.direction, p.protocol, 'high' AS confidence, s.stage,
           lag(s.site) OVER w || ' -> ' || s.site AS hop,
           lag(s.place) OVER w || ' -> ' || s.place AS places,
           s.ts_ns - lag(s.ts_ns) OVER w AS hop_ns
    FROM journey_stage AS s JOIN picked AS p ON p.journey = s.journey
    WINDOW w AS (PARTITION BY s.journey ORDER BY s.stage)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Journeys grouped', count(*)::VARCHAR FROM picked HAVING count(*) > 0
UNION ALL
SELECT 'Complete journeys', count(*) FILTER (complete)::VARCHAR FROM picked HAVING count(*) > 0
UNION ALL
SELECT 'Grouping window', '50,000 us' FROM picked HAVING count(*) > 0
UNION ALL
SELECT 'Component names', CASE WHEN EXISTS (SELECT 1 FROM pktmon_component)
                               THEN 'from the trace' ELSE 'none: numbers only' END
FROM picked HAVING count(*) > 0
-- section  main table
-- out      Direction        text
-- out      Protocol         text
-- out      Hop              text       component/edge.
-- out      "Component Hop"  text(160)
-- out      Confidence       text
-- out      Samples          count
-- out      "p50 (us)"       us
-- out      "p95 (us)"       us
-- out      "p99 (us)"       us~
-- out      "Max (us)"       us
-- empty    No packet was seen at two places.
SELECT direction, protocol, hop, any_value(places), confidence, count(*),
       quantile_cont(hop_ns, 0.5), quantile_cont(hop_ns, 0.95), quantile_cont(hop_ns, 0.99),
       count(*) < 100, max(hop_ns)
FROM hop
WHERE hop IS NOT NULL AND hop_ns >= 0
GROUP BY direction, protocol, hop, confidence
ORDER BY quantile_cont(hop_ns, 0.99) DESC, direction, protocol, hop
-- section  slowest table optional
-- heading  Slowest journeys
-- out      Journey          id
-- out      Direction        text
-- out      Protocol         text
-- out      Confidence       text
-- out      Stages           count
-- out      "Total us"       us
-- out      5-Tuple          text(110)
-- out      Path             text(100)
-- out      "Friendly Path"  text(240)
-- out      End              text(80)
SELECT row_number() OVER (ORDER BY total_ns DESC, first_ns, journey), direction, protocol, 'high',
       stages, total_ns, tuple, array_to_string(path, ' -> '), array_to_string(places, ' -> '),
       CASE WHEN dropped IS NOT NULL THEN 'dropped: ' || dropped
            WHEN complete THEN 'complete' ELSE 'part of the path' END
FROM picked
ORDER BY total_ns DESC, first_ns, journey
LIMIT 10
-- section  backwards notes
-- out      Note text
SELECT format('{} hops go back in time (clocks of two CPUs): they are left out.', count(*))
FROM hop WHERE hop_ns < 0 HAVING count(*) > 0
