// A TMF file (as long as the first two bytes say), then the arguments of its messages.
#include "fuzz.h"

#include "decode/tmf.h"
#include "support/fields_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const GUID = "11111111-2222-3333-4444-555555555555";
    Str payload, text = first_part(data, size, &payload);
    Guid guid;
    INVARIANT(guid_from_text(str_from_c(GUID), &guid));
    for (uint16_t number = 10; number < 13; number++) {
        AUTO(arena_done) Arena arena = {0};
        AUTO(source_done) SourceAnswer answer = {0};
        if (tmf_find(text, &guid, number, &arena, &answer))
            layout_check(&answer.layouts.items[0], payload);
    }
    return 0;
}
