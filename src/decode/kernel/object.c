// Processes beyond their lives, jobs, state notifications, handles and objects, ALPC messages
// (groups 03, 07, 0D, 11, 1A). Kept raw with their fields.
#include "decode/kernel/families.h"

static const Field TERMINATE[] = {
    {"ProcessId", F_U32, 0, 0},
};
static const Field IN_SWAP[] = {
    {"DirectoryTableBase", F_PTR, 0, 0},
    {"ProcessId",          F_U32, 0, 0},
};
static const Field BOOT_PHASE_START[] = {
    {"Phase", F_I32, 0, 0},
};
static const Field CHARGE_WAKE_COUNTER_USER[] = {
    {"Object",    F_PTR, 0, 0},
    {"Tag",       F_PTR, 0, 0},
    {"ProcessId", F_U32, 0, 0},
    {"Count",     F_U32, 0, 0},
};
static const Field WAKE_EVENT_USER[] = {
    {"Object", F_PTR, 0, 0},
};
static const Field DEBUG_EVENT[] = {
    {"ProcessId", F_U32, 0, 0},
    {"ThreadId",  F_U32, 0, 0},
    {"Reason",    F_U32, 0, 0},
};
static const Field CREATE[] = {
    {"JobId",     F_GUID,  0, 0},
    {"JobHandle", F_U32,   0, 0},
    {"Flags",     F_HEX32, 0, 0},
    {"Status",    F_HEX32, 0, 0},
};
static const Field ASSIGN_PROCESS[] = {
    {"JobId",     F_GUID,  0, 0},
    {"JobHandle", F_U32,   0, 0},
    {"ProcessId", F_U32,   0, 0},
    {"Status",    F_HEX32, 0, 0},
};
static const Field REMOVE_PROCESS[] = {
    {"JobId",        F_GUID,  0, 0},
    {"ProcessId",    F_U32,   0, 0},
    {"RemovalFlags", F_HEX32, 0, 0},
    {"ExitStatus",   F_HEX32, 0, 0},
};
static const Field SET[] = {
    {"JobId",            F_GUID, 0, 0},
    {"JobHandle",        F_U32,  0, 0},
    {"InformationClass", F_U32,  0, 0},
};
static const Field SEND_NOTIFICATION[] = {
    {"JobId",          F_GUID, 0, 0},
    {"NotificationId", F_U32,  0, 0},
};
static const Field SET_CPU_RATE[] = {
    {"Flags", F_HEX32, 0, 0},
    {"Value", F_U32,   0, 0},
};
static const Field SET_NET_RATE[] = {
    {"Flags",        F_HEX32, 0, 0},
    {NULL,           F_ALIGN, 0, 8},
    {"MaxBandwidth", F_U64,   0, 0},
    {"DscpTag",      F_U8,    0, 0},
};
static const Field SUBSCRIBE[] = {
    {"StateName",        F_HEX64, 0, 0},
    {"Subscription",     F_PTR,   0, 0},
    {"NameSubscription", F_PTR,   0, 0},
    {"Callback",         F_PTR,   0, 0},
    {"RefCount",         F_U32,   0, 0},
    {"DeliveryFlags",    F_HEX32, 0, 0},
};
static const Field CALLBACK[] = {
    {"StateName",        F_HEX64, 0, 0},
    {"Subscription",     F_PTR,   0, 0},
    {"NameSubscription", F_PTR,   0, 0},
    {"Callback",         F_PTR,   0, 0},
    {"ChangeStamp",      F_U32,   0, 0},
    {"DeliveryFlags",    F_HEX32, 0, 0},
    {"Return",           F_U32,   0, 0},
};
static const Field PUBLISH[] = {
    {"StateName",  F_HEX64, 0, 0},
    {"DataLength", F_U32,   0, 0},
};
static const Field NAME_SUBSCRIPTION_RUNDOWN[] = {
    {"StateName",        F_HEX64, 0, 0},
    {"NameSubscription", F_PTR,   0, 0},
};
static const Field CREATE_HANDLE[] = {
    {"Object",     F_PTR,  0, 0             },
    {"Handle",     F_U32,  0, 0             },
    {"ObjectType", F_U16,  0, 0             },
    {"ObjectName", F_WSTR, 0, FIELD_OPTIONAL},
};
static const Field DUPLICATE_HANDLE[] = {
    {"Object",          F_PTR, 0, 0},
    {"SourceHandle",    F_U32, 0, 0},
    {"TargetHandle",    F_U32, 0, 0},
    {"TargetProcessId", F_U32, 0, 0},
    {"ObjectType",      F_U16, 0, 0},
};
static const Field DUPLICATE_HANDLE_V3[] = {
    {"Object",          F_PTR, 0, 0},
    {"SourceHandle",    F_U32, 0, 0},
    {"TargetHandle",    F_U32, 0, 0},
    {"TargetProcessId", F_U32, 0, 0},
    {"ObjectType",      F_U16, 0, 0},
    {"SourceProcessId", F_U32, 0, 0},
};
static const Field TYPE_DC_START[] = {
    {"ObjectType", F_U16,  0, 0},
    {"Reserved",   F_U16,  0, 0},
    {"TypeName",   F_WSTR, 0, 0},
};
static const Field HANDLE_DC_START[] = {
    {"Object",     F_PTR,  0, 0             },
    {"ProcessId",  F_U32,  0, 0             },
    {"Handle",     F_U32,  0, 0             },
    {"ObjectType", F_U16,  0, 0             },
    {"ObjectName", F_WSTR, 0, FIELD_OPTIONAL},
};
static const Field CREATE_V2[] = {
    {"Object",     F_PTR, 0, 0},
    {"ObjectType", F_U16, 0, 0},
};
static const Field REFERENCE[] = {
    {"Object", F_PTR,   0, 0},
    {"Tag",    F_HEX32, 0, 0},
    {"Count",  F_U32,   0, 0},
};
static const Field SEND_MESSAGE[] = {
    {"MessageID", F_U32, 0, 0},
};
static const Field WAIT_FOR_NEW_MESSAGE[] = {
    {"IsServerPort", F_U32,  0, 0},
    {"PortName",     F_WSTR, 0, 0},
};
static const Field UNWAIT[] = {
    {"Status", F_HEX32, 0, 0},
};

static const EventSpec OBJECT_SPECS[] = {
    SPEC_RAW(0x030B, 2, 2, "Process/Terminate", TERMINATE),
    SPEC_RAW(0x0323, 2, 2, "Process/InSwap", IN_SWAP),
    SPEC_NAME(0x0324, "Process/Freeze"),
    SPEC_NAME(0x0325, "Process/Thaw"),
    SPEC_RAW(0x0326, 0, 255, "Process/BootPhaseStart", BOOT_PHASE_START),
    SPEC_NAME(0x0328, "Process/SetAffinity"),
    SPEC_RAW(0x0330, 2, 2, "Process/ChargeWakeCounterUser", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0331, 2, 2, "Process/ChargeWakeCounterExecution", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0332, 2, 2, "Process/ChargeWakeCounterKernel", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0333, 2, 2, "Process/ChargeWakeCounterInstrumentation", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0334, 2, 2, "Process/ChargeWakeCounterPreserveProcess", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0340, 2, 2, "Process/ReleaseWakeCounterUser", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0341, 2, 2, "Process/ReleaseWakeCounterExecution", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0342, 2, 2, "Process/ReleaseWakeCounterKernel", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0343, 2, 2, "Process/ReleaseWakeCounterInstrumentation", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0344, 2, 2, "Process/ReleaseWakeCounterPreserveProcess", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0350, 2, 2, "Process/WakeDropUser", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0351, 2, 2, "Process/WakeDropExecution", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0352, 2, 2, "Process/WakeDropKernel", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0353, 2, 2, "Process/WakeDropInstrumentation", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0354, 2, 2, "Process/WakeDropPreserveProcess", CHARGE_WAKE_COUNTER_USER),
    SPEC_RAW(0x0360, 2, 2, "Process/WakeEventUser", WAKE_EVENT_USER),
    SPEC_RAW(0x0361, 2, 2, "Process/WakeEventExecution", WAKE_EVENT_USER),
    SPEC_RAW(0x0362, 2, 2, "Process/WakeEventKernel", WAKE_EVENT_USER),
    SPEC_RAW(0x0363, 2, 2, "Process/WakeEventInstrumentation", WAKE_EVENT_USER),
    SPEC_RAW(0x0364, 0, 255, "Process/WakeEventPreserveProcess", WAKE_EVENT_USER),
    SPEC_RAW(0x0370, 0, 255, "Process/DebugEvent", DEBUG_EVENT),
    SPEC_RAW(0x0720, 0, 255, "Job/Create", CREATE),
    SPEC_RAW(0x0721, 0, 255, "Job/Terminate", CREATE),
    SPEC_RAW(0x0722, 0, 255, "Job/Open", CREATE),
    SPEC_RAW(0x0723, 0, 255, "Job/AssignProcess", ASSIGN_PROCESS),
    SPEC_RAW(0x0724, 0, 255, "Job/RemoveProcess", REMOVE_PROCESS),
    SPEC_RAW(0x0725, 0, 255, "Job/Set", SET),
    SPEC_RAW(0x0726, 0, 255, "Job/Query", SET),
    SPEC_RAW(0x0727, 0, 255, "Job/SetFailed", SET),
    SPEC_RAW(0x0728, 0, 255, "Job/QueryFailed", SET),
    SPEC_NAME(0x0729, "Job/SetNotification"),
    SPEC_RAW(0x072A, 0, 255, "Job/SendNotification", SEND_NOTIFICATION),
    SPEC_NAME(0x072B, "Job/QueryViolation"),
    SPEC_RAW(0x072C, 0, 255, "Job/SetCpuRate", SET_CPU_RATE),
    SPEC_RAW(0x072D, 0, 255, "Job/SetNetRate", SET_NET_RATE),
    SPEC_RAW(0x0D20, 0, 255, "Wnf/Subscribe", SUBSCRIBE),
    SPEC_RAW(0x0D21, 0, 255, "Wnf/Unsubscribe", SUBSCRIBE),
    SPEC_RAW(0x0D22, 0, 255, "Wnf/Callback", CALLBACK),
    SPEC_RAW(0x0D23, 0, 255, "Wnf/Publish", PUBLISH),
    SPEC_RAW(0x0D24, 0, 255, "Wnf/NameSubscriptionRundown", NAME_SUBSCRIPTION_RUNDOWN),
    SPEC_RAW(0x1120, 2, 2, "Object/CreateHandle", CREATE_HANDLE),
    SPEC_RAW(0x1121, 2, 2, "Object/CloseHandle", CREATE_HANDLE),
    SPEC_RAW(0x1122, 2, 2, "Object/DuplicateHandle", DUPLICATE_HANDLE),
    SPEC_RAW(0x1122, 3, 3, "Object/DuplicateHandle", DUPLICATE_HANDLE_V3),
    SPEC_RAW(0x1124, 2, 2, "Object/TypeDCStart", TYPE_DC_START),
    SPEC_RAW(0x1125, 2, 2, "Object/TypeDCEnd", TYPE_DC_START),
    SPEC_RAW(0x1126, 2, 2, "Object/HandleDCStart", HANDLE_DC_START),
    SPEC_RAW(0x1127, 2, 2, "Object/HandleDCEnd", HANDLE_DC_START),
    SPEC_RAW(0x1130, 2, 2, "Object/Create", CREATE_V2),
    SPEC_RAW(0x1131, 2, 2, "Object/Delete", CREATE_V2),
    SPEC_RAW(0x1132, 2, 2, "Object/Reference", REFERENCE),
    SPEC_RAW(0x1133, 2, 2, "Object/Dereference", REFERENCE),
    SPEC_RAW(0x1A21, 2, 2, "Alpc/SendMessage", SEND_MESSAGE),
    SPEC_RAW(0x1A22, 2, 2, "Alpc/ReceiveMessage", SEND_MESSAGE),
    SPEC_RAW(0x1A23, 2, 2, "Alpc/WaitForReply", SEND_MESSAGE),
    SPEC_RAW(0x1A24, 2, 2, "Alpc/WaitForNewMessage", WAIT_FOR_NEW_MESSAGE),
    SPEC_RAW(0x1A25, 2, 2, "Alpc/Unwait", UNWAIT),
    SPEC_NAME(0x1A26, "Alpc/ConnectRequest"),
    SPEC_NAME(0x1A27, "Alpc/ConnectSuccess"),
    SPEC_NAME(0x1A28, "Alpc/ConnectFail"),
    SPEC_NAME(0x1A29, "Alpc/ClosePort"),
};
const SpecFamily FAMILY_OBJECT = {OBJECT_SPECS, COUNT_OF(OBJECT_SPECS), NULL};
