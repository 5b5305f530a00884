// ReadyToRun perf maps, text of UTF-8: lines "RVA size name" with both numbers in hex. The first
// five have pseudo-addresses and size 0: signature, version, OS, architecture, ABI. Later versions
// may append more of those. docs/formats/pdb.md, "Precompiled managed code".
#include "sym/perfmap.h"

#include "sym/symtab_internal.h"

enum {
    HEADER_BYTES_MAX = 4096,
    VERSION_KNOWN = 1,
    SIGNATURE_BYTES = 16,
    SIZE_DIGITS_MAX = 8,
};
#define RVA_SIGNATURE UINT32_C(0xFFFFFFFF)
#define RVA_VERSION UINT32_C(0xFFFFFFFE)
#define RVA_OS UINT32_C(0xFFFFFFFD)
#define RVA_ARCHITECTURE UINT32_C(0xFFFFFFFC)
#define RVA_PSEUDO_MIN UINT32_C(0xFFFFFF00) // no image is that large

typedef struct PerfMapLine {
    uint32_t rva, size;
    Str name;
} PerfMapLine;

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool hex_word(Str text, uint32_t *out) {
    *out = 0;
    if (text.n == 0 || text.n > SIZE_DIGITS_MAX) return false;
    for (size_t i = 0; i < text.n; i++) {
        int digit = hex_digit(text.p[i]);
        if (digit < 0) return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

// Names hold spaces; only the first two end a part.
static bool read_line(Str line, PerfMapLine *out) {
    Str rva = {0}, size = {0};
    if (!str_next(&line, ' ', &rva) || !str_next(&line, ' ', &size)) return false;
    out->name = str_trim(line);
    return hex_word(rva, &out->rva) && hex_word(size, &out->size) && out->name.n;
}

static bool read_signature(Str text, Guid *out) {
    if (text.n != 2 * (size_t)SIGNATURE_BYTES) return false;
    for (size_t i = 0; i < SIGNATURE_BYTES; i++) {
        int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static uint16_t machine_of(uint64_t architecture) {
    static const uint16_t MACHINES[] = {0, MACHINE_ARM32, MACHINE_ARM64, MACHINE_X64, MACHINE_X86};
    return architecture < COUNT_OF(MACHINES) ? MACHINES[architecture] : 0;
}

// One line of the header. False when its value is not what it must be.
static bool take_header(const PerfMapLine *line, PerfMapInfo *info) {
    uint64_t value = 0;
    if (line->rva < RVA_ARCHITECTURE) return true; // ABI, and what later versions append
    if (line->rva == RVA_SIGNATURE) return read_signature(line->name, &info->signature);
    if (!str_to_u64(line->name, &value) || value > UINT32_MAX) return false;
    if (line->rva == RVA_VERSION) info->version = (uint32_t)value;
    if (line->rva == RVA_OS) info->os = (uint32_t)value;
    if (line->rva == RVA_ARCHITECTURE) info->machine = machine_of(value);
    return true;
}

// Signature and version stand first, in this order; `text` is left behind the header.
static Status read_header(Str *text, Str file, PerfMapInfo *out, Err *err) {
    *out = (PerfMapInfo){0};
    bool has_signature = false, has_version = false, good = true;
    Str rest = *text, line;
    while (good && str_next(&rest, '\n', &line)) {
        PerfMapLine parts = {0};
        if (!read_line(line, &parts) || parts.rva < RVA_PSEUDO_MIN) break;
        good = take_header(&parts, out);
        if (parts.rva == RVA_SIGNATURE) has_signature = good;
        if (parts.rva == RVA_VERSION) has_version = good;
        *text = rest;
    }
    if (!good || !has_signature || !has_version)
        return err_set(err, ERR_INPUT, STR_FMT ": damaged perf map: its header is not whole",
                       STR_ARG(file));
    if (out->version != VERSION_KNOWN)
        return err_set(err, ERR_INPUT,
                       STR_FMT ": a perf map of version %" PRIu32 "; only %d is known",
                       STR_ARG(file), out->version, VERSION_KNOWN);
    return OK;
}

static Status load(Source *source, uint64_t most, Buf *out, Err *err) {
    uint64_t size = source_size(source);
    size_t n = (size_t)(size < most ? size : most);
    *out = (Buf){.p = mem_alloc(n + 1), .capacity = n + 1};
    TRY(source_read(source, 0, out->p, n, err));
    out->n = n;
    return OK;
}

Status perfmap_read_info(Source *source, PerfMapInfo *out, Err *err) {
    AUTO(buf_done) Buf bytes = {0};
    TRY(load(source, HEADER_BYTES_MAX, &bytes, err));
    Str text = buf_str(&bytes);
    return read_header(&text, source_name(source), out, err);
}

// The "::" before the method, outside of what brackets enclose; SIZE_MAX: none.
static size_t find_colons(Str name) {
    int depth = 0;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i + 1 < name.n; i++) {
        char c = name.p[i];
        if (c == '<' || c == '[') depth++;
        if (c == '>' || c == ']') depth--;
        if (depth == 0 && c == ':' && name.p[i + 1] == ':') at = i++;
    }
    return at;
}

// Behind the return type, which ends at the last blank outside of brackets.
static size_t find_type(Str name) {
    int depth = 0;
    size_t at = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c == '<' || c == '[') depth++;
        if (c == '>' || c == ']') depth--;
        if (depth == 0 && c == ' ') at = i + 1;
    }
    return at;
}

void perfmap_add_name(Str name, Buf *out) {
    size_t parameters = str_find(name, STR("("));
    Str head = str_slice(name, 0, parameters);
    size_t colons = find_colons(head);
    if (parameters == SIZE_MAX || colons == SIZE_MAX) {
        buf_add(out, name);
        return;
    }
    Str type = str_slice(head, find_type(str_slice(head, 0, colons)), colons);
    buf_add(out, type);
    buf_add_char(out, '.');
    buf_add(out, str_slice(head, colons + 2, head.n));
}

static bool add_method(SymBuild *build, Str line) {
    PerfMapLine parts = {0};
    if (!read_line(line, &parts)) return false;
    if (parts.rva >= RVA_PSEUDO_MIN) return true;
    if (parts.size == 0 || parts.size > RVA_PSEUDO_MIN - parts.rva) return false;
    RawSymbol raw = {.start = parts.rva,
                     .length = parts.size,
                     .name_at = (uint32_t)build->names.n,
                     .module = MODULE_UNKNOWN,
                     .kind = SYMBOL_PROCEDURE};
    perfmap_add_name(parts.name, &build->names);
    raw.name_size = (uint32_t)build->names.n - raw.name_at;
    *vec_push(&build->raw) = raw;
    return true;
}

Status symtab_from_perfmap(Source *source, PerfMapInfo *info, SymTab **out, Err *err) {
    if (source_size(source) > LIMIT_PERFMAP_BYTES)
        return err_set(err, ERR_LIMIT, STR_FMT ": a perf map of %" PRIu64 " bytes",
                       STR_ARG(source_name(source)), source_size(source));
    AUTO(buf_done) Buf bytes = {0};
    TRY(load(source, LIMIT_PERFMAP_BYTES, &bytes, err));
    Str text = buf_str(&bytes), line;
    TRY(read_header(&text, source_name(source), info, err));
    SymBuild build = {.machine = info->machine, .names = {.max = UINT32_MAX}};
    bool damaged = false;
    while (build.raw.count <= LIMIT_SYMBOLS && str_next(&text, '\n', &line)) {
        line = str_trim(line);
        if (line.n && !add_method(&build, line)) damaged = true;
    }
    uint32_t methods = (uint32_t)build.raw.count;
    Status status = symbuild_finish(&build, out, err);
    symbuild_done(&build);
    if (status != OK) return status;
    (*out)->info = (SymTabInfo){.guid = info->signature,
                                .info_age = info->version,
                                .machine = info->machine,
                                .damaged = damaged,
                                .procedures = methods};
    return OK;
}
