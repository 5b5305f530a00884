// Instrumentation manifests (XML): those that EventSource providers log themselves, and .man files.
#ifndef DECODE_MANIFEST_H
#define DECODE_MANIFEST_H

#include "decode/fields_source.h"

typedef struct ManifestDoc ManifestDoc;

// Parses one document (any encoding that expat knows). Entities are refused, size, depth and the
// number of elements are limited; what stands before an error is kept when it is well-formed so
// far, and `err` says where that was; else it is left alone. NULL with a reason in `err` when
// nothing of use is in it.
ManifestDoc *manifest_parse(Str text, Err *err);
void manifest_close(ManifestDoc *doc); // accepts NULL
// The event's layout (one) and names. Another version of the event serves when the very one is not
// there (answer->exact is false then).
bool manifest_find(const ManifestDoc *doc, const SourceKey *key, Arena *arena,
                   SourceAnswer *answer);
bool manifest_has_provider(const ManifestDoc *doc, const Guid *provider, Str *name);

#endif
