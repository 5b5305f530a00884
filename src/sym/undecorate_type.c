// Types inside decorated names, as text around the place of a declared name.
#include "sym/undecorate_internal.h"

#include <ctype.h>
#include <inttypes.h>

typedef struct Primitive {
    const char *code;
    const char *text;
} Primitive;

static const Primitive PRIMITIVES[] = {
    {"$$T", "std::nullptr_t"   },
    {"X",   "void"             },
    {"D",   "char"             },
    {"C",   "signed char"      },
    {"E",   "unsigned char"    },
    {"F",   "short"            },
    {"G",   "unsigned short"   },
    {"H",   "int"              },
    {"I",   "unsigned int"     },
    {"J",   "long"             },
    {"K",   "unsigned long"    },
    {"M",   "float"            },
    {"N",   "double"           },
    {"O",   "long double"      },
    {"_D",  "__int8"           },
    {"_E",  "unsigned __int8"  },
    {"_F",  "__int16"          },
    {"_G",  "unsigned __int16" },
    {"_H",  "__int32"          },
    {"_I",  "unsigned __int32" },
    {"_J",  "__int64"          },
    {"_K",  "unsigned __int64" },
    {"_L",  "__int128"         },
    {"_M",  "unsigned __int128"},
    {"_N",  "bool"             },
    {"_P",  "auto"             },
    {"_Q",  "char8_t"          },
    {"_S",  "char16_t"         },
    {"_T",  "decltype(auto)"   },
    {"_U",  "char32_t"         },
    {"_W",  "wchar_t"          },
};

Str und_qualifier_text(Undecorator *u, unsigned qualifiers, bool space_before) {
    static const struct {
        unsigned bit;
        const char *text;
    } WORDS[] = {
        {QUALIFIER_CONST,    "const"     },
        {QUALIFIER_VOLATILE, "volatile"  },
        {QUALIFIER_RESTRICT, "__restrict"},
    };
    Str out = {0};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (qualifiers & WORDS[i].bit)
            out = und_text(u, STR_FMT "%s%s", STR_ARG(out), out.n || space_before ? " " : "",
                           WORDS[i].text);
    return out;
}

Str und_spaced(Undecorator *u, Str text) {
    if (text.n == 0) return text;
    unsigned char last = (unsigned char)text.p[text.n - 1];
    bool word = isalnum(last) || last == '>' || (last == '_' && !u->at_length);
    return word ? und_text(u, STR_FMT " ", STR_ARG(text)) : text;
}

// Letter of a qualifier set. Q to T are those of members, whose class follows.
unsigned und_qualifiers(Undecorator *u, bool *is_member) {
    int c = rd_u8(&u->r);
    *is_member = c >= 'Q' && c <= 'T';
    int index = *is_member ? c - 'Q' : c - 'A';
    if (index < 0 || index > 3) (void)und_fail(u);
    return (index & 1 ? QUALIFIER_CONST : 0u) | (index & 2 ? QUALIFIER_VOLATILE : 0u);
}

// E says "64-bit pointer", which nobody spells.
unsigned und_pointer_qualifiers(Undecorator *u) {
    unsigned out = 0;
    for (;;) {
        if (und_take(u, "E")) continue;
        if (und_take(u, "I"))
            out |= QUALIFIER_RESTRICT;
        else if (und_take(u, "F"))
            out |= QUALIFIER_UNALIGNED;
        else
            return out;
    }
}

static TypeText plain(Undecorator *u, Str text, unsigned qualifiers) {
    Str q = und_qualifier_text(u, qualifiers, true);
    return (TypeText){.pre = q.n ? und_text(u, STR_FMT STR_FMT, STR_ARG(text), STR_ARG(q)) : text};
}

static TypeText tag_type(Undecorator *u, unsigned qualifiers) {
    int c = rd_u8(&u->r);
    const char *word = c == 'T' ? "union " : c == 'U' ? "struct " : c == 'V' ? "class " : "enum ";
    if (c == 'W' && !und_take(u, "4")) (void)und_fail(u);
    Str name = und_type_name(u);
    if (u->at_length) name = und_text(u, "%s" STR_FMT, word, STR_ARG(name));
    return plain(u, name, qualifiers);
}

// What a pointer adds around its target: "(cc Class::*const" and ")".
static TypeText wrap_pointer(Undecorator *u, TypeText target, const char *sign, Str class_name,
                             unsigned qualifiers) {
    bool braces = target.is_function || target.is_array;
    const char *unaligned = qualifiers & QUALIFIER_UNALIGNED ? "__unaligned " : "";
    Str member = class_name.n ? und_text(u, STR_FMT "::", STR_ARG(class_name)) : class_name;
    Str q = und_qualifier_text(u, qualifiers, false);
    const char *gap = target.is_function && (u->at_length || class_name.n) ? " " : "";
    TypeText out = {.is_pointer = true};
    out.pre = und_text(u, STR_FMT "%s%s" STR_FMT "%s" STR_FMT "%s" STR_FMT,
                       STR_ARG(und_spaced(u, target.pre)), unaligned, braces ? "(" : "",
                       STR_ARG(target.convention), gap, STR_ARG(member), sign, STR_ARG(q));
    out.post = und_text(u, "%s" STR_FMT, braces ? ")" : "", STR_ARG(target.post));
    return out;
}

// Whether the pointer that begins here points to a member of a class.
static bool is_member_pointer(const Undecorator *u) {
    int c = und_peek_at(u, 0);
    if (c < 'P' || c > 'S') return false;
    size_t i = 1;
    c = und_peek_at(u, i);
    if (c >= '0' && c <= '9') return c == '8';
    while (c == 'E' || c == 'I' || c == 'F') c = und_peek_at(u, ++i);
    return c >= 'Q' && c <= 'T';
}

static unsigned pointer_sign(Undecorator *u, const char **sign) {
    *sign = "*";
    if (und_take(u, "$$Q"))
        *sign = "&&";
    else if (und_take(u, "$$R")) {
        *sign = "&&";
        return QUALIFIER_VOLATILE;
    } else {
        int c = rd_u8(&u->r);
        if (c == 'A' || c == 'B') *sign = "&";
        if (c == 'Q') return QUALIFIER_CONST;
        if (c == 'R' || c == 'B') return QUALIFIER_VOLATILE;
        if (c == 'S') return QUALIFIER_CONST | QUALIFIER_VOLATILE;
    }
    return 0;
}

static TypeText member_pointer(Undecorator *u, unsigned qualifiers) {
    const char *sign;
    bool unused, has_result;
    qualifiers |= pointer_sign(u, &sign);
    qualifiers |= und_pointer_qualifiers(u);
    if (und_take(u, "8")) {
        Str class_name = und_type_name(u);
        return wrap_pointer(u, und_function_type(u, true, &has_result), sign, class_name,
                            qualifiers);
    }
    unsigned of_target = und_qualifiers(u, &unused);
    Str class_name = und_type_name(u);
    TypeText target = und_type(u, QUALIFIERS_DROP);
    target.pre = und_text(u, STR_FMT STR_FMT, STR_ARG(target.pre),
                          STR_ARG(und_qualifier_text(u, of_target, true)));
    return wrap_pointer(u, target, sign, class_name, qualifiers);
}

static TypeText pointer_type(Undecorator *u, unsigned qualifiers) {
    const char *sign;
    bool has_result;
    if (is_member_pointer(u)) return member_pointer(u, qualifiers);
    qualifiers |= pointer_sign(u, &sign);
    if (und_take(u, "6"))
        return wrap_pointer(u, und_function_type(u, false, &has_result), sign, (Str){0},
                            qualifiers);
    qualifiers |= und_pointer_qualifiers(u);
    return wrap_pointer(u, und_type(u, QUALIFIERS_MANGLE), sign, (Str){0}, qualifiers);
}

static TypeText array_type(Undecorator *u, unsigned qualifiers) {
    int64_t rank = 0;
    bool unused;
    rd_skip(&u->r, 1);
    if (!und_number(u, &rank) || rank < 1 || rank > 64) {
        (void)und_fail(u);
        return (TypeText){0};
    }
    Str sizes = {0};
    for (int64_t i = 0; i < rank && !u->failed; i++) {
        int64_t size = 0;
        if (!und_number(u, &size)) break;
        // A size of 0 stands for "unknown".
        sizes = size ? und_text(u, STR_FMT "[%" PRIu64 "]", STR_ARG(sizes), (uint64_t)size)
                     : und_text(u, STR_FMT "[]", STR_ARG(sizes));
    }
    if (und_take(u, "$$C")) qualifiers |= und_qualifiers(u, &unused);
    TypeText element = und_type(u, QUALIFIERS_DROP);
    TypeText out = {.is_array = true};
    out.pre = und_text(u, STR_FMT STR_FMT, STR_ARG(element.pre),
                       STR_ARG(und_qualifier_text(u, qualifiers, true)));
    out.post = und_text(u, STR_FMT STR_FMT, STR_ARG(sizes), STR_ARG(element.post));
    return out;
}

static TypeText primitive_type(Undecorator *u, unsigned qualifiers) {
    for (size_t i = 0; i < COUNT_OF(PRIMITIVES); i++)
        if (und_take(u, PRIMITIVES[i].code))
            return plain(u, str_from_c(PRIMITIVES[i].text), qualifiers);
    (void)und_fail(u);
    return (TypeText){0};
}

static bool begins_pointer(const Undecorator *u) {
    int c = und_peek_at(u, 0);
    return (c >= 'P' && c <= 'S') || c == 'A' || c == 'B' || und_peek(u, "$$Q") ||
           und_peek(u, "$$R");
}

static TypeText custom_type(Undecorator *u, unsigned qualifiers) {
    rd_skip(&u->r, 1);
    SymbolName name = und_symbol_name(u);
    if (!und_take(u, "@")) (void)und_fail(u);
    return plain(u, name.text, qualifiers);
}

TypeText und_type(Undecorator *u, QualifierMode mode) {
    TypeText out = {0};
    unsigned qualifiers = 0;
    bool is_member, has_result;
    if (!und_enter(u)) return out;
    if (mode == QUALIFIERS_MANGLE || (mode == QUALIFIERS_RESULT && und_take(u, "?")))
        qualifiers = und_qualifiers(u, &is_member);
    int c = und_peek_at(u, 0);
    if (c >= 'T' && c <= 'W')
        out = tag_type(u, qualifiers);
    else if (begins_pointer(u))
        out = pointer_type(u, qualifiers);
    else if (c == 'Y')
        out = array_type(u, qualifiers);
    else if (und_take(u, "$$A8@@"))
        out = und_function_type(u, true, &has_result);
    else if (und_take(u, "$$A6"))
        out = und_function_type(u, false, &has_result);
    else if (c == '?')
        out = custom_type(u, qualifiers);
    else
        out = primitive_type(u, qualifiers);
    und_leave(u);
    return out;
}

static const char *calling_convention(Undecorator *u) {
    int c = rd_u8(&u->r);
    switch (c) {
    case 'A':
    case 'B': return "__cdecl";
    case 'C':
    case 'D': return "__pascal";
    case 'E':
    case 'F': return "__thiscall";
    case 'G':
    case 'H': return "__stdcall";
    case 'I':
    case 'J': return "__fastcall";
    case 'M':
    case 'N': return "__clrcall";
    case 'O':
    case 'P': return "__eabi";
    case 'Q': return "__vectorcall";
    case 'S': return "__attribute__((__swiftcall__)) ";
    case 'W': return "__attribute__((__swiftasynccall__)) ";
    case 'w': return "__regcall";
    default: (void)und_fail(u); return "";
    }
}

static TypeText parameter(Undecorator *u) {
    int c = und_peek_at(u, 0);
    if (c >= '0' && c <= '9') {
        size_t index = (size_t)(rd_u8(&u->r) - '0');
        if (index < u->back.type_count) return u->back.types[index];
        (void)und_fail(u);
        return (TypeText){0};
    }
    size_t before = rd_left(&u->r);
    TypeText type = und_type(u, QUALIFIERS_DROP);
    if (before - rd_left(&u->r) > 1 && u->back.type_count < BACK_REFERENCES)
        u->back.types[u->back.type_count++] = type;
    return type;
}

static Str parameters(Undecorator *u) {
    const char *comma = u->at_length ? ", " : ",";
    if (und_take(u, "X")) return STR("(void)");
    Str list = STR("(");
    bool first = true;
    while (!u->failed && !und_peek(u, "@") && !und_peek(u, "Z")) {
        TypeText type = parameter(u);
        list = und_text(u, STR_FMT "%s" STR_FMT STR_FMT, STR_ARG(list), first ? "" : comma,
                        STR_ARG(type.pre), STR_ARG(type.post));
        first = false;
    }
    if (und_take(u, "@")) return und_text(u, STR_FMT "%s)", STR_ARG(list), first ? "void" : "");
    (void)und_take(u, "Z");
    return und_text(u, STR_FMT "%s...)", STR_ARG(list), first ? "" : comma);
}

TypeText und_function_type(Undecorator *u, bool has_this, bool *has_result) {
    TypeText out = {.is_function = true}, result = {0};
    unsigned of_this = 0;
    const char *reference = "";
    if (!und_enter(u)) return out;
    if (has_this) {
        bool unused;
        of_this = und_pointer_qualifiers(u);
        reference = und_take(u, "G") ? " &" : und_take(u, "H") ? " &&" : "";
        of_this |= und_qualifiers(u, &unused);
    }
    out.convention = str_from_c(calling_convention(u));
    *has_result = !und_take(u, "@");
    if (*has_result) result = und_type(u, QUALIFIERS_RESULT);
    Str list = parameters(u);
    bool no_throw = und_take(u, "_E");
    if (!no_throw && !und_take(u, "Z")) (void)und_fail(u);
    if (*has_result) out.pre = und_text(u, STR_FMT " ", STR_ARG(result.pre));
    out.parameters = und_text(u, STR_FMT STR_FMT "%s%s%s", STR_ARG(list),
                              STR_ARG(und_qualifier_text(u, of_this, true)),
                              of_this & QUALIFIER_UNALIGNED ? " __unaligned" : "",
                              no_throw ? " noexcept" : "", reference);
    out.post = und_text(u, STR_FMT STR_FMT, STR_ARG(out.parameters), STR_ARG(result.post));
    out.result_pre = result.pre;
    out.result_post = result.post;
    und_leave(u);
    return out;
}

// Member pointers as template arguments: a symbol and displacements in braces.
static Str symbol_argument(Undecorator *u, int kind) {
    Str out = STR("{");
    bool first = true;
    if (und_peek(u, "?")) {
        Str symbol = und_symbol(u, u->at_length ? UNDECORATE_FULL : UNDECORATE_NAME);
        if (kind == '1') return und_text(u, "&" STR_FMT, STR_ARG(symbol));
        if (kind == 'E') return symbol;
        out = und_text(u, "{" STR_FMT, STR_ARG(symbol));
        first = false;
    }
    int count = kind == 'H' || kind == 'F' ? 1 : kind == 'I' || kind == 'G' ? 2 : 3;
    if (kind == 'F') count = 2;
    if (kind == 'G') count = 3;
    for (int i = 0; i < count; i++) {
        int64_t offset = 0;
        if (!und_number(u, &offset)) return (Str){0};
        out = und_text(u, STR_FMT "%s%" PRId64, STR_ARG(out), first ? "" : ", ", offset);
        first = false;
    }
    return und_text(u, STR_FMT "}", STR_ARG(out));
}

static Str type_argument(Undecorator *u, QualifierMode mode) {
    TypeText type = und_type(u, mode);
    // Without results and conventions only the parameters are left of a function type.
    if (type.is_function && u->form == UNDECORATE_PARAMETERS) return type.parameters;
    if (type.is_function)
        return und_text(u, STR_FMT STR_FMT STR_FMT, STR_ARG(type.pre), STR_ARG(type.convention),
                        STR_ARG(type.post));
    return und_text(u, STR_FMT STR_FMT, STR_ARG(type.pre), STR_ARG(type.post));
}

static Str template_argument(Undecorator *u) {
    int64_t number = 0;
    if (und_take(u, "$0")) {
        if (!und_number(u, &number)) return (Str){0};
        return und_text(u, "%" PRId64, number);
    }
    if (und_take(u, "$$Y")) return und_type_name(u);
    if (und_take(u, "$$B")) return type_argument(u, QUALIFIERS_DROP);
    if (und_take(u, "$$C")) return type_argument(u, QUALIFIERS_MANGLE);
    if (und_take(u, "$M")) { // type of an `auto` parameter, then its value
        (void)und_type(u, QUALIFIERS_DROP);
        rd_seek(&u->r, rd_at(&u->r));
        if (und_take(u, "0"))
            return und_number(u, &number) ? und_text(u, "%" PRId64, number) : (Str){0};
        return und_fail(u);
    }
    static const char *const POINTERS[] = {"$1", "$E", "$F", "$G", "$H", "$I", "$J"};
    for (size_t i = 0; i < COUNT_OF(POINTERS); i++)
        if (und_take(u, POINTERS[i])) return symbol_argument(u, POINTERS[i][1]);
    if (und_peek(u, "$") && !und_peek(u, "$$")) return und_fail(u);
    return type_argument(u, QUALIFIERS_DROP);
}

Str und_template_arguments(Undecorator *u) {
    const char *comma = u->at_length ? ", " : ",";
    Str list = STR("<");
    bool first = true;
    if (!und_enter(u)) return (Str){0};
    while (!u->failed && !und_take(u, "@")) {
        if (und_take(u, "$S") || und_take(u, "$$V") || und_take(u, "$$$V") || und_take(u, "$$Z"))
            continue;
        Str argument = template_argument(u);
        list =
            und_text(u, STR_FMT "%s" STR_FMT, STR_ARG(list), first ? "" : comma, STR_ARG(argument));
        first = false;
    }
    und_leave(u);
    bool apart = !u->at_length && list.n && list.p[list.n - 1] == '>';
    return und_text(u, STR_FMT "%s>", STR_ARG(list), apart ? " " : "");
}
