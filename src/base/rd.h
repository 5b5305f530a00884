// The checked byte reader. Every foreign byte (ETL, PE, PDB, manifests, packets) goes through it.
//
// Little-endian unless the name says be. A read past the end returns 0 (or an empty slice), marks
// the reader failed and leaves nothing to read, so loops over rd_left() end; check rd_ok() once per
// record. A nested structure gets rd_sub(), so it cannot read its parent's bytes.
#ifndef BASE_RD_H
#define BASE_RD_H

#include "base/str.h"

#include <string.h>

typedef struct Rd {
    const uint8_t *p;   // next byte
    const uint8_t *end; // behind the last byte
    const uint8_t *start;
    bool failed;
} Rd;

typedef struct Guid {
    uint8_t bytes[16]; // as on disk (Windows order)
} Guid;

static inline Rd rd_from(const void *bytes, size_t size) {
    const uint8_t *p = (const uint8_t *)bytes;
    return (Rd){.p = p, .end = p ? p + size : p, .start = p};
}
static inline Rd rd_from_str(Str s) {
    return rd_from(s.p, s.n);
}
static inline size_t rd_left(const Rd *r) {
    return (size_t)(r->end - r->p);
}
static inline size_t rd_at(const Rd *r) { // offset from the start of this reader
    return (size_t)(r->p - r->start);
}
static inline bool rd_ok(const Rd *r) {
    return !r->failed;
}
static inline void rd_fail(Rd *r) {
    r->failed = true;
    r->p = r->end;
}
// Address of the next n bytes and moves on; NULL (and failed) when they are not there.
static inline const uint8_t *rd_take(Rd *r, size_t n) {
    if (n > rd_left(r)) {
        rd_fail(r);
        return NULL;
    }
    const uint8_t *p = r->p;
    if (n) r->p += n; // an empty reader may have no address, and NULL + 0 is undefined
    return p;
}
static inline void rd_skip(Rd *r, size_t n) {
    (void)rd_take(r, n);
}
// Moves to an absolute offset from the start of this reader.
static inline void rd_seek(Rd *r, size_t offset) {
    if (offset > (size_t)(r->end - r->start)) {
        rd_fail(r);
        return;
    }
    if (!r->failed) r->p = offset ? r->start + offset : r->start;
}

#define RD_SCALAR(name, Type)                                                                      \
    static inline Type name(Rd *r) {                                                               \
        Type v = 0;                                                                                \
        const uint8_t *p = rd_take(r, sizeof v);                                                   \
        if (p) memcpy(&v, p, sizeof v);                                                            \
        return v;                                                                                  \
    }
RD_SCALAR(rd_u8, uint8_t)
RD_SCALAR(rd_u16, uint16_t)
RD_SCALAR(rd_u32, uint32_t)
RD_SCALAR(rd_u64, uint64_t)
RD_SCALAR(rd_i8, int8_t)
RD_SCALAR(rd_i16, int16_t)
RD_SCALAR(rd_i32, int32_t)
RD_SCALAR(rd_i64, int64_t)
RD_SCALAR(rd_f32, float)
RD_SCALAR(rd_f64, double)
#undef RD_SCALAR

static inline uint16_t rd_be16(Rd *r) {
    return __builtin_bswap16(rd_u16(r));
}
static inline uint32_t rd_be32(Rd *r) {
    return __builtin_bswap32(rd_u32(r));
}
// A pointer-sized value of a 4- or 8-byte event.
static inline uint64_t rd_ptr(Rd *r, unsigned pointer_size) {
    return pointer_size == 4 ? rd_u32(r) : rd_u64(r);
}
static inline Guid rd_guid(Rd *r) {
    Guid guid = {{0}};
    const uint8_t *p = rd_take(r, sizeof guid.bytes);
    if (p) memcpy(guid.bytes, p, sizeof guid.bytes);
    return guid;
}

Str rd_bytes(Rd *r, size_t n); // slice of the source; empty and failed when cut
Rd rd_sub(Rd *r, size_t n);    // reader of the next n bytes; moves on; failed when cut
// Zero-terminated text, converted to UTF-8 in `arena`. A missing terminator means the text reaches
// to the end and is not a failure (ETW events are cut that way); rd_zero_* say whether it was
// there.
Str rd_wstr(Rd *r, Arena *arena);
Str rd_astr(Rd *r, Arena *arena);
// The raw bytes up to the terminator (not converted, terminator skipped).
Str rd_wstr_raw(Rd *r);
Str rd_astr_raw(Rd *r);
// Fixed array of `units` UTF-16 units, cut at the first zero.
Str rd_wchars(Rd *r, size_t units, Arena *arena);

bool guid_eq(const Guid *a, const Guid *b);
bool guid_is_zero(const Guid *guid);
// "68fdd900-4a3e-11d1-84f4-0000f80464e3", lower case; `out` holds GUID_TEXT_SIZE bytes.
enum { GUID_TEXT_SIZE = 37 };
void guid_to_text(const Guid *guid, char *out);
// Accepts the form above, any case, with or without braces.
bool guid_from_text(Str text, Guid *out);
uint64_t guid_hash(const Guid *guid);

#endif
