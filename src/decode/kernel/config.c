// Configuration of the machine: SystemConfig events (group 0B) and the SysConfig class that tools
// add when they merge traces. Their rows are made once, over all records: config_rows.c.
#include "decode/kernel/config.h"

#include "decode/kernel/families.h"
#include "decode/tables.h"

static const ColumnDef CPU_COLUMNS[] = {
    {"cpu",             COL_U16,  "Processor index, as in cpu columns"},
    {"group_number",    COL_U32,  "Processor group"                   },
    {"number_in_group", COL_U32,  "Number in its group"               },
    {"numa_node",       COL_U32,  "NUMA node"                         },
    {"mhz",             COL_U32,  "Nominal speed"                     },
    {"name",            COL_TEXT, "Marketing name"                    },
    {"vendor",          COL_TEXT, "Vendor id"                         },
    {"identifier",      COL_TEXT, "Family, model, stepping"           },
    {"features",        COL_U32,  "Feature bits"                      },
};

const TableDef TABLE_CPU = {"cpu", "One logical processor", CPU_COLUMNS, COUNT_OF(CPU_COLUMNS)};

static const ColumnDef NIC_COLUMNS[] = {
    {"description", COL_TEXT, "Adapter name"        },
    {"mac",         COL_TEXT, "Physical address"    },
    {"ipv4_index",  COL_U32,  "IPv4 interface index"},
    {"ipv6_index",  COL_U32,  "IPv6 interface index"},
    {"addresses",   COL_TEXT, "IP addresses"        },
    {"dns",         COL_TEXT, "DNS servers"         },
};

const TableDef TABLE_NIC = {"nic", "One network adapter", NIC_COLUMNS, COUNT_OF(NIC_COLUMNS)};

static const ColumnDef DISK_COLUMNS[] = {
    {"disk",             COL_U32,  "Disk number"            },
    {"manufacturer",     COL_TEXT, "Model"                  },
    {"size_bytes",       COL_U64,  "Size, from the geometry"},
    {"bytes_per_sector", COL_U32,  "Sector size"            },
    {"partitions",       COL_U32,  "Partitions"             },
    {"write_cache",      COL_BOOL, "Write cache enabled"    },
    {"boot_letter",      COL_TEXT, "Boot drive letter"      },
};

const TableDef TABLE_DISK = {"disk", "One physical disk", DISK_COLUMNS, COUNT_OF(DISK_COLUMNS)};

static const ColumnDef VOLUME_COLUMNS[] = {
    {"letter",              COL_TEXT, "Drive letter"                   },
    {"nt_path",             COL_TEXT, "NT device path"                 },
    {"disk",                COL_U32,  "Disk number"                    },
    {"partition",           COL_U32,  "Partition number"               },
    {"drive_type",          COL_U32,  "1 partition, 2 volume, 4 extent"},
    {"start_offset",        COL_U64,  "Byte offset on the disk"        },
    {"size_bytes",          COL_U64,  "Size"                           },
    {"free_bytes",          COL_U64,  "Free space"                     },
    {"total_bytes",         COL_U64,  "Space of the file system"       },
    {"file_system",         COL_TEXT, "File system"                    },
    {"bytes_per_sector",    COL_U32,  "Sector size"                    },
    {"sectors_per_cluster", COL_U32,  "Cluster size in sectors"        },
};

const TableDef TABLE_VOLUME = {"volume", "One partition or volume", VOLUME_COLUMNS,
                               COUNT_OF(VOLUME_COLUMNS)};

static const ColumnDef SERVICE_COLUMNS[] = {
    {"pid",              COL_U32,  "Process id"                            },
    {"state",            COL_U32,  "State"                                 },
    {"sub_process_tag",  COL_U32,  "Tag of its threads in a shared process"},
    {"name",             COL_TEXT, "Service name"                          },
    {"display_name",     COL_TEXT, "Display name"                          },
    {"process_name",     COL_TEXT, "Process name"                          },
    {"load_order_group", COL_TEXT, "Load order group"                      },
    {"svchost_group",    COL_TEXT, "Service host group"                    },
};

const TableDef TABLE_SERVICE = {"service", "One Windows service", SERVICE_COLUMNS,
                                COUNT_OF(SERVICE_COLUMNS)};

static const ColumnDef DEVICE_COLUMNS[] = {
    {"class_guid",    COL_GUID, "Device class"          },
    {"device_id",     COL_TEXT, "Device id"             },
    {"description",   COL_TEXT, "Description"           },
    {"friendly_name", COL_TEXT, "Friendly name"         },
    {"pdo_name",      COL_TEXT, "Physical device object"},
    {"service",       COL_TEXT, "Driver service"        },
    {"status",        COL_U32,  "Status"                },
    {"problem",       COL_U32,  "Problem code"          },
    {"upper_filters", COL_TEXT, "Upper filters"         },
    {"lower_filters", COL_TEXT, "Lower filters"         },
};

const TableDef TABLE_DEVICE = {"device", "One Plug and Play device", DEVICE_COLUMNS,
                               COUNT_OF(DEVICE_COLUMNS)};

static const ColumnDef CONFIG_COLUMNS[] = {
    {"section", COL_TEXT, "platform, power, irq, network, boot, virtualization, video ..."},
    {"item",    COL_U32,  "Number of the record in its section, from 0"                   },
    {"name",    COL_TEXT, "Name of the fact"                                              },
    {"value",   COL_TEXT, "Value"                                                         },
};

const TableDef TABLE_CONFIG = {"config", "One further fact about the machine", CONFIG_COLUMNS,
                               COUNT_OF(CONFIG_COLUMNS)};

// ---------------------------------------------------------------- layouts

#define CPU_HEAD(domain)                                                                           \
    {"MHz", F_U32, CPU_MHZ, 0}, {"NumberOfProcessors", F_U32, CPU_COUNT, 0},                       \
        {"MemSize", F_U32, 0, 0}, {"PageSize", F_U32, 0, 0},                                       \
        {"AllocationGranularity", F_U32, 0, 0}, {"ComputerName", F_WCHARS, 0, 256},                \
        {"DomainName", F_WCHARS, 0, domain}, {                                                     \
        "HyperThreadingFlag", F_PTR, 0, 0                                                          \
    }
static const Field CPU_V0[] = {CPU_HEAD(132)};
static const Field CPU_V2[] = {CPU_HEAD(134)};
static const Field CPU_V3[] = {
    CPU_HEAD(134),
    {"HighestUserAddress",    F_PTR, 0, 0},
    {"ProcessorArchitecture", F_U16, 0, 0},
    {"ProcessorLevel",        F_U16, 0, 0},
    {"ProcessorRevision",     F_U16, 0, 0},
    {"PaeEnabled",            F_U8,  0, 0},
    {"NxEnabled",             F_U8,  0, 0},
    {"MemorySpeed",           F_U32, 0, 0},
};

static const Field DISK[] = {
    {"DiskNumber",        F_U32,    D_NUMBER,     0  },
    {"BytesPerSector",    F_U32,    D_SECTOR,     0  },
    {"SectorsPerTrack",   F_U32,    D_SECTORS,    0  },
    {"TracksPerCylinder", F_U32,    D_TRACKS,     0  },
    {"Cylinders",         F_U64,    D_CYLINDERS,  0  },
    {"SCSIPort",          F_U32,    0,            0  },
    {"SCSIPath",          F_U32,    0,            0  },
    {"SCSITarget",        F_U32,    0,            0  },
    {"SCSILun",           F_U32,    0,            0  },
    {"Manufacturer",      F_WCHARS, D_MAKER,      256},
    {"PartitionCount",    F_U32,    D_PARTITIONS, 0  },
    {"WriteCacheEnabled", F_U8,     D_CACHE,      0  },
    {"Pad",               F_U8,     0,            0  },
    {"BootDriveLetter",   F_WCHARS, D_LETTER,     3  },
    {"Spare",             F_WCHARS, 0,            2  },
};

#define VOLUME_FIELDS                                                                              \
    {"StartOffset", F_U64, V_START, 0}, {"PartitionSize", F_U64, V_SIZE, 0},                       \
        {"DiskNumber", F_U32, V_DISK, 0}, {"Size", F_U32, 0, 0}, {"DriveType", F_U32, V_TYPE, 0},  \
        {"DriveLetterString", F_WCHARS, V_LETTER, 4}, {"Pad1", F_U32, 0, 0},                       \
        {"PartitionNumber", F_U32, V_PARTITION, 0}, {"SectorsPerCluster", F_U32, V_CLUSTER, 0},    \
        {"BytesPerSector", F_U32, V_SECTOR, 0}, {"Pad2", F_U32, 0, 0},                             \
        {"NumberOfFreeClusters", F_I64, V_FREE, 0}, {"TotalNumberOfClusters", F_I64, V_TOTAL, 0},  \
        {"FileSystem", F_WCHARS, V_FILE_SYSTEM, 16}, {                                             \
        "VolumeExt", F_U32, 0, 0                                                                   \
    }
static const Field VOLUME_V0[] = {VOLUME_FIELDS};
static const Field VOLUME_V2[] = {
    VOLUME_FIELDS,
    {"Pad3", F_U32, 0, 0},
};

static const Field NIC_V0[] = {
    {"NICName",             F_WCHARS, NIC_NAME,      256},
    {"Index",               F_U32,    NIC_V4,        0  },
    {"PhysicalAddrLen",     F_U32,    NIC_MAC_BYTES, 0  },
    {"PhysicalAddr",        F_BYTES,  NIC_MAC,       16 },
    {"Size",                F_U32,    0,             0  },
    {"IpAddress",           F_IP4,    NIC_ADDRESSES, 0  },
    {"SubnetMask",          F_IP4,    0,             0  },
    {"DhcpServer",          F_IP4,    0,             0  },
    {"Gateway",             F_IP4,    0,             0  },
    {"PrimaryWinsServer",   F_IP4,    0,             0  },
    {"SecondaryWinsServer", F_IP4,    0,             0  },
    {"DnsServer1",          F_IP4,    NIC_DNS,       0  },
    {"DnsServer2",          F_IP4,    0,             0  },
    {"DnsServer3",          F_IP4,    0,             0  },
    {"DnsServer4",          F_IP4,    0,             0  },
    {"Data",                F_U32,    0,             0  },
};
static const Field NIC_V2[] = {
    {"PhysicalAddr",       F_BYTES, NIC_MAC,       8},
    {"PhysicalAddrLen",    F_U32,   NIC_MAC_BYTES, 0},
    {"Ipv4Index",          F_U32,   NIC_V4,        0},
    {"Ipv6Index",          F_U32,   NIC_V6,        0},
    {"NICDescription",     F_WSTR,  NIC_NAME,      0},
    {"IpAddresses",        F_WSTR,  NIC_ADDRESSES, 0},
    {"DnsServerAddresses", F_WSTR,  NIC_DNS,       0},
};

static const Field VIDEO[] = {
    {"MemorySize",    F_U32,    0, 0  },
    {"XResolution",   F_U32,    0, 0  },
    {"YResolution",   F_U32,    0, 0  },
    {"BitsPerPixel",  F_U32,    0, 0  },
    {"VRefresh",      F_U32,    0, 0  },
    {"ChipType",      F_WCHARS, 0, 256},
    {"DACType",       F_WCHARS, 0, 256},
    {"AdapterString", F_WCHARS, 0, 256},
    {"BiosString",    F_WCHARS, 0, 256},
    {"DeviceId",      F_WCHARS, 0, 256},
    {"StateFlags",    F_HEX32,  0, 0  },
};

static const Field SERVICE_V0[] = {
    {"ServiceName", F_WCHARS, S_NAME,    34 },
    {"DisplayName", F_WCHARS, S_DISPLAY, 256},
    {"ProcessName", F_WCHARS, S_PROCESS, 34 },
    {"ProcessId",   F_U32,    S_PID,     0  },
};
#define SERVICE_V2_FIELDS                                                                          \
    {"ProcessId", F_U32, S_PID, 0}, {"ServiceState", F_U32, S_STATE, 0},                           \
        {"SubProcessTag", F_U32, S_TAG, 0}, {"ServiceName", F_WSTR, S_NAME, 0},                    \
        {"DisplayName", F_WSTR, S_DISPLAY, 0}, {                                                   \
        "ProcessName", F_WSTR, S_PROCESS, 0                                                        \
    }
static const Field SERVICE_V2[] = {SERVICE_V2_FIELDS};
static const Field SERVICE_V3[] = {
    SERVICE_V2_FIELDS,
    {"LoadOrderGroup", F_WSTR, S_GROUP, 0},
    {"SvchostGroup",   F_WSTR, S_HOST,  0},
};

static const Field POWER[] = {
    {"S1",   F_U8, 0, 0},
    {"S2",   F_U8, 0, 0},
    {"S3",   F_U8, 0, 0},
    {"S4",   F_U8, 0, 0},
    {"S5",   F_U8, 0, 0},
    {"AoAc", F_U8, 0, 0},
    {"Pad2", F_U8, 0, 0},
    {"Pad3", F_U8, 0, 0},
};
static const Field NETWORK[] = {
    {"TcbTablePartitions", F_U32, 0, 0},
    {"MaxHashTableSize",   F_U32, 0, 0},
    {"MaxUserPort",        F_U32, 0, 0},
    {"TcpTimedWaitDelay",  F_U32, 0, 0},
};
static const Field OPTICAL[] = {
    {"DiskNumber",          F_U16,  0, 0},
    {"BusType",             F_U16,  0, 0},
    {"DeviceType",          F_U16,  0, 0},
    {"MediaType",           F_U16,  0, 0},
    {"StartingOffset",      F_U64,  0, 0},
    {"Size",                F_U64,  0, 0},
    {"NumberOfFreeBlocks",  F_U64,  0, 0},
    {"TotalNumberOfBlocks", F_U64,  0, 0},
    {"NextWritableAddress", F_U64,  0, 0},
    {"NumberOfSessions",    F_U32,  0, 0},
    {"NumberOfTracks",      F_U32,  0, 0},
    {"BytesPerSector",      F_U32,  0, 0},
    {"DiscStatus",          F_U16,  0, 0},
    {"LastSessionStatus",   F_U16,  0, 0},
    {"DriveLetter",         F_WSTR, 0, 0},
    {"FileSystemName",      F_WSTR, 0, 0},
    {"DeviceName",          F_ASTR, 0, 0},
    {"ManufacturerName",    F_ASTR, 0, 0},
};
static const Field DISK_EXTENDED[] = {
    {"DiskNumber", F_U32, 0, 0},
    {"Value",      F_U32, 0, 0}, // meaning unknown
};
static const Field IRQ_V0[] = {
    {"IRQAffinity",          F_HEX64, 0, 0},
    {"IRQNum",               F_U32,   0, 0},
    {"DeviceDescriptionLen", F_U32,   0, 0},
    {"DeviceDescription",    F_WSTR,  0, 0},
};
static const Field IRQ_V3[] = {
    {"IRQAffinity",          F_HEX64, 0, 0},
    {"IRQGroup",             F_U16,   0, 0},
    {"Reserved",             F_U16,   0, 0},
    {"IRQNum",               F_U32,   0, 0},
    {"DeviceDescriptionLen", F_U32,   0, 0},
    {"DeviceDescription",    F_WSTR,  0, 0},
};

#define DEVICE_NAMES                                                                               \
    {"DeviceID", F_WSTR, DEV_ID, 0}, {"DeviceDescription", F_WSTR, DEV_DESCRIPTION, 0}, {          \
        "FriendlyName", F_WSTR, DEV_FRIENDLY, 0                                                    \
    }
#define DEVICE_LENGTHS                                                                             \
    {"IDLength", F_U32, 0, 0}, {"DescriptionLength", F_U32, 0, 0}, {                               \
        "FriendlyNameLength", F_U32, 0, 0                                                          \
    }
#define DEVICE_COUNTS                                                                              \
    {"ClassGuid", F_GUID, DEV_CLASS, 0}, {"UpperFiltersCount", F_U32, DEV_UPPER_COUNT, 0}, {       \
        "LowerFiltersCount", F_U32, DEV_LOWER_COUNT, 0                                             \
    }
#define DEVICE_FILTERS                                                                             \
    {"PdoName", F_WSTR, DEV_PDO, 0}, {"ServiceName", F_WSTR, DEV_SERVICE, 0},                      \
        {"UpperFilters", F_WSTR, DEV_UPPER, FIELD_COUNTED | DEV_UPPER_COUNT}, {                    \
        "LowerFilters", F_WSTR, DEV_LOWER, FIELD_COUNTED | DEV_LOWER_COUNT                         \
    }
static const Field DEVICE_V0[] = {DEVICE_LENGTHS, DEVICE_NAMES};
static const Field DEVICE_V3[] = {
    DEVICE_LENGTHS,
    DEVICE_NAMES,
    {"PdoName", F_WSTR, DEV_PDO, 0},
};
static const Field DEVICE_V4[] = {DEVICE_COUNTS, DEVICE_NAMES, DEVICE_FILTERS};
static const Field DEVICE_V5[] = {
    DEVICE_COUNTS,
    {"DevStatus",  F_HEX32, DEV_STATUS,  0},
    {"DevProblem", F_U32,   DEV_PROBLEM, 0},
    DEVICE_NAMES,
    DEVICE_FILTERS,
};

static const Field IDE_CHANNEL[] = {
    {"TargetId",               F_U32,  0, 0},
    {"DeviceType",             F_U32,  0, 0},
    {"DeviceTimingMode",       F_U32,  0, 0},
    {"LocationInformationLen", F_U32,  0, 0},
    {"LocationInformation",    F_WSTR, 0, 0},
};
// A mask for each node, or (newer systems) a mask and a word with the group.
static const Field NUMA[] = {
    {"NodeCount", F_U32,   0, 0         },
    {"NodeMap",   F_HEX64, 0, FIELD_REST},
};
static const Field PLATFORM[] = {
    {"SystemManufacturer", F_WSTR, 0, 0},
    {"SystemProductName",  F_WSTR, 0, 0},
    {"BiosDate",           F_WSTR, 0, 0},
    {"BiosVersion",        F_WSTR, 0, 0},
};
enum CountSlot { C_COUNT = 1 };
static const Field GROUPS[] = {
    {"GroupCount", F_U32, C_COUNT, 0                      },
    {"Affinity",   F_PTR, 0,       FIELD_COUNTED | C_COUNT},
};
static const Field NUMBERS[] = {
    {"ProcessorCount",  F_U32,   C_COUNT, 0                      },
    {"ProcessorNumber", F_HEX32, 0,       FIELD_COUNTED | C_COUNT}, // u16 group, u8 number
};
static const Field DPI[] = {
    {"MachineDPI", F_U32, 0, 0},
    {"UserDPI",    F_U32, 0, 0},
};
static const Field CODE_INTEGRITY[] = {
    {"CodeIntegrityInfo", F_HEX32, 0, 0},
};
static const Field MACHINE_ID[] = {
    {"MachineId", F_GUID, 0, 0},
};
#define DEFRAG_64(name)                                                                            \
    { name, F_U64, 0, 0 }
#define DEFRAG_32(name)                                                                            \
    { name, F_U32, 0, 0 }
static const Field DEFRAG[] = {
    DEFRAG_64("AlignmentClusters"),
    DEFRAG_64("AvgFreeSpaceSize"),
    DEFRAG_64("ClustersPerSlab"),
    DEFRAG_64("FragmentedDirectoryExtents"),
    DEFRAG_64("FragmentedExtents"),
    DEFRAG_64("FreeSpaceCount"),
    DEFRAG_64("LargestFreeSpaceSize"),
    DEFRAG_64("LastRunActualPurgeClusters"),
    DEFRAG_64("LastRunClustersTrimmed"),
    DEFRAG_64("LastRunFullDefragTime"),
    DEFRAG_64("LastRunTime"),
    DEFRAG_64("MFTSize"),
    DEFRAG_64("TotalClusters"),
    DEFRAG_64("TotalUsedClusters"),
    DEFRAG_32("AvgFragmentsPerFile"),
    DEFRAG_32("BytesPerCluster"),
    DEFRAG_32("DirectoryCount"),
    DEFRAG_32("FragmentedDirectories"),
    DEFRAG_32("FragmentedFiles"),
    DEFRAG_32("FragmentedSpace"),
    DEFRAG_32("HardwareIssue"),
    DEFRAG_32("InUseMFTRecords"),
    DEFRAG_32("InUseSlabs"),
    DEFRAG_32("LastRunActualPurgeSlabs"),
    DEFRAG_32("LastRunInitialBackedSlabs"),
    DEFRAG_32("LastRunPercentFragmentation"),
    DEFRAG_32("LastRunPinnedSlabs"),
    DEFRAG_32("LastRunPotentialPurgeSlabs"),
    DEFRAG_32("LastRunSpaceInefficientSlabs"),
    DEFRAG_32("LastRunTrimmedSlabs"),
    DEFRAG_32("LastRunUnknownEvictFailSlabs"),
    DEFRAG_32("LastRunVolsnapPinnedSlabs"),
    DEFRAG_32("MFTFragmentCount"),
    DEFRAG_32("MovableFiles"),
    DEFRAG_32("TotalMFTRecords"),
    DEFRAG_32("TotalSlabs"),
    DEFRAG_32("UnmovableFiles"),
    {"VolumeId",        F_GUID, 0, 0},
    {"VolumePathNames", F_WSTR, 0, 0},
};
#define TEXT(name)                                                                                 \
    { name, F_WSTR, 0, 0 }
static const Field MOBILE_V2[] = {
    TEXT("BootLoaderVersion"),
    TEXT("FirmwareRevision"),
    TEXT("FriendlyName"),
    TEXT("HardwareRevision"),
    TEXT("Manufacturer"),
    TEXT("ManufacturerDisplayName"),
    TEXT("ManufacturerModelName"),
    TEXT("MobileOperatorDisplayName"),
    TEXT("MobileOperatorName"),
    TEXT("ModelName"),
    TEXT("RadioHardwareRevision"),
    TEXT("RadioSoftwareRevision"),
    TEXT("ROMVersion"),
    TEXT("SOCVersion"),
    TEXT("HardwareVariant"),
};
static const Field MOBILE_V3[] = {
    TEXT("DeviceManufacturer"),   TEXT("DeviceManufacturerDisplayName"),
    TEXT("DeviceModel"),          TEXT("DeviceModelDisplayName"),
    TEXT("MobileOperator"),       TEXT("MobileOperatorDisplayName"),
    TEXT("HardwareVersion"),      TEXT("SocVersion"),
    TEXT("RadioHardwareVersion"), TEXT("RadioSoftwareVersion"),
    TEXT("BspVersion"),           TEXT("OemSoftwareVersion"),
};
static const Field MOBILE_V4[] = {
    TEXT("DeviceManufacturer"), TEXT("DeviceManufacturerDisplayName"),
    TEXT("DeviceModel"),        TEXT("DeviceModelDisplayName"),
    TEXT("MobileOperator"),     TEXT("SocVersion"),
    TEXT("BspVersion"),
};
static const Field DEVICE_FAMILY[] = {
    {"UAPInfo",      F_HEX64, 0, 0},
    {"DeviceFamily", F_U32,   0, 0},
    {"DeviceForm",   F_U32,   0, 0},
};
static const Field FLIGHT_IDS[] = {TEXT("UpdateId"), TEXT("FlightIdList")};
static const Field PROCESSOR[] = {
    {"ProcessorIndex",      F_U32,    PR_INDEX,      0  },
    {"FeatureSet",          F_HEX32,  PR_FEATURES,   0  },
    {"ProcessorSpeed",      F_U32,    PR_MHZ,        0  },
    {"ProcessorName",       F_WCHARS, PR_NAME,       64 },
    {"ProcessorIdentifier", F_WCHARS, PR_IDENTIFIER, 128},
    {"VendorIdentifier",    F_WCHARS, PR_VENDOR,     16 },
};
static const Field VIRTUALIZATION[] = {
    {"VbsEnabled",        F_U8, 0, 0},
    {"HvciEnabled",       F_U8, 0, 0},
    {"HyperVisorEnabled", F_U8, 0, 0},
    {"Reserved",          F_U8, 0, 0},
};
static const Field BOOT[] = {
    {"BootFlags",         F_HEX64, 0, 0},
    {"FirmwareType",      F_U32,   0, 0},
    {"SecureBootEnabled", F_U8,    0, 0},
    {"SecureBootCapable", F_U8,    0, 0},
    {"Reserved1",         F_U8,    0, 0},
    {"Reserved2",         F_U8,    0, 0},
};
static const Field BUILD_INFO[] = {
    {"InstallDate", F_FILETIME, 0, 0},
    TEXT("BuildLab"),
    TEXT("ProductName"),
};
static const Field SYSTEM_PATHS[] = {TEXT("SystemDirectory"), TEXT("SystemWindowsDirectory")};
static const Field UNKNOWN_VOLUME[] = {TEXT("Value")};
static const Field MAPPING[] = {
    {"NtPath",  F_WSTR, M_NT,  0},
    {"DosPath", F_WSTR, M_DOS, 0},
};

#define CONFIG(hook, low, high, name, fields, table)                                               \
    { hook, low, high, name, fields, COUNT_OF(fields), SPEC_KEEP | SPEC_NO_STACK, table, NULL }
static const EventSpec CONFIG_SPECS[] = {
    CONFIG(HOOK_CPU, 0, 1, "SystemConfig/CPU", CPU_V0, T_CPU),
    CONFIG(HOOK_CPU, 2, 2, "SystemConfig/CPU", CPU_V2, T_CPU),
    CONFIG(HOOK_CPU, 3, 3, "SystemConfig/CPU", CPU_V3, T_CPU),
    CONFIG(HOOK_DISK, 0, 2, "SystemConfig/PhyDisk", DISK, T_DISK),
    CONFIG(HOOK_VOLUME, 0, 1, "SystemConfig/LogDisk", VOLUME_V0, T_VOLUME),
    CONFIG(HOOK_VOLUME, 2, 2, "SystemConfig/LogDisk", VOLUME_V2, T_VOLUME),
    CONFIG(HOOK_NIC, 0, 1, "SystemConfig/NIC", NIC_V0, T_NIC),
    CONFIG(HOOK_NIC, 2, 2, "SystemConfig/NIC", NIC_V2, T_NIC),
    CONFIG(0x0B0E, 0, 2, "SystemConfig/Video", VIDEO, T_CONFIG),
    CONFIG(HOOK_SERVICE, 0, 1, "SystemConfig/Services", SERVICE_V0, T_SERVICE),
    CONFIG(HOOK_SERVICE, 2, 2, "SystemConfig/Services", SERVICE_V2, T_SERVICE),
    CONFIG(HOOK_SERVICE, 3, 3, "SystemConfig/Services", SERVICE_V3, T_SERVICE),
    CONFIG(0x0B10, 0, 2, "SystemConfig/Power", POWER, T_CONFIG),
    CONFIG(0x0B11, 2, 2, "SystemConfig/Network", NETWORK, T_CONFIG),
    CONFIG(0x0B12, 2, 2, "SystemConfig/OpticalMedia", OPTICAL, T_CONFIG),
    CONFIG(0x0B13, 2, 2, "SystemConfig/PhyDiskEx", DISK_EXTENDED, T_EVENT_DATA),
    CONFIG(0x0B15, 0, 2, "SystemConfig/IRQ", IRQ_V0, T_CONFIG),
    CONFIG(0x0B15, 3, 3, "SystemConfig/IRQ", IRQ_V3, T_CONFIG),
    CONFIG(HOOK_DEVICE, 0, 2, "SystemConfig/PnP", DEVICE_V0, T_DEVICE),
    CONFIG(HOOK_DEVICE, 3, 3, "SystemConfig/PnP", DEVICE_V3, T_DEVICE),
    CONFIG(HOOK_DEVICE, 4, 4, "SystemConfig/PnP", DEVICE_V4, T_DEVICE),
    CONFIG(HOOK_DEVICE, 5, 5, "SystemConfig/PnP", DEVICE_V5, T_DEVICE),
    CONFIG(0x0B17, 2, 2, "SystemConfig/IDEChannel", IDE_CHANNEL, T_CONFIG),
    CONFIG(HOOK_NUMA, 2, 2, "SystemConfig/NumaNode", NUMA, T_CONFIG),
    CONFIG(0x0B19, 2, 2, "SystemConfig/Platform", PLATFORM, T_CONFIG),
    CONFIG(HOOK_GROUPS, 2, 2, "SystemConfig/ProcessorGroup", GROUPS, T_CONFIG),
    CONFIG(HOOK_NUMBERS, 2, 2, "SystemConfig/ProcessorNumber", NUMBERS, T_CPU),
    CONFIG(0x0B1C, 2, 2, "SystemConfig/DPI", DPI, T_CONFIG),
    CONFIG(0x0B1D, 2, 2, "SystemConfig/CodeIntegrity", CODE_INTEGRITY, T_CONFIG),
    CONFIG(0x0B1E, 2, 2, "SystemConfig/MachineId", MACHINE_ID, T_CONFIG),
    CONFIG(0x0B1F, 2, 2, "SystemConfig/DefragStatistics", DEFRAG, T_CONFIG),
    CONFIG(0x0B20, 2, 2, "SystemConfig/MobilePlatform", MOBILE_V2, T_CONFIG),
    CONFIG(0x0B20, 3, 3, "SystemConfig/MobilePlatform", MOBILE_V3, T_CONFIG),
    CONFIG(0x0B20, 4, 4, "SystemConfig/MobilePlatform", MOBILE_V4, T_CONFIG),
    CONFIG(0x0B21, 2, 2, "SystemConfig/DeviceFamily", DEVICE_FAMILY, T_CONFIG),
    CONFIG(0x0B22, 2, 2, "SystemConfig/FlightIds", FLIGHT_IDS, T_CONFIG),
    CONFIG(HOOK_PROCESSOR, 2, 2, "SystemConfig/Processor", PROCESSOR, T_CPU),
    CONFIG(0x0B24, 2, 2, "SystemConfig/Virtualization", VIRTUALIZATION, T_CONFIG),
    CONFIG(0x0B25, 2, 2, "SystemConfig/Boot", BOOT, T_CONFIG),
    CONFIG(HOOK_BUILD_INFO, 0, 255, "SysConfig/BuildInfo", BUILD_INFO, T_EVENT_DATA),
    CONFIG(0x2021, 0, 255, "SysConfig/SystemPaths", SYSTEM_PATHS, T_EVENT_DATA),
    CONFIG(0x2022, 0, 255, "SysConfig/UnknownVolume", UNKNOWN_VOLUME, T_EVENT_DATA),
    CONFIG(HOOK_VOLUME_MAPPING, 0, 255, "SysConfig/VolumeMapping", MAPPING, T_EVENT_DATA),
    {0x2024, 0, 255, "SysConfig/NetworkBinding", NULL, 0, SPEC_NO_STACK, T_EVENT_DATA, NULL},
    CONFIG(0x2025, 0, 255, "SysConfig/DeviceFamily", DEVICE_FAMILY, T_EVENT_DATA),
};
const SpecFamily FAMILY_CONFIG = {CONFIG_SPECS, COUNT_OF(CONFIG_SPECS), NULL};
