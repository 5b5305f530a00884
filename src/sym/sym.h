// The functions of one image, whatever they came from: a PDB, its table on disk, or the image
// itself. What callers outside sym/ use; symbol_path.h finds the file.
//
//     SymbolResult found;  TRY(symbol_find(path, &id, progress, arena, &found, err));
//     SymFile *file;       TRY(symfile_open(found.path, &(SymFileOptions){.id = &id, ...}, &file,
//     err)); symtab_at_many(symfile_table(file), rvas, count, functions);   // SYM_NONE: no
//     function symtab_function(symfile_table(file), functions[i], arena, &function);
#ifndef SYM_SYM_H
#define SYM_SYM_H

#include "sym/lines.h"
#include "sym/perfmap.h"
#include "sym/symbol_path.h"
#include "sym/symtab.h"

typedef struct SymFile SymFile;

typedef struct SymFileOptions {
    const SymbolId *id; // expected identity; NULL takes the file as it is
    Str table_folder;   // tables of PDBs are kept here by identity; empty: not kept
    bool rebuild;       // do not use a table from the folder
} SymFileOptions;

// Opens a PDB (plain, MSFZ, cabinet), an image or a perf map. ERR_NOT_FOUND with the reason when
// the identity is another one; ERR_INPUT when the file is damaged or of no use (portable PDB, text
// ...). `options` may be NULL.
Status symfile_open(Str path, const SymFileOptions *options, SymFile **out, Err *err) MUST_USE;
// An image's exports and unwind ranges from bytes that outlive the file; for tests and fuzzing.
Status symfile_open_bytes(Str bytes, Str name, SymFile **out, Err *err) MUST_USE;
void symfile_close(SymFile *file);
AUTO_DEFINE(SymFile *, symfile_close)

// The user's folder for tables: <cache>/symtab.
Str symfile_default_table_folder(Arena *arena);

Str symfile_path(const SymFile *file);
const SymTab *symfile_table(const SymFile *file);  // read-only: share it between threads
bool symfile_from_disk_table(const SymFile *file); // the PDB itself was not read
// The image's identity, or NULL for a PDB; and the PDB, opened when first asked for, or NULL for an
// image.
const PeIdentity *symfile_image(const SymFile *file);
const PerfMapInfo *symfile_perfmap(const SymFile *file); // NULL unless it is one
Status symfile_pdb(SymFile *file, Pdb **out, Err *err) MUST_USE;
Status symfile_lines(SymFile *file, PdbLines **out, Err *err) MUST_USE;

// Everything about one address.
typedef struct SymAddress {
    bool found;
    SymFunction function; // when found
    uint32_t offset;      // from its start
    uint32_t index;       // of the function in the table, or SYM_NONE
    SourceFrames frames;  // innermost inlined call first; the last one is the function itself
} SymAddress;
// Text lives in `arena`. `with_lines` opens the PDB when only its table was read so far.
Status symfile_at(SymFile *file, uint32_t rva, bool with_lines, Arena *arena, SymAddress *out,
                  Err *err) MUST_USE;

// Name of a compiland ("a.obj"), empty when the PDB was not read.
Str symfile_module_name(SymFile *file, uint32_t module);

#endif
