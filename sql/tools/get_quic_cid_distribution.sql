-- tool     get_quic_cid_distribution
-- title    QUIC connection ids over CPUs
-- headline **QUIC CID Distribution**
-- group    http
-- place    4
-- about    Do QUIC connection ids spread over CPUs? A generic hash test, and where MsQuic really placed
--          each connection: first bytes of the id, worker, CPUs that received.
-- example  get_quic_cid_distribution(trace_id="...")
-- param    top_n  integer  30 1..1000 Rows.
-- needs    quic
-- note     Bucket = FNV-1a (32 bits) of the source CID modulo the number of CPUs: a generic test of spread, not MsQuic's rule (it puts a partition number into the ids it makes, without a server id in the first two bytes). Bucket -1: no CID was recorded.
-- common
cpus AS (
    SELECT greatest(1, coalesce(max(cpu) + 1, 1))::BIGINT AS n FROM quic_event WHERE id = 5165
),
id AS MATERIALIZED (
    SELECT DISTINCT life, connection, cid FROM quic_event WHERE id = 5148 AND cid <> ''
),
hashed AS MATERIALIZED (
    SELECT i.life, i.connection, i.cid,
           list_reduce(
               list_prepend(2166136261::BIGINT,
                            list_transform(range(0, length(i.cid) // 2),
                                lambda k: ('0x' || i.cid[k * 2 + 1:k * 2 + 2])::BIGINT)),
               lambda h, b: (xor(h, b) * 16777619) % 4294967296) % c.n AS bucket
    FROM id AS i, cpus AS c
    UNION ALL
    SELECT q.life, q.connection, NULL, -1 FROM quic_connection AS q
    WHERE q.life NOT IN (SELECT life FROM id)
)
-- section  main table
-- cap      top_n
-- out      Bucket          id
-- out      "Expected CPU"  id
-- out      Connections     count   Source CIDs.
-- out      "Actual CPUs"   count
-- out      "CPU List"      text(80)
-- empty    No QUIC connection in this trace.
SELECT h.bucket, CASE WHEN h.bucket >= 0 THEN h.bucket END, count(*),
       len(list_distinct(flatten(list(q.cpus) FILTER (q.cpus IS NOT NULL)))),
       array_to_string(list_sort(list_distinct(
           flatten(list(q.cpus) FILTER (q.cpus IS NOT NULL))))[1:16], ' ')
FROM hashed AS h JOIN quic_connection AS q ON q.life = h.life
GROUP BY h.bucket
ORDER BY count(*) DESC, h.bucket
-- section  placement table optional
-- heading  Placement
-- cap      top_n
-- out      CID              text(44)
-- out      ConnectionId     hex
-- out      "First bytes"    id      The first two, little-endian.
-- out      Worker           hex
-- out      "Ideal CPU"      id
-- out      "Received on"    text(80)
SELECT h.cid, h.connection, ('0x' || h.cid[3:4] || h.cid[1:2])::BIGINT, q.worker, q.ideal_cpu,
       array_to_string(q.cpus[1:16], ' ')
FROM hashed AS h JOIN quic_connection AS q ON q.life = h.life
WHERE h.cid IS NOT NULL AND length(h.cid) >= 4
ORDER BY h.cid, h.connection, h.life
