-- Filters of the tool contract: literal substrings, case ignored. A filter is a list of lower-case
-- alternatives, or NULL for none.
CREATE MACRO filter_hits(label, filter) AS
    filter IS NULL
    OR len(list_filter(filter::VARCHAR[],
                       lambda part: contains(lower(coalesce(label, '')), part))) > 0;

-- A process also by its pid.
CREATE MACRO process_hits(label, number, filter) AS
    filter IS NULL
    OR list_contains(filter::VARCHAR[], number::VARCHAR)
    OR len(list_filter(filter::VARCHAR[],
                       lambda part: contains(lower(coalesce(label, '')), part))) > 0;

CREATE MACRO cpu_hits(number, cpus) AS
    cpus IS NULL OR list_contains(cpus::BIGINT[], number::BIGINT);

CREATE MACRO hex_text(number) AS '0x' || lower(hex(number));

-- Percent of a whole; NULL when there is no whole.
CREATE MACRO percent(part, whole) AS CASE WHEN whole > 0 THEN 100.0 * part / whole END;

-- One classification of processors for every tool.
CREATE MACRO cpu_role(busy_pct) AS
    CASE
        WHEN busy_pct >= 80 THEN 'Saturated'
        WHEN busy_pct >= 20 THEN 'Active'
        WHEN busy_pct >= 2 THEN 'Low activity'
        ELSE 'Idle'
    END;

-- The most frequent value, the smallest of equals: mode() takes whichever came first.
CREATE MACRO most_common(x) AS
    list_sort(list_transform(map_entries(histogram(x)),
                             lambda e: {'n': -(e.value::BIGINT), 'k': e.key}))[1].k;
