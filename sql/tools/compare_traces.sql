-- tool     compare_traces
-- title    Compare two traces
-- headline **Trace Comparison**
-- group    compare
-- place    1
-- handler  compare_traces
-- trace    none
-- about    What differs between two traces (or two windows of one): CPU by function, module, CPU or
--          process, waits, DPCs, disk, flows, event counts. Everything per second of trace; says which
--          differences are more than noise. Positive: the test uses more. modules="all" for all code.
-- example  compare_traces(baseline_etl="/traces/before.etl", test_etl="/traces/after.etl", modules="all")
-- param    baseline_etl    text     required             Path or trace id.
-- param    test_etl        text     required             Path or trace id.
-- param    mode            enum     hot_functions hot_functions|modules|per_cpu|processes|waits|dpc|disk|flows|events  What to compare.
-- param    modules         text     null                 hot_functions, modules: parts of module names, with commas; all: every module; null: networking.
-- param    max_rows        integer  30 1..               Rows shown.
-- param    baseline_start  number   null 0..             Seconds; part of the baseline only.
-- param    baseline_end    number   null 0..             Seconds.
-- param    test_start      number   null 0..             Seconds; part of the test only.
-- param    test_end        number   null 0..             Seconds.
-- common
picked AS (
    SELECT f.module, f.function, f.symbol_source, f.image_id, s.upid, s.ts_ns, s.weight_ns
    FROM sample AS s
    LEFT JOIN (SELECT n.*, r.image_id FROM frame_name AS n JOIN frame AS r USING (frame_id)) AS f
        ON f.frame_id = s.frame_id
    WHERE NOT s.is_idle AND s.ts_ns >= $from_ns AND s.ts_ns < $to_ns
      AND CASE WHEN $network THEN is_network_module(coalesce(f.module, 'unknown'))
               ELSE filter_hits(coalesce(f.module, 'unknown'), $modules) END
),
flow AS (
    SELECT upid, pid, ts_ns, bytes, 'TCP ' || kind AS kind FROM tcp_event
    WHERE source = (SELECT min(source) FROM tcp_event)
    UNION ALL
    SELECT upid, pid, ts_ns, bytes, 'UDP ' || kind FROM udp_event
    WHERE source = (SELECT min(source) FROM udp_event)
)
-- section  span_samples values
-- out      From id
-- out      To id
SELECT start_ns, end_ns + 1 FROM sample_span
-- section  span_cpu values
-- out      From id
-- out      To id
SELECT coalesce((SELECT start_ns FROM cpu_span), 0),
       coalesce((SELECT end_ns FROM cpu_span), (SELECT duration_ns FROM trace)) + 1
-- section  span_trace values
-- out      From id
-- out      To id
SELECT 0, duration_ns + 1 FROM trace
-- section  facts values
-- out      Facts id
SELECT duration_ns, cpu_count::BIGINT, clock, ticks_per_s::BIGINT,
       CASE WHEN os_build > 0 THEN os_build::VARCHAR || coalesce(' (' || build_lab || ')', '') END,
       (events_lost + buffers_lost)::BIGINT,
       (SELECT coalesce(sum(count), 0)::BIGINT FROM decode_issue WHERE severity = 'data_loss'),
       (SELECT interval_ns FROM sample_span)::BIGINT
FROM trace
-- section  names values
-- out      Module text
SELECT coalesce(p.module, 'unknown'),
       coalesce(sum(p.weight_ns) FILTER (p.symbol_source <> 'unknown'), 0) / sum(p.weight_ns),
       min(coalesce(i.pdb_guid::VARCHAR || ' ' || i.pdb_age::VARCHAR,
                    i.time_date_stamp::VARCHAR || ' ' || i.size_bytes::VARCHAR))
FROM picked AS p LEFT JOIN image AS i ON i.image_id = p.image_id
GROUP BY coalesce(p.module, 'unknown')
-- section  hot_functions table
-- out      Module text
-- out      Function text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline CPU ms/s" number(3)
-- out      "Test CPU ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(module, 'unknown'), coalesce(function, 'unknown'),
       slice_of(ts_ns, $from_ns, $to_ns), sum(weight_ns)::DOUBLE, count(*),
       sum(weight_ns::DOUBLE * weight_ns)
FROM picked GROUP BY ALL
-- section  modules table
-- out      Module text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline CPU ms/s" number(3)
-- out      "Test CPU ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(module, 'unknown'), NULL, slice_of(ts_ns, $from_ns, $to_ns),
       sum(weight_ns)::DOUBLE, count(*), sum(weight_ns::DOUBLE * weight_ns)
FROM picked GROUP BY ALL
-- section  per_cpu table
-- out      CPU id
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline CPU ms/s" number(3)
-- out      "Test CPU ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT cpu::VARCHAR, NULL, slice_of((start_ns + end_ns) // 2, $from_ns, $to_ns),
       sum(busy_ns)::DOUBLE, sum(end_ns - start_ns)::BIGINT, 0.0
FROM cpu_bucket(greatest(1, ($to_ns - $from_ns) // 32), $from_ns, $to_ns) GROUP BY ALL
-- section  processes table
-- out      Process text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline CPU ms/s" number(3)
-- out      "Test CPU ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(p.process, 'unknown'), NULL, slice_of(s.ts_ns, $from_ns, $to_ns),
       sum(s.weight_ns)::DOUBLE, count(*), sum(s.weight_ns::DOUBLE * s.weight_ns)
FROM sample AS s LEFT JOIN process_name AS p ON p.upid = s.upid
WHERE NOT s.is_idle AND s.ts_ns >= $from_ns AND s.ts_ns < $to_ns GROUP BY ALL
-- section  waits table
-- out      Process text
-- out      Reason text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline wait ms/s" number(3)
-- out      "Test wait ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT t.process, wait_reason_name(w.reason), slice_of(w.start_ns, $from_ns, $to_ns),
       sum(w.wait_ns)::DOUBLE, count(*), sum(w.wait_ns::DOUBLE * w.wait_ns)
FROM (SELECT utid, reason, greatest(start_ns, $from_ns) AS start_ns,
             least(coalesce(end_ns, $to_ns), $to_ns) - greatest(start_ns, $from_ns) AS wait_ns
      FROM thread_wait
      WHERE start_ns < $to_ns AND coalesce(end_ns, $to_ns) > $from_ns) AS w
JOIN thread_name AS t ON t.utid = w.utid GROUP BY ALL
-- section  dpc table
-- out      Module text
-- out      Routine text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline DPC ms/s" number(3)
-- out      "Test DPC ms/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(f.module, 'unknown'), coalesce(f.function, 'unknown'),
       slice_of(i.ts_ns, $from_ns, $to_ns), sum(i.duration_ns)::DOUBLE, count(*),
       sum(i.duration_ns::DOUBLE * i.duration_ns)
FROM interrupt AS i LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
WHERE i.kind LIKE '%dpc' AND i.duration_ns IS NOT NULL
  AND i.ts_ns >= $from_ns AND i.ts_ns < $to_ns GROUP BY ALL
-- section  disk table
-- out      Process text
-- out      Operation text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline KB/s" number(3)
-- out      "Test KB/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT process, kind || ' disk ' || disk, slice_of(ts_ns, $from_ns, $to_ns),
       sum(coalesce(bytes, 0))::DOUBLE, count(*),
       sum(coalesce(bytes, 0)::DOUBLE * coalesce(bytes, 0))
FROM disk_transfer WHERE ts_ns >= $from_ns AND ts_ns < $to_ns GROUP BY ALL
-- section  flows table
-- out      Process text
-- out      Flow text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline KB/s" number(3)
-- out      "Test KB/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(p.process, 'pid ' || f.pid, 'unknown'), f.kind,
       slice_of(f.ts_ns, $from_ns, $to_ns), sum(coalesce(f.bytes, 0))::DOUBLE, count(*),
       sum(coalesce(f.bytes, 0)::DOUBLE * coalesce(f.bytes, 0))
FROM flow AS f LEFT JOIN process_name AS p ON p.upid = f.upid
WHERE f.ts_ns >= $from_ns AND f.ts_ns < $to_ns GROUP BY ALL
-- section  events table
-- out      Provider text
-- out      Event text
-- out      "Baseline %" pct  Share of all rows.
-- out      "Test %" pct
-- out      Delta number(4)  Percentage points; positive: the test has more.
-- out      "Baseline events/s" number(3)
-- out      "Test events/s" number(3)
-- out      Ratio number(3)  Test over baseline, per second of trace.
-- out      Significance text  By counts alone: ns below 2, * above 2, ** above 3 standard deviations.
-- out      z number(1)  Standard deviations.
-- out      Change text  more, less, or none: also against how the rate varies inside each trace.
SELECT coalesce(p.name, p.guid::VARCHAR), coalesce(c.event_name, c.task_name, 'event ' || c.id),
       slice_of(e.ts_ns, $from_ns, $to_ns), count(*)::DOUBLE, count(*), count(*)::DOUBLE
FROM event_row AS e
JOIN event_class AS c ON c.class_id = e.class_id
JOIN provider AS p ON p.provider_id = c.provider_id
WHERE e.ts_ns >= $from_ns AND e.ts_ns < $to_ns GROUP BY ALL
UNION ALL
SELECT coalesce(p.name, p.guid::VARCHAR), coalesce(c.event_name, c.task_name, 'event ' || c.id),
       NULL, sum(c.events)::DOUBLE, sum(c.events)::BIGINT, sum(c.events)::DOUBLE
FROM event_class AS c JOIN provider AS p ON p.provider_id = c.provider_id
WHERE $whole AND c.table_name IS NOT NULL GROUP BY ALL
