-- tool     get_critical_path
-- title    Critical path of a thread
-- headline **Critical Path**
-- group    scheduling
-- place    45
-- handler  get_critical_path
-- about    What an interval of a thread really took its time for: from its end back, every wait is
--          replaced by what the thread that ended it did meanwhile, across threads and processes. The
--          segments cover the interval exactly, each with stack and evidence (disk transfer, page
--          fault, network, DPC, who had the CPU). Needs context switches and ready events.
-- example  get_critical_path(trace_id="...", thread="4312", start_time=2.1, end_time=2.9)
-- param    thread  text  required  Thread id, or part of a process or thread name.
-- window
-- rows     40
-- needs    context_switch
-- common
seg AS MATERIALIZED (
    SELECT p.*, p.end_ns - p.start_ns AS ns, coalesce(n.process, 'unknown') AS process, n.pid,
        n.tid, n.thread_name, n.upid,
           row_number() OVER (ORDER BY p.end_ns - p.start_ns DESC, p.number) AS place
    FROM path_segment AS p LEFT JOIN thread_name AS n ON n.utid = p.utid
),
-- Evidence is looked up for the longest segments.
long AS MATERIALIZED (SELECT * FROM seg WHERE place <= 200),
disk AS MATERIALIZED (
    SELECT s.number, arg_max(d.kind || ' of ' || coalesce(d.file, 'an unknown file'),
        (rank, -d.ts_ns)) AS what,
           arg_max(format('disk {} {} of {:,} bytes took {:,.1f} us, done at {:.6f} s', d.disk,
               d.kind, coalesce(d.bytes, 0), d.response_ns / 1e3, d.ts_ns / 1e9), (rank, -d.ts_ns))
               AS evidence
    FROM (
        SELECT s.number, d.kind, d.file, d.disk, d.bytes, d.response_ns, d.ts_ns,
               least(d.ts_ns, s.end_ns) - greatest(d.start_ns, s.start_ns) + CASE WHEN abs(d.ts_ns
                   - s.end_ns) < 200000 THEN s.ns ELSE 0 END AS rank
        FROM long AS s JOIN disk_io AS d ON d.upid = s.upid
        WHERE s.state = 2 AND d.start_ns < s.end_ns AND d.ts_ns > s.start_ns
            AND d.ts_ns <= s.end_ns + 200000
          AND (d.utid = s.utid OR abs(d.ts_ns - s.end_ns) < 200000)
          AND least(d.ts_ns, s.end_ns) - greatest(d.start_ns, s.start_ns) >= 0.5 * s.ns
    ) AS d JOIN long AS s ON s.number = d.number
    GROUP BY s.number
),
fault AS MATERIALIZED (
    SELECT s.number, arg_max(coalesce(h.file, 'an unknown file'), h.duration_ns) AS what,
           format('{:,} hard faults, the longest {:,.1f} us', count(*), max(h.duration_ns) / 1e3)
               AS evidence
    FROM long AS s JOIN hard_fault AS h ON h.utid = s.utid
    WHERE s.state = 2 AND h.start_ns < s.end_ns AND h.ts_ns > s.start_ns
      AND least(h.ts_ns, s.end_ns) - greatest(h.start_ns, s.start_ns) >= 0.5 * s.ns
    GROUP BY s.number
),
net AS MATERIALIZED (
    SELECT s.number, arg_max(e.what, e.ts_ns) AS what,
        format('{:,} network events end the wait, the last at {:.6f} s', count(*),
        max(e.ts_ns) / 1e9) AS evidence
    FROM long AS s JOIN (
        SELECT upid, ts_ns, 'TCP ' || kind || coalesce(' from ' || remote_address || ':'
            || remote_port, '') AS what FROM tcp_event WHERE kind IN ('receive', 'accept',
            'connect', 'disconnect', 'copy')
        UNION ALL
        SELECT upid, ts_ns, 'UDP ' || kind || coalesce(' from ' || remote_address || ':'
            || remote_port, '') FROM udp_event WHERE kind = 'receive'
    ) AS e ON e.upid = s.upid
    WHERE s.state = 2 AND e.ts_ns > s.start_ns AND e.ts_ns BETWEEN s.end_ns - 200000 AND s.end_ns
        + 50000
    GROUP BY s.number
),
dpc AS MATERIALIZED (
    SELECT s.number, arg_min(i.kind, i.duration_ns) AS kind, arg_min(f.label, i.duration_ns)
        AS what,
           format('{} of {:,.1f} us on CPU {} woke it', arg_min(i.kind, i.duration_ns),
               min(i.duration_ns) / 1e3, any_value(i.cpu)) AS evidence
    FROM long AS s JOIN interrupt AS i ON i.cpu = s.ready_cpu LEFT JOIN frame_name AS f
        ON f.frame_id = i.frame_id
    WHERE s.state = 2 AND s.ready_ns = s.end_ns AND i.start_ns <= s.ready_ns
        AND i.ts_ns >= s.ready_ns
    GROUP BY s.number
),
-- Who had the CPU that a ready thread got in the end.
holder AS MATERIALIZED (
    SELECT number, format('CPU {} ran {}', any_value(cpu), string_agg(text, ', ' ORDER BY ns DESC,
        text)) AS evidence, arg_max(who, (ns, who)) AS what
    FROM (
        SELECT s.number, c.cpu, sum(least(c.end_ns, s.end_ns) - greatest(c.start_ns,
            s.start_ns))::BIGINT AS ns,
               CASE WHEN c.tid = 0 THEN 'idle' ELSE coalesce(n.process, 'unknown') || ' tid '
                   || c.tid END AS who,
               format('{}{} {:.0f}%', CASE WHEN c.tid = 0 THEN 'idle' ELSE coalesce(n.process,
                   'unknown') || ' tid ' || c.tid END,
                      coalesce(' priority ' || max(c.priority), ''), 100.0 * sum(least(c.end_ns,
                          s.end_ns) - greatest(c.start_ns, s.start_ns)) / any_value(s.ns)) AS text,
               row_number() OVER (PARTITION BY s.number ORDER BY sum(least(c.end_ns, s.end_ns)
                   - greatest(c.start_ns, s.start_ns)) DESC, c.tid) AS place
        FROM long AS s JOIN cpu_turn AS c ON c.cpu = s.next_cpu
        LEFT JOIN thread_name AS n ON n.utid = c.utid
        WHERE s.state = 1 AND s.place <= 40 AND c.end_ns > s.start_ns AND c.start_ns < s.end_ns
        GROUP BY s.number, c.cpu, c.tid, n.process
    )
    WHERE place <= 3 GROUP BY number
),
-- DPCs and ISRs inside the running time, or on the CPU that a ready thread waits for.
raised AS MATERIALIZED (
    SELECT number, ns, format('{:,.1f} us of it in DPCs and ISRs{}', ns / 1e3,
        coalesce(', most in ' || label, '')) AS evidence, label
    FROM (
        SELECT s.number, sum(i.own_ns)::BIGINT AS ns, arg_max(f.label, (i.own_ns, f.label)) AS label
        FROM long AS s JOIN interrupt_own AS i ON i.cpu = CASE s.state WHEN 0 THEN s.cpu
            ELSE s.next_cpu END LEFT JOIN frame_name AS f ON f.frame_id = i.frame_id
        WHERE s.state IN (0, 1) AND i.start_ns >= s.start_ns AND i.start_ns < s.end_ns
        GROUP BY s.number
    )
),
told AS MATERIALIZED (
    SELECT s.*, x.samples,
           CASE s.state
               WHEN 0 THEN CASE WHEN h.ns >= 0.5 * s.ns THEN 'running DPCs and ISRs'
                   ELSE 'running' END
               WHEN 1 THEN CASE WHEN h.ns >= 0.5 * s.ns THEN 'ready, CPU in DPCs' ELSE 'ready' END
               WHEN 3 THEN 'unknown'
               ELSE CASE
                   WHEN d.number IS NOT NULL THEN 'waiting: disk'
                   WHEN f.number IS NOT NULL THEN 'waiting: page fault'
                   WHEN n.number IS NOT NULL THEN 'waiting: network'
                   WHEN s.reason IN (4, 11) OR i.kind = 'timer_dpc' THEN 'waiting: timer'
                   WHEN is_lock_reason(s.reason) THEN 'waiting: lock'
                   WHEN i.number IS NOT NULL OR s.in_dpc = 1 THEN 'waiting: DPC'
                   ELSE 'waiting: ' || coalesce(wait_reason_name(s.reason), 'unknown') END
           END AS what,
           CASE s.state WHEN 0 THEN h.label WHEN 1 THEN o.what ELSE coalesce(d.what, f.what,
               n.what, i.what) END AS object,
           nullif(concat_ws('; ', CASE s.state WHEN 2 THEN wait_reason_name(s.reason) END,
               d.evidence, f.evidence, n.evidence, i.evidence, o.evidence, h.evidence,
                     CASE WHEN s.state = 2 AND s.ready_ns = s.end_ns AND s.waker_utid IS NULL
                         AND coalesce(s.in_dpc, 0) = 0 THEN 'waker unknown' END,
                     CASE WHEN s.state = 2 AND s.ready_ns IS NULL THEN 'no ready event' END), '')
                         AS evidence,
           -- 0 stands for no stack, so that it counts where the longest segment has none.
           coalesce(CASE s.state WHEN 0 THEN x.stack_id ELSE s.wait_stack_id END, 0)::UINTEGER
               AS stack_id
    FROM seg AS s
    LEFT JOIN path_sample AS x ON x.number = s.number
    LEFT JOIN disk AS d ON d.number = s.number
    LEFT JOIN fault AS f ON f.number = s.number
    LEFT JOIN net AS n ON n.number = s.number
    LEFT JOIN dpc AS i ON i.number = s.number
    LEFT JOIN holder AS o ON o.number = s.number
    LEFT JOIN raised AS h ON h.number = s.number AND h.ns > 0
)
-- section  scope values
-- out      Name  text
-- out      Value text(300)
SELECT 'Source', 'context switches' || CASE WHEN EXISTS (FROM ready_thread)
    THEN ' and ready events (exact)'
       ELSE ' alone: ready events are not recorded, so no wait can be followed to its waker (WPR '
           'flag ReadyThread)' END
       || CASE WHEN EXISTS (FROM sample) THEN '; stacks of running time from CPU samples'
           ELSE '' END
UNION ALL
SELECT 'Thread', format('{} ({}) tid {}{}', process, coalesce(pid::VARCHAR, '?'), tid,
    coalesce(', ' || thread_name, ''))
FROM (SELECT * FROM seg WHERE depth = 0 ORDER BY number LIMIT 1)
UNION ALL
SELECT 'Interval', format('{:.9f} to {:.9f} s: {:,} ns in {:,} segments of {:,} threads',
    min(start_ns) / 1e9, max(end_ns) / 1e9, sum(ns)::BIGINT, count(*), count(DISTINCT utid))
FROM seg HAVING count(*) > 0
-- section  main table
-- heading  Where the time went
-- cap      max_rows
-- out      What             text(40)
-- out      "us"             us(3)
-- out      "% of interval"  pct
-- out      Segments         count
-- out      Process          text(60)
-- out      PID              id
-- out      TID              id
-- out      Object           text(120)  File, peer, DPC routine, or who had the CPU; of the longest.
-- out      Stack            text(200)  Of the longest.
-- empty    No context switch of such a thread in this window.
SELECT what, sum(ns)::BIGINT, percent(sum(ns), sum(sum(ns)) OVER ()), count(*), any_value(process),
    any_value(pid), any_value(tid),
       arg_max(object, (ns, -number)), stack_line(arg_max(stack_id, (ns, -number)))
FROM told GROUP BY what, utid ORDER BY sum(ns) DESC, what, utid
-- section  waits table optional
-- heading  Waits that were followed to their waker
-- out      "From (s)"   s(6)
-- out      us           us(3)
-- out      Depth        id     0 is the thread itself.
-- out      Waiter       text(60)
-- out      Reason       text
-- out      "Wait site"  text(120)
-- out      Waker        text(60)
-- out      "Waker site" text(120)
SELECT p.start_ns, p.end_ns - p.start_ns, p.depth, format('{} ({}) tid {}', coalesce(n.process,
    'unknown'), coalesce(n.pid::VARCHAR, '?'), n.tid), wait_reason_name(p.reason),
       stack_site(p.wait_stack_id::UINTEGER),
       format('{} ({}) tid {}', coalesce(k.process, 'unknown'), coalesce(k.pid::VARCHAR, '?'),
           k.tid), stack_site(p.ready_stack_id::UINTEGER)
FROM path_wait AS p LEFT JOIN thread_name AS n ON n.utid = p.utid LEFT JOIN thread_name AS k
    ON k.utid = p.waker_utid
ORDER BY p.end_ns - p.start_ns DESC, p.start_ns, p.depth, p.utid LIMIT 15
-- section  segments table optional
-- heading  Segments in time order
-- cap      max_rows
-- out      "Start (s)"  s(9)
-- out      us           us(3)
-- out      Depth        id
-- out      What         text(40)
-- out      Process      text(60)
-- out      TID          id
-- out      Evidence     text(300)
-- out      Stack        text(200)
SELECT start_ns, ns, depth, what, process, tid, evidence, stack_line(stack_id)
FROM told WHERE place <= $max_rows ORDER BY number
-- section  cut notes
-- out      Note text
SELECT format('Priority inversion: {} (priority {}) waits for tid {} (priority {}), which is ready '
    'for {:,.3f} ms while {} has the CPU.',
              'tid ' || (SELECT max(tid) FROM seg WHERE depth = 0), (SELECT max(priority) FROM seg
                  WHERE depth = 0), tid, priority, ns / 1e6, object)
FROM told WHERE state = 1 AND depth > 0 AND object <> 'idle' AND ns >= 0.1 * (SELECT sum(ns)
    FROM seg)
  AND priority < (SELECT max(priority) FROM seg WHERE depth = 0) AND ns = (SELECT max(ns) FROM told
      WHERE state = 1 AND depth > 0)
UNION ALL
SELECT format('Only the {:,} longest of {:,} segments are listed ({:.1f}% of the interval); the '
    'first table counts all.', $max_rows, count(*),
              100.0 * sum(ns) FILTER (place <= $max_rows) / sum(ns))
FROM seg HAVING count(*) > $max_rows
UNION ALL
SELECT 'Part of the interval is unknown: the thread has no event there, or switches are missing.'
    WHERE EXISTS (SELECT 1 FROM seg WHERE state = 3)
UNION ALL
SELECT 'Disk transfers are not recorded: a wait for the disk shows as another wait (WPR profile '
    'DiskIO).'
WHERE EXISTS (SELECT 1 FROM seg WHERE state = 2) AND NOT EXISTS (FROM disk_io)
UNION ALL
SELECT 'DPCs and ISRs are not recorded: what a DPC ended shows without its routine.'
WHERE EXISTS (SELECT 1 FROM seg WHERE state = 2 AND in_dpc = 1) AND NOT EXISTS (FROM interrupt)
-- section  follow next
-- out      Call text
SELECT call FROM (
    SELECT 1 AS place, format('get_diskio_summary(trace_id="{{trace_id}}", process_filter="{}")',
        pid) AS call
    FROM (SELECT pid, sum(ns) AS ns FROM told WHERE what IN ('waiting: disk',
        'waiting: page fault') AND pid IS NOT NULL GROUP BY pid ORDER BY ns DESC, pid LIMIT 1)
    WHERE ns > 0.2 * (SELECT sum(ns) FROM told)
    UNION ALL
    SELECT 2, 'get_dpc_summary(trace_id="{trace_id}")' FROM told
        WHERE what IN ('running DPCs and ISRs', 'ready, CPU in DPCs') HAVING sum(ns) > 0.2
        * (SELECT sum(ns) FROM told)
    UNION ALL
    SELECT 3, format('get_wait_analysis(trace_id="{{trace_id}}", thread={})', tid)
    FROM (SELECT tid, sum(ns) AS ns FROM told WHERE tid IS NOT NULL GROUP BY tid ORDER BY ns DESC,
        tid LIMIT 1)
    UNION ALL
    SELECT 4, format('get_thread_cpu_precise(trace_id="{{trace_id}}", tid={})', tid)
        FROM (SELECT tid FROM told WHERE tid IS NOT NULL AND state = 1 GROUP BY tid
        ORDER BY sum(ns) DESC, tid LIMIT 1)
) ORDER BY place
