// The state of one decoding and the parts of the grammar, shared by the undecorate_*.c files.
#ifndef SYM_UNDECORATE_INTERNAL_H
#define SYM_UNDECORATE_INTERNAL_H

#include "base/limits.h"
#include "base/rd.h"
#include "sym/undecorate.h"

enum { BACK_REFERENCES = 10 };

// A type as text around the place where a declared name would stand: "void (*" and ")(int)".
typedef struct TypeText {
    Str pre, post;
    Str convention; // calling convention of a function type, else empty
    Str parameters; // of a function type: its post without that of its result
    Str result_pre, result_post;
    bool is_function, is_array, is_pointer;
} TypeText;

// Names and types seen before, which digits refer to. Templates open a table of their own.
typedef struct BackReferences {
    Str names[BACK_REFERENCES];
    size_t name_count;
    TypeText types[BACK_REFERENCES];
    size_t type_count;
} BackReferences;

typedef struct Undecorator {
    Rd r;
    Arena *arena;
    BackReferences back;
    unsigned depth, work;
    bool failed;
    bool at_length;      // spell class keywords, ", " and ">>"
    UndecorateForm form; // of the outermost name
} Undecorator;

// Each step counts; too deep or too much work fails. Every enter needs a leave.
bool und_enter(Undecorator *u);
void und_leave(Undecorator *u);
Str und_fail(Undecorator *u); // marks failure; the empty slice
bool und_peek(const Undecorator *u, const char *text);
bool und_take(Undecorator *u, const char *text);     // moves over it when it is next
int und_peek_at(const Undecorator *u, size_t ahead); // byte, or -1
Str und_text(Undecorator *u, const char *format, ...) PRINTF_LIKE(2, 3); // bounded in size

bool und_number(Undecorator *u, int64_t *out);
void und_remember_name(Undecorator *u, Str name);

// Special names (constructors, operators ...), as parsed before the scope is known.
typedef enum SpecialName {
    NAME_PLAIN,
    NAME_CONSTRUCTOR,
    NAME_DESTRUCTOR,
    NAME_CONVERSION,
    NAME_TABLE,     // vftable and the like: its own encoding follows
    NAME_RTTI_TYPE, // ??_R0
    NAME_RTTI_BASE, // ??_R1
    NAME_RTTI_LIST, // ??_R2, ??_R3
    NAME_DYNAMIC,   // ??__E, ??__F
    NAME_GUARD,     // ??_B, ??__J
    NAME_VCALL,     // ??_9
    NAME_STRING,    // ??_C
} SpecialName;

typedef struct SymbolName {
    SpecialName special;
    Str text;      // the innermost part; of a constructor empty until its class is known
    Str arguments; // "<int>" of a template, behind the text
    Str qualified; // the whole name, set by und_qualified_symbol
    Str scope;     // the whole scope, set with it
} SymbolName;

SymbolName und_symbol_name(Undecorator *u);                  // innermost part
Str und_type_name(Undecorator *u);                           // qualified name of a class or enum
void und_qualified_symbol(Undecorator *u, SymbolName *name); // reads the scope up to its '@'
Str und_scope(Undecorator *u, Str *innermost);               // scope alone, up to its '@'
Str und_special_text(const Undecorator *u, const char *text);

typedef enum QualifierMode { QUALIFIERS_DROP, QUALIFIERS_MANGLE, QUALIFIERS_RESULT } QualifierMode;
TypeText und_type(Undecorator *u, QualifierMode mode);
// Everything of a function type behind its class letter: convention, result, parameters.
TypeText und_function_type(Undecorator *u, bool has_this, bool *has_result);
Str und_template_arguments(Undecorator *u);
unsigned und_qualifiers(Undecorator *u, bool *is_member);
unsigned und_pointer_qualifiers(Undecorator *u);
Str und_qualifier_text(Undecorator *u, unsigned qualifiers, bool space_before);
Str und_spaced(Undecorator *u, Str text); // with a blank behind when a word follows a word

// A whole symbol, starting at its '?'. `form` as for undecorate.
Str und_symbol(Undecorator *u, UndecorateForm form);
Str und_string_literal(Undecorator *u); // behind ??_C

enum {
    QUALIFIER_CONST = 1,
    QUALIFIER_VOLATILE = 2,
    QUALIFIER_RESTRICT = 4,
    QUALIFIER_UNALIGNED = 8,
};

#endif
