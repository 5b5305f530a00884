// Bytes by position, from a file or from memory. The containers read through it and never map, so a
// file that shrinks under us is an error line, not a signal.
#ifndef SYM_SOURCE_H
#define SYM_SOURCE_H

#include "base/os.h"

typedef struct Source Source;

// What the first bytes of a file say it is.
typedef enum FileKind {
    FILE_KIND_UNKNOWN,
    FILE_KIND_EMPTY,
    FILE_KIND_MSF,          // PDB as compilers write it
    FILE_KIND_MSFZ,         // compressed PDB
    FILE_KIND_MSF_SMALL,    // PDB from before 2002: not supported
    FILE_KIND_PORTABLE_PDB, // managed code only: no native addresses inside
    FILE_KIND_PERFMAP,      // ReadyToRun perf map
    FILE_KIND_CABINET,      // .pd_, .dl_, .ex_
    FILE_KIND_PE,           // image
    FILE_KIND_POINTER,      // text of a store's file.ptr
    FILE_KIND_TEXT,         // HTML, JSON: a sign-in page or a proxy's complaint
} FileKind;

enum { FILE_KIND_HEAD_BYTES = 64 };

FileKind file_kind_from_head(Str head); // needs up to FILE_KIND_HEAD_BYTES
const char *file_kind_name(FileKind kind);

Status source_open(Str path, Source **out, Err *err) MUST_USE;
// Borrows `bytes`, which must outlive the source. `name` is what error lines call it.
Source *source_from_bytes(Str bytes, Str name);
// Takes over the bytes of `buf` (which becomes empty).
Source *source_from_buf(Buf *buf, Str name);
uint64_t source_size(const Source *source);
Str source_name(const Source *source);
FileKind source_kind(Source *source);
// Exactly `size` bytes; a range outside the file is ERR_INPUT. Safe from several threads.
Status source_read(Source *source, uint64_t offset, void *bytes, size_t size, Err *err) MUST_USE;
void source_close(Source *source);
AUTO_DEFINE(Source *, source_close)

#endif
