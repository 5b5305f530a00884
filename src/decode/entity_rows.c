// Processes, threads, images, frames, stacks, methods, providers and classes as rows.
#include "decode/entity_rows.h"

#include "base/sort.h"
#include "decode/decoder.h"
#include "decode/describe.h"
#include "decode/trace_rows.h"
#include "decode/world_internal.h"

static void put_bound(Row *row, const World *world, int64_t ticks) {
    bool known = ticks != INT64_MIN && ticks != INT64_MAX;
    put_i64_if(row, known, known ? world_ns(world, ticks) : 0);
}

static Str text_or_null(Str s) {
    return s.n ? s : (Str){0};
}

static void process_rows(const World *world, Rows *rows) {
    for (size_t i = 0; i < world->processes.count; i++) {
        const Process *p = &world->processes.items[i];
        Row row = row_begin(rows, T_PROCESS);
        put_u32(&row, (uint32_t)i + 1);
        put_u32(&row, p->pid);
        put_u32_if(&row, p->parent_pid != ETL_NO_ID, p->parent_pid);
        put_id(&row, p->parent_upid);
        put_text(&row, text_or_null(p->name));
        put_text(&row, text_or_null(p->command_line));
        put_text(&row, text_or_null(p->sid));
        put_i32_if(&row, p->has_session, p->session);
        put_bound(&row, world, p->life.start);
        put_bound(&row, world, p->life.end);
        put_i32_if(&row, p->has_exit, p->exit_status);
        put_u64_if(&row, p->unique_key != 0, p->unique_key);
        put_u64_if(&row, p->table_base != 0, p->table_base);
        put_u32_if(&row, p->has_flags, p->flags);
        put_text(&row, text_or_null(p->package));
        put_text(&row, text_or_null(p->application));
        put_text(&row, str_from_c(p->life.origin));
        row_end(&row);
    }
}

static void thread_rows(const World *world, Rows *rows) {
    for (size_t i = 0; i < world->threads.count; i++) {
        const WorldThread *t = &world->threads.items[i];
        Row row = row_begin(rows, T_THREAD);
        put_u32(&row, (uint32_t)i + 1);
        put_id(&row, t->upid);
        put_u32(&row, t->tid);
        put_u32_if(&row, t->pid != ETL_NO_ID, t->pid);
        put_text(&row, text_or_null(t->name));
        put_bound(&row, world, t->life.start);
        put_bound(&row, world, t->life.end);
        put_u64_if(&row, t->has_details, t->start_address);
        put_u8_if(&row, t->has_priorities, t->base_priority);
        put_u8_if(&row, t->has_priorities, t->page_priority);
        put_u8_if(&row, t->has_priorities, t->io_priority);
        put_u32_if(&row, t->tag != 0, t->tag);
        put_u64_if(&row, t->has_details, t->teb);
        put_u64_if(&row, t->has_details, t->stack_base);
        put_u64_if(&row, t->has_details, t->stack_limit);
        put_u64_if(&row, t->has_details, t->user_base);
        put_u64_if(&row, t->has_details, t->user_limit);
        put_u64_if(&row, t->has_details, t->affinity);
        put_text(&row, str_from_c(t->life.origin));
        row_end(&row);
    }
}

static void image_rows(const World *world, Rows *rows) {
    for (size_t i = 0; i < world->images.count; i++) {
        const Image *m = &world->images.items[i];
        Row row = row_begin(rows, T_IMAGE);
        put_u32(&row, (uint32_t)i + 1);
        put_u32(&row, m->module_id);
        put_id(&row, m->upid);
        put_u32(&row, m->pid);
        put_u64(&row, m->base);
        put_u64(&row, m->size);
        put_text(&row, text_or_null(m->name));
        put_text(&row, text_or_null(m->path));
        put_text(&row, text_or_null(m->nt_path));
        put_bound(&row, world, m->life.start);
        put_bound(&row, world, m->life.end);
        put_u32_if(&row, m->has_details, m->checksum);
        put_u32_if(&row, m->has_time_stamp, m->time_stamp);
        put_u64_if(&row, m->has_details, m->default_base);
        put_u8_if(&row, m->has_signature, m->signature_level);
        put_u8_if(&row, m->has_signature, m->signature_type);
        put_guid_if(&row, m->has_pdb, m->pdb_guid);
        put_u32_if(&row, m->has_pdb, m->pdb_age);
        put_text(&row, text_or_null(m->pdb_name));
        put_text(&row, text_or_null(m->original_name));
        put_text(&row, text_or_null(m->file_version));
        put_text(&row, text_or_null(m->product_version));
        put_text(&row, text_or_null(m->description));
        put_text(&row, text_or_null(m->company));
        put_bool(&row, m->pid == 0);
        row_end(&row);
    }
}

static void method_rows(const World *world, Rows *rows) {
    for (size_t i = 0; i < world->methods.count; i++) {
        const Method *m = &world->methods.items[i];
        Row row = row_begin(rows, T_METHOD);
        put_u32(&row, (uint32_t)i + 1);
        put_id(&row, m->upid);
        put_bound(&row, world, m->start);
        put_bound(&row, world, m->end);
        put_u64(&row, m->base);
        put_u64(&row, m->size);
        put_u64(&row, m->module_key);
        put_text(&row, text_or_null(m->name));
        put_text(&row, text_or_null(m->signature));
        put_text(&row, text_or_null(m->module_name));
        put_text(&row, str_from_c(m->kind));
        row_end(&row);
    }
}

// Address of a frame: where its module was first mapped, whichever process it was seen in.
static uint64_t frame_address(const World *world, uint64_t frame) {
    uint32_t owner = (uint32_t)((frame & ~METHOD_BIT) >> 32);
    uint64_t rva = frame & (FRAME_RETURN - 1);
    if (frame & FRAME_RAW) {
        // Kernel addresses have bit 63 themselves; user addresses got it as a mark.
        bool kernel = frame >> 47 == 0x1FFFF;
        return kernel ? frame : frame & ~FRAME_RAW;
    }
    if (frame & METHOD_BIT) return world->methods.items[owner - 1].base + rva;
    return world->images.items[owner - 1].base + rva;
}

static void frame_row(Rows *rows, const World *world, uint64_t frame) {
    bool raw = frame & FRAME_RAW, method = !raw && frame & METHOD_BIT;
    uint32_t owner = (uint32_t)((frame & ~METHOD_BIT) >> 32);
    uint64_t rva = frame & (FRAME_RETURN - 1), address = frame_address(world, frame);
    Row row = row_begin(rows, T_FRAME);
    put_u64(&row, frame);
    put_id(&row, raw || method ? 0 : owner);
    put_id(&row, method ? owner : 0);
    put_u64_if(&row, !raw, rva);
    put_u64(&row, address);
    put_bool(&row, world_is_kernel_address(world, address));
    put_bool(&row, !raw && frame & FRAME_RETURN);
    row_end(&row);
}

static void frame_rows(const World *world, EntityFacts *facts, Rows *rows) {
    VEC(SortKey) order = {0};
    for (size_t i = 0; i < facts->frames.capacity; i++)
        if (facts->frames.used[i])
            *vec_push(&order) = (SortKey){facts->frames.slots[i].key, (uint32_t)i};
    sort_keys(order.items, order.count);
    for (size_t i = 0; i < order.count; i++) frame_row(rows, world, order.items[i].key);
    vec_free(&order);
}

void stack_rows(const World *world, Rows *rows, Map *frames) {
    for (size_t i = 0; i < world->nodes.count; i++) {
        const StackNode *node = &world->nodes.items[i];
        Row row = row_begin(rows, T_STACK);
        put_u32(&row, (uint32_t)i + 1);
        put_id(&row, node->parent);
        put_u64(&row, node->frame);
        put_u16(&row, (uint16_t)node->depth);
        row_end(&row);
        (void)map_put(frames, node->frame, 1, NULL);
    }
}

// ---------------------------------------------------------------- providers and classes

typedef struct Provider {
    Guid guid;
    Str name;
    const char *kind;
    uint64_t events, bytes;
    int64_t first, last;
} Provider;

typedef VEC(Provider) ProviderVec;

static const char *class_kind(const EventClass *class) {
    switch ((EtlKind) class->key.kind) {
    case ETL_SYSTEM:
    case ETL_PERFINFO: return "kernel";
    case ETL_CLASSIC: return "classic";
    case ETL_WPP: return "wpp";
    case ETL_MANIFEST: return class->key.tracelogging ? "tracelogging" : "manifest";
    case ETL_OTHER: return "other";
    }
    return "other";
}

static Guid class_guid(const EventClass *class) {
    return class->key.kind == ETL_SYSTEM ? spec_group_guid(class->key.hook) : class->key.provider;
}

static size_t provider_of(ProviderVec *providers, const EventClass *class, Str name) {
    Guid guid = class_guid(class);
    const char *kind = class_kind(class);
    for (size_t i = 0; i < providers->count; i++) {
        Provider *seen = &providers->items[i];
        if (!guid_eq(&seen->guid, &guid) || strcmp(seen->kind, kind) != 0) continue;
        if (!seen->name.n) seen->name = name;
        return i;
    }
    *vec_push(providers) = (Provider){guid, name, kind, 0, 0, INT64_MAX, INT64_MIN};
    return providers->count - 1;
}

static void class_row(const World *world, const EventClass *class, size_t index, size_t provider,
                      const ClassDescription *about, uint64_t stacks, Rows *rows) {
    const ClassKey *key = &class->key;
    Row row = row_begin(rows, T_EVENT_CLASS);
    put_u32(&row, (uint32_t)index + 1);
    put_u32(&row, (uint32_t)provider + 1);
    put_text(&row, str_from_c(class_kind(class)));
    put_u16(&row, key->id);
    put_u8(&row, key->version);
    put_u8(&row, key->opcode);
    put_u8(&row, key->level);
    put_u8(&row, key->channel);
    put_u16(&row, key->task);
    put_u64(&row, key->keyword);
    put_u16(&row, key->hook);
    put_u8(&row, key->pointer_size);
    put_text(&row, text_or_null(about->event_name));
    put_text(&row, text_or_null(about->task_name));
    put_text(&row, text_or_null(about->opcode_name));
    put_text(&row, text_or_null(about->decoded_by));
    put_text(&row, text_or_null(about->table_name));
    put_u64(&row, class->events);
    put_u64(&row, class->bytes);
    put_u64(&row, stacks);
    put_i64(&row, world_ns(world, class->first_ticks));
    put_i64(&row, world_ns(world, class->last_ticks));
    put_blob(&row, about->schema);
    row_end(&row);
}

static void class_rows(const World *world, const EntityFacts *facts, Rows *rows) {
    AUTO(arena_done) Arena arena = {0};
    AUTO(describer_close) Describer *describer = describer_open(world);
    ProviderVec providers = {0};
    const ClassTable *classes = &world->survey.classes;
    for (size_t i = 0; i < classes->items.count; i++) {
        const EventClass *class = &classes->items.items[i];
        ClassDescription about = {0};
        describe_class(describer, class, &arena, &about);
        size_t at = provider_of(&providers, class, about.provider_name);
        Provider *provider = &providers.items[at];
        provider->events += class->events;
        provider->bytes += class->bytes;
        if (class->first_ticks < provider->first) provider->first = class->first_ticks;
        if (class->last_ticks > provider->last) provider->last = class->last_ticks;
        class_row(world, class, i, at, &about, facts->class_stacks[i], rows);
    }
    for (size_t i = 0; i < providers.count; i++) {
        const Provider *p = &providers.items[i];
        Row row = row_begin(rows, T_PROVIDER);
        put_u32(&row, (uint32_t)i + 1);
        put_guid(&row, p->guid);
        put_text(&row, text_or_null(p->name));
        put_text(&row, str_from_c(p->kind));
        put_u64(&row, p->events);
        put_u64(&row, p->bytes);
        put_i64(&row, world_ns(world, p->first));
        put_i64(&row, world_ns(world, p->last));
        row_end(&row);
    }
    vec_free(&providers);
}

void entity_rows(const World *world, EtlFile *file, Str file_name, EntityFacts *facts, Rows *rows) {
    process_rows(world, rows);
    thread_rows(world, rows);
    image_rows(world, rows);
    method_rows(world, rows);
    frame_rows(world, facts, rows);
    class_rows(world, facts, rows);
    trace_rows(world, file, file_name, facts, rows);
}
