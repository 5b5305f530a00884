-- Every code address with its name, and where it is in the source as far as a PDB says so: one row
-- per frame. `inlined` is the chain of inlined functions, innermost first; file and line are those of
-- the innermost one, function_line is the line in the function itself.
CREATE VIEW symbol AS
SELECT n.frame_id, n.module, n.function, s.displacement, n.symbol_source, n.address, n.is_kernel,
       l.file, l.line, l.inlined, l.function_line
FROM frame_name AS n
LEFT JOIN frame_symbol AS s ON s.frame_id = n.frame_id
LEFT JOIN (
    SELECT frame_id,
           first(file ORDER BY depth) AS file,
           nullif(first(line ORDER BY depth), 0) AS line,
           string_agg(function_name, ' < ' ORDER BY depth) FILTER (is_inlined) AS inlined,
           nullif(last(line ORDER BY depth), 0) AS function_line
    FROM frame_line
    GROUP BY frame_id
) AS l ON l.frame_id = n.frame_id;
