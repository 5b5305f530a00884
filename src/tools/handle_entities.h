// Entities of a trace under ids that are the same in every trace of the machine.
#ifndef TOOLS_HANDLE_ENTITIES_H
#define TOOLS_HANDLE_ENTITIES_H

#include "tools/handlers.h"

// Name-based UUID (version 5) of a canonical text, in this program's own namespace.
Str entity_uuid(Str canonical, Arena *arena);
// Every entity of a loaded trace into entities.jsonl of the export folder; what other traces wrote
// there stays. Does nothing when no folder is set. A failure is logged, the load goes on.
void entities_export(Engine *engine, const Trace *trace, Database *database);

#endif
