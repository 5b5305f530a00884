// The large test data that lives beside the repository, when it is there.
#ifndef SUPPORT_SHARED_DATA_H
#define SUPPORT_SHARED_DATA_H

#include "base/os.h"

// Folder of `part` ("pdbs") below $ETW_SHARED or <source folder>/../shared; empty, with a line on
// stdout that says so, when it does not exist.
Str shared_folder(const char *source_folder, const char *part, Arena *arena);
// Whether a program is installed; otherwise prints that the test is skipped for lack of it.
bool has_program(const char *name);
// What a shell command prints. Empty when it fails.
Str command_output(const char *command, Arena *arena);

#endif
