// Opening a trace, and saying what a file is that is none.
#include "etl/bytes.h"
#include "etl/etl_internal.h"

#include <ctype.h>

enum { HEAD_BYTES = 512, FILE_BYTES_MIN = BUFFER_HEADER_BYTES + 32 };

typedef struct Magic {
    const char *bytes;
    size_t size;
    const char *what;
} Magic;

// `what` completes "PATH is ...".
static const Magic MAGICS[] = {
    {"RLFS",                     4,
     "a real-time backup container (RLFS), not an event trace; stop its session and use the .etl "
     "file that the session writes"                                                                              },
    {"ElfFile",                  8,  "a Windows event log (.evtx), not an event trace; open it in Event Viewer"  },
    {"\x0A\x0D\x0D\x0A",         4,
     "a pcapng packet capture, not an event trace; open it with a packet analyser"                               },
    {"\xD4\xC3\xB2\xA1",         4,
     "a pcap packet capture, not an event trace; open it with a packet analyser"                                 },
    {"PK\x03\x04",               4,  "a ZIP archive, not an event trace; extract the .etl file from it first"    },
    {"7z\xBC\xAF\x27\x1C",       6,
     "a 7-Zip archive, not an event trace; extract the .etl file from it first"                                  },
    {"MSCF",                     4,  "a cabinet archive, not an event trace; extract the .etl file from it first"},
    {"\x1F\x8B",                 2,  "gzip data, not an event trace; decompress it first"                        },
    {"\x28\xB5\x2F\xFD",         4,  "zstd data, not an event trace; decompress it first"                        },
    {"PAR1",                     4,  "a Parquet file, not an event trace; give the .etl file it was made from"   },
    {"Microsoft C/C++ MSF 7.00", 24,
     "a PDB symbol file, not an event trace; put its folder on "
     "the symbol path instead"                                                                                   },
    {"MZ",                       2,  "a Windows program, not an event trace; give a file recorded by ETW (.etl)" },
};

static Status not_etl(Str path, const char *what, Err *err) {
    return err_set(err, ERR_INPUT, STR_FMT " is %s", STR_ARG(path), what);
}

static bool looks_like_text(Rd r) {
    size_t n = rd_left(&r);
    for (size_t i = 0; i < n; i++) {
        uint8_t c = rd_u8(&r);
        if (i < 2 && (c == 0xFF || c == 0xFE)) return true; // UTF-16
        if (c < 0x20 && !isspace(c)) return false;
    }
    return n > 0;
}

// The reference count comes first there and a GUID lies where flags and type are now, but the
// header event behind it is the same and names the system's version.
static bool is_windows_xp(Rd r) {
    rd_seek(&r, BUFFER_HEADER_BYTES);
    uint32_t mark = rd_u32(&r);
    rd_skip(&r, 2);
    uint16_t hook = rd_u16(&r);
    rd_seek(&r, BUFFER_HEADER_BYTES + 32 + 4);
    uint8_t os_major = rd_u8(&r);
    bool system_header = mark >> 16 == 0xC001 || mark >> 16 == 0xC002;
    return rd_ok(&r) && system_header && hook == 0 && os_major <= 5;
}

static Status explain(EtlFile *etl, Str path, Err *err) {
    uint8_t head[HEAD_BYTES];
    size_t n;
    TRY(file_read_at(etl->file, 0, head, sizeof head, &n, err));
    if (is_windows_xp(rd_from(head, n)))
        return not_etl(path,
                       "a trace with Windows 2000/XP buffers, which are not supported; convert it "
                       "with tracerpt on Windows, or record on Windows Vista or later",
                       err);
    if (etl->size < FILE_BYTES_MIN)
        return not_etl(path, "too short to be an event trace; copy or record it again", err);
    if (looks_like_text(rd_from(head, n)))
        return not_etl(path, "a text file, not an event trace; give a file recorded by ETW (.etl)",
                       err);
    return not_etl(path,
                   "not an event trace: it does not start with an ETW buffer header; give a file "
                   "recorded by ETW (.etl)",
                   err);
}

static Status check_magic(EtlFile *etl, Str path, Err *err) {
    uint8_t head[32];
    size_t n;
    TRY(file_read_at(etl->file, 0, head, sizeof head, &n, err));
    if (n == 0)
        return not_etl(path, "empty; the recording did not write anything, record it again", err);
    for (size_t i = 0; i < COUNT_OF(MAGICS); i++)
        if (n >= MAGICS[i].size && memcmp(head, MAGICS[i].bytes, MAGICS[i].size) == 0)
            return not_etl(path, MAGICS[i].what, err);
    return OK;
}

static Status read_header(EtlFile *etl, const EtlBuffer *first, Err *err) {
    AUTO(etl_scratch_close) EtlScratch *scratch = etl_scratch_open();
    EtlIssues ignored = {0}; // counted when the buffer is loaded for good
    EtlCursor cursor;
    TRY(etl_load_buffer(etl, first, scratch, &ignored, &cursor, err));
    etl_header_read(etl, &cursor, first->offset);
    return OK;
}

static Status open_trace(EtlFile *etl, Str path, Err *err) {
    TRY(file_open(path, &etl->file, err));
    etl->size = file_size(etl->file);
    TRY(check_magic(etl, path, err));
    EtlBuffer first = {0};
    bool found = false;
    if (etl->size >= FILE_BYTES_MIN) TRY(etl_first_buffer(etl, &first, &found, err));
    if (!found) return explain(etl, path, err);
    TRY(read_header(etl, &first, err));
    TRY(etl_walk(etl, first.offset, err));
    return etl_order(etl, err);
}

Status etl_open(Str path, EtlFile **out, Err *err) {
    EtlFile *etl = mem_zero(1, sizeof *etl);
    Status status = open_trace(etl, path, err);
    if (status != OK) {
        etl_close(etl);
        return status;
    }
    *out = etl;
    return OK;
}

void etl_close(EtlFile *file) {
    if (!file) return;
    file_close(file->file);
    arena_done(&file->arena);
    vec_free(&file->buffers);
    vec_free(&file->late);
    mem_free(file->stream_of);
    mem_free(file->position_of);
    mem_free(file->ordered);
    mem_free(file->stream_from);
    mem_free(file);
}

const EtlHeader *etl_header(const EtlFile *file) {
    return &file->header;
}

uint64_t etl_file_size(const EtlFile *file) {
    return file->size;
}

EtlCompression etl_compression(const EtlFile *file) {
    return file->compression;
}

const EtlIssues *etl_file_issues(const EtlFile *file) {
    return &file->issues;
}

void etl_count_growth(const EtlFile *file, EtlIssues *issues) {
    uint64_t now = file_size_now(file->file);
    if (now > file->size) etl_issue(issues, ETL_ISSUE_FILE_GREW, file->size, now - file->size);
}

size_t etl_buffer_count(const EtlFile *file) {
    return file->buffers.count;
}

const EtlBuffer *etl_buffer(const EtlFile *file, size_t index) {
    INVARIANT(index < file->buffers.count);
    return &file->buffers.items[index];
}

size_t etl_stream_count(const EtlFile *file) {
    return file->stream_count;
}

void etl_stream_of(const EtlFile *file, size_t index, uint32_t *stream, uint32_t *position) {
    INVARIANT(index < file->buffers.count);
    *stream = file->stream_of[index];
    *position = file->position_of[index];
}

size_t etl_stream_buffer(const EtlFile *file, uint32_t stream, uint32_t position) {
    if (stream >= file->stream_count) return SIZE_MAX;
    uint32_t from = file->stream_from[stream];
    uint32_t count = file->stream_from[stream + 1] - from;
    return position < count ? file->ordered[from + position] : SIZE_MAX;
}
