-- DPC and ISR executions with the time that is theirs alone: what nested ones took is taken out of
-- the ones around them, so own_ns of a CPU adds up to its time at raised level, never more.
CREATE TABLE interrupt_own AS
WITH one AS (
    SELECT cpu, kind, frame_id, duration_ns, greatest(start_ns, 0) AS start_ns, ts_ns AS end_ns,
           row_number() OVER (ORDER BY cpu, start_ns, ts_ns DESC, seq DESC) AS id
    FROM interrupt WHERE duration_ns IS NOT NULL
),
-- Three levels of nesting; deeper ones stay with the third. end_ns of all before: what is covered.
level1 AS (
    SELECT *, coalesce(max(end_ns) OVER (PARTITION BY cpu ORDER BY id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS covered_ns
    FROM one
),
owner1 AS (
    SELECT *, end_ns <= covered_ns AS nested, greatest(0, end_ns - greatest(start_ns, covered_ns))
        AS new_ns,
           max(CASE WHEN end_ns > covered_ns THEN id END) OVER (PARTITION BY cpu ORDER BY id)
               AS owner
    FROM level1
),
level2 AS (
    SELECT * EXCLUDE (covered_ns, nested, new_ns),
           coalesce(max(end_ns) OVER (PARTITION BY cpu ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING
               AND 1 PRECEDING), 0) AS covered_ns
    FROM owner1 WHERE nested
),
owner2 AS (
    SELECT *, end_ns <= covered_ns AS nested, greatest(0, end_ns - greatest(start_ns, covered_ns))
        AS new_ns,
           max(CASE WHEN end_ns > covered_ns THEN id END) OVER (PARTITION BY cpu ORDER BY id)
               AS owner2
    FROM level2
),
level3 AS (
    SELECT * EXCLUDE (covered_ns, nested, new_ns),
           coalesce(max(end_ns) OVER (PARTITION BY cpu ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING
               AND 1 PRECEDING), 0) AS covered_ns
    FROM owner2 WHERE nested
),
owner3 AS (
    SELECT *, greatest(0, end_ns - greatest(start_ns, covered_ns)) AS new_ns FROM level3
),
own AS (
    SELECT o.id, o.new_ns - coalesce(n.ns, 0) AS own_ns
    FROM owner1 AS o LEFT JOIN (SELECT owner, sum(new_ns) AS ns FROM owner2 GROUP BY owner) AS n
        ON n.owner = o.id
    WHERE NOT o.nested
    UNION ALL
    SELECT o.id, o.new_ns - coalesce(n.ns, 0)
    FROM owner2 AS o LEFT JOIN (SELECT owner2, sum(new_ns) AS ns FROM owner3 GROUP BY owner2) AS n
        ON n.owner2 = o.id
    WHERE NOT o.nested
    UNION ALL
    SELECT id, new_ns FROM owner3
)
SELECT i.cpu, i.kind, i.kind LIKE '%isr%' AS is_isr, i.frame_id, i.start_ns, i.end_ns,
    i.duration_ns,
       w.own_ns::BIGINT AS own_ns
FROM one AS i JOIN own AS w ON w.id = i.id;

-- Time of each turn on a CPU that DPCs and ISRs took; turns without any are left out.
CREATE TABLE turn_interrupt AS
SELECT t.cpu, t.start_ns, t.utid, sum(i.own_ns)::BIGINT AS own_ns
FROM interrupt_own AS i
ASOF JOIN (SELECT cpu, utid, start_ns, end_ns FROM cpu_turn WHERE whole AND end_ns > start_ns) AS t
    ON t.cpu = i.cpu AND t.start_ns <= i.start_ns
WHERE i.start_ns < t.end_ns AND i.own_ns > 0
GROUP BY t.cpu, t.start_ns, t.utid;

-- Buckets of a duration: 0 is below 1 us, n is 2^(n-1) to 2^n us, 16 is 32768 us and above.
CREATE MACRO bucket_label(bucket) AS
    CASE
        WHEN bucket <= 0 THEN '0-1'
        WHEN bucket >= 16 THEN '>= 32768'
        ELSE (1::BIGINT << (bucket - 1)::INTEGER)::VARCHAR || '-'
            || (1::BIGINT << bucket::INTEGER)::VARCHAR
    END;

CREATE MACRO duration_bucket(ns) AS
    CASE WHEN ns IS NOT NULL
         THEN bucket_label(CASE WHEN ns < 1000 THEN 0 ELSE least(16,
             floor(log2(ns // 1000))::INTEGER + 1) END) || ' us' END;
