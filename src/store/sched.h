// What every thread did between its context switches, in one pass over switches and ready events.
// The rules stand in words here; sql/views/32_thread_state.sql tells what the results mean.
#ifndef STORE_SCHED_H
#define STORE_SCHED_H

#include "base/arena.h"

enum { SCHED_NULL = -1 }; // a number that is not known

// Columns of the events, SCHED_NULL where unknown, in any order.
typedef struct SchedSwitches {
    size_t count;
    const int64_t *ts_ns, *seq, *cpu;
    const int64_t *new_utid, *new_tid, *old_utid, *old_tid;
    const int64_t *old_state, *old_reason, *new_priority, *stack_id;
} SchedSwitches;
typedef struct SchedReadies {
    size_t count;
    const int64_t *ts_ns, *seq, *utid; // utid is known
    const int64_t *waker_utid, *in_dpc, *cpu, *stack_id;
} SchedReadies;
typedef struct SchedThreads {
    size_t count;
    const int64_t *utid, *tid, *end_ns;
} SchedThreads;
typedef struct SchedInput {
    SchedSwitches switches;
    SchedReadies readies;
    SchedThreads threads;
    int64_t duration_ns; // of the trace
} SchedInput;

// One turn on a CPU and how it ended: a row of cpu_turn.
typedef struct CpuTurn {
    int64_t start_ns, end_ns;
    int64_t cpu, utid, tid, priority, stack_id;
    int64_t state, reason;                            // of the thread when it left
    int64_t leaver_utid, leaver_state, leaver_reason; // another one that left instead
    bool came, whole, is_last;
} CpuTurn;

typedef enum OffKind {
    OFF_IS_NULL,
    OFF_IS_WAITING,
    OFF_IS_READY,
    OFF_IS_GONE,
    OFF_IS_UNKNOWN
} OffKind;
typedef enum PieceKind { PIECE_TURN, PIECE_LEAVE, PIECE_WAKE } PieceKind;

// A row of thread_turn.
typedef struct ThreadTurn {
    PieceKind kind;
    OffKind off;
    bool came, ran, resumed;
    int64_t utid, cpu, start_ns, end_ns, cpu_end_ns, priority;
    int64_t off_end_ns, reason;
    int64_t ready; // index into the ready events, SCHED_NULL: none
    int64_t wait_stack_id, next_cpu;
} ThreadTurn;

// Keeps pointers into the input; the arrays are its own.
typedef struct Sched {
    SchedInput in;
    int64_t start_ns, end_ns; // the stretch that was recorded
    uint32_t *order;          // of switches by time
    uint32_t *next;           // by place in `order`: place of the CPU's next switch, or NONE
    uint32_t *first;          // places of the CPUs' first switches
    size_t first_count;
    struct SchedPiece *pieces; // by utid, then time
    size_t piece_count;
    uint32_t *ready_order; // by utid, then time
    int64_t *thread_end;   // by utid
    size_t thread_room;
    Arena arena;
} Sched;

void sched_open(const SchedInput *input, Sched *out); // pairs switches on each CPU
void sched_threads(Sched *sched);                     // and gives them to the threads
void sched_done(Sched *sched);

size_t sched_cpu_turn_count(const Sched *sched);
void sched_cpu_turn(const Sched *sched, size_t index, CpuTurn *out);
// In order of utid, start_ns, end_ns, cpu; after sched_threads.
void sched_thread_turn(const Sched *sched, size_t index, ThreadTurn *out);

#endif
