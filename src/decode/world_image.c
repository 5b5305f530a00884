// Images: lives by (process, base), their PDB identity from the events that mergers inject, and the
// look-up structures for addresses.
#include "base/search.h"
#include "decode/entities.h"
#include "decode/world_internal.h"

#include <stdlib.h>

typedef struct ImageRecord {
    uint32_t pid;
    uint64_t base;
    int64_t ticks;
    uint64_t seq;
    uint16_t hook;
    Values values;
    unsigned pointer_size;
} ImageRecord;

typedef VEC(ImageRecord) ImageRecordVec;

static int compare_image_records(const void *a, const void *b) {
    const ImageRecord *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    if (x->base != y->base) return x->base < y->base ? -1 : 1;
    if (x->ticks != y->ticks) return x->ticks < y->ticks ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void collect(const World *world, uint16_t hook, ImageRecordVec *out) {
    KeptList list = world_kept(world, hook);
    for (size_t i = 0; i < list.count; i++) {
        const Kept *kept = &list.items[i];
        bool exact = false;
        const EventSpec *spec = spec_find(kept->hook, kept->version, &exact);
        EtlEvent event = kept_event(kept);
        ImageRecord record = {.ticks = kept->ticks,
                              .seq = kept->seq,
                              .hook = hook,
                              .pointer_size = kept->pointer_size};
        if (!spec || spec_read(spec, &event, &record.values) < 2) continue;
        record.base = record.values.at[IM_BASE].u;
        // Version 0 has no process id in the payload: the header's process maps the image.
        bool has_pid = value_has(&record.values, IM_PID);
        record.pid = has_pid ? (uint32_t)record.values.at[IM_PID].u : kept->pid;
        *vec_push(out) = record;
    }
}

static Str last_component(Str path) {
    return path_name(path);
}

static void image_fill(World *world, Image *image, const ImageRecord *record) {
    const Values *v = &record->values;
    // On some unload events of images on network paths these fields are garbage.
    bool trusted = record->hook != HOOK_IMAGE_UNLOAD || !image->has_details;
    if (value_has(v, IM_DEFAULT_BASE) && trusted) {
        image->has_details = record->hook != HOOK_IMAGE_UNLOAD;
        image->has_time_stamp = true;
        image->checksum = (uint32_t)v->at[IM_CHECKSUM].u;
        image->time_stamp = (uint32_t)v->at[IM_TIME_STAMP].u;
        image->default_base = v->at[IM_DEFAULT_BASE].u;
    }
    if (value_has(v, IM_SIGNATURE_TYPE) && trusted) {
        image->has_signature = true;
        image->signature_level = (uint8_t)v->at[IM_SIGNATURE_LEVEL].u;
        image->signature_type = (uint8_t)v->at[IM_SIGNATURE_TYPE].u;
    }
    if (value_has(v, IM_NAME) && image->nt_path.n == 0) {
        Str raw = v->at[IM_NAME].s;
        image->nt_path = str_from_utf16(&world->arena, (const uint8_t *)raw.p, raw.n);
        image->path = world_path(world, image->nt_path, &world->arena);
        image->name = last_component(image->nt_path);
    }
}

static Life image_life(const ImageRecord *record, uint64_t key) {
    bool load = record->hook == HOOK_IMAGE_LOAD, unload = record->hook == HOOK_IMAGE_UNLOAD;
    return (Life){.key = key,
                  .start = load ? record->ticks : INT64_MIN,
                  .end = unload ? record->ticks : INT64_MAX,
                  .seen = record->ticks,
                  .origin = load     ? "load"
                            : unload ? "unload"
                                     : "rundown"};
}

static bool same_image(const Image *image, const ImageRecord *record) {
    const Values *v = &record->values;
    if (image->size != v->at[IM_SIZE].u) return false;
    if (record->hook == HOOK_IMAGE_UNLOAD || !image->has_details) return true;
    return !value_has(v, IM_TIME_STAMP) || image->time_stamp == (uint32_t)v->at[IM_TIME_STAMP].u;
}

static void add_image_record(World *world, const ImageRecord *record, uint64_t key) {
    size_t count = world->images.count;
    Image *last = count ? &world->images.items[count - 1] : NULL;
    Image *current = last && last->life.key == key ? last : NULL;
    bool ended = current && current->life.end != INT64_MAX;
    bool again = record->hook == HOOK_IMAGE_LOAD && current && current->life.start != record->ticks;
    bool fresh = !current || again || ended || !same_image(current, record);
    if (fresh) {
        Life life = image_life(record, key);
        if (current && life.start == INT64_MIN)
            life.start = ended ? current->life.end : record->ticks;
        if (current && !ended) current->life.end = life.start;
        current = vec_push(&world->images);
        *current = (Image){.life = life,
                           .pid = record->pid,
                           .base = record->base,
                           .size = record->values.at[IM_SIZE].u};
    } else if (record->hook == HOOK_IMAGE_UNLOAD) {
        current->life.end = record->ticks;
    }
    image_fill(world, current, record);
}

// ---------------------------------------------------------------- identity

static int compare_image_key(const Image *image, uint32_t pid, uint64_t base) {
    if (image->pid != pid) return image->pid < pid ? -1 : 1;
    return (image->base > base) - (image->base < base);
}

// The life of (pid, base) that an identity event at `ticks` speaks of; it copies the time stamp of
// the image event it describes.
static Image *image_of_identity(World *world, uint32_t pid, uint64_t base, int64_t ticks) {
    size_t at;
    FIND_FIRST(at, world->images.count, compare_image_key(&world->images.items[at], pid, base) < 0);
    Image *best = NULL;
    for (size_t i = at; i < world->images.count; i++) {
        Image *image = &world->images.items[i];
        if (compare_image_key(image, pid, base) != 0) break;
        if (!best || image->life.start <= ticks) best = image;
        if (image->life.end == ticks) return image; // described at its unload
    }
    return best;
}

enum IdentityOpcode { ID_IMAGE = 0, ID_RSDS = 36, ID_RSDS_NATIVE = 37, ID_FILE_VERSION = 64 };

static void read_rsds(World *world, const Kept *kept) {
    Rd r = rd_from_str(kept->payload);
    uint64_t base = rd_ptr(&r, kept->pointer_size);
    uint32_t pid = rd_u32(&r);
    Guid guid = rd_guid(&r);
    uint32_t age = rd_u32(&r);
    if (!rd_ok(&r)) return;
    Image *image = image_of_identity(world, pid, base, kept->ticks);
    // A native image carries two identities: its own PDB (37) and that of the managed assembly.
    if (!image || (image->has_pdb && kept->opcode == ID_RSDS_NATIVE)) return;
    image->has_pdb = true;
    image->pdb_guid = guid;
    image->pdb_age = age;
    image->pdb_name = rd_astr(&r, &world->arena);
}

static void read_image_id(World *world, const Kept *kept) {
    Rd r = rd_from_str(kept->payload);
    uint64_t base = rd_ptr(&r, kept->pointer_size);
    (void)rd_ptr(&r, kept->pointer_size);
    uint32_t pid = rd_u32(&r), time_stamp = rd_u32(&r);
    if (!rd_ok(&r)) return;
    Image *image = image_of_identity(world, pid, base, kept->ticks);
    if (!image) return;
    image->original_name = rd_wstr(&r, &world->arena);
    if (image->has_time_stamp && image->time_stamp) return;
    image->time_stamp = time_stamp;
    image->has_time_stamp = true;
}

typedef struct FileVersion {
    uint32_t size, time_stamp;
    Str fields[7]; // original name, description, file version, binary version, language, product,
                   // company
    Str product_version;
} FileVersion;

static void apply_version(Image *image, const FileVersion *version) {
    if (!image->original_name.n) image->original_name = version->fields[0];
    image->description = version->fields[1];
    image->file_version = version->fields[2];
    image->company = version->fields[6];
    image->product_version = version->product_version;
}

static void read_versions(World *world, const Guid *provider) {
    KeptList list = world_kept_class(world, provider, ID_FILE_VERSION);
    Map by_identity = {0};
    FileVersion *versions = mem_zero(list.count, sizeof *versions);
    for (size_t i = 0; i < list.count; i++) {
        Rd r = rd_from_str(list.items[i].payload);
        FileVersion *version = &versions[i];
        version->size = rd_u32(&r);
        version->time_stamp = rd_u32(&r);
        for (size_t f = 0; f < COUNT_OF(version->fields); f++)
            version->fields[f] = rd_wstr(&r, &world->arena);
        version->product_version = rd_wstr(&r, &world->arena);
        uint64_t key = (uint64_t)version->size << 32 | version->time_stamp;
        (void)map_put(&by_identity, key, i, NULL);
    }
    for (size_t i = 0; i < world->images.count; i++) {
        Image *image = &world->images.items[i];
        uint64_t *at = map_get(&by_identity, image->size << 32 | image->time_stamp);
        if (at && image->has_time_stamp) apply_version(image, &versions[*at]);
    }
    map_done(&by_identity);
    mem_free(versions);
}

// ---------------------------------------------------------------- modules and address spaces

// Images with one name, size, time stamp and PDB are one module, whatever process maps them; an
// image without a PDB record takes that of its module.
static void number_modules(World *world) {
    StrMap modules = {0};
    Map pdb_of = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < world->images.count; i++) {
            Image *image = &world->images.items[i];
            Str name = str_lower(&world->arena, image->name);
            uint64_t file = bytes_hash(name.p, name.n, image->size << 32 | image->time_stamp);
            if (pass == 0) {
                if (image->has_pdb) (void)map_put(&pdb_of, file, i, NULL);
                continue;
            }
            uint64_t *other = map_get(&pdb_of, file);
            if (!image->has_pdb && other) {
                const Image *with = &world->images.items[*other];
                image->has_pdb = true;
                image->pdb_guid = with->pdb_guid;
                image->pdb_age = with->pdb_age;
                image->pdb_name = with->pdb_name;
            }
            char guid[GUID_TEXT_SIZE];
            guid_to_text(&image->pdb_guid, guid);
            Str key = str_format(&world->arena, STR_FMT "|%llx|%x|%s|%x", STR_ARG(name),
                                 (unsigned long long)image->size, image->time_stamp, guid,
                                 image->pdb_age);
            image->module_id = (uint32_t)strmap_put(&modules, key, i + 1, NULL)->value;
        }
    }
    strmap_done(&modules);
    map_done(&pdb_of);
}

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Moments at which overlapping images of one space come and go.
static void find_changes(World *world, Process *space) {
    VEC(int64_t) times = {0};
    uint64_t covered_to = 0;
    const Image *covering = NULL;
    for (uint32_t i = 0; i < space->image_count; i++) {
        const Image *image = &world->images.items[space->images[i] - 1];
        if (covering && image->base < covered_to && image->module_id != covering->module_id) {
            *vec_push(&times) = image->life.start;
            *vec_push(&times) = image->life.end;
            *vec_push(&times) = covering->life.end;
        }
        uint64_t end = image->base + image->size;
        if (end <= covered_to || end < image->base) continue;
        covered_to = end;
        covering = image;
    }
    vec_sort(&times, compare_i64);
    space->changes = ARENA_ARRAY(&world->arena, int64_t, times.count);
    for (size_t i = 0; i < times.count; i++) {
        int64_t time = times.items[i];
        bool bound = time == INT64_MIN || time == INT64_MAX;
        if (bound || (space->change_count && space->changes[space->change_count - 1] == time))
            continue;
        space->changes[space->change_count++] = time;
    }
    vec_free(&times);
}

// `images` of one space is a slice of the image list, which is sorted by (pid, base).
static void build_spaces(World *world) {
    size_t count = world->images.count;
    uint32_t *ids = ARENA_ARRAY(&world->arena, uint32_t, count);
    for (size_t i = 0; i < count; i++) ids[i] = (uint32_t)i + 1;
    for (size_t i = 0; i < count;) {
        size_t to = i;
        uint32_t pid = world->images.items[i].pid;
        while (to < count && world->images.items[to].pid == pid) to++;
        // All lives of a process id share one list: times tell them apart, and an image whose
        // process is gone has ended with it.
        for (size_t p = 0; p <= world->processes.count; p++) {
            Process *space = p ? &world->processes.items[p - 1] : &world->kernel;
            if (p ? space->pid != pid : pid != 0) continue;
            space->images = ids + i;
            space->image_count = (uint32_t)(to - i);
            find_changes(world, space);
        }
        i = to;
    }
}

void world_build_images(World *world) {
    static const uint16_t HOOKS[] = {HOOK_IMAGE_LOAD, HOOK_IMAGE_UNLOAD, HOOK_IMAGE_DCSTART,
                                     HOOK_IMAGE_DCEND};
    ImageRecordVec records = {0};
    for (size_t i = 0; i < COUNT_OF(HOOKS); i++) collect(world, HOOKS[i], &records);
    vec_sort(&records, compare_image_records);
    uint64_t key = 0;
    for (size_t i = 0; i < records.count; i++) {
        const ImageRecord *r = &records.items[i];
        bool same = i && r[-1].pid == r->pid && r[-1].base == r->base;
        add_image_record(world, r, same ? key : ++key);
    }
    vec_free(&records);
    Guid provider;
    INVARIANT(guid_from_text(STR("b3e675d7-2554-4f18-830b-2762732560de"), &provider));
    static const uint8_t OPCODES[] = {ID_RSDS, ID_RSDS_NATIVE, ID_IMAGE};
    for (size_t o = 0; o < COUNT_OF(OPCODES); o++) {
        KeptList list = world_kept_class(world, &provider, OPCODES[o]);
        for (size_t i = 0; i < list.count; i++) {
            if (OPCODES[o] == ID_IMAGE)
                read_image_id(world, &list.items[i]);
            else
                read_rsds(world, &list.items[i]);
        }
    }
    read_versions(world, &provider);
    number_modules(world);
    for (size_t i = 0; i < world->images.count; i++) {
        Image *image = &world->images.items[i];
        int64_t at = image->life.start == INT64_MIN ? image->life.seen : image->life.start;
        image->upid = image->pid ? world_process(world, image->pid, at) : 0;
        const Process *process = image->upid ? &world->processes.items[image->upid - 1] : NULL;
        if (process && image->life.end > process->life.end) image->life.end = process->life.end;
    }
    build_spaces(world);
}
