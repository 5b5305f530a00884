// The loader and bound modules (groups 14 and 13). Kept raw with their fields.
#include "decode/kernel/families.h"

static const Field LDR_RELOCATE_IMAGE[] = {
    {"BaseAddress", F_HEX64, 0, 0},
};
static const Field LDR_FIND_DLL[] = {
    {"BaseAddress", F_HEX64, 0, 0},
    {"ErrorOpcode", F_U8,    0, 0},
    {"Code",        F_I8,    0, 0},
    {"String",      F_WSTR,  0, 0},
};
static const Field LDR_NEW_DLL_LOAD[] = {
    {"NewDllBaseAddress",    F_PTR,  0, 0},
    {"ParentDllBaseAddress", F_PTR,  0, 0},
    {"LoadReason",           F_U32,  0, 0},
    {"FilePath",             F_WSTR, 0, 0},
};
static const Field LDR_EXTERNAL_PATH[] = {
    {"BaseAddress", F_HEX64, 0, 0},
    {"ErrorOpcode", F_U8,    0, 0},
    {"Code",        F_I8,    0, 0},
    {"String1",     F_WSTR,  0, 0},
    {"String2",     F_WSTR,  0, 0},
};
static const Field LDR_SEARCH_SECURITY[] = {
    {"LdrLoadFlags",   F_HEX32, 0, 0},
    {"LdrSearchFlags", F_HEX32, 0, 0},
    {"SearchInfo",     F_U32,   0, 0},
    {"LoadReason",     F_U32,   0, 0},
    {"FullDllName",    F_WSTR,  0, 0},
};
static const Field LDR_SEARCH_PATH_SECURITY[] = {
    {"SearchInfo", F_U32,  0, 0},
    {"Cwd",        F_WSTR, 0, 0},
    {"AppDir",     F_WSTR, 0, 0},
    {"DllDir",     F_WSTR, 0, 0},
    {"DllLoadDir", F_WSTR, 0, 0},
};

static const EventSpec LOADER_SPECS[] = {
    SPEC_NAME(0x1420, "Image/Relocation"),
    SPEC_NAME(0x1480, "Image/LdrLockAcquireAttempt"),
    SPEC_NAME(0x1481, "Image/LdrLockAcquireSuccess"),
    SPEC_NAME(0x1482, "Image/LdrLockAcquireFail"),
    SPEC_NAME(0x1483, "Image/LdrLockAcquireWait"),
    SPEC_NAME(0x1484, "Image/LdrProcInitDone"),
    SPEC_NAME(0x1485, "Image/LdrCreateSection"),
    SPEC_NAME(0x1486, "Image/LdrSectionCreated"),
    SPEC_NAME(0x1487, "Image/LdrMapView"),
    SPEC_RAW(0x1490, 2, 2, "Image/LdrRelocateImage", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1491, 2, 2, "Image/LdrImageRelocated", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1492, 2, 2, "Image/LdrHandleOldDescriptors", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1493, 2, 2, "Image/LdrOldDescriptorsHandled", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1494, 2, 2, "Image/LdrHandleNewDescriptors", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1495, 2, 2, "Image/LdrNewDescriptorsHandled", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x1496, 2, 2, "Image/LdrDllMainExit", LDR_RELOCATE_IMAGE),
    SPEC_RAW(0x14A0, 2, 2, "Image/LdrFindDll", LDR_FIND_DLL),
    SPEC_RAW(0x14A1, 2, 2, "Image/LdrViewMapped", LDR_FIND_DLL),
    SPEC_RAW(0x14A2, 2, 2, "Image/LdrLockRelease", LDR_FIND_DLL),
    SPEC_RAW(0x14A3, 2, 2, "Image/LdrDllMainEnter", LDR_FIND_DLL),
    SPEC_RAW(0x14A4, 2, 2, "Image/LdrError", LDR_FIND_DLL),
    SPEC_RAW(0x14A5, 3, 3, "Image/LdrViewMapping", LDR_FIND_DLL),
    SPEC_RAW(0x14A6, 3, 3, "Image/LdrSnapping", LDR_FIND_DLL),
    SPEC_RAW(0x14A7, 3, 3, "Image/LdrSnapped", LDR_FIND_DLL),
    SPEC_RAW(0x14A8, 3, 3, "Image/LdrLoading", LDR_FIND_DLL),
    SPEC_RAW(0x14A9, 3, 3, "Image/LdrLoaded", LDR_FIND_DLL),
    SPEC_RAW(0x14AA, 3, 3, "Image/LdrFoundKnownDll", LDR_FIND_DLL),
    SPEC_RAW(0x14AB, 3, 3, "Image/LdrAbnormal", LDR_FIND_DLL),
    SPEC_RAW(0x14AC, 3, 3, "Image/LdrPlaceholder", LDR_FIND_DLL),
    SPEC_RAW(0x14AD, 3, 3, "Image/LdrReadyToInit", LDR_FIND_DLL),
    SPEC_RAW(0x14AE, 3, 3, "Image/LdrReadyToRun", LDR_FIND_DLL),
    SPEC_RAW(0x14B0, 3, 3, "Image/LdrNewDllLoad", LDR_NEW_DLL_LOAD),
    SPEC_RAW(0x14B1, 3, 3, "Image/LdrNewDllAsData", LDR_NEW_DLL_LOAD),
    SPEC_RAW(0x14C0, 3, 3, "Image/LdrExternalPath", LDR_EXTERNAL_PATH),
    SPEC_RAW(0x14C1, 3, 3, "Image/LdrGeneratedPath", LDR_EXTERNAL_PATH),
    SPEC_RAW(0x14D0, 3, 3, "Image/LdrApisetResolving", LDR_FIND_DLL),
    SPEC_RAW(0x14D1, 3, 3, "Image/LdrApisetHosted", LDR_FIND_DLL),
    SPEC_RAW(0x14D2, 3, 3, "Image/LdrApisetUnhosted", LDR_FIND_DLL),
    SPEC_RAW(0x14D3, 3, 3, "Image/LdrApisetUnresolved", LDR_FIND_DLL),
    SPEC_RAW(0x14D4, 3, 3, "Image/LdrSearchSecurity", LDR_SEARCH_SECURITY),
    SPEC_RAW(0x14D5, 3, 3, "Image/LdrSearchPathSecurity", LDR_SEARCH_PATH_SECURITY),
    SPEC_NAME(0x1318, "ModuleBound/CowHeader"),
    SPEC_NAME(0x1319, "ModuleBound/CowBlob"),
    SPEC_NAME(0x131A, "ModuleBound/CowBlobClosed"),
    SPEC_NAME(0x1320, "ModuleBound/Entry"),
    SPEC_NAME(0x1321, "ModuleBound/Jump"),
    SPEC_NAME(0x1322, "ModuleBound/Return"),
    SPEC_NAME(0x1323, "ModuleBound/Call"),
    SPEC_NAME(0x1324, "ModuleBound/CallReturn"),
    SPEC_NAME(0x1325, "ModuleBound/Int2E"),
    SPEC_NAME(0x1326, "ModuleBound/Int2B"),
    SPEC_NAME(0x1327, "ModuleBound/FullTrace"),
};
const SpecFamily FAMILY_LOADER = {LOADER_SPECS, COUNT_OF(LOADER_SPECS), NULL};
