-- Names of code. A frame_id says where its frame lies: module << 32 | offset, with bit 62 for a
-- managed method in place of a module, bit 63 for an address that nothing covers, and bit 31 for a
-- return address. So modules and functions are grouped as numbers, and only what is shown is named.
CREATE MACRO frame_owner(code) AS
    CASE WHEN code >> 63 = 1 THEN 0::UBIGINT ELSE code >> 32 END;

-- One number for all frames of a function, as far as it is known without symbols; with them, less
-- the displacement of the frame.
CREATE MACRO frame_function(code) AS
    CASE
        WHEN code >> 63 = 1 THEN code
        WHEN code >> 62 = 1 THEN (code >> 32) << 32
        ELSE code & 18446744071562067967::UBIGINT
    END;

-- Names of code addresses. frame_symbol is what symbol files say of a frame and frame_line where it
-- is in the source. Where symbols are at hand both exist already (src/tools/symbols_sql.c), and are
-- filled when a query first reads them; else they are empty. Derived tables may not be made of
-- them: making one holds the lock that finding names takes.
CREATE VIEW IF NOT EXISTS frame_symbol AS
SELECT NULL::UBIGINT AS frame_id, NULL::VARCHAR AS function_name, NULL::UBIGINT AS displacement,
       NULL::VARCHAR AS source, false AS is_export
WHERE false;

CREATE VIEW IF NOT EXISTS frame_line AS
SELECT NULL::UBIGINT AS frame_id, NULL::UINTEGER AS depth, NULL::VARCHAR AS function_name,
       NULL::VARCHAR AS file, NULL::UINTEGER AS line, false AS is_inlined
WHERE false;

-- Modules by frame_owner(): images, managed methods, and the owners that stand for no module.
CREATE VIEW owner_module AS
SELECT image_id::UBIGINT AS owner, coalesce(name, 'unknown') AS module FROM image
UNION ALL
SELECT 1073741824::UBIGINT + method_id, coalesce(nullif(module_name, ''), 'managed code')
FROM method
UNION ALL
SELECT 0::UBIGINT, 'unknown';

-- The label of a function: its name, module+0xRVA without one, unknown+0xADDR without a module.
CREATE MACRO function_label(code, module_label, symbol_label, exported, method_label) AS
    CASE
        WHEN symbol_label IS NOT NULL THEN CASE WHEN exported THEN '*' ELSE '' END || symbol_label
        WHEN method_label IS NOT NULL THEN method_label
        WHEN code IS NULL THEN 'unknown'
        WHEN code >> 47 = 131071 THEN 'unknown+0x' || lower(hex(code))
        WHEN code >> 63 = 1
            THEN 'unknown+0x' || lower(hex(code & 9223372036854775807::UBIGINT))
        ELSE coalesce(module_label, 'unknown') || '+0x'
             || lower(hex(code & 2147483647::UBIGINT))
    END;

-- Every frame with its labels; label is that of raw lists, module!function+0xoff.
CREATE VIEW frame_name AS
SELECT frame_id, module, function, is_export, symbol_source, address, is_kernel,
       CASE
           WHEN named
               THEN module || '!' || function || coalesce('+0x' || lower(hex(displacement)), '')
           ELSE function
       END AS label
FROM (
    SELECT f.frame_id, f.address, f.is_kernel, coalesce(m.module, 'unknown') AS module,
           function_label(f.frame_id, m.module, s.function_name, s.is_export, j.name) AS function,
           s.function_name IS NOT NULL OR j.name IS NOT NULL AS named,
           s.displacement,
           coalesce(s.is_export, false) AS is_export,
           CASE WHEN s.function_name IS NOT NULL THEN s.source
                WHEN j.name IS NOT NULL THEN 'pre-resolved' ELSE 'unknown' END AS symbol_source
    FROM frame AS f
    LEFT JOIN owner_module AS m ON m.owner = frame_owner(f.frame_id)
    LEFT JOIN method AS j ON j.method_id = f.method_id
    LEFT JOIN frame_symbol AS s ON s.frame_id = f.frame_id
);

-- Processes by a name that is never NULL.
CREATE VIEW process_name AS
SELECT upid, pid, coalesce(name, 'pid ' || pid) AS process, start_ns, end_ns
FROM process;

-- Threads with their process; thread_name is NULL where none was given.
CREATE VIEW thread_name AS
SELECT t.utid, t.upid, t.tid, t.pid, t.name AS thread_name,
       coalesce(p.name, 'pid ' || t.pid) AS process
FROM thread AS t LEFT JOIN process AS p ON p.upid = t.upid;
