-- The time slice (0 .. 31) of a moment within a window: how much a rate varies inside one trace tells
-- noise from change.
CREATE MACRO slice_of(moment_ns, from_ns, to_ns) AS
    least(31, greatest(0, (moment_ns - from_ns) * 32 // greatest(1, to_ns - from_ns)));
