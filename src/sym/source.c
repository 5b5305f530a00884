// Byte sources for symbol files, and the taster that names a file's format by its first bytes.
#include "sym/source.h"

#include <string.h>

struct Source {
    File *file; // NULL: memory
    Str bytes;
    Buf owned;
    uint64_t size;
    size_t name_size;
    char name[];
};

static Source *source_new(Str name) {
    Source *source = mem_zero(1, sizeof *source + name.n + 1);
    source->name_size = name.n;
    if (name.n) memcpy(source->name, name.p, name.n);
    return source;
}

Status source_open(Str path, Source **out, Err *err) {
    File *file = NULL;
    TRY(file_open(path, &file, err));
    *out = source_new(path);
    (*out)->file = file;
    (*out)->size = file_size(file);
    return OK;
}

Source *source_from_bytes(Str bytes, Str name) {
    Source *source = source_new(name);
    source->bytes = bytes;
    source->size = bytes.n;
    return source;
}

Source *source_from_buf(Buf *buf, Str name) {
    Source *source = source_from_bytes(buf_str(buf), name);
    source->owned = *buf;
    *buf = (Buf){0};
    return source;
}

uint64_t source_size(const Source *source) {
    return source->size;
}

Str source_name(const Source *source) {
    return (Str){source->name, source->name_size};
}

Status source_read(Source *source, uint64_t offset, void *bytes, size_t size, Err *err) {
    size_t got = 0;
    if (offset <= source->size && size <= source->size - offset) {
        if (!source->file) {
            if (size) memcpy(bytes, source->bytes.p + offset, size);
            return OK;
        }
        TRY(file_read_at(source->file, offset, bytes, size, &got, err));
        if (got == size) return OK;
    }
    return err_set(err, ERR_INPUT,
                   "%s: %zu bytes at offset %llu lie outside the file of %llu bytes", source->name,
                   size, (unsigned long long)offset, (unsigned long long)source->size);
}

void source_close(Source *source) {
    if (!source) return;
    file_close(source->file);
    buf_done(&source->owned);
    mem_free(source);
}

static bool is_text(Str head) {
    Str trimmed = str_trim(head);
    if (str_starts(head, STR("\xEF\xBB\xBF"))) return true;
    if (trimmed.n == 0) return false;
    for (size_t i = 0; i < head.n; i++) {
        uint8_t c = (uint8_t)head.p[i];
        if (c < 0x20 && c != '\t' && c != '\r' && c != '\n') return false;
    }
    return true;
}

FileKind file_kind_from_head(Str head) {
    static const struct {
        const char *magic;
        FileKind kind;
    } MAGICS[] = {
        {"Microsoft C/C++ MSF 7.00\r\n\032DS",              FILE_KIND_MSF         },
        {"Microsoft MSFZ Container\r\n\032ALD",             FILE_KIND_MSFZ        },
        {"Microsoft C/C++ program database 2.00\r\n\032JG", FILE_KIND_MSF_SMALL   },
        {"BSJB",                                            FILE_KIND_PORTABLE_PDB},
        {"FFFFFFFF 00 ",                                    FILE_KIND_PERFMAP     },
        {"ffffffff 00 ",                                    FILE_KIND_PERFMAP     },
        {"MSCF",                                            FILE_KIND_CABINET     },
        {"MZ",                                              FILE_KIND_PE          },
        {"PATH:",                                           FILE_KIND_POINTER     },
        {"MSG:",                                            FILE_KIND_POINTER     },
        {"MSG ",                                            FILE_KIND_POINTER     },
    };
    if (head.n == 0) return FILE_KIND_EMPTY;
    for (size_t i = 0; i < COUNT_OF(MAGICS); i++)
        if (str_starts(head, str_from_c(MAGICS[i].magic))) return MAGICS[i].kind;
    return is_text(head) ? FILE_KIND_TEXT : FILE_KIND_UNKNOWN;
}

const char *file_kind_name(FileKind kind) {
    switch (kind) {
    case FILE_KIND_EMPTY: return "an empty file";
    case FILE_KIND_MSF: return "a PDB (MSF 7.00)";
    case FILE_KIND_MSFZ: return "a compressed PDB (MSFZ)";
    case FILE_KIND_MSF_SMALL: return "a PDB of the format used before 2002";
    case FILE_KIND_PORTABLE_PDB: return "a portable PDB (managed code)";
    case FILE_KIND_PERFMAP: return "a perf map of precompiled managed code";
    case FILE_KIND_CABINET: return "a cabinet";
    case FILE_KIND_PE: return "a Windows image (PE)";
    case FILE_KIND_POINTER: return "a symbol store pointer (file.ptr)";
    case FILE_KIND_TEXT: return "text, not a symbol file";
    case FILE_KIND_UNKNOWN: break;
    }
    return "of an unknown format";
}

FileKind source_kind(Source *source) {
    char head[FILE_KIND_HEAD_BYTES];
    size_t size = source->size < sizeof head ? (size_t)source->size : sizeof head;
    if (source_read(source, 0, head, size, NULL) != OK) return FILE_KIND_UNKNOWN;
    return file_kind_from_head((Str){head, size});
}
