// Image events: load is hook 030A, the rest stand in group 14.
#include "decode/entities.h"
#include "decode/kernel/families.h"

static const Field IMAGE_V0[] = {
    {"BaseAddress",   F_PTR,  IM_BASE, 0},
    {"ModuleSize",    F_U32,  IM_SIZE, 0},
    {"ImageFileName", F_WSTR, IM_NAME, 0},
};
static const Field IMAGE_V1[] = {
    {"ImageBase", F_PTR,  IM_BASE, 0},
    {"ImageSize", F_SIZE, IM_SIZE, 0},
    {"ProcessId", F_U32,  IM_PID,  0},
    {"FileName",  F_WSTR, IM_NAME, 0},
};
#define IMAGE_HEAD                                                                                 \
    {"ImageBase", F_PTR, IM_BASE, 0}, {"ImageSize", F_SIZE, IM_SIZE, 0},                           \
        {"ProcessId", F_U32, IM_PID, 0}, {"ImageChecksum", F_HEX32, IM_CHECKSUM, 0}, {             \
        "TimeDateStamp", F_U32, IM_TIME_STAMP, 0                                                   \
    }
#define IMAGE_TAIL                                                                                 \
    {"DefaultBase", F_PTR, IM_DEFAULT_BASE, 0}, {"Reserved1", F_U32, 0, 0},                        \
        {"Reserved2", F_U32, 0, 0}, {"Reserved3", F_U32, 0, 0}, {"Reserved4", F_U32, 0, 0}, {      \
        "FileName", F_WSTR, IM_NAME, 0                                                             \
    }
static const Field IMAGE_V2[] = {
    IMAGE_HEAD, {"Reserved0", F_U32, 0, 0},
     IMAGE_TAIL
};
static const Field IMAGE_V3[] = {
    IMAGE_HEAD,
    {"SignatureLevel", F_U8,  IM_SIGNATURE_LEVEL, 0},
    {"SignatureType",  F_U8,  IM_SIGNATURE_TYPE,  0},
    {"Reserved0",      F_U16, 0,                  0},
    IMAGE_TAIL,
};
static const Field IMAGE_BASE_ONLY[] = {
    {"ImageBase", F_PTR, IM_BASE, 0},
};
static const Field HYPERCALL_PAGE[] = {
    {"HypercallPageVa", F_PTR, 0, 0},
};

#define KEEP(hook, version, name, fields, extra)                                                   \
    { hook, version, version, name, fields, COUNT_OF(fields), SPEC_KEEP | (extra), T_IMAGE, NULL }
#define LIFE(hook, name, extra)                                                                    \
    KEEP(hook, 0, name, IMAGE_V0, extra), KEEP(hook, 1, name, IMAGE_V1, extra),                    \
        KEEP(hook, 2, name, IMAGE_V2, extra), KEEP(hook, 3, name, IMAGE_V3, extra)

static const EventSpec IMAGE_SPECS[] = {
    LIFE(HOOK_IMAGE_LOAD, "Image/Load", 0),
    LIFE(HOOK_IMAGE_UNLOAD, "Image/Unload", 0),
    LIFE(HOOK_IMAGE_DCSTART, "Image/DCStart", SPEC_NO_STACK),
    LIFE(HOOK_IMAGE_DCEND, "Image/DCEnd", SPEC_NO_STACK),
    {0x1421, 2, 2, "Image/KernelBase",    IMAGE_BASE_ONLY, COUNT_OF(IMAGE_BASE_ONLY),
                                                      SPEC_KEEP | SPEC_NO_STACK,                                                                      T_EVENT_DATA, NULL},
    {0x1422, 2, 2, "Image/HypercallPage", HYPERCALL_PAGE,  COUNT_OF(HYPERCALL_PAGE),  SPEC_NO_STACK,
                                                      T_EVENT_DATA,                                                                                                 NULL},
};
const SpecFamily FAMILY_IMAGE = {IMAGE_SPECS, COUNT_OF(IMAGE_SPECS), NULL};
