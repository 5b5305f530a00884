// Decorated names in every form: the result is whole or the input, and bounded.
#include "fuzz.h"

#include "base/limits.h"
#include "sym/undecorate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str name = {(const char *)data, size};
    AUTO(buf_done) Buf out = {0};
    for (int form = UNDECORATE_NAME; form <= UNDECORATE_FULL; form++) {
        bool good = undecorate(name, (UndecorateForm)form, &out);
        INVARIANT(good ? out.n <= LIMIT_UNDECORATE_BYTES + size : str_eq(buf_str(&out), name));
    }
    AUTO(arena_done) Arena arena = {0};
    (void)symbol_display_name(name, true, &arena);
    (void)symbol_display_name(name, false, &arena);
    return 0;
}
