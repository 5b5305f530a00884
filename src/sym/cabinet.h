// Cabinets (.pd_, .dl_, .ex_): the compressed form in which symbol stores keep files.
#ifndef SYM_CABINET_H
#define SYM_CABINET_H

#include "sym/source.h"

// The content of the first file in the cabinet, whose name there is ignored. Stops with ERR_LIMIT
// at out->max bytes.
Status cabinet_expand(Source *cabinet, Buf *out, Err *err) MUST_USE;
// The same into a new file `path`, which must not exist; it is removed again on failure.
Status cabinet_expand_to_file(Source *cabinet, Str path, uint64_t max_bytes, Err *err) MUST_USE;

#endif
