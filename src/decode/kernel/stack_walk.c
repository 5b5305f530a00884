// Stack events (group 18). Their rows are `stack` and `frame`; the survey reads them.
#include "decode/entities.h"
#include "decode/kernel/families.h"

static const Field WALK[] = {
    {"EventTimeStamp", F_TIME, 0, 0         },
    {"StackProcess",   F_U32,  0, 0         },
    {"StackThread",    F_U32,  0, 0         },
    {"Stack",          F_PTR,  0, FIELD_REST},
};
static const Field KEY_DEFINITION[] = {
    {"StackKey",   F_PTR, 0, 0         },
    {"StackFrame", F_PTR, 0, FIELD_REST},
};
static const Field KEY_REFERENCE[] = {
    {"EventTimeStamp", F_TIME, 0, 0},
    {"StackProcess",   F_U32,  0, 0},
    {"StackThread",    F_U32,  0, 0},
    {"StackKey",       F_PTR,  0, 0},
};

#define STACK(hook, name, fields)                                                                  \
    { hook, 0, 255, name, fields, COUNT_OF(fields), SPEC_NO_STACK, T_STACK, NULL }
static const EventSpec STACK_SPECS[] = {
    STACK(HOOK_STACK, "StackWalk/Stack", WALK),
    STACK(HOOK_STACK_KEY_CREATE, "StackWalk/KeyCreate", KEY_DEFINITION),
    STACK(HOOK_STACK_KEY_DELETE, "StackWalk/KeyDelete", KEY_DEFINITION),
    STACK(HOOK_STACK_KEY_RUNDOWN, "StackWalk/KeyRundown", KEY_DEFINITION),
    STACK(HOOK_STACK_KERNEL_REF, "StackWalk/KeyKernel", KEY_REFERENCE),
    STACK(HOOK_STACK_USER_REF, "StackWalk/KeyUser", KEY_REFERENCE),
};
const SpecFamily FAMILY_STACK_WALK = {STACK_SPECS, COUNT_OF(STACK_SPECS), NULL};
