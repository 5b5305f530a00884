// Damaged files: what is intact must still be there, and what is lost must be counted (synthetic:
// bytes by hand from the published structures).
#include "etl_bytes.h"

enum { BUFFERS = 12, EVENTS = 4, PLAIN_BYTES = 1024, PACKED_EVENTS = 20 };

typedef struct Marks {
    int seen[BUFFERS + 1]; // events by the buffer number in their payload
} Marks;

static void mark(void *context, const EtlBuffer *buffer, const EtlEvent *event) {
    Marks *marks = context;
    (void)buffer;
    if (event->hook != 0x0501 || event->payload.n < 16) return;
    uint8_t number = (uint8_t)event->payload.p[0];
    if (number <= BUFFERS) marks->seen[number]++;
}

static void put_numbered(Bytes *b, unsigned number, int events) {
    for (int i = 0; i < events; i++) {
        size_t at = system_open(b, 2, 0x0501, 2000 + (int64_t)number * 100 + i);
        put_fill(b, (uint8_t)number, 16);
        system_close(b, at);
    }
}

static Bytes *make_plain(void) {
    Bytes *b = calloc(1, sizeof *b);
    put_log_header(b, &USUAL);
    for (unsigned i = 1; i <= BUFFERS; i++) {
        buffer_open(b, i, i % 3, PLAIN_BYTES);
        put_numbered(b, i, EVENTS);
        buffer_close(b);
    }
    return b;
}

// XPRESS stream of literals only, as a compressed buffer; sizes are odd and differ.
static void pack_buffer(Bytes *b, Bytes *plain, unsigned number) {
    plain->n = 0;
    buffer_open(plain, number, number % 3, 64 * 1024);
    put_at(plain, AT_FLAGS, 0x60, 2);
    put_numbered(plain, number, PACKED_EVENTS + (int)number);
    size_t at = b->n;
    size_t valid = plain->n;
    put_bytes(b, plain->p, 0x48);
    for (size_t i = 0x48; i < valid; i += 32) {
        put(b, 0, 4);
        put_bytes(b, plain->p + i, valid - i < 32 ? valid - i : 32);
    }
    put_fill(b, 0, number % 5); // leftover input is normal
    put_at(b, at, b->n - at, 4);
    put_at(b, at + 4, valid, 4);
    put_at(b, at + AT_FILLED, valid, 4);
}

static Bytes *make_packed(size_t starts[BUFFERS + 2]) {
    Bytes *b = calloc(1, sizeof *b);
    Bytes *plain = calloc(1, sizeof *plain);
    LogHeader log = USUAL;
    log.mode = 0x04000001;
    put_log_header(b, &log);
    for (unsigned i = 1; i <= BUFFERS; i++) {
        starts[i] = b->n;
        pack_buffer(b, plain, i);
    }
    starts[BUFFERS + 1] = b->n;
    free(plain);
    return b;
}

static Totals read_marks(const Bytes *b, Marks *marks) {
    EtlFile *file = must_open(b);
    *marks = (Marks){0};
    Totals totals = walk_all(file, mark, marks);
    etl_close(file);
    return totals;
}

// All events of all buffers but `except` (0: none).
static void expect_others(const Marks *marks, unsigned except, int events, int grow) {
    for (unsigned i = 1; i <= BUFFERS; i++) {
        if (i == except) continue;
        int wanted = events + grow * (int)i;
        if (marks->seen[i] != wanted)
            fail_msg("buffer %u: %d of %d events (damage in %u)", i, marks->seen[i], wanted,
                     except);
    }
}

static void test_sound_files(void **state) {
    (void)state;
    size_t starts[BUFFERS + 2];
    Marks marks;
    Bytes *b = make_plain();
    assert_int_equal(read_marks(b, &marks).losses, 0);
    expect_others(&marks, 0, EVENTS, 0);
    free(b);
    b = make_packed(starts);
    assert_int_equal(read_marks(b, &marks).losses, 0);
    expect_others(&marks, 0, PACKED_EVENTS, 1);
    free(b);
}

typedef struct Damage {
    size_t at, size; // from the start of the buffer
    uint64_t value;
    bool kept; // the damaged buffer's own events are still there
} Damage;

static const Damage DAMAGES[] = {
    {0,         4,    0,          true }, // BufferSize 0
    {0,         4,    0x48,       true }, // too small, and events follow instead of a header
    {0,         4,    700,        true }, // ends in the middle
    {0,         4,    1500,       true }, // ends in the middle of the next one
    {0,         4,    0x00FFFFFF, true }, // beyond the file
    {0,         4,    0xFFFFFFFF, true }, // beyond any buffer
    {AT_FILLED, 4,    0,          true }, // SavedOffset tells
    {AT_FILLED, 4,    0xF0000000, true },
    {AT_TYPE,   2,    0x0800,     true }, // one damaged bit
    {AT_FLAGS,  2,    0x4020,     true },
    {0x0C,      4,    5,          true }, // reference count
    {AT_STATE,  4,    0x80000003, true },
    {0,         8,    UINT64_MAX, true }, // size and SavedOffset: the rest still is a header
    {0,         0x38, 0xFF,       false}, // the whole header
    {0,         0x38, 0,          false},
};

static void apply(Bytes *b, size_t start, const Damage *damage) {
    if (damage->size <= 8)
        put_at(b, start + damage->at, damage->value, damage->size);
    else
        memset(b->p + start + damage->at, (int)damage->value, damage->size);
}

static void test_damaged_plain_header(void **state) {
    (void)state;
    static const unsigned PLACES[] = {1, 5, BUFFERS};
    for (size_t d = 0; d < COUNT_OF(DAMAGES); d++) {
        for (size_t i = 0; i < COUNT_OF(PLACES); i++) {
            Bytes *b = make_plain();
            size_t start = PLACES[i] * (size_t)PLAIN_BYTES;
            apply(b, start, &DAMAGES[d]);
            Marks marks;
            Totals totals = read_marks(b, &marks);
            expect_others(&marks, PLACES[i], EVENTS, 0);
            assert_int_equal(marks.seen[PLACES[i]], DAMAGES[d].kept ? EVENTS : 0);
            if (!DAMAGES[d].kept) {
                assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_BUFFER_HEADER], 1);
                assert_int_equal(totals.issues.first_offset[ETL_ISSUE_BAD_BUFFER_HEADER], start);
                assert_int_equal(totals.issues.bytes[ETL_ISSUE_BAD_BUFFER_HEADER], PLAIN_BYTES);
            }
            free(b);
        }
    }
}

static void test_damaged_packed_header(void **state) {
    (void)state;
    static const unsigned PLACES[] = {1, 5, BUFFERS};
    for (size_t d = 0; d < COUNT_OF(DAMAGES); d++) {
        for (size_t i = 0; i < COUNT_OF(PLACES); i++) {
            size_t starts[BUFFERS + 2];
            Bytes *b = make_packed(starts);
            apply(b, starts[PLACES[i]], &DAMAGES[d]);
            Marks marks;
            Totals totals = read_marks(b, &marks);
            expect_others(&marks, PLACES[i], PACKED_EVENTS, 1);
            if (!DAMAGES[d].kept) {
                assert_true(totals.losses > 0);
                assert_int_equal(marks.seen[PLACES[i]], 0);
            } else if (DAMAGES[d].size <= 4 && PLACES[i] != BUFFERS) {
                assert_int_equal(marks.seen[PLACES[i]], PACKED_EVENTS + (int)PLACES[i]);
            }
            free(b);
        }
    }
}

static void test_bytes_missing_or_inserted(void **state) {
    (void)state;
    static const struct {
        size_t at, removed, inserted;
        unsigned lost;
    } CASES[] = {
        {5 * PLAIN_BYTES + 500, 300,             0,  5}, // a hole inside buffer 5
        {5 * PLAIN_BYTES,       0,               40, 0}, // junk between two buffers
        {5 * PLAIN_BYTES + 500, 0,               40, 5},
        {5 * PLAIN_BYTES,       PLAIN_BYTES / 2, 0,  5}, // its first half
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Bytes *b = make_plain();
        size_t at = CASES[i].at;
        size_t from = at + CASES[i].removed;
        memmove(b->p + at + CASES[i].inserted, b->p + from, b->n - from);
        memset(b->p + at, 0x5A, CASES[i].inserted);
        b->n = b->n - CASES[i].removed + CASES[i].inserted;
        Marks marks;
        Totals totals = read_marks(b, &marks);
        expect_others(&marks, CASES[i].lost, EVENTS, 0);
        assert_true(totals.losses > 0);
        free(b);
    }
}

static void test_truncation_everywhere(void **state) {
    (void)state;
    size_t starts[BUFFERS + 2];
    for (int packed = 0; packed < 2; packed++) {
        Bytes *b = packed ? make_packed(starts) : make_plain();
        if (!packed)
            for (size_t i = 1; i <= BUFFERS + 1; i++) starts[i] = i * PLAIN_BYTES;
        size_t full = b->n;
        for (size_t cut = starts[1]; cut < full; cut += 1 + cut % 61) {
            b->n = cut;
            Marks marks;
            Totals totals = read_marks(b, &marks);
            unsigned whole = 0;
            while (whole < BUFFERS && starts[whole + 2] <= cut) whole++;
            for (unsigned i = 1; i <= whole; i++)
                assert_int_equal(marks.seen[i], packed ? PACKED_EVENTS + (int)i : EVENTS);
            for (unsigned i = whole + 2; i <= BUFFERS; i++) assert_int_equal(marks.seen[i], 0);
            bool clean = cut == starts[whole + 1];
            assert_int_equal(totals.losses, clean ? 0 : 1); // counted once, as a cut
            assert_int_equal(totals.issues.count[ETL_ISSUE_TRUNCATED_FILE], clean ? 0 : 1);
            // Whole events of the cut buffer are used: 56 bytes each, after the header.
            size_t there = cut - starts[whole + 1];
            size_t events = there > 0x48 ? (there - 0x48) / (packed ? 60 : 48) : 0;
            if (events > EVENTS) events = EVENTS;
            if (whole < BUFFERS) assert_true(marks.seen[whole + 1] >= (int)events - (int)packed);
        }
        free(b);
    }
}

static void test_zero_tails(void **state) {
    (void)state;
    static const size_t SIZES[] = {8, 0x48, 1000, 5 * PLAIN_BYTES, 400 * 1024};
    size_t starts[BUFFERS + 2];
    for (int packed = 0; packed < 2; packed++) {
        for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
            Bytes *b = packed ? make_packed(starts) : make_plain();
            size_t end = b->n;
            put_fill(b, 0, SIZES[i]);
            Marks marks;
            Totals totals = read_marks(b, &marks);
            expect_others(&marks, 0, packed ? PACKED_EVENTS : EVENTS, packed);
            assert_int_equal(totals.losses, 0);
            assert_int_equal(totals.issues.count[ETL_ISSUE_ZERO_TAIL], 1);
            assert_int_equal(totals.issues.first_offset[ETL_ISSUE_ZERO_TAIL], end);
            assert_int_equal(totals.issues.bytes[ETL_ISSUE_ZERO_TAIL], SIZES[i]);
            free(b);
        }
    }
}

static void test_junk_tail(void **state) {
    (void)state;
    size_t starts[BUFFERS + 2];
    for (int packed = 0; packed < 2; packed++) {
        Bytes *b = packed ? make_packed(starts) : make_plain();
        for (int i = 0; i < 5000; i++) put(b, (uint8_t)(i * i * 31 + i), 1);
        Marks marks;
        Totals totals = read_marks(b, &marks);
        expect_others(&marks, 0, packed ? PACKED_EVENTS : EVENTS, packed);
        assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_BUFFER_HEADER], 1);
        assert_int_equal(totals.issues.bytes[ETL_ISSUE_BAD_BUFFER_HEADER], 5000);
        free(b);
    }
}

static void test_destroyed_start(void **state) {
    (void)state;
    Bytes *b = make_plain();
    memset(b->p, 0x33, PLAIN_BYTES);
    Marks marks;
    Totals totals = read_marks(b, &marks);
    expect_others(&marks, 0, EVENTS, 0);
    assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_HEADER_EVENT], 1);
    assert_int_equal(totals.issues.bytes[ETL_ISSUE_BAD_BUFFER_HEADER], PLAIN_BYTES);
    EtlFile *file = must_open(b);
    assert_int_equal(etl_header(file)->start_ticks, 2100); // the first event there is
    etl_close(file);
    free(b);
}

static void test_duplicated_buffer(void **state) {
    (void)state;
    Bytes *b = make_plain();
    put_bytes(b, b->p + 5 * PLAIN_BYTES, PLAIN_BYTES);
    Marks marks;
    Totals totals = read_marks(b, &marks);
    expect_others(&marks, 5, EVENTS, 0);
    assert_int_equal(marks.seen[5], 2 * EVENTS);
    assert_int_equal(totals.losses, 0);
    free(b);
}

static void test_damaged_compression(void **state) {
    (void)state;
    size_t starts[BUFFERS + 2];
    Bytes *b = make_packed(starts);
    put_at(b, starts[5] + 0x48 + 36 * 10, 0x80000000, 4); // a match token ...
    put_at(b, starts[5] + 0x48 + 36 * 10 + 4, 0xFFFF, 2); // ... from before the start
    Marks marks;
    Totals totals = read_marks(b, &marks);
    expect_others(&marks, 5, PACKED_EVENTS, 1);
    assert_int_equal(marks.seen[5], 320 / 48);
    assert_int_equal(totals.losses, 1); // the event cut by it is not counted again
    assert_int_equal(totals.issues.count[ETL_ISSUE_BAD_COMPRESSION], 1);
    assert_int_equal(totals.issues.first_offset[ETL_ISSUE_BAD_COMPRESSION], starts[5]);
    assert_int_equal(totals.issues.bytes[ETL_ISSUE_BAD_COMPRESSION], 48 * 25 - 320);
    free(b);
}

static void test_announced_format_is_wrong(void **state) {
    (void)state;
    static const unsigned FORMATS[] = {0, 2, 3, 4, 99};
    size_t starts[BUFFERS + 2];
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++) {
        Bytes *b = make_packed(starts);
        put_at(b, AT_STATE, FORMATS[i], 4);
        EtlFile *file = must_open(b);
        assert_int_equal(etl_compression(file), ETL_XPRESS);
        Marks marks = {0};
        assert_int_equal(walk_all(file, mark, &marks).losses, 0);
        expect_others(&marks, 0, PACKED_EVENTS, 1);
        etl_close(file);
        free(b);
    }
}

// Stored LZNT1 chunks; Huffman codes of eight bits, equal to their literal.
static void put_stream(Bytes *b, EtlCompression format, const uint8_t *plain, size_t n) {
    if (format == ETL_LZNT1) {
        put(b, 0x3000 | (n - 1), 2);
        put_bytes(b, plain, n);
        return;
    }
    put_fill(b, 0x88, 128);
    put_fill(b, 0, 128);
    for (size_t i = 0; i < n; i += 2) {
        put(b, i + 1 < n ? plain[i + 1] : 0, 1);
        put(b, plain[i], 1);
    }
    put(b, 0, 2);
}

static void test_other_formats(void **state) {
    (void)state;
    static const EtlCompression FORMATS[] = {ETL_LZNT1, ETL_XPRESS_HUFFMAN};
    for (size_t f = 0; f < 2; f++) {
        for (unsigned announced = 2; announced <= 4; announced++) {
            Bytes *b = calloc(1, sizeof *b);
            Bytes *plain = calloc(1, sizeof *plain);
            LogHeader log = USUAL;
            log.mode = 0x04000001;
            put_log_header(b, &log);
            put_at(b, AT_STATE, announced, 4);
            for (unsigned i = 1; i <= BUFFERS; i++) {
                plain->n = 0;
                buffer_open(plain, i, 1, 64 * 1024);
                put_at(plain, AT_FLAGS, 0x60, 2);
                put_numbered(plain, i, EVENTS);
                size_t at = b->n;
                put_bytes(b, plain->p, 0x48);
                put_stream(b, FORMATS[f], plain->p + 0x48, plain->n - 0x48);
                put_at(b, at, b->n - at, 4);
                put_at(b, at + AT_FILLED, plain->n, 4);
            }
            EtlFile *file = must_open(b);
            assert_int_equal(etl_compression(file), FORMATS[f]);
            Marks marks = {0};
            assert_int_equal(walk_all(file, mark, &marks).losses, 0);
            expect_others(&marks, 0, EVENTS, 0);
            etl_close(file);
            free(plain);
            free(b);
        }
    }
}

static void test_plain_buffer_in_packed_file(void **state) {
    (void)state;
    size_t starts[BUFFERS + 2];
    Bytes *b = make_packed(starts);
    buffer_open(b, BUFFERS + 1, 1, 500);
    put_event(b, 0x0509, 9000, 4);
    buffer_close(b);
    Marks marks;
    Totals totals = read_marks(b, &marks);
    expect_others(&marks, 0, PACKED_EVENTS, 1);
    assert_int_equal(totals.losses, 0);
    assert_int_equal(totals.kinds[ETL_SYSTEM], 1 + BUFFERS * PACKED_EVENTS + 78 + 1);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_files),
        cmocka_unit_test(test_damaged_plain_header),
        cmocka_unit_test(test_damaged_packed_header),
        cmocka_unit_test(test_bytes_missing_or_inserted),
        cmocka_unit_test(test_truncation_everywhere),
        cmocka_unit_test(test_zero_tails),
        cmocka_unit_test(test_junk_tail),
        cmocka_unit_test(test_destroyed_start),
        cmocka_unit_test(test_duplicated_buffer),
        cmocka_unit_test(test_damaged_compression),
        cmocka_unit_test(test_announced_format_is_wrong),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_plain_buffer_in_packed_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
