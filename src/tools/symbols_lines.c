// Source lines of a module's addresses: read from its PDB when they are first asked for.
#include "tools/symbols_internal.h"

typedef VEC(FrameLine) LineVec;

static void add_steps(Symbols *symbols, const FrameName *name, const SymAddress *at,
                      LineVec *lines) {
    for (size_t i = 0; i < at->frames.count; i++) {
        const SourceFrame *from = &at->frames.items[i];
        Str function = from->inlined ? str_copy(&symbols->arena, from->function) : name->function;
        *vec_push(lines) = (FrameLine){.frame_id = name->frame_id,
                                       .depth = (uint32_t)i,
                                       .function = function,
                                       .file = str_copy(&symbols->arena, from->file),
                                       .line = from->line,
                                       .inlined = from->inlined};
    }
}

static void keep_lines(Symbols *symbols, size_t index, LineVec *lines) {
    FrameLine *items = ARENA_ARRAY(&symbols->arena, FrameLine, lines->count + 1);
    for (size_t i = 0; i < lines->count; i++) items[i] = lines->items[i];
    symbols->lines[index] = (FrameLines){items, lines->count};
    vec_free(lines);
}

Status symbols_read_lines(Symbols *symbols, size_t index, Err *err) {
    const SymbolModule *module = &symbols->modules[index];
    const ModuleNames *names = &symbols->names[index];
    if (symbols->lines[index].items) return OK;
    LineVec lines = {0};
    if (module->source != SYMBOL_SOURCE_PDB || module->from_map) {
        keep_lines(symbols, index, &lines);
        return OK;
    }
    AUTO(arena_done) Arena scratch = {0};
    AUTO(symfile_close) SymFile *file = NULL;
    SymFileOptions options = {.id = &module->pdb,
                              .table_folder = symfile_default_table_folder(&scratch)};
    TRY(symfile_open(module->path, &options, &file, err));
    SymAddress *at = ARENA_NEW(&scratch, SymAddress);
    AUTO(arena_done) Arena text = {0};
    Status status = OK;
    for (size_t i = 0; status == OK && i < names->count; i++) {
        if (!names->items[i].function.n) continue;
        arena_clear(&text);
        uint32_t rva = symbols->frames[module->first_frame + i].lookup;
        status = symfile_at(file, rva, true, &text, at, err);
        if (status == OK && at->found) add_steps(symbols, &names->items[i], at, &lines);
    }
    if (status == OK)
        keep_lines(symbols, index, &lines);
    else
        vec_free(&lines);
    return status;
}
