// Events about the trace itself: the session's (group 00), debug prints (0A), and the classic
// classes that tools add when they merge traces. Kept raw with their fields.
#include "decode/entities.h"
#include "decode/kernel/families.h"

#define TIME_ZONE                                                                                  \
    {"Bias", F_I32, 0, 0}, {"StandardName", F_WCHARS, 0, 32}, {"StandardDate", F_BYTES, 0, 16},    \
        {"StandardBias", F_I32, 0, 0}, {"DaylightName", F_WCHARS, 0, 32},                          \
        {"DaylightDate", F_BYTES, 0, 16}, {                                                        \
        "DaylightBias", F_I32, 0, 0                                                                \
    }
static const Field LOG_HEADER[] = {
    {"BufferSize",         F_U32,      0, 0},
    {"Version",            F_U32,      0, 0},
    {"ProviderVersion",    F_U32,      0, 0},
    {"NumberOfProcessors", F_U32,      0, 0},
    {"EndTime",            F_FILETIME, 0, 0},
    {"TimerResolution",    F_U32,      0, 0},
    {"MaxFileSize",        F_U32,      0, 0},
    {"LogFileMode",        F_HEX32,    0, 0},
    {"BuffersWritten",     F_U32,      0, 0},
    {"StartBuffers",       F_U32,      0, 0},
    {"PointerSize",        F_U32,      0, 0},
    {"EventsLost",         F_U32,      0, 0},
    {"CPUSpeed",           F_U32,      0, 0},
    {"LoggerName",         F_PTR,      0, 0},
    {"LogFileName",        F_PTR,      0, 0},
    TIME_ZONE,
    {"Padding",            F_U32,      0, 0},
    {"BootTime",           F_FILETIME, 0, 0},
    {"PerfFreq",           F_U64,      0, 0},
    {"StartTime",          F_FILETIME, 0, 0},
    {"ReservedFlags",      F_U32,      0, 0},
    {"BuffersLost",        F_U32,      0, 0},
    {"SessionNameString",  F_WSTR,     0, 0},
    {"LogFileNameString",  F_WSTR,     0, 0},
};
#define GROUP_MASKS                                                                                \
    {"GroupMask1", F_HEX32, 0, 0}, {"GroupMask2", F_HEX32, 0, 0}, {"GroupMask3", F_HEX32, 0, 0},   \
        {"GroupMask4", F_HEX32, 0, 0}, {"GroupMask5", F_HEX32, 0, 0},                              \
        {"GroupMask6", F_HEX32, 0, 0}, {"GroupMask7", F_HEX32, 0, 0}, {                            \
        "GroupMask8", F_HEX32, 0, 0                                                                \
    }
static const Field MASKS_V0[] = {GROUP_MASKS};
static const Field MASKS_V2[] = {
    GROUP_MASKS,
    {"KernelEventVersion", F_U32, 0, 0},
};
static const Field BINARY_RSDS[] = {
    {"Guid",    F_GUID, 0, 0},
    {"Age",     F_U32,  0, 0},
    {"PdbName", F_ASTR, 0, 0},
};
static const Field BUILD_LAB[] = {
    {"BuildString", F_ASTR, 0, 0},
};
enum CountSlot { C_COUNT = 1 };
static const Field BINARY_PATH[] = {
    {"GuidCount",  F_U32,  C_COUNT, 0                      },
    {"Guid",       F_GUID, 0,       FIELD_COUNTED | C_COUNT},
    {"BinaryPath", F_WSTR, 0,       0                      },
};
// The version in the payload tells GUIDs from texts, not the one in the header.
static const Field PARTITION[] = {
    {"EventVersion",      F_U16, 0, 0},
    {"Reserved",          F_U16, 0, 0},
    {"PartitionType",     F_U32, 0, 0},
    {"QpcOffsetFromRoot", F_I64, 0, 0},
    {"PartitionId",       F_ID,  0, 0},
    {"ParentId",          F_ID,  0, 0},
};
static const Field LAST_DROPPED[] = {
    {"TimeStampCount", F_U32,  C_COUNT, 0                      },
    {"Padding",        F_U32,  0,       0                      },
    {"TimeStamp",      F_TIME, 0,       FIELD_COUNTED | C_COUNT},
};
static const Field DEBUG_PRINT[] = {
    {"Component", F_U32,  0, 0},
    {"Level",     F_U32,  0, 0},
    {"Message",   F_ASTR, 0, 0},
};

#define IMAGE                                                                                      \
    {"ImageBase", F_PTR, 0, 0}, {                                                                  \
        "ProcessId", F_U32, 0, 0                                                                   \
    }
static const Field IMAGE_ID[] = {
    {"ImageBase",        F_PTR,  0, 0},
    {"ImageSize",        F_SIZE, 0, 0},
    {"ProcessId",        F_U32,  0, 0},
    {"TimeDateStamp",    F_U32,  0, 0},
    {"OriginalFileName", F_WSTR, 0, 0},
};
static const Field NO_DEBUG_DATA[] = {IMAGE};
static const Field DBG_FILE[] = {
    IMAGE,
    {"Reserved1",     F_U32,  0, 0},
    {"TimeDateStamp", F_U32,  0, 0},
    {"Reserved2",     F_U32,  0, 0},
    {"DbgFileName",   F_WSTR, 0, 0},
};
static const Field RSDS[] = {
    IMAGE,
    {"GuidSig",     F_GUID, 0, 0},
    {"Age",         F_U32,  0, 0},
    {"PdbFileName", F_ASTR, 0, 0},
};
static const Field DEBUG_DIRECTORY[] = {
    IMAGE,
    {"TimeDateStamp", F_U32, 0, 0},
    {"MajorVersion",  F_U16, 0, 0},
    {"MinorVersion",  F_U16, 0, 0},
};
static const Field PORTABLE_PDB[] = {
    IMAGE,
    {"MajorVersion", F_U16,  0, 0},
    {"MinorVersion", F_U16,  0, 0},
    {"GuidSig",      F_GUID, 0, 0},
    {"Age",          F_U32,  0, 0},
};
#define TEXT(name)                                                                                 \
    { name, F_WSTR, 0, 0 }
static const Field ID_ERROR[] = {TEXT("Message")};
static const Field FILE_VERSION[] = {
    {"ImageSize",     F_U32, 0, 0},
    {"TimeDateStamp", F_U32, 0, 0},
    TEXT("OrigFileName"),
    TEXT("FileDescription"),
    TEXT("FileVersion"),
    TEXT("BinFileVersion"),
    TEXT("VerLanguage"),
    TEXT("ProductName"),
    TEXT("CompanyName"),
    TEXT("ProductVersion"),
    TEXT("FileId"),
    TEXT("ProgramId"),
};
// LZNT1 data that expands to UTF-16 XML.
static const Field ASSESSMENT[] = {
    {"State",            F_U32,   0, 0         },
    {"UncompressedSize", F_U32,   0, 0         },
    {"Data",             F_BYTES, 0, FIELD_REST},
};

#define QUIET(hook, name, fields) QUIET_OF(hook, 0, 255, name, fields)
#define QUIET_OF(hook, low, high, name, fields)                                                    \
    { hook, low, high, name, fields, COUNT_OF(fields), SPEC_NO_STACK, T_EVENT_DATA, NULL }
#define QUIET_NAME(hook, name)                                                                     \
    { hook, 0, 255, name, NULL, 0, SPEC_NO_STACK, T_EVENT_DATA, NULL }
static const EventSpec SESSION_SPECS[] = {
    QUIET(HOOK_LOG_HEADER, "EventTrace/Header", LOG_HEADER),
    QUIET_OF(HOOK_MASKS, 0, 1, "EventTrace/Extension", MASKS_V0),
    QUIET_OF(HOOK_MASKS, 2, 2, "EventTrace/Extension", MASKS_V2),
    QUIET_NAME(0x0008, "EventTrace/RundownComplete"),
    QUIET_OF(HOOK_MASKS_END, 0, 1, "EventTrace/EndExtension", MASKS_V0),
    QUIET_OF(HOOK_MASKS_END, 2, 2, "EventTrace/EndExtension", MASKS_V2),
    QUIET_NAME(0x0030, "EventTrace/RundownBegin"),
    QUIET_NAME(0x0031, "EventTrace/RundownEnd"),
    QUIET(0x0040, "EventTrace/DbgIdRsds", BINARY_RSDS),
    QUIET_NAME(0x0041, "EventTrace/DbgIdNb10"),
    QUIET(0x0042, "EventTrace/BuildLab", BUILD_LAB),
    QUIET(0x0043, "EventTrace/BinaryPath", BINARY_PATH),
    QUIET(0x0050, "EventTrace/PartitionInfo", PARTITION),
    QUIET(0x0052, "EventTrace/LastDroppedTimes", LAST_DROPPED),
    SPEC_RAW(0x0A20, 0, 255, "DbgPrint/Print", DEBUG_PRINT),
    QUIET(0x2100, "ImageId/Image", IMAGE_ID),
    QUIET(0x2120, "ImageId/DbgIdNone", NO_DEBUG_DATA),
    QUIET(0x2122, "ImageId/DbgIdMisc", DBG_FILE),
    QUIET(0x2124, "ImageId/DbgIdRsds", RSDS),
    QUIET(0x2125, "ImageId/DbgIdIlRsds", RSDS),
    QUIET(0x2126, "ImageId/DebugDirectory", DEBUG_DIRECTORY),
    QUIET(0x2127, "ImageId/DbgIdPortablePdb", PORTABLE_PDB),
    QUIET(0x2128, "ImageId/Deterministic", NO_DEBUG_DATA),
    QUIET(0x2129, "ImageId/Error", ID_ERROR),
    QUIET(0x2140, "ImageId/FileVersion", FILE_VERSION),
    QUIET_NAME(0x2220, "EventMetadata/EventInfo"),
    QUIET_NAME(0x2221, "EventMetadata/EventMapInfo"),
    QUIET_NAME(0x2320, "LostEvents/Event"),
    QUIET_NAME(0x2321, "LostEvents/Buffer"),
    QUIET_NAME(0x2322, "LostEvents/File"),
    QUIET(0x2421, "WinSat/Assessment", ASSESSMENT),
    QUIET(0x2423, "WinSat/Metrics", ASSESSMENT),
    QUIET(0x2425, "WinSat/SystemConfig", ASSESSMENT),
    QUIET_NAME(0x2521, "Scenario/Metadata1"),
    QUIET_NAME(0x2522, "Scenario/Metadata2"),
};
const SpecFamily FAMILY_SESSION = {SESSION_SPECS, COUNT_OF(SESSION_SPECS), NULL};
