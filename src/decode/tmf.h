// WPP messages by TMF files (docs/formats/etl.md, section 6): text files that name the message
// numbers of a GUID, their format text and the types of their arguments.
#ifndef DECODE_TMF_H
#define DECODE_TMF_H

#include "decode/fields_source.h"

typedef struct TmfFolder TmfFolder;

// Reads nothing yet. An empty path, or a folder that cannot be read, has no messages. Messages of a
// GUID are looked for in <guid>.tmf, then in the folder's .tmf files with other names.
TmfFolder *tmf_folder_open(Str path);
void tmf_folder_close(TmfFolder *folder); // accepts NULL
// The message's layout (with its text) and names: module, then the name of its line.
// As manifest_folder_trouble(). What is wrong with <guid>.tmf is known after it was looked for.
Str tmf_folder_trouble(TmfFolder *folder);
bool tmf_folder_find(TmfFolder *folder, const Guid *guid, uint16_t number, Arena *arena,
                     SourceAnswer *answer);
// The same for the text of one file.
bool tmf_find(Str text, const Guid *guid, uint16_t number, Arena *arena, SourceAnswer *answer);

#endif
