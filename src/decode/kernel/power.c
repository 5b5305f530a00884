// Power management (group 12). Kept raw with their fields.
#include "decode/kernel/families.h"

static const Field BATTERY_LIFE_INFO[] = {
    {"RemainingCapacity", F_U32, 0, 0},
    {"Rate",              F_U32, 0, 0},
};
static const Field IDLE_STATE_CHANGE[] = {
    {"State",     F_U32, 0, 0},
    {"Throttle",  F_U32, 0, 0},
    {"Direction", F_U32, 0, 0},
};
static const Field SET_POWER_ACTION[] = {
    {"Trigger",       F_PTR, 0, 0},
    {"PowerAction",   F_U32, 0, 0},
    {"LightestState", F_U32, 0, 0},
};
static const Field SET_POWER_ACTION_RETURN[] = {
    {"Trigger", F_PTR,   0, 0},
    {"Status",  F_HEX32, 0, 0},
};
static const Field SET_DEVICES_STATE[] = {
    {"SystemState", F_U32, 0, 0},
    {"Waking",      F_U8,  0, 0},
    {"Shutdown",    F_U8,  0, 0},
    {"IrpMinor",    F_U8,  0, 0},
};
static const Field SET_DEVICES_STATE_RETURN[] = {
    {"Status", F_HEX32, 0, 0},
};
static const Field NOTIFY_DEVICE[] = {
    {"Irp",              F_PTR,   0, 0},
    {"DriverStart",      F_PTR,   0, 0},
    {"OrderLevel",       F_U8,    0, 0},
    {"MajorFunction",    F_U8,    0, 0},
    {"MinorFunction",    F_U8,    0, 0},
    {NULL,               F_ALIGN, 0, 4},
    {"Type",             F_U32,   0, 0},
    {"State",            F_U32,   0, 0},
    {"DeviceNameLength", F_U32,   0, 0},
    {"DeviceName",       F_WSTR,  0, 0},
};
static const Field NOTIFY_DEVICE_COMPLETE[] = {
    {"Irp",    F_PTR,   0, 0},
    {"Status", F_HEX32, 0, 0},
};
static const Field SESSION_CALLOUT[] = {
    {"SystemAction",   F_U32,   0, 0},
    {"MinSystemState", F_U32,   0, 0},
    {"Flags",          F_HEX32, 0, 0},
    {"PowerStateTask", F_U32,   0, 0},
};
static const Field PRE_SLEEP[] = {
    {"PerformanceCounter",   F_U64, 0, 0},
    {"PerformanceFrequency", F_U64, 0, 0},
};
static const Field POST_SLEEP[] = {
    {"PerformanceCounter", F_U64, 0, 0},
};
static const Field PERF_STATE_CHANGE[] = {
    {"Type",       F_U32,   0, 0},
    {"NewState",   F_U32,   0, 0},
    {"OldState",   F_U32,   0, 0},
    {"Result",     F_U32,   0, 0},
    {"Processors", F_HEX64, 0, 0},
};
static const Field PROCESSOR_IDLE_STATE_CHANGE[] = {
    {"NewState",   F_U32,   0, 0},
    {"OldState",   F_U32,   0, 0},
    {"Processors", F_HEX64, 0, 0},
};
static const Field THERMAL_CONSTRAINT[] = {
    {"Constraint", F_U32,   0, 0},
    {NULL,         F_ALIGN, 0, 8},
    {"Processors", F_HEX64, 0, 0},
};
static const Field IDLE_STATE_ENTER[] = {
    {"State",              F_U32, 0, 0},
    {"Properties",         F_U16, 0, 0},
    {"ExpectedWakeReason", F_U8,  0, 0},
    {"Reserved",           F_U8,  0, 0},
    {"ExpectedDuration",   F_U64, 0, 0},
};
static const Field IDLE_STATE_EXIT[] = {
    {"State",  F_U32,   0, 0},
    {"Status", F_HEX32, 0, 0},
};
static const Field IDLE_EXIT_LATENCY[] = {
    {"PlatformState",  F_U32, 0, 0},
    {"ProcessorState", F_U32, 0, 0},
    {"ReturnLatency",  F_U32, 0, 0},
    {"TotalLatency",   F_U32, 0, 0},
};
static const Field IDLE_PROCESSOR_SELECTION[] = {
    {"SelectedState", F_U32, 0, 0                },
    {"VetoedStates",  F_U32, 1, 0                },
    {"VetoReason",    F_U32, 0, FIELD_COUNTED | 1},
};

static const EventSpec POWER_SPECS[] = {
    SPEC_RAW(0x1220, 0, 255, "Power/BatteryLifeInfo", BATTERY_LIFE_INFO),
    SPEC_RAW(0x1221, 0, 255, "Power/IdleStateChange", IDLE_STATE_CHANGE),
    SPEC_RAW(0x1222, 0, 255, "Power/SetPowerAction", SET_POWER_ACTION),
    SPEC_RAW(0x1223, 0, 255, "Power/SetPowerActionReturn", SET_POWER_ACTION_RETURN),
    SPEC_RAW(0x1224, 0, 255, "Power/SetDevicesState", SET_DEVICES_STATE),
    SPEC_RAW(0x1225, 0, 255, "Power/SetDevicesStateReturn", SET_DEVICES_STATE_RETURN),
    SPEC_RAW(0x1226, 0, 255, "Power/NotifyDevice", NOTIFY_DEVICE),
    SPEC_RAW(0x1227, 0, 255, "Power/NotifyDeviceComplete", NOTIFY_DEVICE_COMPLETE),
    SPEC_RAW(0x1228, 0, 255, "Power/SessionCallout", SESSION_CALLOUT),
    SPEC_RAW(0x1229, 0, 255, "Power/SessionCalloutReturn", SET_DEVICES_STATE_RETURN),
    SPEC_RAW(0x1230, 0, 255, "Power/PreSleep", PRE_SLEEP),
    SPEC_RAW(0x1231, 0, 255, "Power/PostSleep", POST_SLEEP),
    SPEC_RAW(0x1232, 0, 255, "Power/CalibratedPerfCounter", POST_SLEEP),
    SPEC_RAW(0x1233, 0, 255, "Power/PerfStateChange", PERF_STATE_CHANGE),
    SPEC_RAW(0x1234, 0, 255, "Power/ThrottleStateChange", PERF_STATE_CHANGE),
    SPEC_RAW(0x1235, 0, 255, "Power/ProcessorIdleStateChange", PROCESSOR_IDLE_STATE_CHANGE),
    SPEC_RAW(0x1236, 0, 255, "Power/ThermalConstraint", THERMAL_CONSTRAINT),
    SPEC_NAME(0x1237, "Power/SignalResumeUi"),
    SPEC_NAME(0x1238, "Power/SignalVideoOn"),
    SPEC_RAW(0x1239, 0, 255, "Power/IdleStateEnter", IDLE_STATE_ENTER),
    SPEC_RAW(0x123A, 0, 255, "Power/IdleStateExit", IDLE_STATE_EXIT),
    SPEC_RAW(0x123B, 0, 255, "Power/PlatformIdleStateEnter", IDLE_STATE_ENTER),
    SPEC_RAW(0x123C, 2, 2, "Power/IdleExitLatency", IDLE_EXIT_LATENCY),
    SPEC_RAW(0x123D, 0, 255, "Power/IdleProcessorSelection", IDLE_PROCESSOR_SELECTION),
    SPEC_RAW(0x123E, 0, 255, "Power/IdlePlatformSelection", IDLE_PROCESSOR_SELECTION),
    SPEC_RAW(0x123F, 0, 255, "Power/CoordinatedIdleEnter", IDLE_STATE_ENTER),
    SPEC_RAW(0x1240, 0, 255, "Power/CoordinatedIdleExit", IDLE_STATE_EXIT),
};
const SpecFamily FAMILY_POWER = {POWER_SPECS, COUNT_OF(POWER_SPECS), NULL};
