-- tool     get_hot_lines
-- title    Hottest source lines
-- headline **Hot Lines**
-- group    cpu
-- place    14
-- about    Source lines of one function by exclusive CPU time, largest first, with the inlined functions
--          they came from. An exact name wins, else the heaviest match. Use it after get_hot_functions.
--          Needs CPU samples and a PDB with line information.
-- example  get_hot_lines(trace_id="...", function="app::main", module="app.exe")
-- param    function  text  required  Function name, or part of it.
-- param    module    text  null      Module name, or part of it.
-- window
-- filters  cpu process
-- rows     30
-- needs    sample
-- next     get_function_callers(trace_id="{trace_id}", function_filter="{function}")
-- common
hit AS MATERIALIZED (
    SELECT f.module, f.function, f.symbol_source, f.frame_id, sum(s.weight_ns)::BIGINT AS weight_ns,
           count(*) AS samples
    FROM sample AS s
    JOIN frame_name AS f ON f.frame_id = s.frame_id
    LEFT JOIN process_name AS p ON p.upid = s.upid
    WHERE s.ts_ns >= $start_ns AND s.ts_ns < $end_ns AND cpu_hits(s.cpu, $cpu_filter)
      AND process_hits(p.process, p.pid, $process_filter)
      AND contains(lower(f.function), lower($function))
      AND ($module IS NULL OR contains(lower(f.module), lower($module)))
    GROUP BY ALL
),
chosen AS MATERIALIZED (
    SELECT module, function, symbol_source, sum(weight_ns)::BIGINT AS weight_ns,
           sum(samples)::BIGINT AS samples
    FROM hit
    GROUP BY module, function, symbol_source
    ORDER BY lower(function) = lower($function) DESC, weight_ns DESC, module, function
    LIMIT 1
),
spot AS MATERIALIZED (
    SELECT y.file, y.line, y.inlined, y.function_line, sum(h.weight_ns)::BIGINT AS weight_ns,
           sum(h.samples)::BIGINT AS samples
    FROM hit AS h
    JOIN chosen AS c ON c.module = h.module AND c.function = h.function
    LEFT JOIN symbol AS y ON y.frame_id = h.frame_id
    GROUP BY ALL
)
-- section  scope values
-- out      Name text
-- out      Value text
SELECT 'Function', module || '!' || function || ' (' || symbol_source || ')' FROM chosen
UNION ALL
SELECT 'Weight', format('{:,} us in {:,} samples', weight_ns // 1000, samples) FROM chosen
-- section  main table
-- out      File          path(120)
-- out      Line          id    Of the innermost inlined function.
-- out      Inlined       text  Inlined functions, innermost first.
-- out      "Called at"   id    Line in the function itself, where code was inlined.
-- out      Weight        us    Microseconds of CPU.
-- out      "% function"  pct   Of the function's own samples.
-- out      Samples       count
-- empty    No sample lies in a function of that name.
SELECT coalesce(file, 'no line'), line, inlined,
       CASE WHEN inlined IS NOT NULL THEN function_line END,
       weight_ns, percent(weight_ns, sum(weight_ns) OVER ()), samples
FROM spot
ORDER BY weight_ns DESC, file, line, inlined, function_line
-- section  others notes
-- out      Note text
SELECT 'Also: ' || string_agg(module || '!' || function, ', '
                              ORDER BY weight_ns DESC, module, function)
FROM (
    SELECT h.module, h.function, sum(h.weight_ns) AS weight_ns
    FROM hit AS h ANTI JOIN chosen AS c ON c.module = h.module AND c.function = h.function
    GROUP BY ALL
    ORDER BY weight_ns DESC, h.module, h.function
    LIMIT 5
)
HAVING count(*) > 0
UNION ALL
SELECT 'No source line is known here: no PDB of ' || module || ' is in use, or it has no lines for '
           || 'this code; diagnose_symbol_load says which.'
FROM chosen WHERE NOT EXISTS (FROM spot WHERE file IS NOT NULL)
