-- tool     get_http_requests
-- title    HTTP requests
-- headline **HTTP Requests**
-- group    http
-- place    1
-- about    Requests that HTTP.sys served, slowest first: verb, URL, status, time from arrival to the
--          sent response, time in the application, process, outcome.
-- example  get_http_requests(trace_id="...", url_filter="/api/")
-- param    top_n       integer  100 1..5000 Rows.
-- param    url_filter  filter   null        Substring of the URL.
-- needs    http
-- note     Recv: HTTP.sys received the request; Deliver: handed to the application's queue; Send: the response was sent (or came from the kernel cache); Close: its connection closed. ContentLength is known for kernel cache hits only.
-- common
picked AS MATERIALIZED (
    SELECT *, sent_ns - received_ns AS total_ns
    FROM http_request WHERE filter_hits(url, $url_filter)
)
-- section  scope values
-- out      Name  text
-- out      Value text(200)
SELECT 'Requests observed', count(*)::VARCHAR FROM picked WHERE received_ns IS NOT NULL
HAVING count(*) > 0
UNION ALL
SELECT 'Responses completed', count(*) FILTER (sent_ns IS NOT NULL)::VARCHAR
FROM picked WHERE received_ns IS NOT NULL HAVING count(*) > 0
UNION ALL
SELECT 'In flight', count(*) FILTER (sent_ns IS NULL AND failed_ns IS NULL)::VARCHAR
FROM picked WHERE received_ns IS NOT NULL HAVING count(*) > 0
UNION ALL
SELECT 'Began before the trace', count(*)::VARCHAR FROM picked WHERE received_ns IS NULL
HAVING count(*) > 0
UNION ALL
SELECT 'Recv->Send (us)',
       format('p50 {:,.1f}, p95 {:,.1f}, p99 {}{:,.1f}, max {:,.1f} ({} requests)',
              quantile_cont(total_ns, 0.5) / 1e3, quantile_cont(total_ns, 0.95) / 1e3,
              CASE WHEN count(total_ns) < 100 THEN '~' ELSE '' END,
              quantile_cont(total_ns, 0.99) / 1e3, max(total_ns) / 1e3, count(total_ns))
FROM picked HAVING count(total_ns) > 0
-- section  main table
-- cap      top_n
-- out      RequestId             hex
-- out      Verb                  text
-- out      Url                   path
-- out      Status                id
-- out      "Recv->Send (us)"     us
-- out      "Deliver->Send (us)"  us
-- out      "Recv->Close (us)"    us
-- out      ContentLength         bytes
-- out      Remote                text(60)
-- out      Queue                 text(60)
-- out      Process               text(60)
-- out      "Queue wait (us)"     us    From arrival to delivery.
-- out      Outcome               text(80)
-- empty    No HTTP.sys request in this trace.
SELECT request_id, verb_name, url, status, total_ns, sent_ns - delivered_ns,
       closed_ns - received_ns, bytes_sent, remote, queue, process, delivered_ns - received_ns,
       outcome || coalesce(': ' || reason, '')
FROM picked
ORDER BY total_ns DESC NULLS LAST, received_ns, first_ns, request_id
-- section  missing notes
-- out      Note text
SELECT 'Not in this trace: ' || string_agg(name, ', ' ORDER BY place) || '.'
FROM (VALUES (1, 1, 'arrivals (event 1)'), (2, 2, 'parsed requests (2)'), (3, 3, 'deliveries (3)'),
             (4, 4, 'responses (4, 8)'), (5, 10, 'sent responses (10 to 17)'),
             (6, 23, 'connection closes (23)')) AS e(place, id, name)
WHERE NOT EXISTS (SELECT 1 FROM http_event AS h
                  WHERE h.id = e.id OR e.id = 4 AND h.id = 8
                        OR e.id = 10 AND h.id IN (11, 12, 13, 16, 17))
HAVING count(*) > 0
