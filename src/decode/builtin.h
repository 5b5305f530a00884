// Built-in layouts: the tables of providers/*.tsv (docs/providers.md), linked into the program.
// Only the providers and the events that a trace holds are looked at.
#ifndef DECODE_BUILTIN_H
#define DECODE_BUILTIN_H

#include "decode/fields_source.h"

typedef struct Builtin Builtin;

Builtin *builtin_open(void);
void builtin_close(Builtin *builtin); // accepts NULL
// Layouts of an event, the one of `os_build` first. False: not in the tables. A version newer than
// the tables is read as the newest one (answer->exact is false then).
bool builtin_find(Builtin *builtin, const SourceKey *key, uint32_t os_build, Arena *arena,
                  SourceAnswer *answer);
typedef struct BuiltinInfo {
    Guid guid;
    Str name;
    size_t events, layouts; // distinct ids; layouts of all their versions and builds
} BuiltinInfo;
// False behind the last table.
bool builtin_info(Builtin *builtin, size_t index, BuiltinInfo *out);
// p == NULL: not in the tables.
Str builtin_provider_name(Builtin *builtin, const Guid *provider);

#endif
