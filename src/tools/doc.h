// A reply before it is text: title, scope, tables, notes, next calls. Tools fill a Doc; render.c
// makes Markdown, CSV or JSON of it, within the byte budget.
#ifndef TOOLS_DOC_H
#define TOOLS_DOC_H

#include "tools/catalog.h"

typedef enum PairStyle { PAIR_PLAIN, PAIR_BOLD, PAIR_BULLET } PairStyle;
typedef struct DocPair {
    Str name; // empty: the value stands alone
    Str value;
    PairStyle style; // "Name: value", "**Name:** value", "- Name: value"
} DocPair;

typedef struct DocColumn {
    Str title;
    Format format;
} DocColumn;

typedef struct DocSection {
    Str name, heading; // a heading that starts with "*" is printed as it is
    SectionStyle style;
    DocColumn *columns;
    size_t column_count;
    Cell *cells; // row-major
    bool *rough; // one per cell: shown with "~"; NULL: none is
    size_t row_count;
    size_t total_rows; // as many as there are; row_count when all are here
    Str cap;           // the parameter that cut it; empty: none
    Str empty;         // shown when there are no rows
    Str fence;         // STYLE_CODE: the language behind the opening fence
} DocSection;

typedef struct Doc {
    Arena *arena; // everything lives here, also what it grows by
    Str headline; // as Markdown
    Str title;    // as text
    VEC(DocPair) scope;
    VEC(DocSection) sections;
    VEC(Str) notes;
    VEC(Str) next;
    json_t *json;        // the reply is this object and nothing else
    Str raw;             // the reply as text or CSV is this and nothing else; empty: none
    size_t budget_bytes; // 0: the default
} Doc;

void doc_done(Doc *doc); // keeps what lives in the arena
static inline void doc_done_auto(Doc *doc) {
    doc_done(doc);
}
void doc_scope(Doc *doc, Str name, Str value);
void doc_scope_styled(Doc *doc, PairStyle style, Str name, Str value);
void doc_note(Doc *doc, Str note); // the same note twice is one
void doc_next(Doc *doc, Str call); // the first two that name a tool are shown
DocSection *doc_table(Doc *doc, Str name, Str heading);
// Adds a column to a section under construction (before its first row).
void doc_column(Doc *doc, DocSection *section, const char *title, const char *format);
// Adds a row of column_count NULL cells and returns them.
Cell *doc_row(Doc *doc, DocSection *section);
static inline Cell cell_text(Str text) {
    return text.p ? (Cell){.type = CELL_TEXT, .text = text} : (Cell){.type = CELL_NULL};
}
static inline Cell cell_i64(int64_t v) {
    return (Cell){.type = CELL_I64, .i64 = v};
}
static inline Cell cell_f64(double v) {
    return (Cell){.type = CELL_F64, .f64 = v};
}

// render.c. The text lives in the doc's arena; *structured (may be NULL) is a new reference.
Str doc_markdown(Doc *doc);
Str doc_markdown_whole(Doc *doc); // every row, whatever its size: for files
Str doc_csv(Doc *doc);
json_t *doc_json(Doc *doc, bool within_budget);
Str json_dump_text(const json_t *json, bool pretty, Arena *arena);

#endif
