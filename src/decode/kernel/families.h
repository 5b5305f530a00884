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
    X(FAMILY_SCHEDULER)                                                                            \
    X(FAMILY_DISK)                                                                                 \
    X(FAMILY_FILE)                                                                                 \
    X(FAMILY_MEMORY)                                                                               \
    X(FAMILY_NETWORK)                                                                              \
    X(FAMILY_CONFIG)                                                                               \
    X(FAMILY_POOL)                                                                                 \
    X(FAMILY_REGISTRY)                                                                             \
    X(FAMILY_INTERRUPT)                                                                            \
    X(FAMILY_LOCK)                                                                                 \
    X(FAMILY_MARK)                                                                                 \
    X(FAMILY_PROFILE)                                                                              \
    X(FAMILY_WORK)                                                                                 \
    X(FAMILY_OBJECT)                                                                               \
    X(FAMILY_HEAP)                                                                                 \
    X(FAMILY_POWER)                                                                                \
    X(FAMILY_CACHE)                                                                                \
    X(FAMILY_LOADER)                                                                               \
    X(FAMILY_SESSION)

#define FAMILY(name) extern const SpecFamily name;
FAMILY_LIST(FAMILY)
#undef FAMILY

// Lines of a family's list: an event with rows, one kept raw with its fields, one that only has a
// name (its layout is not published, or it is empty).
#define SPEC_ROWS(hook, low, high, name, fields, flags, table, emit)                               \
    { hook, low, high, name, fields, COUNT_OF(fields), flags, table, emit }
#define SPEC_RAW(hook, low, high, name, fields)                                                    \
    { hook, low, high, name, fields, COUNT_OF(fields), 0, T_EVENT_DATA, NULL }
#define SPEC_NAME(hook, name)                                                                      \
    { hook, 0, 255, name, NULL, 0, 0, T_EVENT_DATA, NULL }

#endif
