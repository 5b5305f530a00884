// The decompressors: byte 0 chooses the format, bytes 1 to 2 the output size, the rest is the
// stream. A shorter output must be a prefix of the longer one.
#include "fuzz.h"

#include "base/arena.h"
#include "etl/decompress.h"

#include <string.h>

typedef size_t (*Decompress)(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                             bool *ok);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Decompress ALL[] = {xpress_decompress, lznt1_decompress,
                                     xpress_huffman_decompress};
    if (size < 3) return 0;
    Decompress decompress = ALL[data[0] % COUNT_OF(ALL)];
    size_t out_size = data[1] + data[2] * 256u;
    uint8_t *out = mem_alloc(out_size);
    uint8_t *half = mem_alloc(out_size / 2);
    bool ok, half_ok;
    size_t made = decompress(data + 3, size - 3, out, out_size, &ok);
    INVARIANT(made <= out_size && (!ok || made == out_size));
    size_t half_made = decompress(data + 3, size - 3, half, out_size / 2, &half_ok);
    INVARIANT(half_made == (made < out_size / 2 ? made : out_size / 2));
    INVARIANT(memcmp(out, half, half_made) == 0);
    mem_free(out);
    mem_free(half);
    return 0;
}
