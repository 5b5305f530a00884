// Reads the names and comments of the views that are linked into the program.
#include "tools/view_list.h"

#include "base/embed.h"

#include <string.h>

extern const EmbeddedFile ETW_VIEW_FILES[];
extern const unsigned ETW_VIEW_FILES_COUNT;

typedef struct ViewReader {
    Arena *arena;
    Buf comment; // the comment lines just above
    VEC(ViewInfo) views;
} ViewReader;

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool created_name(Str line, Str *name) {
    static const char *const STARTS[] = {"CREATE VIEW ", "CREATE TABLE "};
    for (size_t i = 0; i < COUNT_OF(STARTS); i++) {
        Str start = str_from_c(STARTS[i]);
        if (!str_starts(line, start)) continue;
        Str rest = str_slice(line, start.n, line.n);
        size_t end = 0;
        while (end < rest.n && is_name_char(rest.p[end])) end++;
        *name = str_slice(rest, 0, end);
        return end > 0;
    }
    return false;
}

static void read_line(ViewReader *reader, Str line) {
    Str name = {0};
    if (str_starts(line, STR("-- "))) {
        if (reader->comment.n) buf_add_char(&reader->comment, ' ');
        buf_add(&reader->comment, str_trim(str_slice(line, 3, line.n)));
        return;
    }
    if (created_name(line, &name))
        *vec_push(&reader->views) =
            (ViewInfo){name, str_copy(reader->arena, buf_str(&reader->comment))};
    buf_clear(&reader->comment);
}

size_t view_list(Arena *arena, ViewInfo **out) {
    ViewReader reader = {.arena = arena};
    for (unsigned i = 0; i < ETW_VIEW_FILES_COUNT; i++) {
        Str rest = {(const char *)ETW_VIEW_FILES[i].bytes, ETW_VIEW_FILES[i].size}, line = {0};
        while (str_next(&rest, '\n', &line)) read_line(&reader, line);
        buf_clear(&reader.comment);
    }
    size_t count = reader.views.count;
    *out = ARENA_ARRAY(arena, ViewInfo, count + 1);
    if (count) memcpy(*out, reader.views.items, count * sizeof **out);
    vec_free(&reader.views);
    buf_done(&reader.comment);
    return count;
}
