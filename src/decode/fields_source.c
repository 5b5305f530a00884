// What sources of layouts share.
#include "decode/fields_source.h"

void source_done(SourceAnswer *answer) {
    for (size_t i = 0; i < answer->layouts.count; i++) layout_done(&answer->layouts.items[i]);
    vec_free(&answer->layouts);
}

Str source_event_name(Str task, Str opcode, Arena *arena) {
    bool plain = !opcode.n || str_eq(opcode, STR("Info")) || str_eq(opcode, STR("win:Info"));
    if (!task.n) return opcode;
    if (plain || str_eq(task, opcode)) return task;
    return str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(task), STR_ARG(opcode));
}
