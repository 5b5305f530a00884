// Slots of the kernel events that make entities (processes, threads, images, stacks): shared by
// their family files, which lay the events out, and by the world, which reads them.
#ifndef DECODE_ENTITIES_H
#define DECODE_ENTITIES_H

#include "decode/spec.h"

enum ProcessSlot {
    P_KEY = 1,
    P_PID,
    P_PARENT,
    P_SESSION,
    P_EXIT,
    P_TABLE_BASE,
    P_FLAGS,
    P_SID,
    P_IMAGE,
    P_COMMAND,
    P_PACKAGE,
    P_APPLICATION,
    P_EXIT_TIME,
};

enum ThreadSlot {
    TH_PID = 1,
    TH_TID,
    TH_STACK_BASE,
    TH_STACK_LIMIT,
    TH_USER_BASE,
    TH_USER_LIMIT,
    TH_AFFINITY,
    TH_START,
    TH_TEB,
    TH_TAG,
    TH_BASE_PRIORITY,
    TH_PAGE_PRIORITY,
    TH_IO_PRIORITY,
    TH_NAME,
};

enum ImageSlot {
    IM_BASE = 1,
    IM_SIZE,
    IM_PID,
    IM_CHECKSUM,
    IM_TIME_STAMP,
    IM_SIGNATURE_LEVEL,
    IM_SIGNATURE_TYPE,
    IM_DEFAULT_BASE,
    IM_NAME,
};

// Kernel hooks by name (docs/formats/etl.md).
enum Hook {
    HOOK_LOG_HEADER = 0x0000,
    HOOK_MASKS = 0x0005,
    HOOK_MASKS_END = 0x0020,
    HOOK_FILE_NAME = 0x0400,
    HOOK_FILE_CREATE_NAME = 0x0420,
    HOOK_FILE_DELETE_NAME = 0x0423,
    HOOK_FILE_RUNDOWN = 0x0424,
    HOOK_PROCESS_START = 0x0301,
    HOOK_PROCESS_END = 0x0302,
    HOOK_PROCESS_DCSTART = 0x0303,
    HOOK_PROCESS_DCEND = 0x0304,
    HOOK_PROCESS_DEFUNCT = 0x0327,
    HOOK_IMAGE_LOAD = 0x030A,
    HOOK_IMAGE_UNLOAD = 0x1402,
    HOOK_IMAGE_DCSTART = 0x1403,
    HOOK_IMAGE_DCEND = 0x1404,
    HOOK_THREAD_START = 0x0501,
    HOOK_THREAD_END = 0x0502,
    HOOK_THREAD_DCSTART = 0x0503,
    HOOK_THREAD_DCEND = 0x0504,
    HOOK_THREAD_NAME = 0x0548,
    HOOK_CSWITCH = 0x0524,
    HOOK_READY_THREAD = 0x0532,
    HOOK_SAMPLE = 0x0F2E,
    HOOK_SAMPLE_CACHE = 0x0F37,
    HOOK_SAMPLE_NMI = 0x0F47,
    HOOK_INTERVAL_SET = 0x0F48,
    HOOK_INTERVAL_START = 0x0F49,
    HOOK_INTERVAL_END = 0x0F4A,
    HOOK_STACK = 0x1820,
    HOOK_STACK_KEY_CREATE = 0x1822,
    HOOK_STACK_KEY_DELETE = 0x1823,
    HOOK_STACK_KEY_RUNDOWN = 0x1824,
    HOOK_STACK_KERNEL_REF = 0x1825,
    HOOK_STACK_USER_REF = 0x1826,
};

#endif
