// Portable PDBs: managed code only, recognised and identified, never read further.
#ifndef SYM_PORTABLE_PDB_H
#define SYM_PORTABLE_PDB_H

#include "base/rd.h"
#include "sym/source.h"

// The GUID half of the file's id. ERR_INPUT when the file is not a portable PDB.
Status portable_pdb_guid(Str path, Guid *out, Err *err) MUST_USE;
Status portable_pdb_guid_from(Source *source, Guid *out, Err *err) MUST_USE;

#endif
