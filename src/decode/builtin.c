// The tables of providers/: one line per field, lines of one (id, version, build range) together.
// Several build ranges of one event become several layouts of its schema.
#include "decode/builtin.h"

#include "base/embed.h"

#include <stdlib.h>

extern const EmbeddedSpan ETW_PROVIDER_FILES[];
extern const unsigned ETW_PROVIDER_FILES_COUNT;

enum { COLUMNS = 21, STRUCT_DEPTH = 4, PROVIDERS_MAX = 64 };

typedef enum Col {
    C_GUID,
    C_PROVIDER,
    C_ID,
    C_VERSION,
    C_OPCODE,
    C_TASK_NAME,
    C_OPCODE_NAME,
    C_LEVEL,
    C_KEYWORD,
    C_INDEX,
    C_FIELD,
    C_IN,
    C_OUT,
    C_COUNT,
    C_MAP,
    C_COUNT_KIND,
    C_EVENT,
    C_TASK,
    C_MIN,
    C_MAX,
    C_BASIS,
} Col;

typedef struct Line {
    Str col[COLUMNS];
} Line;

// One layout: its lines in the file, header lines aside.
typedef struct Group {
    uint16_t id;
    uint8_t version;
    int opcode; // -1: any
    Str min, max;
    size_t first, count; // lines
} Group;

typedef struct TableFile {
    Guid guid;
    Str name, text;
    bool indexed;
    VEC(Line) lines;
    VEC(Group) groups;
} TableFile;

typedef struct MapLine {
    Guid guid;
    bool any_guid;
    Str name, label;
    bool bits;
    uint64_t value;
} MapLine;

struct Builtin {
    TableFile files[PROVIDERS_MAX];
    size_t file_count;
    Str maps_text;
    VEC(MapLine) maps;
};

static bool next_line(Str *rest, Line *line) {
    Str text, cell;
    *line = (Line){0};
    if (!str_next(rest, '\n', &text)) return false;
    for (int i = 0; i < COLUMNS && str_next(&text, '\t', &cell); i++) line->col[i] = cell;
    return true;
}

Builtin *builtin_open(void) {
    Builtin *builtin = mem_zero(1, sizeof *builtin);
    for (unsigned i = 0; i < ETW_PROVIDER_FILES_COUNT; i++) {
        const EmbeddedSpan *span = &ETW_PROVIDER_FILES[i];
        Str text = {(const char *)span->start, (size_t)(span->end - span->start)}, header;
        Str name = str_from_c(span->name);
        if (str_ends(name, STR("/maps.tsv"))) builtin->maps_text = text;
        Line first;
        Str rest = text;
        Guid guid;
        (void)str_next(&rest, '\n', &header);
        if (!str_ends(header, STR("\tbasis")) || !next_line(&rest, &first)) continue;
        if (!guid_from_text(first.col[C_GUID], &guid)) continue;
        INVARIANT(builtin->file_count < PROVIDERS_MAX);
        builtin->files[builtin->file_count++] =
            (TableFile){.guid = guid, .name = first.col[C_PROVIDER], .text = text};
    }
    return builtin;
}

void builtin_close(Builtin *builtin) {
    if (!builtin) return;
    for (size_t i = 0; i < builtin->file_count; i++) {
        vec_free(&builtin->files[i].lines);
        vec_free(&builtin->files[i].groups);
    }
    vec_free(&builtin->maps);
    mem_free(builtin);
}

static TableFile *file_of(Builtin *builtin, const Guid *provider) {
    for (size_t i = 0; i < builtin->file_count; i++)
        if (guid_eq(&builtin->files[i].guid, provider)) return &builtin->files[i];
    return NULL;
}

static uint64_t number_of(Str text) {
    uint64_t v = 0;
    return str_to_u64(text, &v) ? v : 0;
}

static bool same_group(const TableFile *file, const Group *group, const Line *line) {
    const Line *first = &file->lines.items[group->first];
    return str_eq(first->col[C_ID], line->col[C_ID]) &&
           str_eq(first->col[C_VERSION], line->col[C_VERSION]) &&
           str_eq(group->min, line->col[C_MIN]) && str_eq(group->max, line->col[C_MAX]) &&
           line->col[C_INDEX].n && !str_eq(line->col[C_INDEX], STR("0"));
}

static void file_index(TableFile *file) {
    Line line;
    Str rest = file->text, header;
    if (file->indexed) return;
    file->indexed = true;
    (void)str_next(&rest, '\n', &header);
    while (next_line(&rest, &line)) {
        Group *last = file->groups.count ? &file->groups.items[file->groups.count - 1] : NULL;
        bool same = last && same_group(file, last, &line);
        *vec_push(&file->lines) = line;
        if (same) {
            last->count++;
            continue;
        }
        *vec_push(&file->groups) = (Group){
            .id = (uint16_t)number_of(line.col[C_ID]),
            .version = (uint8_t)number_of(line.col[C_VERSION]),
            .opcode = line.col[C_OPCODE].n ? (int)number_of(line.col[C_OPCODE]) : -1,
            .min = line.col[C_MIN],
            .max = line.col[C_MAX],
            .first = file->lines.count - 1,
            .count = 1,
        };
    }
}

// ---------------------------------------------------------------- maps

static void maps_index(Builtin *builtin) {
    enum { M_GUID, M_PROVIDER, M_NAME, M_KIND, M_VALUE, M_LABEL };
    Line line;
    Str rest = builtin->maps_text, header;
    if (builtin->maps.count || !str_next(&rest, '\n', &header)) return;
    while (next_line(&rest, &line)) {
        MapLine map = {.name = line.col[M_NAME], .label = line.col[M_LABEL]};
        map.any_guid = str_eq(line.col[M_GUID], STR("*"));
        if (!map.any_guid && !guid_from_text(line.col[M_GUID], &map.guid)) continue;
        map.bits = str_eq(line.col[M_KIND], STR("bit"));
        map.value = number_of(line.col[M_VALUE]);
        *vec_push(&builtin->maps) = map;
    }
}

static uint16_t layout_map(Builtin *builtin, const TableFile *file, Str name, Arena *arena,
                           FieldsLayout *layout) {
    for (size_t i = 0; i < layout->maps.count; i++)
        if (str_eq(layout->maps.items[i].name, name)) return (uint16_t)(i + 1);
    maps_index(builtin);
    VEC(FieldsMapEntry) found = {0};
    FieldsMap map = {.name = name};
    for (size_t i = 0; i < builtin->maps.count; i++) {
        const MapLine *line = &builtin->maps.items[i];
        if (!str_eq(line->name, name)) continue;
        if (!line->any_guid && !guid_eq(&line->guid, &file->guid)) continue;
        map.bits = line->bits;
        *vec_push(&found) = (FieldsMapEntry){line->value, line->label};
    }
    map.count = found.count;
    map.entries = ARENA_ARRAY(arena, FieldsMapEntry, found.count);
    if (found.count) memcpy(map.entries, found.items, found.count * sizeof *found.items);
    vec_free(&found);
    if (!map.count) return 0;
    *vec_push(&layout->maps) = map;
    return (uint16_t)layout->maps.count;
}

// ---------------------------------------------------------------- layouts

static void set_counts(const Line *line, const FieldsLayout *layout, FieldsDef *def) {
    Str count = line->col[C_COUNT];
    bool length = str_eq(line->col[C_COUNT_KIND], STR("len"));
    uint64_t number = 0;
    uint8_t kind = COUNT_FIELD;
    uint32_t value = 0;
    if (!count.n) return;
    if (str_eq(count, STR("rest"))) {
        kind = length ? LENGTH_REST : COUNT_REST;
    } else if (str_to_u64(count, &number)) {
        kind = length ? LENGTH_FIXED : COUNT_FIXED;
        value = (uint32_t)number;
    } else {
        size_t i = layout->fields.count;
        while (i > 0 && !str_eq(layout->fields.items[i - 1].name, count)) i--;
        if (!i) return;
        kind = length ? LENGTH_FIELD : COUNT_FIELD;
        value = (uint32_t)i - 1;
    }
    if (length) {
        def->length_kind = kind;
        def->length = value;
    } else {
        def->count_kind = kind;
        def->count = value;
    }
}

static unsigned depth_of(Str index) {
    unsigned dots = 0;
    for (size_t i = 0; i < index.n; i++) dots += index.p[i] == '.';
    return dots;
}

static void group_layout(Builtin *builtin, const TableFile *file, const Group *group, Arena *arena,
                         FieldsLayout *layout) {
    size_t parents[STRUCT_DEPTH] = {0};
    for (size_t i = 0; i < group->count; i++) {
        const Line *line = &file->lines.items[group->first + i];
        unsigned depth = depth_of(line->col[C_INDEX]);
        if (!line->col[C_FIELD].n || depth >= STRUCT_DEPTH) continue;
        FieldsDef def = {.name = line->col[C_FIELD],
                         .type = type_from_name(line->col[C_IN]),
                         .out = out_from_name(line->col[C_OUT])};
        if (str_starts(line->col[C_OUT], STR("opaque"))) def.type = IN_OPAQUE;
        set_counts(line, layout, &def);
        if (line->col[C_MAP].n)
            def.map = layout_map(builtin, file, line->col[C_MAP], arena, layout);
        if (depth) layout->fields.items[parents[depth - 1]].members++;
        parents[depth] = layout->fields.count;
        *vec_push(&layout->fields) = def;
    }
    layout_name(layout, arena);
}

// ---------------------------------------------------------------- choosing

typedef struct Choice {
    const Group *group;
    uint64_t rank; // smaller first
} Choice;

// The group of the build, else the newest of older builds, else the oldest of newer ones; for
// products that have no Windows build (all ranks alike) the longest.
static uint64_t group_rank(const Group *group, uint32_t os_build, int opcode) {
    enum { HOLDS, OLDER, NEWER, NOT_WINDOWS, OTHER_OPCODE = 8 };
    uint64_t min = 0, max = 0, kind = NOT_WINDOWS, distance = 1000 - group->count % 1000;
    if (str_to_u64(group->min, &min) && str_to_u64(group->max, &max)) {
        kind = os_build < min ? NEWER : os_build > max ? OLDER : HOLDS;
        distance = kind == NEWER ? min - os_build : kind == OLDER ? os_build - max : 0;
    }
    if (group->opcode >= 0 && group->opcode != opcode) kind |= OTHER_OPCODE;
    return kind << 32 | distance;
}

static int compare_choices(const void *a, const void *b) {
    const Choice *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->group->first > y->group->first) - (x->group->first < y->group->first);
}

// The version whose layouts to take: the event's own, else the nearest below it; -1: none.
static int version_for(const TableFile *file, const SourceKey *key) {
    int best = -1;
    for (size_t i = 0; i < file->groups.count; i++) {
        const Group *group = &file->groups.items[i];
        if (group->id != key->id || group->version > key->version) continue;
        if (group->version > best) best = group->version;
    }
    return best;
}

bool builtin_find(Builtin *builtin, const SourceKey *key, uint32_t os_build, Arena *arena,
                  SourceAnswer *answer) {
    TableFile *file = file_of(builtin, &key->provider);
    if (!file) return false;
    file_index(file);
    int version = version_for(file, key);
    if (version < 0) return false;
    VEC(Choice) choices = {0};
    for (size_t i = 0; i < file->groups.count; i++) {
        const Group *group = &file->groups.items[i];
        if (group->id == key->id && group->version == version)
            *vec_push(&choices) = (Choice){group, group_rank(group, os_build, key->opcode)};
    }
    INVARIANT(choices.count); // the version was found in one of the groups
    vec_sort(&choices, compare_choices);
    const Line *line = &file->lines.items[choices.items[0].group->first];
    answer->exact = version == key->version;
    answer->provider_name = file->name;
    answer->task_name = line->col[C_TASK_NAME];
    answer->opcode_name = line->col[C_OPCODE_NAME];
    answer->event_name = line->col[C_EVENT];
    if (!answer->event_name.n)
        answer->event_name = source_event_name(answer->task_name, answer->opcode_name, arena);
    for (size_t i = 0; i < choices.count; i++) {
        FieldsLayout *layout = vec_push(&answer->layouts);
        *layout = (FieldsLayout){0};
        group_layout(builtin, file, choices.items[i].group, arena, layout);
    }
    vec_free(&choices);
    return true;
}

Str builtin_provider_name(Builtin *builtin, const Guid *provider) {
    const TableFile *file = file_of(builtin, provider);
    return file ? file->name : (Str){0};
}

bool builtin_info(Builtin *builtin, size_t index, BuiltinInfo *out) {
    if (index >= builtin->file_count) return false;
    TableFile *file = &builtin->files[index];
    file_index(file);
    *out = (BuiltinInfo){.guid = file->guid, .name = file->name, .layouts = file->groups.count};
    for (size_t i = 0; i < file->groups.count; i++) // lines of one id stand together
        out->events += i == 0 || file->groups.items[i].id != file->groups.items[i - 1].id;
    return true;
}
