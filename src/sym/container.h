// The two containers of PDB streams behind one reader: MSF 7.00 and MSFZ (compressed).
//
// A stream is a byte array with a number. Only the directory is read at open; each read touches
// just the pages or chunks it needs.
#ifndef SYM_CONTAINER_H
#define SYM_CONTAINER_H

#include "base/rd.h"
#include "sym/source.h"

typedef struct Container Container;

enum { STREAM_NONE = 0xFFFF };

// Takes `source` over, also on failure. ERR_INPUT with a line that says what the file is instead.
Status container_open(Source *source, Container **out, Err *err) MUST_USE;
void container_close(Container *container);
AUTO_DEFINE(Container *, container_close)

Source *container_source(const Container *container);
bool container_is_compressed(const Container *container);
uint32_t container_page_size(const Container *container); // 0 for MSFZ
uint32_t container_stream_count(const Container *container);
// 0 for a nil, absent or empty stream.
uint64_t container_stream_size(const Container *container, uint32_t stream);

// Exactly `size` bytes; ERR_INPUT when the stream has fewer or lies outside the file. Safe from
// several threads.
Status container_read(Container *container, uint32_t stream, uint64_t offset, void *bytes,
                      size_t size, Err *err) MUST_USE;
// A whole stream into `buf`, replacing its content and keeping its memory where it suffices; absent
// streams load as empty. ERR_LIMIT above LIMIT_PDB_STREAM_BYTES.
Status container_load(Container *container, uint32_t stream, Buf *buf, Err *err) MUST_USE;
static inline Rd container_rd(const Buf *buf) {
    return rd_from(buf->p, buf->n);
}

#endif
