// What row-writing functions share: threads, stacks and frames of the current event.
#include "decode/decoder.h"

#include "base/search.h"
#include "decode/decoder_internal.h"

Row decoder_row(Decoder *decoder, TableId table, const EtlEvent *event) {
    Row row = row_begin(&decoder->rows, table);
    put_i64(&row, decoder->ts_ns);
    put_u64(&row, decoder->seq);
    put_u16(&row, event->cpu);
    return row;
}

uint32_t decoder_thread(Decoder *decoder, const EtlEvent *event, uint32_t payload_tid) {
    uint32_t tid = payload_tid;
    if (tid == ETL_NO_ID) tid = event->tid;
    if (tid == ETL_NO_ID) tid = decoder->running_tid;
    return tid == ETL_NO_ID ? 0 : world_thread(decoder->world, tid, event->ticks);
}

void put_who(Row *row, Decoder *decoder, uint32_t utid) {
    put_id(row, world_process_of_thread(decoder->world, utid));
    put_id(row, utid);
}

int64_t decoder_ns(const Decoder *decoder, int64_t ticks) {
    return world_ns(decoder->world, ticks);
}

Str value_text(Decoder *decoder, const Values *values, unsigned slot, FieldType type) {
    if (!value_has(values, slot)) return (Str){0};
    Str raw = values->at[slot].s;
    const uint8_t *bytes = (const uint8_t *)raw.p;
    if (type == F_SID) return sid_to_text(&decoder->scratch, raw);
    if (type == F_ASTR) return str_from_8bit(&decoder->scratch, bytes, raw.n);
    if (type == F_WSTR) return str_from_utf16(&decoder->scratch, bytes, raw.n);
    Rd r = rd_from_str(raw);
    return rd_wstr(&r, &decoder->scratch);
}

// ---------------------------------------------------------------- frames

uint64_t decoder_frame(Decoder *decoder, uint32_t utid, uint64_t address, int64_t ticks) {
    uint32_t upid = world_process_of_thread(decoder->world, utid);
    uint64_t frame = world_frame(decoder->world, upid, address, ticks);
    uint64_t *recent = &decoder->frames->recent[u64_hash(frame) % FRAMES_RECENT];
    if (!frame || *recent == frame) return frame;
    (void)map_put(&decoder->frames->seen, frame, 1, NULL);
    *recent = frame;
    return frame;
}

void put_frame(Row *row, uint64_t frame_id) {
    put_u64_if(row, frame_id != 0, frame_id);
}

// ---------------------------------------------------------------- stacks

static size_t first_entry(const World *world, int64_t ticks) {
    size_t at;
    FIND_FIRST(at, world->stacks.count, world->stacks.items[at].ticks < ticks);
    return at;
}

void stack_cursor_start(StackCursor *cursor, const World *world, int64_t ticks, uint64_t seq) {
    cursor->at = first_entry(world, ticks);
    const InlineEntry *entries = world->inline_stacks.items;
    FIND_FIRST(cursor->inline_at, world->inline_stacks.count, entries[cursor->inline_at].seq < seq);
}

enum Fit { FIT_NONE, FIT_WEAK, FIT_CPU, FIT_THREAD, FIT_THREAD_ON_CPU };

// How well an entry fits an event at its time. A thread is in one place at a time, so its id
// decides, except the idle threads': those of all CPUs have id 0. The kernel part is logged on the
// event's own CPU. In filtered traces stacks of removed events remain, so an equal time alone is
// no evidence.
static int fit(const StackEntry *entry, uint16_t cpu, uint32_t tid) {
    if (tid != ETL_NO_ID && entry->tid == tid) {
        if (entry->cpu == cpu) return FIT_THREAD_ON_CPU;
        if (tid != 0) return FIT_THREAD;
    }
    if (entry->cpu != cpu) return FIT_NONE;
    if (entry->has_kernel_part) return FIT_CPU;
    return tid == ETL_NO_ID ? FIT_WEAK : FIT_NONE;
}

// The entry of time `ticks`, from `first` on, that fits best; SIZE_MAX: none. With `unclaimed`,
// those that an event has taken do not count.
static size_t best_entry(const World *world, size_t first, int64_t ticks, uint16_t cpu,
                         uint32_t tid, bool unclaimed) {
    const StackEntry *entries = world->stacks.items;
    size_t best = SIZE_MAX;
    int best_fit = FIT_NONE;
    for (size_t i = first; i < world->stacks.count && entries[i].ticks == ticks; i++) {
        if (unclaimed && atomic_load_explicit(&world->claimed[i], memory_order_relaxed)) continue;
        int how = fit(&entries[i], cpu, tid);
        if (how <= best_fit) continue;
        best = i;
        best_fit = how;
    }
    return best;
}

static uint32_t inline_stack(Decoder *decoder) {
    const World *world = decoder->world;
    StackCursor *cursor = decoder->stacks;
    size_t count = world->inline_stacks.count;
    while (cursor->inline_at < count &&
           world->inline_stacks.items[cursor->inline_at].seq < decoder->seq)
        cursor->inline_at++;
    if (cursor->inline_at == count) return 0;
    const InlineEntry *entry = &world->inline_stacks.items[cursor->inline_at];
    return entry->seq == decoder->seq ? entry->stack_id : 0;
}

uint32_t decoder_stack(Decoder *decoder, const EtlEvent *event, uint32_t tid) {
    if (event->kind == ETL_MANIFEST) return inline_stack(decoder);
    const World *world = decoder->world;
    StackCursor *cursor = decoder->stacks;
    const StackEntry *entries = world->stacks.items;
    size_t count = world->stacks.count;
    // Damaged buffers can step back in time.
    if (cursor->at && entries[cursor->at - 1].ticks >= event->ticks)
        cursor->at = first_entry(world, event->ticks);
    while (cursor->at < count && entries[cursor->at].ticks < event->ticks) cursor->at++;
    size_t best;
    do {
        best = best_entry(world, cursor->at, event->ticks, event->cpu, tid, true);
        if (best == SIZE_MAX) return 0;
        // Another worker may have taken it meanwhile; then the next best is this event's.
    } while (atomic_exchange(&world->claimed[best], 1));
    cursor->taken++;
    return entries[best].stack_id;
}

uint32_t decoder_stack_at(Decoder *decoder, int64_t ticks, uint16_t cpu, uint32_t tid) {
    const World *world = decoder->world;
    size_t best = best_entry(world, first_entry(world, ticks), ticks, cpu, tid, false);
    return best == SIZE_MAX ? 0 : world->stacks.items[best].stack_id;
}
