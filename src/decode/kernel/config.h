// Configuration of the machine: what its layouts (config.c) and its tables (config_rows.c) share.
#ifndef DECODE_KERNEL_CONFIG_H
#define DECODE_KERNEL_CONFIG_H

#include "decode/world.h"

// Writes all rows of cpu, nic, disk, volume, service, device and config; called once, when the
// world is complete.
void config_rows(const World *world, Rows *rows);

enum ConfigHook {
    HOOK_CPU = 0x0B0A,
    HOOK_DISK = 0x0B0B,
    HOOK_VOLUME = 0x0B0C,
    HOOK_NIC = 0x0B0D,
    HOOK_SERVICE = 0x0B0F,
    HOOK_DEVICE = 0x0B16,
    HOOK_NUMA = 0x0B18,
    HOOK_GROUPS = 0x0B1A,
    HOOK_NUMBERS = 0x0B1B,
    HOOK_PROCESSOR = 0x0B23,
    HOOK_BUILD_INFO = 0x2020,
    HOOK_VOLUME_MAPPING = 0x2023,
};

enum CpuSlot { CPU_MHZ = 1, CPU_COUNT };

enum DiskSlot {
    D_NUMBER = 1,
    D_SECTOR,
    D_SECTORS,
    D_TRACKS,
    D_CYLINDERS,
    D_MAKER,
    D_PARTITIONS,
    D_CACHE,
    D_LETTER,
};

enum VolumeSlot {
    V_START = 1,
    V_SIZE,
    V_DISK,
    V_TYPE,
    V_LETTER,
    V_PARTITION,
    V_CLUSTER,
    V_SECTOR,
    V_FREE,
    V_TOTAL,
    V_FILE_SYSTEM,
};

enum NicSlot { NIC_MAC = 1, NIC_MAC_BYTES, NIC_V4, NIC_V6, NIC_NAME, NIC_ADDRESSES, NIC_DNS };

enum ServiceSlot { S_PID = 1, S_STATE, S_TAG, S_NAME, S_DISPLAY, S_PROCESS, S_GROUP, S_HOST };

enum DeviceSlot {
    DEV_CLASS = 1,
    DEV_UPPER_COUNT,
    DEV_LOWER_COUNT,
    DEV_STATUS,
    DEV_PROBLEM,
    DEV_ID,
    DEV_DESCRIPTION,
    DEV_FRIENDLY,
    DEV_PDO,
    DEV_SERVICE,
    DEV_UPPER,
    DEV_LOWER,
};

enum ProcessorSlot { PR_INDEX = 1, PR_FEATURES, PR_MHZ, PR_NAME, PR_IDENTIFIER, PR_VENDOR };

enum MappingSlot { M_NT = 1, M_DOS };

#endif
