-- tool     list_providers
-- title    Event providers
-- headline **Providers**
-- group    system
-- place    19
-- about    Event providers of the trace: events, kinds of events, how their fields are decoded. With a
--          filter also each kind of event with its field names, for get_events and query_trace.
-- example  list_providers(trace_id="...", provider="DotNETRuntime")
-- param    provider  filter  null  Part of a provider name or GUID; a|b: either.
-- rows     60
-- next     get_events(trace_id="{trace_id}", provider="{Provider}")
-- common
class AS (
    SELECT c.*, coalesce(p.name, p.guid::VARCHAR) AS provider, p.guid
    FROM event_class AS c JOIN provider AS p ON p.provider_id = c.provider_id
    WHERE filter_hits(p.name, $provider) OR filter_hits(p.guid::VARCHAR, $provider)
)
-- section  main table
-- cap      max_rows
-- out      Provider     text(60)
-- out      GUID         text
-- out      Kind         text
-- out      Events       count
-- out      Kinds        count   Distinct kinds of events.
-- out      "% decoded"  pct     Share of events whose fields can be read.
-- out      "Decoded by" text(60)
-- out      "First (s)"  s
-- out      "Last (s)"   s
-- empty    No provider matches.
SELECT provider, guid::VARCHAR, kind, sum(events)::BIGINT,
       count(DISTINCT coalesce(event_name, '') || ' ' || id || ' ' || opcode),
       percent(coalesce(sum(events) FILTER (decoded_by NOT LIKE 'none%'), 0), sum(events)),
       string_agg(DISTINCT decoded_by, ', ' ORDER BY decoded_by),
       min(first_ts_ns), max(last_ts_ns)
FROM class
GROUP BY provider, guid, kind
ORDER BY sum(events) DESC, provider, guid, kind
-- section  kinds table optional when provider=*
-- heading  Kinds of events
-- cap      max_rows
-- out      Provider     text(60)
-- out      Event        text(60)
-- out      Id           id
-- out      Version      id
-- out      Level        id
-- out      Events       count
-- out      "Decoded by" text
-- out      Fields       text(300)
SELECT provider, event_name, CASE WHEN kind = 'classic' THEN opcode ELSE id END AS number, version,
       level, sum(events)::BIGINT, any_value(coalesce(table_name, decoded_by)),
       any_value(event_field_names(class_id))
FROM class
GROUP BY provider, event_name, number, version, level
ORDER BY sum(events) DESC, provider, event_name, number, version, level
