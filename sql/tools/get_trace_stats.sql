-- tool     get_trace_stats
-- title    What is in the trace
-- headline **Trace Statistics**
-- group    system
-- place    1
-- about    Events by provider and kind with counts, bytes, time range and stacks; the file's header
--          (clock, sizes, losses); damage; gaps; and which areas have data for tools. Use it when a tool
--          says that data is missing.
-- example  get_trace_stats(trace_id="...")
-- rows     60
-- param    provider_filter  filter  null  Part of a provider name or GUID; a|b: either.
-- common
kind AS (
    SELECT coalesce(p.name, p.guid::VARCHAR) AS provider, p.guid, c.event_name, c.opcode_name,
           c.task_name, c.kind, c.id, c.opcode, c.version, c.level, c.keyword, c.events, c.bytes,
           c.first_ts_ns, c.last_ts_ns, c.stacks, c.class_id
    FROM event_class AS c JOIN provider AS p ON p.provider_id = c.provider_id
    WHERE filter_hits(coalesce(p.name, ''), $provider_filter)
       OR filter_hits(p.guid::VARCHAR, $provider_filter)
)
-- section  header values
-- out      Name text
-- out      Value text(200)
SELECT unnest(['File', 'Start (UTC)', 'Duration', 'Clock', 'CPUs', 'OS build', 'Session',
               'Buffers', 'Lost', 'Log mode', 'Pointer size']),
       unnest([
           format('{:,} bytes', size_bytes),
           start_utc,
           format('{:.6f} s (first event {:.6f}, last {:.6f})', duration_ns / 1e9,
                  first_event_ns / 1e9, last_event_ns / 1e9),
           format('{}, {:,} ticks a second', clock, ticks_per_s),
           cpu_count::VARCHAR,
           format('{} ({}.{}){}', os_build, os_major, os_minor, coalesce(', ' || build_lab, '')),
           coalesce(session_name, ''),
           format('{:,} of {:,} bytes read, {:,} written, compression {}', buffers_read,
                  buffer_size_bytes, buffers_written, compression),
           format('{:,} events, {:,} buffers', events_lost, buffers_lost),
           hex_text(log_file_mode),
           pointer_size::VARCHAR])
FROM trace
-- section  main table
-- out      Provider    text(60)
-- out      GUID        text
-- out      Event       text(60)
-- out      Id/Opcode   id    Event id of manifest events, opcode of the others.
-- out      Version     id
-- out      Level       id
-- out      Keyword     hex
-- out      Count       count
-- out      Bytes       bytes
-- out      "% Bytes"   pct
-- out      "First (s)" s
-- out      "Last (s)"  s
-- out      Stacks      count
-- empty    No event matches.
SELECT provider, guid::VARCHAR,
       coalesce(event_name, nullif(concat_ws('/', task_name, opcode_name), '')),
       CASE WHEN kind IN ('manifest', 'wpp') THEN id ELSE opcode END,
       version, level, keyword, events, bytes, percent(bytes, sum(bytes) OVER ()),
       first_ts_ns, last_ts_ns, stacks
FROM kind ORDER BY events DESC, provider, class_id
-- section  total lines optional
-- out      Line text
SELECT format('{:,} kinds of event, {:,} events, {:,} bytes', count(*), sum(events)::BIGINT,
              sum(bytes)::BIGINT)
FROM kind HAVING count(*) > 0
-- section  issues table optional
-- heading  Damage and loss
-- out      Kind     text
-- out      Severity text
-- out      Count    count
-- out      Bytes    bytes
-- out      "First offset" count
-- out      Meaning  text
SELECT kind, severity, count, bytes, first_offset, about
FROM decode_issue ORDER BY severity, count DESC, kind
-- section  gaps table optional unless provider_filter=*
-- heading  Gaps: a CPU without any event for over 1 s
-- out      CPU          id
-- out      "From (s)"   s
-- out      "To (s)"     s
-- out      "Length (s)" s
SELECT cpu, start_ns, end_ns, end_ns - start_ns
FROM cpu_gap WHERE end_ns - start_ns > 1000000000
ORDER BY end_ns - start_ns DESC, cpu, start_ns LIMIT 20
-- section  areas table unless provider_filter=*
-- heading  Tool readiness
-- out      Area   text
-- out      Status text
-- out      Why    text
SELECT about,
       CASE WHEN events > 0 THEN 'ready' WHEN state = 'enabled' THEN 'no event' ELSE 'absent' END,
       CASE WHEN events > 0 THEN format('{:,} events', events)
            WHEN state = 'enabled' THEN 'enabled in the session, but none was written'
            ELSE 'not recorded; what does: ' || capture END
FROM trace_source
ORDER BY events = 0, state <> 'enabled', events DESC, source
