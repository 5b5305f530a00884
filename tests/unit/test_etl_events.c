// Every event header layout (synthetic: bytes by hand from the published structures).
#include "etl_bytes.h"

typedef struct Seen {
    EtlEvent events[32];
    size_t count;
    uint8_t payloads[32][64]; // the slices end with the buffer
} Seen;

static void keep(void *context, const EtlBuffer *buffer, const EtlEvent *event) {
    Seen *seen = context;
    (void)buffer;
    assert_true(seen->count < COUNT_OF(seen->events));
    size_t n = event->payload.n < 64 ? event->payload.n : 64;
    if (n > 0) memcpy(seen->payloads[seen->count], event->payload.p, n);
    seen->events[seen->count++] = *event;
}

static Bytes *trace_new(void) {
    Bytes *b = calloc(1, sizeof *b);
    put_log_header(b, &USUAL);
    buffer_open(b, 1, 3, 1024);
    return b;
}

// Closes the buffer, walks the file, drops the header event.
static Totals read_back(Bytes *b, Seen *seen) {
    buffer_close(b);
    EtlFile *file = must_open(b);
    memset(seen, 0, sizeof *seen);
    Totals totals = walk_all(file, keep, seen);
    assert_int_equal(seen->events[0].hook, 0);
    memmove(seen->events, seen->events + 1, sizeof seen->events - sizeof seen->events[0]);
    memmove(seen->payloads, seen->payloads + 1, sizeof seen->payloads - 64);
    seen->count--;
    etl_close(file);
    free(b);
    return totals;
}

static void test_kernel_layouts(void **state) {
    (void)state;
    static const struct {
        unsigned type, header, pointer_size;
        EtlKind kind;
    } CASES[] = {
        {1,  32, 4, ETL_SYSTEM  },
        {2,  32, 8, ETL_SYSTEM  },
        {3,  24, 4, ETL_SYSTEM  },
        {4,  24, 8, ETL_SYSTEM  },
        {16, 16, 4, ETL_PERFINFO},
        {17, 16, 8, ETL_PERFINFO},
    };
    Bytes *b = trace_new();
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        bool perf = CASES[i].kind == ETL_PERFINFO;
        put(b, 0xC0000000u | CASES[i].type << 16 | 4, 4);
        put(b, CASES[i].header + 4 + i, 2); // sizes that are no multiple of 8
        put(b, 0x0F2E, 2);
        if (!perf) put(b, 0x200000001, 8); // tid 1, pid 2
        put(b, 2000 + i, 8);
        if (CASES[i].header == 32) put(b, 0x800000007, 8);
        put(b, 0x11223344, 4);
        put_fill(b, 0x55, i);
        align8(b);
    }
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, COUNT_OF(CASES));
    assert_int_equal(totals.losses, 0);
    for (size_t i = 0; i < seen.count; i++) {
        const EtlEvent *e = &seen.events[i];
        bool perf = CASES[i].kind == ETL_PERFINFO;
        assert_int_equal(e->kind, CASES[i].kind);
        assert_int_equal(e->header_type, CASES[i].type);
        assert_int_equal(e->pointer_size, CASES[i].pointer_size);
        assert_int_equal(e->hook, 0x0F2E);
        assert_int_equal(e->opcode, 0x2E);
        assert_int_equal(e->version, 4);
        assert_int_equal(e->cpu, 3);
        assert_int_equal(e->tid, perf ? ETL_NO_ID : 1);
        assert_int_equal(e->pid, perf ? ETL_NO_ID : 2);
        assert_int_equal(e->ticks, 2000 + (int64_t)i);
        assert_int_equal(e->kernel_time, CASES[i].header == 32 ? 7 : 0);
        assert_int_equal(e->user_time, CASES[i].header == 32 ? 8 : 0);
        assert_int_equal(e->payload.n, 4 + i);
        assert_int_equal(e->whole.n, CASES[i].header + 4 + i);
        assert_int_equal(seen.payloads[i][0], 0x44);
        assert_int_equal(e->index, i);
        assert_int_equal(e->extras.n, 0);
    }
    assert_int_equal(seen.events[1].offset, 1024 + 0x48 + 40);
}

static void test_perfinfo_extras(void **state) {
    (void)state;
    Bytes *b = trace_new();
    put(b, 0xC0118203, 4); // PEBS and two counters, version 3
    put(b, 16 + 24 + 2, 2);
    put(b, 0x052F, 2);
    put(b, 2000, 8);
    put(b, 101, 8);
    put(b, 102, 8);
    put(b, 103, 8);
    put(b, 0x7766, 2);
    align8(b);
    put(b, 0xC0110700, 4); // seven counters do not fit
    put(b, 16 + 48, 2);
    put(b, 0x052F, 2);
    put(b, 2001, 8);
    put_fill(b, 0, 48);
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, 1);
    const EtlEvent *e = &seen.events[0];
    assert_int_equal(e->version, 3);
    assert_int_equal(e->counters, 2);
    assert_int_equal(e->extras.n, 24);
    assert_int_equal(e->payload.n, 2);
    assert_int_equal(seen.payloads[0][0], 0x66);
    assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_EVENT], 1);
    assert_int_equal(totals.issues.first_offset[ETL_ISSUE_BAD_EVENT], 1024 + 0x48 + 48);
    assert_int_equal(totals.issues.bytes[ETL_ISSUE_BAD_EVENT], 64);
}

static void put_classic(Bytes *b, unsigned type, size_t header, uint64_t ticks) {
    put(b, header + 3, 2);
    put(b, 0xC000u | type, 2);
    put(b, 0x0009050Au, 4); // opcode 10, level 5, version 9
    put(b, 21, 4);
    put(b, 22, 4);
    put(b, ticks, 8);
    put_guid(b, 0x77);
    put(b, 31, 4);
    put(b, 32, 4);
    put_fill(b, 0x99, header - 48);
    put(b, 0x030201, 3);
    align8(b);
}

static void test_classic_layouts(void **state) {
    (void)state;
    static const unsigned TYPES[] = {10, 20, 11, 21};
    Bytes *b = trace_new();
    for (size_t i = 0; i < 4; i++) put_classic(b, TYPES[i], i < 2 ? 48 : 72, 2000 + i);
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, 4);
    assert_int_equal(totals.losses, 0);
    for (size_t i = 0; i < 4; i++) {
        const EtlEvent *e = &seen.events[i];
        assert_int_equal(e->kind, ETL_CLASSIC);
        assert_int_equal(e->pointer_size, i % 2 ? 8 : 4);
        assert_int_equal(e->opcode, 10);
        assert_int_equal(e->level, 5);
        assert_int_equal(e->version, 9);
        assert_int_equal(e->hook, 0);
        assert_int_equal(e->tid, 21);
        assert_int_equal(e->pid, 22);
        assert_int_equal(e->provider.bytes[15], 0x77);
        assert_true(guid_is_zero(&e->activity));
        assert_int_equal(e->kernel_time, 31);
        assert_int_equal(e->user_time, 32);
        assert_int_equal(e->payload.n, 3);
        assert_int_equal(seen.payloads[i][2], 3);
    }
}

// Size and the extended items are filled in by the caller.
static size_t manifest_open(Bytes *b, unsigned type, unsigned flags) {
    size_t at = b->n;
    put(b, 0xC0000000u | type << 16, 4);
    put(b, flags, 2);
    put(b, 0, 2);
    put(b, 41, 4);
    put(b, 42, 4);
    put(b, 3000, 8);
    put_guid(b, 0x11);
    put(b, 1234, 2);
    put(b, 0x07040302, 4); // version 2, channel 3, level 4, opcode 7
    put(b, 0x4455, 2);
    put(b, 0x8000000000000001u, 8);
    put(b, 51, 4);
    put(b, 52, 4);
    put_guid(b, 0x22);
    return at;
}

static void manifest_close(Bytes *b, size_t at) {
    put_at(b, at, b->n - at, 2);
    align8(b);
}

static void put_item(Bytes *b, unsigned type, size_t data, bool more) {
    size_t size = (8 + data + 7) & ~(size_t)7;
    put(b, size, 2);
    put(b, type, 2);
    put(b, more, 2);
    put(b, data, 2);
    for (size_t i = 0; i < size - 8; i++) put(b, i < data ? type + i : 0xEE, 1);
}

static void test_manifest_layout(void **state) {
    (void)state;
    Bytes *b = trace_new();
    size_t at = manifest_open(b, 18, 0);
    put(b, 0xDDCC, 2);
    manifest_close(b, at);
    at = manifest_open(b, 19, 0);
    manifest_close(b, at);
    Seen seen;
    assert_int_equal(read_back(b, &seen).losses, 0);
    assert_int_equal(seen.count, 2);
    const EtlEvent *e = &seen.events[0];
    assert_int_equal(e->kind, ETL_MANIFEST);
    assert_int_equal(e->pointer_size, 4);
    assert_int_equal(seen.events[1].pointer_size, 8);
    assert_int_equal(e->tid, 41);
    assert_int_equal(e->pid, 42);
    assert_int_equal(e->ticks, 3000);
    assert_int_equal(e->provider.bytes[0], 0x11);
    assert_int_equal(e->activity.bytes[0], 0x22);
    assert_int_equal(e->id, 1234);
    assert_int_equal(e->version, 2);
    assert_int_equal(e->channel, 3);
    assert_int_equal(e->level, 4);
    assert_int_equal(e->opcode, 7);
    assert_int_equal(e->task, 0x4455);
    assert_true(e->keyword == 0x8000000000000001u);
    assert_int_equal(e->kernel_time, 51);
    assert_int_equal(e->user_time, 52);
    assert_false(e->ext.any);
    assert_null(e->ext.stack.p);
    assert_int_equal(e->payload.n, 2);
    assert_int_equal(seen.payloads[0][1], 0xDD);
    assert_int_equal(seen.events[1].payload.n, 0);
}

static void check_items(void *context, const EtlBuffer *buffer, const EtlEvent *event) {
    (void)buffer;
    const EtlExtended *x = &event->ext;
    if (event->kind != ETL_MANIFEST) return;
    if (event->flags == 0) { // nothing of the event before it is left
        static const EtlExtended NONE;
        assert_memory_equal(&x->related_activity, &NONE.related_activity, sizeof(Guid));
        assert_false(x->any || x->has_related_activity || x->has_session || x->has_match_id ||
                     x->has_stack_key || x->has_process_start_key || x->has_event_key);
        assert_true(!x->sid.p && !x->stack.p && !x->tracelogging.p && !x->traits.p && !x->pmc.p &&
                    !x->container_id.p && x->match_id == 0 && x->stack_pointer_size == 0);
        ++*(int *)context;
        return;
    }
    ++*(int *)context;
    assert_true(x->any && x->has_related_activity && x->has_session && x->has_match_id);
    assert_int_equal(x->related_activity.bytes[0], 1);
    assert_int_equal(x->sid.n, 12);
    assert_int_equal((uint8_t)x->sid.p[0], 2);
    assert_int_equal(x->session_id, 0x06050403);
    assert_true(x->match_id == 0x0D0C0B0A09080706u);
    assert_int_equal(x->stack.n, 24);
    assert_int_equal(x->stack_pointer_size, 8);
    assert_int_equal((uint8_t)x->stack.p[0], 6 + 8);
    assert_int_equal(x->pmc.n, 16);
    assert_true(x->has_event_key && x->event_key == 0x11100F0E0D0C0B0Au);
    assert_int_equal(x->tracelogging.n, 5);
    assert_int_equal(x->traits.n, 9);
    assert_true(x->has_process_start_key && x->process_start_key == 0x14131211100F0E0Du);
    assert_int_equal(x->container_id.n, 38);
    assert_true(x->has_stack_key && x->stack_key == 0x21201F1E1D1C1B1Au);
    assert_int_equal(event->payload.n, 4);
    assert_memory_equal(event->payload.p, "\x44\x33\x22\x11", 4);
}

static void test_extended_items(void **state) {
    (void)state;
    static const struct {
        unsigned type;
        size_t data;
    } ITEMS[] = {
        {1,  16},
        {2,  12},
        {3,  4 },
        {4,  24},
        {6,  32},
        {7,  8 },
        {8,  16},
        {9,  3 },
        {10, 8 },
        {11, 5 },
        {12, 9 },
        {13, 8 },
        {14, 16},
        {15, 8 },
        {16, 38},
        {18, 16}
    };
    Bytes *b = calloc(1, sizeof *b);
    put_log_header(b, &USUAL);
    buffer_open(b, 1, 3, 1024);
    size_t at = manifest_open(b, 18, 1); // stacks of 32-bit events are recorded as 64-bit
    for (size_t i = 0; i < COUNT_OF(ITEMS); i++)
        put_item(b, ITEMS[i].type, ITEMS[i].data, i + 1 < COUNT_OF(ITEMS));
    put(b, 0x11223344, 4);
    manifest_close(b, at);
    manifest_close(b, manifest_open(b, 19, 0));
    buffer_close(b);
    EtlFile *file = must_open(b);
    int seen = 0;
    assert_int_equal(walk_all(file, check_items, &seen).losses, 0);
    assert_int_equal(seen, 2);
    etl_close(file);
    free(b);
}

static void test_damaged_items(void **state) {
    (void)state;
    static const struct {
        uint16_t size, more, data;
        bool good;
    } CASES[] = {
        {16,   0, 8, true }, // the sound form of this table
        {0,    1, 0, false}, // no progress
        {7,    0, 0, false}, // below its own head
        {16,   0, 9, false}, // data beyond the item
        {20,   0, 8, false}, // not a multiple of 8
        {4096, 0, 8, false}, // item beyond the event
        {16,   1, 8, false}, // another item is announced where the payload ends
    };
    Bytes *b = trace_new();
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        size_t at = manifest_open(b, 19, 1);
        put(b, CASES[i].size, 2);
        put(b, 10, 2);
        put(b, CASES[i].more, 2);
        put(b, CASES[i].data, 2);
        put(b, 0x0101010101010101u, 8);
        put(b, 0x5A, 1);
        manifest_close(b, at);
    }
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, COUNT_OF(CASES)); // none costs its neighbours
    uint64_t bad = 0;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        assert_int_equal(seen.events[i].payload.n, CASES[i].good ? 1 : 0);
        bad += !CASES[i].good;
    }
    assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_EXTENDED_ITEM], bad);
}

static void test_messages(void **state) {
    (void)state;
    static const struct {
        unsigned flags;
        size_t fields; // bytes of the optional fields
        unsigned pointer_size;
        bool guid, ticks, ids;
    } CASES[] = {
        {0xAA, 32, 8, true,  true,  true },
        {0x00, 0,  8, false, false, false},
        {0x6B, 36, 4, true,  true,  true },
        {0x01, 4,  8, false, false, false},
        {0x0C, 12, 8, false, true,  false},
        {0x20, 8,  8, false, false, true },
    };
    Bytes *b = trace_new();
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        unsigned f = CASES[i].flags;
        put(b, 8 + CASES[i].fields + 3, 2);
        put(b, 0x9000, 2);
        put(b, 77, 2);
        put(b, f, 2);
        if (f & 1) put(b, 0xFEFEFEFE, 4);
        if (f & 4) put(b, 0xCCCCCCCC, 4);
        if (f & 2) put_guid(b, 0x66);
        if (f & 8) put(b, 4000 + i, 8);
        if (f & 0x20) put(b, 62ull << 32 | 61, 8);
        put(b, 0x636261, 3);
        align8(b);
    }
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, COUNT_OF(CASES));
    assert_int_equal(totals.losses, 0);
    assert_int_equal(totals.kinds[ETL_WPP], COUNT_OF(CASES));
    int64_t ticks = 0;
    for (size_t i = 0; i < seen.count; i++) {
        const EtlEvent *e = &seen.events[i];
        if (CASES[i].ticks) ticks = 4000 + (int64_t)i;
        assert_int_equal(e->header_type, 15);
        assert_int_equal(e->id, 77);
        assert_int_equal(e->flags, CASES[i].flags);
        assert_int_equal(e->pointer_size, CASES[i].pointer_size);
        assert_int_equal(e->provider.bytes[4], CASES[i].guid ? 0x66 : 0);
        assert_int_equal(e->ticks, ticks); // the one before it when it has none
        assert_int_equal(e->tid, CASES[i].ids ? 61 : ETL_NO_ID);
        assert_int_equal(e->pid, CASES[i].ids ? 62 : ETL_NO_ID);
        assert_int_equal(e->payload.n, 3);
        assert_memory_equal(seen.payloads[i], "abc", 3);
    }
}

static void test_buffer_starting_without_time(void **state) {
    (void)state;
    Bytes *b = trace_new();
    put(b, 0x90000008, 8); // message without any optional field
    put(b, 0x9000000b, 4);
    put(b, 0, 4);
    put_fill(b, 'x', 3);
    align8(b);
    put_event(b, 0x0501, 5000, 8);
    buffer_close(b);
    buffer_open(b, 2, 3, 1024); // nothing timed at all: the time of the buffer before
    put(b, 0x90000008, 8);
    buffer_close(b);
    EtlFile *file = must_open(b);
    assert_int_equal(etl_buffer_count(file), 3);
    assert_int_equal(etl_buffer(file, 1)->first_ticks, 5000);
    assert_int_equal(etl_buffer(file, 2)->first_ticks, 5000);
    Seen seen = {0};
    Totals totals = walk_all(file, keep, &seen);
    assert_int_equal(totals.events, 5);
    assert_int_equal(seen.events[1].ticks, 5000);
    assert_int_equal(seen.events[4].ticks, 5000);
    etl_close(file);
    free(b);
}

static void test_other_records(void **state) {
    (void)state;
    static const unsigned MARKS[] = {0xC00C, 0xC00D, 0xC00E, 0xB000};
    Bytes *b = trace_new();
    put_event(b, 0x0501, 2000, 0);
    for (size_t i = 0; i < COUNT_OF(MARKS); i++) {
        put(b, 20, 2);
        put(b, MARKS[i], 2);
        put(b, 1, 4);
        put(b, 3000, 8);
        put(b, 2, 4);
        align8(b);
    }
    put_event(b, 0x0502, 4000, 0);
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(totals.losses, 0);
    assert_int_equal(seen.count, 6);
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(seen.events[i].kind, ETL_OTHER);
        assert_int_equal(seen.events[i].payload.n, 20);
        assert_int_equal(seen.events[i].ticks, i == 4 ? 3000 : 2000);
        assert_int_equal(seen.events[i].tid, ETL_NO_ID);
    }
    assert_int_equal(seen.events[5].hook, 0x0502);
}

static void test_malformed_event_ends_its_buffer(void **state) {
    (void)state;
    static const struct {
        uint32_t mark, second;
        bool counted;
    } CASES[] = {
        {0xC0020000, 31,         true }, // below its header
        {0xC0020000, 4000,       true }, // beyond the buffer
        {0xC0020000, 0,          true }, // zero
        {0xC0050000, 64,         true }, // unknown type
        {0xC0FF0000, 64,         true }, // unknown type above the table
        {0x40020000, 64,         true }, // marker bit missing
        {0xC0130010, 64,         true }, // event header shorter than 80
        {0x90000006, 0,          true }, // message shorter than 8
        {0x9000000C, 0x00AA0000, true }, // optional fields beyond the message
        {0xFFFFFFFF, 64,         false}, // the end mark, not damage
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Bytes *b = trace_new();
        put_event(b, 0x0501, 2000, 4);
        size_t at = b->n;
        put(b, CASES[i].mark, 4);
        put(b, CASES[i].second, 4);
        put_fill(b, 1, 56);
        put_event(b, 0x0502, 3000, 4);
        buffer_close(b);
        buffer_open(b, 2, 1, 1024); // must not suffer
        put_event(b, 0x0503, 4000, 4);
        Seen seen;
        Totals totals = read_back(b, &seen);
        assert_int_equal(seen.count, 2);
        assert_int_equal(seen.events[1].hook, 0x0503);
        assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_EVENT], CASES[i].counted);
        if (CASES[i].counted) assert_int_equal(totals.issues.first_offset[ETL_ISSUE_BAD_EVENT], at);
    }
}

static void test_padding_and_zeros(void **state) {
    (void)state;
    Bytes *b = trace_new();
    put_event(b, 0x0501, 2000, 4);
    put_fill(b, 0, 80); // a session that did not stop cleanly
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, 1);
    assert_int_equal(totals.losses, 0);
    assert_int_equal(totals.issues.count[ETL_ISSUE_ZERO_TAIL], 1);
    assert_int_equal(totals.issues.bytes[ETL_ISSUE_ZERO_TAIL], 80);

    b = trace_new(); // empty buffer
    totals = read_back(b, &seen);
    assert_int_equal(seen.count, 0);
    assert_int_equal(totals.losses, 0);
}

static void test_time_backwards(void **state) {
    (void)state;
    Bytes *b = trace_new();
    put_event(b, 0x0501, 2000, 4);
    put_event(b, 0x0502, 1990, 4);
    put_event(b, 0x0503, 1995, 4);
    Seen seen;
    Totals totals = read_back(b, &seen);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.events[1].ticks, 1990);
    assert_int_equal(totals.issues.count[ETL_ISSUE_TIME_BACKWARDS], 1);
    assert_int_equal(totals.losses, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_layouts),
        cmocka_unit_test(test_perfinfo_extras),
        cmocka_unit_test(test_classic_layouts),
        cmocka_unit_test(test_manifest_layout),
        cmocka_unit_test(test_extended_items),
        cmocka_unit_test(test_damaged_items),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_buffer_starting_without_time),
        cmocka_unit_test(test_other_records),
        cmocka_unit_test(test_malformed_event_ends_its_buffer),
        cmocka_unit_test(test_padding_and_zeros),
        cmocka_unit_test(test_time_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
