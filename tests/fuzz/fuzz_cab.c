// Cabinets, expanded in memory with a small limit.
#include "fuzz.h"

#include "sym/cabinet.h"

enum { OUTPUT_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str bytes = {(const char *)data, size};
    AUTO(source_close) Source *source = source_from_bytes(bytes, STR("fuzz"));
    AUTO(buf_done) Buf out = {.max = OUTPUT_BYTES_MAX};
    (void)(cabinet_expand(source, &out, NULL) == OK);
    INVARIANT(out.n <= OUTPUT_BYTES_MAX);
    return 0;
}
