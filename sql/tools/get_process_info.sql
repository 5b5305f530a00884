-- tool     get_process_info
-- title    Processes
-- headline **Processes**
-- group    system
-- place    3
-- about    Processes of the trace: pid, parent, start, end, exit code, threads, CPU time, user, command
--          line; by CPU time. With a filter that leaves at most five, also their threads and images.
-- example  get_process_info(trace_id="...", process_filter="chrome")
-- filters  process
-- rows     50
-- needs    process
-- next     get_cpu_samples(trace_id="{trace_id}", group_by="process")
-- common
picked AS MATERIALIZED (
    SELECT p.upid, p.pid, n.process, p.parent_upid, p.parent_pid, p.session_id, p.start_ns,
           p.end_ns, p.exit_status, p.user_sid, p.command_line
    FROM process AS p JOIN process_name AS n ON n.upid = p.upid
    WHERE process_hits(n.process, p.pid, $process_filter)
),
few AS (SELECT count(*) <= 5 AS yes FROM picked)
-- section  main table
-- out      Process        text(60)
-- out      PID            id
-- out      Parent         text(60)
-- out      Session        id
-- out      "Start (s)"    text   "-": before the trace.
-- out      "End (s)"      text   "-": after the trace.
-- out      Exit           id
-- out      Threads        count
-- out      "CPU ms"       ms
-- out      User           text
-- out      "Command line" text(120)
-- empty    No process matches.
SELECT p.process, p.pid,
       coalesce(u.name || ' (' || u.pid || ')', nullif(p.parent_pid, 0)::VARCHAR),
       CASE WHEN p.session_id >= 0 THEN p.session_id END,
       coalesce(printf('%.3f', p.start_ns / 1e9), '-'),
       coalesce(printf('%.3f', p.end_ns / 1e9), '-'),
       p.exit_status,
       (SELECT count(*) FROM thread AS t WHERE t.upid = p.upid),
       CASE WHEN (SELECT source FROM cpu_source) <> 'none' THEN coalesce(c.cpu_ns, 0) END,
       p.user_sid, p.command_line
FROM picked AS p
LEFT JOIN process AS u ON u.upid = p.parent_upid
LEFT JOIN process_cpu AS c ON c.upid = p.upid
ORDER BY coalesce(c.cpu_ns, 0) DESC, p.pid, p.upid
-- section  threads table optional when process_filter=*
-- heading  Threads
-- out      Process         text(40)
-- out      TID             id
-- out      Name            text(40)
-- out      "Start address" text(80)
-- out      "CPU ms"        ms
-- out      "Start (s)"     text
-- out      "End (s)"       text
SELECT p.process || ' (' || p.pid || ')', t.tid, t.name,
       coalesce((SELECT i.name || '+0x' || lower(hex(t.start_address - i.base)) FROM image AS i
                 WHERE (i.upid = t.upid OR i.is_kernel) AND t.start_address >= i.base
                   AND t.start_address < i.base + i.size_bytes
                 ORDER BY i.load_ns DESC NULLS LAST, i.image_id LIMIT 1),
                hex_text(nullif(t.start_address, 0))),
       CASE WHEN (SELECT source FROM cpu_source) <> 'none' THEN coalesce(c.cpu_ns, 0) END,
       coalesce(printf('%.3f', t.start_ns / 1e9), '-'),
       coalesce(printf('%.3f', t.end_ns / 1e9), '-')
FROM picked AS p JOIN thread AS t ON t.upid = p.upid LEFT JOIN thread_cpu AS c ON c.utid = t.utid
WHERE (SELECT yes FROM few)
ORDER BY coalesce(c.cpu_ns, 0) DESC, t.tid, t.utid
-- section  images table optional when process_filter=*
-- heading  Images
-- out      Process        text(40)
-- out      Module         text(60)
-- out      Base           hex
-- out      Size           bytes
-- out      Version        text(40)
-- out      "PDB identity" text(80)
SELECT p.process || ' (' || p.pid || ')', i.name, i.base, i.size_bytes, i.file_version,
       CASE WHEN i.pdb_guid IS NOT NULL
            THEN regexp_replace(coalesce(i.pdb_name, ''), '^.*[\\/]', '') || ' '
                 || upper(replace(i.pdb_guid::VARCHAR, '-', '')) || lower(hex(i.pdb_age)) END
FROM picked AS p JOIN image AS i ON i.upid = p.upid
WHERE (SELECT yes FROM few)
ORDER BY p.pid, p.upid, i.name, i.base, i.image_id
-- section  source notes
-- out      Note text
SELECT CASE source WHEN 'samples' THEN 'CPU ms is estimated from samples.'
                   ELSE 'CPU time is not recorded in this trace.' END
FROM cpu_source WHERE source <> 'switches'
