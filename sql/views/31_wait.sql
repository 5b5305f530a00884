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
CREATE VIEW thread_wait AS
SELECT utid, end_ns AS start_ns, CASE WHEN resumed THEN off_end_ns END AS end_ns, reason
FROM thread_turn WHERE off_kind = 'waiting';
