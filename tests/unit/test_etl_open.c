// Opening: header event, clocks, order of buffers, and the sentences about files that are no
// traces (synthetic: bytes by hand from the published structures).
#include "etl_bytes.h"

static Bytes *bytes_new(void) {
    return calloc(1, sizeof(Bytes));
}

static EtlFile *open_and_free(Bytes *b) {
    EtlFile *file = must_open(b);
    free(b);
    return file;
}

static void test_header_fields(void **state) {
    (void)state;
    for (unsigned pointer_size = 4; pointer_size <= 8; pointer_size += 4) {
        LogHeader log = USUAL;
        log.pointer_size = pointer_size;
        Bytes *b = bytes_new();
        put_log_header(b, &log);
        EtlFile *file = open_and_free(b);
        const EtlHeader *h = etl_header(file);
        assert_int_equal(h->header_pointer_size, pointer_size);
        assert_int_equal(h->buffer_size_bytes, 1024);
        assert_int_equal(h->os_major, 10);
        assert_int_equal(h->os_minor, 1);
        assert_int_equal(h->trace_major, 1);
        assert_int_equal(h->trace_minor, 5);
        assert_int_equal(h->os_build, 19041);
        assert_int_equal(h->cpu_count, 6);
        assert_true(h->end_filetime == 132000000000000000u);
        assert_int_equal(h->timer_resolution_100ns, 156250);
        assert_int_equal(h->max_file_size_mib, 100);
        assert_int_equal(h->buffers_written, 44);
        assert_int_equal(h->pointer_size, 4);
        assert_int_equal(h->events_lost, 33);
        assert_int_equal(h->buffers_lost, 22);
        assert_int_equal(h->cpu_mhz, 3000);
        assert_int_equal(h->time_zone_bias_min, -60);
        assert_true(str_eq(h->time_zone_name, STR("Zone")));
        assert_true(h->boot_filetime == 131900000000000000u);
        assert_true(h->start_filetime == 131999990000000000u);
        assert_true(str_eq(h->session_name, STR("Session")));
        assert_true(str_eq(h->file_name, STR("C:\\t.etl")));
        assert_int_equal(h->start_ticks, 1000);
        assert_int_equal(etl_file_size(file), 1024);
        assert_int_equal(etl_compression(file), ETL_PLAIN);
        assert_int_equal(walk_all(file, NULL, NULL).losses, 0);
        etl_close(file);
    }
}

static void test_clocks(void **state) {
    (void)state;
    static const struct {
        uint32_t clock;
        uint64_t frequency;
        uint32_t cpu_mhz;
        EtlClock wanted;
        uint64_t ticks_per_s;
        int bad;
    } CASES[] = {
        {0, 2500000,        3000, ETL_CLOCK_QPC,         2500000,     0},
        {1, 2500000,        3000, ETL_CLOCK_QPC,         2500000,     0},
        {2, 2500000,        3000, ETL_CLOCK_SYSTEM_TIME, 10000000,    0},
        {2, 0,              3000, ETL_CLOCK_SYSTEM_TIME, 10000000,    0},
        {3, 2500000,        3000, ETL_CLOCK_CPU_CYCLES,  3000000000u, 0},
        {3, 2500000,        0,    ETL_CLOCK_CPU_CYCLES,  10000000,    1},
        {1, 0,              3000, ETL_CLOCK_QPC,         10000000,    1},
        {1, 1000000000001u, 3000, ETL_CLOCK_QPC,         10000000,    1},
        {1, UINT64_MAX,     3000, ETL_CLOCK_QPC,         10000000,    1},
        {9, 2500000,        3000, ETL_CLOCK_QPC,         2500000,     1},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        LogHeader log = USUAL;
        log.clock = CASES[i].clock;
        log.frequency = CASES[i].frequency;
        log.cpu_mhz = CASES[i].cpu_mhz;
        Bytes *b = bytes_new();
        put_log_header(b, &log);
        EtlFile *file = open_and_free(b);
        assert_int_equal(etl_header(file)->clock, CASES[i].wanted);
        assert_true(etl_header(file)->ticks_per_s == CASES[i].ticks_per_s);
        assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_BAD_HEADER_EVENT], CASES[i].bad);
        etl_close(file);
    }
}

static void test_nanoseconds(void **state) {
    (void)state;
    static const struct {
        uint64_t frequency;
        int64_t start, ticks, ns;
    } CASES[] = {
        {10000000,      1000,      1001,          100              },
        {10000000,      1000,      999,           -100             },
        {10000000,      0,         INT64_MAX,     INT64_MAX        },
        {10000000,      0,         INT64_MIN,     INT64_MIN        },
        {10000000,      -10,       INT64_MAX,     INT64_MAX        },
        {10000000,      INT64_MAX, INT64_MIN,     INT64_MIN        },
        {3000000,       0,         1,             333              },
        {3000000,       0,         -1,            -333             },
        {3000000,       5,         3000005,       1000000000       },
        {3000000,       0,         3000000000001, 1000000000000333 }, // beyond ticks * 1e9 in 64 bits
        {3117777,       0,         185227195741,  59410020582293   },
        {1,             0,         9223372037,    INT64_MAX        },
        {1,             0,         -9223372037,   INT64_MIN        },
        {1000000000000, 0,         1500000000001, 1500000000       },
        {1000000000000, INT64_MIN, INT64_MAX,     18446744073709551},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        EtlHeader h = {.ticks_per_s = CASES[i].frequency, .start_ticks = CASES[i].start};
        int64_t ns = etl_ns_from_ticks(&h, CASES[i].ticks);
        if (ns != CASES[i].ns) fail_msg("case %zu: %lld", i, (long long)ns);
    }
    EtlHeader h = {.ticks_per_s = 3000000, .start_ticks = 77};
    assert_int_equal(etl_ns_from_duration(&h, 3), 1000);
}

static void test_damaged_header_event(void **state) {
    (void)state;
    LogHeader log = USUAL;
    log.cut = 100; // ends inside the fixed part
    Bytes *b = bytes_new();
    put_log_header(b, &log);
    buffer_open(b, 1, 1, 1024);
    put_event(b, 0x0501, 2000, 4);
    buffer_close(b);
    EtlFile *file = open_and_free(b);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_BAD_HEADER_EVENT], 1);
    assert_int_equal(etl_header(file)->ticks_per_s, 10000000);
    assert_int_equal(etl_header(file)->start_ticks, 1000);
    assert_int_equal(etl_header(file)->os_build, 0); // nothing half read
    assert_int_equal(walk_all(file, NULL, NULL).events, 2);
    etl_close(file);
}

static void test_second_header_event_changes_nothing(void **state) {
    (void)state;
    Bytes *b = bytes_new();
    put_log_header(b, &USUAL);
    buffer_open(b, 1, 1, 1024);
    put_event(b, 0x0000, 500, 300);
    buffer_close(b);
    EtlFile *file = open_and_free(b);
    assert_int_equal(etl_header(file)->start_ticks, 1000);
    assert_int_equal(walk_all(file, NULL, NULL).events, 2);
    etl_close(file);
}

static void test_processor_numbers(void **state) {
    (void)state;
    static const struct {
        unsigned raw, flags, cpu;
    } CASES[] = {
        {0x0803, 0,    3    },
        {0x0803, 0x20, 3    },
        {0x0123, 0x20, 0x123},
        {0x07FF, 0x20, 0x7FF}
    };
    Bytes *b = bytes_new();
    put_log_header(b, &USUAL);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        buffer_open(b, (int64_t)i + 1, CASES[i].raw, 1024);
        put_at(b, b->buffer_at + AT_FLAGS, CASES[i].flags, 2);
        put_event(b, 0x0501, 2000 + (int64_t)i, 4);
        buffer_close(b);
    }
    EtlFile *file = open_and_free(b);
    assert_int_equal(etl_buffer_count(file), 5);
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_int_equal(etl_buffer(file, i + 1)->cpu, CASES[i].cpu);
    etl_close(file);
}

typedef struct BufferSpec {
    int64_t sequence;
    unsigned cpu;
    int64_t ticks; // 0: empty
    unsigned logger, type;
} BufferSpec;

static EtlFile *open_buffers(uint32_t mode, const BufferSpec *specs, size_t count) {
    LogHeader log = USUAL;
    log.mode = mode;
    Bytes *b = bytes_new();
    put_log_header(b, &log);
    for (size_t i = 0; i < count; i++) {
        buffer_open(b, specs[i].sequence, specs[i].cpu, 1024);
        if (specs[i].logger) put_at(b, b->buffer_at + 0x2A, specs[i].logger, 2);
        put_at(b, b->buffer_at + AT_TYPE, specs[i].type, 2);
        if (specs[i].ticks) put_event(b, 0x0501, specs[i].ticks, 4);
        buffer_close(b);
    }
    return open_and_free(b);
}

// Sequence numbers of a stream's buffers in its order.
static void expect_stream(const EtlFile *file, size_t buffer, const int64_t *wanted, size_t count) {
    uint32_t stream, position;
    etl_stream_of(file, buffer, &stream, &position);
    for (size_t i = 0; i < count; i++) {
        size_t index = etl_stream_buffer(file, stream, (uint32_t)i);
        assert_true(index < etl_buffer_count(file));
        assert_int_equal(etl_buffer(file, index)->sequence, wanted[i]);
        uint32_t back_stream, back_position;
        etl_stream_of(file, index, &back_stream, &back_position);
        assert_int_equal(back_stream, stream);
        assert_int_equal(back_position, i);
    }
    assert_true(etl_stream_buffer(file, stream, (uint32_t)count) == SIZE_MAX);
}

static size_t buffer_at_ticks(const EtlFile *file, int64_t ticks) {
    for (size_t i = 0; i < etl_buffer_count(file); i++)
        if (etl_buffer(file, i)->first_ticks == ticks) return i;
    fail();
    return 0;
}

static void test_streams_follow_the_sequence(void **state) {
    (void)state;
    static const BufferSpec SPECS[] = {
        {4, 1, 4000, 0, 0},
        {2, 2, 2000, 0, 0},
        {1, 1, 1500, 0, 0},
        {3, 2, 5000, 0, 0},
        {5, 1, 4000, 0, 0},
        {6, 1, 0,    0, 0},
    };
    EtlFile *file = open_buffers(0, SPECS, COUNT_OF(SPECS));
    static const int64_t TICKS[] = {1000, 1500, 2000, 4000, 4000, 5000, INT64_MAX};
    assert_int_equal(etl_buffer_count(file), COUNT_OF(TICKS));
    for (size_t i = 0; i < COUNT_OF(TICKS); i++)
        assert_int_equal(etl_buffer(file, i)->first_ticks, TICKS[i]);
    assert_true(etl_buffer(file, 3)->offset < etl_buffer(file, 4)->offset);
    assert_int_equal(etl_stream_count(file), 3); // header on processor 0
    expect_stream(file, buffer_at_ticks(file, 1500), (const int64_t[]){1, 4, 5, 6}, 4);
    expect_stream(file, buffer_at_ticks(file, 2000), (const int64_t[]){2, 3}, 2);
    assert_true(etl_stream_buffer(file, 99, 0) == SIZE_MAX);
    Totals totals = walk_all(file, NULL, NULL);
    assert_int_equal(totals.issues.count[ETL_ISSUE_TIME_BACKWARDS], 0);
    assert_int_equal(totals.issues.count[ETL_ISSUE_SEQUENCE_GAP], 0);
    etl_close(file);
}

static void test_streams_fall_back_to_file_order(void **state) {
    (void)state;
    static const BufferSpec NO_NUMBERS[] = {
        {0, 1, 2000, 0, 0},
        {0, 1, 3000, 0, 0}
    };
    EtlFile *file = open_buffers(0, NO_NUMBERS, COUNT_OF(NO_NUMBERS));
    uint32_t stream, position;
    etl_stream_of(file, buffer_at_ticks(file, 3000), &stream, &position);
    assert_int_equal(position, 1);
    etl_close(file);

    // One damaged number would put the buffer a whole trace away from its place.
    static const BufferSpec DAMAGED[] = {
        {1,       1, 2000, 0, 0},
        {1 << 20, 1, 3000, 0, 0},
        {3,       1, 4000, 0, 0},
        {4,       1, 5000, 0, 0}
    };
    file = open_buffers(0, DAMAGED, COUNT_OF(DAMAGED));
    expect_stream(file, buffer_at_ticks(file, 2000), (const int64_t[]){1, 1 << 20, 3, 4}, 4);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_TIME_BACKWARDS], 0);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_SEQUENCE_GAP], 2);
    etl_close(file);

    // A clock that steps back is reported, and nothing is dropped.
    static const BufferSpec STEP[] = {
        {1, 1, 5000, 0, 0},
        {2, 1, 3000, 0, 0},
        {3, 1, 3500, 0, 0}
    };
    file = open_buffers(0, STEP, COUNT_OF(STEP));
    expect_stream(file, buffer_at_ticks(file, 5000), (const int64_t[]){1, 2, 3}, 3);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_TIME_BACKWARDS], 1);
    etl_close(file);
}

static void test_wrapped_circular_file(void **state) {
    (void)state;
    static const BufferSpec SPECS[] = {
        {7, 1, 7000, 0, 0},
        {8, 1, 8000, 0, 0},
        {5, 1, 5000, 0, 0},
        {6, 1, 6000, 0, 0}
    };
    EtlFile *file = open_buffers(2, SPECS, COUNT_OF(SPECS));
    expect_stream(file, buffer_at_ticks(file, 5000), (const int64_t[]){5, 6, 7, 8}, 4);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_SEQUENCE_GAP], 0);
    etl_close(file);
}

static void test_appended_sessions(void **state) {
    (void)state;
    static const BufferSpec BY_LOGGER[] = {
        {1, 0, 2000, 7, 0},
        {2, 0, 3000, 7, 0},
        {1, 0, 4000, 9, 0},
        {2, 0, 5000, 9, 0}
    };
    static const BufferSpec BY_NUMBER[] = {
        {2, 0, 2000, 7, 0},
        {1, 0, 1500, 7, 0},
        {3, 0, 3000, 7, 0},
        {1, 0, 4000, 7, 0},
        {2, 0, 5000, 7, 0}
    };
    static const BufferSpec BY_HEADER[] = {
        {1, 0, 2000, 7, 0},
        {0, 0, 3000, 7, 4},
        {1, 0, 4000, 7, 0}
    };
    EtlFile *file = open_buffers(4, BY_LOGGER, COUNT_OF(BY_LOGGER));
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 3000))->segment, 0);
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 4000))->segment, 1);
    expect_stream(file, buffer_at_ticks(file, 4000), (const int64_t[]){1, 2}, 2);
    etl_close(file);
    file = open_buffers(4, BY_NUMBER, COUNT_OF(BY_NUMBER));
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 1500))->segment, 0);
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 3000))->segment, 0);
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 5000))->segment, 1);
    expect_stream(file, buffer_at_ticks(file, 4000), (const int64_t[]){1, 2}, 2);
    etl_close(file);
    file = open_buffers(0, BY_HEADER, COUNT_OF(BY_HEADER)); // in any mode
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 2000))->segment, 0);
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 4000))->segment, 1);
    etl_close(file);
    file = open_buffers(0, BY_LOGGER, COUNT_OF(BY_LOGGER)); // one session without append mode
    assert_int_equal(etl_buffer(file, buffer_at_ticks(file, 4000))->segment, 0);
    etl_close(file);
}

static void test_buffer_types_and_flags(void **state) {
    (void)state;
    static const BufferSpec SPECS[] = {
        {1, 1, 2000, 0, 1},
        {2, 1, 2001, 0, 2},
        {3, 1, 2002, 0, 5},
        {4, 1, 0,    0, 3},
        {5, 1, 0,    0, 6},
        {6, 1, 0,    0, 7},
        {7, 1, 2003, 0, 9}
    };
    EtlFile *file = open_buffers(0, SPECS, COUNT_OF(SPECS));
    assert_int_equal(etl_buffer_count(file), 1 + 3 + 1);
    assert_int_equal(etl_file_issues(file)->count[ETL_ISSUE_UNKNOWN_BUFFER_TYPE], 1);
    etl_close(file);

    Bytes *b = bytes_new();
    put_log_header(b, &USUAL);
    buffer_open(b, 1, 1, 1024);
    put_at(b, b->buffer_at + AT_FLAGS, 0x2E, 2);
    put_event(b, 0x0501, 2000, 4);
    buffer_close(b);
    file = open_and_free(b);
    static const EtlIssueKind KINDS[] = {ETL_ISSUE_EVENTS_LOST_FLAG, ETL_ISSUE_BUFFERS_LOST_FLAG,
                                         ETL_ISSUE_RT_CORRUPT_FLAG};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        assert_int_equal(etl_file_issues(file)->count[KINDS[i]], 1);
        assert_int_equal(etl_file_issues(file)->first_offset[KINDS[i]], 1024);
    }
    etl_close(file);
}

static void expect_error(const void *bytes, size_t size, const char *part) {
    EtlFile *file = NULL;
    Err err = {0};
    assert_int_equal(trace_open(bytes, size, &file, &err), ERR_INPUT);
    Str text = str_from_c(err.text);
    if (str_find(text, str_from_c(part)) == SIZE_MAX) fail_msg("%s: %s", part, err.text);
    assert_true(str_find(text, STR(".etl")) != SIZE_MAX); // names the path
}

static void test_files_that_are_no_traces(void **state) {
    (void)state;
    static const struct {
        const char *start;
        size_t size;
        const char *part;
    } CASES[] = {
        {"",                                         0,  "is empty" },
        {"\0\0\4\0",                                 4,  "too short"},
        {"<?xml version=\"1.0\"?><Events></Events>", 38, "too short"},
        {"RLFS",                                     4,  "RLFS"     },
        {"PK\x03\x04",                               4,  "ZIP"      },
        {"ElfFile",                                  8,  "evtx"     },
        {"\x0A\x0D\x0D\x0A",                         4,  "pcapng"   },
        {"MZ",                                       2,  "program"  },
        {"\x1F\x8B",                                 2,  "gzip"     },
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        expect_error(CASES[i].start, CASES[i].size, CASES[i].part);
    char text[4096];
    for (size_t i = 0; i < sizeof text; i++) text[i] = "Time,Value\r\n"[i % 12];
    expect_error(text, sizeof text, "a text file");
    memcpy(text, "\xFF\xFEh\0i\0", 6);
    expect_error(text, sizeof text, "a text file");
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 37 % 251 + i % 3);
    expect_error(text, sizeof text, "not an event trace");
    memset(text, 0, sizeof text);
    expect_error(text, sizeof text, "not an event trace");
}

static void test_paths(void **state) {
    (void)state;
    EtlFile *file = NULL;
    Err err = {0};
    assert_int_equal(etl_open(STR(ETW_BINARY_DIR), &file, &err), ERR_INPUT);
    assert_true(str_find(str_from_c(err.text), STR("folder")) != SIZE_MAX);
    assert_int_equal(etl_open(STR(ETW_BINARY_DIR "/no_such.etl"), &file, &err), ERR_NOT_FOUND);
    etl_close(NULL);
    etl_scratch_close(NULL);
}

static void test_windows_xp(void **state) {
    (void)state;
    LogHeader log = USUAL;
    log.os_major = 5;
    Bytes *b = bytes_new();
    put_log_header(b, &log);
    put_at(b, 0, 2, 4);             // reference count
    put_at(b, 0x2C, 0x00020000, 4); // state and flags of that layout
    put_at(b, 0x34, 0xBEEF1234, 4); // part of the instance GUID
    expect_error(b->p, b->n, "Windows 2000/XP buffers");
    free(b);
}

static void test_issue_texts(void **state) {
    (void)state;
    for (EtlIssueKind a = 0; a < ETL_ISSUE_KINDS; a++) {
        assert_true(strlen(etl_issue_name(a)) > 3);
        assert_int_equal(etl_issue_text(a)[strlen(etl_issue_text(a)) - 1], '.');
        for (EtlIssueKind b = 0; b < a; b++)
            assert_string_not_equal(etl_issue_name(a), etl_issue_name(b));
    }
    EtlIssues one = {0}, two = {0};
    etl_issue(&one, ETL_ISSUE_BAD_EVENT, 50, 3);
    etl_issue(&two, ETL_ISSUE_BAD_EVENT, 40, 4);
    etl_issue(&two, ETL_ISSUE_BAD_EVENT, 60, 5);
    etl_issues_add(&one, &two);
    assert_int_equal(one.count[ETL_ISSUE_BAD_EVENT], 3);
    assert_int_equal(one.bytes[ETL_ISSUE_BAD_EVENT], 12);
    assert_int_equal(one.first_offset[ETL_ISSUE_BAD_EVENT], 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_fields),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_nanoseconds),
        cmocka_unit_test(test_damaged_header_event),
        cmocka_unit_test(test_second_header_event_changes_nothing),
        cmocka_unit_test(test_processor_numbers),
        cmocka_unit_test(test_streams_follow_the_sequence),
        cmocka_unit_test(test_streams_fall_back_to_file_order),
        cmocka_unit_test(test_wrapped_circular_file),
        cmocka_unit_test(test_appended_sessions),
        cmocka_unit_test(test_buffer_types_and_flags),
        cmocka_unit_test(test_files_that_are_no_traces),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_windows_xp),
        cmocka_unit_test(test_issue_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
