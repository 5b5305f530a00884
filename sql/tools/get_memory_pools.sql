-- tool     get_memory_pools
-- title    Kernel pool by tag
-- headline **Kernel Pool by Tag**
-- group    memory
-- place    10
-- about    Kernel pool allocations and frees by tag and allocating module, what is still allocated at the
--          end, the peak and the growth. Use it to find who leaks or churns pool. Needs pool events.
-- example  get_memory_pools(trace_id="...", pool_type="nonpaged", sort_by="bytes")
-- param    tag_filter    filter  null  Part of a pool tag; a|b: either.
-- filters  module
-- param    pool_type     enum    null  paged|nonpaged|nx  Kind of pool; nx is non-paged and non-executable.
-- param    sort_by       enum    bytes bytes|allocs|total  Still allocated, allocations, or all bytes allocated.
-- rows     50
-- needs    pool
-- note     Active is what the trace saw allocated and not freed; allocations from before the trace are not in it.
-- common
event AS (
    -- An address is reused: a free belongs to the last allocation of that address before it.
    SELECT ts_ns, seq, kind, address, bytes, tag, pool_type, stack_id,
           lag(kind) OVER w AS before_kind, lead(kind) OVER w AS next_kind, lead(ts_ns) OVER w
               AS next_ns
    FROM pool_event WINDOW w AS (PARTITION BY address ORDER BY ts_ns, seq)
),
owner AS (
    SELECT stack_id, pool_owner(stack_modules(stack_id)) AS module
    FROM (SELECT DISTINCT stack_id FROM pool_event WHERE kind = 'alloc' AND stack_id IS NOT NULL)
),
block AS MATERIALIZED (
    SELECT e.ts_ns, e.bytes::BIGINT AS bytes, e.tag, pool_kind(e.pool_type) AS pool,
           coalesce(s.module, 'unknown') AS module,
           CASE WHEN e.next_kind = 'free' THEN e.next_ns END AS free_ns,
           e.next_kind = 'alloc' AS lost_free
    FROM event AS e LEFT JOIN owner AS s ON s.stack_id = e.stack_id
    WHERE e.kind = 'alloc' AND filter_hits(e.tag, $tag_filter)
        AND filter_hits(s.module, $module_filter)
      AND ($pool_type IS NULL OR list_contains(CASE $pool_type WHEN 'paged' THEN ['paged',
          'paged session']
              WHEN 'nx' THEN ['nonpaged nx', 'nonpaged nx session'] ELSE ['nonpaged',
                  'nonpaged nx', 'nonpaged session', 'nonpaged nx session'] END,
                  pool_kind(e.pool_type)))
),
stray AS MATERIALIZED (
    SELECT tag, pool_kind(pool_type) AS pool, count(*) AS frees FROM event
    WHERE kind = 'free' AND before_kind IS DISTINCT FROM 'alloc' GROUP BY ALL
),
moment AS (
    SELECT tag, module, pool, ts_ns, bytes AS delta FROM block
    UNION ALL SELECT tag, module, pool, free_ns, -bytes FROM block WHERE free_ns IS NOT NULL
),
peak AS (
    SELECT tag, module, pool, max(size) AS peak_bytes, min(delta) >= 0 AS only_grew
    FROM (SELECT tag, module, pool, delta, sum(delta) OVER (PARTITION BY tag, module,
        pool ORDER BY ts_ns, delta DESC ROWS UNBOUNDED PRECEDING) AS size FROM moment)
    GROUP BY ALL
),
total AS MATERIALIZED (
    SELECT b.tag, b.module, b.pool, count(*) AS allocs, count(b.free_ns) AS frees,
           count(*) FILTER (b.free_ns IS NULL AND NOT coalesce(b.lost_free, false)) AS active,
           coalesce(sum(b.bytes) FILTER (b.free_ns IS NULL AND NOT coalesce(b.lost_free, false)),
               0)::BIGINT AS active_bytes,
           sum(b.bytes)::BIGINT AS all_bytes, any_value(p.peak_bytes)::BIGINT AS peak_bytes,
               any_value(p.only_grew) AS only_grew
    FROM block AS b JOIN peak AS p ON p.tag = b.tag AND p.module = b.module AND p.pool = b.pool
    GROUP BY b.tag, b.module, b.pool
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', 'pool events (exact)' || CASE WHEN EXISTS (SELECT 1 FROM pool_event
    WHERE stack_id IS NOT NULL) THEN '; modules from their stacks'
       ELSE '; no stacks are recorded with them, so modules are unknown (stack flag PoolAlloc)' END
UNION ALL
SELECT 'Totals', format('{:,} allocations ({:,} KB), {:,} of them freed, {:,} active ({:,} KB)',
    coalesce(sum(allocs), 0)::BIGINT, coalesce(sum(all_bytes), 0)::BIGINT // 1024,
              coalesce(sum(frees), 0)::BIGINT, coalesce(sum(active), 0)::BIGINT,
                  coalesce(sum(active_bytes), 0)::BIGINT // 1024)
FROM total
UNION ALL
SELECT 'Frees of older blocks', format('{:,} (allocated before the trace, or their allocation was '
    'lost)', sum(frees)::BIGINT)
FROM stray HAVING sum(frees) > 0
-- section  main table
-- out      Tag           text
-- out      Module        text(60)  First frame below the pool routines; unknown without a stack.
-- out      Pool          text
-- out      Allocs        count
-- out      Frees         count
-- out      Active        count
-- out      "Active KB"   kb
-- out      "% of Total"  pct       Of all active bytes.
-- out      "Peak KB"     kb        Highest within the trace.
-- out      "Growth KB/s" number
-- empty    No pool allocation here.
SELECT tag, module, pool, allocs, frees, active, active_bytes, percent(active_bytes,
    sum(active_bytes) OVER ()), peak_bytes,
       active_bytes / 1024.0 / greatest(1e-9, (SELECT duration_ns / 1e9 FROM trace))
FROM total
ORDER BY CASE $sort_by WHEN 'bytes' THEN active_bytes WHEN 'allocs' THEN allocs
    ELSE all_bytes END DESC, allocs DESC, tag, module, pool
-- section  grew notes
-- out      Note text
SELECT 'Never freed in the trace, so their active size only grew: ' || string_agg(tag,
    ', ' ORDER BY active_bytes DESC, tag)
FROM (SELECT tag, sum(active_bytes) AS active_bytes FROM total GROUP BY tag
    HAVING bool_and(only_grew) AND sum(allocs) > 1 ORDER BY sum(active_bytes) DESC, tag LIMIT 10)
HAVING count(*) > 0
UNION ALL
SELECT format('{:,} blocks were allocated again at the same address without a free in between: '
    'frees were lost.', count(*))
FROM block WHERE lost_free HAVING count(*) > 0
