-- The time slice (0 .. 31) of a moment within a window: how much a rate varies inside one trace tells
-- noise from change.
CREATE MACRO slice_of(moment_ns, from_ns, to_ns) AS
    least(31, greatest(0, (moment_ns - from_ns) * 32 // greatest(1, to_ns - from_ns)));

-- Wall clock of a moment of the trace, as text; '' when it is not known.
CREATE MACRO utc_of(start_filetime, moment_ns) AS
    coalesce(strftime(make_timestamp((start_filetime::BIGINT - 116444736000000000) // 10
                                     + moment_ns // 1000), '%Y-%m-%dT%H:%M:%S.%fZ'), '');
