// The byte reader itself: the input's first bytes choose reads, moves and sub-readers over the
// rest; nothing may step outside.
#include "fuzz.h"

#include "base/rd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Rd program = rd_from(data, size < 64 ? size : 64);
    Rd r = rd_from(data, size);
    uint64_t sum = 0;
    while (rd_left(&program) > 1) {
        uint8_t op = rd_u8(&program);
        size_t n = rd_u8(&program);
        switch (op % 8) {
        case 0: sum += rd_u8(&r); break;
        case 1: sum += rd_u16(&r); break;
        case 2: sum += rd_u32(&r); break;
        case 3: sum += rd_u64(&r); break;
        case 4: rd_skip(&r, n); break;
        case 5: rd_seek(&r, n * 4); break;
        case 6: sum += rd_be16(&r); break;
        default: {
            const uint8_t *p = rd_take(&r, n);
            for (size_t i = 0; p && i < n; i++) sum += p[i];
            break;
        }
        }
        INVARIANT(r.p >= r.start && r.p <= r.end);
        if (!rd_ok(&r)) break;
    }
    // The sum only keeps the reads from being optimised away.
    return sum == UINT64_MAX ? 1 : 0;
}
