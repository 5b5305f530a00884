// The entry point every fuzz target defines: libFuzzer calls it in preset `fuzz`, replay.c in all
// others. Returns 0; anything wrong is a crash, a failed INVARIANT or a sanitizer report.
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
