-- tool     get_sysconfig
-- title    Traced machine
-- headline **System Configuration**
-- group    system
-- place    2
-- about    Hardware and operating system of the traced machine: OS build, processors, memory, network
--          adapters, disks and volumes, services, power, interrupts, devices, virtualisation. Only what
--          the trace records.
-- example  get_sysconfig(trace_id="...")
-- common
fact AS (SELECT section, item, name, value FROM config)
-- section  system values
-- heading  System
-- out      Name  text
-- out      Value text(200)
SELECT name, value FROM (
    SELECT unnest(['Computer', 'Domain', 'OS', 'Product', 'Installed (UTC)', 'Architecture',
                   'Logical processors', 'CPU MHz', 'Memory (MB)', 'Page size', 'Booted (UTC)',
                   'Time zone', 'Capture start (UTC)', 'Capture length (s)', 'Pointer size',
                   'Timer resolution (ms)', 'Clock']) AS name,
           unnest([computer_name, domain_name,
                   CASE WHEN os_build > 0
                        THEN format('{}.{}.{}', os_major, os_minor, os_build)
                             || coalesce(' (' || build_lab || ')', '') END,
                   product_name,
                   CASE WHEN install_utc NOT LIKE '1970-01-01%' THEN install_utc END,
                   architecture, cpu_count::VARCHAR, nullif(cpu_mhz, 0)::VARCHAR,
                   nullif(memory_mb, 0)::VARCHAR, nullif(page_size, 0)::VARCHAR, boot_utc,
                   CASE WHEN time_zone_bias_min IS NOT NULL
                        THEN concat_ws(' ', nullif(time_zone, ''),
                                       format('(UTC = local {:+} min)', time_zone_bias_min)) END,
                   start_utc, printf('%.3f', duration_ns / 1e9), pointer_size::VARCHAR,
                   CASE WHEN timer_resolution_100ns > 0
                        THEN printf('%.4g', timer_resolution_100ns / 1e4) END,
                   format('{}, {:,} Hz', clock, ticks_per_s)]) AS value
    FROM trace)
WHERE value IS NOT NULL AND value <> ''
-- section  processors table optional
-- heading  Processors
-- out      Model       text(80)
-- out      Identifier  text(60)
-- out      MHz         id
-- out      CPUs        count
-- out      Groups      count
-- out      "NUMA nodes" count
SELECT name, identifier, mhz, count(*), nullif(count(DISTINCT group_number), 0),
       nullif(count(DISTINCT numa_node), 0)
FROM cpu GROUP BY name, identifier, mhz ORDER BY count(*) DESC, name, identifier, mhz
-- section  nics table optional
-- heading  NICs
-- out      Description text(80)
-- out      MAC         text
-- out      "IPv4 index" id
-- out      "IPv6 index" id
-- out      Addresses   text(100)
-- out      DNS         text(80)
SELECT description, mac, ipv4_index, ipv6_index, addresses, dns FROM nic
ORDER BY ipv4_index, ipv6_index, description, mac
-- section  disks table optional
-- heading  Disks
-- out      Disk          id
-- out      Model         text(60)
-- out      "Size (MB)"   mb
-- out      "Sector size" id
-- out      Partitions    id
-- out      "Write cache" bool
SELECT disk, manufacturer, size_bytes, bytes_per_sector, partitions, write_cache
FROM disk ORDER BY disk, manufacturer
-- section  volumes table optional
-- heading  Volumes
-- out      Letter        text
-- out      Disk          id
-- out      Partition     id
-- out      "File system" text
-- out      "Size (MB)"   mb
-- out      "Free (MB)"   mb
-- out      "NT path"     text(60)
SELECT letter, disk, partition, file_system, coalesce(total_bytes, size_bytes), free_bytes, nt_path
FROM volume ORDER BY disk, partition, letter, nt_path
-- section  services lines optional
-- heading  Services
-- out      Line text
SELECT format('{:,} services in {:,} processes', count(*), count(DISTINCT nullif(pid, 0)))
FROM service HAVING count(*) > 0
-- section  platform values optional
-- heading  Platform, boot and virtualization
-- out      Name  text
-- out      Value text(200)
SELECT name, value FROM fact
WHERE section IN ('platform', 'boot', 'virtualization', 'code_integrity') AND item = 0
ORDER BY section DESC, name
-- section  power values optional
-- heading  Power
-- out      Name  text
-- out      Value text(200)
SELECT name, string_agg(value, ', ' ORDER BY item)
FROM fact WHERE section = 'power' GROUP BY name ORDER BY name
-- section  irqs table optional
-- heading  IRQs
-- out      IRQ      text
-- out      Affinity text
-- out      Group    text
-- out      Device   text(80)
SELECT max(value) FILTER (name ILIKE 'IRQNum'), max(value) FILTER (name ILIKE 'IRQAffinity'),
       max(value) FILTER (name ILIKE 'IRQGroup'), max(value) FILTER (name ILIKE 'DeviceDescription')
FROM fact WHERE section = 'irq' GROUP BY item ORDER BY item
-- section  devices table optional
-- heading  Devices by class
-- out      Class   text
-- out      Devices count
-- out      "With problems" count
-- out      Example text(80)
SELECT class_guid::VARCHAR, count(*), count(*) FILTER (problem <> 0),
       min(coalesce(nullif(friendly_name, ''), nullif(description, '')))
FROM device GROUP BY class_guid ORDER BY count(*) DESC, class_guid LIMIT 25
-- section  missing notes
-- out      Note text
SELECT 'The trace holds no machine configuration (SystemConfig); only the file header is shown. '
       'A kernel session that is stopped in the ordinary way records it.'
WHERE NOT EXISTS (SELECT 1 FROM trace_source WHERE source = 'system_config' AND events > 0)
