// The three stream formats of compressed ETL buffers (docs/formats/etl.md 1.8), also used for
// LZNT1 payloads. Each returns the bytes produced; *ok says whether the stream was sound and filled
// `out` exactly. Never reads or writes outside the given ranges.
#ifndef ETL_DECOMPRESS_H
#define ETL_DECOMPRESS_H

#include "base/status.h"

size_t xpress_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                         bool *ok);
size_t xpress_huffman_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                 bool *ok);
size_t lznt1_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, bool *ok);

#endif
