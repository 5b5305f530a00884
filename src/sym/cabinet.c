// Cabinets through libmspack, with our own input and output: the input is a Source, the output is
// memory or one new file, and no name inside the cabinet ever reaches the file system.
#define _GNU_SOURCE
#include "sym/cabinet.h"

#include "base/limits.h"

#include <mspack.h>
#include <stdlib.h>
#include <string.h>

typedef struct CabinetJob {
    struct mspack_system system; // first: libmspack hands its address back
    Source *source;
    Buf *memory;        // output, or
    FileWriter *writer; // output
    uint64_t written, max_bytes;
    bool too_large;
    Err write_err;
} CabinetJob;

// An open "file": the cabinet (reading) or the one output.
typedef struct CabinetFile {
    CabinetJob *job;
    uint64_t at;
    bool output;
} CabinetFile;

// libmspack knows struct mspack_file by address only.
static CabinetFile *own_file(struct mspack_file *file) {
    return (CabinetFile *)(void *)file;
}

static struct mspack_file *on_open(struct mspack_system *self, const char *name, int mode) {
    (void)name;
    CabinetFile *file = mem_zero(1, sizeof *file);
    file->job = (CabinetJob *)(void *)self;
    file->output = mode != MSPACK_SYS_OPEN_READ;
    return (struct mspack_file *)(void *)file;
}

static void on_close(struct mspack_file *file) {
    mem_free(own_file(file));
}

static int on_read(struct mspack_file *handle, void *buffer, int bytes) {
    CabinetFile *file = own_file(handle);
    uint64_t size = source_size(file->job->source);
    if (file->output || bytes < 0) return -1;
    uint64_t left = file->at < size ? size - file->at : 0;
    size_t n = (uint64_t)bytes < left ? (size_t)bytes : (size_t)left;
    if (source_read(file->job->source, file->at, buffer, n, NULL) != OK) return -1;
    file->at += n;
    return (int)n;
}

static int on_write(struct mspack_file *handle, void *buffer, int bytes) {
    CabinetJob *job = own_file(handle)->job;
    if (bytes < 0) return -1;
    if ((uint64_t)bytes > job->max_bytes - job->written) {
        job->too_large = true;
        return -1;
    }
    job->written += (uint64_t)bytes;
    Str s = {buffer, (size_t)bytes};
    if (job->memory)
        buf_add(job->memory, s);
    else if (file_append(job->writer, s, &job->write_err) != OK)
        return -1;
    return bytes;
}

static int on_seek(struct mspack_file *handle, off_t offset, int mode) {
    CabinetFile *file = own_file(handle);
    int64_t base = 0, size = (int64_t)source_size(file->job->source);
    if (mode == MSPACK_SYS_SEEK_CUR) base = (int64_t)file->at;
    if (mode == MSPACK_SYS_SEEK_END) base = size;
    if (file->output || offset > size || offset < -size || base + offset < 0) return -1;
    file->at = (uint64_t)(base + offset);
    return 0;
}

static off_t on_tell(struct mspack_file *handle) {
    return (off_t)own_file(handle)->at;
}

static void on_message(struct mspack_file *handle, const char *format, ...) {
    (void)handle;
    (void)format;
}

// Sizes come from the cabinet's headers, so a refusal must come back as one.
static void *on_alloc(struct mspack_system *self, size_t bytes) {
    (void)self;
    return bytes > LIMIT_CABINET_BYTES ? NULL : mem_alloc(bytes);
}

static void on_free(void *p) {
    mem_free(p);
}

static void on_copy(void *from, void *to, size_t bytes) {
    if (bytes) memcpy(to, from, bytes);
}

static const char *error_text(int error) {
    switch (error) {
    case MSPACK_ERR_READ:
    case MSPACK_ERR_SEEK: return "it is cut short";
    case MSPACK_ERR_SIGNATURE:
    case MSPACK_ERR_DATAFORMAT: return "its structure is damaged";
    case MSPACK_ERR_CHECKSUM: return "a checksum is wrong";
    case MSPACK_ERR_DECRUNCH: return "its data does not decompress";
    case MSPACK_ERR_NOMEMORY: return "it asks for too much memory";
    default: return "it cannot be read";
    }
}

static int extract_first(CabinetJob *job, struct mscab_decompressor *decompressor) {
    struct mscabd_cabinet *cabinet = decompressor->open(decompressor, "cabinet");
    if (!cabinet) return decompressor->last_error(decompressor);
    int error = MSPACK_ERR_DATAFORMAT;
    if (cabinet->files) {
        error = decompressor->extract(decompressor, cabinet->files, "output");
        // A short output without an error would pass for the whole file.
        if (error == MSPACK_ERR_OK && job->written != cabinet->files->length)
            error = MSPACK_ERR_DATAFORMAT;
    }
    decompressor->close(decompressor, cabinet);
    return error;
}

static Status expand(CabinetJob *job, Err *err) {
    job->system = (struct mspack_system){.open = on_open,
                                         .close = on_close,
                                         .read = on_read,
                                         .write = on_write,
                                         .seek = on_seek,
                                         .tell = on_tell,
                                         .message = on_message,
                                         .alloc = on_alloc,
                                         .free = on_free,
                                         .copy = on_copy};
    struct mscab_decompressor *decompressor = mspack_create_cab_decompressor(&job->system);
    if (!decompressor) return err_set(err, ERR_INTERNAL, "libmspack does not start");
    int error = extract_first(job, decompressor);
    mspack_destroy_cab_decompressor(decompressor);
    Str name = source_name(job->source);
    if (job->write_err.status != OK)
        return err_set(err, job->write_err.status, "%s", job->write_err.text);
    if (job->too_large)
        return err_set(err, ERR_LIMIT, STR_FMT ": the cabinet's file has more than %llu bytes",
                       STR_ARG(name), (unsigned long long)job->max_bytes);
    if (error != MSPACK_ERR_OK)
        return err_set(err, ERR_INPUT, STR_FMT ": damaged cabinet: %s", STR_ARG(name),
                       error_text(error));
    return OK;
}

Status cabinet_expand(Source *cabinet, Buf *out, Err *err) {
    CabinetJob job = {
        .source = cabinet, .memory = out, .max_bytes = out->max ? out->max : LIMIT_CABINET_BYTES};
    return expand(&job, err);
}

Status cabinet_expand_to_file(Source *cabinet, Str path, uint64_t max_bytes, Err *err) {
    AUTO(file_writer_close) FileWriter *writer = NULL;
    TRY(file_create(path, &writer, err));
    CabinetJob job = {.source = cabinet, .writer = writer, .max_bytes = max_bytes};
    Status status = expand(&job, err);
    if (status == OK) status = file_finish(writer, err);
    if (status != OK) (void)os_remove_file(path, NULL);
    return status;
}
