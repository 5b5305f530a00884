// What 100 % is: the four denominators of the tool contract, computed in one place from all samples
// of the trace or window (never from what a filter left).
#ifndef TOOLS_DENOMINATOR_H
#define TOOLS_DENOMINATOR_H

#include "tools/run.h"

typedef struct Denominator {
    Str mode;  // trace, active_cpus, active_busy, custom
    Str label; // of columns: "% trace"
    Str line;  // one line that states mode, A, U and the weight
    double weight_ns;
    // Facts of the window that do not depend on the mode:
    int64_t total_ns;    // W: what was observed, or the capacity where samples are missing
    int64_t observed_ns; // sum of the samples
    int64_t short_ns;    // capacity without samples; 0 when they are complete
    int64_t span_ns;     // sampled time
    int64_t cpus;        // L
    bool interval_assumed;
    bool lossy; // events were lost: the shortfall is unaccounted, not idle
} Denominator;

// Reads denominator, denominator_lps, denominator_seconds and cpu_filter of the call. ERR_ARG for a
// custom one without both numbers.
Status denominator_read(const Values *values, const RunTrace *trace, const Window *window,
                        Arena *arena, Denominator *out, Err *err);
// Percent of the denominator as a cell; NULL when it is 0.
Cell denominator_share(const Denominator *denominator, int64_t weight_ns);
// The synthetic idle row of the CPUs of `cpus` (NULL: all): weight that samples leave open.
Status denominator_idle(const RunTrace *trace, const Window *window, const Value *cpus,
                        Arena *arena, int64_t *short_ns, Err *err);
// Names of that row: what the time was as far as one can tell.
Str denominator_idle_module(const Denominator *denominator);
Str denominator_idle_function(const Denominator *denominator);

#endif
