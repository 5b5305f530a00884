// A Doc as Markdown, CSV or JSON. When the tables do not fit the byte budget they are cut at a row,
// the largest first, all to the same number of bytes; the first lines and a footer say so.
#include "tools/doc.h"

#include "base/limits.h"

#include <math.h>
#include <stdlib.h>

enum { BAR_WIDTH = 30, FOOTER_BYTES = 160 };

typedef struct Block { // one section as text
    const DocSection *section;
    Str head; // heading, column titles
    Str *lines;
    size_t line_count; // built: enough to fill any reply
    size_t bytes;
    size_t shown;
} Block;

typedef struct Layout {
    Doc *doc;
    Block *blocks;
    size_t count;
    bool cut; // by bytes or by a row cap
} Layout;

static bool is_table(const DocSection *section) {
    return section->style == STYLE_TABLE || section->style == STYLE_PIVOT;
}

static Str escape_cell(Str text, Arena *arena) {
    size_t bars = 0;
    for (size_t i = 0; i < text.n; i++) bars += text.p[i] == '|';
    if (!bars) return text;
    char *out = arena_bytes(arena, text.n + bars + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '|') out[n++] = '\\';
        out[n++] = text.p[i];
    }
    out[n] = 0;
    return (Str){out, n};
}

static Str table_line(const DocSection *section, size_t row, Arena *arena) {
    Buf line = {0};
    buf_add_char(&line, '|');
    for (size_t i = 0; i < section->column_count; i++) {
        const Cell *cell = &section->cells[row * section->column_count + i];
        Str text = escape_cell(format_cell(section->columns[i].format, cell, arena), arena);
        bool rough = section->rough && section->rough[row * section->column_count + i];
        buf_addf(&line, " %s" STR_FMT " |", rough ? "~" : "", STR_ARG(text));
    }
    Str copy = str_copy(arena, buf_str(&line));
    buf_done(&line);
    return copy;
}

static double row_number(const DocSection *section, size_t row) {
    const Cell *cell = &section->cells[row * section->column_count + section->column_count - 1];
    if (cell->type == CELL_I64) return (double)cell->i64;
    if (cell->type == CELL_U64) return (double)cell->u64;
    return cell->type == CELL_F64 && isfinite(cell->f64) ? cell->f64 : 0;
}

static Str histogram_line(const DocSection *section, size_t row, double top, Arena *arena) {
    const Cell *cells = &section->cells[row * section->column_count];
    double value = row_number(section, row);
    size_t width = top > 0 && value > 0 ? (size_t)(value / top * BAR_WIDTH + 0.5) : 0;
    char bar[BAR_WIDTH + 1];
    for (size_t i = 0; i < BAR_WIDTH; i++) bar[i] = i < width ? '#' : ' ';
    bar[BAR_WIDTH] = 0;
    size_t last = section->column_count - 1;
    Str label = format_cell(section->columns[0].format, &cells[0], arena);
    Str text = format_cell(section->columns[last].format, &cells[last], arena);
    return str_format(arena, "%*s" STR_FMT " %s " STR_FMT, label.n < 14 ? (int)(14 - label.n) : 0,
                      "", STR_ARG(label), bar, STR_ARG(text));
}

static Str pair_line(const DocSection *section, size_t row, Arena *arena) {
    const Cell *cells = &section->cells[row * section->column_count];
    size_t last = section->column_count - 1;
    Str value = format_cell(section->columns[last].format, &cells[last], arena);
    if (!last) return value;
    Str name = format_cell(section->columns[0].format, &cells[0], arena);
    return str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(value));
}

static Str section_head(const DocSection *section, Arena *arena) {
    Buf head = {0};
    if (section->heading.n)
        buf_addf(&head, "%s" STR_FMT "\n\n", str_starts(section->heading, STR("*")) ? "" : "## ",
                 STR_ARG(section->heading));
    if (is_table(section) && section->row_count) {
        buf_add_char(&head, '|');
        for (size_t i = 0; i < section->column_count; i++)
            buf_addf(&head, " " STR_FMT " |", STR_ARG(section->columns[i].title));
        buf_add_c(&head, "\n|");
        for (size_t i = 0; i < section->column_count; i++) buf_add_c(&head, " --- |");
        buf_add_char(&head, '\n');
    } else if (section->style == STYLE_CODE || section->style == STYLE_HISTOGRAM) {
        if (section->row_count) buf_addf(&head, "```" STR_FMT "\n", STR_ARG(section->fence));
    }
    Str copy = str_copy(arena, buf_str(&head));
    buf_done(&head);
    return copy;
}

static Str section_line(const DocSection *section, size_t row, double top, Arena *arena) {
    switch (section->style) {
    case STYLE_TABLE:
    case STYLE_PIVOT: return table_line(section, row, arena);
    case STYLE_HISTOGRAM: return histogram_line(section, row, top, arena);
    case STYLE_VALUES:
    case STYLE_LINES:
    case STYLE_CODE:
    case STYLE_NOTES:
    case STYLE_NEXT: return pair_line(section, row, arena);
    }
    return (Str){0};
}

// Lines beyond `bytes_max` are not built: nobody shows them.
static Block block_build(const DocSection *section, size_t bytes_max, Arena *arena) {
    Block block = {.section = section, .head = section_head(section, arena)};
    block.lines = ARENA_ARRAY(arena, Str, section->row_count + 1);
    double top = 0;
    for (size_t i = 0; section->style == STYLE_HISTOGRAM && i < section->row_count; i++)
        top = fmax(top, row_number(section, i));
    for (size_t i = 0; i < section->row_count && block.bytes <= bytes_max; i++) {
        block.lines[i] = section_line(section, i, top, arena);
        block.bytes += block.lines[i].n + 1;
        block.line_count++;
    }
    return block;
}

static size_t rows_within(const Block *block, size_t bytes) {
    size_t used = 0, rows = 0;
    while (rows < block->line_count && used + block->lines[rows].n + 1 <= bytes)
        used += block->lines[rows++].n + 1;
    return rows;
}

static size_t fixed_bytes(const Layout *layout) {
    const Doc *doc = layout->doc;
    size_t bytes = doc->headline.n + 64;
    for (size_t i = 0; i < doc->scope.count; i++)
        bytes += doc->scope.items[i].name.n + doc->scope.items[i].value.n + 8;
    for (size_t i = 0; i < doc->notes.count; i++) bytes += doc->notes.items[i].n + 7;
    for (size_t i = 0; i < doc->next.count; i++) bytes += doc->next.items[i].n + 7;
    for (size_t i = 0; i < layout->count; i++)
        bytes += layout->blocks[i].head.n + layout->blocks[i].section->empty.n + FOOTER_BYTES;
    return bytes;
}

static size_t total_at(const Layout *layout, size_t level) {
    size_t total = 0;
    for (size_t i = 0; i < layout->count; i++) {
        size_t bytes = layout->blocks[i].bytes;
        total += bytes < level ? bytes : level;
    }
    return total;
}

// The most bytes any section may have so that all fit.
static size_t water_level(const Layout *layout, size_t room) {
    size_t low = 0, high = (size_t)LIMIT_REPLY_BYTES * 2;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (total_at(layout, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static size_t doc_budget(const Doc *doc) {
    return doc->budget_bytes ? doc->budget_bytes : LIMIT_REPLY_BYTES_DEFAULT;
}

static Layout layout_build(Doc *doc, size_t bytes_max) {
    Layout layout = {.doc = doc,
                     .blocks = ARENA_ARRAY(doc->arena, Block, doc->sections.count + 1),
                     .count = doc->sections.count};
    for (size_t i = 0; i < layout.count; i++)
        layout.blocks[i] = block_build(&doc->sections.items[i], bytes_max, doc->arena);
    return layout;
}

// Every row there is: for files and pipes.
static void layout_all(Layout *layout) {
    layout->cut = false;
    for (size_t i = 0; i < layout->count; i++) {
        Block *block = &layout->blocks[i];
        block->shown = block->section->row_count;
        if (block->shown < block->section->total_rows) layout->cut = true;
    }
}

static void layout_fit(Layout *layout, size_t budget) {
    size_t fixed = fixed_bytes(layout);
    size_t level = water_level(layout, budget > fixed ? budget - fixed : 0);
    layout->cut = false;
    for (size_t i = 0; i < layout->count; i++) {
        Block *block = &layout->blocks[i];
        block->shown = rows_within(block, level);
        if (!block->shown && block->line_count) block->shown = 1;
        if (block->shown < block->section->total_rows) layout->cut = true;
    }
}

// Lists of names and the like are not "rows" to the reader.
static const char *unit_of(const DocSection *section) {
    return is_table(section) ? "rows" : "lines";
}

static void put_footer(const Layout *layout, const Block *block, Buf *out) {
    const DocSection *section = block->section;
    Arena *arena = layout->doc->arena;
    if (block->shown >= section->total_rows) return;
    Str shown = format_integer((int64_t)block->shown, arena);
    Str total = format_integer((int64_t)section->total_rows, arena);
    buf_addf(out, "*" STR_FMT " of " STR_FMT " %s shown", STR_ARG(shown), STR_ARG(total),
             unit_of(section));
    if (block->shown < section->row_count) {
        buf_add_c(out, ": the size of a reply is limited; a narrower filter or window shows the "
                       "rest.*\n");
    } else if (section->cap.n) {
        buf_addf(out, ": raise " STR_FMT " for more.*\n", STR_ARG(section->cap));
    } else {
        buf_add_c(out, ".*\n");
    }
}

static void put_block(const Layout *layout, const Block *block, Buf *out) {
    const DocSection *section = block->section;
    if (!section->row_count && !section->empty.n && !section->heading.n) return;
    buf_add_char(out, '\n');
    buf_add(out, block->head);
    for (size_t i = 0; i < block->shown; i++) {
        buf_add(out, block->lines[i]);
        buf_add_char(out, '\n');
    }
    bool fenced = section->style == STYLE_CODE || section->style == STYLE_HISTOGRAM;
    if (fenced && section->row_count) buf_add_c(out, "```\n");
    if (!section->row_count && section->empty.n)
        buf_addf(out, "*" STR_FMT "*\n", STR_ARG(section->empty));
    put_footer(layout, block, out);
}

static const Block *main_block(const Layout *layout) {
    for (size_t i = 0; i < layout->count; i++)
        if (is_table(layout->blocks[i].section)) return &layout->blocks[i];
    return NULL;
}

static void put_scope(const Layout *layout, Buf *out) {
    const Doc *doc = layout->doc;
    for (size_t i = 0; i < doc->scope.count; i++) {
        const DocPair *pair = &doc->scope.items[i];
        if (pair->style == PAIR_BULLET) buf_add_c(out, "- ");
        if (pair->name.n)
            buf_addf(out, pair->style == PAIR_BOLD ? "**" STR_FMT ":** " : STR_FMT ": ",
                     STR_ARG(pair->name));
        buf_addf(out, STR_FMT "\n", STR_ARG(pair->value));
    }
    const Block *main = main_block(layout);
    if (layout->cut && main && main->shown < main->section->total_rows) {
        Str shown = format_integer((int64_t)main->shown, doc->arena);
        Str total = format_integer((int64_t)main->section->total_rows, doc->arena);
        buf_addf(out, "Cut: " STR_FMT " of " STR_FMT " rows shown\n", STR_ARG(shown),
                 STR_ARG(total));
    } else if (layout->cut) {
        buf_add_c(out, "Cut: some sections are shown in part\n");
    }
}

// The last resort against long notes: whole lines up to the hard limit.
static Str within_hard_limit(Str text, Arena *arena) {
    if (text.n <= LIMIT_REPLY_BYTES) return text;
    static const char TAIL[] = "*Cut: the reply has reached its limit of bytes.*\n";
    size_t end = LIMIT_REPLY_BYTES - sizeof TAIL;
    while (end > 0 && text.p[end - 1] != '\n') end--;
    return str_format(arena, STR_FMT "%s", STR_ARG(str_slice(text, 0, end)), TAIL);
}

Str json_dump_text(const json_t *json, bool pretty, Arena *arena) {
    char *dump = json_dumps(json, pretty ? JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)
                                         : JSON_COMPACT | JSON_REAL_PRECISION(15));
    Str text = str_copy(arena, str_from_c(dump));
    free(dump);
    return text;
}

static Str layout_text(const Layout *layout) {
    const Doc *doc = layout->doc;
    Buf out = {0};
    if (doc->headline.n) buf_addf(&out, STR_FMT "\n", STR_ARG(doc->headline));
    put_scope(layout, &out);
    for (size_t i = 0; i < layout->count; i++) put_block(layout, &layout->blocks[i], &out);
    if (doc->notes.count) buf_add_char(&out, '\n');
    for (size_t i = 0; i < doc->notes.count; i++)
        buf_addf(&out, "Note: " STR_FMT "\n", STR_ARG(doc->notes.items[i]));
    if (doc->next.count) buf_add_char(&out, '\n');
    for (size_t i = 0; i < doc->next.count; i++)
        buf_addf(&out, "Next: " STR_FMT "\n", STR_ARG(doc->next.items[i]));
    Str text = str_copy(doc->arena, buf_str(&out));
    buf_done(&out);
    return text;
}

Str doc_markdown(Doc *doc) {
    if (doc->json) return json_dump_text(doc->json, true, doc->arena);
    if (doc->raw.n) return doc->raw;
    Layout layout = layout_build(doc, LIMIT_REPLY_BYTES);
    layout_fit(&layout, doc_budget(doc));
    return within_hard_limit(layout_text(&layout), doc->arena);
}

Str doc_markdown_whole(Doc *doc) {
    if (doc->json) return json_dump_text(doc->json, true, doc->arena);
    if (doc->raw.n) return doc->raw;
    Layout layout = layout_build(doc, SIZE_MAX);
    layout_all(&layout);
    return layout_text(&layout);
}

static void csv_section(const DocSection *section, Arena *arena, Buf *out) {
    for (size_t i = 0; i < section->column_count; i++) {
        if (i) buf_add_char(out, ',');
        buf_add_csv(out, section->columns[i].title);
    }
    buf_add_c(out, "\r\n");
    for (size_t row = 0; row < section->row_count; row++) {
        for (size_t i = 0; i < section->column_count; i++) {
            const Cell *cell = &section->cells[row * section->column_count + i];
            if (i) buf_add_char(out, ',');
            buf_add_csv(out, format_plain(section->columns[i].format, cell, arena));
        }
        buf_add_c(out, "\r\n");
    }
}

Str doc_csv(Doc *doc) {
    if (doc->raw.n) return doc->raw;
    Buf out = {0};
    for (size_t i = 0; i < doc->sections.count; i++) {
        if (!is_table(&doc->sections.items[i])) continue;
        if (out.n) buf_add_c(&out, "\r\n");
        csv_section(&doc->sections.items[i], doc->arena, &out);
    }
    Str text = str_copy(doc->arena, buf_str(&out));
    buf_done(&out);
    return text;
}

static void put(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value);
}

static void json_section(const DocSection *section, size_t shown, Arena *arena, json_t *out) {
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < section->column_count; i++)
        (void)json_array_append_new(columns, format_json_text(section->columns[i].title, arena));
    for (size_t row = 0; row < shown; row++) {
        json_t *cells = json_array();
        for (size_t i = 0; i < section->column_count; i++) {
            const Cell *cell = &section->cells[row * section->column_count + i];
            (void)json_array_append_new(cells,
                                        format_json(section->columns[i].format, cell, arena));
        }
        (void)json_array_append_new(rows, cells);
    }
    put(out, "columns", columns);
    put(out, "rows", rows);
    put(out, "row_count", json_integer((json_int_t)section->total_rows));
}

static json_t *json_texts(const Str *texts, size_t count, Arena *arena) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(array, format_json_text(texts[i], arena));
    return array;
}

static void json_sections(const Layout *layout, json_t *out) {
    Arena *arena = layout->doc->arena;
    const Block *main = main_block(layout);
    json_t *sections = json_array();
    for (size_t i = 0; i < layout->count; i++) {
        const Block *block = &layout->blocks[i];
        if (block == main) {
            json_section(block->section, block->shown, arena, out);
            continue;
        }
        if (!block->section->row_count) continue;
        json_t *section = json_object();
        put(section, "name", format_json_text(block->section->name, arena));
        put(section, "heading", format_json_text(block->section->heading, arena));
        json_section(block->section, block->shown, arena, section);
        (void)json_array_append_new(sections, section);
    }
    if (!main) {
        put(out, "columns", json_array());
        put(out, "rows", json_array());
        put(out, "row_count", json_integer(0));
    }
    put(out, "sections", sections);
}

static json_t *json_build(const Layout *layout) {
    const Doc *doc = layout->doc;
    json_t *out = json_object(), *scope = json_object();
    put(out, "title", format_json_text(doc->title, doc->arena));
    for (size_t i = 0; i < doc->scope.count; i++) {
        const DocPair *pair = &doc->scope.items[i];
        Str name = pair->name.n ? pair->name : str_format(doc->arena, "line %zu", i + 1);
        put(scope, str_to_c(doc->arena, name), format_json_text(pair->value, doc->arena));
    }
    put(out, "scope", scope);
    json_sections(layout, out);
    put(out, "notes", json_texts(doc->notes.items, doc->notes.count, doc->arena));
    put(out, "truncated", json_boolean(layout->cut));
    put(out, "next", json_texts(doc->next.items, doc->next.count, doc->arena));
    return out;
}

json_t *doc_json(Doc *doc, bool within_budget) {
    if (doc->json) return json_incref(doc->json);
    Layout layout = layout_build(doc, LIMIT_REPLY_BYTES);
    if (!within_budget) {
        layout_all(&layout);
        return json_build(&layout);
    }
    size_t budget = doc_budget(doc);
    for (unsigned attempt = 0;; attempt++) {
        layout_fit(&layout, budget);
        json_t *json = json_build(&layout);
        char *dump = json_dumps(json, JSON_COMPACT);
        size_t bytes = str_from_c(dump).n;
        free(dump);
        if (bytes <= doc_budget(doc) || attempt == 8) return json;
        json_decref(json);
        budget = budget * 3 / 4;
    }
}
