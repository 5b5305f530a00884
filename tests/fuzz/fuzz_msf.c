// MSF containers: the input is the whole file; every stream is read.
#include "fuzz.h"

#include "sym/container.h"

enum { STREAMS_READ = 64, STREAM_BYTES_READ = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(container_close) Container *c = NULL;
    Str bytes = {(const char *)data, size};
    if (container_open(source_from_bytes(bytes, STR("fuzz")), &c, NULL) != OK) return 0;
    AUTO(buf_done) Buf stream = {0};
    for (uint32_t i = 0; i < container_stream_count(c) && i < STREAMS_READ; i++) {
        uint64_t claimed = container_stream_size(c, i);
        if (claimed > STREAM_BYTES_READ) continue;
        if (container_load(c, i, &stream, NULL) == OK) INVARIANT(stream.n == claimed);
    }
    return 0;
}
