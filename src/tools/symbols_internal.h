// What the parts of Symbols share.
#ifndef TOOLS_SYMBOLS_INTERNAL_H
#define TOOLS_SYMBOLS_INTERNAL_H

#include "tools/symbols.h"

typedef struct FrameKey { // an address to name
    uint64_t frame_id;
    uint32_t rva;    // in the image
    uint32_t lookup; // where its function is looked up: a call stands before its return address
} FrameKey;

typedef struct FrameName { // kept for good: readers hold arrays of them without a lock
    uint64_t frame_id;
    Str function; // empty: no name
    uint64_t displacement;
} FrameName;

typedef struct ModuleNames {
    const FrameName *items; // as many as the module has frames; NULL: none yet
    size_t count;
    bool is_export;
} ModuleNames;

struct Symbols {
    Mutex mutex; // guards everything below
    Arena arena; // grows; nothing in it moves
    Database *database;
    Str path;
    bool no_download;
    bool listed;    // modules and frames are read
    bool looked_up; // along the present path
    SymbolModule *modules;
    ModuleNames *names; // one per module
    FrameLines *lines;  // one per module; items NULL: not read
    size_t module_count;
    FrameKey *frames; // by module, then lookup address
    size_t frame_count;
};

// Under the mutex.
Status symbols_list(Symbols *symbols, Err *err);
Status symbols_look_up(Symbols *symbols, Str extra, bool *changed, Err *err);
// Uses a proved file for a module's names; keeps what was there when the file is of no use.
// `id` is one of the module's own.
Status symbols_use_file(Symbols *symbols, size_t index, Str path, const SymbolId *id, Err *err);
Status symbols_read_lines(Symbols *symbols, size_t index, Err *err);

#endif
