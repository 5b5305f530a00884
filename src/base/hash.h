// SHA-256 and SHA-1 (FIPS 180-4), for names of things: trace ids, version 5 UUIDs. Nothing secret
// depends on them. Our own, because loading a library of ciphers costs more than the program's
// start.
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

enum { SHA1_BYTES = 20, SHA256_BYTES = 32 };

void sha1(Str bytes, uint8_t digest[SHA1_BYTES]);
void sha256(Str bytes, uint8_t digest[SHA256_BYTES]);

#endif
