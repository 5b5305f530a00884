// Kernel events (docs/formats/etl.md, section 4 and its appendices) as a table of records: a name,
// a hook, and the fields of the payload with the versions that have them. The script verbs and the
// functions at the end write through the same table, so adding an event is adding a row.
#ifndef SUPPORT_ETL_BUILD_KERNEL_H
#define SUPPORT_ETL_BUILD_KERNEL_H

#include "support/etl_build.h"
#include "support/etl_build_pay.h"

typedef enum BuildType {
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_PTR,
    T_AT,   // i64 raw clock; a time in scripts
    T_SPAN, // u64 ticks; a duration in scripts
    T_WSTR,
    T_ASTR,
    T_SID, // kernel form (4.3)
    T_GUID,
    T_PORT,    // big-endian u16: the port of an endpoint "address:port"
    T_IP,      // 4 or 16 bytes: its address
    T_WCHARS,  // fixed array of `n` UTF-16 units
    T_PTRS,    // list; text holds u64 values
    T_U32S,    // list; text holds u64 values
    T_WSTRS,   // list separated by '|'
    T_COUNT,   // u32 number of elements of the next field
    T_OR,      // or'ed into the byte before, shifted by `n`
    T_TAG,     // four characters
    T_ZEROS,   // `n` bytes
    T_ZEROS64, // the same in 64-bit events only
    T_TYPES,
} BuildType;

typedef struct BuildName {
    const char *name;
    uint64_t value;
} BuildName;

typedef struct BuildField {
    const char *key; // of scripts; NULL for bytes without meaning
    BuildType type;
    uint8_t since, until; // versions that have it; until 0: all later ones
    uint16_t n;
    const char *fallback;   // text when a script does not say; NULL: zero or empty
    const BuildName *names; // ended by NULL; a script may join them with '|'
} BuildField;

typedef struct BuildRecord {
    const char *verb; // "disk read"
    uint16_t hook;
    EtlBuildHeader header; // the kernel's usual choice
    uint8_t version_min, version_max;
    uint32_t os_build; // first Windows build that writes it
    const BuildField *fields;
    size_t count;
    const char *stack_tid;  // key of the thread whose stack belongs to it; NULL: the logging thread
    const char *class_guid; // FULL headers: the class; `hook` is then the opcode
} BuildRecord;

typedef struct BuildValue { // of one field, in the table's order
    uint64_t number;
    Str text;
} BuildValue;

enum { BUILD_FIELDS_MAX = 40, BUILD_ANY_VERSION = -1 };

// All records, newest version first within a verb.
const BuildRecord *etl_build_records(size_t *count);
// The record for a version, or what the given Windows build writes (BUILD_ANY_VERSION). NULL when
// there is none.
const BuildRecord *etl_build_record(Str verb, int version, uint32_t os_build);
bool build_field_in(const BuildField *field, unsigned version);
// Appends the payload. False when a text value is malformed (a SID, an address).
bool etl_build_fields(Pay *pay, unsigned pointer_size, const BuildRecord *record, unsigned version,
                      const BuildValue *values);
// Writes one event: payload from `values`, everything else from `when` (cpu, ticks, tid, pid).
void etl_build_put(EtlBuild *build, const BuildRecord *record, unsigned version,
                   const EtlBuildEvent *when, const BuildValue *values);

// The hook of an event: 0x10 more for TCP and UDP with IPv6 addresses.
uint16_t etl_build_hook(const BuildRecord *record, const BuildValue *values);

// Direct functions for what occurs in millions, and for what a generated trace needs first. Each
// takes the same layout rows as scripts do; records are looked up once, by etl_kernel_init.
typedef enum KernelEvent {
    K_PROCESS_START,
    K_PROCESS_END,
    K_PROCESS_RUNDOWN,
    K_PROCESS_RUNDOWN_END,
    K_THREAD_START,
    K_THREAD_END,
    K_THREAD_RUNDOWN,
    K_THREAD_RUNDOWN_END,
    K_IMAGE_LOAD,
    K_IMAGE_UNLOAD,
    K_IMAGE_RUNDOWN,
    K_IMAGE_RUNDOWN_END,
    K_IMAGE_PDB,
    K_SAMPLE,
    K_INTERVAL_START,
    K_CSWITCH,
    K_READY,
    K_DPC,
    K_ISR,
    K_STACK_WALK,
    K_STACK_KERNEL,
    K_STACK_USER,
    K_STACK_RUNDOWN,
    K_DISK_READ,
    K_DISK_WRITE,
    K_DISK_READ_INIT,
    K_DISK_WRITE_INIT,
    K_FILE_NAME_CREATE,
    K_FILE_RUNDOWN,
    K_FAULT_HARD,
    K_VIRTUAL_ALLOC,
    K_VIRTUAL_FREE,
    K_TCP_SEND,
    K_TCP_RECV,
    K_UDP_SEND,
    K_UDP_RECV,
    K_EVENTS
} KernelEvent;

typedef struct EtlKernel {
    EtlBuild *build;
    const BuildRecord *records[K_EVENTS];
    // Which argument of its function a field gets, plus one: found at an event's first use.
    bool bound[K_EVENTS];
    uint8_t argument[K_EVENTS][BUILD_FIELDS_MAX];
} EtlKernel;

typedef struct EtlAt { // when and where an event is logged
    int64_t ticks;
    uint16_t cpu;
    uint32_t tid, pid; // of the logging thread, where the header has them
} EtlAt;

typedef struct EtlProcess {
    uint64_t key;
    uint32_t pid, parent, session;
    int32_t exit_status; // 259 while running
    Str sid, name, command;
} EtlProcess;

typedef struct EtlThread {
    uint32_t pid, tid;
    uint64_t entry; // start address in user mode
    uint32_t service_tag;
    uint8_t priority;
    Str name;
} EtlThread;

typedef struct EtlImage {
    uint64_t base, size;
    uint32_t pid, timestamp;
    Str path; // NT path
} EtlImage;

typedef struct EtlSwitch {
    uint32_t new_tid, old_tid;
    uint8_t new_priority, old_priority, old_reason, old_state;
    uint32_t new_wait_clock_ticks;
} EtlSwitch;

typedef struct EtlTransfer { // disk
    uint32_t disk, bytes, irp_flags, tid;
    uint64_t offset, file_key, irp;
    uint64_t response_ticks;
} EtlTransfer;

typedef struct EtlNet {
    uint32_t pid, bytes;
    Str local, remote; // "10.0.0.1:80"
} EtlNet;

EtlKernel etl_kernel_init(EtlBuild *build);
void etl_kernel_process(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlProcess *process);
void etl_kernel_thread(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlThread *thread);
void etl_kernel_image(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlImage *image);
void etl_kernel_pdb(EtlKernel *kernel, EtlAt at, const EtlImage *image, const char *guid,
                    uint32_t age, Str pdb);
void etl_kernel_interval(EtlKernel *kernel, EtlAt at, uint32_t interval_100ns);
void etl_kernel_sample(EtlKernel *kernel, EtlAt at, uint64_t ip, uint32_t tid, uint8_t flags);
void etl_kernel_switch(EtlKernel *kernel, EtlAt at, const EtlSwitch *change);
void etl_kernel_ready(EtlKernel *kernel, EtlAt at, uint32_t tid);
// K_DPC or K_ISR; `at` is its end.
void etl_kernel_interrupt(EtlKernel *kernel, KernelEvent event, EtlAt at, int64_t start_ticks,
                          uint64_t routine);
// `at.tid` and `at.pid` are the stack's thread; event_ticks the time of the event it belongs to.
void etl_kernel_stack(EtlKernel *kernel, EtlAt at, int64_t event_ticks, const uint64_t *frames,
                      size_t count);
// K_STACK_KERNEL or K_STACK_USER: a reference to a key.
void etl_kernel_stack_key(EtlKernel *kernel, KernelEvent event, EtlAt at, int64_t event_ticks,
                          uint64_t key);
void etl_kernel_stack_define(EtlKernel *kernel, EtlAt at, uint64_t key, const uint64_t *frames,
                             size_t count);
void etl_kernel_disk(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlTransfer *transfer);
void etl_kernel_disk_init(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t irp,
                          uint32_t tid);
void etl_kernel_file_name(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t key, Str name);
void etl_kernel_hard_fault(EtlKernel *kernel, EtlAt at, int64_t start_ticks,
                           const EtlTransfer *transfer, uint64_t address);
void etl_kernel_virtual(EtlKernel *kernel, KernelEvent event, EtlAt at, uint64_t base,
                        uint64_t size, uint32_t pid);
void etl_kernel_net(EtlKernel *kernel, KernelEvent event, EtlAt at, const EtlNet *net);

#endif
