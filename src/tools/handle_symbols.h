// What the symbol tools share: the weight of each module by where its names come from.
#ifndef TOOLS_HANDLE_SYMBOLS_H
#define TOOLS_HANDLE_SYMBOLS_H

#include "tools/engine_internal.h"

// The user's own store, filled from Microsoft's server.
#define SYMBOLS_OF_WINDOWS "srv**https://msdl.microsoft.com/download/symbols"

typedef enum NameSource {
    FROM_PDB,
    FROM_EXPORT,
    FROM_TRACE,
    FROM_NOWHERE,
    NAME_SOURCES
} NameSource;

typedef enum ModuleStatus {
    MODULE_OK,
    MODULE_MISMATCHED,
    MODULE_EXPORT_ONLY,
    MODULE_PRE_RESOLVED,
    MODULE_PARTIAL,
    MODULE_MISSING,
    MODULE_STATUSES
} ModuleStatus;
const char *module_status_name(ModuleStatus status);

typedef struct ModuleWeight {
    Str module;
    bool has_symbols; // `symbols` is set: the addresses are in an image
    SymbolModule symbols;
    bool other_build; // a PDB of its name with another identity is on the path
    int64_t functions;
    int64_t addresses[NAME_SOURCES], weight[NAME_SOURCES]; // weight: ns of CPU samples
    ModuleStatus status;
} ModuleWeight;

typedef struct ModuleWeights {
    ModuleWeight *items; // heaviest first
    size_t count;
    bool sampled; // weights are there
    int64_t weight[NAME_SOURCES];
    int64_t addresses[NAME_SOURCES];
} ModuleWeights;

// Names are looked up first, along `extra` as well.
Status module_weights_read(ToolCall *call, Session *session, Str extra, ModuleWeights *out,
                           Err *err);
int64_t sum_of(const int64_t *by_source);
// What a module is measured by: its samples, or its addresses when it has none.
const int64_t *module_measure(const ModuleWeight *module);
// "pdb 81.0 %, export 0.0 %, ...".
Str weights_text(const ModuleWeights *weights, Arena *arena);
// The list parameter extra_symbol_paths as one path.
Str extra_paths(const ToolCall *call);
// Does `wanted` name the module, with or without its extension?
bool module_is_named(Str module, Str wanted);

// Few names although the PDB is the right one: says so, and the way out.
void note_fastlink(ToolCall *call, const SymbolModule *module);

#endif
