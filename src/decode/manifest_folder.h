// The user's own manifests: .man files of a folder (ETW_MCP_MANIFESTS).
#ifndef DECODE_MANIFEST_FOLDER_H
#define DECODE_MANIFEST_FOLDER_H

#include "decode/manifest.h"

typedef struct ManifestFolder ManifestFolder;

// Reads nothing yet. An empty path, or a folder that cannot be read, has no manifests.
ManifestFolder *manifest_folder_open(Str path);
void manifest_folder_close(ManifestFolder *folder); // accepts NULL
bool manifest_folder_find(ManifestFolder *folder, const SourceKey *key, Arena *arena,
                          SourceAnswer *answer);
// What is wrong with the folder or with files of it, as one line that begins with the name of the
// setting; empty: nothing.
Str manifest_folder_trouble(ManifestFolder *folder);
Str manifest_folder_provider_name(ManifestFolder *folder, const Guid *provider);

#endif
