// Placeholder until the parser lands.
#include "sym/undecorate.h"
bool undecorate(Str name, UndecorateForm form, Buf *out) {
    (void)form;
    buf_clear(out);
    buf_add(out, name);
    return false;
}
Str symbol_display_name(Str name, bool x86, Arena *arena) {
    (void)x86;
    (void)arena;
    return name;
}
