// Symbol paths and names: parsed and keyed, nothing is opened or asked.
#include "fuzz.h"

#include "sym/symbol_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str text = {(const char *)data, size};
    AUTO(symbol_path_close) SymbolPath *path = NULL;
    SymbolPathOptions options = {.no_download = true, .default_store = STR("/nowhere")};
    if (symbol_path_open(text, &options, &path, NULL) == OK)
        for (size_t i = 0; i < symbol_path_count(path); i++)
            INVARIANT(symbol_path_place(path, i)->location.n > 0);
    AUTO(arena_done) Arena arena = {0};
    SymbolId id = {.name = text, .age = (uint32_t)size};
    if (symbol_name_is_safe(text)) {
        Str stored = symbol_store_path(&id, &arena);
        INVARIANT(str_find(stored, STR("..")) != 0);
    }
    return 0;
}
