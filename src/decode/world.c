// Building the world from the survey, and the look-ups that every row makes.
#include "decode/world_build.h"

#include "base/search.h"
#include "decode/entities.h"
#include "decode/world_internal.h"

#include <stdlib.h>

const EtlHeader *world_header(const World *world) {
    return world->header;
}

int64_t world_ns(const World *world, int64_t ticks) {
    return etl_ns_from_ticks(world->header, ticks);
}

Arena *world_arena(World *world) {
    return &world->arena;
}

// ---------------------------------------------------------------- kept events

static uint64_t group_of(const Kept *kept) {
    if (kept->kind == ETL_SYSTEM || kept->kind == ETL_PERFINFO) return kept->hook;
    uint64_t sub = kept->kind == ETL_CLASSIC ? kept->opcode : kept->id;
    return (guid_hash(&kept->provider) << 16 | sub) | (uint64_t)1 << 63;
}

typedef struct Grouped {
    uint64_t group;
    size_t index; // in survey.kept, which is ordered by (ticks, seq)
} Grouped;

static int compare_grouped(const void *a, const void *b) {
    const Grouped *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void group_kept(World *world) {
    size_t count = world->survey.kept.count;
    Grouped *order = mem_zero(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (Grouped){group_of(&world->survey.kept.items[i]), i};
    if (count) qsort(order, count, sizeof *order, compare_grouped);
    world->kept_by_group = mem_zero(count, sizeof(Kept));
    world->kept_groups = mem_zero(count, sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        world->kept_by_group[i] = world->survey.kept.items[order[i].index];
        world->kept_groups[i] = order[i].group;
    }
    mem_free(order);
    vec_free(&world->survey.kept);
    world->survey.kept.count = count;
}

static size_t lower_bound_u64(const uint64_t *items, size_t count, uint64_t key) {
    size_t at;
    FIND_FIRST(at, count, items[at] < key);
    return at;
}

static KeptList kept_group(const World *world, uint64_t group) {
    size_t count = world->survey.kept.count;
    size_t from = lower_bound_u64(world->kept_groups, count, group);
    size_t to = lower_bound_u64(world->kept_groups, count, group + 1);
    return (KeptList){world->kept_by_group + from, to - from};
}

KeptList world_kept(const World *world, uint16_t hook) {
    return kept_group(world, hook);
}

KeptList world_kept_class(const World *world, const Guid *provider, uint8_t opcode) {
    Kept key = {.kind = ETL_CLASSIC, .provider = *provider, .opcode = opcode};
    return kept_group(world, group_of(&key));
}

KeptList world_kept_manifest(const World *world, const Guid *provider, uint16_t id) {
    Kept key = {.kind = ETL_MANIFEST, .provider = *provider, .id = id};
    return kept_group(world, group_of(&key));
}

NoteList world_notes(const World *world, NoteId id, uint64_t key) {
    return note_index_list(world->survey.index, id, key);
}

EtlEvent kept_event(const Kept *kept) {
    return (EtlEvent){.kind = kept->kind,
                      .ticks = kept->ticks,
                      .tid = kept->tid,
                      .pid = kept->pid,
                      .cpu = kept->cpu,
                      .hook = kept->hook,
                      .id = kept->id,
                      .version = kept->version,
                      .opcode = kept->opcode,
                      .pointer_size = kept->pointer_size,
                      .provider = kept->provider,
                      .payload = kept->payload};
}

// ---------------------------------------------------------------- lives

size_t world_life_at(const World *world, LifeAt at, size_t first, size_t count, int64_t ticks) {
    uint64_t key = at(world, first)->key;
    size_t best = first;
    for (size_t i = first; i < count && at(world, i)->key == key; i++) {
        if (at(world, i)->start > ticks) break;
        best = i;
    }
    return best;
}

static const Life *process_life(const World *world, size_t index) {
    return &world->processes.items[index].life;
}

static const Life *thread_life(const World *world, size_t index) {
    return &world->threads.items[index].life;
}

uint32_t world_process(const World *world, uint32_t pid, int64_t ticks) {
    const uint64_t *first = map_get(&world->process_by_pid, pid);
    if (!first) return 0;
    size_t count = world->processes.count;
    return (uint32_t)world_life_at(world, process_life, (size_t)*first, count, ticks) + 1;
}

uint32_t world_thread(const World *world, uint32_t tid, int64_t ticks) {
    const uint64_t *first = map_get(&world->thread_by_tid, tid);
    if (!first) return 0;
    size_t i = (size_t)*first, count = world->threads.count;
    // Most thread ids have one life.
    if (i + 1 == count || world->threads.items[i + 1].tid != tid) return (uint32_t)i + 1;
    return (uint32_t)world_life_at(world, thread_life, i, count, ticks) + 1;
}

uint32_t world_process_of_thread(const World *world, uint32_t utid) {
    return utid ? world->threads.items[utid - 1].upid : 0;
}

uint32_t world_tid(const World *world, uint32_t utid) {
    return utid ? world->threads.items[utid - 1].tid : ETL_NO_ID;
}

uint32_t world_pid(const World *world, uint32_t upid) {
    return upid ? world->processes.items[upid - 1].pid : ETL_NO_ID;
}

const ClassTable *world_classes(const World *world) {
    return &world->survey.classes;
}

Str world_process_name(const World *world, uint32_t upid) {
    return upid ? world->processes.items[upid - 1].name : (Str){0};
}

bool world_is_idle(const World *world, uint32_t utid) {
    return utid && world->threads.items[utid - 1].tid == 0;
}

// ---------------------------------------------------------------- addresses

bool world_is_kernel_address(const World *world, uint64_t address) {
    return address_is_kernel(address, world->survey.kernel_pointer_size);
}

const Process *world_space(const World *world, uint32_t upid, uint64_t address) {
    if (world_is_kernel_address(world, address)) return &world->kernel;
    return upid ? &world->processes.items[upid - 1] : NULL;
}

uint32_t process_epoch(const Process *process, int64_t ticks) {
    uint32_t at;
    FIND_FIRST(at, process->change_count, process->changes[at] <= ticks);
    return at;
}

// The image of `space` that covers the address, best one alive at `ticks`. Images are sorted by
// base; only a few can overlap, so the scan back is short.
static const Image *image_at(const World *world, const Process *space, uint64_t address,
                             int64_t ticks) {
    enum { SCAN_MAX = 16 };
    uint32_t at;
    FIND_FIRST(at, space->image_count, world->images.items[space->images[at] - 1].base <= address);
    const Image *any = NULL;
    for (uint32_t i = 0; i < SCAN_MAX && i < at; i++) {
        const Image *image = &world->images.items[space->images[at - 1 - i] - 1];
        if (address - image->base >= image->size) continue;
        if (image->life.start <= ticks && ticks < image->life.end) return image;
        if (!any) any = image;
        if (space->change_count == 0) break; // nothing overlaps
    }
    return any;
}

uint64_t world_frame(const World *world, uint32_t upid, uint64_t address, int64_t ticks) {
    if (address == 0) return 0;
    const Process *space = world_space(world, upid, address);
    const Image *image = space ? image_at(world, space, address, ticks) : NULL;
    if (image && address - image->base < FRAME_RETURN)
        return (uint64_t)image->module_id << 32 | (address - image->base);
    uint64_t method = method_frame(world, upid, address, ticks);
    return method ? method : address | FRAME_RAW;
}

// ---------------------------------------------------------------- clock of samples

static void build_intervals(World *world) {
    static const uint16_t HOOKS[] = {HOOK_INTERVAL_START, HOOK_INTERVAL_SET, HOOK_INTERVAL_END};
    for (size_t h = 0; h < COUNT_OF(HOOKS); h++) {
        KeptList list = world_kept(world, HOOKS[h]);
        for (size_t i = 0; i < list.count; i++) {
            Rd r = rd_from_str(list.items[i].payload);
            uint32_t source = rd_u32(&r), now = rd_u32(&r), old = rd_u32(&r);
            if (!rd_ok(&r) || source != 0) continue;
            bool first = world->intervals.count == 0;
            // A change tells what was in force before it when the start is not in the trace.
            uint32_t before = HOOKS[h] == HOOK_INTERVAL_SET ? old : now;
            if (first && before) *vec_push(&world->intervals) = (Interval){INT64_MIN, before};
            if (HOOKS[h] == HOOK_INTERVAL_SET && now)
                *vec_push(&world->intervals) = (Interval){list.items[i].ticks, now};
        }
    }
}

int64_t world_sample_interval_ns(const World *world, int64_t ticks, bool *assumed) {
    enum { DEFAULT_UNITS = 10000 }; // 1 ms
    *assumed = world->intervals.count == 0;
    uint32_t units = DEFAULT_UNITS;
    for (size_t i = 0; i < world->intervals.count; i++) {
        if (world->intervals.items[i].from > ticks) break;
        units = world->intervals.items[i].units_100ns;
    }
    return (int64_t)units * 100;
}

// ---------------------------------------------------------------- who runs

// The thread on the CPU at the start of each buffer: the last one switched in before it in its
// stream, or, in a stream's first buffers, the one its first switch takes out.
static void build_running(World *world, EtlFile *file) {
    size_t count = etl_buffer_count(file);
    world->running_at_start = mem_zero(count, sizeof(uint32_t));
    for (size_t s = 0; s < etl_stream_count(file); s++) {
        uint32_t running = ETL_NO_ID;
        VEC(size_t) early = {0}; // buffers before the stream's first switch
        for (uint32_t p = 0;; p++) {
            size_t buffer = etl_stream_buffer(file, (uint32_t)s, p);
            if (buffer == SIZE_MAX) break;
            const BufferFacts *facts = &world->survey.buffers[buffer];
            if (running == ETL_NO_ID) *vec_push(&early) = buffer;
            if (running == ETL_NO_ID && facts->first_running != ETL_NO_ID)
                for (size_t i = 0; i < early.count; i++)
                    world->running_at_start[early.items[i]] = facts->first_running;
            else
                world->running_at_start[buffer] = running;
            if (facts->last_running != ETL_NO_ID) running = facts->last_running;
        }
        vec_free(&early);
    }
}

static void build_masks(World *world) {
    static const uint16_t HOOKS[] = {HOOK_MASKS, HOOK_MASKS_END};
    for (size_t h = 0; h < COUNT_OF(HOOKS); h++) {
        KeptList list = world_kept(world, HOOKS[h]);
        for (size_t i = 0; i < list.count; i++) {
            Rd r = rd_from_str(list.items[i].payload);
            uint32_t masks[8];
            for (int m = 0; m < 8; m++) masks[m] = rd_u32(&r);
            if (!rd_ok(&r)) continue;
            world->has_masks = true;
            for (int m = 0; m < 8; m++) world->masks[m] |= masks[m];
            uint32_t version = rd_u32(&r);
            if (rd_ok(&r) && version) world->kernel_event_version = version;
        }
    }
}

World *world_open(EtlFile *file, Survey *survey) {
    World *world = mem_zero(1, sizeof *world);
    world->header = etl_header(file);
    world->survey = *survey;
    *survey = (Survey){0};
    group_kept(world);
    build_masks(world);
    build_intervals(world);
    world_build_files(world);
    world_build_processes(world);
    world_build_threads(world);
    world_build_images(world);
    world_build_methods(world);
    world_build_stacks(world);
    build_running(world, file);
    return world;
}

void world_close(World *world) {
    if (!world) return;
    survey_done(&world->survey);
    mem_free(world->kept_by_group);
    mem_free(world->kept_groups);
    vec_free(&world->processes);
    vec_free(&world->threads);
    vec_free(&world->images);
    vec_free(&world->methods);
    vec_free(&world->method_order);
    vec_free(&world->files);
    vec_free(&world->intervals);
    vec_free(&world->volumes);
    vec_free(&world->nodes);
    vec_free(&world->stacks);
    vec_free(&world->inline_stacks);
    mem_free(world->claimed);
    mem_free(world->running_at_start);
    map_done(&world->process_by_pid);
    map_done(&world->thread_by_tid);
    arena_done(&world->arena);
    mem_free(world);
}
