// Compressors for buffers of a trace: simple, correct streams with real matches. They append to
// `out` and know nothing of the decompressors that read them.
#ifndef SUPPORT_ETL_BUILD_COMPRESS_H
#define SUPPORT_ETL_BUILD_COMPRESS_H

#include "base/str.h"

void etl_compress_xpress(Str in, Buf *out);
void etl_compress_lznt1(Str in, Buf *out);
void etl_compress_huffman(Str in, Buf *out);

#endif
