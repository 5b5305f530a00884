// What container.c, msf.c and msfz.c share; nobody else includes it.
#ifndef SYM_CONTAINER_INTERNAL_H
#define SYM_CONTAINER_INTERNAL_H

#include "base/limits.h"
#include "base/thread.h"
#include "sym/container.h"

#include <inttypes.h>

typedef struct Stream {
    uint64_t size;
    uint64_t first; // index of its first page (MSF) or fragment (MSFZ)
    uint64_t parts; // how many
} Stream;

// A piece of an MSFZ stream: raw bytes of the file, or a range of the virtual array that all
// decompressed chunks form together.
typedef struct Fragment {
    uint64_t at;    // offset in the stream
    uint64_t where; // file offset, or offset in the virtual array
    uint32_t size;
    bool compressed;
} Fragment;

typedef struct Chunk {
    uint64_t start;       // offset in the virtual array
    uint64_t file_offset; // of the compressed bytes
    uint32_t kind;
    uint32_t disk_size;
    uint32_t size;
} Chunk;

typedef struct CachedChunk {
    uint32_t index;
    uint64_t used_at;
    Buf bytes;
} CachedChunk;

enum { CACHED_CHUNKS = 16 };

struct Container {
    Source *source;
    bool compressed;
    uint32_t stream_count;
    Stream *streams;
    Arena arena;
    // MSF
    uint32_t page_size;
    uint64_t page_count;
    uint32_t *pages; // of all streams, one after the other
    // MSFZ
    Fragment *fragments;
    Chunk *chunks;
    uint32_t chunk_count;
    uint64_t virtual_size;
    Mutex mutex; // guards the cache
    CachedChunk cache[CACHED_CHUNKS];
    uint64_t clock;
};

Status msf_open(Container *c, Err *err) MUST_USE;
Status msf_read(Container *c, const Stream *stream, uint64_t offset, uint8_t *bytes, size_t size,
                Err *err) MUST_USE;
Status msfz_open(Container *c, Err *err) MUST_USE;
Status msfz_read(Container *c, const Stream *stream, uint64_t offset, uint8_t *bytes, size_t size,
                 Err *err) MUST_USE;
// The line "FILE: what" with ERR_INPUT.
Status container_damaged(const Container *c, Err *err, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
