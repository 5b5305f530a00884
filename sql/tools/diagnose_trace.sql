-- tool     diagnose_trace
-- title    Health of a trace
-- headline **Trace Health**
-- group    system
-- place    2
-- handler  diagnose_trace
-- about    Whether a trace can be trusted: lost events and buffers and when, missing rundown, identity,
--          ready events or stacks, broken stacks, unattributed samples, clock oddities, wrapped logs;
--          a grade, what each defect makes untrustworthy, and the capture setting that avoids it.
-- example  diagnose_trace(trace_id="...")
-- rows     40
-- next     get_trace_stats(trace_id="{trace_id}")
-- common
t AS MATERIALIZED (SELECT * FROM trace LIMIT 1),
hook AS MATERIALIZED (SELECT hook, sum(events)::BIGINT AS events, sum(stacks)::BIGINT AS stacks,
    min(first_ts_ns) AS first_ns, max(last_ts_ns) AS last_ns FROM event_class WHERE hook > 0
    GROUP BY hook),
source AS MATERIALIZED (SELECT source, events, state FROM trace_source),
has AS MATERIALIZED (
    SELECT coalesce(max(events) FILTER (source = 'sample'), 0) AS samples,
           coalesce(max(events) FILTER (source = 'context_switch'), 0) AS switches,
           coalesce(max(events) FILTER (source = 'ready_thread'), 0) AS readies,
           coalesce(max(events) FILTER (source = 'stack'), 0) AS stacks,
           coalesce(max(events) FILTER (source = 'image'), 0) AS images,
           coalesce(max(events) FILTER (source IN ('sample', 'context_switch', 'dpc', 'isr',
               'disk_io', 'file_io', 'tcp', 'thread')), 0) AS kernel
    FROM source
),
issue AS (SELECT kind, severity, count, bytes, about FROM decode_issue),
turns AS MATERIALIZED (
    SELECT count(*) AS turns, count(*) FILTER (NOT whole) AS broken, min(end_ns) FILTER (NOT whole)
        AS first_ns, max(end_ns) FILTER (NOT whole) AS last_ns
    FROM cpu_turn
),
lapping AS MATERIALIZED (SELECT count(*) AS laps FROM thread_turn WHERE ran AND cpu_end_ns
    > end_ns),
attributed AS MATERIALIZED (
    SELECT sum(s.weight_ns) AS all_ns,
           coalesce(sum(s.weight_ns) FILTER (f.module = 'unknown' OR f.module IS NULL), 0)
               AS no_module_ns,
           coalesce(sum(s.weight_ns) FILTER (s.upid IS NULL OR p.origin = 'inferred'), 0)
               AS no_process_ns,
           coalesce(sum(s.weight_ns) FILTER (f.module <> 'unknown'
               AND f.symbol_source = 'unknown'), 0) AS no_symbol_ns
    FROM (SELECT upid, frame_id, sum(weight_ns) AS weight_ns FROM sample WHERE NOT is_idle
        GROUP BY ALL) AS s
    LEFT JOIN frame_name AS f ON f.frame_id = s.frame_id LEFT JOIN process AS p ON p.upid = s.upid
),
stack_class AS MATERIALIZED (
    SELECT class, any_value(place) AS place, sum(events)::BIGINT AS events,
        sum(events) FILTER (stack_id IS NOT NULL)::BIGINT AS with_stack,
           sum(events) FILTER (r.depth = 1)::BIGINT AS single,
           sum(events) FILTER (is_user AND f.is_kernel)::BIGINT AS kernel_only,
           sum(events) FILTER (is_user AND stack_id IS NOT NULL)::BIGINT AS of_user
    FROM (
        SELECT 1 AS place, 'CPU samples' AS class, s.stack_id, coalesce(p.pid NOT IN (0, 4), false)
            AS is_user, count(*) AS events
        FROM sample AS s LEFT JOIN process AS p ON p.upid = s.upid WHERE NOT s.is_idle
            AND NOT s.in_dpc AND NOT s.in_isr GROUP BY ALL
        UNION ALL
        SELECT 2, 'context switches', c.stack_id, coalesce(n.pid NOT IN (0, 4), false), count(*)
        FROM context_switch AS c LEFT JOIN thread AS n ON n.utid = c.new_utid WHERE c.new_tid <> 0
            GROUP BY ALL
        UNION ALL
        SELECT 3, 'ready events', r.stack_id, false, count(*) FROM ready_thread AS r GROUP BY ALL
        UNION ALL
        SELECT 4, 'disk transfers', d.stack_id, false, count(*) FROM disk_io_init AS d GROUP BY ALL
        UNION ALL
        SELECT 5, 'hard faults', h.stack_id, false, count(*) FROM hard_fault AS h GROUP BY ALL
    ) AS x
    LEFT JOIN stack_root AS r USING (stack_id)
    LEFT JOIN stack AS b ON b.stack_id = r.root_id
    LEFT JOIN frame AS f ON f.frame_id = b.frame_id
    GROUP BY class
),
check_row AS MATERIALIZED (
    SELECT 10 AS place, CASE WHEN events_lost > 0.05 * events THEN 3 WHEN events_lost > 0.001
        * events THEN 2 ELSE 1 END AS weight,
           'Lost events' AS name, format('{:,} of about {:,} ({:.3f}%)', events_lost,
               events + events_lost, 100.0 * events_lost / greatest(1, events + events_lost))
               AS finding,
           'Counts and sums are too low; pairs (switch in and out, start and end) break near the '
               'losses' AS harm,
           'More or larger buffers (wpr: BufferSize 1024, Buffers 20% of memory; logman -bs 1024 '
               '-nb 256 512), fewer providers, a faster disk' AS remedy
    FROM t WHERE events_lost > 0
    UNION ALL
    SELECT 20, CASE WHEN buffers_lost > 0.05 * buffers_read THEN 3 ELSE 2 END, 'Lost buffers',
        format('{:,} buffers of {:,} bytes', buffers_lost, buffer_size_bytes),
           'Whole stretches of one CPU are missing: idle times, gaps and totals there mean '
               'nothing', 'More buffers; write to a disk of its own; file mode instead of real time'
    FROM t WHERE buffers_lost > 0
    UNION ALL
    SELECT 30, CASE WHEN sum(bytes) > 0.05 * (SELECT size_bytes FROM t) THEN 3 ELSE 2 END,
        'Damaged file', string_agg(format('{} x {:,}', kind, count), ', ' ORDER BY count DESC,
        kind),
           'What could not be read is missing in every answer',
               'Stop the session in the ordinary way, let the merge end, copy the whole file'
    FROM issue WHERE severity = 'data_loss' AND kind NOT LIKE '%lost%'
        AND kind NOT IN ('stack_key_undefined', 'short_payload') HAVING count(*) > 0
    UNION ALL
    SELECT 35, 1, 'Loss marks in buffers', string_agg(format('{} x {:,}', kind, count),
        ', ' ORDER BY kind),
           'Events are missing before these buffers', 'More or larger buffers' FROM issue
               WHERE kind IN ('events_lost_flag', 'buffers_lost_flag') HAVING count(*) > 0
    UNION ALL
    SELECT 40, 2, 'Wrapped log', format('circular or in-memory log (mode {}): what came before '
        '{:.3f} s was overwritten', hex_text(log_file_mode), first_event_ns / 1e9),
           'The beginning is missing: rundown, starts of processes, and the cause if it came '
               'earlier', 'File mode (wpr -filemode), or a larger ring'
    FROM t WHERE log_file_mode & 2 = 2 OR log_file_mode & 1024 = 1024
    UNION ALL
    SELECT 45, 2, 'Unread buffers', format('{:,} of {:,} written buffers are in the file',
        buffers_read, buffers_written),
           'The file is cut or was overwritten: the rest of the trace is missing',
               'Copy the whole file after the session has stopped'
    FROM t WHERE buffers_written > buffers_read + 1 AND NOT (log_file_mode & 2 = 2)
    UNION ALL
    SELECT 50, 2, 'No process or thread rundown',
        format('{:,} processes are known only by their numbers', (SELECT count(*) FROM process
        WHERE origin = 'inferred')),
           'Names of processes that began before the trace; which process a thread belongs to',
               'Stop with the tool that started the session (wpr -stop), so that the rundown is '
               'written'
    FROM has WHERE kernel > 0 AND NOT EXISTS (SELECT 1 FROM hook WHERE hook IN (771, 772, 1283,
        1284))
    UNION ALL
    SELECT 55, 2, 'No image rundown', 'no list of the modules that were loaded before the trace',
           'Addresses in them have no module and no function name',
               'Loader flag, and stop with the tool that started the session'
    FROM has WHERE samples + stacks > 0 AND NOT EXISTS (SELECT 1 FROM hook WHERE hook IN (5123,
        5124))
    UNION ALL
    SELECT 60, 1, 'No identity of the modules',
        format('{:,} of {:,} modules carry no PDB identity', count(*) FILTER (pdb_guid IS NULL),
        count(*)),
           'Symbols of these modules cannot be found reliably',
               'Merge the trace on the machine it came from (wpr -stop, xperf -d, tracelog merge)'
    FROM (SELECT lower(name) AS name, max(pdb_guid::VARCHAR) AS pdb_guid FROM image GROUP BY 1)
    HAVING count(*) FILTER (pdb_guid IS NULL) > 0.5 * count(*) AND count(*) > 0
    UNION ALL
    SELECT 65, 1, 'No machine configuration',
        'computer, memory, disks and network cards are unknown',
           'Names of disks and cards, number of processors',
               'Stop the kernel session in the ordinary way (it writes the configuration last)'
    FROM has WHERE kernel > 0 AND NOT EXISTS (SELECT 1 FROM source WHERE source = 'system_config'
        AND events > 0)
    UNION ALL
    SELECT 70, 1, 'No ready events', 'context switches without ready events',
           'Who woke a thread, and how long it waited for a CPU: get_wait_analysis and '
               'get_critical_path cannot follow wakers',
               'WPR flag ReadyThread (capture scenario cpu_dpc_isr), with its stacks'
    FROM has WHERE switches > 0 AND readies = 0
    UNION ALL
    SELECT 75, 2, 'No stacks', 'no stack is recorded with the samples or switches',
           'Everything about call paths: who calls, where threads wait',
               'Stack flags SampledProfile, CSwitch, ReadyThread'
    FROM has WHERE samples + switches > 0 AND stacks = 0
    UNION ALL
    SELECT 80, CASE WHEN kernel_only > 0.2 * of_user THEN 2 ELSE 1 END, 'Broken stacks: ' || class,
           format('{:.1f}% of the stacks of user processes have no user part, {:.1f}% a single '
               'frame', 100.0 * coalesce(kernel_only, 0) / greatest(1, of_user),
               100.0 * coalesce(single, 0) / greatest(1, with_stack)),
           'Call paths end in the kernel: who called is unknown there',
               'DisablePagingExecutive=1 (64-bit kernels before Windows 8), more buffers; code '
               'without frame data (JIT) cannot be walked'
    FROM stack_class WHERE of_user > 0 AND (kernel_only > 0.05 * of_user)
    UNION ALL
    SELECT 82, 1, 'Events without stacks: ' || class, format('{:.1f}% have one',
        100.0 * coalesce(with_stack, 0) / events),
           'Sums by stack leave these out', 'Stack flag of this class'
    FROM stack_class, has WHERE has.stacks > 0 AND with_stack > 0 AND with_stack < 0.9 * events
    UNION ALL
    SELECT 84, 1, 'Stacks that belong to nothing',
        format('{:,} without their event, {:,} references to undefined cached stacks',
        coalesce(sum(count) FILTER (kind = 'stack_unpaired'), 0)::BIGINT,
        coalesce(sum(count) FILTER (kind = 'stack_key_undefined'), 0)::BIGINT),
           'Some events have no stack although one was taken',
               'Do not filter the file; more buffers'
    FROM issue WHERE kind IN ('stack_unpaired', 'stack_key_undefined') HAVING sum(count) > 0.01
        * greatest(1, (SELECT stacks FROM has))
    UNION ALL
    SELECT 90, CASE WHEN no_module_ns + no_process_ns > 0.2 * all_ns THEN 2 ELSE 1 END,
        'Unattributed samples',
           format('{:.1f}% of the busy weight has no module, {:.1f}% no process',
               100.0 * no_module_ns / all_ns, 100.0 * no_process_ns / all_ns),
           'Shares of modules and processes are too low by that much',
               'Loader and process flags with rundown; JIT rundown for managed code'
    FROM attributed WHERE all_ns > 0 AND no_module_ns + no_process_ns > 0.02 * all_ns
    UNION ALL
    SELECT 100, CASE WHEN broken > 0.1 * turns THEN 2 ELSE 1 END, 'Missing context switches',
           format('{:,} of {:,} do not follow from the one before on their CPU, between {:.3f} and '
               '{:.3f} s', broken, turns, first_ns / 1e9, last_ns / 1e9),
           'Running and waiting times around them are unknown; per-CPU utilisation falls back to '
               'samples', 'More buffers; do not filter the file to one process'
    FROM turns WHERE broken > 0
    UNION ALL
    SELECT 110, 1, 'Clock steps back', format('{:,} timestamps are below the one before them in '
        'their stream', sum(count)::BIGINT),
           'Durations around these points',
               'QPC clock (the default); update firmware when it persists' FROM issue
               WHERE kind = 'time_backwards' HAVING sum(count) > 0
    UNION ALL
    SELECT 112, 1, 'Overlapping turns', format('{:,} turns of a thread on one CPU overlap its next '
        'on another', laps),
           'Clocks of the processors differ, or switches are missing: short durations are '
               'uncertain', 'QPC clock' FROM lapping WHERE laps > 0
    UNION ALL
    SELECT 114, 1, 'Absurd DPC or ISR times', format('{:,} events', count(*)),
        'They are left out of DPC sums', 'QPC clock' FROM interrupt WHERE duration_ns IS NULL
        HAVING count(*) > 0
    UNION ALL
    SELECT 116, 1, 'Coarse clock', 'the system time is the clock: it steps once per timer '
        'interrupt (1 to 16 ms)', 'Short durations and the order of events',
        'QPC clock (logman -ct perf)' FROM t WHERE clock = 'system_time'
    UNION ALL
    SELECT 120, 1, 'Sample interval unknown', '1 ms is assumed', 'CPU time from samples',
        'Keep the header events of the kernel session' FROM has WHERE samples > 0
        AND NOT EXISTS (SELECT 1 FROM sample_interval WHERE source = 0)
    UNION ALL
    SELECT 125, 1, 'Silent CPUs', format('{:,} stretches over 1 s without an event on a CPU, the '
        'longest {:.1f} s on CPU {}', count(*), max(end_ns - start_ns) / 1e9, arg_max(cpu,
        (end_ns - start_ns, -cpu::BIGINT))),
           'The CPU slept, or its buffers are missing' || CASE WHEN (SELECT events_lost
               + buffers_lost > 0 FROM t) THEN ' (the trace did lose events)' ELSE '' END,
               'None when it slept'
    FROM cpu_gap WHERE end_ns - start_ns > 1000000000 AND (SELECT samples + switches > 0 FROM has)
        HAVING count(*) > 0
    UNION ALL
    SELECT 130, 3, 'No events', 'the file holds no event', 'Everything', 'Record again' FROM t
        WHERE events = 0
),
grade AS (
    SELECT CASE WHEN count(*) FILTER (weight = 3) >= 2 THEN 'F'
                WHEN count(*) FILTER (weight = 3) = 1 THEN 'D'
                WHEN count(*) FILTER (weight = 2) > 0 THEN 'C'
                WHEN count(*) > 0 THEN 'B' ELSE 'A' END AS grade,
           count(*) FILTER (weight = 3) AS serious, count(*) FILTER (weight = 2) AS major,
               count(*) FILTER (weight = 1) AS minor
    FROM check_row
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Grade', format('{} ({} serious, {} major, {} minor defects)', grade, serious, major, minor)
    FROM grade
UNION ALL
SELECT 'Meaning', CASE grade WHEN 'A' THEN 'nothing found that makes an answer doubtful'
    WHEN 'B' THEN 'usable; the minor defects below limit some answers' WHEN 'C'
        THEN 'usable with care: see what each defect makes untrustworthy'
    WHEN 'D' THEN 'only rough answers; record again if you can'
        ELSE 'do not draw conclusions; record again' END FROM grade
UNION ALL
SELECT 'Recorded', format('{:.3f} s, {:,} events, {:,} bytes, {} CPUs, OS build {}, clock {}',
    duration_ns / 1e9, events, size_bytes, cpu_count, coalesce(os_build::VARCHAR, 'unknown'),
    coalesce(clock, 'unknown')) FROM t
UNION ALL
SELECT 'Lost', format('{:,} events, {:,} buffers (the session''s own count)', events_lost,
    buffers_lost) FROM t
-- section  main table
-- out      Defect                  text(60)
-- out      Severity                text
-- out      Finding                 text(200)
-- out      "Untrustworthy because of it" text(200)
-- out      "How to avoid it"       text(200)
-- empty    No defect found.
SELECT name, CASE weight WHEN 3 THEN 'serious' WHEN 2 THEN 'major' ELSE 'minor' END, finding, harm,
    remedy
FROM check_row ORDER BY weight DESC, place, name
-- section  when table optional
-- heading  When it is missing
-- out      "From (s)"   s
-- out      "To (s)"     s
-- out      What         text
-- out      Count        count
-- out      CPUs         text(60)
SELECT start_ns, end_ns, what, events, cpus FROM (
    SELECT slice * width AS start_ns, (slice + 1) * width AS end_ns,
        'switches missing before these' AS what, count(*) AS events,
        string_agg(DISTINCT cpu::VARCHAR, ',' ORDER BY cpu::VARCHAR) AS cpus
    FROM (SELECT c.cpu, c.end_ns // w.width AS slice, w.width FROM cpu_turn AS c,
        (SELECT greatest(1, duration_ns // 10 + 1) AS width FROM t) AS w WHERE NOT c.whole)
    GROUP BY ALL
    UNION ALL
    SELECT first_ts_ns, last_ts_ns, 'loss records (' || coalesce(event_name, 'lost event') || ')',
        events, '' FROM event_class WHERE event_name ILIKE '%lost%' AND events > 0
) ORDER BY start_ns, what
-- section  stacks table optional
-- heading  Stacks by class of event
-- out      Class                   text
-- out      Events                  count
-- out      "With a stack"          pct
-- out      "User part missing"     pct   Of the stacks of user processes.
-- out      "Single frame"          pct
SELECT class, events, percent(coalesce(with_stack, 0), events), percent(coalesce(kernel_only, 0),
    of_user), percent(coalesce(single, 0), with_stack)
FROM stack_class ORDER BY place
-- section  areas table
-- heading  What is recorded
-- out      Area      text(60)
-- out      State     text
-- out      Events    count
-- out      "First (s)" s
-- out      "Last (s)"  s
-- out      "Recorded by" text(80)
SELECT about, CASE WHEN events > 0 THEN 'recorded' WHEN state = 'enabled' THEN 'enabled, no event'
    ELSE 'absent' END, nullif(events, 0), first_ts_ns, last_ts_ns, capture
FROM trace_source WHERE events > 0 OR source IN ('sample', 'stack', 'context_switch',
    'ready_thread', 'dpc', 'isr', 'disk_io', 'hard_fault', 'process', 'thread', 'image')
ORDER BY events = 0, events DESC, source
-- section  follow next
-- out      Call text
SELECT CASE WHEN name IN ('No ready events', 'No stacks', 'No process or thread rundown',
    'No image rundown') THEN 'get_capture_commands()'
            WHEN name IN ('Unattributed samples', 'No identity of the modules')
                THEN 'check_symbols(trace_id="{trace_id}")' END
FROM (SELECT name FROM check_row WHERE name IN ('No ready events', 'No stacks',
    'No process or thread rundown', 'No image rundown', 'Unattributed samples',
    'No identity of the modules') ORDER BY weight DESC, place LIMIT 1)
