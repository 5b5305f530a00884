// Events whose payloads are known to differ from what their descriptions say, whatever the source.
#include "decode/fields_known.h"

static bool is_provider(const Guid *guid, const char *text) {
    Guid known;
    INVARIANT(guid_from_text(str_from_c(text), &known));
    return guid_eq(guid, &known);
}

static const char CLR[] = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
static const char KERNEL_NETWORK[] = "7dd42a49-5329-4832-8dfd-43d979153a88";

// The template says two addresses; there are as many as FrameCount says.
static void fix_clr_stack(FieldsLayout *layout) {
    enum { CLR_STACK_FIELDS = 5, FRAME_COUNT = 3, STACK = 4 };
    if (layout->fields.count != CLR_STACK_FIELDS) return;
    FieldsDef *stack = &layout->fields.items[STACK];
    if (layout->fields.items[FRAME_COUNT].type != IN_U32) return;
    stack->type = IN_PTR;
    stack->count_kind = COUNT_FIELD;
    stack->count = FRAME_COUNT;
}

// Elements of GCLOHCompact are C structures, padded before their first pointer.
static void fix_clr_compact(FieldsLayout *layout, unsigned pointer_size) {
    if (pointer_size != 8) return;
    for (size_t i = 1; i < layout->fields.count; i++) {
        FieldsDef *def = &layout->fields.items[i];
        if (def->type != IN_PTR || !str_eq(def->name, STR("TotalRefs"))) continue;
        FieldsDef *parent = NULL;
        for (size_t k = 0; k < i; k++)
            if (layout->fields.items[k].type == IN_STRUCT) parent = &layout->fields.items[k];
        if (!parent) return;
        parent->members++;
        (void)vec_push(&layout->fields);
        def = &layout->fields.items[i];
        memmove(def + 1, def, (layout->fields.count - 1 - i) * sizeof *def);
        *def = (FieldsDef){.name = STR("padding"), .type = IN_U32, .out = OUT_HIDDEN};
        return;
    }
}

// 64-bit systems write the connection's id as a pointer-sized number.
static void fix_connection_id(FieldsLayout *layout) {
    if (!layout->fields.count) return;
    FieldsDef *last = &layout->fields.items[layout->fields.count - 1];
    if (last->type == IN_U32 && str_eq(last->name, STR("connid"))) last->type = IN_SIZE;
}

void fields_fix_known(const Guid *provider, uint16_t id, unsigned pointer_size,
                      FieldsLayout *layout) {
    enum { CLR_STACK_WALK = 82, CLR_LOH_COMPACT = 208 };
    bool clr = (id == CLR_STACK_WALK || id == CLR_LOH_COMPACT) && is_provider(provider, CLR);
    if (clr && id == CLR_STACK_WALK) fix_clr_stack(layout);
    if (clr && id == CLR_LOH_COMPACT) fix_clr_compact(layout, pointer_size);
    if (pointer_size == 8 && is_provider(provider, KERNEL_NETWORK)) fix_connection_id(layout);
}
