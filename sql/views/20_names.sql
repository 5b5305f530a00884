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

-- Every frame with the labels of the tool contract: module, function (module+0xRVA without a
-- symbol, unknown+0xADDR without a module), and the label of raw lists: module!function+0xoff.
CREATE VIEW frame_name AS
SELECT frame_id, module, function, is_export, symbol_source, address, is_kernel,
       CASE
           WHEN named
               THEN module || '!' || function || coalesce('+0x' || lower(hex(displacement)), '')
           ELSE function
       END AS label
FROM (
    SELECT f.frame_id, f.address, f.is_kernel,
           coalesce(i.name, nullif(m.module_name, ''),
                    CASE WHEN m.method_id IS NOT NULL THEN 'managed code' END, 'unknown') AS module,
           CASE
               WHEN s.function_name IS NOT NULL
                   THEN CASE WHEN s.is_export THEN '*' ELSE '' END || s.function_name
               WHEN m.name IS NOT NULL THEN m.name
               WHEN i.name IS NOT NULL THEN i.name || '+0x' || lower(hex(f.rva))
               ELSE 'unknown+0x' || lower(hex(f.address))
           END AS function,
           s.function_name IS NOT NULL OR m.name IS NOT NULL AS named,
           s.displacement,
           coalesce(s.is_export, false) AS is_export,
           CASE WHEN s.function_name IS NOT NULL THEN s.source
                WHEN m.name IS NOT NULL THEN 'pre-resolved' ELSE 'unknown' END AS symbol_source
    FROM frame AS f
    LEFT JOIN image AS i ON i.image_id = f.image_id
    LEFT JOIN method AS m ON m.method_id = f.method_id
    LEFT JOIN frame_symbol AS s ON s.frame_id = f.frame_id
);

-- Names that are never NULL.
CREATE VIEW process_name AS
SELECT upid, pid, coalesce(name, 'pid ' || pid) AS process, start_ns, end_ns
FROM process;

CREATE VIEW thread_name AS
SELECT t.utid, t.upid, t.tid, t.pid, t.name AS thread_name,
       coalesce(p.name, 'pid ' || t.pid) AS process
FROM thread AS t LEFT JOIN process AS p ON p.upid = t.upid;
