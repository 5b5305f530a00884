// What a symbol file holds, as text for people or as JSON: the core of `etw-mcp pdb FILE`.
#ifndef SYM_PDB_REPORT_H
#define SYM_PDB_REPORT_H

#include "base/str.h"

typedef enum PdbReportPart {
    PDB_REPORT_SUMMARY,   // identity, store path, what is in it
    PDB_REPORT_FUNCTIONS, // every function by address
    PDB_REPORT_LINES,     // every source line row by address
    PDB_REPORT_ADDRESS,   // function, line and inlined calls at options.address
} PdbReportPart;

typedef struct PdbReportOptions {
    PdbReportPart part;
    uint32_t address; // RVA
    bool json;
    bool full_names; // C++ names with everything, where the file has decorated ones
    size_t max_rows; // 0: all; a cut is said in the last line
} PdbReportOptions;

// Appends to `out`. PDBs (plain, MSFZ, cabinet), images (exports only, said so), and portable PDBs
// (summary only). The same file gives the same bytes.
Status pdb_report(Str path, const PdbReportOptions *options, Buf *out, Err *err) MUST_USE;

#endif
