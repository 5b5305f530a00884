// ReadyToRun perf maps (*.ni.r2rmap): which method lies where in a precompiled managed image.
#ifndef SYM_PERFMAP_H
#define SYM_PERFMAP_H

#include "sym/symtab.h"

typedef struct PerfMapInfo {
    Guid signature; // 16 bytes as the file spells them, no fields; the image names the same
    uint32_t version;
    uint32_t os; // as numbered in the file: 1 is Windows
    uint16_t machine;
} PerfMapInfo;

// The header alone: enough to prove an identity.
Status perfmap_read_info(Source *source, PerfMapInfo *out, Err *err) MUST_USE;
// Lines that are no method are left out and make the table's info say "damaged".
Status symtab_from_perfmap(Source *source, PerfMapInfo *info, SymTab **out, Err *err) MUST_USE;
// "int System.Foo`1<T>::Bar(int, string)" -> "System.Foo`1<T>.Bar": how methods of managed code are
// shown elsewhere. A name of another form is added as it is.
void perfmap_add_name(Str name, Buf *out);

#endif
