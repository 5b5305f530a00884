// Reads TMF text line by line. A message is looked for when its class occurs, so nothing is indexed
// but the GUIDs of files that hold several.
#include "decode/tmf.h"

#include "base/os.h"

#include <stdio.h>

typedef struct ItemType {
    const char *name;
    uint8_t type, out;
} ItemType;

static const ItemType ITEMS[] = {
    {"ItemChar",        IN_I8,       OUT_DEFAULT   },
    {"ItemUChar",       IN_U8,       OUT_DEFAULT   },
    {"ItemShort",       IN_I16,      OUT_DEFAULT   },
    {"ItemUShort",      IN_U16,      OUT_DEFAULT   },
    {"ItemPort",        IN_BE16,     OUT_DEFAULT   },
    {"ItemLong",        IN_I32,      OUT_DEFAULT   },
    {"ItemULong",       IN_U32,      OUT_DEFAULT   },
    {"ItemNTSTATUS",    IN_U32,      OUT_NTSTATUS  },
    {"ItemNDIS_STATUS", IN_U32,      OUT_NTSTATUS  },
    {"ItemWINERROR",    IN_U32,      OUT_WIN32ERROR},
    {"ItemHRESULT",     IN_U32,      OUT_HRESULT   },
    {"ItemNDIS_OID",    IN_HEX32,    OUT_DEFAULT   },
    {"ItemIPAddr",      IN_U32,      OUT_IPV4      },
    {"ItemEnum",        IN_U32,      OUT_DEFAULT   },
    {"ItemFlagsEnum",   IN_HEX32,    OUT_DEFAULT   },
    {"ItemChar4",       IN_U32,      OUT_CHAR4     },
    {"ItemLongLong",    IN_I64,      OUT_DEFAULT   },
    {"ItemULongLong",   IN_U64,      OUT_DEFAULT   },
    {"ItemLongLongX",   IN_HEX64,    OUT_DEFAULT   },
    {"ItemLongLongXX",  IN_HEX64,    OUT_DEFAULT   },
    {"ItemLongLongO",   IN_U64,      OUT_DEFAULT   },
    {"ItemDouble",      IN_F64,      OUT_DEFAULT   },
    {"ItemTimestamp",   IN_FILETIME, OUT_DEFAULT   },
    {"ItemTimeDelta",   IN_I64,      OUT_DEFAULT   },
    {"ItemWaitTime",    IN_I64,      OUT_DEFAULT   },
    {"ItemPtr",         IN_PTR,      OUT_DEFAULT   },
    {"ItemGuid",        IN_GUID,     OUT_DEFAULT   },
    {"ItemCLSID",       IN_GUID,     OUT_DEFAULT   },
    {"ItemIID",         IN_GUID,     OUT_DEFAULT   },
    {"ItemLIBID",       IN_GUID,     OUT_DEFAULT   },
    {"ItemString",      IN_ASTR,     OUT_DEFAULT   },
    {"ItemRString",     IN_ASTR,     OUT_DEFAULT   },
    {"ItemWString",     IN_WSTR,     OUT_DEFAULT   },
    {"ItemRWString",    IN_WSTR,     OUT_DEFAULT   },
    {"ItemPString",     IN_CASTR,    OUT_DEFAULT   },
    {"ItemPWString",    IN_CWSTR,    OUT_DEFAULT   },
    {"ItemSid",         IN_SID,      OUT_DEFAULT   },
    {"ItemHexDump",     IN_CBIN,     OUT_DEFAULT   },
    {"ItemListByte",    IN_U8,       OUT_DEFAULT   },
    {"ItemListShort",   IN_U16,      OUT_DEFAULT   },
    {"ItemListLong",    IN_U32,      OUT_DEFAULT   },
    {"ItemSetByte",     IN_U8,       OUT_DEFAULT   },
    {"ItemSetShort",    IN_U16,      OUT_DEFAULT   },
    {"ItemSetLong",     IN_U32,      OUT_DEFAULT   },
};

// "ItemSetLong(a,b,c)": the list of labels becomes a map of positions, or of bits.
static void set_labels(Str name, Str labels, Arena *arena, FieldsLayout *layout, FieldsDef *def) {
    enum { LABELS_MAX = 4096, BITS_MAX = 64 };
    VEC(FieldsMapEntry) entries = {0};
    FieldsMap map = {.name = name, .bits = str_starts(name, STR("ItemSet"))};
    Str part;
    while (str_next(&labels, ',', &part) && entries.count < (map.bits ? BITS_MAX : LABELS_MAX)) {
        uint64_t position = entries.count;
        Str label = str_copy(arena, str_trim(part));
        *vec_push(&entries) =
            (FieldsMapEntry){map.bits ? (uint64_t)1 << position : position, label};
    }
    map.count = entries.count;
    map.entries = ARENA_ARRAY(arena, FieldsMapEntry, map.count);
    if (map.count) memcpy(map.entries, entries.items, map.count * sizeof *map.entries);
    vec_free(&entries);
    *vec_push(&layout->maps) = map;
    def->map = (uint16_t)layout->maps.count;
}

// "<expression>, <ItemType> -- <index>"
static void read_argument(Str line, Arena *arena, FieldsLayout *layout) {
    size_t at = SIZE_MAX;
    for (size_t i = 0; i + 1 < line.n; i++)
        if (line.p[i] == '-' && line.p[i + 1] == '-') at = i;
    if (at != SIZE_MAX) line = str_slice(line, 0, at);
    size_t item = str_find(line, STR(", Item"));
    for (size_t next = item; next != SIZE_MAX;) { // the last one: expressions hold commas too
        item = next;
        size_t more = str_find(str_slice(line, next + 2, line.n), STR(", Item"));
        next = more == SIZE_MAX ? SIZE_MAX : next + 2 + more;
    }
    if (item == SIZE_MAX) return;
    Str type = str_trim(str_slice(line, item + 2, line.n)), labels = {0};
    FieldsDef def = {.name = str_copy(arena, str_trim(str_slice(line, 0, item))),
                     .type = IN_OPAQUE};
    size_t open = str_find(type, STR("("));
    if (open != SIZE_MAX) {
        labels = str_slice(type, open + 1, type.n);
        size_t close = str_rfind_char(labels, ')');
        if (close != SIZE_MAX) labels = str_slice(labels, 0, close);
        type = str_trim(str_slice(type, 0, open));
    }
    for (size_t i = 0; i < COUNT_OF(ITEMS); i++) {
        if (!str_eq(type, str_from_c(ITEMS[i].name))) continue;
        def.type = ITEMS[i].type;
        def.out = ITEMS[i].out;
    }
    bool listed = str_starts(type, STR("ItemList")) || str_starts(type, STR("ItemSet"));
    if (listed) set_labels(type, labels, arena, layout, &def);
    *vec_push(&layout->fields) = def;
}

// The value of "KEY=" behind the format.
static Str key_value(Str rest, const char *key) {
    Str name = str_from_c(key);
    size_t at = str_find(rest, name);
    if (at == SIZE_MAX) return (Str){0};
    Str value = str_slice(rest, at + name.n, rest.n);
    size_t end = str_find(value, STR(" "));
    return end == SIZE_MAX ? str_trim(value) : str_slice(value, 0, end);
}

// %!FUNC! and the like stand for parts of the definition; %0 to %9 for the standard prefix.
static Str fill_format(Str format, Str rest, Arena *arena) {
    AUTO(buf_done) Buf text = {0};
    for (size_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%' || i + 1 >= format.n) {
            buf_add_char(&text, format.p[i]);
            continue;
        }
        char next = format.p[i + 1];
        bool longer = i + 2 < format.n && format.p[i + 2] >= '0' && format.p[i + 2] <= '9';
        if (next >= '0' && next <= '9' && !longer) {
            i++;
            continue;
        }
        size_t end = str_find(str_slice(format, i + 2, format.n), STR("!"));
        if (next != '!' || end == SIZE_MAX) {
            buf_add_char(&text, '%');
            continue;
        }
        Str word = str_format(arena, STR_FMT "=", STR_ARG(str_slice(format, i + 2, i + 2 + end)));
        buf_add(&text, key_value(rest, word.p));
        i += 2 + end;
    }
    return str_copy(arena, buf_str(&text));
}

// What the conversion of an argument says about its sign and base.
static void apply_conversions(Str format, FieldsLayout *layout) {
    for (size_t i = 0; i < layout->fields.count; i++) {
        FieldsDef *def = &layout->fields.items[i];
        char mark[16];
        int n = snprintf(mark, sizeof mark, "%%%zu!", i + 10);
        size_t at = str_find(format, (Str){mark, (size_t)n});
        bool number = def->type >= IN_I8 && def->type <= IN_U64 && def->out == OUT_DEFAULT;
        if (at == SIZE_MAX || !number || def->map) continue;
        Str spec = str_slice(format, at + (size_t)n, format.n);
        size_t end = str_find(spec, STR("!"));
        if (end == SIZE_MAX || end == 0) continue;
        char conversion = spec.p[end - 1];
        if (conversion == 'u') def->out = OUT_UNSIGNED;
        if (conversion == 'x' || conversion == 'X' || conversion == 'p') def->out = OUT_HEX;
    }
}

// #typev <name> <number> "<format>" // LEVEL=.. FLAGS=.. FUNC=..
static bool read_definition(Str line, uint16_t number, Str *name, Str *format, Str *rest) {
    Str word, left = line;
    uint64_t found = 0;
    if (!str_next(&left, ' ', &word)) return false;
    if (!str_eq(word, STR("#typev")) && !str_eq(word, STR("#type"))) return false;
    if (!str_next(&left, ' ', name) || !str_next(&left, ' ', &word)) return false;
    if (!str_to_u64(word, &found) || found != number) return false;
    left = str_trim(left);
    size_t comment = SIZE_MAX;
    for (size_t i = 1; i < left.n && comment == SIZE_MAX; i++) // the quote that ends the format
        if (left.p[i] == '"' && left.p[i - 1] != '\\' &&
            (i + 1 == left.n || str_starts(str_trim(str_slice(left, i + 1, left.n)), STR("//"))))
            comment = i;
    if (!left.n || left.p[0] != '"' || comment == SIZE_MAX) return false;
    *format = str_slice(left, 1, comment);
    *rest = str_slice(left, comment + 1, left.n);
    return true;
}

// "<guid> <module> // SRC=..." begins the messages of a GUID.
static bool read_header(Str line, Guid *guid, Str *module) {
    Str word, left = line;
    if (!str_next(&left, ' ', &word) || !guid_from_text(word, guid)) return false;
    if (!str_next(&left, ' ', module)) *module = (Str){0};
    return true;
}

static void read_message(Str *lines, Str format, Str rest, Arena *arena, FieldsLayout *layout) {
    Str line;
    layout->message = fill_format(format, rest, arena);
    while (str_next(lines, '\n', &line) && layout->fields.count < LIMIT_SCHEMA_FIELDS) {
        line = str_trim(line);
        if (str_eq(line, STR("{"))) continue;
        if (str_starts(line, STR("}")) || str_starts(line, STR("#typev"))) break;
        read_argument(line, arena, layout);
    }
    apply_conversions(layout->message, layout);
    layout_name(layout, arena);
    if (!layout->message.n) layout->message = STR(" ");
}

bool tmf_find(Str text, const Guid *guid, uint16_t number, Arena *arena, SourceAnswer *answer) {
    Str lines = text, line, module = {0}, format, rest, name;
    bool ours = false;
    for (size_t n = 0; n < LIMIT_TMF_LINES && str_next(&lines, '\n', &line); n++) {
        Guid header;
        line = str_trim(line);
        if (read_header(line, &header, &module)) {
            ours = guid_eq(&header, guid);
            continue;
        }
        if (!ours || !read_definition(line, number, &name, &format, &rest)) continue;
        answer->provider_name = str_copy(arena, module);
        answer->event_name = str_copy(arena, name);
        answer->task_name = str_copy(arena, key_value(rest, "FUNC="));
        answer->exact = true;
        FieldsLayout *layout = vec_push(&answer->layouts);
        *layout = (FieldsLayout){0};
        read_message(&lines, format, rest, arena, layout);
        return true;
    }
    return false;
}

// ---------------------------------------------------------------- the folder

struct TmfFolder {
    Arena arena;
    Str path;
    bool listed;
    NameList names;
    VEC(Str) others; // texts of files that are not named by a GUID
    Guid last_guid;  // of the file that was read last
    Str last_text;
    bool has_last;
    Arena last;
    SourceTrouble trouble;
};

TmfFolder *tmf_folder_open(Str path) {
    TmfFolder *folder = mem_zero(1, sizeof *folder);
    folder->path = str_copy(&folder->arena, path);
    return folder;
}

void tmf_folder_close(TmfFolder *folder) {
    if (!folder) return;
    vec_free(&folder->others);
    arena_done(&folder->arena);
    arena_done(&folder->last);
    mem_free(folder);
}

static Str stem(Str name) {
    return str_slice(name, 0, name.n - 4);
}

static bool read_tmf(TmfFolder *folder, Str name, Arena *arena, Str *text) {
    Err err = {0};
    Str path = path_join(arena, folder->path, name);
    if (file_read_all(path, LIMIT_MANIFEST_BYTES, arena, text, &err) == OK) return true;
    source_complain(&folder->trouble, "ETW_MCP_TMF", name, &err, &folder->arena);
    return false;
}

static void list_folder(TmfFolder *folder) {
    Err err = {0};
    if (folder->listed) return;
    folder->listed = true;
    if (!folder->path.n) return;
    if (os_list_folder(folder->path, &folder->arena, &folder->names, &err) != OK) {
        source_complain(&folder->trouble, "ETW_MCP_TMF", (Str){0}, &err, &folder->arena);
        folder->names = (NameList){0};
    }
    for (size_t i = 0; i < folder->names.count; i++) {
        Str name = folder->names.items[i], text;
        Guid guid;
        if (!str_ends_nocase(name, STR(".tmf")) || guid_from_text(stem(name), &guid)) continue;
        if (folder->others.count >= LIMIT_MANIFEST_FILES) break;
        if (read_tmf(folder, name, &folder->arena, &text)) *vec_push(&folder->others) = text;
    }
}

// The text of <guid>.tmf, whatever the case of its name; empty: there is none.
static Str text_of(TmfFolder *folder, const Guid *guid) {
    if (folder->has_last && guid_eq(&folder->last_guid, guid)) return folder->last_text;
    arena_clear(&folder->last);
    folder->has_last = true;
    folder->last_guid = *guid;
    folder->last_text = (Str){0};
    for (size_t i = 0; i < folder->names.count; i++) {
        Str name = folder->names.items[i], text;
        Guid named;
        if (!str_ends_nocase(name, STR(".tmf")) || !guid_from_text(stem(name), &named)) continue;
        if (!guid_eq(&named, guid)) continue;
        if (read_tmf(folder, name, &folder->last, &text)) folder->last_text = text;
        break;
    }
    return folder->last_text;
}

Str tmf_folder_trouble(TmfFolder *folder) {
    return source_trouble_text(&folder->trouble, &folder->arena);
}

bool tmf_folder_find(TmfFolder *folder, const Guid *guid, uint16_t number, Arena *arena,
                     SourceAnswer *answer) {
    list_folder(folder);
    if (tmf_find(text_of(folder, guid), guid, number, arena, answer)) return true;
    for (size_t i = 0; i < folder->others.count; i++)
        if (tmf_find(folder->others.items[i], guid, number, arena, answer)) return true;
    return false;
}
