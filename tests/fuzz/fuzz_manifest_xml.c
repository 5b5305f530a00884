// A manifest; its own bytes are the payload of every event in it.
#include "fuzz.h"

#include "decode/manifest.h"
#include "support/fields_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const GUID = "11111111-2222-3333-4444-555555555555";
    enum { IDS = 8 };
    Str text = {(const char *)data, size};
    Err err = {0};
    ManifestDoc *doc = manifest_parse(text, &err);
    SourceKey key = {0};
    INVARIANT(guid_from_text(str_from_c(GUID), &key.provider));
    for (key.id = 0; doc && key.id < IDS; key.id++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        if (manifest_find(doc, &key, &arena, &answer)) layout_check(&answer.layouts.items[0], text);
    }
    manifest_close(doc);
    return 0;
}
