// Synthetic traces for the tests of src/etl, written byte by byte from the published layouts, so
// that they do not share a mistake with the reader.
#ifndef TESTS_UNIT_ETL_BYTES_H
#define TESTS_UNIT_ETL_BYTES_H

#include "etl/etl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Bytes {
    uint8_t p[1 << 20];
    size_t n;
    size_t buffer_at; // of the open buffer
    size_t buffer_size;
} Bytes;

static inline void put(Bytes *b, uint64_t value, size_t size) {
    assert_true(b->n + size <= sizeof b->p);
    memcpy(b->p + b->n, &value, size);
    b->n += size;
}
static inline void put_at(Bytes *b, size_t at, uint64_t value, size_t size) {
    memcpy(b->p + at, &value, size);
}
static inline void put_fill(Bytes *b, uint8_t value, size_t size) {
    assert_true(b->n + size <= sizeof b->p);
    memset(b->p + b->n, value, size);
    b->n += size;
}
static inline void put_bytes(Bytes *b, const void *bytes, size_t size) {
    assert_true(b->n + size <= sizeof b->p);
    memcpy(b->p + b->n, bytes, size);
    b->n += size;
}
static inline void put_wide(Bytes *b, const char *text) { // with its terminator
    do put(b, (uint8_t)*text, 2);
    while (*text++);
}
// A GUID of 16 equal bytes.
static inline void put_guid(Bytes *b, uint8_t value) {
    put_fill(b, value, 16);
}

// Fields that tests vary, by their offset in the buffer header.
enum { AT_STATE = 0x2C, AT_FILLED = 0x30, AT_FLAGS = 0x34, AT_TYPE = 0x36 };

static inline void buffer_open(Bytes *b, int64_t sequence, unsigned cpu, size_t size) {
    b->buffer_at = b->n;
    b->buffer_size = size;
    put(b, size, 4);
    put_fill(b, 0, 0x14);
    put(b, (uint64_t)sequence, 8);
    put(b, 0, 8);
    put(b, cpu, 2);
    put(b, 7, 2); // logger
    put(b, 3, 4); // state: flush
    put(b, 0, 4);
    put(b, 0x20, 2);
    put(b, 0, 2);
    put_fill(b, 0, 16);
}
static inline void buffer_close(Bytes *b) {
    size_t used = b->n - b->buffer_at;
    put_at(b, b->buffer_at + 4, used, 4);
    put_at(b, b->buffer_at + 8, used, 4);
    put_at(b, b->buffer_at + AT_FILLED, used, 4);
    assert_true(used <= b->buffer_size);
    put_fill(b, 0xFF, b->buffer_size - used);
}
static inline void align8(Bytes *b) {
    while ((b->n - b->buffer_at) % 8) put(b, 0xFF, 1);
}

// SYSTEM header (32 bytes); the payload follows, then event_close().
static inline size_t system_open(Bytes *b, unsigned type, unsigned hook, int64_t ticks) {
    size_t at = b->n;
    put(b, 0xC0000002u | type << 16, 4);
    put(b, 0, 2);
    put(b, hook, 2);
    put(b, 11, 4); // tid
    put(b, 12, 4); // pid
    put(b, (uint64_t)ticks, 8);
    put(b, 5, 4); // kernel and user time
    put(b, 6, 4);
    return at;
}
static inline void system_close(Bytes *b, size_t at) {
    put_at(b, at + 4, b->n - at, 2);
    align8(b);
}
static inline void put_event(Bytes *b, unsigned hook, int64_t ticks, size_t payload) {
    size_t at = system_open(b, 2, hook, ticks);
    put_fill(b, 0xAB, payload);
    system_close(b, at);
}

typedef struct LogHeader {
    unsigned pointer_size; // 4 or 8
    uint32_t buffer_size;
    uint32_t mode;
    uint32_t clock;
    uint64_t frequency;
    uint32_t cpu_mhz;
    uint32_t os_major;
    uint32_t cut; // payload bytes left out at the end
} LogHeader;

// The buffer with TRACE_LOGFILE_HEADER, timestamp 1000.
static inline void put_log_header(Bytes *b, const LogHeader *h) {
    size_t size = b->n > 0 || h->buffer_size == 0 ? 1024 : h->buffer_size;
    buffer_open(b, 0, 0, size);
    put_at(b, b->buffer_at + AT_TYPE, 4, 2);
    size_t at = system_open(b, h->pointer_size == 4 ? 1 : 2, 0, 1000);
    put(b, h->buffer_size, 4);
    put(b, h->os_major | 1u << 8 | 1u << 16 | 5u << 24, 4);
    put(b, 19041, 4);
    put(b, 6, 4);
    put(b, 132000000000000000, 8); // end
    put(b, 156250, 4);
    put(b, 100, 4);
    put(b, h->mode, 4);
    put(b, 44, 4); // buffers written
    put(b, 1, 4);
    put(b, 4, 4); // pointer size of the writer
    put(b, 33, 4);
    put(b, h->cpu_mhz, 4);
    put_fill(b, 0xEE, 2u * h->pointer_size);
    size_t zone = b->n;
    put_fill(b, 0, 172);
    put_at(b, zone, (uint32_t)-60, 4);
    memcpy(b->p + zone + 4, "Z\0o\0n\0e\0", 8);
    put(b, 0, 4);
    put(b, 131900000000000000, 8); // boot
    put(b, h->frequency, 8);
    put(b, 131999990000000000, 8); // start
    put(b, h->clock, 4);
    put(b, 22, 4); // buffers lost
    put_wide(b, "Session");
    put_wide(b, "C:\\t.etl");
    b->n -= h->cut;
    system_close(b, at);
    buffer_close(b);
}

static const LogHeader USUAL = {
    .pointer_size = 8, .buffer_size = 1024, .frequency = 10000000, .cpu_mhz = 3000, .os_major = 10};

// Writes the bytes to a file of the running test's own and opens it.
static inline Str trace_path(const char *name) {
    static char path[512];
    Buf text = {0};
    buf_addf(&text, "%s/%s_%d.etl", ETW_BINARY_DIR, name, os_process_id());
    assert_true(text.n < sizeof path);
    memcpy(path, text.p, text.n + 1);
    buf_done(&text);
    return str_from_c(path);
}
static inline Status trace_open(const void *bytes, size_t size, EtlFile **out, Err *err) {
    Str path = trace_path("trace");
    Err remove_err = {0};
    FILE *stream = fopen(path.p, "wb"); // not file_write_atomic(): its flush costs seconds here
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    Status status = etl_open(path, out, err);
    assert_int_equal(os_remove_file(path, &remove_err), OK); // an open file stays readable
    return status;
}
static inline EtlFile *must_open(const Bytes *b) {
    EtlFile *file = NULL;
    Err err = {0};
    Status status = trace_open(b->p, b->n, &file, &err);
    if (status != OK) fail_msg("%s", err.text);
    return file;
}

// Loads and walks everything; issues of the walk included.
typedef struct Totals {
    uint64_t events;
    uint64_t kinds[ETL_OTHER + 1];
    EtlIssues issues;
    uint64_t losses; // issues that mean data loss
} Totals;

typedef void (*OnEvent)(void *context, const EtlBuffer *buffer, const EtlEvent *event);

static inline Totals walk_all(EtlFile *file, OnEvent on_event, void *context) {
    Totals t = {0};
    EtlScratch *scratch = etl_scratch_open();
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        EtlCursor cursor;
        EtlEvent event;
        Err err = {0};
        assert_int_equal(etl_load(file, i, scratch, &t.issues, &cursor, &err), OK);
        while (etl_next(&cursor, &event)) {
            t.events++;
            t.kinds[event.kind]++;
            if (on_event) on_event(context, etl_buffer(file, i), &event);
        }
    }
    etl_issues_add(&t.issues, etl_file_issues(file));
    for (EtlIssueKind k = 0; k < ETL_ISSUE_KINDS; k++)
        if (etl_issue_severity(k) == ETL_DATA_LOSS) t.losses += t.issues.count[k];
    etl_scratch_close(scratch);
    return t;
}

#endif
