// Building a reply.
#include "tools/doc.h"

enum { NEXT_MAX = 12, SCOPE_VALUE_WIDTH = 300 };

void doc_done(Doc *doc) {
    vec_free(&doc->scope);
    vec_free(&doc->sections);
    vec_free(&doc->notes);
    vec_free(&doc->next);
    json_decref(doc->json);
    doc->json = NULL;
}

void doc_scope_styled(Doc *doc, PairStyle style, Str name, Str value) {
    Str clean = format_shorten(format_clean(value, doc->arena), SCOPE_VALUE_WIDTH, doc->arena);
    *vec_push(&doc->scope) = (DocPair){name, clean, style};
}

void doc_scope(Doc *doc, Str name, Str value) {
    doc_scope_styled(doc, PAIR_PLAIN, name, value);
}

void doc_note(Doc *doc, Str note) {
    for (size_t i = 0; i < doc->notes.count; i++)
        if (str_eq(doc->notes.items[i], note)) return;
    *vec_push(&doc->notes) = format_clean(note, doc->arena);
}

void doc_next(Doc *doc, Str call) {
    for (size_t i = 0; i < doc->next.count; i++)
        if (str_eq(doc->next.items[i], call)) return;
    if (doc->next.count < NEXT_MAX) *vec_push(&doc->next) = format_clean(call, doc->arena);
}

DocSection *doc_table(Doc *doc, Str name, Str heading) {
    DocSection *section = vec_push(&doc->sections);
    *section = (DocSection){.name = name, .heading = heading};
    return section;
}

void doc_column(Doc *doc, DocSection *section, const char *title, const char *format) {
    DocColumn *grown = ARENA_ARRAY(doc->arena, DocColumn, section->column_count + 1);
    if (section->column_count)
        memcpy(grown, section->columns, section->column_count * sizeof *grown);
    section->columns = grown;
    DocColumn *column = &grown[section->column_count++];
    column->title = str_from_c(title);
    bool known = format_parse(str_from_c(format), &column->format);
    INVARIANT(known);
}

// Rows grow by doubling in the arena: the capacity is the next power of two of the count.
Cell *doc_row(Doc *doc, DocSection *section) {
    size_t width = section->column_count, count = section->row_count;
    if ((count & (count - 1)) == 0) {
        Cell *grown = ARENA_ARRAY(doc->arena, Cell, (count ? count * 2 : 1) * width);
        if (count) memcpy(grown, section->cells, count * width * sizeof *grown);
        section->cells = grown;
    }
    section->row_count++;
    section->total_rows = section->row_count;
    return section->cells + count * width;
}
