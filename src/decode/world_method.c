// Ranges of managed code from the runtime's method events: they make frames of code that no image
// covers. Layouts: Microsoft-Windows-DotNETRuntime MethodLoad, MethodLoadVerbose, their unloads and
// rundown counterparts (ids 136 to 159 without the loader events, versions 0 to 2).
#include "base/search.h"
#include "decode/world_internal.h"

#include <stdlib.h>

enum MethodEvent {
    METHOD_DC_FIRST = 136, // of the rundown provider: 136..144; of the runtime: load 141..144
    METHOD_LOAD = 141,
    METHOD_UNLOAD = 142,
    METHOD_LOAD_VERBOSE = 143,
    METHOD_UNLOAD_VERBOSE = 144,
};

typedef struct MethodProvider {
    const char *guid;
    bool rundown; // 141/143 are "rundown start", 142/144 "rundown end"
} MethodProvider;

static const MethodProvider PROVIDERS[] = {
    {"e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", false},
    {"a669021c-c450-4609-a035-5af59af4df18", true },
};

static Str joined_name(World *world, Str type, Str method) {
    if (!type.n) return method;
    return str_format(&world->arena, STR_FMT "." STR_FMT, STR_ARG(type), STR_ARG(method));
}

static void add_method(World *world, const Kept *kept, bool verbose, bool unload, bool rundown) {
    Rd r = rd_from_str(kept->payload);
    Method method = {.pid = kept->pid, .start = INT64_MIN, .end = INT64_MAX, .kind = "jit"};
    (void)rd_u64(&r); // MethodID
    method.module_key = rd_u64(&r);
    method.base = rd_u64(&r);
    method.size = rd_u32(&r);
    (void)rd_u32(&r); // MethodToken
    uint32_t flags = rd_u32(&r);
    if (!rd_ok(&r) || method.size == 0) return;
    enum { FLAG_DYNAMIC = 1, FLAG_JITTED = 8 };
    method.kind = flags & FLAG_DYNAMIC ? "dynamic" : flags & FLAG_JITTED ? "jit" : "ngen";
    if (verbose) {
        Str type = rd_wstr(&r, &world->arena), name = rd_wstr(&r, &world->arena);
        method.name = joined_name(world, type, name);
        method.signature = rd_wstr(&r, &world->arena);
    }
    if (unload)
        method.end = kept->ticks;
    else if (!rundown)
        method.start = kept->ticks;
    method.upid = world_process(world, kept->pid, kept->ticks);
    *vec_push(&world->methods) = method;
}

static int compare_methods(const void *a, const void *b) {
    const Method *x = a, *y = b;
    if (x->upid != y->upid) return x->upid < y->upid ? -1 : 1;
    if (x->base != y->base) return x->base < y->base ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

// Load, rundown and unload records of one method become one range.
static void merge_methods(World *world) {
    size_t n = 0;
    for (size_t i = 0; i < world->methods.count; i++) {
        Method *method = &world->methods.items[i];
        Method *last = n ? &world->methods.items[n - 1] : NULL;
        bool same = last && last->upid == method->upid && last->base == method->base &&
                    last->size == method->size && last->module_key == method->module_key;
        if (!same) {
            world->methods.items[n++] = *method;
            continue;
        }
        if (method->start > last->start && method->start != INT64_MIN) last->start = method->start;
        if (method->end < last->end) last->end = method->end;
        if (!last->name.n) last->name = method->name;
        if (!last->signature.n) last->signature = method->signature;
    }
    world->methods.count = n;
}

void world_build_methods(World *world) {
    for (size_t p = 0; p < COUNT_OF(PROVIDERS); p++) {
        Guid guid;
        INVARIANT(guid_from_text(str_from_c(PROVIDERS[p].guid), &guid));
        for (unsigned id = METHOD_LOAD; id <= METHOD_UNLOAD_VERBOSE; id++) {
            KeptList list = world_kept_manifest(world, &guid, (uint16_t)id);
            bool verbose = id >= METHOD_LOAD_VERBOSE;
            bool unload =
                (id == METHOD_UNLOAD || id == METHOD_UNLOAD_VERBOSE) && !PROVIDERS[p].rundown;
            for (size_t i = 0; i < list.count; i++)
                add_method(world, &list.items[i], verbose, unload, PROVIDERS[p].rundown);
        }
    }
    vec_sort(&world->methods, compare_methods);
    merge_methods(world);
}

uint64_t method_frame(const World *world, uint32_t upid, uint64_t address, int64_t ticks) {
    enum { SCAN_MAX = 8 };
    const Method *methods = world->methods.items;
    size_t at;
    FIND_FIRST(at, world->methods.count,
               methods[at].upid < upid ||
                   (methods[at].upid == upid && methods[at].base <= address));
    uint64_t any = 0;
    for (size_t i = 0; i < SCAN_MAX && i < at; i++) {
        const Method *method = &methods[at - 1 - i];
        if (method->upid != upid) break;
        if (address - method->base >= method->size) continue;
        uint64_t frame = METHOD_BIT | (uint64_t)(at - i) << 32 | (address - method->base);
        if (method->start <= ticks && ticks < method->end) return frame;
        if (!any) any = frame;
    }
    return any;
}
