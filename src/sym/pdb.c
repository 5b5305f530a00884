// A PDB's identity: opening, the info stream, and the rule that says whether a PDB belongs to an
// image. docs/formats/pdb.md, "Identity".
#include "sym/cabinet.h"
#include "sym/pdb_internal.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    FEATURE_MINI = 0x494E494D, // fastlink
    NAMED_BYTES_MIN = 8,
    INFO_BYTES_MAX = 64 << 20,
};

Status pdb_damaged(const Pdb *pdb, Err *err, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(err, ERR_INPUT, STR_FMT ": %s", STR_ARG(pdb_name(pdb)), text);
}

static void skip_words(Rd *r) {
    uint32_t words = rd_u32(r);
    rd_skip(r, (size_t)words * 4);
}

// Names, then pairs (name offset, stream). The two bit sets between only place pairs in a hash
// table.
static bool read_named_streams(Pdb *pdb, Rd *r) {
    Rd names = rd_sub(r, rd_u32(r));
    uint32_t count = rd_u32(r);
    rd_skip(r, 4);
    skip_words(r);
    skip_words(r);
    if (!rd_ok(r) || count > rd_left(r) / NAMED_BYTES_MIN) return false;
    pdb->named = ARENA_ARRAY(&pdb->arena, NamedStream, count);
    for (uint32_t i = 0; i < count; i++) {
        Rd name = names;
        rd_seek(&name, rd_u32(r));
        Str text = rd_astr_raw(&name);
        pdb->named[i] = (NamedStream){str_copy(&pdb->arena, text), rd_u32(r)};
    }
    pdb->named_count = count;
    return rd_ok(r);
}

Status pdb_read_info(Pdb *pdb, Err *err) {
    AUTO(buf_done) Buf bytes = {0};
    if (container_stream_size(pdb->container, STREAM_INFO) > INFO_BYTES_MAX)
        return pdb_damaged(pdb, err, "the info stream is too large");
    TRY(container_load(pdb->container, STREAM_INFO, &bytes, err));
    Rd r = container_rd(&bytes);
    rd_skip(&r, 8); // version, signature
    pdb->info.info_age = rd_u32(&r);
    pdb->info.guid = rd_guid(&r);
    if (!rd_ok(&r)) return pdb_damaged(pdb, err, "the info stream ends before its GUID");
    // Damaged names cost only what they name: string table and source index.
    if (!read_named_streams(pdb, &r)) return OK;
    rd_skip(&r, 4);
    while (rd_left(&r) >= 4)
        if (rd_u32(&r) == FEATURE_MINI) pdb->info.fastlink = true;
    return OK;
}

static Status refuse_kind(FileKind kind, Str name, Err *err) {
    if (kind == FILE_KIND_PORTABLE_PDB)
        return err_set(err, ERR_INPUT,
                       STR_FMT ": a portable PDB describes managed code only; it holds no native "
                               "addresses",
                       STR_ARG(name));
    if (kind == FILE_KIND_MSF_SMALL)
        return err_set(err, ERR_INPUT, STR_FMT ": the PDB format used before 2002 is not supported",
                       STR_ARG(name));
    return err_set(err, ERR_INPUT, STR_FMT ": not a PDB: the file is %s", STR_ARG(name),
                   file_kind_name(kind));
}

// A cabinet is expanded in memory, once: a cabinet inside a cabinet is refused.
static Status unpack(Source **source, Err *err) {
    FileKind kind = source_kind(*source);
    if (kind == FILE_KIND_CABINET) {
        AUTO(buf_done) Buf bytes = {.max = LIMIT_CABINET_BYTES};
        TRY(cabinet_expand(*source, &bytes, err));
        Source *inner = source_from_buf(&bytes, source_name(*source));
        source_close(*source);
        *source = inner;
        kind = source_kind(inner);
    }
    if (kind == FILE_KIND_MSF || kind == FILE_KIND_MSFZ) return OK;
    return refuse_kind(kind, source_name(*source), err);
}

static Status open_source(Source *source, Pdb **out, Err *err) {
    Status status = unpack(&source, err);
    if (status != OK) {
        source_close(source);
        return status;
    }
    AUTO(pdb_close) Pdb *pdb = mem_zero(1, sizeof *pdb);
    TRY(container_open(source, &pdb->container, err));
    pdb->info.compressed = container_is_compressed(pdb->container);
    pdb->info.page_size = container_page_size(pdb->container);
    TRY(pdb_read_info(pdb, err));
    TRY(pdb_read_dbi(pdb, err));
    *out = pdb;
    pdb = NULL;
    return OK;
}

Status pdb_open(Str path, Pdb **out, Err *err) {
    Source *source = NULL;
    TRY(source_open(path, &source, err));
    return open_source(source, out, err);
}

Status pdb_open_bytes(Str bytes, Str name, Pdb **out, Err *err) {
    return open_source(source_from_bytes(bytes, name), out, err);
}

void pdb_close(Pdb *pdb) {
    if (!pdb) return;
    container_close(pdb->container);
    arena_done(&pdb->arena);
    mem_free(pdb);
}

const PdbInfo *pdb_info(const Pdb *pdb) {
    return &pdb->info;
}

Container *pdb_container(const Pdb *pdb) {
    return pdb->container;
}

Str pdb_name(const Pdb *pdb) {
    return source_name(container_source(pdb->container));
}

size_t pdb_module_count(const Pdb *pdb) {
    return pdb->module_count;
}

const PdbModule *pdb_module(const Pdb *pdb, size_t index) {
    return &pdb->modules[index];
}

size_t pdb_section_count(const Pdb *pdb) {
    return pdb->section_count;
}

const PdbSection *pdb_section(const Pdb *pdb, size_t index) {
    return &pdb->sections[index];
}

// The info stream's age may be higher: tools that index sources rewrite that stream and count it up
// without touching the link age that the image carries.
bool pdb_matches(const Pdb *pdb, const Guid *guid, uint32_t age, Err *why) {
    char have[GUID_TEXT_SIZE], want[GUID_TEXT_SIZE];
    const PdbInfo *info = &pdb->info;
    if (!guid_eq(&info->guid, guid)) {
        guid_to_text(&info->guid, have);
        guid_to_text(guid, want);
        (void)err_set(why, ERR_NOT_FOUND, "another build: its GUID is %s, not %s", have, want);
        return false;
    }
    bool link_age = !info->has_dbi || info->dbi_age == 0 || info->dbi_age == age;
    if (link_age && info->info_age >= age) return true;
    (void)err_set(why, ERR_NOT_FOUND,
                  "another link of the same build: its age is %" PRIu32 " (file age %" PRIu32
                  "), not %" PRIu32,
                  info->has_dbi ? info->dbi_age : info->info_age, info->info_age, age);
    return false;
}

uint32_t pdb_named_stream(const Pdb *pdb, Str name) {
    for (size_t i = 0; i < pdb->named_count; i++)
        if (str_eq(pdb->named[i].name, name)) return pdb->named[i].stream;
    return STREAM_NONE;
}

Status pdb_source_index(Pdb *pdb, Buf *out, Err *err) {
    for (size_t i = 0; i < pdb->named_count; i++) {
        const NamedStream *named = &pdb->named[i];
        if (!str_eq(named->name, STR("srcsrv")) && !str_starts(named->name, STR("sourcelink")))
            continue;
        AUTO(buf_done) Buf bytes = {0};
        TRY(container_load(pdb->container, named->stream, &bytes, err));
        buf_add(out, buf_str(&bytes));
    }
    return OK;
}
