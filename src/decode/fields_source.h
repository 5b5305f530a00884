// What every source of layouts is asked and answers.
#ifndef DECODE_FIELDS_SOURCE_H
#define DECODE_FIELDS_SOURCE_H

#include "decode/fields.h"

typedef struct SourceKey { // of a manifest event
    Guid provider;
    uint16_t id, task;
    uint8_t version, opcode;
} SourceKey;

typedef struct SourceAnswer { // zero-initialised before; source_done after
    Str provider_name, event_name, task_name, opcode_name;
    bool exact;                // the very version
    VEC(FieldsLayout) layouts; // the preferred one first
} SourceAnswer;

void source_done(SourceAnswer *answer);
static inline void source_done_auto(SourceAnswer *answer) {
    source_done(answer);
}
// "Task", or "Task/Opcode" unless the opcode says nothing.
Str source_event_name(Str task, Str opcode, Arena *arena);

// What is wrong with a folder that the user named, or with files of it.
typedef struct SourceTrouble {
    Str first;
    size_t count;
} SourceTrouble;
void source_complain(SourceTrouble *trouble, const char *setting, Str file, const Err *err,
                     Arena *arena);
// "SETTING: file: why (and 2 more)"; empty: nothing is wrong.
Str source_trouble_text(const SourceTrouble *trouble, Arena *arena);

// Types as manifests and the tables name them: "UInt32" or "win:UInt32"; IN_OPAQUE when unknown.
uint8_t type_from_name(Str name);
uint8_t out_from_name(Str name); // "xs:unsignedInt", "win:Port"; OUT_DEFAULT when unknown

#endif
