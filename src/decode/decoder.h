// What a row-writing function (EmitRow) works with: one worker's decoder, positioned on one event.
#ifndef DECODE_DECODER_H
#define DECODE_DECODER_H

#include "decode/world.h"

struct Decoder {
    const World *world;
    Rows rows;
    Arena scratch; // cleared for every event
    EtlIssues issues;
    uint64_t short_payloads; // events that ended before their layout
    // The current event:
    int64_t ts_ns;
    uint64_t seq;
    uint32_t
        running_tid; // thread running on the event's CPU by context switches; ETL_NO_ID unknown
    struct StackCursor *stacks;
    struct FrameSet *frames;
};

// Begins a row with the columns every event table starts with: ts_ns, seq, cpu.
Row decoder_row(Decoder *decoder, TableId table, const EtlEvent *event);
// Thread of the current event: `payload_tid` when it is known (not ETL_NO_ID), else the header's,
// else the one running on the CPU. utid or 0.
uint32_t decoder_thread(Decoder *decoder, const EtlEvent *event, uint32_t payload_tid);
// Puts upid, utid.
void put_who(Row *row, Decoder *decoder, uint32_t utid);
// Takes the stack that belongs to this event (docs/formats/etl.md, stacks); `tid` is the thread the
// stack would carry (subject or logging thread), ETL_NO_ID when unknown. stack_id or 0.
uint32_t decoder_stack(Decoder *decoder, const EtlEvent *event, uint32_t tid);
// The stack of another event, already claimed by its own row (e.g. a disk request's init event).
uint32_t decoder_stack_at(Decoder *decoder, int64_t ticks, uint16_t cpu, uint32_t tid);
// frame_id of an address in the process of `utid` (0: kernel addresses only), recorded for the
// frame table; 0 for address 0.
uint64_t decoder_frame(Decoder *decoder, uint32_t utid, uint64_t address, int64_t ticks);
void put_frame(Row *row, uint64_t frame_id); // NULL when 0
// Rows of pmc_counter for the values in an event's extras; `spec` may be NULL.
void decoder_counters(Decoder *decoder, const EtlEvent *event, const EventSpec *spec);
// Trace-relative ns of a raw-clock time field.
int64_t decoder_ns(const Decoder *decoder, int64_t ticks);
// Text of a value of spec_read, converted to UTF-8 in the scratch arena; p == NULL when absent.
Str value_text(Decoder *decoder, const Values *values, unsigned slot, FieldType type);

#endif
