// Inside of the world, shared by the files that build its parts.
#ifndef DECODE_WORLD_INTERNAL_H
#define DECODE_WORLD_INTERNAL_H

#include "base/map.h"
#include "decode/survey.h"

// One life of a process, thread or image. `start` INT64_MIN: before the trace; `end` INT64_MAX:
// after it. Lives of one key stand together, in time order.
typedef struct Life {
    uint64_t key;
    int64_t start, end;
    int64_t seen; // time of its first record
    const char *origin;
} Life;

typedef struct Process {
    Life life; // key: pid
    uint32_t pid, parent_pid, parent_upid;
    bool has_session, has_exit, has_flags;
    int32_t session, exit_status;
    uint64_t unique_key, table_base;
    uint32_t flags;
    Str name, command_line, sid, package, application;
    // Its images by base, and the moments at which one address range changes its owner.
    uint32_t *images; // image ids
    uint32_t image_count;
    int64_t *changes;
    uint32_t change_count;
} Process;

typedef struct WorldThread {
    Life life; // key: tid
    uint32_t tid, pid, upid;
    uint64_t start_address, teb, stack_base, stack_limit, user_base, user_limit, affinity;
    uint32_t tag;
    bool has_details, has_priorities;
    uint8_t base_priority, page_priority, io_priority;
    Str name;
} WorldThread;

typedef struct Image {
    Life life; // key: index of its (pid, base) pair
    uint32_t pid, upid, module_id;
    uint64_t base, size, default_base;
    uint32_t checksum, time_stamp;
    bool has_details, has_signature, has_pdb, has_time_stamp;
    uint8_t signature_level, signature_type;
    Str nt_path, path, name;
    Guid pdb_guid;
    uint32_t pdb_age;
    Str pdb_name, original_name, file_version, product_version, description, company;
} Image;

typedef struct Method {
    uint32_t upid;
    uint32_t pid;
    int64_t start, end;
    uint64_t base;
    uint32_t size;
    uint64_t module_key;
    Str name, signature, module_name;
    const char *kind;
} Method;

typedef struct FileNameEntry {
    uint64_t key;
    int64_t ticks;
    uint64_t seq;
    bool names_before; // rundown or delete: valid before its time
    Str path;
} FileNameEntry;

typedef struct StackEntry { // of one event
    int64_t ticks;
    uint32_t stack_id;
    uint32_t tid;
    uint16_t cpu; // of the kernel part
    bool has_kernel_part;
} StackEntry;

typedef struct InlineEntry {
    uint64_t seq;
    uint32_t stack_id;
} InlineEntry;

typedef struct StackNode {
    uint32_t parent;
    uint32_t depth;
    uint64_t frame;
} StackNode;

typedef struct Interval {
    int64_t from;
    uint32_t units_100ns;
} Interval;

typedef struct VolumeMap {
    Str nt, dos;
} VolumeMap;

struct World {
    const EtlHeader *header;
    Survey survey;
    Arena arena;
    Kept *kept_by_group; // sorted by (group, ticks, seq)
    uint64_t *kept_groups;
    VEC(Process) processes; // upid - 1
    VEC(WorldThread) threads;
    VEC(Image) images;
    VEC(Method) methods;
    VEC(uint32_t) method_order;        // indices by (upid, base)
    Map process_by_pid, thread_by_tid; // to the index of the first life
    uint32_t kernel_upid_images;       // index + 1 of the pseudo process that owns kernel images
    Process kernel;                    // images of the kernel
    VEC(FileNameEntry) files;
    VEC(Interval) intervals;
    VEC(VolumeMap) volumes;
    Str windows_folder;
    VEC(StackNode) nodes; // stack_id - 1
    VEC(StackEntry) stacks;
    _Atomic uint8_t *claimed; // one per entry of `stacks`
    VEC(InlineEntry) inline_stacks;
    uint64_t unresolved_keys, key_references;
    uint32_t *running_at_start; // per buffer
    uint32_t masks[8];
    bool has_masks;
    uint32_t kernel_event_version;
};

void world_build_processes(World *world);
void world_build_threads(World *world);
void world_build_images(World *world);
void world_build_files(World *world);
void world_build_methods(World *world);
void world_build_stacks(World *world);

// Index of the life in lives[first..] of one key that was there at `ticks` (see world_process).
// `at` gives the life of an index. Returns `first` when none had begun.
typedef const Life *(*LifeAt)(const World *world, size_t index);
size_t world_life_at(const World *world, LifeAt at, size_t first, size_t count, int64_t ticks);

// Epoch of a process's address space: how many of its changes lie at or before `ticks`.
uint32_t process_epoch(const Process *process, int64_t ticks);
const Process *world_space(const World *world, uint32_t upid, uint64_t address);
uint64_t method_frame(const World *world, uint32_t upid, uint64_t address, int64_t ticks);

// The frame_id scheme (world.h): low half rva, bit 31 of it set for return addresses, high half
// image id or METHOD_BIT | method index + 1; bit 63: no image, the rest is the address.
#define FRAME_RETURN ((uint64_t)1 << 31)
#define FRAME_RAW ((uint64_t)1 << 63)
#define METHOD_BIT ((uint64_t)1 << 62)

#endif
