-- Journeys of packets through the components that PktMon watches.

-- A packet is (group, number). A component that clones or makes a packet anew gives it another
-- group: such units join by content when they follow within 50 ms and share no place.
CREATE TABLE packet_unit AS
WITH unit AS (
    SELECT group_id, number, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
           list_distinct(list(interface_number::VARCHAR || '/' || place)) AS places,
           arg_min(struct_pack(p := protocol, s := src, d := dst, sp := sport, dp := dport,
                               q := seq, a := ack, l := payload_length, i := ip_id, c := checksum,
                               t := icmp_type, h := payload_hash, f := fragment_offset),
                   (ts_ns, cpu, packet_id)) AS content,
           arg_min(protocol, (ts_ns, cpu, packet_id)) AS protocol
    FROM packet WHERE source = 'pktmon' AND group_id IS NOT NULL GROUP BY group_id, number
),
followed AS (
    SELECT *, lag(last_ns) OVER w AS before_ns, lag(places) OVER w AS places_before
    FROM unit
    WINDOW w AS (PARTITION BY content ORDER BY first_ns, group_id, number)
),
begun AS (
    SELECT *, sum(CASE WHEN before_ns IS NULL OR first_ns - before_ns > 50000000
                            OR list_has_any(places, places_before) OR protocol = 'undecoded'
                       THEN 1 ELSE 0 END)
                  OVER (PARTITION BY content ORDER BY first_ns, group_id, number) AS nth
    FROM followed
)
SELECT group_id, number, dense_rank() OVER (ORDER BY content, nth) AS unit_id FROM begun;

-- Every appearance with its journey: a pause of 50 ms or a second visit of a place ends one.
CREATE TABLE journey_stage AS
WITH placed AS (
    SELECT u.unit_id, p.packet_id, p.ts_ns, p.cpu, p.direction, p.protocol, p.tuple, p.place, p.dropped,
           p.src, p.sport, p.dst, p.dport, p.interface AS component, p.layer AS edge,
           p.appearance, p.interface || '/' || p.layer AS site
    FROM packet AS p
    JOIN packet_unit AS u ON u.group_id = p.group_id AND u.number = p.number
    WHERE p.source = 'pktmon'
),
cut AS (
    SELECT *, coalesce(ts_ns - lag(ts_ns) OVER w > 50000000, false)
                  OR row_number() OVER (PARTITION BY unit_id, site, dropped IS NOT NULL
                                        ORDER BY ts_ns, cpu, packet_id) > 1
                     AND dropped IS NULL AS begins
    FROM placed
    WINDOW w AS (PARTITION BY unit_id ORDER BY ts_ns, cpu, packet_id)
),
numbered AS (
    SELECT *, sum(CASE WHEN begins THEN 1 ELSE 0 END)
                  OVER (PARTITION BY unit_id ORDER BY ts_ns, cpu, packet_id) AS part
    FROM cut
)
SELECT unit_id || '.' || part AS journey, * EXCLUDE (begins, part),
       row_number() OVER (PARTITION BY unit_id, part ORDER BY ts_ns, appearance, cpu, packet_id) AS stage
FROM numbered;

-- One row per journey. Complete: it has both ends of the most common path of its direction.
CREATE TABLE journey AS
WITH whole AS (
    SELECT journey, coalesce(any_value(direction), 'unknown') AS direction,
           any_value(protocol) AS protocol, any_value(tuple) AS tuple, any_value(src) AS src,
           any_value(sport) AS sport, any_value(dst) AS dst, any_value(dport) AS dport,
           min(ts_ns) AS first_ns, max(ts_ns) - min(ts_ns) AS total_ns, count(*) AS stages,
           list(site ORDER BY stage) AS path, list(place ORDER BY stage) AS places,
           max(dropped) AS dropped
    FROM journey_stage GROUP BY journey
),
common_path AS (
    SELECT direction, arg_max(path, (n, len(path), path)) AS path
    FROM (SELECT direction, path, count(*) AS n FROM whole WHERE dropped IS NULL GROUP BY ALL)
    GROUP BY direction
)
SELECT w.*, c.path IS NOT NULL AND len(c.path) > 1 AND list_contains(w.path, c.path[1])
                AND list_contains(w.path, c.path[-1]) AND w.dropped IS NULL AS complete
FROM whole AS w LEFT JOIN common_path AS c ON c.direction = w.direction;
