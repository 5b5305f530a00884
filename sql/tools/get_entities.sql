-- tool     get_entities
-- title    Entities with stable ids
-- group    system
-- place    30
-- handler  get_entities
-- about    Machine, modules, processes, threads, drivers, services or network adapters of a trace with ids
--          that are the same in every trace of that machine: to join what several traces say.
-- example  get_entities(trace_id="...", entity_type="process", filter="chrome")
-- param    entity_type  enum    module machine|module|process|thread|driver|service|nic  Kind.
-- param    filter       filter  null                                                     Part of the name.
-- rows     50
-- common
clock AS (
    SELECT start_filetime::BIGINT AS base_filetime,
           coalesce(nullif(lower(computer_name), ''), 'unknown') AS host
    FROM trace
)
-- section  machine table
-- out      entity_id    text
-- out      hostname     text
-- out      os_build     text
-- out      architecture text
SELECT concat('machine|hostname=', host, '|domain=', lower(coalesce(domain_name, '')), '|macs=',
              CASE WHEN host = 'unknown'
                   THEN coalesce((SELECT string_agg(DISTINCT lower(mac), ',' ORDER BY lower(mac))
                                  FROM nic WHERE mac <> ''), '') ELSE '' END),
       computer_name, nullif(os_build, 0)::VARCHAR, architecture
FROM trace, clock WHERE filter_hits(computer_name, $filter)
-- section  module table
-- out      entity_id    text
-- out      name         text(80)
-- out      version      text
-- out      path         text(200)
-- out      pdb_identity text(120)
SELECT concat('module|name=', lower(coalesce(name, '')), '|tds=',
                       printf('%08x', coalesce(time_date_stamp, 0)), '|size=', size_bytes),
       name,
       printf('tds=%08x;size=%d', coalesce(time_date_stamp, 0)::BIGINT, size_bytes::BIGINT),
       min(coalesce(path, nt_path)),
       min(pdb_guid::VARCHAR || ' ' || pdb_age::VARCHAR || ' ' || coalesce(pdb_name, ''))
FROM image WHERE filter_hits(name, $filter)
GROUP BY lower(coalesce(name, '')), name, time_date_stamp, size_bytes
ORDER BY 2, 3, 1
-- section  process table
-- out      entity_id    text
-- out      pid          id
-- out      start_time   text
-- out      image_name   text(80)
-- out      command_line text(200)
SELECT concat('process|machine=', $machine, '|pid=', pid, '|image=', lower(coalesce(name, '')), '|',
              CASE WHEN unique_key > 0 THEN concat('key=', unique_key)
                   ELSE concat('start=', utc_of(base_filetime, start_ns)) END),
       pid, utc_of(base_filetime, start_ns), name, command_line
FROM process, clock WHERE process_hits(name, pid, $filter)
ORDER BY start_ns NULLS FIRST, pid, upid
-- section  thread table
-- out      entity_id    text
-- out      pid          id
-- out      tid          id
-- out      start_time   text
-- out      process_name text(80)
SELECT concat('thread|machine=', $machine, '|pid=', t.pid, '|process=',
              CASE WHEN p.unique_key > 0 THEN p.unique_key END, '|tid=', t.tid, '|start=',
              utc_of(base_filetime, t.start_ns)),
       t.pid, t.tid, utc_of(base_filetime, t.start_ns), p.name
FROM thread AS t LEFT JOIN process AS p ON p.upid = t.upid, clock
WHERE process_hits(p.name, t.pid, $filter)
ORDER BY t.start_ns NULLS FIRST, t.pid, t.tid, t.utid
-- section  driver table
-- out      entity_id    text
-- out      service_name text
-- out      display_name text(120)
-- out      path         text(200)
SELECT concat('driver|machine=', $machine, '|name=', lower(regexp_replace(name, '\.[^.]*$', ''))),
       regexp_replace(name, '\.[^.]*$', ''), min(description), min(coalesce(path, nt_path))
FROM image WHERE is_kernel AND name IS NOT NULL AND filter_hits(name, $filter)
GROUP BY name ORDER BY lower(name), name
-- section  service table
-- out      entity_id    text
-- out      name         text
-- out      display_name text(120)
SELECT concat('service|machine=', $machine, '|name=', lower(coalesce(name, ''))), name,
       min(display_name)
FROM service WHERE filter_hits(name, $filter) GROUP BY name ORDER BY lower(name), name
-- section  nic table
-- out      entity_id     text
-- out      friendly_name text(120)
-- out      mac_address   text
-- out      description   text(120)
SELECT concat('nic|machine=', $machine, '|mac=', lower(coalesce(mac, '')), '|name=',
              CASE WHEN coalesce(mac, '') = '' THEN lower(coalesce(description, '')) ELSE '' END),
       description, mac, min(nullif(addresses, ''))
FROM nic WHERE filter_hits(description, $filter)
GROUP BY mac, description ORDER BY description, mac
