// Source lines and inlined calls of a PDB, decoded one module at a time when first asked for.
#ifndef SYM_LINES_H
#define SYM_LINES_H

#include "base/limits.h"
#include "sym/pdb.h"

typedef struct PdbLines PdbLines;

// Addresses [start, end) come from `line` of `file` (see pdb_lines_file).
typedef struct LineRow {
    uint32_t start, end;
    uint32_t line;
    uint32_t file;
} LineRow;
typedef VEC(LineRow) LineRows;

// One step from the innermost inlined function out to the procedure itself.
typedef struct SourceFrame {
    Str function;  // of inlined code; empty for the procedure, whose name the caller has
    Str file;      // empty: unknown
    uint32_t line; // where it executes; in outer frames the line of the call. 0: unknown
    bool inlined;
} SourceFrame;

typedef struct SourceFrames {
    SourceFrame items[LIMIT_INLINE_DEPTH + 1];
    size_t count; // at least 1; the last one is the procedure
} SourceFrames;

// Borrows `pdb`. Safe from several threads: one mutex guards the decoded modules.
Status pdb_lines_open(Pdb *pdb, PdbLines **out, Err *err) MUST_USE;
void pdb_lines_close(PdbLines *lines);
AUTO_DEFINE(PdbLines *, pdb_lines_close)

// All rows of one module by address, appended to `out`.
Status pdb_lines_of_module(PdbLines *lines, size_t module, LineRows *out, Err *err) MUST_USE;
// Path as the compiler recorded it; lives as long as `lines`.
Str pdb_lines_file(const PdbLines *lines, uint32_t file);
// Source position of an address (in the layout of the symbols), with the inlined functions around
// it. Text is copied into `arena`. An address without a line gives one frame with line 0.
Status pdb_lines_at(PdbLines *lines, size_t module, uint32_t rva, Arena *arena, SourceFrames *out,
                    Err *err) MUST_USE;

#endif
