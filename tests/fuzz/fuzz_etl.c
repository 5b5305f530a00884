// A whole trace file: opened, every buffer loaded, every event walked; all slices must lie in their
// buffer, every buffer in the file, and streams must hold each buffer once.
#include "fuzz.h"

#include "etl/etl.h"

#include <stdio.h>

static const char *file_path(void) {
    static char path[256];
    if (path[0]) return path;
    Str folder = os_env("TMPDIR");
    if (folder.n == 0 || folder.n > 200) folder = STR("/tmp");
    snprintf(path, sizeof path, STR_FMT "/fuzz_etl_%d", STR_ARG(folder), os_process_id());
    return path;
}

static void check_slice(const EtlCursor *cursor, Str slice) {
    if (slice.n == 0) return;
    const char *start = (const char *)cursor->bytes;
    INVARIANT(slice.p >= start + 0x48 && slice.p + slice.n <= start + cursor->size);
}

static void check_event(const EtlCursor *cursor, const EtlEvent *event) {
    check_slice(cursor, event->whole);
    check_slice(cursor, event->payload);
    check_slice(cursor, event->extras);
    INVARIANT(event->pointer_size == 4 || event->pointer_size == 8);
    if (event->kind != ETL_MANIFEST) return;
    const EtlExtended *ext = &event->ext;
    const Str slices[] = {ext->sid,    ext->stack, ext->tracelogging,
                          ext->traits, ext->pmc,   ext->container_id};
    for (size_t i = 0; i < COUNT_OF(slices); i++) check_slice(cursor, slices[i]);
}

static void walk_buffers(EtlFile *file) {
    EtlScratch *scratch = etl_scratch_open();
    EtlIssues issues = {0};
    for (size_t i = 0; i < etl_buffer_count(file); i++) {
        const EtlBuffer *buffer = etl_buffer(file, i);
        EtlCursor cursor;
        EtlEvent event;
        Err err = {0};
        INVARIANT(buffer->offset + buffer->size_bytes <= etl_file_size(file));
        INVARIANT(etl_load(file, i, scratch, &issues, &cursor, &err) == OK);
        while (etl_next(&cursor, &event)) {
            check_event(&cursor, &event);
            (void)etl_ns_from_ticks(etl_header(file), event.ticks);
        }
        uint32_t stream, position;
        etl_stream_of(file, i, &stream, &position);
        INVARIANT(etl_stream_buffer(file, stream, position) == i);
    }
    etl_scratch_close(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FILE *stream = fopen(file_path(), "wb");
    INVARIANT(stream);
    INVARIANT(fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
    EtlFile *file = NULL;
    Err err = {0};
    if (etl_open(str_from_c(file_path()), &file, &err) == OK)
        walk_buffers(file);
    else
        INVARIANT(err.text[0] != 0);
    etl_close(file);
    INVARIANT(remove(file_path()) == 0);
    return 0;
}
