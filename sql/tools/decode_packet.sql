-- tool     decode_packet
-- title    Decode a packet
-- headline **Decoded Packet**
-- group    network
-- place    13
-- about    All headers of the captured packet closest to a time, a block per layer, with checksum
--          checks and the first payload bytes; several when they share the time.
-- example  decode_packet(trace_id="...", timestamp_us=1234567.8)
-- param    timestamp_us  number  required  Microseconds from the start of the trace.
-- needs    ndis_capture pktmon
-- common
near AS (
    SELECT min(abs(ts_ns / 1e3 - $timestamp_us)) AS distance FROM packet_base
),
closest AS MATERIALIZED (
    SELECT p.packet_id, p.ts_ns FROM packet_base AS p, near AS n
    WHERE abs(p.ts_ns / 1e3 - $timestamp_us) = n.distance
    ORDER BY p.ts_ns, p.cpu, p.packet_id LIMIT 5
),
-- Asked for by time, so that the bytes of few row groups are read.
picked AS MATERIALIZED (
    SELECT *, (SELECT distance FROM near) AS distance FROM packet
    WHERE ts_ns IN (SELECT ts_ns FROM closest)
      AND packet_id IN (SELECT packet_id FROM closest)
)
-- section  main table
-- out      "TimeStamp (us)"  us
-- out      "Distance (us)"   number(3)
-- out      Direction         text
-- out      Miniport          text(80)  Interface or component.
-- out      Captured          bytes
-- out      Original          bytes
-- out      5-Tuple           text(110)
-- out      Note              text(80)
-- empty    No captured frame in this trace.
SELECT ts_ns, distance, coalesce(direction, 'unknown'), place, octet_length(bytes), wire_length,
       tuple, concat_ws('; ', 'bytes end in ' || truncated_at, 'malformed ' || malformed,
                        'dropped: ' || dropped)
FROM picked
ORDER BY ts_ns, cpu, packet_id
-- section  layers code
-- heading  Layers
-- out      Line text(400)
SELECT line FROM (
    SELECT ts_ns, cpu, packet_id, unnest(string_split(rtrim(packet_text(bytes, media, original,
                                                           coalesce(direction = 'send', false)),
                                                chr(10)), chr(10))) AS line,
           unnest(range(len(string_split(rtrim(packet_text(bytes, media, original,
                                                           coalesce(direction = 'send', false)),
                                               chr(10)), chr(10))))) AS number
    FROM picked
)
ORDER BY ts_ns, cpu, packet_id, number
