// Payloads of kernel events: the first bytes choose layout, version and pointer size, the rest is
// the payload. Fields, JSON and notes are made of it.
#include "fuzz.h"

#include "decode/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const EtlHeader header = {.ticks_per_s = 10000000, .clock = ETL_CLOCK_QPC};
    Rd r = rd_from(data, size);
    uint16_t hook = rd_u16(&r);
    uint8_t version = rd_u8(&r);
    unsigned pointer_size = rd_u8(&r) & 1 ? 4 : 8;
    bool exact = false, complete = false;
    const EventSpec *spec = spec_find(hook, version, &exact);
    if (!rd_ok(&r) || !spec) return 0;
    EtlEvent event = {.kind = ETL_SYSTEM,
                      .hook = hook,
                      .version = version,
                      .pointer_size = (uint8_t)pointer_size,
                      .payload = rd_bytes(&r, rd_left(&r))};
    Values values;
    Arena scratch = {0};
    Buf json = {0};
    unsigned fields = spec_read(spec, &event, &values);
    SpecPayload payload = {&header, pointer_size, event.payload};
    size_t explained = spec_json(spec, &payload, &scratch, &json, &complete);
    INVARIANT(fields <= spec->field_count && explained <= event.payload.n);
    INVARIANT(complete || fields < spec->field_count);
    INVARIANT(json.n >= 2 && json.p[0] == '{' && json.p[json.n - 1] == '}');
    Notes notes = {0};
    if (spec->flags & SPEC_NOTE) notes_add(&notes, &event, spec, 1);
    note_index_close(note_index_open(&notes, 1));
    buf_done(&json);
    arena_done(&scratch);
    return 0;
}
