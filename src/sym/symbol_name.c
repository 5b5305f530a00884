// Names and keys of symbol stores. docs/formats/pdb.md, "Identity" and "Finding files".
#include "sym/symbol_internal.h"

// GUID as its fields print, then the age without leading zeros; an image's time stamp has eight
// digits, its size none too many and in lower case. Some servers are particular about this form.
Str symbol_key(const SymbolId *id, Arena *arena) {
    if (id->is_image)
        return str_format(arena, "%08" PRIX32 "%" PRIx32, id->time_date_stamp, id->image_size);
    AUTO(buf_done) Buf out = {0};
    if (id->is_perfmap) { // the signature has no fields: bytes as they are, in lower case
        buf_addf(&out, "r2rmap-v%" PRIu32 "-", id->age);
        for (size_t i = 0; i < sizeof id->guid.bytes; i++)
            buf_addf(&out, "%02x", id->guid.bytes[i]);
        return str_copy(arena, buf_str(&out));
    }
    Rd r = rd_from(id->guid.bytes, sizeof id->guid.bytes);
    buf_addf(&out, "%08" PRIX32, rd_u32(&r));
    buf_addf(&out, "%04X", rd_u16(&r));
    buf_addf(&out, "%04X", rd_u16(&r));
    while (rd_left(&r)) buf_addf(&out, "%02X", rd_u8(&r));
    if (id->portable)
        buf_add_c(&out, "FFFFFFFF");
    else
        buf_addf(&out, "%" PRIX32, id->age);
    return str_copy(arena, buf_str(&out));
}

SymbolId symbol_perfmap_id(const PeIdentity *image, Arena *arena) {
    Str name = str_copy(arena, path_name(image->perfmap_path));
    char *lower = str_to_c(arena, name);
    for (size_t i = 0; i < name.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z') lower[i] = (char)(lower[i] + ('a' - 'A'));
    return (SymbolId){
        .name = {lower, name.n},
        .is_perfmap = true,
        .guid = image->perfmap_signature,
        .age = image->perfmap_version
    };
}

Str symbol_store_path(const SymbolId *id, Arena *arena) {
    Str key = symbol_key(id, arena);
    return str_format(arena, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(id->name), STR_ARG(key),
                      STR_ARG(id->name));
}

static bool is_device_name(Str name) {
    static const char *const DEVICES[] = {"con", "prn", "aux", "nul"};
    Str stem = str_slice(name, 0, str_find(name, STR(".")));
    for (size_t i = 0; i < COUNT_OF(DEVICES); i++)
        if (str_eq_nocase(stem, str_from_c(DEVICES[i]))) return true;
    bool port = stem.n == 4 && (str_eq_nocase(str_slice(stem, 0, 3), STR("com")) ||
                                str_eq_nocase(str_slice(stem, 0, 3), STR("lpt")));
    return port && stem.p[3] >= '0' && stem.p[3] <= '9';
}

bool symbol_name_is_safe(Str name) {
    if (name.n == 0 || name.n > LIMIT_SYMBOL_NAME_BYTES || !str_is_utf8(name)) return false;
    char first = name.p[0], last = name.p[name.n - 1];
    if (first == ' ' || first == '.' || last == ' ' || last == '.') return false;
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < 0x20 || c == 0x7F ||
            (c < 0x80 && str_find(STR("/\\:*?\"<>|;^`'"), (Str){&name.p[i], 1}) != SIZE_MAX))
            return false;
    }
    return !is_device_name(name);
}

Str packed_name(Str name, Arena *arena) {
    Str out = str_copy(arena, name);
    if (out.n == 0) return out;
    return str_format(arena, STR_FMT "_", STR_ARG(str_slice(out, 0, out.n - 1)));
}

const char *symbol_outcome_name(SymbolOutcome outcome) {
    switch (outcome) {
    case SYMBOL_CACHED: return "already cached";
    case SYMBOL_DOWNLOADED: return "downloaded";
    case SYMBOL_NOT_FOUND: return "not found";
    case SYMBOL_NOT_ON_SERVER: return "not on server";
    case SYMBOL_MISMATCH: return "identity mismatch";
    case SYMBOL_DAMAGED: return "damaged file";
    case SYMBOL_NETWORK_ERROR: return "network error";
    case SYMBOL_SKIPPED: return "skipped";
    case SYMBOL_BAD_NAME: return "bad name";
    case SYMBOL_CANCELLED: return "cancelled";
    }
    return "unknown";
}
