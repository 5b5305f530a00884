// Names of C++ functions as compilers decorate them, and C names with calling-convention marks,
// back to what a person wrote. docs/formats/pdb.md, "Names".
#ifndef SYM_UNDECORATE_H
#define SYM_UNDECORATE_H

#include "base/str.h"

typedef enum UndecorateForm {
    // The qualified name alone, in the spelling that the compiler gives procedures in PDBs:
    // std::vector<int,std::allocator<int> >::push_back
    UNDECORATE_NAME,
    // Name, parameters and what follows them, spelled at length:
    // std::vector<int, class std::allocator<int>>::push_back(int const &)
    UNDECORATE_PARAMETERS,
    // Everything: public: void __cdecl std::vector<...>::push_back(int const &)
    UNDECORATE_FULL,
} UndecorateForm;

// Replaces the content of `out`. False when the name is not a decorated C++ name or cannot be
// decoded whole; `out` then holds the name unchanged, never a part of it.
bool undecorate(Str name, UndecorateForm form, Buf *out);

// What a public or exported C name stands for: "_main" on x86 is "main", "#f" is the ARM64EC form
// of "f", and C++ names are undecorated. `x86`: only there C names carry marks. Result in `arena`,
// or `name` itself.
Str symbol_display_name(Str name, bool x86, Arena *arena);

#endif
