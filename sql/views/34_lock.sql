-- Functions that burn CPU while they wait for a lock. Names of exports have a star in front.
CREATE MACRO is_spin_function(name) AS
    regexp_matches(ltrim(name, '*'),
        '^(KxWaitForSpinLockAndAcquire|KxWaitForLockOwnerShip(WithIrql)?'
        '|Ke(Try[Tt]o)?Acquire\w*SpinLock\w*|KiAcquire\w*SpinLock\w*|ExAcquireSpinLock\w*'
        '|Ex(p|i)?WaitForSpinLock\w*|ExpWait\w*SpinLock\w*|RtlpSpin\w*'
        '|RtlpEnterCriticalSectionContended|RtlpEnterCriticalSectionSpin\w*)$');

-- Reasons of a wait for a lock: WrResource, WrPushLock, WrMutex, WrFastMutex, WrGuardedMutex, WrRundown,
-- WrKeyedEvent, WrAlertByThreadId (critical sections, slim locks).
CREATE MACRO is_lock_reason(reason) AS reason IN (21, 27, 28, 29, 34, 35, 36, 37);

-- The thread that ended a wait as text: what a turn off the CPU says of its ready event.
CREATE MACRO waker_text(ready_ns, resumed, in_dpc, process, pid, tid, recorded) AS
    CASE
        WHEN ready_ns IS NULL AND NOT resumed THEN 'not woken in the trace'
        WHEN ready_ns IS NULL AND NOT recorded THEN 'not recorded'
        WHEN ready_ns IS NULL THEN 'unknown'
        WHEN in_dpc THEN 'DPC'
        WHEN tid = 0 THEN 'idle thread (interrupt)'
        WHEN tid IS NULL THEN 'unknown'
        ELSE coalesce(process, 'unknown') || ' (' || coalesce(pid::VARCHAR, '?') || ') tid ' || tid
    END;
