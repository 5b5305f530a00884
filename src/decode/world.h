// The world: everything that is true over the whole trace and that rows refer to - lives of
// processes and threads, images with their identity, stacks, file names, the running thread of each
// CPU. The survey (first pass) collects it; afterwards it is read-only and shared by all workers.
#ifndef DECODE_WORLD_H
#define DECODE_WORLD_H

#include "decode/note.h"

typedef struct World World;

// A copy of an event that the survey kept (SPEC_KEEP, and the classes that the world needs).
typedef struct Kept {
    int64_t ticks;
    uint64_t seq;
    EtlKind kind;
    uint32_t tid, pid; // of the header
    uint16_t cpu, hook, id;
    uint8_t version, opcode, pointer_size;
    Guid provider;
    Str payload;
} Kept;

typedef struct KeptList {
    const Kept *items; // ordered by (ticks, seq)
    size_t count;
} KeptList;

const EtlHeader *world_header(const World *world);
int64_t world_ns(const World *world, int64_t ticks); // trace-relative nanoseconds
Arena *world_arena(World *world);                    // trace lifetime; only while it is being built

// Kept kernel events of one hook (all versions), and of one classic class and opcode.
KeptList world_kept(const World *world, uint16_t hook);
KeptList world_kept_class(const World *world, const Guid *provider, uint8_t opcode);
// Notes of the survey about one key (SPEC_NOTE).
NoteList world_notes(const World *world, NoteId id, uint64_t key);
KeptList world_kept_manifest(const World *world, const Guid *provider, uint16_t id);
// A kept event in the form spec_read takes.
EtlEvent kept_event(const Kept *kept);

// Ids are 1-based; 0 means unknown. A number used twice gives two lives; times between lives go to
// the nearest.
uint32_t world_process(const World *world, uint32_t pid, int64_t ticks); // upid
uint32_t world_thread(const World *world, uint32_t tid, int64_t ticks);  // utid
uint32_t world_process_of_thread(const World *world, uint32_t utid);     // upid
uint32_t world_tid(const World *world, uint32_t utid);
uint32_t world_pid(const World *world, uint32_t upid);
Str world_process_name(const World *world, uint32_t upid); // empty: unknown
bool world_is_idle(const World *world, uint32_t utid);

bool world_is_kernel_address(const World *world, uint64_t address);
// frame_id of a code address: module << 32 | rva where an image (or JIT method) covers it at that
// time, else the address with bit 63 set. A pure function of the world; 0 for address 0.
uint64_t world_frame(const World *world, uint32_t upid, uint64_t address, int64_t ticks);

// Latest name of a file key or file object known at that time, else the first one after it; a path
// with a drive letter where the volume is known. p == NULL: unknown.
Str world_file(const World *world, uint64_t key, int64_t ticks);
// NT path to drive-letter path; the path itself when no volume maps it.
Str world_path(const World *world, Str nt_path, Arena *arena);

// Sampling interval of the timer in force, ns; *assumed when the trace does not say.
int64_t world_sample_interval_ns(const World *world, int64_t ticks, bool *assumed);

#endif
