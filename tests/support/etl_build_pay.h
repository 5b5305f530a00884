// Payload bytes, field by field: the writing counterpart of base/rd.h. Little-endian unless the
// name says be. A Pay is a Buf; free it with buf_done.
#ifndef SUPPORT_ETL_BUILD_PAY_H
#define SUPPORT_ETL_BUILD_PAY_H

#include "base/rd.h"
#include "base/str.h"

typedef Buf Pay;

void pay_u8(Pay *pay, uint8_t value);
void pay_u16(Pay *pay, uint16_t value);
void pay_u32(Pay *pay, uint32_t value);
void pay_u64(Pay *pay, uint64_t value);
void pay_f32(Pay *pay, float value);
void pay_f64(Pay *pay, double value);
void pay_be16(Pay *pay, uint16_t value);
void pay_be32(Pay *pay, uint32_t value);
void pay_ptr(Pay *pay, unsigned pointer_size, uint64_t value);
void pay_zeros(Pay *pay, size_t count);
void pay_fill(Pay *pay, uint8_t byte, size_t count);
void pay_bytes(Pay *pay, Str bytes);
void pay_guid(Pay *pay, Guid guid);
void pay_astr(Pay *pay, Str text);                 // with terminator
void pay_utf16(Pay *pay, Str text);                // UTF-8 in, UTF-16LE out, no terminator
void pay_wstr(Pay *pay, Str text);                 // with terminator
void pay_wchars(Pay *pay, size_t units, Str text); // fixed array; text cut to units - 1
size_t pay_utf16_bytes(Str text);                  // size of pay_utf16's output
// Hexadecimal digits; blanks between bytes are allowed. False for anything else.
bool pay_hex(Pay *pay, Str digits);
// "S-1-5-18" as its binary form (1.3 of the format's SID structure). False when it is not a SID.
bool pay_sid(Pay *pay, Str text);
// A SID field of a kernel payload: empty text = four zero bytes, else TOKEN_USER and SID.
bool pay_kernel_sid(Pay *pay, unsigned pointer_size, Str text);
// "10.0.0.1" (4 bytes) or "fe80::1" (16 bytes), network order. False when it is neither.
bool pay_ip(Pay *pay, Str text);

// Overwrites bytes written before.
void pay_set_u16(Pay *pay, size_t at, uint16_t value);
void pay_set_u32(Pay *pay, size_t at, uint32_t value);

Guid pay_guid_from_c(const char *text); // must be valid: for constants

#endif
