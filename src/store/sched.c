// Turns of CPUs and threads. Switches are paired along each CPU; what a thread did on its CPUs is
// put in order of time, and the stretch to its next turn gets its kind and its ready event.
#include "store/sched.h"

#include "base/search.h"
#include "base/sort.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct SchedPiece {
    int64_t start_ns, end_ns;
    int64_t utid;
    int32_t cpu, reason, priority;
    int64_t stack_id;
    uint8_t kind, leave;
    bool came, whole, is_last;
} SchedPiece;

// ---------------------------------------------------------------- order

// Places of events by (ts_ns, seq). They mostly come in that order already.
static uint32_t *order_by_time(const int64_t *ts, const int64_t *seq, size_t count, Arena *arena) {
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, count + 1);
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        if (i)
            sorted = sorted && (ts[i - 1] < ts[i] || (ts[i - 1] == ts[i] && seq[i - 1] <= seq[i]));
    }
    if (sorted) return order;
    SortKey *keys = mem_alloc(arena_array_bytes(count, sizeof *keys));
    for (size_t i = 0; i < count; i++) keys[i] = (SortKey){(uint64_t)seq[i], (uint32_t)i};
    sort_keys(keys, count);
    // Times may lie before the trace's begin.
    for (size_t i = 0; i < count; i++) keys[i].key = sort_key_signed(ts[keys[i].index]);
    sort_keys(keys, count);
    for (size_t i = 0; i < count; i++) order[i] = keys[i].index;
    mem_free(keys);
    return order;
}

static void pair_switches(Sched *sched) {
    const SchedSwitches *s = &sched->in.switches;
    int64_t cpu_max = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->cpu[i] > cpu_max) cpu_max = s->cpu[i];
    uint32_t *last = ARENA_ARRAY(&sched->arena, uint32_t, (size_t)cpu_max + 1);
    sched->next = ARENA_ARRAY(&sched->arena, uint32_t, s->count + 1);
    sched->first = ARENA_ARRAY(&sched->arena, uint32_t, (size_t)cpu_max + 1);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t *before = &last[s->cpu[sched->order[i]]]; // place + 1
        sched->next[i] = NONE;
        if (*before)
            sched->next[*before - 1] = (uint32_t)i;
        else
            sched->first[sched->first_count++] = (uint32_t)i;
        *before = (uint32_t)i + 1;
    }
}

void sched_open(const SchedInput *input, Sched *out) {
    *out = (Sched){.in = *input};
    const SchedSwitches *s = &out->in.switches;
    if (!s->count) return;
    out->order = order_by_time(s->ts_ns, s->seq, s->count, &out->arena);
    out->start_ns = s->ts_ns[out->order[0]];
    out->end_ns = s->ts_ns[out->order[s->count - 1]];
    if (input->duration_ns > out->end_ns) out->end_ns = input->duration_ns;
    pair_switches(out);
}

void sched_done(Sched *sched) {
    arena_done(&sched->arena);
    *sched = (Sched){0};
}

// ---------------------------------------------------------------- turns of CPUs

size_t sched_cpu_turn_count(const Sched *sched) {
    return sched->first_count + sched->in.switches.count;
}

// The turn that the recording found on a CPU, up to its first switch.
static void found_turn(const Sched *sched, uint32_t place, CpuTurn *out) {
    const SchedSwitches *s = &sched->in.switches;
    size_t i = sched->order[place];
    *out = (CpuTurn){.start_ns = sched->start_ns,
                     .end_ns = s->ts_ns[i],
                     .cpu = s->cpu[i],
                     .utid = s->old_utid[i],
                     .tid = s->old_tid[i],
                     .priority = SCHED_NULL,
                     .stack_id = SCHED_NULL,
                     .state = s->old_state[i],
                     .reason = s->old_reason[i],
                     .leaver_utid = SCHED_NULL,
                     .leaver_state = SCHED_NULL,
                     .leaver_reason = SCHED_NULL,
                     .whole = true};
}

void sched_cpu_turn(const Sched *sched, size_t index, CpuTurn *out) {
    if (index < sched->first_count) {
        found_turn(sched, sched->first[index], out);
        return;
    }
    const SchedSwitches *s = &sched->in.switches;
    size_t place = index - sched->first_count, i = sched->order[place];
    uint32_t next = sched->next[place];
    size_t n = next == NONE ? 0 : sched->order[next];
    bool last = next == NONE;
    bool same = !last && s->old_tid[n] == s->new_tid[i];
    bool other = !last && !same && s->old_tid[n] > 0;
    *out = (CpuTurn){.start_ns = s->ts_ns[i],
                     .end_ns = last ? sched->end_ns : s->ts_ns[n],
                     .cpu = s->cpu[i],
                     .utid = s->new_utid[i],
                     .tid = s->new_tid[i],
                     .priority = s->new_priority[i],
                     .stack_id = s->stack_id[i],
                     .state = same ? s->old_state[n] : SCHED_NULL,
                     .reason = same ? s->old_reason[n] : SCHED_NULL,
                     .leaver_utid = other ? s->old_utid[n] : SCHED_NULL,
                     .leaver_state = last ? SCHED_NULL : s->old_state[n],
                     .leaver_reason = last ? SCHED_NULL : s->old_reason[n],
                     .came = true,
                     .whole = last || same || s->old_tid[n] == SCHED_NULL,
                     .is_last = last};
}

// ---------------------------------------------------------------- pieces of threads

// How a thread left its CPU, as the macro leave_kind() says.
static OffKind leave_kind(int64_t state, int64_t reason) {
    if (state == 5 || state == 8) return OFF_IS_WAITING;
    if (state == 4) return OFF_IS_GONE;
    if (state >= 0 && state <= 9) return OFF_IS_READY;
    if ((reason >= 30 && reason <= 33) || reason == 38) return OFF_IS_READY;
    return reason >= 0 ? OFF_IS_WAITING : OFF_IS_NULL;
}

static void add_piece(Sched *sched, SchedPiece piece) {
    sched->pieces[sched->piece_count++] = piece;
}

static void add_turn(Sched *sched, const CpuTurn *turn) {
    if (turn->tid != 0 && turn->tid != SCHED_NULL && turn->utid != SCHED_NULL)
        add_piece(sched, (SchedPiece){.start_ns = turn->start_ns,
                                      .end_ns = turn->end_ns,
                                      .utid = turn->utid,
                                      .cpu = (int32_t)turn->cpu,
                                      .reason = (int32_t)turn->reason,
                                      .priority = (int32_t)turn->priority,
                                      .stack_id = turn->stack_id,
                                      .kind = PIECE_TURN,
                                      .leave = (uint8_t)leave_kind(turn->state, turn->reason),
                                      .came = turn->came,
                                      .whole = turn->whole,
                                      .is_last = turn->is_last});
    if (turn->leaver_utid != SCHED_NULL)
        add_piece(sched, (SchedPiece){
                             .start_ns = turn->end_ns,
                             .end_ns = turn->end_ns,
                             .utid = turn->leaver_utid,
                             .cpu = (int32_t)turn->cpu,
                             .reason = (int32_t)turn->leaver_reason,
                             .priority = SCHED_NULL,
                             .stack_id = SCHED_NULL,
                             .kind = PIECE_LEAVE,
                             .leave = (uint8_t)leave_kind(turn->leaver_state, turn->leaver_reason),
                             .whole = true});
}

// A thread that is made ready before its first turn was waiting for that: idle threads never are.
static void add_wakes(Sched *sched, const int64_t *first_turn, const bool *idle) {
    const SchedReadies *r = &sched->in.readies;
    int64_t before = SCHED_NULL;
    for (size_t k = 0; k < r->count; k++) {
        size_t i = sched->ready_order[k];
        int64_t utid = r->utid[i];
        if (utid == before) continue;
        before = utid;
        if (idle[utid] || r->ts_ns[i] >= first_turn[utid]) continue;
        add_piece(sched, (SchedPiece){.start_ns = r->ts_ns[i],
                                      .end_ns = r->ts_ns[i],
                                      .utid = utid,
                                      .cpu = SCHED_NULL,
                                      .reason = SCHED_NULL,
                                      .priority = SCHED_NULL,
                                      .stack_id = SCHED_NULL,
                                      .kind = PIECE_WAKE,
                                      .leave = OFF_IS_READY,
                                      .whole = true});
    }
}

static bool piece_before(const SchedPiece *a, const SchedPiece *b) {
    if (a->utid != b->utid) return a->utid < b->utid;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns;
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns;
    return (uint32_t)a->cpu < (uint32_t)b->cpu; // no CPU is the last
}

// By thread and time; the few of one time are put in order by hand.
static void sort_pieces(Sched *sched) {
    size_t count = sched->piece_count;
    SortKey *keys = mem_alloc(arena_array_bytes(count, sizeof *keys));
    for (size_t i = 0; i < count; i++)
        keys[i] = (SortKey){sort_key_signed(sched->pieces[i].start_ns), (uint32_t)i};
    sort_keys(keys, count);
    for (size_t i = 0; i < count; i++) keys[i].key = (uint64_t)sched->pieces[keys[i].index].utid;
    sort_keys(keys, count);
    SchedPiece *sorted = ARENA_ARRAY(&sched->arena, SchedPiece, count + 1);
    for (size_t i = 0; i < count; i++) {
        SchedPiece piece = sched->pieces[keys[i].index];
        size_t at = i;
        for (; at && piece_before(&piece, &sorted[at - 1]); at--) sorted[at] = sorted[at - 1];
        sorted[at] = piece;
    }
    mem_free(keys);
    mem_free(sched->pieces);
    sched->pieces = sorted;
}

static void order_readies(Sched *sched) {
    const SchedReadies *r = &sched->in.readies;
    uint32_t *by_time = order_by_time(r->ts_ns, r->seq, r->count, &sched->arena);
    SortKey *keys = mem_alloc(arena_array_bytes(r->count, sizeof *keys));
    for (size_t i = 0; i < r->count; i++)
        keys[i] = (SortKey){(uint64_t)r->utid[by_time[i]], by_time[i]};
    sort_keys(keys, r->count);
    for (size_t i = 0; i < r->count; i++) by_time[i] = keys[i].index;
    mem_free(keys);
    sched->ready_order = by_time;
}

static int64_t utid_max(const int64_t *utid, size_t count, int64_t most) {
    for (size_t i = 0; i < count; i++)
        if (utid[i] > most) most = utid[i];
    return most;
}

void sched_threads(Sched *sched) {
    AUTO(arena_done) Arena scratch = {0};
    const SchedInput *in = &sched->in;
    int64_t most = utid_max(in->threads.utid, in->threads.count, 0);
    most = utid_max(in->readies.utid, in->readies.count, most);
    most = utid_max(in->switches.new_utid, in->switches.count, most);
    most = utid_max(in->switches.old_utid, in->switches.count, most);
    sched->thread_room = (size_t)most + 1;
    sched->thread_end = ARENA_ARRAY(&sched->arena, int64_t, sched->thread_room);
    int64_t *first_turn = ARENA_ARRAY(&scratch, int64_t, sched->thread_room);
    bool *idle = ARENA_ARRAY(&scratch, bool, sched->thread_room);
    for (size_t i = 0; i < sched->thread_room; i++) {
        sched->thread_end[i] = SCHED_NULL;
        first_turn[i] = INT64_MAX;
    }
    for (size_t i = 0; i < in->threads.count; i++) {
        sched->thread_end[in->threads.utid[i]] = in->threads.end_ns[i];
        idle[in->threads.utid[i]] = in->threads.tid[i] == 0;
    }
    size_t turns = sched_cpu_turn_count(sched);
    size_t room = turns * 2 + in->readies.count;
    sched->pieces = mem_alloc(arena_array_bytes(room, sizeof *sched->pieces));
    for (size_t i = 0; i < turns; i++) {
        CpuTurn turn;
        sched_cpu_turn(sched, i, &turn);
        add_turn(sched, &turn);
        bool runs = turn.tid != 0 && turn.utid != SCHED_NULL;
        if (runs && turn.start_ns < first_turn[turn.utid]) first_turn[turn.utid] = turn.start_ns;
    }
    order_readies(sched);
    if (turns) add_wakes(sched, first_turn, idle);
    sort_pieces(sched);
}

// ---------------------------------------------------------------- turns of threads

// The first ready event of a thread at or after a time; SCHED_NULL: none.
static int64_t ready_from(const Sched *sched, int64_t utid, int64_t from_ns) {
    const SchedReadies *r = &sched->in.readies;
    const uint32_t *order = sched->ready_order;
    size_t at;
    FIND_FIRST(at, r->count,
               r->utid[order[at]] < utid ||
                   (r->utid[order[at]] == utid && r->ts_ns[order[at]] < from_ns));
    return at < r->count && r->utid[order[at]] == utid ? (int64_t)order[at] : SCHED_NULL;
}

// Without a next turn the stretch ends with the thread or the trace; none follows the last turn of
// a CPU, nor the thread's own end.
static int64_t off_end(const Sched *sched, const SchedPiece *piece) {
    if (piece->is_last || piece->leave == OFF_IS_GONE) return SCHED_NULL;
    int64_t ends = sched->thread_end[piece->utid];
    if (ends == SCHED_NULL) ends = sched->end_ns;
    if (ends < piece->end_ns) ends = piece->end_ns;
    return ends < sched->end_ns ? ends : sched->end_ns;
}

void sched_thread_turn(const Sched *sched, size_t index, ThreadTurn *out) {
    INVARIANT(sched->pieces && index < sched->piece_count);
    const SchedPiece *piece = &sched->pieces[index];
    const SchedPiece *next = index + 1 < sched->piece_count ? piece + 1 : NULL;
    if (next && next->utid != piece->utid) next = NULL;
    int64_t end_ns = piece->whole ? piece->end_ns : piece->start_ns;
    if (next && next->start_ns < end_ns) end_ns = next->start_ns;
    bool lost = !piece->whole || piece->leave == OFF_IS_NULL ||
                (next && next->kind == PIECE_LEAVE) || (piece->leave == OFF_IS_GONE && next);
    *out = (ThreadTurn){.kind = (PieceKind)piece->kind,
                        .off = lost ? OFF_IS_UNKNOWN : (OffKind)piece->leave,
                        .came = piece->came,
                        .ran = piece->whole && piece->kind == PIECE_TURN,
                        .resumed = next != NULL,
                        .utid = piece->utid,
                        .cpu = piece->cpu,
                        .start_ns = piece->start_ns,
                        .end_ns = end_ns,
                        .cpu_end_ns = piece->end_ns,
                        .priority = piece->priority,
                        .off_end_ns = next ? next->start_ns : off_end(sched, piece),
                        .reason = piece->reason,
                        .ready = SCHED_NULL,
                        .wait_stack_id = next ? next->stack_id : SCHED_NULL,
                        .next_cpu = next ? next->cpu : SCHED_NULL};
    bool has_end = next || (!piece->is_last && piece->leave != OFF_IS_GONE);
    if (!has_end || out->off_end_ns < end_ns) out->off = OFF_IS_NULL;
    // A turn of no length was readied at its own time for itself, not for what follows.
    bool empty = piece->kind == PIECE_TURN && piece->came && end_ns == piece->start_ns;
    int64_t ready = has_end ? ready_from(sched, piece->utid, end_ns + (empty ? 1 : 0)) : SCHED_NULL;
    if (ready != SCHED_NULL && sched->in.readies.ts_ns[ready] <= out->off_end_ns)
        out->ready = ready;
}
