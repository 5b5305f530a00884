// Whole decorated names: what kind of symbol it is, and the text of each form.
// docs/formats/pdb.md, "Names".
#include "sym/undecorate_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_BYTES_MAX = 1 << 20 }; // of all intermediate text of one name

bool und_enter(Undecorator *u) {
    u->depth++;
    u->work++;
    if (u->depth > LIMIT_UNDECORATE_DEPTH || u->work > LIMIT_UNDECORATE_WORK) (void)und_fail(u);
    if (!u->failed) return true;
    u->depth--;
    return false;
}

void und_leave(Undecorator *u) {
    u->depth--;
}

Str und_fail(Undecorator *u) {
    u->failed = true;
    rd_fail(&u->r);
    return (Str){0};
}

int und_peek_at(const Undecorator *u, size_t ahead) {
    return ahead < rd_left(&u->r) ? u->r.p[ahead] : -1;
}

bool und_peek(const Undecorator *u, const char *text) {
    for (size_t i = 0; text[i]; i++)
        if (und_peek_at(u, i) != (unsigned char)text[i]) return false;
    return true;
}

bool und_take(Undecorator *u, const char *text) {
    if (!und_peek(u, text)) return false;
    rd_skip(&u->r, str_from_c(text).n);
    return true;
}

Str und_text(Undecorator *u, const char *format, ...) {
    char text[LIMIT_UNDECORATE_BYTES];
    if (u->failed) return (Str){0};
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text || u->arena->used_bytes > TEXT_BYTES_MAX)
        return und_fail(u);
    return str_copy(u->arena, (Str){text, (size_t)n});
}

// What the letter behind a function's name says about it.
typedef struct FunctionClass {
    const char *access; // "public: " ...
    const char *kind;   // "static ", "virtual "
    bool has_this, bare, thunk;
    unsigned adjustments; // 1: this; 2: vtordisp; 4: vtordispex
} FunctionClass;

static bool member_class(int letter, FunctionClass *out) {
    static const char *const ACCESS[] = {"private: ", "protected: ", "public: "};
    int index = letter - 'A';
    out->access = ACCESS[index / 8];
    int kind = index % 8 / 2; // plain, static, virtual, virtual with adjustment
    out->has_this = kind != 1;
    if (kind == 1) out->kind = "static ";
    if (kind >= 2) out->kind = "virtual ";
    if (kind == 3) {
        out->thunk = true;
        out->adjustments = 1;
    }
    return true;
}

static bool adjusted_class(Undecorator *u, FunctionClass *out) {
    static const char *const ACCESS[] = {"private: ", "protected: ", "public: "};
    out->adjustments = und_take(u, "R") ? 4 : 2;
    int c = rd_u8(&u->r);
    if (c < '0' || c > '5') return false;
    out->access = ACCESS[(c - '0') / 2];
    out->kind = "virtual ";
    out->has_this = out->thunk = true;
    return true;
}

static bool function_class(Undecorator *u, FunctionClass *out) {
    *out = (FunctionClass){.access = "", .kind = ""};
    int c = rd_u8(&u->r);
    if (c >= 'A' && c <= 'X') return member_class(c, out);
    if (c == 'Y' || c == 'Z') return true;
    if (c == '$') return adjusted_class(u, out);
    out->bare = c == '9';
    if (out->bare) out->access = "extern \"C\" ";
    return out->bare;
}

static Str adjustment_text(Undecorator *u, const FunctionClass *class) {
    int64_t v[4] = {0};
    size_t count = class->adjustments; // 1, 2 or 4 numbers, as it happens
    for (size_t i = 0; i < count; i++)
        if (!und_number(u, &v[i])) return (Str){0};
    // All but the last are offsets that may be negative, written as 32 bits.
    for (size_t i = 0; i + 1 < count; i++) v[i] = (int32_t)(uint32_t)v[i];
    if (count == 1) return und_text(u, "`adjustor{%" PRId64 "}'", v[0]);
    if (count == 2) return und_text(u, "`vtordisp{%" PRId64 ", %" PRId64 "}'", v[0], v[1]);
    if (count == 4)
        return und_text(u, "`vtordispex{%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "}'", v[0],
                        v[1], v[2], v[3]);
    return (Str){0};
}

// A conversion operator is named by what it returns.
static void name_conversion(Undecorator *u, SymbolName *name, const TypeText *type) {
    Str whole = und_text(u, "operator" STR_FMT " " STR_FMT STR_FMT, STR_ARG(name->arguments),
                         STR_ARG(type->result_pre), STR_ARG(type->result_post));
    name->qualified = name->scope.n
                          ? und_text(u, STR_FMT "::" STR_FMT, STR_ARG(name->scope), STR_ARG(whole))
                          : whole;
}

static Str function_symbol(Undecorator *u, SymbolName *name, UndecorateForm form) {
    FunctionClass class;
    bool has_result = false;
    bool extern_c = und_take(u, "$$J0");
    (void)und_take(u, "$$h"); // ARM64EC
    if (!function_class(u, &class)) return und_fail(u);
    Str adjustment = adjustment_text(u, &class);
    TypeText type = {0};
    if (!class.bare) type = und_function_type(u, class.has_this, &has_result);
    if (name->special == NAME_CONVERSION) name_conversion(u, name, &type);
    if (form == UNDECORATE_NAME) return name->qualified;
    const char *thunk = class.thunk ? "[thunk]: " : "";
    if (form == UNDECORATE_PARAMETERS)
        return und_text(u, "%s" STR_FMT STR_FMT STR_FMT, thunk, STR_ARG(name->qualified),
                        STR_ARG(adjustment), STR_ARG(type.parameters));
    return und_text(u, "%s%s%s%s" STR_FMT STR_FMT STR_FMT STR_FMT STR_FMT, thunk, class.access,
                    class.kind, extern_c ? "extern \"C\" " : "", STR_ARG(type.pre),
                    STR_ARG(und_spaced(u, type.convention)), STR_ARG(name->qualified),
                    STR_ARG(adjustment), STR_ARG(type.post));
}

static Str variable_symbol(Undecorator *u, const SymbolName *name, UndecorateForm form) {
    static const char *const STORAGE[] = {"private: static ", "protected: static ",
                                          "public: static ", "", ""};
    int kind = rd_u8(&u->r) - '0';
    TypeText type = und_type(u, QUALIFIERS_DROP);
    unsigned qualifiers = 0;
    bool is_member = false;
    if (type.is_pointer) {
        qualifiers |= und_pointer_qualifiers(u);
        // These are the target's, whose own set says the same.
        (void)und_qualifiers(u, &is_member);
        if (is_member) (void)und_type_name(u);
    } else {
        qualifiers = und_qualifiers(u, &is_member);
    }
    if (form != UNDECORATE_FULL) return name->qualified;
    Str pre = und_text(u, STR_FMT STR_FMT, STR_ARG(type.pre),
                       STR_ARG(und_qualifier_text(u, qualifiers, !type.is_pointer)));
    return und_text(u, "%s" STR_FMT STR_FMT STR_FMT, STORAGE[kind], STR_ARG(und_spaced(u, pre)),
                    STR_ARG(name->qualified), STR_ARG(type.post));
}

static Str table_symbol(Undecorator *u, const SymbolName *name) {
    bool unused;
    if (!und_take(u, "6") && !und_take(u, "7")) return und_fail(u);
    Str words = und_qualifier_text(u, und_qualifiers(u, &unused), false);
    Str out = und_text(u, STR_FMT STR_FMT, STR_ARG(und_spaced(u, words)), STR_ARG(name->qualified));
    if (und_take(u, "@")) return out;
    Str target = und_type_name(u);
    (void)und_take(u, "@");
    return und_text(u, STR_FMT "{for `" STR_FMT "'}", STR_ARG(out), STR_ARG(target));
}

static Str rtti_type(Undecorator *u, const SymbolName *name, UndecorateForm form) {
    TypeText type = und_type(u, QUALIFIERS_RESULT);
    if (!und_take(u, "@8")) return und_fail(u);
    if (form == UNDECORATE_PARAMETERS) return name->text;
    return und_text(u, STR_FMT STR_FMT STR_FMT, STR_ARG(und_spaced(u, type.pre)),
                    STR_ARG(name->text), STR_ARG(type.post));
}

static Str rtti_base(Undecorator *u, SymbolName *name) {
    int64_t v[4] = {0};
    for (size_t i = 0; i < COUNT_OF(v); i++)
        if (!und_number(u, &v[i])) return (Str){0};
    name->text = und_text(u, STR_FMT "%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")'",
                          STR_ARG(name->text), v[0], v[1], v[2], v[3]);
    und_qualified_symbol(u, name);
    return und_take(u, "8") ? name->qualified : und_fail(u);
}

// The initializer of a variable names it as a whole symbol, that of a function by its name.
static Str dynamic_symbol(Undecorator *u, const SymbolName *name, UndecorateForm form) {
    if (und_peek(u, "?")) {
        Str variable = und_symbol(u, u->at_length ? UNDECORATE_FULL : UNDECORATE_NAME);
        (void)und_take(u, "@@");
        SymbolName of = {
            .text = und_text(u, STR_FMT "`" STR_FMT "''", STR_ARG(name->text), STR_ARG(variable))};
        of.qualified = of.text;
        return function_symbol(u, &of, form);
    }
    SymbolName inner = und_symbol_name(u);
    und_qualified_symbol(u, &inner);
    SymbolName of = {.text = und_text(u, STR_FMT "'" STR_FMT "''", STR_ARG(name->text),
                                      STR_ARG(inner.qualified))};
    of.qualified = of.text;
    return function_symbol(u, &of, form);
}

static Str guard_symbol(Undecorator *u, SymbolName *name) {
    int64_t index = 0;
    und_qualified_symbol(u, name);
    bool visible = und_take(u, "5");
    if (!visible && !und_take(u, "4IA")) return und_fail(u);
    if (rd_left(&u->r) && (!und_number(u, &index))) return (Str){0};
    return index > 1 || visible
               ? und_text(u, STR_FMT "{%" PRId64 "}", STR_ARG(name->qualified), index)
               : name->qualified;
}

static Str vcall_symbol(Undecorator *u, SymbolName *name, UndecorateForm form) {
    int64_t offset = 0;
    und_qualified_symbol(u, name);
    if (!und_take(u, "$B") || !und_number(u, &offset) || !und_take(u, "A")) return und_fail(u);
    int convention = rd_u8(&u->r);
    Str words = convention == 'E' ? STR("__thiscall ") : STR("__cdecl ");
    if (form == UNDECORATE_NAME) return name->qualified;
    return und_text(u, "[thunk]: " STR_FMT STR_FMT "{%" PRId64 ", {flat}}",
                    STR_ARG(form == UNDECORATE_FULL ? words : (Str){0}), STR_ARG(name->qualified),
                    offset);
}

static Str symbol_behind_name(Undecorator *u, SymbolName *name, UndecorateForm form) {
    switch (name->special) {
    case NAME_STRING: return und_string_literal(u);
    case NAME_RTTI_TYPE: return rtti_type(u, name, form);
    case NAME_RTTI_BASE: return rtti_base(u, name);
    case NAME_DYNAMIC: return dynamic_symbol(u, name, form);
    case NAME_GUARD: return guard_symbol(u, name);
    case NAME_VCALL: return vcall_symbol(u, name, form);
    case NAME_TABLE: und_qualified_symbol(u, name); return table_symbol(u, name);
    case NAME_RTTI_LIST:
        und_qualified_symbol(u, name);
        return und_take(u, "8") ? name->qualified : und_fail(u);
    case NAME_PLAIN:
    case NAME_CONSTRUCTOR:
    case NAME_DESTRUCTOR:
    case NAME_CONVERSION: break;
    }
    und_qualified_symbol(u, name);
    int c = und_peek_at(u, 0);
    return c >= '0' && c <= '4' ? variable_symbol(u, name, form) : function_symbol(u, name, form);
}

Str und_symbol(Undecorator *u, UndecorateForm form) {
    Str out = {0};
    if (!und_enter(u)) return out;
    if (und_take(u, "?")) {
        SymbolName name = und_symbol_name(u);
        if (!u->failed) out = symbol_behind_name(u, &name, form);
    } else {
        (void)und_fail(u);
    }
    und_leave(u);
    return u->failed ? (Str){0} : out;
}

static Str type_info_name(Undecorator *u) {
    rd_skip(&u->r, 1);
    TypeText type = und_type(u, QUALIFIERS_RESULT);
    return und_text(u, STR_FMT " `RTTI Type Descriptor Name'" STR_FMT, STR_ARG(type.pre),
                    STR_ARG(type.post));
}

bool undecorate(Str name, UndecorateForm form, Buf *out) {
    buf_clear(out);
    AUTO(arena_done) Arena arena = {0};
    Undecorator u = {.r = rd_from(name.p, name.n),
                     .arena = &arena,
                     .form = form,
                     .at_length = form != UNDECORATE_NAME};
    Str text = {0};
    // Names too long for the compiler are stored as a hash.
    if (str_starts(name, STR("?")) && !str_starts(name, STR("??@")))
        text = und_symbol(&u, form);
    else if (str_starts(name, STR(".?A")))
        text = type_info_name(&u);
    // Funclets and hot-patched copies add a suffix behind the whole name; it is kept.
    Str rest = u.failed ? (Str){0} : str_slice(name, name.n - rd_left(&u.r), name.n);
    bool good = !u.failed && text.n && (rest.n == 0 || rest.p[0] == '$' || rest.p[0] == '.');
    buf_add(out, good ? text : name);
    if (good) buf_add(out, rest);
    return good;
}

static bool all_digits(Str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9') return false;
    return s.n != 0;
}

// "_f@8" and "@f@8" are f; "f@@16" is f on every machine.
static Str strip_convention(Str name, bool x86) {
    size_t at = str_rfind_char(name, '@');
    bool counted = at != SIZE_MAX && at > 0 && all_digits(str_slice(name, at + 1, name.n));
    if (counted && name.p[at - 1] == '@' && at > 1) return str_slice(name, 0, at - 1);
    if (!x86) return name;
    if (str_starts(name, STR("__imp_")) || str_starts(name, STR("__imp__"))) return name;
    if (counted && at > 1 && (name.p[0] == '_' || name.p[0] == '@')) return str_slice(name, 1, at);
    return name.n > 1 && name.p[0] == '_' ? str_slice(name, 1, name.n) : name;
}

Str symbol_display_name(Str name, bool x86, Arena *arena) {
    if (name.n > 1 && name.p[0] == '#') name = str_slice(name, 1, name.n);
    if (name.n == 0 || name.p[0] != '?') return strip_convention(name, x86);
    AUTO(buf_done) Buf out = {.max = LIMIT_UNDECORATE_BYTES};
    return undecorate(name, UNDECORATE_NAME, &out) ? str_copy(arena, buf_str(&out)) : name;
}
