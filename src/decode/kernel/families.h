// Every kernel event family, one line each. The order is that of docs/schema.md.
#ifndef DECODE_KERNEL_FAMILIES_H
#define DECODE_KERNEL_FAMILIES_H

#include "decode/decoder.h"

#define FAMILY_LIST(X)                                                                             \
    X(FAMILY_PROCESS)                                                                              \
    X(FAMILY_THREAD)                                                                               \
    X(FAMILY_IMAGE)                                                                                \
    X(FAMILY_STACK_WALK)                                                                           \
    X(FAMILY_SAMPLE)                                                                               \
    X(FAMILY_SCHEDULER)

#define FAMILY(name) extern const SpecFamily name;
FAMILY_LIST(FAMILY)
#undef FAMILY

#endif
