// One face for both PDB containers; see msf.c and msfz.c for the formats.
#include "sym/container_internal.h"

#include <stdarg.h>
#include <stdio.h>

Status container_damaged(const Container *c, Err *err, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(err, ERR_INPUT, STR_FMT ": %s", STR_ARG(source_name(c->source)), text);
}

Status container_open(Source *source, Container **out, Err *err) {
    Container *c = mem_zero(1, sizeof *c);
    c->source = source;
    mutex_init(&c->mutex);
    FileKind kind = source_kind(source);
    Status status;
    if (kind == FILE_KIND_MSF)
        status = msf_open(c, err);
    else if (kind == FILE_KIND_MSFZ)
        status = msfz_open(c, err);
    else
        status = container_damaged(c, err, "not a PDB: the file is %s", file_kind_name(kind));
    if (status != OK) {
        container_close(c);
        return status;
    }
    *out = c;
    return OK;
}

void container_close(Container *container) {
    if (!container) return;
    for (size_t i = 0; i < CACHED_CHUNKS; i++) buf_done(&container->cache[i].bytes);
    mutex_done(&container->mutex);
    source_close(container->source);
    arena_done(&container->arena);
    mem_free(container);
}

Source *container_source(const Container *container) {
    return container->source;
}

bool container_is_compressed(const Container *container) {
    return container->compressed;
}

uint32_t container_page_size(const Container *container) {
    return container->page_size;
}

uint32_t container_stream_count(const Container *container) {
    return container->stream_count;
}

uint64_t container_stream_size(const Container *container, uint32_t stream) {
    return stream < container->stream_count ? container->streams[stream].size : 0;
}

Status container_read(Container *container, uint32_t stream, uint64_t offset, void *bytes,
                      size_t size, Err *err) {
    uint64_t have = container_stream_size(container, stream);
    if (offset > have || size > have - offset)
        return container_damaged(container, err,
                                 "stream %" PRIu32 " has %" PRIu64
                                 " bytes, too few for %zu at offset %" PRIu64,
                                 stream, have, size, offset);
    if (size == 0) return OK;
    const Stream *s = &container->streams[stream];
    return container->compressed ? msfz_read(container, s, offset, bytes, size, err)
                                 : msf_read(container, s, offset, bytes, size, err);
}

Status container_load(Container *container, uint32_t stream, Buf *buf, Err *err) {
    uint64_t size = container_stream_size(container, stream);
    buf_clear(buf);
    if (size > LIMIT_PDB_STREAM_BYTES)
        return err_set(err, ERR_LIMIT, STR_FMT ": stream %" PRIu32 " has %" PRIu64 " bytes",
                       STR_ARG(source_name(container->source)), stream, size);
    if (size + 1 > buf->capacity) {
        mem_free(buf->p);
        buf->p = mem_alloc((size_t)size + 1);
        buf->capacity = (size_t)size + 1;
    }
    TRY(container_read(container, stream, 0, buf->p, (size_t)size, err));
    buf->n = (size_t)size;
    buf->p[size] = 0;
    return OK;
}
