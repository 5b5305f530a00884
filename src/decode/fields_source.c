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

void source_complain(SourceTrouble *trouble, const char *setting, Str file, const Err *err,
                     Arena *arena) {
    Str text = str_format(arena, "%s: " STR_FMT "%s%s", setting, STR_ARG(file), file.n ? ": " : "",
                          err->text);
    if (trouble->count && str_eq(text, trouble->first)) return; // read again, no better
    if (!trouble->count++) trouble->first = text;
}

Str source_trouble_text(const SourceTrouble *trouble, Arena *arena) {
    if (trouble->count < 2) return trouble->first;
    return str_format(arena, STR_FMT " (and %zu more)", STR_ARG(trouble->first),
                      trouble->count - 1);
}
