// The metadata root of a portable PDB, down to the id in its #Pdb stream.
#include "sym/portable_pdb.h"

enum { ROOT_BYTES_MAX = 4096, VERSION_BYTES_MAX = 255, STREAMS_MAX = 32 };

static Status damaged(const Source *source, const char *what, Err *err) {
    return err_set(err, ERR_INPUT, STR_FMT ": damaged portable PDB: %s",
                   STR_ARG(source_name(source)), what);
}

// Names are padded to four bytes, their zero included.
static Str stream_name(Rd *r) {
    size_t before = rd_at(r);
    Str name = rd_astr_raw(r);
    size_t used = rd_at(r) - before;
    rd_skip(r, (4 - used % 4) % 4);
    return name;
}

Status portable_pdb_guid_from(Source *source, Guid *out, Err *err) {
    uint8_t root[ROOT_BYTES_MAX];
    uint64_t have = source_size(source);
    size_t size = have < sizeof root ? (size_t)have : sizeof root;
    if (source_kind(source) != FILE_KIND_PORTABLE_PDB)
        return err_set(err, ERR_INPUT, STR_FMT ": not a portable PDB: the file is %s",
                       STR_ARG(source_name(source)), file_kind_name(source_kind(source)));
    TRY(source_read(source, 0, root, size, err));
    Rd r = rd_from(root, size);
    rd_skip(&r, 12);
    uint32_t version_bytes = rd_u32(&r);
    if (version_bytes > VERSION_BYTES_MAX) return damaged(source, "its version text", err);
    rd_skip(&r, version_bytes + 2);
    uint16_t count = rd_u16(&r);
    for (unsigned i = 0; i < count && i < STREAMS_MAX; i++) {
        uint32_t at = rd_u32(&r);
        rd_skip(&r, 4);
        if (!str_eq(stream_name(&r), STR("#Pdb"))) continue;
        if (!rd_ok(&r)) break;
        return source_read(source, at, out->bytes, sizeof out->bytes, err);
    }
    return damaged(source, "it has no #Pdb stream", err);
}

Status portable_pdb_guid(Str path, Guid *out, Err *err) {
    AUTO(source_close) Source *source = NULL;
    TRY(source_open(path, &source, err));
    return portable_pdb_guid_from(source, out, err);
}
