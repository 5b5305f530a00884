-- Names of KWAIT_REASON.
CREATE MACRO wait_reason_name(reason) AS
    coalesce(
        list_extract(
            ['Executive', 'FreePage', 'PageIn', 'PoolAllocation', 'DelayExecution', 'Suspended',
             'UserRequest', 'WrExecutive', 'WrFreePage', 'WrPageIn', 'WrPoolAllocation',
             'WrDelayExecution', 'WrSuspended', 'WrUserRequest', 'WrEventPair', 'WrQueue',
             'WrLpcReceive', 'WrLpcReply', 'WrVirtualMemory', 'WrPageOut', 'WrRendezvous',
             'WrKeyedEvent', 'WrTerminated', 'WrProcessInSwap', 'WrCpuRateControl',
             'WrCalloutStack', 'WrKernel', 'WrResource', 'WrPushLock', 'WrMutex', 'WrQuantumEnd',
             'WrDispatchInt', 'WrPreempted', 'WrYieldExecution', 'WrFastMutex', 'WrGuardedMutex',
             'WrRundown', 'WrAlertByThreadId', 'WrDeferredPreempt', 'WrPhysicalFault', 'WrIoRing',
             'WrMdlCache', 'WrRcu'],
            reason::BIGINT + 1),
        'reason ' || reason);

-- One wait of a thread: from the switch that took it off a CPU in the waiting state to the switch
-- that brought it back (NULL: not within the trace).
CREATE TABLE thread_wait AS
WITH moment AS (
    SELECT old_utid AS utid, ts_ns, seq, true AS is_out, old_state AS state,
           old_wait_reason AS reason
    FROM context_switch WHERE old_tid <> 0 AND old_utid IS NOT NULL
    UNION ALL
    SELECT new_utid, ts_ns, seq, false, NULL, NULL
    FROM context_switch WHERE new_tid <> 0 AND new_utid IS NOT NULL
)
SELECT utid, ts_ns AS start_ns, next_ns AS end_ns, reason
FROM (
    SELECT utid, ts_ns, is_out, state, reason,
           CASE WHEN NOT lead(is_out) OVER w THEN lead(ts_ns) OVER w END AS next_ns
    FROM moment
    WINDOW w AS (PARTITION BY utid ORDER BY ts_ns, seq, is_out)
)
WHERE is_out AND state = 5;
