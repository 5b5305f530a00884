// Names inside decorated names: fragments, back references, templates, scopes and special names.
#include "sym/undecorate_internal.h"

#include <inttypes.h>

typedef struct SpecialEntry {
    const char *code; // behind the '?'
    const char *text;
    SpecialName kind;
} SpecialEntry;

// "ctor" and "dtor" are spelled out in the short form, as the compiler spells procedures.
static const SpecialEntry SPECIALS[] = {
    {"0",   "",                                                 NAME_CONSTRUCTOR},
    {"1",   "",                                                 NAME_DESTRUCTOR },
    {"2",   "operator new",                                     NAME_PLAIN      },
    {"3",   "operator delete",                                  NAME_PLAIN      },
    {"4",   "operator=",                                        NAME_PLAIN      },
    {"5",   "operator>>",                                       NAME_PLAIN      },
    {"6",   "operator<<",                                       NAME_PLAIN      },
    {"7",   "operator!",                                        NAME_PLAIN      },
    {"8",   "operator==",                                       NAME_PLAIN      },
    {"9",   "operator!=",                                       NAME_PLAIN      },
    {"A",   "operator[]",                                       NAME_PLAIN      },
    {"B",   "",                                                 NAME_CONVERSION },
    {"C",   "operator->",                                       NAME_PLAIN      },
    {"D",   "operator*",                                        NAME_PLAIN      },
    {"E",   "operator++",                                       NAME_PLAIN      },
    {"F",   "operator--",                                       NAME_PLAIN      },
    {"G",   "operator-",                                        NAME_PLAIN      },
    {"H",   "operator+",                                        NAME_PLAIN      },
    {"I",   "operator&",                                        NAME_PLAIN      },
    {"J",   "operator->*",                                      NAME_PLAIN      },
    {"K",   "operator/",                                        NAME_PLAIN      },
    {"L",   "operator%",                                        NAME_PLAIN      },
    {"M",   "operator<",                                        NAME_PLAIN      },
    {"N",   "operator<=",                                       NAME_PLAIN      },
    {"O",   "operator>",                                        NAME_PLAIN      },
    {"P",   "operator>=",                                       NAME_PLAIN      },
    {"Q",   "operator,",                                        NAME_PLAIN      },
    {"R",   "operator()",                                       NAME_PLAIN      },
    {"S",   "operator~",                                        NAME_PLAIN      },
    {"T",   "operator^",                                        NAME_PLAIN      },
    {"U",   "operator|",                                        NAME_PLAIN      },
    {"V",   "operator&&",                                       NAME_PLAIN      },
    {"W",   "operator||",                                       NAME_PLAIN      },
    {"X",   "operator*=",                                       NAME_PLAIN      },
    {"Y",   "operator+=",                                       NAME_PLAIN      },
    {"Z",   "operator-=",                                       NAME_PLAIN      },
    {"_0",  "operator/=",                                       NAME_PLAIN      },
    {"_1",  "operator%=",                                       NAME_PLAIN      },
    {"_2",  "operator>>=",                                      NAME_PLAIN      },
    {"_3",  "operator<<=",                                      NAME_PLAIN      },
    {"_4",  "operator&=",                                       NAME_PLAIN      },
    {"_5",  "operator|=",                                       NAME_PLAIN      },
    {"_6",  "operator^=",                                       NAME_PLAIN      },
    {"_7",  "`vftable'",                                        NAME_TABLE      },
    {"_8",  "`vbtable'",                                        NAME_TABLE      },
    {"_9",  "`vcall'",                                          NAME_VCALL      },
    {"_A",  "`typeof'",                                         NAME_PLAIN      },
    {"_B",  "`local static guard'",                             NAME_GUARD      },
    {"_C",  "`string'",                                         NAME_STRING     },
    {"_D",  "`vbase dtor'",                                     NAME_PLAIN      },
    {"_E",  "`vector deleting dtor'",                           NAME_PLAIN      },
    {"_F",  "`default ctor closure'",                           NAME_PLAIN      },
    {"_G",  "`scalar deleting dtor'",                           NAME_PLAIN      },
    {"_H",  "`vector ctor iterator'",                           NAME_PLAIN      },
    {"_I",  "`vector dtor iterator'",                           NAME_PLAIN      },
    {"_J",  "`vector vbase ctor iterator'",                     NAME_PLAIN      },
    {"_K",  "`virtual displacement map'",                       NAME_PLAIN      },
    {"_L",  "`eh vector ctor iterator'",                        NAME_PLAIN      },
    {"_M",  "`eh vector dtor iterator'",                        NAME_PLAIN      },
    {"_N",  "`eh vector vbase ctor iterator'",                  NAME_PLAIN      },
    {"_O",  "`copy ctor closure'",                              NAME_PLAIN      },
    {"_P",  "`udt returning'",                                  NAME_PLAIN      },
    {"_R0", "`RTTI Type Descriptor'",                           NAME_RTTI_TYPE  },
    {"_R1", "`RTTI Base Class Descriptor at (",                 NAME_RTTI_BASE  },
    {"_R2", "`RTTI Base Class Array'",                          NAME_RTTI_LIST  },
    {"_R3", "`RTTI Class Hierarchy Descriptor'",                NAME_RTTI_LIST  },
    {"_R4", "`RTTI Complete Object Locator'",                   NAME_TABLE      },
    {"_S",  "`local vftable'",                                  NAME_TABLE      },
    {"_T",  "`local vftable ctor closure'",                     NAME_PLAIN      },
    {"_U",  "operator new[]",                                   NAME_PLAIN      },
    {"_V",  "operator delete[]",                                NAME_PLAIN      },
    {"_X",  "`placement delete closure'",                       NAME_PLAIN      },
    {"_Y",  "`placement delete[] closure'",                     NAME_PLAIN      },
    {"__A", "`managed vector ctor iterator'",                   NAME_PLAIN      },
    {"__B", "`managed vector dtor iterator'",                   NAME_PLAIN      },
    {"__C", "`EH vector copy ctor iterator'",                   NAME_PLAIN      },
    {"__D", "`EH vector vbase copy ctor iterator'",             NAME_PLAIN      },
    {"__E", "`dynamic initializer for ",                        NAME_DYNAMIC    },
    {"__F", "`dynamic atexit destructor for ",                  NAME_DYNAMIC    },
    {"__G", "`vector copy ctor iterator'",                      NAME_PLAIN      },
    {"__H", "`vector vbase copy constructor iterator'",         NAME_PLAIN      },
    {"__I", "`managed vector vbase copy constructor iterator'", NAME_PLAIN      },
    {"__J", "`local static thread guard'",                      NAME_GUARD      },
    {"__L", "operator co_await",                                NAME_PLAIN      },
    {"__M", "operator<=>",                                      NAME_PLAIN      },
};

Str und_special_text(const Undecorator *u, const char *text) {
    Str left = str_from_c(text), out = {0};
    if (u->at_length) return left;
    for (;;) {
        size_t c = str_find(left, STR(" ctor")), d = str_find(left, STR(" dtor"));
        size_t at = c < d ? c : d;
        if (at == SIZE_MAX) break;
        out = str_format(u->arena, STR_FMT STR_FMT "%s", STR_ARG(out),
                         STR_ARG(str_slice(left, 0, at)), c < d ? " constructor" : " destructor");
        left = str_slice(left, at + sizeof " ctor" - 1, left.n);
    }
    return out.n ? str_format(u->arena, STR_FMT STR_FMT, STR_ARG(out), STR_ARG(left)) : left;
}

bool und_number(Undecorator *u, int64_t *out) {
    bool negative = und_take(u, "?");
    uint64_t value = 0;
    int c = und_peek_at(u, 0);
    if (c >= '0' && c <= '9') {
        rd_skip(&u->r, 1);
        value = (uint64_t)(c - '0') + 1;
    } else {
        for (unsigned digits = 0;; digits++) {
            c = rd_u8(&u->r);
            if (c == '@') break;
            if (c < 'A' || c > 'P' || digits == 16) {
                (void)und_fail(u);
                return false;
            }
            value = value << 4 | (uint64_t)(c - 'A');
        }
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return !u->failed;
}

void und_remember_name(Undecorator *u, Str name) {
    if (u->back.name_count == BACK_REFERENCES) return;
    for (size_t i = 0; i < u->back.name_count; i++)
        if (str_eq(u->back.names[i], name)) return;
    u->back.names[u->back.name_count++] = name;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static Str back_name(Undecorator *u) {
    size_t index = (size_t)(rd_u8(&u->r) - '0');
    return index < u->back.name_count ? u->back.names[index] : und_fail(u);
}

// A plain fragment up to its '@'.
static Str fragment(Undecorator *u) {
    Rd look = u->r;
    size_t n = 0;
    while (rd_left(&look) && rd_u8(&look) != '@') n++;
    if (n == 0 || n == rd_left(&u->r)) return und_fail(u);
    Str name = rd_bytes(&u->r, n);
    rd_skip(&u->r, 1);
    und_remember_name(u, name);
    return name;
}

static SymbolName special_name(Undecorator *u) {
    SymbolName out = {0};
    if (und_take(u, "__K")) {
        out.text = und_text(u, "operator \"\"" STR_FMT, STR_ARG(fragment(u)));
        return out;
    }
    for (size_t i = COUNT_OF(SPECIALS); i > 0; i--) {
        const SpecialEntry *entry = &SPECIALS[i - 1];
        if (!und_take(u, entry->code)) continue;
        out.special = entry->kind;
        out.text = und_special_text(u, entry->text);
        return out;
    }
    (void)und_fail(u);
    return out;
}

// Behind "?$": a name and its arguments, in a table of its own.
static SymbolName template_name(Undecorator *u, bool symbol) {
    SymbolName out = {0};
    if (!und_enter(u)) return out;
    BackReferences *outer = ARENA_NEW(u->arena, BackReferences);
    *outer = u->back;
    u->back.name_count = u->back.type_count = 0;
    if (symbol && und_take(u, "?"))
        out = special_name(u);
    else
        out.text = is_digit(und_peek_at(u, 0)) ? back_name(u) : fragment(u);
    out.arguments = und_template_arguments(u);
    u->back = *outer;
    und_leave(u);
    return out;
}

static Str whole_template(Undecorator *u, const SymbolName *name) {
    return und_text(u, STR_FMT STR_FMT, STR_ARG(name->text), STR_ARG(name->arguments));
}

SymbolName und_symbol_name(Undecorator *u) {
    SymbolName out = {0};
    if (is_digit(und_peek_at(u, 0))) {
        out.text = back_name(u);
    } else if (und_take(u, "?$")) {
        out = template_name(u, true); // the symbol's own template is no back reference
    } else if (und_take(u, "?")) {
        out = special_name(u);
    } else {
        out.text = fragment(u);
    }
    return out;
}

static Str anonymous_namespace(Undecorator *u) {
    Rd look = u->r;
    size_t n = 0;
    while (rd_left(&look) && rd_u8(&look) != '@') n++;
    if (n == rd_left(&u->r)) return und_fail(u);
    rd_skip(&u->r, n + 1);
    // What follows the A tells namespaces of different files apart, so it counts as the name.
    Str name = STR("`anonymous namespace'");
    und_remember_name(u, name);
    return name;
}

// "?N?": a scope inside a function, told from other things that begin with '?' by its number.
static bool is_local_scope(const Undecorator *u) {
    int c = und_peek_at(u, 1);
    if (und_peek_at(u, 0) != '?') return false;
    if (is_digit(c) || c == '@') return und_peek_at(u, 2) == '?';
    if (c < 'B' || c > 'P') return false;
    size_t i = 2;
    while (und_peek_at(u, i) >= 'A' && und_peek_at(u, i) <= 'P' && i < 20) i++;
    return und_peek_at(u, i) == '@' && und_peek_at(u, i + 1) == '?';
}

static Str local_scope(Undecorator *u) {
    int64_t number = 0;
    rd_skip(&u->r, 1);
    if (!und_number(u, &number) || !und_take(u, "?")) return und_fail(u);
    Str function = und_symbol(u, u->at_length ? UNDECORATE_FULL : UNDECORATE_NAME);
    if (u->at_length) return und_text(u, "`" STR_FMT "'::`%" PRId64 "'", STR_ARG(function), number);
    return und_text(u, STR_FMT "::__l%" PRId64, STR_ARG(function), number);
}

static Str scope_piece(Undecorator *u) {
    if (is_digit(und_peek_at(u, 0))) return back_name(u);
    if (und_take(u, "?$")) {
        SymbolName name = template_name(u, false);
        Str whole = whole_template(u, &name);
        und_remember_name(u, whole);
        return whole;
    }
    if (und_take(u, "?A") || und_take(u, "?%")) return anonymous_namespace(u);
    if (is_local_scope(u)) return local_scope(u);
    return fragment(u);
}

Str und_scope(Undecorator *u, Str *innermost) {
    Str scope = {0};
    *innermost = scope;
    if (!und_enter(u)) return scope;
    while (!u->failed && !und_take(u, "@")) {
        if (rd_left(&u->r) == 0) {
            (void)und_fail(u);
            break;
        }
        Str piece = scope_piece(u);
        if (innermost->n == 0) *innermost = piece;
        scope = scope.n ? und_text(u, STR_FMT "::" STR_FMT, STR_ARG(piece), STR_ARG(scope)) : piece;
    }
    und_leave(u);
    return scope;
}

static Str join(Undecorator *u, Str scope, Str name) {
    return scope.n ? und_text(u, STR_FMT "::" STR_FMT, STR_ARG(scope), STR_ARG(name)) : name;
}

void und_qualified_symbol(Undecorator *u, SymbolName *name) {
    Str class_name;
    name->scope = und_scope(u, &class_name);
    if (name->special == NAME_CONSTRUCTOR) name->text = class_name;
    if (name->special == NAME_DESTRUCTOR)
        name->text = und_text(u, "~" STR_FMT, STR_ARG(class_name));
    bool structor = name->special == NAME_CONSTRUCTOR || name->special == NAME_DESTRUCTOR;
    if (structor && class_name.n == 0) (void)und_fail(u);
    name->qualified = join(u, name->scope, whole_template(u, name));
}

Str und_type_name(Undecorator *u) {
    Str name, unused;
    if (!und_enter(u)) return (Str){0};
    if (is_digit(und_peek_at(u, 0))) {
        name = back_name(u);
    } else if (und_take(u, "?$")) {
        SymbolName parts = template_name(u, false);
        name = whole_template(u, &parts);
        und_remember_name(u, name);
    } else {
        name = fragment(u);
    }
    Str scope = und_scope(u, &unused);
    und_leave(u);
    return join(u, scope, name);
}
