// Fixed-offset loads for the two hot paths of this folder (event headers, decompression). The
// caller has compared the range with its end once, for a whole header or token; everything of
// variable shape goes through Rd.
#ifndef ETL_BYTES_H
#define ETL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t le16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t le32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t le64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

#endif
